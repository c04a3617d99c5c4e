//! Which turn a request is served. Every lane has a script and counts of its own, so that several agents can
//! use one server at once.

use super::edits;
use super::request::ModelRequest;
use super::scenario::{MainRequests, Scenario, Turn};

/// A script and how far it got.
#[derive(Debug, Default)]
pub(super) struct Lane {
    scenario: Scenario,
    served: Vec<usize>,
}

/// The answer that a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// The turn with this index.
    Turn(usize),
    /// The answer for side requests.
    Side,
    /// An error: the scenario has no turn for it.
    Unscripted,
}

impl Lane {
    pub(super) fn new(scenario: Scenario) -> Self {
        let served = vec![0; scenario.turns().len()];
        Self { scenario, served }
    }

    /// The turn for a request, which is then served once more.
    pub(super) fn choose(&mut self, request: &ModelRequest) -> (Served, Option<Turn>) {
        let is_main = self.scenario.main_requests() == MainRequests::All
            || !request.tools.is_empty()
            || request.wants_edits;
        if !is_main {
            return (Served::Side, None);
        }
        if request.wants_edits { self.choose_all(request) } else { self.choose_next(request) }
    }

    /// An agent without tools does not come back after a call, so the turns up to the one that calls nothing are one
    /// answer to it.
    fn choose_all(&mut self, request: &ModelRequest) -> (Served, Option<Turn>) {
        let mut text = String::new();
        for _ in 0..self.served.len() {
            let (served, Some(turn)) = self.choose_next(request) else { break };
            match edits::written(&turn) {
                Some(written) => text.push_str(&written),
                None => return (served, Some(edits::after(text, turn))),
            }
        }
        (Served::Unscripted, None)
    }

    fn choose_next(&mut self, request: &ModelRequest) -> (Served, Option<Turn>) {
        let mut turns = self.scenario.turns().iter().zip(&mut self.served).enumerate();
        match turns.find(|(_, (turn, served))| turn.fits(**served, &request.body)) {
            Some((index, (turn, served))) => {
                *served += 1;
                (Served::Turn(index), Some(turn.clone()))
            }
            None => (Served::Unscripted, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::request::Protocol;

    fn request(text: &str) -> ModelRequest {
        let body = json!({ "tools": [{ "name": "Bash" }], "messages": [text] });
        ModelRequest::read(Protocol::Messages, "/v1/messages", body.to_string()).unwrap()
    }

    #[test]
    fn turns_are_served_in_order_and_by_what_they_fit() {
        let turns = [Turn::say("a").when("task 1").times(2), Turn::say("b"), Turn::say("c").when("task 1")];
        let mut lane = Lane::new(Scenario::new(turns));
        let mut choose = |text| lane.choose(&request(text)).0;
        assert_eq!(choose("task 2"), Served::Turn(1));
        assert_eq!(choose("task 2"), Served::Unscripted);
        assert_eq!([(); 3].map(|()| choose("task 1")), [Served::Turn(0), Served::Turn(0), Served::Turn(2)]);
        assert_eq!(choose("task 1"), Served::Unscripted);
    }

    #[test]
    fn requests_without_tools_are_side_requests_unless_all_count() {
        let plain = || {
            ModelRequest::read(Protocol::ChatCompletions, "/v1/chat/completions", "{}".to_owned()).unwrap()
        };
        let scenario = Scenario::new([Turn::say("a")]);
        assert_eq!(Lane::new(scenario.clone()).choose(&plain()).0, Served::Side);
        assert_eq!(Lane::new(scenario.main(MainRequests::All)).choose(&plain()).0, Served::Turn(0));
    }
}

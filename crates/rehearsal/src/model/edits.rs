//! Answers for agents that know no tools: what would be calls elsewhere is written into the text, as such agents ask
//! for it, between markers that say what is to be replaced by what.

use super::scenario::{Act, Answer, Call, Turn};

/// The words by which the instructions of such an agent are known.
const MARK: &str = "SEARCH/REPLACE";

/// True if a request asks for edits in the text.
pub(super) fn are_wanted(body: &str) -> bool {
    body.contains(MARK)
}

/// The calls of a turn as text; none where it calls nothing.
pub(super) fn written(turn: &Turn) -> Option<String> {
    let Act::Answer(answer) = turn.act() else { return None };
    let calls: String = answer.calls.iter().map(edit).collect();
    (!answer.calls.is_empty()).then(|| format!("{}\n{calls}", answer.text))
}

/// A turn with a text before what it says. One that says nothing stays as it is.
pub(super) fn after(text: String, turn: Turn) -> Turn {
    match turn.act() {
        Act::Answer(answer) => {
            let text = format!("{text}\n{}", answer.text);
            Turn::answer(Answer { text, ..answer.as_ref().clone() })
        }
        Act::Fail(_) | Act::Hang => turn,
    }
}

fn edit(call: &Call) -> String {
    match call {
        Call::Write { path, content } => {
            format!("{path}\n```\n<<<<<<< SEARCH\n=======\n{content}>>>>>>> REPLACE\n```\n")
        }
        Call::Shell(command) => format!("```bash\n{command}\n```\n"),
        // There is nothing to read with, and nothing to call by its name.
        Call::Read(_) | Call::Named { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::lane::{Lane, Served};
    use crate::model::request::{ModelRequest, Protocol};
    use crate::model::scenario::Scenario;

    fn asked(turns: &[Turn]) -> (Served, Option<Turn>) {
        let body = json!({ "messages": ["use *SEARCH/REPLACE* blocks"] });
        let request = ModelRequest::read(Protocol::Messages, "/v1/messages", body.to_string()).unwrap();
        Lane::new(Scenario::new(turns.to_vec())).choose(&request)
    }

    #[test]
    fn turns_up_to_the_last_word_are_one_answer() {
        let (served, turn) = asked(&[Turn::write("a.txt", "x\n"), Turn::say("TASK_COMPLETE").always()]);
        assert_eq!(served, Served::Turn(1));
        let turn = turn.unwrap();
        let Act::Answer(answer) = turn.act() else { panic!("{turn:?}") };
        assert_eq!(
            answer.text,
            "\na.txt\n```\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n```\n\nTASK_COMPLETE"
        );
        assert!(answer.calls.is_empty());
    }

    #[test]
    fn who_calls_and_never_says_anything_has_no_script() {
        assert_eq!(asked(&[Turn::shell("true").always()]).0, Served::Unscripted);
        let (served, turn) = asked(&[Turn::shell("true"), Turn::hang().always()]);
        assert_eq!(served, Served::Turn(1));
        assert!(matches!(turn.unwrap().act(), Act::Hang));
    }
}

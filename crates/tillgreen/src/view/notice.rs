//! What is told to people who walked away: that they are asked, that the run stopped, that it is complete.

use engine::{End, Event, State, What};
use jiff::Timestamp;
use runner::{Notification, Occasion};

use super::ending;
use super::lines::{Clock, render};
use super::paint::Paint;
use super::subject::Subject;
use super::text::one_line;

/// Characters of a notice.
const TEXT_CHARS_MAX: usize = 500;

/// The notice of an event, if it is one to be told of.
pub(crate) fn of(event: &Event, state: &State, subject: &Subject) -> Option<Notification> {
    let occasion = occasion(&event.what)?;
    let line = render(event, state, Clock::Time, Paint::Plain);
    // Without the time and the mark, which the notice has in other words.
    let said = line.lines().next().unwrap_or_default().splitn(3, ' ').last().unwrap_or_default();
    let failure = event.what.task().and_then(|task| state.task(task)).and_then(|task| task.last_failure());
    let why = match occasion {
        Occasion::Asked => failure.map(|failure| format!(" ({})", failure.error)),
        Occasion::Stopped => ending::error(subject, state).map(|error| format!(": {}", error.gist())),
        Occasion::Done | Occasion::Test => None,
    };
    let why = why.unwrap_or_default();
    Some(Notification {
        plan: subject.name.clone(),
        event: occasion,
        task: event.what.task().map(ToString::to_string),
        text: one_line(&format!("{said}{why}"), TEXT_CHARS_MAX),
        link: state.pull_request().place().map(|place| place.url.clone()),
        at: event.at,
    })
}

/// A notice to try out whether notices arrive.
pub(crate) fn test(plan: &str) -> Notification {
    Notification {
        plan: plan.to_owned(),
        event: Occasion::Test,
        task: None,
        text: "This is a test: notices of tillgreen arrive here.".to_owned(),
        link: None,
        at: Timestamp::now(),
    }
}

/// What a person did, or asked for, is nothing to tell people of.
fn occasion(what: &What) -> Option<Occasion> {
    if matches!(what, What::Escalated { .. }) {
        return Some(Occasion::Asked);
    }
    let What::Ended(end) = what else { return None };
    match end {
        End::Complete { .. } => Some(Occasion::Done),
        End::Stopped(_) | End::Capped(_) | End::PullRequest { .. } | End::Unavailable { .. } => {
            Some(Occasion::Stopped)
        }
        // The question was told of when it was put.
        End::Waiting { .. } | End::Paused { .. } | End::Aborted | End::Interrupted => None,
    }
}

#[cfg(test)]
mod tests {
    use engine::Rules;
    use plan::TaskId;

    use super::*;
    use crate::view::samples::{self, Story};

    fn told(story: &Story) -> Vec<(Occasion, String)> {
        let each = |(event, state): (Event, State)| of(&event, &state, &samples::subject());
        story.replay().into_iter().filter_map(each).map(|notice| (notice.event, notice.text)).collect()
    }

    #[test]
    fn people_are_told_what_they_have_to_know() {
        let story = Story::new(Rules::default()).fails("1.2", "2 tests \u{1b}failed").escalates("1.2");
        let asked = told(&story.end(End::Waiting { task: TaskId::new("1.2") }));
        let expected = "1.2 needs a person: retries or fix tasks are used up (2 tests \u{241b}failed)";
        assert_eq!(asked, [(Occasion::Asked, expected.to_owned())]);
        let stopped = engine::StopReason::Retries { task: TaskId::new("1.2"), attempts: 1 };
        let story = Story::new(Rules::default()).fails("1.2", "2 tests failed");
        let stopped = told(&story.end(End::Stopped(stopped)));
        let expected =
            "stopped: Max retries reached for task 1.2 after 1 attempt. Last error: 2 tests failed";
        assert_eq!(stopped, [(Occasion::Stopped, expected.to_owned())]);
        let done = told(&samples::fixed().end(End::Complete { skipped: 0 }));
        assert_eq!(done, [(Occasion::Done, "all 5 tasks complete".to_owned())]);
        assert!(told(&Story::new(Rules::default()).end(End::Interrupted)).is_empty());
    }
}

//! The facts that scroll by at a terminal while a run goes on: fewer than the record has, and those that failed with
//! the part of their output that matters. What is left out here is in the live block, and in `tillgreen log`.

use engine::{Event, Failure, State, What};

use super::lines;
use super::paint::Paint;
use super::text::{clean, one_line, took, zoned_clock};
use super::usage;

/// Lines of an output that are shown where something failed.
const LINES_MAX: usize = 6;
/// Lines of them before the one that a person would point at.
const LINES_BEFORE: usize = 2;
/// Bytes of a line that may be the beginning of a message.
const BEGINNING_MIN: usize = 10;
/// Characters of such a line.
const LINE_CHARS_MAX: usize = 160;
/// Characters of a title.
const TITLE_CHARS_MAX: usize = 60;

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Facts.
    #[default]
    Facts,
    /// Every step on the way as well.
    Steps,
}

/// The lines of an event at a terminal; none for a step on the way, unless steps are wanted.
pub(crate) fn render(event: &Event, state: &State, verbosity: Verbosity, paint: Paint) -> Option<String> {
    if verbosity == Verbosity::Facts && is_step(&event.what) {
        return None;
    }
    if let What::TaskDone { task, commit } = &event.what
        && let Some(known) = state.task(task)
    {
        let title = one_line(known.decl.short_title(), TITLE_CHARS_MAX);
        let mut parts: Vec<String> = Vec::new();
        parts.extend((known.attempted > 1).then(|| format!("{} attempts", known.attempted)));
        parts.extend(state.elapsed_on(task).map(took));
        parts.extend(known.usage.cost_micros.map(|_| usage::cost(known.usage)));
        parts.extend(commit.as_ref().map(|commit| commit.chars().take(7).collect()));
        let at = paint.faint(&zoned_clock(event.at));
        let parts = paint.faint(&parts.join(" · "));
        return Some(format!(
            "{at} {} {} {title}   {parts}",
            paint.good("✓"),
            paint.strong(&task.to_string())
        ));
    }
    Some(lines::render(event, state, lines::Clock::Local, paint))
}

/// True of what is only a step on the way of a task, with nothing about it that a person should look at.
fn is_step(what: &What) -> bool {
    match what {
        What::ProofStarted { .. }
        | What::AttemptStarted(_)
        | What::AttemptClaimed { .. }
        | What::Packed { .. }
        | What::JudgeStarted { .. }
        | What::LandingStarted { .. }
        | What::Landed { .. }
        | What::RetryPlanned { .. }
        | What::FixInserted { .. }
        | What::Deferred { .. }
        | What::Spent(_) => true,
        What::ProofPassed { warnings, .. }
        | What::ChecksPassed { warnings, .. }
        | What::JudgePassed { warnings, .. }
        | What::JoinPassed { warnings, .. } => warnings.is_empty(),
        What::Found { task, evidence } => evidence.warning(task).is_none(),
        What::Opened(_)
        | What::PlanChanged(_)
        | What::ProofFailed { .. }
        | What::Mended { .. }
        | What::AttemptFailed { .. }
        | What::AgentUnavailable { .. }
        | What::AgentDropped { .. }
        | What::TreeUnavailable { .. }
        | What::NoVerdict { .. }
        | What::HeldUp { .. }
        | What::TaskDone { .. }
        | What::FixPlanned(_)
        | What::Escalated { .. }
        | What::Answered { .. }
        | What::TaskSkipped { .. }
        | What::Noted { .. }
        | What::Told { .. }
        | What::PauseRequested
        | What::SkipRequested { .. }
        | What::LimitsChanged(_)
        | What::ClockMoved(_)
        | What::RegressionPassed
        | What::Proved(_)
        | What::Reopened { .. }
        | What::PullRequest(_)
        | What::Ended(_) => false,
    }
}

/// The part of a failure's output that matters: around the line that a person would point at, else its end. Nothing where
/// the output says no more than the error.
pub(crate) fn matter(failure: &Failure) -> Vec<String> {
    let lines: Vec<&str> = failure.details.lines().filter(|line| !line.trim().is_empty()).collect();
    let error = failure.error.trim();
    let says_no_more = |line: &&&str| line.trim() == error;
    if lines.iter().filter(|line| !says_no_more(line)).count() == 0 {
        return Vec::new();
    }
    let pointed_at = pointed_at(&lines, failure);
    let from = match pointed_at {
        Some(place) => place.saturating_sub(LINES_BEFORE).min(lines.len().saturating_sub(LINES_MAX)),
        None => lines.len().saturating_sub(LINES_MAX),
    };
    let shown = lines.iter().skip(from).take(LINES_MAX);
    let mut matter: Vec<String> = shown.map(|line| cut(line)).collect();
    if lines.len() > matter.len() {
        matter.push(format!("({} of {} lines)", matter.len(), lines.len()));
    }
    matter
}

/// The place of the line that says the error; else of the one with which its message begins, or that names what fails.
fn pointed_at(lines: &[&str], failure: &Failure) -> Option<usize> {
    let error = failure.error.trim();
    let message = error.split_once(" - ").map_or("", |(_, message)| message);
    let failing = failure.failing.items.first().map_or("", |item| item.name.as_str());
    let failing = failing.rsplit([':', '>', '›', '.']).next().unwrap_or_default().trim();
    let has = |text: &str| lines.iter().position(|line| !text.is_empty() && line.contains(text));
    let begins = || {
        let is_beginning =
            |line: &&str| line.trim().len() > BEGINNING_MIN && message.starts_with(line.trim());
        lines.iter().position(is_beginning)
    };
    has(error).or_else(|| has(message)).or_else(begins).or_else(|| has(failing))
}

/// A line of output as it stands, its indentation included, but for what is dangerous and too much.
fn cut(line: &str) -> String {
    let line = clean(line.trim_end());
    if line.chars().count() <= LINE_CHARS_MAX {
        return line;
    }
    line.chars().take(LINE_CHARS_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use engine::{Attempt, Rules, Rung};

    use super::*;
    use crate::view::samples::{self, Story};

    fn shown(story: &Story, verbosity: Verbosity) -> String {
        let each = |(event, state)| render(&event, &state, verbosity, Paint::Plain);
        story.replay().into_iter().filter_map(each).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn facts_tell_the_story_and_steps_every_turn_of_it() {
        let story = Story::new(Rules::default()).fails("1.2", "2 tests failed").retries("1.2").passes("1.2");
        let story = story.escalates("1.3");
        insta::assert_snapshot!(shown(&story, Verbosity::Facts), @"
        14:30:00 ▶ round 1 opened: 1/3 tasks done
        14:30:20 ✗ 1.2 attempt 1 failed (verification_failed): 2 tests failed
        14:31:10 ✓ 1.2 Add a parser   2 attempts · 1m 0s · 0123456
        14:31:20 ! 1.3 needs a person: retries or fix tasks are used up
        ");
        assert!(shown(&story, Verbosity::Steps).lines().count() > 7);
    }

    #[test]
    fn what_matters_is_around_the_line_that_a_person_would_point_at() {
        let mut failure = samples::failure(Attempt(1), "AssertionError: -1", Rung::Retry, samples::time(0));
        let filler: String = (1..=20).map(|line| format!("line {line}\n\n")).collect();
        failure.details =
            format!("{filler}def test():\n    assert f(1) == 1\nE   AssertionError: -1\n{filler}");
        let lines = matter(&failure);
        assert_eq!(lines[2], "E   AssertionError: -1");
        for (error, line) in [
            ("a.test.ts > adds - Expected values to be equal: 4 !== 5", "    Expected values to be equal:"),
            ("tests.old.Old.test_price - AssertionError: 4 != 5", "AssertionError: 4 != 5"),
        ] {
            failure.error = error.to_owned();
            failure.details = format!("{filler}{line}\n\n    4 !== 5\n{filler}");
            assert_eq!(matter(&failure)[2], line);
        }
        failure.error = "AssertionError: -1".to_owned();
        assert_eq!(lines.last().unwrap(), "(6 of 43 lines)");
        failure.details = format!("{filler}{}", "x".repeat(10_000_000));
        let lines = matter(&failure);
        assert!(lines[5].ends_with("x…") && lines[5].chars().count() == LINE_CHARS_MAX, "its end");
        failure.details = " AssertionError: -1\n".to_owned();
        assert!(matter(&failure).is_empty(), "no more than the error");
        failure.details = "a\u{1b}[2J\u{202e}\nb".to_owned();
        assert_eq!(matter(&failure), ["a\u{241b}[2J\u{fffd}", "b"]);
    }
}

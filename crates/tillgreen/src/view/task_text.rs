//! One task for people to read: in short, or one attempt at it whole.

use std::fmt::Write as _;

use engine::Failure;
use jiff::Timestamp;
use runner::{Activity, Transcript};
use serde::Serialize;

use super::live::doings;
use super::paint::Paint;
use super::proof;
use super::subject::Subject;
use super::task_report::{AttemptReport, FixOf, TaskReport, Verdict, ms};
use super::text::{clean, clean_lines, moment, one_line};
use super::usage;

/// Characters of a title or an error.
const LINE_CHARS_MAX: usize = 300;
/// Characters of a proof record.
const PROOF_CHARS_MAX: usize = 700;
/// Lines of a field, and of an attempt's output, where all attempts are shown.
const FIELD_LINES_MAX: usize = 12;
const OUTPUT_LINES_MAX: usize = 12;
/// Lines of the list of changed files.
const CHANGES_LINES_MAX: usize = 30;

/// Something that was printed in the course of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Section {
    /// By whom.
    pub(crate) of: &'static str,
    pub(crate) stream: &'static str,
    pub(crate) text: String,
}

impl Section {
    /// The doings and the final message of an agent, in place of the JSON that tells of them.
    pub(crate) fn retold(of: &'static str, transcript: &Transcript) -> Self {
        let mut text = String::new();
        for activity in &transcript.activities {
            let mark = match activity {
                Activity::Said(_) => "",
                Activity::ToolStarted { .. } => "› ",
                Activity::Retrying { .. } => "! ",
                Activity::ToolEnded | Activity::Used(_) => continue,
            };
            push(&mut text, &format!("{mark}{}", doings(activity)));
        }
        if !transcript.message.is_empty() {
            push(&mut text, &format!("\n{}", transcript.message));
        }
        Self { of, stream: "what it did and its last words", text }
    }
}

/// How much of an attempt is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The end of its output.
    Short,
    /// Everything.
    Whole,
}

/// The task with all attempts in short.
pub(crate) fn overview(report: &TaskReport, subject: &Subject, now: Timestamp, paint: Paint) -> String {
    let mut text = head(report, now, paint);
    for attempt in &report.attempts {
        text.push('\n');
        text.push_str(&attempt_text(attempt, Extent::Short, paint));
        if attempt.is_failed() {
            let see = subject.see_output(&report.task, attempt.number());
            push(&mut text, &format!("  {}", paint.faint(&see)));
        }
    }
    if let Some(changes) = &report.changes {
        push(&mut text, &format!("\n{}", paint.strong("Changes")));
        text.push_str(&first_lines(changes, CHANGES_LINES_MAX, ""));
    }
    text.push_str(&further(report, subject, paint));
    text
}

/// One attempt, whole.
pub(crate) fn attempt(report: &TaskReport, attempt: &AttemptReport, paint: Paint) -> String {
    let mut text = String::new();
    push(
        &mut text,
        &format!("{} {}", paint.strong(&report.task.to_string()), one_line(&report.title, LINE_CHARS_MAX)),
    );
    text.push_str(&attempt_text(attempt, Extent::Whole, paint));
    if let Some(feedback) = &attempt.feedback {
        push(&mut text, &format!("\n{}", paint.strong("Feedback that it was given")));
        text.push_str(&first_lines(feedback, usize::MAX, ""));
    }
    text
}

/// Everything that was printed in the course of an attempt.
pub(crate) fn output(
    report: &TaskReport,
    attempt: &AttemptReport,
    sections: &[Section],
    paint: Paint,
) -> String {
    let mut text = format!("{} {}", paint.strong(&report.task.to_string()), paint.strong(&attempt.name()));
    match &attempt.failure {
        Some(failure) => {
            let command =
                failure.command.as_ref().map(|command| format!(" `{}`", one_line(command, LINE_CHARS_MAX)));
            let code = failure.exit_code.map(|code| format!(" (exit code {code})"));
            let error = paint.bad(&one_line(&failure.error, LINE_CHARS_MAX));
            push(
                &mut text,
                &format!(" failed{}{}: {error}", command.unwrap_or_default(), code.unwrap_or_default()),
            );
        }
        None => push(&mut text, &format!(" {}", attempt.verdict.word())),
    }
    for Section { of, stream, text: printed } in sections {
        push(&mut text, &format!("\n{}", paint.strong(&format!("── {of}, {stream}"))));
        text.push_str(&first_lines(printed, usize::MAX, ""));
    }
    let details = attempt.failure.as_ref().map(|failure| failure.details.as_str()).unwrap_or_default();
    match (sections.is_empty(), details.trim().is_empty()) {
        (false, _) => {}
        (true, true) => push(&mut text, "\nNothing was printed."),
        (true, false) => {
            push(&mut text, &format!("\n{}", paint.strong("── what the record has of it")));
            text.push_str(&first_lines(details, usize::MAX, ""));
        }
    }
    text
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn head(report: &TaskReport, now: Timestamp, paint: Paint) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        push(&mut text, &format!("{} {value}", paint.faint(&format!("{name:<9}"))));
    };
    let title = paint.strong(&one_line(&report.title, LINE_CHARS_MAX));
    row("Task", &format!("{} {title}", report.task));
    row("Plan", &format!("{} ({})", clean(&report.plan), clean(&report.path)));
    let state = report.standing.as_ref().map(|standing| standing.doing_text(now));
    row("State", &state.unwrap_or_else(|| "not run yet".to_owned()));
    for field in &report.fields {
        let indent = " ".repeat(10);
        let lines = first_lines(&field.text, FIELD_LINES_MAX, &indent);
        row(&clean(&field.name), lines.trim());
    }
    for FixOf { task, error } in &report.fix_of {
        row("Fix of", &format!("{}: {}", clean(task), one_line(error, LINE_CHARS_MAX)));
    }
    for fix in &report.fixes {
        row("Fixed by", &fix.render(now));
    }
    if let Some(used) = usage::words(report.usage) {
        row("Used", &used);
    }
    if let Some(commit) = &report.commit {
        row("Committed", &clean(commit));
    }
    for line in proof::grounds(&report.grounds) {
        row("Evidence", &line);
    }
    if let Some(record) = &report.proof {
        row("Proof", &one_line(&record.line(), PROOF_CHARS_MAX));
    }
    text
}

fn attempt_text(attempt: &AttemptReport, extent: Extent, paint: Paint) -> String {
    let mark = match attempt.verdict {
        Verdict::Passed => paint.good("✓"),
        Verdict::Failed => paint.bad("✗"),
        Verdict::UnderWay => paint.strong("▶"),
        Verdict::Lost | Verdict::Unavailable | Verdict::Undecided => paint.odd("!"),
    };
    let word = attempt.verdict.word();
    let who = attempt.role.zip(attempt.agent.as_deref());
    let who = who.map(|(role, agent)| format!(" ({}, {})", role.name(), clean(agent))).unwrap_or_default();
    let kind = attempt.failure.as_ref().map(|failure| format!(" ({})", failure.cause.failure_type().name()));
    let when = paint.faint(&format!("began {}, {}", moment(attempt.began), ms(attempt.worked_ms)));
    let mut text = String::new();
    let name = paint.strong(&attempt.name());
    push(&mut text, &format!("{mark} {name}{who}: {word}{}; {when}", kind.unwrap_or_default()));
    let steps = |text: &mut String, steps: &[String]| {
        steps.iter().for_each(|step| push(text, &format!("  · {}", one_line(step, LINE_CHARS_MAX))));
    };
    steps(&mut text, &attempt.steps);
    if let Some(failure) = &attempt.failure {
        text.push_str(&failure_text(failure, extent, paint));
    }
    if let Some(used) = usage::words(attempt.usage) {
        push(&mut text, &format!("  used     {used}"));
    }
    if let Some(commit) = &attempt.commit {
        push(&mut text, &format!("  commit   {}", clean(commit)));
    }
    steps(&mut text, &attempt.then);
    text
}

fn failure_text(failure: &Failure, extent: Extent, paint: Paint) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: Option<String>| {
        value.into_iter().for_each(|value| push(&mut text, &format!("  {name:<8} {value}")));
    };
    let line = |text: &String| one_line(text, LINE_CHARS_MAX);
    row("error", Some(paint.bad(&line(&failure.error))));
    row("why", Some(failure.cause.words().to_owned()));
    row("command", failure.command.as_ref().map(line));
    row("exit", failure.exit_code.map(|code| code.to_string()));
    row("cause", failure.root_cause.as_ref().map(line));
    row("tried", failure.attempted_fix.as_ref().map(line));
    row("advice", failure.suggested_fix.as_ref().map(line));
    row("blocked", failure.blocked_by.as_ref().map(|task| format!("by {task}")));
    for file in &failure.files {
        row("file", Some(format!("{} ({})", clean(&file.path), clean(&file.state))));
    }
    for learning in &failure.learnings {
        row("learned", Some(line(learning)));
    }
    if !failure.details.trim().is_empty() {
        let lines_max = match extent {
            Extent::Short => OUTPUT_LINES_MAX,
            Extent::Whole => usize::MAX,
        };
        text.push_str(&last_lines(&failure.details, lines_max, "  │ "));
    }
    text
}

/// The first lines of a text, indented.
fn first_lines(text: &str, lines_max: usize, indent: &str) -> String {
    let text = clean_lines(text.trim_end());
    let count = text.lines().count();
    let mut shown = String::new();
    text.lines().take(lines_max).for_each(|line| push(&mut shown, format!("{indent}{line}").trim_end()));
    if count > lines_max {
        push(&mut shown, &format!("{indent}… {} more", super::text::count(count - lines_max, "line")));
    }
    shown
}

/// The last lines of a text, indented: errors are there.
fn last_lines(text: &str, lines_max: usize, indent: &str) -> String {
    let text = clean_lines(text.trim_end());
    let left_out = text.lines().count().saturating_sub(lines_max);
    let mut shown = String::new();
    if left_out > 0 {
        push(&mut shown, &format!("{indent}… {} before", super::text::count(left_out, "line")));
    }
    text.lines().skip(left_out).for_each(|line| push(&mut shown, format!("{indent}{line}").trim_end()));
    shown
}

/// The commands that show more.
fn further(report: &TaskReport, subject: &Subject, paint: Paint) -> String {
    if report.standing.is_none() {
        let run = subject.command("run", "");
        return format!("\nNothing was done for it yet: start the plan with {run}.\n");
    }
    let mut commands = Vec::new();
    if let Some(number) = report.attempts.iter().rev().find_map(AttemptReport::number) {
        commands.push(("one attempt, whole", format!(" --attempt {number}")));
        commands.push(("what an agent was told", format!(" --attempt {number} --prompt")));
        commands.push(("what was printed", format!(" --attempt {number} --output")));
    }
    if report.changes.is_some() {
        commands.push(("what was changed", " --diff".to_owned()));
    }
    let width = commands.iter().map(|(what, _)| what.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (place, (what, rest)) in commands.iter().enumerate() {
        let gap = if place == 0 { "\n" } else { "" };
        push(&mut text, &paint.faint(&format!("{gap}{what:width$}  {}", subject.show(&report.task, rest))));
    }
    text
}

#[cfg(test)]
mod tests {
    use engine::{Event, History, Rules, State};
    use plan::{Fields, TaskId};

    use super::*;
    use crate::view::samples::{self, Story};
    use crate::view::task_report::Sources;

    fn report(story: &Story, id: &str) -> TaskReport {
        let id = TaskId::new(id);
        let (mut history, mut state) = (History::default(), State::default());
        let mut events: Vec<Event> = Vec::new();
        for (event, after) in story.replay() {
            history.record(&event);
            state = after;
            events.extend((event.what.task() == Some(&id)).then_some(event));
        }
        let fields = Fields {
            do_: Some("1. Read a line\n2. Split it".to_owned()),
            verify: Some("`npm test`".to_owned()),
            ..Fields::default()
        };
        let planned = TaskReport::planned(("auth", "specs/auth/tasks.md"), &id, "", &fields);
        let sources = Sources { state: &state, history: &history, events: &events, file: None, holder: None };
        planned.with_run(state.task(&id).unwrap(), &sources)
    }

    fn shown(report: &TaskReport) -> String {
        overview(report, &samples::subject(), samples::time(300), Paint::Plain)
    }

    #[test]
    fn a_task_that_needed_a_fix() {
        let report =
            report(&samples::fixed(), "1.2").with_changes(Some(" src/parser.ts | 3 +++\n".to_owned()));
        insta::assert_snapshot!(shown(&report), @r"
        Task      1.2 Add a parser
        Plan      auth (specs/auth/tasks.md)
        State     done
        Do        1. Read a line
                  2. Split it
        Verify    `npm test`
        Fixed by  1.2.1 Fix: no parser: done
        Committed 0123456789abcdef

        ✗ attempt 1 (executor, command): failed (verification_failed); began 2026-01-26 14:30:10Z, 10s
          error    no parser
          why      the verify command is red
          command  npm test
          exit     1
          file     src/parser.ts (partially modified)
          │ FAIL no parser
          │   expected 2, got 3
          · fix task 1.2.1 is written
          see: tillgreen show 1.2 --attempt 1 --output

        ✓ attempt 2 (executor, command): passed; began 2026-01-26 14:33:10Z, 30s
          · the agent claims success after 4.2s
          · checks are green
          commit   0123456789abcdef

        Changes
         src/parser.ts | 3 +++

        one attempt, whole      tillgreen show 1.2 --attempt 2
        what an agent was told  tillgreen show 1.2 --attempt 2 --prompt
        what was printed        tillgreen show 1.2 --attempt 2 --output
        what was changed        tillgreen show 1.2 --diff
        ");
    }

    #[test]
    fn a_fix_knows_what_it_was_written_for() {
        let text = shown(&report(&samples::fixed(), "1.2.1.1"));
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("Fix of")).collect();
        assert_eq!(rows, ["Fix of    1.2.1: no file", "Fix of    1.2: no parser"]);
    }

    #[test]
    fn an_attempt_under_way_and_one_that_was_never_begun() {
        let story = Story::new(Rules::default()).starts("1.2");
        let text = shown(&report(&story, "1.2"));
        assert!(
            text.contains("▶ attempt 1 (executor, command): under way; began 2026-01-26 14:30:10Z"),
            "{text}"
        );
        let text = shown(&report(&story, "1.3"));
        assert!(text.contains("State     waiting to start\n") && !text.contains("attempt"), "{text}");
    }

    #[test]
    fn one_attempt_is_shown_whole() {
        let long: String = (1..=40).map(|line| format!("line {line}\n")).collect();
        let mut report = report(&Story::new(Rules::default()).fails("1.2", "red"), "1.2");
        report.attempts[0].failure.as_mut().unwrap().details = long;
        let report =
            report.with_feedback(|_| Some("<retry_context attempt=\"1\">\n</retry_context>".to_owned()));
        let short = shown(&report);
        assert!(short.contains("  │ … 28 lines before\n  │ line 29\n"), "{short}");
        let whole = attempt(&report, &report.attempts[0], Paint::Plain);
        assert!(whole.contains("  │ line 1\n") && whole.ends_with("</retry_context>\n"), "{whole}");
    }

    #[test]
    fn output_has_a_heading_for_each_stream() {
        let report = report(&Story::new(Rules::default()).fails("1.2", "red"), "1.2");
        let section = |of, stream, text: &str| Section { of, stream, text: text.to_owned() };
        let sections = [
            section("agent", "standard output", "TASK_COMPLETE\n"),
            section("verify command", "standard error", "\u{1b}[31mred\n  here\n"),
        ];
        insta::assert_snapshot!(output(&report, &report.attempts[0], &sections, Paint::Plain), @r"
        1.2 attempt 1 failed `npm test` (exit code 1): red

        ── agent, standard output
        TASK_COMPLETE

        ── verify command, standard error
        ␛[31mred
          here
        ");
        insta::assert_snapshot!(output(&report, &report.attempts[0], &[], Paint::Plain), @r"
        1.2 attempt 1 failed `npm test` (exit code 1): red

        ── what the record has of it
        FAIL red
          expected 2, got 3
        ");
    }

    #[test]
    fn text_of_others_stays_text() {
        let story = Story::new(Rules::default()).fails("1.2", "a\u{1b}[2J\nALL_TASKS_COMPLETE\r\nb");
        let text = shown(&report(&story, "1.2"));
        assert!(!text.contains('\u{1b}') && !text.lines().any(|line| line == "ALL_TASKS_COMPLETE"), "{text}");
    }
}

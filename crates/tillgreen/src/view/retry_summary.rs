//! The Retry Summary: what a finished plan prints, and what `stats` prints again. Its headings, tables and words
//! are those that people and scripts know.

use std::fmt::Write as _;

use engine::{Pattern, PatternKind, Statistics, TaskResult, TaskStatistics};
use plan::TaskId;

use super::text::{count, one_line};

/// Characters of a plan's name or a pattern.
const TEXT_CHARS_MAX: usize = 100;
/// Errors in their own words that are worth a line.
const WORDS_MAX: usize = 5;

/// How the tasks of a run are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// All are of the plan that the heading names, so their numbers say enough.
    OnePlan,
    /// They are of several plans, and only a whole id tells one task from another.
    SeveralPlans,
}

impl Naming {
    pub(crate) fn of(tasks: &[TaskStatistics]) -> Self {
        let mut plans = tasks.iter().map(|task| plan_of(&task.id));
        let first = plans.next().flatten();
        if plans.all(|plan| plan == first) { Self::OnePlan } else { Self::SeveralPlans }
    }
}

/// The number of the plan that a task is of, where tasks carry one.
fn plan_of(id: &TaskId) -> Option<&str> {
    id.name().split_once(":task-").map(|(plan, _)| plan)
}

/// The summary of a run. `plan` is what people call the plan.
pub(crate) fn render(plan: &str, statistics: &Statistics) -> String {
    let mut text = format!("## Retry Summary for {}\n\n", label(plan, statistics));
    text.push_str(&metrics(statistics));
    text.push_str(&details(statistics));
    text.push_str(&failures(statistics));
    text
}

/// The name of a plan in a heading: by the number that its tasks carry, else by its name. Several are called by the
/// name of what they are in.
pub(crate) fn label(plan: &str, statistics: &Statistics) -> String {
    let number = statistics.tasks.first().and_then(|task| plan_of(&task.id));
    match Naming::of(&statistics.tasks) {
        Naming::OnePlan => format!("Plan {}", one_line(number.unwrap_or(plan), TEXT_CHARS_MAX)),
        Naming::SeveralPlans => format!("the Plans in {}", one_line(plan, TEXT_CHARS_MAX)),
    }
}

/// The table of totals.
pub(crate) fn metrics(statistics: &Statistics) -> String {
    let all = statistics.for_the_run();
    let share = |part: usize| format!("{part} ({}%)", percent(part, all));
    let rows = [
        ("Total tasks", statistics.originals().count().to_string()),
        ("First-attempt success", share(statistics.first_successes())),
        ("Retried tasks", share(statistics.retried())),
        ("Retry success", statistics.retry_successes().to_string()),
        ("Escalations", statistics.escalations().to_string()),
        ("Skipped", statistics.skipped().to_string()),
    ];
    let mut text = "| Metric | Value |\n|--------|-------|\n".to_owned();
    for (metric, value) in rows {
        push(&mut text, &format!("| {metric} | {value} |"));
    }
    for note in notes(statistics) {
        push(&mut text, &format!("\n{note}"));
    }
    text
}

/// Notes without which the numbers cannot be read.
fn notes(statistics: &Statistics) -> Vec<String> {
    let of = |result: TaskResult| statistics.count(|task| task.result == result);
    let was = |number: usize| if number == 1 { "was" } else { "were" };
    let mut notes = Vec::new();
    let proved = of(TaskResult::Proved);
    if proved > 0 {
        let tasks = count(proved, "[VERIFY] task");
        notes.push(format!(
            "{tasks} {} green without an agent: first-attempt success with 0 attempts.",
            was(proved)
        ));
    }
    let answered = of(TaskResult::Answered);
    if answered > 0 {
        let tasks = count(answered, "checkpoint");
        notes.push(format!(
            "{tasks} {} answered by a person: first-attempt success with 0 attempts.",
            was(answered)
        ));
    }
    let others = statistics.count(|task| task.result.is_done_by_others());
    if others > 0 {
        let (tasks, was, is) = (count(others, "task"), was(others), if others == 1 { "is" } else { "are" });
        notes.push(format!("{tasks} {was} done before this run or by hand, and {is} in no percentage."));
    }
    notes
}

fn details(statistics: &Statistics) -> String {
    let mut text =
        "\n### Retry Details\n\n| Task | Attempts | Result |\n|------|----------|--------|\n".to_owned();
    let naming = Naming::of(&statistics.tasks);
    for task in &statistics.tasks {
        let (name, result) = (cell(&task_name(task, naming)), cell(&words(&task.result, naming)));
        push(&mut text, &format!("| {name} | {} | {result} |", task.attempts));
    }
    text
}

/// The things that failures have in common, as a list; nothing where nothing failed.
pub(crate) fn failures(statistics: &Statistics) -> String {
    let patterns = statistics.patterns();
    if patterns.is_empty() {
        return String::new();
    }
    let mut text = "\n### Common Failure Patterns\n\n".to_owned();
    for pattern in common(&patterns) {
        let name = one_line(&pattern.name, TEXT_CHARS_MAX);
        push(&mut text, &format!("- {name}: {}", count(pattern.occurrences, "occurrence")));
    }
    text
}

/// The patterns worth showing: all types and kinds, and errors in their own words that came up more than once.
pub(crate) fn common(patterns: &[Pattern]) -> impl Iterator<Item = &Pattern> {
    let mut words_left = WORDS_MAX;
    patterns.iter().filter(move |pattern| match pattern.kind {
        PatternKind::Type | PatternKind::Category => true,
        PatternKind::Words => {
            let is_shown = pattern.occurrences > 1 && words_left > 0;
            words_left -= usize::from(is_shown);
            is_shown
        }
    })
}

/// `Task 3` for `03-01:task-3`, where the heading names the plan; `Task 1.3` for `1.3`.
pub(crate) fn task_name(task: &TaskStatistics, naming: Naming) -> String {
    let name = format!("Task {}", short(&task.id, naming));
    match &task.fix_of {
        Some(failing) => format!("{name} (fix of {})", short(failing, naming)),
        None => name,
    }
}

/// An id without the plan that the heading names.
pub(crate) fn short(id: &TaskId, naming: Naming) -> String {
    let id = id.to_string();
    let number = id.split_once(":task-").map(|(_, number)| number.to_owned());
    number.filter(|_| naming == Naming::OnePlan).unwrap_or(id)
}

/// A result in words.
pub(crate) fn words(result: &TaskResult, naming: Naming) -> String {
    match result {
        TaskResult::Success | TaskResult::Proved | TaskResult::Answered => "success".to_owned(),
        TaskResult::RetryWorked => "success (retry worked)".to_owned(),
        TaskResult::FixedBy(fixes) => {
            let fixes: Vec<String> = fixes.iter().map(|fix| short(fix, naming)).collect();
            format!("success (fixed by {})", fixes.join(", "))
        }
        TaskResult::TickedByHand => "ticked by hand".to_owned(),
        TaskResult::DoneBefore => "done before".to_owned(),
        TaskResult::Skipped => "skipped".to_owned(),
        TaskResult::SkippedAfterFailure => "skipped (escalated)".to_owned(),
        TaskResult::Failed => "failed".to_owned(),
        TaskResult::Asking => "waiting for an answer".to_owned(),
        TaskResult::InProgress => "in progress".to_owned(),
        TaskResult::WaitingFor(task) => format!("waiting for {}", short(task, naming)),
        TaskResult::ToBeRetried => "pending (to be retried)".to_owned(),
        TaskResult::Pending => "pending".to_owned(),
    }
}

/// A share in whole percent: all of them only if it is all, none only if it is none.
pub(crate) fn percent(part: usize, all: usize) -> usize {
    match part {
        0 => 0,
        part if part >= all => 100,
        part => ((part * 100 + all / 2) / all).clamp(1, 99),
    }
}

/// A text as a cell of a table.
pub(crate) fn cell(text: &str) -> String {
    one_line(text, TEXT_CHARS_MAX).replace('|', "\\|")
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use engine::{History, Rules, State};

    use super::*;
    use crate::view::samples::{self, Story};

    pub(crate) fn statistics(story: &Story) -> Statistics {
        let (mut state, mut history) = (State::default(), History::default());
        for (event, _) in story.replay() {
            state.apply(&event).unwrap();
            history.record(&event);
        }
        Statistics::of(&state, &history)
    }

    #[test]
    fn a_retry_and_a_skip() {
        let story = Story::new(Rules::default())
            .fails("1.2", "3 tests failed in parser.test.ts")
            .retries("1.2")
            .passes("1.2")
            .fails("1.3", "5 tests failed in parser.test.ts")
            .retries("1.3")
            .fails("1.3", "no | way")
            .escalates("1.3")
            .skips("1.3");
        insta::assert_snapshot!(render("auth", &statistics(&story)), @r"
        ## Retry Summary for Plan auth

        | Metric | Value |
        |--------|-------|
        | Total tasks | 3 |
        | First-attempt success | 0 (0%) |
        | Retried tasks | 2 (100%) |
        | Retry success | 1 |
        | Escalations | 1 |
        | Skipped | 1 |

        1 task was done before this run or by hand, and is in no percentage.

        ### Retry Details

        | Task | Attempts | Result |
        |------|----------|--------|
        | Task 1.1 | 0 | done before |
        | Task 1.2 | 2 | success (retry worked) |
        | Task 1.3 | 2 | skipped (escalated) |

        ### Common Failure Patterns

        - verification_failed: 3 occurrences
        - Test failures: 2 occurrences
        - N tests failed in parser.test.ts: 2 occurrences
        ");
    }

    #[test]
    fn fix_tasks() {
        insta::assert_snapshot!(render("auth", &statistics(&samples::fixed())), @r"
        ## Retry Summary for Plan auth

        | Metric | Value |
        |--------|-------|
        | Total tasks | 3 |
        | First-attempt success | 1 (50%) |
        | Retried tasks | 1 (50%) |
        | Retry success | 1 |
        | Escalations | 0 |
        | Skipped | 0 |

        1 task was done before this run or by hand, and is in no percentage.

        ### Retry Details

        | Task | Attempts | Result |
        |------|----------|--------|
        | Task 1.1 | 0 | done before |
        | Task 1.2 | 2 | success (fixed by 1.2.1) |
        | Task 1.2.1 (fix of 1.2) | 2 | success (fixed by 1.2.1.1) |
        | Task 1.2.1.1 (fix of 1.2.1) | 1 | success |
        | Task 1.3 | 1 | success |

        ### Common Failure Patterns

        - verification_failed: 2 occurrences
        ");
    }

    #[test]
    fn a_numbered_plan_is_called_by_its_number() {
        let mut statistics = statistics(&Story::new(Rules::default()).passes("1.2").passes("1.3"));
        for (task, number) in statistics.tasks.iter_mut().zip(1..) {
            task.id = TaskId::new(&format!("03-01:task-{number}"));
        }
        let text = render("03-01-PLAN", &statistics);
        assert!(text.starts_with("## Retry Summary for Plan 03-01\n"), "{text}");
        assert!(text.contains("| Task 2 | 1 | success |\n"), "{text}");
        assert!(!text.contains("### Common Failure Patterns"), "nothing failed: {text}");
    }

    #[test]
    fn tasks_of_several_plans_are_told_apart() {
        let mut statistics = statistics(&Story::new(Rules::default()).passes("1.2").passes("1.3"));
        for (task, plan) in statistics.tasks.iter_mut().zip(["01-01", "01-02", "02-01"]) {
            task.id = TaskId::new(&format!("{plan}:task-1"));
        }
        let text = render("phases", &statistics);
        assert!(text.starts_with("## Retry Summary for the Plans in phases\n"), "{text}");
        assert!(text.contains("| Task 01-02:task-1 | 1 | success |\n"), "{text}");
    }

    #[test]
    fn what_others_wrote_breaks_no_table() {
        assert_eq!(cell("a | b\n\u{1b}c"), "a \\| b \u{241b}c");
    }

    #[test]
    fn percentages() {
        for (part, all, expected) in
            [(3, 5, 60), (2, 3, 67), (0, 0, 0), (0, 9, 0), (9, 9, 100), (999, 1000, 99), (1, 1000, 1)]
        {
            assert_eq!(percent(part, all), expected, "{part} of {all}");
        }
    }
}

//! The prompt of a planner. Its words are files.

use plan::one_line;

use crate::attempt::{AttemptPart, Subject, documents_told, fill, told};
use crate::planning::brief::{Brief, Wanted};

const PLANNER: &str = include_str!("../../prompts/planner.md");
const PLANNER_OF_COMMANDS: &str = include_str!("../../prompts/planner_commands.md");

/// The characters of a goal.
const GOAL_CHARS_MAX: usize = 20_000;
/// The tasks without a command that are named; the plan has all of them.
const TASKS_MAX: usize = 200;
const TITLE_CHARS_MAX: usize = 100;

/// The prompt of an attempt at what is asked for.
pub(crate) fn prompt(brief: &Brief, subject: &Subject<'_>, part: &AttemptPart<'_>) -> String {
    let retry_context = part.retry_context.as_ref().map(|block| format!("{block}\n")).unwrap_or_default();
    let retry_context = told(&part.words) + &retry_context;
    let (template, goal, tasks) = match &brief.wanted {
        Wanted::Plan { goal } => (PLANNER, goal.chars().take(GOAL_CHARS_MAX).collect(), String::new()),
        Wanted::Commands { original } => (PLANNER_OF_COMMANDS, String::new(), tasks(brief, original)),
    };
    fill(
        template,
        &[
            ("draft", brief.draft()),
            ("plan", &brief.plan),
            ("goal", goal.trim()),
            ("tasks", &tasks),
            ("attempt", &part.attempt.to_string()),
            ("retry_context", &retry_context),
            ("documents", &documents_told(&subject.documents)),
            ("id", subject.id),
            ("title", subject.excerpt.title()),
        ],
    )
}

/// The tasks of a plan that have no command.
fn tasks(brief: &Brief, original: &str) -> String {
    let plan = brief.read(original);
    let tasks = plan.unverified();
    let line = |task: &&plan::Task| {
        let title: String = one_line(plan.short_title(task)).chars().take(TITLE_CHARS_MAX).collect();
        format!("- {} {title}", task.id)
    };
    let more = tasks.len().saturating_sub(TASKS_MAX);
    let more = (more > 0).then(|| format!("- and {more} more: the plan has them"));
    tasks.iter().take(TASKS_MAX).map(line).chain(more).collect::<Vec<_>>().join("\n")
}

//! Puts prompts together. Their words are files, one per role; this module only fills in the blanks.

use engine::{Attempt, Role};
use plan::Dialect;

use crate::book::Excerpt;
use crate::project::PlanFile;
use crate::settings::Bookkeeping;

const EXECUTOR: &str = include_str!("../prompts/executor.md");
const PHASE_EXECUTOR: &str = include_str!("../prompts/phase_executor.md");
const PHASE_BY_COORDINATOR: &str = include_str!("../prompts/phase_bookkeeping_coordinator.md");
const PHASE_BY_AGENT: &str = include_str!("../prompts/phase_bookkeeping_agent.md");
const QA: &str = include_str!("../prompts/qa.md");
const JUDGE: &str = include_str!("../prompts/judge.md");
const REVIEWER: &str = include_str!("../prompts/reviewer.md");
const BY_COORDINATOR: &str = include_str!("../prompts/bookkeeping_coordinator.md");
const BY_AGENT: &str = include_str!("../prompts/bookkeeping_agent.md");

/// How much of the progress file goes into a prompt.
const CONTEXT_CHARS_MAX: usize = 6_000;

/// What a prompt is about.
pub(crate) struct Subject<'a> {
    /// The task's name in the plan.
    pub id: &'a str,
    /// Its text.
    pub excerpt: &'a Excerpt,
    /// Where the plan lives.
    pub file: &'a PlanFile,
    /// The plan file's path, as it is shown.
    pub shown: String,
    /// The spec folder's path, as it is shown.
    pub dir: String,
}

/// What only the prompt of an attempt needs.
pub(crate) struct AttemptPart<'a> {
    /// The attempt.
    pub attempt: Attempt,
    /// In which role.
    pub role: Role,
    /// The `<retry_context>` block, if there is history.
    pub retry_context: Option<String>,
    /// The progress file's text.
    pub progress: &'a str,
    /// Where the agent writes progress.
    pub progress_file: &'a str,
    /// Who ticks and commits.
    pub bookkeeping: Bookkeeping,
}

/// The prompt of an attempt.
pub(crate) fn attempt(subject: &Subject<'_>, part: &AttemptPart<'_>) -> String {
    let template = match (part.role, subject.file.dialect) {
        (Role::Executor | Role::Reviewer, Dialect::Spec) => EXECUTOR,
        (Role::Executor | Role::Reviewer, Dialect::Phase) => PHASE_EXECUTOR,
        (Role::Qa, Dialect::Spec | Dialect::Phase) => QA,
    };
    let bookkeeping = match (part.bookkeeping, subject.file.dialect) {
        (Bookkeeping::Coordinator, Dialect::Spec) => BY_COORDINATOR,
        (Bookkeeping::Agent, Dialect::Spec) => BY_AGENT,
        (Bookkeeping::Coordinator, Dialect::Phase) => PHASE_BY_COORDINATOR,
        (Bookkeeping::Agent, Dialect::Phase) => PHASE_BY_AGENT,
    };
    let retry_context = part.retry_context.as_ref().map(|block| format!("{block}\n")).unwrap_or_default();
    let bookkeeping = fill(
        bookkeeping.trim_end(),
        &[("plan", &subject.shown), ("plan_id", &subject.file.name), ("progress", part.progress_file)],
    );
    let attempt = part.attempt.to_string();
    let context = context(part.progress);
    fill_subject(
        template,
        subject,
        &[
            ("attempt", attempt.as_str()),
            ("retry_context", &retry_context),
            ("context", &context),
            ("bookkeeping", &bookkeeping),
        ],
    )
}

/// The prompt of a judge.
pub(crate) fn judge(subject: &Subject<'_>, role: Role, touched: &[String]) -> String {
    let template = match role {
        Role::Reviewer => REVIEWER,
        Role::Qa | Role::Executor => JUDGE,
    };
    let list: Vec<String> = touched.iter().map(|path| format!("- {path}")).collect();
    let list = if list.is_empty() { "(none)".to_owned() } else { list.join("\n") };
    fill_subject(template, subject, &[("touched", &list)])
}

fn fill_subject(template: &str, subject: &Subject<'_>, more: &[(&str, &str)]) -> String {
    let mut blanks: Vec<(&str, &str)> = vec![
        ("id", subject.id),
        ("spec", &subject.file.name),
        ("path", &subject.dir),
        ("plan", &subject.shown),
        ("title", subject.excerpt.title()),
        ("block", subject.excerpt.block()),
    ];
    blanks.extend(more);
    fill(template, &blanks)
}

/// Fills in every `{{name}}` in one pass, so that a value that looks like a blank stays as it is.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        text.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let end = after.find("}}").unwrap_or(after.len());
        let name = &after[..end];
        let value = values.iter().find(|(known, _)| *known == name);
        text.push_str(value.map_or("", |(_, value)| value));
        rest = after.get(end + 2..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// What of the progress file helps the next task: its end, where learnings and the latest tasks are.
fn context(progress: &str) -> String {
    let progress = progress.trim();
    if progress.is_empty() {
        return "(nothing yet)".to_owned();
    }
    let count = progress.chars().count();
    if count <= CONTEXT_CHARS_MAX {
        return progress.to_owned();
    }
    let tail: String = progress.chars().skip(count - CONTEXT_CHARS_MAX).collect();
    let from = tail.find('\n').map_or(0, |newline| newline + 1);
    format!("(earlier entries left out)\n{}", &tail[from..])
}

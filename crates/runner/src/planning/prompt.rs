//! The prompt of a planner. Its words are files.

use plan::one_line;

use crate::attempt::{AttemptPart, Subject, documents_told, fill, told};
use crate::planning::brief::{Brief, Wanted};

pub(crate) const PLANNER: &str = include_str!("../../prompts/planner.md");
pub(crate) const PLANNER_OF_COMMANDS: &str = include_str!("../../prompts/planner_commands.md");

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

#[cfg(test)]
mod tests {
    use engine::{Attempt, Role};
    use plan::{Dialect, Format, Reading};

    use super::*;
    use crate::attempt::Around;
    use crate::plan_file::Excerpt;
    use crate::settings::Bookkeeping;

    fn rendered(plan: &str, wanted: Wanted, retry_context: Option<&str>) -> String {
        let text = "- [ ] 1 Write the plan\n  - **Do**: Write it\n";
        let excerpt = Excerpt::read(Reading::default(), text).unwrap();
        let subject = Subject {
            id: "1",
            excerpt: &excerpt,
            dialect: Dialect::Spec,
            format: Format::Spec,
            plan_name: "planning",
            shown: String::new(),
            dir: String::new(),
            introduction: String::new(),
            documents: vec!["specs/limits/requirements.md".to_owned()],
            around: Around::default(),
        };
        let part = AttemptPart {
            attempt: Attempt(if retry_context.is_some() { 2 } else { 1 }),
            role: Role::Planner,
            retry_context: retry_context.map(str::to_owned),
            progress: "",
            progress_file: "",
            bookkeeping: Bookkeeping::Coordinator,
            isolated: false,
            words: Vec::new(),
        };
        let (project, base, begun) = (String::new(), String::new(), String::new());
        prompt(&Brief { project, plan: plan.to_owned(), wanted, base, begun }, &subject, &part)
    }

    #[test]
    fn a_planner() {
        let goal = "Limit requests {{draft}}\n- [ ] 9.9 not a task".to_owned();
        insta::assert_snapshot!(rendered("specs/limits/tasks.md", Wanted::Plan { goal }, None), @"");
    }

    #[test]
    fn a_planner_of_commands_that_tries_again() {
        let original = "- [ ] 1.1 One\n- [ ] 1.2 Two\n  - **Verify**: `make`\n- [ ] 1.3 Three\n".to_owned();
        let retry = "<retry_context attempt=\"2\" max_attempts=\"5\">\n  …\n</retry_context>\n";
        insta::assert_snapshot!(rendered("specs/limits/tasks.md", Wanted::Commands { original }, Some(retry)), @"");
    }

    #[test]
    fn of_many_tasks_some_are_named() {
        let original: String = (1..=300).map(|number| format!("- [ ] 1.{number} Task {number}\n")).collect();
        let prompt = rendered("specs/limits/tasks.md", Wanted::Commands { original }, None);
        assert!(prompt.contains("\n- 1.200 Task 200\n- and 100 more: the plan has them\n"), "{prompt}");
    }
}

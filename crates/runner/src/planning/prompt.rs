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
        insta::assert_snapshot!(rendered("specs/limits/tasks.md", Wanted::Plan { goal }, None), @r##"
        You are the planner of a project. A coordinating program hands you a goal, and you write the plan by which other agents reach it. The program checks what you write and tries its commands; a person accepts it or does not. Nobody reads along and nobody answers questions.

        Task: Write the plan specs/limits/tasks.md

        Goal:
        <goal>
        Limit requests {{draft}}
        - [ ] 9.9 not a task
        </goal>

        Attempt: 1

        Documents beside the plan, to be read where the task leaves something open:
        - specs/limits/requirements.md

        You are in a copy of the project that is thrown away afterwards: of all that you change here, only specs/limits/tasks.md is taken. So do not begin with the work itself. Look around, run what you need to see, and write the plan.

        Each task goes to an agent of its own that is given the task, what the plan says about itself before the first task, and nothing else. It is done when its Verify command, which the program runs from the root of the project, is green. A plan looks like this:

        # Tasks: limit requests

        What is to be reached and why, what is there already, what has to stay as it is.

        ## Phase 1: The limiter

        - [ ] 1.1 Count requests in a window
          - **Do**:
            1. Add `allow(key, now)` to src/limiter.py: it is true for the first five calls of a key in a second
            2. Test that in tests/test_limiter.py, with two keys and at the edge of a second
          - **Files**: src/limiter.py, tests/test_limiter.py
          - **Done when**: the sixth call of a key in a second is refused, and another key is not
          - **Verify**: `python3 -m pytest -q tests/test_limiter.py`
          - **Commit**: `feat: count requests in a window`

        - [ ] 1.2 [P] Describe it
          - **Do**: Add a section "Limits" to docs/api.md
          - **Files**: docs/api.md
          - **Depends on**: 1.1
          - **Done when**: docs/api.md says how many requests are allowed and what is answered to the others
          - **Verify**: `grep -q '^## Limits' docs/api.md`
          - **Commit**: `docs: describe the limits`

        - [ ] 1.3 [VERIFY] All tests pass
          - **Done when**: the tests of the whole project pass
          - **Verify**: `python3 -m pytest -q`

        Instructions:
        1. Look at the project first: what is there, and how it is built, tested and linted. Take commands that work here
        2. Cut the goal into tasks in the order in which they are done, each small enough for one agent in one sitting, and each leaving the project in working order. Number them 1.1, 1.2, 2.1 and so on, each number once. `[P]` behind the number is for neighbours that share no files and can be done side by side. Depends on names tasks of this plan that come before
        3. Give each task Do, Files, Done when, Verify and Commit. Do says what to write and where, so that nobody has to guess. Files names all that the task creates or changes, tests as well, by paths from the root of the project
        4. Verify is one command on one line, in backticks: it runs tests, types, lint or a build, or merely looks (`test`, `grep`). It has to fail now and to pass once the task is done, and it has to be able to fail: no `|| true`, no `echo` at its end. It starts no server and needs no network and no program that is not here
        5. Let a task that builds something write the tests for it, and verify it by these
        6. A command that passes before the work proves nothing, and is sent back once. Where no other will do, as for a change that must change no behaviour, keep it: the person is told
        7. End each phase with a task marked [VERIFY], whose command runs the tests of the whole project, and its types and lint if it has them. It may pass already
        8. Leave all boxes empty, and leave nothing for a person to do by hand
        9. Output TASK_COMPLETE on a line of its own when specs/limits/tasks.md is written. If no plan can be written for this goal, do not output it; end instead with the line `Task 1: Write the plan FAILED`, and below it, each on a line of its own, `- Error:` with why, `- Attempted fix:` with what you tried and `- Status:` with what is needed
        "##);
    }

    #[test]
    fn a_planner_of_commands_that_tries_again() {
        let original = "- [ ] 1.1 One\n- [ ] 1.2 Two\n  - **Verify**: `make`\n- [ ] 1.3 Three\n".to_owned();
        let retry = "<retry_context attempt=\"2\" max_attempts=\"5\">\n  …\n</retry_context>\n";
        insta::assert_snapshot!(rendered("specs/limits/tasks.md", Wanted::Commands { original }, Some(retry)), @r##"
        You are the planner of a project. A coordinating program has a plan with tasks that no command proves, and you propose a command for each. The program checks what you write and tries the commands; a person accepts them or does not. Nobody reads along and nobody answers questions.

        Task: Write commands for tasks of specs/limits/tasks.md into tillgreen-commands.txt

        Plan: specs/limits/tasks.md
        Attempt: 2

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        Documents beside the plan, to be read where the task leaves something open:
        - specs/limits/requirements.md

        You are in a copy of the project that is thrown away afterwards: of all that you change here, only tillgreen-commands.txt is taken. So do not edit the plan, and do not begin with its work. Look around, run what you need to see, and write the commands.

        Tasks without a command:
        - 1.1 One
        - 1.3 Three

        Each task goes to an agent of its own. It is done when its command, which the program runs from the root of the project, is green. Write one line for each task into tillgreen-commands.txt, with its name as it stands above, a colon and the command, and nothing else:

        1.1: python3 -m pytest -q tests/test_limiter.py
        1.2: grep -q '^## Limits' docs/api.md

        Instructions:
        1. Read the plan and look at the project first: how it is built, tested and linted. Take commands that work here
        2. A command is one line without backticks: it runs tests, types, lint or a build, or merely looks (`test`, `grep`). It has to fail now and to pass once the task is done, and it has to be able to fail: no `|| true`, no `echo` at its end. It starts no server and needs no network and no program that is not here
        3. Let it prove what the task is about: the tests that the task writes or that are written for it, the file that it creates with what has to be in it. The whole test suite proves nothing about a task if it passes already
        4. A command that passes before the work proves nothing, and is sent back once. Where no other will do, as for a change that must change no behaviour, keep it: the person is told
        5. Leave out a task that no command can prove: somebody judges it
        6. Output TASK_COMPLETE on a line of its own when tillgreen-commands.txt is written. If no task can be given a command, do not output it; end instead with the line `Task 1: Write the plan FAILED`, and below it, each on a line of its own, `- Error:` with why, `- Attempted fix:` with what you tried and `- Status:` with what is needed
        "##);
    }

    #[test]
    fn of_many_tasks_some_are_named() {
        let original: String = (1..=300).map(|number| format!("- [ ] 1.{number} Task {number}\n")).collect();
        let prompt = rendered("specs/limits/tasks.md", Wanted::Commands { original }, None);
        assert!(prompt.contains("\n- 1.200 Task 200\n- and 100 more: the plan has them\n"), "{prompt}");
    }
}

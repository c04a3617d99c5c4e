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
const RESUMING: &str = include_str!("../prompts/resuming.md");
const BY_COORDINATOR: &str = include_str!("../prompts/bookkeeping_coordinator.md");
const BESIDE_OTHERS: &str = include_str!("../prompts/beside_others.md");
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
    /// Whether it is in a work tree of its own.
    pub isolated: bool,
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
    let surroundings = if part.isolated { BESIDE_OTHERS } else { "" };
    let text = fill_subject(
        template,
        subject,
        &[
            ("attempt", attempt.as_str()),
            ("retry_context", &retry_context),
            ("context", &context),
            ("bookkeeping", &bookkeeping),
        ],
    );
    text + surroundings
}

/// The prompt of a retry for an agent that remembers the attempt before.
pub(crate) fn resuming(subject: &Subject<'_>, retry_context: &str) -> String {
    fill_subject(RESUMING, subject, &[("retry_context", retry_context)])
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const SPEC: &str = "- [ ] 1.3 Add failure parser\n  - **Do**: Add parsing logic {{id}}\n  - **Files**: parser.md\n  \
                        - **Verify**: `grep -q Parse parser.md`\n\n";
    const PHASE: &str = "<task type=\"auto\">\n  <name>Task 3: Create the error</name>\n  <files>src/error.ts</files>\n  \
                         <action>Create it</action>\n  <verify>npm test</verify>\n  <done>Tests pass</done>\n</task>\n";
    const RETRY: &str = "<retry_context attempt=\"2\" max_attempts=\"5\">\n  …\n</retry_context>\n";

    fn file(dialect: Dialect) -> PlanFile {
        PlanFile {
            name: "demo".to_owned(),
            dialect,
            path: PathBuf::from("specs/demo/tasks.md"),
            plans: Vec::new(),
            dir: PathBuf::from("specs/demo"),
            home: PathBuf::from(".tillgreen/specs-demo"),
        }
    }

    fn with_subject(dialect: Dialect, text: &str, render: impl Fn(&Subject<'_>) -> String) -> String {
        let excerpt = Excerpt::read(dialect, text).unwrap();
        let (id, file) = (if dialect == Dialect::Spec { "1.3" } else { "03-01:task-3" }, file(dialect));
        let (shown, dir) = ("specs/demo/tasks.md".to_owned(), "./specs/demo/".to_owned());
        render(&Subject { id, excerpt: &excerpt, file: &file, shown, dir })
    }

    fn part(role: Role, retry_context: Option<&str>, bookkeeping: Bookkeeping) -> AttemptPart<'static> {
        AttemptPart {
            attempt: Attempt(if retry_context.is_some() { 2 } else { 1 }),
            role,
            retry_context: retry_context.map(str::to_owned),
            progress: "## Learnings\n- sed needs g\n",
            progress_file: "specs/demo/.progress-task-1.3.md",
            bookkeeping,
            isolated: false,
        }
    }

    #[test]
    fn whoever_works_beside_others_is_told_what_they_share() {
        let alone = part(Role::Executor, None, Bookkeeping::Coordinator);
        let beside = AttemptPart { isolated: true, ..part(Role::Executor, None, Bookkeeping::Coordinator) };
        for (dialect, text) in [(Dialect::Spec, SPEC), (Dialect::Phase, PHASE)] {
            let [alone, beside] =
                [&alone, &beside].map(|part| with_subject(dialect, text, |subject| attempt(subject, part)));
            let more = beside.strip_prefix(&alone).expect("the same, and then more");
            let told = "Other agents work beside you, each in a git work tree of its own. Do not use `git stash`: all of them \
                        share one list of stashes";
            assert_eq!(more.trim(), told);
        }
    }

    #[test]
    fn an_executor_of_a_spec() {
        let part = part(Role::Executor, None, Bookkeeping::Coordinator);
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| attempt(subject, &part)), @r###"
        You are the executor of one task of a larger plan. A coordinating program hands you the task, checks the result by running the task's own verify command, and decides what happens next. Nobody reads along and nobody answers questions: work on your own until the task is done or you are certain that it cannot be done.

        Task: Execute task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/
        Task id: 1.3
        Attempt: 1

        Context from .progress.md:
        ## Learnings
        - sed needs g

        Current task from specs/demo/tasks.md:
        - [ ] 1.3 Add failure parser
          - **Do**: Add parsing logic {{id}}
          - **Files**: parser.md
          - **Verify**: `grep -q Parse parser.md`

        Instructions:
        1. Read Do section and execute exactly
        2. Only modify Files listed
        3. Verify completion with Verify command; it will be run again after you have ended, and it alone decides
        4. You need not commit: what you leave in the work tree is committed for you, with the task's Commit message. Never commit files of the spec folder
        5. Write what the next tasks should know, one bullet a line below a heading "## Learnings", into specs/demo/.progress-task-1.3.md; do not touch .progress.md itself
        6. Do not edit specs/demo/tasks.md: the box of your task is ticked for you, and a change to any other box rejects your work
        7. Output TASK_COMPLETE on a line of its own when done. If the task cannot be completed, do not output it; end instead with the line `Task 1.3: Add failure parser FAILED`, and below it, each on a line of its own, `- Error:` with what went wrong, `- Attempted fix:` with what you tried and `- Status:` with what is needed
        "###);
    }

    #[test]
    fn an_executor_that_tries_again_and_does_the_bookkeeping() {
        let part = part(Role::Executor, Some(RETRY), Bookkeeping::Agent);
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| attempt(subject, &part)), @r#"
        You are the executor of one task of a larger plan. A coordinating program hands you the task, checks the result by running the task's own verify command, and decides what happens next. Nobody reads along and nobody answers questions: work on your own until the task is done or you are certain that it cannot be done.

        Task: Execute task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/
        Task id: 1.3
        Attempt: 2

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        Context from .progress.md:
        ## Learnings
        - sed needs g

        Current task from specs/demo/tasks.md:
        - [ ] 1.3 Add failure parser
          - **Do**: Add parsing logic {{id}}
          - **Files**: parser.md
          - **Verify**: `grep -q Parse parser.md`

        Instructions:
        1. Read Do section and execute exactly
        2. Only modify Files listed
        3. Verify completion with Verify command; it will be run again after you have ended, and it alone decides
        4. Commit with task's Commit message
        5. Update .progress.md with completion and learnings
        6. Mark task [x] in specs/demo/tasks.md (this box and no other), and commit specs/demo/tasks.md and .progress.md
        7. Output TASK_COMPLETE on a line of its own when done. If the task cannot be completed, do not output it; end instead with the line `Task 1.3: Add failure parser FAILED`, and below it, each on a line of its own, `- Error:` with what went wrong, `- Attempted fix:` with what you tried and `- Status:` with what is needed
        "#);
    }

    #[test]
    fn a_qa_engineer() {
        let part = part(Role::Qa, Some(RETRY), Bookkeeping::Coordinator);
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| attempt(subject, &part)), @r###"
        You are the QA engineer of a plan that a coordinating program carries out. It hands you one verification task, runs the task's own command again after you have ended, and decides by that. Nobody reads along and nobody answers questions.

        Task: Execute verification task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/
        Attempt: 2

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        Context from .progress.md:
        ## Learnings
        - sed needs g

        Task: Add failure parser

        Task Body:
        - [ ] 1.3 Add failure parser
          - **Do**: Add parsing logic {{id}}
          - **Files**: parser.md
          - **Verify**: `grep -q Parse parser.md`

        Instructions:
        1. Execute the verification as specified
        2. If issues found, attempt to fix them
        3. Output VERIFICATION_PASS on a line of its own if verification succeeds
        4. Output VERIFICATION_FAIL on a line of its own if verification fails and cannot be fixed, and before it what is wrong
        4. You need not commit: what you leave in the work tree is committed for you, with the task's Commit message. Never commit files of the spec folder
        5. Write what the next tasks should know, one bullet a line below a heading "## Learnings", into specs/demo/.progress-task-1.3.md; do not touch .progress.md itself
        6. Do not edit specs/demo/tasks.md: the box of your task is ticked for you, and a change to any other box rejects your work
        "###);
    }

    #[test]
    fn an_executor_of_a_plan_with_phases() {
        let part = part(Role::Executor, Some(RETRY), Bookkeeping::Coordinator);
        insta::assert_snapshot!(with_subject(Dialect::Phase, PHASE, |subject| attempt(subject, &part)), @r###"
        You are the executor of one task of a larger plan. A coordinating program hands you the task, checks the result by running the task's own verification, and decides what happens next. Nobody reads along and nobody answers questions: work on your own until the task is done or you are certain that it cannot be done.

        Task: Execute task 03-01:task-3 of plan demo

        Plan: specs/demo/tasks.md
        Task id: 03-01:task-3
        Attempt: 2

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        Context from earlier tasks:
        ## Learnings
        - sed needs g

        Current task:
        <task type="auto">
          <name>Task 3: Create the error</name>
          <files>src/error.ts</files>
          <action>Create it</action>
          <verify>npm test</verify>
          <done>Tests pass</done>
        </task>

        Instructions:
        1. Do what the action says, exactly
        2. Only modify the files listed
        3. Verify completion as described; it will be done again after you have ended, and that alone decides
        4. You need not commit: what you leave in the work tree is committed for you
        5. Write what the next tasks should know, one bullet a line below a heading "## Learnings", into specs/demo/.progress-task-1.3.md
        6. Do not edit the plan
        7. End your answer with a result, in a fenced block of YAML:
           - status: success, failure, blocked or impossible
           - files_modified: the files you changed
           - verification: command, exit_code and output_summary of what you ran
           - on failure: error, in one line, and if you know them root_cause, attempted_fix and suggested_fix
           - if blocked: reason, and blocked_by with the id of the task that has to be done first
        "###);
    }

    #[test]
    fn a_judge_and_a_reviewer() {
        let touched = ["parser.md".to_owned()];
        let judged = with_subject(Dialect::Spec, SPEC, |subject| judge(subject, Role::Qa, &touched));
        insta::assert_snapshot!(judged, @"
        You are the QA engineer of a plan that a coordinating program carries out. An agent says that it has completed the task below. The task has no command that could prove it, so you judge. Change nothing: look at the project as it is now, run what you need to see, and compare it with what the task asks for.

        Task: Judge the result of task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/

        Files that the attempt changed:
        - parser.md

        The task from specs/demo/tasks.md:
        - [ ] 1.3 Add failure parser
          - **Do**: Add parsing logic {{id}}
          - **Files**: parser.md
          - **Verify**: `grep -q Parse parser.md`

        Instructions:
        1. Check every condition under Verify and Done when against the project itself, not against anybody's word
        2. Output VERIFICATION_PASS on a line of its own if every condition holds
        3. Otherwise output VERIFICATION_FAIL on a line of its own, and before it, in a few lines, which condition does not hold and what you saw
        ");
        let reviewed = with_subject(Dialect::Spec, SPEC, |subject| judge(subject, Role::Reviewer, &[]));
        insta::assert_snapshot!(reviewed, @"
        You are the reviewer of a plan that a coordinating program carries out. An agent has completed the task below and the task's own checks are green. You decide whether the result really is what the task asks for. Change nothing.

        Task: Review the result of task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/

        Files that the attempt changed:
        (none)

        The task from specs/demo/tasks.md:
        - [ ] 1.3 Add failure parser
          - **Do**: Add parsing logic {{id}}
          - **Files**: parser.md
          - **Verify**: `grep -q Parse parser.md`

        Instructions:
        1. Read the change and compare it with Do and Done when: completeness, edge cases, nothing hard-coded to please the check
        2. Output VERIFICATION_PASS on a line of its own if the task is done as described
        3. Otherwise output VERIFICATION_FAIL on a line of its own, and before it, in a few lines, what is missing and what to do about it
        ");
    }

    #[test]
    fn no_line_of_a_prompt_is_a_signal() {
        for template in [EXECUTOR, PHASE_EXECUTOR, QA, JUDGE, REVIEWER] {
            assert_eq!(engine::Claim::read(template, Dialect::Spec), engine::Claim::Silent, "{template}");
        }
    }

    #[test]
    fn a_long_progress_file_is_cut_at_a_line() {
        let progress: String = (0..2_000).map(|number| format!("- line {number}\n")).collect();
        let shown = context(&progress);
        assert!(shown.starts_with("(earlier entries left out)\n- line ") && shown.ends_with("- line 1999"));
        assert!(shown.chars().count() < CONTEXT_CHARS_MAX + 100);
    }
}

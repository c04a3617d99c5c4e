//! Puts prompts together. Their words are files, one per role; this module only fills in the blanks.

use engine::{Attempt, Role};
use plan::{Dialect, Format, Rung, Script};

use crate::plan_file::Excerpt;
use crate::settings::Bookkeeping;

const EXECUTOR: &str = include_str!("../../prompts/executor.md");
const FOREIGN_EXECUTOR: &str = include_str!("../../prompts/foreign_executor.md");
const FOREIGN_BOOKKEEPING: &str = include_str!("../../prompts/foreign_bookkeeping.md");
const AROUND: &str = include_str!("../../prompts/around.md");
const QUOTED: &str = include_str!("../../prompts/quoted.md");
const BY_BORROWED: &str = include_str!("../../prompts/verify_borrowed.md");
const BY_TEXT: &str = include_str!("../../prompts/verify_in_text.md");
const PHASE_EXECUTOR: &str = include_str!("../../prompts/phase_executor.md");
const PHASE_BY_COORDINATOR: &str = include_str!("../../prompts/phase_bookkeeping_coordinator.md");
const PHASE_BY_AGENT: &str = include_str!("../../prompts/phase_bookkeeping_agent.md");
const QA: &str = include_str!("../../prompts/qa.md");
const JUDGE: &str = include_str!("../../prompts/judge.md");
const REVIEWER: &str = include_str!("../../prompts/reviewer.md");
const TOLD: &str = include_str!("../../prompts/told.md");
const RESUMING: &str = include_str!("../../prompts/resuming.md");
const BY_COORDINATOR: &str = include_str!("../../prompts/bookkeeping_coordinator.md");
const BESIDE_OTHERS: &str = include_str!("../../prompts/beside_others.md");
const BY_AGENT: &str = include_str!("../../prompts/bookkeeping_agent.md");
const BY_COMMAND: &str = include_str!("../../prompts/verify_command.md");
const BY_JUDGE: &str = include_str!("../../prompts/verify_judged.md");
const PURPOSE: &str = include_str!("../../prompts/purpose.md");
const DOCUMENTS: &str = include_str!("../../prompts/documents.md");
const ASKED_AGAIN: &str = include_str!("../../prompts/asked_again.md");
const FACTS: &str = include_str!("../../prompts/facts.md");

/// The characters of the progress file in a prompt.
const CONTEXT_CHARS_MAX: usize = 6_000;

/// The characters of people's words in a prompt; a single one always fits.
const WORDS_CHARS_MAX: usize = 2 * engine::WORD_CHARS_MAX;

/// The characters of a plan's introduction in a prompt.
const INTRODUCTION_CHARS_MAX: usize = 4_000;

/// The characters of the part of the plan that a task is in, and of each part of a document that it points at.
const AROUND_CHARS_MAX: usize = 2_000;
/// How many parts of documents are quoted.
const QUOTED_MAX: usize = 8;

/// What a task of another tool's plan is a part of or points at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    /// The words of the plan about the part that the task is in.
    pub words: String,
    /// Parts of documents, each with the document's name.
    pub quoted: Vec<(String, String)>,
}

/// The subject of a prompt.
pub(crate) struct Subject<'a> {
    /// The task's name in the plan.
    pub id: &'a str,
    /// Its text.
    pub excerpt: &'a Excerpt,
    /// The plan's dialect.
    pub dialect: Dialect,
    /// Its format.
    pub format: Format,
    /// The plan's name.
    pub plan_name: &'a str,
    /// The plan file's path, as it is shown.
    pub shown: String,
    /// The spec folder's path, as it is shown.
    pub dir: String,
    /// The plan's words about itself before its first task.
    pub introduction: String,
    /// The documents beside it, as they are shown.
    pub documents: Vec<String>,
    /// What the task is a part of or points at.
    pub around: Around,
}

/// The part that only the prompt of an attempt has.
pub(crate) struct AttemptPart<'a> {
    /// The attempt.
    pub attempt: Attempt,
    /// In which role.
    pub role: Role,
    /// The `<retry_context>` block, if there is history.
    pub retry_context: Option<String>,
    /// The progress file's text.
    pub progress: &'a str,
    /// The file for the agent's progress.
    pub progress_file: &'a str,
    /// The one who ticks and commits.
    pub bookkeeping: Bookkeeping,
    /// True if it is in a work tree of its own.
    pub isolated: bool,
    /// The words of people for this prompt, oldest first.
    pub words: Vec<String>,
}

/// The prompt of an attempt.
pub(crate) fn attempt(subject: &Subject<'_>, part: &AttemptPart<'_>) -> String {
    let template = match (part.role, subject.dialect) {
        (Role::Qa, Dialect::Spec | Dialect::Phase) => QA,
        (Role::Executor | Role::Reviewer | Role::Planner, Dialect::Spec) if subject.format.is_foreign() => {
            FOREIGN_EXECUTOR
        }
        (Role::Executor | Role::Reviewer | Role::Planner, Dialect::Spec) => EXECUTOR,
        (Role::Executor | Role::Reviewer | Role::Planner, Dialect::Phase) => PHASE_EXECUTOR,
    };
    let bookkeeping = match (part.bookkeeping, subject.dialect) {
        (Bookkeeping::Coordinator, Dialect::Spec) if subject.format.is_foreign() => FOREIGN_BOOKKEEPING,
        (Bookkeeping::Coordinator, Dialect::Spec) => BY_COORDINATOR,
        (Bookkeeping::Agent, Dialect::Spec) => BY_AGENT,
        (Bookkeeping::Coordinator, Dialect::Phase) => PHASE_BY_COORDINATOR,
        (Bookkeeping::Agent, Dialect::Phase) => PHASE_BY_AGENT,
    };
    let retry_context = part.retry_context.as_ref().map(|block| format!("{block}\n")).unwrap_or_default();
    let retry_context = told(&part.words) + &retry_context;
    let bookkeeping = fill(
        bookkeeping.trim_end(),
        &[("plan", &subject.shown), ("plan_id", subject.plan_name), ("progress", part.progress_file)],
    );
    let by_command = |template, script: &Script| fill(template, &[("command", &script.source())]);
    let verification = match subject.excerpt.script() {
        Some((_, Rung::Field)) => BY_COMMAND.to_owned(),
        Some((script, Rung::Text)) => by_command(BY_TEXT, &script),
        Some((script, Rung::Phase | Rung::Settings | Rung::Judge)) => by_command(BY_BORROWED, &script),
        None => BY_JUDGE.to_owned(),
    };
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
            ("verification", verification.trim_end()),
            ("bookkeeping", &bookkeeping),
        ],
    );
    text + surroundings
}

/// The prompt of a retry for an agent that remembers the attempt before.
pub(crate) fn resuming(subject: &Subject<'_>, retry_context: &str, words: &[String]) -> String {
    told(words) + &fill_subject(RESUMING, subject, &[("retry_context", retry_context)])
}

/// The words of people for this prompt, the latest last; where it is too much, the oldest are left out.
pub(crate) fn told(words: &[String]) -> String {
    let mut room = WORDS_CHARS_MAX;
    let mut shown: Vec<String> = Vec::new();
    for word in words.iter().rev() {
        let word = format!("- {}", word.trim().replace('\n', "\n  "));
        let size = word.chars().count();
        if size > room {
            break;
        }
        room -= size;
        shown.push(word);
    }
    shown.reverse();
    if shown.is_empty() { String::new() } else { fill(TOLD, &[("words", &shown.join("\n"))]) }
}

/// The part of a prompt that only a judge needs.
pub(crate) struct JudgePart {
    /// In which role.
    pub role: Role,
    /// Files that attempts at the task changed.
    pub touched: Vec<String>,
    /// The difference that they made, where one can be told.
    pub difference: Option<String>,
    /// Facts that speak against the result.
    pub facts: Vec<String>,
    /// True if it gave no verdict before.
    pub is_asked_again: bool,
}

/// The prompt of a judge.
pub(crate) fn judge(subject: &Subject<'_>, part: &JudgePart) -> String {
    let template = match part.role {
        Role::Reviewer => REVIEWER,
        Role::Qa | Role::Executor | Role::Planner => JUDGE,
    };
    let facts = list(&part.facts).map(|facts| fill(FACTS, &[("facts", &facts)])).unwrap_or_default();
    let touched = list(&part.touched).unwrap_or_else(|| "(none)".to_owned());
    fill_subject(
        template,
        subject,
        &[
            ("again", if part.is_asked_again { ASKED_AGAIN } else { "" }),
            ("facts", &facts),
            ("touched", &touched),
            ("diff", part.difference.as_deref().map_or("(none that can be shown)", str::trim_end)),
        ],
    )
}

fn list(items: &[String]) -> Option<String> {
    let lines: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The plan's purpose, and the documents that can be read about it.
fn purpose(subject: &Subject<'_>) -> String {
    let introduction = beginning(&subject.introduction);
    let told = if introduction.is_empty() {
        String::new()
    } else {
        fill(PURPOSE, &[("introduction", &introduction)])
    };
    let documents = documents_told(&subject.documents);
    let words = bounded(&subject.around.words, AROUND_CHARS_MAX);
    let words = if words.is_empty() { words } else { fill(AROUND, &[("words", &words)]) };
    let quoted = subject.around.quoted.iter().take(QUOTED_MAX).map(|(document, part)| {
        fill(QUOTED, &[("document", document), ("part", &bounded(part, AROUND_CHARS_MAX))])
    });
    let around: String = std::iter::once(words).chain(quoted).collect();
    told + &documents + &around
}

/// The documents that an agent may read; nothing where there are none.
pub(crate) fn documents_told(documents: &[String]) -> String {
    list(documents).map(|list| fill(DOCUMENTS, &[("documents", &list)])).unwrap_or_default()
}

/// The beginning of a text, in whole lines.
fn beginning(text: &str) -> String {
    bounded(text, INTRODUCTION_CHARS_MAX)
}

/// A text that is not longer than that, in whole lines.
fn bounded(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max).collect();
    format!("{}\n(the rest is left out)", kept.rfind('\n').map_or(kept.as_str(), |newline| &kept[..newline]))
}

fn fill_subject(template: &str, subject: &Subject<'_>, more: &[(&str, &str)]) -> String {
    let purpose = purpose(subject);
    let mut blanks: Vec<(&str, &str)> = vec![
        ("purpose", &purpose),
        ("id", subject.id),
        ("spec", subject.plan_name),
        ("path", &subject.dir),
        ("plan", &subject.shown),
        ("title", subject.excerpt.title()),
        ("block", subject.excerpt.block()),
    ];
    blanks.extend(more);
    fill(template, &blanks)
}

/// Fills in every `{{name}}` in one pass, so that a value that looks like a blank stays as it is.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
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

/// The part of the progress file that helps the next task: its end, where learnings and the latest tasks are.
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
    use plan::Reading;

    use super::*;
    use crate::planning::{PLANNER, PLANNER_OF_COMMANDS};

    const SPEC: &str = "- [ ] 1.3 Add failure parser\n  - **Do**: Add parsing logic {{id}}\n  - **Files**: parser.md\n  \
                        - **Verify**: `grep -q Parse parser.md`\n\n";
    const PHASE: &str = "<task type=\"auto\">\n  <name>Task 3: Create the error</name>\n  <files>src/error.ts</files>\n  \
                         <action>Create it</action>\n  <verify>npm test</verify>\n  <done>Tests pass</done>\n</task>\n";
    const RETRY: &str = "<retry_context attempt=\"2\" max_attempts=\"5\">\n  …\n</retry_context>\n";

    fn excerpt_format(dialect: Dialect) -> Format {
        match dialect {
            Dialect::Spec => Format::Spec,
            Dialect::Phase => Format::Phase,
        }
    }

    fn with_subject(dialect: Dialect, text: &str, render: impl Fn(&Subject<'_>) -> String) -> String {
        let excerpt = Excerpt::read(Reading::of(excerpt_format(dialect)), text).unwrap();
        let (id, plan_name) = (if dialect == Dialect::Spec { "1.3" } else { "03-01:task-3" }, "demo");
        let (shown, dir) = ("specs/demo/tasks.md".to_owned(), "./specs/demo/".to_owned());
        let introduction = "# Tasks: Login\n\nUsers can log in.".to_owned();
        let documents = vec!["specs/demo/design.md".to_owned(), "specs/demo/requirements.md".to_owned()];
        let (format, around) = (excerpt_format(dialect), Around::default());
        render(&Subject {
            id,
            excerpt: &excerpt,
            dialect,
            format,
            plan_name,
            shown,
            dir,
            introduction,
            documents,
            around,
        })
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
            words: Vec::new(),
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
    fn what_people_told_comes_first() {
        let words = vec!["use tabs".to_owned(), "keep\nthe {{id}}".to_owned()];
        let part = AttemptPart { words, ..part(Role::Executor, Some(RETRY), Bookkeeping::Coordinator) };
        let prompt = with_subject(Dialect::Spec, SPEC, |subject| attempt(subject, &part));
        let begin = prompt.find("A person who").expect("it is told");
        let end = prompt.find("<retry_context").expect("it is tried again");
        insta::assert_snapshot!(&prompt[begin..end], @r"
        A person who watches the run says this to you. It is authoritative: where it contradicts the plan or anything else you are given, it counts.
        <user_message>
        - use tabs
        - keep
          the {{id}}
        </user_message>
        ");
        let resumed = with_subject(Dialect::Spec, SPEC, |subject| resuming(subject, RETRY, &part.words));
        assert!(resumed.starts_with(&prompt[begin..end]), "{resumed}");
    }

    #[test]
    fn of_too_many_words_the_latest_are_told() {
        let words = ["a", "b", "c"].map(|word| word.repeat(engine::WORD_CHARS_MAX - 2));
        let told = told(&words);
        assert!(!told.contains('a') || !told.contains("aaaa"), "the oldest is left out");
        assert!(told.contains("bbbb") && told.contains("cccc"));
        assert_eq!(super::told(&[]), "");
    }

    #[test]
    fn an_executor_of_a_spec() {
        let part = part(Role::Executor, None, Bookkeeping::Coordinator);
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| attempt(subject, &part)), @r###"
        You are the executor of one task of a larger plan. A coordinating program hands you the task, checks the result itself and decides what happens next. Nobody reads along and nobody answers questions: work on your own until the task is done or you are certain that it cannot be done.

        Task: Execute task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/
        Task id: 1.3
        Attempt: 1

        What the plan is for:
        # Tasks: Login

        Users can log in.

        Documents beside the plan, to be read where the task leaves something open:
        - specs/demo/design.md
        - specs/demo/requirements.md

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
        3. Verify completion with Verify command; it will be run again after you have ended, and it alone decides. Every process that you start ends with you: if it needs a server, it has to start that itself
        4. You need not commit: what you leave in the work tree is committed for you, with the task's Commit message. Never commit files of the spec folder
        5. Write what the next tasks should know, one bullet a line below a heading "## Learnings", into specs/demo/.progress-task-1.3.md; do not touch .progress.md itself
        6. Do not edit specs/demo/tasks.md: the box of your task is ticked for you, and a change to any other box rejects your work
        7. Output TASK_COMPLETE on a line of its own when done. If the task cannot be completed, do not output it; end instead with the line `Task 1.3: Add failure parser FAILED`, and below it, each on a line of its own, `- Error:` with what went wrong, `- Attempted fix:` with what you tried and `- Status:` with what is needed
        8. If trying again would be of no use, end with a fenced block of YAML instead: `status:` blocked, impossible, permission_denied, conflicting_requirements or service_unavailable, `reason:` in one line, and if another task has to be done first `blocked_by:` with its id
        "###);
    }

    #[test]
    fn an_executor_that_tries_again_and_does_the_bookkeeping() {
        let part = part(Role::Executor, Some(RETRY), Bookkeeping::Agent);
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| attempt(subject, &part)), @r#"
        You are the executor of one task of a larger plan. A coordinating program hands you the task, checks the result itself and decides what happens next. Nobody reads along and nobody answers questions: work on your own until the task is done or you are certain that it cannot be done.

        Task: Execute task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/
        Task id: 1.3
        Attempt: 2

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        What the plan is for:
        # Tasks: Login

        Users can log in.

        Documents beside the plan, to be read where the task leaves something open:
        - specs/demo/design.md
        - specs/demo/requirements.md

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
        3. Verify completion with Verify command; it will be run again after you have ended, and it alone decides. Every process that you start ends with you: if it needs a server, it has to start that itself
        4. Commit with task's Commit message
        5. Update .progress.md with completion and learnings
        6. Mark task [x] in specs/demo/tasks.md (this box and no other), and commit specs/demo/tasks.md and .progress.md
        7. Output TASK_COMPLETE on a line of its own when done. If the task cannot be completed, do not output it; end instead with the line `Task 1.3: Add failure parser FAILED`, and below it, each on a line of its own, `- Error:` with what went wrong, `- Attempted fix:` with what you tried and `- Status:` with what is needed
        8. If trying again would be of no use, end with a fenced block of YAML instead: `status:` blocked, impossible, permission_denied, conflicting_requirements or service_unavailable, `reason:` in one line, and if another task has to be done first `blocked_by:` with its id
        "#);
    }

    #[test]
    fn a_qa_engineer() {
        let part = part(Role::Qa, Some(RETRY), Bookkeeping::Coordinator);
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| attempt(subject, &part)), @r###"
        You are the QA engineer of a plan that a coordinating program carries out. It hands you one verification task and decides what happens next. Nobody reads along and nobody answers questions.

        Task: Execute verification task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/
        Attempt: 2

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        What the plan is for:
        # Tasks: Login

        Users can log in.

        Documents beside the plan, to be read where the task leaves something open:
        - specs/demo/design.md
        - specs/demo/requirements.md

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
        2. If issues found, attempt to fix them: in what was built, not in what verifies it
        3. Verify completion with Verify command; it will be run again after you have ended, and it alone decides. Every process that you start ends with you: if it needs a server, it has to start that itself
        4. You need not commit: what you leave in the work tree is committed for you, with the task's Commit message. Never commit files of the spec folder
        5. Write what the next tasks should know, one bullet a line below a heading "## Learnings", into specs/demo/.progress-task-1.3.md; do not touch .progress.md itself
        6. Do not edit specs/demo/tasks.md: the box of your task is ticked for you, and a change to any other box rejects your work
        7. Output VERIFICATION_PASS on a line of its own if verification succeeds
        8. Output VERIFICATION_FAIL on a line of its own if verification fails and cannot be fixed, and before it what is wrong
        "###);
    }

    #[test]
    fn an_executor_of_a_plan_with_phases() {
        let part = part(Role::Executor, Some(RETRY), Bookkeeping::Coordinator);
        insta::assert_snapshot!(with_subject(Dialect::Phase, PHASE, |subject| attempt(subject, &part)), @r###"
        You are the executor of one task of a larger plan. A coordinating program hands you the task, checks the result itself and decides what happens next. Nobody reads along and nobody answers questions: work on your own until the task is done or you are certain that it cannot be done.

        Task: Execute task 03-01:task-3 of plan demo

        Plan: specs/demo/tasks.md
        Task id: 03-01:task-3
        Attempt: 2

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        What the plan is for:
        # Tasks: Login

        Users can log in.

        Documents beside the plan, to be read where the task leaves something open:
        - specs/demo/design.md
        - specs/demo/requirements.md

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
        3. Verify completion with Verify command; it will be run again after you have ended, and it alone decides. Every process that you start ends with you: if it needs a server, it has to start that itself
        4. You need not commit: what you leave in the work tree is committed for you
        5. Write what the next tasks should know, one bullet a line below a heading "## Learnings", into specs/demo/.progress-task-1.3.md
        6. Do not edit the plan
        7. End your answer with a result, in a fenced block of YAML:
           - status: success or failure; where trying again would be of no use, blocked, impossible, permission_denied, conflicting_requirements or service_unavailable
           - files_modified: the files you changed
           - verification: command, exit_code and output_summary of what you ran
           - on failure: error, in one line, and if you know them root_cause, attempted_fix and suggested_fix
           - otherwise than on success and failure: reason, and blocked_by with the id of the task that has to be done first, if one has to
        "###);
    }

    #[test]
    fn an_executor_whose_result_is_judged() {
        let part = part(Role::Executor, None, Bookkeeping::Coordinator);
        let text = "- [ ] #1 Add a login page\n";
        let shown = with_subject(Dialect::Spec, text, |subject| attempt(subject, &part));
        assert!(
            shown
                .contains("\n3. Verify completion yourself, as far as you can: no command proves this task."),
            "{shown}"
        );
        assert!(!shown.contains("Verify command"), "{shown}");
    }

    #[test]
    fn a_plan_without_an_introduction_has_no_empty_headings() {
        let part = part(Role::Executor, None, Bookkeeping::Coordinator);
        let excerpt = Excerpt::read(Reading::default(), SPEC).unwrap();
        let subject = Subject {
            id: "1.3",
            excerpt: &excerpt,
            dialect: Dialect::Spec,
            format: Format::Spec,
            around: Around::default(),
            plan_name: "demo",
            shown: String::new(),
            dir: String::new(),
            introduction: String::new(),
            documents: Vec::new(),
        };
        assert!(attempt(&subject, &part).contains("Attempt: 1\n\nContext from .progress.md:"));
    }

    #[test]
    fn a_judge() {
        let part = JudgePart {
            role: Role::Qa,
            touched: vec!["parser.md".to_owned()],
            difference: Some("diff --git a/parser.md b/parser.md\n+Parse\n".to_owned()),
            facts: Vec::new(),
            is_asked_again: false,
        };
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| judge(subject, &part)), @r#"
        You are the QA engineer of a plan that a coordinating program carries out. An agent says that it has completed the task below. No command can prove that, so you judge. Look at the project as it is now, run what you need to see, and compare it with what the task asks for. Do not edit, create, delete or commit anything: whatever you change is no part of the result.

        Task: Judge the result of task 1.3 for spec demo

        Spec: demo
        Path: ./specs/demo/

        What the plan is for:
        # Tasks: Login

        Users can log in.

        Documents beside the plan, to be read where the task leaves something open:
        - specs/demo/design.md
        - specs/demo/requirements.md

        The task from specs/demo/tasks.md:
        - [ ] 1.3 Add failure parser
          - **Do**: Add parsing logic {{id}}
          - **Files**: parser.md
          - **Verify**: `grep -q Parse parser.md`

        Files that attempts at the task changed:
        - parser.md

        The difference that they made:
        diff --git a/parser.md b/parser.md
        +Parse

        Instructions:
        1. Check every condition that the task sets under Verify and Done when, or else in its description, against the project itself and not against anybody's word
        2. Output VERIFICATION_PASS on a line of its own if every condition holds
        3. Otherwise output VERIFICATION_FAIL on a line of its own, and before it, in a few lines, which condition does not hold and what you saw
        4. End with one of the two: without it, nothing is judged
        "#);
    }

    #[test]
    fn a_reviewer_that_is_asked_again_about_nothing() {
        let part = JudgePart {
            role: Role::Reviewer,
            touched: Vec::new(),
            difference: None,
            facts: vec!["nothing was changed for this task".to_owned()],
            is_asked_again: true,
        };
        insta::assert_snapshot!(with_subject(Dialect::Phase, PHASE, |subject| judge(subject, &part)), @r#"
        You are the reviewer of a plan that a coordinating program carries out. An agent has completed the task below, and what can be checked without you is in order. You decide whether the result really is what the task asks for. Run what you need to see. Do not edit, create, delete or commit anything: whatever you change is no part of the result.

        Task: Review the result of task 03-01:task-3 for spec demo

        Spec: demo
        Path: ./specs/demo/

        You were asked this before and gave no verdict. Look again, and end with one.

        What the plan is for:
        # Tasks: Login

        Users can log in.

        Documents beside the plan, to be read where the task leaves something open:
        - specs/demo/design.md
        - specs/demo/requirements.md

        The task from specs/demo/tasks.md:
        <task type="auto">
          <name>Task 3: Create the error</name>
          <files>src/error.ts</files>
          <action>Create it</action>
          <verify>npm test</verify>
          <done>Tests pass</done>
        </task>

        Without anybody's word, the program found:
        - nothing was changed for this task

        Files that attempts at the task changed:
        (none)

        The difference that they made:
        (none that can be shown)

        Instructions:
        1. Read the change and compare it with what the task asks for and with Done when: completeness, edge cases, nothing hard-coded to please the check
        2. Output VERIFICATION_PASS on a line of its own if the task is done as described
        3. Otherwise output VERIFICATION_FAIL on a line of its own, and before it, in a few lines, what is missing and what to do about it
        4. End with one of the two: without it, nothing is decided
        "#);
    }

    #[test]
    fn an_agent_that_remembers_the_attempt_before() {
        insta::assert_snapshot!(with_subject(Dialect::Spec, SPEC, |subject| resuming(subject, RETRY, &[])), @r#"
        Your last attempt at task 1.3 was not accepted. What you know of the task from before still holds; this is what went wrong:

        <retry_context attempt="2" max_attempts="5">
          …
        </retry_context>

        The files are as you left them, unless this says otherwise. Go on with task 1.3 until that is put right and the task is done, and end as you were told at the beginning: with the same signal or result when done, else with the same report of the failure.
        "#);
    }

    #[test]
    fn no_line_of_a_prompt_is_a_signal() {
        for template in [EXECUTOR, PHASE_EXECUTOR, QA, JUDGE, REVIEWER, PLANNER, PLANNER_OF_COMMANDS] {
            for role in [Role::Executor, Role::Qa] {
                assert_eq!(
                    engine::Claim::read(template, Dialect::Spec, role),
                    engine::Claim::Silent,
                    "{template}"
                );
            }
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

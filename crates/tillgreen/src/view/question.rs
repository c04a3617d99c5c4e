//! The question to a person, with all that is needed to answer it.

use std::fmt::Write as _;

use engine::{Asked, Dialect, End, Failure, Question, State, Status, Task};

use super::lines::in_the_way;
use super::subject::Subject;
use super::text::{clean, one_line};
use crate::checkpoint::Checkpoint;
use crate::exit;

/// Characters of an error in the history.
const ERROR_CHARS_MAX: usize = 80;
/// Characters of a task's name.
const TITLE_CHARS_MAX: usize = 200;
/// Lines of the last error's details.
const DETAIL_LINES_MAX: usize = 40;

/// The task that a person is asked about.
pub(crate) fn open(state: &State) -> Option<(&Task, &Asked)> {
    if is_over(state) {
        return None;
    }
    state.attention().find_map(|task| match &task.status {
        Status::Asking(asked) => Some((task, asked)),
        Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Done
        | Status::Skipped => None,
    })
}

/// True of a run after whose end a new round begins, with full budgets instead of an answer.
pub(crate) fn is_over(state: &State) -> bool {
    matches!(state.end(), Some(End::Complete { .. } | End::Stopped(_) | End::Capped(_) | End::Aborted))
}

/// The question that a run ended with, for whoever answers it later.
pub(crate) fn unanswered(subject: &Subject, state: &State) -> Option<String> {
    let task = match state.end()? {
        End::Waiting { task } => state.task(task)?,
        End::Paused { .. } => open(state)?.0,
        End::Complete { .. }
        | End::Stopped(_)
        | End::Capped(_)
        | End::PullRequest { .. }
        | End::Unavailable { .. }
        | End::Aborted
        | End::Interrupted => return None,
    };
    let Status::Asking(asked) = &task.status else { return None };
    Some(render(subject, state, task, asked))
}

/// The question about a task.
pub(crate) fn render(subject: &Subject, state: &State, task: &Task, asked: &Asked) -> String {
    let failures = task.round_failures();
    let mut text = String::from("## Task Escalation Required\n\n");
    let lines = [
        format!("**Task:** {}", one_line(&task.name(), TITLE_CHARS_MAX)),
        format!("**Plan:** {}", clean(plan_of(subject, task))),
        format!("**Attempts:** {}", attempts(state, task, asked)),
        String::new(),
        "### Failure Summary".to_owned(),
        String::new(),
        why(asked.question, task),
    ];
    lines.iter().for_each(|line| push(&mut text, line));
    if asked.question == Question::Judge && !task.doubts.is_empty() {
        push(&mut text, "\nAn agent says yes. Without its word:\n");
        task.doubts.iter().for_each(|doubt| push(&mut text, &format!("- {}", clean(doubt))));
    }
    if !task.hooks_gone.is_empty() {
        let gone: Vec<String> = task.hooks_gone.iter().map(|hook| clean(hook).to_string()).collect();
        push(&mut text, &format!("\nHooks that are gone: {}", gone.join(", ")));
        push(&mut text, "An agent may have turned them off, or you, or a tool that was installed.");
    }
    let checkpoint = subject.file.as_ref().and_then(|file| Checkpoint::find(file, task.id()));
    if let Some(checkpoint) = checkpoint.filter(|_| asked.question == Question::Checkpoint) {
        push(&mut text, "\n### Checkpoint\n");
        checkpoint.text.lines().for_each(|line| push(&mut text, &quoted_output(line)));
    }
    if let Some(last) = failures.last() {
        history(&mut text, failures);
        details(&mut text, last);
    }
    let dialect = state.rules().map_or(Dialect::Spec, |rules| rules.dialect);
    options(&mut text, asked.question, dialect);
    text
}

/// The attempts that were made, and how many there may be. One whose result is in question is one of them.
fn attempts(state: &State, task: &Task, asked: &Asked) -> String {
    if asked.question == Question::Mended {
        return format!("{}, none of them since it was mended", task.failures.len());
    }
    let count = task.round_failures().len() + usize::from(asked.attempt.is_some());
    let limit = state.rules().map_or(0, |rules| rules.limits.task_iterations_max);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).max(count);
    // A person's word, or a proof, gave it its attempts anew.
    let earlier = usize::try_from(task.attempted).unwrap_or(usize::MAX).saturating_sub(count);
    if earlier > 0 {
        format!("{count} of {limit}, after {earlier} before")
    } else {
        format!("{count} of {limit}")
    }
}

/// The plan that a task is of: its number where a folder of plans is run.
fn plan_of<'a>(subject: &'a Subject, task: &'a Task) -> &'a str {
    task.id().name().split_once(":task-").map_or(subject.name.as_str(), |(plan, _)| plan)
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn why(question: Question, task: &Task) -> String {
    match question {
        Question::Exhausted => {
            let count = task.round_failures().len();
            let times = if count == 1 { "time" } else { "times" };
            format!("This task has failed {count} {times}. Automated recovery has been exhausted.")
        }
        Question::PermissionDenied => {
            "Something was not permitted, which cannot be fixed automatically.".to_owned()
        }
        Question::Judge => "The work is done, but no command can prove it. Is the result right?".to_owned(),
        Question::HooksGone => {
            "The checks are green, but git does not run all hooks any more that it ran when the task \
                                began, and the task has nothing to do with them."
                .to_owned()
        }
        Question::Mended => {
            "Its verify command is green now, without an agent, and not all of what made it so is committed."
                .to_owned()
        }
        Question::Checkpoint => "The plan asks for a person here.".to_owned(),
        Question::HistoryRewritten => {
            "An attempt took commits out of the history. Put them back before you answer retry.".to_owned()
        }
        Question::Blocked => "The agent says that something else has to be done first.".to_owned(),
        Question::Impossible => "The agent says that the task cannot be done as it is written.".to_owned(),
        Question::ConflictingRequirements => {
            "The agent says that the requirements contradict each other.".to_owned()
        }
        Question::ServiceUnavailable => "The agent says that a service it needs is away.".to_owned(),
        Question::InTheWay => format!(
            "The work is done and cannot come in: {}.\nCommit or stash them, then answer retry.",
            in_the_way(&task.held_up)
        ),
        Question::RedBefore => {
            "What fails now failed before the work as well, and lies in files that are not this task's.".to_owned()
        }
        Question::NotProved => {
            "It was opened again because a clean checkout of what is committed is red, and that is so once more. Once you have \
             mended and committed it, or where you want it to count all the same, tick its box."
                .to_owned()
        }
        Question::VerifyCannotStart => {
            "The verify command needs something that is not there. Put it there, or correct the command."
                .to_owned()
        }
    }
}

fn history(text: &mut String, failures: &[Failure]) {
    push(text, "\n### Attempt History\n");
    push(text, "| Attempt | Timestamp | Failure Type | Error |");
    push(text, "|---------|-----------|--------------|-------|");
    for failure in failures {
        let at = failure.at.strftime("%Y-%m-%d %H:%M");
        let kind = failure.cause.failure_type().name();
        let error = one_line(&failure.error, ERROR_CHARS_MAX).replace('|', "\\|");
        push(text, &format!("| {} | {at} | {kind} | {error} |", failure.attempt));
    }
}

fn details(text: &mut String, failure: &Failure) {
    let details = if failure.details.trim().is_empty() { &failure.error } else { &failure.details };
    let lines: Vec<String> = details.lines().map(quoted_output).collect();
    let lines = &lines[lines.len().saturating_sub(DETAIL_LINES_MAX)..];
    let fence = fence_around(lines);
    push(text, &format!("\n### Last Error Details\n\n{fence}"));
    lines.iter().for_each(|line| push(text, line));
    push(text, &fence);
    if !failure.files.is_empty() {
        push(text, "\n### Files Modified (Partial State)\n");
        for file in &failure.files {
            push(text, &format!("- `{}` - {}", clean(&file.path), clean(&file.state)));
        }
    }
}

/// A fence that nothing in these lines ends.
fn fence_around(lines: &[String]) -> String {
    let ticks = lines.iter().flat_map(|line| line.split(|sign| sign != '`')).map(str::len);
    "`".repeat(ticks.max().unwrap_or(0).max(2) + 1)
}

/// A line that a command printed. Only a run that is complete may say so on a line of its own.
fn quoted_output(line: &str) -> String {
    let line = clean(line).trim_end().to_owned();
    if line.trim() == exit::ALL_TASKS_COMPLETE { format!("> {line}") } else { line }
}

fn options(text: &mut String, question: Question, dialect: Dialect) {
    let review = match dialect {
        Dialect::Spec => "**Review task definition** - Is Done when achievable?",
        Dialect::Phase => "**Review task definition** - Is <done> criteria achievable?",
    };
    let (actions, answers): (&[&str], &[&str]) = match question {
        Question::Checkpoint => (
            &["**Do what the checkpoint asks for** - Then give its answer"],
            &["`<answer>` - What the checkpoint asks for"],
        ),
        Question::Exhausted
        | Question::PermissionDenied
        | Question::HistoryRewritten
        | Question::Blocked
        | Question::Impossible
        | Question::ConflictingRequirements
        | Question::ServiceUnavailable
        | Question::NotProved
        | Question::RedBefore
        | Question::VerifyCannotStart => (
            &[
                review,
                "**Check test expectations** - Are tests correct?",
                "**Manual intervention** - Fix the specific issue",
                "**Skip task** - Mark as skipped and continue",
                "**Abort plan** - Stop execution entirely",
            ],
            &["`retry` - Try one more time (resets counter)"],
        ),
        Question::InTheWay => (
            &["**Commit or stash your changes** - `git status` shows them; nothing of yours was touched"],
            &["`retry` - Let the work come in"],
        ),
        Question::HooksGone => (
            &[
                "**Put them back** - `git config core.hooksPath` and the files tell where they were; or leave it as it is",
            ],
            &[
                "`approve` - Go on: the work is committed with the hooks that there are now",
                "`reject: <reason>` - Try again",
            ],
        ),
        Question::Mended => (
            &["**Look at the changes** - `git status` and `git diff` show them"],
            &["`approve` - Commit them as this task's work", "`retry` - Leave them, and have an agent go on"],
        ),
        Question::Judge => (
            &["**Look at the result** - Does it meet Done when?"],
            &["`approve` - The result is right", "`reject: <reason>` - It is not, try again"],
        ),
    };
    push(text, "\n### Suggested Actions\n");
    for (number, action) in (1..).zip(actions) {
        push(text, &format!("{number}. {action}"));
    }
    push(text, "\n---\n\n**Your options:**");
    for answer in answers {
        push(text, &format!("- {answer}"));
    }
    push(text, "- `skip` - Skip this task, continue with next");
    push(text, "- `abort` - Stop plan execution");
    if !matches!(question, Question::Judge | Question::HooksGone) {
        push(text, "- `fix: <instruction>` - Provide specific fix instruction");
    }
}

#[cfg(test)]
mod tests {
    use engine::{Rules, StopReason, What};
    use plan::TaskId;

    use super::*;
    use crate::view::samples::{self, Story};

    #[test]
    fn the_question_holds_the_history() {
        let story = Story::new(Rules::default()).fails("1.2", "2 tests | failed").retries("1.2");
        let state = story.fails("1.2", "1 test failed").escalates("1.2").state();
        let (task, asked) = open(&state).unwrap();
        insta::assert_snapshot!(render(&samples::subject(), &state, task, asked), @r"
        ## Task Escalation Required

        **Task:** 1.2 Add a parser
        **Plan:** auth
        **Attempts:** 2 of 5

        ### Failure Summary

        This task has failed 2 times. Automated recovery has been exhausted.

        ### Attempt History

        | Attempt | Timestamp | Failure Type | Error |
        |---------|-----------|--------------|-------|
        | 1 | 2026-01-26 14:30 | verification_failed | 2 tests \| failed |
        | 2 | 2026-01-26 14:30 | verification_failed | 1 test failed |

        ### Last Error Details

        ```
        FAIL 1 test failed
          expected 2, got 3
        ```

        ### Files Modified (Partial State)

        - `src/parser.ts` - partially modified

        ### Suggested Actions

        1. **Review task definition** - Is Done when achievable?
        2. **Check test expectations** - Are tests correct?
        3. **Manual intervention** - Fix the specific issue
        4. **Skip task** - Mark as skipped and continue
        5. **Abort plan** - Stop execution entirely

        ---

        **Your options:**
        - `retry` - Try one more time (resets counter)
        - `skip` - Skip this task, continue with next
        - `abort` - Stop plan execution
        - `fix: <instruction>` - Provide specific fix instruction
        ");
    }

    #[track_caller]
    fn check_attempts(story: Story, expected: &str) {
        let state = story.state();
        let (task, asked) = open(&state).unwrap();
        let text = render(&samples::subject(), &state, task, asked);
        assert!(text.contains(&format!("**Attempts:** {expected}\n")), "{text}");
    }

    #[test]
    fn the_attempt_that_is_to_be_judged_counts() {
        let task = || TaskId::new("1.2");
        let story =
            Story::new(Rules::default()).fails("1.2", "red").retries("1.2").starts("1.2").claims("1.2");
        let judge = Some(engine::Judge::Person);
        let story = story.then(What::ChecksPassed {
            task: task(),
            warnings: vec![],
            judge,
            tree: None,
            hooks_gone: vec![],
        });
        check_attempts(story.then(What::Escalated { task: task(), question: Question::Judge }), "2 of 5");
    }

    #[test]
    fn attempts_before_somebody_mended_it_count() {
        let task = || TaskId::new("1.2");
        let story = Story::new(Rules::default()).fails("1.2", "red").retries("1.2").fails("1.2", "red");
        let stopped = StopReason::Retries { task: task(), attempts: 2 };
        let story = story.end(End::Stopped(stopped)).opens_round(2);
        let story = story.then(What::ProofStarted { task: task(), head: None });
        let files = vec!["a.txt".to_owned()];
        check_attempts(
            story.then(What::Mended { task: task(), files }),
            "2, none of them since it was mended",
        );
    }

    #[test]
    fn no_question_is_open_while_work_goes_on() {
        assert!(open(&Story::new(Rules::default()).starts("1.2").state()).is_none());
        let aborted = Story::new(Rules::default()).fails("1.2", "x").escalates("1.2").end(End::Aborted);
        assert!(open(&aborted.state()).is_none());
    }
}

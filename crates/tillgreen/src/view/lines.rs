//! One line for each event, for people: what `run` prints where there is no terminal, and what `log` prints.

use std::time::Duration;

use engine::{
    Before, Cause, ClockMoved, Dialect, End, Event, Evidence, Failure, FixPlan, Judge, NewLimits, Opened,
    PlanChanges, Proof, PullRequestEvent, Question, Recovery, Response, Rung, SettingChanged, Spent, Started,
    State, Status, What,
};
use jiff::Timestamp;
use plan::TaskId;

use super::facts;
use super::paint::Paint;
use super::proof;
use super::pull_request::{self, Tone};
use super::subject::Subject;
use super::summary::SIGNS_MAX;
use super::text::{between, clock, count, moment, one_line, took, zoned_clock};
use super::usage;

/// Characters of a title or an error on a line.
const TEXT_CHARS_MAX: usize = 120;

/// Characters of a reason that ends with what to do about it.
const ADVICE_CHARS_MAX: usize = 600;

/// The sort of news that a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Begin,
    Step,
    Good,
    Bad,
    Odd,
}

/// A line before it is put together.
struct Line {
    mark: Mark,
    text: String,
    /// Lines below it.
    warnings: Vec<String>,
}

/// How a line shows the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The time of day: the reader is there while it happens.
    Time,
    /// The time of day where the reader is, at a terminal.
    Local,
    /// With the date.
    Date,
}

/// The line, or lines, for an event; the state is the one after it. Without a line break at the end.
pub(crate) fn render(event: &Event, state: &State, clock_style: Clock, paint: Paint) -> String {
    let line = line(event, state);
    let at = match clock_style {
        Clock::Time => clock(event.at),
        Clock::Local => zoned_clock(event.at),
        Clock::Date => moment(event.at),
    };
    let (mark, text) = match line.mark {
        Mark::Begin => (paint.strong("▶"), paint.strong(&line.text)),
        Mark::Step => (paint.faint("·"), line.text),
        Mark::Good => (paint.good("✓"), line.text),
        Mark::Bad => (paint.bad("✗"), line.text),
        Mark::Odd => (paint.odd("!"), line.text),
    };
    let mut shown = format!("{} {mark} {text}", paint.faint(&at));
    for warning in &line.warnings {
        let indent = " ".repeat(at.len());
        shown.push_str(&format!("\n{indent} {} warning: {}", paint.odd("!"), short(warning)));
    }
    shown
}

/// The lines below that of a failure: the part of its output that matters, and the command that shows all of it.
pub(crate) fn below(event: &Event, subject: &Subject, paint: Paint) -> Vec<String> {
    if matches!(event.what, What::Reopened { .. }) {
        return Vec::new();
    }
    let Some((task, failure)) = event.what.task().zip(event.what.failure()) else { return Vec::new() };
    // A command without an agent is no attempt.
    let attempt = matches!(event.what, What::AttemptFailed { .. }).then_some(failure.attempt);
    let matter = facts::matter(failure).into_iter().map(|line| format!("│ {line}"));
    let lines = matter.chain([subject.see_output(task, attempt)]);
    lines.map(|line| format!("           {}", paint.faint(&line))).collect()
}

fn short(text: &str) -> String {
    one_line(text, TEXT_CHARS_MAX)
}

fn line(event: &Event, state: &State) -> Line {
    let plain = |mark, text| Line { mark, text, warnings: Vec::new() };
    match &event.what {
        What::Opened(opened) => plain(Mark::Begin, opened_text(opened, state)),
        What::PlanChanged(changes) => {
            plain(Mark::Odd, format!("the plan was changed: {}", changes_text(changes)))
        }
        What::ProofStarted { task, .. } => {
            plain(Mark::Begin, format!("{}: verify command", named(state, task)))
        }
        What::ProofPassed { task, warnings } => {
            with_warnings(format!("{task} verify command is green"), warnings)
        }
        What::ProofFailed { task, failure } => {
            plain(Mark::Bad, format!("{task} verify command is red: {}", short(&failure.error)))
        }
        What::Mended { task, files } => plain(Mark::Odd, mended_text(task, files)),
        What::AttemptStarted(started) => plain(Mark::Begin, started_text(started, state)),
        What::AttemptClaimed { task, elapsed_ms, .. } => {
            plain(Mark::Step, format!("{task} agent claims success after {}; checking", ms(*elapsed_ms)))
        }
        What::AttemptFailed { task, failure, .. } => failed_line(task, failure, state),
        What::AgentUnavailable { task, reason, nth, until, .. } => {
            let next = next_try(*nth, between(event.at, *until), state);
            plain(Mark::Odd, unavailable_text(task, *nth, &short(reason)) + &next)
        }
        What::AgentDropped { task, agent, reason, .. } => {
            plain(Mark::Odd, format!("{task} agent {} is not asked again: {}", short(agent), short(reason)))
        }
        What::Packed { task, commit, .. } => plain(Mark::Step, packed_text(task, commit.as_deref())),
        What::TreeUnavailable { task, reason, .. } => plain(Mark::Odd, treeless_text(task, reason.as_ref())),
        What::Spent(spent) => spent_line(spent, state),
        What::ChecksPassed { task, warnings, judge, .. } => {
            with_warnings(format!("{task} checks are green{}", judge_text(*judge)), warnings)
        }
        What::Found { task, evidence } => found_line(task, evidence),
        What::JudgeStarted { task, .. } => plain(Mark::Step, format!("{task} is being judged by an agent")),
        What::NoVerdict { task, reason, .. } => {
            plain(Mark::Odd, format!("{task} was not judged, and is once more: the agent {}", short(reason)))
        }
        What::JudgePassed { task, warnings, next, .. } => {
            with_warnings(format!("{task} was approved{}", judge_text(*next)), warnings)
        }
        What::LandingStarted { task } => plain(Mark::Step, landing_text(task, state)),
        What::Landed { task, .. } => plain(Mark::Step, landed_text(task, state)),
        What::JoinPassed { task, warnings, .. } => with_warnings(joined_text(task, state), warnings),
        What::HeldUp { task, files } => plain(Mark::Odd, held_up_text(task, files)),
        What::TaskDone { task, commit } => plain(Mark::Good, done_text(task, commit.as_deref(), state)),
        What::RetryPlanned { task, attempt } => {
            plain(Mark::Step, format!("{task} will be tried again (attempt {attempt})"))
        }
        What::FixPlanned(fix) => plain(Mark::Step, fix_text(fix)),
        What::FixInserted { decl } => plain(Mark::Step, format!("{} stands in the plan", decl.id)),
        What::Deferred { task, by } => plain(Mark::Step, deferred_text(task, by)),
        What::Escalated { task, question } => escalated_line(task, *question, state),
        What::Answered { task, response } => plain(Mark::Step, answered_text(event, task, response)),
        What::TaskSkipped { task, reason, dependents } => {
            skipped_line(&named(state, task), reason, dependents)
        }
        What::Noted { text, .. } => plain(Mark::Odd, format!("note: {}", one_line(text, usize::MAX))),
        What::Told { task, text } => plain(Mark::Step, told_text(event, task.as_ref(), text)),
        What::PauseRequested => plain(Mark::Odd, pause_text(event)),
        What::SkipRequested { task } => plain(Mark::Odd, skip_text(event, task)),
        What::LimitsChanged(new) => plain(Mark::Odd, limits_text(new)),
        What::ClockMoved(moved) => plain(Mark::Odd, clock_text(*moved)),
        What::RegressionPassed => plain(Mark::Good, "the regression command is green".to_owned()),
        What::Proved(proof) => proof_line(proof),
        What::Reopened { task, failure } => plain(Mark::Bad, reopened_text(task, failure)),
        What::PullRequest(news) => pull_request_line(news, event.at, state),
        What::Ended(end) => end_line(end, state),
    }
}

fn failed_line(task: &TaskId, failure: &Failure, state: &State) -> Line {
    let grounds = state.task(task).map(|task| &task.grounds);
    let told = grounds.and_then(|grounds| grounds.told_failing(&failure.failing));
    Line { mark: Mark::Bad, text: failed_text(task, failure), warnings: told.into_iter().collect() }
}

fn skipped_line(task: &str, reason: &str, dependents: &[TaskId]) -> Line {
    Line {
        mark: Mark::Odd,
        text: format!("[SKIPPED] {task}: {}", short(reason)),
        warnings: dependents_warning(dependents).into_iter().collect(),
    }
}

/// What was found out about a command.
fn found_line(task: &TaskId, evidence: &Evidence) -> Line {
    let (mark, text) = match evidence.warning(task) {
        Some(warning) => (Mark::Odd, one_line(&warning, ADVICE_CHARS_MAX)),
        None if matches!(evidence, Evidence::Signs(signs) if !signs.is_empty()) => {
            (Mark::Odd, format!("{task} {}", found_text(evidence)))
        }
        None => (Mark::Step, format!("{task} {}", found_text(evidence))),
    };
    Line { mark, text, warnings: Vec::new() }
}

/// It in a few words.
pub(super) fn found_text(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Before { before, .. } => match before {
            Before::Green => "verify command is green before the work",
            Before::Red => "verify command is red before the work",
            Before::Unknown => "verify command takes too long to be tried before the work",
        }
        .to_owned(),
        Evidence::VerifyChanged { .. } => "Verify was changed, and the former one counts as well".to_owned(),
        Evidence::Signs(signs) if signs.is_empty() => "nothing is left to look at first".to_owned(),
        Evidence::Signs(signs) => {
            one_line(&format!("look here first: {}", signs.words(SIGNS_MAX)), ADVICE_CHARS_MAX)
        }
        Evidence::Wrote { paths } => {
            let text =
                format!("the verify command wrote {}, to be committed with the work", paths.join(", "));
            one_line(&text, ADVICE_CHARS_MAX)
        }
        Evidence::Leaning { .. } | Evidence::GreenWithoutWork { .. } | Evidence::NoTestRan => {
            evidence.finding().unwrap_or_default()
        }
    }
}

/// How the final proof went, with what there is to say of single tasks below.
fn proof_line(taken: &Proof) -> Line {
    let mark = if taken.red().next().is_some() { Mark::Bad } else { Mark::Good };
    Line { mark, text: proof::headline(taken), warnings: proof::details(taken) }
}

fn deferred_text(task: &TaskId, by: &TaskId) -> String {
    format!("{task} waits for {by}, which is in its way")
}

fn reopened_text(task: &TaskId, failure: &Failure) -> String {
    format!("{task} is open again: {}", one_line(&failure.error, ADVICE_CHARS_MAX))
}

/// The sender of what an event came of, in words.
fn by(event: &Event) -> String {
    event.from().map(|from| format!(" by {}", short(from))).unwrap_or_default()
}

fn answered_text(event: &Event, task: &TaskId, response: &Response) -> String {
    format!("{task} was answered{}: {}", by(event), response_text(response))
}

fn pause_text(event: &Event) -> String {
    format!("a pause was asked for{}: nothing new starts", by(event))
}

fn skip_text(event: &Event, task: &TaskId) -> String {
    format!("{task} is to be skipped{}, once what is under way has ended", by(event))
}

fn told_text(event: &Event, task: Option<&TaskId>, text: &str) -> String {
    let whose = match task {
        Some(task) => format!("the next prompt of {task}"),
        None => "the next prompt".to_owned(),
    };
    format!("told{} for {whose}: {}", by(event), short(text))
}

fn clock_text(moved: ClockMoved) -> String {
    let still = Duration::from_millis(moved.still_ms);
    let stood = (!still.is_zero())
        .then(|| format!("the program stood still for {}: that time counts against nothing", took(still)));
    let by = Duration::from_millis(moved.set_ms.unsigned_abs());
    let way = if moved.set_ms > 0 { "forward" } else { "back" };
    let set = (!by.is_zero()).then(|| format!("the clock was set {way} by {}; limits are not", took(by)));
    stood.into_iter().chain(set).collect::<Vec<_>>().join("; ")
}

fn limits_text(new: &NewLimits) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "the default".to_owned());
    let change = |change: &SettingChanged| {
        format!("{} from {} to {}", change.key, value(&change.from), value(&change.to))
    };
    let changes: Vec<String> = new.changes.iter().map(change).collect();
    format!("settings changed: {}", one_line(&changes.join("; "), usize::MAX))
}

/// A file is in the way of finished work, and others come in meanwhile.
fn held_up_text(task: &TaskId, files: &[String]) -> String {
    format!("{task} waits to come in: {}", in_the_way(files))
}

fn escalated_line(task: &TaskId, question: Question, state: &State) -> Line {
    let text = format!("{task} needs a person: {}", question_of(question, task, state));
    Line { mark: Mark::Odd, text, warnings: vague_warning(task, state).into_iter().collect() }
}

/// Why `--keep-going` leaves tasks waiting that may have nothing to do with the first one that a person is asked about.
fn vague_warning(task: &TaskId, state: &State) -> Option<String> {
    state.rules().filter(|rules| rules.keep_going.is_on() && rules.dialect == Dialect::Spec)?;
    let is_first = state.attention().filter(|task| matches!(task.status, Status::Asking(_))).count() == 1;
    let later = state.unsettled().skip_while(|other| other.id() != task).skip(1);
    let vague = later.filter(|other| other.decl.files.is_empty()).map(|other| other.id().clone());
    let vague: Vec<TaskId> = vague.collect();
    (is_first && !vague.is_empty()).then(|| {
        format!("--keep-going starts no task without Files, as any may depend on {task}: {}", names(&vague))
    })
}

fn packed_text(task: &TaskId, commit: Option<&str>) -> String {
    match commit {
        Some(commit) => format!("{task} work is kept as commit {}", short_commit(commit)),
        None => format!("{task} changed nothing that could be kept"),
    }
}

fn short_commit(commit: &str) -> String {
    one_line(commit, usize::MAX).chars().take(9).collect()
}

/// True if a task is worked on in a tree of its own. One that is not comes back only if a hook changed it.
fn is_apart(state: &State, task: &TaskId) -> bool {
    state.task(task).is_some_and(|task| task.is_isolated())
}

fn mended_text(task: &TaskId, files: &[String]) -> String {
    let files = short(&files.join(", "));
    format!("{task} verify command is green, by changes that nobody committed: {files}")
}

fn unavailable_text(task: &TaskId, nth: u32, reason: &str) -> String {
    format!("{task} agent unavailable (time {nth} in a row): {reason}")
}

/// When something that is away is tried again. After the last time the run pauses.
fn next_try(nth: u32, wait: Duration, state: &State) -> String {
    let is_last = state.rules().is_some_and(|rules| nth >= rules.limits.unavailable_max);
    if is_last { String::new() } else { format!("; next try in {}", took(wait)) }
}

fn landing_text(task: &TaskId, state: &State) -> String {
    let what =
        if is_apart(state, task) { "is joined with what is checked out" } else { "is looked at once more" };
    format!("{task} {what}")
}

fn landed_text(task: &TaskId, state: &State) -> String {
    if is_apart(state, task) {
        return format!("{task} is committed beside the project; checking all that came together");
    }
    format!("{task} is being checked again")
}

fn joined_text(task: &TaskId, state: &State) -> String {
    let what = if is_apart(state, task) { "together with what came before" } else { "again" };
    format!("{task} checks are green {what}")
}

fn dependents_warning(dependents: &[TaskId]) -> Option<String> {
    (!dependents.is_empty()).then(|| format!("these tasks depend on it and may fail: {}", names(dependents)))
}

fn names(tasks: &[TaskId]) -> String {
    let names: Vec<String> = tasks.iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn with_warnings(text: String, warnings: &[String]) -> Line {
    Line { mark: Mark::Step, text, warnings: warnings.to_vec() }
}

fn named(state: &State, task: &TaskId) -> String {
    match state.task(task).map(|task| short(task.decl.short_title())).filter(|title| !title.is_empty()) {
        Some(title) => format!("{task} {title}"),
        None => task.to_string(),
    }
}

fn ms(elapsed: u64) -> String {
    took(Duration::from_millis(elapsed))
}

fn opened_text(opened: &Opened, state: &State) -> String {
    let done = state.done_count();
    let total = state.tasks().len();
    let recovery = if opened.rules.recovery == Recovery::On { ", recovery mode" } else { "" };
    let mut text = format!("round {} opened: {done}/{total} tasks done{recovery}", opened.round);
    if !opened.gone.is_empty() {
        let gone: Vec<String> = opened.gone.iter().map(ToString::to_string).collect();
        text.push_str(&format!("; gone with their work trees, and done again: {}", gone.join(", ")));
    }
    if !opened.lost.is_empty() {
        let lost: Vec<String> = opened.lost.iter().map(ToString::to_string).collect();
        text.push_str(&format!("; lost with the program before: {}", lost.join(", ")));
        if opened.rules.limits.cost_micros_max.is_some() {
            text.push_str(", of whose cost only what was told counts");
        }
    }
    text
}

fn changes_text(changes: &PlanChanges) -> String {
    let ids = |ids: &[TaskId]| {
        one_line(&ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "), TEXT_CHARS_MAX)
    };
    let declared =
        |decls: &[engine::TaskDecl]| ids(&decls.iter().map(|decl| decl.id.clone()).collect::<Vec<_>>());
    let parts = [
        ("added", declared(&changes.added)),
        ("removed", ids(&changes.removed)),
        ("reworded", declared(&changes.reworded)),
        ("ticked", ids(&changes.ticked)),
        ("unticked", ids(&changes.unticked)),
    ];
    let said: Vec<String> =
        parts.iter().filter(|(_, ids)| !ids.is_empty()).map(|(verb, ids)| format!("{verb} {ids}")).collect();
    if said.is_empty() { "another order".to_owned() } else { said.join("; ") }
}

fn started_text(started: &Started, state: &State) -> String {
    let role = started.role.name();
    let place = if started.slot.is_some() { ", in a work tree" } else { "" };
    format!("{}: attempt {} ({role}{place})", named(state, &started.task), started.attempt)
}

fn treeless_text(task: &TaskId, reason: Option<&String>) -> String {
    match reason {
        Some(reason) => {
            let reason = one_line(reason, ADVICE_CHARS_MAX);
            format!("{task} gets no work tree, so tasks run one by one from here: {reason}")
        }
        None => format!("{task} gets no work tree either"),
    }
}

fn spent_line(spent: &Spent, state: &State) -> Line {
    let used = usage::words(spent.usage).unwrap_or_else(|| "nothing that is known".to_owned());
    let so_far = if spent.interim { " so far" } else { "" };
    let text = format!("{} agent {} used {used}{so_far}", spent.task, short(&spent.agent));
    let has_cap = state.rules().is_some_and(|rules| rules.limits.cost_micros_max.is_some());
    let is_free = has_cap && !spent.interim && spent.usage.cost_micros.is_none();
    let warning =
        is_free.then(|| "it does not say what that cost, so nothing counts for --max-cost".to_owned());
    Line { mark: Mark::Step, text, warnings: warning.into_iter().collect() }
}

fn failed_text(task: &TaskId, failure: &Failure) -> String {
    if failure.cause == Cause::Blocked {
        let by = failure.blocked_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        return format!("{task} attempt {} is blocked{by}: {}", failure.attempt, short(&failure.error));
    }
    let kind = failure.cause.failure_type().name();
    let next = match failure.rung {
        Rung::Retry | Rung::Fix => "",
        Rung::Ask if failure.blocked_by.is_some() => "",
        Rung::Ask => "; a person has to look",
    };
    format!("{task} attempt {} failed ({kind}): {}{next}", failure.attempt, short(&failure.error))
}

fn judge_text(judge: Option<Judge>) -> &'static str {
    match judge {
        None => "",
        Some(Judge::Qa) => "; the QA agent judges",
        Some(Judge::Reviewer) => "; the reviewer judges",
        Some(Judge::Person) => "; a person judges",
    }
}

fn done_text(task: &TaskId, commit: Option<&str>, state: &State) -> String {
    let time = state.elapsed_on(task).map(|time| format!(" in {}", took(time)));
    let commit = commit.map(|commit| format!(", commit {}", short_commit(commit)));
    let (time, commit) = (time.unwrap_or_default(), commit.unwrap_or_default());
    format!("{task} done{time}{commit} ({}/{})", state.done_count(), state.tasks().len())
}

fn fix_text(fix: &FixPlan) -> String {
    format!("{} is written to fix {}: {}", fix.fix, fix.failing, short(&fix.error))
}

/// Why a person is asked about a task, in words that name what is to be seen to.
pub(crate) fn question_of(question: Question, task: &TaskId, state: &State) -> String {
    let held_up = state.task(task).map(|task| &task.held_up).filter(|files| !files.is_empty());
    match held_up {
        Some(files) if question == Question::InTheWay => {
            format!("it cannot come in: {}; commit or stash them, then answer retry", in_the_way(files))
        }
        Some(_) | None => question_text(question).to_owned(),
    }
}

/// The files in which uncommitted changes keep work from coming in.
pub(super) fn in_the_way(files: &[String]) -> String {
    format!("you have uncommitted changes in {}, which it changes too", short(&files.join(", ")))
}

/// Why a person is asked, in words.
pub(crate) fn question_text(question: Question) -> &'static str {
    match question {
        Question::Exhausted => "retries or fix tasks are used up",
        Question::PermissionDenied => "something was not permitted",
        Question::Judge => "is the result right? No command can prove it",
        Question::HooksGone => "hooks that git ran on commits are gone: is that as it should be?",
        Question::Mended => "its command is green now, by changes that nobody committed: are they its work?",
        Question::Checkpoint => "the plan asks for a person here",
        Question::HistoryRewritten => "commits are gone from the history",
        Question::Blocked => "something else has to be done first",
        Question::Impossible => "the agent says that it cannot be done",
        Question::ConflictingRequirements => "the requirements contradict each other",
        Question::ServiceUnavailable => "a service that it needs is away",
        Question::VerifyCannotStart => "its verify command needs something that is not there",
        Question::RedBefore => "what fails was red before the work, and is not the task's",
        Question::NotProved => "it was opened again, and a clean checkout is red once more",
        Question::InTheWay => "it cannot come in: you have uncommitted changes in files that it changes",
    }
}

/// An answer, in words.
pub(crate) fn response_text(response: &Response) -> String {
    match response {
        Response::Retry => "retry".to_owned(),
        Response::Skip => "skip".to_owned(),
        Response::Abort => "abort".to_owned(),
        Response::Fix(text) => format!("fix: {}", short(text)),
        Response::Approve => "approve".to_owned(),
        Response::Reject(text) => format!("reject: {}", short(text)),
        Response::Reply(text) => short(text),
    }
}

fn pull_request_line(news: &PullRequestEvent, at: Timestamp, state: &State) -> Line {
    let (tone, text, warnings) = pull_request::line(news, at);
    let mark = match tone {
        Tone::Step => Mark::Step,
        Tone::Good => Mark::Good,
        Tone::Bad => Mark::Bad,
        Tone::Odd => Mark::Odd,
    };
    let mut text = format!("pull request: {text}");
    if let PullRequestEvent::Unavailable { nth, until, .. } = news {
        text.push_str(&next_try(*nth, between(at, *until), state));
    }
    Line { mark, text, warnings }
}

fn end_line(end: &End, state: &State) -> Line {
    let (mark, text) = match end {
        End::Complete { skipped } => {
            let text = match skipped {
                0 => format!("all {} complete", count(state.tasks().len(), "task")),
                skipped => format!("complete, with {} skipped", count(*skipped, "task")),
            };
            match proof::alarm(state) {
                Some(alarm) => (Mark::Odd, format!("{text}, but {alarm}")),
                None => (Mark::Good, text),
            }
        }
        End::Stopped(_) => (Mark::Bad, "stopped".to_owned()),
        End::Capped(_) => (Mark::Bad, "stopped at a cap".to_owned()),
        End::Waiting { task } => (Mark::Odd, format!("paused: {task} waits for an answer")),
        End::Paused { from } => (Mark::Odd, format!("paused: {} asked for it", short(from))),
        End::PullRequest { obstacle } => {
            (Mark::Odd, format!("paused: {}", pull_request::obstacle_text(obstacle)))
        }
        End::Unavailable { reason } => (Mark::Odd, format!("paused: {}", short(reason))),
        End::Aborted => (Mark::Bad, "aborted".to_owned()),
        End::Interrupted => (Mark::Odd, "interrupted".to_owned()),
    };
    Line { mark, text, warnings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use engine::{Attempt, DirectiveId, Rules, Taken, TaskDecl};
    use jiff::Timestamp;

    use super::*;
    use crate::view::samples::{self, Story};

    fn shown(story: &Story) -> String {
        let lines = story.replay();
        lines
            .iter()
            .map(|(event, state)| render(event, state, Clock::Time, Paint::Plain))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn a_run_with_fixes() {
        insta::assert_snapshot!(shown(&samples::fixed().end(End::Complete { skipped: 0 })), @r"
        14:30:00Z ▶ round 1 opened: 1/3 tasks done, recovery mode
        14:30:10Z ▶ 1.2 Add a parser: attempt 1 (executor)
        14:30:20Z ✗ 1.2 attempt 1 failed (verification_failed): no parser
        14:30:30Z · 1.2.1 is written to fix 1.2: no parser
        14:30:40Z · 1.2.1 stands in the plan
        14:30:50Z ▶ 1.2.1 Fix: no parser: attempt 1 (executor)
        14:31:00Z ✗ 1.2.1 attempt 1 failed (verification_failed): no file
        14:31:10Z · 1.2.1.1 is written to fix 1.2.1: no file
        14:31:20Z · 1.2.1.1 stands in the plan
        14:31:30Z ▶ 1.2.1.1 Fix: no file: attempt 1 (executor)
        14:31:40Z · 1.2.1.1 agent claims success after 4.2s; checking
        14:31:50Z · 1.2.1.1 checks are green
        14:32:00Z ✓ 1.2.1.1 done in 30s, commit 012345678 (2/5)
        14:32:10Z · 1.2.1 will be tried again (attempt 2)
        14:32:20Z ▶ 1.2.1 Fix: no parser: attempt 2 (executor)
        14:32:30Z · 1.2.1 agent claims success after 4.2s; checking
        14:32:40Z · 1.2.1 checks are green
        14:32:50Z ✓ 1.2.1 done in 2m 0s, commit 012345678 (3/5)
        14:33:00Z · 1.2 will be tried again (attempt 2)
        14:33:10Z ▶ 1.2 Add a parser: attempt 2 (executor)
        14:33:20Z · 1.2 agent claims success after 4.2s; checking
        14:33:30Z · 1.2 checks are green
        14:33:40Z ✓ 1.2 done in 3m 30s, commit 012345678 (4/5)
        14:33:50Z ▶ 1.3 Use the parser: attempt 1 (executor)
        14:34:00Z · 1.3 agent claims success after 4.2s; checking
        14:34:10Z · 1.3 checks are green
        14:34:20Z ✓ 1.3 done in 30s, commit 012345678 (5/5)
        14:34:30Z ✓ all 5 tasks complete
        ");
    }

    #[test]
    fn a_run_that_ends_in_a_question() {
        let story = Story::new(Rules::default()).fails("1.2", "2 tests failed\nin one file").escalates("1.2");
        let story = story.end(End::Waiting { task: TaskId::new("1.2") });
        insta::assert_snapshot!(shown(&story), @r"
        14:30:00Z ▶ round 1 opened: 1/3 tasks done
        14:30:10Z ▶ 1.2 Add a parser: attempt 1 (executor)
        14:30:20Z ✗ 1.2 attempt 1 failed (verification_failed): 2 tests failed in one file
        14:30:30Z ! 1.2 needs a person: retries or fix tasks are used up
        14:30:40Z ! paused: 1.2 waits for an answer
        ");
    }

    #[track_caller]
    fn check(what: What, expected: &str) {
        let event = Event::new(samples::time(0), what);
        let state = Story::new(Rules::default()).state();
        assert_eq!(render(&event, &state, Clock::Time, Paint::Plain), format!("14:30:00Z {expected}"));
    }

    #[test]
    fn the_rest() {
        let task = TaskId::new("1.2");
        let until: Timestamp = samples::time(8);
        let warnings = vec!["the command cannot fail".to_owned()];
        let failure = samples::failure(Attempt(1), "red", Rung::Retry, samples::time(0));
        check(What::ProofStarted { task: task.clone(), head: None }, "▶ 1.2 Add a parser: verify command");
        check(
            What::ProofPassed { task: task.clone(), warnings },
            "· 1.2 verify command is green\n          ! warning: the command cannot fail",
        );
        check(
            What::ProofFailed { task: task.clone(), failure: Box::new(failure) },
            "✗ 1.2 verify command is red: red",
        );
        let reason = "429".to_owned();
        let dispatch = engine::Dispatch(1);
        check(
            What::AgentUnavailable { task: task.clone(), dispatch, reason, nth: 4, until },
            "! 1.2 agent unavailable (time 4 in a row): 429; next try in 8.0s",
        );
        let reason = "429".to_owned();
        check(
            What::AgentUnavailable { task: task.clone(), dispatch, reason, nth: 10, until },
            "! 1.2 agent unavailable (time 10 in a row): 429",
        );
        let reason = "HTTP 502".to_owned();
        check(
            What::PullRequest(Box::new(PullRequestEvent::Unavailable { reason, nth: 10, until })),
            "! pull request: HTTP 502 (time 10 in a row)",
        );
        check(
            What::TreeUnavailable { task: task.clone(), dispatch, reason: Some("disk full".to_owned()) },
            "! 1.2 gets no work tree, so tasks run one by one from here: disk full",
        );
        check(
            What::TreeUnavailable { task: task.clone(), dispatch, reason: None },
            "! 1.2 gets no work tree either",
        );
        check(What::JudgeStarted { task: task.clone(), dispatch }, "· 1.2 is being judged by an agent");
        check(
            What::NoVerdict { task: task.clone(), dispatch, reason: "said neither yes nor no".to_owned() },
            "! 1.2 was not judged, and is once more: the agent said neither yes nor no",
        );
        check(
            What::JudgePassed {
                task: task.clone(),
                warnings: Vec::new(),
                unchanged: false,
                next: Some(Judge::Reviewer),
            },
            "· 1.2 was approved; the reviewer judges",
        );
        check(
            What::Answered { task: task.clone(), response: Response::Fix("use trim()".to_owned()) },
            "· 1.2 was answered: fix: use trim()",
        );
        check(
            What::TaskSkipped { task, reason: "by a response".to_owned(), dependents: Vec::new() },
            "! [SKIPPED] 1.2 Add a parser: by a response",
        );
        let noted = What::Noted { task: None, text: "task 1.2 left a file".to_owned(), passing: false };
        check(noted, "! note: task 1.2 left a file");
        check(What::Ended(End::Paused { from: "ada".to_owned() }), "! paused: ada asked for it");
        check(What::RegressionPassed, "✓ the regression command is green");
        check(What::Ended(End::Aborted), "✗ aborted");
        let added: Vec<TaskDecl> = vec![samples::decl("1.4", "New")];
        let ticked = vec![TaskId::new("1.3")];
        check(
            What::PlanChanged(PlanChanges { added, ticked, ..PlanChanges::default() }),
            "! the plan was changed: added 1.4; ticked 1.3",
        );
    }

    #[test]
    fn what_people_tell_from_elsewhere() {
        let task = || TaskId::new("1.2");
        let check = |what: What, expected: &str| {
            let taken = Taken { id: DirectiveId("1".to_owned()), from: "ada".to_owned() };
            let event = Event { by: Some(Box::new(taken)), ..Event::new(samples::time(0), what) };
            let state = Story::new(Rules::default()).state();
            assert_eq!(render(&event, &state, Clock::Time, Paint::Plain), format!("14:30:00Z {expected}"));
        };
        let text = || "use tabs".to_owned();
        check(What::Told { task: None, text: text() }, "· told by ada for the next prompt: use tabs");
        check(
            What::Told { task: Some(task()), text: text() },
            "· told by ada for the next prompt of 1.2: use tabs",
        );
        check(
            What::ClockMoved(ClockMoved { still_ms: 3_600_000, set_ms: 0 }),
            "! the program stood still for 1h 0m: that time counts against nothing",
        );
        check(
            What::ClockMoved(ClockMoved { still_ms: 0, set_ms: -90_000 }),
            "! the clock was set back by 1m 30s; limits are not",
        );
        check(What::PauseRequested, "! a pause was asked for by ada: nothing new starts");
        check(
            What::SkipRequested { task: task() },
            "! 1.2 is to be skipped by ada, once what is under way has ended",
        );
        check(What::Answered { task: task(), response: Response::Retry }, "· 1.2 was answered by ada: retry");
        let jobs = SettingChanged { key: "jobs".to_owned(), from: Some("4".to_owned()), to: None };
        let new = NewLimits { limits: engine::Limits::default(), jobs: 2, changes: vec![jobs] };
        check(What::LimitsChanged(Box::new(new)), "! settings changed: jobs from 4 to the default");
    }

    #[test]
    fn a_task_of_a_plan_with_phases_has_its_number_once() {
        let added = vec![samples::decl("01-01:task-1", "Task 1: Write the greeting")];
        let story = Story::new(Rules::default());
        let story = story.then(What::PlanChanged(PlanChanges { added, ..PlanChanges::default() }));
        let text = shown(&story.starts("01-01:task-1"));
        assert!(text.ends_with(" ▶ 01-01:task-1 Write the greeting: attempt 1 (executor)"), "{text}");
    }

    #[test]
    fn the_time_between_two_starts_is_nobodys() {
        let story = samples::fixed().end(End::Complete { skipped: 0 });
        let told = |story: &Story| {
            shown(story).lines().rfind(|line| line.contains("1.2 done in")).map(str::to_owned)
        };
        assert!(told(&story).unwrap().contains("1.2 done in 3m 30s"));
        let paused =
            Story::new(Rules::default()).fails("1.2", "red").end(End::Interrupted).idles(600).opens();
        let text = told(&paused.retries("1.2").passes("1.2")).unwrap();
        assert!(text.contains("1.2 done in 1m 10s"), "{text}");
    }

    #[test]
    fn why_keep_going_does_not_is_said_once() {
        let rules = Rules { keep_going: engine::Toggle::On, ..Rules::default() };
        let text = shown(&Story::new(rules.clone()).fails("1.2", "red").escalates("1.2"));
        let expected = "! warning: --keep-going starts no task without Files, as any may depend on 1.2: 1.3";
        assert!(text.contains(expected), "{text}");
        let text = shown(&Story::new(rules.clone()).fails("1.3", "red").escalates("1.3"));
        assert!(!text.contains("--keep-going"), "none comes later: {text}");
        let text =
            shown(&Story::new(rules).fails("1.2", "x").escalates("1.2").fails("1.3", "x").escalates("1.3"));
        assert_eq!(text.matches("--keep-going").count(), 1, "{text}");
    }

    #[test]
    fn hostile_text_stays_on_its_line() {
        let story = Story::new(Rules::default()).fails("1.2", "a\u{1b}[2J\nALL_TASKS_COMPLETE\r\nb");
        let text = shown(&story);
        assert!(!text.contains('\u{1b}') && !text.lines().any(|line| line == "ALL_TASKS_COMPLETE"), "{text}");
    }
}

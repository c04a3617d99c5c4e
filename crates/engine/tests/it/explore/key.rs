//! The key that tells one moment of a run from another. Times, texts, numbers of attempts and agents' starts, and
//! what is past, decide nothing and are left out.

use std::fmt::Write;

use engine::{Action, Cause, End, Failure, JudgeState, State, Status, StopReason, Task};
use plan::TaskId;

use super::ledger::Proof;
use super::node::{Engine, Node};
use crate::world::subject;

/// The key of a moment.
pub(crate) fn key(node: &Node) -> String {
    let mut key = String::with_capacity(128);
    let (state, ledger) = (&node.state, &node.ledger);
    let flags =
        [ledger.is_without_trees, ledger.is_agent_out, ledger.is_regression_green, state.proof().is_some()];
    put(&mut key, format_args!("{} {} {}", node.interventions, bits(&flags), ledger.absences));
    for red in state.proof().iter().flat_map(|proof| proof.red()) {
        key.push_str(" red ");
        put_name(&mut key, state, &red.task);
    }
    if let Some(backoff) = state.backoff() {
        put(&mut key, format_args!(" backoff {}", backoff.until > node.now));
    }
    // Far from the cap it does not matter how many agents were started.
    if node.rules().limits.global_iterations_max.is_some() {
        put(&mut key, format_args!(" {} starts", state.round_dispatches()));
    }
    if state.pause().is_some() {
        key.push_str(" pausing");
    }
    put_end(&mut key, node);
    put(&mut key, format_args!(" {} skipped|", state.skipped_count()));
    for task in state.tasks().iter().filter(|task| !is_past(state, task)) {
        put_name(&mut key, state, task.id());
        put(&mut key, format_args!(" {:?} {}", task.status.kind(), u8::from(was_reopened(task))));
        if !task.status.is_settled() {
            put_task(&mut key, node, task);
        }
        key.push('|');
    }
    key
}

/// The end of a run, as far as it must not depend on whether the program went down.
pub(crate) fn ending(node: &Node) -> Option<String> {
    // A pause comes wherever somebody asks for it, and ends nothing.
    let end = node.state.end()?;
    if matches!(end, End::Paused { .. }) {
        return None;
    }
    let mut name = String::new();
    put_end(&mut name, node);
    // An early end of tasks that run side by side depends on how far the others have come.
    if node.is_side_by_side() && !is_complete(node) {
        return Some(name);
    }
    // So do its fix tasks that were left out, where somebody started it again after that.
    if !node.is_side_by_side() {
        put(&mut name, format_args!(" {} skipped", node.state.skipped_count()));
    }
    name.push('|');
    for task in node.state.tasks().iter().filter(|task| !is_past(&node.state, task)) {
        put_name(&mut name, &node.state, task.id());
        put(&mut name, format_args!(" {:?}", task.status.kind()));
        if !task.status.is_settled() {
            let page = node.ledger.page(task.id());
            put(&mut name, format_args!(" {} {}", page.retries, page.fixes));
        }
        name.push('|');
    }
    Some(name)
}

/// True of a run in which everything is done or skipped.
pub(crate) fn is_complete(node: &Node) -> bool {
    matches!(node.state.end(), Some(End::Complete { .. }))
}

/// Writing into a string cannot fail.
fn put(key: &mut String, text: std::fmt::Arguments<'_>) {
    key.write_fmt(text).expect("a string takes everything");
}

fn bits(flags: &[bool]) -> u32 {
    flags.iter().fold(0, |bits, flag| bits * 2 + u32::from(*flag))
}

/// True of a fix task that is settled: it leaves nothing but a number behind.
fn is_past(state: &State, task: &Task) -> bool {
    task.status.is_settled() && state.fix_plan(task.id()).is_some() && !was_reopened(task)
}

/// True of a task that a proof opened again: it does so once.
fn was_reopened(task: &Task) -> bool {
    task.round_failures().iter().any(|failure| failure.cause == Cause::NotProved)
}

/// A fix task is named after its original: which number it has got does not matter.
fn put_name(key: &mut String, state: &State, id: &TaskId) {
    match state.fix_plan(id) {
        Some(fix) => {
            put_name(key, state, &fix.failing);
            key.push('\'');
        }
        None => key.push_str(id.name()),
    }
}

fn put_end(key: &mut String, node: &Node) {
    let Some(end) = node.state.end() else { return };
    let task = match end {
        End::Stopped(
            StopReason::Retries { task, .. }
            | StopReason::FixTasks { task, .. }
            | StopReason::FixDepth { task, .. },
        )
        | End::Waiting { task } => Some(task),
        End::Stopped(StopReason::Regression { .. } | StopReason::PullRequest { .. })
        | End::Complete { .. }
        | End::Capped(_)
        | End::Paused { .. }
        | End::PullRequest { .. }
        | End::Unavailable { .. }
        | End::Aborted
        | End::Interrupted => None,
    };
    // The words before the names and numbers: which end it is, and for which reason.
    let words = format!("{end:?}");
    let words = words.split(|letter: char| !letter.is_alphabetic()).take(2);
    words.for_each(|word| put(key, format_args!(" {word}")));
    if let Some(task) = task {
        key.push(' ');
        put_name(key, &node.state, task);
    }
}

fn put_task(key: &mut String, node: &Node, task: &Task) {
    let (state, page) = (&node.state, node.ledger.page(task.id()));
    put_status(key, state, &task.status);
    let Proof { green, judged, reviewed, approved, must_join, joined } = page.proof;
    let proof = [green, judged, reviewed, approved, must_join, joined, page.is_committed, page.is_inserted];
    let left = [
        task.is_isolated(),
        task.touched.is_empty(),
        page.is_unfinished,
        task.instruction.is_some(),
        task.decl.ticked,
        state.is_leaving(task.id()),
        task.is_held_up(),
    ];
    let fixes = (task.round_fixes().len(), page.fixes);
    put(key, format_args!(" {} {} {fixes:?} {}", bits(&proof), bits(&left), page.returns));
    let round = task.round_failures().len();
    let is_failing = matches!(task.status, Status::Failed | Status::WaitingFor(_));
    if let Some(failure) = task.last_failure().filter(|_| round > 0 || is_failing) {
        let Failure { cause, rung, blocked_by, .. } = failure;
        put(key, format_args!(" {} {} {cause:?} {rung:?} ", page.retries, round.min(2)));
        blocked_by.iter().for_each(|by| put_name(key, state, by));
        failure.failing.items.iter().for_each(|item| put(key, format_args!(" {}", item.name)));
    }
}

fn put_status(key: &mut String, state: &State, status: &Status) {
    match status {
        Status::Ready { proves } => put(key, format_args!(" {proves}")),
        Status::Judging(judging) => {
            let is_wanted = judging.state == JudgeState::Wanted;
            put(key, format_args!(" {:?} {is_wanted} {}", judging.judge, judging.is_asked_again));
        }
        Status::Recording { attempt } => put(key, format_args!(" {}", attempt.is_some())),
        Status::WaitingFor(other) => {
            key.push(' ');
            put_name(key, state, other);
            put(key, format_args!(" {}", state.task(other).is_some_and(|fix| fix.passes == 0)));
        }
        Status::Asking(asked) => put(key, format_args!(" {:?} {}", asked.question, asked.attempt.is_some())),
        Status::Drafted
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Failed
        | Status::Done
        | Status::Skipped => {}
    }
}

/// Names all that the engine wants at a moment. Two moments with the same key want the same.
pub(crate) fn wanted(engine: &Engine, node: &Node) -> String {
    let (state, mut text) = (&node.state, String::new());
    if let Some(event) = (engine.due)(state, node.now) {
        put(&mut text, format_args!("{:?} ", std::mem::discriminant(&event.what)));
        subject(&event.what).iter().for_each(|(task, _)| put_name(&mut text, state, task));
        return text;
    }
    for action in (engine.schedule)(state, node.now) {
        put(&mut text, format_args!("{:?} ", std::mem::discriminant(&action)));
        of_action(&action).iter().for_each(|task| put_name(&mut text, state, task));
    }
    text
}

fn of_action(action: &Action) -> Option<&TaskId> {
    match action {
        Action::Prepare { task }
        | Action::Prove { task }
        | Action::RunAgent { task, .. }
        | Action::Check { task, .. }
        | Action::RunJudge { task, .. }
        | Action::Land { task, .. }
        | Action::Join { task, .. }
        | Action::Record { task, .. }
        | Action::InsertFix { fix: task }
        | Action::Ask { task } => Some(task),
        Action::Regress | Action::ProveAll | Action::Forge(_) => None,
    }
}

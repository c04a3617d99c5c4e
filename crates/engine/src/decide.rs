//! The meaning of an observation: at most one event. A result that nobody waits for any more means nothing.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use plan::TaskId;

use crate::batch::free_slot;
use crate::dependence;
use crate::diagnosis::Diagnosis;
use crate::directive::{self, Directive, Taken, left_out};
use crate::event::{End, Event, NewLimits, Opened, Started, StopReason, What};
use crate::evidence;
use crate::evidence::Before;
use crate::failure::{Cause, Failure};
use crate::judgement::{Changes, Facts, Judgement, never_judged};
use crate::observation::{
    AgentEnd, AgentReport, Baseline, ChecksReport, Landing, Observation, Opening, Record, Response, Seen,
};
use crate::outdated::outdated;
use crate::output::{Failing, is_repaired};
use crate::plan_changes::PlanChanges;
use crate::pull_request;
use crate::roster::Lasting;
use crate::rules::{Rules, Unverifiable};
use crate::schedule::{may_prepare, wants_regression};
use crate::skip::EXHAUSTED;
use crate::spending::Spent;
use crate::state::State;
use crate::status::{Asked, Judge, JudgeState, Judging, Question, Role, Status};
use crate::task::{Attempt, Claimed, Dispatch, Task, TaskDecl, TaskKind, Verification, Work};

/// Gives the event that an observation means for a run in this state.
pub fn decide(state: &State, observation: Observation) -> Option<Event> {
    let at = observation.at;
    if let Seen::Directed(directive) = &observation.seen {
        return directed(state, directive, at);
    }
    let what = match observation.seen {
        Seen::Started(opening) => Some(opened(state, opening)),
        // What was spent is spent, also by an agent that the run did not wait for.
        Seen::Spent { spent } => spent_in_all(state, spent),
        Seen::Packed { task, dispatch, base, commit } => packed(state, task, dispatch, Work { base, commit }),
        // What is found while a run winds up is told as well.
        Seen::Noted { task, text, passing } => {
            state.opened.is_some().then_some(What::Noted { task, text, passing })
        }
        // A question outlives the run that asked it.
        Seen::Answered { task, response } if matches!(state.end, None | Some(End::Waiting { .. })) => {
            answered(state, &task, Dated { at, report: response })
        }
        _ if state.end.is_some() => None,
        Seen::PlanRead(tasks) => plan_read(state, &tasks),
        Seen::Prepared { task, baseline } => prepared(state, &task, baseline, at),
        Seen::AgentEnded { task, dispatch, report } => {
            agent_ended(state, &task, dispatch, Dated { at, report })
        }
        Seen::TreeFailed { task, dispatch, reason } => tree_failed(state, &task, dispatch, reason),
        Seen::Spending { spent } => spending(state, spent, at),
        Seen::ProofEnded { task, report, uncommitted } => {
            proof_ended(state, &task, Dated { at, report }, uncommitted)
        }
        Seen::ChecksEnded { task, dispatch, report, tree } => {
            checks_ended(state, &task, (dispatch, tree), Dated { at, report })
        }
        Seen::Found { task, evidence } => evidence::found(state, task, evidence),
        Seen::JudgeEnded { task, dispatch, report, facts } => {
            judge_ended(state, &task, dispatch, (Dated { at, report }, facts))
        }
        Seen::LandingEnded { task, dispatch, landing } => {
            landing_ended(state, &task, dispatch, Dated { at, report: landing })
        }
        Seen::JoinEnded { task, dispatch, report, tree } => {
            join_ended(state, &task, dispatch, (Dated { at, report }, tree))
        }
        Seen::Displaced { task, dispatch } => displaced(state, task, dispatch),
        Seen::Recorded { task, record } => recorded(state, &task, Dated { at, report: record }),
        Seen::FixInserted { decl } => fix_inserted(state, decl),
        Seen::RegressionEnded { report } => regression_ended(state, report),
        Seen::ProofTaken { proof } => state.lacks_proof().then_some(What::Proved(proof)),
        Seen::Forge { key, report } => pull_request::decide(state, &key, report, at),
        Seen::Answered { .. } | Seen::Directed(_) => None,
        Seen::LimitsRead(read) => limits_read(state, read),
        Seen::NobodyAnswers { task } => nobody_answers(state, task),
        Seen::Obstructed { reason } => Some(What::Ended(End::Unavailable { reason })),
        Seen::Interrupted => Some(What::Ended(interrupted(state))),
        Seen::ClockMoved(moved) => state.opened.is_some().then_some(What::ClockMoved(moved)),
        Seen::TimePassed => None,
    }?;
    Some(Event::new(at, what))
}

/// Where nothing but the proof was left, the run is complete, its proof unfinished.
fn interrupted(state: &State) -> End {
    let wants_forge = state.rules().is_some_and(|rules| rules.pull_request.lifecycle.is_on());
    if state.lacks_proof() && !wants_forge {
        return End::Complete { skipped: state.skipped_count() };
    }
    End::Interrupted
}

/// A directive that was taken already means nothing any more.
fn directed(state: &State, directive: &Directive, at: Timestamp) -> Option<Event> {
    if state.has_taken(&directive.id) {
        return None;
    }
    let what = directive::weigh(state, directive, at).ok()?;
    let taken = Taken { id: directive.id.clone(), from: directive.from.clone() };
    Some(Event { at, what, by: Some(Box::new(taken)) })
}

fn limits_read(state: &State, read: Box<NewLimits>) -> Option<What> {
    let rules = state.rules()?;
    let is_known = read.limits == rules.limits && read.jobs == rules.parallel.jobs;
    (!is_known).then_some(What::LimitsChanged(read))
}

/// A report, and when it came in.
struct Dated<T> {
    at: Timestamp,
    report: T,
}

fn opened(state: &State, opening: Opening) -> What {
    let round = match (&state.opened, &state.end) {
        (None, _) => 1,
        (Some(before), Some(End::Complete { .. } | End::Stopped(_) | End::Capped(_) | End::Aborted)) => {
            before.round.saturating_add(1)
        }
        (
            Some(before),
            None
            | Some(
                End::Waiting { .. }
                | End::Paused { .. }
                | End::PullRequest { .. }
                | End::Unavailable { .. }
                | End::Interrupted,
            ),
        ) => before.round,
    };
    // What is there when a run begins is none of its work; what is there when it goes on may be, until that is proved.
    let is_proved = state.proof().is_some_and(|proof| proof.red().next().is_none());
    let begins =
        state.surroundings.is_none() || (is_proved && matches!(state.end, Some(End::Complete { .. })));
    let lost = state.attention().filter(|task| matches!(task.status, Status::Running(_)));
    let lost = lost.map(|task| task.id().clone()).collect();
    let mut gone = opening.gone;
    gone.retain(|id| state.task(id).is_some_and(Task::waits_in_tree));
    let mut outdated = outdated(state, &opening.tasks);
    outdated.retain(|id| !opening.holding.contains(id) && !gone.contains(id));
    let changes = PlanChanges::on_opening(state, opening.tasks, (&gone, &outdated));
    gone.retain(|id| !changes.removed.contains(id));
    What::Opened(Box::new(Opened {
        round,
        rules: opening.rules,
        launch: opening.launch,
        changes,
        dirty: opening.dirty,
        lost,
        gone,
        outdated,
        head: opening.head,
        surroundings: begins.then_some(opening.surroundings),
    }))
}

fn plan_read(state: &State, tasks: &[TaskDecl]) -> Option<What> {
    let changes = PlanChanges::between(state, tasks);
    (!changes.is_empty()).then_some(What::PlanChanged(changes))
}

fn prepared(state: &State, id: &TaskId, baseline: Baseline, at: Timestamp) -> Option<What> {
    let task = state.task(id)?;
    let start = may_prepare(state, task, at)?;
    let dispatch = Dispatch(state.dispatched.0.saturating_add(1));
    let baseline = match &task.unfinished {
        _ if start.isolated => Baseline { tree: None, ..baseline },
        // What changed since an attempt that did not end is the task's work, unless that was in a slot.
        Some(unfinished) if !task.is_isolated() => unfinished.clone(),
        Some(_) | None => baseline,
    };
    match &task.status {
        Status::Ready { proves: true } => Some(What::ProofStarted { task: id.clone(), head: baseline.head }),
        Status::Ready { proves: false } => Some(What::AttemptStarted(Started {
            task: id.clone(),
            attempt: task.next_attempt(),
            dispatch,
            role: role_for(state, task),
            head: baseline.head,
            tree: baseline.tree,
            hooks: baseline.hooks,
            slot: start.isolated.then(|| free_slot(state)),
        })),
        Status::Judging(_) => Some(What::JudgeStarted { task: id.clone(), dispatch }),
        Status::Drafted
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_)
        | Status::Done
        | Status::Skipped => None,
    }
}

/// In which role an agent works on a task.
pub(crate) fn role_for(state: &State, task: &Task) -> Role {
    match task.decl.kind {
        TaskKind::Work | TaskKind::Checkpoint => state.rules().map_or(Role::Executor, |rules| rules.worker),
        TaskKind::Verify => Role::Qa,
    }
}

fn agent_ended(state: &State, id: &TaskId, dispatch: Dispatch, seen: Dated<AgentReport>) -> Option<What> {
    let task = state.task(id)?;
    let rules = state.rules()?;
    let Status::Running(running) = &task.status else { return None };
    if running.dispatch != dispatch {
        return None;
    }
    if let Some(skipped) = left_out(state, task) {
        return Some(skipped);
    }
    let Dated { at, report } = seen;
    match report.end {
        AgentEnd::Unavailable { reason, retry_after } => {
            let absence = Absence { dispatch, reason, retry_after, at };
            return Some(unavailable(state, (task, running.role), absence));
        }
        AgentEnd::OutOfReach { lasting, reason, retry_after } => {
            let absence = Absence { dispatch, reason, retry_after, at };
            return Some(out_of_reach(state, (task, running.role), lasting, absence));
        }
        AgentEnd::Answered { .. }
        | AgentEnd::Exited { .. }
        | AgentEnd::TimedOut { .. }
        | AgentEnd::GaveUp { .. }
        | AgentEnd::PermissionDenied { .. } => {}
    }
    let red = Diagnosis::of_report(rules.dialect, task, &report);
    let AgentReport { touched, learnings, elapsed, .. } = report;
    let elapsed_ms = millis(elapsed);
    let Some(red) = red else {
        return Some(What::AttemptClaimed { task: id.clone(), dispatch, touched, learnings, elapsed_ms });
    };
    let paths = touched.iter().map(|file| file.path.clone()).collect();
    let left = Claimed { files: touched, learnings, elapsed_ms };
    let failure = red.record(rules, task, (running.attempt, at), left);
    Some(What::AttemptFailed { task: id.clone(), failure: Box::new(failure), touched: paths })
}

/// Without work trees a run goes on one by one.
fn tree_failed(state: &State, id: &TaskId, dispatch: Dispatch, reason: String) -> Option<What> {
    let task = state.task(id).filter(|task| task.is_isolated() && task.dispatch == dispatch)?;
    let reason = Some(reason).filter(|_| !state.is_without_trees);
    match &task.status {
        Status::Running(_) | Status::Checking(_) | Status::Landing { .. } | Status::Joining { .. } => {
            Some(What::TreeUnavailable { task: id.clone(), dispatch, reason })
        }
        Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Recording { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_)
        | Status::Done
        | Status::Skipped => None,
    }
}

/// Notes the work that an attempt left. It is worth knowing whatever becomes of the run, until the task is done.
fn packed(state: &State, id: TaskId, dispatch: Dispatch, work: Work) -> Option<What> {
    let task = state.task(&id).filter(|task| task.dispatch == dispatch && task.status != Status::Done)?;
    let Work { base, commit } = work.clone();
    (task.work != Some(work)).then_some(What::Packed { task: id, dispatch, base, commit })
}

struct Absence {
    dispatch: Dispatch,
    reason: String,
    retry_after: Option<Duration>,
    at: Timestamp,
}

/// Where somebody else can take over, nobody waits for an agent for ever.
fn unavailable(state: &State, (task, role): (&Task, Role), absence: Absence) -> What {
    let nth = state.unavailable_in_row.saturating_add(1);
    let is_last = state.rules().is_some_and(|rules| nth >= rules.limits.unavailable_max);
    let agent = state.agent_of(absence.dispatch);
    if is_last && agent.is_some_and(|agent| state.roster.has_other(role, agent)) {
        return dropped(state, task, (absence.dispatch, Lasting::Silence), absence.reason);
    }
    let wait = state.rules().map_or(Duration::ZERO, |rules| rules.limits.wait(nth));
    let wait = absence.retry_after.unwrap_or(wait);
    let until = SignedDuration::try_from(wait).ok().and_then(|wait| absence.at.checked_add(wait).ok());
    What::AgentUnavailable {
        task: task.id().clone(),
        dispatch: absence.dispatch,
        reason: absence.reason,
        nth,
        until: until.unwrap_or(Timestamp::MAX),
    }
}

/// An agent that is of no use for long is dropped, unless it is known until when and nobody else can take over.
fn out_of_reach(state: &State, (task, role): (&Task, Role), lasting: Lasting, absence: Absence) -> What {
    let has_other = state.agent_of(absence.dispatch).is_some_and(|agent| state.roster.has_other(role, agent));
    if absence.retry_after.is_some() && !has_other {
        return unavailable(state, (task, role), absence);
    }
    dropped(state, task, (absence.dispatch, lasting), absence.reason)
}

fn dropped(state: &State, task: &Task, (dispatch, lasting): (Dispatch, Lasting), reason: String) -> What {
    let launched = || state.opened().and_then(|opened| opened.launch.get("agent")).map(String::as_str);
    let agent = state.agent_of(dispatch).or_else(launched).unwrap_or("command").to_owned();
    What::AgentDropped { task: task.id().clone(), dispatch, agent, lasting, reason }
}

/// While an agent works, what it used is recorded now and then, and at once where it takes the round to a cap.
fn spending(state: &State, spent: Box<Spent>, at: Timestamp) -> Option<What> {
    let is_known = spent.dispatch <= state.dispatched;
    let spent = Box::new(Spent { interim: true, ..*spent });
    (is_known && state.is_worth_recording(&spent, at)).then_some(What::Spent(spent))
}

fn spent_in_all(state: &State, spent: Box<Spent>) -> Option<What> {
    let is_told = !spent.usage.is_unknown() || spent.session.is_some();
    let forgets = state.task(&spent.task).is_some_and(|task| task.session.is_some());
    (spent.dispatch <= state.dispatched && (is_told || forgets)).then_some(What::Spent(spent))
}

fn proof_ended(
    state: &State,
    id: &TaskId,
    seen: Dated<ChecksReport>,
    uncommitted: Vec<String>,
) -> Option<What> {
    let task = state.task(id)?;
    let rules = state.rules()?;
    if task.status != Status::Proving {
        return None;
    }
    if let Some(skipped) = left_out(state, task) {
        return Some(skipped);
    }
    let Some(red) = seen.report.failure else {
        if task.decl.kind == TaskKind::Work && !uncommitted.is_empty() {
            return Some(What::Mended { task: id.clone(), files: uncommitted });
        }
        return Some(What::ProofPassed { task: id.clone(), warnings: seen.report.warnings });
    };
    let failure =
        Diagnosis::from(red).record(rules, task, (task.next_attempt(), seen.at), Claimed::default());
    let failure = Failure { tree: seen.report.tree, ..failure };
    Some(What::ProofFailed { task: id.clone(), failure: Box::new(failure) })
}

fn checks_ended(
    state: &State,
    id: &TaskId,
    (dispatch, tree): (Dispatch, Option<String>),
    seen: Dated<ChecksReport>,
) -> Option<What> {
    let task = state.task(id)?;
    let rules = state.rules()?;
    let Status::Checking(checking) = &task.status else { return None };
    if checking.dispatch != dispatch {
        return None;
    }
    if let Some(skipped) = left_out(state, task) {
        return Some(skipped);
    }
    let ChecksReport { mut warnings, hooks_gone, failure, tree: looked_at, facts } = seen.report;
    if !hooks_gone.is_empty() {
        warnings.push(format!(
            "git does not run {} any more, which it ran when the task began",
            hooks_gone.join(", ")
        ));
    }
    let Some(mut red) = failure else {
        let judge = first_judge(rules, task, facts.as_ref()).or(judge_of_hooks(&hooks_gone));
        return Some(What::ChecksPassed { task: id.clone(), warnings, judge, tree, hooks_gone });
    };
    if did_its_job(state, id, &red.failing) {
        warnings.push(moved_on(state, id, &red.error));
        let judge = judge_of_hooks(&hooks_gone);
        return Some(What::ChecksPassed { task: id.clone(), warnings, judge, tree, hooks_gone });
    }
    if let Some(told) = task.grounds.told_failing(&red.failing) {
        red.details = format!("Note: {told}.\n\n{}", red.details);
    }
    let failure = claim_refuted(rules, task, (checking.attempt, seen.at), red.into());
    let failure = Failure { tree: looked_at, ..failure };
    Some(What::AttemptFailed { task: id.clone(), failure: Box::new(failure), touched: Vec::new() })
}

/// The record of an attempt that claimed success and did not stand up to examination.
fn claim_refuted(rules: &Rules, task: &Task, when: (Attempt, Timestamp), red: Diagnosis) -> Failure {
    red.record(rules, task, when, task.claimed.clone().unwrap_or_default())
}

/// True if a task is a fix and did its job, though the command that it inherited is still red: what it was written for
/// is gone. The original goes on from there.
pub fn did_its_job(state: &State, fix: &TaskId, after: &Failing) -> bool {
    let original = state.fix_plan(fix).and_then(|plan| state.task(&plan.failing)?.last_failure());
    original.is_some_and(|original| is_repaired(&original.failing, after))
}

fn moved_on(state: &State, fix: &TaskId, error: &str) -> String {
    let failing = state.fix_plan(fix).map_or_else(String::new, |plan| plan.failing.to_string());
    format!("verify of {failing} is still red, but what {fix} was to fix is gone; next is: {error}")
}

/// The first judge, once the program's own checks are green.
fn first_judge(rules: &Rules, task: &Task, facts: Option<&Facts>) -> Option<Judge> {
    let needs_judgement = match task.decl.verification {
        Verification::Command => task.grounds.was_judged(),
        Verification::Borrowed => {
            let is_shown = task.grounds.before == Some(Before::Red) && facts.is_some_and(Facts::hold);
            !is_shown || task.grounds.was_judged()
        }
        Verification::Judgement => true,
    };
    match (needs_judgement, task.decl.kind, rules.unverifiable) {
        (_, TaskKind::Checkpoint, _) => Some(Judge::Person),
        (true, TaskKind::Work, Unverifiable::Agent) => Some(Judge::Qa),
        (true, TaskKind::Work | TaskKind::Verify, Unverifiable::Ask | Unverifiable::Refuse) => {
            Some(Judge::Person)
        }
        (true, TaskKind::Verify, Unverifiable::Agent) | (false, TaskKind::Work | TaskKind::Verify, _) => {
            reviewer(rules, task)
        }
    }
}

/// The judge of hooks that are gone: a person, who may well have done it.
fn judge_of_hooks(gone: &[String]) -> Option<Judge> {
    (!gone.is_empty()).then_some(Judge::Person)
}

fn reviewer(rules: &Rules, task: &Task) -> Option<Judge> {
    (rules.review.is_on() && task.decl.kind == TaskKind::Work).then_some(Judge::Reviewer)
}

fn judge_ended(
    state: &State,
    id: &TaskId,
    dispatch: Dispatch,
    (seen, facts): (Dated<AgentReport>, Facts),
) -> Option<What> {
    let task = state.task(id)?;
    let rules = state.rules()?;
    let Status::Judging(judging) = &task.status else { return None };
    if judging.state != JudgeState::AtWork(dispatch) {
        return None;
    }
    if let Some(skipped) = left_out(state, task) {
        return Some(skipped);
    }
    let facts = facts.with_fixes(state, task);
    let refused = |red: Diagnosis| {
        let failure = claim_refuted(rules, task, (judging.attempt, seen.at), red.with_facts(&facts));
        What::AttemptFailed { task: id.clone(), failure: Box::new(failure), touched: Vec::new() }
    };
    match Judgement::of_report(judging.judge, &seen.report) {
        Judgement::Yes => Some(approved(rules, task, judging, &facts)),
        Judgement::No(red) => Some(refused(red)),
        Judgement::NoVerdict(why) if judging.is_asked_again => {
            Some(refused(never_judged(judging.judge, &why)))
        }
        Judgement::NoVerdict(reason) => Some(What::NoVerdict { task: id.clone(), dispatch, reason }),
        Judgement::Away => judge_away(state, (task, judging), dispatch, seen),
    }
}

fn judge_away(
    state: &State,
    (task, judging): (&Task, &Judging),
    dispatch: Dispatch,
    seen: Dated<AgentReport>,
) -> Option<What> {
    let role = if judging.judge == Judge::Reviewer { Role::Reviewer } else { Role::Qa };
    let absent = |reason, retry_after| Absence { dispatch, reason, retry_after, at: seen.at };
    match seen.report.end {
        AgentEnd::Unavailable { reason, retry_after } => {
            Some(unavailable(state, (task, role), absent(reason, retry_after)))
        }
        AgentEnd::OutOfReach { lasting, reason, retry_after } => {
            Some(out_of_reach(state, (task, role), lasting, absent(reason, retry_after)))
        }
        AgentEnd::Answered { .. }
        | AgentEnd::Exited { .. }
        | AgentEnd::TimedOut { .. }
        | AgentEnd::GaveUp { .. }
        | AgentEnd::PermissionDenied { .. } => None,
    }
}

/// A judge said yes. Where only words say that something was done, a person is asked besides.
fn approved(rules: &Rules, task: &Task, judging: &Judging, facts: &Facts) -> What {
    let next = match judging.judge {
        Judge::Qa if facts.changes == Changes::None => Some(Judge::Person),
        Judge::Qa => reviewer(rules, task),
        Judge::Reviewer | Judge::Person => None,
    };
    let next = next.or(judge_of_hooks(&task.hooks_gone));
    let is_judged = judging.judge == Judge::Qa;
    let warnings = if is_judged { facts.told() } else { Vec::new() };
    let unchanged = if is_judged { facts.is_without_change() } else { task.is_unchanged };
    What::JudgePassed { task: task.id().clone(), warnings, unchanged, next }
}

fn landing_ended(state: &State, id: &TaskId, dispatch: Dispatch, seen: Dated<Landing>) -> Option<What> {
    let task = state.task(id).filter(|task| task.dispatch == dispatch)?;
    let rules = state.rules()?;
    let Status::Landing { attempt } = task.status else { return None };
    match seen.report {
        Landing::Done { touched, onto, commit } => {
            Some(What::Landed { task: id.clone(), touched, onto, commit })
        }
        Landing::Failed(red) => {
            let failure = claim_refuted(rules, task, (attempt, seen.at), red.into());
            Some(What::AttemptFailed { task: id.clone(), failure: Box::new(failure), touched: Vec::new() })
        }
        Landing::Blocked { reason } => Some(What::Ended(End::Unavailable { reason })),
    }
}

fn join_ended(
    state: &State,
    id: &TaskId,
    dispatch: Dispatch,
    (seen, tree): (Dated<ChecksReport>, Option<String>),
) -> Option<What> {
    let task = state.task(id).filter(|task| task.dispatch == dispatch)?;
    let rules = state.rules()?;
    let Status::Joining { attempt } = task.status else { return None };
    let Some(red) = seen.report.failure else {
        return Some(What::JoinPassed { task: id.clone(), warnings: seen.report.warnings, tree });
    };
    if did_its_job(state, id, &red.failing) {
        let warnings = seen.report.warnings.into_iter().chain([moved_on(state, id, &red.error)]).collect();
        // What is red is no fact that anybody could go by later.
        return Some(What::JoinPassed { task: id.clone(), warnings, tree: None });
    }
    let failure = claim_refuted(rules, task, (attempt, seen.at), red.into());
    Some(What::AttemptFailed { task: id.clone(), failure: Box::new(failure), touched: Vec::new() })
}

fn displaced(state: &State, id: TaskId, dispatch: Dispatch) -> Option<What> {
    let task = state.task(&id).filter(|task| task.dispatch == dispatch)?;
    matches!(task.status, Status::Joining { .. }).then_some(What::LandingStarted { task: id })
}

fn recorded(state: &State, id: &TaskId, seen: Dated<Record>) -> Option<What> {
    let task = state.task(id)?;
    let rules = state.rules()?;
    let Status::Recording { attempt } = &task.status else { return None };
    match (seen.report, attempt) {
        (Record::Kept { commit }, _) => Some(What::TaskDone { task: id.clone(), commit }),
        (Record::Refused(red), Some(attempt)) => {
            let failure = claim_refuted(rules, task, (*attempt, seen.at), red.into());
            Some(What::AttemptFailed { task: id.clone(), failure: Box::new(failure), touched: Vec::new() })
        }
        (Record::Refused(red), None) => Some(What::Ended(End::Unavailable { reason: red.error })),
        (Record::Moved, Some(_)) => Some(What::LandingStarted { task: id.clone() }),
        (Record::Moved, None) => None,
        (Record::InTheWay { files }, Some(_)) if task.is_isolated() => {
            Some(What::HeldUp { task: id.clone(), files })
        }
        // What was made in the project itself is not held up: nothing has to come in.
        (Record::InTheWay { files }, _) => {
            let reason = format!("uncommitted changes are in the way: {}", files.join(", "));
            Some(What::Ended(End::Unavailable { reason }))
        }
        (Record::Blocked { reason }, _) => Some(What::Ended(End::Unavailable { reason })),
    }
}

fn fix_inserted(state: &State, decl: Box<TaskDecl>) -> Option<What> {
    let task = state.task(&decl.id)?;
    (task.status == Status::Drafted).then_some(What::FixInserted { decl })
}

fn regression_ended(state: &State, report: ChecksReport) -> Option<What> {
    if !wants_regression(state) {
        return None;
    }
    Some(match report.failure {
        None => What::RegressionPassed,
        Some(red) => What::Ended(End::Stopped(StopReason::Regression { error: red.error })),
    })
}

/// The event that an answer to the open question about a task leads to; none where it answers nothing.
pub(crate) fn answer(state: &State, id: &TaskId, response: Response, at: Timestamp) -> Option<What> {
    answered(state, id, Dated { at, report: response })
}

fn answered(state: &State, id: &TaskId, seen: Dated<Response>) -> Option<What> {
    let task = state.task(id)?;
    let rules = state.rules()?;
    let Status::Asking(asked) = &task.status else { return None };
    match (seen.report, asked.question) {
        (Response::Skip, _) => Some(dependence::skipped(state, task, skip_reason(asked))),
        (Response::Abort, _) => Some(What::Ended(End::Aborted)),
        (response @ Response::Approve, Question::Judge | Question::HooksGone | Question::Mended)
        | (response @ (Response::Reply(_) | Response::Fix(_)), Question::Checkpoint)
        | (response @ (Response::Retry | Response::Fix(_)), Question::InTheWay) => {
            Some(What::Answered { task: id.clone(), response })
        }
        (Response::Reject(reason), Question::Judge | Question::HooksGone) => {
            let attempt = asked.attempt.unwrap_or_else(|| task.next_attempt());
            let red = Diagnosis::new(Cause::VerificationFail, reason.clone(), &reason);
            let failure = claim_refuted(rules, task, (attempt, seen.at), red);
            Some(What::AttemptFailed { task: id.clone(), failure: Box::new(failure), touched: Vec::new() })
        }
        // What does not answer the question leaves it open.
        (Response::Retry | Response::Fix(_) | Response::Reply(_), Question::Judge | Question::HooksGone)
        | (Response::Retry | Response::Approve | Response::Reject(_), Question::Checkpoint) => None,
        (response, question) => {
            let is_answer = matches!(response, Response::Retry | Response::Fix(_));
            (is_answer && question.follows_failure()).then(|| What::Answered { task: id.clone(), response })
        }
    }
}

fn nobody_answers(state: &State, task: TaskId) -> Option<What> {
    let is_asked = state.task(&task).is_some_and(|task| matches!(task.status, Status::Asking(_)));
    is_asked.then_some(What::Ended(End::Waiting { task }))
}

fn skip_reason(asked: &Asked) -> &'static str {
    match asked.question {
        Question::Exhausted => EXHAUSTED,
        Question::PermissionDenied => "User escalation - permission denied",
        Question::Judge => "User escalation - result not accepted",
        Question::HooksGone => "User escalation - git hooks are gone",
        Question::Mended => "User escalation - mended by hand, not taken in",
        Question::Checkpoint => "User escalation - checkpoint skipped",
        Question::HistoryRewritten => "User escalation - commits were lost",
        Question::Blocked => "User escalation - task is blocked",
        Question::Impossible => "User escalation - task may be impossible",
        Question::ConflictingRequirements => "User escalation - requirements conflict",
        Question::ServiceUnavailable => "User escalation - a service is unavailable",
        Question::VerifyCannotStart => "User escalation - the verify command cannot start",
        Question::RedBefore => "User escalation - red before the work",
        Question::NotProved => "User escalation - red in a clean checkout",
        Question::InTheWay => "User escalation - uncommitted changes are in the way",
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

//! Everything that can be seen of an action, as far as the engine tells it apart: one outcome for each way in which a
//! run can go on, and texts only where they decide something.

use std::time::Duration;

use engine::{
    Action, AgentEnd, AgentReport, Asked, Baseline, Cause, CheckFailure, ChecksReport, Claim, Dispatch,
    Facts, Failing, FailureClaim, FileState, Landing, Lasting, ProofVerdict, Question, Record, Response,
    Seen, Status, Stuck, StuckKind, Task, TaskDecl, TaskKind, Verification,
};
use plan::TaskId;

use super::node::Node;
use crate::people::{failing, proved, red_proof};

/// Something that can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// An agent says that it failed, and leaves something behind.
    Fails,
    /// An agent says nothing, and leaves nothing behind.
    Silent,
    /// An agent changes other tasks of the plan.
    Tampers,
    /// An agent may not do what it has to.
    Denied,
    /// An agent names another task that has to be done first.
    Blocked,
    /// An agent cannot be had.
    Away,
    /// An agent cannot be had, and asking again is of no use.
    OutOfReach,
    /// A work tree cannot be made.
    NoTree,
    /// A work tree turns out to be of no use when work is checked or comes together with the rest.
    BadTree,
    /// A verify command is red.
    Red,
    /// A check other than the verify command is red.
    OutOfScope,
    /// A judge says no.
    JudgeNo,
    /// A judge says neither yes nor no.
    JudgeSilent,
    /// Work does not fit to what came in before, or a hook refuses what came of it.
    Conflict,
    /// Something is in the way of what comes in.
    LandingBlocked,
    /// Work is red with what came in before.
    RedTogether,
    /// Work is taken out of the project while it is checked there.
    TakenOut,
    /// A hook refuses the commit.
    Refused,
    /// Somebody commits before the work is.
    Moved,
    /// A person has uncommitted changes in a file that the work changes.
    InTheWay,
    /// The disk is full.
    RecordBlocked,
    /// The regression command is red.
    RegressionRed,
    /// The command of a done task is red in a clean checkout.
    ProofRed,
    /// A person wants a task to be left out.
    Skips,
    /// A person wants nothing new to start, and goes on later.
    Pauses,
    /// A person interrupts the run and starts it again.
    Interrupted,
    /// The program is killed, and its work trees are gone when it is started again.
    TreesGone,
}

/// The error of whatever goes wrong first.
pub(crate) const ERROR: &str = "boom";
/// The error of a verify command that a fix task has brought further.
const OTHER_ERROR: &str = "bang";

/// Every way in which an action can end.
pub(crate) fn of_action(node: &Node, action: &Action) -> Vec<Seen> {
    match action {
        Action::Prepare { task } => {
            let baseline = Baseline { head: Some("4ead".to_owned()), tree: None, ..Baseline::default() };
            vec![Seen::Prepared { task: task.clone(), baseline }]
        }
        Action::Prove { task } => {
            let reports = checks(node, &[(Trouble::Red, Cause::VerifyRed)]);
            reports.flat_map(|report| proofs(node, task, &report)).collect()
        }
        Action::RunAgent { task, dispatch, .. } => of_agent(node, task, *dispatch),
        Action::Check { task, dispatch, .. } => of_check(node, task, *dispatch),
        Action::RunJudge { task, dispatch, .. } => of_judge(node, task, *dispatch),
        Action::Land { task, dispatch, .. } => of_landing(node, task, *dispatch),
        Action::Join { task, dispatch, .. } => of_join(node, task, *dispatch),
        Action::Record { task, attempt } => {
            let records = records(node, task, attempt.is_some()).into_iter();
            records.map(|record| Seen::Recorded { task: task.clone(), record }).collect()
        }
        Action::InsertFix { fix } => vec![Seen::FixInserted { decl: Box::new(inserted(node, fix)) }],
        Action::Ask { task } => {
            let answers = answers(node, task).into_iter();
            let nobody = Seen::NobodyAnswers { task: task.clone() };
            answers.map(|response| Seen::Answered { task: task.clone(), response }).chain([nobody]).collect()
        }
        Action::Regress => {
            let reports = checks(node, &[(Trouble::RegressionRed, Cause::VerifyRed)]);
            reports.map(|report| Seen::RegressionEnded { report }).collect()
        }
        Action::ProveAll => {
            let mut verdicts = vec![ProofVerdict::Green { exit_code: 0 }];
            verdicts.extend(node.may(Trouble::ProofRed).then(red_proof));
            let proof = |verdict: &ProofVerdict| Box::new(proved(&node.state, verdict));
            verdicts.iter().map(|verdict| Seen::ProofTaken { proof: proof(verdict) }).collect()
        }
        Action::Forge(forge) => panic!("no pull request is explored: {forge:?}"),
    }
}

fn of_agent(node: &Node, task: &TaskId, dispatch: Dispatch) -> Vec<Seen> {
    let left = || vec![FileState { path: format!("src/{task}.rs"), state: "created".to_owned() }];
    let mut reports = vec![AgentReport { touched: left(), ..said(Claim::Complete) }];
    // A fix task that is settled is past: nobody names it any more.
    let is_past = |other: &Task| other.status.is_settled() && node.state.fix_plan(other.id()).is_some();
    let others = node.state.tasks().iter().filter(|other| other.id() != task && !is_past(other));
    let others: Vec<&TaskId> = others.map(|other| other.id()).collect();
    if node.may(Trouble::Fails) {
        reports.push(AgentReport { touched: left(), ..said(failed()) });
    }
    if node.may(Trouble::Silent) {
        reports.push(said(Claim::Silent));
    }
    if let (true, Some(other)) = (node.may(Trouble::Tampers), others.first()) {
        let tampered = vec![(*other).clone()];
        reports.push(AgentReport { touched: left(), tampered, ..said(Claim::Complete) });
    }
    if node.may(Trouble::Denied) {
        reports.push(ended(AgentEnd::PermissionDenied { text: ERROR.to_owned() }));
    }
    if node.may(Trouble::Blocked) {
        let blocked = |by: &&TaskId| {
            let by = Some(by.name().to_owned());
            said(Claim::Stuck(Stuck { kind: StuckKind::Blocked, reason: ERROR.to_owned(), by }))
        };
        reports.extend(others.iter().map(blocked));
    }
    reports.extend(absences(node));
    let report = |report| Seen::AgentEnded { task: task.clone(), dispatch, report };
    let mut seen: Vec<Seen> = reports.into_iter().map(report).collect();
    seen.extend(without_tree(node, task, (dispatch, Trouble::NoTree)));
    seen
}

fn without_tree(node: &Node, task: &TaskId, (dispatch, trouble): (Dispatch, Trouble)) -> Option<Seen> {
    let failed = || Seen::TreeFailed { task: task.clone(), dispatch, reason: "disk full".to_owned() };
    (node.may(trouble) && node.task(task).is_isolated()).then(failed)
}

/// A command that was run without an agent. Where it is green for a task that had failed, somebody may have mended it and
/// not committed that.
fn proofs(node: &Node, task: &TaskId, report: &ChecksReport) -> Vec<Seen> {
    let by_hand = node.task(task).decl.kind == TaskKind::Work && report.failure.is_none();
    let by_hand = by_hand.then(|| vec!["by-hand.txt".to_owned()]);
    let uncommitted = [Vec::new()].into_iter().chain(by_hand);
    let ended = |uncommitted| Seen::ProofEnded { task: task.clone(), report: report.clone(), uncommitted };
    uncommitted.map(ended).collect()
}

fn of_check(node: &Node, task: &TaskId, dispatch: Dispatch) -> Vec<Seen> {
    let has_command = node.task(task).decl.verification == Verification::Command;
    let red: &[_] = if has_command {
        &[(Trouble::Red, Cause::VerifyRed), (Trouble::OutOfScope, Cause::OutOfScope)]
    } else {
        &[(Trouble::OutOfScope, Cause::OutOfScope)]
    };
    let mut reports: Vec<ChecksReport> = checks(node, red).collect();
    if has_command && node.may(Trouble::Red) && node.state.fix_plan(task).is_some() {
        reports.push(ChecksReport {
            failure: Some(red_with(Cause::VerifyRed, OTHER_ERROR)),
            ..ChecksReport::default()
        });
    }
    let ended = reports.into_iter().map(|report| Seen::ChecksEnded {
        task: task.clone(),
        dispatch,
        report,
        tree: None,
    });
    ended.chain(without_tree(node, task, (dispatch, Trouble::BadTree))).collect()
}

fn of_judge(node: &Node, task: &TaskId, dispatch: Dispatch) -> Vec<Seen> {
    let no = node.may(Trouble::JudgeNo).then(|| said(Claim::NotVerified));
    let silent = node.may(Trouble::JudgeSilent).then(|| said(Claim::Silent));
    let reports = [said(Claim::Complete)].into_iter().chain(no).chain(silent).chain(absences(node));
    let judged = |report| Seen::JudgeEnded { task: task.clone(), dispatch, report, facts: Facts::default() };
    reports.map(judged).collect()
}

fn of_landing(node: &Node, task: &TaskId, dispatch: Dispatch) -> Vec<Seen> {
    let mut landings = vec![Landing::Done { touched: vec![format!("{task}.txt")], onto: None, commit: None }];
    // Work that was made in the project itself is there already.
    let is_apart = node.task(task).is_isolated();
    if is_apart && node.may(Trouble::Conflict) {
        landings.push(Landing::Failed(red_with(Cause::Conflict, ERROR)));
    }
    if node.may(Trouble::LandingBlocked) {
        landings.push(Landing::Blocked { reason: "notes.txt is in the way".to_owned() });
    }
    let ended =
        landings.into_iter().map(|landing| Seen::LandingEnded { task: task.clone(), dispatch, landing });
    ended.chain(without_tree(node, task, (dispatch, Trouble::BadTree))).collect()
}

fn of_join(node: &Node, task: &TaskId, dispatch: Dispatch) -> Vec<Seen> {
    let reports = checks(node, &[(Trouble::RedTogether, Cause::RedTogether)]);
    let joined = reports.map(|report| Seen::JoinEnded { task: task.clone(), dispatch, report, tree: None });
    let taken_out = node.may(Trouble::TakenOut).then(|| Seen::Displaced { task: task.clone(), dispatch });
    joined.chain(taken_out).chain(without_tree(node, task, (dispatch, Trouble::BadTree))).collect()
}

fn records(node: &Node, task: &TaskId, by_agent: bool) -> Vec<Record> {
    let mut records = vec![Record::Kept { commit: Some("c0ffee".to_owned()) }];
    // What is committed already is found.
    if node.is_committed(task) {
        return records;
    }
    if node.may(Trouble::Refused) {
        records.push(Record::Refused(red_with(Cause::CommitRefused, ERROR)));
    }
    if by_agent && node.may(Trouble::Moved) {
        records.push(Record::Moved);
    }
    if by_agent && node.task(task).is_isolated() && node.may(Trouble::InTheWay) {
        records.push(Record::InTheWay { files: vec!["notes.txt".to_owned()] });
    }
    if node.may(Trouble::RecordBlocked) {
        records.push(Record::Blocked { reason: "the disk is full".to_owned() });
    }
    records
}

/// Everything that a person can say to the question that is open. Whatever asks for more work is said only so often.
pub(crate) fn answers(node: &Node, task: &TaskId) -> Vec<Response> {
    let Status::Asking(Asked { question, .. }) = &node.task(task).status else { return Vec::new() };
    let mut answers = vec![Response::Skip, Response::Abort];
    let text = || "so".to_owned();
    match question {
        Question::Judge | Question::HooksGone => {
            answers.extend([Response::Approve, Response::Reject(ERROR.to_owned())])
        }
        Question::Mended => answers.push(Response::Approve),
        Question::Checkpoint => answers.push(Response::Reply(text())),
        Question::Exhausted
        | Question::PermissionDenied
        | Question::HistoryRewritten
        | Question::Blocked
        | Question::Impossible
        | Question::ConflictingRequirements
        | Question::ServiceUnavailable
        | Question::RedBefore
        | Question::VerifyCannotStart
        | Question::NotProved
        | Question::InTheWay => {}
    }
    if node.interventions > 0 && !matches!(question, Question::Judge | Question::HooksGone) {
        answers.push(Response::Fix(text()));
    }
    if node.interventions > 0 && (question.follows_failure() || *question == Question::InTheWay) {
        answers.push(Response::Retry);
    }
    answers
}

/// A fix task as it stands in the plan.
pub(crate) fn inserted(node: &Node, fix: &TaskId) -> TaskDecl {
    let known: &Task = node.task(fix);
    TaskDecl { kind: TaskKind::Work, digest: 2, ..known.decl.clone() }
}

fn checks(node: &Node, red: &[(Trouble, Cause)]) -> impl Iterator<Item = ChecksReport> {
    let red = red.iter().filter(|(trouble, _)| node.may(*trouble));
    let red = red.map(|(_, cause)| Some(red_with(*cause, ERROR)));
    let failures: Vec<Option<CheckFailure>> = [None].into_iter().chain(red).collect();
    failures.into_iter().map(|failure| ChecksReport { failure, ..ChecksReport::default() })
}

fn red_with(cause: Cause, error: &str) -> CheckFailure {
    let is_command = matches!(cause, Cause::VerifyRed | Cause::RedTogether);
    CheckFailure {
        cause,
        error: error.to_owned(),
        details: error.to_owned(),
        command: is_command.then(|| "cargo test".to_owned()),
        exit_code: is_command.then_some(1),
        failing: if is_command { failing(error) } else { Failing::default() },
    }
}

fn absences(node: &Node) -> impl Iterator<Item = AgentReport> {
    let reason = || "overloaded".to_owned();
    let away =
        node.may(Trouble::Away).then(|| ended(AgentEnd::Unavailable { reason: reason(), retry_after: None }));
    let lasting = Lasting::Quota;
    let out = node
        .may(Trouble::OutOfReach)
        .then(|| ended(AgentEnd::OutOfReach { lasting, reason: reason(), retry_after: None }));
    away.into_iter().chain(out)
}

fn failed() -> Claim {
    Claim::Failed(FailureClaim {
        error: ERROR.to_owned(),
        attempted_fix: "looked twice".to_owned(),
        status: "Blocked".to_owned(),
        suggested_fix: None,
        root_cause: None,
    })
}

fn said(claim: Claim) -> AgentReport {
    ended(AgentEnd::Answered { claim, contradiction: None, tail: ERROR.to_owned() })
}

fn ended(end: AgentEnd) -> AgentReport {
    AgentReport {
        end,
        tampered: Vec::new(),
        lost_commit: None,
        touched: Vec::new(),
        learnings: Vec::new(),
        elapsed: Duration::ZERO,
        unfit: None,
    }
}

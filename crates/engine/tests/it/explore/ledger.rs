//! A ledger of all that was seen of each task, kept beside the engine: proofs, budgets used, and what is on the disk. Laws are
//! held against this, not against what the engine says of itself.

use std::collections::BTreeMap;

use engine::{
    AgentEnd, Cause, ChecksReport, Claim, End, Event, Failure, Judge, Opened, Question, Response, Rung, Seen,
    State, Status, TaskKind, Verification, What,
};
use plan::TaskId;

/// Everything that was seen of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pages: BTreeMap<TaskId, Page>,
    /// How often in a row agents were away.
    pub(crate) absences: u32,
    /// True if a work tree could not be made since the run was started.
    pub(crate) is_without_trees: bool,
    /// True if an agent is not asked any more since the program was started.
    pub(crate) is_agent_out: bool,
    /// True if the regression command was green since a task was last done.
    pub(crate) is_regression_green: bool,
}

/// Everything that was seen of a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Page {
    pub(crate) proof: Proof,
    /// Failures of this round that led, or would lead, to a plain retry.
    pub(crate) retries: u32,
    /// Fix tasks of this round.
    pub(crate) fixes: u32,
    /// How often its work came in once more.
    pub(crate) returns: u32,
    /// True if an attempt at it has begun and not ended.
    pub(crate) is_unfinished: bool,
    /// True if its work is committed and its box ticked, and no event tells of it yet.
    pub(crate) is_committed: bool,
    /// True if it is a fix task that stands in the plan, and no event tells of it yet.
    pub(crate) is_inserted: bool,
}

/// All that speaks for the latest attempt at a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Proof {
    /// Its command was green, with an agent or without one.
    pub(crate) green: bool,
    /// A judging agent said yes.
    pub(crate) judged: bool,
    /// The reviewer said yes.
    pub(crate) reviewed: bool,
    /// A person said that it is right.
    pub(crate) approved: bool,
    /// It has to be verified in the project, beside all that came in before.
    pub(crate) must_join: bool,
    /// It was green there.
    pub(crate) joined: bool,
}

impl Ledger {
    pub(crate) fn page(&self, task: &TaskId) -> Page {
        self.pages.get(task).copied().unwrap_or_default()
    }

    fn write(&mut self, task: &TaskId) -> &mut Page {
        self.pages.entry(task.clone()).or_default()
    }

    /// Notes what is on the disk before the engine has heard of it.
    pub(crate) fn note_done(&mut self, seen: &Seen) {
        if let Seen::Recorded { task, .. } = seen {
            self.write(task).is_committed = true;
        }
        if let Seen::FixInserted { decl } = seen {
            self.write(&decl.id).is_inserted = true;
        }
    }

    /// Notes what speaks for a task.
    pub(crate) fn note_seen(&mut self, state: &State, seen: &Seen) {
        match seen {
            Seen::ProofEnded { task, report, uncommitted: _ } => {
                self.write(task).proof.green = report.failure.is_none()
            }
            Seen::ChecksEnded { task, report, .. } => {
                self.write(task).proof.green = report.failure.is_none() || is_further(state, task, report);
            }
            Seen::JoinEnded { task, report, .. } => self.write(task).proof.joined = report.failure.is_none(),
            Seen::JudgeEnded { task, report, .. } => {
                let says_yes = matches!(report.end, AgentEnd::Answered { claim: Claim::Complete, .. });
                let is_reviewer = state.task(task).is_some_and(
                    |task| matches!(&task.status, Status::Judging(judging) if judging.judge == Judge::Reviewer),
                );
                let proof = &mut self.write(task).proof;
                if is_reviewer { proof.reviewed = says_yes } else { proof.judged = says_yes }
            }
            Seen::Answered { task, response } => {
                self.write(task).proof.approved = matches!(response, Response::Approve | Response::Reply(_));
            }
            Seen::Started(_)
            | Seen::Noted { .. }
            | Seen::PlanRead(_)
            | Seen::Prepared { .. }
            | Seen::AgentEnded { .. }
            | Seen::Spending { .. }
            | Seen::Packed { .. }
            | Seen::TreeFailed { .. }
            | Seen::Spent { .. }
            | Seen::LandingEnded { .. }
            | Seen::Displaced { .. }
            | Seen::Obstructed { .. }
            | Seen::Recorded { .. }
            | Seen::FixInserted { .. }
            | Seen::RegressionEnded { .. }
            | Seen::Found { .. }
            | Seen::ProofTaken { .. }
            | Seen::Forge { .. }
            | Seen::Directed(_)
            | Seen::LimitsRead(_)
            | Seen::NobodyAnswers { .. }
            | Seen::Interrupted
            | Seen::ClockMoved(_)
            | Seen::TimePassed => {}
        }
    }

    /// Notes what happened, given how things stood before.
    #[expect(clippy::too_many_lines, reason = "a line for each kind of event")]
    pub(crate) fn note_event(&mut self, before: &State, event: &Event) {
        match &event.what {
            What::Opened(opened) => self.open(is_new_round(before, opened), before.end()),
            What::ProofStarted { task, .. } => self.write(task).proof = Proof::default(),
            What::AttemptStarted(started) => {
                let page = self.write(&started.task);
                page.proof = Proof { must_join: started.slot.is_some(), ..Proof::default() };
                (page.is_unfinished, page.returns) = (true, 0);
            }
            What::AttemptClaimed { task, .. } => {
                self.write(task).is_unfinished = false;
                self.absences = 0;
            }
            What::AttemptFailed { task, failure, .. } => {
                let page = self.write(task);
                page.is_unfinished = false;
                page.retries += u32::from(failure.rung == Rung::Retry);
                self.absences = 0;
            }
            What::AgentUnavailable { .. } => self.absences += 1,
            What::AgentDropped { .. } => (self.absences, self.is_agent_out) = (0, true),
            What::TreeUnavailable { task, .. } => {
                self.write(task).is_unfinished = false;
                self.is_without_trees = true;
            }
            What::JudgePassed { .. } | What::NoVerdict { .. } => self.absences = 0,
            What::LandingStarted { task } => {
                let is_return = before.task(task).is_some_and(|task| {
                    matches!(task.status, Status::Joining { .. } | Status::Recording { .. })
                });
                let page = self.write(task);
                page.returns += u32::from(is_return);
                (page.proof.must_join, page.proof.joined) = (true, false);
            }
            What::TaskDone { task, .. } => {
                self.write(task).is_committed = false;
                self.is_regression_green = false;
            }
            What::Reopened { task, failure } => self.write(task).reopen(failure),
            What::FixPlanned(fix) => self.write(&fix.failing).fixes += 1,
            What::FixInserted { decl } => self.write(&decl.id).is_inserted = false,
            What::Answered { task, response: Response::Retry } if !is_held_up(before, task) => {
                self.write(task).renew();
            }
            What::RegressionPassed => self.is_regression_green = true,
            What::PlanChanged(_)
            | What::Noted { .. }
            | What::Mended { .. }
            | What::Found { .. }
            | What::Proved(_)
            | What::ProofPassed { .. }
            | What::ProofFailed { .. }
            | What::Spent(_)
            | What::ChecksPassed { .. }
            | What::JudgeStarted { .. }
            | What::Landed { .. }
            | What::JoinPassed { .. }
            | What::HeldUp { .. }
            | What::Packed { .. }
            | What::RetryPlanned { .. }
            | What::Deferred { .. }
            | What::Escalated { .. }
            | What::Answered { .. }
            | What::TaskSkipped { .. }
            | What::Told { .. }
            | What::PauseRequested
            | What::SkipRequested { .. }
            | What::LimitsChanged(_)
            | What::ClockMoved(_)
            | What::PullRequest(_)
            | What::Ended(_) => {}
        }
    }

    fn open(&mut self, is_new_round: bool, end: Option<&End>) {
        self.is_agent_out = false;
        if is_new_round {
            self.pages.values_mut().for_each(Page::renew);
        }
        if end.is_some() {
            (self.absences, self.is_without_trees) = (0, false);
            self.pages.values_mut().for_each(|page| page.returns = 0);
        }
    }

    /// True if what was seen is enough for the task to be done.
    pub(crate) fn is_proved(&self, state: &State, id: &TaskId) -> bool {
        let Some((task, rules)) = state.task(id).zip(state.rules()) else { return false };
        let proof = self.page(id).proof;
        let has_command = task.decl.verification == Verification::Command;
        let needs_review = rules.review.is_on() && task.decl.kind == TaskKind::Work;
        let is_accepted = match task.decl.kind {
            TaskKind::Checkpoint => proof.approved,
            TaskKind::Verify => proof.approved || proof.green,
            TaskKind::Work => {
                let is_right = proof.green && (has_command || proof.judged);
                proof.approved || is_right && (!needs_review || proof.reviewed)
            }
        };
        is_accepted && (!proof.must_join || proof.joined)
    }
}

impl Page {
    fn reopen(&mut self, failure: &Failure) {
        let retries = u32::from(failure.rung == Rung::Retry);
        (self.retries, self.fixes, self.proof) = (retries, 0, Proof::default());
    }

    fn renew(&mut self) {
        (self.retries, self.fixes) = (0, 0);
    }
}

/// True if a person is asked about files that are in the way of finished work.
fn is_held_up(state: &State, task: &TaskId) -> bool {
    state.task(task).is_some_and(
        |task| matches!(&task.status, Status::Asking(asked) if asked.question == Question::InTheWay),
    )
}

/// True if a fix task did its job: the command is red with another error than the one that it was written for.
fn is_further(state: &State, task: &TaskId, report: &ChecksReport) -> bool {
    let is_other = |error: &str| state.fix_plan(task).is_some_and(|fix| fix.error != error);
    report.failure.as_ref().is_some_and(|red| red.cause == Cause::VerifyRed && is_other(&red.error))
}

fn is_new_round(before: &State, opened: &Opened) -> bool {
    before.opened().is_none_or(|known| known.round != opened.round)
}

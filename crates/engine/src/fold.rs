//! `State::apply`: the fold. It may not change its mind about events of old journals; new behaviour belongs
//! into `decide` and `due`.

mod directed;
mod landing;

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use plan::TaskId;

use crate::event::{ClockMoved, End, Event, FixPlan, Opened, Started, What};
use crate::failure::Failure;
use crate::observation::{Baseline, Response};
use crate::plan_changes::PlanChanges;
use crate::proof::Proving;
use crate::pull_request::{PullRequestEventKind, StageKind};
use crate::rules::Rules;
use crate::skip::Skip;
use crate::spending::Spent;
use crate::state::{Backoff, Regression, State};
use crate::status::{Asked, Checking, Judge, JudgeState, Judging, Question, Role, Running, Status};
use crate::task::{Attempt, Claimed, Dispatch, Landed, Task, TaskDecl, TaskKind, Verification, Work};
use crate::transition::{EventKind, StatusKind, is_legal};

/// An event that cannot follow from the state it was applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Impossible {
    /// It names a task that does not exist.
    UnknownTask(TaskId),
    /// The table has no such move.
    Move {
        /// The task.
        task: TaskId,
        /// Where it stood.
        from: StatusKind,
        /// The event.
        event: EventKind,
    },
    /// The table of the pull request has no such move.
    PullRequest {
        /// Where it stood.
        from: StageKind,
        /// The event.
        event: PullRequestEventKind,
    },
    /// A task was to be created that exists already.
    TaskExists(TaskId),
    /// A task was to wait for one that waits for it.
    Circle {
        /// The task.
        task: TaskId,
        /// The task that it was to wait for.
        by: TaskId,
    },
}

impl fmt::Display for Impossible {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTask(task) => write!(formatter, "task {task} is not known"),
            Self::Move { task, from, event } => {
                write!(formatter, "task {task} is {from:?}, which {event:?} cannot follow")
            }
            Self::PullRequest { from, event } => {
                write!(formatter, "the pull request is {from:?}, which {event:?} cannot follow")
            }
            Self::TaskExists(task) => write!(formatter, "task {task} exists already"),
            Self::Circle { task, by } => {
                write!(formatter, "task {task} cannot wait for {by}, which waits for it")
            }
        }
    }
}

impl std::error::Error for Impossible {}

/// The result of applying an event.
pub(crate) type Applied = Result<(), Impossible>;

impl State {
    /// Takes an event into the state.
    pub fn apply(&mut self, event: &Event) -> Applied {
        let at = event.at;
        if self.end.is_some() && !matches!(event.what, What::Opened(_)) {
            self.leave_out_pause(at);
        }
        let answered = self.answers_in(event);
        let applied = self.apply_what(event, at);
        if applied.is_ok() {
            self.note_directive(event, answered);
        }
        self.latest_at = Some(at);
        self.refresh_index();
        applied
    }

    fn apply_what(&mut self, event: &Event, at: Timestamp) -> Applied {
        match &event.what {
            What::Opened(opened) => self.apply_opened(event, opened),
            What::PlanChanged(changes) => self.apply_changes(changes, at),
            What::ProofStarted { task, .. } => self.apply_proof_started(task, at),
            What::ProofPassed { task, warnings } => self.apply_proof_passed(task, warnings),
            What::ProofFailed { task, failure } => self.apply_proof_failed(task, failure),
            What::Mended { task, files } => self.apply_mended(task, files, event.at),
            What::AttemptStarted(started) => self.apply_started(started, at),
            What::AttemptClaimed { task, touched, learnings, elapsed_ms, .. } => {
                let (files, learnings) = (touched.clone(), learnings.clone());
                self.apply_claimed(task, Claimed { files, learnings, elapsed_ms: *elapsed_ms })
            }
            What::AttemptFailed { task, failure, touched } => self.apply_failed(task, failure, touched),
            What::AgentUnavailable { task, reason, nth, until, .. } => {
                self.apply_unavailable(task, *nth, Backoff { until: *until, reason: reason.clone() })
            }
            What::AgentDropped { task, agent, reason, .. } => self.apply_dropped(task, agent, reason),
            What::Packed { task, base, commit, .. } => {
                self.apply_packed(task, Work { base: base.clone(), commit: commit.clone() })
            }
            What::TreeUnavailable { task, .. } => self.apply_tree_unavailable(task),
            What::Spent(spent) => self.apply_spent(spent, at),
            What::ChecksPassed { task, warnings, judge, tree, hooks_gone } => {
                self.known(task)?.hooks_gone = hooks_gone.clone();
                self.apply_checks_passed(task, warnings, (*judge, tree.as_deref()))
            }
            What::Found { task, evidence } => self.apply_evidence(task, evidence),
            What::JudgeStarted { task, dispatch } => self.apply_judge_started(task, *dispatch),
            What::NoVerdict { task, .. } => self.apply_no_verdict(task),
            What::JudgePassed { task, next, warnings, unchanged } => {
                self.known(task)?.is_unchanged = *unchanged;
                self.apply_judge_passed(task, *next, warnings)
            }
            What::LandingStarted { task } => self.apply_landing_started(task),
            What::Landed { task, touched, onto, commit } => {
                self.apply_landed(task, touched, Landed { onto: onto.clone(), commit: commit.clone() })
            }
            What::JoinPassed { task, warnings, tree } => {
                self.apply_join_passed(task, warnings, tree.as_deref())
            }
            What::HeldUp { task, files } => self.apply_held_up(task, files),
            What::TaskDone { task, commit } => self.apply_done(task, commit.as_deref(), at),
            What::RetryPlanned { task, .. } => self.apply_retry(task),
            What::FixPlanned(fix) => self.apply_fix_planned(fix),
            What::FixInserted { decl } => self.apply_fix_inserted(decl),
            What::Deferred { task, by } => self.apply_deferred(task, by),
            What::Escalated { task, question } => self.apply_escalated(task, *question, at),
            What::Answered { task, response } => self.apply_answered(task, response),
            What::TaskSkipped { task, reason, dependents } => {
                let skip = Skip { reason: reason.clone(), dependents: dependents.clone() };
                self.apply_skipped(task, skip, event)
            }
            What::Noted { text, passing, .. } => {
                self.warnings.add_noted(text, *passing);
                Ok(())
            }
            What::Told { task, text } => self.apply_told(task.as_ref(), text, event.from()),
            What::PauseRequested => self.apply_pause_requested(event.from()),
            What::SkipRequested { task } => self.apply_skip_requested(task, event.from()),
            What::LimitsChanged(new) => self.apply_limits(new),
            What::ClockMoved(moved) => self.apply_clock_moved(*moved),
            What::RegressionPassed => {
                self.regression = Regression::Green;
                Ok(())
            }
            What::Proved(proof) => self.apply_proved(proof),
            What::Reopened { task, failure } => self.apply_reopened(task, failure),
            What::PullRequest(event) => self.apply_pull_request(event, at),
            What::Ended(end) => self.apply_ended(end),
        }
    }

    fn apply_packed(&mut self, id: &TaskId, work: Work) -> Applied {
        self.known(id)?.work = Some(work);
        Ok(())
    }

    pub(crate) fn place(&self, id: &TaskId) -> Result<usize, Impossible> {
        self.position(id).ok_or_else(|| Impossible::UnknownTask(id.clone()))
    }

    pub(crate) fn known(&mut self, id: &TaskId) -> Result<&mut Task, Impossible> {
        let place = self.place(id)?;
        Ok(&mut self.tasks[place])
    }

    /// Moves a task along the table.
    pub(crate) fn go(&mut self, id: &TaskId, event: EventKind, to: Status) -> Result<&mut Task, Impossible> {
        self.go_on(id, event, |_| to)
    }

    /// Moves a task along the table to where its present status leads.
    pub(crate) fn go_on(
        &mut self,
        id: &TaskId,
        event: EventKind,
        to: impl FnOnce(&Task) -> Status,
    ) -> Result<&mut Task, Impossible> {
        let place = self.place(id)?;
        let task = &self.tasks[place];
        let (from, to) = (task.status.kind(), to(task));
        if !is_legal(from, event, to.kind()) {
            return Err(Impossible::Move { task: id.clone(), from, event });
        }
        self.set_status(place, to);
        Ok(&mut self.tasks[place])
    }

    fn apply_opened(&mut self, event: &Event, opened: &Opened) -> Applied {
        self.lose_what_runs();
        opened.gone.iter().try_for_each(|id| self.lose_work(id))?;
        opened.outdated.iter().try_for_each(|id| self.outdate_work(id))?;
        self.try_held_up_again();
        let renews = self.opened.as_ref().is_none_or(|before| before.round != opened.round);
        self.leave_out_pause(event.at);
        if renews {
            self.renew(&opened.rules);
            self.round_since = Some(event.at);
            self.round_dispatches = 0;
            self.spending.renew();
        }
        // After a crash a wait for an absent agent goes on; a person who starts the program again ends it.
        if let Some(end) = self.end.take() {
            self.backoff = None;
            self.unavailable_in_row = 0;
            self.is_without_trees = false;
            let places: Vec<usize> = self.index.attention.iter().collect();
            places.into_iter().for_each(|place| self.tasks[place].returns = 0);
            // Hooks that a person took away meanwhile are not missed; those that were asked about are, until they may be gone.
            let not_asked = self.tasks.iter_mut().filter(|task| task.hooks_gone.is_empty());
            not_asked.for_each(|task| task.hooks = None);
            self.pull_request.resume(renews);
            self.pull_request.heed(&end);
        }
        self.first_opened_at = self.first_opened_at.or(Some(event.at));
        self.directives.open();
        self.warnings.open();
        self.roster.open(&opened.rules.agents);
        self.out_of_agents = None;
        self.opened = Some(Opened {
            round: opened.round,
            rules: opened.rules.clone(),
            launch: opened.launch.clone(),
            changes: PlanChanges::default(),
            dirty: opened.dirty.clone(),
            lost: opened.lost.clone(),
            gone: opened.gone.clone(),
            outdated: opened.outdated.clone(),
            head: opened.head.clone(),
            surroundings: None,
        });
        self.surroundings = opened.surroundings.clone().or(self.surroundings.take());
        self.renew_proof(opened.head.as_deref());
        self.first_head = self.first_head.take().or_else(|| opened.head.clone());
        // The rules decide what waits for what.
        self.index.is_stale = true;
        self.apply_changes(&opened.changes, event.at)
    }

    /// The time in which no program was there is nobody's, and does not count against the round's time.
    fn leave_out_pause(&mut self, now: Timestamp) {
        let Some((since, latest)) = self.round_since.zip(self.latest_at) else { return };
        let pause = now.duration_since(latest);
        if pause.is_negative() {
            return self.set_clock(pause);
        }
        self.idle = self.idle.saturating_add(pause);
        self.round_since = Some(since.checked_add(pause).unwrap_or(now));
        self.pull_request.leave_out(pause);
    }

    /// Time in which the program stood still counts against no limit, but agents may be there again after it. What is waited
    /// for on a clock that was set is as far away as it was.
    fn apply_clock_moved(&mut self, moved: ClockMoved) -> Applied {
        let still = SignedDuration::from_millis(i64::try_from(moved.still_ms).unwrap_or(i64::MAX));
        self.idle = self.idle.saturating_add(still);
        self.round_since = self.round_since.map(|since| since.checked_add(still).unwrap_or(since));
        self.pull_request.leave_out(still);
        self.set_clock(SignedDuration::from_millis(moved.set_ms));
        Ok(())
    }

    fn set_clock(&mut self, by: SignedDuration) {
        let move_by = |time: Timestamp| time.checked_add(by).unwrap_or(time);
        self.idle = self.idle.saturating_add(by);
        self.round_since = self.round_since.map(move_by);
        if let Some(backoff) = &mut self.backoff {
            backoff.until = move_by(backoff.until);
        }
        self.pull_request.set_clock(move_by);
    }

    /// Attempts that were running are lost: they count against no limit and their numbers are free again.
    fn lose_what_runs(&mut self) {
        let places: Vec<usize> = self.index.attention.iter().collect();
        for place in places {
            let task = &self.tasks[place];
            let lost = match &task.status {
                Status::Running(_) => Status::Ready { proves: false },
                Status::Proving => Status::Ready { proves: true },
                Status::Judging(judging) => {
                    Status::Judging(Judging { state: JudgeState::Wanted, ..judging.clone() })
                }
                // It comes together anew: what the attempt left is packed.
                Status::Landing { attempt } | Status::Joining { attempt } => {
                    Status::Finished { attempt: *attempt }
                }
                Status::Drafted
                | Status::Ready { .. }
                | Status::Checking(_)
                | Status::Finished { .. }
                | Status::Recording { .. }
                | Status::Failed
                | Status::WaitingFor(_)
                | Status::Asking(_)
                | Status::Done
                | Status::Skipped => continue,
            };
            self.uncount_dispatch(place);
            self.set_status(place, lost);
        }
    }

    /// Work that is gone is done again, as if the attempt had been lost while it ran.
    fn lose_work(&mut self, id: &TaskId) -> Applied {
        let task = self.go(id, EventKind::Lost, Status::Ready { proves: false })?;
        task.claimed = None;
        task.work = None;
        task.forget_landing();
        Ok(())
    }

    /// The agent that is at work on a task, if one is, was never started as far as budgets and figures go.
    fn uncount_dispatch(&mut self, place: usize) {
        let (starts, retries) = match &self.tasks[place].status {
            Status::Running(running) => (1, u32::from(running.is_retry())),
            Status::Judging(Judging { state: JudgeState::AtWork(_), .. }) => (1, 0),
            Status::Judging(Judging { state: JudgeState::Wanted, .. })
            | Status::Drafted
            | Status::Ready { .. }
            | Status::Proving
            | Status::Checking(_)
            | Status::Finished { .. }
            | Status::Landing { .. }
            | Status::Joining { .. }
            | Status::Recording { .. }
            | Status::Failed
            | Status::WaitingFor(_)
            | Status::Asking(_)
            | Status::Done
            | Status::Skipped => (0, 0),
        };
        self.round_dispatches = self.round_dispatches.saturating_sub(starts);
        self.retries = self.retries.saturating_sub(retries);
    }

    /// A new round: full budgets, and what had failed for good is tried again.
    fn renew(&mut self, rules: &Rules) {
        for place in 0..self.tasks.len() {
            self.tasks[place].renew_budget();
            let stuck = matches!(self.tasks[place].status, Status::Failed | Status::Asking(_));
            if stuck {
                let status = Self::renewed(&self.tasks[place], rules);
                // What a person told an attempt to do was for that attempt, and it is over.
                self.tasks[place].instruction = None;
                self.tasks[place].held_up.clear();
                self.set_status(place, status);
            }
        }
    }

    /// Where a task goes on that had failed for good, or that a person was asked about.
    fn renewed(task: &Task, rules: &Rules) -> Status {
        match held_up_attempt(task) {
            Some(attempt) => Status::Finished { attempt },
            None => Status::Ready { proves: Self::proves_again(task, rules) },
        }
    }

    fn apply_proof_started(&mut self, id: &TaskId, at: Timestamp) -> Applied {
        let idle = self.idle;
        let task = self.go(id, EventKind::ProofStarted, Status::Proving)?;
        task.begin(at, idle);
        Ok(())
    }

    fn apply_proof_passed(&mut self, id: &TaskId, warnings: &[String]) -> Applied {
        self.warnings.add_of(id, warnings);
        // Nothing that an attempt left has to come in.
        self.go(id, EventKind::ProofPassed, Status::Recording { attempt: None })?.slot = None;
        Ok(())
    }

    fn apply_proof_failed(&mut self, id: &TaskId, failure: &Failure) -> Applied {
        let task = self.go(id, EventKind::ProofFailed, Status::Ready { proves: false })?;
        // What had failed before has the record of that.
        if task.decl.kind == TaskKind::Verify {
            task.proof_failure = Some(Box::new(failure.clone()));
        }
        Ok(())
    }

    fn apply_mended(&mut self, id: &TaskId, files: &[String], at: Timestamp) -> Applied {
        let asked = Asked { question: Question::Mended, attempt: None, since: at };
        let task = self.go(id, EventKind::Mended, Status::Asking(asked))?;
        task.touched.extend(files.iter().cloned());
        task.slot = None;
        self.escalations = self.escalations.saturating_add(1);
        Ok(())
    }

    fn apply_started(&mut self, started: &Started, at: Timestamp) -> Applied {
        let running = Running {
            attempt: started.attempt,
            dispatch: started.dispatch,
            role: started.role,
            since: at,
            head: started.head.clone(),
            tree: started.tree.clone(),
        };
        let retries = u32::from(running.is_retry());
        let (comes_over, idle) = (self.is_without_trees && started.slot.is_none(), self.idle);
        let task = self.go(&started.task, EventKind::AttemptStarted, Status::Running(running))?;
        if comes_over && task.is_isolated() {
            task.leave_tree();
        }
        task.begin(at, idle);
        task.claimed = None;
        task.doubts.clear();
        task.grounds.findings.clear();
        task.is_unchanged = false;
        task.dispatch = started.dispatch;
        task.slot = started.slot;
        task.forget_landing();
        task.returns = 0;
        task.base = task.base.take().or_else(|| started.head.clone());
        task.hooks = task.hooks.take().or_else(|| Some(started.hooks.clone()));
        task.hooks_gone.clear();
        let baseline =
            Baseline { head: started.head.clone(), tree: started.tree.clone(), hooks: started.hooks.clone() };
        if started.slot.is_none() && task.found.is_none() {
            task.found = Some(baseline.clone());
        }
        task.unfinished = Some(baseline);
        self.has_used_slots |= started.slot.is_some();
        self.retries = self.retries.saturating_add(retries);
        self.directives.give_words(&started.task);
        self.count_dispatch(started.dispatch, started.role);
        Ok(())
    }

    fn count_dispatch(&mut self, dispatch: Dispatch, role: Role) {
        self.dispatched = self.dispatched.max(dispatch);
        self.roster.start(dispatch, role);
        self.round_dispatches = self.round_dispatches.saturating_add(1);
        self.backoff = None;
    }

    fn apply_claimed(&mut self, id: &TaskId, claimed: Claimed) -> Applied {
        let task = self.go_on(id, EventKind::AttemptClaimed, |task| {
            let Status::Running(running) = &task.status else { return Status::Failed };
            Status::Checking(Checking {
                attempt: running.attempt,
                dispatch: running.dispatch,
                head: running.head.clone(),
            })
        })?;
        if let Status::Checking(checking) = &task.status {
            task.attempted = checking.attempt.0;
        }
        if task.is_isolated() {
            // A slot shows all that is left of earlier attempts; what a later one took back is not.
            task.touched.clear();
        }
        task.touched.extend(claimed.files.iter().map(|file| file.path.clone()));
        task.claimed_after_ms = claimed.elapsed_ms;
        task.claimed = Some(claimed);
        task.unfinished = None;
        self.directives.use_words_up(id);
        self.unavailable_in_row = 0;
        Ok(())
    }

    fn apply_failed(&mut self, id: &TaskId, failure: &Failure, touched: &[String]) -> Applied {
        let task = self.go(id, EventKind::AttemptFailed, Status::Failed)?;
        task.attempted = task.attempted.max(failure.attempt.0);
        task.failures.push(failure.clone());
        task.touched.extend(touched.iter().cloned());
        task.claimed = None;
        task.unfinished = None;
        task.instruction = None;
        task.proof_failure = None;
        task.forget_landing();
        self.directives.use_words_up(id);
        self.unavailable_in_row = 0;
        Ok(())
    }

    fn apply_unavailable(&mut self, id: &TaskId, nth: u32, backoff: Backoff) -> Applied {
        self.uncount_dispatch(self.place(id)?);
        self.go_on(id, EventKind::AgentUnavailable, |task| {
            let Status::Judging(judging) = &task.status else { return Status::Ready { proves: false } };
            Status::Judging(Judging { state: JudgeState::Wanted, ..judging.clone() })
        })?;
        self.unavailable_in_row = nth;
        self.backoff = Some(backoff);
        Ok(())
    }

    /// As if the agent had been unavailable, but nobody waits for it.
    fn apply_dropped(&mut self, id: &TaskId, agent: &str, reason: &str) -> Applied {
        self.uncount_dispatch(self.place(id)?);
        self.go_on(id, EventKind::AgentUnavailable, |task| {
            let Status::Judging(judging) = &task.status else { return Status::Ready { proves: false } };
            Status::Judging(Judging { state: JudgeState::Wanted, ..judging.clone() })
        })?;
        self.roster.drop(agent);
        self.unavailable_in_row = 0;
        self.backoff = None;
        self.out_of_agents = Some(reason.to_owned());
        Ok(())
    }

    /// Takes in the usage of an agent, which is known whatever becomes of its attempt.
    fn apply_spent(&mut self, spent: &Spent, at: Timestamp) -> Applied {
        let added = self.spending.take_in(spent.dispatch, spent.usage);
        self.spending.note_time(spent, at);
        // The task may be gone from the plan by now; the money is spent all the same.
        if let Some(place) = self.position(&spent.task) {
            let task = &mut self.tasks[place];
            task.usage = task.usage.plus(added);
            // Which session it is, is told in the end.
            if !spent.interim {
                task.session = spent.session.clone().map(|session| (spent.agent.clone(), session));
            }
        }
        Ok(())
    }

    fn apply_checks_passed(
        &mut self,
        id: &TaskId,
        warnings: &[String],
        (judge, tree): (Option<Judge>, Option<&str>),
    ) -> Applied {
        self.warnings.add_of(id, warnings);
        self.known(id)?.verified = tree.map(str::to_owned);
        self.note_green(id, tree);
        self.go_on(id, EventKind::ChecksPassed, |task| {
            let Status::Checking(checking) = &task.status else { return Status::Failed };
            after_checks(task, checking.attempt, judge)
        })?;
        Ok(())
    }

    fn apply_judge_started(&mut self, id: &TaskId, dispatch: Dispatch) -> Applied {
        self.go_on(id, EventKind::JudgeStarted, |task| {
            let Status::Judging(judging) = &task.status else { return Status::Failed };
            Status::Judging(Judging { state: JudgeState::AtWork(dispatch), ..judging.clone() })
        })?;
        let role = match self.task(id).map(|task| &task.status) {
            Some(Status::Judging(Judging { judge: Judge::Reviewer, .. })) => Role::Reviewer,
            Some(_) | None => Role::Qa,
        };
        self.count_dispatch(dispatch, role);
        Ok(())
    }

    fn apply_no_verdict(&mut self, id: &TaskId) -> Applied {
        self.go_on(id, EventKind::NoVerdict, |task| {
            let Status::Judging(judging) = &task.status else { return Status::Failed };
            let judging = Judging { state: JudgeState::Wanted, is_asked_again: true, ..judging.clone() };
            Status::Judging(judging)
        })?;
        self.unavailable_in_row = 0;
        Ok(())
    }

    fn apply_judge_passed(&mut self, id: &TaskId, next: Option<Judge>, warnings: &[String]) -> Applied {
        // What a person is asked about is told once it was approved.
        if next != Some(Judge::Person) {
            self.warnings.add_of(id, warnings);
        }
        let task = self.go_on(id, EventKind::JudgePassed, |task| {
            let Status::Judging(judging) = &task.status else { return Status::Failed };
            after_checks(task, judging.attempt, next)
        })?;
        task.doubts = warnings.to_vec();
        self.unavailable_in_row = 0;
        Ok(())
    }

    fn apply_done(&mut self, id: &TaskId, commit: Option<&str>, at: Timestamp) -> Applied {
        let mut by_agent = false;
        let task = self.go_on(id, EventKind::TaskDone, |task| {
            by_agent = matches!(task.status, Status::Recording { attempt: Some(_) });
            Status::Done
        })?;
        task.passes = task.passes.saturating_add(u32::from(by_agent));
        task.decl.ticked = true;
        task.commit = commit.map(str::to_owned);
        (task.is_ticked_by_hand, task.proof) = (false, None);
        task.ended_at = Some(at);
        task.touched.clear();
        task.base = None;
        task.found = None;
        task.hooks = None;
        task.hooks_gone.clear();
        task.slot = None;
        task.work = None;
        task.forget_landing();
        task.claimed = None;
        task.proof_failure = None;
        task.instruction = None;
        let worked = u32::from(by_agent && !task.failures.is_empty());
        self.retries_that_worked = self.retries_that_worked.saturating_add(worked);
        self.regression = Regression::Open;
        self.proving = Proving::Open;
        self.pull_request.reset();
        // What the tasks that it repaired had left came in with it.
        let mut repaired = self.fix_plan(id).map(|fix| fix.failing.clone());
        while let Some(failing) = repaired {
            if let Ok(task) = self.known(&failing) {
                task.work = None;
            }
            repaired = self.fix_plan(&failing).map(|fix| fix.failing.clone());
        }
        self.settle_directives(id);
        Ok(())
    }

    fn apply_retry(&mut self, id: &TaskId) -> Applied {
        let by_hand = self.task(id).is_some_and(|task| self.is_fixed_by_hand(task));
        let rules = self.rules().cloned().unwrap_or_default();
        self.go_on(id, EventKind::RetryPlanned, |task| {
            // After a fix a `[VERIFY]` command has a chance of being green without an agent, and so has any command
            // after a fix that was made by hand.
            let is_fixed = matches!(task.status, Status::WaitingFor(_));
            let proves = is_fixed && Self::proves(task) || by_hand && Self::proves_again(task, &rules);
            Status::Ready { proves }
        })?;
        Ok(())
    }

    /// True if the fix that a task waited for is done, and by no agent.
    fn is_fixed_by_hand(&self, task: &Task) -> bool {
        let Status::WaitingFor(other) = &task.status else { return false };
        let is_fix = self.fix_plan(other).is_some_and(|fix| fix.failing == *task.id());
        is_fix && self.task(other).is_some_and(|fix| fix.status == Status::Done && fix.passes == 0)
    }

    fn apply_fix_planned(&mut self, fix: &FixPlan) -> Applied {
        // An id that was a fix once is not given again, or a chain of fixes could bite its own tail.
        if self.index.positions.has(&fix.fix) || self.drafts.contains_key(&fix.fix) {
            return Err(Impossible::TaskExists(fix.fix.clone()));
        }
        let task = self.go(&fix.failing, EventKind::FixPlanned, Status::WaitingFor(fix.fix.clone()))?;
        task.fixes.push(fix.fix.clone());
        let verification = task.decl.verification;
        self.drafts.insert(fix.fix.clone(), fix.clone());
        let place = self.place_of_fix(&fix.failing)?;
        self.insert(place, draft_task(fix, verification));
        // Now there is something to wait for.
        self.index_at(self.place(&fix.failing)?);
        Ok(())
    }

    fn apply_fix_inserted(&mut self, decl: &TaskDecl) -> Applied {
        let task = self.go(&decl.id, EventKind::FixInserted, Status::Ready { proves: false })?;
        task.decl = TaskDecl { fix_of: task.decl.fix_of.take(), ticked: false, ..decl.clone() };
        // Without the task that it repairs, a fix task is about what it says itself.
        let failing = self.fix_plan(&decl.id).map(|fix| &fix.failing);
        self.index.is_stale |= failing.is_none_or(|failing| !self.index.positions.has(failing));
        Ok(())
    }

    /// Behind the failing task, its earlier fixes and theirs.
    fn place_of_fix(&self, failing: &TaskId) -> Result<usize, Impossible> {
        let mut last = self.place(failing)?;
        let mut places = vec![last];
        while let Some(place) = places.pop() {
            last = last.max(place);
            places.extend(self.tasks[place].fixes.iter().filter_map(|fix| self.index.positions.get(fix)));
        }
        Ok(last + 1)
    }

    fn apply_deferred(&mut self, id: &TaskId, by: &TaskId) -> Applied {
        self.place(by)?;
        if self.waits_for(by, id) {
            return Err(Impossible::Circle { task: id.clone(), by: by.clone() });
        }
        self.go(id, EventKind::Deferred, Status::WaitingFor(by.clone()))?;
        Ok(())
    }

    fn apply_escalated(&mut self, id: &TaskId, question: Question, at: Timestamp) -> Applied {
        self.go_on(id, EventKind::Escalated, |task| {
            let attempt = match &task.status {
                Status::Judging(Judging { attempt, .. }) | Status::Finished { attempt } => Some(*attempt),
                Status::Drafted
                | Status::Ready { .. }
                | Status::Proving
                | Status::Running(_)
                | Status::Checking(_)
                | Status::Landing { .. }
                | Status::Joining { .. }
                | Status::Recording { .. }
                | Status::Failed
                | Status::WaitingFor(_)
                | Status::Asking(_)
                | Status::Done
                | Status::Skipped => None,
            };
            Status::Asking(Asked { question, attempt, since: at })
        })?;
        self.escalations = self.escalations.saturating_add(1);
        Ok(())
    }

    fn apply_answered(&mut self, id: &TaskId, response: &Response) -> Applied {
        let held_up = self.task(id).and_then(held_up_attempt);
        let task = self.go_on(id, EventKind::Answered, |task| match response {
            Response::Retry => match held_up {
                Some(attempt) => Status::Finished { attempt },
                None => Status::Ready { proves: Self::proves(task) },
            },
            Response::Fix(_) => Status::Ready { proves: false },
            Response::Approve | Response::Reply(_) => {
                let attempt = if let Status::Asking(asked) = &task.status { asked.attempt } else { None };
                match attempt {
                    Some(attempt) => after_checks(task, attempt, None),
                    None => Status::Recording { attempt },
                }
            }
            // These are recorded as what they lead to: a skip, an end, a failure.
            Response::Skip | Response::Abort | Response::Reject(_) => Status::Failed,
        })?;
        task.held_up.clear();
        match response {
            Response::Retry if held_up.is_some() => {}
            Response::Retry => task.renew_budget(),
            Response::Fix(instruction) => task.instruction = Some(instruction.clone()),
            Response::Reply(reply) => task.reply = Some(reply.clone()),
            // What a person has seen and let pass is not asked again.
            Response::Approve => {
                (task.hooks, task.hooks_gone) = (None, Vec::new());
                let doubts = std::mem::take(&mut task.doubts);
                self.warnings.add_of(id, &doubts);
            }
            Response::Skip | Response::Abort | Response::Reject(_) => {}
        }
        Ok(())
    }

    fn apply_ended(&mut self, end: &End) -> Applied {
        self.lose_what_runs();
        self.end = Some(end.clone());
        Ok(())
    }
}

/// The attempt whose finished work cannot come in, if that is what a person is asked about.
fn held_up_attempt(task: &Task) -> Option<Attempt> {
    let Status::Asking(Asked { question: Question::InTheWay, attempt, .. }) = &task.status else {
        return None;
    };
    *attempt
}

fn after_checks(task: &Task, attempt: Attempt, judge: Option<Judge>) -> Status {
    match judge {
        Some(judge) => {
            Status::Judging(Judging { attempt, judge, state: JudgeState::Wanted, is_asked_again: false })
        }
        None if task.is_isolated() => Status::Finished { attempt },
        None => Status::Recording { attempt: Some(attempt) },
    }
}

fn draft_task(fix: &FixPlan, verification: Verification) -> Task {
    let decl = TaskDecl {
        id: fix.fix.clone(),
        title: format!("Fix: {}", fix.error),
        kind: TaskKind::Work,
        verification,
        command: None,
        fix_of: Some(fix.failing.clone()),
        ticked: false,
        digest: 0,
        files: Vec::new(),
        depends_on: Vec::new(),
        stage: 0,
        parallel: false,
    };
    Task::new(decl, Status::Drafted)
}

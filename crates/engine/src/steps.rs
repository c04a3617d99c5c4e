//! In which steps a plan is worked off, were every task to take the same time and to pass: the engine is asked itself,
//! so that what people are shown beforehand is what happens. Nothing here decides what may start or comes back.

use std::time::Duration;

use jiff::Timestamp;
use plan::TaskId;

use crate::batch::{Start, free_slots, starts};
use crate::claim::Claim;
use crate::decide::{decide, role_for};
use crate::due::due;
use crate::event::{Event, Started, What};
use crate::observation::{
    AgentEnd, AgentReport, ChecksReport, Landing, Observation, Opening, Record, Response, Seen,
};
use crate::rules::{Isolation, Limits, OnEscalation, Parallel, Rules, Toggle};
use crate::state::State;
use crate::status::Status;
use crate::task::{Dispatch, Slot, Task, TaskDecl, TaskKind, Verification};

/// The unfinished tasks by the step in which they are at work, each step in the plan's order, were there a work tree for
/// each. How many are at work at once is one of the rules.
pub fn steps(rules: &Rules, tasks: &[TaskDecl]) -> Vec<Vec<TaskId>> {
    let mut run = Run::default();
    let mut steps = Vec::new();
    run.see(Seen::Started(opening(rules, tasks)));
    // Each step takes at least one task further, and a checkpoint or a verification is at work once.
    for _ in tasks {
        run.come_back();
        run.start();
        let at_work: Vec<TaskId> =
            run.state.attention().filter(|task| takes_time(task)).map(|task| task.id().clone()).collect();
        if at_work.is_empty() {
            break;
        }
        at_work.iter().for_each(|id| run.finish(id));
        steps.push(at_work);
    }
    steps
}

/// Nothing but the order of the tasks is to matter.
fn opening(rules: &Rules, tasks: &[TaskDecl]) -> Opening {
    let parallel = Parallel { isolation: Isolation::Trees, ..rules.parallel.clone() };
    let limits = Limits { global_iterations_max: Some(u32::MAX), ..Limits::default() };
    let rules = Rules {
        dialect: rules.dialect,
        keep_going: rules.keep_going,
        on_escalation: OnEscalation::Ask,
        review: Toggle::Off,
        parallel,
        limits,
        ..Rules::default()
    };
    let open = tasks.iter().filter(|task| !task.ticked);
    let provable = open.map(|task| TaskDecl { verification: Verification::Command, ..task.clone() });
    Opening { rules, tasks: provable.collect(), ..Opening::default() }
}

/// True if what is under way takes a step: an agent, a command that is run directly, a question.
fn takes_time(task: &Task) -> bool {
    matches!(task.status, Status::Running(_) | Status::Proving | Status::Asking(_))
}

/// A run in which no clock goes.
#[derive(Default)]
struct Run {
    state: State,
}

impl Run {
    /// True if it meant anything.
    fn see(&mut self, seen: Seen) -> bool {
        let at = Timestamp::UNIX_EPOCH;
        let mut next = decide(&self.state, Observation { at, seen });
        let means_something = next.is_some();
        while let Some(event) = next {
            if self.state.apply(&event).is_err() {
                return false;
            }
            next = due(&self.state, at);
        }
        means_something
    }

    /// Starts whatever may start. All of it at once, as asking anew after each would take long in a long plan.
    fn start(&mut self) {
        let mut dispatch = self.state.dispatched;
        let mut slots = free_slots(&self.state);
        let mut started = Vec::new();
        for start in starts(&self.state).iter().filter(|start| !start.task.asks_by_design()) {
            dispatch = Dispatch(dispatch.0.saturating_add(1));
            let slot = if start.isolated { slots.next() } else { None };
            started.push(start_of(&self.state, start, dispatch, slot));
        }
        for what in started {
            // What the table has no move for is not at work then.
            let _ = self.state.apply(&Event::new(Timestamp::UNIX_EPOCH, what));
        }
    }

    /// The step of a task is over.
    fn finish(&mut self, id: &TaskId) {
        let Some(task) = self.state.task(id) else { return };
        let id = id.clone();
        let seen = if let Status::Running(running) = &task.status {
            Seen::AgentEnded { task: id, dispatch: running.dispatch, report: success() }
        } else if task.status == Status::Proving {
            Seen::ProofEnded { task: id, report: ChecksReport::default(), uncommitted: Vec::new() }
        } else {
            Seen::Answered { task: id, response: answer(task.decl.kind) }
        };
        self.see(seen);
    }

    /// Brings back what can come back; that takes no time. What waited for it starts as soon as it is there, beside
    /// others that are still about to come.
    fn come_back(&mut self) {
        loop {
            let Some(seen) = self.state.attention().find_map(next_seen) else { return };
            let is_last = matches!(seen, Seen::Recorded { .. });
            if !self.see(seen) {
                return;
            }
            if is_last {
                self.start();
            }
        }
    }
}

fn start_of(state: &State, start: &Start<'_>, dispatch: Dispatch, slot: Option<Slot>) -> What {
    let task = start.task;
    if matches!(task.status, Status::Ready { proves: true }) {
        return What::ProofStarted { task: task.id().clone(), head: None };
    }
    What::AttemptStarted(Started {
        task: task.id().clone(),
        attempt: task.next_attempt(),
        dispatch,
        role: role_for(state, task),
        head: None,
        tree: None,
        hooks: Vec::new(),
        slot,
    })
}

fn answer(kind: TaskKind) -> Response {
    match kind {
        TaskKind::Checkpoint => Response::Reply(String::new()),
        TaskKind::Work | TaskKind::Verify => Response::Approve,
    }
}

fn success() -> AgentReport {
    AgentReport {
        end: AgentEnd::Answered { claim: Claim::Complete, contradiction: None, tail: String::new() },
        tampered: Vec::new(),
        lost_commit: None,
        touched: Vec::new(),
        unfit: None,
        learnings: Vec::new(),
        elapsed: Duration::ZERO,
    }
}

/// The next observation of a task whose work is done.
fn next_seen(task: &Task) -> Option<Seen> {
    let id = task.id().clone();
    match &task.status {
        Status::Checking(checking) => Some(Seen::ChecksEnded {
            task: id,
            dispatch: checking.dispatch,
            report: ChecksReport::default(),
            tree: None,
        }),
        Status::Landing { .. } => {
            let landing = Landing::Done { touched: Vec::new(), onto: None, commit: None };
            Some(Seen::LandingEnded { task: id, dispatch: task.dispatch, landing })
        }
        Status::Joining { .. } => {
            let report = ChecksReport::default();
            Some(Seen::JoinEnded { task: id, dispatch: task.dispatch, report, tree: None })
        }
        Status::Recording { .. } => Some(Seen::Recorded { task: id, record: Record::Kept { commit: None } }),
        Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Running(_)
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_)
        | Status::Done
        | Status::Skipped => None,
    }
}

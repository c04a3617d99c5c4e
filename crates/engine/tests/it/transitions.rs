//! The transition table: all of it can happen, and nothing else can.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    Attempt, Cause, Dispatch, Event, EventKind, Failure, FixPlan, Impossible, Judge, Question, Response,
    Role, Rung, Started, State, StatusKind, TRANSITIONS, What, mermaid,
};
use insta::assert_snapshot;
use jiff::Timestamp;
use plan::TaskId;

use crate::scenario;
use crate::script::decl;
use crate::world::{Crash, World, subject};

/// Every scenario, also with a crash after each event, and with one after which work trees are gone.
fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    for scenario in scenario::all() {
        let calm = scenario.world().run();
        let events = calm.journal.len();
        worlds.push(calm);
        worlds.extend((1..=events).map(|event| scenario.world().crashing(&[Crash::After(event)]).run()));
    }
    for scenario in crate::batches::all() {
        let events = scenario.world().run().journal.len();
        let crashing = |event| scenario.world().crashing(&[Crash::After(event)]).without_trees().run();
        worlds.extend((1..=events).map(crashing));
    }
    worlds
}

#[test]
fn every_move_of_the_table_happens_and_no_other() {
    let seen: BTreeSet<_> = worlds().into_iter().flat_map(|world| world.moves).collect();
    let table: BTreeSet<_> = TRANSITIONS.iter().copied().collect();
    assert_eq!(table.len(), TRANSITIONS.len(), "no move stands there twice");
    assert_eq!(table.difference(&seen).collect::<Vec<_>>(), Vec::<&_>::new(), "these never happen");
    assert_eq!(seen.difference(&table).collect::<Vec<_>>(), Vec::<&_>::new(), "these are not in the table");
}

/// A state with a task in it for each status, found in the journals of the scenarios.
fn examples() -> BTreeMap<StatusKind, (State, TaskId)> {
    let mut examples = BTreeMap::new();
    for scenario in scenario::all() {
        let mut state = State::default();
        for event in &scenario.world().run().journal {
            state.apply(event).expect("this has happened");
            for task in state.tasks() {
                examples.entry(task.status.kind()).or_insert_with(|| (state.clone(), task.id().clone()));
            }
        }
    }
    examples
}

fn failure() -> Failure {
    Failure {
        attempt: Attempt(1),
        at: Timestamp::UNIX_EPOCH,
        cause: Cause::VerifyRed,
        rung: Rung::Retry,
        error: "red".to_owned(),
        details: String::new(),
        command: None,
        exit_code: None,
        failing: engine::Failing::default(),
        tree: None,
        attempted_fix: None,
        suggested_fix: None,
        root_cause: None,
        blocked_by: None,
        files: Vec::new(),
        learnings: Vec::new(),
        elapsed_ms: 0,
    }
}

fn passed(id: &TaskId, judge: Option<Judge>) -> What {
    What::ChecksPassed { task: id.clone(), warnings: vec![], judge, tree: None, hooks_gone: vec![] }
}

/// One of each event that moves a task.
fn events(id: &TaskId) -> Vec<What> {
    let task = || id.clone();
    let started = Started {
        task: task(),
        attempt: Attempt(1),
        dispatch: Dispatch(1),
        role: Role::Executor,
        head: None,
        tree: None,
        hooks: Vec::new(),
        slot: None,
    };
    let fix =
        FixPlan { fix: TaskId::from("77"), failing: task(), error: "red".to_owned(), attempted_fix: None };
    vec![
        What::ProofStarted { task: task(), head: None },
        What::ProofPassed { task: task(), warnings: Vec::new() },
        What::ProofFailed { task: task(), failure: Box::new(failure()) },
        What::Mended { task: task(), files: Vec::new() },
        What::AttemptStarted(started),
        What::AttemptClaimed {
            task: task(),
            dispatch: Dispatch(1),
            touched: Vec::new(),
            learnings: Vec::new(),
            elapsed_ms: 0,
        },
        What::AttemptFailed { task: task(), failure: Box::new(failure()), touched: Vec::new() },
        What::AgentUnavailable {
            task: task(),
            dispatch: Dispatch(1),
            reason: String::new(),
            nth: 1,
            until: Timestamp::UNIX_EPOCH,
        },
        What::TreeUnavailable { task: task(), dispatch: Dispatch(1), reason: None },
        passed(id, None),
        passed(id, Some(Judge::Qa)),
        What::JudgeStarted { task: task(), dispatch: Dispatch(1) },
        What::NoVerdict { task: task(), dispatch: Dispatch(1), reason: String::new() },
        What::JudgePassed { task: task(), warnings: Vec::new(), unchanged: false, next: None },
        What::JudgePassed {
            task: task(),
            warnings: Vec::new(),
            unchanged: false,
            next: Some(Judge::Reviewer),
        },
        What::LandingStarted { task: task() },
        What::Landed { task: task(), touched: Vec::new(), onto: None, commit: None },
        What::JoinPassed { task: task(), warnings: Vec::new(), tree: None },
        What::HeldUp { task: task(), files: vec!["notes.txt".to_owned()] },
        What::TaskDone { task: task(), commit: None },
        What::RetryPlanned { task: task(), attempt: Attempt(2) },
        What::FixPlanned(fix),
        What::FixInserted { decl: Box::new(decl(&id.to_string())) },
        What::Deferred { task: task(), by: task() },
        What::Escalated { task: task(), question: Question::Exhausted },
        What::Answered { task: task(), response: Response::Retry },
        What::Answered { task: task(), response: Response::Approve },
        What::Answered { task: task(), response: Response::Fix(String::new()) },
        What::Answered { task: task(), response: Response::Reply(String::new()) },
        What::TaskSkipped { task: task(), reason: String::new(), dependents: Vec::new() },
    ]
}

#[test]
fn what_is_not_in_the_table_is_refused() {
    let examples = examples();
    assert_eq!(examples.len(), 15, "there is an example of every status");
    for (from, (state, id)) in &examples {
        for what in events(id) {
            let (_, kind) = subject(&what).expect("these move a task");
            let to: Vec<StatusKind> =
                TRANSITIONS.iter().filter(|row| (row.0, row.1) == (*from, kind)).map(|row| row.2).collect();
            let mut state = state.clone();
            match state.apply(&Event::new(Timestamp::UNIX_EPOCH, what)) {
                Ok(()) => {
                    let is = state.task(id).expect("it is still there").status.kind();
                    assert!(to.contains(&is), "{kind:?} led from {from:?} to {is:?}");
                }
                Err(Impossible::Move { task, from: was, event }) => {
                    assert_eq!((&task, was, event), (id, *from, kind));
                    assert!(to.is_empty(), "{kind:?} may follow {from:?}");
                }
                Err(Impossible::Circle { .. }) => assert_eq!(kind, EventKind::Deferred),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn answers_that_lead_elsewhere_are_recorded_as_what_they_lead_to() {
    let (state, id) = examples().remove(&StatusKind::Asking).expect("there is a question");
    for response in [Response::Skip, Response::Abort, Response::Reject(String::new())] {
        let what = What::Answered { task: id.clone(), response };
        let refused = state.clone().apply(&Event::new(Timestamp::UNIX_EPOCH, what));
        let expected =
            Impossible::Move { task: id.clone(), from: StatusKind::Asking, event: EventKind::Answered };
        assert_eq!(refused, Err(expected));
    }
}

#[test]
fn a_task_that_does_not_exist_is_refused() {
    let id = TaskId::from("404");
    for what in events(&id) {
        let refused = State::default().apply(&Event::new(Timestamp::UNIX_EPOCH, what));
        assert_eq!(refused, Err(Impossible::UnknownTask(id.clone())));
    }
}

#[test]
fn an_id_that_was_a_fix_once_is_refused() {
    let mut state = State::default();
    let journal = scenario::named("one fix").world().run().journal;
    journal.iter().for_each(|event| state.apply(event).expect("this has happened"));
    let planned =
        journal.iter().find(|event| matches!(event.what, What::FixPlanned(_))).expect("there is a fix");
    assert_eq!(state.apply(planned), Err(Impossible::TaskExists(TaskId::from("1.1.1"))));
}

#[test]
#[expect(clippy::too_many_lines, reason = "as long as the table")]
fn the_diagram_shows_the_table() {
    assert_snapshot!(mermaid(), @r"
    stateDiagram-v2
        Drafted --> Ready: FixInserted
        Ready --> Proving: ProofStarted
        Proving --> Recording: ProofPassed
        Proving --> Ready: ProofFailed
        Proving --> Asking: Mended
        Proving --> Ready: Lost
        Ready --> Running: AttemptStarted
        Running --> Checking: AttemptClaimed
        Running --> Failed: AttemptFailed
        Running --> Ready: AgentUnavailable
        Running --> Ready: TreeUnavailable
        Running --> Ready: Lost
        Checking --> Judging: ChecksPassed
        Checking --> Recording: ChecksPassed
        Checking --> Finished: ChecksPassed
        Checking --> Failed: AttemptFailed
        Checking --> Ready: TreeUnavailable
        Checking --> Ready: Lost
        Judging --> Judging: JudgeStarted
        Judging --> Judging: NoVerdict
        Judging --> Judging: JudgePassed
        Judging --> Recording: JudgePassed
        Judging --> Finished: JudgePassed
        Judging --> Failed: AttemptFailed
        Judging --> Judging: AgentUnavailable
        Judging --> Judging: Lost
        Judging --> Ready: Lost
        Judging --> Asking: Escalated
        Finished --> Landing: LandingStarted
        Finished --> Asking: Escalated
        Finished --> Ready: Lost
        Landing --> Joining: Landed
        Landing --> Failed: AttemptFailed
        Landing --> Ready: TreeUnavailable
        Landing --> Finished: Lost
        Landing --> Ready: Lost
        Joining --> Recording: JoinPassed
        Joining --> Failed: AttemptFailed
        Joining --> Ready: TreeUnavailable
        Joining --> Finished: Lost
        Joining --> Ready: Lost
        Joining --> Landing: LandingStarted
        Recording --> Landing: LandingStarted
        Recording --> Finished: HeldUp
        Recording --> Done: TaskDone
        Recording --> Failed: AttemptFailed
        Recording --> Ready: Lost
        Failed --> Ready: RetryPlanned
        Failed --> WaitingFor: FixPlanned
        Failed --> WaitingFor: Deferred
        Failed --> Asking: Escalated
        Ready --> Asking: Escalated
        Failed --> Ready: Renewed
        WaitingFor --> Ready: RetryPlanned
        Asking --> Ready: Answered
        Asking --> Recording: Answered
        Asking --> Finished: Answered
        Asking --> Failed: AttemptFailed
        Asking --> Skipped: TaskSkipped
        Ready --> Skipped: TaskSkipped
        Proving --> Skipped: TaskSkipped
        Running --> Skipped: TaskSkipped
        Checking --> Skipped: TaskSkipped
        Judging --> Skipped: TaskSkipped
        Finished --> Skipped: TaskSkipped
        Failed --> Skipped: TaskSkipped
        WaitingFor --> Skipped: TaskSkipped
        Asking --> Ready: Renewed
        Asking --> Finished: Renewed
        Ready --> Done: Ticked
        Failed --> Done: Ticked
        WaitingFor --> Done: Ticked
        Asking --> Done: Ticked
        Skipped --> Done: Ticked
        Done --> Ready: Unticked
        Done --> Failed: Reopened
    ");
}

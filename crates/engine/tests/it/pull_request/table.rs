//! The table of the lifecycle's moves: what is not there is refused, and the diagram shows it.

use std::collections::BTreeSet;

use engine::{
    Awaited, Event, Impossible, Outcome, PULL_REQUEST_MOVES, PullRequestEvent, PullRequestEventKind,
    StageKind, State, What, pull_request_mermaid,
};
use insta::assert_snapshot;
use jiff::Timestamp;

use super::events::{every_event, examples};

#[test]
fn what_is_not_in_the_table_is_refused() {
    let examples = examples();
    assert_eq!(examples.len(), 11, "there is an example of every stage: {:?}", examples.keys());
    for (from, state) in &examples {
        for event in every_event() {
            let kind = event.kind();
            let to = targets(*from, kind);
            let mut state: State = state.clone();
            let what = What::PullRequest(Box::new(event));
            match state.apply(&Event::new(Timestamp::UNIX_EPOCH, what)) {
                Ok(()) => {
                    let is = state.pull_request().stage().kind();
                    assert!(to.contains(&is), "{kind:?} led from {from:?} to {is:?}");
                }
                Err(Impossible::PullRequest { from: was, event }) => {
                    assert_eq!((was, event), (*from, kind));
                    assert!(to.is_empty(), "{kind:?} may follow {from:?}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

fn targets(from: StageKind, kind: PullRequestEventKind) -> BTreeSet<StageKind> {
    PULL_REQUEST_MOVES.iter().filter(|row| (row.0, row.1) == (from, kind)).map(|row| row.2).collect()
}

#[test]
fn no_move_stands_there_twice() {
    let moves: BTreeSet<_> = PULL_REQUEST_MOVES.iter().collect();
    assert_eq!(moves.len(), PULL_REQUEST_MOVES.len());
}

#[test]
fn awaited_things_are_said_in_words() {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let check = |awaited: Awaited, expected: &str| assert_eq!(awaited.text(), expected);
    check(
        Awaited::Checks { pending: 7, total: 9, names: names(&["a", "b"]) },
        "7 of 9 checks: a, b and 5 more",
    );
    check(Awaited::Review { threads: 1, reviewers: vec![] }, "1 thread to be resolved");
    check(
        Awaited::Review { threads: 2, reviewers: names(&["mona"]) },
        "2 threads to be resolved and mona to review again",
    );
    check(Awaited::Approval { names: names(&["deploy"]) }, "somebody to allow deploy");
}

#[test]
fn a_refused_event_says_so() {
    let event = PullRequestEvent::Satisfied { outcome: Outcome::Ready { checks: 1, caveats: Vec::new() } };
    let what = What::PullRequest(Box::new(event));
    let refused = State::default().apply(&Event::new(Timestamp::UNIX_EPOCH, what));
    let error = refused.expect_err("nothing was pushed");
    assert_eq!(error.to_string(), "the pull request is Resting, which Satisfied cannot follow");
}

#[test]
fn the_diagram_shows_the_table() {
    assert_snapshot!(pull_request_mermaid(), @"
    stateDiagram-v2
        Resting --> Publishing: Begun
        Publishing --> Watching: Published
        Publishing --> Integrating: IntegrationPlanned
        Publishing --> Satisfied: Satisfied
        Publishing --> Publishing: Unavailable
        Watching --> Replying: RepliesPlanned
        Watching --> Watching: Looked
        Watching --> Rerunning: RerunPlanned
        Watching --> Reading: FailuresBelieved
        Watching --> Writing: TasksPlanned
        Watching --> Integrating: IntegrationPlanned
        Watching --> Requesting: ReviewPlanned
        Watching --> Merging: MergePlanned
        Watching --> Satisfied: Satisfied
        Watching --> Watching: Unavailable
        Replying --> Watching: Replied
        Replying --> Replying: Unavailable
        Requesting --> Watching: ReviewRequested
        Requesting --> Requesting: Unavailable
        Rerunning --> Watching: Rerun
        Rerunning --> Rerunning: Unavailable
        Reading --> Writing: TasksPlanned
        Reading --> Reading: Unavailable
        Writing --> Resting: TasksWritten
        Integrating --> Resting: Integrated
        Integrating --> Integrating: Unavailable
        Merging --> Satisfied: Satisfied
        Merging --> Watching: MergeQueued
        Merging --> Merging: Unavailable
        Publishing --> Resting: Reset
        Watching --> Resting: Reset
        Replying --> Resting: Reset
        Requesting --> Resting: Reset
        Rerunning --> Resting: Reset
        Reading --> Resting: Reset
        Integrating --> Resting: Reset
        Merging --> Resting: Reset
        Satisfied --> Resting: Reset
    ");
}

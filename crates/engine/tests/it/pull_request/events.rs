//! One of each event of the lifecycle, and a state for each of its stages.

use std::collections::BTreeMap;

use engine::{
    Awaited, CheckRef, CheckState, ForgeReport, Kept, Origin, Outcome, Published, PullRequestEvent,
    PullRequestEventKind as Kind, PullRequestRules, Request, ReviewState, Reviewer, Rules, Source, StageKind,
    State, Toggle,
};
use jiff::Timestamp;

use super::forge::{Hub, Sight, again, check, looked, review, rules, thread, world};
use crate::script::decl;

pub(super) fn every_event() -> Vec<PullRequestEvent> {
    let until = Timestamp::UNIX_EPOCH;
    let check = CheckRef {
        label: "test".to_owned(),
        id: "1".to_owned(),
        run: Some(7),
        url: "https://forge/run".to_owned(),
        summary: "red".to_owned(),
    };
    let published = Published {
        number: 7,
        url: "https://forge/7".to_owned(),
        branch: "feature".to_owned(),
        base: "main".to_owned(),
        head: "c9".to_owned(),
        series: "5.".to_owned(),
        warnings: vec!["no".to_owned()],
    };
    let request = Request {
        more_files: Vec::new(),
        id: "5.77".into(),
        origin: Origin::Check { check: "test".to_owned(), step: None, url: String::new() },
        summary: "red".to_owned(),
        text: String::new(),
        file: None,
        line: None,
        head: "c9".to_owned(),
    };
    let reviewer = Reviewer { login: "mona".to_owned(), review: "R1".to_owned() };
    vec![
        PullRequestEvent::Begun,
        PullRequestEvent::Published { published, cycle: 1 },
        PullRequestEvent::Looked { awaited: Awaited::Head, until, checks: vec!["test".to_owned()] },
        PullRequestEvent::RerunPlanned { checks: vec![check.clone()] },
        PullRequestEvent::Rerun { refused: vec!["test".to_owned()], until },
        PullRequestEvent::FailuresBelieved { checks: vec![check] },
        PullRequestEvent::TasksPlanned { requests: vec![request] },
        PullRequestEvent::TasksWritten { decls: vec![decl("5.77")], kept: Kept::InRecord },
        PullRequestEvent::IntegrationPlanned { source: Source::Base },
        PullRequestEvent::Integrated,
        PullRequestEvent::RepliesPlanned { tasks: vec!["5.77".into()] },
        PullRequestEvent::Replied { warnings: vec!["5.77: gone".to_owned()] },
        PullRequestEvent::ReviewPlanned { reviewers: vec![reviewer] },
        PullRequestEvent::ReviewRequested { warnings: vec!["mona: no".to_owned()], until },
        PullRequestEvent::MergePlanned,
        PullRequestEvent::MergeQueued { until },
        PullRequestEvent::Unavailable { reason: "HTTP 502".to_owned(), nth: 1, until },
        PullRequestEvent::Satisfied { outcome: Outcome::Ready { checks: 1, caveats: Vec::new() } },
    ]
}

#[test]
fn every_event_reads_back_as_it_was_written() {
    for event in every_event() {
        let line = serde_json::to_string(&event).expect("it can be written");
        assert_eq!(serde_json::from_str::<PullRequestEvent>(&line).expect("it can be read"), event);
    }
}

/// Goes through every stage there is.
fn grand_tour(sight: &Sight<'_>) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    match sight.cycle() {
        1 if sight.count(Kind::Rerun) == 0 => look.checks = vec![check("test", CheckState::Failed)],
        1 => look.checks = vec![again("test", CheckState::Failed)],
        2 => look.threads = vec![thread("T1", "c1")],
        3 | 4 if sight.count(Kind::ReviewRequested) == 0 => {
            look.reviews = vec![review("mona", ReviewState::ChangesRequested, "1")];
        }
        4 => look.merge = engine::MergeState::Behind,
        _ => {}
    }
    looked(look)
}

/// A state for each stage.
pub(super) fn examples() -> BTreeMap<StageKind, State> {
    let merge = Some(engine::MergeMethod::Merge);
    let pull_request = PullRequestRules { reply: Toggle::On, merge, ..rules().pull_request };
    let hub: Hub = grand_tour;
    let world = world(hub, Rules { pull_request, ..rules() }).run();
    let mut examples = BTreeMap::new();
    let mut state = State::default();
    for event in &world.journal {
        state.apply(event).expect("this has happened");
        examples.entry(state.pull_request().stage().kind()).or_insert_with(|| state.clone());
    }
    examples
}

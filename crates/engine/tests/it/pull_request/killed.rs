//! The program is killed after, and right before, every event of a lifecycle. The end is always the same.

use engine::{
    CheckState, ForgeReport, PullRequestEventKind as Kind, PullRequestRules, ReviewState, Rules, Toggle,
};

use super::forge::{Sight, again, check, looked, review, rules, thread, world};
use crate::invariants::Outcome;
use crate::transcript::transcript;
use crate::world::{Crash, World, fold};

/// A red check, a review with two threads, a no that is asked about again, a base that moved on, and a merge at the end.
fn eventful(sight: &Sight<'_>) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    match sight.cycle() {
        1 if sight.count(Kind::Rerun) == 0 => look.checks = vec![check("test", CheckState::Failed)],
        1 => look.checks = vec![again("test", CheckState::Failed)],
        2 => look.threads = vec![thread("T1", "c1"), thread("T2", "c2")],
        3 if sight.count(Kind::Looked) < 2 => look.checks.push(check("slow", CheckState::Pending)),
        3 | 4 if sight.count(Kind::ReviewRequested) == 0 => {
            look.reviews = vec![review("mona", ReviewState::ChangesRequested, "1")];
        }
        4 => look.merge = engine::MergeState::Behind,
        _ => {}
    }
    looked(look)
}

fn eventful_world() -> World {
    let merge = Some(engine::MergeMethod::Merge);
    let pull_request = PullRequestRules { reply: Toggle::On, merge, ..rules().pull_request };
    world(eventful, Rules { pull_request, ..rules() })
}

#[test]
fn at_every_event() {
    let calm = eventful_world().run();
    let events = calm.journal.len();
    assert!(events > 30, "{}", transcript(&calm));
    for event in 1..=events {
        for crash in [Crash::Before(event), Crash::After(event)] {
            let world = eventful_world().crashing(&[crash]).run();
            let (expected, found) = (Outcome::of(&calm), Outcome::of(&world));
            assert!(expected == found, "{crash:?}\n{expected:#?}\n{found:#?}\n{}", transcript(&world));
            let counters = |world: &World| {
                let lifecycle = world.state.pull_request();
                (lifecycle.cycles(), lifecycle.ci_rounds(), lifecycle.stage().clone())
            };
            assert_eq!(counters(&calm), counters(&world), "{crash:?}");
            assert_eq!(format!("{:?}", fold(&world.lines)), format!("{:?}", world.state));
        }
    }
}

#[test]
fn what_arrives_twice_changes_nothing() {
    let once = eventful_world().run();
    let mut twice = eventful_world();
    twice.script.echo = true;
    assert_eq!(once.lines, twice.run().lines);
}

//! Whatever a forge shows, a run with a pull request ends, and its limits hold.

use std::cell::RefCell;

use engine::{
    CheckState, End, ForgeAction, ForgeReport, MergeState, Obstacle, Openness, PullRequestRules, ReviewState,
    Rules, Toggle,
};
use proptest::prelude::*;

use super::forge::{Sight, again, check, looked, review, rules, thread, world};
use crate::world::Crash;

/// What the forge shows at one moment.
#[derive(Clone, Copy, Debug)]
enum Scene {
    Fine,
    Pending,
    Red,
    RedAgain,
    External,
    Cancelled,
    Nothing,
    Thread(u8),
    No(u8),
    Behind,
    Conflicting,
    Unknown,
    Blocked,
    Wordless,
    Elsewhere,
    Away,
    Moved,
    Closed,
    Merged,
}

thread_local! {
    /// A hub is a plain function, so what it deals from lies beside it.
    static DECK: RefCell<Vec<Scene>> = const { RefCell::new(Vec::new()) };
}

/// The scene depends on the record alone, so that a crash changes nothing.
fn dealt(sight: &Sight<'_>) -> Option<ForgeReport> {
    let scene = DECK.with_borrow(|deck| deck[sight.world.journal.len() * 7 % deck.len()]);
    let unavailable = ForgeReport::Unavailable { reason: "HTTP 502".to_owned(), retry_after: None };
    match (scene, sight.action) {
        (_, ForgeAction::Write { .. }) => return None,
        (Scene::Away, _) => return Some(unavailable),
        (Scene::Moved, ForgeAction::Publish { .. }) => return Some(ForgeReport::Moved),
        (Scene::Closed, ForgeAction::Integrate { .. }) => {
            return Some(ForgeReport::Obstructed(Obstacle::Conflict {
                with: "main".to_owned(),
                from: String::new(),
            }));
        }
        _ => {}
    }
    let mut look = sight.look()?;
    let failed = CheckState::Failed;
    match scene {
        Scene::Fine | Scene::Away | Scene::Moved => {}
        Scene::Pending => look.checks.push(check("slow", CheckState::Pending)),
        Scene::Red => look.checks = vec![check("test", failed)],
        Scene::RedAgain => look.checks = vec![again("test", failed)],
        Scene::External => look.checks[0] = engine::Check { run: None, ..check("external", failed) },
        Scene::Cancelled => look.checks.push(check("late", CheckState::Cancelled)),
        Scene::Nothing => look.checks.clear(),
        Scene::Thread(comment) => look.threads = vec![thread("T", &comment.to_string())],
        Scene::No(at) => look.reviews = vec![review("mona", ReviewState::ChangesRequested, &at.to_string())],
        Scene::Behind => look.merge = MergeState::Behind,
        Scene::Conflicting => look.merge = MergeState::Conflicting,
        Scene::Unknown => look.merge = MergeState::Unknown,
        Scene::Blocked => look.merge = MergeState::Blocked,
        Scene::Wordless => {
            let review = review("hubot", ReviewState::ChangesRequested, "1");
            look.reviews = vec![engine::Review { body: String::new(), ..review }];
        }
        Scene::Elsewhere => look.head = "elsewhere".to_owned(),
        Scene::Closed => look.openness = Openness::Closed,
        Scene::Merged => look.openness = Openness::Merged,
    }
    looked(look)
}

fn scene() -> impl Strategy<Value = Scene> {
    prop_oneof![
        4 => Just(Scene::Fine),
        2 => Just(Scene::Pending),
        2 => Just(Scene::Red),
        2 => Just(Scene::RedAgain),
        1 => Just(Scene::External),
        1 => Just(Scene::Cancelled),
        1 => Just(Scene::Nothing),
        3 => any::<u8>().prop_map(Scene::Thread),
        2 => any::<u8>().prop_map(Scene::No),
        1 => Just(Scene::Behind),
        1 => Just(Scene::Conflicting),
        1 => Just(Scene::Unknown),
        1 => Just(Scene::Blocked),
        1 => Just(Scene::Wordless),
        1 => Just(Scene::Elsewhere),
        2 => Just(Scene::Away),
        1 => Just(Scene::Moved),
        1 => Just(Scene::Closed),
        1 => Just(Scene::Merged),
    ]
}

proptest! {
    #[test]
    fn it_ends_and_keeps_its_limits(
        deck in prop::collection::vec(scene(), 1..24),
        reply in any::<bool>(),
        crash in 1_usize..60,
    ) {
        DECK.set(deck);
        let reply = if reply { Toggle::On } else { Toggle::Off };
        let pull_request = PullRequestRules { reply, ..rules().pull_request };
        let rules = Rules { pull_request, ..rules() };
        let world = world(dealt, rules.clone()).crashing(&[Crash::After(crash)]).run();
        let lifecycle = world.state.pull_request();
        prop_assert!(lifecycle.cycles() <= rules.pull_request.cycles_max);
        prop_assert!(lifecycle.ci_rounds() <= rules.pull_request.ci_fixes_max);
        let ended_well = matches!(
            world.state.end(),
            Some(End::Complete { .. } | End::Stopped(_) | End::PullRequest { .. } | End::Unavailable { .. })
        );
        prop_assert!(ended_well, "{:?}", world.state.end());
    }
}

//! What a forge may say to a merge, and a no that does not say why.

use engine::{
    Caveat, ForgeAction, ForgeReport, LimitReached, MergeMethod, MergeState, Obstacle, Openness, Outcome,
    PullRequestEventKind as Kind, PullRequestRules, Review, ReviewState, Rules, Stage,
};

use super::forge::{Hub, Sight, looked, review, rules, thread};
use super::situations::{course, ends_at, ends_complete, limit, lives, url};

fn merging() -> Rules {
    let pull_request = PullRequestRules { merge: Some(MergeMethod::Squash), ..rules().pull_request };
    Rules { pull_request, ..rules() }
}

/// The forge agrees to merge, and does so some looks later.
fn queues(sight: &Sight<'_>, looks: usize) -> Option<ForgeReport> {
    if matches!(sight.action, ForgeAction::Merge { .. }) {
        return Some(ForgeReport::MergeQueued);
    }
    let mut look = sight.look()?;
    if sight.count(Kind::MergeQueued) > 0 && sight.count(Kind::Looked) >= looks {
        look.openness = Openness::Merged;
    }
    looked(look)
}

#[test]
fn a_merge_that_the_forge_only_agreed_to_is_waited_for() {
    let world = lives(|sight| queues(sight, 4), merging());
    let expected = "[5.1] Begun Published Looked MergePlanned MergeQueued Looked Satisfied";
    assert_eq!(course(&world), expected);
    let merged = Stage::Satisfied(Outcome::Merged { number: 7, url: url() });
    assert_eq!(world.state.pull_request().stage(), &merged);
    let world = lives(|sight| queues(sight, usize::MAX), merging());
    let awaited = "the forge to merge it, which it has agreed to".to_owned();
    assert_eq!(limit(&world), &LimitReached::Time { seconds: 172_800, awaited });
}

/// The forge does not allow the merge before so many looks.
fn blocked(sight: &Sight<'_>, looks: usize) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    if sight.count(Kind::Looked) < looks {
        look.merge = MergeState::Blocked;
    }
    looked(look)
}

#[test]
fn a_merge_that_is_not_allowed_is_told_of() {
    let check = |hub: Hub, caveats: Vec<Caveat>| {
        let world = lives(hub, rules());
        ends_complete(&world);
        let ready = Stage::Satisfied(Outcome::Ready { checks: 1, caveats });
        assert_eq!(world.state.pull_request().stage(), &ready, "{}", course(&world));
    };
    check(|sight| blocked(sight, 3), Vec::new());
    check(|sight| blocked(sight, usize::MAX), vec![Caveat::NotAllowed]);
}

#[test]
fn what_is_not_allowed_is_not_tried() {
    let detail = "the forge does not allow it yet: a required review or check is missing".to_owned();
    let never: Hub = |sight| {
        assert!(!matches!(sight.action, ForgeAction::Merge { .. }), "nobody allowed this");
        blocked(sight, usize::MAX)
    };
    ends_at(never, merging(), &Obstacle::NotMerged { url: url(), detail });
}

/// Somebody wants changes and does not say which, unless in a thread.
fn wordless() -> Review {
    Review { body: " ".to_owned(), ..review("mona", ReviewState::ChangesRequested, "1") }
}

#[test]
fn a_no_without_a_word_needs_a_person() {
    let silent: Hub = |sight| looked(engine::Look { reviews: vec![wordless()], ..sight.look()? });
    ends_at(silent, rules(), &Obstacle::Wordless { reviewers: vec!["mona".to_owned()], url: url() });
    // Somebody else had the last word in the thread.
    let in_a_thread: Hub = |sight| {
        let said = engine::Thread {
            author: "hubot".to_owned(),
            text: "mona: please\nhubot: why?".to_owned(),
            ..thread("T1", "c1")
        };
        looked(engine::Look { reviews: vec![wordless()], threads: vec![said], ..sight.look()? })
    };
    let world = lives(in_a_thread, rules());
    assert!(matches!(limit(&world), LimitReached::Time { .. }), "{}", course(&world));
}

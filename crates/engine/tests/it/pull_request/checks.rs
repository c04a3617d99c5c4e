//! Checks that appear late, and checks that do not come back.

use engine::{
    Awaited, Caveat, CheckState, End, Event, ForgeReport, MergeMethod, Obstacle, Outcome, PullRequestEvent,
    PullRequestEventKind as Kind, PullRequestRules, Rules, Stage, What, WhichChecks,
};

use super::forge::{Hub, Sight, again, check, looked, rules, world};
use super::situations::{check_course, course, ends_complete, lives, url};
use crate::world::World;

#[track_caller]
fn comes_out(world: &World, checks: usize, caveats: Vec<Caveat>) {
    let satisfied = Stage::Satisfied(Outcome::Ready { checks, caveats });
    assert_eq!(world.state.pull_request().stage(), &satisfied, "{}", course(world));
}

fn gone(label: &str) -> Vec<Caveat> {
    vec![Caveat::Gone { checks: vec![label.to_owned()] }]
}

/// The looks that showed something to be waited for, and the seconds until the next.
fn waits(world: &World) -> Vec<(String, i64)> {
    let wait = |event: &Event| {
        let What::PullRequest(what) = &event.what else { return None };
        let PullRequestEvent::Looked { awaited, until, .. } = &**what else { return None };
        Some((awaited.text(), until.duration_since(event.at).as_secs()))
    };
    world.journal.iter().filter_map(wait).collect()
}

/// A sign-off is green at once; the tests appear a look later and are red.
fn late_and_red(sight: &Sight<'_>) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    look.checks = vec![check("dco", CheckState::Passed)];
    if sight.count(Kind::Looked) > 0 {
        let is_fixed = sight.cycle() > 1;
        let state = if is_fixed { CheckState::Passed } else { CheckState::Failed };
        look.checks.push(engine::Check { run: None, ..check("test", state) });
    }
    looked(look)
}

#[test]
fn the_first_check_to_be_green_is_not_taken_for_the_last() {
    let world = check_course(
        late_and_red,
        "[5.1] Begun Published Looked FailuresBelieved TasksPlanned TasksWritten [5.2] Begun Published Looked \
         Satisfied",
    );
    comes_out(&world, 2, Vec::new());
    assert_eq!(waits(&world)[0], (Awaited::MoreChecks.text(), 20), "the next look comes soon");
}

#[test]
fn looks_come_no_later_than_they_are_wanted() {
    let look_every = std::time::Duration::from_secs(5);
    let pull_request = PullRequestRules { look_every, ..rules().pull_request };
    let world = lives(|_| None, Rules { pull_request, ..rules() });
    let expected = (Awaited::MoreChecks.text(), 5);
    assert_eq!(waits(&world), [expected.clone(), expected]);
}

#[test]
fn checks_that_were_there_all_along_are_not_waited_for_any_longer() {
    let slow: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.count(Kind::Looked) < 3 {
            look.checks = vec![check("build", CheckState::Pending)];
        }
        looked(look)
    };
    let world = lives(slow, rules());
    assert_eq!(waits(&world).len(), 3, "{:?}", waits(&world));
}

/// Red at the first push; at the second it is not there before so many looks.
fn red_and_back_after(sight: &Sight<'_>, looks: usize) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    let red = engine::Check { run: None, ..check("test", CheckState::Failed) };
    if sight.cycle() == 1 {
        look.checks.push(red);
    } else if sight.count(Kind::Looked) >= looks {
        look.checks.push(again("test", CheckState::Passed));
    }
    looked(look)
}

#[test]
fn a_check_that_a_fix_was_written_for_is_waited_for_at_the_new_commit() {
    let world = lives(|sight| red_and_back_after(sight, 2), rules());
    assert_eq!(waits(&world)[0], ("1 of 1 checks: test".to_owned(), 180));
    comes_out(&world, 2, Vec::new());
}

#[test]
fn one_that_does_not_come_back_is_named() {
    let never: Hub = |sight| red_and_back_after(sight, usize::MAX);
    let world = lives(never, rules());
    comes_out(&world, 1, gone("test"));
    let merge = PullRequestRules { merge: Some(MergeMethod::Squash), ..rules().pull_request };
    let world = lives(never, Rules { pull_request: merge, ..rules() });
    let obstacle = Obstacle::ChecksGone { checks: vec!["test".to_owned()], url: url() };
    assert_eq!(world.state.end(), Some(&End::PullRequest { obstacle }), "{}", course(&world));
}

#[test]
fn a_check_that_is_missing_after_it_was_run_again_is_waited_for_and_named() {
    let missing: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.count(Kind::Rerun) == 0 {
            look.checks.push(check("test", CheckState::Failed));
        }
        looked(look)
    };
    let world = check_course(missing, "[5.1] Begun Published RerunPlanned Rerun Looked Satisfied");
    assert_eq!(waits(&world).len(), 3);
    comes_out(&world, 1, gone("test"));
}

/// There is a check at the first look, and none ever after.
fn all_gone(sight: &Sight<'_>) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    look.checks = match sight.count(Kind::Looked) {
        0 => vec![check("build", CheckState::Pending)],
        _ => Vec::new(),
    };
    looked(look)
}

#[test]
fn no_check_any_more_is_not_the_same_as_none_at_all() {
    let mut world = world(all_gone, rules());
    world.script.restarts = 1;
    let world = world.run();
    let obstacle = Obstacle::ChecksGone { checks: vec!["build".to_owned()], url: url() };
    let paused = What::Ended(End::PullRequest { obstacle });
    assert_eq!(world.journal.iter().filter(|event| event.what == paused).count(), 1, "{}", course(&world));
    // Who starts it again after that knows.
    ends_complete(&world);
    comes_out(&world, 0, gone("build"));
}

#[test]
fn what_the_forge_shows_of_an_earlier_commit_does_not_count() {
    let late: Hub = |sight| {
        let mut look = sight.look()?;
        let is_behind = sight.cycle() == 2 && sight.count(Kind::Looked) < 2;
        if sight.cycle() == 1 || is_behind {
            look.head = "c1".to_owned();
            look.checks = vec![engine::Check { run: None, ..check("test", CheckState::Failed) }];
        } else if sight.count(Kind::Looked) > 3 {
            look.checks.push(check("test", CheckState::Passed));
        }
        looked(look)
    };
    comes_out(&lives(late, rules()), 2, Vec::new());
}

#[test]
fn checks_that_nobody_requires_are_not_called_green() {
    let optional: Hub = |sight| {
        let mut look = sight.look()?;
        let required = engine::Check { required: true, ..check("build", CheckState::Passed) };
        let others = [check("lint", CheckState::Failed), check("slow", CheckState::Pending)];
        look.checks =
            [required].into_iter().chain(others).chain([check("docs", CheckState::Passed)]).collect();
        looked(look)
    };
    let pull_request = PullRequestRules { checks: WhichChecks::Required, ..rules().pull_request };
    let world = lives(optional, Rules { pull_request, ..rules() });
    comes_out(&world, 1, vec![Caveat::NotGreen { checks: vec!["lint".to_owned(), "slow".to_owned()] }]);
}

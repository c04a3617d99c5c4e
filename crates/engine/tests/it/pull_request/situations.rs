//! What can happen to a pull request, and what comes of it.

use std::time::Duration;

use engine::{
    Awaited, CheckState, End, Event, ForgeAction, ForgeReport, LimitReached, MergeMethod, MergeState,
    Obstacle, Openness, Outcome, PullRequestEvent, PullRequestEventKind as Kind, PullRequestRules,
    ReviewState, Rules, Stage, StopReason, Toggle, What, WhichChecks,
};

use super::forge::{Hub, Sight, again, check, looked, review, rules, thread, world};
use crate::world::World;

/// The course of a run from the first push on: the kinds of its events, looks in a row once, and its tasks.
pub(super) fn course(world: &World) -> String {
    let mut words: Vec<String> = Vec::new();
    for event in &world.journal {
        let word = word(&event.what).filter(|word| words.last() != Some(word));
        words.extend(word);
    }
    words.join(" ")
}

fn word(what: &What) -> Option<String> {
    if let What::PullRequest(event) = what {
        return Some(format!("{:?}", event.kind()));
    }
    if let What::TaskDone { task, .. } = what {
        return Some(format!("[{task}]"));
    }
    (*what == What::RegressionPassed).then(|| "regression".to_owned())
}

fn is_of(event: &Event, kind: Kind) -> bool {
    matches!(&event.what, What::PullRequest(event) if event.kind() == kind)
}

pub(super) fn lives(hub: Hub, rules: Rules) -> World {
    world(hub, rules).run()
}

#[track_caller]
pub(super) fn check_course(hub: Hub, expected: &str) -> World {
    let world = lives(hub, rules());
    assert_eq!(course(&world), expected);
    world
}

#[track_caller]
pub(super) fn ends_complete(world: &World) {
    assert_eq!(world.state.end(), Some(&End::Complete { skipped: 0 }), "{}", course(world));
}

#[track_caller]
pub(super) fn ends_at(hub: Hub, rules: Rules, expected: &Obstacle) {
    let world = lives(hub, rules);
    assert_eq!(
        world.state.end(),
        Some(&End::PullRequest { obstacle: expected.clone() }),
        "{}",
        course(&world)
    );
}

pub(super) fn limit(world: &World) -> &LimitReached {
    match world.state.end() {
        Some(End::Stopped(StopReason::PullRequest { limit, .. })) => limit,
        other => panic!("{other:?}: {}", course(world)),
    }
}

pub(super) fn url() -> String {
    "https://forge/7".to_owned()
}

#[test]
fn all_is_well_at_once() {
    let world = check_course(|_| None, "[5.1] Begun Published Looked Satisfied");
    ends_complete(&world);
    let satisfied = Stage::Satisfied(Outcome::Ready { checks: 1, caveats: Vec::new() });
    assert_eq!(world.state.pull_request().stage(), &satisfied);
}

#[test]
fn without_the_lifecycle_nothing_is_pushed() {
    let rules = Rules { pull_request: PullRequestRules::default(), ..rules() };
    let world = lives(|_| panic!("nobody asked for this"), rules);
    ends_complete(&world);
}

#[test]
fn the_regression_command_comes_first_and_after_every_fix() {
    let rules = Rules { regression: Toggle::On, ..rules() };
    let world = lives(red_until_fixed, rules);
    let expected = "[5.1] regression Begun Published RerunPlanned Rerun FailuresBelieved TasksPlanned \
        TasksWritten [5.2] regression Begun Published Looked Satisfied";
    assert_eq!(course(&world), expected);
    ends_complete(&world);
}

/// A check that is red at the first push, also when it is run again.
fn red_until_fixed(sight: &Sight<'_>) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    let has_rerun = sight.count(Kind::Rerun) > 0;
    if sight.cycle() == 1 {
        let failed = CheckState::Failed;
        look.checks = vec![if has_rerun { again("test", failed) } else { check("test", failed) }];
    }
    looked(look)
}

#[test]
fn a_red_check_is_run_again_and_then_gets_a_task() {
    let world = check_course(
        red_until_fixed,
        "[5.1] Begun Published RerunPlanned Rerun FailuresBelieved TasksPlanned TasksWritten [5.2] \
         Begun Published Looked Satisfied",
    );
    ends_complete(&world);
    let request = world.state.pull_request().requests().next().expect("there is one");
    assert_eq!(request.title(), "Fix CI failure: test is broken");
    assert_eq!((request.text.as_str(), request.head.as_str()), ("…\nboom", "c1"));
}

#[test]
fn a_flaky_check_gets_no_task() {
    let world = check_course(
        |sight| {
            let mut look = sight.look()?;
            let has_rerun = sight.count(Kind::Rerun) > 0;
            look.checks = vec![if has_rerun {
                again("test", CheckState::Passed)
            } else {
                check("test", CheckState::Failed)
            }];
            looked(look)
        },
        "[5.1] Begun Published RerunPlanned Rerun Looked Satisfied",
    );
    ends_complete(&world);
}

#[test]
fn what_cannot_be_run_again_is_believed() {
    let external: Hub = |sight| {
        let mut look = sight.look()?;
        let mut red = check("ci/external", CheckState::Failed);
        red.run = None;
        look.checks = if sight.cycle() == 1 { vec![red] } else { look.checks };
        looked(look)
    };
    let course = "[5.1] Begun Published FailuresBelieved TasksPlanned TasksWritten [5.2] Begun Published Looked Satisfied";
    check_course(external, course);
    let refused: Hub = |sight| {
        if let ForgeAction::Rerun { checks, .. } = sight.action {
            let labels = checks.iter().map(|check| check.label.clone());
            return Some(ForgeReport::Rerun { refused: labels.collect() });
        }
        let mut look = sight.look().filter(|_| sight.cycle() == 1)?;
        look.checks = vec![check("test", CheckState::Failed)];
        looked(look)
    };
    check_course(
        refused,
        "[5.1] Begun Published RerunPlanned Rerun FailuresBelieved TasksPlanned TasksWritten [5.2] Begun \
         Published Looked Satisfied",
    );
}

/// Right after a check was started again the forge still shows the old run: that is not believed, unless it stays.
#[test]
fn old_news_of_a_check_that_runs_again_is_no_news() {
    let stays: Hub = |sight| {
        let mut look = sight.look()?;
        look.checks = if sight.cycle() == 1 { vec![check("test", CheckState::Failed)] } else { look.checks };
        looked(look)
    };
    let world = check_course(
        stays,
        "[5.1] Begun Published RerunPlanned Rerun Looked FailuresBelieved TasksPlanned TasksWritten [5.2] \
         Begun Published Looked Satisfied",
    );
    let is_planned = |event: &&Event| is_of(event, Kind::FailuresBelieved);
    let before = world.journal.iter().take_while(|event| !is_planned(event));
    assert_eq!(before.filter(|event| is_of(event, Kind::Looked)).count(), 3);
}

#[test]
fn skipped_checks_are_green_and_optional_ones_count_unless_told_otherwise() {
    let optional: Hub = |sight| {
        let mut look = sight.look()?;
        let mut required = check("build", CheckState::Passed);
        required.required = true;
        let mut red = check("lint", CheckState::Failed);
        red.run = None;
        look.checks = vec![required, red];
        looked(look)
    };
    let only_required = PullRequestRules { checks: WhichChecks::Required, ..rules().pull_request };
    ends_complete(&lives(optional, Rules { pull_request: only_required, ..rules() }));
    let all = lives(optional, rules());
    assert_eq!(limit(&all), &LimitReached::CiFixes { limit: 5, checks: vec!["lint".to_owned()] });
}

#[test]
fn fixes_for_ci_have_a_limit_that_no_green_in_between_resets() {
    // Red at every odd push, and a thread asks for one more push at every even one.
    let flapping: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.cycle() % 2 == 1 {
            let mut red = check("test", CheckState::Failed);
            red.run = None;
            look.checks = vec![red];
        } else {
            look.threads = vec![thread("T1", &format!("comment {}", sight.cycle()))];
        }
        looked(look)
    };
    let world = lives(flapping, rules());
    assert_eq!(limit(&world), &LimitReached::CiFixes { limit: 5, checks: vec!["test".to_owned()] });
    assert_eq!((world.state.pull_request().ci_rounds(), world.state.pull_request().cycles()), (5, 11));
}

#[test]
fn pushes_have_a_limit() {
    let never_content: Hub = |sight| {
        let mut look = sight.look()?;
        look.threads = vec![thread("T1", &format!("comment {}", sight.cycle()))];
        looked(look)
    };
    let world = lives(never_content, rules());
    assert_eq!(limit(&world), &LimitReached::Cycles { limit: 20 });
}

#[test]
fn checks_that_do_not_end_are_waited_for_until_the_time_is_up() {
    let pending: Hub = |sight| {
        let mut look = sight.look()?;
        look.checks.push(check("slow", CheckState::Pending));
        looked(look)
    };
    let world = lives(pending, rules());
    let awaited = "1 of 2 checks: slow".to_owned();
    assert_eq!(limit(&world), &LimitReached::Time { seconds: 48 * 3600, awaited });
}

#[test]
fn a_red_check_does_not_wait_for_ever_for_one_that_does_not_end() {
    let world = check_course(
        |sight| {
            let mut look = sight.look()?;
            let mut red = check("test", CheckState::Failed);
            red.run = None;
            if sight.cycle() == 1 {
                look.checks = vec![red, check("slow", CheckState::Pending)];
            }
            looked(look)
        },
        "[5.1] Begun Published Looked FailuresBelieved TasksPlanned TasksWritten [5.2] Begun Published Looked Satisfied",
    );
    ends_complete(&world);
}

#[test]
fn no_checks_at_all_is_enough_after_a_while() {
    let none: Hub = |sight| {
        let mut look = sight.look()?;
        look.checks.clear();
        looked(look)
    };
    let world = check_course(none, "[5.1] Begun Published Looked Satisfied");
    let satisfied = Stage::Satisfied(Outcome::Ready { checks: 0, caveats: Vec::new() });
    assert_eq!(world.state.pull_request().stage(), &satisfied);
    let is_first = |event: &&Event| {
        matches!(&event.what, What::PullRequest(event)
            if matches!(**event, PullRequestEvent::Looked { awaited: Awaited::FirstCheck, .. }))
    };
    assert_eq!(world.journal.iter().filter(is_first).count(), 3);
}

#[test]
fn a_check_that_vanishes_is_waited_for_a_while() {
    let vanishing: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.count(Kind::Looked) == 0 {
            look.checks.push(check("gone", CheckState::Pending));
        }
        looked(look)
    };
    let world = check_course(vanishing, "[5.1] Begun Published Looked Satisfied");
    let looks =
        |event: &&Event| matches!(&event.what, What::PullRequest(event) if event.kind() == Kind::Looked);
    assert_eq!(world.journal.iter().filter(looks).count(), 4);
}

#[test]
fn a_cancelled_check_is_run_again_and_then_a_person_is_needed() {
    let cancelled: Hub = |sight| {
        let mut look = sight.look()?;
        let has_rerun = sight.count(Kind::Rerun) > 0;
        let state = CheckState::Cancelled;
        look.checks = vec![if has_rerun { again("test", state) } else { check("test", state) }];
        looked(look)
    };
    ends_at(cancelled, rules(), &Obstacle::Cancelled { checks: vec!["test".to_owned()], url: url() });
}

#[test]
fn a_check_that_somebody_has_to_allow_is_waited_for() {
    let blocked: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.count(Kind::Looked) < 2 {
            look.checks.push(check("deploy", CheckState::NeedsApproval));
        }
        looked(look)
    };
    ends_complete(&check_course(blocked, "[5.1] Begun Published Looked Satisfied"));
}

#[test]
fn threads_get_a_task_each_and_are_waited_for_until_they_are_resolved() {
    let reviewed: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.count(Kind::Looked) < 2 {
            look.threads = vec![thread("T1", "c1"), thread("T2", "c2")];
        }
        looked(look)
    };
    let world = check_course(
        reviewed,
        "[5.1] Begun Published TasksPlanned TasksWritten [5.2] [5.3] Begun Published Looked Satisfied",
    );
    ends_complete(&world);
    let request = world.state.pull_request().request(&"5.3".into()).expect("there is one");
    assert_eq!(request.title(), "Address review: mona - please change T2");
    assert_eq!((request.file.as_deref(), request.line), (Some("src/a.rs"), Some(3)));
}

#[test]
fn threads_are_answered_if_that_is_wanted() {
    let reviewed: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.count(Kind::Replied) == 0 {
            look.threads = vec![thread("T1", "c1")];
        }
        looked(look)
    };
    let reply = PullRequestRules { reply: Toggle::On, ..rules().pull_request };
    let world = lives(reviewed, Rules { pull_request: reply, ..rules() });
    assert_eq!(
        course(&world),
        "[5.1] Begun Published TasksPlanned TasksWritten [5.2] Begun Published RepliesPlanned Replied Looked Satisfied"
    );
}

#[test]
fn a_new_comment_in_a_thread_is_a_new_task() {
    let world = check_course(
        |sight| {
            let mut look = sight.look()?;
            if sight.cycle() <= 2 {
                look.threads = vec![thread("T1", &format!("c{}", sight.cycle()))];
            }
            looked(look)
        },
        "[5.1] Begun Published TasksPlanned TasksWritten [5.2] Begun Published TasksPlanned TasksWritten [5.3] \
         Begun Published Looked Satisfied",
    );
    ends_complete(&world);
}

#[test]
fn the_latest_review_of_each_author_counts() {
    let superseded: Hub = |sight| {
        let mut look = sight.look()?;
        let no = ReviewState::ChangesRequested;
        look.reviews = vec![
            review("mona", ReviewState::Approved, "2"),
            review("mona", no, "1"),
            review("hubot", no, "1"),
            review("hubot", ReviewState::Dismissed, "2"),
        ];
        looked(look)
    };
    ends_complete(&check_course(superseded, "[5.1] Begun Published Looked Satisfied"));
    let stands: Hub = |sight| {
        let mut look = sight.look()?;
        let no = ReviewState::ChangesRequested;
        look.reviews = vec![review("mona", no, "1"), review("mona", ReviewState::Commented, "2")];
        if sight.count(Kind::Looked) > 1 {
            look.reviews.push(review("mona", ReviewState::Approved, "3"));
        }
        looked(look)
    };
    let world = check_course(
        stands,
        "[5.1] Begun Published TasksPlanned TasksWritten [5.2] Begun Published ReviewPlanned ReviewRequested Looked Satisfied",
    );
    ends_complete(&world);
}

#[test]
fn a_pull_request_that_somebody_merged_is_done_if_everything_is_in_it() {
    let merged: Hub = |sight| {
        let mut look = sight.look()?;
        look.openness = Openness::Merged;
        looked(look)
    };
    ends_complete(&check_course(merged, "[5.1] Begun Published Satisfied"));
    let without: Hub = |sight| {
        let mut look = sight.look()?;
        look.openness = Openness::Merged;
        look.head = "c0".to_owned();
        looked(look)
    };
    ends_at(without, rules(), &Obstacle::MergedWithout { number: 7, url: url() });
}

#[test]
fn a_closed_pull_request_needs_a_person() {
    let closed: Hub = |sight| {
        let mut look = sight.look()?;
        look.openness = Openness::Closed;
        looked(look)
    };
    ends_at(closed, rules(), &Obstacle::Closed { number: 7, url: url() });
}

#[test]
fn commits_that_somebody_pushed_are_taken_in() {
    let world = check_course(
        |sight| {
            let mut look = sight.look()?;
            if sight.count(Kind::Integrated) == 0 {
                look.head = "somebody's".to_owned();
            }
            looked(look)
        },
        "[5.1] Begun Published IntegrationPlanned Integrated Begun Published Looked Satisfied",
    );
    ends_complete(&world);
    let rejected: Hub = |sight| {
        let is_push = matches!(sight.action, ForgeAction::Publish { .. });
        (is_push && sight.count(Kind::Integrated) == 0).then_some(ForgeReport::Moved)
    };
    ends_complete(&check_course(
        rejected,
        "[5.1] Begun IntegrationPlanned Integrated Begun Published Looked Satisfied",
    ));
}

#[test]
fn a_push_that_the_forge_has_not_noticed_is_waited_for() {
    let late: Hub = |sight| {
        let mut look = sight.look()?;
        if sight.cycle() == 1 {
            look.threads = vec![thread("T1", "c1")];
        } else if sight.count(Kind::Looked) == 0 {
            look.head = "c1".to_owned();
        }
        looked(look)
    };
    let world = check_course(
        late,
        "[5.1] Begun Published TasksPlanned TasksWritten [5.2] Begun Published Looked Satisfied",
    );
    ends_complete(&world);
}

#[test]
fn a_branch_behind_its_base_or_in_conflict_takes_the_base_in() {
    let behind: Hub = |sight| base(sight, MergeState::Behind);
    let in_conflict: Hub = |sight| base(sight, MergeState::Conflicting);
    let course = "[5.1] Begun Published IntegrationPlanned Integrated Begun Published Looked Satisfied";
    ends_complete(&check_course(behind, course));
    ends_complete(&check_course(in_conflict, course));
    let conflict: Hub = |sight| {
        if matches!(sight.action, ForgeAction::Integrate { .. }) {
            return Some(ForgeReport::Obstructed(Obstacle::Conflict {
                with: "main".to_owned(),
                from: "origin".to_owned(),
            }));
        }
        base(sight, MergeState::Conflicting)
    };
    ends_at(conflict, rules(), &Obstacle::Conflict { with: "main".to_owned(), from: "origin".to_owned() });
}

fn base(sight: &Sight<'_>, state: MergeState) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    if sight.count(Kind::Integrated) == 0 {
        look.merge = state;
    }
    looked(look)
}

#[test]
fn it_is_merged_only_if_told_to() {
    let merge = PullRequestRules { merge: Some(MergeMethod::Squash), ..rules().pull_request };
    let world = lives(|_| None, Rules { pull_request: merge, ..rules() });
    assert_eq!(course(&world), "[5.1] Begun Published Looked MergePlanned Satisfied");
    let merged = Stage::Satisfied(Outcome::Merged { number: 7, url: url() });
    assert_eq!(world.state.pull_request().stage(), &merged);
}

#[test]
fn a_forge_that_is_away_is_waited_for_and_then_the_run_pauses() {
    let away_once: Hub = |sight| {
        let unavailable = ForgeReport::Unavailable { reason: "HTTP 502".to_owned(), retry_after: None };
        (sight.count(Kind::Unavailable) == 0).then_some(unavailable)
    };
    ends_complete(&check_course(away_once, "[5.1] Begun Unavailable Published Looked Satisfied"));
    let away: Hub = |_| {
        let retry_after = Some(Duration::from_secs(1));
        Some(ForgeReport::Unavailable { reason: "HTTP 502".to_owned(), retry_after })
    };
    let world = lives(away, rules());
    assert_eq!(world.state.end(), Some(&End::Unavailable { reason: "HTTP 502".to_owned() }));
}

#[test]
fn an_obstacle_is_looked_at_again_when_the_run_goes_on() {
    let no_login: Hub = |sight| {
        let ends = sight.world.journal.iter().filter(|event| matches!(event.what, What::Ended(_))).count();
        let obstacle = Obstacle::NoLogin { detail: "gh auth login".to_owned() };
        (ends == 0).then_some(ForgeReport::Obstructed(obstacle))
    };
    let mut world = world(no_login, rules());
    world.script.restarts = 1;
    let world = world.run();
    ends_complete(&world);
    assert_eq!(world.state.opened().map(|opened| opened.round), Some(1), "budgets go on where they were");
}

#[test]
fn a_new_round_after_a_limit_has_full_budgets() {
    let twice: Hub = |sight| {
        let mut look = sight.look()?;
        let ends = sight.world.journal.iter().filter(|event| matches!(event.what, What::Ended(_))).count();
        if ends == 0 {
            let mut red = check("test", CheckState::Failed);
            red.run = None;
            look.checks = vec![red];
        }
        looked(look)
    };
    let mut world = world(twice, rules());
    world.script.restarts = 1;
    let world = world.run();
    ends_complete(&world);
    assert_eq!((world.state.pull_request().cycles(), world.state.pull_request().ci_rounds()), (1, 0));
}

#[test]
fn already_merged_before_it_was_ever_watched() {
    let merged: Hub = |sight| {
        let is_push = matches!(sight.action, ForgeAction::Publish { .. });
        is_push.then(|| ForgeReport::AlreadyMerged { number: 7, url: url() })
    };
    ends_complete(&check_course(merged, "[5.1] Begun Satisfied"));
}

/// Somebody wants changes, gets them, and says yes once asked to look again.
fn a_no(sight: &Sight<'_>) -> Option<ForgeReport> {
    let mut look = sight.look()?;
    let is_asked = sight.count(Kind::ReviewRequested) > 0;
    let state = if is_asked { ReviewState::Approved } else { ReviewState::ChangesRequested };
    look.reviews = vec![review("mona", state, "1")];
    looked(look)
}

#[test]
fn whoever_wanted_changes_is_asked_to_look_again() {
    let world = check_course(
        a_no,
        "[5.1] Begun Published TasksPlanned TasksWritten [5.2] Begun Published ReviewPlanned ReviewRequested \
         Looked Satisfied",
    );
    ends_complete(&world);
}

#[test]
fn nobody_is_asked_again_where_that_is_not_wanted() {
    let pull_request = PullRequestRules { request_review: Toggle::Off, ..rules().pull_request };
    let world = lives(a_no, Rules { pull_request, ..rules() });
    let expected = "mona to review again".to_owned();
    assert_eq!(
        *limit(&world),
        LimitReached::Time { seconds: 172_800, awaited: expected },
        "{}",
        course(&world)
    );
    assert!(!course(&world).contains("ReviewPlanned"));
}

#[test]
fn each_no_is_asked_about_once() {
    let check = |hub: Hub, expected: usize| {
        let world = lives(hub, rules());
        assert_eq!(course(&world).matches("ReviewPlanned").count(), expected, "{}", course(&world));
    };
    // The reviewer does not answer.
    check(
        |sight| {
            let reviews = vec![review("mona", ReviewState::ChangesRequested, "1")];
            looked(engine::Look { reviews, ..sight.look()? })
        },
        1,
    );
    // Somebody else asked already.
    check(
        |sight| {
            let reviews = vec![review("mona", ReviewState::ChangesRequested, "1")];
            looked(engine::Look { reviews, requested: vec!["mona".to_owned()], ..sight.look()? })
        },
        0,
    );
    // The no is about the very commit that is there.
    check(
        |sight| {
            let look = sight.look()?;
            let review = review("mona", ReviewState::ChangesRequested, "1");
            let reviews = vec![engine::Review { commit: look.head.clone(), ..review }];
            looked(engine::Look { reviews, ..look })
        },
        0,
    );
    // It comes without a word, so nothing was done in answer to it.
    check(
        |sight| {
            let review = review("mona", ReviewState::ChangesRequested, "1");
            looked(engine::Look {
                reviews: vec![engine::Review { body: String::new(), ..review }],
                ..sight.look()?
            })
        },
        0,
    );
}

#[test]
fn what_a_review_says_closes_no_issue_and_calls_nobody() {
    let world = lives(
        |sight| {
            let mut look = sight.look()?;
            if sight.cycle() == 1 {
                let body = "Closes #12, fixes gh-3, resolves https://forge/a/b/issues/4, see @all; a#b 1-2 [skip ci] #\u{200b}5"
                    .to_owned();
                look.reviews =
                    vec![engine::Review { body, ..review("mona", ReviewState::ChangesRequested, "1") }];
            }
            looked(look)
        },
        rules(),
    );
    let request = world.state.pull_request().requests().next().expect("there is one");
    let expected =
        "Closes # 12, fixes gh- 3, resolves https://forge/a/b/issues/ 4, see @ all; a#b 1-2 (skip ci) # 5";
    assert_eq!(request.summary, expected);
}

//! What other people and their machines do to a pull request.

use testkit::forge::{Check, Forge, Review, Sight};
use testkit::{Finished, Sandbox};

use super::lifecycle::{LOG, threads};
use super::scratch::{PLAN, push_as_another, pushed, run, scratch};

#[track_caller]
fn complete(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{finished}");
    assert_eq!(finished.stdout.lines().last(), Some("ALL_TASKS_COMPLETE"), "{finished}");
}

fn asked_for(sandbox: &Sandbox) -> Vec<String> {
    let tasks = sandbox.agent_calls().into_iter().map(|call| call.task);
    tasks.filter(|task| task.starts_with("5.") && task != "5.1").collect()
}

fn reruns(forge: &Forge) -> usize {
    forge.hub().calls.iter().filter(|call| call.ends_with("rerun-failed-jobs")).count()
}

#[test]
fn no_checks_are_configured() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { checks: vec![], ..Sight::default() });
    let finished = run(&sandbox, &forge, &[]);
    complete(&finished);
    assert!(finished.stderr.contains("waiting for a first check to appear"), "{finished}");
    assert!(finished.stdout.contains("no checks are configured"), "{finished}");
}

#[test]
fn checks_are_pending_for_long() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|moment| {
        let slow = if moment.look < 15 { Check::pending("slow") } else { Check::passed("slow") };
        Sight { checks: vec![slow], ..Sight::default() }
    });
    let finished = run(&sandbox, &forge, &[]);
    complete(&finished);
    assert!(finished.stderr.contains("waiting for 1 of 1 checks: CI / slow; next look in"), "{finished}");
}

#[test]
fn only_required_checks_count_if_told_so() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| {
        let required = Check { required: true, ..Check::passed("build") };
        Sight { checks: vec![required, Check::failed("lint", "no")], ..Sight::default() }
    });
    complete(&run(&sandbox, &forge, &["--pr-checks", "required"]));
    assert_eq!(asked_for(&sandbox), [""; 0]);
}

#[test]
fn a_check_vanishes() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|moment| {
        let mut sight = Sight::default();
        if moment.look == 1 {
            sight.checks.push(Check::pending("gone"));
        }
        sight
    });
    complete(&run(&sandbox, &forge, &[]));
    assert_eq!(asked_for(&sandbox), [""; 0]);
}

#[test]
fn skipped_and_neutral_checks_are_green() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight {
        checks: vec![Check::ended("a", "SKIPPED"), Check::ended("b", "NEUTRAL")],
        ..Sight::default()
    });
    complete(&run(&sandbox, &forge, &[]));
    assert_eq!(reruns(&forge), 0);
}

#[test]
fn a_cancelled_check_is_run_again_and_then_a_person_is_needed() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|moment| {
        let check = if moment.reruns < 2 { Check::ended("test", "CANCELLED") } else { Check::passed("test") };
        Sight { checks: vec![check], ..Sight::default() }
    });
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("paused: cancelled, and cancelled again: CI / test"), "{finished}");
    assert_eq!(reruns(&forge), 1);
    forge.shows(|_| Sight::default());
    complete(&run(&sandbox, &forge, &[]));
}

#[test]
fn a_flaky_check_gets_no_task() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|moment| {
        let check = if moment.reruns == 0 { Check::failed("test", LOG) } else { Check::passed("test") };
        Sight { checks: vec![check], ..Sight::default() }
    });
    let finished = run(&sandbox, &forge, &[]);
    complete(&finished);
    assert_eq!((reruns(&forge), asked_for(&sandbox)), (1, vec![]), "{finished}");
}

#[test]
fn a_check_that_may_not_be_run_again_is_believed() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().refuses_rerun = true;
    forge.shows(|moment| match moment.push {
        1 => Sight { checks: vec![Check::failed("test", LOG)], ..Sight::default() },
        _ => Sight::default(),
    });
    complete(&run(&sandbox, &forge, &[]));
    assert_eq!(asked_for(&sandbox), ["5.2"]);
}

#[test]
fn ci_stays_red_whatever_is_tried() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { checks: vec![Check::failed("test", LOG)], ..Sight::default() });
    let finished = run(&sandbox, &forge, &["--pr-ci-fixes-max", "2"]).expect_code(1);
    assert!(finished.stderr.contains("ERROR: CI is still red after 2 rounds of fixes"), "{finished}");
    assert!(finished.stderr.contains("Pull request: https://github.com/acme/widgets/pull/7"), "{finished}");
    assert_eq!(asked_for(&sandbox), ["5.2", "5.3"]);
    let progress = sandbox.read("specs/demo/.progress.md");
    assert!(progress.contains("CI is still red after 2 rounds of fixes: CI / test"), "{progress}");
    forge.shows(|_| Sight::default());
    complete(&run(&sandbox, &forge, &[]));
}

#[test]
fn pushes_reach_their_limit() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(false), ..Sight::default() });
    let finished = run(&sandbox, &forge, &["--pr-cycles-max", "1"]).expect_code(1);
    assert!(finished.stderr.contains("ERROR: Max pull request cycles (1) reached"), "{finished}");
}

#[test]
fn reviews_that_were_dismissed_or_superseded_ask_for_nothing() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| {
        let review = |author, state, at| Review { author, state, body: "no", at, push: 1 };
        let (early, late) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
        let reviews = vec![
            review("mona", "CHANGES_REQUESTED", early),
            review("mona", "APPROVED", late),
            review("hubot", "CHANGES_REQUESTED", early),
            review("hubot", "DISMISSED", late),
        ];
        Sight { reviews, ..Sight::default() }
    });
    complete(&run(&sandbox, &forge, &[]));
    assert_eq!(asked_for(&sandbox), [""; 0]);
}

#[test]
fn threads_that_a_person_resolved_ask_for_nothing() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(true), ..Sight::default() });
    complete(&run(&sandbox, &forge, &[]));
    assert_eq!(asked_for(&sandbox), [""; 0]);
}

#[test]
fn threads_are_answered_once_and_resolved_if_that_is_wanted() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(false), ..Sight::default() });
    complete(&run(&sandbox, &forge, &["--pr-reply", "--pr-resolve"]));
    assert_eq!(asked_for(&sandbox), ["5.2", "5.3"]);
    assert_eq!(forge.hub().answers.len(), 2);
    assert_eq!(forge.hub().resolved.len(), 2);
}

#[test]
fn a_pull_request_that_is_there_already_is_found() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().open("feature", "main");
    complete(&run(&sandbox, &forge, &[]));
    assert_eq!(forge.hub().pulls.len(), 1);
}

#[test]
fn somebody_closes_it() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(false), ..Sight::default() });
    let _ = run(&sandbox, &forge, &["--pr-cycles-max", "1"]).expect_code(1);
    forge.hub().pulls[0].state = "CLOSED";
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("paused: pull request #7 was closed"), "{finished}");
    assert!(finished.stderr.contains("gh pr reopen 7"), "{finished}");
    forge.hub().pulls[0].state = "OPEN";
    forge.shows(|_| Sight::default());
    complete(&run(&sandbox, &forge, &[]));
}

#[test]
fn somebody_merges_it() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { checks: vec![Check::pending("slow")], ..Sight::default() });
    let command = sandbox.install_agent(&super::scratch::agent());
    let mut background = forge.begin(&sandbox, &["run", "--agent-cmd", &command, "--pr-look-every", "20ms"]);
    testkit::wait_for("the watch to begin", || {
        background.stderr().contains("waiting for 1 of 1 checks") || !background.is_running()
    });
    {
        let mut hub = forge.hub();
        hub.pulls[0].state = "MERGED";
        hub.pulls[0].head = Some(sandbox.git(&["rev-parse", "feature"]).trim().to_owned());
    }
    let finished = background.wait();
    complete(&finished);
    assert!(finished.stdout.contains("is merged"), "{finished}");
    // A commit that is not in it is not lost without a word.
    sandbox.write("more.txt", "more\n");
    sandbox.commit_all("more");
    sandbox.spec(
        "demo",
        &format!("{}\n- [ ] 5.2 More\n  - **Verify**: `true`\n", sandbox.tasks("demo").trim_end()),
    );
    sandbox.commit_all("more tasks");
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("was merged before everything was in it"), "{finished}");
}

#[test]
fn somebody_pushes_to_the_branch() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(false), ..Sight::default() });
    let _ = run(&sandbox, &forge, &["--pr-cycles-max", "1"]).expect_code(1);
    push_as_another(&sandbox, "feature", "feature", "theirs.txt", &[]);
    forge.shows(|_| Sight::default());
    let finished = run(&sandbox, &forge, &[]);
    complete(&finished);
    assert!(finished.stderr.contains("somebody pushed to the branch: taking that in"), "{finished}");
    assert!(sandbox.has("theirs.txt"));
    assert_eq!(pushed(&sandbox, "feature").len(), sandbox.subjects().len());
}

#[test]
fn somebody_replaces_commits_of_the_branch() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(false), ..Sight::default() });
    let _ = run(&sandbox, &forge, &["--pr-cycles-max", "1"]).expect_code(1);
    let before = sandbox.subjects();
    push_as_another(&sandbox, "main", "feature", "theirs.txt", &["--force"]);
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(
        finished.stderr.contains("somebody replaced commits of feature that had been pushed"),
        "{finished}"
    );
    assert_eq!(pushed(&sandbox, "feature"), ["plan", "theirs: theirs.txt"], "nothing is pushed by force");
    assert!(sandbox.subjects().len() >= before.len() && !sandbox.has("theirs.txt"));
}

#[test]
fn commits_that_somebody_took_back_are_not_pushed_again() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(false), ..Sight::default() });
    let _ = run(&sandbox, &forge, &["--pr-cycles-max", "1"]).expect_code(1);
    let remote = sandbox.control("remote.git").display().to_string();
    sandbox.git(&["-C", &remote, "update-ref", "refs/heads/feature", "refs/heads/main"]);
    forge.shows(|_| Sight::default());
    for _ in 0..2 {
        let finished = run(&sandbox, &forge, &[]).expect_code(3);
        assert!(finished.stderr.contains("somebody replaced commits of feature"), "{finished}");
        assert_eq!(pushed(&sandbox, "feature"), ["plan"], "{finished}");
    }
    // Who pushes them again means it.
    sandbox.git(&["push", "--quiet", &remote, "feature"]);
    complete(&run(&sandbox, &forge, &[]));
}

#[test]
fn a_red_check_has_no_log() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|moment| match moment.push {
        1 => Sight { checks: vec![Check::failed("build", "")], ..Sight::default() },
        _ => Sight::default(),
    });
    let finished = run(&sandbox, &forge, &[]);
    complete(&finished);
    assert!(finished.stderr.contains("no log of CI / build could be read"), "{finished}");
    let calls = forge.hub().calls.clone();
    assert!(calls.iter().any(|call| call.contains("/actions/jobs/")), "{calls:?}");
    assert!(sandbox.read("specs/demo/tasks.md").contains("No log of it could be read"), "{finished}");
}

#[test]
fn a_reviewer_does_not_say_what_is_wrong() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| {
        let review = Review {
            author: "bob",
            state: "CHANGES_REQUESTED",
            body: "",
            at: "2026-01-01T00:00:00Z",
            push: 1,
        };
        Sight { reviews: vec![review], ..Sight::default() }
    });
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("bob wants changes but does not say which"), "{finished}");
}

#[test]
fn the_branch_is_behind_its_base() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    push_as_another(&sandbox, "main", "main", "base.txt", &[]);
    forge.shows(|moment| match moment.push {
        1 => Sight { merge_state: "BEHIND", ..Sight::default() },
        _ => Sight::default(),
    });
    let finished = run(&sandbox, &forge, &[]);
    complete(&finished);
    assert!(finished.stderr.contains("the base has moved on: taking that in"), "{finished}");
    assert!(sandbox.has("base.txt"));
}

#[test]
fn the_base_is_in_conflict() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    push_as_another(&sandbox, "main", "main", "first.txt", &[]);
    forge.shows(|_| Sight { mergeable: "CONFLICTING", merge_state: "DIRTY", ..Sight::default() });
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("what main has does not go together with what is here"), "{finished}");
    assert!(finished.stderr.contains("`git pull --no-rebase origin main`"), "{finished}");
    assert_eq!(sandbox.dirt(), [""; 0], "the merge was given up");
    assert_eq!(sandbox.read("first.txt"), "first.txt\n");
}

#[test]
fn a_review_that_only_comments_is_told() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| {
        let review = |author, state, body, at| Review { author, state, body, at, push: 1 };
        let (early, late) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
        let reviews = vec![
            review("mona", "COMMENTED", "Please rename\nthe file", early),
            review("hubot", "COMMENTED", "Hm.", early),
            review("hubot", "APPROVED", "", late),
            review("bob", "COMMENTED", "", late),
        ];
        Sight { reviews, ..Sight::default() }
    });
    let finished = run(&sandbox, &forge, &[]);
    complete(&finished);
    assert_eq!(asked_for(&sandbox), [""; 0]);
    let told = "not asked for, but said in reviews: mona: Please rename the file";
    assert!(finished.stdout.contains(told) && finished.stderr.contains(told), "{finished}");
}

#[test]
fn a_task_of_a_review_names_the_files_that_the_review_names() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|moment| {
        let body = "Rename it in src/parser.rs:12, and in `news.txt` too.";
        let (state, at) = ("CHANGES_REQUESTED", "2026-01-01T00:00:00Z");
        let no = Review { author: "mona", state, body, at, push: 1 };
        let yes = Review { state: "APPROVED", at: "2026-01-02T00:00:00Z", ..no.clone() };
        Sight { reviews: if moment.push == 1 { vec![no] } else { vec![no, yes] }, ..Sight::default() }
    });
    complete(&run(&sandbox, &forge, &[]));
    let tasks = sandbox.tasks("demo");
    assert!(tasks.contains("\n  - **Files**: `news.txt`, `src/parser.rs`\n"), "{tasks}");
}

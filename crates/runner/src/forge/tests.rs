//! Answers of the forge and their meaning, without a forge.

use std::path::Path;
use std::time::Duration;

use engine::{CheckState, MergeState, Obstacle, Openness, ReviewState};
use serde_json::{Value, json};

use crate::forge::call::Answer;
use crate::forge::logs::{excerpt, whole_excerpt};
use crate::forge::look::{has_more_threads, read, read_threads};
use crate::forge::setback::{Setback, version_problem};
use crate::process::Exit;

fn answer(code: i32, stderr: &str) -> Answer {
    Answer {
        command: "gh x".to_owned(),
        exit: Exit::Code(code),
        stdout: String::new(),
        stderr: stderr.to_owned(),
    }
}

#[test]
fn what_programs_say_is_told_apart() {
    let kind = |code: i32, said: &str| match Setback::of(&answer(code, said)) {
        Setback::Unavailable { .. } => "away",
        Setback::Obstructed(Obstacle::NoLogin { .. }) => "login",
        Setback::Obstructed(Obstacle::NotPermitted { .. }) => "permission",
        Setback::Obstructed(_) => "refused",
    };
    for (code, said, expected) in [
        (4, "To get started with GitHub CLI, please run:  gh auth login", "login"),
        (1, "HTTP 401: Bad credentials (https://api.github.com/graphql)", "login"),
        (128, "fatal: Authentication failed for 'https://github.com/a/b.git/'", "login"),
        (128, "git@github.com: Permission denied (publickey).", "login"),
        (128, "fatal: could not read Username for 'https://github.com': terminal prompts disabled", "login"),
        (1, "HTTP 403: API rate limit exceeded for user ID 1. (https://api.github.com/graphql)", "away"),
        (1, "gh: You have exceeded a secondary rate limit", "away"),
        (1, "HTTP 502: Bad Gateway (https://api.github.com/graphql)", "away"),
        (1, "error connecting to api.github.com\ncheck your internet connection", "away"),
        (
            128,
            "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com",
            "away",
        ),
        (1, "dial unix /x.sock: connect: connection refused", "away"),
        (1, "HTTP 403: Resource not accessible by integration", "permission"),
        (1, "remote: Permission to acme/widgets.git denied to mona.", "permission"),
        (1, "GraphQL: Could not resolve to a Repository with the name 'a/b'. (repository)", "refused"),
    ] {
        assert_eq!(kind(code, said), expected, "{said}");
    }
    let late = Answer { exit: Exit::DeadlinePassed, ..answer(0, "") };
    assert!(matches!(Setback::of(&late), Setback::Unavailable { .. }));
    let missing = Answer { exit: Exit::CannotStart("no gh".to_owned()), ..answer(0, "") };
    let expected = Obstacle::NoProgram { reason: "no gh".to_owned() };
    assert_eq!(Setback::of(&missing), Setback::Obstructed(expected));
    let limited = Setback::of(&answer(1, "HTTP 429: too many (Retry-After: 30)"));
    let Setback::Unavailable { retry_after, .. } = limited else { panic!("{limited:?}") };
    assert_eq!(retry_after, Some(Duration::from_secs(30)));
}

#[test]
fn versions_that_are_too_old_are_named() {
    assert_eq!(version_problem("gh version 2.23.0 (2023-02-27 Debian 2.23.0+dfsg1-1)\n"), None);
    assert_eq!(version_problem("gh version 3.0.1\n"), None);
    let old = version_problem("gh version 2.4.0 (2022-01-01)").expect("it is");
    assert_eq!(old, "gh 2.4 is too old, 2.23 or newer is needed");
    assert_eq!(version_problem("something else"), None);
}

fn page(checks: &Value) -> Value {
    json!({"data": {"viewer": {"login": "me"}, "repository": {"pullRequest": {
        "state": "OPEN", "headRefOid": "abc", "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN",
        "reviews": {"nodes": [
            {"id": "R1", "state": "CHANGES_REQUESTED", "body": "no", "submittedAt": "2026-01-01T00:00:00Z",
             "author": {"login": "mona"}},
            {"id": "R2", "state": "PENDING", "body": "", "submittedAt": null, "author": null}]},
        "reviewThreads": {"nodes": [
            {"id": "T1", "isResolved": false, "path": "src/a.rs", "line": null, "originalLine": 7, "comments":
             {"nodes": [
                {"id": "C1", "body": "rename\nthis", "author": {"login": "mona"}},
                {"id": "C2", "body": "Done. <!-- tillgreen 5.2 -->", "author": {"login": "me"}}]}},
            {"id": "T2", "isResolved": true, "path": "b", "comments": {"nodes": []}}]},
        "commits": {"nodes": [{"commit": {"statusCheckRollup": {"contexts": {"nodes": checks}}}}]}}}}})
}

#[test]
fn a_look_is_read_from_all_its_pages() {
    let run = |conclusion: &str, status: &str| {
        json!({"__typename": "CheckRun", "databaseId": 5, "name": "test", "status": status,
               "conclusion": conclusion, "checkSuite": {"workflowRun": {"databaseId": 9, "workflow": {"name": "CI"}}}})
    };
    let first =
        page(&json!([run("SKIPPED", "COMPLETED"), run("FAILURE", "COMPLETED"), run("", "IN_PROGRESS")]));
    let second = page(&json!([run("CANCELLED", "COMPLETED"), run("ACTION_REQUIRED", "COMPLETED"),
        {"__typename": "StatusContext", "context": "ci/x", "state": "ERROR", "description": "boom"}]));
    let look = read(&[first, second]).expect("a look");
    assert_eq!((look.openness, look.merge, look.head.as_str()), (Openness::Open, MergeState::Fine, "abc"));
    let states: Vec<CheckState> = look.checks.iter().map(|check| check.state).collect();
    use CheckState::{Cancelled, Failed, NeedsApproval, Passed, Pending};
    assert_eq!(states, [Passed, Failed, Pending, Cancelled, NeedsApproval, Failed]);
    let check = &look.checks[1];
    assert_eq!((check.label.as_str(), check.run, check.id.as_str()), ("CI / test", Some(9), "5"));
    assert_eq!((look.checks[5].run, look.checks[5].summary.as_str()), (None, "boom"));
    assert_eq!(look.reviews[0].state, ReviewState::ChangesRequested);
    assert_eq!((look.reviews[1].author.as_str(), look.reviews[1].at.as_str()), ("ghost", "~"));
    assert_eq!(look.threads.len(), 1, "a thread without comments of others asks for nothing");
    let thread = &look.threads[0];
    assert_eq!(
        (thread.comment.as_str(), thread.line, thread.summary.as_str()),
        ("C1", Some(7), "rename\nthis")
    );
}

#[test]
fn threads_that_do_not_fit_on_a_page_are_asked_for() {
    let mut page = page(&json!([]));
    let threads = |total: u64| {
        json!({"totalCount": total, "nodes": [
        {"id": "T", "isResolved": false, "path": "a", "line": 1, "comments": {"nodes": [
            {"id": "C", "body": "this", "author": {"login": "mona"}}]}}]})
    };
    page["data"]["repository"]["pullRequest"]["reviewThreads"] = threads(1);
    assert!(!has_more_threads(std::slice::from_ref(&page)));
    page["data"]["repository"]["pullRequest"]["reviewThreads"] = threads(2);
    assert!(has_more_threads(std::slice::from_ref(&page)));
    assert_eq!(read_threads(&[page.clone(), page]).len(), 2);
}

#[test]
fn states_of_the_base() {
    let check = |mergeable: &str, status: &str, expected: MergeState| {
        let mut page = page(&json!([]));
        page["data"]["repository"]["pullRequest"]["mergeable"] = json!(mergeable);
        page["data"]["repository"]["pullRequest"]["mergeStateStatus"] = json!(status);
        assert_eq!(read(&[page]).expect("a look").merge, expected);
    };
    check("CONFLICTING", "DIRTY", MergeState::Conflicting);
    check("MERGEABLE", "BEHIND", MergeState::Behind);
    check("MERGEABLE", "BLOCKED", MergeState::Blocked);
    check("MERGEABLE", "CLEAN", MergeState::Fine);
    check("UNKNOWN", "UNKNOWN", MergeState::Unknown);
}

#[test]
fn answers_that_make_no_sense_are_no_look() {
    for nonsense in [
        json!(null),
        json!([]),
        json!({"data": null}),
        json!({"data": {"repository": {"pullRequest": null}}}),
    ] {
        assert_eq!(read(&[nonsense]), None);
    }
    assert_eq!(read(&[]), None);
    let empty = json!({"data": {"repository": {"pullRequest": {}}}});
    assert!(read(&[empty]).is_some_and(|look| look.checks.is_empty()));
}

const LOG: &str = "\
build\tCompile\t2026-01-01T00:00:00.0000000Z fine
test\tSet up\t2026-01-01T00:00:00.0000000Z ready
test\tRun tests\t2026-01-01T00:00:01.0000000Z running 2 tests
test\tRun tests\t2026-01-01T00:00:02.0000000Z thread 'a' panicked at Cargo.toml:7:5
test\tRun tests\t2026-01-01T00:00:03.0000000Z ##[error]Process completed with exit code 101.
";

#[test]
fn a_log_gives_its_failed_step() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let log = excerpt("CI / test", LOG, root);
    assert_eq!(log.step.as_deref(), Some("Run tests"));
    assert_eq!(log.summary, "thread 'a' panicked at Cargo.toml:7:5");
    assert_eq!((log.file.as_deref(), log.line), (Some("Cargo.toml"), Some(7)));
    assert_eq!(log.tail.lines().count(), 3);
    let other = excerpt("CI / lint", LOG, root);
    assert_eq!(other.step.as_deref(), Some("Run tests"), "a job by another name gets what there is");
    let odd = LOG.replace("test\t", "test [a]\t");
    let odd = excerpt(&plan::one_line("CI / test [a]"), &format!("{odd}last\tstep\tx"), root);
    assert_eq!(odd.step.as_deref(), Some("Run tests"));
    let none = excerpt("CI / lint", "", root);
    assert_eq!((none.step, none.summary.as_str(), none.tail.as_str()), (None, "", ""));
}

#[test]
fn the_log_of_a_job_ends_with_its_last_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let log = "2026-01-26T14:30:00.0000000Z building\n2026-01-26T14:30:01.0000000Z error in Cargo.toml:7\n\
        2026-01-26T14:30:02.0000000Z ##[error]The runner has received a shutdown signal\n\
        2026-01-26T14:30:03.0000000Z Post job cleanup.\n";
    let read = whole_excerpt("CI / test", log, root);
    assert_eq!((read.step, read.file.as_deref(), read.line), (None, Some("Cargo.toml"), Some(7)));
    assert_eq!(read.tail, "building\nerror in Cargo.toml:7\nThe runner has received a shutdown signal");
    assert_eq!(whole_excerpt("CI / test", "", root).tail, "");
    assert_eq!(whole_excerpt("CI / test", "no error\n", root).tail, "no error");
}

proptest::proptest! {
    #[test]
    fn any_log_is_read_without_a_panic(log in ".{0,200}(\n(test\tstep\t.{0,80}))*") {
        excerpt("CI / test", &log, Path::new("/"));
    }

    #[test]
    fn any_words_are_classified_without_a_panic(code in -1_i32..260, said in ".{0,200}") {
        Setback::of(&answer(code, &said));
    }
}

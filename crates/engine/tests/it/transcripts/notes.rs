//! Transcripts: answers that are noted down while the run is over.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn retry_noted() {
    assert_snapshot!(show("retry, noted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    1.1 answered: Retry
    opened, round 1
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn fix_noted() {
    assert_snapshot!(show("fix, noted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    1.1 answered: Fix("chmod")
    opened, round 1
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn skip_noted() {
    assert_snapshot!(show("skip, noted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    1.1 skipped: User escalation - permission denied
    opened, round 1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2
    "#);
}

#[test]
fn abort_noted() {
    assert_snapshot!(show("abort, noted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    ended: "aborted"
    opened, round 2
    1.1 proof started
    1.1 proof green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn rejection_noted() {
    assert_snapshot!(show("rejection, noted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Judge
    ended: {"waiting":{"task":"1.1"}}
    1.1 failed, VerificationFail -> Retry: wrong
    opened, round 1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Judge
    ended: {"waiting":{"task":"1.1"}}
    1.1 answered: Approve
    opened, round 1
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn reply_noted() {
    assert_snapshot!(show("reply, noted"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    ended: {"waiting":{"task":"1.1"}}
    1.1 answered: Reply("blue")
    opened, round 1
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn two_answers_noted() {
    assert_snapshot!(show("two answers, noted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 failed, PermissionDenied -> Ask: permission denied: may not write
    1.2 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    1.1 answered: Fix("chmod")
    opened, round 1
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"waiting":{"task":"1.2"}}
    1.2 answered: Retry
    opened, round 1
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

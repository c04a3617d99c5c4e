//! Transcripts: starting again.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn a_new_round_after_a_stop() {
    assert_snapshot!(show("a new round after a stop"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e3
    ended: {"stopped":{"retries":{"task":"1.1","attempts":3}}}
    opened, round 2
    1.1 proof started
    1.1 proof green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_new_round_after_a_cap() {
    assert_snapshot!(show("a new round after a cap"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"capped":{"iterations":{"limit":2}}}
    opened, round 2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_new_round_after_an_abort() {
    assert_snapshot!(show("a new round after an abort"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
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
fn a_new_round_mended_by_hand() {
    assert_snapshot!(show("a new round, mended by hand"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e3
    ended: {"stopped":{"retries":{"task":"1.1","attempts":3}}}
    opened, round 2
    1.1 proof started
    1.1 mended by hand: a.ts
    ended: {"waiting":{"task":"1.1"}}
    opened, round 2
    1.1 answered: Approve
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_new_round_mended_by_hand_in_part() {
    assert_snapshot!(show("a new round, mended by hand in part"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e3
    ended: {"stopped":{"retries":{"task":"1.1","attempts":3}}}
    opened, round 2
    1.1 proof started
    1.1 mended by hand: a.ts
    ended: {"waiting":{"task":"1.1"}}
    opened, round 2
    1.1 answered: Retry
    1.1 attempt 4 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e4
    1.1 again, attempt 5
    1.1 attempt 5 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

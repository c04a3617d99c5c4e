//! Transcripts: questions to a person and their answers.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn denied_pause() {
    assert_snapshot!(show("denied, pause"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn denied_nobody_answers() {
    assert_snapshot!(show("denied, nobody answers"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: "interrupted"
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn denied_skip() {
    assert_snapshot!(show("denied, skip"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.1 skipped: skipped by --on-escalation skip
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2
    "#);
}

#[test]
fn denied_abort() {
    assert_snapshot!(show("denied, abort"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: "aborted"
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn denied_fix() {
    assert_snapshot!(show("denied, fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.1 answered: Fix("use sudo")
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Ask: e2
    1.1 asks: Exhausted
    1.1 answered: Fix("no, chmod")
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn denied_while_recovery_is_on() {
    assert_snapshot!(show("denied while recovery is on"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn exhausted_retry() {
    assert_snapshot!(show("exhausted, retry"), @r#"
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
    1.1 asks: Exhausted
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
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

#[test]
fn exhausted_fix() {
    assert_snapshot!(show("exhausted, fix"), @r#"
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
    1.1 asks: Exhausted
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Fix("trim")
    1.1 attempt 4 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Ask: e4
    1.1 asks: Exhausted
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Fix("trim it all")
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

#[test]
fn exhausted_skip() {
    assert_snapshot!(show("exhausted, skip"), @r#"
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
    1.1 asks: Exhausted
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 skipped: User escalation - automated recovery failed
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2
    "#);
}

#[test]
fn exhausted_abort() {
    assert_snapshot!(show("exhausted, abort"), @r#"
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
    1.1 asks: Exhausted
    ended: "aborted"
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn fix_limit_fix() {
    assert_snapshot!(show("fix limit, fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: e1
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: e2
    1.1 gets fix 1.1.2
    1.1.2 inserted
    1.1.2 attempt 1 (executor)
    1.1.2 claims success
    1.1.2 checks green
    1.1.2 done, commit c2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: e3
    1.1 gets fix 1.1.3
    1.1.3 inserted
    1.1.3 attempt 1 (executor)
    1.1.3 claims success
    1.1.3 checks green
    1.1.3 done, commit c3
    1.1 again, attempt 4
    1.1 attempt 4 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: e4
    1.1 asks: Exhausted
    1.1 answered: Fix("trim")
    1.1 attempt 5 (executor)
    1.1 failed, Contradiction -> Ask: CONTRADICTION: claimed completion while admitting failure
    1.1 asks: Exhausted
    1.1 answered: Fix("trim it all")
    1.1 attempt 6 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.1.2  [x] 1.1.3
    "#);
}

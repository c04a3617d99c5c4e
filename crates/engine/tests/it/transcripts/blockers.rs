//! Transcripts: an agent that says what is in its way.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn blocked_by_a_later_task() {
    assert_snapshot!(show("blocked by a later task"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.3
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn blocked_twice() {
    assert_snapshot!(show("blocked twice"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 asks: Blocked
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn blocked_again_in_a_new_round() {
    assert_snapshot!(show("blocked again in a new round"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 asks: Blocked
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.3
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c1
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn blocked_after_a_failure() {
    assert_snapshot!(show("blocked after a failure"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ClaimedFailure -> Retry: boom
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 asks: Blocked
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1  [ ] 1.2  [ ] 1.3
    "#);
}

#[test]
fn blocked_by_itself() {
    assert_snapshot!(show("blocked by itself"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 asks: Blocked
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1
    "#);
}

#[test]
fn blocked_by_a_task_that_is_done() {
    assert_snapshot!(show("blocked by a task that is done"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 failed, Blocked -> Ask: it is blocked
    1.2 asks: Blocked
    ended: {"waiting":{"task":"1.2"}}
    [x] 1.1  [ ] 1.2
    "#);
}

#[test]
fn blocked_by_a_stranger() {
    assert_snapshot!(show("blocked by a stranger"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 asks: Blocked
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1
    "#);
}

#[test]
fn blocked_in_a_circle() {
    assert_snapshot!(show("blocked in a circle"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.2
    1.2 attempt 1 (executor)
    1.2 failed, Blocked -> Ask: it is blocked
    1.2 asks: Blocked
    ended: {"waiting":{"task":"1.2"}}
    opened, round 1
    1.2 answered: Fix("break it")
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn blocked_in_a_longer_circle() {
    assert_snapshot!(show("blocked in a longer circle"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.2
    1.2 attempt 1 (executor)
    1.2 failed, Blocked -> Ask: it is blocked
    1.2 waits for 1.3
    1.3 attempt 1 (executor)
    1.3 failed, Blocked -> Ask: it is blocked
    1.3 asks: Blocked
    1.3 skipped: User escalation - task is blocked
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    ended: {"complete":{"skipped":1}}
    [x] 1.1  [x] 1.2  [ ] 1.3
    "#);
}

#[test]
fn a_circle_through_a_fix() {
    assert_snapshot!(show("a circle through a fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 failed, VerifyRed -> Fix: boom
    1.2 gets fix 1.2.1
    1.2.1 inserted
    1.2.1 attempt 1 (executor)
    1.2.1 failed, Blocked -> Ask: it is blocked
    1.2.1 asks: Blocked
    ended: {"waiting":{"task":"1.2.1"}}
    opened, round 1
    1.2.1 answered: Retry
    1.2.1 attempt 2 (executor)
    1.2.1 claims success
    1.2.1 checks green
    1.2.1 done, commit c1
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.2.1
    "#);
}

#[test]
fn a_fix_is_blocked_by_a_later_task() {
    assert_snapshot!(show("a fix is blocked by a later task"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 failed, Blocked -> Ask: it is blocked
    1.1.1 waits for 1.2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    1.1.1 again, attempt 2
    1.1.1 attempt 2 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c2
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.2
    "#);
}

#[test]
fn what_blocks_fails_for_good() {
    assert_snapshot!(show("what blocks fails for good"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 failed, VerifyRed -> Retry: a
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 failed, VerifyRed -> Retry: b
    1.2 again, attempt 3
    1.2 attempt 3 (executor)
    1.2 claims success
    1.2 failed, VerifyRed -> Retry: c
    ended: {"stopped":{"retries":{"task":"1.2","attempts":3}}}
    opened, round 2
    1.2 proof started
    1.2 proof green
    1.2 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_blocked_verify_task() {
    assert_snapshot!(show("a blocked verify task"), @r#"
    opened, round 1
    1.1 proof started
    1.1 proof red: lint
    1.1 attempt 1 (qa)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    1.1 again, attempt 2
    1.1 proof started
    1.1 proof green
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

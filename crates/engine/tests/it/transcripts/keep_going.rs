//! Transcripts: what goes on while a person is asked.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn keep_going() {
    assert_snapshot!(show("keep going"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.7 attempt 1 (executor)
    1.7 claims success
    1.7 checks green
    1.7 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c4
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c5
    1.5 attempt 1 (executor)
    1.5 claims success
    1.5 checks green
    1.5 done, commit c6
    1.6 proof started
    1.6 proof green
    1.6 done, commit c7
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4  [x] 1.5  [x] 1.6  [x] 1.7
    "#);
}

#[test]
fn keep_going_at_the_terminal() {
    assert_snapshot!(show("keep going at the terminal"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.7 attempt 1 (executor)
    1.7 claims success
    1.7 checks green
    1.7 done, commit c1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c4
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c5
    1.5 attempt 1 (executor)
    1.5 claims success
    1.5 checks green
    1.5 done, commit c6
    1.6 proof started
    1.6 proof green
    1.6 done, commit c7
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4  [x] 1.5  [x] 1.6  [x] 1.7
    "#);
}

#[test]
fn keep_going_skip() {
    assert_snapshot!(show("keep going, skip"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.1 skipped: skipped by --on-escalation skip, needed by 1.2 1.4
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c2
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c3
    1.5 attempt 1 (executor)
    1.5 claims success
    1.5 checks green
    1.5 done, commit c4
    1.6 proof started
    1.6 proof green
    1.6 done, commit c5
    1.7 attempt 1 (executor)
    1.7 claims success
    1.7 checks green
    1.7 done, commit c6
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2  [x] 1.3  [x] 1.4  [x] 1.5  [x] 1.6  [x] 1.7
    "#);
}

#[test]
fn keep_going_two_questions() {
    assert_snapshot!(show("keep going, two questions"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 failed, PermissionDenied -> Ask: permission denied: may not write
    1.2 asks: PermissionDenied
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 skipped: User escalation - permission denied
    ended: {"waiting":{"task":"1.2"}}
    opened, round 1
    1.2 answered: Retry
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c3
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn keep_going_nobody_answers() {
    assert_snapshot!(show("keep going, nobody answers"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1  [x] 1.2
    "#);
}

#[test]
fn keep_going_a_checkpoint() {
    assert_snapshot!(show("keep going, a checkpoint"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 asks: Checkpoint
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.3 asks: Checkpoint
    ended: {"waiting":{"task":"1.2"}}
    opened, round 1
    1.2 answered: Reply("blue")
    1.2 done, commit c3
    ended: {"waiting":{"task":"1.3"}}
    opened, round 1
    1.3 answered: Reply("red")
    1.3 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn keep_going_the_cap_is_reached() {
    assert_snapshot!(show("keep going, the cap is reached"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"capped":{"iterations":{"limit":2}}}
    opened, round 2
    1.1 proof started
    1.1 proof green
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
fn keep_going_a_retry() {
    assert_snapshot!(show("keep going, a retry"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 failed, VerifyRed -> Retry: boom
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn keep_going_a_fix() {
    assert_snapshot!(show("keep going, a fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 failed, VerifyRed -> Fix: boom
    1.2 gets fix 1.2.1
    1.2.1 inserted
    1.2.1 attempt 1 (executor)
    1.2.1 failed, ClaimedFailure -> Fix: bang
    1.2.1 gets fix 1.2.1.1
    1.2.1.1 inserted
    1.2.1.1 attempt 1 (executor)
    1.2.1.1 claims success
    1.2.1.1 checks green
    1.2.1.1 done, commit c1
    1.2.1 again, attempt 2
    1.2.1 attempt 2 (executor)
    1.2.1 claims success
    1.2.1 checks green
    1.2.1 done, commit c2
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c4
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c5
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.2.1  [x] 1.2.1.1  [x] 1.3
    "#);
}

#[test]
fn keep_going_a_blocked_task() {
    assert_snapshot!(show("keep going, a blocked task"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 failed, Blocked -> Ask: it is blocked
    1.2 waits for 1.4
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c1
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn keep_going_blocked_by_the_question() {
    assert_snapshot!(show("keep going, blocked by the question"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 failed, Blocked -> Ask: it is blocked
    1.2 waits for 1.1
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn keep_going_blocked_by_what_waits_for_the_question() {
    assert_snapshot!(show("keep going, blocked by what waits for the question"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 attempt 1 (executor)
    1.2 failed, Blocked -> Ask: it is blocked
    1.2 waits for 1.4
    1.5 attempt 1 (executor)
    1.5 claims success
    1.5 checks green
    1.5 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c3
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c4
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c5
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4  [x] 1.5
    "#);
}

#[test]
fn keep_going_a_fix_asks() {
    assert_snapshot!(show("keep going, a fix asks"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1.1 asks: PermissionDenied
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c1
    ended: {"waiting":{"task":"1.1.1"}}
    opened, round 1
    1.1.1 answered: Retry
    1.1.1 attempt 2 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c2
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.2  [x] 1.3
    "#);
}

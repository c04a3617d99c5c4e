//! Transcripts: the plan itself asks a person.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn checkpoint_reply() {
    assert_snapshot!(show("checkpoint, reply"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 asks: Checkpoint
    ended: {"waiting":{"task":"1.2"}}
    opened, round 1
    1.2 answered: Reply("blue")
    1.2 done, commit c2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn checkpoint_reply_at_once() {
    assert_snapshot!(show("checkpoint, reply at once"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    1.1 answered: Reply("blue")
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn checkpoint_fix() {
    assert_snapshot!(show("checkpoint, fix"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    1.1 answered: Fix("try it")
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Checkpoint
    1.1 answered: Reply("good")
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn checkpoint_fix_twice() {
    assert_snapshot!(show("checkpoint, fix twice"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    1.1 answered: Fix("try it")
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Checkpoint
    1.1 answered: Fix("not like that")
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Checkpoint
    1.1 answered: Reply("good")
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn checkpoint_the_fix_fails() {
    assert_snapshot!(show("checkpoint, the fix fails"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    1.1 answered: Fix("try it")
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Ask: boom
    1.1 asks: Exhausted
    1.1 answered: Retry
    1.1 asks: Checkpoint
    1.1 answered: Reply("by hand")
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn checkpoint_skip() {
    assert_snapshot!(show("checkpoint, skip"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    1.1 skipped: User escalation - checkpoint skipped
    ended: {"complete":{"skipped":1}}
    [ ] 1.1
    "#);
}

#[test]
fn checkpoint_skipped_by_rule() {
    assert_snapshot!(show("checkpoint, skipped by rule"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    1.1 skipped: skipped by --on-escalation skip
    ended: {"complete":{"skipped":1}}
    [ ] 1.1
    "#);
}

#[test]
fn checkpoint_aborted_by_rule() {
    assert_snapshot!(show("checkpoint, aborted by rule"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    ended: "aborted"
    [ ] 1.1
    "#);
}

#[test]
fn checkpoint_fix_abort_a_new_round() {
    assert_snapshot!(show("checkpoint, fix, abort, a new round"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    1.1 answered: Fix("try it")
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Checkpoint
    ended: "aborted"
    opened, round 2
    1.1 asks: Checkpoint
    1.1 answered: Reply("good")
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn checkpoint_nobody_answers() {
    assert_snapshot!(show("checkpoint, nobody answers"), @r#"
    opened, round 1
    1.1 asks: Checkpoint
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1
    "#);
}

#[test]
fn a_person_goes_away() {
    assert_snapshot!(show("a person goes away"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn blocked_by_a_checkpoint() {
    assert_snapshot!(show("blocked by a checkpoint"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 waits for 1.2
    1.2 asks: Checkpoint
    ended: {"waiting":{"task":"1.2"}}
    opened, round 1
    1.2 answered: Reply("blue")
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

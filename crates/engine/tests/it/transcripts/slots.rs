//! Slots and the landing tree: work that is held up on its way in, trees that are of no use, and every task in a slot.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn batch_no_tree_for_checks() {
    assert_snapshot!(show("batch, no tree for checks"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.1 gets no tree: disk full
    1.2 checks green
    1.2 comes back
    1.3 checks green
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_no_landing_tree() {
    assert_snapshot!(show("batch, no landing tree"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.3 checks green
    1.1 gets no tree: disk full
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_a_landing_tree_of_no_use() {
    assert_snapshot!(show("batch, a landing tree of no use"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.3 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back
    1.2 landed
    1.2 gets no tree: disk full
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_held_up() {
    assert_snapshot!(show("batch, held up"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 comes back
    1.1 landed
    1.1 green together
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
fn batch_held_up_asked_at_once() {
    assert_snapshot!(show("batch, held up, asked at once"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 asks: InTheWay
    1.1 answered: Retry
    1.1 comes back
    1.1 landed
    1.1 green together
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
fn batch_held_up_and_skipped() {
    assert_snapshot!(show("batch, held up and skipped"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 skipped: User escalation - uncommitted changes are in the way
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c2
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_held_up_and_done_anew() {
    assert_snapshot!(show("batch, held up and done anew"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Fix("leave notes.txt alone")
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
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
fn batch_both_held_up() {
    assert_snapshot!(show("batch, both held up"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 is held up by notes.txt
    1.1 asks: InTheWay
    1.2 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    ended: {"waiting":{"task":"1.2"}}
    opened, round 1
    1.2 answered: Retry
    1.2 comes back
    1.2 landed
    1.2 green together
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
fn batch_held_up_for_good() {
    assert_snapshot!(show("batch, held up for good"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.1 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.1 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1  [x] 1.2  [ ] 1.3
    "#);
}

#[test]
fn batch_held_up_then_a_new_round() {
    assert_snapshot!(show("batch, held up, then a new round"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 asks: InTheWay
    ended: "aborted"
    opened, round 2
    1.1 comes back
    1.1 landed
    1.1 green together
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
fn batch_one_held_up_another_exhausted() {
    assert_snapshot!(show("batch, one held up, another exhausted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 failed, VerifyRed -> Retry: e1
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 claims success
    1.2 failed, VerifyRed -> Retry: e2
    1.2 again, attempt 3
    1.2 attempt 3 (executor)
    1.2 claims success
    1.2 failed, VerifyRed -> Retry: e3
    ended: {"stopped":{"retries":{"task":"1.2","attempts":3}}}
    opened, round 2
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 is held up by notes.txt
    1.2 proof started
    1.2 proof green
    1.2 done, commit c1
    1.1 asks: InTheWay
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1  [x] 1.2
    "#);
}

#[test]
fn always_apart_one_by_one() {
    assert_snapshot!(show("always apart, one by one"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    1.4 proof started
    1.4 proof green
    1.4 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn always_apart_side_by_side() {
    assert_snapshot!(show("always apart, side by side"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.2 claims success
    1.3 claims success
    1.2 checks green
    1.2 comes back
    1.3 checks green
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    1.4 proof started
    1.4 proof red: lint
    1.4 attempt 1 (qa)
    1.4 claims success
    1.4 checks green
    1.4 comes back
    1.4 landed
    1.4 green together
    1.4 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn in_the_project_then_always_apart() {
    assert_snapshot!(show("in the project, then always apart"), @r#"
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
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

//! Transcripts: people, plans and other settings beside a batch.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn batch_a_question() {
    assert_snapshot!(show("batch, a question"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 claims success
    1.3 attempt 1 (executor)
    1.2 checks green
    1.2 comes back
    1.4 attempt 1 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.3 claims success
    1.4 claims success
    1.3 checks green
    1.3 comes back
    1.3 landed
    1.4 checks green
    1.3 green together
    1.3 done, commit c2
    1.4 comes back
    1.4 landed
    1.4 green together
    1.4 done, commit c3
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn batch_a_question_keep_going() {
    assert_snapshot!(show("batch, a question, keep going"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 claims success
    1.3 attempt 1 (executor)
    1.2 checks green
    1.2 comes back
    1.4 attempt 1 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.3 claims success
    1.4 claims success
    1.3 checks green
    1.3 comes back
    1.3 landed
    1.4 checks green
    1.3 green together
    1.3 done, commit c2
    1.4 comes back
    1.4 landed
    1.4 green together
    1.4 done, commit c3
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn batch_a_question_at_once() {
    assert_snapshot!(show("batch, a question at once"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 claims success
    1.3 attempt 1 (executor)
    1.2 checks green
    1.2 comes back
    1.4 attempt 1 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.3 claims success
    1.4 claims success
    1.3 checks green
    1.3 comes back
    1.3 landed
    1.4 checks green
    1.3 green together
    1.3 done, commit c2
    1.4 comes back
    1.4 landed
    1.4 green together
    1.4 done, commit c3
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn batch_nobody_answers() {
    assert_snapshot!(show("batch, nobody answers"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.2 claims success
    1.2 checks green, Qa judges
    1.2 judge started
    1.2 judge says yes
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    [ ] 1.1  [x] 1.2
    "#);
}

#[test]
fn batch_a_person_judges() {
    assert_snapshot!(show("batch, a person judges"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green, Person judges
    1.1 asks: Judge
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Approve
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn waves() {
    assert_snapshot!(show("waves"), @r#"
    opened, round 1
    01-01:task-1 attempt 1 (executor)
    01-02:task-1 attempt 1 (executor)
    01-01:task-1 claims success
    01-02:task-1 failed, ClaimedFailure -> Retry: boom
    01-02:task-1 again, attempt 2
    01-02:task-1 attempt 2 (executor)
    01-01:task-1 checks green
    01-01:task-1 comes back
    01-01:task-1 landed
    01-01:task-1 green together
    01-01:task-1 done, commit c1
    01-01:task-2 attempt 1 (executor)
    01-02:task-1 claims success
    01-02:task-1 checks green
    01-02:task-1 comes back
    01-02:task-1 landed
    01-02:task-1 green together
    01-01:task-2 claims success
    01-02:task-1 done, commit c2
    01-01:task-2 checks green
    01-01:task-2 comes back
    01-01:task-2 landed
    01-01:task-2 green together
    01-01:task-2 done, commit c3
    01-03:task-1 attempt 1 (executor)
    01-03:task-1 claims success
    01-03:task-1 checks green
    01-03:task-1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 01-01:task-1  [x] 01-01:task-2  [x] 01-02:task-1  [x] 01-03:task-1
    "#);
}

#[test]
fn dependencies_without_waves() {
    assert_snapshot!(show("dependencies without waves"), @r#"
    opened, round 1
    01-01:task-1 attempt 1 (executor)
    01-02:task-1 attempt 1 (executor)
    01-01:task-1 claims success
    01-02:task-1 claims success
    01-01:task-1 checks green
    01-01:task-1 comes back
    01-02:task-1 checks green
    01-01:task-1 landed
    01-01:task-1 green together
    01-01:task-1 done, commit c1
    01-02:task-1 comes back
    01-03:task-1 attempt 1 (executor)
    01-02:task-1 landed
    01-02:task-1 green together
    01-02:task-1 done, commit c2
    01-03:task-1 claims success
    01-03:task-1 checks green
    01-03:task-1 comes back
    01-03:task-1 landed
    01-03:task-1 green together
    01-03:task-1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 01-01:task-1  [x] 01-02:task-1  [x] 01-03:task-1
    "#);
}

#[test]
fn checkpoint_beside_other_plans() {
    assert_snapshot!(show("checkpoint beside other plans"), @r#"
    opened, round 1
    01-01:task-1 asks: Checkpoint
    01-02:task-1 attempt 1 (executor)
    01-03:task-1 attempt 1 (executor)
    01-02:task-1 claims success
    01-03:task-1 claims success
    01-02:task-1 checks green
    01-02:task-1 comes back
    01-03:task-1 checks green
    01-02:task-1 landed
    01-02:task-1 green together
    01-02:task-1 done, commit c1
    01-03:task-1 comes back
    01-03:task-1 landed
    01-03:task-1 green together
    01-03:task-1 done, commit c2
    01-01:task-1 answered: Reply("blue")
    01-01:task-1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 01-01:task-1  [x] 01-02:task-1  [x] 01-03:task-1
    "#);
}

#[test]
fn trees_then_shared() {
    assert_snapshot!(show("trees, then shared"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    ended: {"unavailable":{"reason":"notes.txt is in the way"}}
    opened, round 1
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn trees_then_one_at_a_time() {
    assert_snapshot!(show("trees, then one at a time"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    ended: {"unavailable":{"reason":"notes.txt is in the way"}}
    opened, round 1
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_failure_in_a_tree_then_shared() {
    assert_snapshot!(show("a failure in a tree, then shared"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.2 checks green
    1.2 comes back
    1.1 attempt 2 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c1
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
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn one_at_a_time_then_trees() {
    assert_snapshot!(show("one at a time, then trees"), @r#"
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
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_a_member_is_ticked() {
    assert_snapshot!(show("batch, a member is ticked"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.3 claims success
    1.1 checks green
    1.1 comes back
    1.3 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_a_member_is_removed() {
    assert_snapshot!(show("batch, a member is removed"), @r#"
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
    1.1 done, commit c1
    1.2 comes back
    plan changed, removed 1.3
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn batch_a_member_is_reworded() {
    assert_snapshot!(show("batch, a member is reworded"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 2
    1.2 checks green
    1.2 comes back
    plan changed, reworded 1.1
    1.1 attempt 2 (executor)
    1.3 attempt 1 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 claims success
    1.3 claims success
    1.1 checks green
    1.1 comes back
    1.3 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c2
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_a_task_is_put_before_it() {
    assert_snapshot!(show("batch, a task is put before it"), @r#"
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
    1.1 done, commit c1
    1.2 comes back
    plan changed, added 9.1, order 9.1 1.1 1.2 1.3
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    9.1 attempt 1 (executor)
    9.1 claims success
    9.1 checks green
    9.1 done, commit c3
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 9.1  [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_reordered() {
    assert_snapshot!(show("batch, reordered"), @r#"
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
    1.1 done, commit c1
    1.2 comes back
    plan changed, order 1.1 1.3 1.2
    1.3 attempt 1 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 claims success
    1.3 checks green
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.3  [x] 1.2
    "#);
}

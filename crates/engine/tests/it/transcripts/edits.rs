//! Transcripts: a person edits the plan.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn a_task_is_added() {
    assert_snapshot!(show("a task is added"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    plan changed, added 9.1, order 1.1 9.1 1.2
    9.1 attempt 1 (executor)
    9.1 claims success
    9.1 checks green
    9.1 done, commit c2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 9.1  [x] 1.2
    "#);
}

#[test]
fn the_last_task_adds_one() {
    assert_snapshot!(show("the last task adds one"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    plan changed, added 8.8
    1.1 done, commit c1
    8.8 attempt 1 (executor)
    8.8 claims success
    8.8 checks green
    8.8 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 8.8
    "#);
}

#[test]
fn a_task_is_removed() {
    assert_snapshot!(show("a task is removed"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    plan changed, removed 1.2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.3
    "#);
}

#[test]
fn a_task_is_ticked() {
    assert_snapshot!(show("a task is ticked"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    plan changed, ticked 1.2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn a_task_is_unticked() {
    assert_snapshot!(show("a task is unticked"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    plan changed, unticked 1.1
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn tasks_are_reordered() {
    assert_snapshot!(show("tasks are reordered"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    plan changed, order 1.1 1.3 1.2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.3  [x] 1.2
    "#);
}

#[test]
fn a_task_is_reworded() {
    assert_snapshot!(show("a task is reworded"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    plan changed, reworded 1.2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_failed_task_is_ticked() {
    assert_snapshot!(show("a failed task is ticked"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 2
    plan changed, ticked 1.1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_task_that_waits_for_its_fix_is_ticked() {
    assert_snapshot!(show("a task that waits for its fix is ticked"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    plan changed, ticked 1.1
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1
    "#);
}

#[test]
fn a_task_is_removed_before_its_fix_is_written() {
    assert_snapshot!(show("a task is removed before its fix is written"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    plan changed, removed 1.1, order 1.2 1.1.1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.2  [x] 1.1.1
    "#);
}

#[test]
fn a_skipped_task_is_ticked() {
    assert_snapshot!(show("a skipped task is ticked"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    1.1 skipped: skipped by --on-escalation skip
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    plan changed, ticked 1.1
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn a_task_is_ticked_while_the_run_waits() {
    assert_snapshot!(show("a task is ticked while the run waits"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_task_that_failed_for_good_is_ticked() {
    assert_snapshot!(show("a task that failed for good is ticked"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: b
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: c
    ended: {"stopped":{"retries":{"task":"1.1","attempts":3}}}
    opened, round 2
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

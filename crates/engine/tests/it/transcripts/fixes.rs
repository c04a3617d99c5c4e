//! Transcripts: fix tasks, their limits and their ids.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn one_fix() {
    assert_snapshot!(show("one fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ClaimedFailure -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
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
    [x] 1.1  [x] 1.1.1  [x] 1.2
    "#);
}

#[test]
fn several_fixes() {
    assert_snapshot!(show("several fixes"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ClaimedFailure -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: bang
    1.1 gets fix 1.1.2
    1.1.2 inserted
    1.1.2 attempt 1 (executor)
    1.1.2 claims success
    1.1.2 checks green
    1.1.2 done, commit c2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.1.2  [x] 1.2
    "#);
}

#[test]
fn a_fix_of_a_fix() {
    assert_snapshot!(show("a fix of a fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ClaimedFailure -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 failed, ClaimedFailure -> Fix: bang
    1.1.1 gets fix 1.1.1.1
    1.1.1.1 inserted
    1.1.1.1 attempt 1 (executor)
    1.1.1.1 claims success
    1.1.1.1 checks green
    1.1.1.1 done, commit c1
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
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.1.1.1  [x] 1.2
    "#);
}

#[test]
fn fix_limit() {
    assert_snapshot!(show("fix limit"), @r#"
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
    ended: {"stopped":{"fix_tasks":{"task":"1.1","limit":3}}}
    [ ] 1.1  [x] 1.1.1  [x] 1.1.2  [x] 1.1.3  [ ] 1.2
    "#);
}

#[test]
fn fix_limit_a_new_round() {
    assert_snapshot!(show("fix limit, a new round"), @r#"
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
    ended: {"stopped":{"fix_tasks":{"task":"1.1","limit":3}}}
    opened, round 2
    1.1 proof started
    1.1 proof green
    1.1 done, commit c4
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c5
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.1.2  [x] 1.1.3  [x] 1.2
    "#);
}

#[test]
fn fix_depth() {
    assert_snapshot!(show("fix depth"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ClaimedFailure -> Fix: a
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 failed, ClaimedFailure -> Fix: b
    1.1.1 gets fix 1.1.1.1
    1.1.1.1 inserted
    1.1.1.1 attempt 1 (executor)
    1.1.1.1 failed, ClaimedFailure -> Fix: c
    1.1.1.1 gets fix 1.1.1.1.1
    1.1.1.1.1 inserted
    1.1.1.1.1 attempt 1 (executor)
    1.1.1.1.1 failed, ClaimedFailure -> Fix: d
    ended: {"stopped":{"fix_depth":{"task":"1.1.1.1.1","limit":3}}}
    [ ] 1.1  [ ] 1.1.1  [ ] 1.1.1.1  [ ] 1.1.1.1.1  [ ] 1.2
    "#);
}

#[test]
fn fix_depth_a_new_round() {
    assert_snapshot!(show("fix depth, a new round"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ClaimedFailure -> Fix: a
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 failed, ClaimedFailure -> Fix: b
    1.1.1 gets fix 1.1.1.1
    1.1.1.1 inserted
    1.1.1.1 attempt 1 (executor)
    1.1.1.1 failed, ClaimedFailure -> Fix: c
    1.1.1.1 gets fix 1.1.1.1.1
    1.1.1.1.1 inserted
    1.1.1.1.1 attempt 1 (executor)
    1.1.1.1.1 failed, ClaimedFailure -> Fix: d
    ended: {"stopped":{"fix_depth":{"task":"1.1.1.1.1","limit":3}}}
    opened, round 2
    1.1.1.1.1 proof started
    1.1.1.1.1 proof green
    1.1.1.1.1 done, commit c1
    1.1.1.1 again, attempt 2
    1.1.1.1 proof started
    1.1.1.1 proof green
    1.1.1.1 done, commit c2
    1.1.1 again, attempt 2
    1.1.1 proof started
    1.1.1 proof green
    1.1.1 done, commit c3
    1.1 again, attempt 2
    1.1 proof started
    1.1 proof green
    1.1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.1.1.1  [x] 1.1.1.1.1
    "#);
}

#[test]
fn global_cap_with_recovery() {
    assert_snapshot!(show("global cap with recovery"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: a
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: b
    1.1 gets fix 1.1.2
    1.1.2 inserted
    ended: {"capped":{"iterations":{"limit":3}}}
    [ ] 1.1  [x] 1.1.1  [ ] 1.1.2  [ ] 1.2
    "#);
}

#[test]
fn a_fix_that_changes_nothing() {
    assert_snapshot!(show("a fix that changes nothing"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 failed, VerifyRed -> Fix: boom
    1.1.1 gets fix 1.1.1.1
    1.1.1.1 inserted
    1.1.1.1 attempt 1 (executor)
    1.1.1.1 claims success
    1.1.1.1 checks green
    1.1.1.1 done, commit c1
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
    [x] 1.1  [x] 1.1.1  [x] 1.1.1.1
    "#);
}

#[test]
fn a_fix_that_did_its_job() {
    assert_snapshot!(show("a fix that did its job"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green, warned verify of 1.1 is still red, but what 1.1.1 was to fix is gone; next is: bang
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: bang
    1.1 gets fix 1.1.2
    1.1.2 inserted
    1.1.2 attempt 1 (executor)
    1.1.2 claims success
    1.1.2 checks green
    1.1.2 done, commit c2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.1.2
    "#);
}

#[test]
fn a_fix_that_is_red_with_other_noise() {
    assert_snapshot!(show("a fix that is red with other noise"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: noise
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 failed, VerifyRed -> Fix: noise again
    1.1.1 gets fix 1.1.1.1
    1.1.1.1 inserted
    1.1.1.1 attempt 1 (executor)
    1.1.1.1 claims success
    1.1.1.1 checks green
    1.1.1.1 done, commit c1
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
    [x] 1.1  [x] 1.1.1  [x] 1.1.1.1
    "#);
}

#[test]
fn ids_that_are_taken() {
    assert_snapshot!(show("ids that are taken"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: a
    1.1 gets fix 1.1.2
    1.1.2 inserted
    1.1.2 attempt 1 (executor)
    1.1.2 claims success
    1.1.2 checks green
    1.1.2 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: b
    1.1 gets fix 1.1.4
    1.1.4 inserted
    1.1.4 attempt 1 (executor)
    1.1.4 claims success
    1.1.4 checks green
    1.1.4 done, commit c2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.2  [x] 1.1.4  [x] 1.1.1  [x] 1.1.3
    "#);
}

#[test]
fn a_fix_is_skipped() {
    assert_snapshot!(show("a fix is skipped"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 failed, PermissionDenied -> Ask: permission denied: may not write
    1.1.1 asks: PermissionDenied
    1.1.1 skipped: User escalation - permission denied
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":1}}
    [x] 1.1  [ ] 1.1.1
    "#);
}

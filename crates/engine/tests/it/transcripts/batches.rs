//! Transcripts: tasks side by side.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn batch_all_pass() {
    assert_snapshot!(show("batch, all pass"), @r#"
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
    1.2 green together
    1.2 done, commit c2
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn batch_one_fails() {
    assert_snapshot!(show("batch, one fails"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.2 failed, ClaimedFailure -> Retry: boom
    1.2 again, attempt 2
    1.3 claims success
    1.2 attempt 2 (executor)
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
    1.2 claims success
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_the_first_fails() {
    assert_snapshot!(show("batch, the first fails"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 2
    1.2 checks green
    1.2 comes back
    1.1 attempt 2 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn batch_one_gets_a_fix() {
    assert_snapshot!(show("batch, one gets a fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.2 checks green
    1.2 comes back
    1.1.1 inserted
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 comes back
    1.1.1 landed
    1.1.1 green together
    1.1.1 done, commit c2
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c3
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_overlap() {
    assert_snapshot!(show("batch, overlap"), @r#"
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
    1.2 attempt 1 (executor)
    1.3 landed
    1.3 green together
    1.3 done, commit c2
    1.2 claims success
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_fewer_jobs() {
    assert_snapshot!(show("batch, fewer jobs"), @r#"
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
    1.3 attempt 1 (executor)
    1.4 attempt 1 (executor)
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 claims success
    1.4 claims success
    1.3 checks green
    1.3 comes back
    1.4 checks green
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    1.4 comes back
    1.4 landed
    1.4 green together
    1.4 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn batch_then_a_verification() {
    assert_snapshot!(show("batch, then a verification"), @r#"
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
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 proof started
    1.3 proof green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_a_later_stage_waits() {
    assert_snapshot!(show("batch, a later stage waits"), @r#"
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
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    2.1 attempt 1 (executor)
    2.1 claims success
    2.1 checks green
    2.1 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 2.1
    "#);
}

#[test]
fn batch_inferred() {
    assert_snapshot!(show("batch, inferred"), @r#"
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
fn batch_shared() {
    assert_snapshot!(show("batch, shared"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.2 failed, ClaimedFailure -> Retry: boom
    1.2 again, attempt 2
    1.3 claims success
    1.2 attempt 2 (executor)
    1.1 checks green
    1.3 checks green
    1.1 done, commit c1
    1.3 done, commit c2
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_judged() {
    assert_snapshot!(show("batch, judged"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green, Qa judges
    1.2 checks green
    1.2 comes back
    1.1 judge started
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 failed, VerificationFail -> Retry: QA said no: too long
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn batch_reviewed() {
    assert_snapshot!(show("batch, reviewed"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green, Reviewer judges
    1.2 checks green, Reviewer judges
    1.1 judge started
    1.2 judge started
    1.1 judge says yes
    1.1 comes back
    1.2 judge says yes
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
fn batch_no_tree_can_be_made() {
    assert_snapshot!(show("batch, no tree can be made"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 gets no tree: disk full
    1.2 gets no tree: as before
    1.3 gets no tree: as before
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
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

#[test]
fn batch_no_tree_for_one() {
    assert_snapshot!(show("batch, no tree for one"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.2 gets no tree: disk full
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
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_trees_again_at_the_next_start() {
    assert_snapshot!(show("batch, trees again at the next start"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 gets no tree: disk full
    1.2 claims success
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    ended: {"unavailable":{"reason":"the disk is full"}}
    opened, round 1
    1.1 done, commit c2
    1.3 attempt 1 (executor)
    1.4 attempt 1 (executor)
    1.3 claims success
    1.4 claims success
    1.3 checks green
    1.3 comes back
    1.4 checks green
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    1.4 comes back
    1.4 landed
    1.4 green together
    1.4 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn batch_somebody_commits_again_and_again() {
    assert_snapshot!(show("batch, somebody commits again and again"), @r#"
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
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 comes back
    ended: {"unavailable":{"reason":"somebody committed, or took it out again, each of the 3 times that the work of task 1.1 was verified together with the rest; should that be its verify command, repair it and start over with `tillgreen run --fresh`"}}
    opened, round 1
    1.1 comes back
    1.1 landed
    1.1 green together
    1.1 done, commit c1
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

//! Transcripts: the work of a batch comes back, also when the run is about to end.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn batch_conflict() {
    assert_snapshot!(show("batch, conflict"), @r#"
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
    1.2 failed, Conflict -> Retry: a.rs
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
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
fn batch_conflict_with_recovery() {
    assert_snapshot!(show("batch, conflict with recovery"), @r#"
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
    1.2 failed, Conflict -> Retry: a.rs
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
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
fn batch_red_together() {
    assert_snapshot!(show("batch, red together"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 failed, RedTogether -> Retry: boom
    1.1 again, attempt 2
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
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_red_together_with_recovery() {
    assert_snapshot!(show("batch, red together with recovery"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 failed, RedTogether -> Fix: boom
    1.1 gets fix 1.1.1
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1.1 inserted
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
fn batch_a_fix_that_did_its_job() {
    assert_snapshot!(show("batch, a fix that did its job"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 failed, RedTogether -> Fix: boom
    1.1 gets fix 1.1.1
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green, warned verify of 1.1 is still red, but what 1.1.1 was to fix is gone; next is: bang
    1.1.1 comes back
    1.1.1 landed
    1.1.1 green together, warned verify of 1.1 is still red, but what 1.1.1 was to fix is gone; next is: bang
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
fn batch_commit_refused() {
    assert_snapshot!(show("batch, commit refused"), @r#"
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
    1.1 failed, CommitRefused -> Retry: hook says no
    1.1 again, attempt 2
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
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_something_in_the_way() {
    assert_snapshot!(show("batch, something in the way"), @r#"
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
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_somebody_takes_work_out_again() {
    assert_snapshot!(show("batch, somebody takes work out again"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
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

#[test]
fn batch_somebody_commits_meanwhile() {
    assert_snapshot!(show("batch, somebody commits meanwhile"), @r#"
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
fn batch_one_exhausted() {
    assert_snapshot!(show("batch, one exhausted"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.2 checks green, Qa judges
    1.1 attempt 2 (executor)
    1.2 judge started
    1.1 claims success
    1.2 judge says yes
    1.2 comes back
    1.2 landed
    1.1 failed, VerifyRed -> Retry: e2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.2 green together
    1.2 done, commit c1
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
fn batch_capped() {
    assert_snapshot!(show("batch, capped"), @r#"
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
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 claims success
    1.3 checks green
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c3
    ended: {"capped":{"iterations":{"limit":3}}}
    opened, round 2
    1.4 attempt 1 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn batch_capped_before_a_judge() {
    assert_snapshot!(show("batch, capped before a judge"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green, Qa judges
    1.3 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c2
    ended: {"capped":{"iterations":{"limit":3}}}
    opened, round 2
    1.2 judge started
    1.2 judge says yes
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn batch_agent_away() {
    assert_snapshot!(show("batch, agent away"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 agent away, 1, until 14:31:02
    1.2 claims success
    1.1 attempt 1 (executor)
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 agent away, 1, until 14:32:04
    1.1 attempt 1 (executor)
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
fn batch_agent_stays_away() {
    assert_snapshot!(show("batch, agent stays away"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 agent away, 1, until 14:31:02
    1.2 claims success
    1.1 attempt 1 (executor)
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    1.1 agent away, 1, until 14:32:04
    1.1 attempt 1 (executor)
    1.1 agent away, 2, until 14:33:07
    ended: {"unavailable":{"reason":"overloaded"}}
    opened, round 1
    1.1 attempt 1 (executor)
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
fn batch_judge_stays_away() {
    assert_snapshot!(show("batch, judge stays away"), @r#"
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
    1.1 agent away, 1, until 14:32:08
    1.1 judge started
    1.1 agent away, 2, until 14:33:11
    ended: {"unavailable":{"reason":"overloaded"}}
    opened, round 1
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

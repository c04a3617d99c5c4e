//! Transcripts: plans with phases.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn a_plan_with_phases() {
    assert_snapshot!(show("a plan with phases"), @r#"
    opened, round 1
    03-01:task-1 attempt 1 (executor)
    03-01:task-1 failed, NoSignal -> Retry: the result cannot be read: I looked around
    03-01:task-1 again, attempt 2
    03-01:task-1 attempt 2 (executor)
    03-01:task-1 failed, Contradiction -> Retry: CONTRADICTION: claimed completion while admitting failure
    03-01:task-1 again, attempt 3
    03-01:task-1 attempt 3 (executor)
    03-01:task-1 claims success
    03-01:task-1 checks green
    03-01:task-1 done, commit c1
    03-01:task-2 attempt 1 (executor)
    03-01:task-2 failed, Blocked -> Ask: it is blocked
    03-01:task-2 waits for 03-01:task-3
    03-01:task-3 attempt 1 (executor)
    03-01:task-3 claims success
    03-01:task-3 checks green
    03-01:task-3 done, commit c2
    03-01:task-2 again, attempt 2
    03-01:task-2 attempt 2 (executor)
    03-01:task-2 claims success
    03-01:task-2 checks green
    03-01:task-2 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 03-01:task-1  [x] 03-01:task-2  [x] 03-01:task-3
    "#);
}

#[test]
fn a_plan_with_phases_asks() {
    assert_snapshot!(show("a plan with phases asks"), @r#"
    opened, round 1
    03-01:task-1 attempt 1 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Retry: a
    03-01:task-1 again, attempt 2
    03-01:task-1 attempt 2 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Retry: b
    03-01:task-1 again, attempt 3
    03-01:task-1 attempt 3 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Retry: c
    03-01:task-1 asks: Exhausted
    ended: {"waiting":{"task":"03-01:task-1"}}
    opened, round 1
    03-01:task-1 skipped: User escalation - automated recovery failed
    03-01:task-2 attempt 1 (executor)
    03-01:task-2 claims success
    03-01:task-2 checks green
    03-01:task-2 done, commit c1
    ended: {"complete":{"skipped":1}}
    [ ] 03-01:task-1  [x] 03-01:task-2
    "#);
}

#[test]
fn a_plan_with_phases_stops() {
    assert_snapshot!(show("a plan with phases stops"), @r#"
    opened, round 1
    03-01:task-1 attempt 1 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Retry: a
    03-01:task-1 again, attempt 2
    03-01:task-1 attempt 2 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Retry: b
    03-01:task-1 again, attempt 3
    03-01:task-1 attempt 3 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Retry: c
    ended: {"stopped":{"retries":{"task":"03-01:task-1","attempts":3}}}
    [ ] 03-01:task-1  [ ] 03-01:task-2
    "#);
}

#[test]
fn a_plan_with_phases_gets_fixes() {
    assert_snapshot!(show("a plan with phases gets fixes"), @r#"
    opened, round 1
    03-01:task-1 attempt 1 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Fix: a
    03-01:task-1 gets fix 03-01:task-1.1
    03-01:task-1.1 inserted
    03-01:task-1.1 attempt 1 (executor)
    03-01:task-1.1 claims success
    03-01:task-1.1 checks green
    03-01:task-1.1 done, commit c1
    03-01:task-1 again, attempt 2
    03-01:task-1 attempt 2 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Fix: b
    03-01:task-1 gets fix 03-01:task-1.2
    03-01:task-1.2 inserted
    03-01:task-1.2 attempt 1 (executor)
    03-01:task-1.2 claims success
    03-01:task-1.2 checks green
    03-01:task-1.2 done, commit c2
    03-01:task-1 again, attempt 3
    03-01:task-1 attempt 3 (executor)
    03-01:task-1 claims success
    03-01:task-1 failed, VerifyRed -> Fix: c
    03-01:task-1 gets fix 03-01:task-1.3
    03-01:task-1.3 inserted
    03-01:task-1.3 attempt 1 (executor)
    03-01:task-1.3 claims success
    03-01:task-1.3 checks green
    03-01:task-1.3 done, commit c3
    03-01:task-1 again, attempt 4
    03-01:task-1 attempt 4 (executor)
    03-01:task-1 claims success
    03-01:task-1 checks green
    03-01:task-1 done, commit c4
    03-01:task-2 attempt 1 (executor)
    03-01:task-2 claims success
    03-01:task-2 checks green
    03-01:task-2 done, commit c5
    ended: {"complete":{"skipped":0}}
    [x] 03-01:task-1  [x] 03-01:task-1.1  [x] 03-01:task-1.2  [x] 03-01:task-1.3  [x] 03-01:task-2
    "#);
}

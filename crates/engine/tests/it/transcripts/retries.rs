//! Transcripts: retries, caps, and every cause of a failure.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn all_green() {
    assert_snapshot!(show("all green"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn nothing_to_do() {
    assert_snapshot!(show("nothing to do"), @r#"
    opened, round 1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn empty_plan() {
    assert_snapshot!(show("empty plan"), @r#"
    opened, round 1
    ended: {"complete":{"skipped":0}}
    "#);
}

#[test]
fn retry() {
    assert_snapshot!(show("retry"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ClaimedFailure -> Retry: boom
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn retries_exhausted() {
    assert_snapshot!(show("retries exhausted"), @r#"
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
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn every_cause_is_retried() {
    assert_snapshot!(show("every cause is retried"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, NoSignal -> Retry: Task did not complete
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 failed, BadExit -> Retry: agent exited with code 9: crashed
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 failed, AgentTimeout -> Retry: agent timed out: no progress for 10m
    1.1 again, attempt 4
    1.1 attempt 4 (executor)
    1.1 failed, Contradiction -> Retry: CONTRADICTION: claimed completion while admitting failure
    1.1 again, attempt 5
    1.1 attempt 5 (executor)
    1.1 failed, Tampered -> Retry: checkmark mismatch: other tasks of the plan were changed: 1.2
    1.1 again, attempt 6
    1.1 attempt 6 (executor)
    1.1 failed, ClaimedFailure -> Retry: half done
    1.1 again, attempt 7
    1.1 attempt 7 (executor)
    1.1 claims success
    1.1 failed, ProvesNothing -> Retry: proves nothing
    1.1 again, attempt 8
    1.1 attempt 8 (executor)
    1.1 claims success
    1.1 failed, OutOfScope -> Retry: out of scope: b.rs
    1.1 again, attempt 9
    1.1 attempt 9 (executor)
    1.1 claims success
    1.1 failed, Bookkeeping -> Retry: uncommitted spec files detected - task not properly committed
    1.1 again, attempt 10
    1.1 attempt 10 (executor)
    1.1 claims success
    1.1 failed, VerifyTimeout -> Retry: verify timed out after 2m
    1.1 again, attempt 11
    1.1 attempt 11 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn global_cap() {
    assert_snapshot!(show("global cap"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e2
    1.1 again, attempt 3
    ended: {"capped":{"iterations":{"limit":2}}}
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn time_is_up() {
    assert_snapshot!(show("time is up"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: e1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    ended: {"capped":{"time":{"seconds":100}}}
    [ ] 1.1  [ ] 1.2
    "#);
}

#[test]
fn every_cause_with_recovery() {
    assert_snapshot!(show("every cause with recovery"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, NoSignal -> Fix: Task did not complete
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 failed, BadExit -> Fix: agent exited with code 9: crashed
    1.1 gets fix 1.1.2
    1.1.2 inserted
    1.1.2 attempt 1 (executor)
    1.1.2 claims success
    1.1.2 checks green
    1.1.2 done, commit c2
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 failed, AgentTimeout -> Fix: agent timed out: no progress for 10m
    1.1 gets fix 1.1.3
    1.1.3 inserted
    1.1.3 attempt 1 (executor)
    1.1.3 claims success
    1.1.3 checks green
    1.1.3 done, commit c3
    1.1 again, attempt 4
    1.1 attempt 4 (executor)
    1.1 failed, Contradiction -> Retry: CONTRADICTION: claimed completion while admitting failure
    1.1 again, attempt 5
    1.1 attempt 5 (executor)
    1.1 failed, Tampered -> Retry: checkmark mismatch: other tasks of the plan were changed: 1.2
    1.1 again, attempt 6
    1.1 attempt 6 (executor)
    1.1 failed, ClaimedFailure -> Fix: half done
    1.1 gets fix 1.1.4
    1.1.4 inserted
    1.1.4 attempt 1 (executor)
    1.1.4 claims success
    1.1.4 checks green
    1.1.4 done, commit c4
    1.1 again, attempt 7
    1.1 attempt 7 (executor)
    1.1 claims success
    1.1 failed, ProvesNothing -> Retry: proves nothing
    1.1 again, attempt 8
    1.1 attempt 8 (executor)
    1.1 claims success
    1.1 failed, OutOfScope -> Retry: out of scope: b.rs
    1.1 again, attempt 9
    1.1 attempt 9 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c5
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.1.2  [x] 1.1.3  [x] 1.1.4
    "#);
}

//! Transcripts: an agent that says why trying again is of no use.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn blocked_skip() {
    assert_snapshot!(show("blocked, skip"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Blocked -> Ask: it is blocked
    1.1 asks: Blocked
    1.1 skipped: User escalation - task is blocked
    ended: {"complete":{"skipped":1}}
    [ ] 1.1
    "#);
}

#[test]
fn impossible_skip() {
    assert_snapshot!(show("impossible, skip"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, Impossible -> Ask: it is impossible
    1.1 asks: Impossible
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 skipped: User escalation - task may be impossible, needed by 1.2 1.3
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
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn conflict_fix() {
    assert_snapshot!(show("conflict, fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ConflictingRequirements -> Ask: it is conflicting_requirements
    1.1 asks: ConflictingRequirements
    1.1 answered: Fix("the second one counts")
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn service_unavailable_retry() {
    assert_snapshot!(show("service unavailable, retry"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 failed, ServiceUnavailable -> Ask: it is service_unavailable
    1.1 asks: ServiceUnavailable
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

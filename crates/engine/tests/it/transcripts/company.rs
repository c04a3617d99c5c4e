//! Transcripts: work that is ready at the same moment comes in together, or one by one where that does not work out.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn company_all_pass() {
    assert_snapshot!(show("company, all pass"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.4 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.4 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.3 checks green
    1.4 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back, with 1.3 1.4
    1.2 landed
    1.3 landed
    1.4 landed
    1.2 green together
    1.3 green together
    1.4 green together
    1.2 done, commit c2
    1.3 done, commit c3
    1.4 done, commit c4
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.4
    "#);
}

#[test]
fn company_one_does_not_fit() {
    assert_snapshot!(show("company, one does not fit"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.4 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.4 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.3 checks green
    1.4 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back, with 1.3 1.4
    come in one by one, all of 1.2 1.3 1.4: one does not fit
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 comes back
    1.3 failed, Conflict -> Retry: a.rs
    1.3 again, attempt 2
    1.3 attempt 2 (executor)
    1.3 claims success
    1.3 checks green
    1.3 comes back
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
fn company_red_together() {
    assert_snapshot!(show("company, red together"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.4 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.4 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.3 checks green
    1.4 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back, with 1.3 1.4
    1.2 landed
    1.3 landed
    1.4 landed
    1.2 green together
    come in one by one, all of 1.2 1.3 1.4: 1.3 is red with what came in before it
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 comes back
    1.3 landed
    1.3 failed, RedTogether -> Retry: boom
    1.3 again, attempt 2
    1.3 attempt 2 (executor)
    1.3 claims success
    1.3 checks green
    1.3 comes back
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
fn company_somebody_commits() {
    assert_snapshot!(show("company, somebody commits"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.4 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.4 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.3 checks green
    1.4 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back, with 1.3 1.4
    1.2 landed
    1.3 landed
    1.4 landed
    1.2 green together
    1.3 green together
    1.4 green together
    come in one by one, all of 1.2 1.3 1.4: one is not taken in
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.3 comes back
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
fn company_one_failed_before() {
    assert_snapshot!(show("company, one failed before"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.3 attempt 1 (executor)
    1.4 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.3 claims success
    1.4 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.3 failed, VerifyRed -> Fix: boom
    1.3 gets fix 1.3.1
    1.4 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    1.4 comes back
    1.4 landed
    1.4 green together
    1.4 done, commit c3
    1.3.1 inserted
    1.3.1 attempt 1 (executor)
    1.3.1 claims success
    1.3.1 checks green
    1.3.1 comes back
    1.3.1 landed
    1.3.1 green together
    1.3.1 done, commit c4
    1.3 again, attempt 2
    1.3 attempt 2 (executor)
    1.3 claims success
    1.3 checks green
    1.3 comes back
    1.3 landed
    1.3 green together
    1.3 done, commit c5
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3  [x] 1.3.1  [x] 1.4
    "#);
}

//! Transcripts: `[VERIFY]` tasks.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn verify_green_at_once() {
    assert_snapshot!(show("verify green at once"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 proof started
    1.2 proof green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn verify_red_qa_repairs() {
    assert_snapshot!(show("verify red, QA repairs"), @r#"
    opened, round 1
    1.1 proof started
    1.1 proof red: lint
    1.1 attempt 1 (qa)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn verify_red_qa_gives_up_fix() {
    assert_snapshot!(show("verify red, QA gives up, fix"), @r#"
    opened, round 1
    1.1 proof started
    1.1 proof red: lint
    1.1 attempt 1 (qa)
    1.1 failed, VerificationFail -> Fix: lint
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 proof started
    1.1 proof green
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
fn verify_red_after_the_fix_as_well() {
    assert_snapshot!(show("verify red after the fix as well"), @r#"
    opened, round 1
    1.1 proof started
    1.1 proof red: lint
    1.1 attempt 1 (qa)
    1.1 failed, VerificationFail -> Fix: lint
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 proof started
    1.1 proof red: more lint
    1.1 attempt 2 (qa)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1
    "#);
}

#[test]
fn verify_in_prose() {
    assert_snapshot!(show("verify in prose"), @r#"
    opened, round 1
    1.1 attempt 1 (qa)
    1.1 failed, VerificationFail -> Retry: red
    1.1 again, attempt 2
    1.1 attempt 2 (qa)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn verify_lacks_a_program() {
    assert_snapshot!(show("verify lacks a program"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyCannotStart -> Retry: the verify command cannot start: jest is not there
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyCannotStart -> Retry: the verify command cannot start: npm is not there
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 failed, VerifyCannotStart -> Ask: the verify command cannot start: npm is not there
    1.1 asks: VerifyCannotStart
    1.1 answered: Retry
    1.1 attempt 4 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 proof started
    1.2 proof red: the verify command cannot start: npm is not there
    1.2 attempt 1 (qa)
    1.2 claims success
    1.2 failed, VerifyCannotStart -> Ask: the verify command cannot start: npm is not there
    1.2 asks: VerifyCannotStart
    1.2 answered: Retry
    1.2 proof started
    1.2 proof green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

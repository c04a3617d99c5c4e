//! Transcripts: a bit of everything.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn a_bit_of_everything() {
    assert_snapshot!(show("a bit of everything"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
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
    1.2 proof started
    1.2 proof red: lint
    1.2 attempt 1 (qa)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c3
    1.3 attempt 1 (executor)
    1.3 agent away, 1, until 14:35:36
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green, Qa judges
    1.3 judge started
    1.3 failed, VerificationFail -> Fix: QA said no: too long
    1.3 gets fix 1.3.1
    1.3.1 inserted
    1.3.1 attempt 1 (executor)
    1.3.1 claims success
    1.3.1 checks green, Qa judges
    1.3.1 judge started
    1.3.1 judge says yes
    1.3.1 done, commit c4
    1.3 again, attempt 2
    1.3 attempt 2 (executor)
    1.3 claims success
    1.3 checks green, Qa judges
    1.3 judge started
    1.3 judge says yes
    1.3 done, commit c5
    1.4 attempt 1 (executor)
    1.4 failed, PermissionDenied -> Ask: permission denied: may not write
    1.4 asks: PermissionDenied
    ended: {"waiting":{"task":"1.4"}}
    opened, round 1
    1.4 answered: Fix("chmod")
    1.4 attempt 2 (executor)
    1.4 claims success
    1.4 checks green
    1.4 done, commit c6
    regression green
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1  [x] 1.2  [x] 1.3  [x] 1.3.1  [x] 1.4
    "#);
}

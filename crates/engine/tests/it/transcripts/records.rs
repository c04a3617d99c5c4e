//! Transcripts: recording work and the regression command.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn commit_refused() {
    assert_snapshot!(show("commit refused"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 failed, CommitRefused -> Retry: hook says no
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn commit_of_a_proof_refused() {
    assert_snapshot!(show("commit of a proof refused"), @r#"
    opened, round 1
    1.1 proof started
    1.1 proof green
    ended: {"unavailable":{"reason":"hook says no"}}
    [ ] 1.1
    "#);
}

#[test]
fn disk_full() {
    assert_snapshot!(show("disk full"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    ended: {"unavailable":{"reason":"the disk is full"}}
    opened, round 1
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
fn regression_green() {
    assert_snapshot!(show("regression green"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    regression green
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn regression_red() {
    assert_snapshot!(show("regression red"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"stopped":{"regression":{"error":"old tests fail"}}}
    opened, round 2
    regression green
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn proof_green() {
    assert_snapshot!(show("proof green"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    regression green
    proved 4ead: 1.1 {"green":{"exit_code":0}}
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn proof_red() {
    assert_snapshot!(show("proof red"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    regression green
    proved 4ead: 1.1 {"red":{"exit_code":1,"error":"1 failed","differs":"`out.txt` is ignored by git"}}
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn nothing_to_prove() {
    assert_snapshot!(show("nothing to prove"), @r#"
    opened, round 1
    regression green
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn proof_required() {
    assert_snapshot!(show("proof required"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    proved 4ead: 1.1 {"red":{"exit_code":1,"error":"1 failed","differs":"`out.txt` is ignored by git"}} 1.2 {"red":{"exit_code":1,"error":"1 failed","differs":"`out.txt` is ignored by git"}}
    1.1 open again -> Retry: its command is red in a clean checkout (`out.txt` is ignored by git): 1 failed
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c3
    proved 4ead: 1.1 {"red":{"exit_code":1,"error":"1 failed","differs":"`out.txt` is ignored by git"}} 1.2 {"red":{"exit_code":1,"error":"1 failed","differs":"`out.txt` is ignored by git"}}
    1.1 open again -> Ask: its command is red in a clean checkout (`out.txt` is ignored by git): 1 failed
    1.1 asks: NotProved
    1.1 skipped: skipped by --on-escalation skip
    1.2 open again -> Retry: its command is red in a clean checkout (`out.txt` is ignored by git): 1 failed
    1.2 again, attempt 2
    1.2 attempt 2 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c4
    proved 4ead: 1.2 {"red":{"exit_code":1,"error":"1 failed","differs":"`out.txt` is ignored by git"}}
    1.2 open again -> Ask: its command is red in a clean checkout (`out.txt` is ignored by git): 1 failed
    1.2 asks: NotProved
    1.2 skipped: skipped by --on-escalation skip
    ended: {"complete":{"skipped":2}}
    [ ] 1.1  [ ] 1.2
    "#);
}

//! Transcripts: results that somebody judges.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn qa_judges() {
    assert_snapshot!(show("QA judges"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 failed, VerificationFail -> Retry: QA said no: the list is empty
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn qa_judges_recovery() {
    assert_snapshot!(show("QA judges, recovery"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 failed, VerificationFail -> Fix: QA said no: the list is empty
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 claims success
    1.1.1 checks green, Qa judges
    1.1.1 judge started
    1.1.1 judge says yes
    1.1.1 done, commit c1
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.1.1
    "#);
}

#[test]
fn reviewer_judges() {
    assert_snapshot!(show("reviewer judges"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Reviewer judges
    1.1 judge started
    1.1 failed, ReviewerRejected -> Retry: the reviewer said no: the list is empty
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Reviewer judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    1.2 proof started
    1.2 proof green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn both_judge() {
    assert_snapshot!(show("both judge"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes, Reviewer judges
    1.1 judge started
    1.1 failed, ReviewerRejected -> Retry: the reviewer said no: the list is empty
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes, Reviewer judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn judges_that_do_not_judge() {
    assert_snapshot!(show("judges that do not judge"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 no verdict: the judge timed out: 5m
    1.1 judge started
    1.1 judge says yes, Reviewer judges
    1.1 judge started
    1.1 no verdict: the judge said neither yes nor no
    1.1 judge started
    1.1 failed, ReviewerRejected -> Retry: the reviewer gave no verdict, asked twice: it said neither yes nor no
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes, Reviewer judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn nothing_was_changed() {
    assert_snapshot!(show("nothing was changed"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 failed, VerificationFail -> Retry: QA said no: the list is empty
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green, Qa judges
    1.2 judge started
    1.2 judge says yes, warned nothing was changed for this task; files that it names changed earlier in this run
    1.2 done, commit c2
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green, Qa judges
    1.3 judge started
    1.3 judge says yes, Person judges, warned nothing was changed for this task
    1.3 asks: Judge
    1.3 answered: Approve
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn judges_that_misbehave() {
    assert_snapshot!(show("judges that misbehave"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 failed, VerificationFail -> Retry: QA said no: it says yes and "needs human"
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 failed, VerificationFail -> Retry: QA said no: it changed boxes in the plan
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn a_judge_without_permission() {
    assert_snapshot!(show("a judge without permission"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 failed, PermissionDenied -> Ask: permission denied: may not read
    1.1 asks: PermissionDenied
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Retry
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn a_person_judges() {
    assert_snapshot!(show("a person judges"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Judge
    1.1 failed, VerificationFail -> Retry: wrong colour
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Judge
    1.1 answered: Approve
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn a_person_judges_later() {
    assert_snapshot!(show("a person judges later"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Person judges
    1.1 asks: Judge
    ended: {"waiting":{"task":"1.1"}}
    opened, round 1
    1.1 answered: Approve
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

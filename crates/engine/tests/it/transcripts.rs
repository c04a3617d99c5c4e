//! Every scenario as a transcript: one line for each event, and the boxes of the plan at the end.

use insta::assert_snapshot;

use crate::invariants;
use crate::scenario::named;
use crate::transcript::transcript;

fn show(name: &str) -> String {
    let world = named(name).world().run();
    invariants::at_the_end(&world);
    transcript(&world)
}

#[test]
fn all_green() {
    assert_snapshot!(show("all green"), @"");
}

#[test]
fn nothing_to_do() {
    assert_snapshot!(show("nothing to do"), @"");
}

#[test]
fn empty_plan() {
    assert_snapshot!(show("empty plan"), @"");
}

#[test]
fn retry() {
    assert_snapshot!(show("retry"), @"");
}

#[test]
fn retries_exhausted() {
    assert_snapshot!(show("retries exhausted"), @"");
}

#[test]
fn every_cause_is_retried() {
    assert_snapshot!(show("every cause is retried"), @"");
}

#[test]
fn global_cap() {
    assert_snapshot!(show("global cap"), @"");
}

#[test]
fn time_is_up() {
    assert_snapshot!(show("time is up"), @"");
}

#[test]
fn every_cause_with_recovery() {
    assert_snapshot!(show("every cause with recovery"), @"");
}

#[test]
fn one_fix() {
    assert_snapshot!(show("one fix"), @"");
}

#[test]
fn several_fixes() {
    assert_snapshot!(show("several fixes"), @"");
}

#[test]
fn a_fix_of_a_fix() {
    assert_snapshot!(show("a fix of a fix"), @"");
}

#[test]
fn fix_limit() {
    assert_snapshot!(show("fix limit"), @"");
}

#[test]
fn fix_limit_a_new_round() {
    assert_snapshot!(show("fix limit, a new round"), @"");
}

#[test]
fn fix_depth() {
    assert_snapshot!(show("fix depth"), @"");
}

#[test]
fn fix_depth_a_new_round() {
    assert_snapshot!(show("fix depth, a new round"), @"");
}

#[test]
fn global_cap_with_recovery() {
    assert_snapshot!(show("global cap with recovery"), @"");
}

#[test]
fn a_fix_that_changes_nothing() {
    assert_snapshot!(show("a fix that changes nothing"), @"");
}

#[test]
fn a_fix_that_did_its_job() {
    assert_snapshot!(show("a fix that did its job"), @"");
}

#[test]
fn ids_that_are_taken() {
    assert_snapshot!(show("ids that are taken"), @"");
}

#[test]
fn a_fix_is_skipped() {
    assert_snapshot!(show("a fix is skipped"), @"");
}

#[test]
fn verify_green_at_once() {
    assert_snapshot!(show("verify green at once"), @"");
}

#[test]
fn verify_red_qa_repairs() {
    assert_snapshot!(show("verify red, QA repairs"), @"");
}

#[test]
fn verify_red_qa_gives_up_fix() {
    assert_snapshot!(show("verify red, QA gives up, fix"), @"");
}

#[test]
fn verify_red_after_the_fix_as_well() {
    assert_snapshot!(show("verify red after the fix as well"), @"");
}

#[test]
fn verify_in_prose() {
    assert_snapshot!(show("verify in prose"), @"");
}

#[test]
fn qa_judges() {
    assert_snapshot!(show("QA judges"), @"");
}

#[test]
fn qa_judges_recovery() {
    assert_snapshot!(show("QA judges, recovery"), @"");
}

#[test]
fn reviewer_judges() {
    assert_snapshot!(show("reviewer judges"), @"");
}

#[test]
fn both_judge() {
    assert_snapshot!(show("both judge"), @"");
}

#[test]
fn judges_that_do_not_judge() {
    assert_snapshot!(show("judges that do not judge"), @"");
}

#[test]
fn judges_that_misbehave() {
    assert_snapshot!(show("judges that misbehave"), @"");
}

#[test]
fn a_judge_without_permission() {
    assert_snapshot!(show("a judge without permission"), @"");
}

#[test]
fn a_person_judges() {
    assert_snapshot!(show("a person judges"), @"");
}

#[test]
fn a_person_judges_later() {
    assert_snapshot!(show("a person judges later"), @"");
}

#[test]
fn agent_away() {
    assert_snapshot!(show("agent away"), @"");
}

#[test]
fn agent_away_and_says_until_when() {
    assert_snapshot!(show("agent away and says until when"), @"");
}

#[test]
fn agent_stays_away() {
    assert_snapshot!(show("agent stays away"), @"");
}

#[test]
fn judge_away() {
    assert_snapshot!(show("judge away"), @"");
}

#[test]
fn denied_pause() {
    assert_snapshot!(show("denied, pause"), @"");
}

#[test]
fn denied_nobody_answers() {
    assert_snapshot!(show("denied, nobody answers"), @"");
}

#[test]
fn denied_skip() {
    assert_snapshot!(show("denied, skip"), @"");
}

#[test]
fn denied_abort() {
    assert_snapshot!(show("denied, abort"), @"");
}

#[test]
fn denied_fix() {
    assert_snapshot!(show("denied, fix"), @"");
}

#[test]
fn denied_while_recovery_is_on() {
    assert_snapshot!(show("denied while recovery is on"), @"");
}

#[test]
fn exhausted_retry() {
    assert_snapshot!(show("exhausted, retry"), @"");
}

#[test]
fn exhausted_fix() {
    assert_snapshot!(show("exhausted, fix"), @"");
}

#[test]
fn exhausted_skip() {
    assert_snapshot!(show("exhausted, skip"), @"");
}

#[test]
fn exhausted_abort() {
    assert_snapshot!(show("exhausted, abort"), @"");
}

#[test]
fn fix_limit_fix() {
    assert_snapshot!(show("fix limit, fix"), @"");
}

#[test]
fn commit_refused() {
    assert_snapshot!(show("commit refused"), @"");
}

#[test]
fn commit_of_a_proof_refused() {
    assert_snapshot!(show("commit of a proof refused"), @"");
}

#[test]
fn disk_full() {
    assert_snapshot!(show("disk full"), @"");
}

#[test]
fn regression_green() {
    assert_snapshot!(show("regression green"), @"");
}

#[test]
fn regression_red() {
    assert_snapshot!(show("regression red"), @"");
}

#[test]
fn a_new_round_after_a_stop() {
    assert_snapshot!(show("a new round after a stop"), @"");
}

#[test]
fn a_new_round_after_a_cap() {
    assert_snapshot!(show("a new round after a cap"), @"");
}

#[test]
fn a_new_round_after_an_abort() {
    assert_snapshot!(show("a new round after an abort"), @"");
}

#[test]
fn a_task_is_added() {
    assert_snapshot!(show("a task is added"), @"");
}

#[test]
fn a_task_is_added_behind_the_last() {
    assert_snapshot!(show("a task is added behind the last"), @"");
}

#[test]
fn a_task_is_removed() {
    assert_snapshot!(show("a task is removed"), @"");
}

#[test]
fn a_task_is_ticked() {
    assert_snapshot!(show("a task is ticked"), @"");
}

#[test]
fn a_task_is_unticked() {
    assert_snapshot!(show("a task is unticked"), @"");
}

#[test]
fn tasks_are_reordered() {
    assert_snapshot!(show("tasks are reordered"), @"");
}

#[test]
fn a_task_is_reworded() {
    assert_snapshot!(show("a task is reworded"), @"");
}

#[test]
fn a_failed_task_is_ticked() {
    assert_snapshot!(show("a failed task is ticked"), @"");
}

#[test]
fn a_task_that_waits_for_its_fix_is_ticked() {
    assert_snapshot!(show("a task that waits for its fix is ticked"), @"");
}

#[test]
fn a_task_is_removed_before_its_fix_is_written() {
    assert_snapshot!(show("a task is removed before its fix is written"), @"");
}

#[test]
fn a_skipped_task_is_ticked() {
    assert_snapshot!(show("a skipped task is ticked"), @"");
}

#[test]
fn a_task_is_ticked_while_the_run_waits() {
    assert_snapshot!(show("a task is ticked while the run waits"), @"");
}

#[test]
fn a_task_that_failed_for_good_is_ticked() {
    assert_snapshot!(show("a task that failed for good is ticked"), @"");
}

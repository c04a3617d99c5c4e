//! Members that fail: only they run again, each on its own budget, and what the others did is kept.

use serde_json::json;
use testkit::{Agent, Step};

use super::scene::{Scene, done, member, members, task, work};

/// How often each task was tried.
fn attempts(scene: &Scene) -> Vec<usize> {
    scene.ids().iter().map(|id| scene.attempts(id)).collect()
}

#[test]
fn only_the_failed_member_runs_again() {
    let scene = Scene::new(&members(5));
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::say("Task 1.2: x FAILED\n- Error: not today")])
        .on_attempt("1.4", 1, [Step::write("half.txt", "half\n"), done()])
        .on_attempt("1.4", 2, [Step::Exit(3)])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(attempts(&scene), [1, 2, 1, 3, 1]);
    assert!(scene.feedback("1.2", 2).contains("not today"));
    assert!(scene.feedback("1.4", 2).contains("out/1.4.txt"));
    assert!(!scene.feedback("1.4", 3).contains("not today"), "only the own failures are told");
    assert_eq!(scene.read("half.txt"), "half\n", "what a failed attempt left is there for the next");
}

#[test]
fn what_a_failed_attempt_left_is_gone_where_that_is_asked_for() {
    let scene = Scene::new(&members(2));
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::write("half.txt", "half\n"), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--clean-retry"]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!scene.has("half.txt"));
}

#[test]
fn what_a_verify_command_wrote_is_not_carried_into_the_next_attempt() {
    let verify = "echo trace > trace.txt; echo x >> base.txt; grep -q done out/1.2.txt";
    let scene = Scene::new(&[member("1.1"), task("1.2", "out/1.2.txt", verify)]);
    let look = Step::shell("test ! -e trace.txt && test $(wc -l < base.txt) = 1 || exit 4");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::write("half.txt", "half\n"), done()])
        .on_attempt("1.2", 2, [look, Step::shell("test -e half.txt || exit 5"), work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(attempts(&scene), [1, 2], "{run}");
    let files = scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(files.contains("half.txt") && !files.contains("trace.txt"), "{files}");
}

#[test]
fn a_task_that_was_repaired_does_not_meet_its_old_work() {
    let scene = Scene::new(&members(2));
    let fix = Step::shell("mkdir -p out && echo done > out/1.1.txt");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::write("out/1.1.txt", "wrong\n"), done()])
        .on("1.1.1", [fix, done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--recovery-mode"]).expect_code(0);
    assert_eq!(attempts(&scene), [2, 1, 1], "{run}");
    assert!(!run.stderr.contains("does not fit"), "{run}");
}

#[test]
fn a_member_that_fails_for_good_stops_the_run_after_the_others_have_landed() {
    let scene = Scene::new(&members(4));
    let wrong = || Step::write("out/1.2.txt", "wrong\n");
    let others = scene.control("others").display().to_string();
    // Once one has failed for good nothing new starts, so all have to be at work by then.
    let agent = Agent::new().on("1.2", [scene.meet(4), wrong(), done()]);
    let agent = agent.on("1.4", [scene.meet(4), Step::AwaitFile(others.clone()), work(), done()]);
    let agent = agent.otherwise([scene.meet(4), work(), Step::write(&others, ""), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "2"]).expect_code(1);
    assert!(
        run.stderr.contains("ERROR: Max retries reached for parallel task 1.2 after 2 attempts"),
        "{run}"
    );
    assert!(!run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
    scene.expect_tidy();
    assert_eq!(scene.landed(), ["1.1", "1.3", "1.4"], "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.2") && !scene.tasks("demo").contains("- [ ] 1.4"));
    let kept = scene.git(&["rev-parse", "refs/tillgreen/demo/1.2"]);
    assert_eq!(scene.git(&["show", &format!("{}:out/1.2.txt", kept.trim())]), "wrong\n", "kept to look at");
    assert!(run.stderr.contains(&format!("`git show {}`", kept.trim())), "and named: {run}");
    let status = scene.run(&["status"]).expect_code(0);
    assert!(
        status.stdout.contains(&format!("1.2: what its last attempt left is commit {}", kept.trim())),
        "{status}"
    );
    // A new start gives it a full budget, and what it left is still there.
    let fixed = Agent::new().on("1.2", [Step::shell("sed -i s/wrong/done/ out/1.2.txt"), done()]);
    let run = scene.go(&fixed, &["--max-task-iterations", "2"]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn a_member_that_hangs_is_ended_and_tried_again() {
    let scene = Scene::new(&members(3));
    let agent = Agent::new()
        .on_attempt(
            "1.1",
            1,
            [Step::write("half.txt", "half\n"), Step::IgnoreSignals, Step::Detach, Step::Hang],
        )
        .otherwise([work(), done()]);
    // It holds the others as well, which are not to meet it on a machine that has much else to do.
    let run = scene.go(&agent, &["--attempt-timeout", "15s"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(attempts(&scene), [2, 1, 1]);
    assert!(scene.feedback("1.1", 2).contains("timeout"));
}

#[test]
fn fix_tasks_of_members_come_after_the_batch() {
    let scene = Scene::new(&members(3));
    let agent = Agent::new()
        .on_attempt(
            "1.1",
            1,
            [Step::write("out/1.1.txt", "wrong\n"), Step::write("extra.txt", "x\n"), done()],
        )
        .on("1.1.1", [Step::shell("grep -q x extra.txt && echo done > out/1.1.txt"), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--recovery-mode"]).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(scene.landed(), ["1.1.1", "1.2", "1.3"], "the fix task brought all of it: {run}");
    let order: Vec<String> = scene.agent_calls().into_iter().map(|call| call.task).collect();
    assert_eq!(order.iter().position(|task| task == "1.1.1"), Some(3), "{order:?}");
}

#[test]
fn all_members_fail_and_get_fix_tasks() {
    let scene = Scene::new(&members(3));
    let mut agent = Agent::new();
    for id in ["1.1", "1.2", "1.3"] {
        agent = agent.on_attempt(id, 1, [Step::say(&format!("Task {id}: x FAILED\n- Error: {id} broke"))]);
        agent = agent.on(&format!("{id}.1"), [Step::write(&format!("out/{id}.txt"), "done\n"), done()]);
    }
    let run = scene.go(&agent.otherwise([work(), done()]), &["--recovery-mode"]).expect_code(0);
    scene.expect_settled(&run);
    let text = scene.tasks("demo");
    assert!(
        text.find("1.1.1 ") < text.find("1.2 [P]") && text.find("1.2.1 ") < text.find("1.3 [P]"),
        "{text}"
    );
}

#[test]
fn an_agent_that_is_away_costs_no_attempt_of_anybody() {
    let scene = Scene::new(&members(3));
    let flag = scene.control("away").display().to_string();
    let away = format!("if ! test -e '{flag}'; then : > '{flag}'; exit 75; fi");
    let agent = Agent::new().on("1.2", [Step::shell(&away), work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.agent_calls().iter().all(|call| call.attempt == 1), "{run}");
}

#[test]
fn edits_outside_files_are_told_or_refused() {
    let outside = || Step::write("elsewhere.txt", "x\n");
    let scene = Scene::new(&members(2));
    let agent = Agent::new().on("1.1", [outside(), work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(run.stderr.contains("changed outside the task's Files: elsewhere.txt"), "{run}");
    let scene = Scene::new(&members(2));
    let agent = Agent::new()
        .on_attempt("1.1", 1, [outside(), work(), done()])
        .on("1.1", [Step::Delete("elsewhere.txt".to_owned()), work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--scope", "reject"]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!scene.has("elsewhere.txt") && scene.attempts("1.1") == 2);
}

#[test]
fn a_question_about_one_member_leaves_the_others_work_in_the_project() {
    let scene = Scene::new(&[member("1.1"), task("1.2", "b.txt", "grep -q done b.txt"), member("1.3")]);
    let fails = [scene.meet(3), Step::say("Task 1.2: x FAILED\n- Error: no")];
    let agent = Agent::new().on("1.2", fails).otherwise([scene.meet(3), work(), done()]);
    let flags = ["--max-task-iterations", "1", "--on-exhausted", "ask"];
    let run = scene.go(&agent, &flags).expect_code(3);
    assert_eq!(scene.landed(), ["1.1", "1.3"], "{run}");
    scene.install_agent(&Agent::new().otherwise([Step::write("b.txt", "done\n"), done()]));
    let run = scene.run(&["answer", "retry"]).expect_code(0);
    scene.expect_complete(&run);
}

/// Side by side a fix is judged by the same rule as one by one, in its own tree and where it comes in.
#[test]
fn a_fix_has_done_its_job_once_another_test_fails() {
    let check = "test -f out/a && test -f out/b && exit 0; name=test_a; test -f out/a && name=test_b; \
                 echo \"FAILED tests/test_files.py::$name - no file\"; echo \"1 failed, 1 passed in 0.$(date +%N)s\"; exit 1";
    let scene = Scene::new(&[member("1.1"), task("1.2", "out/a, out/b", check)]);
    let write = |name: &str| Step::shell(&format!("mkdir -p out && echo x > out/{name}"));
    let agent = Agent::new()
        .on_attempt("1.2", 1, [done()])
        .on("1.2.1", [write("a"), done()])
        .on("1.2", [write("b"), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--recovery-mode"]).expect_code(0);
    assert_eq!(attempts(&scene), [1, 2, 1], "{run}");
    let said = "verify of 1.2 is still red, but what 1.2.1 was to fix is gone; next is: tests/test_files.py::test_b - no file";
    assert!(run.stderr.contains(said), "{run}");
}

#[test]
fn the_state_file_tells_of_the_whole_batch() {
    let tasks = [member("1.1"), member("1.2"), member("1.3"), member("1.4").replace(" [P]", "")];
    let scene = Scene::new(&tasks);
    let state = || -> serde_json::Value {
        serde_json::from_str(&scene.read("specs/demo/.ralph-state.json")).expect("it is JSON")
    };
    let agent = Agent::new().on("1.2", [scene.meet(3), done()]).otherwise([scene.meet(3), work(), done()]);
    scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(1);
    let group = json!({"startIndex": 0, "endIndex": 2, "taskIndices": [0, 1, 2], "isParallel": true});
    assert_eq!(state()["parallelGroup"], group);
    let results =
        json!({"1.1": {"status": "success"}, "1.2": {"status": "failed"}, "1.3": {"status": "success"}});
    assert_eq!(state()["taskResults"], results);
    assert_eq!(state()["taskIndex"], 1);
    let failing = Agent::new().on("1.4", [done()]).otherwise([work(), done()]);
    scene.go(&failing, &["--max-task-iterations", "1"]).expect_code(1);
    let group = json!({"startIndex": 3, "endIndex": 3, "taskIndices": [3], "isParallel": false});
    assert_eq!((&state()["parallelGroup"], &state()["taskIndex"]), (&group, &json!(3)));
    assert_eq!(state()["taskResults"], json!({"1.4": {"status": "failed"}}));
}

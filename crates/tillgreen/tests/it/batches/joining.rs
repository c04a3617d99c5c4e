//! Work that does not fit together: conflicts, and checks that are green alone and red together.

use testkit::{Agent, Step};

use super::scene::{LANDS, Scene, done, member, members, task, work, worker};

#[test]
fn a_conflict_that_files_do_not_tell_of_is_resolved_on_top_of_what_landed() {
    let scene = Scene::new(&members(3));
    let rewrite = || Step::shell("echo $TILLGREEN_TASK_ID > base.txt");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [scene.meet(3), rewrite(), work(), done()])
        .on_attempt("1.2", 1, [scene.meet(3), rewrite(), work(), scene.until_done("1.1"), done()])
        .on("1.2", [Step::shell("grep -q '^1.1$' base.txt && echo 1.2 >> base.txt"), work(), done()])
        .otherwise([scene.meet(3), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("base.txt"), "1.1\n1.2\n", "both are in it");
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2"), scene.attempts("1.3")), (1, 2, 1));
    let feedback = scene.feedback("1.2", 2);
    for part in
        ["conflicts with what came in meanwhile: base.txt", "feat: task 1.1", "base.txt, line 1", "======="]
    {
        assert!(feedback.contains(part), "{part:?} is missing in {feedback}");
    }
}

/// What a conflict tells of is there as long as the task is not done, whatever further attempts leave.
#[test]
fn work_that_met_a_conflict_is_kept_until_the_task_is_done() {
    let scene = Scene::new(&members(2));
    let write = Step::shell("echo $TILLGREEN_TASK_ID > base.txt");
    let agent = Agent::new()
        .on("1.1", [scene.meet(2), write.clone(), work(), done()])
        .on_attempt("1.2", 1, [scene.meet(2), write, work(), scene.until_done("1.1"), done()])
        .on("1.2", [Step::write("other.txt", "other\n"), Step::Exit(3)]);
    let run = scene.go(&agent, &["--max-task-iterations", "2"]).expect_code(1);
    let feedback = scene.feedback("1.2", 2);
    let (_, rest) = feedback.split_once("is kept as commit ").expect("it is told");
    let commit = rest.split_whitespace().next().unwrap_or_default();
    let kept = scene.git(&["for-each-ref", "--format=%(objectname)", "refs/tillgreen"]);
    assert!(kept.lines().any(|kept| kept == commit), "{commit} in {kept}: {run}");
    assert_eq!(kept.lines().count(), 2, "what the second attempt left is kept as well: {kept}");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn a_file_that_one_deletes_and_another_changes_is_a_conflict() {
    let scene = Scene::new(&members(2));
    let agent = Agent::new()
        .on("1.1", [scene.meet(2), Step::Delete("base.txt".to_owned()), work(), done()])
        .on_attempt(
            "1.2",
            1,
            [scene.meet(2), Step::append("base.txt", "more\n"), work(), scene.until_done("1.1"), done()],
        )
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.feedback("1.2", 2).contains("base.txt"), "{run}");
}

#[test]
fn everybody_in_conflict_with_everybody_still_ends() {
    let scene = Scene::new(&members(10));
    let add = Step::shell("echo $TILLGREEN_TASK_ID >> base.txt");
    let agent = Agent::new().otherwise([add, work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let mut lines: Vec<String> = scene.read("base.txt").lines().skip(1).map(str::to_owned).collect();
    lines.sort();
    let mut ids = scene.ids();
    ids.sort();
    assert_eq!(lines, ids, "each line is there once");
}

#[test]
fn what_verify_commands_write_is_nobodys_work() {
    let verify = |id: &str| format!("date +%N > report.txt; grep -q done out/{id}.txt");
    let tasks: Vec<String> =
        ["1.1", "1.2", "1.3", "1.4"].map(|id| task(id, &format!("out/{id}.txt"), &verify(id))).into();
    let scene = Scene::new(&tasks);
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2", "1.3", "1.4"], "{run}");
    assert!(tasks.len() == 4 && scene.attempts("1.4") == 1, "{run}");
    assert_eq!(scene.git(&["ls-files", "report.txt"]), "", "it is in no commit");
}

/// What it commits is on top of the landing tree, which nobody takes in.
#[test]
fn a_verify_command_that_commits_is_in_nobodys_way() {
    let verify = "git commit -q --allow-empty -m checked; grep -q done out/1.1.txt";
    let scene = Scene::new(&[task("1.1", "out/1.1.txt", verify), member("1.2")]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!scene.subjects().contains(&"checked".to_owned()), "{run}");
}

/// It verifies a tree whose files it changes: what was committed before that is what comes in.
#[test]
fn what_comes_in_is_the_tree_that_was_verified() {
    let scene = Scene::bare();
    let seen = scene.control("seen").display().to_string();
    let verify = format!(
        "grep -q done out/1.1.txt && if {LANDS}; then git ls-tree -r HEAD > {seen}; echo more >> out/1.1.txt; fi"
    );
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let verified = std::fs::read_to_string(&seen).expect("it was verified");
    let commit = scene.git(&["log", "--format=%H", "--grep=^feat: task 1.1$"]);
    assert_eq!(scene.git(&["ls-tree", "-r", commit.trim()]), verified, "{run}");
    assert_eq!(scene.read("out/1.1.txt"), "done\n", "{run}");
}

#[test]
fn fix_tasks_are_written_while_nothing_is_half_in() {
    let scene = Scene::new(&members(8));
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::say("nothing")])
        .on_attempt("1.4", 1, [Step::say("nothing")])
        .on_attempt("1.6", 1, [Step::say("nothing")])
        .otherwise([
            Step::shell("mkdir -p out && echo done > out/$(echo $TILLGREEN_TASK_ID | cut -d. -f1,2).txt"),
            done(),
        ]);
    let run = scene.go(&agent, &["--recovery-mode", "--jobs", "8"]).expect_code(0);
    assert!(!run.stderr.contains("somebody committed"), "{run}");
}

#[test]
fn green_alone_and_red_together_is_the_failure_of_who_comes_later() {
    let few = "test $(ls out | wc -l) -le 1 || test -f allowed";
    let second = task("1.2", "out/1.2.txt", &format!("grep -q done out/1.2.txt && ({few})"));
    let scene = Scene::new(&[member("1.1"), second, member("1.3")]);
    let agent = Agent::new()
        .on_attempt("1.2", 1, [scene.meet(3), work(), scene.until_done("1.1"), done()])
        .on("1.2", [Step::write("allowed", "yes\n"), work(), done()])
        .otherwise([scene.meet(3), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let feedback = scene.feedback("1.2", 2);
    for part in ["red together with what came in", "feat: task 1.1"] {
        assert!(feedback.contains(part), "{part:?} is missing in {feedback}");
    }
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.3")), (1, 1));
}

#[test]
fn a_result_that_git_ignores_does_not_come_in_and_the_feedback_says_so() {
    let verify = "test -e result.bin && grep -q done out/1.1.txt";
    let scene = Scene::new(&[task("1.1", "out/1.1.txt", verify), member("1.2")]);
    scene.write(".gitignore", "*.bin\n");
    scene.commit_all("ignore");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::write("result.bin", ""), work(), done()])
        .on("1.1", [Step::shell(": > result.bin; git add -f result.bin"), work(), done()])
        .otherwise([scene.until_done("1.1"), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.1"), 2, "{run}");
    let feedback = scene.feedback("1.1", 2);
    assert!(
        feedback.contains("Files that git ignores, or that lie outside the work tree, do not come along"),
        "{feedback}"
    );
}

#[test]
fn the_marks_of_a_conflict_do_not_land() {
    let scene = Scene::new(&members(2));
    let rewrite = || Step::shell("echo $TILLGREEN_TASK_ID > base.txt");
    let marks = Step::write("base.txt", "<<<<<<< what landed before\n1.1\n=======\n1.2\n>>>>>>> this work\n");
    let agent = Agent::new()
        .on("1.1", [scene.meet(2), rewrite(), work(), done()])
        .on_attempt("1.2", 1, [scene.meet(2), rewrite(), work(), scene.until_done("1.1"), done()])
        .on_attempt("1.2", 2, [marks, work(), done()])
        .otherwise([Step::shell("echo both > base.txt"), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.feedback("1.2", 3).contains("the marks of a conflict are still in base.txt"), "{run}");
}

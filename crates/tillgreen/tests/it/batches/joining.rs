//! Work that does not fit together: conflicts, checks that are green alone and red together, hooks that say no.

use std::fs;

use testkit::{Agent, Step};

use super::scene::{Scene, done, member, members, task, work, worker};

#[test]
fn a_conflict_that_files_do_not_tell_of_is_resolved_on_top_of_what_landed() {
    let scene = Scene::new(&members(3));
    let rewrite = || Step::shell("echo $TILLGREEN_TASK_ID > base.txt");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [scene.meet(3), rewrite(), work(), done()])
        .on_attempt("1.2", 1, [scene.meet(3), rewrite(), work(), done()])
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
        .on_attempt("1.2", 1, [scene.meet(2), write, work(), done()])
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
        .on_attempt("1.2", 1, [scene.meet(2), Step::append("base.txt", "more\n"), work(), done()])
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

#[test]
fn a_verify_command_that_commits_does_not_keep_the_run_busy_for_ever() {
    let verify = "git commit -q --allow-empty -m checked; grep -q done out/1.1.txt";
    let scene = Scene::new(&[task("1.1", "out/1.1.txt", verify), member("1.2")]);
    let run = scene.go(&worker(), &[]).expect_code(6);
    assert!(run.stderr.contains("somebody committed, or took it out again, each of the 11 times"), "{run}");
    assert_eq!(run.stderr.matches("it is brought in once more").count(), 11, "{run}");
    scene.expect_tidy();
    let repaired = scene.tasks("demo").replace("git commit -q --allow-empty -m checked; ", "");
    scene.spec("demo", &repaired);
    scene.commit_all("repaired");
    let run = scene.go(&worker(), &["--fresh"]).expect_code(0);
    scene.expect_complete(&run);
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
        .on_attempt("1.2", 1, [scene.meet(3), work(), done()])
        .on("1.2", [Step::write("allowed", "yes\n"), work(), done()])
        .otherwise([scene.meet(3), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let feedback = scene.feedback("1.2", 2);
    for part in ["Green in its own tree, red together", "feat: task 1.1"] {
        assert!(feedback.contains(part), "{part:?} is missing in {feedback}");
    }
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.3")), (1, 1));
}

#[test]
fn a_result_that_git_ignores_does_not_come_back_and_the_feedback_says_so() {
    let verify = "test -e result.bin && grep -q done out/1.1.txt";
    let scene = Scene::new(&[task("1.1", "out/1.1.txt", verify), member("1.2")]);
    scene.write(".gitignore", "*.bin\ncache/\n");
    scene.write("cache/old", "old\n");
    scene.commit_all("ignore");
    let ignored = Step::shell("mkdir -p cache; : > result.bin; : > cache/new");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [scene.meet(2), ignored, work(), done()])
        .on(
            "1.1",
            [
                Step::shell("git add -f result.bin 2>/dev/null || : > result.bin; git add -f result.bin"),
                work(),
                done(),
            ],
        )
        .otherwise([scene.meet(2), work(), done()]);
    let run = scene.go(&agent, &["--worktree-copy", "cache"]).expect_code(0);
    scene.expect_complete(&run);
    let feedback = scene.feedback("1.1", 2);
    for part in ["although nothing came in meanwhile", "not in the project: result.bin.", "worktree_copy"] {
        assert!(feedback.contains(part), "{part:?} is missing in {feedback}");
    }
    assert!(!feedback.contains("red together with what came in"), "{feedback}");
}

#[test]
fn a_hook_that_refuses_one_landing_is_that_tasks_failure() {
    let scene = Scene::new(&members(3));
    scene.hook("pre-commit", "if grep -rqs forbidden out; then echo 'no forbidden words'; exit 1; fi");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::write("out/1.2.txt", "done\nforbidden\n"), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.feedback("1.2", 2).contains("no forbidden words"), "{run}");
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2"), scene.attempts("1.3")), (1, 2, 1));
}

#[test]
fn a_hook_that_changes_what_is_committed_is_taken_along() {
    let scene = Scene::new(&members(3));
    scene.hook("pre-commit", "for f in out/*.txt; do echo formatted > $f.fmt; git add $f.fmt; done");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("out/1.3.txt.fmt"), "formatted\n");
}

#[test]
fn somebody_commits_in_the_project_while_a_batch_runs() {
    let scene = Scene::new(&members(3));
    let root = scene.root().display().to_string();
    let meddle =
        format!("cd '{root}' && echo person > person.txt && git add person.txt && git commit -qm person");
    let agent = Agent::new()
        .on("1.1", [Step::shell(&format!("({meddle})")), work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.subjects().contains(&"person".to_owned()));
    assert_eq!(scene.read("person.txt"), "person\n");
}

#[test]
fn a_persons_uncommitted_file_in_the_way_is_never_overwritten() {
    let scene = Scene::new(&members(2));
    let root = scene.root().display().to_string();
    let agent = Agent::new()
        .on(
            "1.1",
            [
                Step::shell(&format!("mkdir -p '{root}/out'; echo mine > '{root}/out/1.2.txt'")),
                work(),
                done(),
            ],
        )
        .otherwise([scene.meet(1), work(), done()]);
    let run = scene.go(&agent, &[]);
    assert_ne!(run.code, Some(0), "{run}");
    assert_eq!(scene.read("out/1.2.txt"), "mine\n");
    assert!(run.stderr.contains("out/1.2.txt"), "{run}");
    assert_eq!(scene.landed(), ["1.1"]);
    fs::remove_file(scene.root().join("out/1.2.txt")).unwrap();
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn the_marks_of_a_conflict_do_not_land() {
    let scene = Scene::new(&members(2));
    let rewrite = || Step::shell("echo $TILLGREEN_TASK_ID > base.txt");
    let marks = Step::write("base.txt", "<<<<<<< what landed before\n1.1\n=======\n1.2\n>>>>>>> this work\n");
    let agent = Agent::new()
        .on("1.1", [scene.meet(2), rewrite(), work(), done()])
        .on_attempt("1.2", 1, [scene.meet(2), rewrite(), work(), done()])
        .on_attempt("1.2", 2, [marks, work(), done()])
        .otherwise([Step::shell("echo both > base.txt"), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.feedback("1.2", 3).contains("the marks of a conflict are still in base.txt"), "{run}");
}

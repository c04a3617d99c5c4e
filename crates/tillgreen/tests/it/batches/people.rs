//! People who go on working in the project while a batch runs: nothing of theirs is lost, and nothing of a task's gets
//! into a commit of theirs.

use testkit::{Agent, Finished, Step, wait_for};

use super::scene::{Scene, done, members, plan, task, work, worker};

/// A batch of two whose first member waits for a file while all that came together is checked.
fn waiting(rest: &str) -> Scene {
    let scene = Scene::new(&members(2));
    let (began, gate) = (scene.control("began"), scene.control("gate"));
    let verify = format!(
        "{rest}; if test -d .git; then touch {}; while ! test -e {}; do sleep 0.02; done; fi",
        began.display(),
        gate.display()
    );
    let tasks = [task("1.1", "out/1.1.txt", &verify), task("1.2", "out/1.2.txt", "grep -q done out/1.2.txt")];
    scene.spec("demo", &plan(&tasks));
    scene.commit_all("slow");
    scene
}

/// Runs it, and lets a person do something while the first member is checked together with the rest.
fn meanwhile(scene: &Scene, person: impl FnOnce()) -> Finished {
    let run = scene.begin(&worker(), &["--max-task-iterations", "1"]);
    wait_for("the check", || scene.control("began").exists());
    person();
    scene.release("gate");
    run.wait()
}

#[test]
fn what_is_not_verified_yet_is_in_nobodys_commit() {
    let scene = waiting("grep -q done out/1.1.txt");
    let run = meanwhile(&scene, || {
        scene.write("mine.txt", "mine\n");
        scene.git(&["add", "mine.txt"]);
        scene.git(&["commit", "-q", "-m", "mine"]);
    })
    .expect_code(0);
    scene.expect_complete(&run);
    let mine = scene.git(&["log", "--format=", "--name-only", "--grep", "^mine$"]);
    assert_eq!(mine.trim(), "mine.txt");
    assert!(run.stderr.contains("it is brought in once more"), "{run}");
}

#[test]
fn what_somebody_commits_meanwhile_is_verified_with_the_work() {
    let scene = waiting("grep -q done out/1.1.txt && grep -qx base base.txt");
    let run = meanwhile(&scene, || {
        scene.write("base.txt", "other\n");
        scene.git(&["commit", "-q", "-m", "mine", "--", "base.txt"]);
    });
    assert_ne!(run.code, Some(0), "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.1"), "{run}");
    assert!(run.stderr.contains("it is brought in once more"), "{run}");
}

#[test]
fn whoever_commits_all_the_time_loses_nothing() {
    let scene = Scene::new(&members(4));
    let agent = Agent::new().otherwise([Step::shell("sleep 0.${TILLGREEN_TASK_ID#1.}"), work(), done()]);
    let mut run = scene.begin(&agent, &[]);
    let mut number = 0;
    while run.is_running() {
        number += 1;
        let name = format!("mine-{number}.txt");
        scene.write(&name, "mine\n");
        // Git's locks may be taken for a moment.
        while !scene.try_git(&["add", &name]).status.success() {}
        if number % 3 == 0 {
            while !scene.try_git(&["commit", "-q", "-m", "mine"]).status.success() {}
        }
    }
    let run = run.wait();
    let half = scene.git(&["status", "--porcelain", "--untracked-files=all", "--", "out"]);
    let log = scene.git(&["log", "-12", "--format=%h %p %s", "--name-status"]);
    assert_eq!(half, "", "what is not verified is not left for others to commit: {run}\n{log}");
    scene.git(&["add", "."]);
    scene.try_git(&["commit", "-q", "-m", "the rest of mine"]);
    let deleted = scene.git(&["log", "--diff-filter=D", "--name-only", "--format=%s"]);
    assert_eq!(deleted, "", "{run}");
    let run = if run.code == Some(0) { run } else { scene.go(&worker(), &[]).expect_code(0) };
    scene.expect_complete(&run);
}

#[test]
fn the_persons_own_commits_are_missed_as_well() {
    let scene = Scene::new(&members(3));
    scene.write("precious.txt", "work of a person\n");
    scene.commit_all("precious");
    let precious = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let branch = scene.git(&["symbolic-ref", "HEAD"]).trim().to_owned();
    let rewound = scene.control("rewound").display().to_string();
    let rewind = Step::shell(&format!("git update-ref {branch} HEAD~1; : > {rewound}"));
    let agent = Agent::new().on_attempt("1.2", 1, [rewind, work(), done()]).otherwise([
        Step::AwaitFile(rewound),
        work(),
        done(),
    ]);
    let run = scene.go(&agent, &[]).expect_code(6);
    assert!(run.stderr.contains(&precious), "{run}");
    scene.git(&["reset", "-q", "--hard", &precious]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn nobody_is_said_to_have_committed_when_signing_failed() {
    let scene = Scene::new(&members(2));
    scene.write(".git/gpg", "#!/bin/sh\ncat > /dev/null; exit 2\n");
    scene.git(&["config", "gpg.program", "sh .git/gpg"]);
    scene.git(&["config", "commit.gpgsign", "true"]);
    scene.go(&worker(), &[]).expect_code(6);
    scene.git(&["config", "commit.gpgsign", "false"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!run.stderr.contains("somebody committed"), "{run}");
    assert!(run.stderr.contains("the work of task 1.1 is brought in once more"), "{run}");
}

#[test]
fn a_deletion_that_is_undone_by_finished_work_is_told() {
    let scene = waiting("grep -q done out/1.1.txt");
    scene.write("out/1.2.txt", "to do\n");
    scene.commit_all("to do");
    let run =
        meanwhile(&scene, || std::fs::remove_file(scene.root().join("out/1.2.txt")).expect("it is there"));
    let run = run.expect_code(0);
    scene.expect_complete(&run);
    let told = "deleted in the project, and there again with finished work: out/1.2.txt";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
}

#[test]
fn a_file_in_the_way_that_git_ignores_is_to_be_moved_away() {
    let scene = Scene::bare();
    scene.write(".gitignore", ".env\n");
    scene.plan(&members(2));
    scene.write(".env", "mine\n");
    let force = Step::shell("echo theirs > .env; git add -f .env");
    let agent = Agent::new().on("1.1", [force, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(6);
    let told = "files that git does not know in the project are in the way of finished work: .env (move them away, then";
    assert!(run.stderr.contains(told), "{run}");
    assert_eq!(scene.read(".env"), "mine\n");
}

#[test]
fn work_of_a_task_that_was_taken_out_of_the_plan_does_not_come_in() {
    let scene = waiting("grep -q done out/1.1.txt");
    let run = meanwhile(&scene, || {
        scene.await_passed("demo", 2);
        scene.spec("demo", scene.tasks("demo").split("- [ ] 1.2").next().unwrap_or_default());
    });
    let run = run.expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert!(run.stderr.contains("task 1.2 is no longer in the plan, so its work does not come in"), "{run}");
    let kept = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen-left"]);
    assert_eq!(scene.git(&["show", &format!("{}:out/1.2.txt", kept.trim())]), "done\n", "{run}");
    assert!(run.stderr.contains(kept.trim()), "{run}");
}

#[test]
fn settings_of_the_program_itself_are_no_uncommitted_changes() {
    let scene = Scene::new(&members(2));
    scene.write("tillgreen.toml", "max_fix_tasks = 2\n");
    scene.write("specs/.current-spec", "demo\n");
    let agent = Agent::new().otherwise([scene.meet(2), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert!(run.stderr.contains("in a work tree"), "{run}");
}

/// Agents work in trees of their own, so that whatever changes in the project's plan is a person's doing.
#[test]
fn what_a_person_does_to_the_plan_while_agents_work_in_trees_counts_as_it_stands() {
    let tasks =
        [members(2), vec![task("2.1", "out/2.1.txt", "grep -q done out/2.1.txt").replace(" [P]", "")]];
    let scene = Scene::new(&tasks.concat());
    let (began, gate) = (scene.control("met"), scene.control("gate"));
    let wait = Step::AwaitFile(gate.display().to_string());
    let agent = Agent::new().otherwise([scene.meet(2), wait, work(), done()]);
    let run = scene.begin(&agent, &[]);
    wait_for("both", || std::fs::read_dir(&began).is_ok_and(|entries| entries.count() == 2));
    scene.spec("demo", &scene.tasks("demo").replace("- [ ] 2.1", "- [x] 2.1"));
    scene.release("gate");
    let run = run.wait().expect_code(0);
    assert_eq!(scene.attempts("2.1"), 0, "{run}");
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1), "no attempt is charged for it: {run}");
    assert!(!run.stderr.contains("put back"), "{run}");
}

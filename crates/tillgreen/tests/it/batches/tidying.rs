//! A batch is killed and a person tidies up before it goes on: with `git clean`, by removing work trees, by taking tasks
//! out of the plan. What was done is not lost for that, and nobody pays for it.

use std::fs;

use testkit::{Agent, Step, wait_for};

use super::scene::{JOURNAL, Scene, TREES, done, member, members, task, work, worker};

/// A batch of three that is killed when two of them are finished and wait for the first, which has left something.
fn killed() -> Scene {
    let scene = Scene::new(&members(3));
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let half = Step::write("half.txt", "half\n");
    let agent =
        Agent::new().on("1.1", [half, scene.meet(3), never]).otherwise([work(), scene.meet(3), done()]);
    let run = scene.begin(&agent, &[]);
    let journal = scene.root().join(JOURNAL);
    let finished = |text: String| text.matches("checks_passed").count() == 2;
    wait_for("two that are finished", || fs::read_to_string(&journal).is_ok_and(finished));
    run.kill();
    assert_eq!(scene.trees().len(), 3);
    scene
}

/// The references that stay, each with what is in a file there.
fn left(scene: &Scene) -> Vec<(String, Vec<String>)> {
    let names = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen-left"]);
    let files = |name: &str| scene.git(&["diff", "--name-only", &format!("{name}^"), name]);
    let told = |name: &str| (name.to_owned(), files(name).lines().map(str::to_owned).collect());
    names.lines().map(told).collect()
}

#[test]
fn work_outlives_a_git_clean_that_takes_the_journal_and_spares_the_work_trees() {
    let scene = killed();
    scene.git(&["clean", "-fdxq"]);
    assert!(!scene.has(JOURNAL) && scene.has(&format!("{TREES}/1.2")));
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let kept = left(&scene);
    let files: Vec<&[String]> = kept.iter().map(|(_, files)| files.as_slice()).collect();
    assert_eq!(files, [["half.txt"], ["out/1.2.txt"], ["out/1.3.txt"]], "{run}");
    for (name, _) in kept {
        assert!(run.stderr.contains(&name), "{name} is told: {run}");
    }
}

#[test]
fn what_was_done_in_a_tree_after_it_was_packed_is_kept_as_well() {
    let scene = killed();
    fs::write(scene.root().join(TREES).join("1.2/more.txt"), "more\n").expect("it can be written");
    scene.git(&["clean", "-fdxq"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let files: Vec<String> = left(&scene).into_iter().map(|(_, files)| files.join(" ")).collect();
    assert_eq!(files, ["half.txt", "more.txt out/1.2.txt", "out/1.2.txt", "out/1.3.txt"], "{run}");
}

#[test]
fn what_an_agent_committed_in_its_tree_outlives_a_git_clean() {
    let scene = Scene::new(&members(2));
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let agent = Agent::new().otherwise([work(), Step::commit("mine"), scene.meet(2), never]);
    let run = scene.begin(&agent, &[]);
    let met = scene.control("met");
    wait_for("both", || fs::read_dir(&met).is_ok_and(|entries| entries.count() == 2));
    run.kill();
    scene.git(&["clean", "-fdxq"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let files: Vec<String> = left(&scene).into_iter().map(|(_, files)| files.join(" ")).collect();
    assert_eq!(files, ["out/1.1.txt", "out/1.2.txt"], "{run}");
}

/// Each task was begun this often in all, and nobody was told of failures.
#[track_caller]
fn expect_attempts(scene: &Scene, attempts: [usize; 3]) {
    assert_eq!(["1.1", "1.2", "1.3"].map(|id| scene.attempts(id)), attempts);
    assert!(!scene.read(JOURNAL).contains("attempt_failed"), "no attempt was charged");
}

#[test]
fn finished_work_comes_in_also_where_its_tree_was_removed() {
    for with_notes in [true, false] {
        let scene = killed();
        for tree in scene.trees() {
            scene.git(&["worktree", "remove", "--force", &tree]);
        }
        if !with_notes {
            fs::remove_dir_all(scene.root().join(TREES)).expect("it can be removed");
        }
        let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(0);
        scene.expect_complete(&run);
        expect_attempts(&scene, [2, 1, 1]);
        assert!(!scene.has("half.txt"), "{run}");
    }
}

#[test]
fn work_that_is_gone_altogether_is_done_again_at_no_cost() {
    let scene = killed();
    for tree in scene.trees() {
        scene.git(&["worktree", "remove", "--force", &tree]);
    }
    scene.git(&["update-ref", "-d", "refs/tillgreen/demo/1.2"]);
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
    expect_attempts(&scene, [2, 2, 1]);
    assert!(run.stderr.contains("gone with their work trees, and done again: 1.2"), "{run}");
}

#[test]
fn a_tree_that_is_removed_while_its_work_is_verified_is_made_again() {
    let scene = Scene::bare();
    let (begun, go) = (scene.control("begun"), scene.control("go"));
    let verify = format!("grep -q done out/1.1.txt && : > {} && test -e {}", begun.display(), go.display());
    let waits = format!("{verify} || sleep 60");
    scene.plan(&[task("1.1", "out/1.1.txt", &waits), member("1.2")]);
    let run = scene.begin(&worker(), &[]);
    wait_for("the verify command", || begun.exists());
    // The other one's attempt, which nobody wants to see made again.
    scene.await_passed("demo", 1);
    run.kill();
    fs::write(&go, "").expect("it can be written");
    scene.git(&["worktree", "remove", "--force", &format!("{TREES}/1.1")]);
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1), "{run}");
    assert!(run.stderr.contains("the work tree of task 1.1 was gone and is made again"), "{run}");
}

/// What an attempt that failed had left is taken up, as if its tree were there.
#[test]
fn a_retry_takes_up_what_was_packed_of_a_tree_that_was_removed() {
    let scene = Scene::new(&members(2));
    let half = Step::write("half.txt", "half\n");
    let agent = Agent::new().on("1.2", [half, Step::Exit(3)]).otherwise([work(), done()]);
    scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(1);
    scene.git(&["worktree", "remove", "--force", &format!("{TREES}/1.2")]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("half.txt"), "half\n", "{run}");
}

/// Takes a task out of the plan.
fn take_out(scene: &Scene, id: &str) {
    let text = scene.tasks("demo");
    let (before, rest) = text.split_once(&format!("- [ ] {id} ")).expect("it is there");
    let after = rest.find("- [ ] ").map_or("", |place| &rest[place..]);
    scene.spec("demo", &format!("{before}{after}"));
}

#[test]
fn a_task_that_was_running_and_is_taken_out_of_the_plan_is_dropped() {
    let scene = killed();
    take_out(&scene, "1.1");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.landed(), ["1.2", "1.3"], "{run}");
    assert!(run.stderr.contains("task 1.1 is no longer in the plan, so its work does not come in"), "{run}");
    let kept = left(&scene);
    assert!(
        matches!(kept.as_slice(), [(name, files)] if *files == ["half.txt"] && run.stderr.contains(name)),
        "{kept:?}: {run}"
    );
}

#[test]
fn the_same_after_an_interruption() {
    let scene = Scene::new(&members(2));
    let ready = scene.control("ready");
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let agent = Agent::new()
        .on("1.2", [Step::write("half.txt", "half\n"), Step::write(&ready.display().to_string(), ""), never])
        .otherwise([work(), done()]);
    let mut run = scene.begin(&agent, &[]);
    wait_for("the agent", || ready.exists());
    run.signal(testkit::Signal::Interrupt);
    run.wait().expect_code(130);
    take_out(&scene, "1.2");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(left(&scene).len(), 1, "{run}");
}

#[test]
fn the_tree_of_a_task_that_a_person_finished_goes_with_the_end_of_the_run() {
    let scene = Scene::new(&members(2));
    let agent = Agent::new().on("1.2", [Step::Exit(3)]).otherwise([work(), done()]);
    scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(1);
    assert_eq!(scene.trees().len(), 1);
    scene.write("out/1.2.txt", "done\n");
    scene.spec("demo", &scene.tasks("demo").replace("- [ ] 1.2", "- [x] 1.2"));
    scene.commit_all("by hand");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_settled(&run);
}

#[test]
fn a_tree_that_an_agent_made_beside_its_own_goes_and_is_told() {
    let scene = Scene::new(&members(2));
    let add = Step::shell("git worktree add -q --detach ../mine && echo more > ../mine/more.txt");
    let agent = Agent::new().on("1.1", [add, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let told = format!("work trees that no task has are removed: {TREES}/mine");
    assert!(run.stderr.contains(&told), "{run}");
    let kept = left(&scene);
    assert!(
        matches!(kept.as_slice(), [(name, files)] if *files == ["more.txt"] && run.stderr.contains(name)),
        "{kept:?}: {run}"
    );
}

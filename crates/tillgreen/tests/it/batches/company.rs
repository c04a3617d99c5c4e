//! Work that is ready at the same moment comes in together; where that does not work out, one by one, and nobody sees a
//! difference in the end.

use std::thread;

use testkit::{Agent, Finished, Signal, Step, wait_for};

use super::scene::{Scene, done, member, members, task, work};

/// On a machine that is busy, checks take too long for anybody to come in together.
const TRIES: usize = 20;

/// What is said when they do.
const TOGETHER: &str = "come back from their work trees together";
const APART: &str = "come back each by itself";

/// Runs something until tasks come in together.
#[track_caller]
fn until_together(run: impl Fn() -> (Scene, Finished)) -> (Scene, Finished) {
    let mut runs = (0..TRIES).map(|_| run());
    runs.find(|(_, run)| run.stderr.contains(TOGETHER)).expect("they come in together sooner or later")
}

/// Runs a batch until its members do.
#[track_caller]
fn go(tasks: &[String]) -> (Scene, Finished) {
    until_together(|| {
        let scene = Scene::new(tasks);
        let run = scene.go(&scene.first_is_last(tasks.len() - 1), &[]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.landed(), scene.ids(), "in the plan's order");
        (scene, run)
    })
}

/// Work and tick of each task, one after another.
fn pairs(scene: &Scene) -> Vec<String> {
    let pair = |id: String| [format!("feat: task {id}"), format!("chore(spec): complete task {id}")];
    scene.ids().into_iter().flat_map(pair).collect()
}

#[test]
fn history_and_plan_are_as_if_they_had_come_in_one_by_one() {
    let (scene, run) = go(&members(3));
    assert!(!run.stderr.contains(APART), "{run}");
    assert_eq!(scene.subjects()[1..], pairs(&scene));
    for id in scene.ids() {
        let subject = format!("^chore(spec): complete task {id}$");
        let commit = scene.git(&["log", "--format=%H", "--grep", &subject]);
        let plan = scene.git(&["show", &format!("{}:specs/demo/tasks.md", commit.trim())]);
        let ticked = plan.lines().filter(|line| line.starts_with("- [x]")).count();
        assert_eq!(ticked.to_string(), id[2..], "each commit ticks one box");
        let work = scene.git(&["log", "--format=%h", "--abbrev=7", "--grep", &format!("^feat: task {id}$")]);
        let noted = format!("- [x] {id} Task number {id} - {}", work.trim());
        assert!(scene.read("specs/demo/.progress.md").contains(&noted), "{noted}\n{run}");
    }
    scene.git(&["diff-files", "--quiet"]);
    scene.git(&["fsck", "--strict"]);
}

#[test]
fn who_is_red_with_those_that_come_after_it_is_green_before_them() {
    let verify = "grep -q done out/1.1.txt && test ! -e out/1.3.txt";
    let (scene, run) = go(&[task("1.1", "out/1.1.txt", verify), member("1.2"), member("1.3")]);
    assert!(!run.stderr.contains(APART), "{run}");
    assert_eq!(scene.agent_calls().len(), 3, "nobody had to try again");
    assert_eq!(scene.subjects()[1..], pairs(&scene));
}

#[test]
fn who_would_be_green_only_with_those_that_come_after_it_is_red() {
    let verify = "grep -q done out/1.1.txt && (test -e ../1.1.base || test -e out/1.3.txt)";
    until_together(|| {
        let scene = Scene::new(&[task("1.1", "out/1.1.txt", verify), member("1.2"), member("1.3")]);
        let run = scene.go(&scene.first_is_last(2), &["--max-task-iterations", "1"]).expect_code(1);
        assert_eq!(scene.landed(), ["1.2", "1.3"], "{run}");
        assert!(scene.tasks("demo").contains("- [ ] 1.1"), "{run}");
        (scene, run)
    });
}

#[test]
fn who_is_red_with_those_that_came_before_it_tries_again() {
    let alone = "grep -q done out/1.3.txt && (test ! -e out/1.1.txt || grep -q again out/1.3.txt)";
    let tasks = [member("1.1"), member("1.2"), task("1.3", "out/1.3.txt", alone)];
    until_together(|| {
        let scene = Scene::new(&tasks);
        let agent = Agent::new()
            .on("1.1", [work(), scene.until_passed(2), done()])
            .on_attempt("1.3", 2, [Step::shell("echo done again > out/1.3.txt"), done()])
            .otherwise([work(), done()]);
        let run = scene.go(&agent, &[]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!((scene.attempts("1.2"), scene.attempts("1.3")), (1, 2), "{run}");
        assert!(scene.feedback("1.3", 2).contains("red together"), "{run}");
        assert!(run.stderr.contains(&format!("{APART}: 1.3 is red with what came in before it")), "{run}");
        (scene, run)
    });
}

#[test]
fn work_that_its_verify_command_touches_comes_in_by_itself() {
    let verify = "grep -q done out/1.2.txt && echo more >> out/1.2.txt && sort -u -o out/1.2.txt out/1.2.txt";
    let (scene, run) = go(&[member("1.1"), task("1.2", "out/1.2.txt", verify), member("1.3")]);
    assert!(run.stderr.contains(&format!("{APART}: out/1.2.txt was changed while it was verified")), "{run}");
    assert_eq!(scene.read("out/1.2.txt"), "done\nmore\n");
}

#[test]
fn whoever_looks_at_what_is_committed_comes_in_by_itself() {
    let verify = "grep -q done out/1.2.txt && git log -1 --format=%s";
    let scene = Scene::new(&[member("1.1"), task("1.2", "out/1.2.txt", verify), member("1.3")]);
    let run = scene.go(&scene.first_is_last(2), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!run.stderr.contains("1.2 come back"), "{run}");
    assert!(!run.stderr.contains("1.2, 1.3"), "{run}");
}

#[test]
fn where_git_does_more_than_write_commits_down_nobody_is_said_to_come_in_together() {
    let scene = Scene::new(&members(2));
    scene.hook("pre-commit", "exit 0");
    let run = scene.go(&scene.first_is_last(1), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!run.stderr.contains(TOGETHER) && !run.stderr.contains(APART), "{run}");
}

#[test]
fn two_that_add_the_same_file_come_in_by_themselves() {
    let tasks = [member("1.1"), member("1.2"), member("1.3")];
    let scene = Scene::new(&tasks);
    let same = || Step::shell("echo same > shared.txt");
    let agent =
        Agent::new().on("1.1", [work(), scene.until_passed(2), done()]).otherwise([same(), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("shared.txt"), "same\n");
    assert!(!run.stderr.contains(APART) && !run.stderr.contains(", 1.3 come back"), "{run}");
}

/// A batch whose first verify command waits, when it runs on what came in, until it is let go.
fn gated() -> Scene {
    let scene = Scene::bare();
    let [once, began, gate] = ["once", "began", "gate"].map(|name| scene.control(name).display().to_string());
    let wait = format!("{{ : > {began}; while test ! -e {gate}; do sleep 0.02; done; }}");
    let verify = format!("grep -q done out/1.1.txt && (mkdir {once} 2>/dev/null || {wait})");
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    scene
}

/// Such a batch, in which a person does something meanwhile.
#[track_caller]
fn meddle(person: &(dyn Fn(&Scene) + Sync)) -> (Scene, Finished) {
    until_together(|| {
        let scene = gated();
        let run = scene.begin(&scene.first_is_last(1), &[]);
        let run = thread::scope(|scope| {
            scope.spawn(|| {
                wait_for("the check", || scene.control("began").exists());
                person(&scene);
                scene.release("gate");
            });
            run.wait().expect_code(0)
        });
        (scene, run)
    })
}

#[test]
fn somebody_who_commits_while_all_of_it_is_verified_loses_nothing() {
    let (scene, run) = meddle(&|scene| {
        scene.write("mine.txt", "mine\n");
        scene.git(&["add", "mine.txt"]);
        scene.git(&["commit", "-q", "-m", "mine"]);
    });
    scene.expect_complete(&run);
    assert!(run.stderr.contains(&format!("{APART}: somebody committed meanwhile")), "{run}");
    let mine = scene.git(&["log", "--format=", "--name-only", "--grep", "^mine$"]);
    assert_eq!(mine.trim(), "mine.txt", "{run}");
}

#[test]
fn a_commit_that_takes_unverified_work_along_is_named() {
    let (scene, run) = meddle(&|scene| {
        scene.git(&["add", "out"]);
        scene.git(&["commit", "-q", "-m", "mine"]);
    });
    scene.expect_settled(&run);
    let commit = scene.git(&["log", "--format=%h", "--abbrev=7", "--grep", "^mine$"]);
    let told = format!("commit {} took along work of tasks 1.1, 1.2", commit.trim());
    assert!(run.stderr.contains(&told), "{told}\n{run}");
}

#[test]
fn what_somebody_stages_or_writes_in_the_place_of_work_stays_theirs() {
    let (scene, run) = meddle(&|scene| {
        scene.write("base.txt", "staged\n");
        scene.git(&["add", "base.txt"]);
    });
    scene.expect_done(&run);
    assert_eq!(scene.git(&["diff", "--cached", "--name-only"]).trim(), "base.txt", "{run}");
}

#[test]
fn what_is_in_the_place_of_work_is_named() {
    let (_, run) = meddle(&|scene| scene.write("out/1.2.txt", "mine\n"));
    assert!(run.stderr.contains(&format!("{APART}: somebody changed out/1.2.txt")), "{run}");
}

#[test]
fn what_somebody_writes_in_the_place_of_work_that_is_not_in_yet_stays_when_the_run_is_stopped() {
    until_together(|| {
        let scene = gated();
        let mut run = scene.begin(&scene.first_is_last(1), &[]);
        wait_for("the check", || scene.control("began").exists());
        scene.write("out/1.2.txt", "mine\n");
        run.signal(Signal::Interrupt);
        let run = run.wait();
        assert_eq!(scene.read("out/1.2.txt"), "mine\n", "{run}");
        assert_eq!(scene.dirt(), ["?? out/1.2.txt"], "{run}");
        (scene, run)
    });
}

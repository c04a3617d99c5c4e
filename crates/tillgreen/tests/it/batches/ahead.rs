//! Work that is verified together with what comes in before it while that comes in: believed only where it is what comes
//! in, and only if it is green.

use std::fs;

use testkit::{Agent, Step};

use super::scene::{Scene, TREES, done, member, members, task, work, worker};

/// Told by a verify command that runs in the project itself, not in a work tree.
const HERE: &str = "test -d .tillgreen";

impl Scene {
    /// A place for a verify command to leave word, as a part of its text.
    fn word(&self, name: &str) -> String {
        self.control(name).display().to_string()
    }

    /// What verify commands have noted down there.
    fn noted(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.control(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Members whose verify commands tell when they run in the project, and when with the work of 1.1 in a tree. The first
    /// of them waits there for all others.
    fn expecting(&self, count: usize) -> Vec<String> {
        let (here, ahead) = (self.word("here"), self.word("ahead"));
        let others: Vec<String> = (2..=count).map(|number| format!("test -f {ahead}-1.{number}")).collect();
        let tell = |id: &str| format!("if {HERE}; then echo {id} >> {here}; fi; grep -q done out/{id}.txt");
        let first = format!(
            "{}; if {HERE}; then until {}; do sleep 0.05; done; fi",
            tell("1.1"),
            others.join(" && ")
        );
        let mut tasks = vec![task("1.1", "out/1.1.txt", &first)];
        for number in 2..=count {
            let id = format!("1.{number}");
            let look = format!("if ! {HERE} && test -f out/1.1.txt; then : > {ahead}-{id}; fi");
            tasks.push(task(&id, &format!("out/{id}.txt"), &format!("{}; {look}", tell(&id))));
        }
        tasks
    }
}

#[test]
fn finished_work_is_verified_together_while_earlier_work_comes_in() {
    let scene = Scene::bare();
    scene.plan(&scene.expecting(4));
    // The verify command of the first would wait in vain if those of the others ran after it.
    let run = scene.go(&worker(), &["--verify-ahead"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.noted("here"), ["1.1"], "the others were not verified again: {run}");
    assert_eq!(
        run.stderr.matches("together with all that in its work tree, ahead").count(),
        3,
        "that is said: {run}"
    );
}

#[test]
fn nobody_looks_ahead_unasked() {
    let here = |scene: &Scene| scene.word("here");
    let scene = Scene::bare();
    let verify =
        |id: &str| format!("if {HERE}; then echo {id} >> {}; fi; grep -q done out/{id}.txt", here(&scene));
    let tasks = ["1.1", "1.2", "1.3"].map(|id| task(id, &format!("out/{id}.txt"), &verify(id)));
    scene.plan(&tasks);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.noted("here"), ["1.1", "1.2", "1.3"], "{run}");
}

#[test]
fn what_others_attributes_make_of_files_is_verified_in_the_project() {
    let scene = Scene::bare();
    let first = task("1.1", ".gitattributes, out/1.1.txt", "sleep 1; grep -q done out/1.1.txt");
    let second =
        task("1.2", "out/1.2.txt", "grep -q done out/1.2.txt; ! grep -q \"$(printf '\\r')\" out/1.2.txt");
    scene.plan(&[first, second]);
    let crlf = Step::write(".gitattributes", "*.txt text eol=crlf\n");
    let agent = Agent::new().on("1.1", [scene.meet(2), crlf, work(), done()]).otherwise([
        scene.meet(2),
        work(),
        done(),
    ]);
    let run = scene.go(&agent, &["--verify-ahead", "--max-task-iterations", "1"]).expect_code(1);
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert!(run.stderr.contains("1.2 checks are green"), "it is green alone: {run}");
}

#[test]
fn red_ahead_is_red_in_the_project_and_whoever_came_after_is_looked_at_again() {
    let scene = Scene::bare();
    let alone = "grep -q done out/1.2.txt && { ! test -f out/1.1.txt || test -f out/agreed.txt; }";
    scene.plan(&[member("1.1"), task("1.2", "out/1.2.txt, out/agreed.txt", alone), member("1.3")]);
    let agent = Agent::new()
        .on_attempt("1.2", 1, [scene.meet(3), work(), done()])
        .on("1.2", [Step::shell("mkdir -p out && echo yes > out/agreed.txt"), work(), done()])
        .otherwise([scene.meet(3), work(), done()]);
    let run = scene.go(&agent, &["--verify-ahead"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2"), scene.attempts("1.3")), (1, 2, 1), "{run}");
    assert!(scene.feedback("1.2", 2).contains("feat: task 1.1"), "what came in meanwhile is told: {run}");
}

#[test]
fn a_tree_that_stays_holds_its_own_work_alone() {
    let scene = Scene::bare();
    let alone = "grep -q done out/1.2.txt && ! test -f out/1.1.txt";
    scene.plan(&[member("1.1"), task("1.2", "out/1.2.txt", alone)]);
    let agent = Agent::new().otherwise([scene.meet(2), work(), done()]);
    let run = scene.go(&agent, &["--verify-ahead", "--max-task-iterations", "1"]).expect_code(1);
    let tree = scene.root().join(TREES).join("1.2/out");
    assert!(tree.join("1.2.txt").exists() && !tree.join("1.1.txt").exists(), "{run}");
}

#[test]
fn what_a_verify_command_leaves_or_writes_is_not_believed() {
    for left in ["date +%N > report.txt", "date +%N >> base.txt"] {
        let scene = Scene::bare();
        let here = scene.word("here");
        let verify = |id: &str| {
            format!("if {HERE}; then echo {id} >> {here}; else {left}; fi; grep -q done out/{id}.txt")
        };
        let tasks = ["1.1", "1.2", "1.3"].map(|id| task(id, &format!("out/{id}.txt"), &verify(id)));
        scene.plan(&tasks);
        let agent = Agent::new().otherwise([scene.meet(3), work(), done()]);
        let run = scene.go(&agent, &["--verify-ahead"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.noted("here"), ["1.1", "1.2", "1.3"], "{left}: {run}");
    }
}

#[test]
fn what_comes_in_otherwise_is_verified_in_the_project() {
    let scene = Scene::bare();
    let once = scene.word("once");
    let mut tasks = scene.expecting(2);
    // Somebody commits when the second has been verified together with the first.
    let commit = "echo theirs > theirs.txt; git add theirs.txt; git commit -q -m theirs -- theirs.txt";
    let meddled =
        tasks[0].replace("done; fi`", &format!("done; if mkdir {once} 2>/dev/null; then {commit}; fi; fi`"));
    assert_ne!(tasks[0], meddled);
    tasks[0] = meddled;
    scene.plan(&tasks);
    let run = scene.go(&worker(), &["--verify-ahead"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.noted("here").last().map(String::as_str), Some("1.2"), "{run}");
}

#[test]
fn work_in_conflict_or_without_a_change_is_in_nobodys_way() {
    let scene = Scene::new(&members(4));
    let agent = Agent::new()
        .on("1.1", [scene.meet(4), Step::shell("echo 1.1 >> base.txt"), work(), done()])
        .on_attempt("1.2", 1, [scene.meet(4), Step::shell("echo 1.2 >> base.txt"), work(), done()])
        .on_attempt("1.3", 1, [scene.meet(4), done()])
        .on_attempt("1.4", 1, [scene.meet(4), work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--verify-ahead"]).expect_code(0);
    scene.expect_complete(&run);
}

//! Tasks side by side in one tree: what one of them changes in its own files is nobody else's.

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, work};

/// Waits in an agent until the boxes of all these tasks are ticked.
fn await_boxes(ids: &[&str]) -> Step {
    let tests = ids.iter().map(|id| {
        format!("until grep -q '^- .x. {id} ' specs/demo/tasks.md; do sleep 0.02; done").replace("1.", "1\\.")
    });
    Step::shell(&tests.collect::<Vec<_>>().join("\n"))
}

#[test]
fn nobody_is_charged_with_what_others_change_in_their_own_files() {
    let scene = Scene::new(&members(3));
    let agent = Agent::new()
        .on("1.1", [work(), scene.meet(3), await_boxes(&["1.2", "1.3"]), done()])
        .otherwise([work(), scene.meet(3), done()]);
    let flags = ["--share-tree", "--scope", "reject", "--max-task-iterations", "1"];
    let run = scene.go(&agent, &flags).expect_code(0);
    scene.expect_settled(&run);
    assert!(!run.stderr.contains("outside"), "{run}");
    for id in ["1.1", "1.2", "1.3"] {
        let grep = format!("^feat: task {id}$").replace("1.", "1\\.");
        let files = scene.git(&["log", "--format=", "--name-only", &format!("--grep={grep}")]);
        assert_eq!(files.trim(), format!("out/{id}.txt"), "{run}");
    }
}

#[test]
fn what_a_task_breaks_in_its_own_files_is_not_committed_with_another() {
    let scene = Scene::new(&members(2));
    let agent = Agent::new()
        .on("1.1", [Step::write("out/1.1.txt", "broken\n"), scene.meet(2), await_boxes(&["1.2"]), done()])
        .otherwise([work(), scene.meet(2), done()]);
    let run = scene.go(&agent, &["--share-tree", "--max-task-iterations", "1"]).expect_code(1);
    assert_eq!(scene.landed(), ["1.2"], "{run}");
    assert_eq!(scene.dirt(), ["?? out/1.1.txt"], "{run}");
}

#[test]
fn what_lies_in_nobodys_files_is_still_outside() {
    let scene = Scene::new(&members(2));
    let stray = Step::write("stray.txt", "x\n");
    let agent = Agent::new().on("1.1", [work(), scene.meet(2), await_boxes(&["1.2"]), done()]).otherwise([
        work(),
        stray,
        scene.meet(2),
        done(),
    ]);
    let run = scene.go(&agent, &["--share-tree"]).expect_code(0);
    assert!(run.stderr.contains("changed outside the task's Files: stray.txt"), "{run}");
    assert!(!run.stderr.contains("Files: out"), "{run}");
}

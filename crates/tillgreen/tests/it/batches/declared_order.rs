//! What tasks of a spec say they depend on: waited for where that can be, and told of where it cannot.

use testkit::{Agent, Step};

use super::scene::{Scene, done, member, work, worker};

fn depending(id: &str, on: &str) -> String {
    member(id).replace("  - **Verify**", &format!("  - **Depends on**: {on}\n  - **Verify**"))
}

#[test]
fn a_later_task_is_waited_for() {
    for flags in [&["--jobs", "1"][..], &["--jobs", "4"][..]] {
        let scene = Scene::new(&[depending("1.1", "1.3"), member("1.2"), member("1.3")]);
        let graph = scene.run(&["check", "--graph"]).expect_code(0);
        assert!(graph.stdout.contains("after 1.3: it is declared to depend on it"), "{graph}");
        let agent = Agent::new()
            .on("1.1", [Step::shell("test -f out/1.3.txt || exit 1"), work(), done()])
            .otherwise([work(), done()]);
        let run = scene.go(&agent, &[flags, &["--max-task-iterations", "1"]].concat()).expect_code(0);
        assert_eq!(scene.landed(), ["1.2", "1.3", "1.1"], "{run}");
        assert!(!run.stderr.contains("depends on"), "{run}");
    }
}

#[test]
fn what_cannot_be_waited_for_is_told() {
    let tasks = [
        depending("1.1", "7.7"),
        depending("1.2", "1.2"),
        depending("1.3", "the database task"),
        depending("1.4", "1.5"),
        depending("1.5", "1.4"),
    ];
    let scene = Scene::new(&tasks);
    let check = scene.run(&["check"]).expect_code(0);
    let run = scene.go(&worker(), &[]).expect_code(0);
    let told = [
        "specs/demo/tasks.md:5: ",
        "task 1.1 depends on 7.7, which is no task of this plan",
        "task 1.2 depends on itself",
        "task 1.3 depends on “the database task”, which names no task",
        "task 1.4 depends on 1.5 and does not wait for it: 1.5 depends on 1.4 in turn",
    ];
    for text in told {
        assert!(check.stdout.contains(text), "{text:?} is missing: {check}");
        assert!(run.stderr.contains(text), "{text:?} is missing: {run}");
    }
    assert!(check.stdout.contains("0 errors, 4 warnings"), "{check}");
}

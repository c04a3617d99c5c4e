//! What a plan says of the order of its tasks: dependencies, circles, few jobs, boxes that are no tasks.

use testkit::{Agent, Step};

use super::scene::{Scene, TASKS, done, member, members, work, worker};

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
        assert_eq!(scene.came_in().last().map(String::as_str), Some("1.1"), "{run}");
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

#[test]
fn boxes_that_are_no_tasks_are_told_of_before_and_after() {
    let stray = "- [ ] Write the docs\n  - **Files**: docs\n  - **Verify**: `false`\n".to_owned();
    let scene = Scene::new(&[member("1.1"), stray, member("1.2")]);
    let check = scene.run(&["check"]).expect_code(0);
    assert!(check.stdout.contains("warning: the checkbox “Write the docs” has no id"), "{check}");
    assert!(check.stdout.contains("2 tasks") && check.stdout.contains("0 errors, 1 warning"), "{check}");
    // Its verification is not one of 1.1, which would not pass.
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(0);
    assert!(run.stderr.contains("the checkbox “Write the docs” has no id, so it is no task"), "{run}");
    assert!(
        run.stdout.contains("Left:      1 open checkbox of the plan not read as a task, in line "),
        "{run}"
    );
    assert!(run.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{run}");
}

#[test]
fn the_steps_are_those_of_a_run_with_as_many_jobs() {
    let scene = Scene::new(&members(6));
    let last_line = |flags: &[&str]| {
        let graph = scene.run(&[&["check", "--graph"], flags].concat()).expect_code(0);
        graph.stdout.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last_line(&[]), "6 unfinished tasks in 2 steps with 4 jobs");
    assert_eq!(last_line(&["--jobs", "6"]), "6 unfinished tasks in 1 step with 6 jobs");
    scene.write("tillgreen.toml", "jobs = 2\n");
    assert_eq!(last_line(&[]), "6 unfinished tasks in 3 steps with 2 jobs");
    assert_eq!(last_line(&["-j", "1"]), "6 unfinished tasks in 6 steps with 1 job");
    scene.run(&["check", "--jobs", "2"]).expect_code(2);
}

#[test]
fn a_circle_keeps_its_place_in_the_plan() {
    let last = member("1.3").replace("[P] ", "");
    let scene = Scene::new(&[depending("1.1", "1.2"), depending("1.2", "1.1"), last]);
    let graph = scene.run(&["check", "--graph"]).expect_code(0);
    assert!(!graph.stdout.contains("after 1.3"), "{graph}");
    assert!(graph.stdout.contains("after 1.2: the plan lists it later"), "{graph}");
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(scene.came_in(), ["1.1", "1.2", "1.3"], "{run}");
}

#[test]
fn a_file_of_the_project_by_its_whole_path_is_the_same_file() {
    let scene = Scene::new(&[member("1.1"), member("1.2")]);
    let whole = scene.root().join("out/1.1.txt").display().to_string();
    scene.write(TASKS, scene.read(TASKS).replace("`out/1.2.txt`", &format!("`{whole}`")));
    let graph = scene.run(&["check", "--graph"]).expect_code(0);
    assert!(graph.stdout.contains("after 1.1: both are about out/1.1.txt"), "{graph}");
}

//! Plans with waves and declared dependencies, on the same scheduler.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step};

use super::scene::{PROGRAM, Scene};

const FOLDER: &str = ".planning/phases";

/// A plan with one task that needs a file and makes one.
fn plan(number: &str, front: &str, needs: &str) -> String {
    format!(
        "---\nphase: 03-x\nplan: {number}\ntype: execute\n{front}---\n\n<objective>\nTests.\n</objective>\n\n<tasks>\n\n\
         <task type=\"auto\">\n  <name>Task 1: Make {number}</name>\n  <files>{number}.txt</files>\n  \
         <action>Write it.</action>\n  <verify>\n    <automated>test -f {number}.txt {needs}</automated>\n  </verify>\n  \
         <done>It is there</done>\n</task>\n\n</tasks>\n"
    )
}

fn scene(plans: &[(&str, &str, &str)]) -> Scene {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    for (number, front, needs) in plans {
        sandbox.write(&format!("{FOLDER}/03-x/03-{number}-PLAN.md"), plan(number, front, needs));
    }
    sandbox.commit_all("plans");
    Scene::within(sandbox)
}

fn run(scene: &Scene, agent: &Agent) -> Finished {
    let command = scene.install_agent(agent);
    scene.run(&["run", FOLDER, "--jobs", "8", "--agent-cmd", &command])
}

fn make() -> Step {
    Step::shell("n=${TILLGREEN_TASK_ID%:*}; echo done > ${n#03-}.txt")
}

fn success() -> Step {
    Step::say("```yaml\nstatus: success\n```")
}

#[test]
fn plans_of_a_wave_run_side_by_side_and_the_next_wave_after_them() {
    let scene = scene(&[
        ("01", "wave: 1\ndepends_on: []\n", ""),
        ("02", "wave: 1\ndepends_on: []\n", ""),
        ("03", "wave: 2\ndepends_on: [\"03-01\", \"03-02\"]\n", "-a -f 01.txt -a -f 02.txt"),
        ("04", "wave: 2\ndepends_on: [\"03-01\"]\n", "-a -f 01.txt"),
    ]);
    let meet = |wave: &str, count: usize| {
        let place = scene.control(wave).display().to_string();
        Step::shell(&format!(
            "mkdir -p '{place}'; : > '{place}'/$TILLGREEN_TASK_ID; while test $(ls '{place}' | wc -l) -lt {count}; do sleep 0.02; done"
        ))
    };
    let agent = Agent::new()
        .on("03-01:task-1", [meet("first", 2), make(), success()])
        .on("03-02:task-1", [meet("first", 2), make(), success()])
        .otherwise([meet("second", 2), make(), success()]);
    let run = run(&scene, &agent).expect_code(0);
    scene.expect_tidy();
    let mut landed = scene.came_in();
    landed[..2].sort();
    landed[2..].sort();
    assert_eq!(landed, ["03-01:task-1", "03-02:task-1", "03-03:task-1", "03-04:task-1"], "{run}");
    assert_eq!(scene.trees(), [""; 0]);
    assert_eq!(scene.git(&["for-each-ref", "refs/tillgreen"]), "");
}

#[test]
fn a_plan_that_fails_holds_up_only_those_that_depend_on_it() {
    let scene = scene(&[
        ("01", "wave: 1\n", ""),
        ("02", "wave: 1\n", ""),
        ("03", "wave: 2\ndepends_on: [\"03-01\"]\n", ""),
    ]);
    let failure = Step::say("```yaml\nstatus: failure\nerror: not today\n```");
    let agent = Agent::new().on_attempt("03-01:task-1", 1, [failure]).otherwise([make(), success()]);
    let run = run(&scene, &agent).expect_code(0);
    scene.expect_tidy();
    let landed = scene.came_in();
    assert_eq!((landed.len(), &*landed[2]), (3, "03-03:task-1"), "{run}");
    assert_eq!(scene.attempts("03-01:task-1"), 2);
}

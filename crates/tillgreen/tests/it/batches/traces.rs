//! What a verify command leaves in files of the project when it runs on all that came together: it is put back, and
//! what is somebody's own is not touched.

use std::fs;
use std::path::PathBuf;

use testkit::{Agent, Finished, Signal, Step, wait_for};

use super::scene::{Scene, done, member, members, plan, task, work, worker};

/// Where what was put back is kept, by the end of its name.
fn kept(scene: &Scene, name: &str) -> Vec<PathBuf> {
    let attempts = scene.root().join(".tillgreen/specs-demo/attempts");
    let folders = fs::read_dir(attempts).expect("there were attempts").flatten();
    let files = folders.map(|folder| folder.path().join("joined/left").join(name));
    let mut files: Vec<PathBuf> = files.filter(|file| file.exists()).collect();
    files.sort();
    files
}

/// A marked task whose verify command does this besides, in the project itself and not in trees.
fn littering(id: &str, litter: &str) -> String {
    let verify = format!("if test -d .git; then {litter}; fi; grep -q done out/{id}.txt");
    task(id, &format!("out/{id}.txt"), &verify)
}

/// Two files besides the plan.
fn scene(tasks: &[String]) -> Scene {
    let scene = Scene::bare();
    scene.write("lock.txt", "locked\n");
    scene.write("deep/er/gone.txt", "there\n");
    scene.plan(tasks);
    scene
}

#[test]
fn a_file_that_a_check_writes_is_in_nobodys_way() {
    let litter = "date +%N > lock.txt; rm -r deep";
    let scene = scene(&["1.1", "1.2", "1.3"].map(|id| littering(id, litter)));
    let lock = Step::write("lock.txt", "by 1.2\n");
    let agent = Agent::new().on("1.2", [lock, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 3, "{run}");
    assert_eq!(scene.landed(), ["1.1", "1.2", "1.3"]);
    assert_eq!(scene.read("deep/er/gone.txt"), "there\n");
    let told =
        "the verify command of task 1.1, run on all that came together, changed files that are not its work";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
    assert!(run.stderr.contains("deep/er/gone.txt, lock.txt"), "{run}");
    assert_eq!(kept(&scene, "lock.txt").len(), 2, "of 1.2 it is the work: {run}");
}

#[test]
fn it_is_put_back_as_well_where_the_check_is_red() {
    let red_once = scene_of_red();
    let agent = Agent::new()
        .on_attempt("1.2", 1, [red_once.meet(2), work(), done()])
        .on("1.2", [Step::write("allowed", "yes\n"), work(), done()])
        .otherwise([red_once.meet(2), work(), done()]);
    let run = red_once.go(&agent, &[]).expect_code(0);
    red_once.expect_complete(&run);
    assert_eq!(red_once.read("lock.txt"), "locked\n", "{run}");
    assert_eq!(kept(&red_once, "lock.txt").len(), 2, "{run}");
}

/// The second member is red together with the first, until a file allows it.
fn scene_of_red() -> Scene {
    let few = "test $(ls out | wc -l) -le 1 || test -f allowed";
    let verify =
        format!("if test -d .git; then date +%N > lock.txt; fi; grep -q done out/1.2.txt && ({few})");
    scene(&[member("1.1"), task("1.2", "out/1.2.txt", &verify)])
}

#[test]
fn it_is_put_back_before_a_task_has_the_project_to_itself() {
    let mut tasks =
        vec![littering("1.1", "echo litter > lock.txt"), littering("1.2", "echo litter > lock.txt")];
    tasks.push(member("1.3").replace(" [P]", ""));
    let scene = scene(&tasks);
    let looks = Step::shell("grep -qx locked lock.txt || exit 5");
    let agent = Agent::new().on("1.3", [looks, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 3, "{run}");
}

#[test]
fn what_somebody_had_changed_before_stays() {
    let scene = scene(&[littering("1.1", "echo litter >> lock.txt; echo litter > base.txt"), member("1.2")]);
    let mine = scene.root().join("lock.txt").display().to_string();
    let edits = Step::write(&mine, "mine\n");
    let agent = Agent::new().on("1.1", [edits, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.read("lock.txt"), "mine\nlitter\n", "{run}");
    assert_eq!(scene.read("base.txt"), "base\n", "{run}");
    assert_eq!(scene.dirt(), [" M lock.txt"]);
    assert_eq!(kept(&scene, "lock.txt"), [""; 0].map(PathBuf::from), "{run}");
}

#[test]
fn what_somebody_had_staged_is_what_is_put_back() {
    let scene = scene(&[littering("1.1", "echo litter > lock.txt"), member("1.2")]);
    let root = scene.root().display().to_string();
    let stage =
        Step::shell(&format!("cd '{root}' && echo mine > lock.txt && git add lock.txt; cd - >/dev/null"));
    let agent = Agent::new().on("1.1", [stage, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.read("lock.txt"), "mine\n", "{run}");
    assert_eq!(scene.dirt(), ["M  lock.txt"], "{run}");
}

/// Runs it, and lets a person do something after the first check has littered and before it ends.
fn during(scene: &Scene, person: impl FnOnce()) -> Finished {
    let run = scene.begin(&worker(), &[]);
    wait_for("the check", || scene.control("began").exists());
    person();
    scene.release("gate");
    run.wait()
}

/// The first member's check litters, and waits.
fn waiting(litter: &str) -> Scene {
    let scene = Scene::bare();
    let (began, gate) = (scene.control("began"), scene.control("gate"));
    let wait = format!("touch {}; while ! test -e {}; do sleep 0.02; done", began.display(), gate.display());
    scene.write("lock.txt", "locked\n");
    scene.plan(&[littering("1.1", &format!("{litter}; {wait}")), member("1.2")]);
    scene
}

#[test]
fn what_somebody_writes_during_the_check_is_kept_and_named() {
    let scene = waiting("echo litter > lock.txt");
    let run = during(&scene, || scene.write("lock.txt", "precious\n")).expect_code(0);
    scene.expect_complete(&run);
    let kept = kept(&scene, "lock.txt");
    assert_eq!(kept.len(), 1, "{run}");
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), "precious\n");
    let folder = kept[0].parent().unwrap().strip_prefix(scene.root()).unwrap().display().to_string();
    assert!(run.stderr.contains(&folder), "{run}");
}

#[test]
fn a_program_that_is_killed_during_the_check_puts_it_back_when_it_comes_again() {
    let scene = waiting("echo litter > lock.txt; echo said");
    let mut run = scene.begin(&worker(), &[]);
    let said = || {
        let attempts = scene.root().join(".tillgreen/specs-demo/attempts");
        let folders = fs::read_dir(attempts).into_iter().flatten().flatten();
        let logs = folders.map(|folder| folder.path().join("joined/verify.out.log"));
        logs.filter_map(|log| fs::read_to_string(log).ok()).any(|text| text.contains("said"))
    };
    wait_for("the check", || scene.control("began").exists() && said());
    run.signal(Signal::Kill);
    run.wait();
    scene.wait_until_quiet();
    scene.write("base.txt", "mine\n");
    scene.release("gate");
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(scene.read("lock.txt"), "locked\n", "{run}");
    assert_eq!(scene.dirt(), [" M base.txt"], "{run}");
    assert!(run.stderr.contains("lock.txt"), "{run}");
}

#[test]
fn a_check_that_leaves_nothing_is_not_spoken_of() {
    let scene = Scene::new(&members(3));
    scene
        .spec("demo", &plan(&["1.1", "1.2", "1.3"].map(|id| littering(id, "touch base.txt; : > untracked"))));
    scene.commit_all("plan");
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(scene.landed().len(), 3, "{run}");
    assert!(!run.stderr.contains("run on all that came together"), "{run}");
}

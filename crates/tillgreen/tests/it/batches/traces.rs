//! What a verify command leaves in files of the project when it runs on all that came together: it stays, unless it is in
//! the way of other work; then it is moved away and kept. What is somebody's own is not touched.

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

const TOLD: &str = "ran on all that came together: ";
const LEFT: &str = "and not committed: ";

#[test]
fn a_file_that_a_check_writes_is_in_nobodys_way() {
    let litter = "date +%N > lock.txt; rm -r -f deep; : > new.txt";
    let scene = scene(&[littering("1.1", litter), member("1.2"), member("1.3")]);
    let works = ["lock.txt", "deep/er/gone.txt", "new.txt"];
    let mut steps = works.map(|path| Step::write(path, "by 1.2\n")).to_vec();
    steps.extend([work(), done()]);
    let agent = Agent::new().on("1.2", steps).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.agent_calls().len(), 3, "{run}");
    let told = format!("task 1.1 {TOLD}deep/er/gone.txt, lock.txt, new.txt");
    assert_eq!(run.stderr.matches(TOLD).count(), 1, "{run}");
    assert!(run.stderr.contains(&told), "{run}");
    assert_eq!(kept(&scene, "lock.txt").len(), 1, "{run}");
    assert_eq!(kept(&scene, "new.txt").len(), 1, "{run}");
    scene.expect_complete(&run);
    assert!(works.iter().all(|path| scene.read(path) == "by 1.2\n"), "{run}");
    assert!(!run.stderr.contains(LEFT), "{run}");
}

#[test]
fn what_is_in_nobodys_way_stays_and_is_named_at_the_end() {
    let scene = scene(&["1.1", "1.2", "1.3"].map(|id| littering(id, "date +%N >> lock.txt; : > a/new.txt")));
    scene.write("a/old.txt", "");
    scene.write(".git/info/exclude", "old.txt\n");
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(scene.landed().len(), 3, "{run}");
    assert_eq!(scene.dirt(), [" M lock.txt", "?? a/new.txt"], "{run}");
    assert_eq!(scene.read("lock.txt").lines().count(), 4, "{run}");
    assert_eq!(run.stderr.matches(&format!("{LEFT}lock.txt, a/new.txt;")).count(), 1, "{run}");
    assert!(!run.stderr.contains(TOLD), "{run}");
}

#[test]
fn it_is_out_of_the_way_as_well_where_the_check_was_red() {
    let few = "test $(ls out | wc -l) -le 1 || test -f allowed";
    let verify =
        format!("if test -d .git; then date +%N > lock.txt; fi; grep -q done out/1.2.txt && ({few})");
    let scene = scene(&[member("1.1"), task("1.2", "out/1.2.txt", &verify)]);
    let allowed = [Step::write("allowed", "yes\n"), Step::write("lock.txt", "by 1.2\n"), work(), done()];
    let agent = Agent::new()
        .on_attempt("1.2", 1, [scene.meet(2), work(), done()])
        .on("1.2", allowed)
        .otherwise([scene.meet(2), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert!(run.stderr.contains(&format!("task 1.2 {TOLD}lock.txt")), "{run}");
}

#[test]
fn what_somebody_had_changed_before_is_in_the_way_and_stays() {
    let scene = scene(&[littering("1.1", "echo litter > base.txt"), member("1.2")]);
    let mine = scene.root().join("lock.txt").display().to_string();
    let edits = Step::write(&mine, "mine\n");
    let locks = Step::write("lock.txt", "by 1.2\n");
    let agent = Agent::new()
        .on("1.1", [edits, work(), done()])
        .on("1.2", [scene.meet(1), locks, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(6);
    assert!(run.stderr.contains("in the way of finished work: lock.txt"), "{run}");
    assert_eq!(scene.read("lock.txt"), "mine\n", "{run}");
    assert_eq!(kept(&scene, "lock.txt"), [""; 0].map(PathBuf::from), "{run}");
    scene.git(&["checkout", "-q", "--", "lock.txt"]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
}

#[test]
fn what_somebody_had_staged_stays_staged() {
    let scene = scene(&[littering("1.1", "echo litter > lock.txt"), member("1.2")]);
    let root = scene.root().display().to_string();
    let stage =
        Step::shell(&format!("cd '{root}' && echo mine > lock.txt && git add lock.txt; cd - >/dev/null"));
    let locks = Step::write("lock.txt", "by 1.2\n");
    let agent = Agent::new()
        .on("1.1", [stage, work(), done()])
        .on("1.2", [locks, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(6);
    assert_eq!(scene.read("lock.txt"), "mine\n", "{run}");
    assert_eq!(scene.dirt(), ["M  lock.txt"], "{run}");
    assert_eq!(kept(&scene, "lock.txt").len(), 1, "{run}");
}

/// An agent whose second task is about the file that the check of the first leaves its traces in.
fn locker() -> Agent {
    Agent::new().on("1.2", [Step::write("lock.txt", "by 1.2\n"), work(), done()]).otherwise([work(), done()])
}

/// Runs it, and lets a person do something after the first check has littered and before it ends.
fn during(scene: &Scene, agent: &Agent, person: impl FnOnce()) -> Finished {
    let run = scene.begin(agent, &[]);
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
fn what_somebody_saves_during_the_check_stays() {
    let scene = waiting("true");
    let run = during(&scene, &worker(), || scene.write("lock.txt", "precious\n")).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert_eq!(scene.read("lock.txt"), "precious\n", "{run}");
    assert!(run.stderr.contains(&format!("{LEFT}lock.txt;")), "{run}");
}

#[test]
fn what_somebody_saves_during_the_check_and_is_in_the_way_is_kept_and_named() {
    let scene = waiting("echo litter > lock.txt");
    let run = during(&scene, &locker(), || scene.write("lock.txt", "precious\n")).expect_code(0);
    scene.expect_complete(&run);
    let kept = kept(&scene, "lock.txt");
    assert_eq!(kept.len(), 1, "{run}");
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), "precious\n");
    let folder = kept[0].parent().unwrap().strip_prefix(scene.root()).unwrap().display().to_string();
    assert!(run.stderr.contains(&folder), "{run}");
}

#[test]
fn what_a_killed_programs_check_left_is_known_to_the_next() {
    let scene = waiting("echo litter > lock.txt; echo said");
    let mut run = scene.begin(&locker(), &[]);
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
    let run = scene.go(&locker(), &[]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert_eq!(scene.dirt(), [" M base.txt"], "{run}");
    assert!(run.stderr.contains(&format!("{TOLD}lock.txt")), "{run}");
}

#[test]
fn a_check_that_leaves_nothing_is_not_spoken_of() {
    let scene = Scene::new(&members(3));
    scene.spec("demo", &plan(&["1.1", "1.2", "1.3"].map(|id| littering(id, "touch base.txt"))));
    scene.commit_all("plan");
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(scene.landed().len(), 3, "{run}");
    assert!(!run.stderr.contains("on all that came together"), "{run}");
}

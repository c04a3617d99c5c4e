//! Several plans in one working tree, at once or one after the other, also such whose paths are alike: work comes in by
//! turns, and none is lost, repeated or taken for another's.

use std::fs;
use std::time::Duration;

use testkit::{Agent, Background, Finished, Signal, Step, wait_for};

use super::other_text::{other, other_worker, staying};
use super::scene::{LANDS, Scene, done, member, members, plan, task, work, worker};

/// How often the whole is done: what goes wrong does so in some orders only.
const ROUNDS: usize = 4;

/// What does not end when it is told to is given up on later than this.
const IN_TIME: Duration = Duration::from_secs(15);

/// Members of a phase.
fn phase(phase: usize, count: usize) -> Vec<String> {
    (1..=count).map(|number| member(&format!("{phase}.{number}"))).collect()
}

/// The same project with two specs.
fn two(demo: &[String], other: &[String]) -> Scene {
    let scene = Scene::bare();
    scene.write("specs/other/tasks.md", plan(other));
    scene.plan(demo);
    scene
}

fn begin(scene: &Scene, spec: &str, agent: &Agent) -> Background {
    let command = scene.install_agent(agent);
    scene.start(&["run", spec, "--jobs", "50", "--agent-cmd", &command])
}

/// Both plans are done, each task's work is in the history once, and nothing is left over.
#[track_caller]
fn expect_both(scene: &Scene, runs: &[Finished], mut ids: Vec<String>) {
    for run in runs {
        assert_eq!(run.code, Some(0), "{run}");
        assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
    }
    let told: String = runs.iter().map(ToString::to_string).collect();
    let (mut landed, attempts) = (scene.landed(), scene.agent_calls().len());
    landed.sort();
    ids.sort();
    assert_eq!(landed, ids, "every task's work is in the history once\n{told}");
    assert_eq!(attempts, ids.len(), "no attempt was wasted\n{told}");
    scene.expect_tidy();
    assert_eq!(scene.trees(), [""; 0], "{told}");
    assert_eq!(scene.git(&["for-each-ref", "refs/tillgreen"]), "", "{told}");
    assert_eq!(left_in_git(scene), [""; 0], "{told}");
}

/// What the program or a git of its own left in git's folder.
fn left_in_git(scene: &Scene) -> Vec<String> {
    let entries = std::fs::read_dir(scene.root().join(".git")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("tillgreen") || name.ends_with(".lock")).collect()
}

/// The tasks of both plans have the same names, and files of their own.
#[test]
fn two_plans_at_once_both_end_complete() {
    let work = "dir=out; case $TILLGREEN_PLAN in */specs/other/*) dir=other;; esac\nmkdir -p $dir && echo done > \
                \"$dir/$TILLGREEN_TASK_ID.txt\"";
    let agent = Agent::new().otherwise([Step::shell(work), done()]);
    for round in 0..ROUNDS {
        let (here, there) = (4 + round % 2, 6 - round % 2);
        let other = |number| {
            let file = format!("other/1.{number}.txt");
            task(&format!("1.{number}"), &file, &format!("grep -q done {file}"))
        };
        let scene = two(&members(here), &(1..=there).map(other).collect::<Vec<String>>());
        let runs = ["demo", "other"].map(|spec| begin(&scene, spec, &agent)).map(Background::wait);
        let ids = |count: usize| (1..=count).map(|number| format!("1.{number}"));
        expect_both(&scene, &runs, ids(here).chain(ids(there)).collect());
    }
}

/// What is verified is in nobody's way: it is not in the project.
#[test]
fn nobody_waits_for_what_another_verifies() {
    let scene = Scene::bare();
    scene.write("specs/other/tasks.md", plan(&phase(2, 2)));
    scene.plan(&[task("1.1", "out/1.1.txt", &scene.gated("grep -q done out/1.1.txt", ":")), member("1.2")]);
    let agent = Agent::new().on("1.2", [work(), scene.until_done("1.1"), done()]).otherwise([work(), done()]);
    let first = begin(&scene, "demo", &agent);
    scene.await_gate();
    let second = begin(&scene, "other", &worker()).wait().expect_code(0);
    assert_eq!(scene.landed(), ["2.1", "2.2"], "{second}");
    scene.release("gate");
    let ids = ["1.1", "1.2", "2.1", "2.2"].map(str::to_owned);
    expect_both(&scene, &[first.wait(), second], ids.to_vec());
}

/// A run that is quicker would overtake it again and again.
#[test]
fn work_that_another_run_overtook_is_overtaken_once() {
    let scene = Scene::bare();
    scene.write("specs/other/tasks.md", plan(&phase(2, 2)));
    scene.write("specs/third/tasks.md", plan(&phase(3, 2)));
    let [gate, again, second_gate] = ["gate", "again", "second-gate"].map(|name| scene.control(name));
    let second = format!(
        "grep -q done out/1.1.txt && if {LANDS} && test -e {}; then touch {}; while ! test -e {}; do sleep 0.02; done; fi",
        gate.display(),
        again.display(),
        second_gate.display()
    );
    scene.plan(&[task("1.1", "out/1.1.txt", &scene.gated(&second, ":")), member("1.2")]);
    let agent = Agent::new().on("1.2", [work(), scene.until_done("1.1"), done()]).otherwise([work(), done()]);
    let slow = begin(&scene, "demo", &agent);
    scene.await_gate();
    let quick = begin(&scene, "other", &worker()).wait().expect_code(0);
    scene.release("gate");
    wait_for("the work to be verified again", || again.exists());
    let third = begin(&scene, "third", &worker());
    wait_for("the quick one to wait", || third.stderr().contains("waits for another run"));
    assert_eq!(scene.landed(), ["2.1", "2.2"]);
    scene.release("second-gate");
    let ids = ["1.1", "1.2", "2.1", "2.2", "3.1", "3.2"].map(str::to_owned);
    expect_both(&scene, &[slow.wait(), quick, third.wait()], ids.to_vec());
}

/// Plans of the same name, in two folders of a repository and in two working trees of it, with tasks of the same names.
#[test]
fn plans_of_the_same_name_do_not_take_each_others_work_for_their_own() {
    let scene = Scene::bare();
    let other = |id: &str| task(id, &format!("other/{id}.txt"), &format!("grep -q done other/{id}.txt"));
    scene.write("sub/specs/demo/tasks.md", plan(&["1.1", "1.2", "1.3"].map(other)));
    scene.plan(&members(3));
    let linked = scene.root().with_file_name("linked");
    scene.git(&["worktree", "add", "-q", "-b", "side", &linked.display().to_string()]);
    let work = "dir=out; case $TILLGREEN_PLAN in */sub/specs/*) dir=other;; esac\nmkdir -p $dir && echo done > \
                \"$dir/$TILLGREEN_TASK_ID.txt\"";
    let agent = Agent::new().otherwise([scene.meet(3), Step::shell(work), done()]);
    let command = scene.install_agent(&agent);
    let flags = ["run", "demo", "--jobs", "50", "--agent-cmd", &command];
    let folders = [scene.root().to_owned(), scene.root().join("sub"), linked.clone()];
    let runs = folders.map(|folder| scene.command(&flags).dir(&folder).start()).map(Background::wait);
    for run in &runs {
        assert_eq!(run.code, Some(0), "{run}");
    }
    let told: String = runs.iter().map(ToString::to_string).collect();
    assert_eq!(scene.landed(), ["1.1", "1.1", "1.2", "1.2", "1.3", "1.3"], "{told}");
    let side = scene.git(&["log", "--format=%s", "side"]);
    assert_eq!(side.matches("feat: task 1.").count(), 3, "{side}\n{told}");
    assert_eq!(scene.git(&["for-each-ref", "refs/tillgreen", "refs/tillgreen-left"]), "", "{told}");
    assert_eq!(scene.trees(), [linked.display().to_string()], "{told}");
    scene.expect_tidy();
}

/// Two plans of one task each, which work in the project itself. The first is at work, and the second waits for it.
fn one_waits() -> (Scene, Background, Background) {
    let scene = two(&[member("1.1")], &[member("2.1")]);
    let half = Step::shell("mkdir -p out; echo wrong > out/1.1.txt");
    let gate = Step::AwaitFile(scene.control("gate").display().to_string());
    let agent = Agent::new().on("1.1", [half, gate, work(), done()]).otherwise([work(), done()]);
    let first = begin(&scene, "demo", &agent);
    wait_for("the first one's work", || scene.has("out/1.1.txt"));
    let second = begin(&scene, "other", &agent);
    wait_for("the other to wait", || second.stderr().contains("this run waits for another run"));
    assert_eq!(scene.agent_calls().len(), 1);
    (scene, first, second)
}

#[test]
fn whoever_works_in_the_project_itself_has_it_alone() {
    let (scene, first, second) = one_waits();
    scene.release("gate");
    expect_both(&scene, &[first.wait(), second.wait()], vec!["1.1".into(), "2.1".into()]);
    for (subject, file) in [("feat: task 1.1", "out/1.1.txt"), ("feat: task 2.1", "out/2.1.txt")] {
        let grep = format!("--grep=^{subject}$");
        assert_eq!(scene.git(&["log", "--format=", "--name-only", &grep]).trim(), file, "{subject}");
    }
}

#[test]
fn a_run_that_waits_for_another_ends_when_it_is_told_to_and_touches_nothing() {
    let (scene, first, mut second) = one_waits();
    let before = scene.dirt();
    second.signal(Signal::Interrupt);
    let second = second.wait_within(IN_TIME);
    assert_ne!(second.code, Some(0), "{second}");
    assert_eq!((scene.dirt(), scene.landed()), (before, Vec::new()), "{second}");
    scene.release("gate");
    let first = first.wait().expect_code(0);
    let again = begin(&scene, "other", &worker()).wait();
    expect_both(&scene, &[first, again], vec!["1.1".into(), "2.1".into()]);
}

/// What a run that died left half done in the project is nobody else's work either, whoever waited for it.
#[test]
fn what_a_killed_run_left_half_done_in_the_project_is_not_taken_for_anothers_work() {
    let scene = two(&phase(1, 2), &phase(2, 2));
    let [gate, never] =
        ["gate", "never"].map(|name| Step::AwaitFile(scene.control(name).display().to_string()));
    let half = Step::shell("mkdir -p out; echo half > out/1.2.txt");
    let agent =
        Agent::new().on("1.1", [gate, work(), done()]).on("1.2", [half, never]).otherwise([work(), done()]);
    let command = scene.install_agent(&agent);
    let start = |spec| scene.start(&["run", spec, "--jobs", "1", "--agent-cmd", &command]);
    let first = start("demo");
    wait_for("the first one's agent", || scene.agent_calls().len() == 1);
    let second = start("other");
    wait_for("the other to wait", || second.stderr().contains("this run waits for another run"));
    scene.release("gate");
    wait_for("half of it", || scene.has("out/1.2.txt"));
    wait_for("the other to wait", || second.stderr().contains("note: task 2."));
    first.kill();
    let run = second.wait().expect_code(0);
    for id in ["2.1", "2.2"] {
        let files = scene.git(&["log", "--format=", "--name-only", &format!("--grep=^feat: task {id}$")]);
        assert_eq!(files.trim(), format!("out/{id}.txt"), "{run}");
    }
    assert_eq!(scene.dirt(), ["?? out/1.2.txt"], "{run}");
}

/// The same where both have begun, and with more than a task each: they take turns.
#[test]
fn plans_that_run_one_by_one_in_the_project_take_turns() {
    for _ in 0..ROUNDS {
        let one_by_one = |spec: &str| scene_ids(spec).iter().map(|id| member(id)).collect::<Vec<String>>();
        let scene = two(&one_by_one("demo"), &one_by_one("other"));
        let slow = Step::shell("mkdir -p out; echo wrong > out/$TILLGREEN_TASK_ID.txt; sleep 0.2");
        let agent = Agent::new().otherwise([slow, work(), done()]);
        let command = scene.install_agent(&agent);
        let start = |spec| scene.start(&["run", spec, "--jobs", "1", "--agent-cmd", &command]);
        let runs = [start("demo"), start("other")].map(Background::wait);
        let ids: Vec<String> = ["demo", "other"].iter().flat_map(|spec| scene_ids(spec)).collect();
        expect_both(&scene, &runs, ids.clone());
        for id in ids {
            let grep = format!("--grep=^feat: task {id}$");
            let files = scene.git(&["log", "--format=", "--name-only", &grep]);
            assert_eq!(files.trim(), format!("out/{id}.txt"), "{}{}", runs[0], runs[1]);
        }
    }
}

fn scene_ids(spec: &str) -> Vec<String> {
    let phase = if spec == "demo" { 1 } else { 2 };
    (1..=3).map(|number| format!("{phase}.{number}")).collect()
}

/// An agent may run another plan itself; that is part of its own turn.
#[test]
fn a_run_within_an_agents_turn_does_not_wait_for_it() {
    let scene = two(&[member("1.1")], &phase(2, 2));
    let inner = scene.install_agent(&worker());
    let program = env!("CARGO_BIN_EXE_tillgreen");
    let nested = format!("{program} run other --agent-cmd \"{inner}\" || exit 7");
    let agent = Agent::new().on("1.1", [Step::shell(&nested), work(), done()]).otherwise([work(), done()]);
    let run = begin(&scene, "demo", &agent).wait_within(IN_TIME);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(scene.read("specs/other/tasks.md").contains("- [x] 2.2"), "{run}");
}

fn begin_at(scene: &Scene, folder: &str, agent: &Agent) -> Background {
    let command = scene.install_agent(agent);
    scene.start(&["run", &format!("{folder}/tasks.md"), "--jobs", "50", "--agent-cmd", &command])
}

/// The first of both is killed when it has finished all, and begins to bring it in; the second is run, and then the first.
#[track_caller]
fn check_alike(first: &str, second: &str) {
    let scene = Scene::bare();
    scene.write(&format!("{first}/tasks.md"), plan(&[staying(&scene, "1.1"), member("1.2")]));
    scene.write(&format!("{second}/tasks.md"), plan(&[other("1.1"), other("1.2")]));
    scene.commit_all("plans");
    let stays = scene.control("stays");
    let agent =
        Agent::new().on("1.2", [work(), Step::await_file(&stays), done()]).otherwise([work(), done()]);
    let mut killed = begin_at(&scene, first, &agent);
    let journal = scene.root().join(".tillgreen").join(first.replace('/', "-")).join("journal.jsonl");
    let has_passed = || {
        let events = fs::read_to_string(&journal).unwrap_or_default();
        events.contains("{\"checks_passed\":{\"task\":\"1.2\"") && stays.exists()
    };
    wait_for("work that comes in", has_passed);
    killed.signal(Signal::Kill);
    killed.wait();
    scene.release("goes-on");
    let between = begin_at(&scene, second, &other_worker()).wait().expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{between}");
    assert!(scene.has("other/1.1.txt") && !scene.has("out/1.1.txt"), "{between}");
    let again = begin_at(&scene, first, &worker()).wait().expect_code(0);
    assert!(scene.has("out/1.1.txt") && scene.has("out/1.2.txt"), "{again}");
    assert_eq!(scene.agent_calls().len(), 4, "nothing is done twice: {between} {again}");
    let left = scene.git(&["for-each-ref", "refs/tillgreen-left", "refs/tillgreen"]);
    assert_eq!(left, "", "{between} {again}");
}

#[test]
fn a_dash_and_a_folder() {
    check_alike("specs/a-b", "specs/a/b");
}

#[test]
fn a_spec_and_a_plan_elsewhere_of_its_name() {
    check_alike("specs/s", "s");
    check_alike("specs/a-s", "a/s");
}

//! The program dies in the middle of a batch: at each call of git, and at each event. Started again, it ends where a run
//! one by one ends.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use testkit::{Agent, Finished, Signal, Step, stride, wait_for};

use super::scene::{JOURNAL, LANDS, Scene, done, member, members, real_git, task, work};

/// How many runs are killed at once. They wait for disks and for each other more than they compute.
const WORKERS: usize = 3;

/// Usually only every so many calls of git are died at: each is a run and another one.
const STRIDE: usize = 4;

/// Calls of git that change nothing: killed before or after them, a program leaves the same behind.
const LOOKS: [&str; 15] = [
    "--version",
    "cat-file",
    "check-ignore",
    "config",
    "diff",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "rev-parse",
    "status",
    "var",
];

/// Two members that conflict and one that fails once.
fn agent() -> Agent {
    Agent::new()
        .on("1.1", [share(), work(), done()])
        .on("1.2", [share(), work(), done()])
        .on_attempt("1.3", 1, [Step::write("half.txt", "half\n"), Step::Exit(3)])
        .otherwise([work(), done()])
}

/// A batch, and the calls of git at which it is killed.
struct Case {
    scene: Scene,
    agent: Agent,
    when: When,
    /// Calls count from the moment this is there, if it is named, until the second is.
    window: Option<(PathBuf, PathBuf)>,
}

/// Two members. The one waits until the other has passed, so that both are finished while one lands.
fn pair(when: When) -> Case {
    let scene = Scene::bare();
    let passed = scene.control("passed").display().to_string();
    let second = task("1.2", "out/1.2.txt", &format!("grep -q done out/1.2.txt && : > {passed}"));
    scene.plan(&[member("1.1"), second]);
    let agent = Agent::new().on("1.1", [work(), Step::AwaitFile(passed), done()]).otherwise([work(), done()]);
    Case { scene, agent, when, window: None }
}

/// Two members that conflict, seen from the moment when the first is verified with the rest to the second's second
/// attempt.
fn conflicting_pair(when: When) -> Case {
    let scene = Scene::bare();
    scene.hook("pre-commit", "exit 0");
    let control = |name: &str| scene.control(name).display().to_string();
    let (open, shut) = (control("open"), control("shut"));
    let verify = format!("grep -q done out/1.1.txt && if {LANDS}; then : > {open}; fi");
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    let agent = Agent::new()
        .on("1.1", [scene.meet(2), share(), work(), done()])
        .on_attempt("1.2", 1, [scene.meet(2), share(), work(), Step::AwaitFile(open.clone()), done()])
        .on("1.2", [Step::write(&shut, ""), share(), work(), done()]);
    Case { scene, agent, when, window: Some((open.into(), shut.into())) }
}

/// Adds a line of its own to a file of all.
fn share() -> Step {
    Step::shell("grep -q \"^$TILLGREEN_TASK_ID\\$\" base.txt || echo $TILLGREEN_TASK_ID >> base.txt")
}

/// What a run one by one ends with.
fn one_by_one(count: usize, agent: &Agent) -> Vec<String> {
    let scene = Scene::new(&members(count));
    scene.go(agent, &["--jobs", "1"]).expect_code(0);
    result(&scene)
}

/// What is committed, whoever came in first.
fn result(scene: &Scene) -> Vec<String> {
    let shared = scene.git(&["show", "HEAD:base.txt"]);
    let mut files = scene.files();
    files.retain(|file| !file.ends_with("base.txt"));
    files.extend(shared.lines().map(str::to_owned));
    files.sort();
    files
}

/// Starts it again until it has ended.
#[track_caller]
fn expect_resumable(scene: &Scene, agent: &Agent, expected: &[String], when: &str) {
    let run = scene.go(agent, &[]);
    assert_eq!(run.code, Some(0), "killed at {when}: {run}");
    scene.expect_complete(&run);
    assert_eq!(result(scene), expected, "killed at {when}: {run}");
}

/// Which calls of git count, and whether the program dies before or after one has done its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    BeforeAny,
    BeforeChange,
    AfterChange,
}

impl When {
    /// Where calls that do not count are passed on.
    fn passing(self, pass: &str) -> String {
        if self == When::BeforeAny {
            return String::new();
        }
        let names: Vec<String> = LOOKS.iter().map(|name| format!("*' {name} '*")).collect();
        format!("case \" $* \" in {}) {pass};; esac\n", names.join("|"))
    }
}

impl Case {
    /// A git that kills whoever called it, at its n-th call that counts.
    fn install_killer(&self, n: usize) {
        let count = self.scene.control("calls").display().to_string();
        let real = real_git();
        let pass = format!("exec {real} \"$@\"");
        let mut script = self.when.passing(&pass);
        if let Some((open, shut)) = &self.window {
            let (open, shut) = (open.display(), shut.display());
            script.push_str(&format!("if test ! -e '{open}' || test -e '{shut}'; then {pass}; fi\n"));
        }
        // Several may get there at once, and one of them is it.
        let kill = format!(
            "printf x >> '{count}'; read -r seen < '{count}'\n\
             if test ${{#seen}} -ge {n} && mkdir '{count}.reached' 2>/dev/null; then kill -KILL $PPID; fi\n"
        );
        script.push_str(&match self.when {
            When::BeforeAny | When::BeforeChange => format!("{kill}{pass}"),
            When::AfterChange => format!("{real} \"$@\"; code=$?\n{kill}exit $code"),
        });
        self.scene.install_program("git", &script);
    }

    /// Kills at one call of git; gives what came of the run.
    fn killed_at(&self, n: usize) -> Finished {
        self.install_killer(n);
        let run = self.scene.go(&self.agent, &[]);
        let program = self.scene.root().with_file_name("bin").join("git");
        fs::remove_file(program).expect("the killer is there");
        run
    }

    fn is_reached(&self) -> bool {
        self.scene.control("calls.reached").exists()
    }
}

/// Kills at every call of git that counts, one run each.
#[track_caller]
fn check_kills_at_git(make: fn(When) -> Case, when: When, steps: &[Step]) {
    let plain = Agent::new().otherwise([steps, &[work(), done()]].concat());
    let expected = one_by_one(2, &plain);
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work_off = || {
        while !is_over.load(Ordering::Relaxed) {
            let n = 1 + stride(STRIDE) * next.fetch_add(1, Ordering::Relaxed);
            let case = make(when);
            let run = case.killed_at(n);
            if !case.is_reached() {
                run.expect_code(0);
                is_over.store(true, Ordering::Relaxed);
                return;
            }
            assert_eq!(run.code, None, "{n}: {run}");
            let Case { scene, agent, .. } = case;
            expect_resumable(&scene, &agent, &expected, &format!("call {n} of git, {when:?}"));
        }
    };
    thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(work_off))));
    assert!(stride(STRIDE) * next.load(Ordering::Relaxed) > WORKERS + 3, "there were calls of git to die at");
}

#[test]
fn killed_before_every_call_of_git() {
    check_kills_at_git(pair, When::BeforeAny, &[]);
}

#[test]
fn killed_after_every_call_of_git_that_changes_something() {
    check_kills_at_git(pair, When::AfterChange, &[]);
}

#[test]
fn killed_before_every_change_by_git_around_a_conflict() {
    check_kills_at_git(conflicting_pair, When::BeforeChange, &[share()]);
}

#[test]
fn killed_after_every_change_by_git_around_a_conflict() {
    check_kills_at_git(conflicting_pair, When::AfterChange, &[share()]);
}

#[test]
fn killed_again_and_again() {
    let expected = one_by_one(3, &agent());
    let case = Case { scene: Scene::new(&members(3)), agent: agent(), when: When::BeforeAny, window: None };
    let scene = &case.scene;
    for n in (5..).step_by(9) {
        let _ = fs::remove_file(scene.control("calls"));
        let _ = fs::remove_dir(scene.control("calls.reached"));
        let run = case.killed_at(n);
        if run.code.is_some() {
            run.expect_code(0);
            break;
        }
    }
    scene.expect_tidy();
    assert_eq!(result(scene), expected);
    assert_eq!(scene.trees(), [""; 0]);
}

#[test]
fn killed_at_events() {
    let expected = one_by_one(3, &agent());
    for n in (2..).step_by(6) {
        let scene = Scene::new(&members(3));
        let mut run = scene.begin(&agent(), &[]);
        let events = || fs::read_to_string(scene.root().join(JOURNAL)).unwrap_or_default().lines().count();
        wait_for("an event", || events() > n || !run.is_running());
        if !run.is_running() {
            run.wait().expect_code(0);
            return;
        }
        run.signal(Signal::Kill);
        run.wait();
        expect_resumable(&scene, &agent(), &expected, &format!("event {n}"));
    }
}

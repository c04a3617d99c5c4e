//! Orders of a run whose loop is elsewhere: carried out in clones that know nothing of each other but what is at the remote.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use engine::{Action, End, Observation, Record, Seen, State, Status, Versioned, decide, due, schedule};
use jiff::Timestamp;
use serde_json::{Value, json};
use testkit::{Agent, Sandbox, Step};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write the first file
  - **Do**: write it
  - **Files**: `a.txt`
  - **Verify**: `grep -q good a.txt`
- [ ] 1.2 [P] Write the second file
  - **Do**: write it
  - **Files**: `b.txt`
  - **Verify**: `grep -q good b.txt`
- [ ] 1.3 [P] Write the third file
  - **Do**: write it
  - **Files**: `c.txt`
  - **Verify**: `grep -q good c.txt`
- [ ] 1.4 [VERIFY] All of them
  - **Do**: look
  - **Verify**: `cat a.txt b.txt c.txt`
";

/// A project with a remote, and a run of its plan that is decided on here.
struct Fleet {
    sandbox: Sandbox,
    agent: String,
    state: State,
}

impl Fleet {
    fn new(agent: &Agent) -> Self {
        let sandbox = Sandbox::new(Path::new(PROGRAM));
        sandbox.spec("demo", PLAN);
        sandbox.commit_all("project");
        let agent = sandbox.install_agent(agent);
        let fleet = Self { sandbox, agent, state: State::default() };
        let remote = fleet.place("remote.git");
        fleet.git(fleet.sandbox.root(), &["clone", "--quiet", "--bare", ".", &remote.to_string_lossy()]);
        fleet.git(&remote, &["branch", "run", "HEAD"]);
        fleet
    }

    fn place(&self, name: &str) -> PathBuf {
        self.sandbox.control("..").join(name)
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .envs(self.sandbox.environment())
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A clone that shows a commit, or the branch as it is at the remote.
    fn clone_at(&self, name: &str, commit: Option<&str>) -> PathBuf {
        let (remote, clone) = (self.place("remote.git"), self.place(name));
        if !clone.exists() {
            let to = clone.to_string_lossy().into_owned();
            self.git(
                self.sandbox.root(),
                &["clone", "--quiet", "--no-checkout", &remote.to_string_lossy(), &to],
            );
        }
        self.git(
            &clone,
            &[
                "fetch",
                "--quiet",
                "origin",
                "+refs/heads/run:refs/remotes/origin/run",
                "+refs/work/*:refs/work/*",
            ],
        );
        self.git(
            &clone,
            &["checkout", "--quiet", "--force", "-B", "run", commit.unwrap_or("refs/remotes/origin/run")],
        );
        clone
    }

    fn start(&self, clone: &Path, order: &Value) -> Child {
        let mut child = Command::new(PROGRAM)
            .args(["-C", &clone.to_string_lossy(), "order"])
            .env_clear()
            .envs(self.sandbox.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let line = serde_json::to_string(&Versioned::new(order)).expect("an order can be written");
        let input = child.stdin.as_mut().expect("it reads");
        writeln!(input, "{line}").expect("it reads its order");
        child
    }

    /// Gives an order; its own end of the input stays open until it has ended.
    fn order(&self, clone: &Path, order: &Value) -> Vec<Seen> {
        let mut child = self.start(clone, order);
        let input = child.stdin.take();
        let output = child.wait_with_output().expect("it ends");
        drop(input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Versioned<Value> = serde_json::from_slice(&output.stdout).expect("it answers in JSON");
        serde_json::from_value(answer.content["seen"].clone()).expect("it answers with observations")
    }

    fn carrying_out(&self, actions: &[Action]) -> Value {
        json!({"carry_out": {"plan": "specs/demo/tasks.md", "state": &self.state, "actions": actions}})
    }

    fn see(&mut self, seen: Vec<Seen>) {
        for seen in seen {
            let observation = Observation { at: Timestamp::now(), seen };
            if let Some(event) = decide(&self.state, observation) {
                self.state.apply(&event).expect("what is decided can be applied");
            }
        }
        while let Some(event) = due(&self.state, Timestamp::now()) {
            self.state.apply(&event).expect("what is due can be applied");
        }
    }

    fn open(&mut self) {
        let clone = self.clone_at("home", None);
        let flags = ["--agent-cmd", &self.agent, "-j", "3"];
        let order = json!({"open": {"plan": "specs/demo/tasks.md", "flags": flags}});
        let seen = self.order(&clone, &order);
        self.see(seen);
    }

    /// Carries out an action where it belongs, and hands in what came of it.
    fn carry_out(&self, action: &Action) -> Vec<Seen> {
        let clone = match action {
            Action::RunAgent { task, .. } | Action::Check { task, .. } | Action::RunJudge { task, .. } => {
                let task = self.state.task(task).expect("it is in the plan");
                let head = match &task.status {
                    Status::Running(running) => running.head.clone(),
                    _ => task.work.as_ref().map(|work| work.base.clone()),
                };
                self.clone_at(&format!("host-{}", task.dispatch), head.as_deref())
            }
            _ => self.clone_at("home", None),
        };
        let seen = self.order(&clone, &self.carrying_out(std::slice::from_ref(action)));
        for seen in &seen {
            if let Seen::Packed { commit: Some(commit), .. } = seen {
                self.git(&clone, &["push", "--quiet", "origin", &format!("{commit}:refs/work/{commit}")]);
            }
            if let Seen::Recorded { record: Record::Kept { .. }, .. } | Seen::FixInserted { .. } = seen {
                self.git(&clone, &["push", "--quiet", "origin", "HEAD:refs/heads/run"]);
            }
        }
        seen
    }

    /// Goes on until nothing is wanted, or until an action is that fits.
    fn go_on_until(&mut self, is_it: impl Fn(&Action) -> bool) -> Option<Action> {
        for _ in 0..100 {
            let wanted = schedule(&self.state, Timestamp::now());
            let next = wanted.into_iter().next()?;
            if is_it(&next) {
                return Some(next);
            }
            let seen = self.carry_out(&next);
            self.see(seen);
        }
        panic!("the run does not end: {:?}", schedule(&self.state, Timestamp::now()));
    }
}

fn good_agent() -> Agent {
    Agent::new()
        .on("1.1", [Step::write("a.txt", "good\n"), Step::say("TASK_COMPLETE")])
        .on("1.2", [Step::write("b.txt", "good\n"), Step::say("TASK_COMPLETE")])
        .on_attempt("1.3", 1, [Step::write("c.txt", "bad\n"), Step::say("TASK_COMPLETE")])
        .on("1.3", [Step::edit("c.txt", "bad", "good"), Step::say("TASK_COMPLETE")])
}

#[test]
fn a_plan_becomes_green_by_orders_in_clones() {
    let mut fleet = Fleet::new(&good_agent());
    fleet.open();
    assert_eq!(fleet.go_on_until(|_| false), None);
    assert_eq!(fleet.state.end(), Some(&End::Complete { skipped: 0 }));
    let clone = fleet.clone_at("looking", None);
    let plan = fs::read_to_string(clone.join("specs/demo/tasks.md")).expect("the plan is there");
    assert_eq!(plan.matches("- [x]").count(), 4, "{plan}");
    // The second attempt went on from what the first one left on another host.
    assert_eq!(fs::read_to_string(clone.join("c.txt")).expect("it came in"), "good\n");
    let calls = fleet.sandbox.agent_calls();
    assert_eq!(calls.len(), 4, "one for each task, and one retry");
    let trailers = fleet.git(&clone, &["log", "--format=%(trailers:key=Tillgreen-Task,valueonly)"]);
    let mut trailers: Vec<&str> = trailers.lines().filter(|line| !line.is_empty()).collect();
    let all = trailers.len();
    trailers.sort_unstable();
    trailers.dedup();
    assert_eq!((all, trailers.len()), (3, 3), "{trailers:?}");
}

#[test]
fn work_that_came_in_before_it_could_be_told_comes_in_once() {
    let mut fleet = Fleet::new(&good_agent());
    fleet.open();
    let landing = fleet.go_on_until(|action| matches!(action, Action::Land { .. })).expect("it is to land");
    let first = fleet.carry_out(&landing);
    let clone = fleet.clone_at("looking", None);
    let before = fleet.git(&clone, &["rev-parse", "HEAD"]);
    // Nobody heard of it, so it is ordered once more.
    let again = fleet.carry_out(&landing);
    fleet.clone_at("looking", None);
    assert_eq!(fleet.git(&clone, &["rev-parse", "HEAD"]), before);
    let commit = |seen: &[Seen]| {
        seen.iter().find_map(|seen| match seen {
            Seen::Recorded { record: Record::Kept { commit }, .. } => commit.clone(),
            _ => None,
        })
    };
    assert!(commit(&first).is_some());
    assert_eq!(commit(&again), commit(&first));
    fleet.see(again);
    assert_eq!(fleet.go_on_until(|_| false), None);
    assert_eq!(fleet.state.end(), Some(&End::Complete { skipped: 0 }));
}

#[test]
fn an_order_ends_with_whoever_gave_it() {
    let mut fleet =
        Fleet::new(&Agent::new().on("1.1", [Step::shell("echo $$ > \"$HOME/agent-pid\"; sleep 1000")]));
    fleet.open();
    let agent =
        fleet.go_on_until(|action| matches!(action, Action::RunAgent { .. })).expect("an agent is to start");
    let clone = fleet.clone_at("host", None);
    let mut child = fleet.start(&clone, &fleet.carrying_out(&[agent]));
    let home = fleet.sandbox.environment().into_iter().find(|(name, _)| name == "HOME").expect("a home").1;
    let file = Path::new(&home).join("agent-pid");
    let deadline = Instant::now() + Duration::from_secs(60);
    while fs::read_to_string(&file).map_or(true, |text| text.trim().is_empty()) {
        assert!(Instant::now() < deadline, "the agent starts");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    fleet.sandbox.wait_until_quiet();
}

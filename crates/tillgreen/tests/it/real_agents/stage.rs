//! A project, a real agent and the model that it talks to.

use std::path::Path;
use std::time::Duration;
use std::{fs, panic, thread};

use rehearsal::{ClientConfig, ModelServer, Scenario, Served, Turn};
use serde_json::Value;
use testkit::{Finished, Invocation, RealAgent, Sandbox, leave_network};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

/// The ways in which real agents are started, but for one.
const AGENTS: [&str; 5] = ["codex", "claude", "gemini", "gemini-acp", "pi"];

/// One that takes too long to start and too much memory to play every part.
const HEAVY: &str = "opencode";

/// How long a run may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) const ONE_TASK: &str = "\
# Tasks

- [ ] 1.1 Write one
  - **Do**: write one into one.txt
  - **Files**: `one.txt`
  - **Verify**: `grep -q one one.txt`
  - **Commit**: `feat: write one`
";

/// A real agent in a project of its own.
pub(super) struct Stage {
    /// The name by which the program knows the agent.
    pub(super) name: &'static str,
    pub(super) sandbox: Sandbox,
    pub(super) server: ModelServer,
    env: Vec<(String, String)>,
}

/// Lets every agent that is installed play a scenario, each in a project of its own with this plan. They play at the
/// same time: each waits much and works little.
#[track_caller]
pub(super) fn each(plan: &str, scenario: &Scenario, play: impl Fn(&Stage) + Sync) {
    each_of(&AGENTS, plan, scenario, play);
}

/// The same with the heavy one.
#[track_caller]
pub(super) fn every(plan: &str, scenario: &Scenario, play: impl Fn(&Stage) + Sync) {
    each_of(&[&AGENTS[..], &[HEAVY]].concat(), plan, scenario, play);
}

#[track_caller]
fn each_of(names: &[&'static str], plan: &str, scenario: &Scenario, play: impl Fn(&Stage) + Sync) {
    let play_one = |name| {
        leave_network();
        if let Some(stage) = Stage::set(name, plan, scenario) {
            play(&stage);
            stage.expect_scripted();
        }
    };
    let play_one = &play_one;
    thread::scope(|scope| {
        let plays: Vec<_> = names.iter().map(|name| scope.spawn(move || play_one(name))).collect();
        if let Some(failed) = plays.into_iter().find_map(|play| play.join().err()) {
            panic::resume_unwind(failed);
        }
    });
}

/// What an agent does to get the task of `ONE_TASK` done.
pub(super) fn works() -> [Turn; 2] {
    [Turn::write("one.txt", "one\n"), Turn::say("It is written.\n\nTASK_COMPLETE").always()]
}

impl Stage {
    fn set(name: &'static str, plan: &str, scenario: &Scenario) -> Option<Stage> {
        let program = name.trim_end_matches("-acp");
        let agent = RealAgent::find(program)?;
        let sandbox = Sandbox::new(Path::new(PROGRAM));
        sandbox.install_program(program, &format!("exec '{}' \"$@\"", agent.program.display()));
        sandbox.spec("demo", plan);
        sandbox.commit_all("plan");
        let server = ModelServer::start(scenario.clone()).expect("a port is free");
        let config = ClientConfig::at(&server.base_url());
        for (file, text) in &config.files {
            let path = sandbox.home().join(file);
            fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written");
        }
        let mut env = config.env;
        env.push(("TMPDIR".to_owned(), sandbox.control("").display().to_string()));
        Some(Stage { name, sandbox, server, env })
    }

    /// A run with this agent, to be started.
    pub(super) fn command(&self, arguments: &[&str]) -> Invocation {
        self.command_of("run", arguments)
    }

    /// A command that starts this agent, to be started.
    pub(super) fn command_of(&self, verb: &str, arguments: &[&str]) -> Invocation {
        let all = [&[verb, "--agent", self.name, "--format", "json"], arguments].concat();
        let command = self.sandbox.command(&all).deadline(PATIENCE);
        self.env.iter().fold(command, |command, (name, value)| command.env(name, value))
    }

    /// A run with this agent, to its end.
    #[track_caller]
    pub(super) fn run(&self, arguments: &[&str]) -> Played {
        Played::new(self.name, self.command(arguments).run())
    }

    /// A plan that this agent writes, to the end.
    #[track_caller]
    pub(super) fn plan(&self, arguments: &[&str]) -> Played {
        Played::new(self.name, self.command_of("plan", arguments).run())
    }

    /// Whether the model was asked for nothing but what the scenario has.
    #[track_caller]
    fn expect_scripted(&self) {
        let unscripted: Vec<_> = self
            .server
            .requests()
            .into_iter()
            .filter(|request| request.served == Served::Unscripted)
            .collect();
        assert!(unscripted.is_empty(), "{}: {unscripted:?}", self.name);
    }
}

/// What came of a run.
#[derive(Debug)]
pub(super) struct Played {
    name: &'static str,
    pub(super) finished: Finished,
    events: Vec<Value>,
}

impl Played {
    fn new(name: &'static str, finished: Finished) -> Played {
        let events = finished.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Played { name, finished, events }
    }

    /// Fails the test unless the exit code is this.
    #[track_caller]
    pub(super) fn expect_code(self, code: i32) -> Played {
        assert_eq!(self.finished.code, Some(code), "{}: {}", self.name, self.finished);
        self
    }

    /// What events of a kind tell.
    pub(super) fn events(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter_map(|event| event["what"].get(kind)).collect()
    }

    /// The causes of failed attempts, in order.
    pub(super) fn causes(&self) -> Vec<&str> {
        self.events("attempt_failed")
            .iter()
            .filter_map(|failed| failed["failure"]["cause"].as_str())
            .collect()
    }
}

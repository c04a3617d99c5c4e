//! The scratch world of one test.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::agent::{self, Agent, AgentCall};
use crate::background::Background;
use crate::executable::write_executable;
use crate::finished::Finished;
use crate::invocation::Invocation;
use crate::processes::{self, MARKER, Process};
use crate::repository::Repository;
use crate::signal::{Signal, Target};
use crate::wait::wait_for;

/// A temporary folder with a project in a repository, a home, a place for programs that stand in for real ones, and
/// the program under test. Everything in it ends with it, processes included.
///
/// It is also its project's `Repository`: files are written and read relative to the project's root.
#[derive(Debug)]
pub struct Sandbox {
    folder: TempDir,
    program: PathBuf,
    project: Repository,
    invocations: AtomicU32,
}

impl Sandbox {
    /// A project in a repository without commits.
    pub fn new(program: &Path) -> Sandbox {
        Sandbox::with(program, Repository::init)
    }

    /// A project without a repository.
    pub fn without_git(program: &Path) -> Sandbox {
        Sandbox::with(program, Repository::without_init)
    }

    fn with(program: &Path, make: fn(&Path, &Path) -> Repository) -> Sandbox {
        let folder = tempfile::Builder::new().prefix("testkit-").tempdir().expect("a folder can be made");
        for name in ["agent", "bin", "control", "streams"] {
            fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        }
        let project = make(&folder.path().join("project"), &folder.path().join("home"));
        let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        Sandbox { folder, program, project, invocations: AtomicU32::new(0) }
    }

    /// Writes `specs/NAME/tasks.md` and makes it the active spec.
    pub fn spec(&self, name: &str, tasks: &str) {
        self.write(&format!("specs/{name}/tasks.md"), tasks);
        self.write("specs/.current-spec", format!("{name}\n"));
    }

    /// The text of `specs/NAME/tasks.md`.
    #[track_caller]
    pub fn tasks(&self, name: &str) -> String {
        self.read(&format!("specs/{name}/tasks.md"))
    }

    /// Writes the agent's script; gives the command that runs it.
    pub fn install_agent(&self, agent: &Agent) -> String {
        agent.install(&self.folder.path().join("agent"))
    }

    /// How the agent was called so far, in order.
    pub fn agent_calls(&self) -> Vec<AgentCall> {
        agent::calls(&self.folder.path().join("agent"))
    }

    /// Puts a shell script first on the path, in place of the real program of that name.
    pub fn install_program(&self, name: &str, script: &str) {
        let file = self.folder.path().join("bin").join(name);
        write_executable(&file, &format!("#!/bin/sh\n{script}\n"));
    }

    /// A path outside the project for files that tests and agents signal each other with.
    pub fn control(&self, name: &str) -> PathBuf {
        self.folder.path().join("control").join(name)
    }

    /// Makes a control file, releasing whoever waits for it.
    pub fn release(&self, name: &str) {
        fs::write(self.control(name), "").expect("a control file can be written");
    }

    /// A call of the program under test, to be completed by the caller.
    pub fn command(&self, arguments: &[&str]) -> Invocation {
        let number = self.invocations.fetch_add(1, Ordering::Relaxed);
        let streams = self.folder.path().join("streams").join(number.to_string());
        let invocation = Invocation::new(&self.program, self.environment(), streams);
        invocation.dir(self.project.root()).args(arguments)
    }

    /// Runs the program to its end.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.command(arguments).run()
    }

    /// Starts the program and does not wait.
    #[track_caller]
    pub fn start(&self, arguments: &[&str]) -> Background {
        self.command(arguments).start()
    }

    /// The whole environment that the program gets.
    pub fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let mut environment = self.project.environment();
        environment.extend(
            [
                ("PATH", format!("{}:{path}", self.folder.path().join("bin").display())),
                ("TZ", "UTC".to_owned()),
                ("LANG", "C.UTF-8".to_owned()),
                ("NO_COLOR", "1".to_owned()),
                (MARKER, self.marker()),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        environment
    }

    /// The processes that were started in here, by whomever, and still live.
    pub fn processes(&self) -> Vec<Process> {
        processes::alive(&self.marker())
    }

    /// Waits until no process of the sandbox is left.
    #[track_caller]
    pub fn wait_until_quiet(&self) {
        wait_for("all processes of the sandbox to end", || self.processes().is_empty());
    }

    /// Kills every process of the sandbox at once, as a power failure would.
    pub fn kill_everything(&self) {
        wait_for("killed processes to end", || {
            let left = self.processes();
            left.iter().for_each(|process| Signal::Kill.send(Target::Process(process.pid)));
            left.is_empty()
        });
    }

    fn marker(&self) -> String {
        self.folder.path().display().to_string()
    }
}

impl Deref for Sandbox {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.project
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A child of this very test that was killed is a zombie until its owner waits: zombies do not count.
        for process in self.processes() {
            Signal::Kill.send(Target::Process(process.pid));
        }
    }
}

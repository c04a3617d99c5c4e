//! The world that batches are tested in: plans of marked tasks, an agent that does what it should, and what has to hold
//! when all is done.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use testkit::{Agent, Background, Finished, Sandbox, Step, wait_for, write_executable};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");
pub(crate) const TASKS: &str = "specs/demo/tasks.md";
pub(crate) const PROGRESS: &str = "specs/demo/.progress.md";
pub(crate) const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";

/// True, in the shell of a verify command, where no agent works: in the landing tree, or in the project itself.
pub(crate) const LANDS: &str = "test $TILLGREEN_SLOT = 0";

/// A project with one spec, and an agent.
pub(crate) struct Scene {
    sandbox: Sandbox,
}

/// A marked task that is done when its file says so.
pub(crate) fn member(id: &str) -> String {
    task(id, &format!("out/{id}.txt"), &format!("grep -q done out/{id}.txt"))
}

/// A marked task with these Files and this verify command.
pub(crate) fn task(id: &str, files: &str, verify: &str) -> String {
    let files: Vec<String> = files.split(", ").map(|file| format!("`{file}`")).collect();
    let files = files.join(", ");
    format!(
        "- [ ] {id} [P] Task number {id}\n  - **Files**: {files}\n  - **Verify**: `{verify}`\n  \
         - **Commit**: `feat: task {id}`\n\n"
    )
}

/// Members 1.1 to 1.N.
pub(crate) fn members(count: usize) -> Vec<String> {
    (1..=count).map(|number| member(&format!("1.{number}"))).collect()
}

pub(crate) fn plan(tasks: &[String]) -> String {
    format!("# Tasks\n\n## Phase 1: Work\n\n{}", tasks.concat())
}

/// Writes the file of its task.
pub(crate) fn work() -> Step {
    Step::shell("mkdir -p out && echo done > \"out/$TILLGREEN_TASK_ID.txt\"")
}

pub(crate) fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

/// An agent that does its work.
pub(crate) fn worker() -> Agent {
    Agent::new().otherwise([work(), done()])
}

impl Scene {
    /// Installs a git hook.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        self.install(&format!(".git/hooks/{name}"), &format!("#!/bin/sh\n{script}\n"));
    }

    /// Installs a program in the project.
    pub(crate) fn install(&self, path: &str, text: &str) {
        write_executable(&self.root().join(path), text);
    }

    pub(crate) fn new(tasks: &[String]) -> Scene {
        let scene = Scene::bare();
        scene.plan(tasks);
        scene
    }

    /// Before there is a plan.
    pub(crate) fn bare() -> Scene {
        Scene { sandbox: Sandbox::new(Path::new(PROGRAM)) }
    }

    /// Commits a plan, and a file that is there before it.
    pub(crate) fn plan(&self, tasks: &[String]) {
        self.write("base.txt", "base\n");
        self.spec("demo", &plan(tasks));
        self.commit_all("plan");
    }

    /// The same in a sandbox that was made otherwise.
    pub(crate) fn within(sandbox: Sandbox) -> Scene {
        Scene { sandbox }
    }

    /// Waits in an agent until so many agents have come this far.
    pub(crate) fn meet(&self, count: usize) -> Step {
        let place = self.control("met").display().to_string();
        Step::shell(&format!(
            "mkdir -p '{place}'; : > '{place}'/$TILLGREEN_TASK_ID-$TILLGREEN_ATTEMPT\n\
             while test $(ls '{place}' | wc -l) -lt {count}; do sleep 0.02; done"
        ))
    }

    /// Waits in an agent until a task is done, so that its own comes in after that.
    pub(crate) fn until_done(&self, task: &str) -> Step {
        let (root, git) = (self.root().display(), real_git());
        Step::shell(&format!(
            "while ! {git} -C '{root}' log --format=%s | grep -qx 'chore(spec): complete task {task}'; do sleep 0.02; done"
        ))
    }

    /// A verify command that does more where no agent works: it makes a file, waits for another, and goes on with this.
    pub(crate) fn gated(&self, verify: &str, after: &str) -> String {
        let (began, gate) = (self.control("began"), self.control("gate"));
        let wait =
            format!("touch {}; while ! test -e {}; do sleep 0.02; done", began.display(), gate.display());
        format!("{verify} && if {LANDS}; then {wait}; {after}; fi")
    }

    /// Waits until a verify command waits.
    #[track_caller]
    pub(crate) fn await_gate(&self) {
        wait_for("the verify command", || self.control("began").exists());
    }

    #[track_caller]
    pub(crate) fn go(&self, agent: &Agent, flags: &[&str]) -> Finished {
        let command = self.install_agent(agent);
        let finished = self.run(&[&["run", "--agent-cmd", &command], jobs(flags), flags].concat());
        assert!(!finished.stderr.contains("panicked"), "{finished}");
        finished
    }

    #[track_caller]
    pub(crate) fn begin(&self, agent: &Agent, flags: &[&str]) -> Background {
        let command = self.install_agent(agent);
        self.start(&[&["run", "--agent-cmd", &command], jobs(flags), flags].concat())
    }

    /// Waits until so many attempts have passed their checks, so that whoever is stopped from now on loses none of them.
    #[track_caller]
    pub(crate) fn await_passed(&self, spec: &str, count: usize) {
        let journal = self.root().join(format!(".tillgreen/specs-{spec}/journal.jsonl"));
        let passed = || fs::read_to_string(&journal).unwrap_or_default().matches("checks_passed").count();
        wait_for("attempts to pass", || passed() >= count);
    }

    /// The tasks whose work is in the history, in the plan's order.
    pub(crate) fn landed(&self) -> Vec<String> {
        let mut landed = self.came_in();
        landed.sort_by_key(|id| id.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>());
        landed
    }

    /// The same in the order in which it came in.
    pub(crate) fn came_in(&self) -> Vec<String> {
        let trailers = self.git(&["log", "--reverse", "--format=%B"]);
        let id = |line: &str| {
            let key = line.strip_prefix("Tillgreen-Task: ")?;
            Some(key.split_once('/')?.1.split_once('#')?.0.to_owned())
        };
        trailers.lines().filter_map(id).collect()
    }

    /// The ids of all tasks of the plan, in its order.
    pub(crate) fn ids(&self) -> Vec<String> {
        let text = self.tasks("demo");
        let boxes = text.lines().filter_map(|line| line.strip_prefix("- [")?.get(3..));
        boxes.filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect()
    }

    /// The attempts that were made at a task.
    pub(crate) fn attempts(&self, task: &str) -> usize {
        self.agent_calls().iter().filter(|call| call.task == task).count()
    }

    /// What an attempt was told of those before it.
    #[track_caller]
    pub(crate) fn feedback(&self, task: &str, attempt: u32) -> String {
        let calls = self.agent_calls();
        let call = calls.iter().find(|call| call.task == task && call.attempt == attempt);
        let prompt = &call.unwrap_or_else(|| panic!("no attempt {attempt} at {task}")).prompt;
        prompt.split_once("</retry_context>").map(|(feedback, _)| feedback.to_owned()).unwrap_or_default()
    }

    /// The files of the latest commit with their contents' names, without those of the plan.
    pub(crate) fn files(&self) -> Vec<String> {
        let listing = self.git(&["ls-tree", "-r", "HEAD"]);
        listing.lines().filter(|line| !line.contains("\tspecs/")).map(str::to_owned).collect()
    }

    /// All is done and nothing else: every box ticked, every task's work in the history once, nothing left over.
    #[track_caller]
    pub(crate) fn expect_complete(&self, run: &Finished) {
        self.expect_settled(run);
        let mut ids = self.ids();
        ids.retain(|id| !self.is_verification(id));
        assert_eq!(self.landed(), ids, "every task's work is in the history once\n{run}");
    }

    /// All is done and nothing is left over, whatever the history looks like.
    #[track_caller]
    pub(crate) fn expect_settled(&self, run: &Finished) {
        assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
        assert!(!self.tasks("demo").contains("- [ ]"), "all boxes are ticked: {}", self.tasks("demo"));
        self.expect_tidy();
        let rest = self.git(&["for-each-ref", "refs/tillgreen"]);
        assert_eq!(rest, "", "nothing is kept of what has landed");
        assert_eq!(self.trees(), [""; 0], "no work tree is left");
        assert_eq!(self.slots(), [""; 0].map(PathBuf::from), "nothing is left where they were: {run}");
        let left = self.try_git(&["ls-files", "--others", "--", "specs"]).stdout;
        assert_eq!(String::from_utf8_lossy(&left), "", "no progress file of a task is left");
    }

    fn is_verification(&self, id: &str) -> bool {
        self.tasks("demo").lines().any(|line| line.contains(id) && line.contains("[VERIFY]"))
    }

    /// The project is as its history says, and nothing runs.
    #[track_caller]
    pub(crate) fn expect_tidy(&self) {
        self.wait_until_quiet();
        assert_eq!(self.dirt(), [""; 0], "the project's own tree is clean");
        let marked = self.try_git(&["grep", "-l", "-E", "^(<<<<<<<|>>>>>>>)", "HEAD"]);
        assert_eq!(String::from_utf8_lossy(&marked.stdout), "", "no conflict marker landed");
    }

    /// Where slots of all plans of the project are, and what is noted beside them.
    pub(crate) fn slots(&self) -> Vec<PathBuf> {
        let inside = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
        };
        let plans = inside(self.cache()).into_iter().flat_map(inside);
        let mut slots: Vec<PathBuf> = plans.flat_map(inside).collect();
        slots.sort();
        slots
    }

    /// The folder that they are in.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home().join(".cache/tillgreen")
    }

    /// The linked trees that git knows.
    pub(crate) fn trees(&self) -> Vec<String> {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        let paths = list.lines().filter_map(|line| line.strip_prefix("worktree "));
        paths.skip(1).map(str::to_owned).collect()
    }
}

impl Deref for Scene {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

/// As many at once as a test could want, where it does not say itself.
fn jobs(flags: &[&str]) -> &'static [&'static str] {
    if flags.contains(&"--jobs") { &[] } else { &["--jobs", "50"] }
}

/// The git that stands behind whatever is installed in its place.
pub(crate) fn real_git() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path.split(':').map(|folder| format!("{folder}/git")).find(|file| fs::metadata(file).is_ok());
    found.expect("git is installed")
}

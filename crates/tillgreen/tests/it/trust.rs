//! The suite of `tests/trust`: ways to cheat or slip, and honest work that looks like it. Each case is a project, a plan, an
//! agent and what must come of it; all that come out otherwise are shown at once. Usually each runs in the first of its
//! modes, with `TILLGREEN_TEST_ALL` in all of them; `TILLGREEN_TRUST=part` takes those whose name has that part.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use testkit::{Agent, Finished, Sandbox, Step, stride};

const COMPLETE: &str = "ALL_TASKS_COMPLETE";
const TASKS: &str = "specs/demo/tasks.md";
const PHASES: &str = ".planning/phases";
/// The lines of a summary that tell of nothing odd. What a proof is not green about follows it in lines of their own.
const PLAIN: [&str; 9] = [
    "Completed ",
    "Tasks: ",
    "Attempts: ",
    "Used: ",
    "Before: ",
    "Proof: ",
    "Regressions were not checked",
    "The regression command is green",
    COMPLETE,
];
/// The file that says that the agent was called for something else.
const UNFORESEEN: &str = "unforeseen";
/// A task that runs beside the one of a case.
const BESIDE: &str =
    "\n- [ ] 1.9 [P] Work beside\n  - **Files**: beside.txt\n  - **Verify**: `test -s beside.txt`\n";

/// A file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    class: String,
    #[serde(default)]
    projects: BTreeMap<String, Project>,
    case: Vec<Case>,
}

/// What there is before the run.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct Project {
    /// Programs without which the case says nothing.
    needs: Vec<String>,
    /// The active spec's tasks, or the text of a `*-PLAN.md`; `@ROOT@` stands for the project's folder.
    plan: String,
    files: BTreeMap<String, String>,
    /// Stand-ins for programs, as shell scripts.
    programs: BTreeMap<String, String>,
    /// Shell that runs before all is committed.
    setup: String,
    /// Shell that runs after that.
    surroundings: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The project of that name in the file; what else the case has of a project's is added or comes in its place.
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    plan: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    programs: BTreeMap<String, String>,
    #[serde(default)]
    setup: Option<String>,
    #[serde(default)]
    surroundings: Option<String>,
    /// Shell by task: `1.1`, `1.1 attempt 2`, `qa 1.1`.
    agent: BTreeMap<String, String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default = "all_modes")]
    modes: Vec<Mode>,
    /// Attempts that fail before the one that counts.
    #[serde(default)]
    failed: usize,
    /// Why it comes out otherwise today.
    #[serde(default)]
    pending: Option<String>,
    #[serde(default)]
    refused: Option<String>,
    #[serde(default)]
    told: Option<String>,
    #[serde(default)]
    named: Option<String>,
    #[serde(default)]
    untold: Option<String>,
    #[serde(default)]
    accepted: Option<Vec<String>>,
}

/// Where the agent works, and who keeps the books.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Project,
    Isolate,
    Parallel,
    Bookkeeping,
}

fn all_modes() -> Vec<Mode> {
    vec![Mode::Project, Mode::Isolate, Mode::Parallel, Mode::Bookkeeping]
}

/// What must come of a case.
#[derive(Clone, Copy)]
enum Outcome<'a> {
    /// The attempt is rejected, with this text.
    Refused(&'a str),
    /// The work is accepted, and this text is in the summary.
    Told(&'a str),
    /// The final proof names it, and the plan is not said to be complete.
    Named(&'a str),
    /// A lie that no program can tell.
    Untold,
    /// Honest work: complete at once, and nothing is told but these texts.
    Accepted(&'a [String]),
}

impl Case {
    fn outcome(&self) -> Outcome<'_> {
        let found = [
            self.refused.as_deref().map(Outcome::Refused),
            self.told.as_deref().map(Outcome::Told),
            self.named.as_deref().map(Outcome::Named),
            self.untold.as_deref().map(|_| Outcome::Untold),
            self.accepted.as_deref().map(Outcome::Accepted),
        ];
        let mut found = found.into_iter().flatten();
        let outcome = found.next().unwrap_or_else(|| panic!("{} says not what must happen", self.name));
        assert!(found.next().is_none(), "{} says twice what must happen", self.name);
        outcome
    }

    /// The project with what the case adds to it.
    fn project(&self, class: &Class) -> Project {
        let known = self.project.as_ref().map(|name| {
            class.projects.get(name).cloned().unwrap_or_else(|| panic!("{}: no project {name}", self.name))
        });
        let mut project = known.unwrap_or_default();
        project.plan = self.plan.clone().unwrap_or(project.plan);
        project.setup = self.setup.clone().unwrap_or(project.setup);
        project.surroundings = self.surroundings.clone().unwrap_or(project.surroundings);
        project.needs.extend(self.needs.clone());
        project.files.extend(self.files.clone());
        project.programs.extend(self.programs.clone());
        project
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trust")
}

fn classes() -> Vec<Class> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder()).expect("the suite").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a class");
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.into_iter().map(read).collect()
}

/// A case in a mode, as a sandbox in which it has been run.
struct Trial<'a> {
    class: &'a Class,
    case: &'a Case,
    mode: Mode,
}

impl Trial<'_> {
    fn name(&self) -> String {
        format!("{}: {} ({:?})", self.class.class, self.case.name, self.mode)
    }

    /// What is wrong with how it came out; nothing where all is right, or where a program is missing.
    fn run(&self) -> Option<String> {
        let project = self.case.project(self.class);
        if !project.needs.iter().all(|program| is_there(program)) {
            println!("not tried, for want of {}: {}", project.needs.join(", "), self.name());
            return None;
        }
        let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
        let plan = self.lay_out(&sandbox, &project);
        let unforeseen = format!(": > '{}'", sandbox.control(UNFORESEEN).display());
        let command = sandbox.install_agent(&self.agent().otherwise([Step::shell(&unforeseen)]));
        let mut arguments = vec!["run"];
        if plan.starts_with("---") {
            arguments.push(PHASES);
        }
        arguments.extend(["--agent-cmd", &command]);
        arguments.extend(self.flags());
        arguments.extend(self.case.flags.iter().map(String::as_str));
        let finished = sandbox.run(&arguments);
        let wrong = self.mismatch(&sandbox, (&project, &plan), &finished);
        match (&self.case.pending, wrong) {
            (None, wrong) => wrong.map(|wrong| format!("{wrong}\n{finished}")),
            (Some(reason), Some(wrong)) => {
                println!("pending ({reason}): {}: {wrong}", self.name());
                None
            }
            (Some(_), None) => Some("is no longer pending: take the mark away".to_owned()),
        }
    }

    /// Writes the project; gives the plan.
    fn lay_out(&self, sandbox: &Sandbox, project: &Project) -> String {
        let mut plan = project.plan.replace("@ROOT@", &sandbox.root().display().to_string());
        if self.mode == Mode::Parallel {
            plan = plan.replacen("- [ ] 1.1 ", "- [ ] 1.1 [P] ", 1) + BESIDE;
        }
        for (path, text) in &project.files {
            sandbox.write(path, text);
        }
        for (name, script) in &project.programs {
            sandbox.install_program(name, script);
        }
        if plan.starts_with("---") {
            sandbox.write(&format!("{PHASES}/01-demo/01-01-PLAN.md"), &plan);
        } else {
            sandbox.spec("demo", &plan);
        }
        shell(sandbox, &project.setup);
        sandbox.commit_all("chore: before the run");
        shell(sandbox, &project.surroundings);
        plan
    }

    fn agent(&self) -> Agent {
        let tick = format!(
            "sed -i \"s/^- \\[ \\] $TILLGREEN_TASK_ID /- [x] $TILLGREEN_TASK_ID /\" {TASKS}\n\
             git add --all && git commit --quiet --message \"feat: $TILLGREEN_TASK_ID\"\necho TASK_COMPLETE"
        );
        let script = |script: &String| match self.mode {
            Mode::Bookkeeping => Step::shell(&script.replace("echo TASK_COMPLETE", &tick)),
            Mode::Project | Mode::Isolate | Mode::Parallel => Step::shell(script),
        };
        // What is said of an attempt or a role counts before what is said of the task.
        let mut rules: Vec<(&String, &String)> = self.case.agent.iter().collect();
        rules.sort_by_key(|(key, _)| !key.contains(' '));
        let mut agent = Agent::new();
        for (key, text) in rules {
            agent = match key.split(' ').collect::<Vec<_>>().as_slice() {
                [task, "attempt", attempt] => {
                    agent.on_attempt(task, attempt.parse().expect("the number of an attempt"), [script(text)])
                }
                [role, task] => agent.on_role(role, task, [script(text)]),
                _ => agent.on(key, [script(text)]),
            };
        }
        let beside = "echo beside > beside.txt; echo TASK_COMPLETE";
        agent.on_role("executor", "1.9", [Step::shell(beside)]).on("1.9", [Step::say("VERIFICATION_PASS")])
    }

    fn flags(&self) -> Vec<&'static str> {
        let mut flags = match self.mode {
            Mode::Project | Mode::Parallel => vec![],
            Mode::Isolate => vec!["--isolate"],
            Mode::Bookkeeping => vec!["--bookkeeping", "agent"],
        };
        // One that is refused once would be refused again and again.
        if matches!(self.case.outcome(), Outcome::Refused(_)) && self.case.failed == 0 {
            flags.extend(["--max-task-iterations", "1"]);
        }
        flags
    }

    fn mismatch(
        &self,
        sandbox: &Sandbox,
        (project, plan): (&Project, &str),
        finished: &Finished,
    ) -> Option<String> {
        let is_complete = finished.stdout.lines().any(|line| line == COMPLETE);
        let (said, shown) = (&finished.stdout, format!("{}{}", finished.stdout, finished.stderr));
        let lacks = |text: &str| format!("{text:?} is not said");
        if finished.stderr.contains("panicked") {
            return Some("it panicked".to_owned());
        }
        if sandbox.control(UNFORESEEN).exists() {
            return Some("the agent was asked for what the case does not foresee".to_owned());
        }
        let wrong = match self.case.outcome() {
            Outcome::Refused(text) => match finished.code {
                Some(0) => Some("it was not refused".to_owned()),
                _ => (!shown.contains(text)).then(|| lacks(text)),
            },
            _ if finished.code != Some(0) => Some("it was refused".to_owned()),
            Outcome::Told(text) => (!said.contains(text)).then(|| lacks(text)),
            Outcome::Named(_) if is_complete => Some("it is said to be complete".to_owned()),
            Outcome::Named(text) => (!said.contains(text)).then(|| lacks(text)),
            Outcome::Untold => self.told_besides(finished, &[]),
            Outcome::Accepted(texts) => self.told_besides(finished, texts),
        };
        wrong.or_else(|| is_complete.then(|| red_in_a_clone(sandbox, (project, plan), said)).flatten())
    }

    /// The first thing that is told of honest work beside what may be.
    fn told_besides(&self, finished: &Finished, texts: &[String]) -> Option<String> {
        let attempts = format!(", {} failed", self.case.failed);
        if !finished.stdout.lines().any(|line| line == COMPLETE) {
            return Some("it is not said to be complete".to_owned());
        }
        if !finished.stdout.lines().any(|line| line.starts_with("Attempts:") && line.ends_with(&attempts)) {
            return Some("an attempt was refused".to_owned());
        }
        let summary = finished.stdout.lines().skip_while(|line| !line.starts_with("Completed "));
        let summary = summary
            .take_while(|line| !line.contains("Retry Summary"))
            .filter(|line| !line.is_empty() && !PLAIN.iter().any(|plain| line.starts_with(plain)));
        let odd = finished.stderr.lines().filter(|line| line.contains(" ! "));
        let is_allowed = |line: &&str| texts.iter().any(|text| line.contains(text.as_str()));
        let told = summary.chain(odd).find(|line| !is_allowed(line));
        told.map(|line| format!("it is told: {}", line.trim()))
    }
}

/// The task whose command is red in a fresh clone with the same surroundings, if the summary does not say so.
fn red_in_a_clone(sandbox: &Sandbox, (project, plan): (&Project, &str), said: &str) -> Option<String> {
    let clone = sandbox.control("clone");
    let (root, place) = (sandbox.root().display().to_string(), clone.display().to_string());
    sandbox.git(&["clone", "--quiet", &root, &place]);
    shell(sandbox, &format!("cd '{place}'\n{}", project.surroundings));
    let mut task = "";
    for line in plan.lines() {
        if let Some(title) = line.strip_prefix("- [ ] ") {
            task = title.split(' ').next().unwrap_or_default();
        }
        let Some(command) = line.trim().strip_prefix("- **Verify**: `") else { continue };
        let command = command.trim_end_matches('`').replace(&root, &place);
        let is_told = said.lines().any(|line| line.starts_with("           ") && line.contains(task));
        let run =
            bash(sandbox, &command).current_dir(&clone).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !is_told && !run.expect("bash runs").success() {
            return Some(format!("{task} is red in a fresh clone, and nobody says so"));
        }
    }
    None
}

fn bash(sandbox: &Sandbox, script: &str) -> Command {
    let mut command = Command::new("bash");
    command.args(["-ec", script]).current_dir(sandbox.root()).env_clear().envs(sandbox.environment());
    command
}

fn shell(sandbox: &Sandbox, script: &str) {
    let run = bash(sandbox, script).output().expect("bash runs");
    assert!(run.status.success(), "{script}: {}", String::from_utf8_lossy(&run.stderr));
}

fn is_there(program: &str) -> bool {
    let run = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

/// The cases that are tried this time.
fn trials(classes: &[Class]) -> Vec<Trial<'_>> {
    let modes = if stride(2) == 1 { usize::MAX } else { 1 };
    let part = std::env::var("TILLGREEN_TRUST").unwrap_or_default();
    let mut trials = Vec::new();
    for class in classes {
        for case in &class.case {
            let modes = if case.pending.is_some() { 1 } else { modes };
            trials.extend(case.modes.iter().take(modes).map(|mode| Trial { class, case, mode: *mode }));
        }
    }
    trials.retain(|trial| trial.name().contains(&part));
    trials
}

/// The names of the trials that came out otherwise than they must, and how.
fn mismatches(trials: &[Trial<'_>]) -> Vec<(String, String)> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
            // One case that cannot be tried keeps nobody from trying the others.
            let tried = catch_unwind(AssertUnwindSafe(|| trial.run()));
            if let Some(mismatch) = tried.unwrap_or_else(|_| Some("it cannot be tried".to_owned())) {
                wrong.lock().expect("nobody panics while holding it").push((trial.name(), mismatch));
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    wrong.into_inner().expect("nobody panics while holding it")
}

#[test]
fn every_case_comes_out_as_it_must() {
    let classes = classes();
    let trials = trials(&classes);
    let wrong = mismatches(&trials);
    let mut table = String::new();
    for (name, mismatch) in &wrong {
        writeln!(table, "\n=== {name}\n{mismatch}").expect("a string takes everything");
    }
    for (name, mismatch) in &wrong {
        let line = mismatch.lines().next().unwrap_or_default();
        writeln!(table, "| {name} | {line} |").expect("a string takes everything");
    }
    assert!(wrong.is_empty(), "{table}\n{} of {} came out otherwise", wrong.len(), trials.len());
}

/// The table of `docs/trust.md`: how many cases of each class come out how.
fn table(classes: &[Class]) -> String {
    let mut table =
        "| | lies | refused | told | named by the proof | nobody can tell | honest | nothing told | told |\n\
                     |---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    let mut row = |name: &str, cases: &[&Case]| {
        let count = |is: fn(&Outcome<'_>) -> bool| cases.iter().filter(|case| is(&case.outcome())).count();
        let refused = count(|outcome| matches!(outcome, Outcome::Refused(_)));
        let told = count(|outcome| matches!(outcome, Outcome::Told(_)));
        let named = count(|outcome| matches!(outcome, Outcome::Named(_)));
        let untold = count(|outcome| matches!(outcome, Outcome::Untold));
        let plain = count(|outcome| matches!(outcome, Outcome::Accepted(texts) if texts.is_empty()));
        let honest = count(|outcome| matches!(outcome, Outcome::Accepted(_)));
        let lies = refused + told + named + untold;
        let oddly = honest - plain;
        writeln!(
            table,
            "| {name} | {lies} | {refused} | {told} | {named} | {untold} | {honest} | {plain} | {oddly} |"
        )
        .expect("a string takes everything");
    };
    for class in classes {
        row(&class.class, &class.case.iter().collect::<Vec<_>>());
    }
    row("all", &classes.iter().flat_map(|class| &class.case).collect::<Vec<_>>());
    table
}

#[test]
fn the_page_has_the_numbers() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trust.md");
    let page = fs::read_to_string(page).expect("docs/trust.md");
    let table = table(&classes());
    assert!(page.contains(&table), "replace the table by:\n{table}");
}

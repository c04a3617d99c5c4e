//! How a proof is taken: a brand-new tree, every command in it once, and for what is red a look at why.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use engine::{ActionKey, Cause, CheckFailure, Failing, Proof, ProofVerdict, TaskProof};
use plan::Script;

use crate::attempt::dispatch::Purpose;
use crate::attempt::invocation::{self, MARKER, file_name};
use crate::check;
use crate::error::RunError;
use crate::git::{Git, Oid, is_interrupted};
use crate::inbox::Message;
use crate::process::{Ended, Exit, Invocation};
use crate::proof::difference::Both;
use crate::proof::done_task::{DoneTask, Shown, done_tasks};
use crate::proof::explain::{Inquiry, Red};
use crate::proof::facts::Facts;
use crate::run::effects::Effects;
use crate::work::places::Done;
use crate::worktrees::{PROOF, SetUpRunner, Slots, Unready, environment, loads_project, relocated};

/// The time that a proof may take where nobody said otherwise, at least.
const BUDGET_MIN: Duration = Duration::from_secs(600);
/// How often it is said how far a proof has come.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// A proof that is to be taken, with all that it needs.
pub(super) struct Taking {
    pub(super) git: Git,
    pub(super) slots: Slots,
    pub(super) by: SetUpRunner,
    pub(super) project: PathBuf,
    /// The folder of the plan's record.
    pub(super) home: PathBuf,
    pub(super) head: Oid,
    pub(super) tasks: Vec<DoneTask>,
    pub(super) facts: Facts,
    /// The plan's own files.
    pub(super) own: Vec<String>,
    /// The paths that git ignored in the project before the run began; none where nobody knows.
    pub(super) surroundings: Option<Vec<String>>,
    pub(super) began: Option<SystemTime>,
    pub(super) limits: Limits,
    /// Says something in passing.
    pub(super) tell: Box<dyn Fn(String) + Send + Sync>,
}

/// The limits of a proof, as they were set.
pub(super) struct Limits {
    /// The time for all of it; none: as long as the run's own verification took, and ten minutes at least.
    pub(super) budget: Option<Duration>,
    /// The time for a command.
    pub(super) verify_timeout: Duration,
    /// The number of commands at once, each in a tree of its own.
    pub(super) jobs: u32,
}

/// The end of a command in a place.
#[derive(Debug, Clone)]
pub(super) enum Run {
    Green(i32),
    Red(Box<CheckFailure>, String),
    /// It took longer than it may.
    Late,
    /// The time for the whole proof is over.
    OutOfTime,
}

impl Run {
    pub(super) fn is_green(&self) -> bool {
        matches!(self, Run::Green(_))
    }
}

/// The run is to end.
pub(super) struct Interrupted;

/// The result of a proof, and what is to be told besides.
pub(crate) type Taken = (Proof, Vec<String>);

impl Effects<'_, '_> {
    /// Takes the final proof, beside the loop.
    pub(crate) fn start_final_proof(&mut self, key: ActionKey) -> Result<(), RunError> {
        let head = self.world.files.git().map_or(Ok(None), Git::head)?;
        let (Some(git), Some(slots), Some(head)) =
            (self.world.files.git().cloned(), self.world.slots.clone(), head)
        else {
            return self.beside(key, Purpose::FinalProof, || Done::Proof(None));
        };
        let (own, facts, settings) = (self.plan_files(), Facts::read(self.world.file), self.world.settings);
        let tasks = self.state.tasks().iter().map(AsRef::as_ref).filter(|task| task.is_done_here());
        let tasks = done_tasks(self.state, (self.world.file, &self.world.plans), (&facts, &own), tasks);
        let sender = self.inbox_sender();
        let taking = Taking {
            git,
            slots,
            by: self.set_up_runner(),
            project: self.world.project.root().to_owned(),
            home: self.world.file.home.clone(),
            head,
            tasks,
            facts,
            own,
            surroundings: self.state.surroundings().map(<[String]>::to_vec),
            began: self.state.first_opened_at().map(SystemTime::from),
            limits: Limits {
                budget: settings.prove_budget,
                verify_timeout: settings.verify_timeout,
                jobs: settings.rules.parallel.jobs,
            },
            // The loop may be over; then nobody listens.
            tell: Box::new(move |text| drop(sender.send(Message::Note(text)))),
        };
        self.mention(format!("what is done is proved in a clean checkout of {}", taking.head.short()));
        self.beside(key, Purpose::FinalProof, move || Done::Proof(taking.take().map(Box::new)))
    }
}

impl Taking {
    /// Takes the proof; nothing where the run is to end. This blocks.
    pub(super) fn take(&self) -> Option<Taken> {
        let began = Instant::now();
        let shown = self.new_tree();
        let (mut notes, verdicts) = match shown {
            Err(Unready::Interrupted) => return None,
            Err(unready) => (Vec::new(), self.unready(&unready)),
            Ok(mut notes) => {
                let (verdicts, found) = self.verdicts(began).ok()?;
                notes.extend(found);
                (notes, verdicts)
            }
        };
        notes.dedup();
        let linked = self.slots.linked(PROOF);
        // One that stays is removed with the others.
        let _ = self.slots.remove(PROOF);
        let results = self.tasks.iter().zip(verdicts).map(|(task, verdict)| TaskProof {
            task: task.id.clone(),
            command: task.script().map(check::one_line),
            verdict,
        });
        let tree = self.git.tree_of(&self.head).map(|tree| tree.as_str().to_owned()).unwrap_or_default();
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (head, results) = (self.head.as_str().to_owned(), results.collect());
        Some((Proof { head, tree, results, linked, elapsed_ms }, notes))
    }

    fn new_tree(&self) -> Result<Vec<String>, Unready> {
        self.slots.remove(PROOF)?;
        self.show(PROOF, &self.head)
    }

    /// Has a tree show a commit. Local settings that the run made are missing work, not what surrounds the project.
    pub(super) fn show(&self, tree: u32, commit: &Oid) -> Result<Vec<String>, Unready> {
        let root = self.slots.root(tree);
        let mut made = self.git.ignored_in_project()?;
        made.retain(|path| !self.both(&root).is_of_surroundings(path));
        self.slots.without(made).show(tree, commit, &self.by)
    }

    pub(super) fn both<'a>(&'a self, tree: &'a Path) -> Both<'a> {
        Both {
            git: &self.git,
            project: &self.project,
            tree,
            surroundings: self.surroundings.as_deref(),
            began: self.began,
        }
    }

    /// Without a tree nothing is known. Where a set-up fails because work is missing, commands that need it are red.
    fn unready(&self, unready: &Unready) -> Vec<ProofVerdict> {
        let tree = self.slots.root(PROOF);
        let is_of_setup = matches!(unready, Unready::SetUp { .. });
        let (missing, ignored) = if is_of_setup { self.both(&tree).manifests() } else { (None, None) };
        let verdict = |task: &DoneTask| match &task.shown {
            Shown::Nothing { reason, .. } => ProofVerdict::LeftOut { reason: reason.clone() },
            Shown::Command { script, .. } => match (&missing, &ignored) {
                (Some(differs), _) if script.tests_with_packages() || script.runs_node() => {
                    ProofVerdict::Red {
                        exit_code: None,
                        error: unready.to_string(),
                        differs: Some(differs.clone()),
                    }
                }
                (Some(differs), _) | (None, Some(differs)) => {
                    ProofVerdict::NotProved { reason: format!("{differs}, and {unready}") }
                }
                (None, None) => ProofVerdict::NotProved { reason: unready.to_string() },
            },
        };
        self.tasks.iter().map(verdict).collect()
    }

    fn verdicts(&self, began: Instant) -> Result<(Vec<ProofVerdict>, Vec<String>), Interrupted> {
        let elsewhere = self.elsewhere();
        let runs = self.run_all(&elsewhere, began)?;
        let mut inquiry = Inquiry::new(self, began);
        let mut verdicts = Vec::new();
        for task in &self.tasks {
            verdicts.push(match &task.shown {
                Shown::Nothing { reason, .. } => ProofVerdict::LeftOut { reason: reason.clone() },
                Shown::Command { script, .. } if elsewhere.contains_key(script.text.as_str()) => {
                    ProofVerdict::NotProved { reason: elsewhere[script.text.as_str()].clone() }
                }
                Shown::Command { script, commit, holding } => match runs.get(script.text.as_str()) {
                    None | Some(Run::OutOfTime) => ProofVerdict::NotReached,
                    Some(Run::Green(exit_code)) => ProofVerdict::Green { exit_code: *exit_code },
                    Some(Run::Late) => ProofVerdict::NotProved {
                        reason: "it did not end in time in a clean checkout: set a longer verify_timeout"
                            .to_owned(),
                    },
                    Some(Run::Red(failure, output)) => {
                        (self.tell)(format!("proof: {} is red; looking for what differs", task.id));
                        let red = Red { task: &task.id, script, failure, output, holding: *holding };
                        inquiry.explain(&red, commit.as_ref())?
                    }
                },
            });
        }
        Ok((verdicts, inquiry.notes))
    }

    /// The commands that load the project's files instead of the tree's, with what leads there.
    fn elsewhere(&self) -> BTreeMap<&str, String> {
        let place = self.slots.root(PROOF);
        let scripts = self.tasks.iter().filter_map(|task| match &task.shown {
            Shown::Command { script, .. } => Some(script),
            Shown::Nothing { .. } => None,
        });
        let led = |script: &Script| loads_project(script, &self.project, &place, &self.git);
        scripts.filter_map(|script| Some((script.text.as_str(), led(script)?))).collect()
    }

    /// Runs each command once: in the order of the plan in one tree or, where tasks had trees of their own before, side by side.
    fn run_all(
        &self,
        left_out: &BTreeMap<&str, String>,
        began: Instant,
    ) -> Result<BTreeMap<&str, Run>, Interrupted> {
        let mut scripts: Vec<(&DoneTask, &Script)> = Vec::new();
        for task in &self.tasks {
            if let Shown::Command { script, .. } = &task.shown
                && !left_out.contains_key(script.text.as_str())
                && !scripts.iter().any(|(_, known)| known.text == script.text)
            {
                scripts.push((task, script));
            }
        }
        let jobs = if self.facts.has_used_slots { self.limits.jobs } else { 1 };
        let jobs = u32::try_from(scripts.len()).unwrap_or(jobs).min(jobs);
        if jobs > 1 {
            let runs = self.run_side_by_side(&scripts, jobs, began)?;
            if runs.len() == scripts.len() && runs.values().all(Run::is_green) {
                return Ok(runs);
            }
            // A command may need what another one makes: before it is called red, all of them run in their order.
            if self.new_tree().is_err() {
                return if is_interrupted() { Err(Interrupted) } else { Ok(runs) };
            }
        }
        let mut progress = Progress::new(self, scripts.len(), began);
        for (task, script) in scripts {
            let run = self.run(script, (&file_name(&task.id), PROOF), began)?;
            progress.note(&script.text, run);
        }
        Ok(progress.runs)
    }

    /// Runs commands in as many trees, each with its share of them.
    fn run_side_by_side<'a>(
        &'a self,
        scripts: &[(&'a DoneTask, &'a Script)],
        jobs: u32,
        began: Instant,
    ) -> Result<BTreeMap<&'a str, Run>, Interrupted> {
        let (sender, receiver) = channel();
        let stride = usize::try_from(jobs).unwrap_or(1);
        thread::scope(|scope| {
            for (number, first) in (0..jobs).zip(0..) {
                let (sender, tree) = (sender.clone(), PROOF - number);
                let share = scripts.iter().skip(first).step_by(stride);
                scope.spawn(move || self.run_share(share.copied(), (tree, &sender), began));
            }
            drop(sender);
            let mut progress = Progress::new(self, scripts.len(), began);
            receiver.iter().for_each(|(text, run)| progress.note(text, run));
            if is_interrupted() { Err(Interrupted) } else { Ok(progress.runs) }
        })
    }

    /// Runs some commands in a tree. What cannot be run there is missing among the results.
    fn run_share<'a>(
        &self,
        scripts: impl Iterator<Item = (&'a DoneTask, &'a Script)>,
        (tree, sender): (u32, &Sender<(&'a str, Run)>),
        began: Instant,
    ) {
        if tree != PROOF && self.show(tree, &self.head).is_err() {
            return;
        }
        for (task, script) in scripts {
            let Ok(run) = self.run(script, (&file_name(&task.id), tree), began) else { break };
            // Whoever collects them waits for all of them.
            let _ = sender.send((script.text.as_str(), run));
        }
        if tree != PROOF {
            // One that stays is removed with the others.
            let _ = self.slots.remove(tree);
        }
    }

    /// The time that the proof may take.
    fn budget(&self) -> Duration {
        self.limits.budget.unwrap_or_else(|| self.facts.verified.max(BUDGET_MIN))
    }

    pub(super) fn is_over(&self, began: Instant) -> bool {
        began.elapsed() >= self.budget()
    }

    /// Runs a command in a tree, with its output in a file of this name.
    pub(super) fn run(
        &self,
        script: &Script,
        (name, tree): (&str, u32),
        began: Instant,
    ) -> Result<Run, Interrupted> {
        let left = self.budget().saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(Run::OutOfTime);
        }
        let place = self.slots.root(tree);
        let invocation = self.invocation(script, (name, tree), left.min(self.limits.verify_timeout));
        let ended = self.by.run(invocation);
        if is_interrupted() || ended.exit == Exit::Stopped {
            return Err(Interrupted);
        }
        if matches!(ended.exit, Exit::DeadlinePassed | Exit::NoProgress) {
            return Ok(if self.is_over(began) { Run::OutOfTime } else { Run::Late });
        }
        Ok(match check::command::verdict(script, &ended, &place).failure {
            None if self.lacks_tests(script, (&ended, &place)) => {
                Run::Red(Box::new(no_test_ran(script)), output(&ended))
            }
            None => Run::Green(if let Exit::Code(code) = ended.exit { code } else { 0 }),
            Some(failure) => Run::Red(Box::new(failure), output(&ended)),
        })
    }

    /// True of a green run without a test where there were some when the task was done.
    fn lacks_tests(&self, script: &Script, (ended, place): (&Ended, &Path)) -> bool {
        check::ran_no_test(ended, place) && self.tasks.iter().any(|task| task.had_tests(script))
    }

    fn invocation(&self, script: &Script, (name, tree): (&str, u32), deadline: Duration) -> Invocation {
        let place = self.slots.root(tree);
        let moved =
            |command: &String| relocated(command, &self.project, &place).unwrap_or_else(|| command.clone());
        let script = Script::new(script.snippets.iter().map(moved).collect());
        let dir = self.home.join("attempts").join("final-proof");
        // Without the folder the process cannot start, which is said then.
        let _ = fs::create_dir_all(&dir);
        let changes = environment(&self.project, &place, PROOF - tree, std::env::vars_os(), true);
        let (set, removed): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, value)| value.is_some());
        let withheld = self.slots.worktrees().variables.withheld_here();
        let marker: (OsString, OsString) = (MARKER.into(), self.home.clone().into());
        Invocation {
            command: check::verify_program(&script),
            cwd: place,
            env: set.into_iter().filter_map(|(name, value)| Some((name, value?))).chain([marker]).collect(),
            env_remove: removed.into_iter().map(|(name, _)| name).chain(withheld).collect(),
            stdin: None,
            stdout_log: dir.join(format!("{name}.out.log")),
            stderr_log: dir.join(format!("{name}.err.log")),
            limits: invocation::limits(deadline, None),
        }
    }
}

/// The results so far, of which it is said now and then how many there are.
struct Progress<'a> {
    taking: &'a Taking,
    count: usize,
    began: Instant,
    told: Instant,
    runs: BTreeMap<&'a str, Run>,
}

impl<'a> Progress<'a> {
    fn new(taking: &'a Taking, count: usize, began: Instant) -> Self {
        Self { taking, count, began, told: Instant::now(), runs: BTreeMap::new() }
    }

    fn note(&mut self, text: &'a str, run: Run) {
        self.runs.insert(text, run);
        if self.told.elapsed() < TOLD_EVERY || self.runs.len() == self.count {
            return;
        }
        self.told = Instant::now();
        let red = self.runs.values().filter(|run| matches!(run, Run::Red(..))).count();
        let red = if red > 0 { format!(", {red} red") } else { String::new() };
        let seconds = self.began.elapsed().as_secs();
        (self.taking.tell)(format!(
            "proof: {} of {} commands{red}, after {seconds} s of at most {} s",
            self.runs.len(),
            self.count,
            self.taking.budget().as_secs()
        ));
    }
}

fn no_test_ran(script: &Script) -> CheckFailure {
    CheckFailure {
        cause: Cause::VerifyRed,
        error: "not one test ran, though some did when the task was done".to_owned(),
        details: String::new(),
        command: Some(check::one_line(script)),
        exit_code: Some(0),
        failing: Failing::default(),
    }
}

fn output(ended: &Ended) -> String {
    format!("{}\n{}", ended.stdout.text, ended.stderr.text)
}

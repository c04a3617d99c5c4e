//! How a proof is taken: a brand-new tree, every command in it once, and for what is red a look at why.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use engine::{ActionKey, CheckFailure, Proof, ProofVerdict, TaskProof};
use plan::{Script, TaskId};

use crate::attempt::dispatch::Purpose;
use crate::attempt::invocation::{self, MARKER};
use crate::check;
use crate::error::RunError;
use crate::git::{Git, Oid, is_interrupted};
use crate::process::{Ended, Exit, Invocation};
use crate::proof::difference::{Both, Difference};
use crate::proof::exhibit::{Claim, Exhibit, Holding, exhibits};
use crate::run::effects::Effects;
use crate::work::places::Done;
use crate::work::project_files::listed;
use crate::worktrees::{
    LANDING, PROOF, SetUpRunner, Slots, Unready, environment, lacking, propose_setup, relocated,
};

/// How long a proof may take where nobody said otherwise, at least.
pub(super) const BUDGET: Duration = Duration::from_secs(600);
/// What differs that is named.
const DIFFERENCES_TOLD_MAX: usize = 5;

/// All that taking a proof needs.
pub(super) struct Taking {
    pub(super) git: Git,
    pub(super) slots: Slots,
    pub(super) by: SetUpRunner,
    pub(super) project: PathBuf,
    /// The folder of the plan's record.
    pub(super) home: PathBuf,
    pub(super) head: Oid,
    pub(super) exhibits: Vec<Exhibit>,
    /// The plan's own files.
    pub(super) own: Vec<String>,
    pub(super) surroundings: Option<Vec<String>>,
    pub(super) began: Option<SystemTime>,
    pub(super) budget: Duration,
    pub(super) verify_timeout: Duration,
}

/// What a command came to in a place.
#[derive(Debug, Clone)]
enum Run {
    Green(i32),
    Red(Box<CheckFailure>, String),
    /// It took longer than it may.
    Late,
    /// The time for the whole proof is over.
    OutOfTime,
}

/// The run is to end.
struct Interrupted;

impl Effects<'_, '_> {
    /// Takes the final proof, beside the loop.
    pub(crate) fn start_final_proof(&mut self, key: ActionKey) -> Result<(), RunError> {
        let head = self.world.files.git().map_or(Ok(None), Git::head)?;
        let (Some(git), Some(slots), Some(head)) =
            (self.world.files.git().cloned(), self.world.slots.clone(), head)
        else {
            return self.beside(key, Purpose::FinalProof, || Done::Proof(None));
        };
        let own = self.plan_files();
        let tasks = self.state.tasks().iter().map(AsRef::as_ref).filter(|task| task.is_done_here());
        let taking = Taking {
            exhibits: exhibits(self.state, (self.world.file, &self.world.plans), &own, tasks),
            own,
            git,
            slots,
            head,
            by: self.set_up_runner(),
            project: self.world.project.root().to_owned(),
            home: self.world.file.home.clone(),
            surroundings: self.state.surroundings().map(<[String]>::to_vec),
            began: self.state.first_opened_at().map(SystemTime::from),
            budget: self.world.settings.prove_budget.unwrap_or(BUDGET),
            verify_timeout: self.world.settings.verify_timeout,
        };
        self.mention(format!("what is done is proved in a clean checkout of {}", taking.head.short()));
        self.beside(key, Purpose::FinalProof, move || Done::Proof(taking.take().map(Box::new)))
    }
}

impl Taking {
    /// Takes the proof, and says what is to be told besides; nothing where the run is to end. This blocks.
    pub(super) fn take(&self) -> Option<(Proof, Vec<String>)> {
        let began = Instant::now();
        let shown = self.slots.remove(PROOF).map_err(Unready::from).and_then(|()| self.show(&self.head));
        let (notes, verdicts) = match shown {
            Err(Unready::Interrupted) => return None,
            Err(unready) => (Vec::new(), self.unready(&unready)),
            Ok(notes) => (notes, self.verdicts(began).ok()?),
        };
        // One that stays is removed with the others.
        let _ = self.slots.remove(PROOF);
        let results = self.exhibits.iter().zip(verdicts).map(|(exhibit, verdict)| TaskProof {
            task: exhibit.task.clone(),
            command: exhibit.claim.script().map(|script| check::one_line(&script.source())),
            verdict,
        });
        let tree = self.git.tree_of(&self.head).map(|tree| tree.as_str().to_owned()).unwrap_or_default();
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let head = self.head.as_str().to_owned();
        Some((Proof { head, tree, results: results.collect(), elapsed_ms }, notes))
    }

    /// Has the tree show a commit. Local settings that the run made are missing work, not what surrounds the project.
    fn show(&self, commit: &Oid) -> Result<Vec<String>, Unready> {
        let tree = self.tree();
        let mut made = self.git.ignored_in_project()?;
        made.retain(|path| !self.both(&tree).is_of_surroundings(path));
        self.slots.without(made).show(PROOF, commit, &self.by)
    }

    fn both<'a>(&'a self, tree: &'a Path) -> Both<'a> {
        Both {
            git: &self.git,
            project: &self.project,
            tree,
            surroundings: self.surroundings.as_deref(),
            began: self.began,
        }
    }

    fn tree(&self) -> PathBuf {
        self.slots.root(PROOF)
    }

    /// Without a tree nothing is known.
    fn unready(&self, unready: &Unready) -> Vec<ProofVerdict> {
        let verdict = |exhibit: &Exhibit| match &exhibit.claim {
            Claim::LeftOut { reason, .. } => ProofVerdict::LeftOut { reason: reason.clone() },
            Claim::Command { .. } => ProofVerdict::NotProved { reason: unready.to_string() },
        };
        self.exhibits.iter().map(verdict).collect()
    }

    fn verdicts(&self, began: Instant) -> Result<Vec<ProofVerdict>, Interrupted> {
        let mut runs: BTreeMap<&str, Run> = BTreeMap::new();
        for script in self.exhibits.iter().filter_map(|exhibit| match &exhibit.claim {
            Claim::Command { script, .. } => Some(script),
            Claim::LeftOut { .. } => None,
        }) {
            if !runs.contains_key(script.text.as_str()) {
                let run = self.run(script, &self.tree(), began)?;
                runs.insert(&script.text, run);
            }
        }
        let mut verdicts = Vec::new();
        for exhibit in &self.exhibits {
            verdicts.push(match &exhibit.claim {
                Claim::LeftOut { reason, .. } => ProofVerdict::LeftOut { reason: reason.clone() },
                Claim::Command { script, commit, later, holding } => match runs.get(script.text.as_str()) {
                    None | Some(Run::OutOfTime) => ProofVerdict::NotReached,
                    Some(Run::Green(exit_code)) => ProofVerdict::Green { exit_code: *exit_code },
                    Some(Run::Late) => ProofVerdict::NotProved {
                        reason: "it did not end in time in a clean checkout: set a longer verify_timeout"
                            .to_owned(),
                    },
                    Some(Run::Red(failure, output)) => {
                        let red = Red { script, failure, output, holding: *holding };
                        self.explain(&red, (commit.as_ref(), later), began)?
                    }
                },
            });
        }
        Ok(verdicts)
    }

    /// Runs a command in a place.
    fn run(&self, script: &Script, place: &Path, began: Instant) -> Result<Run, Interrupted> {
        let left = self.budget.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(Run::OutOfTime);
        }
        let ended = self.by.run(self.invocation(script, place, left.min(self.verify_timeout)));
        if is_interrupted() || ended.exit == Exit::Stopped {
            return Err(Interrupted);
        }
        if matches!(ended.exit, Exit::DeadlinePassed | Exit::NoProgress) {
            return Ok(if began.elapsed() >= self.budget { Run::OutOfTime } else { Run::Late });
        }
        Ok(match check::command::verdict(script, &ended, place).failure {
            None => Run::Green(if let Exit::Code(code) = ended.exit { code } else { 0 }),
            Some(failure) => Run::Red(Box::new(failure), output(&ended)),
        })
    }

    fn invocation(&self, script: &Script, place: &Path, deadline: Duration) -> Invocation {
        let moved =
            |command: &String| relocated(command, &self.project, place).unwrap_or_else(|| command.clone());
        let script = Script::new(script.snippets.iter().map(moved).collect());
        let dir = self.home.join("attempts").join("final-proof");
        // Without the folder the process cannot start, which is said then.
        let _ = fs::create_dir_all(&dir);
        let changes = environment(&self.project, place, LANDING, std::env::vars_os(), true);
        let (set, removed): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, value)| value.is_some());
        let marker: (OsString, OsString) = (MARKER.into(), self.home.clone().into());
        Invocation {
            command: check::verify_program(&script),
            cwd: place.to_owned(),
            env: set.into_iter().filter_map(|(name, value)| Some((name, value?))).chain([marker]).collect(),
            env_remove: removed.into_iter().map(|(name, _)| name).collect(),
            stdin: None,
            stdout_log: dir.join("verify.out.log"),
            stderr_log: dir.join("verify.err.log"),
            limits: invocation::limits(deadline, None),
        }
    }

    /// Why a command is red in the clean tree. Unknown is not red: first it is looked whether surroundings are missing.
    fn explain(
        &self,
        red: &Red<'_>,
        (commit, later): (Option<&Oid>, &[(TaskId, Oid)]),
        began: Instant,
    ) -> Result<ProofVerdict, Interrupted> {
        let tree = self.tree();
        let both = self.both(&tree);
        if self.git.config("core.sparseCheckout").is_ok_and(|value| value.as_deref() == Some("true")) {
            let reason =
                "checkouts of this repository are sparse, so that files of the commit may be missing";
            return Ok(ProofVerdict::NotProved { reason: reason.to_owned() });
        }
        if self.show_again(&self.head)?.is_none() {
            return Ok(red.verdict(None));
        }
        if let Some(lacking) = lacking(red.output, &self.project, &tree, &self.git)
            && (lacking.is_installed || both.is_of_surroundings(&lacking.path))
        {
            return Ok(ProofVerdict::NotProved { reason: lacking.told });
        }
        if let Some(differs) = self.missing_work(red, &both, began)? {
            return Ok(match red.holding {
                Holding::Commit => red.verdict(Some(differs)),
                Holding::Project => {
                    ProofVerdict::NotProved { reason: format!("it asks for no commit, and {differs}") }
                }
            });
        }
        if let Some(verdict) = self.broken_later(red, (commit, later), began)? {
            return Ok(verdict);
        }
        self.show_again(&self.head)?;
        if !matches!(self.run(red.script, &self.project, began)?, Run::Green(_)) {
            return Ok(red.verdict(Some("it is red in the project as well".to_owned())));
        }
        let surroundings = both.lacking_surroundings();
        if surroundings.is_empty() {
            return Ok(red.verdict(Some("it is green in the project".to_owned())));
        }
        Ok(ProofVerdict::NotProved { reason: self.advice(&surroundings) })
    }

    fn advice(&self, surroundings: &[String]) -> String {
        let proposal = propose_setup(&self.git).ok().flatten();
        let advice = proposal.map_or_else(
            || "have worktree_copy or worktree_setup in tillgreen.toml bring it there".to_owned(),
            |proposal| format!("set worktree_setup = {:?} in tillgreen.toml", proposal.command),
        );
        let lacks = listed(surroundings);
        format!(
            "it is green in the project and red in a clean checkout, which lacks what git ignores ({lacks}): {advice}"
        )
    }

    /// What makes the command green where it is brought into the clean tree: work that no commit holds.
    fn missing_work(
        &self,
        red: &Red<'_>,
        both: &Both<'_>,
        began: Instant,
    ) -> Result<Option<String>, Interrupted> {
        let mut candidates = both.candidates(&red.script.source());
        candidates.retain(|candidate| !self.own.contains(&candidate.path));
        if candidates.is_empty() {
            return Ok(None);
        }
        let named: Vec<Difference> =
            candidates.iter().filter(|candidate| red.names(&candidate.path)).cloned().collect();
        for differences in [named, candidates] {
            both.bring(&differences);
            if !differences.is_empty() && matches!(self.run(red.script, both.tree, began)?, Run::Green(_)) {
                let told =
                    differences.iter().take(DIFFERENCES_TOLD_MAX).map(|difference| difference.told.clone());
                return Ok(Some(told.collect::<Vec<_>>().join(", ")));
            }
        }
        Ok(None)
    }

    /// Whether it was green at the task's own commit, so that what came later made it red.
    fn broken_later(
        &self,
        red: &Red<'_>,
        (commit, later): (Option<&Oid>, &[(TaskId, Oid)]),
        began: Instant,
    ) -> Result<Option<ProofVerdict>, Interrupted> {
        let Some(commit) = commit else { return Ok(None) };
        if !self.differ(commit, &self.head) || self.show_again(commit)?.is_none() {
            return Ok(None);
        }
        if !matches!(self.run(red.script, &self.tree(), began)?, Run::Green(_)) {
            return Ok(None);
        }
        if later.is_empty() {
            return Ok(Some(red.verdict(Some(broken_by_others(commit)))));
        }
        let by_tasks = later.iter().map(|(_, commit)| commit).next_back();
        if let Some(last) = by_tasks.filter(|last| self.differ(last, &self.head))
            && self.show_again(last)?.is_some()
            && matches!(self.run(red.script, &self.tree(), began)?, Run::Green(_))
        {
            return Ok(Some(red.verdict(Some(broken_by_others(last)))));
        }
        let of_task: BTreeSet<String> = self.changed_by(commit).into_iter().collect();
        let is_close = |(_, other): &&(TaskId, Oid)| {
            self.changed_by(other).iter().any(|path| of_task.contains(path) || red.names(path))
        };
        let close: Vec<TaskId> = later.iter().filter(is_close).map(|(task, _)| task.clone()).collect();
        let by = if close.is_empty() { later.iter().map(|(task, _)| task.clone()).collect() } else { close };
        let (exit_code, error) = (red.failure.exit_code, red.failure.error.clone());
        Ok(Some(ProofVerdict::Superseded { by, exit_code, error }))
    }

    /// Whether two commits differ in more than the plan's own files.
    fn differ(&self, one: &Oid, other: &Oid) -> bool {
        let changed = self.git.changed_between(one.as_str(), other.as_str()).unwrap_or_default();
        changed.iter().any(|path| !self.own.contains(path))
    }

    fn changed_by(&self, commit: &Oid) -> Vec<String> {
        let before = self.git.commit_before(commit).ok().flatten();
        let changed = before.map(|before| self.git.changed_between(before.as_str(), commit.as_str()));
        let mut changed = changed.and_then(Result::ok).unwrap_or_default();
        changed.retain(|path| !self.own.contains(path));
        changed
    }

    /// Has the tree show a commit once more, with nothing else; nothing where that cannot be.
    fn show_again(&self, commit: &Oid) -> Result<Option<()>, Interrupted> {
        match self.show(commit) {
            Ok(_) => Ok(Some(())),
            Err(Unready::Interrupted) => Err(Interrupted),
            Err(_) => Ok(None),
        }
    }
}

/// A red command.
struct Red<'a> {
    script: &'a Script,
    failure: &'a CheckFailure,
    output: &'a str,
    holding: Holding,
}

impl Red<'_> {
    fn verdict(&self, differs: Option<String>) -> ProofVerdict {
        let (exit_code, error) = (self.failure.exit_code, self.failure.error.clone());
        ProofVerdict::Red { exit_code, error, differs }
    }

    /// Whether the command or what it printed names a path.
    fn names(&self, path: &str) -> bool {
        self.script.snippets.iter().any(|snippet| snippet.contains(path)) || self.output.contains(path)
    }
}

fn broken_by_others(commit: &Oid) -> String {
    format!("it was green at {}, and commits since then that are no task's broke it", commit.short())
}

fn output(ended: &Ended) -> String {
    format!("{}\n{}", ended.stdout.text, ended.stderr.text)
}

//! Why a command is red in a clean checkout, found out by trying: it is flaky, the checkout lacks what surrounds the project,
//! work is in no commit, or a later commit broke it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use engine::{CheckFailure, ProofVerdict};
use plan::{Script, TaskId};

use crate::git::Oid;
use crate::proof::difference::{Both, Difference};
use crate::proof::done_task::Holding;
use crate::proof::take::{Interrupted, Run, Taking};
use crate::work::project_files::listed;
use crate::worktrees::{BroughtBy, PROOF, Unready, lacking, setting, uninstalled};

/// Differences that are named.
const DIFFERENCES_TOLD_MAX: usize = 5;
/// Red tasks for which the commit that broke them is searched by running their commands; for others its files tell.
const SEARCHES_MAX: u32 = 3;
/// The file of what a command printed meanwhile.
const LOG: &str = "look";

/// A red command.
pub(super) struct Red<'a> {
    pub(super) task: &'a TaskId,
    pub(super) script: &'a Script,
    pub(super) failure: &'a CheckFailure,
    pub(super) output: &'a str,
    pub(super) holding: Holding,
}

impl Red<'_> {
    fn verdict(&self, differs: Option<String>) -> ProofVerdict {
        let (exit_code, error) = (self.failure.exit_code, self.failure.error.clone());
        ProofVerdict::Red { exit_code, error, differs }
    }

    fn superseded(&self, by: Vec<TaskId>) -> ProofVerdict {
        let (exit_code, error) = (self.failure.exit_code, self.failure.error.clone());
        ProofVerdict::Superseded { by, exit_code, error }
    }

    /// True if the command or what it printed names a path.
    fn names(&self, path: &str) -> bool {
        self.script.snippets.iter().any(|snippet| snippet.contains(path)) || self.output.contains(path)
    }
}

/// The search for what differs, over all red commands of a proof.
pub(super) struct Inquiry<'a> {
    taking: &'a Taking,
    began: Instant,
    /// True for each command at each commit whether it is green there.
    greens: BTreeMap<(Oid, String), bool>,
    searches: u32,
    /// True once a command was green with what surrounds the project: others are likely to be.
    lacks_surroundings: bool,
    /// Things to be told besides.
    pub(super) notes: Vec<String>,
}

impl<'a> Inquiry<'a> {
    pub(super) fn new(taking: &'a Taking, began: Instant) -> Self {
        let (greens, notes) = (BTreeMap::new(), Vec::new());
        Self { taking, began, greens, searches: 0, lacks_surroundings: false, notes }
    }

    /// Why a command is red in the clean tree. Unknown is not red: first it is looked whether surroundings are missing.
    pub(super) fn explain(
        &mut self,
        red: &Red<'_>,
        commit: Option<&Oid>,
    ) -> Result<ProofVerdict, Interrupted> {
        let tree = self.taking.slots.root(PROOF);
        let both = self.taking.both(&tree);
        if self.taking.git.config("core.sparseCheckout").is_ok_and(|value| value.as_deref() == Some("true")) {
            let reason =
                "checkouts of this repository are sparse, so that files of the commit may be missing";
            return Ok(ProofVerdict::NotProved { reason: reason.to_owned() });
        }
        let (output, project, git) = (red.output, &self.taking.project, &self.taking.git);
        if let Some(reason) = uninstalled(output, project, &tree, git) {
            return Ok(ProofVerdict::NotProved { reason });
        }
        if let Some(lacking) = lacking(output, project, &tree, git) {
            match lacking.by {
                BroughtBy::Nothing => return Ok(red.verdict(Some(lacking.told))),
                BroughtBy::Hand if !both.is_of_surroundings(&lacking.path) => {}
                BroughtBy::Setup | BroughtBy::Hand => {
                    return Ok(ProofVerdict::NotProved { reason: lacking.told });
                }
            }
        }
        if self.lacks_surroundings
            && let Some(verdict) = self.with_surroundings(red, &both)?
        {
            return Ok(verdict);
        }
        if self.show(&self.taking.head)?.is_some()
            && let Run::Green(exit_code) = self.run(red.script)?
        {
            self.notes.push(format!(
                "the command of task {} was red and then green in a clean checkout, with nothing changed in between",
                red.task
            ));
            return Ok(ProofVerdict::Green { exit_code });
        }
        if let Some(differs) = self.missing_work(red, &both)? {
            return Ok(match red.holding {
                Holding::Commit => red.verdict(Some(differs)),
                Holding::Project => {
                    ProofVerdict::NotProved { reason: format!("it asks for no commit, and {differs}") }
                }
            });
        }
        if let Some(verdict) = self.broken_since(red, commit)? {
            return Ok(verdict);
        }
        let is_over = self.taking.is_over(self.began);
        let differs = is_over.then(|| "the time for the proof was over before it was known why".to_owned());
        Ok(self.with_surroundings(red, &both)?.unwrap_or_else(|| red.verdict(differs)))
    }

    fn run(&self, script: &Script) -> Result<Run, Interrupted> {
        self.taking.run(script, (LOG, PROOF), self.began)
    }

    /// Has the tree show a commit once more, with nothing else; nothing where that cannot be.
    fn show(&self, commit: &Oid) -> Result<Option<()>, Interrupted> {
        match self.taking.show(PROOF, commit) {
            Ok(_) => Ok(Some(())),
            Err(Unready::Interrupted) => Err(Interrupted),
            Err(_) => Ok(None),
        }
    }

    /// True if a command is green at a commit; none where nobody knows. Each is run once.
    fn is_green_at(&mut self, script: &Script, commit: &Oid) -> Result<Option<bool>, Interrupted> {
        let key = (commit.clone(), script.text.clone());
        if let Some(known) = self.greens.get(&key) {
            return Ok(Some(*known));
        }
        if self.show(commit)?.is_none() {
            return Ok(None);
        }
        let is_green = match self.run(script)? {
            Run::Green(_) => true,
            Run::Red(..) => false,
            Run::Late | Run::OutOfTime => return Ok(None),
        };
        self.greens.insert(key, is_green);
        Ok(Some(is_green))
    }

    /// Tries the command with what surrounds the project. Nothing where that is no help.
    fn with_surroundings(
        &mut self,
        red: &Red<'_>,
        both: &Both<'_>,
    ) -> Result<Option<ProofVerdict>, Interrupted> {
        if self.show(&self.taking.head)?.is_none() {
            return Ok(None);
        }
        let surroundings = both.lacking_surroundings();
        if surroundings.is_empty() {
            return Ok(None);
        }
        let is_all = both.lend(&surroundings);
        let run = self.run(red.script)?;
        self.lacks_surroundings |= run.is_green();
        let is_known = is_all && matches!(run, Run::Red(..));
        let reason = || self.advice(&surroundings, run.is_green());
        Ok((!is_known).then(|| ProofVerdict::NotProved { reason: reason() }))
    }

    fn advice(&self, surroundings: &[String], is_green: bool) -> String {
        let advice = setting(&self.taking.git).map_or_else(
            || "have worktree_copy or worktree_setup in tillgreen.toml bring it there".to_owned(),
            |setting| format!("set {setting} in tillgreen.toml"),
        );
        let lacks = listed(surroundings);
        let with = if is_green { ", and green with it" } else { "" };
        format!("it is red in a clean checkout, which lacks what git ignores ({lacks}){with}: {advice}")
    }

    /// The files that make the command green where they are brought into the clean tree: work that no commit holds.
    fn missing_work(&mut self, red: &Red<'_>, both: &Both<'_>) -> Result<Option<String>, Interrupted> {
        let mut candidates = both.candidates(&red.script.source());
        candidates.retain(|candidate| !self.taking.own.contains(&candidate.path));
        let named: Vec<Difference> =
            candidates.iter().filter(|candidate| red.names(&candidate.path)).cloned().collect();
        for differences in [named, candidates] {
            if differences.is_empty() {
                continue;
            }
            both.bring(&differences);
            if self.run(red.script)?.is_green() {
                // A folder says it of all that is in it.
                let is_inside =
                    |path: &str, folder: &str| path != folder && Path::new(path).starts_with(folder);
                let is_told = |difference: &&Difference| {
                    !differences.iter().any(|other| is_inside(&difference.path, &other.path))
                };
                let told = differences.iter().filter(is_told).take(DIFFERENCES_TOLD_MAX);
                let told = told.map(|difference| difference.told.clone());
                return Ok(Some(told.collect::<Vec<_>>().join(", ")));
            }
        }
        Ok(None)
    }

    /// Looks for the commit since which it is red, if it was green at the task's own one.
    fn broken_since(
        &mut self,
        red: &Red<'_>,
        commit: Option<&Oid>,
    ) -> Result<Option<ProofVerdict>, Interrupted> {
        let Some(commit) = commit else { return Ok(None) };
        let chain = self.taking.git.commits_between(commit, &self.taking.head).unwrap_or_default();
        let later: Vec<Oid> =
            chain.iter().filter(|other| !self.changed_by(other).is_empty()).cloned().collect();
        if later.is_empty() || self.is_green_at(red.script, commit)? != Some(true) {
            return Ok(None);
        }
        let broken_by = match later.as_slice() {
            [only] => Some(only.clone()),
            several => self.first_red(red, several)?,
        };
        let owner = |commit: &Oid| {
            self.taking.facts.owner(commit, &chain).filter(|owner| *owner != red.task).cloned()
        };
        if let Some(broken_by) = broken_by {
            return Ok(Some(match owner(&broken_by) {
                Some(owner) => red.superseded(vec![owner]),
                None => red.verdict(Some(self.broken_by(&broken_by))),
            }));
        }
        let of_task: BTreeSet<String> = self.changed_by(commit).into_iter().collect();
        let is_close = |other: &&Oid| {
            self.changed_by(other).iter().any(|path| of_task.contains(path) || red.names(path))
        };
        let close: Vec<TaskId> = later.iter().filter(is_close).filter_map(owner).collect();
        let by = if close.is_empty() { later.iter().filter_map(owner).collect() } else { close };
        if by.is_empty() {
            let differs = format!("it was green at {}, and a later commit broke it", commit.short());
            return Ok(Some(red.verdict(Some(differs))));
        }
        Ok(Some(red.superseded(by)))
    }

    /// The first commit at which the command is red, where it was green before all of these and is red after them. Only so
    /// many times, and as long as there is time.
    fn first_red(&mut self, red: &Red<'_>, commits: &[Oid]) -> Result<Option<Oid>, Interrupted> {
        if self.searches == SEARCHES_MAX {
            return Ok(None);
        }
        self.searches += 1;
        let (mut low, mut high) = (0, commits.len() - 1);
        while low < high {
            let middle = low.midpoint(high);
            match self.is_green_at(red.script, &commits[middle])? {
                Some(true) => low = middle + 1,
                Some(false) => high = middle,
                None => return Ok(None),
            }
        }
        Ok(commits.get(high).cloned())
    }

    fn broken_by(&self, commit: &Oid) -> String {
        let subject = self.taking.git.subject_of(commit).unwrap_or_default();
        format!("the commit {} \"{subject}\" broke it", commit.short())
    }

    /// The paths that a commit changed, besides the plan's own.
    fn changed_by(&self, commit: &Oid) -> Vec<String> {
        let before = self.taking.git.commit_before(commit).ok().flatten();
        let changed = before.map(|before| self.taking.git.changed_between(before.as_str(), commit.as_str()));
        let mut changed = changed.and_then(Result::ok).unwrap_or_default();
        changed.retain(|path| !self.taking.own.contains(path));
        changed
    }
}

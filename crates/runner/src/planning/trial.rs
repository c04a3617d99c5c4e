//! Proposed commands, each tried once before the work: in a work tree of their own, in which nobody works.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::Cause;
use plan::Script;
use serde::{Deserialize, Serialize};

use crate::attempt::invocation;
use crate::check;
use crate::git::{Git, Oid};
use crate::process::{Ended, Exit, Invocation};
use crate::worktrees::{PROOF, SetUpRunner, Slots, Unready, environment, missing, relocated};

/// The time for all of them; what is not reached is not known.
const BUDGET: Duration = Duration::from_secs(600);

/// A proposed command, and what is known of it before the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The task, as the plan spells it.
    pub task: String,
    /// The command in one line.
    pub command: String,
    /// What came of it.
    pub trial: Trial,
}

/// The result of a command before the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trial {
    /// It is red.
    Red,
    /// It is green, and so proves nothing yet.
    Green,
    /// It cannot start, for want of this.
    Lacks(String),
    /// Nobody knows, and why.
    Unknown(String),
    /// It may do more than look.
    NotTried,
    /// It verifies other tasks, or has to be red at first: what it says before the work means nothing.
    Meaningless,
}

/// The place in which commands are tried.
pub(super) struct Trials<'a> {
    pub(super) git: &'a Git,
    pub(super) slots: &'a Slots,
    pub(super) by: SetUpRunner,
    pub(super) base: Oid,
    /// The folder for what they print.
    pub(super) logs: PathBuf,
}

impl Trials<'_> {
    /// Tries each command that only checks, once, and gives what came of it by its text. None where somebody wants it to end.
    pub(super) fn all(&self, scripts: &[&Script]) -> Option<BTreeMap<String, Trial>> {
        let mut results = BTreeMap::new();
        let (tried, others): (Vec<&Script>, Vec<&Script>) =
            scripts.iter().copied().partition(|script| script.only_checks());
        results.extend(others.into_iter().map(|script| (script.text.clone(), Trial::NotTried)));
        if tried.is_empty() {
            return Some(results);
        }
        let unready = match self.slots.show(PROOF, &self.base, &self.by) {
            Ok(_) => None,
            Err(Unready::Interrupted) => return None,
            Err(unready) => Some(unready.to_string()),
        };
        let began = Instant::now();
        for script in tried {
            let trial = match &unready {
                Some(why) => Trial::Unknown(why.clone()),
                None if results.contains_key(&script.text) => continue,
                None => self.one(script, BUDGET.saturating_sub(began.elapsed()))?,
            };
            results.insert(script.text.clone(), trial);
        }
        Some(results)
    }

    fn one(&self, script: &Script, left: Duration) -> Option<Trial> {
        if left.is_zero() {
            return Some(Trial::Unknown("the time for trying commands was over".to_owned()));
        }
        let place = self.slots.root(PROOF);
        let ended = self.by.run(self.invocation(script, &place, left.min(check::before::DEADLINE)));
        if ended.exit == Exit::Stopped {
            return None;
        }
        if !ended.exit.is_whole() {
            return Some(Trial::Unknown(format!("it did not end within {}", ended.limit_in_words())));
        }
        Some(self.judged(script, &ended, &place))
    }

    fn judged(&self, script: &Script, ended: &Ended, place: &Path) -> Trial {
        let Some(failure) = check::command::verdict(script, ended, place).failure else {
            return Trial::Green;
        };
        let output = format!("{}\n{}", ended.stdout.text, ended.stderr.text);
        if let Some(why) = missing(&output, self.git.root(), place, self.git) {
            return Trial::Unknown(why);
        }
        match failure.cause == Cause::VerifyCannotStart {
            true => Trial::Lacks(failure.error),
            false => Trial::Red,
        }
    }

    fn invocation(&self, script: &Script, place: &Path, deadline: Duration) -> Invocation {
        let project = self.git.root();
        let moved = |command: &String| relocated(command, project, place).unwrap_or_else(|| command.clone());
        let script = Script::new(script.snippets.iter().map(moved).collect());
        // Without the folder the process cannot start, which is said then.
        let _ = fs::create_dir_all(&self.logs);
        let changes = environment(project, place, 0, std::env::vars_os(), true);
        let (set, removed): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, value)| value.is_some());
        let withheld = self.slots.worktrees().variables.withheld_here();
        Invocation {
            command: check::verify_program(&script),
            cwd: place.to_owned(),
            env: set.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            env_remove: removed.into_iter().map(|(name, _)| name).chain(withheld).collect(),
            stdin: None,
            stdout_log: self.logs.join("out.log"),
            stderr_log: self.logs.join("err.log"),
            limits: invocation::limits(deadline, None),
        }
    }
}

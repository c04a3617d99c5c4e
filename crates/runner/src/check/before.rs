//! The verify command before the work: on a task's first attempt it is tried at the base, in the place where the agent will
//! work. Green then, it will be green afterwards whatever the agent does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{ActionKey, Before, BeforeWork, Evidence, Failing, Isolation, Seen};
use plan::{Script, TaskId};

use crate::attempt::dispatch::Purpose;
use crate::check;
use crate::error::RunError;
use crate::git::GitError;
use crate::process::{self, Ended, Exit, Invocation, ProcessLimits};
use crate::run::effects::{Effects, Flight};
use crate::settings::RedBefore;
use crate::worktrees::LANDING;

/// The time for a command that is tried before the work.
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

/// The things to do before the work.
pub(crate) enum Trial {
    /// Nothing.
    Needless,
    /// Nothing more: the result is known, and was told.
    Known,
    /// To try this command.
    Due(Script),
}

/// The result of a command that was tried below `root`, with what failed; none where the run was interrupted.
pub(crate) fn tried(script: &Script, ended: &Ended, root: &Path) -> Option<(Before, Failing)> {
    let (before, failing) = match ended.exit.is_whole().then(|| check::judge_verify(script, ended, root)) {
        None => (Before::Unknown, Failing::default()),
        Some(Ok(_)) => (Before::Green, Failing::default()),
        Some(Err(failure)) => (Before::Red, failure.failing),
    };
    (ended.exit != Exit::Stopped).then_some((before, failing))
}

impl Effects<'_, '_> {
    /// What is to be done before the work of a task in a place where `here` says which tree lies there.
    pub(crate) fn trial_of(
        &mut self,
        id: &TaskId,
        here: impl FnOnce(&Self) -> Result<Option<String>, GitError>,
    ) -> Result<Trial, RunError> {
        let BeforeWork::Result(known) = self.state.wanted_before(id) else { return Ok(Trial::Needless) };
        let excerpt = self.world.plans.excerpt(self.state, id).filter(|excerpt| !excerpt.is_red());
        let script = excerpt.as_ref().and_then(|excerpt| self.script_of(id, excerpt));
        let script = script.filter(Script::only_checks);
        let is_on = self.world.settings.red_before == RedBefore::On && !self.is_shared();
        let Some(script) = script.filter(|_| is_on) else { return Ok(Trial::Needless) };
        if let Some((tree, before, failing)) = known
            && let Some(here) = here(self)?
            && self.is_same_but_for_plan(tree, &here)
        {
            let evidence = Evidence::Before { before, tree: Some(here), failing: failing.clone() };
            self.see(Seen::Found { task: id.clone(), evidence });
            return Ok(Trial::Known);
        }
        Ok(Trial::Due(script))
    }

    /// True if others may work in the same folder meanwhile.
    pub(crate) fn is_shared(&self) -> bool {
        let parallel = self.state.rules().map(|rules| &rules.parallel);
        parallel.is_some_and(|parallel| parallel.isolation == Isolation::Shared && parallel.jobs > 1)
    }

    /// True if two trees differ in files of the plan at most. One that is gone differs.
    fn is_same_but_for_plan(&self, one: &str, other: &str) -> bool {
        let own = self.plan_files();
        let changed = self.world.files.git().and_then(|git| git.changed_between(one, other).ok());
        changed.is_some_and(|changed| changed.iter().all(|path| own.contains(path)))
    }

    /// A verify command as it is tried in a place.
    pub(crate) fn invocation_before(
        &mut self,
        script: &Script,
        (root, slot): (PathBuf, u32),
    ) -> Option<Invocation> {
        let dir = self.world.file.home.join("before");
        fs::create_dir_all(&dir).ok()?;
        let invocation = self.verification((script, root, slot), &dir);
        let deadline = DEADLINE.min(invocation.limits.deadline);
        let limits = ProcessLimits { deadline, ..invocation.limits };
        Some(Invocation { limits, ..invocation })
    }

    /// True if something about the command of a task that is to work in the project comes first. What it writes there is
    /// there before the work begins.
    pub(crate) fn tries_in_project(&mut self, key: ActionKey, id: &TaskId) -> Result<bool, RunError> {
        let script = match self.trial_of(id, Self::tree_before)? {
            Trial::Needless => return Ok(false),
            Trial::Known => return Ok(true),
            Trial::Due(script) => script,
        };
        let root = self.world.project.root().to_owned();
        let Some(invocation) = self.invocation_before(&script, (root, LANDING)) else { return Ok(false) };
        let tree = self.tree_before()?;
        let handle = process::start(&self.world.runtime, invocation, self.reporter(key.clone()));
        let purpose = Purpose::Before { task: id.clone(), script, tree };
        self.depart(key, Flight { handle: Some(handle), purpose });
        Ok(true)
    }
}

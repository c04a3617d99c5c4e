//! Where the branch goes: everything that could keep it from being pushed is found out here, before anything is.

use engine::Obstacle;

use super::call::Caller;
use super::command::ForgeCommand;
use super::json::{data, text};
use super::remote::{Remote, Slug, remote_of};
use super::setback::{Setback, missing, version_problem};
use crate::git::Git;

/// What can be told of the way without asking anybody.
#[derive(Clone, Debug)]
pub(super) struct Departure {
    pub(super) branch: String,
    pub(super) head: String,
    pub(super) remote: Remote,
    /// The repository that is pushed to.
    pub(super) own: Slug,
    /// The base that the settings name.
    base: Option<String>,
}

/// Where the branch goes.
pub(super) struct Way {
    pub(super) branch: String,
    pub(super) head: String,
    pub(super) remote: Remote,
    /// The repository that is pushed to.
    pub(super) own: Slug,
    /// The repository that the pull request is in.
    pub(super) upstream: Slug,
    pub(super) base: String,
}

impl Departure {
    /// What the work tree tells.
    pub(super) fn of(git: Option<&Git>, base: Option<&str>) -> Result<Self, Setback> {
        let git = git.ok_or(Obstacle::NoRepository)?;
        let branch = git.branch()?.ok_or(Obstacle::Detached)?;
        let head = git.head()?.ok_or(Obstacle::Detached)?.as_str().to_owned();
        let remote = remote_of(git, &branch)?.ok_or(Obstacle::NoRemote)?;
        let no_forge =
            || Obstacle::NotAForge { remote: remote.name.clone(), url: crate::mask::mask(&remote.url) };
        let own = Slug::of_remote(&remote.url).ok_or_else(no_forge)?;
        if base == Some(branch.as_str()) {
            return Err(Obstacle::DefaultBranch { branch }.into());
        }
        if let Some(reason) = missing() {
            return Err(Obstacle::NoProgram { reason }.into());
        }
        Ok(Self { branch, head, remote, own, base: base.map(str::to_owned) })
    }

    /// Whether the branch is the default branch, as far as the remote's last fetch told.
    pub(super) fn refuse_known_default(&self, git: &Git) -> Result<(), Setback> {
        let known = git.default_branch(&self.remote.name)?;
        let is_default = known.as_deref() == Some(self.branch.as_str());
        if is_default { Err(Obstacle::DefaultBranch { branch: self.branch.clone() }.into()) } else { Ok(()) }
    }
}

impl Way {
    /// Asks the forge for the rest.
    pub(super) fn find(caller: &Caller, departure: Departure) -> Result<Self, Setback> {
        check_program(caller)?;
        let Departure { branch, head, remote, own, base } = departure;
        let answer = caller.call(&ForgeCommand::repository(&own));
        let no_such = || Setback::from(Obstacle::NoSuchRepository { repository: own.path() });
        if answer.stderr.to_lowercase().contains("could not resolve to a repository") {
            return Err(no_such());
        }
        let data = data(&answer)?;
        let repository = data.pointer("/repository").filter(|found| found.is_object()).ok_or_else(no_such)?;
        let default = text(repository, "/defaultBranchRef/name");
        let parent = own.sibling(text(repository, "/parent/nameWithOwner"));
        let (upstream, default_base) = match parent {
            Some(parent) => (parent, text(repository, "/parent/defaultBranchRef/name")),
            None => (own.clone(), default),
        };
        let base = base.unwrap_or_else(|| default_base.to_owned());
        if branch == default || branch == base {
            return Err(Obstacle::DefaultBranch { branch }.into());
        }
        if base.is_empty() {
            return Err(Obstacle::NoBase { repository: upstream.path() }.into());
        }
        Ok(Self { branch, head, remote, own, upstream, base })
    }
}

fn check_program(caller: &Caller) -> Result<(), Setback> {
    let said = caller.call(&ForgeCommand::version()).success()?;
    match version_problem(&said) {
        Some(reason) => Err(Obstacle::NoProgram { reason }.into()),
        None => Ok(()),
    }
}

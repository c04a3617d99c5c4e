//! The survey before the first task: whether there can be a pull request at all, and where its branch goes. Who finds
//! out only after hours of work that nobody is logged in has lost the time until somebody noticed.

use std::process::{Command, Stdio};
use std::{fs, thread};

use engine::Obstacle;

use crate::attempt::invocation::{DISPATCH_MARKER, MARKER};
use crate::error::RunError;
use crate::forge::call::{CallContext, Caller, data, text};
use crate::forge::command::ForgeCommand;
use crate::forge::remote::{Remote, Slug, remote_of};
use crate::forge::setback::{Setback, missing, version_problem};
use crate::git::Git;
use crate::inbox::{Inbox, Message};
use crate::project::{PlanFile, Project};
use crate::settings::Settings;

/// The result of the survey.
#[derive(Debug)]
pub(crate) enum Surveyed {
    /// Nothing is in the way.
    Clear,
    /// This is, and waiting does not help.
    Obstructed(Obstacle),
    /// It could not be found out, for this reason.
    Unknown(String),
    /// The run is to stop.
    Interrupted,
}

/// A survey that is to be made.
pub(crate) struct Survey<'a> {
    pub(crate) git: Option<&'a Git>,
    pub(crate) base: Option<&'a str>,
    pub(crate) project: &'a Project,
    pub(crate) file: &'a PlanFile,
    pub(crate) runtime: &'a tokio::runtime::Handle,
}

impl Survey<'_> {
    /// Looks into it, for as long as nobody interrupts.
    pub(crate) fn make(&self, inbox: &Inbox) -> Result<Surveyed, RunError> {
        let local_branch = match LocalBranch::of(self.git, self.base) {
            Ok(local_branch) => local_branch,
            Err(setback) => return Ok(setback.into()),
        };
        let known = local_branch.clone();
        let (caller, stopper) = Caller::new(self.context()?);
        let sender = inbox.sender();
        let started = thread::Builder::new().name("survey".to_owned()).spawn(move || {
            let found = Way::find(&caller.patiently(), local_branch).map(drop);
            // The loop waits for this and for nothing else.
            let _ = sender
                .send(Message::Surveyed(Box::new(found.map_or_else(Surveyed::from, |()| Surveyed::Clear))));
        });
        started.map_err(RunError::io("start a thread for", &self.file.home))?;
        let mut is_interrupted = false;
        loop {
            match inbox.receive(None) {
                Some(Message::Surveyed(_)) | None if is_interrupted => return Ok(Surveyed::Interrupted),
                Some(Message::Surveyed(found)) => return Ok(self.with_what_is_known(*found, &known)),
                Some(Message::Interrupted) => {
                    is_interrupted = true;
                    stopper.stop();
                }
                Some(_) => {}
                None => return Ok(Surveyed::Unknown("the program is ending".to_owned())),
            }
        }
    }

    /// Falls back on what was fetched the last time, where the forge cannot be asked.
    fn with_what_is_known(&self, found: Surveyed, local_branch: &LocalBranch) -> Surveyed {
        match (found, self.git) {
            (Surveyed::Unknown(reason), Some(git)) => match local_branch.refuse_known_default(git) {
                Ok(()) => Surveyed::Unknown(reason),
                Err(setback) => setback.into(),
            },
            (found, _) => found,
        }
    }

    fn context(&self) -> Result<CallContext, RunError> {
        let home = &self.file.home;
        let dir = home.join("forge");
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let env = vec![(MARKER.into(), home.clone().into()), (DISPATCH_MARKER.into(), dir.clone().into())];
        Ok(CallContext { runtime: self.runtime.clone(), root: self.project.root().to_owned(), dir, env })
    }
}

impl From<Setback> for Surveyed {
    fn from(setback: Setback) -> Self {
        match setback {
            Setback::Obstructed(obstacle) => Self::Obstructed(obstacle),
            Setback::Unavailable { reason, .. } => Self::Unknown(reason),
        }
    }
}

/// The obstacle to the pull request, as far as can be told here without asking anybody.
pub fn foresee(project: &Project, settings: &Settings) -> Option<Obstacle> {
    let found = foreseen(project, settings.pull_request.base.as_deref());
    match found {
        Err(Setback::Obstructed(obstacle)) => Some(obstacle),
        Err(Setback::Unavailable { .. }) | Ok(()) => None,
    }
}

fn foreseen(project: &Project, base: Option<&str>) -> Result<(), Setback> {
    let local_branch = LocalBranch::of(project.git(), base)?;
    if let Some(git) = project.git() {
        local_branch.refuse_known_default(git)?;
    }
    if has_login(&local_branch.own.host) {
        return Ok(());
    }
    Err(Obstacle::NoLogin { detail: format!("gh knows no login at {}", local_branch.own.host) }.into())
}

/// True if `gh` has a login. It answers with the token itself, which nobody gets to see.
fn has_login(host: &str) -> bool {
    let mut command = Command::new("gh");
    command.args(["auth", "token", "--hostname", host]).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The part of the way that can be told without asking anybody.
#[derive(Clone, Debug)]
pub(super) struct LocalBranch {
    pub(super) branch: String,
    pub(super) head: String,
    pub(super) remote: Remote,
    /// The repository that is pushed to.
    pub(super) own: Slug,
    /// The base that the settings name.
    base: Option<String>,
}

/// The remote and branch that the branch is pushed to.
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

impl LocalBranch {
    /// Reads it from the work tree.
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

    /// Refuses the default branch, as far as the remote's last fetch told which it is.
    pub(super) fn refuse_known_default(&self, git: &Git) -> Result<(), Setback> {
        let known = git.default_branch(&self.remote.name)?;
        let is_default = known.as_deref() == Some(self.branch.as_str());
        if is_default { Err(Obstacle::DefaultBranch { branch: self.branch.clone() }.into()) } else { Ok(()) }
    }
}

impl Way {
    /// Asks the forge for the rest.
    pub(super) fn find(caller: &Caller, local_branch: LocalBranch) -> Result<Self, Setback> {
        check_program(caller)?;
        let LocalBranch { branch, head, remote, own, base } = local_branch;
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

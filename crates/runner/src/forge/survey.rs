//! Whether there can be a pull request at all, looked into before the first task: who finds out only after hours of
//! work that nobody is logged in has lost the time until somebody noticed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use engine::Obstacle;

use super::call::{Caller, Desk};
use super::setback::Setback;
use super::way::{Departure, Way};
use crate::delegation::{DISPATCH_MARKER, MARKER};
use crate::error::RunError;
use crate::git::Git;
use crate::inbox::{Inbox, Message};
use crate::project::{PlanFile, Project};
use crate::settings::Settings;

/// How long a question may take: the tasks wait for it.
const PATIENCE: Duration = Duration::from_secs(15);

/// What the survey came to.
#[derive(Debug)]
pub(crate) enum Surveyed {
    /// Nothing is in the way.
    Clear,
    /// This is, and waiting does not help.
    Obstructed(Obstacle),
    /// It could not be found out, for this reason.
    Unknown(String),
    /// Somebody wants the run to stop.
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
        let departure = match Departure::of(self.git, self.base) {
            Ok(departure) => departure,
            Err(setback) => return Ok(setback.into()),
        };
        let known = departure.clone();
        let (caller, stopper) = Caller::new(self.desk()?);
        let sender = inbox.sender();
        let started = thread::Builder::new().name("survey".to_owned()).spawn(move || {
            let found = Way::find(&caller.within(PATIENCE), departure).map(drop);
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

    /// Where the forge cannot be asked, what was fetched the last time has to do.
    fn with_what_is_known(&self, found: Surveyed, departure: &Departure) -> Surveyed {
        match (found, self.git) {
            (Surveyed::Unknown(reason), Some(git)) => match departure.refuse_known_default(git) {
                Ok(()) => Surveyed::Unknown(reason),
                Err(setback) => setback.into(),
            },
            (found, _) => found,
        }
    }

    fn desk(&self) -> Result<Desk, RunError> {
        let home = &self.file.home;
        let dir = home.join("forge");
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let env = vec![(MARKER.into(), home.clone().into()), (DISPATCH_MARKER.into(), dir.clone().into())];
        Ok(Desk { runtime: self.runtime.clone(), root: self.project.root().to_owned(), dir, env })
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

/// What would keep the pull request from being made, as far as can be told here without asking anybody.
pub fn foresee(project: &Project, settings: &Settings) -> Option<Obstacle> {
    let found = foreseen(project, settings.pull_request.base.as_deref());
    match found {
        Err(Setback::Obstructed(obstacle)) => Some(obstacle),
        Err(Setback::Unavailable { .. }) | Ok(()) => None,
    }
}

fn foreseen(project: &Project, base: Option<&str>) -> Result<(), Setback> {
    let departure = Departure::of(project.git(), base)?;
    if let Some(git) = project.git() {
        departure.refuse_known_default(git)?;
    }
    if has_login(project.root(), &departure.own.host) {
        return Ok(());
    }
    Err(Obstacle::NoLogin { detail: format!("gh knows no login at {}", departure.own.host) }.into())
}

/// Whether `gh` has a login. It answers with the token itself, which nobody gets to see.
fn has_login(root: &Path, host: &str) -> bool {
    let mut command = Command::new("gh");
    command.args(["auth", "token", "--hostname", host]).current_dir(root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

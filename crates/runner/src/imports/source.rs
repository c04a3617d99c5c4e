//! A source as it is reached: a file of the project, the program `bd`, or GitHub through `gh`.

use std::path::{Path, PathBuf};

use plan::import::{Address, Imported, Listing, Tracker, issue_number};

use crate::agent::find_program;
use crate::atomic;
use crate::forge::{Caller, ForgeCommand, close_issue, issues};
use crate::git::Git;
use crate::project::Project;

/// The folder of beads, and the program that keeps it.
const BEADS: &str = ".beads";
const BD: &str = "bd";

/// A source.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) imported: Imported,
    pub(crate) way: Way,
    git: Option<Git>,
}

/// How a source is reached.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// By its file.
    File(PathBuf),
    /// By `bd`, and where it fails to tell what there is, by its file.
    Bd(PathBuf),
    /// By `gh`.
    GitHub,
}

/// What a source lists, and the text that says so.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) tracker: Tracker,
    pub(crate) text: String,
    pub(crate) listing: Listing,
    /// The reason why its own program was not what told it.
    pub(crate) trouble: Option<String>,
}

impl Source {
    /// The source of a plan.
    pub(crate) fn of(project: &Project, imported: Imported) -> Self {
        let way = match &imported.address {
            Address::Label(_) | Address::Milestone(_) => Way::GitHub,
            Address::File(path) => {
                let path = project.root().join(path);
                let is_kept = path.parent().is_some_and(|folder| folder.ends_with(BEADS));
                if is_kept && find_program(BD, project.root()).is_some() {
                    Way::Bd(path)
                } else {
                    Way::File(path)
                }
            }
        };
        Self { imported, way, git: project.git().cloned() }
    }

    /// The path of its file, if it is edited there.
    pub(crate) fn file(&self) -> Option<&Path> {
        match &self.way {
            Way::File(path) => Some(path),
            Way::Bd(_) | Way::GitHub => None,
        }
    }

    /// Reads it. The error is for people.
    pub(crate) fn read(&self, caller: &Caller) -> Result<Read, String> {
        match &self.way {
            Way::File(path) => self.understood(read_file(path)?, None),
            Way::Bd(path) => match exported(caller) {
                Ok(text) if !text.trim().is_empty() => self.understood(text, None),
                Ok(_) => self.understood(read_file(path)?, None),
                Err(reason) => self.understood(read_file(path)?, Some(reason)),
            },
            Way::GitHub => self.understood(issues(caller, self.git.as_ref(), &self.imported.address)?, None),
        }
    }

    /// What a text of it lists.
    pub(crate) fn understood(&self, text: String, trouble: Option<String>) -> Result<Read, String> {
        let tracker = self.imported.address.tracker(&text);
        let listing = tracker.read(&text).map_err(|error| error.to_string())?;
        Ok(Read { tracker, text, listing, trouble })
    }

    /// True if what is listed is what the plan was made of: a `prd.json` may be about something else by now.
    pub(crate) fn is_about_the_same(&self, listing: &Listing) -> bool {
        match (&self.imported.branch, &listing.branch) {
            (Some(then), Some(now)) => then == now,
            (_, _) => true,
        }
    }

    /// Says that a task is done, and why it counts as that, by the program of the source.
    pub(crate) fn close(&self, caller: &Caller, id: &str, reason: &str) -> Result<(), String> {
        match &self.way {
            Way::File(_) => Ok(()),
            Way::Bd(_) => {
                let argv = [BD, "close", id, "--reason", reason];
                caller.call(&ForgeCommand::of_tracker("bd", &argv)).told().map(drop)
            }
            Way::GitHub => {
                let number = issue_number(id).ok_or_else(|| format!("{id} is no issue"))?;
                close_issue(caller, self.git.as_ref(), number)
            }
        }
    }
}

/// What `bd` itself says there is.
fn exported(caller: &Caller) -> Result<String, String> {
    caller.call(&ForgeCommand::of_tracker("bd", &[BD, "export"])).told()
}

pub(crate) fn read_file(path: &Path) -> Result<String, String> {
    let bytes = atomic::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

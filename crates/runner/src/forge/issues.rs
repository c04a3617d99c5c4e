//! Issues of the forge: those with a label or of a milestone, and one that is closed.

use plan::import::Address;
use serde_json::Value;

use crate::forge::call::{Answer, Caller, data, document, documents, list, number, text};
use crate::forge::command::ForgeCommand;
use crate::forge::remote::{Slug, remote_of};
use crate::forge::setback::{in_words, missing};
use crate::git::Git;

impl Answer {
    /// The standard output of a command that succeeded; else what it said, for people.
    pub(crate) fn told(self) -> Result<String, String> {
        self.success().map_err(in_words)
    }
}

/// The issues of an address, as a list of objects. The error is for people.
pub(crate) fn issues(caller: &Caller, git: Option<&Git>, address: &Address) -> Result<String, String> {
    let slug = repository(caller, git)?;
    let command = match address {
        Address::File(path) => return Err(format!("{path} names no issues")),
        Address::Label(label) => ForgeCommand::issues_with_label(&slug, label),
        Address::Milestone(title) => {
            ForgeCommand::issues_of_milestone(&slug, milestone(caller, &slug, title)?)
        }
    };
    let pages = documents(&caller.call(&command)).map_err(in_words)?;
    let nodes = pages.iter().flat_map(|page| list(page, "/data/repository/issues/nodes")).cloned().collect();
    Ok(Value::Array(nodes).to_string())
}

/// Closes an issue. One that is closed stays so.
pub(crate) fn close_issue(caller: &Caller, git: Option<&Git>, number: u64) -> Result<(), String> {
    let slug = repository(caller, git)?;
    caller.call(&ForgeCommand::close_issue(&slug, number)).told().map(drop)
}

/// The number of the milestone with a title.
fn milestone(caller: &Caller, slug: &Slug, title: &str) -> Result<u64, String> {
    let answer = data(&caller.call(&ForgeCommand::milestones(slug, title))).map_err(in_words)?;
    let found =
        list(&answer, "/repository/milestones/nodes").iter().find(|node| text(node, "/title") == title);
    found
        .and_then(|node| number(node, "/number"))
        .ok_or_else(|| format!("{} has no milestone {title}", slug.path()))
}

/// The repository whose issues are meant: that of the remote, or what it is a fork of.
fn repository(caller: &Caller, git: Option<&Git>) -> Result<Slug, String> {
    if let Some(reason) = missing() {
        return Err(reason);
    }
    let git =
        git.ok_or("there is no git repository here, and so no remote that tells whose issues are meant")?;
    let branch = git.branch().map_err(|error| error.told())?.unwrap_or_default();
    let remote = remote_of(git, &branch).map_err(|error| error.told())?;
    let own = remote.as_ref().and_then(|remote| Slug::of_remote(&remote.url));
    let own = own.ok_or("no remote of the repository is at GitHub")?;
    let answer = document(&caller.call(&ForgeCommand::repository(&own))).map_err(in_words)?;
    let parent = own.sibling(text(&answer, "/data/repository/parent/nameWithOwner"));
    Ok(parent.unwrap_or(own))
}

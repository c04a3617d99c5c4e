//! Takes in commits of the other side: what somebody pushed to the branch, or what its base has got meanwhile.

use engine::{ForgeReport, Obstacle, Source};

use super::call::Caller;
use super::command::ForgeCommand;
use super::remote::{Slug, remote_of};
use super::setback::Setback;
use crate::git::{Git, Joined};
use crate::mask::mask;

/// What is to be taken in.
pub(super) struct Integration {
    pub(super) git: Option<Git>,
    pub(super) source: Source,
    /// The base, once it is known.
    pub(super) base: Option<String>,
    /// The repository that the pull request is in, once it is known.
    pub(super) upstream: Option<Slug>,
    /// The commit that was pushed last.
    pub(super) pushed: Option<String>,
}

impl Integration {
    /// Fetches and merges. Commits of ours that somebody took out of the branch are not put back, and a conflict
    /// leaves everything as it was.
    pub(super) fn integrate(&self, caller: &Caller) -> Result<ForgeReport, Setback> {
        let git = self.git.as_ref().ok_or(Obstacle::NoRepository)?;
        let branch = git.branch()?.ok_or(Obstacle::Detached)?;
        let remote = remote_of(git, &branch)?.ok_or(Obstacle::NoRemote)?;
        let (from, name) = match (self.source, &self.base) {
            (Source::Base, Some(base)) => (self.base_address(&remote.name, &remote.url), base.clone()),
            (Source::Base, None) | (Source::Branch, _) => (remote.name.clone(), branch.clone()),
        };
        caller.call(&ForgeCommand::fetch(&from, &name)).success()?;
        if self.source == Source::Branch {
            self.refuse_rewritten(git, &branch)?;
        }
        match git.join("FETCH_HEAD")? {
            Joined::Done => Ok(ForgeReport::Integrated),
            Joined::Conflict => Err(Obstacle::Conflict { with: name, from: mask(&from) }.into()),
        }
    }

    /// The base of a fork is in another repository than the branch.
    fn base_address(&self, remote: &str, url: &str) -> String {
        let own = Slug::of_remote(url);
        match (&self.upstream, own) {
            (Some(upstream), Some(own)) if *upstream != own => {
                // Whoever may push by one protocol may fetch by it.
                let (ours, theirs) = (own.path(), upstream.path());
                url.replacen(&ours, &theirs, 1)
            }
            (_, _) => remote.to_owned(),
        }
    }

    fn refuse_rewritten(&self, git: &Git, branch: &str) -> Result<(), Setback> {
        let is_whole = match &self.pushed {
            Some(pushed) => git.is_ancestor(pushed, "FETCH_HEAD")?,
            // What was pushed from elsewhere may only be ahead of what is here.
            None => git.is_ancestor("HEAD", "FETCH_HEAD")?,
        };
        if is_whole { Ok(()) } else { Err(Obstacle::Rewritten { branch: branch.to_owned() }.into()) }
    }
}

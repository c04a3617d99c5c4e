//! Pushes the branch, and finds or creates its pull request.

use engine::{ForgeReport, Obstacle, Published};
use serde_json::Value;

use super::call::{Answer, Caller};
use super::command::ForgeCommand;
use super::json::{documents, list, number, text};
use super::proposal::Proposal;
use super::remote::{Remote, Slug, remote_of};
use super::setback::{Setback, detail, version_problem};
use crate::git::Git;

/// All that publishing needs to know.
pub(super) struct Publication {
    pub(super) git: Option<Git>,
    pub(super) proposal: Proposal,
    pub(super) series: String,
    /// The pull request that is known already.
    pub(super) number: Option<u64>,
}

/// Where the branch goes.
struct Way {
    branch: String,
    head: String,
    remote: Remote,
    /// The repository that is pushed to.
    own: Slug,
    /// The repository that the pull request is in.
    upstream: Slug,
    base: String,
}

impl Publication {
    /// Does it.
    pub(super) fn publish(&self, caller: &Caller) -> Result<ForgeReport, Setback> {
        let way = self.way(caller)?;
        let known = self.known(caller, &way)?;
        if let Some(report) = self.settled(&way, &known) {
            return report;
        }
        if let Some(report) = push(caller, &way)? {
            return Ok(report);
        }
        let open = known.iter().find(|pull| text(pull, "/state") == "OPEN");
        match open {
            Some(pull) => Ok(self.published(&way, pull)),
            None => self.create(caller, &way),
        }
    }

    /// Finds out everything that could keep the branch from being pushed, before anything is.
    fn way(&self, caller: &Caller) -> Result<Way, Setback> {
        let git = self.git.as_ref().ok_or(Obstacle::NoRepository)?;
        let branch = git.branch()?.ok_or(Obstacle::Detached)?;
        let head = git.head()?.ok_or(Obstacle::Detached)?.as_str().to_owned();
        let remote = remote_of(git, &branch)?.ok_or(Obstacle::NoRemote)?;
        let no_forge =
            || Obstacle::NotAForge { remote: remote.name.clone(), url: crate::mask::mask(&remote.url) };
        let own = Slug::of_remote(&remote.url).ok_or_else(no_forge)?;
        check_program(caller)?;
        let answer = caller.call(&ForgeCommand::repository(&own)).success()?;
        let answer = documents(&answer).into_iter().next().unwrap_or_default();
        let repository = answer.pointer("/data/repository").cloned().unwrap_or_default();
        let default = text(&repository, "/defaultBranchRef/name").to_owned();
        let parent = own.sibling(text(&repository, "/parent/nameWithOwner"));
        let parent_default = text(&repository, "/parent/defaultBranchRef/name").to_owned();
        let (upstream, default_base) = match parent {
            Some(parent) => (parent, parent_default),
            None => (own.clone(), default.clone()),
        };
        let base = self.proposal.base.clone().unwrap_or(default_base);
        if branch == default || branch == base || base.is_empty() {
            return Err(Obstacle::DefaultBranch { branch }.into());
        }
        Ok(Way { branch, head, remote, own, upstream, base })
    }

    /// The pull requests of the branch, the latest first.
    fn known(&self, caller: &Caller, way: &Way) -> Result<Vec<Value>, Setback> {
        let answer = caller.call(&ForgeCommand::of_branch(&way.upstream, &way.branch)).success()?;
        let answer = documents(&answer).into_iter().next().unwrap_or_default();
        let pulls = list(&answer, "/data/repository/pullRequests/nodes");
        let is_ours =
            |pull: &&Value| text(pull, "/headRepositoryOwner/login").eq_ignore_ascii_case(&way.own.owner);
        Ok(pulls.iter().filter(is_ours).cloned().collect())
    }

    /// A pull request that was merged or closed decides, if it is the one that was watched or has this very commit.
    fn settled(&self, way: &Way, known: &[Value]) -> Option<Result<ForgeReport, Setback>> {
        if known.iter().any(|pull| text(pull, "/state") == "OPEN") {
            return None;
        }
        let is_meant = |pull: &&Value| {
            let is_watched = self.number.is_some() && number(pull, "/number") == self.number;
            is_watched || text(pull, "/headRefOid") == way.head
        };
        let pull = known.iter().find(is_meant)?;
        let url = text(pull, "/url").to_owned();
        let number = number(pull, "/number").unwrap_or_default();
        let has_all = text(pull, "/headRefOid") == way.head;
        Some(match (text(pull, "/state"), has_all) {
            ("MERGED", true) => Ok(ForgeReport::AlreadyMerged { number, url }),
            ("MERGED", false) => Err(Obstacle::MergedWithout { number, url }.into()),
            (_, _) => Err(Obstacle::Closed { number, url }.into()),
        })
    }

    fn create(&self, caller: &Caller, way: &Way) -> Result<ForgeReport, Setback> {
        let head = if way.own == way.upstream {
            way.branch.clone()
        } else {
            format!("{}:{}", way.own.owner, way.branch)
        };
        let command = ForgeCommand::create(&way.upstream, &head, &way.base, &self.proposal);
        let answer = caller.call(&command);
        if !answer.is_success() {
            return self.after_refusal(caller, way, &answer);
        }
        let url = answer.stdout.split_whitespace().rev().find(|word| word.contains("/pull/"));
        let number = url.and_then(|url| url.rsplit('/').next()?.parse().ok());
        let (Some(url), Some(number)) = (url, number) else {
            let detail = detail(&answer.stdout, "");
            return Err(Obstacle::Refused { command: answer.command.clone(), detail }.into());
        };
        Ok(ForgeReport::Published(self.at(way, number, url.to_owned(), way.base.clone())))
    }

    /// The forge may have created it though the answer did not arrive, or somebody else did meanwhile.
    fn after_refusal(&self, caller: &Caller, way: &Way, answer: &Answer) -> Result<ForgeReport, Setback> {
        let lower = answer.stderr.to_lowercase();
        if lower.contains("no commits between") {
            let (branch, base) = (way.branch.clone(), way.base.clone());
            return Err(Obstacle::NothingToPropose { branch, base }.into());
        }
        let known = self.known(caller, way)?;
        match known.iter().find(|pull| text(pull, "/state") == "OPEN") {
            Some(pull) => Ok(self.published(way, pull)),
            None => Err(Setback::of(answer)),
        }
    }

    fn published(&self, way: &Way, pull: &Value) -> ForgeReport {
        let base = text(pull, "/baseRefName").to_owned();
        let number = number(pull, "/number").unwrap_or_default();
        ForgeReport::Published(self.at(way, number, text(pull, "/url").to_owned(), base))
    }

    fn at(&self, way: &Way, number: u64, url: String, base: String) -> Published {
        Published {
            number,
            url,
            branch: way.branch.clone(),
            base,
            head: way.head.clone(),
            series: self.series.clone(),
        }
    }
}

fn check_program(caller: &Caller) -> Result<(), Setback> {
    if let Some(reason) = super::setback::missing() {
        return Err(Obstacle::NoProgram { reason }.into());
    }
    let said = caller.call(&ForgeCommand::version()).success()?;
    match version_problem(&said) {
        Some(reason) => Err(Obstacle::NoProgram { reason }.into()),
        None => Ok(()),
    }
}

/// Pushes; says so if the other side has commits that are not here.
fn push(caller: &Caller, way: &Way) -> Result<Option<ForgeReport>, Setback> {
    let answer = caller.call(&ForgeCommand::push(&way.remote.name, &way.branch));
    if answer.is_success() {
        return Ok(None);
    }
    let lower = answer.stderr.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["non-fast-forward", "(fetch first)"]) {
        return Ok(Some(ForgeReport::Moved));
    }
    let is_refused = says(&["protected branch", "gh006", "gh013", "repository rule", "hook declined"]);
    if is_refused {
        let detail = detail(&answer.stderr, "");
        return Err(Obstacle::Protected { branch: way.branch.clone(), detail }.into());
    }
    Err(Setback::of(&answer))
}

//! Pushes the branch, and finds or creates its pull request.

use engine::{ForgeReport, Obstacle, Published};
use serde_json::Value;

use crate::forge::call::{Answer, Caller, data, document, number, text};
use crate::forge::command::ForgeCommand;
use crate::forge::proposal::{Proposal, renewed};
use crate::forge::setback::{Setback, detail, said};
use crate::forge::survey::{LocalBranch, Way};
use crate::git::Git;

/// All that publishing needs to know.
pub(super) struct Publication {
    pub(super) git: Option<Git>,
    pub(super) proposal: Proposal,
    pub(super) series: String,
    /// The pull request that is known already.
    pub(super) number: Option<u64>,
    /// The commit that was pushed last.
    pub(super) pushed: Option<String>,
}

impl Publication {
    /// Does it.
    pub(super) fn publish(&self, caller: &Caller) -> Result<ForgeReport, Setback> {
        let base = self.proposal.base.as_deref();
        let way = Way::find(caller, LocalBranch::of(self.git.as_ref(), base)?)?;
        let known = self.known(caller, &way)?;
        if let Some(report) = self.settled(&way, &known) {
            return report;
        }
        self.refuse_taken_back(caller, &way)?;
        if let Some(report) = push(caller, &way)? {
            return Ok(report);
        }
        let open = known.iter().find(|pull| text(pull, "/state") == "OPEN");
        match open {
            Some(pull) => {
                let warnings = self.describe(caller, &way, pull)?;
                Ok(self.published(&way, pull, warnings))
            }
            None => self.create(caller, &way),
        }
    }

    /// Commits that somebody took out of the branch are not put back: a push would, without a word, where nothing
    /// came in their place.
    fn refuse_taken_back(&self, caller: &Caller, way: &Way) -> Result<(), Setback> {
        let (Some(git), Some(pushed)) = (&self.git, &self.pushed) else { return Ok(()) };
        let answer = caller.call(&ForgeCommand::tip(&way.remote.name, &way.branch)).success()?;
        let Some(tip) = answer.split_whitespace().next().filter(|tip| tip != pushed) else { return Ok(()) };
        if git.is_ancestor(tip, pushed)? && git.is_ancestor(pushed, &way.head)? {
            return Err(Obstacle::Rewritten { branch: way.branch.clone() }.into());
        }
        Ok(())
    }

    /// The host of the forge.
    pub(super) fn host(&self) -> Option<String> {
        let local_branch = LocalBranch::of(self.git.as_ref(), self.proposal.base.as_deref()).ok()?;
        Some(local_branch.own.host)
    }

    /// Brings what the pull request says of itself up to date, as far as that is the program's.
    fn describe(&self, caller: &Caller, way: &Way, pull: &Value) -> Result<Vec<String>, Setback> {
        let number = number(pull, "/number").unwrap_or_default();
        let Some(body) = renewed(text(pull, "/body"), &self.proposal.body) else {
            return Ok(Vec::new());
        };
        match document(&caller.call(&ForgeCommand::describe(&way.upstream, number, &body))) {
            Ok(_) => Ok(Vec::new()),
            Err(away @ Setback::Unavailable { .. }) => Err(away),
            Err(Setback::Obstructed(obstacle)) => {
                Ok(vec![format!("its description could not be brought up to date: {}", said(obstacle))])
            }
        }
    }

    /// The pull requests of the branch, the latest first.
    fn known(&self, caller: &Caller, way: &Way) -> Result<Vec<Value>, Setback> {
        let answer = caller.call(&ForgeCommand::of_branch(&way.upstream, &way.branch));
        let data = data(&answer)?;
        let pulls = data.pointer("/repository/pullRequests/nodes").and_then(Value::as_array);
        let pulls = pulls.ok_or_else(|| Setback::nonsense(&answer))?;
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
            return self.after_refusal(caller, way, &answer);
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
            Some(pull) => Ok(self.published(way, pull, Vec::new())),
            None if answer.is_success() => Err(Setback::nonsense(answer)),
            None => Err(Setback::of(answer)),
        }
    }

    fn published(&self, way: &Way, pull: &Value, warnings: Vec<String>) -> ForgeReport {
        let base = text(pull, "/baseRefName").to_owned();
        let number = number(pull, "/number").unwrap_or_default();
        let published = self.at(way, number, text(pull, "/url").to_owned(), base);
        ForgeReport::Published(Published { warnings, ..published })
    }

    fn at(&self, way: &Way, number: u64, url: String, base: String) -> Published {
        Published {
            number,
            url,
            branch: way.branch.clone(),
            base,
            head: way.head.clone(),
            series: self.series.clone(),
            warnings: Vec::new(),
        }
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

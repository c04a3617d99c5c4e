//! The jobs at the forge, each with everything that it needs, so that it can be done apart from the loop: running
//! checks again, asking for a review, answering threads, taking in commits of the other side, merging.

use std::collections::BTreeSet;

use engine::{CheckRef, ForgeReport, MergeMethod, Obstacle, Openness, Reviewer, Source, Toggle};
use plan::TaskId;
use serde_json::Value;

use crate::forge::call::{Caller, data, document, list, number, text};
use crate::forge::command::ForgeCommand;
use crate::forge::publish::Publication;
use crate::forge::remote::{Slug, remote_of};
use crate::forge::setback::{Setback, detail, said};
use crate::forge::{logs, look, setback};
use crate::git::{Git, Joined};
use crate::mask::mask;

/// Something to do at the forge.
pub(super) enum Job {
    Publish(Publication),
    Look { slug: Slug, number: u64 },
    Rerun { slug: Slug, checks: Vec<CheckRef> },
    ReadLogs { slug: Slug, checks: Vec<CheckRef> },
    Reply { slug: Slug, replies: Vec<Reply>, answers: Toggle, resolves: Toggle },
    RequestReview { slug: Slug, number: u64, reviewers: Vec<Reviewer> },
    Integrate(Integration),
    Merge(Merge),
}

impl Job {
    /// Does it.
    pub(super) fn run(&self, caller: &Caller) -> ForgeReport {
        let done = self.try_run(caller);
        done.map_err(|setback| setback::with_reset(setback, caller, self.host().as_deref()))
            .unwrap_or_else(ForgeReport::from)
    }

    /// The host at which it is done.
    fn host(&self) -> Option<String> {
        match self {
            Self::Publish(publication) => publication.host(),
            Self::Integrate(integration) => integration.upstream.as_ref().map(|slug| slug.host.clone()),
            Self::Look { slug, .. }
            | Self::Rerun { slug, .. }
            | Self::ReadLogs { slug, .. }
            | Self::Reply { slug, .. }
            | Self::RequestReview { slug, .. }
            | Self::Merge(Merge { slug, .. }) => Some(slug.host.clone()),
        }
    }

    fn try_run(&self, caller: &Caller) -> Result<ForgeReport, Setback> {
        match self {
            Self::Publish(publication) => publication.publish(caller),
            Self::Look { slug, number } => look::look(caller, slug, *number),
            Self::Rerun { slug, checks } => rerun(caller, slug, checks),
            Self::ReadLogs { slug, checks } => logs::read_logs(caller, slug, checks),
            Self::Reply { slug, replies, answers, resolves } => {
                reply(caller, slug, replies, (*answers, *resolves))
            }
            Self::RequestReview { slug, number, reviewers } => {
                request_review(caller, slug, *number, reviewers)
            }
            Self::Integrate(integration) => integration.integrate(caller),
            Self::Merge(merge) => merge.merge(caller),
        }
    }
}

/// Starts the failed jobs of every workflow run concerned, unless somebody did already.
pub(super) fn rerun(caller: &Caller, slug: &Slug, checks: &[CheckRef]) -> Result<ForgeReport, Setback> {
    let runs: BTreeSet<u64> = checks.iter().filter_map(|check| check.run).collect();
    let mut refused = Vec::new();
    for run in runs {
        let state = document(&caller.call(&ForgeCommand::run_state(slug, run)))?;
        let is_under_way = text(&state, "/status") != "completed";
        let attempts = number(&state, "/run_attempt").unwrap_or(1);
        if is_under_way || attempts > 1 {
            continue;
        }
        let answer = caller.call(&ForgeCommand::rerun(slug, run));
        if answer.is_success() {
            continue;
        }
        // A run that is too old, or not ours to start, is believed as it is; a forge that is away is waited for.
        if let away @ Setback::Unavailable { .. } = Setback::of(&answer) {
            return Err(away);
        }
        let of_run = checks.iter().filter(|check| check.run == Some(run));
        refused.extend(of_run.map(|check| check.label.clone()));
    }
    Ok(ForgeReport::Rerun { refused })
}

/// Asks each of them who is not asked already. Somebody who cannot be asked is no reason to stop.
pub(super) fn request_review(
    caller: &Caller,
    slug: &Slug,
    number: u64,
    reviewers: &[Reviewer],
) -> Result<ForgeReport, Setback> {
    let asked = document(&caller.call(&ForgeCommand::requested(slug, number)))?;
    let is_asked = |login: &str| list(&asked, "/users").iter().any(|user| text(user, "/login") == login);
    let mut failed = Vec::new();
    for login in reviewers.iter().map(|reviewer| &reviewer.login).filter(|login| !is_asked(login)) {
        match document(&caller.call(&ForgeCommand::request_review(slug, number, login))) {
            Ok(_) => {}
            Err(away @ Setback::Unavailable { .. }) => return Err(away),
            Err(Setback::Obstructed(obstacle)) => {
                failed.push(format!(
                    "{login} could not be asked to look again: {}",
                    crate::forge::setback::said(obstacle)
                ));
            }
        }
    }
    Ok(ForgeReport::ReviewRequested { failed })
}

/// A pull request that is to be merged.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    pub(super) slug: Slug,
    pub(super) number: u64,
    pub(super) url: String,
    pub(super) head: String,
    pub(super) method: MergeMethod,
}

impl Merge {
    /// Merges it, if it is still at the commit that was found to be ready and nobody else did.
    pub(super) fn merge(&self, caller: &Caller) -> Result<ForgeReport, Setback> {
        if self.is_merged(caller)? {
            return Ok(ForgeReport::Merged);
        }
        let answer = caller.call(&ForgeCommand::merge(&self.slug, self.number, self.method, &self.head));
        if answer.is_success() {
            // Where there is a queue, the command succeeds as soon as the pull request stands in it.
            let is_merged = self.is_merged(caller)?;
            return Ok(if is_merged { ForgeReport::Merged } else { ForgeReport::MergeQueued });
        }
        match Setback::of(&answer) {
            away @ Setback::Unavailable { .. } => Err(away),
            Setback::Obstructed(Obstacle::Refused { .. }) => {
                let detail = detail(&answer.stderr, &answer.stdout);
                Err(Obstacle::NotMerged { url: self.url.clone(), detail }.into())
            }
            obstructed @ Setback::Obstructed(_) => Err(obstructed),
        }
    }

    fn is_merged(&self, caller: &Caller) -> Result<bool, Setback> {
        let report = crate::forge::look::look(caller, &self.slug, self.number)?;
        Ok(matches!(report, ForgeReport::Looked(look) if look.openness == Openness::Merged))
    }
}

/// The commits that are to be merged in.
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

/// By this an answer of ours is known; the forge's pages do not show it.
const MARK: &str = "<!-- tillgreen";

/// An answer that is to be given.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) task: TaskId,
    pub(super) thread: String,
    pub(super) title: String,
    pub(super) commit: String,
}

/// True if a comment is an answer of ours: it has the mark, and nobody else wrote it.
pub(super) fn is_ours(body: &str, author: &str, viewer: &str) -> bool {
    body.contains(MARK) && author == viewer
}

impl Reply {
    fn mark(&self) -> String {
        format!("{MARK} {} -->", self.task.to_string().replace("--", "-"))
    }

    fn body(&self) -> String {
        let commit = self.commit.get(..7).unwrap_or(&self.commit);
        format!(
            "Addressed in {commit} (task {}: {}).\n\n{}",
            self.task,
            plan::one_line(&self.title),
            self.mark()
        )
    }

    fn is_given(&self, thread: &Value) -> bool {
        let viewer = text(thread, "/viewer/login");
        let mark = self.mark();
        list(thread, "/node/comments/nodes").iter().any(|comment| {
            let body = text(comment, "/body");
            is_ours(body, text(comment, "/author/login"), viewer) && body.contains(&mark)
        })
    }
}

/// Answers, and calls resolved, what was asked for. A thread that is gone is no reason to stop.
pub(super) fn reply(
    caller: &Caller,
    slug: &Slug,
    replies: &[Reply],
    (answers, resolves): (Toggle, Toggle),
) -> Result<ForgeReport, Setback> {
    let mut failed = Vec::new();
    for reply in replies {
        let done = one(caller, slug, reply, (answers, resolves));
        match done {
            Ok(()) => {}
            Err(away @ Setback::Unavailable { .. }) => return Err(away),
            Err(Setback::Obstructed(obstacle)) => {
                let why = format!("the thread could not be answered: {}", said(obstacle));
                failed.push((reply.task.clone(), why));
            }
        }
    }
    Ok(ForgeReport::Replied { failed })
}

fn one(
    caller: &Caller,
    slug: &Slug,
    reply: &Reply,
    (answers, resolves): (Toggle, Toggle),
) -> Result<(), Setback> {
    let thread = data(&caller.call(&ForgeCommand::thread(slug, &reply.thread)))?;
    if answers.is_on() && !reply.is_given(&thread) {
        data(&caller.call(&ForgeCommand::answer(slug, &reply.thread, &reply.body())))?;
    }
    let is_resolved = thread.pointer("/node/isResolved").and_then(Value::as_bool).unwrap_or_default();
    if resolves.is_on() && !is_resolved {
        data(&caller.call(&ForgeCommand::resolve(slug, &reply.thread)))?;
    }
    Ok(())
}

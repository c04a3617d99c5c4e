//! The pull request in the words that people see: what happens to it, what is waited for, and what is in the way.

use engine::{
    Awaited, Caveat, Lifecycle, LimitReached, Obstacle, Origin, Outcome, PullRequestEvent, Request, Reviewer,
    Source, Stage, State, Toggle,
};
use jiff::Timestamp;
use serde::Serialize;

use super::subject::Subject;
use super::text::{between, count, moment, one_line, took};
use crate::error::{Error, Kind};

/// Characters of what others say.
const TEXT_CHARS_MAX: usize = 300;

/// Where the pull request stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PullRequestStanding {
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// The step that is being done or waited for.
    doing: String,
    /// The thing that is waited for, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    awaited: Option<Awaited>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// When it is looked at next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_look: Option<Timestamp>,
    cycles: u32,
    ci_fixes: u32,
}

impl PullRequestStanding {
    /// Where it stands; nothing before it began. Once the run is over nothing is done or waited for any more.
    pub(crate) fn of(state: &State) -> Option<Self> {
        let lifecycle = state.pull_request();
        let place = lifecycle.place();
        if place.is_none() && lifecycle.began_at().is_none() && *lifecycle.stage() == Stage::Resting {
            return None;
        }
        let is_over = state.end().is_some();
        let watch = if let Stage::Watching(watch) = lifecycle.stage() { Some(watch) } else { None };
        let watch = watch.filter(|_| !is_over);
        let absence = lifecycle.absence().filter(|_| !is_over);
        Some(Self {
            number: place.map(|place| place.number),
            url: place.map(|place| place.url.clone()),
            branch: place.map(|place| place.branch.clone()),
            head: place.map(|place| place.head.clone()),
            doing: if is_over { left(lifecycle) } else { doing(lifecycle) },
            awaited: watch.and_then(|watch| watch.awaited.clone()),
            since: absence.map(|absence| absence.since).or(watch.map(|watch| watch.since)),
            next_look: absence.map(|absence| absence.until).or(watch.map(|watch| watch.until)),
            cycles: lifecycle.cycles(),
            ci_fixes: lifecycle.ci_rounds(),
        })
    }

    /// For people.
    pub(crate) fn render(&self, now: Timestamp) -> String {
        let number = self.number.map(|number| format!("#{number}: ")).unwrap_or_default();
        let since =
            self.since.map(|since| format!(", for {}", took(between(since, now)))).unwrap_or_default();
        format!("{number}{}{since}", one_line(&self.doing, TEXT_CHARS_MAX))
    }

    /// Where it is.
    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }
}

/// The step that is being done or waited for.
pub(crate) fn doing(lifecycle: &Lifecycle) -> String {
    if let Some(absence) = lifecycle.absence() {
        return format!("the forge is away ({}), next try at {}", absence.reason, moment(absence.until));
    }
    match lifecycle.stage() {
        Stage::Resting => "its tasks are being worked on".to_owned(),
        Stage::Publishing => "being pushed".to_owned(),
        Stage::Watching(watch) => match &watch.awaited {
            Some(awaited) => format!("waiting for {}", awaited.text()),
            None => "being looked at".to_owned(),
        },
        Stage::Rerunning(checks) => format!("{} being run again", count(checks.len(), "red check")),
        Stage::Reading(_) => "logs of red checks are being read".to_owned(),
        Stage::Writing(_) => "tasks are being written".to_owned(),
        Stage::Replying(_) => "threads are being answered".to_owned(),
        Stage::Requesting(reviewers) => format!("{} being asked to look again", logins(reviewers)),
        Stage::Integrating(_) => "commits of the other side are being taken in".to_owned(),
        Stage::Merging => "being merged".to_owned(),
        Stage::Satisfied(outcome) => outcome_text(outcome),
    }
}

/// Where it was left by a run that is over.
fn left(lifecycle: &Lifecycle) -> String {
    match lifecycle.stage() {
        Stage::Satisfied(outcome) => outcome_text(outcome),
        Stage::Watching(watch) => match &watch.awaited {
            Some(awaited) => format!("was waiting for {}", awaited.text()),
            None => "was pushed and not looked at yet".to_owned(),
        },
        Stage::Merging => "was about to be merged".to_owned(),
        Stage::Resting
        | Stage::Publishing
        | Stage::Rerunning(_)
        | Stage::Reading(_)
        | Stage::Writing(_)
        | Stage::Replying(_)
        | Stage::Requesting(_)
        | Stage::Integrating(_) => match lifecycle.place() {
            Some(_) => "not ready yet".to_owned(),
            None => "not created yet".to_owned(),
        },
    }
}

/// Since when it is waited for what is waited for.
pub(crate) fn since(lifecycle: &Lifecycle) -> Option<Timestamp> {
    let of_absence = lifecycle.absence().map(|absence| absence.since);
    let of_watch = if let Stage::Watching(watch) = lifecycle.stage() { Some(watch.since) } else { None };
    of_absence.or(of_watch)
}

/// How it came out.
pub(crate) fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ready { checks, caveats } => ready_text(*checks, caveats),
        Outcome::Merged { .. } => "merged".to_owned(),
    }
}

fn ready_text(checks: usize, caveats: &[Caveat]) -> String {
    let text = match checks {
        0 if caveats.iter().any(|caveat| matches!(caveat, Caveat::Gone { .. })) => {
            "ready, but its checks are gone; no review is open".to_owned()
        }
        0 => "ready: no checks are configured, no review is open".to_owned(),
        _ => format!("ready: {} green, no review open", count(checks, "check")),
    };
    caveats.iter().fold(text, |text, caveat| format!("{text}; {}", caveat_text(caveat)))
}

fn caveat_text(caveat: &Caveat) -> String {
    match caveat {
        Caveat::Gone { checks } => format!("not there any more: {}", labels(checks.iter())),
        Caveat::NotGreen { checks } => format!("not green, but not required: {}", labels(checks.iter())),
        Caveat::Commented { remarks } => {
            format!("not asked for, but said in reviews: {}", labels(remarks.iter()))
        }
        Caveat::NotAllowed => {
            "but the forge does not allow the merge yet: a required review or check is missing, or it is a draft"
                .to_owned()
        }
    }
}

/// The tone of a line: good news, bad news, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Step,
    Good,
    Bad,
    Odd,
}

/// The line for an event.
pub(crate) fn line(event: &PullRequestEvent, at: Timestamp) -> (Tone, String, Vec<String>) {
    let plain = |tone, text: String| (tone, text, Vec::new());
    match event {
        PullRequestEvent::Begun => plain(Tone::Step, "all tasks are settled: pushing".to_owned()),
        PullRequestEvent::Published { published, cycle } => {
            let head = short_commit(&published.head);
            let text = format!("pushed {head}, watching {} (push {cycle})", published.url);
            (Tone::Good, text, published.warnings.clone())
        }
        PullRequestEvent::Looked { awaited, until, .. } => {
            let wait = took(between(at, *until));
            plain(Tone::Step, format!("waiting for {}; next look in {wait}", short(&awaited.text())))
        }
        PullRequestEvent::RerunPlanned { checks } => {
            let names = labels(checks.iter().map(|check| &check.label));
            plain(Tone::Odd, format!("red, and run again before it is believed: {names}"))
        }
        PullRequestEvent::Rerun { refused, .. } if refused.is_empty() => {
            plain(Tone::Step, "red checks were started again".to_owned())
        }
        PullRequestEvent::Rerun { refused, .. } => {
            plain(Tone::Odd, format!("cannot be run again: {}", labels(refused.iter())))
        }
        PullRequestEvent::FailuresBelieved { checks } => {
            let names = labels(checks.iter().map(|check| &check.label));
            plain(Tone::Bad, format!("red: {names}; reading the logs"))
        }
        PullRequestEvent::TasksPlanned { requests } => {
            let tasks: Vec<String> =
                requests.iter().map(|request| format!("{} {}", request.id, request.title())).collect();
            let text = format!("the pull request asks for {}", short(&tasks.join("; ")));
            (Tone::Step, text, requests.iter().filter_map(unread).collect())
        }
        PullRequestEvent::TasksWritten { decls, .. } => {
            plain(Tone::Step, format!("{} in the plan", count(decls.len(), "new task")))
        }
        PullRequestEvent::IntegrationPlanned { source: Source::Branch } => {
            plain(Tone::Odd, "somebody pushed to the branch: taking that in".to_owned())
        }
        PullRequestEvent::IntegrationPlanned { source: Source::Base } => {
            plain(Tone::Odd, "the base has moved on: taking that in".to_owned())
        }
        PullRequestEvent::Integrated => plain(Tone::Step, "taken in".to_owned()),
        PullRequestEvent::RepliesPlanned { tasks } => {
            plain(Tone::Step, format!("answering {}", count(tasks.len(), "thread")))
        }
        PullRequestEvent::Replied { warnings } => {
            (Tone::Step, "threads were answered".to_owned(), warnings.clone())
        }
        PullRequestEvent::ReviewPlanned { reviewers } => {
            plain(Tone::Step, format!("asking {} to look again", logins(reviewers)))
        }
        PullRequestEvent::ReviewRequested { warnings, .. } => {
            (Tone::Step, "reviews were asked for".to_owned(), warnings.clone())
        }
        PullRequestEvent::MergePlanned => plain(Tone::Step, "everything is green: merging".to_owned()),
        PullRequestEvent::MergeQueued { .. } => {
            plain(Tone::Step, "the forge agreed to merge it, but has not yet: waiting for that".to_owned())
        }
        PullRequestEvent::Unavailable { reason, nth, .. } => {
            plain(Tone::Odd, format!("{} (time {nth} in a row)", short(reason)))
        }
        PullRequestEvent::Satisfied { outcome } => plain(tone(outcome), outcome_text(outcome)),
    }
}

/// A check that asks for a task without telling why.
fn unread(request: &Request) -> Option<String> {
    let Origin::Check { check, .. } = &request.origin else { return None };
    request.text.trim().is_empty().then(|| format!("no log of {} could be read", short(check)))
}

/// The tone of an outcome: what is green as far as one can tell has another one.
fn tone(outcome: &Outcome) -> Tone {
    match outcome {
        Outcome::Ready { caveats, .. } if !caveats.is_empty() => Tone::Odd,
        Outcome::Ready { .. } | Outcome::Merged { .. } => Tone::Good,
    }
}

fn short(text: &str) -> String {
    one_line(text, TEXT_CHARS_MAX)
}

fn short_commit(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

fn logins(reviewers: &[Reviewer]) -> String {
    labels(reviewers.iter().map(|reviewer| &reviewer.login))
}

fn labels<'a>(names: impl Iterator<Item = &'a String>) -> String {
    short(&names.cloned().collect::<Vec<_>>().join(", "))
}

/// The error of a run whose pull request reached a limit.
pub(crate) fn limit(limit: &LimitReached, url: Option<&str>, kind: Kind) -> Error {
    let error = match limit {
        LimitReached::Cycles { limit } => {
            Error::new(kind, format!("ERROR: Max pull request cycles ({limit}) reached"))
        }
        LimitReached::Time { seconds, awaited } => {
            let error =
                Error::new(kind, format!("ERROR: Max pull request time ({}h) reached", seconds / 3_600));
            if awaited.is_empty() { error } else { error.note(format!("It waited for {}", short(awaited))) }
        }
        LimitReached::CiFixes { limit, checks } => {
            Error::new(kind, format!("ERROR: CI is still red after {limit} rounds of fixes"))
                .note(format!("Red: {}", labels(checks.iter())))
        }
    };
    match url {
        Some(url) => error.note(format!("Pull request: {url}")),
        None => error,
    }
}

/// The error of a run whose pull request needs a person.
pub(crate) fn obstructed(subject: &Subject, obstacle: &Obstacle, kind: Kind) -> Error {
    let (message, details, hint) = words(obstacle);
    let mut error = Error::new(kind, format!("paused: {message}"));
    error = details
        .into_iter()
        .filter(|detail| !detail.is_empty())
        .fold(error, |error, detail| error.note(short(&detail)));
    error.hint(format!("{hint}, then go on with {}", subject.command("run", "")))
}

/// The error of a run that was not started because its pull request cannot be made.
pub(crate) fn refused(command: &str, obstacle: &Obstacle) -> Error {
    let (message, details, hint) = words(obstacle);
    let error = Error::usage(format!("no task was started, since there cannot be a pull request: {message}"));
    let error = details
        .into_iter()
        .filter(|detail| !detail.is_empty())
        .fold(error, |error, detail| error.note(short(&detail)));
    error
        .hint(format!("{hint}, then start with {command}"))
        .hint("or leave the pull request out: `--pr=false`")
}

/// The words about something that the pull request will run into.
pub(crate) fn foreseen(obstacle: &Obstacle) -> String {
    let (message, _, hint) = words(obstacle);
    format!("the run will pause at the pull request that the plan asks for: {message}; {hint}")
}

/// The outcome of a real run, for one that only says what it would do.
pub(crate) fn outlook(obstacle: &Obstacle, wanted: Option<Toggle>) -> String {
    let (message, _, hint) = words(obstacle);
    let end = match wanted {
        Some(Toggle::On) => "would not start",
        Some(Toggle::Off) | None => "would run the tasks and then pause",
    };
    format!("{end}: {message}; {hint}")
}

/// The words about an obstacle: what is in the way, what was said about it, and what to do.
fn words(obstacle: &Obstacle) -> (String, Vec<String>, String) {
    let plain = |message: &str, hint: &str| (message.to_owned(), Vec::new(), hint.to_owned());
    match obstacle {
        Obstacle::NoRepository => plain(
            "the project is not a git repository, so there is nothing to push",
            "make it one, or leave the pull request out with `--pr=false`",
        ),
        Obstacle::NoRemote => {
            plain("the repository has no remote to push to", "add one: `git remote add origin URL`")
        }
        Obstacle::NotAForge { remote, url } => plain(
            &format!("the remote {remote} has no pull requests: {}", short(url)),
            "add a remote on GitHub and make it the one to push to: `git config remote.pushDefault NAME`",
        ),
        Obstacle::NoProgram { reason } => plain(
            &format!("the pull request needs the GitHub CLI: {}", short(reason)),
            "install it (https://cli.github.com) and log in: `gh auth login`",
        ),
        Obstacle::NoSuchRepository { repository } => plain(
            &format!("{} does not exist on the forge, or the login may not see it", short(repository)),
            "see where the remote points (`git remote -v`) and who is logged in (`gh auth status`)",
        ),
        Obstacle::NoBase { repository } => plain(
            &format!("{} has no commits yet, so there is nothing to merge into", short(repository)),
            "push what the work is based on first: `git push origin COMMIT:refs/heads/main`",
        ),
        Obstacle::NoLogin { detail } => (
            "nobody is logged in at the forge".to_owned(),
            vec![detail.clone()],
            "log in: `gh auth login`".to_owned(),
        ),
        Obstacle::NotPermitted { detail } => (
            "the login is not permitted to do this".to_owned(),
            vec![detail.clone()],
            "ask for the permission, push to a fork of yours (`gh repo fork --remote`), or log in as somebody who has it (`gh auth login`)".to_owned(),
        ),
        Obstacle::Detached => {
            plain("no branch is checked out, so there is none to push", "make one: `git switch -c NAME`")
        }
        Obstacle::DefaultBranch { branch } => plain(
            &format!(
                "{} is the branch that pull requests are merged into, and is never pushed to",
                short(branch)
            ),
            "move the work to a branch of its own: `git switch -c NAME`",
        ),
        Obstacle::Protected { branch, detail } => (
            format!("the branch {} does not accept the push", short(branch)),
            vec![detail.clone()],
            "push from another branch (`git switch -c NAME`), or have the rule changed".to_owned(),
        ),
        Obstacle::NothingToPropose { branch, base } => plain(
            &format!("{} has no commits that {} does not have", short(branch), short(base)),
            "see whether the work is on another branch",
        ),
        Obstacle::Refused { command, detail } => {
            (format!("refused: {}", short(command)), vec![detail.clone()], "see to it".to_owned())
        }
        Obstacle::Rewritten { .. }
        | Obstacle::Conflict { .. }
        | Obstacle::Closed { .. }
        | Obstacle::MergedWithout { .. }
        | Obstacle::Cancelled { .. }
        | Obstacle::ChecksGone { .. }
        | Obstacle::Wordless { .. }
        | Obstacle::NotMerged { .. } => about_others(obstacle),
    }
}

/// The words about what others did, or what does not go together with that.
fn about_others(obstacle: &Obstacle) -> (String, Vec<String>, String) {
    let link = |url: &String| format!("Pull request: {url}");
    match obstacle {
        Obstacle::Rewritten { branch } => (
            format!("somebody replaced commits of {} that had been pushed", short(branch)),
            vec!["Nothing is pushed by force, and nothing here was changed.".to_owned()],
            format!(
                "look at both (`git fetch`, `git log HEAD...@{{upstream}}`) and make {} what it is to be: \
                 take what is there (`git reset --hard @{{upstream}}`) or push what is here yourself (`git push`)",
                short(branch)
            ),
        ),
        Obstacle::Conflict { with, from } => (
            format!("what {} has does not go together with what is here", short(with)),
            vec!["The merge was given up; everything is as it was.".to_owned()],
            format!("merge it by hand: `git pull --no-rebase {} {}`", short(remote(from)), short(with)),
        ),
        Obstacle::Closed { number, url } => (
            format!("pull request #{number} was closed"),
            vec![link(url)],
            format!("reopen it (`gh pr reopen {number}`) or move to another branch"),
        ),
        Obstacle::MergedWithout { number, url } => (
            format!("pull request #{number} was merged before everything was in it"),
            vec![link(url)],
            "move what is left to another branch: `git switch -c NAME`".to_owned(),
        ),
        Obstacle::Cancelled { checks, url } => (
            format!("cancelled, and cancelled again: {}", labels(checks.iter())),
            vec![link(url)],
            "find out why, and run it again".to_owned(),
        ),
        Obstacle::ChecksGone { checks, url } => (
            format!("checks of the pull request are gone: {}", labels(checks.iter())),
            vec![link(url)],
            "see whether that is meant to be".to_owned(),
        ),
        Obstacle::Wordless { reviewers, url } => wordless(reviewers, url),
        Obstacle::NotMerged { url, detail } => (
            "everything is green, but the forge does not merge it".to_owned(),
            vec![link(url), detail.clone()],
            "see to what it asks for".to_owned(),
        ),
        Obstacle::NoRepository
        | Obstacle::NoRemote
        | Obstacle::NotAForge { .. }
        | Obstacle::NoSuchRepository { .. }
        | Obstacle::NoBase { .. }
        | Obstacle::NoProgram { .. }
        | Obstacle::NoLogin { .. }
        | Obstacle::NotPermitted { .. }
        | Obstacle::Detached
        | Obstacle::DefaultBranch { .. }
        | Obstacle::Protected { .. }
        | Obstacle::NothingToPropose { .. }
        | Obstacle::Refused { .. } => (String::new(), Vec::new(), String::new()),
    }
}

fn wordless(reviewers: &[String], url: &str) -> (String, Vec<String>, String) {
    let (wants, says) = if reviewers.len() == 1 { ("wants", "does") } else { ("want", "do") };
    let who = labels(reviewers.iter());
    (
        format!("{who} {wants} changes but {says} not say which"),
        vec![format!("Pull request: {url}")],
        format!("ask {who} to say so in a review, or to review again"),
    )
}

/// Old records do not tell the remote.
fn remote(from: &str) -> &str {
    if from.is_empty() { "origin" } else { from }
}

/// The obstacle in a line.
pub(crate) fn obstacle_text(obstacle: &Obstacle) -> String {
    words(obstacle).0
}

/// The rows of the summary about the pull request.
pub(crate) fn summary(lifecycle: &Lifecycle) -> Option<String> {
    let Stage::Satisfied(outcome) = lifecycle.stage() else { return None };
    let url = match (outcome, lifecycle.place()) {
        (Outcome::Merged { url, .. }, _) => url.clone(),
        (Outcome::Ready { .. }, Some(place)) => place.url.clone(),
        (Outcome::Ready { .. }, None) => String::new(),
    };
    let of_ci = |origin: &Origin| matches!(origin, Origin::Check { .. });
    let (ci, reviews): (Vec<_>, Vec<_>) = lifecycle.requests().partition(|request| of_ci(&request.origin));
    let tasks = format!("{} for CI, {} for reviews", count(ci.len(), "task"), reviews.len());
    Some(format!("{url} is {} ({tasks})", outcome_text(outcome)))
}

#[cfg(test)]
mod tests {
    use engine::{End, Rules, What};

    use super::*;
    use crate::args::Format;
    use crate::exit;
    use crate::view::samples::{Story, subject, time, watched};

    #[test]
    fn what_is_waited_for_since_when_and_where() {
        let state = watched().state();
        let standing = PullRequestStanding::of(&state).unwrap();
        insta::assert_snapshot!(standing.render(time(200)), @"#7: waiting for 1 of 3 checks: CI / test, for 1m 30s");
        assert_eq!(standing.url(), Some("https://github.com/acme/widgets/pull/7"));
        let none = Story::new(Rules::default()).state();
        assert_eq!(PullRequestStanding::of(&none), None);
    }

    #[test]
    fn nothing_is_waited_for_once_the_run_is_over() {
        let state = watched().then(What::Ended(End::Interrupted)).state();
        let standing = PullRequestStanding::of(&state).unwrap();
        insta::assert_snapshot!(standing.render(time(200)), @"#7: was waiting for 1 of 3 checks: CI / test");
        let unavailable =
            PullRequestEvent::Unavailable { reason: "HTTP 502".to_owned(), nth: 1, until: time(400) };
        let state = watched().at_forge(unavailable).state();
        let standing = PullRequestStanding::of(&state).unwrap();
        insta::assert_snapshot!(standing.render(time(200)), @"#7: the forge is away (HTTP 502), next try at 2026-01-26 14:36:40Z, for 1m 20s");
    }

    #[test]
    fn limits_are_errors() {
        let shown = |reached: &LimitReached| {
            limit(reached, Some("https://x/7"), Kind::Ended(exit::STOPPED)).render(Format::Text)
        };
        insta::assert_snapshot!(shown(&LimitReached::CiFixes { limit: 5, checks: vec!["CI / test".to_owned()] }), @r"
        ERROR: CI is still red after 5 rounds of fixes
          Red: CI / test
          Pull request: https://x/7
        ");
        let late = LimitReached::Time { seconds: 172_800, awaited: "mona to review again".to_owned() };
        insta::assert_snapshot!(shown(&late), @r"
        ERROR: Max pull request time (48h) reached
          It waited for mona to review again
          Pull request: https://x/7
        ");
    }

    #[test]
    fn what_is_not_quite_green_is_said() {
        let check = |checks, caveats: Vec<Caveat>, expected: &str| {
            assert_eq!(outcome_text(&Outcome::Ready { checks, caveats }), expected);
        };
        let names = || vec!["lint".to_owned(), "slow".to_owned()];
        check(2, Vec::new(), "ready: 2 checks green, no review open");
        check(0, Vec::new(), "ready: no checks are configured, no review is open");
        check(
            0,
            vec![Caveat::Gone { checks: names() }],
            "ready, but its checks are gone; no review is open; not there any more: lint, slow",
        );
        check(
            1,
            vec![Caveat::NotGreen { checks: names() }],
            "ready: 1 check green, no review open; not green, but not required: lint, slow",
        );
        let silent = |names: &[&str]| {
            let reviewers = names.iter().map(|name| (*name).to_owned()).collect();
            obstacle_text(&Obstacle::Wordless { reviewers, url: String::new() })
        };
        assert_eq!(silent(&["bob"]), "bob wants changes but does not say which");
        assert_eq!(silent(&["bob", "eve"]), "bob, eve want changes but do not say which");
    }

    #[test]
    fn every_obstacle_says_what_to_do() {
        let text = || "x".to_owned();
        let obstacles = [
            Obstacle::NoRepository,
            Obstacle::NoRemote,
            Obstacle::NotAForge { remote: text(), url: text() },
            Obstacle::NoSuchRepository { repository: text() },
            Obstacle::NoBase { repository: text() },
            Obstacle::NoProgram { reason: text() },
            Obstacle::NoLogin { detail: text() },
            Obstacle::NotPermitted { detail: text() },
            Obstacle::Detached,
            Obstacle::DefaultBranch { branch: text() },
            Obstacle::Protected { branch: text(), detail: text() },
            Obstacle::Rewritten { branch: text() },
            Obstacle::NothingToPropose { branch: text(), base: text() },
            Obstacle::Conflict { with: text(), from: text() },
            Obstacle::Closed { number: 7, url: text() },
            Obstacle::MergedWithout { number: 7, url: text() },
            Obstacle::Cancelled { checks: vec![text()], url: text() },
            Obstacle::ChecksGone { checks: vec![text()], url: text() },
            Obstacle::Wordless { reviewers: vec![text()], url: text() },
            Obstacle::NotMerged { url: text(), detail: text() },
            Obstacle::Refused { command: text(), detail: text() },
        ];
        for obstacle in obstacles {
            let shown = obstructed(&subject(), &obstacle, Kind::Ended(exit::WAITING)).render(Format::Text);
            assert!(shown.starts_with("error: paused: ") && obstacle_text(&obstacle).len() > 8, "{shown}");
            assert!(shown.contains("then go on with `tillgreen run`"), "{shown}");
        }
    }
}

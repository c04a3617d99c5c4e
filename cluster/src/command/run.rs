//! The beginning of a run: what is committed goes to a branch of its own at the remote, the workflow starts, and its events
//! are printed as they come.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use engine::What;
use temporalio_client::errors::WorkflowStartError;
use temporalio_client::{WorkflowExecutionStatus, WorkflowQueryOptions, WorkflowStartOptions};

use crate::command::{PlanArgs, Target};
use crate::error::Error;
use crate::git::{GitError, Pushed};
use crate::order::{HOME_QUEUE, Start};
use crate::program::{Request, Teller};
use crate::workflow::Run;

/// The wait between two looks at a run.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// The number of looks without an answer after which that is said.
const LOOKS_UNTOLD: u32 = 3;

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// Begin, and do not follow
    #[arg(long)]
    detach: bool,
    /// Seconds after which a worker that says nothing is taken for dead
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u64).range(2..))]
    lost_after: u64,
    /// The flags of `tillgreen run`
    #[arg(last = true, hide = true)]
    flags: Vec<String>,
}

/// The flags of this program's own `run`; a value follows those that are true here.
const OWN: [(&str, bool); 6] = [
    ("--on", true),
    ("--remote", true),
    ("--lost-after", true),
    ("--detach", false),
    ("--help", false),
    ("-h", false),
];

/// Puts the flags that the plain program's `run` has behind a `--`, wherever people wrote them. The plan comes before them.
pub(crate) fn sort_flags(words: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = words.iter().position(|word| word == "run") else { return words };
    let (before, after) = words.split_at(at + 1);
    let (mut own, mut flags) = (before.to_vec(), Vec::new());
    let mut rest = after.iter().cloned();
    let mut plan = None;
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy().into_owned();
        let name = text.split('=').next().unwrap_or_default();
        match OWN.iter().find(|(own, _)| *own == name) {
            Some((_, has_value)) => {
                own.push(word);
                let value = (*has_value && !text.contains('=')).then(|| rest.next()).flatten();
                own.extend(value);
            }
            None if plan.is_none() && flags.is_empty() && !text.starts_with('-') => plan = Some(word),
            None => flags.push(word),
        }
    }
    own.extend(plan);
    own.push("--".into());
    own.extend(flags);
    own
}

/// Begins a run, unless one is under way, and follows it. Ctrl-C ends the following alone.
pub(crate) async fn run(arguments: RunArgs) -> Result<(), Error> {
    let target = Target::find(&arguments.plan).await?;
    if target.status().await? == Some(WorkflowExecutionStatus::Running) {
        eprintln!("a run of {} is under way there: flags do not change it", target.site.plan);
    } else {
        begin(&target, &arguments).await?;
    }
    if arguments.detach { Ok(()) } else { follow(&target).await }
}

async fn begin(target: &Target, arguments: &RunArgs) -> Result<(), Error> {
    push(target).await?;
    let start = Start {
        site: target.site.clone(),
        flags: arguments.flags.clone(),
        lost_after_ms: arguments.lost_after.saturating_mul(1_000),
        so_far: None,
    };
    let options = WorkflowStartOptions::new(HOME_QUEUE, target.site.workflow_id()).build();
    match target.client.start_workflow(Run::run, start, options).await {
        // Somebody else began it just now.
        Ok(_) | Err(WorkflowStartError::AlreadyStarted { .. }) => Ok(()),
        Err(error) => Err(Error::new("the server does not begin the run").because(&error)),
    }
}

/// Pushes what is checked out to the branch of the run, where it is not there yet.
async fn push(target: &Target) -> Result<(), Error> {
    let Target { git, remote, site, .. } = target;
    let failed = |error: GitError| Error::new(error.to_string());
    let status = git.run(&["status", "--porcelain"]).await.map_err(failed)?;
    if let Some(first) = status.lines().next() {
        let path = first.get(3..).unwrap_or(first);
        return Err(Error::new(format!(
            "there are changes that are not committed, which workers would not see: {path}"
        ))
        .hint("commit them, put them aside with `git stash`, or have git ignore them"));
    }
    let refspec = format!("HEAD:refs/heads/{}", site.branch);
    match git.push(remote, &refspec).await.map_err(failed)? {
        Pushed::Done => return Ok(()),
        Pushed::Refused(reason) => {
            return Err(Error::new(format!("{remote} does not take branch {}: {reason}", site.branch)));
        }
        Pushed::Moved => {}
    }
    let (branch, fetched) = (&site.branch, format!("refs/remotes/{remote}/{}", site.branch));
    git.run(&["fetch", "--quiet", remote, &format!("+refs/heads/{branch}:{fetched}")])
        .await
        .map_err(failed)?;
    if !git.asks(&["merge-base", "--is-ancestor", "HEAD", &fetched]).await.map_err(failed)? {
        return Err(Error::new(format!(
            "branch {branch} of {remote} has commits that what is checked out lacks, and the other way round"
        ))
        .hint(format!("`git merge {remote}/{branch}` brings them together"))
        .hint(format!("`git push {remote} --delete {branch}` lets the branch go")));
    }
    eprintln!("branch {branch} of {remote} is further than what is checked out: the run goes on from there");
    Ok(())
}

/// Prints the events of a run until it has ended.
async fn follow(target: &Target) -> Result<(), Error> {
    let run = target.run();
    let (plan, again) = (target.site.plan.as_str(), target.again.as_str());
    let mut teller = Teller::begin(Request::Tell { plan, again }).await?;
    let (mut next, mut unanswered) = (0, 0);
    loop {
        let asked = run.query(Run::events, next, WorkflowQueryOptions::default()).await;
        let Ok(news) = asked else {
            unanswered += 1;
            if unanswered == LOOKS_UNTOLD {
                eprintln!("no worker answers; the run goes on as soon as one is there");
            }
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        };
        unanswered = 0;
        if news.before > next {
            return Err(Error::new("the run went on faster than it could be followed; it is not ended")
                .hint("follow it again with the same command"));
        }
        next = news.before + news.events.len();
        for event in &news.events {
            // Whoever does not read on follows no longer; the run goes on.
            if !teller.tell(event).await {
                return Ok(());
            }
        }
        if news.events.iter().any(|event| matches!(event.what, What::Ended(_))) {
            return teller.end().await;
        }
        if news.events.is_empty() {
            is_over(target).await?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// Fails where the run is over without an end of its own.
async fn is_over(target: &Target) -> Result<(), Error> {
    let Ok(status) = target.status().await else { return Ok(()) };
    match status {
        Some(WorkflowExecutionStatus::Running | WorkflowExecutionStatus::ContinuedAsNew) => Ok(()),
        Some(WorkflowExecutionStatus::Completed) => {
            let standing = target.run().query(Run::standing, (), WorkflowQueryOptions::default()).await;
            match standing.ok().and_then(|standing| standing.refused) {
                Some(reason) => Err(Error::new(reason)),
                None => Ok(()),
            }
        }
        Some(_) | None => Err(Error::new("the run was ended at the server")
            .hint("begin it again: it goes on from what is ticked on its branch")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_plain_program_are_handed_on() {
        let sorted = |line: &str| {
            let words = sort_flags(line.split(' ').map(OsString::from).collect());
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        let table = [
            ("t run auth --on x -j 4 --detach", "t run --on x --detach auth -- -j 4"),
            ("t run --on x auth -j 4", "t run --on x auth -- -j 4"),
            ("t run --on=x --recovery-mode", "t run --on=x -- --recovery-mode"),
            ("t run auth --agent-cmd a --remote r --on x", "t run --remote r --on x auth -- --agent-cmd a"),
            ("t status auth --on x", "t status auth --on x"),
        ];
        for (line, expected) in table {
            assert_eq!(sorted(line), expected, "{line}");
        }
    }
}

//! The plan that is meant, and its run at the server.

use std::path::Path;

use clap::Args;
use engine::{State, Versioned};
use serde::Deserialize;
use temporalio_client::errors::WorkflowQueryError;
use temporalio_client::{
    Client, WorkflowDescribeOptions, WorkflowExecutionStatus, WorkflowHandle, WorkflowQueryOptions,
};

use crate::error::Error;
use crate::git::Git;
use crate::order::Site;
use crate::program::{self, Request};
use crate::server::Address;
use crate::workflow::Run;

/// Which plan is meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanArgs {
    /// A spec's name or folder, or a tasks.md [default: the active spec]
    pub(crate) plan: Option<String>,
    /// The server: temporal://HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) on: Address,
    /// The remote that all workers reach [default: origin, or the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) remote: Option<String>,
}

/// A plan at a remote, and the server that has its run.
pub(crate) struct Target {
    pub(crate) git: Git,
    /// The remote as it is called here.
    pub(crate) remote: String,
    pub(crate) site: Site,
    pub(crate) client: Client,
    /// What to type to go on.
    pub(crate) again: String,
}

/// A plan as the plain program finds it.
#[derive(Debug, Deserialize)]
struct Located {
    plan: String,
    name: String,
}

impl Target {
    /// Finds the remote and connects to the server.
    pub(crate) async fn find(arguments: &PlanArgs) -> Result<Self, Error> {
        let located = program::ask(Request::Locate { plan: arguments.plan.as_deref() }).await?;
        let located: Versioned<Located> = serde_json::from_str(&located)
            .map_err(|error| Error::new("the plan cannot be found").because(&error))?;
        let Located { plan, name } = located.content;
        let git = Git::at(".");
        let remotes = git.run(&["remote"]).await.map_err(|error| Error::new(error.to_string()))?;
        let remotes: Vec<&str> = remotes.lines().collect();
        let remote = match &arguments.remote {
            Some(named) if !remotes.contains(&named.as_str()) => {
                return Err(
                    Error::new(format!("there is no remote {named} here")).hint("`git remote` lists them")
                );
            }
            Some(named) => named.as_str(),
            None => match remotes.as_slice() {
                [only] => only,
                several if several.contains(&"origin") => "origin",
                [] => {
                    return Err(Error::new("workers reach the project by a remote, and there is none")
                        .hint("`git init --bare` on a host that all reach makes one; `git remote add origin ADDRESS` names it"));
                }
                _ => {
                    let why = "there are several remotes, and none of them is origin";
                    return Err(
                        Error::new(why).hint("name the one that all workers reach with --remote NAME")
                    );
                }
            },
        };
        let url =
            git.run(&["remote", "get-url", remote]).await.map_err(|error| Error::new(error.to_string()))?;
        // A folder is the same one wherever a worker is started.
        let url = std::fs::canonicalize(&url).map_or(url, |path| path.to_string_lossy().into_owned());
        let branch = format!("tillgreen/{name}");
        if !git.asks(&["check-ref-format", "--branch", &branch]).await.unwrap_or(false) {
            return Err(Error::new(format!("`{branch}` cannot be the name of a branch"))
                .hint("give the plan's folder another name"));
        }
        let site = Site { remote: url, branch, plan };
        if Path::new(&site.plan).is_absolute() {
            return Err(Error::new(format!(
                "{} is outside of the repository, so workers cannot see it",
                site.plan
            )));
        }
        let again = format!("tillgreen run {name} --on {}", arguments.on);
        Ok(Self { git, remote: remote.to_owned(), site, client: arguments.on.connect().await?, again })
    }

    /// The run, or the latest one.
    pub(crate) fn run(&self) -> WorkflowHandle<Client, Run> {
        self.client.get_workflow_handle::<Run>(self.site.workflow_id())
    }

    /// What has become of the latest run; none where there was none.
    pub(crate) async fn status(&self) -> Result<Option<WorkflowExecutionStatus>, Error> {
        match self.run().describe(WorkflowDescribeOptions::default()).await {
            Ok(description) => Ok(Some(description.status())),
            Err(temporalio_client::errors::WorkflowInteractionError::NotFound(_)) => Ok(None),
            Err(error) => Err(Error::new("the server cannot tell of the run").because(&error)),
        }
    }

    /// The state of the latest run.
    pub(crate) async fn state(&self) -> Result<State, Error> {
        let asked = self.run().query(Run::standing, (), WorkflowQueryOptions::default()).await;
        let standing = asked.map_err(|error| match error {
            WorkflowQueryError::NotFound(_) => self.no_run(),
            error => Error::new("the run does not answer").because(&error).hint("see that a worker is there"),
        })?;
        standing.refused.map_or(Ok(standing.state.content), |reason| Err(Error::new(reason)))
    }

    /// The error where nobody has begun a run.
    pub(crate) fn no_run(&self) -> Error {
        Error::new(format!("there is no run of {} for {} on that server", self.site.plan, self.site.remote))
    }
}

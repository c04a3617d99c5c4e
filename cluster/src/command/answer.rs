//! The answer to the open question of a run.

use clap::Args;
use engine::{Directive, Versioned};
use temporalio_client::WorkflowExecuteUpdateOptions;
use temporalio_client::errors::WorkflowUpdateError;

use crate::command::{PlanArgs, Target};
use crate::error::Error;
use crate::program::{self, Request};
use crate::workflow::Run;

/// Arguments of `answer`.
#[derive(Clone, Debug, Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    plan: PlanArgs,
    /// The answer: retry, skip, abort, 'fix: …', approve or 'reject: …'
    #[arg(required = true)]
    response: String,
}

/// Hands the answer to the run.
pub(crate) async fn run(arguments: &AnswerArgs) -> Result<(), Error> {
    let target = Target::find(&arguments.plan).await?;
    let state = target.state().await?;
    let (plan, response) = (target.site.plan.as_str(), arguments.response.as_str());
    let directive = program::ask(Request::Answer { plan, state: &state, response }).await?;
    let directive: Versioned<Directive> = serde_json::from_str(&directive)
        .map_err(|error| Error::new("the answer cannot be read").because(&error))?;
    let options = WorkflowExecuteUpdateOptions::default();
    let told = target.run().execute_update(Run::tell, directive.content, options).await;
    let refusal = told.map_err(|error| match error {
        WorkflowUpdateError::NotFound(_) => target.no_run(),
        error => Error::new("the run does not answer").because(&error).hint("see that a worker is there"),
    })?;
    match refusal {
        Some(refusal) => Err(Error::new(format!("the answer has no effect: {refusal}"))),
        None => {
            println!("The run has taken the answer.");
            Ok(())
        }
    }
}

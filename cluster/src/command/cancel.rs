//! The end of a run from outside.

use std::time::Duration;

use temporalio_client::{WorkflowCancelOptions, WorkflowExecutionStatus, WorkflowGetResultOptions};

use crate::command::{PlanArgs, Target};
use crate::error::Error;

/// The time in which a run has to end. Where workers are away, it ends once they are back.
const END_MAX: Duration = Duration::from_secs(180);

/// Ends the run and waits until all that it started is gone.
pub(crate) async fn run(arguments: &PlanArgs) -> Result<(), Error> {
    let target = Target::find(arguments).await?;
    if target.status().await? != Some(WorkflowExecutionStatus::Running) {
        println!("No run of {} is under way there.", target.site.plan);
        return Ok(());
    }
    let run = target.run();
    let cancelled = run.cancel(WorkflowCancelOptions::default()).await;
    cancelled.map_err(|error| Error::new("the server did not take it").because(&error))?;
    let ended = run.get_result(WorkflowGetResultOptions::default());
    if tokio::time::timeout(END_MAX, ended).await.is_err() {
        return Err(Error::new("the run was told to end, and something of it is still under way")
            .hint("it ends as soon as its workers answer"));
    }
    println!(
        "Stopped the run of {}. Nothing is lost: `{}` goes on from here.",
        target.site.plan, target.again
    );
    Ok(())
}

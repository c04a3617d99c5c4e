//! Where a run stands.

use crate::command::{PlanArgs, Target};
use crate::error::Error;
use crate::program::{self, Request};

/// Prints where the run stands.
pub(crate) async fn run(arguments: &PlanArgs) -> Result<(), Error> {
    let target = Target::find(arguments).await?;
    let state = target.state().await?;
    let (plan, again) = (target.site.plan.as_str(), target.again.as_str());
    let text = program::ask(Request::Show { plan, again, state: &state }).await?;
    print!("{text}");
    Ok(())
}

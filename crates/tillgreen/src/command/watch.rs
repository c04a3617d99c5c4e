//! `tillgreen watch`: a run on a full screen. Takes no part in it; what is told to it goes through its inbox.

use crate::args::{Format, WatchArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::watch::{Opening, show};

/// Shows the run of a plan, or all runs where none is named and none is active.
pub(crate) fn run(context: &mut Context, arguments: &WatchArgs) -> Ended {
    if context.format == Format::Json {
        return Err(Error::usage("`tillgreen watch` is for people")
            .hint("`tillgreen log -f --format json` prints the same events for programs"));
    }
    let project = context.project()?;
    let is_any_meant = arguments.plan.is_none() && project.active_spec().is_err();
    let plan = if is_any_meant { None } else { Some(context.plan(&project, arguments.plan.as_deref())?) };
    let dir = context.dir.clone();
    show(Opening { project, plan, replay: arguments.replay, dir })?;
    Ok(exit::DONE)
}

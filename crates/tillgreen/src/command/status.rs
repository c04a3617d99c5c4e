//! `tillgreen status`: where a run stands. Takes no part in the run: it only reads.

use engine::{Dialect, End, State, Status, TaskDecl};
use jiff::Timestamp;
use runner::PlanFile;
use runner::journal::{Holder, LockError, holder};

use crate::args::{Format, PlanArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::view::json;
use crate::view::paint::Paint;
use crate::view::status::{Boxes, Standing};
use crate::view::subject::Subject;

/// Prints where the run of a plan stands.
pub(crate) fn run(context: &mut Context, arguments: &PlanArgs) -> Ended {
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    let now = Timestamp::now();
    let trees = super::clean::found(&project, Some(&file))?;
    let standing = standing(&file, &subject)?.with_trees(&trees);
    match context.format {
        Format::Text => {
            let text = standing.render(now, Paint::of(&std::io::stdout()));
            context.out.write_all(text.as_bytes())?;
        }
        Format::Json => json::document(&mut context.out, &standing)?,
    }
    Ok(exit::DONE)
}

/// Where the run of a plan stands.
pub(crate) fn standing(file: &PlanFile, subject: &Subject) -> Result<Standing, Error> {
    // The holder is asked first: a run that ends in between is then shown as what its journal says.
    let holder = holder_of(file)?;
    match runner::load(file, |_| ())? {
        Some(state) => {
            let standing = Standing::of(subject, &state, holder.as_ref());
            Ok(standing.with_boxes(subject, boxes(file, &state)))
        }
        None => {
            let tasks = super::check::declared_tasks(file)?;
            let done = tasks.iter().filter(|task| task.ticked).count();
            Ok(Standing::not_started(subject, tasks.len(), done))
        }
    }
}

/// Whether a plan's run is complete, and its boxes say the same.
pub(super) fn is_complete(file: &PlanFile, state: &State) -> bool {
    matches!(state.end(), Some(End::Complete { .. })) && boxes(file, state).open == 0
}

/// The boxes of a plan after its run. What cannot be read any more shows none.
fn boxes(file: &PlanFile, state: &State) -> Boxes {
    let tasks = super::check::declared_tasks(file).unwrap_or_default();
    // A *-PLAN.md has no boxes: what its run did is done.
    let is_settled = |task: &TaskDecl| match (file.dialect, state.task(&task.id).map(|task| &task.status)) {
        (_, Some(Status::Skipped)) | (Dialect::Phase, Some(_)) => true,
        (Dialect::Spec, Some(_)) | (_, None) => task.ticked,
    };
    Boxes { total: tasks.len(), open: tasks.iter().filter(|task| !is_settled(task)).count() }
}

/// The process that runs a plan right now, as far as can be told.
pub(crate) fn holder_of(file: &PlanFile) -> Result<Option<Holder>, Error> {
    match holder(&file.lock()) {
        Ok(holder) => Ok(holder),
        Err(LockError::HeldByUnknown { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

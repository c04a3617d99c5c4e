//! `tillgreen pause`: stops a running run after what is under way.

use std::io::Write;

use engine::Said;
use serde::Serialize;

use crate::args::{Format, PlanArgs};
use crate::cli::{Context, Ended};
use crate::exit;
use crate::steering::{Fate, Target};
use crate::view::json;

#[derive(Serialize)]
struct NotRunning<'a> {
    plan: &'a str,
    taken: bool,
}

/// Asks the run to start nothing new. That no run is under way is no error: nothing starts.
pub(crate) fn run(context: &mut Context, arguments: &PlanArgs) -> Ended {
    let target = Target::find(context, arguments.plan.as_deref())?;
    match target.send(&runner::directive(Said::Pause))? {
        Some(fate @ (Fate::Taken(_) | Fate::Unheard(_))) => {
            target.say(context, (&fate, None), "pauses after what is under way")?;
        }
        Some(Fate::Died(_) | Fate::Recorded | Fate::Kept) | None => {
            let plan = &target.subject.name;
            match context.format {
                Format::Text => writeln!(context.out, "No run of '{plan}' is under way.")?,
                Format::Json => json::document(&mut context.out, &NotRunning { plan, taken: false })?,
            }
        }
    }
    Ok(exit::DONE)
}

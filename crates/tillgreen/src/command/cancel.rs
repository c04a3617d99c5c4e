//! `tillgreen cancel`: stops a running run cleanly.

use std::io::Write;

use runner::Cancelled;
use serde::Serialize;

use crate::args::{Format, PlanArgs};
use crate::cli::{Context, Ended};
use crate::exit;
use crate::view::json;
use crate::view::subject::Subject;

#[derive(Serialize)]
struct Outcome {
    plan: String,
    stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
}

/// Stops the run and says what was stopped. That no run was under way is no error: it is stopped.
pub(crate) fn run(context: &mut Context, arguments: &PlanArgs) -> Ended {
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    let cancelled = runner::cancel(&file)?;
    let pid = match &cancelled {
        Cancelled::NotRunning => None,
        Cancelled::Stopped(holder) => Some(holder.pid),
    };
    match context.format {
        Format::Text => context.out.write_all(text(&subject, pid).as_bytes())?,
        Format::Json => {
            let outcome = Outcome { plan: subject.name, stopped: pid.is_some(), pid };
            json::document(&mut context.out, &outcome)?;
        }
    }
    Ok(exit::DONE)
}

fn text(subject: &Subject, pid: Option<u32>) -> String {
    let name = &subject.name;
    match pid {
        Some(pid) => {
            let again = subject.command("run", "");
            format!(
                "Stopped the run of '{name}' (process {pid}). Nothing is lost: {again} goes on from here.\n"
            )
        }
        None => format!("No run of '{name}' is under way.\n"),
    }
}

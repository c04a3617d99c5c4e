//! `tillgreen notify test`: sends a test notice through every channel that is set.

use std::io::Write;

use serde::Serialize;

use crate::args::{Format, NotifyCommand};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{FILE_NAME, FileSettings};
use crate::view::json;
use crate::view::notice;
use crate::view::paint::Paint;
use crate::view::text::clean;

/// How one channel did, for programs.
#[derive(Serialize)]
struct Outcome<'a> {
    channel: &'a str,
    arrived: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
}

/// Sends it, once, and says how each channel did.
pub(crate) fn run(context: &mut Context, command: &NotifyCommand) -> Ended {
    let NotifyCommand::Test = command;
    let project = context.project()?;
    let notify = FileSettings::load(project.root())?.notify;
    if notify.is_off() {
        return Err(Error::usage("nobody is told anything: no channel is set").hint(format!(
            "write `[notify]` into {FILE_NAME}, and under it, for example, `desktop = true`"
        )));
    }
    let folder = project.root().join(".tillgreen").join("notices");
    let plan = project.active_spec().unwrap_or_else(|_| "tillgreen".to_owned());
    let delivered = runner::deliver_now(&notify, &notice::test(&plan), &folder)
        .map_err(|error| Error::file("write to", &folder, error))?;
    let paint = Paint::of(&std::io::stdout());
    for (channel, result) in &delivered {
        let problem = result.as_ref().err().map(String::as_str);
        match (context.format, problem) {
            (Format::Json, _) => {
                json::line(&mut context.out, &Outcome { channel, arrived: problem.is_none(), problem })?;
            }
            (Format::Text, None) => writeln!(context.out, "{} {} took it", paint.good("✓"), clean(channel))?,
            (Format::Text, Some(problem)) => {
                writeln!(context.out, "{} {}: {}", paint.bad("✗"), clean(channel), clean(problem))?;
            }
        }
    }
    let all_arrived = delivered.iter().all(|(_, result)| result.is_ok());
    Ok(if all_arrived { exit::DONE } else { exit::STOPPED })
}

//! `tillgreen run`: starts or resumes a run.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

use engine::{End, State};
use runner::{Beginning, PlanFile, Project, Request, Settings};

use crate::args::RunArgs;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{Attendance, Choices, FileSettings, Mode, Programs, Resolved, Sources, Start, resolve};
use crate::view::screen::Screen;
use crate::view::subject::Subject;
use crate::view::{ending, summary};

/// The line that says that all is done, printed here and nowhere else.
const ALL_TASKS_COMPLETE: &str = "ALL_TASKS_COMPLETE";

/// Runs the plan.
pub(crate) fn run(context: &mut Context, arguments: RunArgs) -> Ended {
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    let resolved = settings(&project, &file, arguments.choices)?;
    if resolved.mode == Mode::DryRun {
        return dry_run(context, &file, &subject, &resolved.settings);
    }
    let beginning = match resolved.start {
        Start::Resume => Beginning::Resume,
        Start::Fresh => Beginning::Fresh,
    };
    execute(
        context,
        &subject,
        &Request { project: &project, file: &file, settings: &resolved.settings, beginning },
    )
}

fn settings(project: &Project, file: &PlanFile, flags: Choices) -> Result<Resolved, Error> {
    let settings = FileSettings::load(project.root())?;
    let is_fresh = flags.fresh.is_some_and(engine::Toggle::is_on);
    // A journal that cannot be read is no reason to refuse starting over.
    let earlier = if is_fresh { None } else { runner::load(file, |_| ())?.as_ref().and_then(unfinished) };
    resolve(Sources {
        flags,
        file: &settings,
        earlier: earlier.as_ref(),
        attendance: attendance(),
        programs: &Programs::of_environment(project.root()),
    })
}

/// What the run was started with, unless it is complete.
fn unfinished(state: &State) -> Option<BTreeMap<String, String>> {
    match state.end() {
        Some(End::Complete { .. }) => None,
        Some(_) | None => state.opened().map(|opened| opened.launch.clone()),
    }
}

fn attendance() -> Attendance {
    let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_attended { Attendance::Attended } else { Attendance::Unattended }
}

/// Runs a plan and says how it ended.
pub(super) fn execute(context: &mut Context, subject: &Subject, request: &Request<'_>) -> Ended {
    let mut screen = Screen::new(context.format, subject.clone(), request.settings.agent.clone());
    let finished = runner::run(request, &mut |state, notice| screen.show(state, notice));
    drop(screen);
    let finished = finished?;
    if let Some(error) = ending::error(subject, &finished.state) {
        return Err(error);
    }
    eprint_quietly(&summary::complete(subject, &finished.state, finished.at));
    if finished.end == (End::Complete { skipped: 0 }) {
        writeln!(context.out, "{ALL_TASKS_COMPLETE}")?;
    }
    Ok(exit::DONE)
}

fn eprint_quietly(text: &str) {
    use std::io::Write as _;
    // Where nobody reads the summary, the run is complete all the same.
    let _ = io::stderr().write_all(format!("\n{text}").as_bytes());
}

/// Says what would be done.
fn dry_run(context: &mut Context, file: &PlanFile, subject: &Subject, settings: &Settings) -> Ended {
    let plan = super::check::read(file)?;
    let open: Vec<_> = plan.tasks().iter().filter(|task| !task.state.is_done()).collect();
    let done = plan.tasks().len() - open.len();
    writeln!(context.out, "'{}': {done}/{} tasks completed", subject.name, plan.tasks().len())?;
    writeln!(context.out, "Agent: {} ({})", settings.agent.name, settings.agent.command)?;
    for task in open {
        writeln!(
            context.out,
            "would run {} {}",
            task.id,
            crate::view::text::one_line(plan.title(task), 100)
        )?;
    }
    Ok(exit::DONE)
}

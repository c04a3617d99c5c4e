//! `tillgreen prove`: shows that what is done holds in a clean checkout of what is committed. Records nothing.

use std::io::Write as _;

use plan::TaskId;
use runner::{ProveError, ProveRequest};
use serde::Serialize;

use crate::args::{Format, ProveArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{FileSettings, ProofSettings, proof_settings};
use crate::task_argument::{Spelled, Tasks};
use crate::view::text::clean;
use crate::view::{json, proof};

#[derive(Serialize)]
struct Document<'a> {
    plan: &'a str,
    is_red: bool,
    #[serde(flatten)]
    proof: &'a engine::Proof,
}

/// Proves the tasks that are named, or all that are done.
pub(crate) fn run(context: &mut Context, arguments: &ProveArgs) -> Ended {
    let project = context.project()?;
    // What names a plan is the plan; whatever else is there names tasks of it.
    let first = arguments.names.first();
    let plan = first.filter(|name| project.locate(&context.dir, Some(name)).is_ok()).map(String::as_str);
    let (file, subject) = context.plan(&project, plan)?;
    let settings = FileSettings::load(project.root())?;
    settings.mask();
    let state = runner::load(&file, |_| ())?;
    let plans = super::check::read(&file)?;
    let tasks = Tasks { plans: &plans, state: state.as_ref() };
    let names = arguments.names.iter().skip(usize::from(plan.is_some()));
    let find =
        |task: &String| tasks.find(context, (&project, &subject), &Spelled { verb: "prove", plan, task });
    let named: Vec<TaskId> = names.map(find).collect::<Result<_, _>>()?;
    let ProofSettings { worktrees, verify_timeout, budget, jobs } = proof_settings(&settings);
    let (worktrees, tasks) = (&worktrees, named.as_slice());
    let (project, file) = (&project, &file);
    let request = ProveRequest { project, file, tasks, worktrees, verify_timeout, budget, jobs };
    // Where nobody reads them, the proof goes on all the same.
    let tell = |text: String| drop(writeln!(std::io::stderr(), "note: {}", clean(&text)));
    let (taken, notes) = runner::prove(&request, tell).map_err(|error| match error {
        ProveError::Run(error) => Error::from(error).about(&subject),
        ProveError::Record(error) => Error::from(error).about(&subject),
        error @ (ProveError::NoCommit | ProveError::UnknownTask(_) | ProveError::Interrupted) => {
            Error::usage(error.to_string())
                .hint("a proof needs a git repository with the plan's work committed")
        }
    })?;
    notes.into_iter().for_each(tell);
    let is_red = taken.red().next().is_some();
    match context.format {
        Format::Json => {
            let document = Document { plan: &subject.name, is_red, proof: &taken };
            json::document(&mut context.out, &document)?;
        }
        Format::Text if taken.results.is_empty() => {
            writeln!(
                context.out,
                "'{}': no task is done, so there is nothing to prove",
                clean(&subject.name)
            )?;
        }
        Format::Text => {
            writeln!(context.out, "'{}': {}", clean(&subject.name), proof::headline(&taken))?;
            for line in proof::details(&taken) {
                writeln!(context.out, "  {}", clean(&line))?;
            }
        }
    }
    Ok(if is_red || taken.shows_nothing() { exit::STOPPED } else { exit::DONE })
}

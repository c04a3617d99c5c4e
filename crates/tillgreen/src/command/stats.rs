//! `tillgreen stats`: what a run, or all of them, amount to. Takes no part in a run: it only reads.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use runner::{PlanFile, Project, RecordError, RecordPlace};

use crate::args::{Format, StatsArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::view::chart::{self, ChartFile};
use crate::view::json;
use crate::view::statistics::{self, Reports, Run, RunReport};
use crate::view::subject::Subject;
use crate::view::text::clean;

/// Prints what the record of a plan, or every record here, amounts to.
pub(crate) fn run(context: &mut Context, arguments: &StatsArgs) -> Ended {
    let project = context.project()?;
    let runs = if arguments.all {
        project.refuse_foreign_record()?;
        let found = all(&project)?;
        show_all(context, &found)?;
        found.runs
    } else {
        let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
        let run = one(&file, &subject)?;
        show_one(context, &run)?;
        vec![run]
    };
    if let Some(chart) = &arguments.chart {
        draw(&context.dir, chart, &runs)?;
    }
    Ok(exit::DONE)
}

fn one(file: &PlanFile, subject: &Subject) -> Result<Run, Error> {
    let Some(record) = runner::review(&file.journal())? else {
        return Err(Error::usage(format!("'{}' has not been run yet", subject.name))
            .hint(format!("start it with {}", subject.command("run", ""))));
    };
    Ok(Run::of(subject.name.clone(), &record))
}

/// Every run of a project that can be read.
struct Found {
    runs: Vec<Run>,
    unreadable: Vec<String>,
}

/// One damaged journal does not take the others with it, unless there are no others.
fn all(project: &Project) -> Result<Found, Error> {
    let mut found = Found { runs: Vec::new(), unreadable: Vec::new() };
    let mut first_error = None;
    for record in runner::records(project)? {
        match runner::review(&record.path) {
            Ok(Some(read)) => {
                let is_archived = record.place == RecordPlace::Archive;
                found.runs.push(Run { is_archived, ..Run::of(record.plan, &read) });
            }
            Ok(None) => {}
            Err(error) => {
                found.unreadable.push(explained(&error));
                first_error = first_error.or(Some(error));
            }
        }
    }
    match first_error {
        Some(error) if found.runs.is_empty() => Err(error.into()),
        None if found.runs.is_empty() => {
            Err(Error::usage(format!("nothing has been run in {}", project.root().display()))
                .hint("start a plan with `tillgreen run`"))
        }
        Some(_) | None => Ok(found),
    }
}

/// Every run of a project that can be read.
pub(crate) fn readable(project: &Project) -> Result<Vec<Run>, Error> {
    Ok(all(project)?.runs)
}

/// An error with its causes, in a line.
fn explained(error: &RecordError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let mut texts = vec![error.to_string()];
    texts.extend(causes.map(ToString::to_string));
    texts.dedup();
    texts.join(": ")
}

fn show_one(context: &mut Context, run: &Run) -> Result<(), Error> {
    match context.format {
        Format::Text => context.out.write_all(statistics::render(run).as_bytes())?,
        Format::Json => json::document(&mut context.out, &RunReport::of(run))?,
    }
    Ok(())
}

fn show_all(context: &mut Context, found: &Found) -> Result<(), Error> {
    for problem in &found.unreadable {
        say(&format!("warning: {problem}"));
    }
    match context.format {
        Format::Text => context.out.write_all(statistics::render_all(&found.runs).as_bytes())?,
        Format::Json => {
            json::document(&mut context.out, &Reports::of(&found.runs, found.unreadable.clone()))?;
        }
    }
    Ok(())
}

/// The file is named as the user named it.
fn draw(dir: &Path, ChartFile { path, kind }: &ChartFile, runs: &[Run]) -> Result<(), Error> {
    let text = chart::render(*kind, runs);
    fs::write(dir.join(path), text).map_err(|source| {
        Error::file("write", path, source).hint("see that the folder exists and that you may write there")
    })?;
    say(&format!("The chart is in {}", path.display()));
    Ok(())
}

fn say(text: &str) {
    // Where nobody reads the message, the result is there all the same.
    let _ = io::stderr().write_all(format!("{}\n", clean(text)).as_bytes());
}

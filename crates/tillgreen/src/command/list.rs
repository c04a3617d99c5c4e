//! `tillgreen list`: the plans here with where each stands. Takes no part in a run: it only reads.

use std::path::Path;

use runner::{PLACES, PlanFile, Project};

use crate::args::Format;
use crate::cli::{Context, Ended};
use crate::exit;
use crate::view::json;
use crate::view::paint::Paint;
use crate::view::plans::{PlanRow, render};
use crate::view::subject::Subject;

/// Prints a row for each plan. One that cannot be read does not take the others with it.
pub(crate) fn run(context: &mut Context) -> Ended {
    let project = context.project()?;
    project.refuse_foreign_record()?;
    let active = project.locate(&context.dir, None).ok().map(|file| file.path);
    let rows: Vec<PlanRow> =
        runner::plans(&project).iter().map(|file| row(&project, file, active.as_deref())).collect();
    match context.format {
        Format::Text => {
            context.out.write_all(render(&rows, Paint::of(&std::io::stdout())).as_bytes())?;
        }
        Format::Json => json::document(&mut context.out, &rows)?,
    }
    Ok(exit::DONE)
}

/// The row of a plan.
pub(super) fn row(project: &Project, file: &PlanFile, active: Option<&Path>) -> PlanRow {
    let is_active = active == Some(&file.path);
    let argument = argument(project, file);
    let subject = Subject::new(Path::new("."), project, file, Some(&argument));
    let standing = super::status::standing(file, &subject);
    let row = PlanRow::new(argument, subject.path.clone(), standing);
    if is_active { row.activated() } else { row }
}

/// The argument by which commands take a plan. A spec is known by its name; everything else by its place.
pub(super) fn argument(project: &Project, file: &PlanFile) -> String {
    let place = project.relative(&file.path);
    let folder = project.relative(&file.dir);
    let is_named = PLACES.iter().any(|known| folder.parent() == Some(Path::new(known)));
    let is_spec = is_named && place.ends_with("tasks.md");
    if is_spec { file.name.clone() } else { place.display().to_string() }
}

//! `tillgreen use`: makes a spec the active one.

use runner::{PLACES, PlanFile, Project};
use serde::Serialize;

use plan::nearest;

use crate::args::Format;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::view::json;
use crate::view::text::{clean, quoted};

#[derive(Serialize)]
struct Outcome<'a> {
    spec: &'a str,
    path: String,
}

/// Makes the spec active; plans and runs stay as they are.
pub(crate) fn run(context: &mut Context, name: &str) -> Ended {
    let project = context.project()?;
    let name = name.trim_end_matches('/');
    let bare = PLACES.iter().find_map(|place| name.strip_prefix(place)?.strip_prefix('/'));
    let name = bare.unwrap_or(name);
    let specs = specs(&project);
    let Some(file) = specs.iter().find(|spec| spec.name == name) else {
        return Err(unknown(&project, name, &specs));
    };
    project.activate(name).map_err(|error| Error::file("write", &project.pointer(), error))?;
    let path = context.shown(&project, &file.path).to_string();
    match context.format {
        Format::Text => {
            writeln!(context.out, "'{}' is the active spec now ({}).", clean(name), clean(&path))?;
        }
        Format::Json => json::document(&mut context.out, &Outcome { spec: name, path })?,
    }
    Ok(exit::DONE)
}

/// The plans that the name of their folder is enough for.
fn specs(project: &Project) -> Vec<PlanFile> {
    let lies_in = |file: &PlanFile, place: &str| file.dir.parent() == Some(&project.here().join(place));
    let is_spec =
        |file: &PlanFile| PLACES.iter().any(|place| lies_in(file, place)) && file.path.ends_with("tasks.md");
    runner::plans(project).into_iter().filter(is_spec).collect()
}

fn unknown(project: &Project, name: &str, specs: &[PlanFile]) -> Error {
    let folder = project.here().join("specs").join(name);
    if !name.is_empty() && !name.contains('/') && folder.is_dir() {
        return runner::LocateError::MissingTasks(project.relative(&folder.join("tasks.md")).to_owned())
            .into();
    }
    let error = Error::usage(format!("no spec is called '{name}'"));
    match nearest(name, specs.iter().map(|spec| spec.name.as_str())) {
        Some(near) => error.hint(format!("did you mean `tillgreen use {}`?", quoted(near))),
        None if specs.is_empty() => error.hint("create one with `tillgreen new NAME`"),
        None => error.hint("`tillgreen list` shows the plans here; `tillgreen new NAME` creates a spec"),
    }
}

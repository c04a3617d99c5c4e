//! `tillgreen check`: reads a plan and says what it sees and what is wrong. Runs nothing.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Parallel, Rules, TaskDecl, Toggle};
use plan::{Dialect, Plan, Reading};
use runner::{PlanFile, declared, find_program, order_problems, running_order, summary_beside};

use crate::args::{CheckArgs, Format, GraphForm};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{FileSettings, SettingsLayer, parallel_settings};
use crate::view::graph::Graph;
use crate::view::json;
use crate::view::paint::Paint;
use crate::view::plan_report::{Machine, Room, Source, report};

/// Prints tasks and problems.
pub(crate) fn run(context: &mut Context, arguments: &CheckArgs) -> Ended {
    let project = context.project()?;
    let (file, _) = context.plan_alone(&project, arguments.plan.as_deref())?;
    if let Some(form) = arguments.graph {
        let settings = FileSettings::load(project.root())?;
        let infer_parallel = arguments.infer_parallel.then_some(Toggle::On);
        let flags = SettingsLayer { jobs: arguments.jobs, infer_parallel, ..SettingsLayer::default() };
        return graph(context, &file, parallel_settings(flags, &settings), form);
    }
    let mut errors = 0;
    let plans = read(&file)?;
    let all: Vec<&Plan> = plans.iter().map(|(_, plan)| plan).collect();
    let of_order = order_problems(&all);
    let machine = Machine {
        has_path: &Path::exists,
        has_program: &|name| find_program(name, project.root()).is_some(),
    };
    let stdout = std::io::stdout();
    for place in running_order(&all) {
        let (path, plan) = &plans[place];
        let source = Source {
            name: plan.plan_id().unwrap_or(&file.name),
            path: &clickable(&context.dir, path),
            summary: summary_beside(path).filter(|_| file.dialect == Dialect::Phase),
            defaults: &file.defaults,
        };
        let of_order = of_order.iter().filter(|(of, _)| *of == place).map(|(_, problem)| problem);
        let report = report(&source, plan, of_order, &machine);
        errors += report.errors;
        match context.format {
            Format::Text => {
                let text = report.render(Paint::of(&stdout), Room::of(&stdout));
                context.out.write_all(text.as_bytes())?;
            }
            Format::Json => json::document(&mut context.out, &report)?,
        }
    }
    Ok(if errors > 0 { exit::USAGE } else { exit::DONE })
}

/// Prints what waits for what.
fn graph(context: &mut Context, file: &PlanFile, parallel: Parallel, form: GraphForm) -> Ended {
    let decls = declared_tasks(file)?;
    let rules = Rules { dialect: file.dialect, parallel, ..Rules::default() };
    let graph = Graph::new(&file.name, &rules, &decls);
    match (context.format, form) {
        (Format::Json, _) => json::document(&mut context.out, &graph)?,
        (Format::Text, GraphForm::Text) => {
            context.out.write_all(graph.text(Paint::of(&std::io::stdout())).as_bytes())?;
        }
        (Format::Text, GraphForm::Mermaid) => context.out.write_all(graph.mermaid().as_bytes())?,
        (Format::Text, GraphForm::Dot) => context.out.write_all(graph.dot().as_bytes())?,
    }
    Ok(exit::DONE)
}

/// The tasks of a plan in the order in which they run, ticked where they are done already.
pub(crate) fn declared_tasks(file: &PlanFile) -> Result<Vec<TaskDecl>, Error> {
    declared(file).map_err(|(path, error)| Error::file("read", &path, error))
}

/// Reads and parses the files of a plan.
pub(crate) fn read(file: &PlanFile) -> Result<Vec<(PathBuf, Plan)>, Error> {
    file.plans.iter().map(|path| Ok((path.clone(), read_file(path, file.reading)?))).collect()
}

fn read_file(path: &Path, reading: Reading) -> Result<Plan, Error> {
    let bytes = fs::read(path).map_err(|error| Error::file("read", path, error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::usage(format!("{}:{line}: error: the plan is not valid UTF-8", path.display()))
            .hint("save it as UTF-8")
    })?;
    Ok(Plan::parse_as(reading, text, path))
}

/// The path as a terminal or an editor finds it from the folder that the user is in.
fn clickable(dir: &Path, path: &Path) -> String {
    let here = dir.canonicalize().unwrap_or_default();
    // With -C the user is somewhere else than the command works.
    let here = if dir == Path::new(".") { here } else { std::env::current_dir().unwrap_or(here) };
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

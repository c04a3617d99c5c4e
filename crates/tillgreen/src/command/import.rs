//! `tillgreen import`: a plan that another tool keeps becomes a spec, or is taken again into the one that was made of it.

use std::collections::BTreeMap;

use plan::import::LeftOut;
use runner::{Import, ImportError, ImportReport};
use serde::Serialize;

use crate::args::{Format, ImportArgs};
use crate::cli::{Context, Ended};
use crate::error::{Error, Kind};
use crate::exit;
use crate::view::json;
use crate::view::text::{clean, count, quoted};

/// Ids that are named in a line, and problems in all.
const TOLD_MAX: usize = 20;

/// The result, for programs.
#[derive(Serialize)]
struct Outcome<'a> {
    spec: &'a str,
    path: String,
    source: &'a str,
    tracker: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    is_new: bool,
    is_dry: bool,
    tasks: usize,
    done: usize,
    with_command: usize,
    groups: usize,
    added: &'a [String],
    updated: &'a [String],
    overruled: &'a [String],
    kept: &'a [String],
    ticked: &'a [String],
    changed_when_done: &'a [String],
    gone: &'a [String],
    left_out: Vec<Left<'a>>,
    problems: &'a [String],
    written_back: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    not_written_back: Option<Missing<'a>>,
}

#[derive(Serialize)]
struct Left<'a> {
    id: &'a str,
    why: &'static str,
}

#[derive(Serialize)]
struct Missing<'a> {
    tasks: &'a [String],
    reason: &'a str,
}

/// Imports the source and says what came of it.
pub(crate) fn run(context: &mut Context, arguments: &ImportArgs) -> Ended {
    arguments.name.as_deref().map_or(Ok(()), super::new::refuse_name)?;
    let project = context.project()?;
    project.refuse_foreign_record()?;
    let request = Import {
        project: &project,
        dir: &context.dir,
        source: &arguments.source,
        name: arguments.name.as_deref(),
        is_dry: arguments.dry_run,
    };
    let report = runner::import(&request).map_err(|error| explained(error, &arguments.source))?;
    let path = context.shown(&project, &report.path).to_string();
    match context.format {
        Format::Text => context.out.write_all(text(&report, &path, arguments.dry_run).as_bytes())?,
        Format::Json => json::document(&mut context.out, &outcome(&report, path, arguments.dry_run))?,
    }
    Ok(exit::DONE)
}

fn explained(error: ImportError, source: &str) -> Error {
    let usage = |error, hint: String| Error::from_source(Kind::Usage, error).hint(hint);
    match error {
        ImportError::NoSource(_) => usage(
            error,
            "name a tasks.json, a prd.json, `.beads`, `github:label=NAME` or `github:milestone=TITLE`"
                .to_owned(),
        ),
        ImportError::Source { is_elsewhere: true, .. } => Error::from_source(Kind::Unavailable, error)
            .hint("nothing was changed: see to it, then import again"),
        ImportError::Source { .. } => {
            usage(error, "nothing was changed: mend the file, then import again".to_owned())
        }
        ImportError::Empty(_) => {
            usage(error, "there is nothing to make a plan of; nothing was written".to_owned())
        }
        ImportError::Taken { .. } => usage(
            error,
            format!(
                "it stays as it is: give the new spec another name, `tillgreen import {} --name NAME`",
                quoted(source)
            ),
        ),
        ImportError::Several { .. } => {
            usage(error, format!("say which one is meant: `tillgreen import {} --name NAME`", quoted(source)))
        }
        ImportError::Held(error) => Error::from(error)
            .hint("`tillgreen pause` lets it come to a rest; then import again, and `tillgreen run` goes on"),
        ImportError::Git(error) => error.into(),
        ImportError::Io { action, path, source } => Error::file(action, &path, source),
    }
}

fn outcome(report: &ImportReport, path: String, is_dry: bool) -> Outcome<'_> {
    let missing = report.not_written_back.as_ref();
    Outcome {
        spec: &report.name,
        path,
        source: &report.address,
        tracker: report.tracker.name(),
        branch: report.branch.as_deref(),
        is_new: report.is_new,
        is_dry,
        tasks: report.tasks,
        done: report.done,
        with_command: report.with_command,
        groups: report.groups,
        added: &report.added,
        updated: &report.updated,
        overruled: &report.overruled,
        kept: &report.kept,
        ticked: &report.ticked,
        changed_when_done: &report.changed_when_done,
        gone: &report.gone,
        left_out: report.left_out.iter().map(|left| Left { id: &left.id, why: left.why }).collect(),
        problems: &report.problems,
        written_back: &report.written_back,
        not_written_back: missing.map(|(tasks, reason)| Missing { tasks, reason }),
    }
}

/// The result, for people.
fn text(report: &ImportReport, path: &str, is_dry: bool) -> String {
    let mut text = if is_dry { "Nothing is written. It would be:\n".to_owned() } else { String::new() };
    text.push_str(&headline(report, path));
    let lists = [
        ("added", &report.added),
        ("updated", &report.updated),
        ("changed here and there, the source's words stand", &report.overruled),
        ("changed here alone, left as they are", &report.kept),
        ("ticked, as the source says they are done", &report.ticked),
        ("done here, and their text changed: untick them to have them done again", &report.changed_when_done),
        ("no longer in the source, left as they are", &report.gone),
    ];
    for (what, ids) in lists.iter().filter(|(_, ids)| !report.is_new && !ids.is_empty()) {
        line(&mut text, what, ids);
    }
    if !report.is_new && lists.iter().all(|(_, ids)| ids.is_empty()) {
        text.push_str("  nothing changed since\n");
    }
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for LeftOut { id, why } in &report.left_out {
        reasons.entry(why).or_default().push(id.clone());
    }
    for (why, ids) in reasons {
        line(&mut text, &format!("left out, {why}"), &ids);
    }
    if !report.written_back.is_empty() && !is_dry {
        line(&mut text, "written back as done", &report.written_back);
    }
    for problem in report.problems.iter().take(TOLD_MAX) {
        text.push_str(&format!("warning: {}: {}\n", clean(&report.address), clean(problem)));
    }
    if report.problems.len() > TOLD_MAX {
        text.push_str(&format!("warning: {} more such things\n", report.problems.len() - TOLD_MAX));
    }
    if let Some((ids, reason)) = &report.not_written_back {
        let reason = clean(reason);
        text.push_str(&format!("warning: {} could not be written back: {reason}\n", named(ids)));
    }
    text.push_str(&next(report));
    text
}

fn headline(report: &ImportReport, path: &str) -> String {
    let again = if report.is_new { "Imported" } else { "Imported again" };
    let tasks = count(report.tasks, "task");
    let mut text = format!(
        "{again} from {} ({}) into {}: {tasks}, {} done\n",
        clean(&report.address),
        report.tracker.name(),
        clean(path),
        report.done
    );
    let open = report.tasks - report.done;
    if report.groups > 0 {
        text.push_str(&format!(
            "  above them {}: what is below is the work\n",
            count(report.groups, "group")
        ));
    }
    if open > 0 {
        text.push_str(&format!("  open: {open}, with a command of their own: {}\n", report.with_command));
    }
    text
}

fn line(text: &mut String, what: &str, ids: &[String]) {
    text.push_str(&format!("  {what}: {}\n", named(ids)));
}

/// Ids, as far as there is room.
fn named(ids: &[String]) -> String {
    let told: Vec<String> = ids.iter().take(TOLD_MAX).map(|id| clean(id).to_string()).collect();
    let more = ids.len().saturating_sub(TOLD_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", told.join(", "))
}

fn next(report: &ImportReport) -> String {
    let name = quoted(&report.name);
    let branch =
        report.branch.as_deref().map(|branch| format!(" --branch {}", quoted(branch))).unwrap_or_default();
    format!("Next: look at it with `tillgreen check {name}`, then `tillgreen run {name}{branch}`.\n")
}

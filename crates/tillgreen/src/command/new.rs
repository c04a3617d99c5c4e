//! `tillgreen new`: a spec with a starter plan, made the active one.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::args::{Format, NewArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::view::json;
use crate::view::text::{one_line, quoted};

/// Characters of a goal, and of a name.
const GOAL_CHARS_MAX: usize = 2_000;
const NAME_CHARS_MAX: usize = 100;

#[derive(Serialize)]
struct Outcome<'a> {
    spec: &'a str,
    path: String,
}

/// Creates the spec; one that is there already stays as it is.
pub(crate) fn run(context: &mut Context, arguments: &NewArgs) -> Ended {
    let name = arguments.name.as_str();
    refuse_name(name)?;
    let project = context.project()?;
    let dir = project.here().join("specs").join(name);
    create(&dir, name, &arguments.goal.join(" "))?;
    project.activate(name).map_err(|error| Error::file("write", &project.pointer(), error))?;
    let path = dir.join("tasks.md");
    let shown = context.shown(&project, &path).to_string();
    match context.format {
        Format::Text => context.out.write_all(text(name, &shown).as_bytes())?,
        Format::Json => json::document(&mut context.out, &Outcome { spec: name, path: shown })?,
    }
    Ok(exit::DONE)
}

fn text(name: &str, path: &str) -> String {
    format!(
        "Created {path} and made '{name}' the active spec.\n\
         Next: write its tasks, look at them with `tillgreen check`, then `tillgreen run`.\n"
    )
}

/// Refuses a name that a spec cannot have.
pub(super) fn refuse_name(name: &str) -> Result<(), Error> {
    name_problem(name).map_or(Ok(()), |problem| {
        Err(Error::usage(format!("a spec cannot be called {name:?}: {problem}"))
            .hint("choose a name like `auth` or `fix-login`: it becomes a folder under specs/"))
    })
}

/// Why a spec cannot have this name.
pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it has no letters");
    }
    if name.starts_with(['.', '-']) {
        return Some("it begins with a dot or a dash");
    }
    if name.contains(['/', '\\']) {
        return Some("it is a path");
    }
    if name.contains(|character: char| character.is_whitespace() || character.is_control()) {
        return Some("it has spaces in it");
    }
    (name.chars().count() > NAME_CHARS_MAX).then_some("it is too long")
}

fn create(dir: &Path, name: &str, goal: &str) -> Result<(), Error> {
    let specs = dir.parent().unwrap_or(dir);
    fs::create_dir_all(specs).map_err(|error| Error::file("create", specs, error))?;
    fs::create_dir(dir).map_err(|error| exists(dir, name, error))?;
    let path = dir.join("tasks.md");
    fs::write(&path, plan(name, goal)).map_err(|error| Error::file("write", &path, error))
}

fn exists(dir: &Path, name: &str, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::AlreadyExists {
        let name = quoted(name);
        return Error::usage(format!("{} exists already and stays as it is", dir.display()))
            .hint(format!("work on it by name, as in `tillgreen run {name}`"))
            .hint(format!("make it the active spec with `echo {name} > specs/.current-spec`"));
    }
    Error::file("create", dir, error)
}

/// The starter plan.
fn plan(name: &str, goal: &str) -> String {
    let goal = one_line(goal, GOAL_CHARS_MAX);
    // What would end the paragraph or begin a comment is somebody's goal, not our markup.
    let goal = goal.replace("<!--", "<! --").replace("-->", "-- >");
    let goal = if goal.is_empty() { "what is to be reached, in a sentence or two".to_owned() } else { goal };
    format!(
        "# Tasks: {name}\n\
         \n\
         **Goal**: {goal}\n\
         \n\
         <!--\n\
         Each checkbox with an id is a task. Tillgreen hands them to an agent one after the other, runs the Verify\n\
         command itself, and ticks the box when it is green. Replace the two examples below.\n\
         \n\
         Do         what is to be done, in steps\n\
         Files      what may be changed\n\
         Done when  how one sees that it is done\n\
         Verify     one command in backticks, run from the project's root: it must fail before and pass after\n\
         Commit     the commit message, or None\n\
         \n\
         A task marked [VERIFY] only checks: its command is run directly, an agent helps if it is red.\n\
         -->\n\
         \n\
         ## Phase 1: First steps\n\
         \n\
         - [ ] 1.1 Write down what this is about\n\
         \x20 - **Do**:\n\
         \x20   1. Create NOTES.md with a heading and the goal of this plan\n\
         \x20 - **Files**: `NOTES.md`\n\
         \x20 - **Done when**: NOTES.md says what is to be reached\n\
         \x20 - **Verify**: `grep -q '^# ' NOTES.md`\n\
         \x20 - **Commit**: `docs: note the goal`\n\
         \n\
         - [ ] 1.2 [VERIFY] The notes are there and not empty\n\
         \x20 - **Do**: Look at NOTES.md\n\
         \x20 - **Done when**: it has more than a heading\n\
         \x20 - **Verify**: `test \"$(wc -l < NOTES.md)\" -gt 1`\n\
         \x20 - **Commit**: None\n"
    )
}

#[cfg(test)]
mod tests {
    use plan::{Plan, Verify};

    use super::*;

    #[test]
    fn the_starter_plan_is_clean() {
        for goal in ["", "Let people log in", "- [ ] 9.9 evil --> <!-- \n- [ ] 9.8 worse\n## Phase 7"] {
            let plan = Plan::parse(plan("auth", goal));
            assert_eq!(plan.problems(), [], "{goal}");
            assert_eq!(plan.lint(), [], "{goal}");
            let ids: Vec<String> = plan.tasks().iter().map(|task| task.id.to_string()).collect();
            assert_eq!(ids, ["1.1", "1.2"], "{goal}");
            assert!(plan.tasks().iter().all(|task| matches!(plan.verify(task), Verify::Runnable(_))));
        }
    }

    #[test]
    fn names() {
        for name in ["auth", "fix-login", "2fa", "naïve_1.0"] {
            assert_eq!(name_problem(name), None, "{name}");
        }
        for name in ["", ".", "..", ".hidden", "-x", "a/b", "a\\b", "a b", "a\nb", "\u{1b}", &"x".repeat(101)]
        {
            assert!(name_problem(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn an_existing_spec_stays() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("specs/auth");
        create(&dir, "auth", "a goal").unwrap();
        fs::write(dir.join("tasks.md"), "mine").unwrap();
        let error = create(&dir, "auth", "another").unwrap_err();
        assert_eq!(error.code(), exit::USAGE);
        assert_eq!(fs::read_to_string(dir.join("tasks.md")).unwrap(), "mine");
    }
}

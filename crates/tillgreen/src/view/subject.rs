//! The plan that is talked about, in the words that a person would type.

use std::path::Path;

use engine::Attempt;
use plan::TaskId;
use runner::{AttemptFiles, PlanFile, Project};

use super::text::quoted;

/// The plan that is talked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Its name for people.
    pub(crate) name: String,
    /// The plan's file, from the project's root.
    pub(crate) path: String,
    /// Its progress file, from the project's root.
    pub(crate) progress: String,
    /// The argument that names it; none for the active spec.
    pub(crate) argument: Option<String>,
    /// The folder that was given by `-C`; none where the user is.
    pub(crate) folder: Option<String>,
    /// Where the plan lives, for what only its text can tell.
    pub(crate) file: Option<PlanFile>,
    /// The command that goes on with it, where that is not `run`.
    pub(crate) instead: Option<String>,
}

impl Subject {
    /// The subject of a command that was given this argument and works in this folder.
    pub(crate) fn new(dir: &Path, project: &Project, file: &PlanFile, argument: Option<&str>) -> Self {
        Self {
            name: file.name.clone(),
            path: project.relative(&file.path).display().to_string(),
            progress: project.relative(&file.progress()).display().to_string(),
            argument: argument.map(str::to_owned),
            folder: (dir != Path::new(".")).then(|| dir.display().to_string()),
            file: Some(file.clone()),
            instead: None,
        }
    }

    /// The words that a failure of a task ends with.
    pub(crate) fn see_output(&self, task: &TaskId, attempt: Option<Attempt>) -> String {
        see(&self.output_command(task, attempt))
    }

    /// The command that shows what an attempt at a task printed; without an attempt, the latest that failed.
    pub(crate) fn output_command(&self, task: &TaskId, attempt: Option<Attempt>) -> String {
        let attempt = attempt.map(|attempt| format!(" --attempt {attempt}")).unwrap_or_default();
        self.show(task, &format!("{attempt} --output"))
    }

    /// The words that a red regression command ends with.
    pub(crate) fn see_regression(&self) -> Option<String> {
        let files = AttemptFiles::of_regression(self.file.as_ref()?);
        Some(see(&files.dir().display().to_string()))
    }

    /// The command that shows a task, without marks around it; `rest` begins with a space.
    pub(crate) fn show(&self, task: &TaskId, rest: &str) -> String {
        let command = self.command("show", &format!("{}{rest}", quoted(&task.to_string())));
        command.trim_matches('`').to_owned()
    }

    /// A command about a task of this plan, to be typed.
    pub(crate) fn about_task(&self, verb: &str, task: &TaskId) -> String {
        self.command(verb, &quoted(&task.to_string()))
    }

    /// A command about this plan, to be typed.
    pub(crate) fn command(&self, verb: &str, rest: &str) -> String {
        if let Some(instead) = self.instead.as_ref().filter(|_| verb == "run") {
            return format!("`{}`", [instead, rest].join(" ").trim_end());
        }
        let folder = self.folder.as_deref().map(|folder| format!(" -C {}", quoted(folder)));
        let mut command = format!("tillgreen{} {verb}", folder.unwrap_or_default());
        for part in [self.argument.as_deref().map(quoted).as_deref(), Some(rest)].into_iter().flatten() {
            if !part.is_empty() {
                command.push(' ');
                command.push_str(part);
            }
        }
        format!("`{command}`")
    }
}

/// The words that point to where more is.
pub(super) fn see(place: &str) -> String {
    format!("see: {place}")
}

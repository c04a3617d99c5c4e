//! All runs of the project, those put aside by a fresh start included.

use std::path::{Path, PathBuf};

use runner::{PlanFile, Project, RecordPlace};

use super::keys::Motion;
use crate::command::status::standing;
use crate::error::Error;
use crate::view::paint::Paint;
use crate::view::subject::Subject;

/// The list.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) rows: Vec<RunRow>,
    pub(super) cursor: usize,
}

/// A run, or a plan without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunRow {
    pub(super) name: String,
    pub(super) file: PlanFile,
    /// The journal, where it is not the plan's present one.
    pub(super) archived: Option<PathBuf>,
    /// Where it stands, in a word or two.
    pub(super) state: String,
    pub(super) done: usize,
    pub(super) all: usize,
    pub(super) question: Option<String>,
}

impl Runs {
    /// Looks at all of them.
    pub(super) fn look(project: &Project) -> Result<Self, Error> {
        let mut rows = Vec::new();
        let records = runner::records(project).map_err(|error| Error::usage(error.to_string()))?;
        for file in runner::plans(project) {
            let subject = subject(project, &file);
            rows.push(row(&file, &subject));
            let is_archived = |path: &Path| path.starts_with(&file.home);
            let archived = records.iter().filter(|record| record.place == RecordPlace::Archive);
            for record in archived.filter(|record| is_archived(&record.path)) {
                rows.push(archived_row(&file, &subject, &record.path));
            }
        }
        Ok(Self { rows, cursor: 0 })
    }

    /// Moves the selection.
    pub(super) fn moved(&mut self, motion: Motion) {
        let last = self.rows.len().saturating_sub(1);
        self.cursor = match motion {
            Motion::Down => (self.cursor + 1).min(last),
            Motion::Up => self.cursor.saturating_sub(1),
            Motion::Start | Motion::PageUp => 0,
            Motion::End | Motion::PageDown => last,
            Motion::Left | Motion::Right => self.cursor,
        };
    }
}

/// The plan as it would be named on the command line.
pub(super) fn subject(project: &Project, file: &PlanFile) -> Subject {
    let folder = project.relative(&file.dir);
    let is_spec = folder.parent() == Some(Path::new("specs"));
    let place = project.relative(&file.path).display().to_string();
    let argument = if is_spec { file.name.clone() } else { place };
    Subject::new(Path::new("."), project, file, Some(&argument))
}

fn row(file: &PlanFile, subject: &Subject) -> RunRow {
    let row = RunRow {
        name: subject.name.clone(),
        file: file.clone(),
        archived: None,
        state: "cannot be read".to_owned(),
        done: 0,
        all: 0,
        question: None,
    };
    let Ok(standing) = standing(file, subject) else { return row };
    let brief = standing.brief();
    let (state, done, all) = (brief.state.word(Paint::Plain), brief.done, brief.total);
    RunRow { state, done, all, question: brief.question, ..row }
}

fn archived_row(file: &PlanFile, subject: &Subject, path: &Path) -> RunRow {
    let reviewed = runner::review(path).ok().flatten();
    let (done, all, began) = reviewed.map_or((0, 0, None), |(state, _)| {
        (state.done_count(), state.tasks().len(), state.first_opened_at())
    });
    let began =
        began.map(|at| at.to_zoned(crate::view::text::zone()).strftime(" of %Y-%m-%d %H:%M").to_string());
    RunRow {
        name: format!("{}{}", subject.name, began.unwrap_or_default()),
        file: file.clone(),
        archived: Some(path.to_owned()),
        state: "put aside".to_owned(),
        done,
        all,
        question: None,
    }
}

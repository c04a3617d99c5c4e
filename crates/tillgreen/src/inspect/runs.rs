//! All runs of the project, those put aside by a fresh start included.

use std::path::{Path, PathBuf};

use runner::{PlanFile, Project, RecordPlace};

use crate::command::status::standing;
use crate::error::Error;
use crate::view::paint::Paint;
use crate::view::subject::Subject;

/// A run, or a plan without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunRow {
    pub(crate) name: String,
    pub(crate) file: PlanFile,
    /// The journal, where it is not the plan's present one.
    pub(crate) archived: Option<PathBuf>,
    /// Where it stands, in a word or two.
    pub(crate) state: String,
    pub(crate) done: usize,
    pub(crate) all: usize,
    pub(crate) question: Option<String>,
}

/// The place of a run's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFile {
    pub(crate) file: PlanFile,
    /// The journal, where it is not the plan's present one.
    pub(crate) archived: Option<PathBuf>,
}

impl RunFile {
    /// A name that no other run of the project has.
    pub(crate) fn id(&self) -> String {
        let last = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let plan = last(&self.file.home);
        match &self.archived {
            Some(path) => format!("{plan}~{}", last(path)),
            None => plan,
        }
    }

    /// The journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.archived.clone().unwrap_or_else(|| self.file.journal())
    }
}

/// All of them, a plan's present one first.
pub(crate) fn files(project: &Project) -> Result<Vec<RunFile>, Error> {
    let mut files = Vec::new();
    let records = runner::records(project).map_err(|error| Error::usage(error.to_string()))?;
    for file in runner::plans(project) {
        let archived = records.iter().filter(|record| record.place == RecordPlace::Archive);
        let archived = archived.filter(|record| record.path.starts_with(&file.home));
        let archived: Vec<PathBuf> = archived.map(|record| record.path.clone()).collect();
        files.push(RunFile { file: file.clone(), archived: None });
        files.extend(archived.into_iter().map(|path| RunFile { file: file.clone(), archived: Some(path) }));
    }
    Ok(files)
}

/// Looks at all of them.
pub(crate) fn look(project: &Project) -> Result<Vec<RunRow>, Error> {
    let looked = files(project)?.into_iter().map(|RunFile { file, archived }| {
        let subject = subject(project, &file);
        match archived {
            Some(path) => archived_row(&file, &subject, &path),
            None => row(&file, &subject),
        }
    });
    Ok(looked.collect())
}

/// The plan as it would be named on the command line.
pub(crate) fn subject(project: &Project, file: &PlanFile) -> Subject {
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

//! Settings that count while a run goes on: its limits. Flags that it was given stay in force over the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::Dialect;
use runner::LiveSettings;

use super::file::{FILE_NAME, FileSettings};
use super::layer::SettingsLayer;
use super::recorded;
use super::resolve::rules;
use crate::args::Format;
use crate::error::Error;

/// Reads the settings again while a run goes on.
#[derive(Clone, Debug)]
pub(crate) struct LiveReader {
    /// Settings that stay in force whatever the file says.
    flags: SettingsLayer,
    /// The file as it was when the run began.
    before: FileSettings,
    dialect: Dialect,
    root: PathBuf,
}

impl LiveReader {
    /// For a run that was given these flags.
    pub(crate) fn of_flags(
        flags: SettingsLayer,
        before: FileSettings,
        dialect: Dialect,
        root: &Path,
    ) -> Self {
        Self { flags, before, dialect, root: root.to_owned() }
    }

    /// For a run that goes on with the settings it had. What it had from elsewhere than the file stays in force.
    pub(crate) fn of_recorded(
        recorded: &BTreeMap<String, String>,
        dialect: Dialect,
        root: &Path,
    ) -> Result<Self, Error> {
        let before = FileSettings::load(root)?;
        let of_file = texts(&before.layer, dialect);
        let is_own = |(key, text): &(&String, &String)| {
            of_file.get(*key).is_some_and(|of_file| of_file.as_ref() != Some(text))
        };
        let own = recorded.iter().filter(is_own).map(|(key, text)| (key.clone(), text.clone()));
        let flags = recorded::read(&own.collect())?;
        Ok(Self { flags, before, dialect, root: root.to_owned() })
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        vec![self.root.join(FILE_NAME)]
    }

    /// The settings as they are now; else what is wrong with them.
    pub(crate) fn read(&self) -> Result<LiveSettings, String> {
        let file = FileSettings::load(&self.root).map_err(|error| told(&error))?;
        let layer = self.flags.clone().or(file.layer.clone());
        let rules = rules(&layer, self.dialect);
        let texts = texts(&layer, self.dialect);
        let later = self.changed_in(&file).into_iter().filter(|key| !texts.contains_key(key)).collect();
        Ok(LiveSettings { limits: rules.limits, jobs: rules.parallel.jobs, texts, later })
    }

    /// The keys whose values are not what they were.
    fn changed_in(&self, file: &FileSettings) -> Vec<String> {
        let keys: BTreeSet<&String> = self.before.values.keys().chain(file.values.keys()).collect();
        let is_other = |key: &&&String| self.before.values.get(**key) != file.values.get(**key);
        let agents = (self.before.agents != file.agents).then(|| "agents".to_owned());
        keys.iter().filter(is_other).map(|key| (*key).clone()).chain(agents).collect()
    }
}

/// The limits as text.
pub(super) fn texts(layer: &SettingsLayer, dialect: Dialect) -> BTreeMap<String, Option<String>> {
    let rules = rules(layer, dialect);
    recorded::limits(&rules).into_iter().map(|(key, text)| (key.to_owned(), text)).collect()
}

/// An error on one line.
fn told(error: &Error) -> String {
    let text = error.render(Format::Text);
    text.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(root: &Path, flags: &[(&str, &str)]) -> LiveReader {
        let flags = flags.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
        let before = FileSettings::load(root).unwrap();
        LiveReader::of_flags(recorded::read(&flags).unwrap(), before, Dialect::Spec, root)
    }

    fn write(root: &Path, text: &str) {
        std::fs::write(root.join(FILE_NAME), text).unwrap();
    }

    #[test]
    fn the_file_counts_where_no_flag_was_given() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "jobs = 3\nmax_cost = 2\n");
        let reader = reader(root.path(), &[("jobs", "2")]);
        write(root.path(), "jobs = 8\nmax_task_iterations = 7\nmax_time = \"2h\"\n");
        let live = reader.read().unwrap();
        assert_eq!((live.jobs, live.limits.task_iterations_max, live.limits.cost_micros_max), (2, 7, None));
        let text = |key: &str| live.texts[key].as_deref();
        assert_eq!((text("jobs"), text("max_cost"), text("max_time")), (Some("2"), None, Some("2h")));
        assert!(live.later.is_empty(), "{:?}", live.later);
    }

    #[test]
    fn what_counts_later_is_named() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "verify_timeout = \"1m\"\nstrict = true\n");
        let reader = reader(root.path(), &[]);
        write(root.path(), "verify_timeout = \"2m\"\njobs = 2\n[agents.a]\ncommand = \"a\"\n");
        assert_eq!(reader.read().unwrap().later, ["strict", "verify_timeout", "agents"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_says_why() {
        let root = tempfile::tempdir().unwrap();
        let reader = reader(root.path(), &[]);
        write(root.path(), "jobs = \"many\"\n");
        let error = reader.read().unwrap_err();
        assert!(error.contains("tillgreen.toml:1") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn a_run_that_goes_on_keeps_what_was_not_the_files() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "jobs = 3\nmax_fix_tasks = 2\n");
        let recorded = [("jobs", "3"), ("max_fix_tasks", "9"), ("max_task_iterations", "5"), ("agent", "x")];
        let recorded = recorded.map(|(key, text)| (key.to_owned(), text.to_owned())).into();
        let reader = LiveReader::of_recorded(&recorded, Dialect::Spec, root.path()).unwrap();
        write(root.path(), "jobs = 1\nmax_fix_tasks = 4\nmax_task_iterations = 1\n");
        let live = reader.read().unwrap();
        assert_eq!((live.jobs, live.limits.fix_tasks_max, live.limits.task_iterations_max), (1, 9, 1));
    }
}

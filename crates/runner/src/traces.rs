//! What verify commands leave in files of the project when they run there on all that came together: a lock file, a
//! generated file. It is nobody's work, and stays as it is, as it does in a run one by one, unless it is in the way of
//! work that comes in. Then it is moved into the folder of the attempt that was checked, and that is said.
//!
//! What is in the way counts as left by a check if it was changed last while that ran, so it is noted when each of them
//! began and ended. Somebody may have written to a file in that time, which cannot be told from what the check did; that
//! is why nothing is ever thrown away. What was changed at any other time is somebody's, and the work waits.
//!
//! The same goes for what somebody made of the very files of such work: `git::landings::landed_files` keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::driver::{Driver, now};
use crate::error::RunError;
use crate::git::{Dropped, Git, GitError, Left, free_place};
use crate::tree::COARSE_CLOCK_NANOS;

/// How many files are named at once.
const FILES_TOLD_MAX: usize = 20;

/// How many checks are remembered. What an older one left has been in nobody's way for long.
const CHECKS_MAX: usize = 200;

/// The checks on all that came together, oldest first. Each is noted on disk as it begins and as it ends, for a program that
/// comes after one that died.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traces {
    checks: Vec<Check>,
}

/// A check on all that came together.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Check {
    task: TaskId,
    /// Where its output goes.
    dir: PathBuf,
    began: Timestamp,
    /// None while it runs, and where the program died meanwhile.
    ended: Option<Timestamp>,
}

impl Driver<'_> {
    /// Before a check on all that came together.
    pub(crate) fn note_check(&mut self, task: &TaskId, dir: &Path) -> Result<(), RunError> {
        let check = Check { task: task.clone(), dir: dir.to_owned(), began: now(), ended: None };
        self.keep_check(&check)?;
        self.traces.add(check);
        Ok(())
    }

    /// After it.
    pub(crate) fn note_end_of_check(&mut self) -> Result<(), RunError> {
        let Some(check) = self.traces.checks.last_mut() else { return Ok(()) };
        check.ended = Some(Timestamp::now());
        let check = check.clone();
        self.keep_check(&check)
    }

    fn keep_check(&self, check: &Check) -> Result<(), RunError> {
        let file = checks_file(&self.file.home);
        let line = serde_json::to_string(check).map_err(io::Error::from);
        line.and_then(|line| atomic::add_line(&file, &line)).map_err(RunError::io("write", &file))
    }

    /// What programs before noted of their checks.
    pub(crate) fn find_checks(&mut self) {
        let file = checks_file(&self.file.home);
        if self.state.opened().is_some() {
            self.traces = Traces::read(&atomic::read(&file).unwrap_or_default());
        } else {
            // Those of a run before this one are nobody's business any more.
            let _ = fs::remove_file(file);
        }
    }

    /// When a run ends: what its checks left in the project, so that nobody wonders. After a run that is complete nobody
    /// has to know of them any more.
    pub(crate) fn tell_of_traces(&mut self) {
        if let (Some(git), false) = (self.tree.git(), self.traces.checks.is_empty()) {
            // What git cannot tell now it tells whoever asks next.
            let changes = git.status().unwrap_or_default().changes;
            let left = changes.into_iter().map(|change| change.path).filter(|path| !self.tree.is_ours(path));
            // One that was taken out of the index and is still there is listed twice.
            let mut seen = BTreeSet::new();
            let left = left.filter(|path| seen.insert(path.clone()));
            let left: Vec<String> = left.filter(|path| self.traces.of(git.root(), path).is_some()).collect();
            if !left.is_empty() {
                self.note(format!(
                    "changed in the project while verify commands ran on all that came together, and not committed: \
                     {}; they are left as they are",
                    listed(&left)
                ));
            }
        }
        if matches!(self.state.end(), Some(engine::End::Complete { .. })) {
            // One that stays is read again and harms nobody.
            let _ = fs::remove_file(checks_file(&self.file.home));
        }
    }

    /// Takes back work that is half in the project, and says what of somebody's had to be kept on the way.
    pub(crate) fn take_landing_back(&mut self) -> Result<(), GitError> {
        if let Some(git) = self.tree.git() {
            let dropped = git.drop_landing()?;
            told_of(git.root(), &dropped).into_iter().for_each(|told| self.note(told));
        }
        Ok(())
    }
}

impl Traces {
    /// Reads a line for each beginning and each end. What a program that died left half written is none.
    fn read(lines: &[u8]) -> Traces {
        let mut traces = Traces::default();
        let lines = lines.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).for_each(|check| traces.add(check));
        traces
    }

    fn add(&mut self, check: Check) {
        let is_same = |last: &mut Check| (&last.task, last.began) == (&check.task, check.began);
        self.checks.pop_if(is_same);
        self.checks.drain(..self.checks.len().saturating_sub(CHECKS_MAX - 1));
        self.checks.push(check);
    }

    /// Moves out of the way what checks left at these paths, and tells of it.
    pub(crate) fn make_room(&self, git: &Git, paths: &[String]) -> Vec<String> {
        let mut left: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        // A name that is no text is known only by and large.
        for path in paths.iter().filter(|path| !path.contains('\u{FFFD}')) {
            if let Some(place) = self.of(git.root(), path) {
                left.entry(place).or_default().push(path.clone());
            }
        }
        let checks = left.iter().filter_map(|(place, paths)| Some((self.checks.get(*place)?, paths)));
        checks.filter_map(|(check, paths)| check.make_room(git, paths)).collect()
    }

    /// The check during which a file was changed last.
    fn of(&self, root: &Path, path: &str) -> Option<usize> {
        let file = root.join(path);
        let changed = match fs::symlink_metadata(&file) {
            Ok(metadata) => nanos(metadata.ctime(), metadata.ctime_nsec()),
            Err(_) => removed_at(&file)?,
        };
        self.checks.iter().rposition(|check| check.ran_at(changed))
    }
}

impl Check {
    fn ran_at(&self, moment: i128) -> bool {
        let has_begun = moment + COARSE_CLOCK_NANOS >= self.began.as_nanosecond();
        has_begun && self.until().is_some_and(|until| moment <= until.as_nanosecond())
    }

    /// When it was certainly still running, or had just ended.
    fn until(&self) -> Option<Timestamp> {
        let signs = || {
            let logs = ["verify.out.log", "verify.err.log"].map(|log| self.dir.join(log));
            let times = logs.iter().filter_map(|log| fs::metadata(log).and_then(|log| log.modified()).ok());
            times.filter_map(|time| Timestamp::try_from(time).ok()).max()
        };
        self.ended.or_else(signs)
    }

    fn make_room(&self, git: &Git, left: &[String]) -> Option<String> {
        let into = free_place(&self.dir.join("left"));
        match git.put_back_files(left, &into) {
            Ok(back) if back.is_empty() => None,
            Ok(back) => Some(format!("{}: {}{}", self.words(), listed(&back), kept_in(git.root(), &into))),
            Err(error) => {
                Some(format!("{}: {}; they could not be put back: {error}", self.words(), listed(left)))
            }
        }
    }

    fn words(&self) -> String {
        let task = &self.task;
        format!(
            "in the way of finished work, and changed while the verify command of task {task} ran on all that came \
             together"
        )
    }
}

/// What is said when work that was half in the project went out of it.
pub(crate) fn told_of(root: &Path, dropped: &Dropped) -> Option<String> {
    match dropped {
        Dropped::Kept(Left { paths, folder }) => Some(format!(
            "changed after work had come in that went out of the project again: {}{}",
            listed(paths),
            kept_in(root, folder)
        )),
        Dropped::Nothing | Dropped::PutBack | Dropped::Committed(_) => None,
    }
}

fn kept_in(root: &Path, folder: &Path) -> String {
    let place = folder.strip_prefix(root).unwrap_or(folder).display();
    if folder.exists() { format!("; what was there is kept in {place}") } else { String::new() }
}

fn checks_file(home: &Path) -> PathBuf {
    home.join("joined-checks.jsonl")
}

pub(crate) fn listed(paths: &[String]) -> String {
    let (shown, rest) = paths.split_at(paths.len().min(FILES_TOLD_MAX));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!("{}{more}", shown.join(", "))
}

/// When a file was removed, at the earliest: the time of the folder that was left.
fn removed_at(file: &Path) -> Option<i128> {
    let folder = file.ancestors().skip(1).find_map(|folder| fs::metadata(folder).ok())?;
    Some(nanos(folder.mtime(), folder.mtime_nsec()))
}

fn nanos(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_told_when_it_begins_and_again_when_it_ends() {
        let check = |task: &str, ended: &str| {
            let (began, dir) = ("2026-01-01T00:00:00Z", "joined");
            format!(r#"{{"task":"{task}","dir":"{dir}","began":"{began}","ended":{ended}}}"#)
        };
        let end = r#""2026-01-01T00:00:01Z""#;
        let lines =
            [check("1.1", "null"), check("1.1", end), check("1.2", "null"), r#"{"task":"1.3","#.to_owned()];
        let traces = Traces::read(lines.join("\n").as_bytes());
        let told: Vec<(String, bool)> =
            traces.checks.iter().map(|check| (check.task.to_string(), check.ended.is_some())).collect();
        assert_eq!(told, [("1.1".to_owned(), true), ("1.2".to_owned(), false)]);
    }

    #[test]
    fn only_the_latest_checks_are_remembered() {
        let mut traces = Traces::default();
        for second in 0..300 {
            let began = Timestamp::from_second(second).unwrap();
            traces.add(Check { task: "1.1".parse().unwrap(), dir: PathBuf::new(), began, ended: None });
        }
        let oldest = traces.checks.first().map(|check| check.began.as_second());
        assert_eq!((traces.checks.len(), oldest), (CHECKS_MAX, Some(100)));
    }
}

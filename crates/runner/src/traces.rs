//! What verify commands leave in files of the project when they run there on all that came together: a lock file, a
//! generated file. It is nobody's work, and it would be in the way of whoever's work those files are, so it is put back.
//!
//! What is put back was as in git's index right before the check, was changed while it ran, and is not what came in.
//! So it takes a look at the files before each check and one after it. The look before it happens beside the landing
//! and is the look after the check before as well: where nothing is left, one process of git per landing, which nothing
//! waits for. Only where no landing follows at once is there a look of its own.
//!
//! Somebody may write to such a file while the check runs. That cannot be told from what the check does; so all that is
//! put back is kept in the attempt's folder, and that is said.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use engine::Landing;
use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::driver::{Driver, now};
use crate::error::RunError;
use crate::git::{Git, GitError, Oid, Stamps};
use crate::lost_work::Watch;
use crate::offstage::Site;
use crate::tree::{COARSE_CLOCK_NANOS, is_own};

/// How many files are named at once.
const FILES_TOLD_MAX: usize = 20;

/// What checks on all that came together may have left.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// The check that nobody has looked after yet.
    check: Option<Check>,
    /// What was changed in the project when the latest work came in.
    before: Option<BTreeSet<String>>,
}

/// A check on all that came together. It is noted on disk, for a program that comes after one that died.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Check {
    task: TaskId,
    /// Where its output goes.
    dir: PathBuf,
    began: Timestamp,
    /// None while it runs, and where the program died meanwhile.
    ended: Option<Timestamp>,
    /// What was changed before it.
    before: BTreeSet<String>,
}

/// What a look at the project showed.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// What is changed now, apart from what is about to land; unknown if git could not tell.
    changed: Option<BTreeSet<String>>,
    told: Option<String>,
}

impl Site {
    /// Brings the work into the project as `land` does, and puts back what the check before left there.
    pub(crate) fn land_tidily(
        &self,
        message: &str,
        trailer: (&str, &str),
        (packed, watch): (Option<Oid>, &Watch),
        check: Option<&Check>,
    ) -> (Landing, Option<Stamps>, Looked) {
        let land = || self.land(message, trailer, (packed.clone(), watch));
        let ((mut landing, mut stamps), looked) = thread::scope(|scope| {
            let look = scope.spawn(|| self.git.edited());
            (land(), look.join())
        });
        let Ok(Ok(mut changed)) = looked else { return (landing, stamps, Looked::default()) };
        if let Landing::Done { touched } = &landing {
            changed.retain(|path| !touched.contains(path));
        }
        let looked = tidy(&self.git, changed, check, &self.dropped);
        if let (Landing::Blocked { .. }, Some(_)) = (&landing, &looked.told) {
            (landing, stamps) = land();
        }
        (landing, stamps, looked)
    }
}

impl Driver<'_> {
    /// Before a check on all that came together.
    pub(crate) fn note_check(&mut self, task: &TaskId, dir: &Path) -> Result<(), RunError> {
        let known = self.traces.before.take();
        // Where nothing had to be brought in, nobody has looked yet.
        self.look_after_check();
        let Some(before) = known.or_else(|| self.tree.git().and_then(|git| git.edited().ok())) else {
            return Ok(());
        };
        let check = Check { task: task.clone(), dir: dir.to_owned(), began: now(), ended: None, before };
        self.traces.check = Some(check);
        self.keep_check()
    }

    /// After it.
    pub(crate) fn note_end_of_check(&mut self) -> Result<(), RunError> {
        if let Some(check) = &mut self.traces.check {
            check.ended = Some(Timestamp::now());
        }
        self.keep_check()
    }

    fn keep_check(&self) -> Result<(), RunError> {
        let file = check_file(&self.file.home);
        let text = self.traces.check.as_ref().map(serde_json::to_string);
        let written = match text {
            Some(text) => text.map_err(io::Error::from).and_then(|text| atomic::replace(&file, &text)),
            None => Ok(()),
        };
        written.map_err(RunError::io("write", &file))
    }

    /// What a program that died noted of its last check.
    pub(crate) fn find_check(&mut self) {
        let text = atomic::read(&check_file(&self.file.home)).unwrap_or_default();
        self.traces.check = serde_json::from_slice(&text).ok();
    }

    /// The check that whoever brings in the next work looks after.
    pub(crate) fn take_check(&mut self) -> Option<Check> {
        self.traces.before = None;
        self.traces.check.take()
    }

    /// What was found while work came in.
    pub(crate) fn heed_traces(&mut self, looked: Looked) {
        self.traces.before = looked.changed;
        self.forget_check();
        looked.told.into_iter().for_each(|told| self.note(told));
    }

    /// Looks after the last check, unless work is half in the project: then whoever brings it in does, or did.
    pub(crate) fn put_traces_back(&mut self) {
        if !self.state.attention().any(|task| task.status.is_coming_back()) {
            self.look_after_check();
        }
    }

    fn look_after_check(&mut self) {
        let (Some(git), Some(check)) = (self.tree.git(), self.take_check()) else { return };
        // What git cannot tell now it tells when it is in the way of something.
        let changed = git.edited().unwrap_or_default();
        let looked = tidy(git, changed, Some(&check), &self.tree.dropped());
        self.tree.forget();
        self.forget_check();
        looked.told.into_iter().for_each(|told| self.note(told));
    }

    fn forget_check(&self) {
        // One that stays is looked after once more, and nothing is found.
        let _ = fs::remove_file(check_file(&self.file.home));
    }
}

fn check_file(home: &Path) -> PathBuf {
    home.join("joined-check.json")
}

/// Puts back what the check left among what is changed.
fn tidy(git: &Git, mut changed: BTreeSet<String>, check: Option<&Check>, dropped: &[String]) -> Looked {
    let Some(check) = check else { return Looked { changed: Some(changed), told: None } };
    let is_ours = |path: &String| is_own(path) || dropped.contains(path);
    let left = changed.iter().filter(|path| !is_ours(path) && check.left(git.root(), path));
    let left: Vec<String> = left.cloned().collect();
    if left.is_empty() {
        return Looked { changed: Some(changed), told: None };
    }
    let into = check.free_folder();
    let told = match git.put_back_files(&left, &into) {
        Ok(back) => {
            changed.retain(|path| !back.contains(path));
            check.told(git.root(), &back, &into)
        }
        Err(error) => Some(check.told_of(&error, &left)),
    };
    Looked { changed: Some(changed), told }
}

impl Check {
    /// Whether a file that is changed now was not before, and was changed last while the check ran.
    fn left(&self, root: &Path, path: &str) -> bool {
        let Some(until) = self.until().filter(|_| !self.before.contains(path)) else { return false };
        let file = root.join(path);
        match fs::symlink_metadata(&file) {
            Ok(metadata) => {
                let changed = nanos(metadata.ctime(), metadata.ctime_nsec());
                changed + COARSE_CLOCK_NANOS >= self.began.as_nanosecond() && changed <= until.as_nanosecond()
            }
            // Nothing is lost by having a file again. Only where nobody knows how long ago the check was, somebody may
            // have meant to remove it since.
            Err(_) => self.ended.is_some() || removed_at(&file).is_some_and(|at| at <= until.as_nanosecond()),
        }
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

    /// Where to keep what it left. The same attempt may be checked more than once.
    fn free_folder(&self) -> PathBuf {
        let name = |number: u32| if number == 1 { "left".to_owned() } else { format!("left-{number}") };
        let mut folders = (1..).map(|number| self.dir.join(name(number)));
        folders.find(|folder| !folder.exists()).unwrap_or_else(|| self.dir.join("left"))
    }

    fn told(&self, root: &Path, back: &[String], into: &Path) -> Option<String> {
        let kept = match into.strip_prefix(root) {
            Ok(place) if into.exists() => format!(", and what it left is kept in {}", place.display()),
            Ok(_) | Err(_) => String::new(),
        };
        (!back.is_empty()).then(|| format!("{}: {}; they are as before{kept}", self.words(), listed(back)))
    }

    fn told_of(&self, error: &GitError, left: &[String]) -> String {
        format!("{}: {}; they could not be put back: {error}", self.words(), listed(left))
    }

    fn words(&self) -> String {
        let task = &self.task;
        format!(
            "the verify command of task {task}, run on all that came together, changed files that are not its work"
        )
    }
}

fn listed(paths: &[String]) -> String {
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

//! The work tree as git sees it: what was changed before an attempt, what the attempt changed, and what of
//! that belongs into a commit of ours.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use engine::{Baseline, FileState};
use plan::Dialect;

use crate::committable::Committable;
use crate::git::{Change, ChangeKind, Git, GitError, Status};
use crate::project::{PlanFile, Project};

/// The folder in which the program keeps what it writes.
pub(crate) const OWN_FOLDER: &str = ".tillgreen";

/// Files that the program writes for itself: never in a commit, never a reason to call a tree dirty.
pub(crate) const OWN_PATTERNS: [&str; 6] = [
    ".tillgreen/",
    ".tillgreen-*",
    ".ralph-state.json",
    ".progress-task-*",
    ".ultraplan/state/",
    ".ultraplan/logs/",
];

/// How much earlier than the clock says a file's change time may lie: the kernel stamps files with a coarser
/// clock than the one that programs read.
pub(crate) const COARSE_CLOCK_NANOS: i128 = 12_000_000;

/// The state of a path that differs between two commits.
pub(crate) const COMMITTED: &str = "committed";

/// The work tree of a run.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    git: Option<&'a Git>,
    root: PathBuf,
    /// Paths of the plan file and the progress file, where the program writes them.
    spec_files: [Option<String>; 2],
    /// Paths of all plan files, and of the one where skips are noted: no commit of work takes them in.
    plans: Vec<String>,
    committable: Committable,
    /// The state after the last look, brought up to date by our own commits.
    known: Option<Status>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(project: &Project, git: Option<&'a Git>, file: &PlanFile) -> Self {
        // Git has nothing to do with what lies outside of its repository.
        let shown = |path: PathBuf| {
            let path = project.relative(&path);
            path.is_relative().then(|| path.to_string_lossy().into_owned())
        };
        // Where a plan is a link, git has to do with what it points to.
        let pointed = |path: &PathBuf| shown(fs::canonicalize(path).unwrap_or_else(|_| path.clone()));
        let spec_files = match file.dialect {
            Dialect::Spec => [pointed(&file.path), shown(file.progress())],
            Dialect::Phase => [None, None],
        };
        Self {
            git,
            root: project.root().to_owned(),
            committable: Committable::among(&spec_files),
            spec_files,
            plans: file.plans.iter().map(pointed).chain([shown(project.state_md())]).flatten().collect(),
            known: None,
        }
    }

    /// Git, if the project is a repository.
    pub(crate) fn git(&self) -> Option<&'a Git> {
        self.git
    }

    /// The plan file and the progress file, as far as they exist and git does not ignore them.
    pub(crate) fn committable_spec_files(&self) -> Result<Vec<String>, GitError> {
        let committable = self.git.map_or(Ok(&[][..]), |git| self.committable.ask(git))?;
        Ok(committable.iter().filter(|path| self.root.join(path).exists()).cloned().collect())
    }

    /// Forgets what was seen: time has passed in which anybody may have changed anything.
    pub(crate) fn forget(&mut self) {
        self.known = None;
    }

    /// What is checked out and what is changed already.
    pub(crate) fn baseline(&mut self) -> Result<Baseline, GitError> {
        let Some(git) = self.git else { return Ok(Baseline::default()) };
        let status = match self.known.take() {
            Some(status) => status,
            None => git.status()?,
        };
        let head = status.head.as_ref().map(|head| head.as_str().to_owned());
        let dirty = status.changes.iter().map(|change| change.path.clone());
        let dirty = dirty.chain(status.unnameable.iter().map(|path| shown(path)));
        // One that was taken out of the index and is still there is listed twice.
        let mut seen = BTreeSet::new();
        let dirty = dirty.filter(|path| !self.is_ours(path) && seen.insert(path.clone()));
        let baseline = Baseline { head, dirty: dirty.collect() };
        self.known = Some(status);
        Ok(baseline)
    }

    /// What changed since an attempt began, or one before it under the same number that did not end. A path that was
    /// changed before counts only if it changed again. What only looks new is told apart.
    pub(crate) fn touched(
        &mut self,
        status: Status,
        baseline: &Baseline,
        since: SystemTime,
    ) -> Result<(Vec<FileState>, BTreeSet<String>), GitError> {
        let Some(git) = self.git else { return Ok(Default::default()) };
        let mut uncovered = self.uncovered(git, (&status, baseline), since)?;
        let head = status.head.as_ref().map(|head| head.as_str().to_owned());
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        if let (Some(before), Some(now)) = (&baseline.head, &head)
            && before != now
        {
            // Commits that the agent made itself. An agent may have moved the branch anywhere: then git
            // cannot compare, and what is in the tree has to do.
            for path in git.changed_between(before, now).unwrap_or_default() {
                files.insert(path, COMMITTED.to_owned());
            }
        }
        let before: BTreeSet<&str> = baseline.dirty.iter().map(String::as_str).collect();
        for change in &status.changes {
            let is_new = !before.contains(change.path.as_str()) && !uncovered.contains(&change.path);
            if is_new || changed_since(&self.root.join(&change.path), since) == Some(true) {
                files.insert(change.path.clone(), words(change.kind).to_owned());
            }
        }
        for path in &status.unnameable {
            let (name, is_recent) = (shown(path), changed_since(&self.root.join(path), since));
            if is_recent == Some(false) && !before.contains(name.as_str()) {
                // Whether git ignored it before cannot be asked by a name that is not text.
                uncovered.insert(name);
            } else if is_recent == Some(true) || !before.contains(name.as_str()) {
                let kind = if is_recent.is_some() { ChangeKind::Untracked } else { ChangeKind::Deleted };
                files.insert(name, words(kind).to_owned());
            }
        }
        files.retain(|path, _| !self.is_ours(path));
        self.known = Some(status);
        let files = files.into_iter().map(|(path, state)| FileState { path, state });
        Ok((files.collect(), uncovered))
    }

    /// The commit that was checked out when an attempt began, if the history no longer contains it.
    pub(crate) fn lost_commit(&self, baseline: &Baseline) -> Result<Option<String>, GitError> {
        let (Some(git), Some(before)) = (self.git, &baseline.head) else { return Ok(None) };
        let now = self.known.as_ref().and_then(|status| status.head.as_ref());
        if now.is_some_and(|now| now.as_str() == before) || git.contains(before)? {
            return Ok(None);
        }
        Ok(Some(before.clone()))
    }

    /// The paths among these that a commit would have something of.
    pub(crate) fn uncommitted(&mut self, paths: &BTreeSet<String>) -> Result<Vec<Change>, GitError> {
        let Some(git) = self.git else { return Ok(Vec::new()) };
        // What somebody has committed since is no change any more.
        let head = git.head()?;
        let status = match self.known.take().filter(|status| status.head == head) {
            Some(status) => status,
            None => git.status()?,
        };
        let left = status.changes.iter().filter(|change| paths.contains(&change.path)).cloned().collect();
        self.known = Some(status);
        Ok(left)
    }

    /// The same for paths whose names are not UTF-8, as far as known from the last look. They go by how they are shown.
    pub(crate) fn uncommitted_unnameable(&self, paths: &BTreeSet<String>) -> Vec<OsString> {
        let unnameable = self.known.iter().flat_map(|status| &status.unnameable);
        unnameable.filter(|path| paths.contains(&shown(path))).cloned().collect()
    }

    /// The paths that differ from what is committed, as far as known from the last look.
    pub(crate) fn changed(&self) -> Vec<&str> {
        self.known.iter().flat_map(|status| &status.changes).map(|change| change.path.as_str()).collect()
    }

    /// Whether git sees it there and does not know it, as far as known from the last look.
    pub(crate) fn is_untracked(&self, path: &str) -> bool {
        let mut changes = self.known.iter().flat_map(|status| &status.changes);
        changes.any(|change| change.path == path && change.kind == ChangeKind::Untracked)
    }

    /// Notes that a commit of ours now holds these paths.
    pub(crate) fn committed(&mut self, paths: &[String], head: &crate::git::Oid) {
        if let Some(status) = &mut self.known {
            status.changes.retain(|change| !paths.contains(&change.path));
            status.unnameable.retain(|path| !paths.contains(&shown(path)));
            status.head = Some(head.clone());
        }
    }

    /// Paths whose changes in a work tree of a task are dropped.
    pub(crate) fn dropped(&self) -> Vec<String> {
        self.spec_files.iter().flatten().chain(&self.plans).cloned().collect()
    }

    /// Whether a path is the program's own business: its files, the plan, the progress file.
    pub(crate) fn is_ours(&self, path: &str) -> bool {
        is_own(path) || self.spec_files.iter().flatten().chain(&self.plans).any(|ours| ours == path)
    }
}

/// A path as text. Names that are not UTF-8 are never the same as others, but may be shown alike.
pub(crate) fn shown(path: &OsStr) -> String {
    path.to_string_lossy().into_owned()
}

/// Whether a file changed at or after a moment; unknown where it is gone.
pub(crate) fn changed_since(file: &Path, since: SystemTime) -> Option<bool> {
    let metadata = fs::symlink_metadata(file).ok()?;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let since = i128::try_from(since.as_nanos()).ok()?;
    Some(changed + COARSE_CLOCK_NANOS >= since)
}

/// Whether a path is one of the program's own files.
pub(crate) fn is_own(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with(".tillgreen/")
        || name.starts_with(".tillgreen-")
        || name == ".ralph-state.json"
        || name.starts_with(".progress-task-")
        || path.starts_with(".ultraplan/state/")
        || path.starts_with(".ultraplan/logs/")
}

pub(crate) fn words(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Modified => "partially modified",
        ChangeKind::Added | ChangeKind::Untracked => "created",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Unmerged => "in conflict",
    }
}

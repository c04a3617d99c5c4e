//! The project's files by whose they are: the plan's, the program's own, people's.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use plan::Dialect;
use plan::import::Address;

use crate::git::{ChangeKind, Git, GitError};
use crate::project::{PlanFile, Project};

/// The folder in which the program keeps what it writes.
pub(crate) const OWN_FOLDER: &str = ".tillgreen";

/// Files that the program writes for itself: never in a commit, never a reason to call the project dirty.
pub(crate) const OWN_PATTERNS: [&str; 6] = [
    ".tillgreen/",
    ".tillgreen-*",
    ".ralph-state.json",
    ".progress-task-*",
    ".ultraplan/state/",
    ".ultraplan/logs/",
];

/// The nanoseconds by which a file's change time may lie before the clock's: the kernel stamps files with a coarser
/// clock than the one that programs read.
pub(crate) const COARSE_CLOCK_NANOS: i128 = 12_000_000;

/// The number of files that are named at once.
const FILES_TOLD_MAX: usize = 20;

/// The project's files as a run sees them: which are the plan's, which are our own, which are people's.
#[derive(Debug)]
pub(crate) struct ProjectFiles<'a> {
    git: Option<&'a Git>,
    root: PathBuf,
    /// Paths of the plan file and the progress file, where the program writes them.
    spec_files: [Option<String>; 2],
    /// Paths of all plan files, of the one where skips are noted, and of the source that a plan was made of: no commit of
    /// work takes them in.
    plans: Vec<String>,
    committable: Committable,
}

impl<'a> ProjectFiles<'a> {
    pub(crate) fn new(project: &Project, git: Option<&'a Git>, file: &PlanFile) -> Self {
        // Git has nothing to do with what lies outside of its repository.
        let shown = |path: PathBuf| {
            let path = project.relative(&path);
            path.is_relative().then(|| path.to_string_lossy().into_owned())
        };
        // Where a plan is a link, git has to do with what it points to.
        let pointed = |path: &PathBuf| shown(fs::canonicalize(path).unwrap_or_else(|_| path.clone()));
        let spec_files = match file.dialect {
            Dialect::Spec => [pointed(&file.path), shown(file.progress()).filter(|_| file.keeps_beside())],
            Dialect::Phase => [None, None],
        };
        let source = file.imported().and_then(|imported| match imported.address {
            Address::File(path) => shown(project.root().join(path)),
            Address::Label(_) | Address::Milestone(_) => None,
        });
        let plans = file.plans.iter().map(pointed);
        Self {
            git,
            root: project.root().to_owned(),
            committable: Committable::among(&spec_files),
            spec_files,
            plans: plans.chain([shown(project.state_md()), source]).flatten().collect(),
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

    /// The paths that differ from what is committed and are nobody's business but people's.
    pub(crate) fn dirty(&self) -> Result<Vec<String>, GitError> {
        let Some(git) = self.git else { return Ok(Vec::new()) };
        let status = git.status()?;
        let dirty = status.changes.iter().map(|change| change.path.clone());
        let dirty = dirty.chain(status.unnameable.iter().map(|path| shown(path)));
        // One that was taken out of the index and is still there is listed twice.
        let mut seen = BTreeSet::new();
        Ok(dirty.filter(|path| !self.is_ours(path) && seen.insert(path.clone())).collect())
    }

    /// The files of the plan: what an agent makes of them is no part of its work.
    pub(crate) fn plan_files(&self) -> Vec<String> {
        self.spec_files.iter().flatten().chain(&self.plans).cloned().collect()
    }

    /// True if a path is the program's own business: its files, the plan, the progress file.
    pub(crate) fn is_ours(&self, path: &str) -> bool {
        is_own(path) || self.spec_files.iter().flatten().chain(&self.plans).any(|ours| ours == path)
    }
}

/// A path as text. Names that are not UTF-8 are never the same as others, but may be shown alike.
pub(crate) fn shown(path: &OsStr) -> String {
    path.to_string_lossy().into_owned()
}

/// Paths for people, as far as there is room.
pub(crate) fn listed(paths: &[String]) -> String {
    let (shown, rest) = paths.split_at(paths.len().min(FILES_TOLD_MAX));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!("{}{more}", shown.join(", "))
}

/// True if a file changed at or after a moment; none where it is gone.
pub(crate) fn changed_since(file: &Path, since: SystemTime) -> Option<bool> {
    let metadata = fs::symlink_metadata(file).ok()?;
    let changed = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let since = i128::try_from(since.as_nanos()).ok()?;
    Some(changed + COARSE_CLOCK_NANOS >= since)
}

/// True if a path is one of the program's own files.
pub(crate) fn is_own(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path == OWN_FOLDER
        || path.starts_with(".tillgreen/")
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

/// The plan file and the progress file, and which of them git is to know, once that was asked by anybody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Committable {
    files: Vec<String>,
    known: Arc<OnceLock<Vec<String>>>,
}

impl Committable {
    pub(crate) fn among(files: &[Option<String>]) -> Self {
        Self { files: files.iter().flatten().cloned().collect(), known: Arc::default() }
    }

    /// Those that are not ignored, and those that are tracked all the same.
    pub(crate) fn ask(&self, git: &Git) -> Result<&[String], GitError> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let ignored = git.ignored_among(&self.files)?;
        let mut wanted = Vec::new();
        for path in &self.files {
            if !ignored.contains(path) || git.is_tracked(path)? {
                wanted.push(path.clone());
            }
        }
        // Whoever was first has found the same.
        Ok(self.known.get_or_init(|| wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_own_files_are_told_from_others() {
        for own in [
            ".tillgreen",
            ".tillgreen/logs/retry.log",
            "specs/a/.ralph-state.json",
            ".ultraplan/logs/retry.log",
        ] {
            assert!(is_own(own), "{own}");
        }
        for other in ["tillgreen.toml", "specs/a/tasks.md", "data/.tillgreen", ".tillgreens/a"] {
            assert!(!is_own(other), "{other}");
        }
    }
}

//! A copy of the project at a commit: a repository of its own, with the history behind that commit. Whoever works there
//! changes nothing of the project: there are no references and no remote that lead back, and objects are only read.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call};
use crate::git::diff::DiffExtent;
use crate::git::history::Oid;
use crate::git::index::TREE_DEADLINE;
use crate::git::repository::Git;

/// The branch of a copy.
const BRANCH: &str = "refs/heads/planning";

/// The settings of a copy: what people have set up for their own commits has no place there.
const SETTINGS: [(&str, &str); 7] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("commit.gpgSign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("user.name", "Tillgreen"),
    ("user.email", "tillgreen@localhost"),
];

impl Git {
    /// Makes a copy at a path where nothing is.
    pub(crate) fn copy_to(&self, folder: &Path, commit: &Oid) -> Result<Git, GitError> {
        let format = process::run(self.call(&["rev-parse", "--show-object-format"]))?.success()?;
        let format = format!("--object-format={}", String::from_utf8_lossy(&format).trim());
        let branch = format!("--initial-branch={}", BRANCH.trim_start_matches("refs/heads/"));
        // Templates have hooks.
        let mut call = self.call(&["init", "--quiet", "--template=", &branch, &format, "--"]);
        call.arguments.push(folder.as_os_str().to_owned());
        process::run(call)?.success()?;
        let unusable =
            || GitError::Unusable { dir: folder.to_owned(), reason: "it was just made".to_owned() };
        // There is no remote that large files could come from: the plan is written without them.
        let without_large_files = ("GIT_LFS_SKIP_SMUDGE".into(), "1".into());
        let environment = self.environment().iter().cloned().chain([without_large_files]).collect();
        let copy = Git::discover_with(folder, environment)?.ok_or_else(unusable)?;
        let alternates = copy.git_dir().join("objects/info/alternates");
        let objects = self.common_dir().join("objects");
        fs::write(&alternates, [objects.as_os_str().as_bytes(), b"\n"].concat())
            .map_err(GitError::io("write", &alternates))?;
        let shallow = self.common_dir().join("shallow");
        if shallow.is_file() {
            fs::copy(&shallow, copy.git_dir().join("shallow")).map_err(GitError::io("copy", &shallow))?;
        }
        for (name, value) in SETTINGS {
            process::run(copy.call(&["config", name, value]))?.success()?;
        }
        process::run(copy.call(&["update-ref", BRANCH, commit.as_str()]))?.success()?;
        let reset = copy.call(&["reset", "--quiet", "--hard", "--no-recurse-submodules"]);
        process::run(Call { deadline: TREE_DEADLINE, ..reset })?.success()?;
        Ok(copy)
    }

    /// Commits paths of a copy as they lie there, ignored or not; without any, an empty commit.
    pub(crate) fn commit_in_copy(&self, paths: &[String], message: &str) -> Result<Option<Oid>, GitError> {
        self.add_in_copy(paths)?;
        let commit = ["commit", "--quiet", "--allow-empty", "--no-verify", "--message", message];
        process::run(self.call(&commit))?.success()?;
        self.head()
    }

    /// The differences between a commit of a copy and a path as it lies there, ignored or not.
    pub(crate) fn difference_in_copy(&self, commit: &str, path: &str) -> Result<String, GitError> {
        let path = [path.to_owned()];
        self.add_in_copy(&path)?;
        self.work_diff(commit, &path, DiffExtent::Lines)
    }

    fn add_in_copy(&self, paths: &[String]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut call = self.call(&["--literal-pathspecs", "add", "--force", "--"]);
        call.arguments.extend(paths.iter().map(Into::into));
        process::run(call)?.success().map(drop)
    }
}

//! Changes as text for people to read: those of a commit, and those that are in no commit yet.

use std::ffi::OsString;
use std::fmt::Write as _;

use super::calls::process::{self, Call, Ended};
use super::error::GitError;
use super::history::revision;
use super::repository::Git;
use crate::process::printable;

/// How much of a diff is shown.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// How many paths, and how many new files among them, a diff is made of. The kernel refuses longer lists of arguments.
const PATHS_MAX: usize = 200;

/// How much is said of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffExtent {
    /// The files and how many lines changed in each.
    Files,
    /// Every line.
    Lines,
}

impl DiffExtent {
    /// The options that ask git for it, whatever the user's own settings are.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Files => &["--stat=90", "--no-color", "--no-ext-diff", "--no-textconv"],
            Self::Lines => &["--patch", "--no-color", "--no-ext-diff", "--no-textconv"],
        }
    }
}

impl Git {
    /// The changes of a commit.
    pub fn commit_diff(&self, commit: &str, extent: DiffExtent) -> Result<String, GitError> {
        let show = ["show", "--no-show-signature", "--format="];
        let call = self.call(&[&show[..], extent.options(), &[revision(commit)?, "--"]].concat());
        Ok(text(&process::run(call)?.success()?))
    }

    /// The differences between a commit and some paths as they are in the working tree now, new files included. Without
    /// paths, all of them.
    pub fn work_diff(&self, commit: &str, paths: &[String], extent: DiffExtent) -> Result<String, GitError> {
        let diff = ["--literal-pathspecs", "diff"];
        let call = self.call(&[&diff[..], extent.options(), &[revision(commit)?, "--"]].concat());
        let mut shown = text(&process::run(on(call, paths))?.success()?);
        for path in self.new_files(paths)? {
            match extent {
                // Writing into a string cannot fail.
                DiffExtent::Files => drop(writeln!(shown, " {path} (new)")),
                DiffExtent::Lines => shown.push_str(&self.new_file_diff(&path)?),
            }
        }
        Ok(shown)
    }

    /// Those of the paths that git does not track, without what it ignores.
    fn new_files(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let list = ["--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", "--"];
        let stdout = process::run(on(self.call(&list), paths))?.success()?;
        let names = stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.take(PATHS_MAX).map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    fn new_file_diff(&self, path: &str) -> Result<String, GitError> {
        let diff = [&["diff", "--no-index"][..], DiffExtent::Lines.options(), &["--", "/dev/null", path]];
        let ended = process::run(self.call(&diff.concat()))?;
        match ended {
            // There are differences.
            Ended { code: Some(0 | 1), stdout, .. } => Ok(text(&stdout)),
            failed => Err(failed.into_failure()),
        }
    }
}

fn on<'a>(mut call: Call<'a>, paths: &[String]) -> Call<'a> {
    call.arguments.extend(paths.iter().take(PATHS_MAX).map(OsString::from));
    call
}

fn text(bytes: &[u8]) -> String {
    let mut text = printable(&bytes[..bytes.len().min(BYTES_MAX)]);
    if bytes.len() > BYTES_MAX {
        text.push_str("\n… and more: the rest is left out\n");
    }
    text
}

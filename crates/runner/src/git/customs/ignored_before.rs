//! What git would have ignored by the rules of an earlier commit: somebody may have changed them since.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::check_ignore::{answered, asked};
use crate::git::calls::process;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::history::revision;
use crate::git::raw_change::{names, split_names};
use crate::git::repository::Git;

/// The name of files with rules.
pub(crate) const RULES: &str = ".gitignore";

impl Git {
    /// The paths among these that the rules of a commit ignore, along with those that are in no commit.
    pub fn ignored_by(&self, commit: &str, paths: &[String]) -> Result<BTreeSet<String>, GitError> {
        let listing = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", revision(commit)?];
        let listing = process::run(self.call(&listing))?.success()?;
        let rules: Vec<OsString> = split_names(&listing).filter(|path| is_rules(path)).collect();
        // Git reads rules from files only, so those of the commit are written into a folder that has nothing else.
        let place = Place::new(self)?;
        let index = ScratchIndex::empty(self, &place.folder, self.git_dir());
        if !rules.is_empty() {
            index.read_tree(commit)?;
            let rules = names(rules.iter().map(OsString::as_os_str));
            index.run(&["checkout-index", "--force", "-z", "--stdin"], rules)?.success()?;
        }
        let stdin = asked(paths.iter().map(OsStr::new));
        let ended = index.run(&["check-ignore", "--no-index", "-z", "--stdin"], stdin)?;
        // It ends with 1 where none is ignored.
        let ignored = if ended.code == Some(1) { Vec::new() } else { ended.success()? };
        Ok(answered(&ignored).filter_map(|path| path.into_string().ok()).collect())
    }

    /// The file with rules that are in no commit.
    pub(crate) fn own_rules(&self) -> PathBuf {
        self.common_dir().join("info/exclude")
    }
}

fn is_rules(path: &OsStr) -> bool {
    Path::new(path).file_name() == Some(OsStr::new(RULES))
}

/// A folder of ours, for as long as it is used.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new(git: &Git) -> Result<Place, GitError> {
        let folder = git.git_dir().join(format!("tillgreen-rules-{}", std::process::id()));
        // One that an earlier program of the same number left would add rules of its own.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(GitError::io("create", &folder))?;
        Ok(Place { folder })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // One that stays holds copies of committed files, and nobody reads it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

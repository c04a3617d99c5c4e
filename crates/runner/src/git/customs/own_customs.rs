//! What a repository itself says of how git works in it: its settings, its hooks, its attributes. They are in no commit, all
//! its working trees share them, and they can have git run any command: whoever leaves agents alone wants to know if one
//! changed them.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git::repository::Git;

/// Larger files are known by their size alone.
const BYTES_MAX: u64 = 1024 * 1024;

/// Hooks of such names do nothing.
const SAMPLE: &str = "sample";

/// What these files hold at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnCustoms {
    files: BTreeMap<PathBuf, u64>,
}

impl OwnCustoms {
    /// The files that were not there before, are gone, or hold something else.
    pub fn changed_since(&self, before: &OwnCustoms) -> Vec<PathBuf> {
        let is_other = |file: &&PathBuf| self.files.get(*file) != before.files.get(*file);
        let mut changed: Vec<PathBuf> =
            self.files.keys().chain(before.files.keys()).filter(is_other).cloned().collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

impl Git {
    /// What the repository says now.
    pub fn own_customs(&self) -> OwnCustoms {
        let hooks = fs::read_dir(self.common_dir().join("hooks")).into_iter().flatten().flatten();
        let hooks =
            hooks.map(|entry| entry.path()).filter(|hook| hook.extension().is_none_or(|end| end != SAMPLE));
        let files = [
            self.common_dir().join("config"),
            self.git_dir().join("config.worktree"),
            self.common_dir().join("info/attributes"),
        ];
        let files = files.into_iter().chain(hooks);
        OwnCustoms {
            files: files
                .filter_map(|file| Some((told(&file)?, file)))
                .map(|(sum, file)| (file, sum))
                .collect(),
        }
    }
}

/// A sum of what is in a file, and of whether it can be run. None: there is no such file.
fn told(file: &Path) -> Option<u64> {
    let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let mut sum = DefaultHasher::new();
    (metadata.len(), metadata.permissions().mode()).hash(&mut sum);
    if metadata.len() <= BYTES_MAX {
        fs::read(file).ok()?.hash(&mut sum);
    }
    Some(sum.finish())
}

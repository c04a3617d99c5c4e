//! What is remembered of a slot from one use to the next, in a file beside its tree. It is a cache: without it, or with one
//! that cannot be read, nothing in the tree is kept.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::setup::{Use, use_of};
use crate::atomic;

/// The name of this process among all that ever use the same slots.
static PROCESS: LazyLock<String> =
    LazyLock::new(|| format!("{}-{}", std::process::id(), Timestamp::now().as_nanosecond()));

/// What is remembered of a slot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    /// True while nothing was cut short in it.
    pub(super) trusted: bool,
    /// The process that uses it; none if what ran in it last ended by itself.
    pub(super) in_use_by: Option<String>,
    /// The tree as git made it.
    pub(super) settings: Option<String>,
    /// The stamp of the set-up that was done.
    pub(super) stamp: Option<String>,
    /// The paths that set-up made.
    pub(super) made: Vec<Made>,
    /// The paths that were copied or linked.
    pub(super) put: Vec<String>,
}

/// A path that set-up made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) path: String,
    /// The use of it when the tree shows another commit.
    pub(super) used: Use,
    /// By which it is known for the same: what was put into its place since is another.
    inode: u64,
}

impl Made {
    /// The path as it is now; none if there is nothing.
    pub(super) fn now(tree: &Path, path: &str) -> Option<Made> {
        let metadata = fs::symlink_metadata(tree.join(path)).ok()?;
        Some(Made { path: path.to_owned(), used: use_of(tree, path), inode: metadata.ino() })
    }

    /// True if it is still the one that set-up made.
    pub(super) fn is_there(&self, tree: &Path) -> bool {
        fs::symlink_metadata(tree.join(&self.path)).is_ok_and(|metadata| metadata.ino() == self.inode)
    }
}

impl Remembered {
    /// What the file says, if it says anything.
    pub(super) fn read(file: &Path) -> Remembered {
        let text = atomic::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Writes the file. Should that fail, one that says nothing is as good.
    pub(super) fn write(&self, file: &Path) {
        let text = serde_json::to_string(self).unwrap_or_default();
        if atomic::replace(file, &text).is_err() {
            // Nothing is kept then at the next use.
            let _ = fs::remove_file(file);
        }
    }

    /// True if what is in the tree can be kept: whatever ran in it last was not cut short.
    pub(super) fn can_be_kept(&self) -> bool {
        self.trusted && self.in_use_by.as_ref().is_none_or(|process| *process == *PROCESS)
    }

    /// True if this process made the tree ready, and nothing was cut short in it since.
    pub(super) fn is_held(&self) -> bool {
        self.trusted && self.in_use_by.as_ref() == Some(&*PROCESS)
    }

    /// Marks it as used by this process.
    pub(super) fn taken(self) -> Remembered {
        Remembered { in_use_by: Some(PROCESS.clone()), trusted: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_left_in_use_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("slot-1.json");
        assert!(!Remembered::read(&file).can_be_kept());
        let taken = Remembered { stamp: Some("1".into()), ..Remembered::default() }.taken();
        taken.write(&file);
        assert_eq!(Remembered::read(&file), taken);
        assert!(taken.can_be_kept());
        let other = Remembered { in_use_by: Some("1-2".into()), ..taken.clone() };
        assert!(!other.can_be_kept());
        assert!(Remembered { in_use_by: None, ..other.clone() }.can_be_kept());
        assert!(!Remembered { trusted: false, ..taken }.can_be_kept());
        fs::write(&file, "{\"trusted\": tr").unwrap();
        assert!(!Remembered::read(&file).can_be_kept());
    }

    #[test]
    fn what_was_replaced_is_not_what_set_up_made() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path();
        fs::create_dir_all(tree.join("modules/a")).unwrap();
        let made = Made::now(tree, "modules").unwrap();
        fs::write(tree.join("modules/b"), "").unwrap();
        assert!(made.is_there(tree));
        fs::rename(tree.join("modules"), tree.join("before")).unwrap();
        assert!(!made.is_there(tree));
        std::os::unix::fs::symlink("before", tree.join("modules")).unwrap();
        assert!(!made.is_there(tree));
    }
}

//! What files on disk looked like at a moment, so that it can be told later whether anybody touched them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The looks of some files at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamps {
    files: Vec<(OsString, Option<Stamp>)>,
}

/// A file by its number, size and times. Whoever writes to it changes the last of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamps {
    /// What these paths below a folder look like now.
    pub(super) fn of<'a>(root: &Path, paths: impl Iterator<Item = &'a OsString>) -> Stamps {
        let files = paths.map(|path| (path.clone(), Stamp::of(&root.join(path)))).collect();
        Stamps { files }
    }

    /// The same with what some of the files look like by now.
    pub(super) fn renewed(mut self, root: &Path, paths: &BTreeSet<&OsString>) -> Stamps {
        for (path, stamp) in self.files.iter_mut().filter(|(path, _)| paths.contains(path)) {
            *stamp = Stamp::of(&root.join(path));
        }
        self
    }

    /// The same, in which some of the files never look the same.
    pub(super) fn without(mut self, paths: &BTreeSet<OsString>) -> Stamps {
        for (_, stamp) in self.files.iter_mut().filter(|(path, _)| paths.contains(path)) {
            *stamp = None;
        }
        self
    }

    /// Whether they still look the same.
    pub(super) fn hold(&self, root: &Path) -> bool {
        self.files.iter().all(|(path, stamp)| Stamp::of(&root.join(path)) == *stamp)
    }

    /// The first that looks otherwise by now.
    pub fn changed(&self, root: &Path) -> Option<String> {
        let mut files = self.files.iter();
        let changed = files.find(|(path, stamp)| Stamp::of(&root.join(path)) != *stamp);
        changed.map(|(path, _)| path.to_string_lossy().into_owned())
    }

    /// Those that still look the same, and the others.
    pub(super) fn parted(&self, root: &Path) -> (Vec<&OsString>, Vec<&OsString>) {
        let (same, other): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|(path, stamp)| Stamp::of(&root.join(path)) == *stamp);
        (same.into_iter().map(|(path, _)| path).collect(), other.into_iter().map(|(path, _)| path).collect())
    }
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Option<Stamp> {
        fs::symlink_metadata(path).ok().map(|metadata| Stamp::told(&metadata))
    }

    /// The same of what is known already.
    pub(super) fn told(metadata: &Metadata) -> Stamp {
        Stamp {
            file: (metadata.dev(), metadata.ino(), metadata.size()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use super::Stamps;

    #[test]
    fn whoever_writes_removes_or_makes_a_file_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = ["there", "not there"].map(OsString::from);
        let stamps = |()| Stamps::of(folder.path(), paths.iter());
        fs::write(folder.path().join("there"), "one").expect("it can be written");
        assert!(stamps(()).hold(folder.path()));
        let before = stamps(());
        fs::write(folder.path().join("there"), "three").expect("it can be written");
        assert!(!before.hold(folder.path()));
        let before = stamps(());
        fs::write(folder.path().join("not there"), "").expect("it can be written");
        assert!(!before.hold(folder.path()));
        let before = stamps(());
        fs::remove_file(folder.path().join("there")).expect("it can be removed");
        assert!(!before.hold(folder.path()));
    }
}

//! Copies of indexes that are known again by keyed sums in memory. The files themselves lie where agents can write: one that
//! is not known for sure is good for nothing.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sums of files, by where they are. Nobody else can tell which sum something has.
#[derive(Debug, Default)]
pub(in crate::git) struct KnownIndexes {
    keys: RandomState,
    sums: Mutex<BTreeMap<PathBuf, u64>>,
}

impl KnownIndexes {
    fn sums(&self) -> MutexGuard<'_, BTreeMap<PathBuf, u64>> {
        // Whoever panicked left nothing half done: only whole values are put in and taken out.
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on a file is known as it is.
    pub(in crate::git) fn note(&self, index: &Path) {
        match self.sum(index) {
            Some(sum) => self.sums().insert(index.to_owned(), sum),
            None => self.sums().remove(index),
        };
    }

    /// Whether a file is the one that was noted.
    pub(in crate::git) fn is_known(&self, index: &Path) -> bool {
        let noted = self.sums().get(index).copied();
        noted.is_some() && noted == self.sum(index)
    }

    /// A file is somewhere else now.
    pub(in crate::git) fn moved(&self, from: &Path, to: &Path) {
        let mut sums = self.sums();
        if let Some(sum) = sums.remove(from) {
            sums.insert(to.to_owned(), sum);
        }
    }

    pub(in crate::git) fn forget(&self, index: &Path) {
        self.sums().remove(index);
    }

    /// The time is part of it: by that git tells which files it has to look into.
    fn sum(&self, index: &Path) -> Option<u64> {
        let (metadata, content) = (fs::symlink_metadata(index).ok()?, fs::read(index).ok()?);
        let mut hasher = self.keys.build_hasher();
        hasher.write_i64(metadata.mtime());
        hasher.write_i64(metadata.mtime_nsec());
        hasher.write(&content);
        Some(hasher.finish())
    }
}

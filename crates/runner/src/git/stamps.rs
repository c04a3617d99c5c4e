//! What a file on disk looked like at a moment, so that it can be told later whether anybody touched it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file by its number, size and times. Whoever writes to it changes the last of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Option<Stamp> {
        let metadata = fs::symlink_metadata(path).ok()?;
        Some(Stamp {
            file: (metadata.dev(), metadata.ino(), metadata.size()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

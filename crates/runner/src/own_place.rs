//! Work that names the work tree that it was made in: a path in a generated file, say. It is green as long as the tree is
//! there, and the tree goes when the task is done.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::traces::listed;

/// How much is looked at, which is done for every attempt.
const FILES_MAX: usize = 100;
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// What to say of files below a tree that name it, if there are any.
pub(crate) fn told_of_own_place(tree: &Path, files: &BTreeSet<String>) -> Option<String> {
    let naming: Vec<String> =
        files.iter().take(FILES_MAX).filter(|file| names(&tree.join(file), tree)).cloned().collect();
    (!naming.is_empty()).then(|| {
        format!(
            "names the work tree that it was made in, which goes when the task is done: {} (a path from the project's \
             top folder stays right)",
            listed(&naming)
        )
    })
}

fn names(file: &Path, tree: &Path) -> bool {
    let is_fit = |metadata: fs::Metadata| metadata.is_file() && metadata.len() <= FILE_BYTES_MAX;
    let content = if fs::symlink_metadata(file).is_ok_and(is_fit) { fs::read(file).ok() } else { None };
    let path = tree.as_os_str().as_bytes();
    content.is_some_and(|content| content.windows(path.len()).any(|window| window == path))
}

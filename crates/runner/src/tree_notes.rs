//! Where it is noted what is known of a work tree: beside it, by its name. A note outlives its tree until somebody has seen
//! to both.

use std::path::{Path, PathBuf};

/// Where the commit that a tree was made at is noted.
pub(crate) fn base_file(tree: &Path) -> PathBuf {
    beside(tree, ".base")
}

/// Where it is noted, while a tree is made anew, what an earlier attempt left.
pub(crate) fn left_file(tree: &Path) -> PathBuf {
    beside(tree, ".left")
}

/// Where the commit is noted into which the work was packed when its agent had ended; nothing if there was no work.
pub(crate) fn packed_file(tree: &Path) -> PathBuf {
    beside(tree, ".packed")
}

/// Where it is noted what the files of the plan were when the tree was made.
pub(crate) fn plan_file(tree: &Path) -> PathBuf {
    beside(tree, ".plan")
}

/// Where it is noted what was in the tree when the run ended.
pub(crate) fn seen_file(tree: &Path) -> PathBuf {
    beside(tree, ".seen")
}

/// Where it is noted what the work was before something else was verified in its place.
pub(crate) fn original_file(tree: &Path) -> PathBuf {
    beside(tree, ".original")
}

/// Where it is noted what cannot come back from the tree.
pub(crate) fn remnants_file(tree: &Path) -> PathBuf {
    beside(tree, ".remnants")
}

/// The task that something among the trees belongs to, by its name: a tree, or a note about one.
pub(crate) fn task_part(name: &str) -> &str {
    let endings = [".base", ".left", ".original", ".packed", ".plan", ".remnants", ".seen"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

fn beside(tree: &Path, ending: &str) -> PathBuf {
    let mut name = tree.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    tree.with_file_name(name)
}

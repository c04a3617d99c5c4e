//! Attributes that came in while work was under way elsewhere: by them git may store files of the work otherwise than
//! they were packed, as it does with line ends and filters. What comes in is what git would have stored here.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::landing_index::LandingIndex;
use super::landing_note::LandingNote;
use crate::git::calls::process::{self, Call, pathspecs};
use crate::git::calls::scratch_index::{ScratchIndex, TREE_DEADLINE, UNSPARSE};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{RawChange, index_info};
use crate::git::repository::Git;

/// The name of files with attributes.
const ATTRIBUTES: &str = ".gitattributes";

impl Git {
    /// The folders whose attributes changed from one commit to another.
    pub(in crate::git) fn attributes_since(&self, base: &Oid, head: &Oid) -> Result<Vec<PathBuf>, GitError> {
        if base == head {
            return Ok(Vec::new());
        }
        let changed = self.differences(base, head)?;
        let attributes = changed.iter().map(|change| Path::new(&change.path));
        let attributes = attributes.filter(|path| path.file_name() == Some(OsStr::new(ATTRIBUTES)));
        Ok(attributes.filter_map(Path::parent).map(Path::to_owned).collect())
    }

    /// Has git store files of a landing anew that lie in these folders, and notes what it comes to then. Where git
    /// cannot, they stay as they were packed.
    pub(in crate::git) fn store_anew(
        &self,
        note: &LandingNote,
        (changes, folders): (&[RawChange], &[PathBuf]),
        index: &LandingIndex<'_>,
    ) -> Result<(), GitError> {
        let is_concerned = |change: &&RawChange| {
            let path = Path::new(&change.path);
            change.new.mode.starts_with("100") && folders.iter().any(|folder| path.starts_with(folder))
        };
        let paths: Vec<&OsStr> =
            changes.iter().filter(is_concerned).map(|change| change.path.as_os_str()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let anew = ["add", "--renormalize", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let anew = [&UNSPARSE[..], &anew].concat();
        let call = || Call { stdin: pathspecs(&paths), deadline: TREE_DEADLINE, ..index.call(&anew) };
        if !self.run_locking(call)?.is_success() {
            return Ok(());
        }
        let look = ["diff-index", "--cached", "--raw", "-z", "--no-renames", note.tree.as_str(), "--"];
        let mut stored = RawChange::parse_all(process::run(index.call(&look))?)?;
        stored.retain(|change| paths.contains(&change.path.as_os_str()));
        if stored.is_empty() {
            return Ok(());
        }
        let scratch = ScratchIndex::of_main(self)?;
        scratch.read_tree(note.tree.as_str())?;
        scratch.set(index_info(stored.iter().map(|change| (change.path.as_os_str(), &change.new))))?;
        let tree = scratch.write_tree()?;
        self.anchor(&tree)?;
        LandingNote { tree, ..note.clone() }.write(self.git_dir())
    }
}

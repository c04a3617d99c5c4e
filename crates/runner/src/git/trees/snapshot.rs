//! What an agent made of a linked working tree, whatever it did to HEAD, branches and index: the files are what
//! counts. The tree's own index is only read.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::hidden::look_at_all;
use super::index_as_left::IndexAsLeft;
use crate::git::calls::process::Ended;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::hindrance::{messages, unreadable};
use crate::git::history::Oid;
use crate::git::raw_change::{Entry, RawChange, index_info, lies_in};
use crate::git::repository::Git;
use crate::git::status::Change;
use crate::tree::is_own;

/// Where a project says which submodules it has.
const MODULES: &str = ".gitmodules";

/// A linked working tree and what is not to come back from it.
#[derive(Debug, Clone, Copy)]
pub struct TreeWork<'a> {
    /// Its top folder.
    pub tree: &'a Path,
    /// The commit that it was made at.
    pub base: &'a Oid,
    /// Paths whose changes are dropped: the spec files.
    pub dropped: &'a [String],
    /// Paths that were linked or copied into it.
    pub furnished: &'a [String],
}

/// What changed in a linked working tree, committed there or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// The work.
    pub changes: Vec<Change>,
    /// Changed, but to be dropped.
    pub dropped: Vec<String>,
    /// What cannot come back: repositories inside the tree, submodules at commits that nobody else has.
    pub left_out: Vec<String>,
    /// What was taken out of the index and is still there.
    pub taken_out: Vec<String>,
}

/// The work, as a tree.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::git) struct Snapshot {
    /// The tree that it comes to.
    pub(in crate::git) tree: Oid,
    pub(in crate::git) changes: Vec<RawChange>,
    pub(in crate::git) dropped: Vec<String>,
    pub(in crate::git) left_out: Vec<String>,
    pub(in crate::git) taken_out: Vec<String>,
}

impl Snapshot {
    pub(in crate::git) fn touched(self) -> Touched {
        let changes = self.changes.iter().map(RawChange::told).collect();
        let Snapshot { dropped, left_out, taken_out, .. } = self;
        Touched { changes, dropped, left_out, taken_out }
    }
}

impl Git {
    /// The name of the tree that a linked working tree would be packed into now: the same for the same content.
    pub fn content_of(&self, work: &TreeWork<'_>) -> Result<Oid, GitError> {
        self.snapshot(work).map(|snapshot| snapshot.tree)
    }

    /// What changed in a linked working tree since it was made.
    pub fn touched_in(&self, work: &TreeWork<'_>) -> Result<Touched, GitError> {
        self.snapshot(work).map(Snapshot::touched)
    }

    pub(in crate::git) fn snapshot(&self, work: &TreeWork<'_>) -> Result<Snapshot, GitError> {
        let state = self.state_of(work.tree)?;
        // Git would take one that is missing for an empty one.
        if fs::symlink_metadata(state.join("index")).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return self.snapshot_afresh(work, &state);
        }
        match self.snapshot_of_index(work, &state) {
            // An index that an agent broke says nothing; the files do. Git then has to read all of them.
            // One that was killed is asked once more in the same way.
            Err(error @ GitError::Failed { code, .. }) if code.is_none() || !error.is_of_surroundings() => {
                self.snapshot_afresh(work, &state)
            }
            ended => ended,
        }
    }

    /// The same, by what the index of the tree knows.
    fn snapshot_of_index(&self, work: &TreeWork<'_>, state: &Path) -> Result<Snapshot, GitError> {
        let index = ScratchIndex::copy(self, work.tree, state)?;
        let as_left = IndexAsLeft::read(&index)?;
        look_at_all(&index, (work.tree, state))?;
        self.take_out_links(&index, work, as_left.emptied_links(work))?;
        self.snapshot_by(&index, work, &as_left)
    }

    /// Puts all that is there into an index, and tells what it has come to.
    fn snapshot_by(
        &self,
        index: &ScratchIndex<'_>,
        work: &TreeWork<'_>,
        as_left: &IndexAsLeft,
    ) -> Result<Snapshot, GitError> {
        let left_out = add_all(index, work)?;
        let tree = index.write_tree()?;
        let mut snapshot = self.sort_out(index, work, (tree, left_out))?;
        snapshot.taken_out = as_left.lacked(index, work, &snapshot.changes)?;
        Ok(snapshot)
    }

    /// Takes those of these repositories out of an index that the project does not have.
    fn take_out_links(
        &self,
        index: &ScratchIndex<'_>,
        work: &TreeWork<'_>,
        mut links: Vec<OsString>,
    ) -> Result<(), GitError> {
        if !links.is_empty() {
            let known = self.links_of(work.base)?;
            links.retain(|link| !known.contains(link));
        }
        let absent = Entry::absent(work.base.as_str().len());
        index.set(index_info(links.iter().map(|link| (link.as_os_str(), &absent))))
    }

    /// The same, by the commit that the tree was made at. Of its index only the names of files count, which an agent may
    /// have added although they are ignored.
    fn snapshot_afresh(&self, work: &TreeWork<'_>, state: &Path) -> Result<Snapshot, GitError> {
        let as_left = ScratchIndex::copy(self, work.tree, state).and_then(|left| IndexAsLeft::read(&left));
        let index = ScratchIndex::empty(self, work.tree, state);
        index.read_tree(work.base.as_str())?;
        // One that git cannot read tells nothing.
        as_left.unwrap_or_default().put_files(&index, work)?;
        self.snapshot_by(&index, work, &IndexAsLeft::default())
    }

    /// Tells work from what is dropped or left out, and takes the latter out of the tree.
    fn sort_out(
        &self,
        index: &ScratchIndex<'_>,
        work: &TreeWork<'_>,
        (mut tree, mut left_out): (Oid, Vec<String>),
    ) -> Result<Snapshot, GitError> {
        let (mut changes, mut dropped, mut undone) = (Vec::new(), Vec::new(), Vec::new());
        for change in self.differences(work.base, &tree)? {
            if is_own(&change.shown()) || change.lies_in(work.furnished) {
                undone.push(change);
            } else if change.lies_in(work.dropped) {
                // One that is only out of the index is as it was, or else known by its content.
                let is_there = change.new.is_absent() && work.tree.join(&change.path).exists();
                dropped.extend((!is_there).then(|| change.shown()));
                undone.push(change);
            } else if self.is_unreachable(&change)? {
                left_out.push(change.shown());
                undone.push(change);
            } else {
                changes.push(change);
            }
        }
        if !left_out.is_empty() {
            undone.extend(half_moved(&mut changes));
        }
        if !undone.is_empty() {
            index.set(index_info(undone.iter().map(|change| (change.path.as_os_str(), &change.old))))?;
            tree = index.write_tree()?;
        }
        left_out.sort();
        left_out.dedup();
        Ok(Snapshot { tree, changes, dropped, left_out, taken_out: Vec::new() })
    }

    /// Whether a change points at a commit of another repository that would be gone with the tree.
    fn is_unreachable(&self, change: &RawChange) -> Result<bool, GitError> {
        if !change.new.is_gitlink() {
            return Ok(false);
        }
        let main = self.root().join(&change.path);
        if !change.old.is_gitlink() || !main.join(".git").exists() {
            return Ok(true);
        }
        Ok(!self.has_in(&main, &change.new.oid)?)
    }
}

/// Takes what would be left of moving a submodule out of the changes, where its new place cannot come back: that the old one is
/// gone, and where the new one is.
fn half_moved(changes: &mut Vec<RawChange>) -> Vec<RawChange> {
    let is_gone = |change: &RawChange| change.old.is_gitlink() && change.new.is_absent();
    let is_half = |change: &mut RawChange| is_gone(change) || change.path == MODULES;
    if changes.iter().any(is_gone) { changes.extract_if(.., is_half).collect() } else { Vec::new() }
}

/// Puts all that is in the tree into the index; what is left out are repositories without a commit.
fn add_all(index: &ScratchIndex<'_>, work: &TreeWork<'_>) -> Result<Vec<String>, GitError> {
    let add = [
        "-c",
        "advice.addEmbeddedRepo=false",
        "-c",
        "core.safecrlf=false",
        // What an agent has watch the files for git, or has noted of folders, hides nothing.
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.untrackedCache=false",
        "add",
        "--all",
        // What is outside a sparse checkout was written all the same.
        "--sparse",
        "--ignore-errors",
        "--pathspec-from-file=-",
        "--pathspec-file-nul",
    ];
    let mut pathspecs = b":(top)\0".to_vec();
    for path in work.furnished.iter().chain(work.dropped) {
        pathspecs.extend_from_slice(b":(top,exclude,literal)");
        pathspecs.extend_from_slice(OsString::from(path.trim_end_matches('/')).as_bytes());
        pathspecs.push(0);
    }
    let ended = index.run(&add, pathspecs)?;
    let is_unwanted = |path: &[u8]| lies_in(path, work.furnished) || lies_in(path, work.dropped);
    let paths = unreadable(&ended.stderr, |path| !is_own(path) && !is_unwanted(path.as_bytes()));
    if !paths.is_empty() {
        return Err(GitError::Unreadable { paths });
    }
    if ended.is_success() {
        return Ok(Vec::new());
    }
    // What git cannot print it prints otherwise: a path that is not there is not what it means.
    let is_there = |path: &String| work.tree.join(path).is_dir();
    match repositories_without_commit(&ended).filter(|paths| paths.iter().all(is_there)) {
        Some(paths) => Ok(paths),
        None => Err(ended.into_failure()),
    }
}

/// The paths that git complains of, if it complains of nothing else. That something which is not wanted anyway is also
/// ignored is a complaint that it makes after having done all the rest.
pub(super) fn repositories_without_commit(ended: &Ended) -> Option<Vec<String>> {
    const COMPLAINT: &str = "' does not have a commit checked out";
    let mut paths = Vec::new();
    for error in messages(&ended.stderr).filter(|message| message.starts_with("error: ")) {
        let Some(path) = error.strip_prefix("error: '").and_then(|rest| rest.strip_suffix(COMPLAINT)) else {
            // Git says a second time which file it did not take.
            if error.starts_with("error: unable to index file '") {
                continue;
            }
            return None;
        };
        paths.push(path.to_owned());
    }
    let is_about_ignored = ended.stderr.contains("are ignored by one of your .gitignore files");
    (ended.code == Some(1) && (!paths.is_empty() || is_about_ignored)).then_some(paths)
}

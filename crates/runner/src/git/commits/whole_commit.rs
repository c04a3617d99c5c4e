//! Commits in the project itself of paths that git does not take by their names: a file that became a folder or the other
//! way round, one that is no longer to be tracked and stays on disk, a mode that only the index knows. Their tree is put
//! together in an index of its own and committed through that; the project's own then follows at exactly these paths.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::commit::{Answer, Commit, Staging};
use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::process;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::customs::check_ignore::{answered, asked};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{Entry, RawChange, index_info, names};
use crate::git::repository::Git;
use crate::git::status::{Change, ChangeKind};

/// How often to begin anew if somebody commits in the same moment.
const TRIES: usize = 5;

/// The mode of a file that is nothing but that.
const PLAIN: &str = "100644";

/// What the record of a submodule begins with.
const LINK: &[u8] = b"160000 ";

/// Lists what is staged.
pub(super) const STAGED: [&str; 8] =
    ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "HEAD", "--"];

impl Git {
    /// How the paths of these changes are to be made known to the index.
    pub fn staging_of(&self, changes: &[Change], unnameable: &[OsString]) -> Result<Staging, GitError> {
        let paths = changes.iter().map(|change| change.path.as_ref());
        let paths: BTreeSet<&OsStr> = paths.chain(unnameable.iter().map(OsString::as_os_str)).collect();
        let is_staged = changes.iter().any(|change| change.staged);
        if overlap(&paths) || (is_staged && self.says_more_than_disk(&paths)?) {
            return Ok(Staging::Whole);
        }
        let has_new =
            !unnameable.is_empty() || changes.iter().any(|change| change.kind != ChangeKind::Modified);
        Ok(if has_new { Staging::Add } else { Staging::Skip })
    }

    /// Whether the index says something of these paths that the files do not.
    fn says_more_than_disk(&self, paths: &BTreeSet<&OsStr>) -> Result<bool, GitError> {
        if self.head()?.is_none() {
            return Ok(false);
        }
        let staged = RawChange::parse_all(process::run(self.call(&STAGED))?)?;
        let mut staged = staged.iter().filter(|change| paths.contains(change.path.as_os_str()));
        Ok(staged.any(|change| has_new_mode(change) || !self.is_as_on_disk(change)))
    }

    /// Whether what a path is to be is what git would make of the disk by itself, content apart.
    pub(in crate::git) fn is_as_on_disk(&self, change: &RawChange) -> bool {
        if change.new.is_absent() || !self.is_file(&change.path) {
            // The folder of a submodule may stay.
            let is_left = self.is_file(&change.path)
                || change.old.is_gitlink() && self.root().join(&change.path).exists();
            return change.new.is_absent() && !is_left;
        }
        mode_on_disk(&self.root().join(&change.path)) == Some(change.new.mode.as_str())
    }

    /// The tree that is checked out with these paths as they are on disk and, in what a disk does not tell, as they are
    /// staged.
    pub(in crate::git) fn whole_tree(&self, paths: &BTreeSet<&OsStr>) -> Result<Oid, GitError> {
        let changes = self.changes_to_be(paths)?;
        let index = ScratchIndex::of_main(self)?;
        index.read_tree("HEAD")?;
        if !changes.is_empty() {
            let lines = index_info(changes.iter().map(|change| (change.path.as_os_str(), &change.new)));
            index.run(&["update-index", "-z", "--replace", "--index-info"], lines)?.success()?;
        }
        index.write_tree()
    }

    fn changes_to_be(&self, paths: &BTreeSet<&OsStr>) -> Result<Vec<RawChange>, GitError> {
        let links = self.staged_links(paths)?;
        let is_link = |path: &&OsStr| links.contains(*path);
        let (there, mut gone): (Vec<&OsStr>, Vec<&OsStr>) =
            paths.iter().copied().filter(|path| !is_link(path)).partition(|path| self.is_file(path));
        let ignored = self.ignored_and_untracked(&there)?;
        let (untracked, there): (Vec<&OsStr>, Vec<&OsStr>) =
            there.into_iter().partition(|path| ignored.contains(*path));
        gone.extend(untracked);
        let absent = Entry::absent(self.head()?.map_or(40, |head| head.as_str().len()));
        let index = ScratchIndex::of_main(self)?;
        index.set(index_info(gone.into_iter().map(|path| (path, &absent))))?;
        // One that is not checked out is what the index says.
        let is_checked_out = |path: &&OsString| self.is_repository(path);
        let links = links.iter().filter(is_checked_out).map(OsString::as_os_str);
        let there: Vec<&OsStr> = there.into_iter().chain(links).collect();
        if !there.is_empty() {
            let put = ["update-index", "-z", "--add", "--replace", "--stdin"];
            index.run(&put, names(there))?.success()?;
        }
        let mut changes = RawChange::parse_all(index.run(&STAGED, Vec::new())?)?;
        changes.retain(|change| paths.contains(change.path.as_os_str()));
        Ok(changes)
    }

    /// The submodules among these, which are folders on disk and no files.
    fn staged_links(&self, paths: &BTreeSet<&OsStr>) -> Result<BTreeSet<OsString>, GitError> {
        let is_folder = |path: &&OsStr| self.root().join(path).is_dir() && !self.is_file(path);
        if !paths.iter().any(is_folder) {
            return Ok(BTreeSet::new());
        }
        let listing = process::run(self.call(&["ls-files", "--stage", "-z"]))?.success()?;
        let records = listing.split(|byte| *byte == 0).filter(|record| record.starts_with(LINK));
        let named = records.filter_map(|record| record.splitn(2, |byte| *byte == b'\t').nth(1));
        let named = named.map(|name| OsString::from_vec(name.to_vec()));
        Ok(named.filter(|name| paths.contains(name.as_os_str()) && is_folder(&name.as_os_str())).collect())
    }

    /// The files among these that git ignores and whose index does not have them.
    pub(in crate::git) fn ignored_and_untracked(
        &self,
        paths: &[&OsStr],
    ) -> Result<BTreeSet<OsString>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let stdin = asked(paths.iter().copied());
        let call = process::Call { stdin, ..self.call(&["check-ignore", "-z", "--stdin"]) };
        let ended = process::run(call)?;
        // It ends with 1 where none is ignored.
        let listing = if ended.code == Some(1) { Vec::new() } else { ended.success()? };
        Ok(answered(&listing).collect())
    }

    /// Commits these paths, with the user's hooks.
    pub(in crate::git) fn commit_whole(
        &self,
        paths: &BTreeSet<&OsStr>,
        request: &Commit<'_>,
    ) -> Result<Answer, GitError> {
        for _ in 0..TRIES {
            if let Some(answer) = self.try_whole(paths, request)? {
                return Ok(answer);
            }
        }
        let value = "HEAD".to_owned();
        Err(GitError::Unacceptable { what: "a branch that somebody else commits to all the time", value })
    }

    /// None: somebody else committed meanwhile.
    fn try_whole(&self, paths: &BTreeSet<&OsStr>, request: &Commit<'_>) -> Result<Option<Answer>, GitError> {
        let Some(head) = self.head()? else { return Ok(Some(Answer::UnknownPath)) };
        let tree = self.whole_tree(paths)?;
        if self.tree_of(&head)? == tree {
            // An earlier program may have committed it and died before the index followed.
            self.unstage(&paths.iter().map(|path| (*path).to_owned()).collect())?;
            return Ok(Some(Answer::NothingToCommit));
        }
        // Hooks may run for long, and some do not know which index is meant: they get on without.
        let mut lock = if self.has_commit_hook() { None } else { Some(IndexLock::take(self)?) };
        if self.head()?.as_ref() != Some(&head) {
            return Ok(None);
        }
        lock.as_mut().map_or(Ok(()), |lock| self.lead(lock, (&head, &tree)))?;
        let index = ScratchIndex::of_main(self)?;
        index.read_tree(tree.as_str())?;
        let call = |words: &[&str]| index.call(words, Vec::new());
        let commit = match self.make(request, call)? {
            Answer::Done(commit) => commit,
            Answer::NothingToCommit | Answer::UnknownPath if self.head()?.as_ref() != Some(&head) => {
                return Ok(None);
            }
            answer @ (Answer::NothingToCommit | Answer::UnknownPath) => return Ok(Some(answer)),
        };
        if !self.follows(&commit, &head)? {
            return Ok(None);
        }
        let commit = self.amended(&head, commit, request.trailer)?;
        match lock {
            Some(lock) => lock.keep(),
            None => self.follow(&commit)?,
        }
        Ok(Some(Answer::Done(commit)))
    }
}

/// Whether one of these paths would be a folder of another.
pub(in crate::git) fn overlap(paths: &BTreeSet<&OsStr>) -> bool {
    let is_folder = |folder: &Path| paths.contains(folder.as_os_str());
    paths.iter().any(|path| Path::new(path).ancestors().skip(1).any(is_folder))
}

/// Whether a change is also one of the mode, which git may have been told not to take from the disk.
pub(in crate::git) fn has_new_mode(change: &RawChange) -> bool {
    let before = if change.old.is_absent() { PLAIN } else { &change.old.mode };
    !change.new.is_absent() && change.new.mode != before
}

/// The mode that git gives to what is on disk, where the disk can tell.
fn mode_on_disk(file: &Path) -> Option<&'static str> {
    let metadata = fs::symlink_metadata(file).ok()?;
    Some(if metadata.is_symlink() {
        "120000"
    } else if metadata.permissions().mode() & 0o100 != 0 {
        "100755"
    } else {
        PLAIN
    })
}

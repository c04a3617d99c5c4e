//! What of somebody's stands where a landing would change files. It is found before anything is changed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::landing::gitlinks;
use crate::git::calls::process::{self, Call, Ended};
use crate::git::error::GitError;
use crate::git::raw_change::{Entry, RawChange};
use crate::git::repository::Git;

/// How many paths are asked about at once.
const UNKNOWN_ASKED_MAX: usize = 100;

impl Git {
    /// The paths that stand in the way of a landing, if there are any that git itself would not mind.
    pub(in crate::git) fn in_the_way(&self, changes: &[RawChange]) -> Result<Vec<String>, GitError> {
        let mut found = self.untracked(changes);
        if !found.is_empty() {
            // Whoever sees to them is to know of the others as well.
            found.extend(self.obstacles(changes)?);
            return Ok(found.into_iter().collect());
        }
        for link in gitlinks(changes) {
            if self.is_dirty_inside(link)? {
                return Ok(vec![link.to_string_lossy().into_owned()]);
            }
        }
        Ok(Vec::new())
    }

    /// What is changed in the main working tree at, above or below the paths of a landing.
    pub(in crate::git) fn obstacles(&self, changes: &[RawChange]) -> Result<Vec<String>, GitError> {
        let status = self.status()?;
        let wanted: BTreeSet<&OsStr> = changes.iter().map(|change| change.path.as_os_str()).collect();
        let above: BTreeSet<&OsStr> = changes.iter().flat_map(|change| folders_of(&change.path)).collect();
        let unnameable = status.unnameable.iter().map(OsString::as_os_str);
        let dirty = status.changes.iter().map(|change| OsStr::new(change.path.trim_end_matches('/')));
        let meets = |path: &&OsStr| {
            wanted.contains(path)
                || above.contains(path)
                || folders_of(path).any(|folder| wanted.contains(folder))
        };
        let met = dirty.chain(unnameable).filter(meets);
        // One that was taken out of the index and is still there is listed twice.
        let met: BTreeSet<String> = met.map(|path| path.to_string_lossy().into_owned()).collect();
        if !met.is_empty() {
            return Ok(met.into_iter().collect());
        }
        // What git was told not to look at is in its way all the same.
        let paths: Vec<String> = changes.iter().map(RawChange::shown).collect();
        let met: Vec<String> = self.overlooked(&paths)?.into_iter().map(|(path, _)| path).collect();
        if !met.is_empty() {
            return Ok(met);
        }
        // What is in a submodule that is to go is not looked at otherwise.
        let links = changes.iter().filter(|change| change.old.is_gitlink() && change.new.is_absent());
        Ok(links.map(RawChange::shown).collect())
    }

    /// The files that a landing changes and that somebody deleted: git puts them there again.
    pub(in crate::git) fn missing(&self, changes: &[RawChange]) -> Result<Vec<String>, GitError> {
        let is_missing = |change: &&RawChange| {
            let is_file = |entry: &Entry| !entry.is_absent() && !entry.is_gitlink();
            let is_gone = || fs::symlink_metadata(self.root().join(&change.path)).is_err();
            is_file(&change.old) && is_file(&change.new) && is_gone()
        };
        let missing: Vec<String> = changes.iter().filter(is_missing).map(RawChange::shown).collect();
        if missing.is_empty() {
            return Ok(missing);
        }
        // In a sparse checkout most of them are missing, and nobody deleted them.
        let overlooked: BTreeSet<String> =
            self.overlooked(&missing)?.into_iter().map(|(path, _)| path).collect();
        Ok(missing.into_iter().filter(|path| !overlooked.contains(path)).collect())
    }

    /// Those of some paths that somebody told git not to look at, and the option that undoes it.
    pub fn overlooked(&self, paths: &[String]) -> Result<Vec<(String, &'static str)>, GitError> {
        let wanted: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
        let listing = process::run(self.call(&["ls-files", "-v", "-z"]))?.success()?;
        let records = listing.split(|byte| *byte == 0).filter_map(|record| record.split_at_checked(2));
        let options = records.filter_map(|(tag, path)| Some((undoing(tag)?, String::from_utf8_lossy(path))));
        let met = options.filter(|(_, path)| wanted.contains(path.as_ref()));
        Ok(met.map(|(option, path)| (path.into_owned(), option)).collect())
    }

    /// Those of some paths at and below which git knows nothing. Where it does not say, it knows all.
    pub fn unknown(&self, paths: &[String]) -> Vec<String> {
        let mut call = self.call(&["--literal-pathspecs", "ls-files", "-z", "--"]);
        let asked = || paths.iter().take(UNKNOWN_ASKED_MAX);
        call.arguments.extend(asked().map(OsString::from));
        let Ok(known) = process::run(call).and_then(Ended::success) else { return Vec::new() };
        let known: BTreeSet<&[u8]> = known.split(|byte| *byte == 0).collect();
        let is_known = |path: &[u8]| {
            let below = [path, b"/"].concat();
            known.contains(path)
                || known.range(below.as_slice()..).next().is_some_and(|next| next.starts_with(&below))
        };
        asked().filter(|path| !is_known(path.as_bytes())).cloned().collect()
    }

    /// Whether git was told not to look at a file that is to change. Refreshing the index then makes git take it for
    /// unchanged, also if it is not.
    pub(in crate::git) fn is_overlooked(&self, changes: &[RawChange]) -> Result<bool, GitError> {
        let paths: Vec<String> = changes.iter().map(RawChange::shown).collect();
        let is_there = |(path, _): &(String, &str)| fs::symlink_metadata(self.root().join(path)).is_ok();
        Ok(self.overlooked(&paths)?.iter().any(is_there))
    }

    /// Files where there should be none yet. Git itself would overwrite those that it ignores.
    fn untracked(&self, changes: &[RawChange]) -> BTreeSet<String> {
        let leaving: BTreeSet<&OsStr> = changes
            .iter()
            .filter(|change| change.new.is_absent())
            .map(|change| change.path.as_os_str())
            .collect();
        let emptied: BTreeSet<&OsStr> = leaving.iter().flat_map(|path| folders_of(path)).collect();
        let mut found = BTreeSet::new();
        for change in changes.iter().filter(|change| change.old.is_absent()) {
            let path = change.path.as_os_str();
            match fs::symlink_metadata(self.root().join(path)) {
                Ok(metadata) if metadata.is_dir() => {
                    let is_free = emptied.contains(path) || change.new.is_gitlink() || self.is_empty(path);
                    if !is_free {
                        found.insert(change.shown());
                    }
                }
                Ok(_) if !folders_of(path).any(|folder| leaving.contains(folder)) => {
                    found.insert(change.shown());
                }
                Ok(_) | Err(_) => {}
            }
            let blocked = folders_of(path).filter(|folder| !leaving.contains(folder)).find(|folder| {
                fs::symlink_metadata(self.root().join(folder)).is_ok_and(|metadata| !metadata.is_dir())
            });
            found.extend(blocked.map(|folder| folder.to_string_lossy().into_owned()));
        }
        found
    }

    fn is_empty(&self, folder: &OsStr) -> bool {
        fs::read_dir(self.root().join(folder)).is_ok_and(|mut entries| entries.next().is_none())
    }

    /// Whether a submodule that is checked out has changes of its own, or is not where the superproject wants it.
    fn is_dirty_inside(&self, path: &OsStr) -> Result<bool, GitError> {
        let dir = self.root().join(path);
        if !dir.join(".git").exists() {
            return Ok(false);
        }
        let call = self.call(&["--no-optional-locks", "status", "--porcelain", "-z"]);
        let inside = process::run(Call { dir: &dir, ..call })?.success()?;
        let mut call = self.call(&["--literal-pathspecs", "diff-files", "--quiet", "--"]);
        call.arguments.push(path.to_owned());
        Ok(!inside.is_empty() || !process::run(call)?.is_success())
    }
}

/// What makes git look again at a path with this tag. Letters in lower case stand for what is assumed to be unchanged.
fn undoing(tag: &[u8]) -> Option<&'static str> {
    match tag {
        b"S " | b"s " => Some("--no-skip-worktree"),
        [letter, b' '] if letter.is_ascii_lowercase() => Some("--no-assume-unchanged"),
        _ => None,
    }
}

/// The folders that a path lies in, innermost first.
fn folders_of(path: &OsStr) -> impl Iterator<Item = &OsStr> {
    let folders = Path::new(path).ancestors().skip(1).map(Path::as_os_str);
    folders.filter(|folder| !folder.as_bytes().is_empty())
}

//! A landing under way whose joined tree is gone: somebody tidied it away before anything referred to it. What the work was
//! is known by its task; here its files go out of the project, by their names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::landed_files::Entries;
use super::landing::Dropped;
use super::landing_note::LandingNote;
use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::formats::raw_change::Entry;
use crate::git::history::Oid;
use crate::git::repository::Git;

impl Git {
    /// Whether a landing is under way of which objects are gone.
    pub fn has_lost_landing(&self) -> Result<bool, GitError> {
        let note = LandingNote::read(self.git_dir())?;
        match (note, self.head()?) {
            (Some(note), Some(_)) => self.is_whole(&note.tree).map(|is_whole| !is_whole),
            (Some(_) | None, _) => Ok(false),
        }
    }

    /// Takes a landing back of which only the paths are known. Whatever is there now may be what somebody made of it, and
    /// is kept. Fails as told where something else is gone, or where not even the paths are known.
    pub(in crate::git) fn settle_without_tree(&self, error: GitError) -> Result<Dropped, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(Dropped::Nothing) };
        let (false, Some(head)) = (self.is_whole(&note.tree)?, self.head()?) else { return Err(error) };
        let trailer = (note.trailer.0.as_str(), note.trailer.1.as_str());
        if let Some(commit) = self.first_carrying(trailer, &[&format!("{}..HEAD", note.head)])? {
            self.clear_landing()?;
            return Ok(Dropped::Committed(commit));
        }
        if note.paths.is_empty() && !self.status()?.changes.is_empty() {
            return Err(error.or_gone());
        }
        let (before, mut left) = (self.held_at(&head, &note.paths)?, None);
        let unlike = self.unlike(&before)?;
        self.set_aside(unlike.into_iter().filter(|path| self.is_file(path)), &mut left)?;
        self.set_to(&before, &mut left)?;
        self.clear_landing()?;
        Ok(left.map_or(Dropped::PutBack, Dropped::Kept))
    }

    /// What a commit holds at some paths.
    fn held_at(&self, commit: &Oid, paths: &[String]) -> Result<Entries, GitError> {
        let list = ["ls-tree", "-r", "-z", "--full-tree", commit.as_str()];
        let listing = process::run(self.call(&list))?.success()?;
        let records = listing.split(|byte| *byte == 0).filter_map(entry_in);
        let held: BTreeMap<&OsStr, Entry> = records.collect();
        let absent = || Entry::absent(commit.as_str().len());
        let entry = |path: &String| held.get(OsStr::new(path)).cloned().unwrap_or_else(absent);
        Ok(paths.iter().map(|path| (OsString::from(path), entry(path))).collect())
    }
}

/// A record of `ls-tree`.
fn entry_in(record: &[u8]) -> Option<(&OsStr, Entry)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let (meta, path) = (std::str::from_utf8(record.get(..tab)?).ok()?, record.get(tab + 1..)?);
    let mut words = meta.split(' ');
    let (mode, oid) = (words.next()?.to_owned(), words.nth(1)?.to_owned());
    Some((OsStr::from_bytes(path), Entry { mode, oid }))
}

//! What differs between two trees, down to modes and objects, as git's raw diff format tells it. Names are bytes:
//! whatever a file system allows comes through.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::git::calls::process::{self, Ended};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::status::{Change, ChangeKind};

/// The mode of a path that is not there.
const ABSENT: &str = "000000";
/// The mode of a repository inside this one.
const GITLINK: &str = "160000";

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct RawChange {
    pub(in crate::git) path: OsString,
    pub(in crate::git) old: Entry,
    pub(in crate::git) new: Entry,
}

/// What a tree holds at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Entry {
    pub(in crate::git) mode: String,
    pub(in crate::git) oid: String,
}

impl Entry {
    /// Nothing, in a repository whose objects have names of so many digits.
    pub(in crate::git) fn absent(digits: usize) -> Entry {
        Entry { mode: ABSENT.to_owned(), oid: "0".repeat(digits) }
    }

    pub(in crate::git) fn is_absent(&self) -> bool {
        self.mode == ABSENT
    }

    pub(in crate::git) fn is_gitlink(&self) -> bool {
        self.mode == GITLINK
    }
}

impl RawChange {
    /// Reads the output of `diff-tree -r --raw -z` or `diff-index --raw -z`, both without renames.
    pub(in crate::git) fn parse_all(ended: Ended) -> Result<Vec<RawChange>, GitError> {
        let command = ended.command.clone();
        let output = ended.success()?;
        let mut fields = output.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let mut changes = Vec::new();
        while let Some(meta) = fields.next() {
            let change = fields.next().and_then(|path| RawChange::parse(meta, path));
            changes.push(change.ok_or_else(|| GitError::Unexpected {
                command: command.clone(),
                output: String::from_utf8_lossy(meta).into_owned(),
            })?);
        }
        Ok(changes)
    }

    fn parse(meta: &[u8], path: &[u8]) -> Option<RawChange> {
        let meta = std::str::from_utf8(meta).ok()?.strip_prefix(':')?;
        let mut words = meta.split(' ').map(str::to_owned);
        let (old_mode, new_mode) = (words.next()?, words.next()?);
        let old = Entry { mode: old_mode, oid: words.next()? };
        let new = Entry { mode: new_mode, oid: words.next()? };
        Some(RawChange { path: OsStr::from_bytes(path).to_owned(), old, new })
    }

    /// The path for people.
    pub(in crate::git) fn shown(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The change as a status tells it.
    pub(in crate::git) fn told(&self) -> Change {
        let kind = match (self.old.is_absent(), self.new.is_absent()) {
            (true, _) => ChangeKind::Added,
            (false, true) => ChangeKind::Deleted,
            (false, false) => ChangeKind::Modified,
        };
        Change { path: self.shown(), kind, staged: false, unstaged: true }
    }
}

impl Git {
    /// What differs between two commits or trees, in the order of the paths.
    pub(in crate::git) fn differences(&self, from: &Oid, to: &Oid) -> Result<Vec<RawChange>, GitError> {
        self.differences_of(from.as_str(), to.as_str())
    }

    /// The same by whatever names them.
    pub(in crate::git) fn differences_of(&self, from: &str, to: &str) -> Result<Vec<RawChange>, GitError> {
        let diff = ["diff-tree", "-r", "--raw", "-z", "--no-renames", from, to, "--"];
        RawChange::parse_all(process::run(self.call(&diff))?)
    }
}

/// Whether a path is one of these places or below one.
pub(in crate::git) fn lies_in(path: &[u8], places: &[String]) -> bool {
    places.iter().any(|place| is_at_or_below(path, place.trim_end_matches('/').as_bytes()))
}

fn is_at_or_below(path: &[u8], place: &[u8]) -> bool {
    match path.strip_prefix(place) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

/// Lines for `update-index -z --index-info` that put these entries into an index. What is to go comes first, so that
/// a folder makes room for a file of the same name.
pub(in crate::git) fn index_info<'a>(entries: impl IntoIterator<Item = (&'a OsStr, &'a Entry)>) -> Vec<u8> {
    let (gone, there): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(_, entry)| entry.is_absent());
    let mut lines = Vec::new();
    for (path, entry) in gone.into_iter().chain(there) {
        let mode = if entry.is_absent() { "0" } else { &entry.mode };
        lines.extend_from_slice(format!("{mode} {}\t", entry.oid).as_bytes());
        lines.extend_from_slice(path.as_bytes());
        lines.push(0);
    }
    lines
}

/// Names as git reads them from standard input where no pathspec is meant.
pub(in crate::git) fn names<'a>(paths: impl IntoIterator<Item = &'a OsStr>) -> Vec<u8> {
    let mut text = Vec::new();
    for path in paths {
        text.extend_from_slice(path.as_bytes());
        text.push(0);
    }
    text
}

/// The names in a list that is separated by NUL.
pub(in crate::git) fn split_names(list: &[u8]) -> impl Iterator<Item = OsString> {
    list.split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| OsString::from_vec(name.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::is_at_or_below;

    #[test]
    fn a_place_holds_itself_and_what_lies_below() {
        let check = |path: &str, place: &str, expected| {
            assert_eq!(is_at_or_below(path.as_bytes(), place.as_bytes()), expected, "{path} in {place}");
        };
        check("target", "target", true);
        check("target/debug/x", "target", true);
        check("targets", "target", false);
        check("a/target", "target", false);
    }
}

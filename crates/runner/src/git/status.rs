//! Differences between the last commit and the work tree.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// The state of a work tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The last commit; none before the first.
    pub head: Option<Oid>,
    /// The branch; none when HEAD is detached.
    pub branch: Option<String>,
    /// The differences, with paths from the repository's top folder. A renamed file is a deleted and an added one.
    pub changes: Vec<Change>,
    /// Changed files whose names are not UTF-8.
    pub unnameable: Vec<OsString>,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// From the repository's top folder. A repository inside this one ends in a slash.
    pub path: String,
    /// In which way it differs.
    pub kind: ChangeKind,
    /// True if the index differs from the last commit here: somebody ran `git add`.
    pub staged: bool,
    /// True if the file on disk differs from the index here.
    pub unstaged: bool,
}

impl Change {
    /// True if it is a repository that git does not know.
    pub fn is_repository(&self) -> bool {
        self.path.ends_with('/')
    }

    /// True if it is more than a new file that nobody has added, as builds leave such.
    pub fn is_meant(&self) -> bool {
        self.staged || !matches!(self.kind, ChangeKind::Added | ChangeKind::Untracked)
    }
}

/// In which way a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Other content, mode or type.
    Modified,
    /// New, and known to the index.
    Added,
    /// Gone.
    Deleted,
    /// New, and not known to the index.
    Untracked,
    /// In conflict.
    Unmerged,
}

impl Git {
    /// The state of the work tree, with one process and without touching the index.
    pub fn status(&self) -> Result<Status, GitError> {
        self.refuse_if_misdirected()?;
        self.refuse_without_index()?;
        self.status_in(self.root())
    }

    /// The status of a repository inside the project.
    pub(super) fn status_in(&self, dir: &Path) -> Result<Status, GitError> {
        let look = self.call(&[
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--no-renames",
        ]);
        let ended = process::run(Call { dir, ..look })?;
        let command = ended.command.clone();
        let stdout = ended.success()?;
        parse(&stdout).map_err(|record| GitError::Unexpected {
            command,
            output: String::from_utf8_lossy(&record).into_owned(),
        })
    }
}

/// Reads the records of porcelain v2; the error is a record that was not understood.
fn parse(output: &[u8]) -> Result<Status, Vec<u8>> {
    let mut status = Status::default();
    let mut records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        let (tag, rest) = record.split_at_checked(2).ok_or_else(|| record.to_vec())?;
        match tag {
            b"# " => status.read_header(rest),
            b"! " => {}
            b"? " => status.add(rest, ChangeKind::Untracked, [false, true]),
            b"1 " => status.read_entry(rest, 7).ok_or_else(|| record.to_vec())?,
            b"2 " => {
                let origin = records.next().ok_or_else(|| record.to_vec())?;
                status.add(origin, ChangeKind::Deleted, [true, false]);
                status.read_entry(rest, 8).ok_or_else(|| record.to_vec())?;
            }
            b"u " => {
                let path = field(rest, 9).ok_or_else(|| record.to_vec())?;
                status.add(path, ChangeKind::Unmerged, [false, true]);
            }
            _ => return Err(record.to_vec()),
        }
    }
    Ok(status)
}

impl Status {
    fn read_header(&mut self, header: &[u8]) {
        let header = String::from_utf8_lossy(header);
        match header.split_once(' ') {
            Some(("branch.oid", oid)) => self.head = Oid::parse(oid),
            Some(("branch.head", "(detached)")) => self.branch = None,
            Some(("branch.head", branch)) => self.branch = Some(branch.to_owned()),
            Some(_) | None => {}
        }
    }

    /// An ordinary entry: two letters for index and work tree, then fields up to the path.
    fn read_entry(&mut self, rest: &[u8], fields_before_path: usize) -> Option<()> {
        let (letters, path) = (rest.get(..2)?, field(rest, fields_before_path)?);
        let kind = match letters {
            [_, b'D'] | [b'D', b'.'] => ChangeKind::Deleted,
            [b'A' | b'R' | b'C', _] | [_, b'A'] => ChangeKind::Added,
            _ => ChangeKind::Modified,
        };
        let differs = |place: usize| letters.get(place) != Some(&b'.');
        self.add(path, kind, [differs(0), differs(1)]);
        Some(())
    }

    fn add(&mut self, path: &[u8], kind: ChangeKind, [staged, unstaged]: [bool; 2]) {
        match String::from_utf8(path.to_vec()) {
            Ok(path) => self.changes.push(Change { path, kind, staged, unstaged }),
            Err(error) => self.unnameable.push(OsString::from_vec(error.into_bytes())),
        }
    }
}

/// The rest after so many space-separated fields.
fn field(record: &[u8], fields_before: usize) -> Option<&[u8]> {
    record.splitn(fields_before + 1, |byte| *byte == b' ').nth(fields_before).filter(|path| !path.is_empty())
}

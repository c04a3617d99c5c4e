//! Differences: between two trees down to modes and objects, between a commit and paths as they lie in a work tree, and
//! as text for people to read. Names are bytes: whatever a file system allows comes through.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call, Ended};
use crate::git::history::{Oid, revision};
use crate::git::repository::Git;
use crate::git::status::{Change, ChangeKind};
use crate::process::printable;

/// The bytes of a diff that are shown.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// The number of paths, and of new files among them, that a diff is made of. The kernel refuses longer lists of
/// arguments.
const PATHS_MAX: usize = 200;

/// The number of paths whose lines are compared.
const SOURCES_MAX: usize = 1_000;

/// The extent to which changes are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffExtent {
    /// The files and how many lines changed in each.
    Files,
    /// Every line.
    Lines,
}

impl DiffExtent {
    /// The options that ask git for it, whatever the user's own settings are.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Files => &["--stat=90", "--no-color", "--no-ext-diff", "--no-textconv"],
            Self::Lines => &["--patch", "--no-color", "--no-ext-diff", "--no-textconv"],
        }
    }
}

impl Git {
    /// The changes of a commit.
    pub fn commit_diff(&self, commit: &str, extent: DiffExtent) -> Result<String, GitError> {
        let show = ["show", "--no-show-signature", "--format="];
        let call = self.call(&[&show[..], extent.options(), &[revision(commit)?, "--"]].concat());
        Ok(text(&process::run(call)?.success()?))
    }

    /// The differences between a commit and some paths as they are in the work tree now, new files included. Without
    /// paths, all of them.
    pub fn work_diff(&self, commit: &str, paths: &[String], extent: DiffExtent) -> Result<String, GitError> {
        let diff = ["--literal-pathspecs", "diff"];
        let call = self.call(&[&diff[..], extent.options(), &[revision(commit)?, "--"]].concat());
        let mut shown = text(&process::run(on(call, paths))?.success()?);
        for path in self.new_files(paths)? {
            match extent {
                // Writing into a string cannot fail.
                DiffExtent::Files => drop(writeln!(shown, " {path} (new)")),
                DiffExtent::Lines => shown.push_str(&self.new_file_diff(&path)?),
            }
        }
        Ok(shown)
    }

    /// Those of the paths that git does not track, without what it ignores.
    fn new_files(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let list = ["--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", "--"];
        let stdout = process::run(on(self.call(&list), paths))?.success()?;
        let names = stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.take(PATHS_MAX).map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    fn new_file_diff(&self, path: &str) -> Result<String, GitError> {
        let diff = [&["diff", "--no-index"][..], DiffExtent::Lines.options(), &["--", "/dev/null", path]];
        let ended = process::run(self.call(&diff.concat()))?;
        match ended {
            // There are differences.
            Ended { code: Some(0 | 1), stdout, .. } => Ok(text(&stdout)),
            failed => Err(failed.into_failure()),
        }
    }
}

fn on<'a>(mut call: Call<'a>, paths: &[String]) -> Call<'a> {
    call.arguments.extend(paths.iter().take(PATHS_MAX).map(OsString::from));
    call
}

fn text(bytes: &[u8]) -> String {
    let mut text = printable(&bytes[..bytes.len().min(BYTES_MAX)]);
    if bytes.len() > BYTES_MAX {
        text.push_str("\n… and more: the rest is left out\n");
    }
    text
}

/// Paths of a work tree.
#[derive(Debug, Clone, Copy)]
pub struct Paths<'a> {
    /// Its top folder.
    pub tree: &'a Path,
    /// The paths in it.
    pub paths: &'a [String],
    /// A path for an index of its own.
    pub scratch: &'a Path,
}

impl Git {
    /// The tree that a commit would hold if these paths were as they lie in the work tree now, new files included.
    pub fn tree_of_paths(&self, base: &str, paths: &Paths<'_>) -> Result<Oid, GitError> {
        let tree = self
            .with_scratch(paths, &["read-tree", base], Vec::new())
            .and_then(Ended::success)
            .and_then(|_| {
                let list = ["update-index", "--add", "--remove", "-z", "--stdin"];
                self.with_scratch(paths, &list, listed(paths.paths))?.success()
            })
            .and_then(|_| Oid::printed(self.with_scratch(paths, &["write-tree"], Vec::new())?));
        forget(paths.scratch);
        tree
    }

    /// The difference between a commit and such a tree, as text.
    pub fn difference(&self, base: &str, tree: &Oid) -> Result<String, GitError> {
        let list = ["diff", "--no-color", "--no-ext-diff", "--no-renames", base, tree.as_str(), "--"];
        let shown = process::run(self.call(&list))?.success()?;
        Ok(String::from_utf8_lossy(&shown).into_owned())
    }

    /// The lines in which some paths differ between two commits or trees, each with the one above and the one below.
    /// What was moved to another file is taken away in one and added in the other.
    pub fn lines_changed(&self, from: &str, to: &str, paths: &[String]) -> Result<String, GitError> {
        let options = [
            "--literal-pathspecs",
            "-c",
            "core.quotePath=false",
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--unified=1",
            "--inter-hunk-context=0",
            revision(from)?,
            revision(to)?,
            "--",
        ];
        let mut call = self.call(&options);
        call.arguments.extend(paths.iter().take(SOURCES_MAX).map(OsString::from));
        Ok(String::from_utf8_lossy(&process::run(call)?.success()?).into_owned())
    }

    /// Writes paths as such a tree has them. What is not in it has to be out of the way already.
    pub fn write_as_in(&self, tree: &Oid, paths: &Paths<'_>) -> Result<(), GitError> {
        self.with_scratch(paths, &["read-tree", tree.as_str()], Vec::new())?.success()?;
        // It complains of paths that the tree does not have.
        let written =
            self.with_scratch(paths, &["checkout-index", "-f", "-q", "-z", "--stdin"], listed(paths.paths));
        forget(paths.scratch);
        written.map(drop)
    }

    /// Makes paths be as such a tree has them, also those that it does not have.
    pub fn put_back(&self, tree: &Oid, paths: &Paths<'_>) -> Result<(), GitError> {
        for path in paths.paths {
            let file = paths.tree.join(path);
            if fs::symlink_metadata(&file).is_ok_and(|metadata| !metadata.is_dir()) {
                fs::remove_file(&file).map_err(GitError::io("remove", &file))?;
            }
        }
        self.write_as_in(tree, paths)
    }

    fn with_scratch(&self, paths: &Paths<'_>, list: &[&str], stdin: Vec<u8>) -> Result<Ended, GitError> {
        let mut environment = self.environment().clone();
        environment.push((OsString::from("GIT_INDEX_FILE"), paths.scratch.into()));
        process::run(Call { dir: paths.tree, environment: &environment, stdin, ..self.call(list) })
    }
}

fn listed(paths: &[String]) -> Vec<u8> {
    paths.iter().flat_map(|path| path.bytes().chain([0])).collect()
}

fn forget(scratch: &Path) {
    // One that stays lies among the files of an attempt and is in nobody's way.
    let _ = fs::remove_file(scratch);
}

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

/// The entry of a tree at a path.
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
    /// The differences between two commits or trees, in the order of the paths.
    pub(in crate::git) fn differences(&self, from: &Oid, to: &Oid) -> Result<Vec<RawChange>, GitError> {
        self.differences_of(from.as_str(), to.as_str())
    }

    /// The differences between two commits or trees by any names of them.
    pub(in crate::git) fn differences_of(&self, from: &str, to: &str) -> Result<Vec<RawChange>, GitError> {
        let diff = ["diff-tree", "-r", "--raw", "-z", "--no-renames", from, to, "--"];
        RawChange::parse_all(process::run(self.call(&diff))?)
    }
}

/// True if a path is one of these places or below one.
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

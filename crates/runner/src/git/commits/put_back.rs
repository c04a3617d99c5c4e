//! Files that differ from what git's index says, and putting some of them back: what they held is moved away, never
//! written over, so that nothing is lost to whoever writes to them in the same moment.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::raw_change::names;
use crate::git::repository::Git;

/// Lists the files that are not as in an index, which it does not touch. Files that only look changed, by their times,
/// are none; submodules are left out.
pub(in crate::git) const EDITED: [&str; 10] = [
    "--no-optional-locks",
    "-c",
    "diff.autoRefreshIndex=true",
    "diff",
    "--name-only",
    "-z",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
];

/// A file that was moved out of the way.
struct Moved {
    from: PathBuf,
    to: PathBuf,
}

/// What was in the way when a landing was taken back, and was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Which files, or folders.
    pub paths: Vec<String>,
    /// Where they are now.
    pub folder: PathBuf,
}

impl Git {
    /// The files that git knows and that are not as in the index, with one process and without touching the index.
    /// Those whose names are not UTF-8 are left out, and so are submodules.
    pub fn edited(&self) -> Result<BTreeSet<String>, GitError> {
        let stdout = process::run(self.call(&EDITED))?.success()?;
        let records = stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(records.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// Makes files what they are in the index and moves what they held into a folder; what the index does not know is moved
    /// only. Gives those for which that worked; the others are as they were.
    pub fn put_back_files(&self, paths: &[String], into: &Path) -> Result<Vec<String>, GitError> {
        let free = paths.iter().filter_map(|path| Some((path, self.move_away(path, into).ok()?)));
        let (free, moved): (Vec<&String>, Vec<Option<Moved>>) = free.unzip();
        let stdin = names(free.iter().map(|path| path.as_ref()));
        if !stdin.is_empty() {
            // Without force: what somebody wrote since stays. Whether a file is there shows whether it worked.
            let list = ["checkout-index", "--quiet", "--index", "-z", "--stdin"];
            self.run_locking(|| self.locking_call(&list, stdin.clone()))?;
        }
        let edited = self.edited()?;
        // What the index does not know is out of the way and needs nothing in its place.
        let is_missed = |path: &String| edited.contains(path);
        let missed = free.iter().zip(&moved).filter(|(path, _)| is_missed(path));
        missed.filter_map(|(_, moved)| moved.as_ref()).for_each(Moved::take_back_if_missing);
        Ok(free.into_iter().filter(|path| !edited.contains(*path)).cloned().collect())
    }

    /// Moves a file away, if one is there. An error is a reason to leave it alone.
    fn move_away(&self, path: &str, into: &Path) -> io::Result<Option<Moved>> {
        let mut folders = Path::new(path).ancestors().skip(1);
        if folders.any(|folder| self.root().join(folder).is_symlink() && !folder.as_os_str().is_empty()) {
            return Err(io::Error::other("it lies behind a link"));
        }
        let moved = Moved { from: self.root().join(path), to: into.join(path) };
        let seen = match fs::symlink_metadata(&moved.from) {
            Ok(seen) if seen.is_dir() => return Err(io::Error::other("it is a folder")),
            Ok(seen) => seen,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        fs::create_dir_all(moved.to.parent().unwrap_or(into))?;
        fs::rename(&moved.from, &moved.to)?;
        if is_same(&seen, &fs::symlink_metadata(&moved.to)?) {
            return Ok(Some(moved));
        }
        moved.take_back_if_missing();
        Err(io::Error::other("somebody writes to it"))
    }
}

/// A place where nothing is yet, by a name that is taken as it is or with a number.
pub(crate) fn free_place(wanted: &Path) -> PathBuf {
    let name = wanted.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2_u32..).map(|number| wanted.with_file_name(format!("{name}-{number}")));
    let mut folders = std::iter::once(wanted.to_owned()).chain(numbered);
    folders.find(|folder| fs::symlink_metadata(folder).is_err()).unwrap_or_else(|| wanted.to_owned())
}

impl Moved {
    /// A link, unlike a move, replaces nothing that is there.
    fn take_back_if_missing(&self) {
        if fs::hard_link(&self.to, &self.from).is_ok() {
            // Under two names it would still be whole.
            let _ = fs::remove_file(&self.to);
        }
    }
}

/// Moving a file changes neither.
fn is_same(before: &Metadata, after: &Metadata) -> bool {
    let stamp = |file: &Metadata| (file.ino(), file.size(), file.mtime(), file.mtime_nsec());
    stamp(before) == stamp(after)
}

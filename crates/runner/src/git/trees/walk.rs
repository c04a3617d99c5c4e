//! A walk through all folders of a linked working tree, in search of files that are new or may have changed. It ends at
//! whatever is not quite ordinary, of which git makes more than can be seen. Each folder is opened from the one that it
//! lies in, and no link is ever followed: whoever swaps a folder for one in the middle of it leads nobody out of the tree.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::dir::{Dir, Type};
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::pristine::Pristine;
use super::snapshot::TreeWork;
use crate::git::customs::conversion::ATTRIBUTES;
use crate::git::customs::ignore_files::IGNORE_BYTES_MAX;
use crate::git::customs::ignore_patterns::{IgnorePatterns, Matter, leave_out, may_leave_out};
use crate::git::customs::ignored_before::RULES;
use crate::git::formats::index_file::IndexFile;
use crate::git::formats::raw_change::lies_in;
use crate::git::stamps::Stamp;
use crate::tree::is_own;

/// More than that, and larger files, are worth starting a git.
const NAMES_MAX: usize = 50_000;
const DEPTH_MAX: usize = 100;
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What tells of repositories inside this one.
pub(in crate::git) const MODULES: &str = ".gitmodules";
const REPOSITORY: &[u8] = b".git";

const FOLDER: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
/// What is no file may keep whoever opens it waiting.
const FILE: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_NONBLOCK)
    .union(OFlag::O_NOCTTY)
    .union(OFlag::O_CLOEXEC);

/// A file that was read, because it is new or may have changed.
#[derive(Debug)]
pub(in crate::git) struct FoundFile {
    pub(in crate::git) path: Vec<u8>,
    /// Which one of the index it is; none if it is new.
    pub(in crate::git) entry: Option<usize>,
    pub(in crate::git) is_executable: bool,
    pub(in crate::git) content: Vec<u8>,
}

/// What there is to walk through, and what has been found.
#[derive(Debug)]
pub(in crate::git) struct Walk<'a> {
    work: &'a TreeWork<'a>,
    index: &'a IndexFile<'a>,
    pristine: &'a Pristine,
    /// The patterns that hold in the folder that is looked at.
    patterns: Vec<IgnorePatterns>,
    found: Found,
    names: usize,
    bytes: u64,
    /// For paths.
    buffer: Vec<u8>,
}

/// What was found.
#[derive(Debug)]
pub(in crate::git) struct Found {
    pub(in crate::git) files: Vec<FoundFile>,
    /// Of which files of the index there is one.
    pub(in crate::git) are_there: Vec<bool>,
}

/// A folder that is looked at.
struct Place<'a> {
    folder: &'a Dir,
    /// Its path, with a slash at its end; the topmost has none.
    path: &'a [u8],
    depth: usize,
}

impl<'a> Walk<'a> {
    pub(in crate::git) fn new(
        work: &'a TreeWork<'a>,
        index: &'a IndexFile<'a>,
        pristine: &'a Pristine,
        patterns: Vec<IgnorePatterns>,
    ) -> Walk<'a> {
        let found = Found { files: Vec::new(), are_there: vec![false; index.entries.len()] };
        Walk { work, index, pristine, patterns, found, names: 0, bytes: 0, buffer: Vec::new() }
    }

    /// Walks through all of it. None: git has to.
    pub(in crate::git) fn through(mut self) -> Option<Found> {
        let top = Dir::open(self.work.tree, FOLDER, Mode::empty()).ok()?;
        self.folder(top, b"", 0)?;
        Some(self.found)
    }

    fn folder(&mut self, mut folder: Dir, path: &[u8], depth: usize) -> Option<()> {
        let names = self.list(&mut folder)?;
        let place = Place { folder: &folder, path, depth };
        let before = self.patterns.len();
        // What stands there holds for all others in the folder.
        if names.iter().any(|(name, _)| name.to_bytes() == RULES.as_bytes()) {
            let (_, text) = self.read(&folder, &CString::new(RULES).ok()?)?;
            (u64::try_from(text.len()).ok()? <= IGNORE_BYTES_MAX).then_some(())?;
            self.patterns.push(IgnorePatterns::parse(&text, path));
        }
        names.iter().try_for_each(|(name, kind)| self.item(&place, name, *kind))?;
        self.patterns.truncate(before);
        Some(())
    }

    fn list(&mut self, folder: &mut Dir) -> Option<Vec<(CString, Type)>> {
        let mut names = Vec::new();
        for entry in folder.iter() {
            let entry = entry.ok()?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.names += 1;
            (self.names <= NAMES_MAX).then_some(())?;
            names.push((name.to_owned(), entry.file_type()?));
        }
        Some(names)
    }

    fn item(&mut self, place: &Place<'_>, name: &CStr, kind: Type) -> Option<()> {
        let path = [place.path, name.to_bytes()].concat();
        if name.to_bytes().eq_ignore_ascii_case(REPOSITORY) {
            // That of the tree itself says where its repository is.
            return path.eq(REPOSITORY).then_some(());
        }
        let is_out = lies_in(&path, self.work.furnished) || lies_in(&path, self.work.dropped);
        let is_known = || !is_out && self.entry(&path).is_some();
        match name.to_bytes() {
            name if name == MODULES.as_bytes() => return None,
            // They hold also where they are nobody's work.
            name if name == ATTRIBUTES.as_bytes() && !is_known() => return None,
            _ => {}
        }
        match kind {
            _ if is_out => Some(()),
            Type::Directory => self.enter(place, name, &path),
            Type::File => self.file(place, name, path),
            Type::Fifo | Type::CharacterDevice | Type::BlockDevice | Type::Symlink | Type::Socket => {
                (self.is_free(&path) && leave_out(&self.patterns, &path, Matter::File)).then_some(())
            }
        }
    }

    fn enter(&mut self, place: &Place<'_>, name: &CStr, path: &[u8]) -> Option<()> {
        // Where a file was, a folder is something else.
        self.entry(path).is_none().then_some(())?;
        if self.is_free(path) && leave_out(&self.patterns, path, Matter::Folder) {
            return Some(());
        }
        (place.depth < DEPTH_MAX).then_some(())?;
        let folder = Dir::openat(place.folder.as_fd(), name, FOLDER, Mode::empty()).ok()?;
        self.folder(folder, &[path, b"/"].concat(), place.depth + 1)
    }

    fn file(&mut self, place: &Place<'_>, name: &CStr, path: Vec<u8>) -> Option<()> {
        let is_own = is_own(&String::from_utf8_lossy(&path));
        let entry = self.entry(&path);
        if let Some(number) = entry {
            *self.found.are_there.get_mut(number)? = true;
            let (tree, entry) = (self.work.tree.as_os_str().as_bytes(), self.index.entries.get(number)?);
            if is_own || self.pristine.has_untouched(tree, entry, &mut self.buffer) {
                return Some(());
            }
        } else {
            self.is_free(&path).then_some(())?;
            if is_own || leave_out(&self.patterns, &path, Matter::File) {
                return Some(());
            }
            (is_ordinary(&path) && !may_leave_out(&self.patterns, &path)).then_some(())?;
        }
        let (looks, content) = self.read(place.folder, name)?;
        let is_executable = looks.permissions().mode() & 0o100 != 0;
        self.found.files.push(FoundFile { path, entry, is_executable, content });
        Some(())
    }

    /// Which one of the index is at a path.
    fn entry(&self, path: &[u8]) -> Option<usize> {
        self.index.entries.binary_search_by(|entry| entry.name.as_ref().cmp(path)).ok()
    }

    /// Whether the index has nothing at a path, nor below.
    fn is_free(&self, path: &[u8]) -> bool {
        self.entry(path).is_none() && {
            let below = [path, b"/"].concat();
            let first = self.index.entries.partition_point(|entry| entry.name.as_ref() < below.as_slice());
            !self.index.entries.get(first).is_some_and(|entry| entry.name.starts_with(&below))
        }
    }

    /// Reads a file that nobody writes to meanwhile.
    fn read(&mut self, folder: &Dir, name: &CStr) -> Option<(Metadata, Vec<u8>)> {
        let mut file = File::from(openat(folder.as_fd(), name, FILE, Mode::empty()).ok()?);
        let looks = file.metadata().ok().filter(|looks| looks.is_file() && looks.len() <= FILE_BYTES_MAX)?;
        self.bytes += looks.len();
        (self.bytes <= BYTES_MAX).then_some(())?;
        let mut content = Vec::new();
        (&mut file).take(FILE_BYTES_MAX + 1).read_to_end(&mut content).ok()?;
        let is_whole = u64::try_from(content.len()).ok()? == looks.len();
        let is_same = Stamp::told(&file.metadata().ok()?) == Stamp::told(&looks);
        (is_whole && is_same).then_some((looks, content))
    }
}

/// Whether git takes a new file of such a path without a second thought: it refuses some that others take for the
/// folder of a repository.
fn is_ordinary(path: &[u8]) -> bool {
    let is_plain = |byte: &u8| (byte.is_ascii_graphic() || *byte == b' ') && *byte != b'\\';
    let begins_like = |name: &[u8], start: &[u8]| {
        name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    let is_harmless = |name: &[u8]| {
        let goes_on = name.get(REPOSITORY.len()).is_some_and(u8::is_ascii_alphanumeric);
        (!begins_like(name, REPOSITORY) || goes_on) && !begins_like(name, b"git~")
    };
    path.iter().all(is_plain) && path.split(|byte| *byte == b'/').all(is_harmless)
}

/// Whether places are named as git names paths, so that both mean the same by them.
pub(in crate::git) fn are_plain_places(places: &[String]) -> bool {
    let is_plain = |name: &str| !matches!(name, "" | "." | "..");
    places.iter().all(|place| place.trim_end_matches('/').split('/').all(is_plain))
}

/// Whether a file says how others are stored.
pub(in crate::git) fn is_attributes(path: &[u8]) -> bool {
    Path::new(OsStr::from_bytes(path)).file_name() == Some(OsStr::new(ATTRIBUTES))
}

#[cfg(test)]
mod tests {
    use super::{are_plain_places, is_ordinary};

    #[test]
    fn names_that_git_might_refuse_are_not_ordinary() {
        for path in ["a", "a b/c~1", ".github/x", "a/.gitignore", ".gitkeep", "legit~1", "x:y", "git"] {
            assert!(is_ordinary(path.as_bytes()), "{path}");
        }
        for path in
            [".git", "a/.GIT/b", ".git ", ".git.", ".git::$x", "git~1", "a/GIT~2", "a\\b", "é", "a\tb"]
        {
            assert!(!is_ordinary(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn places_mean_the_same_to_git_where_they_are_plain() {
        let check =
            |place: &str, expected| assert_eq!(are_plain_places(&[place.to_owned()]), expected, "{place}");
        check("a/b", true);
        check("a/", true);
        check("/a", false);
        check("./a", false);
        check("a//b", false);
        check("a/..", false);
        check("", false);
        check("/", false);
    }
}

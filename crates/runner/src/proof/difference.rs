//! What the project has and a clean checkout of it does not: surroundings, which were there before the run, and what may be
//! missing work, which is told apart by trying.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::git::{ChangeKind, Git};
use crate::work::project_files::is_own;
use crate::worktrees::is_manifest_name;

/// Ignored paths that are remembered one by one.
const PATHS_MAX: usize = 1_000;
/// How many files, and how many bytes of them, are tried in a clean checkout.
const FILES_MAX: usize = 500;
const BYTES_MAX: u64 = 64 << 20;

/// Folders that hold what a package manager installed.
const INSTALLED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// Folders that tools fill for themselves, again and again.
const CACHES: [&str; 9] = [
    "target",
    ".next",
    ".vite",
    ".turbo",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "coverage",
];

fn is_of_tools(path: &str) -> bool {
    path.split('/').any(|name| INSTALLED.contains(&name) || CACHES.contains(&name))
}

/// What git ignores in the project. Where that is much, folders stand for what is in them.
pub(crate) fn surroundings(git: Option<&Git>) -> Vec<String> {
    let Some(git) = git else { return Vec::new() };
    // Where git does not tell, nothing is known to be missing work either.
    let ignored = git.ignored_in_project().unwrap_or_default().into_iter().filter(|path| !is_own(path));
    let ignored: Vec<String> = ignored.collect();
    if ignored.len() <= PATHS_MAX {
        return ignored;
    }
    let top = |path: &String| match path.split_once('/') {
        Some((top, _)) => format!("{top}/"),
        None => path.clone(),
    };
    ignored.iter().map(top).collect::<BTreeSet<_>>().into_iter().take(PATHS_MAX).collect()
}

/// The project and a clean checkout of it.
pub(super) struct Both<'a> {
    pub(super) git: &'a Git,
    pub(super) project: &'a Path,
    pub(super) tree: &'a Path,
    /// What git ignored in the project before the run began; none where nobody knows.
    pub(super) surroundings: Option<&'a [String]>,
    /// When it began.
    pub(super) began: Option<SystemTime>,
}

/// Something that the project has and the checkout has not, or has in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) path: String,
    /// What it is, in words.
    pub(super) told: String,
}

impl Both<'_> {
    /// Whether a path was there before the run began. Without a look at that time, all that git ignores may have been.
    pub(super) fn is_of_surroundings(&self, path: &str) -> bool {
        let Some(before) = self.surroundings else { return true };
        let path = path.trim_end_matches('/');
        before.iter().any(|known| match known.strip_suffix('/') {
            Some(folder) if path == folder => true,
            Some(folder) => Path::new(path).starts_with(folder) && !self.is_new(path),
            None => path == known,
        })
    }

    fn is_new(&self, path: &str) -> bool {
        let made = fs::metadata(self.project.join(path)).and_then(|metadata| metadata.created()).ok();
        made.zip(self.began).is_some_and(|(made, began)| made > began)
    }

    /// What surrounds the project and is not in the checkout.
    pub(super) fn lacking_surroundings(&self) -> Vec<String> {
        let ignored = self.git.ignored_in_project().unwrap_or_default();
        let is_lacking = |path: &String| {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            !is_own(path)
                && !CACHES.contains(&name)
                && (INSTALLED.contains(&name) || self.is_of_surroundings(path))
                && !self.tree.join(path).exists()
        };
        ignored.into_iter().filter(is_lacking).collect()
    }

    /// What may be work that no commit holds: files that git ignores and that the run made, untracked and changed ones,
    /// empty folders and lost permissions of what the command names.
    pub(super) fn candidates(&self, command: &str) -> Vec<Difference> {
        let mut found: Vec<Difference> = self.named_in(command);
        let changes = self.git.status().map(|status| status.changes).unwrap_or_default();
        for change in changes.into_iter().filter(|change| !is_own(&change.path)) {
            let what =
                if change.kind == ChangeKind::Added { "is not committed" } else { "has uncommitted changes" };
            found.push(Difference { told: format!("`{}` {what}", change.path), path: change.path });
        }
        for path in self.git.ignored_in_project().unwrap_or_default() {
            let path = path.trim_end_matches('/').to_owned();
            if !is_own(&path)
                && !is_of_tools(&path)
                && !self.is_of_surroundings(&path)
                && !self.tree.join(&path).exists()
            {
                found.push(Difference { told: format!("git ignores `{path}`"), path });
            }
        }
        let mut seen = BTreeSet::new();
        found.retain(|difference| seen.insert(difference.path.clone()));
        found
    }

    /// A file that says what is to be installed and that is not as it is committed: missing work, or one that git ignored
    /// before the run.
    pub(super) fn manifests(&self) -> (Option<String>, Option<String>) {
        let is_manifest = |path: &str| is_manifest_name(path.rsplit('/').next().unwrap_or(path));
        let mut missing = self.candidates("").into_iter();
        let missing = missing.find(|difference| is_manifest(&difference.path));
        let ignored = self.git.ignored_in_project().unwrap_or_default();
        let ignored = ignored.into_iter().find(|path| is_manifest(path) && !self.tree.join(path).exists());
        (missing.map(|difference| difference.told), ignored.map(|path| format!("git ignores `{path}`")))
    }

    /// What the command itself names.
    fn named_in(&self, command: &str) -> Vec<Difference> {
        let is_gap = |character: char| character.is_whitespace() || "'\"`;|&()<>=,".contains(character);
        let mut found = Vec::new();
        for word in command.split(is_gap).map(|word| word.trim_start_matches("./").trim_end_matches('/')) {
            let is_inside = !word.is_empty()
                && Path::new(word).is_relative()
                && !word.split('/').any(|part| part == "..");
            let (here, there) = (self.project.join(word), self.tree.join(word));
            if !is_inside || is_own(word) || !here.exists() {
                continue;
            }
            if there.exists() {
                let told = format!("`{word}` is executable in the project and not as it is committed");
                found.extend(
                    (is_executable(&here) && !is_executable(&there))
                        .then(|| Difference { path: word.to_owned(), told }),
                );
                continue;
            }
            let is_ignored =
                self.git.ignored_among(&[word.to_owned()]).is_ok_and(|ignored| !ignored.is_empty());
            if is_of_tools(word) || (is_ignored && self.is_of_surroundings(word)) {
                continue;
            }
            let told = if is_ignored {
                format!("git ignores `{word}`")
            } else if is_empty_folder(&here) {
                format!("`{word}` is an empty folder, which git does not keep")
            } else {
                format!("`{word}` is not committed")
            };
            found.push(Difference { path: word.to_owned(), told });
        }
        found
    }

    /// Puts what differs into the checkout, as far as it is not too much.
    pub(super) fn bring(&self, differences: &[Difference]) {
        let mut room = Room::new();
        for difference in differences {
            room.copy(&self.project.join(&difference.path), &self.tree.join(&difference.path));
        }
    }

    /// Puts what surrounds the project into the checkout: installed packages by links, whatever else as copies. True if it
    /// was not too much.
    pub(super) fn lend(&self, surroundings: &[String]) -> bool {
        let mut room = Room::new();
        for path in surroundings.iter().map(|path| path.trim_end_matches('/')) {
            let (from, to) = (self.project.join(path), self.tree.join(path));
            let name = path.rsplit('/').next().unwrap_or(path);
            if INSTALLED.contains(&name) {
                // A link that cannot be made is missing all the same.
                let _ = to.parent().map(fs::create_dir_all);
                let _ = symlink(&from, &to);
            } else {
                room.copy(&from, &to);
            }
        }
        !room.is_exceeded
    }
}

/// The room for copies.
struct Room {
    files: usize,
    bytes: u64,
    is_exceeded: bool,
}

impl Room {
    fn new() -> Self {
        Self { files: FILES_MAX, bytes: BYTES_MAX, is_exceeded: false }
    }

    /// Copies a file or folder. What cannot be copied is not tried.
    fn copy(&mut self, from: &Path, to: &Path) {
        let Ok(metadata) = fs::symlink_metadata(from) else { return };
        if metadata.is_dir() {
            let _ = fs::create_dir_all(to);
            let mut entries: Vec<PathBuf> =
                fs::read_dir(from).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            entries.sort();
            let named = entries.iter().filter_map(|entry| Some((entry, entry.file_name()?)));
            named.for_each(|(entry, name)| self.copy(entry, &to.join(name)));
        } else if metadata.is_file() {
            let Some((files, bytes)) = self.files.checked_sub(1).zip(self.bytes.checked_sub(metadata.len()))
            else {
                self.is_exceeded = true;
                return;
            };
            (self.files, self.bytes) = (files, bytes);
            let _ = to.parent().map(fs::create_dir_all);
            let _ = fs::copy(from, to);
        }
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o100 != 0)
}

fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

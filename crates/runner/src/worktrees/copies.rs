//! The project's untracked files that a work tree is given: small local settings, copied at every use, and what the
//! project's own settings name. Build outputs, environments and databases are never among them: they are about the
//! place that they were made in.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use crate::git::{Git, GitError, Tracked};
use crate::work::project_files::is_own;
use crate::worktrees::scan::{CACHES, Sharing, Sign, holds_path, sign};
use crate::worktrees::slots::Worktrees;

/// The bytes of a file that is copied without being named.
const LOCAL_BYTES_MAX: u64 = 1 << 20;

/// The number of names in a sentence.
const TOLD_MAX: usize = 5;

/// The beginning of every file of SQLite.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Names that are never shared, whoever asks for it.
const NEVER: [&str; 20] = [
    ".eslintcache",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    "__pycache__",
    "build",
    "dist",
    "out",
    "target",
    "venv",
];

/// Ends of names that are never shared.
const NEVER_ENDS: [&str; 9] =
    [".egg-info", ".tsbuildinfo", ".o", ".a", ".pyc", ".db", ".sqlite", ".sqlite3", ".db-wal"];

/// The work tree that is given something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipient<'a> {
    pub(super) git: &'a Git,
    pub(super) worktree: &'a Path,
    pub(super) tracked: &'a [Tracked],
    /// Local settings that it does not get.
    pub(super) withheld: &'a [String],
}

/// The files that were put into a work tree, and what people are to be told of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) put: Vec<String>,
    pub(super) notes: Vec<String>,
    /// For a tree in which agents work: that they can read what was copied.
    pub(super) warning: Option<String>,
}

impl Recipient<'_> {
    /// Copies the files that a work tree needs at every use, and makes its links.
    pub(super) fn give(&self, worktrees: &Worktrees) -> Result<Given, GitError> {
        let mut given = Given::default();
        let tracked: BTreeSet<&Path> = self.tracked.iter().map(|entry| entry.path.as_path()).collect();
        let mut files = Vec::new();
        for path in local_files(self.git)? {
            let is_wanted = !tracked.contains(Path::new(&path)) && self.has_folder_of(&path);
            if is_wanted && !self.withheld.contains(&path) && self.copy_file(&path)? {
                files.push(path);
            }
        }
        for path in worktrees.copy.iter().filter(|path| self.git.root().join(path).is_file()) {
            let Some(path) = self.acceptable(path, &mut given.notes) else { continue };
            if !files.contains(&path) && !tracked.contains(Path::new(&path)) && self.copy_file(&path)? {
                files.push(path);
            }
        }
        given.warning = (!files.is_empty())
            .then(|| format!("agents can read the copies that work trees get of {}", listed(&files)));
        given.notes.extend(self.leading_into_project(&files));
        given.put.extend(files);
        for path in &worktrees.link {
            let Some(path) = self.acceptable(path, &mut given.notes) else { continue };
            if self.link(&path, &mut given.notes)? {
                given.put.push(path);
            }
        }
        Ok(given)
    }

    /// Copies the folders that settings name. Where there is a set-up, they are what it begins with.
    pub(super) fn give_folders(&self, worktrees: &Worktrees) -> Result<Given, GitError> {
        let mut given = Given::default();
        for path in worktrees.copy.iter().filter(|path| !self.git.root().join(path).is_file()) {
            let Some(path) = self.acceptable(path, &mut given.notes) else { continue };
            let (from, to) = (self.git.root().join(&path), self.worktree.join(&path));
            if let Some(sign) = sign(self.git.root(), &path, Sharing::Copy) {
                given.notes.push(refused(&path, "copied", &sign));
            } else if fs::symlink_metadata(&to).is_err() {
                self.make_folder_of(&path)?;
                copy_folder(&from, &to).map_err(GitError::io("copy", &from))?;
                given.put.push(path);
            }
        }
        Ok(given)
    }

    /// A path of the settings that may be shared; why not is told.
    fn acceptable(&self, path: &str, notes: &mut Vec<String>) -> Option<String> {
        let plain = path.trim_start_matches("./").trim_end_matches('/');
        let is_inside = !plain.is_empty()
            && Path::new(plain).components().all(|part| matches!(part, Component::Normal(_)));
        let is_ours = is_own(plain) || plain == ".tillgreen" || plain.starts_with(".git/") || plain == ".git";
        let from = self.git.root().join(plain);
        let problem = if !is_inside || is_ours || self.leads_through_link(plain) {
            "is no path that work trees can be given".to_owned()
        } else if fs::symlink_metadata(&from).is_err() && plain.contains(['*', '?', '{']) {
            "is not there, so work trees go without it: patterns are not understood here, so name each path"
                .to_owned()
        } else if fs::symlink_metadata(&from).is_err() {
            "is not there, so work trees go without it".to_owned()
        } else if is_never_shared(plain) || is_database(&from) {
            "is neither copied nor linked: it is about the place that it was made in, and work trees would test the \
             project's files by it; worktree_setup names the command that makes it in each of them"
                .to_owned()
        } else {
            return Some(plain.to_owned());
        };
        notes.push(format!("{path} {problem}"));
        None
    }

    fn link(&self, path: &str, notes: &mut Vec<String>) -> Result<bool, GitError> {
        let (from, to) = (self.git.root().join(path), self.worktree.join(path));
        if let Some(sign) = sign(self.git.root(), path, Sharing::Link) {
            notes.push(refused(path, "linked", &sign));
            return Ok(false);
        }
        if fs::symlink_metadata(&to).is_ok() {
            return Ok(false);
        }
        self.make_folder_of(path)?;
        symlink(&from, &to).map_err(GitError::io("link", &from))?;
        // A pattern with a slash at its end is about folders, and a link is none.
        if !self.git.is_ignored_in_slot(self.worktree, path)? {
            self.git.exclude(&[&format!("/{path}")])?;
        }
        Ok(true)
    }

    fn copy_file(&self, path: &str) -> Result<bool, GitError> {
        let (from, to) = (self.git.root().join(path), self.worktree.join(path));
        if fs::symlink_metadata(&to).is_ok() || self.leads_through_link(path) {
            return Ok(false);
        }
        self.make_folder_of(path)?;
        fs::copy(&from, &to).map_err(GitError::io("copy", &from)).map(|_| true)
    }

    fn has_folder_of(&self, path: &str) -> bool {
        self.worktree.join(path).parent().is_some_and(Path::is_dir)
    }

    fn make_folder_of(&self, path: &str) -> Result<(), GitError> {
        let to = self.worktree.join(path);
        let Some(folder) = to.parent() else { return Ok(()) };
        fs::create_dir_all(folder).map_err(GitError::io("create", folder))
    }

    /// True if a folder on the way to a path is a link: where it leads, nobody has looked.
    fn leads_through_link(&self, path: &str) -> bool {
        let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let is_link = |folder: &Path| {
            [self.git.root(), self.worktree].iter().any(|root| root.join(folder).is_symlink())
        };
        folders.into_iter().any(is_link)
    }

    /// The words for people about copied files that lead into the project.
    fn leading_into_project(&self, files: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        for file in files {
            let text = fs::read(self.git.root().join(file)).unwrap_or_default();
            let keys = keys_leading_to(&text, self.git.root());
            if !keys.is_empty() {
                notes.push(format!(
                    "{file} names the project's own folder ({}): in work trees that still leads into the project",
                    listed(&keys)
                ));
            }
        }
        notes
    }
}

/// Ignored files of the project that work trees are given without being told: local settings.
fn local_files(git: &Git) -> Result<Vec<String>, GitError> {
    let is_wanted = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        is_local(name) && !is_never_shared(path) && !is_own(path) && is_small_file(&git.root().join(path))
    };
    let mut files: Vec<String> = git.ignored_in_project()?.into_iter().filter(is_wanted).collect();
    files.sort();
    Ok(files)
}

fn is_local(name: &str) -> bool {
    name.starts_with(".env")
        || name.contains(".local.")
        || name.starts_with("local.settings")
        || name == "go.work"
        || name == ".npmrc"
}

fn is_small_file(file: &Path) -> bool {
    let is_small = |metadata: fs::Metadata| metadata.is_file() && metadata.len() <= LOCAL_BYTES_MAX;
    fs::symlink_metadata(file).is_ok_and(is_small) && !is_database(file)
}

/// True for what is never shared, by its name or that of a folder on the way to it.
fn is_never_shared(path: &str) -> bool {
    let is_never =
        |name: &str| NEVER.binary_search(&name).is_ok() || NEVER_ENDS.iter().any(|end| name.ends_with(end));
    path.split('/').any(is_never)
}

/// True for a file of SQLite.
pub(super) fn is_database(file: &Path) -> bool {
    if !fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut head = [0; SQLITE.len()];
    File::open(file).and_then(|mut file| file.read_exact(&mut head)).is_ok_and(|()| head == *SQLITE)
}

/// The names of settings whose values hold the project's path; never the values, which may be secret.
fn keys_leading_to(text: &[u8], project: &Path) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| holds_path(line, project));
    let key = |line: &[u8]| {
        let text = String::from_utf8_lossy(line).into_owned();
        let name = text.split(['=', ':']).next().unwrap_or_default().trim();
        let name = name.trim_start_matches("export ").trim_matches(['"', '\'', ' ', ',']);
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.@/".contains(c));
        if is_name && !name.starts_with('/') { name.to_owned() } else { "a line of it".to_owned() }
    };
    let mut keys: Vec<String> = lines.map(key).collect();
    keys.dedup();
    keys
}

/// The reason why a folder is not shared.
fn refused(path: &str, how: &str, sign: &Sign) -> String {
    let advice = "worktree_setup names the command that makes it in each of them";
    match sign {
        Sign::Leads { link, to } => format!(
            "{path} is not {how}: tests in work trees would load `{}` from the project, not from the tree (link in {}), \
             and their results would be worthless; {advice}",
            to.display(),
            link.display()
        ),
        Sign::Names { file } => format!(
            "{path} is not {how}: {} holds the project's own path, so work trees would use the project's files; {advice}",
            file.display()
        ),
    }
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(TOLD_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TOLD_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Copies a folder; links as links, without caches, pipes and the like.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let mut waiting: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = waiting.pop() {
        let metadata = fs::symlink_metadata(&from)?;
        let kind = metadata.file_type();
        if kind.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else if kind.is_file() {
            fs::copy(&from, &to)?;
        } else if kind.is_dir() {
            fs::create_dir(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                if !CACHES.iter().any(|name| entry.file_name() == *name) {
                    waiting.push((entry.path(), to.join(entry.file_name())));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_never_shared_are_in_order() {
        assert!(NEVER.is_sorted(), "they are searched in halves");
    }

    #[test]
    fn local_settings_are_known_by_their_names() {
        for name in [
            ".env",
            ".env.local",
            ".envrc",
            "settings.local.json",
            "docker-compose.local.yml",
            "local.settings.json",
            "go.work",
            ".npmrc",
        ] {
            assert!(is_local(name), "{name}");
        }
        for name in ["local.json", "env", "notes.local", "go.work.sum", "secrets.yml", "localhost.pem"] {
            assert!(!is_local(name), "{name}");
        }
    }

    #[test]
    fn what_is_about_its_place_is_never_shared() {
        for path in ["target", "web/dist", ".venv/bin/python", "a.egg-info", "x/y.tsbuildinfo", "app.sqlite3"]
        {
            assert!(is_never_shared(path), "{path}");
        }
        for path in ["node_modules", "vendor", "targets", "config/secrets.yml", "outline"] {
            assert!(!is_never_shared(path), "{path}");
        }
    }

    #[test]
    fn keys_are_told_and_values_never() {
        let text =
            b"A=1\nexport DB=sqlite:////p/app/x.db\n \"root\": \"/p/app\",\nB=/p/app-two\n/p/app/secret\n";
        assert_eq!(keys_leading_to(text, Path::new("/p/app")), ["DB", "root", "a line of it"]);
    }

    #[test]
    fn a_sentence_has_few_names() {
        let names: Vec<String> = (1..=7).map(|number| format!("f{number}")).collect();
        assert_eq!(listed(&names), "f1, f2, f3, f4, f5 and 2 more");
        assert_eq!(listed(&names[..2]), "f1, f2");
    }
}

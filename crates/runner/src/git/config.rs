//! The settings of a repository: what they say of how commits are made; whether somebody changed them so that git would
//! take another folder for the project; and, with hooks and attributes, whether they changed at all while agents were
//! at work.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::git::call::error::GitError;
use crate::git::call::locks::Quiet;
use crate::git::call::process::{self, Call};
use crate::git::repository::Git;

/// All settings, in the order in which git reads them: the last of a name is the one that counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::git) struct Configuration {
    entries: Vec<(String, String)>,
}

impl Configuration {
    /// The question to git.
    pub(in crate::git) const QUESTION: [&'static str; 3] = ["config", "--list", "-z"];

    /// Reads the listing. A value begins after the line break that ends the name, and may have others in it; a setting
    /// without one is true.
    pub(in crate::git) fn parse(listing: &[u8]) -> Configuration {
        let listing = String::from_utf8_lossy(listing);
        let settings = listing.split('\0').filter(|setting| !setting.is_empty());
        let entry = |setting: &str| {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            (name.to_owned(), value.to_owned())
        };
        Configuration { entries: settings.map(entry).collect() }
    }

    /// Each setting by its name.
    pub(in crate::git) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The names of all settings, as git writes them: only what people name themselves may have capitals.
    pub(in crate::git) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }
}

/// The facts about committing here that were learned since the program was started.
#[derive(Debug, Default)]
pub(in crate::git) struct Remembered {
    /// When nobody else was making a commit.
    pub(in crate::git) quiet: Quiet,
    /// The place of the work tree when it was first told.
    place: OnceLock<Place>,
}

impl Remembered {
    pub(in crate::git) fn place(&self) -> Option<&Place> {
        self.place.get()
    }
}

impl Git {
    /// Refuses a repository in which git does not know who commits: better found out before anything is done than at
    /// the first commit.
    pub fn check_identity(&self) -> Result<(), GitError> {
        self.configuration()?;
        let is_known = process::run(self.call(&["var", "GIT_COMMITTER_IDENT"]))?.is_success();
        if is_known { Ok(()) } else { Err(GitError::NoIdentity { root: self.root().to_owned() }) }
    }

    /// The settings that apply here; none where git cannot read them.
    pub(in crate::git) fn configuration(&self) -> Result<Option<Configuration>, GitError> {
        let listing = process::run(self.call(&Configuration::QUESTION))?.success().ok();
        let configuration = listing.map(|listing| Configuration::parse(&listing));
        if let Some(configuration) = &configuration {
            self.remembered().place.get_or_init(|| Place::of(configuration));
        }
        Ok(configuration)
    }
}

/// The command for somebody who did not mean it. It works also where git finds no such folder.
pub(in crate::git) const UNSET_WORKTREE: &str = "GIT_WORK_TREE=. git config --unset core.worktree";
pub(in crate::git) const UNSET_BARE: &str = "git config core.bare false";

/// The place of a repository's work tree, by its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Place {
    worktree: Option<String>,
    is_bare: bool,
}

impl Place {
    pub(in crate::git) fn of(configuration: &Configuration) -> Place {
        let last = |wanted: &str| {
            let named = configuration.entries().filter(|(name, _)| *name == wanted);
            named.last().map(|(_, value)| value.to_owned())
        };
        let is_true =
            |value: String| ["true", "yes", "on", "1"].contains(&value.to_ascii_lowercase().as_str());
        Place { worktree: last("core.worktree"), is_bare: last("core.bare").is_some_and(is_true) }
    }

    /// The difference, and how it is undone.
    fn change(&self, now: &Place) -> Option<(String, String)> {
        if now.is_bare && !self.is_bare {
            return Some(("core.bare is true".to_owned(), UNSET_BARE.to_owned()));
        }
        match (&self.worktree, &now.worktree) {
            (before, now) if before == now => None,
            (None, Some(now)) => Some((format!("core.worktree is {now}"), UNSET_WORKTREE.to_owned())),
            (Some(before), now) => {
                let told = now.as_ref().map_or("is not set".to_owned(), |now| format!("is {now}"));
                let undo = format!("GIT_WORK_TREE=. git config core.worktree '{before}'");
                Some((format!("core.worktree {told}"), undo))
            }
            (None, None) => None,
        }
    }
}

impl Git {
    /// Refuses a repository whose settings were changed, since the program started, so that git would not work in the
    /// project any more. The project that is itself a linked work tree has nothing to do with them.
    pub(crate) fn refuse_if_misdirected(&self) -> Result<(), GitError> {
        let is_main = self.git_dir() == self.common_dir();
        let Some(before) = self.remembered().place().filter(|_| is_main) else { return Ok(()) };
        let now = match self.configuration()? {
            Some(configuration) => Place::of(&configuration),
            // Git reads no settings where the folder does not exist that they name.
            None => self.place_told_otherwise()?,
        };
        match before.change(&now) {
            Some((change, undo)) => Err(GitError::Misdirected { root: self.root().to_owned(), change, undo }),
            None => Ok(()),
        }
    }

    fn place_told_otherwise(&self) -> Result<Place, GitError> {
        let mut environment = self.environment().clone();
        environment.push(("GIT_WORK_TREE".into(), self.root().into()));
        let call = Call { environment: &environment, ..self.call(&Configuration::QUESTION) };
        process::run(call)?.success().map(|listing| Place::of(&Configuration::parse(&listing)))
    }
}

/// Larger files are known by their size alone.
const BYTES_MAX: u64 = 1024 * 1024;

/// Hooks of such names do nothing.
const SAMPLE: &str = "sample";

/// The content of these files at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFiles {
    files: BTreeMap<PathBuf, u64>,
}

impl ConfigFiles {
    /// The files that were not there before, are gone, or hold something else.
    pub fn changed_since(&self, before: &ConfigFiles) -> Vec<PathBuf> {
        let is_other = |file: &&PathBuf| self.files.get(*file) != before.files.get(*file);
        let mut changed: Vec<PathBuf> =
            self.files.keys().chain(before.files.keys()).filter(is_other).cloned().collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

impl Git {
    /// The repository's settings now.
    pub fn config_files(&self) -> ConfigFiles {
        let hooks = fs::read_dir(self.common_dir().join("hooks")).into_iter().flatten().flatten();
        let hooks =
            hooks.map(|entry| entry.path()).filter(|hook| hook.extension().is_none_or(|end| end != SAMPLE));
        let files = [
            self.common_dir().join("config"),
            self.git_dir().join("config.worktree"),
            self.common_dir().join("info/attributes"),
        ];
        let files = files.into_iter().chain(hooks);
        ConfigFiles {
            files: files
                .filter_map(|file| Some((told(&file)?, file)))
                .map(|(sum, file)| (file, sum))
                .collect(),
        }
    }
}

/// A sum of what is in a file, and of whether it can be run. None: there is no such file.
fn told(file: &Path) -> Option<u64> {
    let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let mut sum = DefaultHasher::new();
    (metadata.len(), metadata.permissions().mode()).hash(&mut sum);
    if metadata.len() <= BYTES_MAX {
        fs::read(file).ok()?.hash(&mut sum);
    }
    Some(sum.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_of_all_kinds_are_read() {
        let check = |listing: &[u8], expected: &[(&str, &str)]| {
            let configuration = Configuration::parse(listing);
            assert_eq!(configuration.entries().collect::<Vec<_>>(), expected);
        };
        check(b"", &[]);
        check(b"user.name\nA\0user.name\nB\0", &[("user.name", "A"), ("user.name", "B")]);
        check(b"a.b\none\ntwo\n\0c.d\n\0", &[("a.b", "one\ntwo\n"), ("c.d", "")]);
        check(
            b"filter.x.required\0core.bare\nfalse\0",
            &[("filter.x.required", "true"), ("core.bare", "false")],
        );
        check(b"filter.A=b c.d.smudge\nx = y\0", &[("filter.A=b c.d.smudge", "x = y")]);
        check(b"a.b\n\xff\0", &[("a.b", "\u{fffd}")]);
        check(b"a.b", &[("a.b", "true")]);
    }

    #[test]
    fn what_was_changed_is_told_with_what_undoes_it() {
        let place = |listing: &[u8]| Place::of(&Configuration::parse(listing));
        let check = |before: &[u8], now: &[u8], expected: Option<(&str, &str)>| {
            let change = place(before).change(&place(now));
            let change = change.as_ref().map(|(change, undo)| (change.as_str(), undo.as_str()));
            assert_eq!(change, expected);
        };
        let set = b"core.worktree\n../a\0";
        check(b"core.bare\nfalse\0", b"", None);
        check(b"core.bare\nYes\0", b"core.bare\0", None);
        check(b"", b"core.bare\n1\0", Some(("core.bare is true", UNSET_BARE)));
        check(b"", set, Some(("core.worktree is ../a", UNSET_WORKTREE)));
        check(set, set, None);
        check(
            set,
            b"",
            Some(("core.worktree is not set", "GIT_WORK_TREE=. git config core.worktree '../a'")),
        );
    }
}

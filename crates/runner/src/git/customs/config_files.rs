//! The files that git reads its settings from. Somebody may change any of them while a run is under way: whoever sets
//! up hooks does, and work that comes in may bring a file that others include.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::configuration::Configuration;
use crate::git::repository::Git;
use crate::git::stamps::Stamp;

/// What these files look like at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::git) struct Looks {
    files: Vec<(PathBuf, Option<Stamp>)>,
}

impl Looks {
    /// What these files look like now.
    pub(in crate::git) fn at(files: impl IntoIterator<Item = PathBuf>) -> Looks {
        let look = |file: PathBuf| (Stamp::behind(&file), file);
        Looks { files: files.into_iter().map(look).map(|(stamp, file)| (file, stamp)).collect() }
    }

    /// Whether they look the same now.
    pub(in crate::git) fn hold(&self) -> bool {
        self.files.iter().all(|(file, stamp)| Stamp::behind(file) == *stamp)
    }

    /// The same with files that were not known before.
    pub(in crate::git) fn and(mut self, files: impl IntoIterator<Item = PathBuf>) -> Looks {
        for file in files {
            if !self.files.iter().any(|(known, _)| *known == file) {
                self.files.push((file.clone(), Stamp::behind(&file)));
            }
        }
        self
    }
}

impl Git {
    /// Where settings are before any is known.
    pub(in crate::git) fn first_config_files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.common_dir().join("config"), self.git_dir().join("config.worktree")];
        let home = self.variable("HOME").map(PathBuf::from);
        files.extend(home.map(|home| home.join(".gitconfig")));
        files.extend(self.settings_folder().map(|folder| folder.join("git/config")));
        files.extend(self.variable("GIT_CONFIG_GLOBAL").map(PathBuf::from));
        files
    }

    /// The files that settings came from, and those that would be included if they were there.
    pub(in crate::git) fn config_files(&self, configuration: &Configuration) -> Vec<PathBuf> {
        let origin = |origin: &str| origin.strip_prefix("file:").map(|file| self.root().join(file));
        let mut files: Vec<PathBuf> = configuration.origins().filter_map(origin).collect();
        let included = configuration.included().filter_map(|(from, file)| {
            let folder = origin(from)?.parent()?.to_owned();
            match file.strip_prefix("~/") {
                Some(rest) => Some(Path::new(&self.variable("HOME")?).join(rest)),
                None => Some(folder.join(file)),
            }
        });
        files.extend(included);
        files
    }

    /// Where people keep settings of their own; none if nothing says so.
    pub(in crate::git) fn settings_folder(&self) -> Option<PathBuf> {
        let named = self.variable("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        named.or_else(|| self.variable("HOME").map(|home| Path::new(&home).join(".config")))
    }

    /// A variable as git is given it.
    pub(in crate::git) fn variable(&self, wanted: &str) -> Option<OsString> {
        let ours = self.environment().iter().rev().find(|(name, _)| name == OsStr::new(wanted));
        ours.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(wanted))
    }
}

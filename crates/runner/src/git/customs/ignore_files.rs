//! Where patterns stand that hold for all folders of all working trees: in the repository, and in a file of whoever uses
//! it. Those of single folders lie in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::configuration::Configuration;
use super::ignore_patterns::IgnorePatterns;
use crate::git::repository::Git;

/// The setting that names a file.
const EXCLUDES_FILE: &str = "core.excludesfile";

/// Larger ones are left to git.
pub(in crate::git) const IGNORE_BYTES_MAX: u64 = 256 * 1024;

impl Git {
    /// The patterns that hold for all folders. None: only git knows.
    pub(in crate::git) fn general_patterns(
        &self,
        configuration: &Configuration,
    ) -> Option<Vec<IgnorePatterns>> {
        let mut files = vec![self.own_rules()];
        files.extend(self.personal_rules(configuration)?);
        let read = |file: &PathBuf| Some(IgnorePatterns::parse(&read(file)?, b""));
        files.iter().map(read).collect()
    }

    /// The file of whoever uses the repository; the inner none if there is no place for one.
    fn personal_rules(&self, configuration: &Configuration) -> Option<Option<PathBuf>> {
        let file = match configuration.entries().filter(|(name, _)| *name == EXCLUDES_FILE).last() {
            Some((_, value)) => match value.strip_prefix("~/") {
                Some(rest) => Some(Path::new(&self.variable("HOME")?).join(rest)),
                None => Some(PathBuf::from(value)),
            },
            None => self.settings_folder().map(|folder| folder.join("git/ignore")),
        };
        // Where others lead, and what becomes of a name that is no text, only git knows.
        let is_clear = |file: &PathBuf| {
            file.is_absolute()
                && file.to_str().is_some_and(|file| !file.contains(char::REPLACEMENT_CHARACTER))
        };
        file.as_ref().is_none_or(is_clear).then_some(file)
    }
}

/// What stands in such a file; nothing if it is not there. None: it is something odd.
fn read(file: &Path) -> Option<Vec<u8>> {
    match fs::metadata(file) {
        Err(error) => (error.kind() == io::ErrorKind::NotFound).then(Vec::new),
        // What is no file may never end.
        Ok(metadata) if !metadata.is_file() || metadata.len() > IGNORE_BYTES_MAX => None,
        Ok(_) => fs::read(file).ok(),
    }
}

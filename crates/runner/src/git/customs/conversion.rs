//! Whether git stores a file as it is on disk. Line ends, keywords, filters and encodings may make something else of it,
//! and whoever writes an object in git's place has to know that none does.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::git::calls::process::Ended;
use crate::git::calls::question::Question;
use crate::git::repository::Git;

/// Settings with which there is more to storing a file than its content, or to knowing it again.
const SETTINGS: [&str; 3] = ["attr.tree", "core.ignorestat", "core.safecrlf"];

/// Settings by which files are not written as they are stored, or not known again by their names and modes, and the values
/// that have no such effect.
const WRITING: [(&str, &[&str]); 6] = [
    ("core.autocrlf", &["false", "input"]),
    ("core.eol", &["lf"]),
    ("core.filemode", &["true"]),
    ("core.ignorecase", &["false"]),
    ("core.precomposeunicode", &["false"]),
    ("core.sparsecheckout", &["false"]),
];

/// Before the settings of filters.
const FILTER_SETTINGS: &str = "filter.";

/// The variable that names another place for attributes.
const SOURCE: &str = "GIT_ATTR_SOURCE";

/// What a file of attributes has to say for content to be changed in a way that cannot be seen from the content.
const RECODING: &[u8] = b"working-tree-encoding";
const FILTERING: &[u8] = b"filter";

/// What it has to say for content to be written otherwise than it is stored.
const REWRITING: [&[u8]; 5] = [RECODING, FILTERING, b"eol", b"crlf", b"ident"];

/// What it has to say for content of some kind to be stored otherwise than it is on disk.
const RESTORING: [&[u8]; 6] = [RECODING, FILTERING, b"eol", b"crlf", b"ident", b"text"];

/// The setting by which line ends are changed without any attribute.
const LINE_ENDS: &str = "core.autocrlf";

/// Larger ones are left to git.
const ATTRIBUTE_BYTES_MAX: u64 = 256 * 1024;

/// The name of such a file in a folder.
pub(in crate::git) const ATTRIBUTES: &str = ".gitattributes";

/// Whether files can be written here as they are stored, by names and values of all settings.
pub(in crate::git) fn writes_plainly<'a>(mut settings: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    let is_harmless = |(name, value): (&str, &str)| {
        let known = WRITING.iter().find(|(setting, _)| *setting == name);
        known.is_none_or(|(_, harmless)| harmless.contains(&value.to_ascii_lowercase().as_str()))
    };
    settings.all(is_harmless)
}

/// What the settings say about it.
#[derive(Debug, Clone)]
pub(in crate::git) struct Conversion {
    /// Whether any filter is set up.
    has_filters: bool,
    /// Whether a setting may be about line ends.
    has_line_ends: bool,
    /// Attributes for all repositories.
    files: Vec<PathBuf>,
}

impl Conversion {
    /// By the names of all settings, in small letters. None: only git gets it right.
    pub(in crate::git) fn ask(git: &Git, settings: &[&str]) -> Option<Conversion> {
        let has_source = std::env::var_os(SOURCE).is_some()
            || git.environment().iter().any(|(name, _)| name == OsStr::new(SOURCE));
        if has_source || settings.iter().any(|name| SETTINGS.contains(name)) {
            return None;
        }
        let has_filters = settings.iter().any(|name| name.starts_with(FILTER_SETTINGS));
        let questions =
            ["GIT_ATTR_SYSTEM", "GIT_ATTR_GLOBAL"].map(|name| Question::put(git.call(&["var", name])));
        let mut files = vec![git.common_dir().join("info/attributes")];
        for question in questions {
            files.extend(attributes_of_all(git, question.ok()?.answer().ok()?)?);
        }
        let has_line_ends = settings.contains(&LINE_ENDS);
        Some(Conversion { has_filters, has_line_ends, files })
    }

    /// Whether files are stored as they are that have such a path and whose content is plain.
    pub(in crate::git) fn spares(&self, root: &Path, path: &Path) -> bool {
        self.files_for(root, path).all(|file| is_harmless(&file, |text| self.is_changed_by(text)))
    }

    /// Whether files are stored as they are that have such a path, whatever is in them.
    pub(in crate::git) fn spares_any(&self, root: &Path, path: &Path) -> bool {
        let changes = |text: &[u8]| RESTORING.iter().any(|word| contains(text, word));
        !self.has_line_ends && self.files_for(root, path).all(|file| is_harmless(&file, changes))
    }

    /// Whether files are written as they are stored that have such a path, as far as attributes go.
    pub(in crate::git) fn leaves(&self, root: &Path, path: &Path) -> bool {
        self.files_for(root, path).all(|file| is_harmless(&file, rewrites))
    }

    /// Whether all files of a commit are written as they are stored, by all files of attributes that are in it.
    pub(in crate::git) fn leaves_all<'a>(&self, mut attributes: impl Iterator<Item = &'a [u8]>) -> bool {
        !attributes.any(rewrites) && self.files.iter().all(|file| is_harmless(file, rewrites))
    }

    /// The files that attributes of a path may be in.
    fn files_for<'a>(&'a self, root: &'a Path, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        let folders = path.ancestors().skip(1).map(|folder| root.join(folder).join(ATTRIBUTES));
        self.files.iter().cloned().chain(folders)
    }

    /// Whether attributes may change content in other ways than line ends and keywords.
    fn is_changed_by(&self, attributes: &[u8]) -> bool {
        contains(attributes, RECODING) || self.has_filters && contains(attributes, FILTERING)
    }
}

/// Whether attributes may have content written otherwise than it is stored.
fn rewrites(text: &[u8]) -> bool {
    REWRITING.iter().any(|word| contains(text, word))
}

/// Whether a file of attributes, if it is there, does no harm.
fn is_harmless(file: &Path, harms: impl Fn(&[u8]) -> bool) -> bool {
    match fs::symlink_metadata(file) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        // What is no file may never end.
        Ok(metadata) if !metadata.is_file() || metadata.len() > ATTRIBUTE_BYTES_MAX => false,
        Ok(_) => fs::read(file).is_ok_and(|text| !harms(&text)),
    }
}

/// Whether content has neither line ends nor keywords that git might write otherwise.
pub(in crate::git) fn is_plain(content: &[u8]) -> bool {
    !content.contains(&b'\r') && !contains(content, b"$Id")
}

/// A file of attributes for all repositories: perhaps there is none. The outer none: git does not say.
fn attributes_of_all(git: &Git, ended: Ended) -> Option<Option<PathBuf>> {
    match ended.code {
        Some(0) => {
            let mut name = ended.stdout;
            name.pop_if(|byte| *byte == b'\n');
            let file = git.root().join(OsString::from_vec(name));
            // A person's own file may be a link to where it is kept.
            Some(Some(file.canonicalize().unwrap_or(file)))
        }
        Some(1) => Some(None),
        Some(_) | None => None,
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// The names under which attributes for a path would stand in an index.
pub(in crate::git) fn attributes_on_the_way(path: &Path) -> impl Iterator<Item = Vec<u8>> {
    path.ancestors().skip(1).map(|folder| folder.join(ATTRIBUTES).as_os_str().as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{attributes_on_the_way, is_plain};

    #[test]
    fn content_with_line_ends_or_keywords_is_not_plain() {
        let check =
            |content: &str, expected| assert_eq!(is_plain(content.as_bytes()), expected, "{content:?}");
        check("", true);
        check("- [x] 1.1 a $5 Idea\n", true);
        check("a\r\n", false);
        check("$Id$", false);
        check("$Id: 1 $\n", false);
    }

    #[test]
    fn attributes_stand_in_every_folder_on_the_way() {
        let names: Vec<_> = attributes_on_the_way(Path::new("a/b/c")).collect();
        assert_eq!(names, [&b"a/b/.gitattributes"[..], b"a/.gitattributes", b".gitattributes"]);
    }
}

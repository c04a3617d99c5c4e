//! Paths that git leaves out: those that it ignores or does not track, and the patterns that keep the program's own
//! files out of an agent's `git add -A`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::atomic;
use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call};
use crate::git::diff::{names, split_names};
use crate::git::repository::Git;

impl Git {
    /// Those of these paths that git would leave out. A tracked path is never ignored.
    pub fn ignored_among(&self, paths: &[String]) -> Result<BTreeSet<String>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let named: Vec<String> = paths.iter().map(|path| plain(path)).collect::<Result<_, _>>()?;
        let stdin = asked(named.iter().map(OsStr::new));
        let call = Call { stdin, ..self.call(&["check-ignore", "-z", "--stdin"]) };
        let ended = process::run(call)?;
        if !matches!(ended.code, Some(0 | 1)) {
            return Err(ended.into_failure());
        }
        let told: BTreeSet<OsString> = answered(&ended.stdout).collect();
        let is_told = |(_, name): &(&String, String)| told.contains(OsStr::new(name));
        Ok(paths.iter().zip(named).filter(is_told).map(|(path, _)| path.clone()).collect())
    }

    /// True if the index knows this path, or a path below it.
    pub fn is_tracked(&self, path: &str) -> Result<bool, GitError> {
        let literal = format!(":(literal){}", plain(path)?);
        let ended = process::run(self.call(&["ls-files", "--error-unmatch", "-z", "--", &literal]))?;
        match ended.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(ended.into_failure()),
        }
    }

    /// Adds the patterns that are missing to `info/exclude`; what stands there stays as it is.
    pub fn exclude(&self, patterns: &[&str]) -> Result<(), GitError> {
        let folder = self.common_dir().join("info");
        fs::create_dir_all(&folder).map_err(GitError::io("create", &folder))?;
        let file = folder.join("exclude");
        // A linked file stays a link: its target is replaced.
        let file = file.canonicalize().unwrap_or(file);
        let old = match fs::read(&file) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(GitError::io("read", &file)(source)),
        };
        let new = with_patterns(&old, patterns);
        if new == old {
            return Ok(());
        }
        file.parent().into_iter().for_each(atomic::tidy);
        atomic::replace(&file, &new).map_err(GitError::io("write", &file))
    }
}

impl Git {
    /// Keeps a folder of the program's own out of git where patterns of the project let it in again, as a list of what
    /// is wanted does. Those are stronger than `info/exclude`, and what stands in the folder itself is stronger still.
    pub fn hide(&self, folder: &str) -> Result<(), GitError> {
        let file = self.root().join(folder).join(".gitignore");
        // Asking git whether it is needed would cost more than writing it.
        if fs::symlink_metadata(&file).is_ok() {
            return Ok(());
        }
        atomic::replace(&file, b"*\n").map_err(GitError::io("write", &file))
    }
}

/// A path that git cannot take for an option or for pathspec magic.
fn plain(path: &str) -> Result<String, GitError> {
    if path.is_empty() || path.contains('\0') {
        return Err(GitError::Unacceptable { what: "a path", value: path.to_owned() });
    }
    Ok(if Path::new(path).is_absolute() { path.to_owned() } else { format!("./{path}") })
}

fn with_patterns(old: &[u8], patterns: &[&str]) -> Vec<u8> {
    let mut text = old.to_vec();
    for pattern in patterns {
        let there = text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_end() == pattern.as_bytes());
        if there {
            continue;
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(pattern.as_bytes());
        text.push(b'\n');
    }
    text
}

const HERE: &[u8] = b"./";

/// The paths as git reads them on standard input.
pub(in crate::git) fn asked<'a>(paths: impl IntoIterator<Item = &'a OsStr>) -> Vec<u8> {
    let named = |path: &OsStr| {
        let before = if path.as_bytes().starts_with(b":") { HERE } else { b"" };
        OsString::from_vec([before, path.as_bytes()].concat())
    };
    let paths: Vec<OsString> = paths.into_iter().map(named).collect();
    names(paths.iter().map(OsString::as_os_str))
}

/// The paths that it tells.
pub(in crate::git) fn answered(listing: &[u8]) -> impl Iterator<Item = OsString> {
    split_names(listing).map(|path| match path.as_bytes().strip_prefix(HERE) {
        Some(rest) if rest.starts_with(b":") => OsString::from_vec(rest.to_vec()),
        Some(_) | None => path,
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};

    use super::*;

    #[test]
    fn only_missing_patterns_are_added() {
        let check = |old: &str, patterns: &[&str], expected: &str| {
            let new = with_patterns(old.as_bytes(), patterns);
            assert_eq!(String::from_utf8(new).unwrap(), expected);
        };
        check("", &["/a/", "/b"], "/a/\n/b\n");
        check("# git ls-files\n*.o", &["/a/"], "# git ls-files\n*.o\n/a/\n");
        check("/a/\r\n/b  \n", &["/a/", "/b"], "/a/\r\n/b  \n");
        check("/ab\n", &["/a", "/a"], "/ab\n/a\n");
    }

    #[test]
    fn names_of_all_kinds_come_back_as_they_were() {
        let paths = ["a", ":!x", ":(top)y", "b/:c", ".d"];
        let text = asked(paths.map(OsStr::new));
        assert_eq!(text, b"a\0./:!x\0./:(top)y\0b/:c\0.d\0");
        assert_eq!(answered(&text).collect::<Vec<OsString>>(), paths);
    }
}

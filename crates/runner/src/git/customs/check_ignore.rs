//! How paths are named to `git check-ignore`, the one command that takes names for patterns and cannot be told otherwise:
//! one that begins with a colon would mean something else.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::git::raw_change::{names, split_names};

const HERE: &[u8] = b"./";

/// What it reads.
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

    use super::{answered, asked};

    #[test]
    fn names_of_all_kinds_come_back_as_they_were() {
        let paths = ["a", ":!x", ":(top)y", "b/:c", ".d"];
        let text = asked(paths.map(OsStr::new));
        assert_eq!(text, b"a\0./:!x\0./:(top)y\0b/:c\0.d\0");
        assert_eq!(answered(&text).collect::<Vec<OsString>>(), paths);
    }
}

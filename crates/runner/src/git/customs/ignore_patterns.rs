//! What files of patterns say of a path that git does not track, as far as that is certain. Git's own rules are not made
//! again here: of a path that some pattern could be about, only git tells whether it is left out, but where the
//! pattern is a plain one.

/// What marks the beginning of a text and is no part of it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a pattern is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git) enum Matter {
    Folder,
    /// A file, or whatever else is no folder.
    File,
}

/// The patterns of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct IgnorePatterns {
    /// The folder that they stand in and hold for, with a slash at its end; the topmost has none.
    folder: Vec<u8>,
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    is_negated: bool,
    is_for_folders: bool,
    meaning: Meaning,
}

/// What a pattern is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meaning {
    /// Whatever has such a name, wherever it lies.
    Name(Vec<u8>),
    /// What lies at this path, of which nothing is a wildcard.
    Path(Vec<u8>),
    /// Something that has such names on the way to it and its own among them.
    Names(Vec<Vec<u8>>),
    /// Perhaps anything.
    Unknown,
}

impl IgnorePatterns {
    /// The patterns of a text.
    pub(in crate::git) fn parse(text: &[u8], folder: &[u8]) -> IgnorePatterns {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let patterns = text.split(|byte| *byte == b'\n').filter_map(Pattern::parse).collect();
        IgnorePatterns { folder: folder.to_vec(), patterns }
    }

    /// Whether a pattern could be about a path, or about a folder on the way to it.
    fn may_be_about(&self, path: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.may_be_about(path))
    }

    /// Whether one that leaves out is for sure about a path itself.
    fn is_about(&self, path: &[u8], matter: Matter) -> bool {
        self.patterns.iter().any(|pattern| pattern.leaves_out(&self.folder, path, matter))
    }

    /// Whether one that takes in again could be about it.
    fn may_take_in(&self, path: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_negated && pattern.may_be_about(path))
    }
}

/// Whether a path is left out for sure by files of patterns, which are all that hold for it. Nothing below a folder that
/// is left out is ever taken in again, but for what is tracked.
pub(in crate::git) fn leave_out(files: &[IgnorePatterns], path: &[u8], matter: Matter) -> bool {
    // Whichever pattern is the last that is about a path decides: if none takes in, all that are about it leave it out.
    files.iter().any(|file| file.is_about(path, matter)) && !files.iter().any(|file| file.may_take_in(path))
}

/// Whether a path could be left out by files of patterns.
pub(in crate::git) fn may_leave_out(files: &[IgnorePatterns], path: &[u8]) -> bool {
    files.iter().any(|file| file.may_be_about(path))
}

impl Pattern {
    /// The pattern in a line; none if there is none.
    fn parse(line: &[u8]) -> Option<Pattern> {
        if line.starts_with(b"#") {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let unknown = Pattern { is_negated: true, is_for_folders: false, meaning: Meaning::Unknown };
        let is_odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'[' | b'\\');
        if line.iter().any(is_odd) {
            return Some(unknown);
        }
        let spaces = line.iter().rev().take_while(|byte| **byte == b' ').count();
        let line = line.get(..line.len().checked_sub(spaces)?)?;
        let (is_negated, text) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
        let (is_for_folders, text) = text.strip_suffix(b"/").map_or((false, text), |rest| (true, rest));
        (!text.is_empty() || is_for_folders).then(|| Pattern {
            is_negated,
            is_for_folders,
            meaning: Meaning::of(text),
        })
    }

    fn may_be_about(&self, path: &[u8]) -> bool {
        let is_on_the_way = |wanted: &[u8]| names(path).any(|name| fits(wanted, name));
        match &self.meaning {
            Meaning::Name(wanted) => is_on_the_way(wanted),
            Meaning::Path(wanted) => names(wanted).all(is_on_the_way),
            Meaning::Names(wanted) => wanted.iter().all(|wanted| is_on_the_way(wanted)),
            Meaning::Unknown => true,
        }
    }

    fn leaves_out(&self, folder: &[u8], path: &[u8], matter: Matter) -> bool {
        let is_right = !self.is_negated && (!self.is_for_folders || matter == Matter::Folder);
        let is_about = || match &self.meaning {
            Meaning::Name(wanted) => names(path).next_back().is_some_and(|name| fits(wanted, name)),
            Meaning::Path(wanted) => path.strip_prefix(folder) == Some(wanted),
            Meaning::Names(_) | Meaning::Unknown => false,
        };
        is_right && is_about()
    }
}

impl Meaning {
    /// Of a pattern that has nothing but stars and question marks for wildcards.
    fn of(text: &[u8]) -> Meaning {
        if text.is_empty() {
            return Meaning::Unknown;
        }
        if !text.contains(&b'/') {
            return Meaning::Name(text.to_vec());
        }
        let path = text.strip_prefix(b"/").unwrap_or(text);
        let is_wild = |byte: &u8| matches!(byte, b'*' | b'?');
        if !path.iter().any(is_wild) && names(path).all(|name| !name.is_empty()) {
            return Meaning::Path(path.to_vec());
        }
        // Several stars stand for any number of folders. Among other letters they should not, and sometimes do.
        let is_stars = |name: &[u8]| name.len() > 1 && name.iter().all(|byte| *byte == b'*');
        let wanted: Vec<&[u8]> = names(path).filter(|name| !name.is_empty() && !is_stars(name)).collect();
        let is_mixed = wanted.iter().any(|name| name.windows(2).any(|pair| pair == b"**"));
        if wanted.is_empty() || is_mixed {
            return Meaning::Unknown;
        }
        Meaning::Names(wanted.into_iter().map(<[u8]>::to_vec).collect())
    }
}

/// The names in a path.
fn names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

/// Whether a name is what a pattern of stars and question marks stands for.
fn fits(wanted: &[u8], name: &[u8]) -> bool {
    let (mut at, mut wanted_at) = (0, 0);
    // Where to go on if it does not fit: the last star takes one more.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(at) {
        match wanted.get(wanted_at) {
            Some(b'*') => {
                star = Some((at, wanted_at));
                wanted_at += 1;
            }
            Some(b'?') => (at, wanted_at) = (at + 1, wanted_at + 1),
            Some(letter) if letter == byte => (at, wanted_at) = (at + 1, wanted_at + 1),
            Some(_) | None => {
                let Some((taken, star_at)) = star else { return false };
                star = Some((taken + 1, star_at));
                (at, wanted_at) = (taken + 1, star_at + 1);
            }
        }
    }
    wanted.get(wanted_at..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::{IgnorePatterns, Matter, fits, leave_out, may_leave_out};

    #[test]
    fn names_are_held_against_wildcards() {
        let check = |wanted: &str, name: &str, expected| {
            assert_eq!(fits(wanted.as_bytes(), name.as_bytes()), expected, "{wanted} {name}");
        };
        check("a", "a", true);
        check("a", "ab", false);
        check("ab", "a", false);
        check("*", ".a", true);
        check("*.o", ".o", true);
        check("*.o", "a.o.o", true);
        check("*.o", "a.oo", false);
        check("a*b*c", "abbxcbc", true);
        check("a*b*c", "abbxcb", false);
        check("?", "é", false);
        check("a?*", "ab", true);
        check("a?*", "a", false);
        check("a**", "a", true);
    }

    /// What is left out for sure, and what could be.
    #[track_caller]
    fn check(text: &str, path: &str, expected: (bool, bool)) {
        let matter = if path.ends_with('/') { Matter::Folder } else { Matter::File };
        let path = path.trim_end_matches('/').as_bytes();
        let files = [IgnorePatterns::parse(text.as_bytes(), b"")];
        let found = (leave_out(&files, path, matter), may_leave_out(&files, path));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn plain_patterns_are_certain() {
        for text in
            ["target", "target/", "/target", "/target/", "*get", "target  ", "target\r\n", "\u{feff}target"]
        {
            check(text, "target/", (true, true));
            check(text, "other", (false, false));
        }
        check("target/", "target", (false, true));
        check("/target", "a/target/", (false, true));
        check("target", "a/target/", (true, true));
        check("target", "target/a", (false, true));
        check("a/b", "a/b", (true, true));
        check("a/b", "b/a", (false, true));
        check("a/b", "c/b", (false, false));
        check("*.log\n", "deep/x.log", (true, true));
        check("target\n!*.log", "target/", (true, true));
        check("target\n!tar*", "target/", (false, true));
    }

    #[test]
    fn what_is_not_understood_could_be_about_anything() {
        for text in ["[a]", "\\a", "a\tb", "**", "/**", "/", "//", "a**/b", "x\ry", "!["] {
            check(text, "deep/file", (text == "**", true));
        }
        check("target\n![t]arget", "target/", (false, true));
    }

    #[test]
    fn where_a_name_is_missing_a_pattern_is_about_something_else() {
        check("docs/*", "src/a", (false, false));
        check("docs/*", "docs/a", (false, true));
        check("docs/**", "docs/deep/a", (false, true));
        check("docs/***", "docs/deep/a", (false, true));
        check("**/docs", "a/docs", (false, true));
        check("a/**/b", "a/c", (false, false));
        for text in ["", "# a", "#", "  ", "\r\n", "!", "a ", "a/"] {
            check(text, "other", (false, false));
        }
    }
}

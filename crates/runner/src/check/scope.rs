//! The check that an attempt stayed within the files that its task lists.

use engine::FileState;
use plan::Files;

use crate::plan_file::Excerpt;

/// Files among those changed that the task does not list; none where it lists no files at all, or where nobody can
/// tell all that it lists.
pub(crate) fn scope(excerpt: &Excerpt, touched: &[FileState]) -> Vec<String> {
    let Files { paths: listed, unclear, text } = excerpt.fields().files.unwrap_or_default();
    // What is only mentioned in a task's words is no list.
    if listed.is_empty() || !unclear.is_empty() || text.is_empty() {
        return Vec::new();
    }
    let outside =
        touched.iter().map(|file| &file.path).filter(|path| !listed.iter().any(|entry| covers(entry, path)));
    outside.cloned().collect()
}

/// True if an entry of a Files list covers a path: the path itself, a folder above it, a glob, a name without folders
/// that the path ends in, or whatever stands for everything.
pub(crate) fn covers(entry: &str, path: &str) -> bool {
    let entry = entry.trim_start_matches("./").trim_end_matches('/');
    if matches!(entry, "" | "." | "*") {
        return true;
    }
    if entry == path || path.strip_prefix(entry).is_some_and(|rest| rest.starts_with('/')) {
        return true;
    }
    if entry.contains(['*', '?', '{']) {
        return alternatives(entry).iter().any(|pattern| matches(pattern.as_bytes(), path.as_bytes()));
    }
    !entry.contains('/') && path.rsplit('/').next() == Some(entry)
}

/// `a.{js,ts}` stands for `a.js` and `a.ts`; at most one group is looked at, and not too many of it.
fn alternatives(pattern: &str) -> Vec<String> {
    let group = pattern.find('{').and_then(|open| Some((open, open + pattern[open..].find('}')?)));
    let Some((open, close)) = group else { return vec![pattern.to_owned()] };
    let choices = pattern[open + 1..close].split(',').take(64);
    choices.map(|choice| format!("{}{choice}{}", &pattern[..open], &pattern[close + 1..])).collect()
}

/// Glob matching: `**` crosses folders, `*` and `?` do not. `reach[n]` says whether the pattern so far matches
/// the first n bytes of the path, so the work is bounded by pattern times path.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let mut reach = vec![false; path.len() + 1];
    reach[0] = true;
    let mut rest = pattern;
    while let Some(first) = rest.first() {
        let (step, used) = match rest {
            [b'*', b'*', b'/', ..] => (Step::Folders, 3),
            [b'*', b'*', ..] => (Step::Anything, 2),
            [b'*', ..] => (Step::Name, 1),
            [b'?', ..] => (Step::One, 1),
            _ => (Step::Byte(*first), 1),
        };
        advance(&mut reach, path, step);
        rest = &rest[used..];
    }
    reach[path.len()]
}

#[derive(Clone, Copy)]
enum Step {
    /// Any number of whole folders.
    Folders,
    /// Anything at all.
    Anything,
    /// Anything within one name.
    Name,
    /// One character of a name.
    One,
    /// Just this.
    Byte(u8),
}

fn advance(reach: &mut [bool], path: &[u8], step: Step) {
    let mut inside = reach[0];
    let mut before = reach[0];
    reach[0] = reach[0] && !matches!(step, Step::One | Step::Byte(_));
    for (at, byte) in path.iter().enumerate() {
        let was = reach[at + 1];
        reach[at + 1] = match step {
            Step::Folders => was || (inside && *byte == b'/'),
            Step::Anything => was || inside,
            Step::Name => was || (inside && *byte != b'/'),
            Step::One => before && *byte != b'/',
            Step::Byte(wanted) => before && *byte == wanted,
        };
        inside = match step {
            Step::Name => reach[at + 1],
            Step::Folders | Step::Anything => inside || was,
            Step::One | Step::Byte(_) => false,
        };
        before = was;
    }
}

/// Folders into which package managers put what everybody installs anew.
const INSTALLED: [&str; 3] = ["node_modules", ".venv", ".tox"];

/// The words about work that hardly anybody wants to have committed: what was installed, and settings of this very
/// program that the task does not speak of.
pub(crate) fn oddities(text: &str, touched: &[FileState]) -> Vec<String> {
    let mut told = Vec::new();
    for folder in INSTALLED {
        let count = touched
            .iter()
            .filter(|file| file.path.split('/').rev().skip(1).any(|name| name == folder))
            .count();
        if count > 0 {
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            told.push(format!("{files} in {folder} belong to the work: git does not ignore that folder"));
        }
    }
    let is_settings = |file: &FileState| file.path == SETTINGS && !text.contains(SETTINGS);
    if touched.iter().any(is_settings) {
        told.push(format!("{SETTINGS} was changed, which says how runs are carried out"));
    }
    told
}

/// The file with the project's settings.
const SETTINGS: &str = "tillgreen.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hardly_anybody_wants_to_have_committed() {
        let check = |text: &str, paths: &[&str], expected: &[&str]| {
            let file = |path: &&str| FileState { path: (*path).to_owned(), state: "modified".to_owned() };
            let touched: Vec<FileState> = paths.iter().map(file).collect();
            assert_eq!(oddities(text, &touched), expected, "{paths:?}");
        };
        check("", &["src/node_modules.js", "a/target/b.rs"], &[]);
        check(
            "",
            &["web/node_modules/a/index.js", "web/node_modules/b.js", "package.json"],
            &["2 files in node_modules belong to the work: git does not ignore that folder"],
        );
        check("", &[SETTINGS], &["tillgreen.toml was changed, which says how runs are carried out"]);
        check("set jobs in tillgreen.toml", &[SETTINGS], &[]);
    }

    #[test]
    fn entries_cover_paths() {
        let check = |entry: &str, path: &str, expected: bool| {
            assert_eq!(covers(entry, path), expected, "{entry} and {path}");
        };
        check("src/a.rs", "src/a.rs", true);
        check("./src/a.rs", "src/a.rs", true);
        check("src/", "src/deep/a.rs", true);
        check("src", "srcs/a.rs", false);
        check("src/*.rs", "src/a.rs", true);
        check("src/*.rs", "src/deep/a.rs", false);
        check("src/**/*.rs", "src/deep/er/a.rs", true);
        check("src/**/*.rs", "src/a.rs", true);
        check("src/**", "src/deep/a.rs", true);
        check("*.{js,ts}", "a.ts", true);
        check("*.{js,ts}", "a.rs", false);
        check(".", "src/a.rs", true);
        check("./", "src/a.rs", true);
        check("*", "src/a.rs", true);
        check("**", "src/a.rs", true);
        check("src", "src/a.rs", true);
        check("Makefile", "Makefile", true);
        check("tasks.md", "specs/x/tasks.md", true);
        check("a?c", "abc", true);
        check("a?c", "a/c", false);
        check("src/b.rs", "src/a.rs", false);
    }
}

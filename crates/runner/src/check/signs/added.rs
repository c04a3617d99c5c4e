//! The lines that a difference adds. What was only moved or edited, with the sign that it had, is no addition.

use std::collections::BTreeMap;

use engine::Sign;

use crate::check::signs::language::Language;
use crate::check::signs::words::signs;

/// The signs that a difference brings and takes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Those in lines that it adds.
    pub(super) added: Vec<Sign>,
    /// Those in lines that it takes away, by file and sign.
    pub(super) gone: Vec<(String, String)>,
}

/// A line of the difference with a sign in it.
struct Found<'a> {
    sign: Sign,
    text: &'a str,
    /// The number of the change that the line is of.
    change: usize,
}

/// A place in a difference as git prints it.
#[derive(Default)]
struct Reader<'a> {
    path: String,
    language: Option<Language>,
    /// The lines of this part that are still to come, before and after.
    left: (u32, u32),
    /// The next line of the file as it is now.
    line: u32,
    change: usize,
    /// The lines above, before and after.
    above: (&'a str, &'a str),
    added: Vec<Found<'a>>,
    gone: Vec<Found<'a>>,
}

impl Difference {
    /// Reads it.
    pub(super) fn read(text: &str) -> Difference {
        let mut reader = Reader::default();
        text.lines().for_each(|line| reader.take(line));
        let Reader { mut added, mut gone, .. } = reader;
        // First what is the same elsewhere, then what an edited line had before.
        cancel(&mut added, &mut gone, |found| (found.sign.what.clone(), found.text.to_owned(), 0));
        cancel(&mut added, &mut gone, |found| {
            (found.sign.what.clone(), found.sign.path.clone(), found.change)
        });
        Difference {
            added: added.into_iter().map(|found| found.sign).collect(),
            gone: gone.into_iter().map(|found| (found.sign.path, found.sign.what)).collect(),
        }
    }
}

/// Takes out what is among both.
fn cancel<K: Ord>(added: &mut Vec<Found<'_>>, gone: &mut Vec<Found<'_>>, key: impl Fn(&Found<'_>) -> K) {
    let mut before: BTreeMap<K, usize> = BTreeMap::new();
    for found in gone.iter() {
        *before.entry(key(found)).or_default() += 1;
    }
    let mut both: BTreeMap<K, usize> = BTreeMap::new();
    added.retain(|found| match before.get_mut(&key(found)).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            *both.entry(key(found)).or_default() += 1;
            false
        }
        None => true,
    });
    gone.retain(|found| match both.get_mut(&key(found)).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => true,
    });
}

impl<'a> Reader<'a> {
    fn take(&mut self, line: &'a str) {
        if self.left == (0, 0) {
            return self.take_header(line);
        }
        let Some((mark, text)) = line.split_at_checked(1) else { return };
        match mark {
            "+" => {
                let found = self.found(text, self.above.1);
                self.added.extend(found);
                self.left.1 = self.left.1.saturating_sub(1);
                self.line += 1;
                self.above.1 = text;
            }
            "-" => {
                let found = self.found(text, self.above.0);
                self.gone.extend(found);
                self.left.0 = self.left.0.saturating_sub(1);
                self.above.0 = text;
            }
            " " => {
                self.left = (self.left.0.saturating_sub(1), self.left.1.saturating_sub(1));
                self.line += 1;
                self.change += 1;
                self.above = (text, text);
            }
            // That a file does not end with a newline.
            _ => {}
        }
    }

    fn take_header(&mut self, line: &'a str) {
        if let Some(path) = line.strip_prefix("--- a/").or_else(|| line.strip_prefix("+++ b/")) {
            self.path = path.trim_end_matches('\t').to_owned();
            self.language = Language::of(&self.path);
        } else if line.starts_with("diff --git ") {
            self.language = None;
        } else if let Some((before, after)) = line.strip_prefix("@@ -").and_then(ranges) {
            (self.left, self.line) = ((before.1, after.1), after.0);
            self.change += 1;
            self.above = ("", "");
        }
    }

    fn found(&self, text: &'a str, above: &str) -> Vec<Found<'a>> {
        let Some(language) = self.language else { return Vec::new() };
        let sign = |what| Sign { path: self.path.clone(), line: self.line, what };
        let whats = signs(bounded(text), bounded(above), language).into_iter();
        whats.map(|what| Found { sign: sign(what), text: text.trim(), change: self.change }).collect()
    }
}

/// Nobody writes longer lines by hand.
fn bounded(line: &str) -> &str {
    const CHARS_MAX: usize = 1_000;
    line.char_indices().nth(CHARS_MAX).map_or(line, |(at, _)| &line[..at])
}

/// `1,2 +3,4 @@ …`: where lines begin and how many there are, before and after.
fn ranges(text: &str) -> Option<((u32, u32), (u32, u32))> {
    let mut words = text.split(' ');
    let range = |word: &str| {
        let (begin, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((begin.parse().ok()?, count.parse().ok()?))
    };
    Some((range(words.next()?)?, range(words.next()?.strip_prefix('+')?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(difference: &str, added: &[&str], gone: &[&str]) {
        let read = Difference::read(difference);
        let shown: Vec<String> =
            read.added.iter().map(|sign| format!("{} {}:{}", sign.what, sign.path, sign.line)).collect();
        let lost: Vec<String> = read.gone.iter().map(|(path, what)| format!("{what} {path}")).collect();
        assert_eq!(
            (shown, lost),
            (added.iter().map(ToString::to_string).collect(), gone.iter().map(ToString::to_string).collect())
        );
    }

    fn file(path: &str, parts: &str) -> String {
        format!("diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n{parts}")
    }

    #[test]
    fn added_lines_count_with_their_numbers() {
        let parts = "@@ -1 +1,3 @@\n a = 1\n+# TODO: b\n+c = d()  # noqa\n@@ -9,0 +12 @@ def f():\n+    raise NotImplementedError\n";
        check(
            &file("a.py", parts),
            &["TODO a.py:2", "noqa a.py:3", "raise NotImplementedError a.py:12"],
            &[],
        );
        check(&file("notes.md", "@@ -0,0 +1 @@\n+# TODO: b\n"), &[], &[]);
        // What looks like a header is a line like any other.
        check(&file("a.sql", "@@ -1,2 +1,2 @@\n--- FIXME: a\n-b\n+++ b\n+c\n"), &[], &["FIXME a.sql"]);
    }

    #[test]
    fn what_moves_or_is_edited_is_no_addition() {
        let moved = file("old.py", "@@ -1,2 +0,0 @@\n-# TODO: a\n-b\n")
            + &file("new.py", "@@ -0,0 +1,2 @@\n+    # TODO: a\n+b\n");
        check(&moved, &[], &[]);
        let edited = file(
            "a.ts",
            "@@ -1,2 +1,2 @@\n-f(a); // eslint-disable-line\n+f(a, b); // eslint-disable-line\n c\n",
        );
        check(&edited, &[], &[]);
        let twice = file("a.py", "@@ -1 +1,2 @@\n-# TODO: a\n+# TODO: a\n+# TODO: a\n");
        check(&twice, &["TODO a.py:2"], &[]);
    }
}

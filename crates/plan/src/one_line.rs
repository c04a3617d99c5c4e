//! Making text that comes from an agent harmless before it becomes part of a plan.
//!
//! Whatever goes in, one line comes out in which nothing reads as a checkbox, marker, heading, fence, field,
//! code span, heredoc or comment, neither to this program nor to somebody who searches the file for `- [x]`; nor as
//! a word in a commit message that keeps a forge from running its checks.

use crate::harmless::harmless;

/// How long a line may get.
const CHARS_MAX: usize = 500;

/// How much of the input is looked at.
const INPUT_BYTES_MAX: usize = 16 * 1024;

/// How long a summary may get.
const SUMMARY_CHARS: usize = 50;

/// Reduces `text` to one harmless line, possibly an empty one.
#[must_use]
pub fn one_line(text: &str) -> String {
    shorten(&whole_line(text))
}

/// The same without its limit, for text that comes line by line.
pub(crate) fn whole_line(text: &str) -> String {
    let mut joined = String::new();
    for line in cut(text, INPUT_BYTES_MAX).split(is_line_break) {
        let line: String = without_escapes(line).chars().filter_map(plain).collect();
        for word in without_structure(&line).split_whitespace() {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(&without_trailer(word));
        }
        if joined.len() > CHARS_MAX * 8 {
            break;
        }
    }
    without_brackets(&without_runs(&joined)).trim().to_owned()
}

/// The first characters of the harmless line that `text` becomes.
#[must_use]
pub fn summary(text: &str) -> String {
    let line = one_line(text);
    let short: String = line.chars().take(SUMMARY_CHARS).collect();
    short.trim_end().to_owned()
}

fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Drops the escape sequences with which terminals are coloured.
fn without_escapes(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\u{1b}[") {
        kept.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| ('@'..='~').contains(&c)).map_or(sequence.len(), |end| end + 1);
        rest = &sequence[end..];
    }
    kept.push_str(rest);
    kept
}

/// The plain form of a character: invisible ones go, backticks become quotes.
fn plain(c: char) -> Option<char> {
    match c {
        '\t' => Some(' '),
        '`' => Some('\''),
        // A sign in the place of what was meant for a terminal would only be in the way here.
        c => harmless(c).filter(|shown| *shown == c),
    }
}

/// Drops what makes a line a heading, a quotation or a bullet with a box.
fn without_structure(line: &str) -> &str {
    let line = line.trim();
    let bare = line.trim_start_matches(['#', '>', ' ']);
    let boxed = bare.strip_prefix(['-', '*', '+']).map(str::trim_start).filter(|rest| rest.starts_with('['));
    boxed.unwrap_or(bare)
}

/// Breaks up characters that mean something together: `**`, `~~~`, `<<`, `<!--`, `-->`.
fn without_runs(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    for c in line.chars() {
        let repeats = kept.ends_with(c) && matches!(c, '*' | '~' | '<');
        let comment = (c == '!' && kept.ends_with('<')) || (c == '>' && kept.ends_with("--"));
        if !repeats && !comment {
            kept.push(c);
        }
    }
    kept
}

/// Turns boxes and markers into round brackets; other square brackets stay.
fn without_brackets(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        kept.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        match inside.find(['[', ']']) {
            Some(close) if inside[close..].starts_with(']') && reads_as_mark(&inside[..close]) => {
                kept.push('(');
                kept.push_str(&inside[..close]);
                kept.push(')');
                rest = &inside[close + 1..];
            }
            Some(_) | None => {
                kept.push('[');
                rest = inside;
            }
        }
    }
    kept.push_str(rest);
    kept
}

fn reads_as_mark(inside: &str) -> bool {
    let bare = inside.trim();
    let marker = ["VERIFY", "FIX", "RED", "GREEN", "YELLOW"]
        .iter()
        .any(|marker| bare.get(..marker.len()).is_some_and(|head| head.eq_ignore_ascii_case(marker)));
    bare.chars().count() <= 1 || marker || keeps_checks_away(bare)
}

/// True if forges start no checks for a commit whose message has this in brackets: a quotation may not do that.
fn keeps_checks_away(bare: &str) -> bool {
    let words: Vec<String> = bare.split_whitespace().take(3).map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(words[..], ["skip" | "no", "ci"] | ["ci" | "actions", "skip"] | ["skip", "actions"])
}

/// The word without the colon of a trailer by which forges start no checks either.
fn without_trailer(word: &str) -> String {
    let name = "skip-checks:";
    let is_trailer = word.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    if is_trailer { word.replacen(':', " ", 1).trim_end().to_owned() } else { word.to_owned() }
}

fn shorten(line: &str) -> String {
    let line = line.trim();
    if line.chars().count() <= CHARS_MAX {
        return line.to_owned();
    }
    let short: String = line.chars().take(CHARS_MAX - 1).collect();
    format!("{}…", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_errors_stay() {
        for text in [
            "File not found: src/parser.ts",
            "TypeError: foo[10] is undefined",
            "expected \"a\", got 'b' (x != y)",
            "__init__.py: 3 < 4",
        ] {
            assert_eq!(one_line(text), text);
        }
    }

    #[test]
    fn structure_goes() {
        for (text, line) in [
            ("a\r\nb\n\n\nc", "a b c"),
            ("- [ ] 9.9 evil", "( ) 9.9 evil"),
            ("x\n- [x] 9.9 evil\n## Phase 9", "x (x) 9.9 evil Phase 9"),
            ("see [P] and [FIX 1.1] and [verify: x]", "see (P) and (FIX 1.1) and (verify: x)"),
            ("```bash\nrm -rf\n```", "'''bash rm -rf '''"),
            ("~~~", "~"),
            ("**Verify**: rm -rf", "*Verify*: rm -rf"),
            ("a <<EOF <!-- b -->", "a <EOF <-- b --"),
            ("\u{1b}[31mred\u{1b}[0m \u{202e}rtl\u{0} \u{2028}x\u{85}y", "red rtl x y"),
            ("done [skip ci] and [CI  skip]\n[no ci]", "done (skip ci) and (CI skip) (no ci)"),
            (
                "[skip\u{200b} actions] [[actions skip]] ***NO_CI***",
                "(skip actions) [(actions skip)] *NO_CI*",
            ),
            ("x\n\nskip-checks: true\nSkip-Checks:true", "x skip-checks true Skip-Checks true"),
            ("[skip it] [no]", "[skip it] [no]"),
            ("", ""),
            ("> # a", "a"),
        ] {
            assert_eq!(one_line(text), line, "{text:?}");
        }
    }

    #[test]
    fn long_text_is_cut_by_characters() {
        assert_eq!(one_line(&"é".repeat(1_000_000)).chars().count(), CHARS_MAX);
        assert_eq!(summary(&"é".repeat(60)).chars().count(), SUMMARY_CHARS);
        assert_eq!(summary("short"), "short");
    }
}

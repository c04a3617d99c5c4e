//! Reading the line that begins a task: box, id, markers, title.
//!
//! Whether such a line is a task at all depends on the rest of the file and is decided by the parser.

use std::ops::Range;

use super::task::{BoxState, HeaderBox, Markers};
use crate::markdown::{Line, heading_level};

/// A checkbox at the left margin.
#[derive(Clone, Debug)]
pub(super) struct Checkbox {
    pub(super) state: BoxState,
    pub(super) mark: Range<usize>,
    pub(super) head: Head,
    /// How the box departs from `- [ ] `.
    pub(super) flaw: Option<Flaw>,
}

/// What is wrong with the writing of a checkbox that is plainly meant as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    NoSpaceBeforeBox,
    NoSpaceAfterBox,
}

/// A heading that is written as a task.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) state: BoxState,
    pub(super) mark: HeaderBox,
    pub(super) head: Head,
}

/// Id, markers and title of a task.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) id: Option<Range<usize>>,
    /// Whether the id is one that this program made for a task without one, such as `#2.1`.
    pub(super) numbered: bool,
    pub(super) markers: Markers,
    pub(super) title: Range<usize>,
}

/// Reads a checkbox line.
pub(super) fn checkbox(text: &str, line: Line) -> Option<Checkbox> {
    let content = line.of(text);
    let rest = content.strip_prefix(['-', '*', '+'])?;
    let spaced = skip_bytes(rest, |byte| matches!(byte, b' ' | b'\t'));
    let inside = spaced.strip_prefix('[')?;
    let mark = inside.chars().next()?;
    let after = inside[mark.len_utf8()..].strip_prefix(']')?;
    // `[a](link)` and `[1]: note` are not boxes.
    if after.starts_with(['(', ':', '[']) {
        return None;
    }
    let start = line.start + content.len() - inside.len();
    let flaw = if spaced.len() == rest.len() {
        Some(Flaw::NoSpaceBeforeBox)
    } else if !after.is_empty() && !after.starts_with([' ', '\t']) {
        Some(Flaw::NoSpaceAfterBox)
    } else {
        None
    };
    let head = head(text, line.end - after.len()..line.end);
    Some(Checkbox { state: BoxState::of(mark), mark: start..start + mark.len_utf8(), head, flaw })
}

/// The id on a line that is plainly meant as a checkbox and has a box of the wrong width: `- [] 1.3`.
pub(super) fn malformed_box(line: &str) -> Option<&str> {
    let inside = line.strip_prefix(['-', '*', '+'])?.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let width = inside.bytes().take_while(|byte| matches!(byte, b' ' | b'x' | b'X')).count();
    let after = inside[width..].strip_prefix(']')?.trim_start();
    let len = id_len(after);
    (width != 1 && len > 0).then_some(&after[..len])
}

/// Reads a heading that is a task: `### Task 1.1: title [x]`, or one with an id and a box.
pub(super) fn header(text: &str, line: Line) -> Option<Header> {
    let content = line.of(text);
    let level = heading_level(content)?;
    let hashes = content.len() - content.trim_start_matches([' ', '#']).len();
    let whole = trim(text, line.start + hashes..line.end);
    let (mut state, mut mark, rest) = header_mark(text, whole.clone(), line.end);
    let named = strip_word(&text[rest.clone()], "task").is_some();
    let mut head = head(text, rest);
    if matches!(mark, HeaderBox::Missing(_))
        && let Some((character, at)) = box_at(text, head.title.start, head.title.end)
    {
        state = BoxState::of(character);
        mark = HeaderBox::Box(at.clone());
        head = Head { title: trim(text, at.end + 1..head.title.end), ..head };
        let again = markers(text, head.title.clone(), &mut head.markers);
        head.title = trim(text, again..head.title.end);
    }
    head.id.as_ref()?;
    let boxed = matches!(mark, HeaderBox::Box(_));
    (level > 1 && (named || boxed)).then_some(Header { state, mark, head })
}

/// The tick at the end of a header, and the header without it.
fn header_mark(text: &str, whole: Range<usize>, line_end: usize) -> (BoxState, HeaderBox, Range<usize>) {
    let content = &text[whole.clone()];
    if let Some(open) = content.rfind('[')
        && let Some((character, at)) = box_at(text, whole.start + open, whole.end)
        && at.end + 1 == whole.end
        && matches!(character, ' ' | 'x' | 'X' | '~' | '-')
    {
        let rest = trim(text, whole.start..whole.start + open);
        return (BoxState::of(character), HeaderBox::Box(at), rest);
    }
    let bare = content.trim_end_matches(['✓', '✔', '✅', '\u{fe0f}']);
    if bare.len() < content.len() {
        let rest = trim(text, whole.start..whole.start + bare.len());
        return (BoxState::Done, HeaderBox::CheckMark(rest.end..whole.end), rest);
    }
    (BoxState::Open, HeaderBox::Missing(line_end), whole)
}

/// A box that begins at `at`: the character in it and where that is.
fn box_at(text: &str, at: usize, end: usize) -> Option<(char, Range<usize>)> {
    let inside = text[at..end].strip_prefix('[')?;
    let character = inside.chars().next()?;
    inside[character.len_utf8()..].strip_prefix(']')?;
    Some((character, at + 1..at + 1 + character.len_utf8()))
}

/// Reads markers and id from the start of a description.
fn head(text: &str, description: Range<usize>) -> Head {
    let description = trim(text, description);
    let mut found = Markers::default();
    let plain = markers(text, description.clone(), &mut found);
    let mut at = skip_decoration(text, plain..description.end);
    if let Some(rest) = strip_word(&text[at..description.end], "task")
        && id_len(rest) > 0
    {
        at = description.end - rest.len();
    }
    let len = id_len(&text[at..description.end]);
    let mut id = (len > 0).then_some(at..at + len);
    if id.is_some() {
        let after =
            markers(text, skip_separator(text, at + len..description.end)..description.end, &mut found);
        // `#12` is a reference to an issue unless it stands on a fix task that this program wrote.
        if text[at..].starts_with('#') && found.fix_of.is_none() {
            id = None;
        }
        at = after;
    }
    if id.is_none() {
        at = plain;
    }
    let end = trailing_markers(text, at..description.end, &mut found);
    let numbered = id.as_ref().is_some_and(|id| text[id.clone()].starts_with('#'));
    Head { id, numbered, markers: found, title: title(text, at..end) }
}

/// Takes known markers from the start of `range`; returns where the rest begins. Unknown ones are looked
/// past but stay in the title.
fn markers(text: &str, range: Range<usize>, found: &mut Markers) -> usize {
    let mut rest = range.start;
    let mut at = range.start;
    let mut leading = true;
    loop {
        at = range.end - skip_bytes(&text[at..range.end], |byte| matches!(byte, b' ' | b'\t' | b'*')).len();
        let Some(inside) = bracketed(&text[at..range.end]) else { break };
        at += inside.len() + 2;
        let known = found.take(inside);
        leading &= known;
        if leading {
            rest = at;
        }
    }
    rest
}

/// Takes known markers from the end of `range`; returns where the rest ends.
fn trailing_markers(text: &str, range: Range<usize>, found: &mut Markers) -> usize {
    let mut end = range.end;
    loop {
        let content = text[range.start..end].trim_end();
        let inside = content.strip_suffix(']').and_then(|content| {
            let open =
                content.rfind('[').filter(|&open| open == 0 || content[..open].ends_with([' ', '\t']))?;
            Some((open, &content[open + 1..]))
        });
        let Some((open, inside)) = inside else { return end };
        if !found.take(inside) {
            return end;
        }
        end = range.start + open;
    }
}

/// What stands between the brackets that `text` begins with.
fn bracketed(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('[')?;
    let close = inside.find([']', '['])?;
    inside[close..].starts_with(']').then_some(&inside[..close])
}

/// What follows the leading bytes of `text` that are to be skipped, all of them ASCII.
fn skip_bytes(text: &str, skipped: impl Fn(u8) -> bool) -> &str {
    &text[text.bytes().take_while(|&byte| skipped(byte)).count()..]
}

fn skip_decoration(text: &str, range: Range<usize>) -> usize {
    let rest = skip_bytes(&text[range.clone()], |byte| matches!(byte, b' ' | b'\t' | b'*' | b'_'));
    // `### Task 1.1` is decoration, `#2.1` is not.
    let bare = skip_bytes(rest, |byte| byte == b'#');
    let rest = if bare.starts_with(' ') { bare.trim_start() } else { rest };
    range.end - rest.len()
}

/// Skips what may stand between an id and what follows: `1.3: `, `1.3) `, `**1.3** `.
fn skip_separator(text: &str, range: Range<usize>) -> usize {
    let rest =
        skip_bytes(&text[range.clone()], |byte| matches!(byte, b'.' | b'-' | b':' | b')' | b'*' | b'_'));
    let rest = rest.trim_start().trim_start_matches(['–', '—']);
    let rest = rest.strip_prefix("- ").unwrap_or(rest).trim_start();
    range.end - rest.len()
}

/// What follows `word` and a space at the start of `text`, in any case of letters.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    (head.eq_ignore_ascii_case(word) && rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

fn title(text: &str, range: Range<usize>) -> Range<usize> {
    let range = trim(text, range);
    let content = &text[range.clone()];
    // `**1.3 Title**` leaves a closing mark whose partner went with the id.
    if content.ends_with("**") && content.matches("**").count() % 2 == 1 {
        return trim(text, range.start..range.end - 2);
    }
    range
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let content = text[range.clone()].trim_start();
    let start = range.end - content.len();
    start..start + content.trim_end().len()
}

/// Words that have the shape of an id and are none.
const WORDS: [&str; 20] = [
    "e2e", "i18n", "l10n", "a11y", "k8s", "utf-8", "utf-16", "oauth2", "ipv4", "ipv6", "ec2", "http2",
    "http3", "base64", "sha256", "md5", "2fa", "p2p", "b2b", "web3",
];

/// The length of the id token that `text` begins with, 0 if it begins with none.
pub(super) fn id_len(text: &str) -> usize {
    let numbered = text.strip_prefix('#').map_or(0, |rest| {
        let len = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let token = rest[..len].trim_end_matches('.');
        if token.starts_with(|c: char| c.is_ascii_digit()) { token.len() + 1 } else { 0 }
    });
    if numbered > 0 {
        return if ends_token(&text[numbered..]) { numbered } else { 0 };
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let run = text.len() - skip_bytes(text, inner).len();
    let ending = text[..run].bytes().rev().take_while(|byte| !byte.is_ascii_alphanumeric()).count();
    let token = &text[..run - ending];
    let valid = token.starts_with(|c: char| c.is_ascii_alphanumeric())
        && (has_digit(token) || is_capital_code(token))
        && !names_something_else(token)
        && ends_token(&text[token.len()..]);
    if valid { token.len() } else { 0 }
}

/// Whether an id may end before `rest`.
fn ends_token(rest: &str) -> bool {
    let rest = skip_bytes(rest, |byte| matches!(byte, b'.' | b'-'));
    match rest.chars().next() {
        None => true,
        Some('_') => rest.starts_with("__"),
        Some(next) => next.is_whitespace() || matches!(next, ':' | ')' | '*' | '—' | '–' | '['),
    }
}

fn has_digit(token: &str) -> bool {
    token.bytes().any(|byte| byte.is_ascii_digit())
}

/// `VF`, or a short capital code with a dash after it, such as `VE-cleanup`.
fn is_capital_code(token: &str) -> bool {
    let capitals = token.bytes().take_while(u8::is_ascii_uppercase).count();
    token == "VF"
        || ((1..=4).contains(&capitals) && token[capitals..].starts_with('-') && token.len() > capitals + 1)
}

/// Well-known words with a digit in them, file names, and references to requirements.
fn names_something_else(token: &str) -> bool {
    if !token.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let extension = token.rsplit_once('.').map_or("", |(_, extension)| extension);
    let file = extension.len() > 1 && extension.bytes().all(|byte| byte.is_ascii_lowercase());
    let requirement = ["AC-", "FR-", "NFR-", "US-"].iter().any(|code| token.starts_with(code));
    file || requirement || WORDS.iter().any(|word| token.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_tokens() {
        for (text, id) in [
            ("1.3 Title", "1.3"),
            ("1.10 Title", "1.10"),
            ("1.1.1 Title", "1.1.1"),
            ("V4 [VERIFY] x", "V4"),
            ("VE1", "VE1"),
            ("T001: x", "T001"),
            ("Q1a x", "Q1a"),
            ("2.2.1a x", "2.2.1a"),
            ("6.B.1 x", "6.B.1"),
            ("1.X POC", "1.X"),
            ("VF goal", "VF"),
            ("VE-cleanup x", "VE-cleanup"),
            ("VE-BROWSER x", "VE-BROWSER"),
            ("TASK-12 x", "TASK-12"),
            ("1. Title", "1"),
            ("1.3. Title", "1.3"),
            ("#2.1 [FIX #2]", "#2.1"),
            ("CI green", ""),
            ("Tests pass", ""),
            ("90%+ coverage", ""),
            ("AC-6.1, AC-6.2", ""),
            ("AC-1.1: Window", ""),
            ("E2E tests", ""),
            ("config2.json is there", ""),
            ("1.3/1.4 both", ""),
            ("sort_exp17.metal has", ""),
            ("end-to-end", ""),
            ("`a1` x", ""),
            ("", ""),
            ("- 1", ""),
            ("VFX", ""),
            ("3_000 rows", ""),
            ("é1", ""),
        ] {
            assert_eq!(&text[..id_len(text)], id, "{text}");
        }
    }

    fn check(line: &str, id: &str, title: &str) -> Markers {
        let found = checkbox(line, Line { start: 0, end: line.len() }).unwrap();
        assert_eq!(found.head.id.map_or("", |id| &line[id]), id, "{line}");
        assert_eq!(&line[found.head.title], title, "{line}");
        found.head.markers
    }

    #[test]
    fn markers_before_and_after_the_id() {
        assert!(check("- [ ] 1.3 [P] Title", "1.3", "Title").parallel);
        assert!(check("- [ ] [P] T008 Title", "T008", "Title").parallel);
        assert!(check("- [ ] [P] [VERIFY] 2 Title", "2", "Title").verify);
        assert!(check("- [x] 1.10 PHP syntax check [VERIFY]", "1.10", "PHP syntax check").verify);
        assert!(check("- [ ] T003 [US1] [P] Title", "T003", "[US1] [P] Title").parallel);
        assert!(!check("- [ ] 1.5 Add [VERIFY] detection", "1.5", "Add [VERIFY] detection").verify);
        assert!(!check("- [ ] 1.5 Handle `[P]`", "1.5", "Handle `[P]`").parallel);
        assert_eq!(check("- [ ] 1.3.1 [FIX 1.3] Fix: x", "1.3.1", "Fix: x").fix_of.as_deref(), Some("1.3"));
        assert!(check("- [ ] 1.4 [FIX] x", "1.4", "x").fix_bare);
        let kind = check("- [ ] V1 [VERIFY:BROWSER] x", "V1", "x").verify_kind;
        assert_eq!(kind.as_deref(), Some("BROWSER"));
        let cycle = check("- [ ] 1 [RED] [GREEN] [YELLOW] x", "1", "x");
        assert!(cycle.red && cycle.green && cycle.yellow);
    }

    #[test]
    fn spellings_of_the_id() {
        check("* [ ] **1.3** Title", "1.3", "Title");
        check("+ [ ] **1.3 Title**", "1.3", "Title");
        check("- [ ] 1.3: Title", "1.3", "Title");
        check("- [ ] 1.3 - Title", "1.3", "Title");
        check("- [ ] 1.3 — Title", "1.3", "Title");
        check("- [ ] Task 1.3: Title", "1.3", "Title");
        check("- [x] ### Task 3.5: Title", "3.5", "Title");
        check("- [ ] **Define Enums**: Update", "", "**Define Enums**: Update");
        check("- [ ]", "", "");
    }

    #[test]
    fn what_is_no_box() {
        for line in ["- [a](b)", "- [ab] x", "-- [ ] x", "[ ] x", "- [1]: x", " - [ ] x", "- []", "-", ""] {
            assert!(checkbox(line, Line { start: 0, end: line.len() }).is_none(), "{line}");
        }
    }

    #[test]
    fn headers() {
        let read = |line: &str| {
            header(line, Line { start: 0, end: line.len() }).map(|header| {
                (line[header.head.id.unwrap()].to_owned(), header.state, line[header.head.title].to_owned())
            })
        };
        let task = |id: &str, state, title: &str| Some((id.to_owned(), state, title.to_owned()));
        assert_eq!(read("### Task 1.1: Title [x]"), task("1.1", BoxState::Done, "Title"));
        assert_eq!(read("### Task 1.1: Title"), task("1.1", BoxState::Open, "Title"));
        assert_eq!(read("### Task 1.1: [x] [VERIFY] Title"), task("1.1", BoxState::Done, "Title"));
        assert_eq!(read("### Task 1.1: [VERIFY] Title ✓"), task("1.1", BoxState::Done, "Title"));
        assert_eq!(read("## 1.1 Title [ ]"), task("1.1", BoxState::Open, "Title"));
        assert_eq!(read("## Task 7: Title [~]"), task("7", BoxState::Other('~'), "Title"));
        assert_eq!(read("## 1.1 Title"), None);
        assert_eq!(read("## Task List"), None);
        assert_eq!(read("# Task 1"), None);
        assert_eq!(read("### Task 1.10: PHP check [VERIFY]"), task("1.10", BoxState::Open, "PHP check"));
    }
}

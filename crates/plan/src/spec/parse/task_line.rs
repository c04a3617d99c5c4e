//! Reading the line that begins a task: box, id, markers, title.
//!
//! Whether such a line is a task at all depends on the rest of the file and is decided by the parser.

use std::ops::Range;

use super::id_token::{IdToken, Ids};
use crate::markdown::{Line, heading_level};
use crate::spec::task::{BoxState, HeaderBox, Markers};

/// A checkbox at the left margin.
#[derive(Clone, Debug)]
pub(super) struct Checkbox {
    pub(super) state: BoxState,
    pub(super) mark: Range<usize>,
    pub(super) head: Head,
    /// How the box departs from `- [ ] `.
    pub(super) flaw: Option<Flaw>,
    /// True if a heading stands in it, as in `- [x] ### Task 3.5: Title`.
    pub(super) is_heading: bool,
    /// True if there is a star behind the box, `- [ ]* 1.2`, by which some tools know optional tasks.
    pub(super) is_optional: bool,
}

/// A flaw in the writing of a checkbox that is plainly meant as one.
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
    /// The word that would be its id in a list whose other boxes have ids.
    pub(super) code: Option<Code>,
    /// True if the id is one that this program made for a task without one, such as `#2.1`.
    pub(super) numbered: bool,
    pub(super) markers: Markers,
    pub(super) title: Range<usize>,
}

/// A capital code before a title.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) id: Range<usize>,
    pub(super) title: Range<usize>,
}

impl Head {
    /// Takes the code before the title, if there is one, for the id.
    pub(super) fn adopt_code(&mut self) {
        if let Some(Code { id, title }) = self.code.take() {
            self.id = Some(id);
            self.title = title;
        }
    }
}

/// `[P]` as some tools write it.
const PARALLEL: &str = "(P) ";

/// Reads a checkbox line.
pub(super) fn checkbox(text: &str, line: Line) -> Option<Checkbox> {
    checkbox_with(text, line, Ids::ByLook)
}

/// Reads a checkbox line whose first word may be an id.
pub(super) fn checkbox_with(text: &str, line: Line, ids: Ids) -> Option<Checkbox> {
    let content = line.of(text);
    let rest = after_bullet(content)?;
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
    let starred = after.strip_prefix('*').filter(|rest| rest.starts_with([' ', '\t']));
    let is_optional = starred.is_some();
    let after = starred.unwrap_or(after);
    let head = head(text, line.end - after.len()..line.end, ids);
    let is_heading = after.trim_start().starts_with("##");
    Some(Checkbox {
        state: BoxState::of(mark),
        mark: start..start + mark.len_utf8(),
        head,
        flaw,
        is_heading,
        is_optional,
    })
}

/// The text after the bullet or the number of a list item.
fn after_bullet(content: &str) -> Option<&str> {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        0 => content.strip_prefix(['-', '*', '+']),
        1..=9 => content[digits..].strip_prefix(['.', ')']).filter(|rest| rest.starts_with([' ', '\t'])),
        _ => None,
    }
}

/// The text behind a box of the wrong width, as in `- [] 1.3` and `- [ x ] Title`.
pub(super) fn malformed_box(line: &str) -> Option<&str> {
    let inside = after_bullet(line)?.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let width = inside.bytes().take_while(|byte| matches!(byte, b' ' | b'x' | b'X')).count();
    let after = inside[width..].strip_prefix(']')?;
    let is_box = width != 1 && after.starts_with([' ', '\t']) && !after.trim().is_empty();
    is_box.then(|| after.trim())
}

/// Reads a heading that is a task: `### Task 1.1: title [x]`, or one with an id and a box.
pub(super) fn header(text: &str, line: Line) -> Option<Header> {
    let content = line.of(text);
    let level = heading_level(content)?;
    let hashes = content.len() - content.trim_start_matches([' ', '#']).len();
    let whole = trim(text, line.start + hashes..line.end);
    let (mut state, mut mark, rest) = header_mark(text, whole.clone(), line.end);
    let named = strip_word(&text[rest.clone()], "task").is_some() || is_task_number(&text[rest.clone()]);
    let mut head = head(text, rest, Ids::ByLook);
    head.adopt_code();
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

/// True if a heading begins with a number that only tasks have: `T001`, `T-001`, `TASK-1`.
fn is_task_number(heading: &str) -> bool {
    let Some(IdToken::Sure(len)) = IdToken::at_start(heading) else { return false };
    let token = heading[..len].to_ascii_uppercase();
    let number = token.strip_prefix("TASK").or_else(|| token.strip_prefix('T'));
    let number = number.map(|number| number.strip_prefix(['-', '_']).unwrap_or(number));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
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
    let unmarked = content.trim_end_matches(['✓', '✔', '✅', '\u{fe0f}']);
    let bare = without_done_word(unmarked).unwrap_or(unmarked);
    if bare.len() < content.len() {
        let rest = trim(text, whole.start..whole.start + bare.len());
        return (BoxState::Done, HeaderBox::CheckMark(rest.end..whole.end), rest);
    }
    (BoxState::Open, HeaderBox::Missing(line_end), whole)
}

/// A heading without `[DONE]` at its end.
fn without_done_word(heading: &str) -> Option<&str> {
    let (bare, word) = heading.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    says_done(word).then_some(bare)
}

/// True for the words that say of a task that it is done.
pub(super) fn says_done(word: &str) -> bool {
    ["done", "complete", "completed"].iter().any(|done| word.eq_ignore_ascii_case(done))
}

/// A box that begins at `at`: the character in it and where that is.
pub(super) fn box_at(text: &str, at: usize, end: usize) -> Option<(char, Range<usize>)> {
    let inside = text[at..end].strip_prefix('[')?;
    let character = inside.chars().next()?;
    inside[character.len_utf8()..].strip_prefix(']')?;
    Some((character, at + 1..at + 1 + character.len_utf8()))
}

/// Reads markers and id from the start of a description.
fn head(text: &str, description: Range<usize>, ids: Ids) -> Head {
    let description = trim(text, description);
    let mut found = Markers::default();
    let plain = markers(text, description.clone(), &mut found);
    let mut at = skip_decoration(text, plain..description.end);
    if let Some(rest) = strip_word(&text[at..description.end], "task")
        && IdToken::at_start(rest).is_some()
    {
        at = description.end - rest.len();
    }
    let token = IdToken::at(&text[..description.end], at, ids);
    let id = token.map(|token| at..at + token.len());
    let behind = id.as_ref().map(|id| {
        let behind = skip_separator(text, id.end..description.end);
        markers(text, behind..description.end, &mut found)
    });
    // `#12` is a reference to an issue unless it stands on a fix task that this program wrote.
    let numbered = id.as_ref().is_some_and(|id| text[id.clone()].starts_with('#'));
    let id = id.filter(|_| !numbered || found.fix_of.is_some());
    let end = trailing_markers(text, behind.unwrap_or(plain)..description.end, &mut found);
    let [short, whole] = [behind.unwrap_or(plain), plain].map(|start| title(text, start..end.max(start)));
    let is_code = matches!(token, Some(IdToken::Code(_)));
    match id {
        Some(id) if is_code && !stands_out(&text[id.end..description.end]) => Head {
            id: None,
            code: Some(Code { id, title: short }),
            numbered: false,
            markers: found,
            title: whole,
        },
        Some(id) => Head { id: Some(id), code: None, numbered, markers: found, title: short },
        None => Head { id: None, code: None, numbered: false, markers: found, title: whole },
    }
}

/// True if what follows a code sets it off from a sentence: the end of bold type, or a colon.
fn stands_out(rest: &str) -> bool {
    rest.starts_with("**") || rest.starts_with(':')
}

/// Takes known markers from the start of `range`; returns where the rest begins. Unknown ones are looked
/// past but stay in the title.
fn markers(text: &str, range: Range<usize>, found: &mut Markers) -> usize {
    let mut rest = range.start;
    let mut at = range.start;
    let mut leading = true;
    loop {
        at = range.end - skip_bytes(&text[at..range.end], |byte| matches!(byte, b' ' | b'\t' | b'*')).len();
        if leading && text[at..range.end].starts_with(PARALLEL) {
            found.parallel = true;
            at += PARALLEL.len();
            rest = at;
            continue;
        }
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

/// The text between the brackets that `text` begins with.
fn bracketed(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('[')?;
    let close = inside.find([']', '['])?;
    inside[close..].starts_with(']').then_some(&inside[..close])
}

/// The text after the leading bytes of `text` that are to be skipped, all of them ASCII.
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

/// The text after `word` and a space at the start of `text`, in any case of letters.
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let story = check("- [ ] T003 [US1] [P] Title", "T003", "Title");
        assert!(story.parallel && story.story.as_deref() == Some("US1"));
        check("- [ ] T003 [USB] Title", "T003", "[USB] Title");
        assert!(check("- [ ] 1.4 (P) Title", "1.4", "Title").parallel);
        assert!(!check("- [ ] 1.4 Title (P)", "1.4", "Title (P)").parallel);
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

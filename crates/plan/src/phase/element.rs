//! Elements: what a block, or another element, holds at its outermost level.

use std::collections::BTreeMap;
use std::ops::Range;

use super::opaque::Opaque;
use super::tag::{Tag, TagKind, tags};
use crate::markdown::indent_of;

/// An element at the outermost level of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element<'a> {
    pub(super) tag: Tag<'a>,
    /// The text between its tags.
    pub(super) inner: Range<usize>,
    pub(super) outer: Range<usize>,
    pub(super) closed: bool,
}

impl<'a> Element<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.tag.name
    }

    /// True if it means nothing itself, so that what it holds may be meant.
    pub(super) fn is_wrapper(&self) -> bool {
        matches!(self.tag.name, "feature" | "implementation" | "content" | "body" | "checkpoint")
    }

    pub(super) fn text<'b>(&self, text: &'b str) -> &'b str {
        &text[self.inner.clone()]
    }
}

/// The elements that a text is made of.
#[derive(Debug, Default)]
pub(super) struct Content<'a> {
    pub(super) elements: Vec<Element<'a>>,
    /// Closing tags of known elements that nothing opened.
    pub(super) stray: Vec<Tag<'a>>,
}

impl<'a> Content<'a> {
    /// The texts of all elements with one of these names.
    pub(super) fn texts<'b>(
        &'b self,
        text: &'b str,
        names: &'b [&str],
    ) -> impl Iterator<Item = &'b str> + use<'a, 'b> {
        self.elements
            .iter()
            .filter(move |element| is_one_of(element.name(), names))
            .map(move |element| element.text(text))
    }

    /// The text in `text[range]` outside all elements.
    pub(super) fn loose(&self, text: &str, range: Range<usize>) -> String {
        let mut loose = String::new();
        let mut at = range.start;
        for element in &self.elements {
            loose.push_str(&text[at..element.outer.start]);
            at = element.outer.end;
        }
        loose.push_str(&text[at..range.end]);
        loose
    }
}

/// Names that tasks use. Others are elements only where they end.
const KNOWN: [&str; 24] = [
    "name",
    "n",
    "title",
    "files",
    "action",
    "instructions",
    "verify",
    "automated",
    "done",
    "behavior",
    "read_first",
    "acceptance_criteria",
    "what-built",
    "how-to-verify",
    "resume-signal",
    "decision",
    "options",
    "option",
    "pros",
    "cons",
    "context",
    "commit",
    "human-check",
    "manual",
];

pub(super) fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn is_known(tag: &Tag<'_>) -> bool {
    is_one_of(tag.name, &KNOWN)
}

/// Reads what `text[range]` holds. An element ends where its name is closed as often as it was opened.
pub(super) fn content<'a>(text: &'a str, range: Range<usize>, opaque: &Opaque) -> Content<'a> {
    let tags = tags(text, range.clone(), opaque);
    let closers = closers(&tags);
    let mut content = Content::default();
    let mut at = 0;
    while let Some(tag) = tags.get(at) {
        at += 1;
        match (tag.kind, closers[at - 1]) {
            (TagKind::Open, Some(close)) if is_known(tag) || tag.begins_line(text) => {
                content.elements.push(element(tag, &tags[close].range));
                at = close + 1;
            }
            (TagKind::Open, None) if is_known(tag) => {
                let (element, next) = unclosed(text, &tags, at - 1, range.end);
                content.elements.push(element);
                at = next;
            }
            (TagKind::Close, _) if is_known(tag) => content.stray.push(tag.clone()),
            (TagKind::Open | TagKind::Close | TagKind::Empty, _) => {}
        }
    }
    content
}

fn element<'a>(tag: &Tag<'a>, close: &Range<usize>) -> Element<'a> {
    Element {
        tag: tag.clone(),
        inner: tag.range.end..close.start,
        outer: tag.range.start..close.end,
        closed: true,
    }
}

/// For each opening tag, the one that closes it.
fn closers(tags: &[Tag<'_>]) -> Vec<Option<usize>> {
    let mut open: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut closers = vec![None; tags.len()];
    for (at, tag) in tags.iter().enumerate() {
        match tag.kind {
            TagKind::Open => open.entry(tag.name).or_default().push(at),
            TagKind::Close => {
                if let Some(opener) = open.get_mut(tag.name).and_then(Vec::pop) {
                    closers[opener] = Some(at);
                }
            }
            TagKind::Empty => {}
        }
    }
    closers
}

/// An element that is opened more often than closed goes to the last closing tag, or to where the next known
/// element begins a line. Also says with which tag to go on.
fn unclosed<'a>(text: &str, tags: &[Tag<'a>], at: usize, end: usize) -> (Element<'a>, usize) {
    let tag = &tags[at];
    let begins_other = |other: &Tag<'_>| {
        other.kind == TagKind::Open && other.name != tag.name && is_known(other) && other.begins_line(text)
    };
    let below = &tags[at + 1..];
    let next = below.iter().position(begins_other).map_or(tags.len(), |offset| at + 1 + offset);
    let closes = |other: &Tag<'_>| other.kind == TagKind::Close && other.name == tag.name;
    let last = tags[at + 1..next].iter().rposition(closes).map(|offset| at + 1 + offset);
    if let Some(last) = last {
        return (element(tag, &tags[last].range), last + 1);
    }
    let end = tags.get(next).map_or(end, |tag| tag.range.start);
    let inner = tag.range.end..end;
    (Element { tag: tag.clone(), inner, outer: tag.range.start..end, closed: false }, next)
}

/// Replaces the five standard entities, each once: `&amp;lt;` becomes `&lt;`.
pub(super) fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let (character, len) = entity(rest).unwrap_or(('&', 1));
        decoded.push(character);
        rest = &rest[len..];
    }
    decoded.push_str(rest);
    decoded
}

fn entity(text: &str) -> Option<(char, usize)> {
    [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')]
        .into_iter()
        .find(|(name, _)| text.starts_with(name))
        .map(|(name, character)| (character, name.len()))
}

/// The text without white space around it and without the indentation that its lines share. The first line
/// may stand beside the opening tag, so it does not count.
pub(super) fn dedented(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let shared = rest.lines().filter(|line| !line.trim().is_empty()).map(indent_of).min().unwrap_or(0);
    let mut dedented = first.trim().to_owned();
    for line in rest.lines() {
        if !dedented.is_empty() {
            dedented.push('\n');
        }
        dedented.push_str(line[shared.min(indent_of(line))..].trim_end());
    }
    dedented.truncate(dedented.trim_end().len());
    dedented
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let content = content(text, 0..text.len(), &Opaque::of(text));
        let show = |element: &Element<'_>| {
            let mark = if element.closed { "" } else { "?" };
            format!("{}{mark}={}", element.name(), element.text(text).trim())
        };
        content.elements.iter().map(show).collect()
    }

    #[test]
    fn what_is_an_element() {
        for (text, expected) in [
            ("<name>a</name><files>b</files>", vec!["name=a", "files=b"]),
            ("<action>a <action>b</action> c</action>", vec!["action=a <action>b</action> c"]),
            ("<action>`</action>` x</action>", vec!["action=`</action>` x"]),
            (
                "<action>a < b, Vec<String>, <div>, a && b</action>",
                vec!["action=a < b, Vec<String>, <div>, a && b"],
            ),
            ("<odd>a</odd>", vec!["odd=a"]),
            ("text <odd>a</odd>", vec![]),
            ("<odd>a", vec![]),
            ("<action>a\n<verify>b</verify>", vec!["action?=a", "verify=b"]),
            (
                "<action>say <action> twice</action>\n<done>c</done>",
                vec!["action=say <action> twice", "done=c"],
            ),
            ("<action>a", vec!["action?=a"]),
            ("<verify><automated>x</automated></verify>", vec!["verify=<automated>x</automated>"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_left() {
        let text = "a<name>b</name>c</verify>";
        let content = content(text, 0..text.len(), &Opaque::of(text));
        assert_eq!(content.loose(text, 0..text.len()), "ac</verify>");
        assert_eq!(content.stray.len(), 1);
    }

    #[test]
    fn entities_are_decoded_once() {
        for (text, decoded) in [
            ("a &amp;&amp; b", "a && b"),
            ("a && b", "a && b"),
            ("&lt;x&gt; &quot;&apos;", "<x> \"'"),
            ("&amp;lt;", "&lt;"),
            ("&nbsp; &#38; &am", "&nbsp; &#38; &am"),
            ("ü&", "ü&"),
            ("", ""),
        ] {
            assert_eq!(decode(text), decoded);
        }
    }

    #[test]
    fn indentation_that_lines_share() {
        for (text, expected) in [
            (" a ", "a"),
            ("\n    a\n      b\n\n    c\n  ", "a\n  b\n\nc"),
            ("a\n  b\n   c", "a\nb\n c"),
            ("\r\n  a\r\n  b\r\n", "a\nb"),
            ("\n\n\ta\n", "a"),
            ("", ""),
        ] {
            assert_eq!(dedented(text), expected, "{text:?}");
        }
    }
}

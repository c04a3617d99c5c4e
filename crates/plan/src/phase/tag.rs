//! Tags: what begins and ends an element, wherever code does not hide it.

use std::ops::Range;

use super::opaque::Opaque;

/// The kind of a tag: it opens an element, closes one, or is one by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagKind {
    Open,
    Close,
    /// `<x/>`.
    Empty,
}

/// A tag and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) kind: TagKind,
    pub(super) name: &'a str,
    /// The text between the name and the closing bracket.
    pub(super) attributes: Range<usize>,
    pub(super) range: Range<usize>,
}

impl<'a> Tag<'a> {
    /// True if nothing but white space stands before it on its line.
    pub(super) fn begins_line(&self, text: &str) -> bool {
        let before = text[..self.range.start].trim_end_matches([' ', '\t', '\u{feff}']);
        before.is_empty() || before.ends_with('\n')
    }

    /// True if nothing but white space stands after it on its line.
    pub(super) fn ends_line(&self, text: &str) -> bool {
        let after = text[self.range.end..].trim_start_matches([' ', '\t', '\r']);
        after.is_empty() || after.starts_with('\n')
    }

    /// Where the value of an attribute is, without its quotes.
    pub(super) fn attribute(&self, text: &'a str, name: &str) -> Option<Range<usize>> {
        let mut at = self.attributes.start;
        while let Some((key, value, next)) = next_attribute(text, at, self.attributes.end) {
            if key.eq_ignore_ascii_case(name) {
                return Some(value);
            }
            at = next;
        }
        None
    }
}

/// How long a tag may be; a longer one is text.
const TAG_BYTES_MAX: usize = 1000;

/// The tags in `text[range]`, in order, without those in code.
pub(super) fn tags<'a>(text: &'a str, range: Range<usize>, opaque: &Opaque) -> Vec<Tag<'a>> {
    let mut tags = Vec::new();
    let mut hidden = opaque.from(range.start);
    let mut at = range.start;
    while let Some(offset) = text[at..range.end].find('<') {
        let start = at + offset;
        if let Some(end) = hidden.past(start) {
            at = end.clamp(start + 1, range.end);
            continue;
        }
        match tag_at(text, start, range.end) {
            Some(tag) => {
                at = tag.range.end;
                tags.push(tag);
            }
            None => at = start + 1,
        }
    }
    tags
}

pub(super) fn tag_at(text: &str, start: usize, end: usize) -> Option<Tag<'_>> {
    let close = text[start + 1..end].starts_with('/');
    let name_start = start + 1 + usize::from(close);
    let name_end = name_start + name_len(&text[name_start..end]);
    let name = &text[name_start..name_end];
    let rest = &text[name_end..end];
    if name.is_empty() || !rest.starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/')) {
        return None;
    }
    let len = tag_rest(rest)?;
    let inside = &rest[..len];
    let empty = inside.ends_with('/');
    if close && !inside.trim().is_empty() {
        return None;
    }
    Some(Tag {
        kind: match (close, empty) {
            (true, _) => TagKind::Close,
            (false, true) => TagKind::Empty,
            (false, false) => TagKind::Open,
        },
        name,
        attributes: name_end..name_end + len - usize::from(empty),
        range: start..name_end + len + 1,
    })
}

fn name_len(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return 0;
    }
    text.bytes()
        .take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':'))
        .count()
}

/// How far it is to the bracket that closes the tag.
fn tag_rest(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate().take(TAG_BYTES_MAX) {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'<') => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None | Some(_), _) => {}
        }
    }
    None
}

/// The next `key="value"`, and where to go on.
fn next_attribute(text: &str, from: usize, end: usize) -> Option<(&str, Range<usize>, usize)> {
    let equals = from + text[from..end].find('=')?;
    let key = text[from..equals].trim_end();
    let key = key.rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
    let value = equals + 1 + (text[equals + 1..end].len() - text[equals + 1..end].trim_start().len());
    let quote = text[value..end].chars().next().filter(|c| matches!(c, '"' | '\''));
    let (start, len) = match quote {
        Some(quote) => (value + 1, text[value + 1..end].find(quote)),
        None => (value, text[value..end].find(char::is_whitespace)),
    };
    let stop = len.map_or(end, |len| start + len);
    Some((key, start..stop, (stop + usize::from(quote.is_some())).min(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let opaque = Opaque::of(text);
        let show = |tag: Tag<'_>| match tag.kind {
            TagKind::Open => format!("{}{{", tag.name),
            TagKind::Close => format!("}}{}", tag.name),
            TagKind::Empty => format!("{}.", tag.name),
        };
        tags(text, 0..text.len(), &opaque).into_iter().map(show).collect()
    }

    #[test]
    fn what_is_a_tag() {
        for (text, expected) in [
            ("<a>x</a>", vec!["a{", "}a"]),
            ("<a b='>' c=\"<\">", vec!["a{"]),
            ("<a/><b />", vec!["a.", "b."]),
            ("<what-built>", vec!["what-built{"]),
            ("a < b > c <- <1> <> </> <é>", vec![]),
            ("Vec<String>", vec!["String{"]),
            ("`<a>` <b>", vec!["b{"]),
            ("<a\n b=\"c\">", vec!["a{"]),
            ("<a <b>", vec!["b{"]),
            ("</a b> </a >", vec!["}a"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn attributes() {
        let text = "<task type=\"auto\" id='1' tdd = \"true\" x=y title=\"a = b\">";
        let opaque = Opaque::of(text);
        let tag = &tags(text, 0..text.len(), &opaque)[0];
        for (name, value) in [("type", "auto"), ("id", "1"), ("TDD", "true"), ("x", "y"), ("title", "a = b")]
        {
            assert_eq!(tag.attribute(text, name).map(|range| &text[range]), Some(value), "{name}");
        }
        assert_eq!(tag.attribute(text, "a"), None);
    }
}

//! JSON with places: what a value says, and where in the text it stands, so that one of them can be edited and every
//! other byte stays.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;

/// A value and its place in the text that was read.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    text: &'a str,
    at: usize,
}

/// An object: its members in the order of the text. Of two with one name the last counts.
#[derive(Clone, Debug)]
pub(super) struct Object<'a> {
    members: Vec<(String, Node<'a>)>,
    /// The white space before its first member.
    gap: &'a str,
}

/// A place for the value of a member. Where the member is missing, what comes before the value makes it one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) at: Range<usize>,
    pub(super) before: String,
}

impl<'a> Node<'a> {
    /// Reads a text that is one value. Places are counted from `at`.
    pub(super) fn read(text: &'a str, at: usize) -> Result<Self, serde_json::Error> {
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let (text, at) = (&text[mark..], at + mark);
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self { text: raw.get(), at: at + offset(text, raw.get()) })
    }

    fn inner(&self, raw: &'a RawValue) -> Self {
        Self { text: raw.get(), at: self.at + offset(self.text, raw.get()) }
    }

    /// The object that it is.
    pub(super) fn object(&self) -> Option<Object<'a>> {
        let found: BTreeMap<String, &'a RawValue> = serde_json::from_str(self.text).ok()?;
        let mut members: Vec<(String, Self)> =
            found.into_iter().map(|(name, raw)| (name, self.inner(raw))).collect();
        members.sort_by_key(|(_, node)| node.at);
        let inside = self.text.strip_prefix('{')?;
        Some(Object { members, gap: &inside[..inside.len() - inside.trim_start().len()] })
    }

    /// The elements of the list that it is.
    pub(super) fn list(&self) -> Option<Vec<Self>> {
        let found: Vec<&'a RawValue> = serde_json::from_str(self.text).ok()?;
        Some(found.into_iter().map(|raw| self.inner(raw)).collect())
    }

    /// The string that it is, or the number as it is written.
    pub(super) fn word(&self) -> Option<String> {
        if self.text.starts_with('"') {
            return serde_json::from_str(self.text).ok();
        }
        let is_number = self.text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        is_number.then(|| self.text.to_owned())
    }

    /// True if it is `true`.
    pub(super) fn is_true(&self) -> bool {
        self.text == "true"
    }

    fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

impl<'a> Object<'a> {
    /// The members, in order.
    pub(super) fn members(&self) -> &[(String, Node<'a>)] {
        &self.members
    }

    /// A member's value.
    pub(super) fn get(&self, name: &str) -> Option<&Node<'a>> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    /// A member that is a string or a number, and says something.
    pub(super) fn word(&self, name: &str) -> Option<String> {
        self.get(name)?.word().filter(|word| !word.trim().is_empty())
    }

    /// The elements of a member that is a list; none where it is not there.
    pub(super) fn list(&self, name: &str) -> Vec<Node<'a>> {
        self.get(name).and_then(Node::list).unwrap_or_default()
    }

    /// The strings and numbers of a member that is a list, or the one that it is itself.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        match self.get(name).map(|node| (node.word(), node)) {
            Some((Some(word), _)) => vec![word],
            Some((None, node)) => node.list().unwrap_or_default().iter().filter_map(Node::word).collect(),
            None => Vec::new(),
        }
    }

    /// The place for a member's value.
    pub(super) fn slot(&self, name: &str) -> Slot {
        if let Some(node) = self.get(name) {
            return Slot { at: node.range(), before: String::new() };
        }
        let colon = if self.gap.is_empty() { ":" } else { ": " };
        // What is read here has an id at least.
        let end = self.members.last().map_or(0, |(_, node)| node.range().end);
        Slot { at: end..end, before: format!(",{}\"{name}\"{colon}", self.gap) }
    }
}

/// Where a part of a text begins in it.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn edited(text: &str, name: &str, value: &str) -> String {
        let object = Node::read(text, 0).unwrap().object().unwrap();
        let Slot { at, before } = object.slot(name);
        let mut text = text.to_owned();
        text.replace_range(at, &format!("{before}{value}"));
        text
    }

    #[test]
    fn a_value_is_edited_where_it_stands() {
        let check = |text: &str, expected: &str| assert_eq!(edited(text, "b", "7"), expected);
        check(r#"{"a":1,"b":2,"c":"b"}"#, r#"{"a":1,"b":7,"c":"b"}"#);
        check("{ \"b\" : \"x}\\\"\" }\n", "{ \"b\" : 7 }\n");
        check(r#"{"a":1}"#, r#"{"a":1,"b":7}"#);
        check("{\n\t\"a\": [1, 2]\n}", "{\n\t\"a\": [1, 2],\n\t\"b\": 7\n}");
        check("\u{feff}{\"b\":1}", "\u{feff}{\"b\":7}");
        check(r#"{"b":1,"b":2}"#, r#"{"b":1,"b":7}"#);
    }

    #[test]
    fn places_are_those_of_the_whole_text() {
        let text = r#"{"x": {"é": [{"b": false}]}}"#;
        let outer = Node::read(text, 0).unwrap().object().unwrap();
        let list = outer.get("x").unwrap().object().unwrap().list("é");
        let slot = list[0].object().unwrap().slot("b");
        assert_eq!(&text[slot.at], "false");
        assert!(Node::read("{\"a\": 1} x", 0).is_err() && Node::read("", 0).is_err());
        assert!(Node::read("[1]", 0).unwrap().object().is_none());
    }
}

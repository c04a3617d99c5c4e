//! One task's block, from its opening to its closing tag.

use std::ops::Range;

use super::element::{Content, content, is_one_of};
use super::opaque::Opaque;
use super::tag::{Tag, tag_at};

/// A block and what it is made of.
pub(super) struct Block<'a> {
    pub(super) text: &'a str,
    pub(super) tag: Option<Tag<'a>>,
    pub(super) content: Content<'a>,
    pub(super) opaque: Opaque,
    inner: Range<usize>,
}

/// The elements that hold a task's name.
const NAMES: [&str; 3] = ["name", "n", "title"];

/// Where a name is looked for if a task has none: what a checkpoint is about, then what is to be done.
const SUBJECTS: [&str; 7] =
    ["decision", "what-built", "action", "instructions", "instruction", "how-to-verify", "objective"];

impl<'a> Block<'a> {
    pub(super) fn read(text: &'a str) -> Block<'a> {
        let tag = tag_at(text, 0, text.len());
        let start = tag.as_ref().map_or(0, |tag| tag.range.end);
        let close = text.rfind("</task").filter(|&at| at >= start && text[at + 6..].trim() == ">");
        let inner = start..close.unwrap_or(text.len());
        let opaque = Opaque::of(text);
        let (content, inner) = unwrapped(text, content(text, inner.clone(), &opaque), inner, &opaque);
        Block { text, tag, content, opaque, inner }
    }

    /// The value of an attribute of the task.
    pub(super) fn attribute(&self, name: &str) -> Option<Range<usize>> {
        self.tag.as_ref()?.attribute(self.text, name)
    }

    /// What stands outside all elements.
    pub(super) fn loose(&self) -> String {
        self.content.loose(self.text, self.inner.clone())
    }

    /// Where the title is: the name, or else the first line of what the task is about.
    pub(super) fn title(&self) -> Option<Range<usize>> {
        self.first_line_of(&NAMES)
            .or_else(|| ["title", "name"].iter().find_map(|name| self.attribute(name)))
            .or_else(|| SUBJECTS.iter().find_map(|name| self.first_line_of(&[name])))
            .or_else(|| {
                first_line(self.text, self.inner.clone()).filter(|_| self.content.elements.is_empty())
            })
    }

    fn first_line_of(&self, names: &[&str]) -> Option<Range<usize>> {
        let mut named = self.content.elements.iter().filter(|element| is_one_of(element.name(), names));
        named.find_map(|element| first_line(self.text, element.inner.clone()))
    }
}

/// The elements of these names in a part of a plan that no task is in, tags included, in their order.
pub(crate) fn head_elements<'a>(text: &'a str, range: Range<usize>, names: &[&str]) -> Vec<&'a str> {
    let content = content(text, range, &Opaque::of(text));
    let named = content.elements.iter().filter(|element| is_one_of(element.name(), names));
    named.map(|element| &text[element.outer.clone()]).collect()
}

/// Some tasks have one element around all others, such as `<feature>`; what is in it is then the task's.
fn unwrapped<'a>(
    text: &'a str,
    outer: Content<'a>,
    range: Range<usize>,
    opaque: &Opaque,
) -> (Content<'a>, Range<usize>) {
    match outer.elements.as_slice() {
        [only] if only.is_wrapper() => (content(text, only.inner.clone(), opaque), only.inner.clone()),
        [..] => (outer, range),
    }
}

/// The first line of `text[range]` that is not blank, without white space around it.
fn first_line(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    let len = text[start..range.end].find(['\n', '\r']).unwrap_or(range.end - start);
    let line = text[start..start + len].trim_end();
    (!line.is_empty()).then_some(start..start + line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        for (text, title) in [
            ("<task>\n<name> Task 1: a </name>\n</task>", Some("Task 1: a")),
            ("<task>\n<name>\n a\n b</name>\n</task>", Some("a")),
            ("<task title=\"b\">\n</task>", Some("b")),
            ("<task title=\"b\"><name>a</name></task>", Some("a")),
            ("<task><n>a</n></task>", Some("a")),
            ("<task><title>a</title></task>", Some("a")),
            ("<task>\n<how-to-verify>b</how-to-verify><what-built>\na\nc</what-built></task>", Some("a")),
            ("<task>\nDo it\nnow\n</task>", Some("Do it")),
            ("<task>\n<feature>\n<name>a</name>\n</feature>\n</task>", Some("a")),
            ("<task><files>a</files></task>", None),
            ("<task><name> </name></task>", None),
            ("<task/>", None),
        ] {
            assert_eq!(Block::read(text).title().map(|range| &text[range]), title, "{text}");
        }
    }
}

//! Where tasks begin and end, and what each is made of, from its opening to its closing tag.

use std::ops::Range;

use super::element::{Content, content, is_one_of};
use super::opaque::Opaque;
use super::tag::{Tag, TagKind, tag_at, tags};

/// A task as it stands in the text.
#[derive(Clone, Debug)]
pub(super) struct TaskBlock {
    /// From the opening bracket to the end of the closing tag.
    pub(super) outer: Range<usize>,
    pub(super) closed: bool,
}

/// The tasks of a text.
#[derive(Debug, Default)]
pub(super) struct TaskBlocks {
    pub(super) tasks: Vec<TaskBlock>,
    /// Closing tags without a task.
    pub(super) stray: Vec<Range<usize>>,
}

/// A tag that matters for where tasks begin and end.
enum Mark<'a> {
    Open(Tag<'a>),
    Close(Range<usize>),
    /// The end of all tasks, or the beginning of a section that follows them.
    End(usize),
}

/// Finds the tasks of a text, beginning with `from`. A task within a task is part of its text.
pub(super) fn task_blocks(text: &str, from: usize, opaque: &Opaque) -> TaskBlocks {
    let marks: Vec<Mark<'_>> =
        tags(text, from..text.len(), opaque).into_iter().filter_map(|tag| mark(text, tag)).collect();
    let (closers, stray) = pair(&marks);
    let mut found = TaskBlocks { tasks: Vec::new(), stray };
    let mut at = 0;
    while let Some(mark) = marks.get(at) {
        at += 1;
        let Mark::Open(tag) = mark else { continue };
        let (inner_end, outer_end) = match &closers[at - 1] {
            Some((place, range)) => {
                at = place + 1;
                (range.start, range.end)
            }
            None => {
                let end = unclosed_end(text, &marks[at..], tag.range.end);
                (end, end)
            }
        };
        found.tasks.push(TaskBlock {
            outer: tag.range.start..outer_end,
            closed: inner_end != outer_end || tag.kind == TagKind::Empty,
        });
    }
    found
}

fn mark<'a>(text: &str, tag: Tag<'a>) -> Option<Mark<'a>> {
    let starts = || tag.begins_line(text);
    match (tag.name, tag.kind) {
        ("task", TagKind::Open | TagKind::Empty) => starts().then_some(Mark::Open(tag)),
        ("task", TagKind::Close) => (starts() || tag.ends_line(text)).then_some(Mark::Close(tag.range)),
        ("tasks", TagKind::Close)
        | ("verification" | "success_criteria" | "output" | "threat_model", TagKind::Open) => {
            starts().then_some(Mark::End(tag.range.start))
        }
        (_, TagKind::Open | TagKind::Close | TagKind::Empty) => None,
    }
}

/// A mark and what it closes a task with.
type Closer = Option<(usize, Range<usize>)>;

/// For each mark that opens a task, the one that closes it; and the closing tags that nothing opened.
fn pair(marks: &[Mark<'_>]) -> (Vec<Closer>, Vec<Range<usize>>) {
    let mut closers = vec![None; marks.len()];
    let mut stray = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, mark) in marks.iter().enumerate() {
        match mark {
            Mark::Open(tag) if tag.kind == TagKind::Empty => {
                closers[at] = Some((at, tag.range.end..tag.range.end));
            }
            Mark::Open(_) => open.push(at),
            Mark::Close(range) => match open.pop() {
                Some(opener) => closers[opener] = Some((at, range.clone())),
                None => stray.push(range.clone()),
            },
            Mark::End(_) => open.clear(),
        }
    }
    (closers, stray)
}

/// Where a task ends that nothing closes: before the next one, or before what follows the tasks.
fn unclosed_end(text: &str, below: &[Mark<'_>], from: usize) -> usize {
    let end = below.iter().find_map(|mark| match mark {
        Mark::Open(tag) => Some(tag.range.start),
        Mark::End(start) => Some(*start),
        Mark::Close(_) => None,
    });
    from + text[from..end.unwrap_or(text.len())].trim_end().len()
}

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

    /// The text outside all elements.
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

    fn found(text: &str) -> Vec<&str> {
        task_blocks(text, 0, &Opaque::of(text)).tasks.iter().map(|task| &text[task.outer.clone()]).collect()
    }

    #[test]
    fn where_tasks_are() {
        for (text, expected) in [
            (
                "<tasks>\n<task>\na\n</task>\n\n  <task>b</task>\n</tasks>",
                vec!["<task>\na\n</task>", "<task>b</task>"],
            ),
            ("Every `<task>` and a <task> in text", vec![]),
            ("```\n<task>\n</task>\n```", vec![]),
            ("<!--\n<task>\n</task>\n-->", vec![]),
            ("<task>\n<task>\nsample\n</task>\n</task>", vec!["<task>\n<task>\nsample\n</task>\n</task>"]),
            ("<task>\na\n\n<task>\nb\n</task>\n</tasks>", vec!["<task>\na", "<task>\nb\n</task>"]),
            ("<task>\na\n</tasks>\nb", vec!["<task>\na"]),
            ("<task>\na\n<verification>\nb", vec!["<task>\na"]),
            ("<task>\na ends with </task> here\n</task>", vec!["<task>\na ends with </task> here\n</task>"]),
            ("<task>\n<done>x</done></task>\n", vec!["<task>\n<done>x</done></task>"]),
            ("<task type=\"auto\"/>\n<task>\n</task>", vec!["<task type=\"auto\"/>", "<task>\n</task>"]),
            ("<tasks>\n<taskish>\n</tasks>", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

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

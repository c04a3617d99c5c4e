//! Where tasks begin and end.

use std::ops::Range;

use super::opaque::Opaque;
use super::tag::{Tag, TagKind, tags};

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
}

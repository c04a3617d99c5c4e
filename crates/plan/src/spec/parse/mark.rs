//! The lines of a text that may be structure: headings and checkboxes.

use super::id_token::{IdToken, Ids};
use super::task_line::{Checkbox, Header, checkbox_with, header, malformed_box};
use crate::markdown::{Line, LineKind, Regions, heading_level};
use crate::one_line::one_line;
use crate::problem::Problem;

/// Characters of a line that are told.
const TOLD_CHARS_MAX: usize = 60;

/// A line that may be structure.
pub(super) struct Mark {
    pub(super) line: usize,
    pub(super) kind: MarkKind,
}

pub(super) enum MarkKind {
    Box(Checkbox),
    /// A box with an id, and a space before it.
    Shifted(Checkbox),
    Heading {
        level: usize,
        header: Option<Header>,
    },
}

/// Finds the marks of a text, and the boxes that cannot be read.
pub(super) fn find_marks(text: &str, regions: &Regions, ids: Ids, problems: &mut Vec<Problem>) -> Vec<Mark> {
    // A task of a plan has a handful of lines.
    let mut marks = Vec::with_capacity(regions.lines.len() / 8);
    for (at, (&line, &kind)) in regions.lines.iter().zip(&regions.kinds).enumerate() {
        if kind != LineKind::Text {
            continue;
        }
        let line = line.after_mark(text);
        match &text.as_bytes()[line.range()] {
            [b'#', ..] | [b' ', b'#', ..] | [b' ', b' ', b'#', ..] | [b' ', b' ', b' ', b'#', ..] => {
                marks.extend(find_heading(text, line).map(|kind| Mark { line: at, kind }));
            }
            [b'-' | b'*' | b'+' | b'0'..=b'9', ..] => {
                if let Some(found) = checkbox_with(text, line, ids) {
                    marks.push(Mark { line: at, kind: MarkKind::Box(found) });
                } else {
                    problems.extend(malformed_box(line.of(text)).map(|rest| malformed(at, rest)));
                }
            }
            [b' ', b'-' | b'*' | b'+', ..] => {
                let found = checkbox_with(text, Line { start: line.start + 1, ..line }, ids);
                let found = found.filter(|found| found.head.id.is_some());
                marks.extend(found.map(|found| Mark { line: at, kind: MarkKind::Shifted(found) }));
            }
            [..] => {}
        }
    }
    adopt_codes(&mut marks);
    marks
}

fn find_heading(text: &str, line: Line) -> Option<MarkKind> {
    let level = heading_level(line.of(text))?;
    Some(MarkKind::Heading { level, header: header(text, line) })
}

/// The problem of a box that cannot be read. With an id behind it, a task is missing.
pub(super) fn malformed(at: usize, rest: &str) -> Problem {
    if let Some(IdToken::Sure(len)) = IdToken::at_start(rest) {
        let id = &rest[..len];
        return Problem::error(at + 1, format!("the box of {id} is malformed, so it is not a task"))
            .hint(format!("write `- [ ] {id}` or `- [x] {id}`"));
    }
    let told: String = one_line(rest).chars().take(TOLD_CHARS_MAX).collect();
    Problem::warning(at + 1, format!("the box of “{told}” is malformed, so it is not a task"))
        .hint("write `- [ ] …` or `- [x] …`")
}

/// Takes capital codes for ids where other boxes of the list have ids, or where all boxes have a code.
fn adopt_codes(marks: &mut [Mark]) {
    let has_id = |mark: &Mark| match &mark.kind {
        MarkKind::Box(found) | MarkKind::Shifted(found) => found.head.id.is_some(),
        MarkKind::Heading { header, .. } => header.is_some(),
    };
    let has_code = |mark: &Mark| match &mark.kind {
        MarkKind::Box(found) => found.head.code.is_some(),
        MarkKind::Shifted(_) | MarkKind::Heading { .. } => true,
    };
    if !marks.iter().any(has_id) {
        if marks.iter().all(has_code) {
            adopt(marks);
        }
        return;
    }
    for list in marks.split_mut(|mark| matches!(mark.kind, MarkKind::Heading { .. })) {
        if list.iter().any(has_id) {
            adopt(list);
        }
    }
}

fn adopt(marks: &mut [Mark]) {
    for mark in marks {
        match &mut mark.kind {
            MarkKind::Box(found) | MarkKind::Shifted(found) => found.head.adopt_code(),
            MarkKind::Heading { .. } => {}
        }
    }
}

/// Where the section of the heading at `at` ends.
pub(super) fn section_end(marks: &[Mark], at: usize, own_level: usize) -> usize {
    let ends = |mark: &Mark| matches!(mark.kind, MarkKind::Heading { level, .. } if level <= own_level);
    marks[at + 1..].iter().position(ends).map_or(marks.len(), |offset| at + 1 + offset)
}

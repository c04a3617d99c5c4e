//! Whether a task that is a header is done, where its heading does not say so: by its Status, by the line of a
//! checklist that names it, or by its criteria.

use std::ops::Range;

use super::task::{BoxState, HeaderBox};
use super::task_line::{box_at, checkbox, says_done};
use crate::markdown::{Line, LineKind, Regions, indent_of};

/// The state of a task whose heading has no box, and where its tick is. `lines` are those of its block, `listed` is
/// its line in a checklist.
pub(super) fn header_state(
    text: &str,
    regions: &Regions,
    lines: Range<usize>,
    listed: Option<(BoxState, Range<usize>)>,
) -> Option<(BoxState, Option<HeaderBox>)> {
    let below = (lines.start + 1..lines.end).filter(|at| regions.kinds[*at] == LineKind::Text);
    let below: Vec<Line> = below.map(|at| unindented(text, regions.lines[at])).collect();
    let status = below.iter().find_map(|line| status(text, *line));
    if let Some(at) = &status
        && let Some((mark, range)) = box_at(text, at.start, at.end)
    {
        return Some((BoxState::of(mark), Some(HeaderBox::Box(range))));
    }
    if let Some((state, mark)) = listed {
        return Some((state, Some(HeaderBox::Box(mark))));
    }
    let is_said = status.is_some_and(|at| is_done(&text[at]));
    let mut criteria = below.iter().filter_map(|line| checkbox(text, *line)).peekable();
    let are_met = criteria.peek().is_some() && criteria.all(|found| found.state.is_done());
    (is_said || are_met).then_some((BoxState::Done, None))
}

fn unindented(text: &str, line: Line) -> Line {
    Line { start: line.start + indent_of(line.of(text)), ..line }
}

/// Where the text of a Status field is, if the line is one.
fn status(text: &str, line: Line) -> Option<Range<usize>> {
    let content = line.of(text);
    let body = content.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).unwrap_or(content);
    let body = body.trim_start();
    let names = ["**Status**:", "**Status:**", "Status:"];
    let rest = names.iter().find_map(|name| {
        let head = body.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
        Some(&body[head.len()..])
    })?;
    let rest = rest.trim_start();
    Some(line.end - rest.len()..line.end)
}

/// True if a Status begins with a word or a mark for what is done.
fn is_done(status: &str) -> bool {
    let bare = status.trim_start_matches(['*', '`', '_']);
    let word: String = bare.chars().take_while(|c| c.is_alphabetic()).collect();
    bare.starts_with(['✓', '✔', '✅']) || says_done(&word)
}

//! The part of an output that is worth showing.

use std::ops::Range;

/// Stands for lines that are left out.
const GAP: &str = "…";

/// Lines of a block that are shown before others get their turn.
const BLOCK_LINES_MAX: usize = 25;

/// All of the output where it fits; else the blocks that say what fails, first things first, and then its end.
pub(super) fn excerpt(lines: &[&str], blocks: &[Range<usize>], chars_max: usize) -> String {
    let all: usize = lines.iter().map(|line| size(line)).sum();
    if all <= chars_max {
        return lines.join("\n").trim_matches('\n').to_owned();
    }
    let mut shown = vec![false; lines.len()];
    let mut ranges: Vec<&Range<usize>> = blocks.iter().collect();
    ranges.sort_by_key(|range| range.start);
    // Where nothing is known, the end is where errors are.
    let mut end = if ranges.is_empty() { chars_max } else { chars_max / 4 };
    let mut room = chars_max - end;
    mark((0..lines.len()).rev(), lines, &mut shown, &mut end);
    room += end;
    for range in ranges {
        let block = range.start..range.end.min(range.start + BLOCK_LINES_MAX).min(lines.len());
        if !mark(block, lines, &mut shown, &mut room) {
            break;
        }
    }
    if shown.contains(&true) { written(lines, &shown) } else { last_chars(lines, chars_max) }
}

/// Shows lines until the room is used up; false if it was.
fn mark(
    mut places: impl Iterator<Item = usize>,
    lines: &[&str],
    shown: &mut [bool],
    room: &mut usize,
) -> bool {
    places.all(|at| {
        // A gap may come to stand before each line, and behind the last one.
        let needed = if shown[at] { 0 } else { size(lines[at]) + 2 * size(GAP) };
        let fits = needed <= *room;
        if fits {
            *room -= needed;
            shown[at] = true;
        }
        fits
    })
}

fn last_chars(lines: &[&str], chars_max: usize) -> String {
    let last = lines.iter().rev().find(|line| !line.is_empty()).copied().unwrap_or_default();
    let count = last.chars().count();
    last.chars().skip(count.saturating_sub(chars_max)).collect()
}

fn written(lines: &[&str], shown: &[bool]) -> String {
    let mut text = String::new();
    let mut before = true;
    for (line, is_shown) in lines.iter().zip(shown) {
        if !is_shown && before {
            text.push_str(GAP);
            text.push('\n');
        }
        if *is_shown {
            text.push_str(line);
            text.push('\n');
        }
        before = *is_shown;
    }
    text.trim_matches('\n').to_owned()
}

/// The characters of a line and its line feed.
fn size(line: &str) -> usize {
    line.chars().count() + 1
}

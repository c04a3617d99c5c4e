//! `node --test`: TAP, which others write as well, and the reporter for people.

use std::ops::Range;

use crate::output::failing::Tool;
use crate::output::reading::Found;
use crate::output::text::{Place, end_of_block, first_told, indent, is_exception};

/// `not ok 1 - adds two numbers`, with a block of YAML below it.
pub(super) fn tap(lines: &[&str], found: &mut Found) {
    let mut parents: Vec<(usize, &str)> = Vec::new();
    let mut counted = Vec::new();
    let mut files = 0;
    for (at, line) in lines.iter().enumerate() {
        let depth = indent(line);
        let text = line.trim_start();
        counted.extend(count(line, ["# pass ", "# fail "]));
        let passed = line.strip_prefix("ok ").and_then(|rest| rest.split_once(" - "));
        let has_tests = at > 0 && lines[at - 1].starts_with(' ');
        files += u32::from(!has_tests && passed.is_some_and(|(_, title)| is_file(title)));
        if let Some(title) = text.strip_prefix("# Subtest: ") {
            parents.retain(|(other, _)| *other < depth);
            parents.push((depth, title));
        }
        let Some(title) = not_ok(text) else { continue };
        let titles = parents.iter().filter(|(other, _)| *other < depth).map(|(_, title)| *title);
        let titles: Vec<&str> = titles.chain([title]).collect();
        tap_test(lines, at, &titles.join(" > "), found);
    }
    if !counted.is_empty() {
        found.ran(Tool::NodeTest, counted.iter().sum::<u32>().saturating_sub(files));
    }
}

fn count(line: &str, labels: [&str; 2]) -> Option<u32> {
    labels.iter().find_map(|label| line.strip_prefix(label))?.parse().ok()
}

/// True of the title of a file, which counts as a test where there is none in it.
fn is_file(title: &str) -> bool {
    const ENDINGS: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    ENDINGS.iter().any(|ending| title.ends_with(ending)) && !title.contains(char::is_whitespace)
}

fn not_ok(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("not ok ")?;
    let title = rest.trim_start_matches(|character: char| character.is_ascii_digit()).trim_start();
    let title = title.strip_prefix("- ").unwrap_or(title);
    // What is still to be done is expected to fail.
    let mark = title.rsplit_once(" # ").and_then(|(_, mark)| mark.split(' ').next()).unwrap_or_default();
    let is_expected = mark.eq_ignore_ascii_case("todo") || mark.eq_ignore_ascii_case("skip");
    (!title.is_empty() && !is_expected).then_some(title)
}

fn tap_test(lines: &[&str], at: usize, titles: &str, found: &mut Found) {
    let has_details = lines.get(at + 1).is_some_and(|line| line.trim_start() == "---");
    let end =
        if has_details { end_of_block(lines, at + 2, |line| line.trim_start() == "...") } else { at + 1 };
    let details = &lines[at + 1..end];
    let value = |key: &str| {
        let line = details.iter().position(|line| line.trim_start().starts_with(key))?;
        Some((line, details[line].trim_start()[key.len()..].trim()))
    };
    if value("failureType:").is_some_and(|(_, kind)| kind == "'subtestsFailed'") {
        return;
    }
    let reason = match value("error:").or_else(|| value("message:")) {
        Some((line, "|-" | "|" | ">-")) => first_told(details[line + 1..].iter().copied()),
        Some((_, told)) => told.trim_matches(['\'', '"']).to_owned(),
        None => String::new(),
    };
    let location = value("location:").map(|(_, location)| location.trim_matches(['\'', '"']));
    let file = location.and_then(|location| Place::read(location).map(|place| place.file));
    add(lines, (file, titles), &reason, at..end, found);
}

/// After `✖ failing tests:`: the place, the title and the error of each.
pub(super) fn spec(lines: &[&str], found: &mut Found) {
    let mut counted = Vec::new();
    let mut files = 0;
    let mut is_listed = false;
    for (at, line) in lines.iter().enumerate() {
        counted.extend(count(line, ["ℹ pass ", "ℹ fail "]));
        let passed = line.strip_prefix("✔ ").and_then(|rest| rest.rsplit_once(" ("));
        files += u32::from(passed.is_some_and(|(title, _)| is_file(title)));
        is_listed = is_listed || *line == "✖ failing tests:";
        let Some(place) = line.strip_prefix("test at ").filter(|_| is_listed) else { continue };
        let Some(title) = lines.get(at + 1).and_then(|line| line.strip_prefix("✖ ")) else { continue };
        let end = end_of_block(lines, at + 2, |line| line.starts_with("test at "));
        let reason = first_told(lines[at + 2..end].iter().copied());
        let file = Place::read(place).map(|place| place.file);
        add(
            lines,
            (file, title.rsplit_once(" (").map_or(title, |(title, _)| title)),
            &reason,
            at..end,
            found,
        );
    }
    if !counted.is_empty() {
        found.ran(Tool::NodeTest, counted.iter().sum::<u32>().saturating_sub(files));
    }
}

fn add(
    lines: &[&str],
    (file, title): (Option<&str>, &str),
    reason: &str,
    block: Range<usize>,
    found: &mut Found,
) {
    match file {
        // A file that does not even load says why before any test does.
        _ if is_file(title) && title.contains('/') => {
            let told = lines[..block.start].iter().map(|line| line.strip_prefix("# ").unwrap_or(line));
            let told = told.into_iter().find(|line| is_exception(line)).unwrap_or(reason);
            found.unloaded(Tool::NodeTest, title, told, block);
        }
        Some(file) => found.test(Tool::NodeTest, &format!("{file} > {title}"), reason, block),
        None => found.test(Tool::NodeTest, title, reason, block),
    }
}

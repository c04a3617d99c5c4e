//! pytest and unittest.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::output::failing::Tool;
use crate::output::reading::Found;
use crate::output::text::{Place, begins_with_digit, counted, end_of_block, labelled, number};

/// The report of pytest on a test, between two titles.
struct Block {
    /// The test's name, or the file that could not be collected.
    title: String,
    is_collected: bool,
    file: Option<String>,
    reason: String,
    lines: Range<usize>,
}

impl Block {
    /// The name as pytest's summary has it, as far as the block tells.
    fn id(&self) -> String {
        let (path, parameters) = self.title.split_at(self.title.find('[').unwrap_or(self.title.len()));
        match &self.file {
            Some(file) if self.is_collected => format!("{file}::{}{parameters}", path.replace('.', "::")),
            Some(_) | None => self.title.clone(),
        }
    }
}

/// Blocks between titles of underscores, and the summary of `FAILED` and `ERROR` lines at the end.
pub(super) fn pytest(lines: &[&str], found: &mut Found) {
    let blocks = blocks(lines);
    let by_title: BTreeMap<&str, &Block> = blocks.iter().map(|block| (block.title.as_str(), block)).collect();
    let mut is_summed_up = false;
    for (at, line) in lines.iter().enumerate() {
        if let Some(tests) = pytest_count(line) {
            found.ran(Tool::Pytest, tests);
        }
        let Some((id, reason)) = summary(line) else { continue };
        is_summed_up = true;
        let title = id.split_once("::").map_or_else(|| id.to_owned(), |(_, rest)| rest.replace("::", "."));
        match by_title.get(title.as_str()) {
            Some(block) => add(found, id, block, reason),
            None if id.contains("::") => found.test(Tool::Pytest, id, reason, at..at + 1),
            None => found.unloaded(Tool::Pytest, id, reason, at..at + 1),
        }
    }
    if !is_summed_up {
        for block in &blocks {
            add(found, &block.id(), block, "");
        }
    }
}

fn add(found: &mut Found, id: &str, block: &Block, reason: &str) {
    let reason = if block.reason.is_empty() { reason } else { &block.reason };
    if block.is_collected {
        found.test(Tool::Pytest, id, reason, block.lines.clone());
    } else {
        found.unloaded(Tool::Pytest, id, reason, block.lines.clone());
    }
}

/// `FAILED tests/test_a.py::test_b - assert 0 == 4`.
fn summary(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    let (id, reason) = rest.split_once(" - ").unwrap_or((rest, ""));
    id.contains(".py").then_some((id, reason))
}

/// `=== 4 failed, 1 passed in 0.09s ===`.
fn pytest_count(line: &str) -> Option<u32> {
    if !begins_with_digit(line) && !line.starts_with("==") {
        return None;
    }
    let line = line.trim_matches(['=', ' ']);
    if !begins_with_digit(line) || !line.contains(" in ") {
        return None;
    }
    let ran = counted(line, &["passed", "failed", "error", "errors"]);
    ran.or_else(|| counted(line, &["skipped", "xfailed", "deselected"]).map(|_| 0))
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(title) = title(line) else { continue };
        let end = end_of_block(lines, at + 1, title_or_section);
        let body = &lines[at + 1..end];
        let collecting = title.strip_prefix("ERROR collecting ");
        let setup =
            ["ERROR at setup of ", "ERROR at teardown of "].iter().find_map(|kind| title.strip_prefix(kind));
        let file = body.iter().find_map(|line| Place::read(line).filter(|place| place.rest.starts_with(':')));
        blocks.push(Block {
            title: collecting.or(setup).unwrap_or(title).to_owned(),
            is_collected: collecting.is_none(),
            file: file.map(|place| place.file.to_owned()),
            reason: pytest_reason(body),
            lines: at..end,
        });
    }
    blocks
}

/// `______ test_add ______`.
fn title(line: &str) -> Option<&str> {
    let is_title = line.starts_with('_') && line.ends_with('_') && line.len() > 20;
    let title = line.trim_matches(['_', ' ']);
    (is_title && !title.is_empty()).then_some(title)
}

fn title_or_section(line: &str) -> bool {
    title(line).is_some() || (line.starts_with("===") && line.ends_with("==="))
}

/// The first line that is marked as the error; of a file that does not parse, the last.
fn pytest_reason(body: &[&str]) -> String {
    let mut errors = body.iter().filter_map(|line| line.strip_prefix("E  ")).map(str::trim);
    let first = errors.next().unwrap_or_default();
    let reason = if first.starts_with("File \"") { errors.next_back().unwrap_or(first) } else { first };
    reason.to_owned()
}

/// Blocks between rules: `FAIL: test_add (test_calc.CalcTest.test_add)`, then a traceback.
pub(super) fn unittest(lines: &[&str], found: &mut Found) {
    for (at, line) in lines.iter().enumerate() {
        let count = line.strip_prefix("Ran ").filter(|count| count.contains(" test")).and_then(number);
        if let Some((tests, _)) = count {
            let skipped = lines[at..].iter().take(4).find_map(|line| labelled(line, "skipped="));
            found.ran(Tool::Unittest, tests.saturating_sub(skipped.unwrap_or(0)));
        }
        let head = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
        let (Some(head), true) = (head, at > 0 && is_rule(lines[at - 1], '=')) else { continue };
        let body = end_of_block(lines, at + 1, |line| is_rule(line, '-')) + 1;
        let end = end_of_block(lines, body, |line| is_rule(line, '=') || is_rule(line, '-'));
        let reason = raised(lines.get(body..end).unwrap_or_default());
        let name = dotted(head);
        match name.strip_prefix("unittest.loader._FailedTest.") {
            Some(module) => found.unloaded(Tool::Unittest, module, &reason, at..end),
            None => found.test(Tool::Unittest, &name, &reason, at..end),
        }
    }
}

fn is_rule(line: &str, character: char) -> bool {
    line.len() >= 40 && line.chars().all(|other| other == character)
}

/// The whole name of a test, which older versions write apart: `test_add (test_calc.CalcTest)`.
fn dotted(head: &str) -> String {
    let Some((name, rest)) = head.split_once(" (") else { return head.to_owned() };
    let (path, more) = rest.split_once(')').unwrap_or((rest, ""));
    let is_whole = path.rsplit('.').next() == Some(name);
    if is_whole { format!("{path}{more}") } else { format!("{path}.{name}{more}") }
}

/// The exception behind the last of the tracebacks.
fn raised(body: &[&str]) -> String {
    let from = body.iter().rposition(|line| line.starts_with("Traceback (most")).unwrap_or(0);
    let raised = body[from..].iter().skip(1).find(|line| !line.is_empty() && !line.starts_with(' '));
    raised.copied().unwrap_or_default().to_owned()
}

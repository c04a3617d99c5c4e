//! Logs of failed checks: the end of the failed step, and the line in it that tells most.

use std::collections::BTreeMap;
use std::path::Path;

use engine::{CheckLog, CheckRef, ForgeReport};

use super::call::Caller;
use super::command::ForgeCommand;
use super::remote::Slug;
use super::setback::Setback;
use crate::mask::mask;

/// Lines that are kept from the end of a log, and characters of each.
const LINES_MAX: usize = 30;
const LINE_CHARS_MAX: usize = 200;

/// Reads the logs of all checks concerned. A log that is not to be had is no reason to give up: the check asks for
/// a task all the same.
pub(super) fn read_logs(caller: &Caller, slug: &Slug, checks: &[CheckRef]) -> Result<ForgeReport, Setback> {
    let mut by_run: BTreeMap<u64, String> = BTreeMap::new();
    for run in checks.iter().filter_map(|check| check.run) {
        if by_run.contains_key(&run) {
            continue;
        }
        let answer = caller.call(&ForgeCommand::failed_log(slug, run));
        if answer.is_success() {
            by_run.insert(run, answer.stdout);
        } else if let away @ Setback::Unavailable { .. } = Setback::of(&answer) {
            return Err(away);
        }
    }
    let logs = checks.iter().filter_map(|check| {
        let log = by_run.get(&check.run?)?;
        Some(excerpt(&check.label, log, caller.root()))
    });
    Ok(ForgeReport::LogsRead(logs.collect()))
}

/// The part of a run's log that is about a check: lines are `job TAB step TAB time text`.
pub(super) fn excerpt(label: &str, log: &str, root: &Path) -> CheckLog {
    let mut step = None;
    let mut lines: Vec<String> = Vec::new();
    for line in log.lines() {
        let mut parts = line.splitn(3, '\t');
        let (Some(job), Some(of_step), Some(said)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if label != job && !label.ends_with(&format!(" / {job}")) {
            continue;
        }
        if step.as_deref() != Some(of_step) {
            step = Some(of_step.to_owned());
            lines.clear();
        }
        lines.push(without_time(said).chars().take(LINE_CHARS_MAX).collect());
        if lines.len() > 4 * LINES_MAX {
            lines.drain(..2 * LINES_MAX);
        }
    }
    let from = lines.len().saturating_sub(LINES_MAX);
    let lines = &lines[from..];
    let place = lines.iter().rev().find_map(|line| place_in(line, root));
    CheckLog {
        label: label.to_owned(),
        step: step.map(|step| plan::one_line(&step)),
        summary: mask(&telling(lines)),
        tail: mask(&lines.join("\n")),
        file: place.as_ref().map(|(file, _)| file.clone()),
        line: place.map(|(_, line)| line),
    }
}

/// The text of a line without the moment that stands before it, and without what marks it for the forge's pages.
fn without_time(line: &str) -> &str {
    let line = line.trim_start_matches('\u{feff}');
    let is_time =
        |word: &str| word.len() >= 20 && word.ends_with('Z') && word.as_bytes().get(10) == Some(&b'T');
    let rest = match line.split_once(' ') {
        Some((time, rest)) if is_time(time) => rest,
        _ if is_time(line) => "",
        _ => line,
    };
    rest.strip_prefix("##[error]").unwrap_or(rest)
}

/// The last line that speaks of an error and not merely of an exit code, else the last one at all.
fn telling(lines: &[String]) -> String {
    let words = ["error", "fail", "panicked", "assert", "exception", "not found", "cannot"];
    let speaks = |line: &&String| {
        let lower = line.to_lowercase();
        words.iter().any(|word| lower.contains(word)) && !lower.contains("process completed with exit code")
    };
    let line = lines.iter().rev().find(speaks).or_else(|| lines.iter().rfind(|line| !line.trim().is_empty()));
    line.map(|line| line.trim().to_owned()).unwrap_or_default()
}

/// A file of the project that a line speaks of, as `path:line`.
fn place_in(line: &str, root: &Path) -> Option<(String, u64)> {
    line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '"' | '\'')).find_map(|word| {
        let (path, rest) = word.split_once(':')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let is_inside = !path.is_empty() && !path.starts_with('/') && !path.contains("..");
        let number = digits.parse().ok()?;
        (is_inside && root.join(path).is_file()).then(|| (path.to_owned(), number))
    })
}

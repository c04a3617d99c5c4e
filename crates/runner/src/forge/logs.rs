//! Logs of failed checks: the end of the failed step, and the line in it that tells most.

use std::collections::BTreeMap;
use std::path::Path;

use engine::{CheckLog, CheckRef, ForgeReport};

use crate::forge::call::Caller;
use crate::forge::command::ForgeCommand;
use crate::forge::remote::Slug;
use crate::forge::setback::Setback;
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
    let mut logs = Vec::new();
    for check in checks {
        let of_run = check.run.and_then(|run| by_run.get(&run));
        let log = of_run.map(|log| excerpt(&check.label, log, caller.root()));
        match log.filter(|log| !log.tail.trim().is_empty()) {
            Some(log) => logs.push(log),
            None => logs.extend(of_job(caller, slug, check)?),
        }
    }
    Ok(ForgeReport::LogsRead(logs))
}

/// The log of the job alone: that of the failed steps may have nothing, such as when the runner was lost.
fn of_job(caller: &Caller, slug: &Slug, check: &CheckRef) -> Result<Option<CheckLog>, Setback> {
    let is_job = check.run.is_some() && check.id.parse::<u64>().is_ok();
    if !is_job {
        return Ok(None);
    }
    let answer = caller.call(&ForgeCommand::job_log(slug, &check.id));
    if answer.is_success() {
        let log = whole_excerpt(&check.label, &answer.stdout, caller.root());
        return Ok(Some(log).filter(|log| !log.tail.trim().is_empty()));
    }
    match Setback::of(&answer) {
        away @ Setback::Unavailable { .. } => Err(away),
        Setback::Obstructed(_) => Ok(None),
    }
}

/// The end of a job's log, as far as the last error: what follows is tidying up.
pub(super) fn whole_excerpt(label: &str, log: &str, root: &Path) -> CheckLog {
    let lines: Vec<&str> = log.lines().collect();
    let end = lines.iter().rposition(|line| line.contains("##[error]")).map_or(lines.len(), |at| at + 1);
    let from = end.saturating_sub(LINES_MAX);
    let short = |line: &&str| without_time(line).chars().take(LINE_CHARS_MAX).collect();
    let lines: Vec<String> = lines[from..end].iter().map(short).collect();
    of_lines(label, None, &lines, root)
}

/// The part of a run's log that is about a check: lines are `job TAB step TAB time text`.
pub(super) fn excerpt(label: &str, log: &str, root: &Path) -> CheckLog {
    let (step, lines) = last_step(log, |job| is_of(label, job));
    // A job that goes by another name in the log than on its check: better too much than nothing.
    let (step, lines) = if lines.is_empty() { last_step(log, |_| true) } else { (step, lines) };
    let from = lines.len().saturating_sub(LINES_MAX);
    of_lines(label, step, &lines[from..], root)
}

fn of_lines(label: &str, step: Option<String>, lines: &[String], root: &Path) -> CheckLog {
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

/// True if a job is the one of a check: labels are reduced to harmless lines, and so are compared.
fn is_of(label: &str, job: &str) -> bool {
    let job = plan::one_line(job);
    label == job || label.ends_with(&format!(" / {job}"))
}

/// The last step of the jobs that are meant, and the end of what it said.
fn last_step(log: &str, is_meant: impl Fn(&str) -> bool) -> (Option<String>, Vec<String>) {
    let mut step = None;
    let mut lines: Vec<String> = Vec::new();
    // Lines of one job follow each other, so few names are compared.
    let mut known: Option<(&str, bool)> = None;
    for line in log.lines() {
        let mut parts = line.splitn(3, '\t');
        let (Some(job), Some(of_step), Some(said)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let meant = known.filter(|(name, _)| *name == job).map_or_else(|| is_meant(job), |(_, meant)| meant);
        known = Some((job, meant));
        if !meant {
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
    (step, lines)
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

//! `STATE.md`: which tasks were left out, noted in its body for people and agents that come later.

use std::ops::Range;
use std::path::Path;
use std::{fs, io};

use engine::{Skip, Task};
use jiff::Timestamp;
use plan::TaskId;

use crate::atomic;

const HEADING: &str = "## Skipped Tasks";
const LIST: &str = "skipped_tasks:";
const BLOCK: &str = "[SKIPPED] ";

/// Notes a skipped task, unless it is noted already: an entry in the list that is there, or in one that is made, and
/// the lines for people. Nothing else in the file changes.
pub(crate) fn note_skipped(path: &Path, task: &Task, skip: &Skip, at: Timestamp) -> io::Result<()> {
    let known = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => "# State\n".to_owned(),
        Err(error) => return Err(error),
    };
    let known = if List::find(&known).is_some() { known } else { with_list(&known) };
    let Some(list) = List::find(&known).filter(|list| !list.holds(&known, task.id())) else {
        return Ok(());
    };
    let noted = list.with(&known, &Entry::of(task.id(), skip, at));
    atomic::replace(path, with_block(&noted, &skip.block(task)))
}

/// The text with an empty list at its end.
fn with_list(known: &str) -> String {
    format!("{known}{}{HEADING}\n\n```yaml\n{LIST}\n```\n", gap(known))
}

/// The empty line before what is added at the end.
fn gap(known: &str) -> &'static str {
    if known.is_empty() || known.ends_with("\n\n") {
        ""
    } else if known.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    }
}

/// The three things that the list says of a task.
struct Entry([String; 3]);

impl Entry {
    fn of(task: &TaskId, skip: &Skip, at: Timestamp) -> Self {
        let reason = plan::one_line(&skip.reason).replace('"', "'");
        Self([
            format!("task: \"{task}\""),
            format!("reason: \"{reason}\""),
            format!("timestamp: \"{}\"", at.strftime("%Y-%m-%dT%H:%M:%SZ")),
        ])
    }
}

/// The list of skipped tasks in a text, wherever it stands.
struct List {
    /// The end of its first line, without the line break.
    key_end: usize,
    /// The value on its first line, behind the colon.
    value: Range<usize>,
    /// The lines below that belong to it.
    entries: Range<usize>,
    /// The indent of its entries.
    indent: usize,
}

impl List {
    fn find(text: &str) -> Option<Self> {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let key = line.trim_start_matches(' ');
            if key.starts_with(LIST) {
                return Some(Self::at(text, start, start + line.len() - key.len()));
            }
            start += line.len();
        }
        None
    }

    fn at(text: &str, line_start: usize, key_start: usize) -> Self {
        let outer = key_start - line_start;
        let line = text[key_start..].split('\n').next().unwrap_or_default().trim_end();
        let (key_end, from) = (key_start + line.len(), key_start + LIST.len());
        let mut entries_end = key_end + text[key_end..].find('\n').map_or(0, |at| at + 1);
        let (start, mut next) = (entries_end, entries_end);
        for line in text[start..].split_inclusive('\n') {
            let depth = depth(line);
            let is_entry = depth > outer || (depth == outer && line[depth..].starts_with("- "));
            if !is_entry && !line.trim().is_empty() {
                break;
            }
            next += line.len();
            // Empty lines behind the list are not its own.
            entries_end = if line.trim().is_empty() { entries_end } else { next };
        }
        let first = text[start..entries_end].lines().find(|line| !line.trim().is_empty());
        let indent = first.map_or(outer + 2, depth);
        Self { key_end, value: from..key_end, entries: start..entries_end, indent }
    }

    fn holds(&self, text: &str, task: &TaskId) -> bool {
        let is_it = |line: &str| {
            let id = line.trim_start().strip_prefix("- task:").map(str::trim);
            id.is_some_and(|id| id.trim_matches(['"', '\'']) == task.to_string())
        };
        text[self.entries.clone()].lines().any(is_it)
            || text[self.value.clone()].contains(&format!("\"{task}\""))
    }

    /// The text with one more entry.
    fn with(&self, text: &str, Entry(parts): &Entry) -> String {
        let value = text[self.value.clone()].trim();
        let inline = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::trim);
        if inline.is_some_and(|items| !items.is_empty()) {
            let (before, after) = text.split_at(self.key_end - 1);
            return format!("{before}, {{{}}}{after}", parts.join(", "));
        }
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let [task, more @ ..] = parts;
        let pad = " ".repeat(self.indent);
        let mut entry = format!("{pad}- {task}{ending}");
        more.iter().for_each(|part| entry.push_str(&format!("{pad}  {part}{ending}")));
        let is_nothing = matches!(value, "[]" | "null" | "~");
        let key_end = if is_nothing { self.value.start } else { self.key_end };
        let (key, between) = (&text[..key_end], &text[self.key_end..self.entries.end]);
        let broken = if between.ends_with('\n') { "" } else { ending };
        format!("{key}{between}{broken}{entry}{}", &text[self.entries.end..])
    }
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The text with the lines for people: behind those of other tasks, else behind the list, else at the end.
fn with_block(text: &str, block: &str) -> String {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let put =
        |at: usize, added: String| format!("{}{}{}", &text[..at], added.replace('\n', ending), &text[at..]);
    if let Some(last) = text.rfind(&format!("\n{BLOCK}")) {
        let own = text[last + 1..].split_inclusive('\n').enumerate();
        let own = own.take_while(|(number, line)| *number == 0 || line.starts_with("  "));
        return put(last + 1 + own.map(|(_, line)| line.len()).sum::<usize>(), format!("\n{block}"));
    }
    let after = List::find(text).map_or(text.len(), |list| list.entries.end);
    match text[after..].split_inclusive('\n').next() {
        Some(line) if line.trim() == "```" => put(after + line.len(), format!("\n```\n{block}```\n")),
        Some(_) | None => {
            let is_headed = text.lines().any(|line| line.trim_end() == HEADING);
            let heading = if is_headed { String::new() } else { format!("{HEADING}\n\n") };
            put(text.len(), format!("{}{heading}```\n{block}```\n", gap(text)))
        }
    }
}

#[cfg(test)]
mod tests;

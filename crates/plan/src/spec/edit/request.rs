//! Tasks that a pull request asks for: how one is written, where it goes, and how it is called.
//!
//! Logs and reviews are other people's texts and are made harmless first. The result is read again before it is
//! accepted, so no text can smuggle in a second task or a command.

use super::EditError;
use super::fix::line_ending;
use crate::phase::Dialect;
use crate::script::Script;
use crate::spec::plan::Plan;
use crate::spec::task::Task;
use crate::verify::Verify;
use crate::{TaskId, one_line};

/// How ids begin where neither the heading nor the tasks below it have a number.
const PLAIN_SERIES: &str = "PR.";

/// How ids begin in a plan whose tasks have none.
const UNNAMED_SERIES: &str = "#";

/// How ids begin in a plan that is never written.
const PHASE_SERIES: &str = "pr:task-";

/// Files that are listed.
const FILES_MAX: usize = 20;

/// A task that a pull request asks for.
#[derive(Clone, Debug)]
pub struct RequestTask<'a> {
    /// Its id.
    pub id: &'a TaskId,
    /// Its title.
    pub title: &'a str,
    /// The work to be done.
    pub goal: &'a str,
    /// Facts to know, a line each.
    pub details: &'a [String],
    /// The files that it is about.
    pub files: &'a [String],
    /// When it is done.
    pub done_when: &'a str,
    /// The command of the plan's author, or of who runs it, that has to be green.
    pub verify: Option<&'a Script>,
    /// The commit message.
    pub commit: &'a str,
}

impl RequestTask<'_> {
    /// The task as a block of a `tasks.md`.
    #[must_use]
    pub fn block(&self) -> String {
        let mut text = self.lines(!self.id.name().starts_with(UNNAMED_SERIES)).join("\n");
        text.push('\n');
        text
    }

    fn lines(&self, has_id: bool) -> Vec<String> {
        let id = if has_id { format!("{} ", self.id.name()) } else { String::new() };
        let mut lines = vec![
            format!("- [ ] {id}{}", one_line(self.title)),
            format!("  - **Do**: {}", one_line(self.goal)),
        ];
        let details = self.details.iter().map(|line| one_line(line)).filter(|line| !line.is_empty());
        lines.extend(details.map(|line| format!("    - {line}")));
        let files: Vec<String> =
            self.files.iter().take(FILES_MAX).map(|file| format!("`{}`", one_line(file))).collect();
        if !files.is_empty() {
            lines.push(format!("  - **Files**: {}", files.join(", ")));
        }
        lines.push(format!("  - **Done when**: {}", one_line(self.done_when)));
        lines.extend(self.verify.map(verify_lines).unwrap_or_default());
        lines.push(format!("  - **Commit**: `{}`", one_line(self.commit)));
        lines
    }
}

/// A command as the lines of a task's field, each snippet in one of its own.
pub(crate) fn verify_lines(script: &Script) -> Vec<String> {
    let mut lines = Vec::new();
    for snippet in &script.snippets {
        let longest = snippet.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        if longest == 0 && !snippet.contains('\n') {
            lines.push(format!("  - **Verify**: `{snippet}`"));
            continue;
        }
        let fence = "`".repeat(longest.max(2) + 1);
        lines.push("  - **Verify**:".to_owned());
        lines.push(format!("    {fence}bash"));
        lines.extend(snippet.lines().map(|line| format!("    {line}")));
        lines.push(format!("    {fence}"));
    }
    lines
}

impl Plan {
    /// True if the plan asks for a pull request to be looked after.
    #[must_use]
    pub fn names_pr_lifecycle(&self) -> bool {
        self.pull_request_phase().is_some()
    }

    /// How the ids of tasks in the pull request phase begin; a number follows.
    #[must_use]
    pub fn pull_request_series(&self) -> String {
        if self.dialect() == Dialect::Phase {
            return PHASE_SERIES.to_owned();
        }
        if self.is_unnamed() {
            return UNNAMED_SERIES.to_owned();
        }
        if let Some(phase) = self.pull_request_phase() {
            let heading = number_in(&self.phases()[phase].title).map(|number| format!("{number}."));
            return heading.or_else(|| self.series_in(phase)).unwrap_or_else(|| PLAIN_SERIES.to_owned());
        }
        let in_headings = self.phases().iter().filter_map(|phase| number_in(&phase.title));
        let in_ids = self.tasks.iter().filter_map(|task| leading_number(task.id.name()));
        let last = in_headings.chain(in_ids).max();
        last.and_then(|last| last.checked_add(1))
            .map_or_else(|| PLAIN_SERIES.to_owned(), |next| format!("{next}."))
    }

    /// The command by which the plan's author checks the whole: that of the last `[VERIFY]` task before the pull
    /// request phase which asks nothing of a forge.
    #[must_use]
    pub fn quality_command(&self) -> Option<Script> {
        let last = self.pull_request_phase();
        let is_before = |task: &&Task| match (task.phase, last) {
            (Some(phase), Some(last)) => phase.get() < last,
            (_, None) | (None, _) => true,
        };
        let checks = self.tasks.iter().filter(|task| task.markers.verify).filter(is_before);
        checks.rev().find_map(|task| match self.verify(task) {
            Verify::Runnable(script) if !asks_forge(&script) => Some(script),
            Verify::Runnable(_) | Verify::Prose(_) | Verify::Absent => None,
        })
    }

    /// Adds a task at the end of the pull request phase, which is begun at the plan's end where there is none.
    ///
    /// # Errors
    /// The plan is never written, the id is taken, or the text around does not allow it.
    pub fn insert_request(&mut self, request: &RequestTask<'_>) -> Result<(), EditError> {
        self.check_writable(request.id)?;
        if self.position(request.id).is_some() {
            return Err(EditError::IdTaken { id: request.id.clone() });
        }
        let edited = self.read_again(self.text_with(request));
        if !self.gained_request(&edited, request) {
            return Err(EditError::NoRoom { id: request.id.clone() });
        }
        *self = edited;
        Ok(())
    }

    fn pull_request_phase(&self) -> Option<usize> {
        self.phases().iter().rposition(crate::spec::phase::Phase::names_pr_lifecycle)
    }

    /// True if the tasks have no ids of their own.
    fn is_unnamed(&self) -> bool {
        !self.tasks.is_empty() && self.tasks.iter().all(|task| task.id.name().starts_with(UNNAMED_SERIES))
    }

    /// How the ids of the tasks in a phase begin, by the first that ends in a dot and a number.
    fn series_in(&self, phase: usize) -> Option<String> {
        let in_phase = |task: &&Task| task.phase.is_some_and(|index| index.get() == phase);
        self.tasks.iter().filter(in_phase).find_map(|task| {
            let (series, number) = task.id.name().rsplit_once('.')?;
            number.parse::<u32>().ok().map(|_| format!("{series}."))
        })
    }

    fn text_with(&self, request: &RequestTask<'_>) -> String {
        let ending = line_ending(&self.text);
        let block = request.lines(!self.is_unnamed()).join(ending);
        let phase = self.pull_request_phase();
        let in_phase = |task: &&Task| task.phase.map(crate::spec::phase::PhaseIndex::get) == phase;
        let last = phase.and_then(|_| self.tasks.iter().rfind(in_phase));
        let mut text = self.text.clone();
        match (last, phase) {
            (Some(last), _) => text.insert_str(last.block.end, &format!("{ending}{ending}{block}")),
            (None, Some(phase)) => {
                let at = self.end_of_phase(phase);
                insert_apart(&mut text, at, &block, ending);
            }
            (None, None) => {
                let at = text.len();
                let heading = format!("## {}", self.new_heading());
                insert_apart(&mut text, at, &format!("{heading}{ending}{ending}{block}"), ending);
            }
        }
        text
    }

    fn new_heading(&self) -> String {
        let series = self.pull_request_series();
        match series.trim_end_matches('.').parse::<u32>() {
            Ok(number) => format!("Phase {number}: PR Lifecycle"),
            Err(_) => "PR Lifecycle".to_owned(),
        }
    }

    /// Where the heading after a phase begins, or the end of the text.
    fn end_of_phase(&self, phase: usize) -> usize {
        let Some(next) = self.phases().get(phase + 1) else { return self.text.len() };
        let before = self.text.split_inclusive('\n').take(next.line - 1);
        before.map(str::len).sum()
    }

    /// True if the edit did what it was to do and nothing else.
    pub(super) fn gained_request(&self, edited: &Plan, request: &RequestTask<'_>) -> bool {
        let gained = edited.task(request.id).is_some_and(|task| {
            let verify = match (edited.verify(task), request.verify) {
                (Verify::Runnable(found), Some(wanted)) => found.snippets == wanted.snippets,
                (Verify::Prose(_) | Verify::Absent, None) => true,
                (Verify::Runnable(_), None) | (Verify::Prose(_) | Verify::Absent, Some(_)) => false,
            };
            verify && task.markers == crate::spec::task::Markers::default() && !task.state.is_done()
        });
        let others = edited.tasks.iter().filter(|task| task.id != *request.id);
        gained
            && edited.tasks.len() == self.tasks.len() + 1
            && self.tasks.iter().zip(others).all(|(before, after)| {
                before.id == after.id
                    && before.state == after.state
                    && self.block(before) == edited.block(after)
            })
    }
}

/// Puts a block in with an empty line before and after it.
fn insert_apart(text: &mut String, at: usize, block: &str, ending: &str) {
    let before = &text[..at];
    let gap = match (before.is_empty(), before.ends_with('\n')) {
        (true, _) => "",
        (false, true) if before.ends_with("\n\n") || before.ends_with("\n\r\n") => "",
        (false, true) => ending,
        (false, false) => &format!("{ending}{ending}"),
    };
    let after = if text[at..].is_empty() { ending.to_owned() } else { format!("{ending}{ending}") };
    let inserted = format!("{gap}{block}{after}");
    text.insert_str(at, &inserted);
}

/// The first whole number of a heading.
fn number_in(title: &str) -> Option<u32> {
    title.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| word.parse().ok())
}

fn leading_number(id: &str) -> Option<u32> {
    id.split('.').next()?.parse().ok()
}

fn asks_forge(script: &Script) -> bool {
    let mut words = script.text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | '|' | '&'));
    words.any(|word| word == "gh")
}

#[cfg(test)]
mod tests;

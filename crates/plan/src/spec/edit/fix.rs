//! Fix tasks: how one is written and where it goes.
//!
//! What an agent said is made harmless first; what the failing task says is copied as its author wrote it.
//! The result is read again before it is accepted, so no text can smuggle in a second task.

use std::collections::BTreeSet;

use super::EditError;
use super::error_type::ErrorType;
use crate::markdown::{LineKind, regions};
use crate::spec::fields::{FieldName, RawField, raw_fields};
use crate::spec::plan::Plan;
use crate::spec::task::Task;
use crate::verify::Verify;
use crate::{TaskId, one_line, summary};

/// A fix task that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct FixTask<'a> {
    /// Its id; see [`Plan::next_fix_id`].
    pub id: &'a TaskId,
    /// The task that it repairs.
    pub failing: &'a TaskId,
    /// The error, in an agent's words.
    pub error: &'a str,
    /// The fix that was tried, in an agent's words.
    pub attempted_fix: Option<&'a str>,
    /// The kind of error.
    pub kind: ErrorType,
}

impl Plan {
    /// Inserts a fix task after the failing task, its earlier fixes and theirs.
    ///
    /// # Errors
    /// The failing task is unknown, the plan is never written, the id is taken, or the text around does not allow it.
    pub fn insert_fix(&mut self, fix: &FixTask<'_>) -> Result<(), EditError> {
        let Some(position) = self.position(fix.failing) else {
            return Err(EditError::UnknownTask { id: fix.failing.clone() });
        };
        self.check_writable(fix.id)?;
        if self.position(fix.id).is_some() {
            return Err(EditError::IdTaken { id: fix.id.clone() });
        }
        let last = self.last_fix(position);
        for inheritance in [Inheritance::AsWritten, Inheritance::Rewritten, Inheritance::Nothing] {
            let edited = self.with_fix(fix, position, last, inheritance);
            if self.gained_only(&edited, fix, position, last) {
                *self = edited;
                return Ok(());
            }
        }
        Err(EditError::DoesNotFit { id: fix.id.clone(), failing: fix.failing.clone() })
    }

    /// The last task of the unbroken row of fixes, and fixes of fixes, that follows a task.
    pub(super) fn last_fix(&self, position: usize) -> usize {
        let mut family: BTreeSet<&str> = BTreeSet::from([self.tasks[position].id.name()]);
        let mut last = position;
        for (at, task) in self.tasks.iter().enumerate().skip(position + 1) {
            let Some(target) = task.markers.fix_of.as_deref() else { break };
            if !family.contains(target) {
                break;
            }
            family.insert(task.id.name());
            last = at;
        }
        last
    }

    fn with_fix(&self, fix: &FixTask<'_>, position: usize, last: usize, inheritance: Inheritance) -> Plan {
        let failing = &self.tasks[position];
        let ending = line_ending(&self.text);
        let mut insertion = String::from(ending);
        if self.has_gaps(position, last) {
            insertion.push_str(ending);
        }
        let margin = self.margin(failing);
        let lines = self.render(fix, failing, inheritance);
        let lines: Vec<String> = lines.iter().map(|line| format!("{margin}{line}")).collect();
        insertion.push_str(&lines.join(ending));
        let mut text = self.text.clone();
        text.insert_str(self.tasks[last].block.end, &insertion);
        self.read_again(text)
    }

    /// True if blank lines stand between the tasks around the place.
    pub(super) fn has_gaps(&self, position: usize, last: usize) -> bool {
        let gap = |from: &Task, to: &Task| {
            let between = self.text.get(from.block.end..to.block.start).unwrap_or_default();
            between.matches('\n').count() > 1
        };
        let tasks = &self.tasks;
        if tasks[position].is_header() {
            return true;
        }
        let same_phase = |other: &&Task| other.phase == tasks[position].phase;
        match (tasks.get(last + 1).filter(same_phase), position.checked_sub(1).map(|before| &tasks[before])) {
            (Some(next), _) => gap(&tasks[last], next),
            (None, Some(before)) if before.phase == tasks[position].phase => gap(before, &tasks[position]),
            (None, _) => tasks.windows(2).next().is_none_or(|pair| gap(&pair[0], &pair[1])),
        }
    }

    /// True if the edit did what it was to do and nothing else.
    fn gained_only(&self, edited: &Plan, fix: &FixTask<'_>, position: usize, last: usize) -> bool {
        let new = last + 1;
        let gained = edited.tasks.get(new).is_some_and(|task| {
            task.id == *fix.id
                && task.markers.fix_of.as_deref() == Some(fix.failing.name())
                && self.same_verify(&self.tasks[position], edited, task)
        });
        let others = edited.tasks.iter().enumerate().filter(|(at, _)| *at != new).map(|(_, task)| task);
        gained
            && edited.tasks.len() == self.tasks.len() + 1
            && self.tasks.iter().zip(others).all(|(before, after)| {
                before.id == after.id
                    && before.state == after.state
                    && before.markers == after.markers
                    && self.block(before) == edited.block(after)
            })
    }

    fn same_verify(&self, failing: &Task, edited: &Plan, task: &Task) -> bool {
        match (self.verify(failing), edited.verify(task)) {
            (Verify::Runnable(before), Verify::Runnable(after)) => before == after,
            // Prose may be laid out anew; what matters is that it does not become a command.
            (Verify::Prose(_) | Verify::Absent, Verify::Prose(_) | Verify::Absent) => true,
            (Verify::Runnable(_), Verify::Prose(_) | Verify::Absent)
            | (Verify::Prose(_) | Verify::Absent, Verify::Runnable(_)) => false,
        }
    }

    /// The lines of a fix task.
    fn render(&self, fix: &FixTask<'_>, failing: &Task, inheritance: Inheritance) -> Vec<String> {
        let block = self.block(failing);
        let regions = regions(block);
        let fields = raw_fields(block, &regions);
        let layout = Layout::of(block, failing, &fields);
        let name = failing.id.name();
        let error = Some(one_line(fix.error)).filter(|error| !error.is_empty());
        let title = error.as_deref().map_or_else(|| format!("task {name} failure"), summary);
        let error = error.unwrap_or_else(|| "Task execution failed".to_owned());
        let attempted = fix.attempted_fix.map(one_line).filter(|attempted| !attempted.is_empty());
        let attempted = attempted.unwrap_or_else(|| "No previous fix attempted".to_owned());
        let Layout { bullet, field, step } = &layout;
        let mut lines = vec![
            format!("{bullet} [ ] {} [FIX {name}] Fix: {title}", fix.id.name()),
            format!("{field}{bullet} **Do**: Address the error: {error}"),
            format!("{step}1. Analyze the failure: {attempted}"),
            format!("{step}2. Review related code in Files list"),
            format!("{step}3. Implement fix for: {error}"),
        ];
        let heir = Heir { plan: self, failing, block, fields: &fields, layout: &layout, inheritance };
        lines.extend(heir.files(name));
        lines.push(format!(
            "{field}{bullet} **Done when**: Error \"{error}\" no longer occurs{}",
            heir.done_when()
        ));
        lines.extend(heir.verify());
        let kind = fix.kind;
        lines.push(format!("{field}{bullet} **Commit**: `fix(recovery): address {kind} from task {name}`"));
        lines
    }
}

pub(super) fn line_ending(text: &str) -> &'static str {
    if text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

/// How a fix task takes over the fields of the task that it repairs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inheritance {
    /// Byte for byte, apart from indentation.
    AsWritten,
    /// In a plain form that says the same.
    Rewritten,
    /// Not at all.
    Nothing,
}

/// How the lines of a fix task begin, after the task that it repairs.
struct Layout {
    bullet: char,
    /// The text before a field.
    field: String,
    /// The text before a step.
    step: String,
}

impl Layout {
    fn of(block: &str, failing: &Task, fields: &[RawField<'_>]) -> Self {
        let own = block.chars().next().filter(|c| !failing.is_header() && matches!(c, '-' | '*' | '+'));
        let field = fields.iter().map(|field| field.indent).find(|indent| !indent.is_empty()).unwrap_or("  ");
        let field = if failing.is_header() { "  " } else { field };
        let step = if field.starts_with('\t') { format!("{field}\t") } else { format!("{field}  ") };
        Layout { bullet: own.unwrap_or('-'), field: field.to_owned(), step }
    }
}

/// The parts that a fix task takes over.
struct Heir<'a> {
    plan: &'a Plan,
    failing: &'a Task,
    block: &'a str,
    fields: &'a [RawField<'a>],
    layout: &'a Layout,
    inheritance: Inheritance,
}

impl Heir<'_> {
    fn line(&self, label: &str, text: &str) -> String {
        format!("{}{} **{label}**: {text}", self.layout.field, self.layout.bullet)
    }

    fn field(&self, name: FieldName<'_>) -> Option<&RawField<'_>> {
        self.fields
            .iter()
            .find(|field| field.name == name && !self.block[field.text.clone()].trim().is_empty())
    }

    fn files(&self, name: &str) -> Vec<String> {
        let fallback = || vec![self.line("Files", &format!("Same as task {name}"))];
        match (self.inheritance, self.field(FieldName::Files)) {
            (Inheritance::AsWritten, Some(field)) => self.copy("Files", field),
            (Inheritance::Rewritten, Some(_)) => {
                let paths = self.plan.fields(self.failing).files.unwrap_or_default().paths;
                let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", one_line(path))).collect();
                if paths.is_empty() { fallback() } else { vec![self.line("Files", &paths.join(", "))] }
            }
            (Inheritance::Nothing, Some(_)) | (_, None) => fallback(),
        }
    }

    /// Where nothing verifies the failing task but its Done when, the fix has to meet that, too.
    fn done_when(&self) -> String {
        match self.plan.verify(self.failing) {
            Verify::Runnable(_) | Verify::Prose(_) => String::new(),
            Verify::Absent => {
                let done = self
                    .plan
                    .fields(self.failing)
                    .done_when
                    .map(|text| one_line(&text))
                    .filter(|text| !text.is_empty());
                done.map_or(String::new(), |done| format!("; {done}"))
            }
        }
    }

    fn verify(&self) -> Vec<String> {
        match (self.inheritance, self.plan.verify(self.failing)) {
            (_, Verify::Absent) | (Inheritance::Nothing, Verify::Prose(_)) => Vec::new(),
            (Inheritance::AsWritten, Verify::Runnable(_) | Verify::Prose(_)) => {
                let fields = self.fields.iter().filter(|field| field.name == FieldName::Verify);
                fields.flat_map(|field| self.copy("Verify", field)).collect()
            }
            (Inheritance::Rewritten, Verify::Prose(text)) => vec![self.line("Verify", &one_line(&text))],
            (Inheritance::Rewritten | Inheritance::Nothing, Verify::Runnable(script)) => {
                script.snippets.iter().flat_map(|snippet| self.fenced(snippet)).collect()
            }
        }
    }

    /// A command in a code fence of its own that no backticks in it can close.
    fn fenced(&self, snippet: &str) -> Vec<String> {
        let longest = snippet.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let step = &self.layout.step;
        let mut lines = vec![self.line("Verify", "").trim_end().to_owned(), format!("{step}{fence}bash")];
        lines.extend(snippet.lines().map(|line| format!("{step}{line}")));
        lines.push(format!("{step}{fence}"));
        lines
    }

    /// The lines of a field, moved to where the fix task's fields are.
    fn copy(&self, label: &str, field: &RawField<'_>) -> Vec<String> {
        let text = &self.block[field.text.clone()];
        let mut copied = Vec::new();
        let target =
            if field.bullet.is_some() { self.layout.field.as_str() } else { self.layout.step.as_str() };
        for (at, line) in text.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            let kind = field.kinds.get(at).copied().unwrap_or(LineKind::Text);
            copied.push(match (at, kind) {
                (0, _) => self.line(label, line.trim()).trim_end().to_owned(),
                (_, LineKind::Continuation) => line.to_owned(),
                (_, _) if line.trim().is_empty() => String::new(),
                (_, _) => move_indent(line, field.indent, target),
            });
        }
        copied
    }
}

/// Replaces the indentation `from` at the start of a line by `to`.
fn move_indent(line: &str, from: &str, to: &str) -> String {
    let rest = line.strip_prefix(from).unwrap_or_else(|| line.trim_start());
    format!("{to}{rest}")
}

#[cfg(test)]
mod tests;

//! A plan: the text as its author wrote it and the tasks found in it.

use std::borrow::Cow;

use super::boxes::OtherBox;
use super::fields::{self, Fields};
use super::parse::{Parsed, parse, parse_foreign};
use super::phase::Phase;
use super::prose;
use super::task::{Form, HeaderBox, Task};
use crate::format::{Format, Reading};
use crate::phase::{self, Head};
use crate::problem::Problem;
use crate::verify::{Verify, classify};
use crate::{TaskId, spec::lint};

/// A `tasks.md` or a `*-PLAN.md`: its text, byte for byte, and what it means.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) text: String,
    pub(super) tasks: Vec<Task>,
    phases: Vec<Phase>,
    problems: Vec<Problem>,
    strays: Vec<Problem>,
    asides: Vec<Problem>,
    pub(super) boxes: Vec<OtherBox>,
    reading: Reading,
    /// Positions in `tasks`, ordered by id.
    index: Vec<u32>,
    /// The parts that only a `*-PLAN.md` has.
    head: Option<Box<Head>>,
}

/// What is before the check of a phase in the text of its last task.
pub(super) const PHASE_CHECK: &str = "of the phase: ";

/// Where the proof of a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// In a field of its own.
    Field,
    /// In the words of the task.
    Text,
    /// With the phase that it is the last task of.
    Phase,
    /// In the settings, for all tasks that have none.
    Settings,
    /// Nowhere: somebody judges it.
    Judge,
}

impl Rung {
    fn of_field(verify: Verify) -> (Verify, Self) {
        let rung = if matches!(verify, Verify::Runnable(_)) { Self::Field } else { Self::Judge };
        (verify, rung)
    }
}

impl Plan {
    /// Reads a `tasks.md`. What cannot be understood becomes a problem, never an error.
    #[must_use]
    pub fn parse(text: String) -> Plan {
        Plan::read(Reading::default(), text)
    }

    /// Reads a `tasks.md` of any tool.
    pub(crate) fn read(reading: Reading, text: String) -> Plan {
        let parsed = if reading.format.is_foreign() {
            parse_foreign(&text, reading)
        } else {
            parse(&text, reading.format)
        };
        let Parsed { tasks, phases, problems, strays, asides, boxes, index } = parsed;
        Plan { text, tasks, phases, problems, strays, asides, boxes, reading, index, head: None }
    }

    /// Reads another text as this one was read.
    pub(super) fn read_again(&self, text: String) -> Plan {
        Plan::read(self.reading, text)
    }

    /// How its text is read.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// A `*-PLAN.md` that was read elsewhere.
    pub(crate) fn of_blocks(text: String, tasks: Vec<Task>, problems: Vec<Problem>, head: Head) -> Plan {
        let mut index: Vec<u32> = (0..).take(tasks.len()).collect();
        index.sort_by(|&left, &right| tasks[left as usize].id.cmp(&tasks[right as usize].id));
        Plan {
            text,
            tasks,
            phases: Vec::new(),
            problems,
            strays: Vec::new(),
            asides: Vec::new(),
            boxes: Vec::new(),
            reading: Reading::of(Format::Phase),
            index,
            head: Some(Box::new(head)),
        }
    }

    pub(crate) fn head(&self) -> Option<&Head> {
        self.head.as_deref()
    }

    /// The text, byte for byte as it came in, with the edits made since.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tasks in the order of the file.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The phases in the order of the file.
    #[must_use]
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The phase that a task is in.
    #[must_use]
    pub fn phase(&self, task: &Task) -> Option<&Phase> {
        self.phases.get(task.phase?.get())
    }

    /// The problems that were found when the text was read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Warnings about unticked boxes that stand among the tasks and are none, as they have no id.
    #[must_use]
    pub fn stray_boxes(&self) -> &[Problem] {
        &self.strays
    }

    /// Warnings about all other boxes that are neither tasks nor part of one: in lists of their own, or ticked.
    #[must_use]
    pub fn other_boxes(&self) -> &[Problem] {
        &self.asides
    }

    /// Warnings about the tasks' verify commands; see [`problems`](Plan::problems) for the rest.
    #[must_use]
    pub fn lint(&self) -> Vec<Problem> {
        lint::lint(self)
    }

    /// The task with this id.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.position(id).map(|position| &self.tasks[position])
    }

    /// Where in [`tasks`](Plan::tasks) the task with this id is.
    #[must_use]
    pub fn position(&self, id: &TaskId) -> Option<usize> {
        let found = self.index.binary_search_by(|&position| self.tasks[position as usize].id.cmp(id)).ok()?;
        Some(self.index[found] as usize)
    }

    /// A task's whole block, byte for byte, without the blank lines and rules that follow it.
    #[must_use]
    pub fn block(&self, task: &Task) -> &str {
        self.text.get(task.block.clone()).unwrap_or_default()
    }

    /// The text after the first line of a task's block, with a box that is the task's own emptied.
    #[must_use]
    pub fn body(&self, task: &Task) -> Cow<'_, str> {
        let block = self.block(task);
        let start = task.block.start + block.find('\n').unwrap_or(block.len());
        let body = &self.text[start..task.block.start + block.len()];
        match &task.form {
            Form::Header(HeaderBox::Box(mark)) if start <= mark.start && mark.end <= task.block.end => {
                let mut emptied = body.to_owned();
                emptied.replace_range(mark.start - start..mark.end - start, " ");
                Cow::Owned(emptied)
            }
            Form::Header(_) | Form::Checkbox(_) | Form::Element => Cow::Borrowed(body),
        }
    }

    /// A task's description without its id and markers.
    #[must_use]
    pub fn title(&self, task: &Task) -> &str {
        self.text.get(task.title.clone()).unwrap_or_default()
    }

    /// The white space before a task's block, by which it stands below another box.
    pub(super) fn margin(&self, task: &Task) -> &str {
        let before = &self.text[..task.block.start];
        let margin = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
        if margin.trim().is_empty() { margin } else { "" }
    }

    /// A task's block, and where it is the last of a phase that is checked as a whole, how that is done.
    #[must_use]
    pub fn full_block(&self, task: &Task) -> Cow<'_, str> {
        let block = self.block(task);
        let checks = match self.phase(task) {
            Some(phase) if !phase.checks.is_empty() && self.is_last_of_phase(task) => &phase.checks,
            Some(_) | None => return Cow::Borrowed(block),
        };
        let lines = checks.iter().map(|check| format!("\n  - {PHASE_CHECK}{check}"));
        Cow::Owned(std::iter::once(block.trim_end().to_owned()).chain(lines).collect())
    }

    /// True if no other task of its phase comes after it. Fix tasks do not count.
    fn is_last_of_phase(&self, task: &Task) -> bool {
        let own = self.position(&task.id).unwrap_or_default();
        let later = self.tasks.get(own + 1..).unwrap_or_default();
        !task.is_fix()
            && later.iter().find(|other| !other.is_fix()).is_none_or(|next| next.phase != task.phase)
    }

    /// A task's fields.
    #[must_use]
    pub fn fields(&self, task: &Task) -> Fields {
        match self.head {
            Some(_) => phase::read_fields(self.block(task)),
            None => {
                let mut fields = fields::read(self.block(task));
                if self.reading.format.is_foreign() {
                    prose::complete(self.block(task), &mut fields);
                }
                fields
            }
        }
    }

    /// How a task is verified.
    #[must_use]
    pub fn verify(&self, task: &Task) -> Verify {
        self.proof(task).0
    }

    /// How a task is verified, and where that stands.
    #[must_use]
    pub fn proof(&self, task: &Task) -> (Verify, Rung) {
        if self.head.is_some() {
            return Rung::of_field(phase::read_verify(self.block(task)));
        }
        let block = self.block(task);
        let field = fields::verify_text(block).map_or(Verify::Absent, |text| classify(&text));
        if !self.reading.format.is_foreign() || matches!(field, Verify::Runnable(_)) {
            return Rung::of_field(field);
        }
        if let Some(of_text) = prose::verify(block) {
            return (of_text, Rung::Text);
        }
        match prose::verify_of_phase(&self.full_block(task)) {
            Some(of_phase) => (of_phase, Rung::Phase),
            None => Rung::of_field(field),
        }
    }

    /// The id that the next fix of this task gets: its own, a dot, and the next free number.
    #[must_use]
    pub fn next_fix_id(&self, failing: &TaskId) -> TaskId {
        (1..)
            .map(|n| failing.child(n))
            .find(|id| self.position(id).is_none())
            .unwrap_or_else(|| failing.child(0))
    }
}

//! A plan: the text as its author wrote it and the tasks found in it.

use std::borrow::Cow;

use super::fields::{self, Fields};
use super::parse::{Parsed, parse};
use super::phase::Phase;
use super::task::{Form, HeaderBox, Task};
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
    /// Positions in `tasks`, ordered by id.
    index: Vec<u32>,
    /// The parts that only a `*-PLAN.md` has.
    head: Option<Box<Head>>,
}

impl Plan {
    /// Reads a `tasks.md`. What cannot be understood becomes a problem, never an error.
    #[must_use]
    pub fn parse(text: String) -> Plan {
        let Parsed { tasks, phases, problems, strays, asides, index } = parse(&text);
        Plan { text, tasks, phases, problems, strays, asides, index, head: None }
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

    /// A task's fields.
    #[must_use]
    pub fn fields(&self, task: &Task) -> Fields {
        match self.head {
            Some(_) => phase::read_fields(self.block(task)),
            None => fields::read(self.block(task)),
        }
    }

    /// How a task is verified.
    #[must_use]
    pub fn verify(&self, task: &Task) -> Verify {
        match self.head {
            Some(_) => phase::read_verify(self.block(task)),
            None => fields::verify_text(self.block(task)).map_or(Verify::Absent, |text| classify(&text)),
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

//! One task: what is known of it without reading its fields.

use std::ops::Range;

use super::boxes::GroupIndex;
use super::phase::PhaseIndex;
use crate::TaskId;
use crate::phase::TaskType;

/// The state that a task's box shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoxState {
    /// `[ ]`, or a header without a box.
    Open,
    /// `[x]` or `[X]`.
    Done,
    /// Any other character, such as `[~]`: not finished.
    Other(char),
}

impl BoxState {
    /// True if the task is finished.
    #[must_use]
    pub fn is_done(self) -> bool {
        self == BoxState::Done
    }

    pub(crate) fn of(mark: char) -> Self {
        match mark {
            ' ' => BoxState::Open,
            'x' | 'X' => BoxState::Done,
            other => BoxState::Other(other),
        }
    }

    pub(crate) fn mark(self) -> char {
        match self {
            BoxState::Open => ' ',
            BoxState::Done => 'x',
            BoxState::Other(mark) => mark,
        }
    }
}

/// The markers around a task's id. Others than these are part of the title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    /// `[P]`: may run beside its neighbours.
    pub parallel: bool,
    /// `[VERIFY]` or `[VERIFY:…]`: checks what was done before.
    pub verify: bool,
    /// The word after the colon of `[VERIFY:…]`.
    pub verify_kind: Option<Box<str>>,
    /// `[FIX 1.3]`: the name of the task that this one repairs.
    pub fix_of: Option<Box<str>>,
    /// `[FIX]` without a name.
    pub fix_bare: bool,
    /// `[RED]`: a test that must fail at first.
    pub red: bool,
    /// `[GREEN]`: makes the test pass.
    pub green: bool,
    /// `[YELLOW]`: cleans up.
    pub yellow: bool,
    /// `[US1]`: the user story that it belongs to.
    pub story: Option<Box<str>>,
}

impl Markers {
    /// True if the task may be part of a parallel batch; checks never are.
    #[must_use]
    pub fn runs_parallel(&self) -> bool {
        self.parallel && !self.verify
    }

    /// Takes in what stands between two brackets; false if it is not a known marker.
    pub(super) fn take(&mut self, inside: &str) -> bool {
        match inside {
            "P" => self.parallel = true,
            "VERIFY" => self.verify = true,
            "FIX" => self.fix_bare = true,
            "RED" => self.red = true,
            "GREEN" => self.green = true,
            "YELLOW" => self.yellow = true,
            other => return self.take_with_argument(other),
        }
        true
    }

    fn take_with_argument(&mut self, inside: &str) -> bool {
        if let Some(kind) = inside.strip_prefix("VERIFY:") {
            self.verify = true;
            self.verify_kind = Some(kind.trim().into());
            return true;
        }
        if inside
            .strip_prefix("US")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        {
            self.story = Some(inside.into());
            return true;
        }
        let target = inside.strip_prefix("FIX").and_then(|rest| rest.strip_prefix([' ', ':', '\t']));
        let target = target
            .map(str::trim)
            .filter(|target| !target.is_empty() && !target.contains(char::is_whitespace));
        if let Some(target) = target {
            self.fix_of = Some(target.into());
        }
        target.is_some()
    }
}

/// How a task is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A checkbox; where the character between the brackets is.
    Checkbox(Range<usize>),
    /// A heading, `### Task 1.1: title [x]`.
    Header(HeaderBox),
    /// A `<task>`, which has no box.
    Element,
}

/// Where a header keeps its tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeaderBox {
    /// The character between brackets.
    Box(Range<usize>),
    /// A check mark at the end, with the space before it.
    CheckMark(Range<usize>),
    /// A box that was appended while the plan is in memory, with the space before it.
    Appended(Range<usize>),
    /// None yet; where one would be appended.
    Missing(usize),
}

/// A task of a plan: identity, state and where its text is. Its parts are read through the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The task's identity within its plan.
    pub id: TaskId,
    /// The state that its box shows.
    pub state: BoxState,
    /// Its markers.
    pub markers: Markers,
    /// The phase it is in.
    pub phase: Option<PhaseIndex>,
    /// Its first line, counted from one.
    pub line: usize,
    /// Its kind of work.
    pub type_: TaskType,
    pub(crate) form: Form,
    pub(crate) block: Range<usize>,
    pub(crate) title: Range<usize>,
    /// The box above it that is ticked once all tasks below that are done.
    pub(crate) group: Option<GroupIndex>,
}

impl Task {
    /// True if it is written as a heading rather than as a checkbox.
    #[must_use]
    pub fn is_header(&self) -> bool {
        matches!(self.form, Form::Header(_))
    }

    /// True if it repairs another task.
    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.markers.fix_of.is_some() || self.markers.fix_bare
    }
}

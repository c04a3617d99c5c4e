//! What has to wait for what. A plan says so in several ways: by the order of its tasks, by markers, phases and
//! waves, by declared dependencies, by the files that tasks are about. All of them are read here and nowhere else,
//! for the scheduler as well as for people who ask why something waits.

mod claims;
mod entries;
mod free;
mod pattern;
mod waits;

use std::collections::BTreeSet;

use plan::{ANY_FILE, Dialect, TaskId};

use crate::rules::{Rules, Toggle};
use crate::task::{TaskDecl, TaskKind};
use claims::Claims;

pub(crate) use free::{Free, Part, Standing};
pub use waits::Waits;

/// Why a task waits for an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The earlier task.
    pub by: TaskId,
    /// Why.
    pub why: Why,
}

/// Why one task comes after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The plan lists it later, and nothing says that it could run beside the other.
    Sequence,
    /// It is in a later phase or wave.
    Stage,
    /// It is declared to depend on the other.
    Declared,
    /// Both are about this file; [`ANY_FILE`] where one of them may be about any.
    Overlap(String),
    /// A file can be meant by what each of them names.
    MayOverlap {
        /// What the later task names.
        own: String,
        /// What the earlier one does.
        other: String,
    },
    /// One of them verifies, or asks a person, and stands for all that came before.
    Barrier,
}

impl Why {
    /// The reason in words, for people.
    pub fn words(&self) -> String {
        match self {
            Self::Sequence => "the plan lists it later".to_owned(),
            Self::Stage => "it is in a later part of the plan".to_owned(),
            Self::Declared => "it is declared to depend on it".to_owned(),
            Self::Overlap(file) if file == ANY_FILE => "one of them may be about any file".to_owned(),
            Self::Overlap(file) => format!("both are about {file}"),
            Self::MayOverlap { own, other } => format!("{own} and {other} can be about the same file"),
            Self::Barrier => "a verification or a checkpoint stands alone".to_owned(),
        }
    }
}

/// The tasks that are not settled, seen in the plan's order: what comes next may have to wait for them.
#[derive(Debug)]
pub struct Open<'a> {
    dialect: Dialect,
    infer: Toggle,
    ids: BTreeSet<&'a TaskId>,
    /// The latest task of each kind that others wait for, whatever they are about.
    last: Option<&'a TaskDecl>,
    last_barrier: Option<&'a TaskDecl>,
    last_unmarked: Option<&'a TaskDecl>,
    last_without_files: Option<&'a TaskDecl>,
    last_unmarked_without_files: Option<&'a TaskDecl>,
    first_stage: Option<&'a TaskDecl>,
    claims: Claims<'a>,
}

impl<'a> Open<'a> {
    /// No task yet.
    pub fn new(rules: &Rules) -> Self {
        Self {
            dialect: rules.dialect,
            infer: rules.parallel.infer,
            ids: BTreeSet::new(),
            last: None,
            last_barrier: None,
            last_unmarked: None,
            last_without_files: None,
            last_unmarked_without_files: None,
            first_stage: None,
            claims: Claims::default(),
        }
    }

    /// Why a task that comes after all of these has to wait, if it has to.
    pub fn hold(&self, task: &TaskDecl) -> Option<Hold> {
        if let Some(by) = task.depends_on.iter().find(|id| self.ids.contains(id)) {
            return Some(Hold { by: by.clone(), why: Why::Declared });
        }
        match self.dialect {
            Dialect::Spec => self.hold_in_spec(task),
            Dialect::Phase => self.hold_among_plans(task),
        }
    }

    fn hold_in_spec(&self, task: &TaskDecl) -> Option<Hold> {
        let held = |by: Option<&TaskDecl>, why: Why| by.map(|by| Hold { by: by.id.clone(), why });
        if is_barrier(task) {
            return held(self.last, Why::Barrier);
        }
        let of_stage = self.first_stage.filter(|first| first.stage != task.stage);
        let by_inference = self.infer.is_on() && !task.files.is_empty();
        let sequence = match (task.parallel, by_inference) {
            (true, true) => self.last_unmarked_without_files,
            (true, false) => self.last_unmarked,
            (false, true) => self.last_without_files,
            (false, false) => self.last,
        };
        held(of_stage, Why::Stage)
            .or_else(|| held(self.last_barrier, Why::Barrier))
            .or_else(|| held(sequence, Why::Sequence))
            .or_else(|| self.overlap(task))
    }

    /// Plans of one wave of a phase run side by side; their own tasks are declared to follow each other.
    fn hold_among_plans(&self, task: &TaskDecl) -> Option<Hold> {
        let earlier = self.first_stage.filter(|first| first.stage < task.stage && !self.infer.is_on());
        let of_stage = earlier.map(|by| Hold { by: by.id.clone(), why: Why::Stage });
        of_stage.or_else(|| self.overlap(task))
    }

    fn overlap(&self, task: &TaskDecl) -> Option<Hold> {
        task.files.iter().find_map(|file| self.claims.find(file))
    }

    /// Adds a task that comes after all of these.
    pub fn add(&mut self, task: &'a TaskDecl) {
        self.ids.insert(&task.id);
        self.last = Some(task);
        if self.first_stage.is_none_or(|first| task.stage < first.stage) {
            self.first_stage = Some(task);
        }
        if is_barrier(task) {
            self.last_barrier = Some(task);
        }
        if !task.parallel {
            self.last_unmarked = Some(task);
        }
        if task.files.is_empty() {
            self.last_without_files = Some(task);
            if !task.parallel {
                self.last_unmarked_without_files = Some(task);
            }
        }
        self.claims.add(task);
    }

    /// Whether everything that comes later in a spec has to wait for what is here.
    pub(crate) fn holds_all(&self) -> bool {
        self.dialect == Dialect::Spec
            && (self.last_barrier.is_some() || (self.last_unmarked.is_some() && !self.infer.is_on()))
    }
}

/// Whether a task stands for all that came before it, so that nothing runs beside it.
fn is_barrier(task: &TaskDecl) -> bool {
    match task.kind {
        TaskKind::Work => false,
        TaskKind::Verify | TaskKind::Checkpoint => true,
    }
}

#[cfg(test)]
mod tests;

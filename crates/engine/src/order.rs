//! The order of tasks: what has to wait for what. A plan says so in several ways: by listing tasks one after another, by
//! markers, phases and waves, by declared dependencies, by the files that tasks are about. All of them are read here and
//! nowhere else, for the scheduler as well as for people who ask why something waits.

mod claims;
mod pattern;
mod queue;
mod waits;

use plan::{ANY_FILE, Dialect, TaskId};

use crate::rules::Rules;
use crate::task::{TaskDecl, TaskKind};

pub(crate) use queue::{Part, ReadyQueue};
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
        /// The entry of the later task.
        own: String,
        /// The entry of the earlier one.
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

/// Why a task waits for an earlier one, were there only the two: this alone says what waits for what, and a task waits
/// as long as there is one that it waits for.
pub fn why(rules: &Rules, earlier: &TaskDecl, later: &TaskDecl) -> Option<Why> {
    if later.depends_on.contains(&earlier.id) {
        return Some(Why::Declared);
    }
    Kind::of(later).waits_for(Kind::of(earlier), rules).or_else(|| claims::overlap(earlier, later))
}

/// The part of a task's declaration that decides who waits for it, and for whom it waits, whatever files it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    stage: u32,
    is_barrier: bool,
    is_marked: bool,
    has_files: bool,
}

impl Kind {
    fn of(task: &TaskDecl) -> Self {
        let (is_marked, has_files) = (task.parallel, !task.files.is_empty());
        Self { stage: task.stage, is_barrier: is_barrier(task), is_marked, has_files }
    }

    /// Why a task of this kind waits for one of another kind that comes before it.
    fn waits_for(self, earlier: Self, rules: &Rules) -> Option<Why> {
        let infers = rules.parallel.infer.is_on();
        if rules.dialect == Dialect::Phase {
            // Plans of one wave run side by side; their own tasks are declared to follow each other.
            return (earlier.stage < self.stage && !infers).then_some(Why::Stage);
        }
        let is_beside = self.is_marked && earlier.is_marked;
        let is_inferred = infers && self.has_files && earlier.has_files;
        if self.is_barrier {
            Some(Why::Barrier)
        } else if earlier.stage != self.stage {
            Some(Why::Stage)
        } else if earlier.is_barrier {
            Some(Why::Barrier)
        } else {
            (!is_beside && !is_inferred).then_some(Why::Sequence)
        }
    }
}

/// True if a task stands for all that came before it, so that nothing runs beside it.
fn is_barrier(task: &TaskDecl) -> bool {
    match task.kind {
        TaskKind::Work => false,
        TaskKind::Verify | TaskKind::Checkpoint => true,
    }
}

#[cfg(test)]
mod tests;

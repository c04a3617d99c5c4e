//! The tasks as a tree: phases, tasks, fix tasks below what they fix, and attempts where they are asked for. It is a flat
//! list of the rows that can be seen, so that thousands of tasks cost what a screen of them does.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Attempt, Task};
use plan::{Plan, TaskId};

use crate::inspect::reading::Tone;
use crate::inspect::record::{Outcome, Record};
use crate::view::work::Stand;

/// The tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) rows: Vec<Row>,
    pub(super) cursor: usize,
    /// The first row that is seen.
    pub(super) top: usize,
    folded: BTreeSet<u32>,
    /// Tasks whose attempts are shown.
    open: BTreeSet<TaskId>,
    pub(super) filter: Filter,
    /// Names of phases.
    phases: BTreeMap<u32, String>,
    /// True until somebody moves: what is at work is selected.
    pub(super) follows: bool,
    height: usize,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) of: RowOf,
    pub(super) depth: usize,
}

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowOf {
    Phase { stage: u32, title: String, done: usize, all: usize, is_folded: bool },
    Task(TaskId),
    Attempt { task: TaskId, place: usize, attempt: Option<Attempt>, outcome: Outcome },
}

/// The tasks that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Filter {
    #[default]
    All,
    Running,
    Failed,
    Open,
}

impl Filter {
    /// The next one.
    pub(super) fn next(self) -> Self {
        match self {
            Self::All => Self::Running,
            Self::Running => Self::Failed,
            Self::Failed => Self::Open,
            Self::Open => Self::All,
        }
    }

    /// Its name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }

    fn takes(self, task: &Task) -> bool {
        match self {
            Self::All => true,
            Self::Running => task.status.is_active(),
            Self::Failed => !task.failures.is_empty(),
            Self::Open => !task.status.is_settled(),
        }
    }
}

impl Tree {
    /// A tree in which what is at work is selected.
    pub(super) fn new() -> Self {
        Self { follows: true, ..Self::default() }
    }

    /// Takes the names of phases from the plan.
    pub(super) fn name_phases<'a>(&mut self, plans: impl Iterator<Item = &'a Plan>, record: &Record) {
        for plan in plans {
            for task in plan.tasks() {
                let (phase, known) = (plan.phase(task), record.state.task(&task.id));
                if let (Some(phase), Some(known)) = (phase, known) {
                    self.phases.entry(known.decl.stage).or_insert_with(|| phase.title.clone());
                }
            }
        }
    }

    /// The name of a phase.
    pub(super) fn phase_name(&self, stage: u32) -> String {
        self.phases.get(&stage).cloned().unwrap_or_else(|| format!("Phase {}", u64::from(stage) + 1))
    }

    /// Makes the rows anew; what was selected stays so.
    pub(super) fn rebuild(&mut self, record: &Record) {
        let before = self.rows.get(self.cursor).map(|row| row.of.clone());
        let tasks = record.state.tasks();
        let mut stages: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for task in tasks {
            let (done, all) = stages.entry(task.decl.stage).or_default();
            (*done, *all) = (*done + usize::from(task.status.is_settled()), *all + 1);
        }
        self.rows.clear();
        let mut latest = None;
        for task in tasks.iter().filter(|task| self.filter.takes(task)) {
            let stage = task.decl.stage;
            if stages.len() > 1 && latest != Some(stage) {
                latest = Some(stage);
                let (done, all) = stages.get(&stage).copied().unwrap_or_default();
                let title = self.phase_name(stage);
                let is_folded = self.folded.contains(&stage);
                self.rows.push(Row { of: RowOf::Phase { stage, title, done, all, is_folded }, depth: 0 });
            }
            if stages.len() > 1 && self.folded.contains(&stage) {
                continue;
            }
            let depth = usize::try_from(record.state.fix_depth(task.id())).unwrap_or(0);
            let depth = depth + usize::from(stages.len() > 1);
            self.rows.push(Row { of: RowOf::Task(task.id().clone()), depth });
            if self.open.contains(task.id()) {
                let bars = record.bars_of(task.id()).enumerate();
                self.rows.extend(bars.map(|(place, bar)| {
                    let (task, attempt, outcome) = (task.id().clone(), bar.attempt, bar.outcome);
                    Row { of: RowOf::Attempt { task, place, attempt, outcome }, depth: depth + 1 }
                }));
            }
        }
        self.keep_selected(before.as_ref(), record);
    }

    fn keep_selected(&mut self, before: Option<&RowOf>, record: &Record) {
        let busy = record.work.under_way(&record.state).next().map(|(task, _)| task.id().clone());
        let asked = crate::view::question::open(&record.state).map(|(task, _)| task.id().clone());
        let next = || record.state.first_unsettled().map(|task| task.id().clone());
        let wanted = if self.follows { asked.or(busy).or_else(next) } else { None };
        let of_wanted = wanted.and_then(|task| self.place_of(&task));
        let same = before.and_then(|before| self.rows.iter().position(|row| row.of.is_same(before)));
        self.cursor = of_wanted.or(same).unwrap_or(self.cursor).min(self.rows.len().saturating_sub(1));
        self.reveal();
    }

    fn place_of(&self, task: &TaskId) -> Option<usize> {
        self.rows.iter().position(|row| matches!(&row.of, RowOf::Task(id) if id == task))
    }

    /// Moves the selection.
    pub(super) fn select(&mut self, by: isize) {
        self.follows = false;
        let last = self.rows.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
        self.reveal();
    }

    /// Moves the selection by so many screens.
    pub(super) fn page(&mut self, by: isize) {
        self.select(by * isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1));
    }

    /// Selects what is at work, and stays with it.
    pub(super) fn follow(&mut self, record: &Record) {
        self.follows = true;
        self.keep_selected(None, record);
    }

    fn reveal(&mut self) {
        let height = self.height.max(1);
        if self.cursor < self.top {
            self.top = self.cursor;
        } else if self.cursor >= self.top + height {
            self.top = self.cursor + 1 - height;
        }
    }

    /// Folds a phase, or hides the attempts of a task; from inside, moves to what it is in.
    pub(super) fn fold(&mut self, record: &Record) {
        self.follows = false;
        match self.rows.get(self.cursor).map(|row| row.of.clone()) {
            Some(RowOf::Phase { stage, .. }) => drop(self.folded.insert(stage)),
            Some(RowOf::Task(task)) if self.open.contains(&task) => drop(self.open.remove(&task)),
            Some(RowOf::Task(_)) => {
                let is_phase = |row: &Row| matches!(row.of, RowOf::Phase { .. });
                let above = self.rows[..self.cursor].iter().rposition(is_phase);
                self.cursor = above.unwrap_or(self.cursor);
            }
            Some(RowOf::Attempt { task, .. }) => {
                self.open.remove(&task);
                self.cursor = self.place_of(&task).unwrap_or(self.cursor);
            }
            None => {}
        }
        self.rebuild(record);
    }

    /// Unfolds a phase, or shows the attempts of a task. False if there is nothing more to show.
    pub(super) fn unfold(&mut self, record: &Record) -> bool {
        self.follows = false;
        let changed = match self.rows.get(self.cursor).map(|row| row.of.clone()) {
            Some(RowOf::Phase { stage, .. }) => self.folded.remove(&stage),
            Some(RowOf::Task(task)) => record.bars_of(&task).next().is_some() && self.open.insert(task),
            Some(RowOf::Attempt { .. }) | None => false,
        };
        self.rebuild(record);
        changed
    }

    /// The task that is selected, and which of its attempts, where one is.
    pub(super) fn selected(&self) -> Option<(&TaskId, Option<usize>)> {
        match &self.rows.get(self.cursor)?.of {
            RowOf::Phase { .. } => None,
            RowOf::Task(task) => Some((task, None)),
            RowOf::Attempt { task, place, .. } => Some((task, Some(*place))),
        }
    }

    /// The rows that are seen in so much room.
    pub(super) fn seen(&mut self, height: usize) -> &[Row] {
        if height != self.height {
            self.height = height;
            self.top = self.cursor.saturating_sub(height / 2);
        }
        self.reveal();
        self.top = self.top.min(self.rows.len().saturating_sub(height));
        &self.rows[self.top..(self.top + height).min(self.rows.len())]
    }

    /// How many tasks at work are above what is seen, and below it.
    pub(super) fn out_of_sight(&self, record: &Record) -> (usize, usize) {
        let busy: BTreeSet<&TaskId> =
            record.work.under_way(&record.state).map(|(task, _)| task.id()).collect();
        let count = |rows: &[Row]| {
            rows.iter().filter(|row| matches!(&row.of, RowOf::Task(id) if busy.contains(id))).count()
        };
        let end = (self.top + self.height).min(self.rows.len());
        (count(&self.rows[..self.top]), count(&self.rows[end..]))
    }
}

impl RowOf {
    /// True if it is the row of the same thing, however that has changed.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Phase { stage, .. }, Self::Phase { stage: other, .. }) => stage == other,
            (Self::Task(id), Self::Task(other)) => id == other,
            (Self::Attempt { task, place, .. }, Self::Attempt { task: other, place: at, .. }) => {
                (task, place) == (other, at)
            }
            (Self::Phase { .. } | Self::Task(_) | Self::Attempt { .. }, _) => false,
        }
    }
}

/// The mark of a task, a word for those who see no colours and for what a mark does not tell, and their tone.
pub(super) fn mark(task: &Task) -> (char, &'static str, Tone) {
    match Stand::of(task) {
        Stand::Done => ('✓', "", Tone::Good),
        Stand::Skipped => ('⊘', "skipped", Tone::Odd),
        Stand::Asks => ('?', "asks", Tone::Odd),
        Stand::Failed => ('✗', "failed", Tone::Bad),
        Stand::Waits => ('✗', "waits", Tone::Bad),
        Stand::Works => ('▶', "works", Tone::Busy),
        Stand::Verify => ('◔', "verify", Tone::Busy),
        Stand::Judged => ('◔', "judged", Tone::Busy),
        Stand::HeldUp => ('?', "held up", Tone::Odd),
        Stand::Ready => ('◔', "ready", Tone::Busy),
        Stand::Joins => ('◔', "joins", Tone::Busy),
        Stand::Commits => ('◔', "commits", Tone::Busy),
        Stand::Again => ('·', "again", Tone::Odd),
        Stand::Open => ('·', "", Tone::Faint),
    }
}

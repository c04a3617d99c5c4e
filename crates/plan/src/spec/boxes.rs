//! Boxes of a plan that are no tasks: groups of tasks, steps of one, criteria, and optional tasks that are left out.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::plan::Plan;
use super::task::{BoxState, Task};
use crate::TaskId;

/// Which of a plan's other boxes the group of a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupIndex(pub(crate) u32);

/// The role of a box that is no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoxRole {
    /// Tasks stand below it: it is ticked once they are done.
    Group,
    /// A step of a task, ticked with it.
    Part,
    /// A condition by which somebody tells that something is done.
    Criterion,
    /// A task that nobody asked for, `[ ]*`.
    Optional,
}

/// A box that is no task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherBox {
    /// What it is for.
    pub role: BoxRole,
    /// The state that it shows.
    pub state: BoxState,
    /// Its line, counted from one.
    pub line: usize,
    /// The group that it is in, if it is a group.
    pub(crate) group: Option<GroupIndex>,
    pub(crate) mark: Range<usize>,
    /// Its words, and for a group what is said before its first task.
    pub(crate) text: Range<usize>,
}

impl Plan {
    /// The boxes that are no tasks and that the plan's format has a use for, in the order of the file.
    #[must_use]
    pub fn boxes(&self) -> &[OtherBox] {
        &self.boxes
    }

    /// The words of a box that is no task.
    #[must_use]
    pub fn words(&self, other: &OtherBox) -> &str {
        self.text.get(other.text.clone()).unwrap_or_default().trim_end()
    }

    /// The groups that a task is in, the outermost first.
    #[must_use]
    pub fn groups_of(&self, task: &Task) -> Vec<&OtherBox> {
        let mut groups: Vec<&OtherBox> = self.groups_above(task.group).map(|(_, group)| group).collect();
        groups.reverse();
        groups
    }

    /// The heading of the phase that a task is in, and the words below it before its first box. Empty where a group of
    /// tasks is the phase.
    #[must_use]
    pub fn phase_words(&self, task: &Task) -> &str {
        let Some(phase) = self.phase(task).filter(|phase| !phase.title.is_empty()) else { return "" };
        let start: usize = self.text.split_inclusive('\n').take(phase.line - 1).map(str::len).sum();
        let tasks = self.tasks.iter().map(|task| task.block.start);
        let boxes = self.boxes.iter().map(|other| other.mark.start);
        let end = tasks.chain(boxes).filter(|at| *at >= start).min().unwrap_or(start);
        let words = self.text.get(start..end).unwrap_or_default();
        words.rfind('\n').map_or("", |newline| words[..newline].trim_end())
    }

    /// Puts back the boxes that are no tasks and say something else than they did, apart from those in the block of the
    /// task `own` and of groups below which all is done. Returns the words of those that were put back.
    pub fn put_back_boxes(&mut self, before: &Plan, own: &TaskId) -> Vec<String> {
        let mut known: BTreeMap<String, VecDeque<BoxState>> = BTreeMap::new();
        for other in &before.boxes {
            known.entry(before.line_around(other)).or_default().push_back(other.state);
        }
        let mut changes: Vec<(Range<usize>, BoxState, String)> = Vec::new();
        for (at, other) in self.boxes.iter().enumerate() {
            let was = known.get_mut(&self.line_around(other)).and_then(VecDeque::pop_front);
            let Some(was) = was.filter(|was| was.is_done() != other.state.is_done()) else { continue };
            let is_own = self.task(own).is_some_and(|task| task.block.contains(&other.mark.start));
            let is_due = other.state.is_done() && self.is_done_below(at);
            if !is_own && !is_due {
                let behind = self.text[other.mark.end..].lines().next().unwrap_or_default();
                let words = behind.trim_start_matches([']', '*', ' ']).trim_end();
                changes.push((other.mark.clone(), was, words.to_owned()));
            }
        }
        if !changes.is_empty() {
            let mut text = std::mem::take(&mut self.text);
            for (mark, was, _) in changes.iter().rev() {
                text.replace_range(mark.clone(), was.mark().encode_utf8(&mut [0; 4]));
            }
            *self = self.read_again(text);
        }
        changes.into_iter().map(|(_, _, words)| words).collect()
    }

    /// The line of a box without what it says, by which it is found again.
    fn line_around(&self, other: &OtherBox) -> String {
        let (before, behind) = (&self.text[..other.mark.start], &self.text[other.mark.end..]);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        format!("{}{}", &before[start..], behind.lines().next().unwrap_or_default())
    }

    /// True if a box is a group, and all tasks below it are done.
    fn is_done_below(&self, at: usize) -> bool {
        let is_below = |task: &&Task| self.groups_above(task.group).any(|(index, _)| index.0 as usize == at);
        let mut below = self.tasks.iter().filter(is_below).peekable();
        below.peek().is_some() && below.all(|task| task.state.is_done())
    }

    fn groups_above(&self, from: Option<GroupIndex>) -> impl Iterator<Item = (GroupIndex, &OtherBox)> {
        let get = |index: GroupIndex| Some((index, self.boxes.get(index.0 as usize)?));
        std::iter::successors(from.and_then(get), move |(_, group)| group.group.and_then(get))
    }

    /// The other boxes that change with that of a task, once that says `state`: its steps and the groups above it.
    pub(super) fn boxes_with(&self, task: &Task, state: BoxState) -> Vec<(Range<usize>, BoxState)> {
        let mut changes = Vec::new();
        if state.is_done() {
            let is_part = |other: &&OtherBox| {
                other.role == BoxRole::Part
                    && !other.state.is_done()
                    && task.block.start <= other.mark.start
                    && other.mark.end <= task.block.end
            };
            let parts = self.boxes.iter().filter(is_part).map(|part| (part.mark.clone(), BoxState::Done));
            changes.extend(parts);
        }
        let mut done_below: Option<GroupIndex> = None;
        for (index, group) in self.groups_above(task.group) {
            let is_open =
                |other: &&Task| other.group == Some(index) && other.id != task.id && !other.state.is_done();
            let is_open_group = |(at, other): (usize, &OtherBox)| {
                let is_below = other.role == BoxRole::Group && other.group == Some(index);
                is_below && !other.state.is_done() && done_below.is_none_or(|done| done.0 as usize != at)
            };
            let is_done = state.is_done()
                && !self.tasks.iter().any(|task| is_open(&task))
                && !self.boxes.iter().enumerate().any(is_open_group);
            if is_done && !group.state.is_done() {
                changes.push((group.mark.clone(), BoxState::Done));
            } else if !is_done && group.state.is_done() {
                changes.push((group.mark.clone(), BoxState::Open));
            } else if !is_done {
                break;
            }
            done_below = is_done.then_some(index);
        }
        changes
    }
}

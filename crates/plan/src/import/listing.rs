//! What a source lists: tasks with their ids and states, what stands above them, and what is no task.

use std::collections::{BTreeMap, BTreeSet};

use super::json::Slot;

/// Everything that a source lists.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// What the source calls the whole.
    pub title: Option<String>,
    /// What it says of the whole, in paragraphs.
    pub about: Vec<String>,
    /// The branch that the work is meant for.
    pub branch: Option<String>,
    /// The tasks, in the order in which they are meant to be done.
    pub items: Vec<Item>,
    /// What stands above tasks and is none.
    pub groups: Vec<Group>,
    /// What is no task, and why.
    pub left_out: Vec<LeftOut>,
    /// What cannot be heeded.
    pub problems: Vec<String>,
    /// The ids of the tasks.
    pub(super) ids: BTreeSet<String>,
}

/// A task of a source.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// Its id in the plan.
    pub id: String,
    /// What the source calls it: `task 3.2`.
    pub called: String,
    /// The part of the source that it is in, where there are several.
    pub part: Option<String>,
    /// Its title.
    pub title: String,
    /// What is to be done, in paragraphs.
    pub work: Vec<String>,
    /// When it is done.
    pub done_when: Vec<String>,
    /// Commands that the source names as its proof.
    pub commands: Vec<String>,
    /// The ids of what comes before it: tasks, once the listing is complete.
    pub depends_on: Vec<String>,
    /// True if the source says that it is done.
    pub is_done: bool,
    pub(super) marks: Vec<Mark>,
}

/// Something that stands above tasks.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// The ids of the tasks below it.
    pub members: Vec<String>,
    /// True if the source says that it is done, or that it is not to be.
    pub is_settled: bool,
    pub(super) marks: Vec<Mark>,
}

/// Something of a source that is no task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its id.
    pub id: String,
    /// Why it is none.
    pub why: &'static str,
}

/// A place in the text of a source that says whether something is done, and what it says then.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) slot: Slot,
    pub(super) says: Says,
}

/// What stands at such a place once something is done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    Word(&'static str),
    /// The moment.
    Now,
}

/// What a mark says that did not say anything before.
const UNSAID: &str = "null";

impl Listing {
    /// The task with an id.
    #[must_use]
    pub fn item(&self, id: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.id == id)
    }

    /// Takes in a task, unless there is one with its id.
    pub(super) fn take(&mut self, item: Item) -> bool {
        if !self.ids.insert(item.id.clone()) {
            self.leave_out(&item.id, "another one has its id");
            return false;
        }
        self.items.push(item);
        true
    }

    pub(super) fn leave_out(&mut self, id: &str, why: &'static str) {
        self.left_out.push(LeftOut { id: id.to_owned(), why });
    }

    /// Leaves out what is done already, but for the tasks that somebody has.
    pub fn leave_out_done(&mut self, is_known: impl Fn(&str) -> bool) {
        let (kept, done): (Vec<Item>, Vec<Item>) =
            std::mem::take(&mut self.items).into_iter().partition(|item| !item.is_done || is_known(&item.id));
        self.items = kept;
        for item in &done {
            self.leave_out(&item.id, "closed already");
        }
        for item in &mut self.items {
            item.depends_on.retain(|on| !done.iter().any(|item| item.id == *on));
        }
    }

    /// The ids of the tasks that are done elsewhere and that the source does not know of.
    #[must_use]
    pub fn outstanding(&self, done: &BTreeSet<String>) -> Vec<String> {
        let items = self.items.iter().filter(|item| !item.is_done && done.contains(&item.id));
        items.map(|item| item.id.clone()).collect()
    }

    /// The text that this was read from, with these tasks done, and what stands above them where nothing else is left
    /// below it. All other bytes stay.
    #[must_use]
    pub fn with_done(&self, text: &str, done: &BTreeSet<String>, now: &str) -> String {
        let known: BTreeSet<&String> =
            self.items.iter().filter(|item| item.is_done).map(|item| &item.id).collect();
        let is_done = |id: &String| done.contains(id) || known.contains(id);
        let items = self.items.iter().filter(|item| !item.is_done && done.contains(&item.id));
        let groups = self.groups.iter().filter(|group| {
            !group.is_settled
                && group.members.iter().any(|id| done.contains(id))
                && group.members.iter().all(is_done)
        });
        let marks = items.flat_map(|item| &item.marks).chain(groups.flat_map(|group| &group.marks));
        let edits = marks.map(|mark| {
            let value = match mark.says {
                Says::Word(word) => word.to_owned(),
                Says::Now => format!("\"{now}\""),
            };
            (mark.slot.clone(), value)
        });
        edited(text, edits.collect())
    }

    /// The text that this was read from, with what it says of these tasks as an earlier text of the source has it, and the
    /// tasks that this changes: those that somebody called done since.
    #[must_use]
    pub fn with_marks_of(
        &self,
        text: &str,
        (earlier, of): (&str, &Listing),
        open: impl Fn(&str) -> bool,
    ) -> (String, Vec<String>) {
        let (mut edits, mut ids) = (Vec::new(), Vec::new());
        let mut put_back = |id: &String, marks: &[Mark], before: &[Mark]| {
            for (mark, before) in marks.iter().zip(before) {
                let said = earlier.get(before.slot.at.clone()).filter(|said| !said.is_empty());
                let now = text.get(mark.slot.at.clone()).filter(|now| !now.is_empty());
                if said != now {
                    edits.push((mark.slot.clone(), said.unwrap_or(UNSAID).to_owned()));
                }
            }
            ids.push(id.clone());
        };
        let was_open: BTreeMap<&String, &Item> =
            of.items.iter().filter(|item| !item.is_done).map(|item| (&item.id, item)).collect();
        let mut claimed = BTreeSet::new();
        for item in self.items.iter().filter(|item| item.is_done && open(&item.id)) {
            if let Some(before) = was_open.get(&item.id) {
                put_back(&item.id, &item.marks, &before.marks);
                claimed.insert(&item.id);
            }
        }
        for group in self.groups.iter().filter(|group| group.is_settled) {
            let before = of.groups.iter().find(|before| before.id == group.id && !before.is_settled);
            if let Some(before) = before.filter(|_| group.members.iter().any(|id| claimed.contains(id))) {
                put_back(&group.id, &group.marks, &before.marks);
            }
        }
        (edited(text, edits), ids)
    }

    /// Makes dependencies name tasks: one on a group is one on the last tasks in it, and what a group depends on its first
    /// ones do. What is left out is waited for by nobody; that, and what is not there, is told.
    pub(super) fn settle_dependencies(&mut self, of_groups: &BTreeMap<String, Vec<String>>) {
        let leaves = Leaves::of(&self.items, &self.groups);
        let mut problems = Vec::new();
        let mut settled = Vec::new();
        for item in &self.items {
            let is_first = leaves.is_first(item);
            let above = leaves.above(&item.id).filter(|_| is_first);
            let inherited = above.flat_map(|group| of_groups.get(group).into_iter().flatten());
            let mut ids: Vec<String> = Vec::new();
            for named in item.depends_on.iter().chain(inherited) {
                match leaves.last_of(named) {
                    _ if *named == item.id => {
                        problems.push(format!("{named} depends on itself, which counts for nothing"));
                    }
                    Some(found) => ids.extend(found),
                    None => problems.push(self.unheeded(&item.id, named)),
                }
            }
            let mut seen = BTreeSet::from([item.id.clone()]);
            ids.retain(|id| seen.insert(id.clone()));
            settled.push(ids);
        }
        for (item, ids) in self.items.iter_mut().zip(settled) {
            item.depends_on = ids;
        }
        problems.sort();
        problems.dedup();
        self.problems.extend(problems);
    }

    fn unheeded(&self, id: &str, named: &str) -> String {
        match self.left_out.iter().find(|left| left.id == named) {
            Some(left) => {
                format!("{id} depends on {named}, which is left out ({}): it does not wait", left.why)
            }
            None => format!("{id} depends on {named}, which is not there: it does not wait"),
        }
    }
}

/// Which tasks stand below which groups.
struct Leaves<'a> {
    groups: BTreeMap<&'a str, &'a [String]>,
    above: BTreeMap<&'a str, Vec<&'a String>>,
    needs: BTreeMap<&'a str, &'a [String]>,
}

impl<'a> Leaves<'a> {
    fn of(items: &'a [Item], groups: &'a [Group]) -> Self {
        let mut above: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for group in groups {
            for member in &group.members {
                above.entry(member).or_default().push(&group.id);
            }
        }
        Self {
            groups: groups.iter().map(|group| (group.id.as_str(), group.members.as_slice())).collect(),
            above,
            needs: items.iter().map(|item| (item.id.as_str(), item.depends_on.as_slice())).collect(),
        }
    }

    fn above(&self, id: &str) -> impl Iterator<Item = &'a String> + use<'a> {
        self.above.get(id).cloned().unwrap_or_default().into_iter()
    }

    /// True if a task depends on no other of a group that it is in.
    fn is_first(&self, item: &Item) -> bool {
        let mates: BTreeSet<&String> = self
            .above(&item.id)
            .filter_map(|group| self.groups.get(group.as_str()))
            .flat_map(|members| members.iter())
            .collect();
        !item.depends_on.iter().any(|id| mates.contains(id))
    }

    /// The tasks that are done last of what an id stands for: the task itself, or those of a group on which no other of
    /// the group depends.
    fn last_of(&self, id: &str) -> Option<Vec<String>> {
        if self.needs.contains_key(id) {
            return Some(vec![id.to_owned()]);
        }
        let members = self.groups.get(id)?;
        let needed: BTreeSet<&String> = members
            .iter()
            .filter_map(|member| self.needs.get(member.as_str()))
            .flat_map(|ids| ids.iter())
            .collect();
        let last: Vec<String> = members.iter().filter(|id| !needed.contains(id)).cloned().collect();
        // In a circle each is needed.
        Some(if last.is_empty() { members.to_vec() } else { last })
    }
}

/// A text with values put into places, the last first.
fn edited(text: &str, mut edits: Vec<(Slot, String)>) -> String {
    edits.sort_by_key(|(slot, _)| std::cmp::Reverse((slot.at.start, slot.at.end)));
    let mut text = text.to_owned();
    for (Slot { at, before }, value) in edits {
        text.replace_range(at, &format!("{before}{value}"));
    }
    text
}

/// An id that a plan can have: letters, digits, dots, dashes and underscores. None where nothing of it is left.
pub(super) fn id_of(written: &str) -> Option<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
    let id: String = written.trim().chars().map(plain).collect();
    let id = id.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    (!id.is_empty()).then(|| id.to_owned())
}

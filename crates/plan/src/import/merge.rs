//! A plan that was imported before, and what its source lists now: what is new is added, what changed is updated, and
//! nothing goes. Where both sides changed a task, the source's words stand, and fields that it has none of stay.

use std::collections::BTreeMap;

use crate::spec::{Plan, Task, fields_beyond};

/// What is known of a task from the last import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The digest of the text that was made of the source.
    pub digest: u32,
    /// True if the source said that it was done.
    pub is_done: bool,
}

/// A plan with what its source lists now, and what came of each task, by ids.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The plan.
    pub plan: Plan,
    /// Tasks that are new.
    pub added: Vec<String>,
    /// Tasks that changed in the source.
    pub updated: Vec<String>,
    /// Tasks that changed in the source and here.
    pub overruled: Vec<String>,
    /// Tasks that changed here alone.
    pub kept: Vec<String>,
    /// Tasks that the source says are done since.
    pub ticked: Vec<String>,
    /// Tasks that are done here and whose text changed in the source.
    pub changed_when_done: Vec<String>,
    /// Tasks that the source has no more.
    pub gone: Vec<String>,
    /// Tasks that cannot be taken in: another one has the id, or there is no room.
    pub refused: Vec<String>,
}

/// Takes what a source lists now into a plan.
#[must_use]
pub fn merge(
    plan: Plan,
    new: &Plan,
    known: &BTreeMap<String, Known>,
    digest: impl Fn(&Plan, &Task) -> u32,
) -> Merged {
    let mut merged = Merged::of(plan);
    let mut missing = Vec::new();
    for task in new.tasks() {
        let id = task.id.name().to_owned();
        let Some(here) = merged.plan.task(&task.id) else {
            missing.push(task.id.clone());
            continue;
        };
        if here.is_fix() {
            merged.refused.push(id);
            continue;
        }
        let (was, is_done_here) = (known.get(&id), here.state.is_done());
        let (own, theirs) = (digest(&merged.plan, here), digest(new, task));
        let change = Change::of(was.map(|was| was.digest), own, theirs);
        merged.change(new, task, change, is_done_here);
        // Whoever unticked a box since means it.
        let is_news = was.is_none_or(|was| !was.is_done);
        if task.state.is_done() && !is_done_here && is_news && merged.plan.tick(&task.id).is_ok() {
            merged.ticked.push(id);
        }
    }
    let there = |id: &String| new.task(&id.as_str().into()).is_some();
    let here = |id: &String| merged.plan.task(&id.as_str().into()).is_some();
    merged.gone = known.keys().filter(|id| !there(id) && here(id)).cloned().collect();
    if !missing.is_empty() {
        let reading = merged.plan.reading();
        merged.plan = Plan::read(reading, merged.plan.with_tasks_of(new, &missing));
    }
    for id in missing {
        let is_there = merged.plan.task(&id).is_some();
        let list = if is_there { &mut merged.added } else { &mut merged.refused };
        list.push(id.name().to_owned());
    }
    merged
}

/// Who changed a task since the last import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nobody,
    Source,
    Here,
    Both,
}

impl Change {
    /// Where nothing is known of the last import, nobody can tell whose change it is.
    fn of(was: Option<u32>, own: u32, theirs: u32) -> Self {
        match was {
            _ if own == theirs => Self::Nobody,
            Some(was) if was == own => Self::Source,
            Some(was) if was == theirs => Self::Here,
            Some(_) | None => Self::Both,
        }
    }
}

impl Merged {
    /// A plan that is new as a whole.
    #[must_use]
    pub fn of_all(new: &Plan) -> Self {
        let added = new.tasks().iter().map(|task| task.id.name().to_owned()).collect();
        Self { added, ..Self::of(new.clone()) }
    }

    fn of(plan: Plan) -> Self {
        Self {
            plan,
            added: Vec::new(),
            updated: Vec::new(),
            overruled: Vec::new(),
            kept: Vec::new(),
            ticked: Vec::new(),
            changed_when_done: Vec::new(),
            gone: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn change(&mut self, new: &Plan, task: &Task, change: Change, is_done: bool) {
        let id = task.id.name().to_owned();
        match change {
            Change::Nobody => {}
            Change::Here => self.kept.push(id),
            Change::Source | Change::Both => {
                if self.replace(new, task).is_none() {
                    self.refused.push(id);
                    return;
                }
                if is_done {
                    self.changed_when_done.push(id.clone());
                }
                let list = if change == Change::Both { &mut self.overruled } else { &mut self.updated };
                list.push(id);
            }
        }
    }

    /// Gives a task the words of the source, and leaves it the fields that the source has none of.
    fn replace(&mut self, new: &Plan, task: &Task) -> Option<()> {
        let here = self.plan.task(&task.id)?;
        let block = new.block(task).trim_end();
        let own = fields_beyond(self.plan.block(here), block);
        let lines: Vec<&str> = std::iter::once(block).chain(own.iter().map(String::as_str)).collect();
        self.plan.replace_block(&task.id, &lines.join("\n")).ok()
    }
}

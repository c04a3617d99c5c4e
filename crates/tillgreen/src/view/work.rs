//! The work under way, with since when: folded from events, as the state does not keep it. What runs how long, and how
//! long the rest may take.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Event, Judge, JudgeState, Role, State, Status, Task};
use jiff::Timestamp;
use plan::TaskId;
use serde::Serialize;

/// Tasks that have to be done before an estimate is worth showing.
const ESTIMATED_FROM: usize = 5;

/// The work under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// The step of each task that is under way.
    steps: BTreeMap<TaskId, Step>,
    /// How long each task took that the run has done, shortest first.
    took: Vec<Duration>,
}

/// Where a task stands, for a mark and a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stand {
    Open,
    Again,
    Works,
    Verify,
    Judged,
    Ready,
    HeldUp,
    Joins,
    Commits,
    Asks,
    Failed,
    Waits,
    Done,
    Skipped,
}

impl Stand {
    /// That of a task.
    pub(crate) fn of(task: &Task) -> Self {
        match &task.status {
            Status::Done => Self::Done,
            Status::Skipped => Self::Skipped,
            Status::Asking(_) => Self::Asks,
            Status::Failed => Self::Failed,
            Status::WaitingFor(_) => Self::Waits,
            Status::Running(_) => Self::Works,
            Status::Proving | Status::Checking(_) | Status::Joining { .. } => Self::Verify,
            Status::Judging(_) => Self::Judged,
            Status::Finished { .. } if task.is_held_up() => Self::HeldUp,
            Status::Finished { .. } => Self::Ready,
            Status::Landing { .. } => Self::Joins,
            Status::Recording { .. } => Self::Commits,
            Status::Drafted | Status::Ready { .. } if !task.failures.is_empty() => Self::Again,
            Status::Drafted | Status::Ready { .. } => Self::Open,
        }
    }
}

/// A step of a task that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Who is at it, or what is done, in a word.
    pub(crate) word: String,
    /// True while an agent works; else the program, or nobody, does.
    pub(crate) is_agents: bool,
    /// Since when.
    pub(crate) since: Timestamp,
}

impl Work {
    /// Takes in an event; the state is the one after it.
    pub(crate) fn record(&mut self, event: &Event, state: &State) {
        let Some(id) = event.what.task() else {
            // A start of the program, or a changed plan: work may have been lost.
            let is_under_way = |id: &TaskId| state.task(id).is_some_and(|task| task.status.is_active());
            self.steps.retain(|id, _| is_under_way(id));
            return;
        };
        let Some(task) = state.task(id) else { return };
        if matches!(event.what, engine::What::TaskDone { .. })
            && let Some(took) = state.elapsed_on(id)
        {
            let place = self.took.partition_point(|known| *known < took);
            self.took.insert(place, took);
        }
        match step(task, state) {
            Some((word, is_agents)) => {
                let is_same = self.steps.get(id).is_some_and(|known| known.word == word);
                if !is_same {
                    self.steps.insert(id.clone(), Step { word, is_agents, since: event.at });
                }
            }
            None => drop(self.steps.remove(id)),
        }
    }

    /// The step of a task.
    pub(crate) fn step(&self, id: &TaskId) -> Option<&Step> {
        self.steps.get(id)
    }

    /// The tasks that are under way, in the order of the plan.
    pub(crate) fn under_way<'a>(&'a self, state: &'a State) -> impl Iterator<Item = (&'a Task, &'a Step)> {
        state.attention().filter_map(|task| Some((task, self.steps.get(task.id())?)))
    }

    /// How long the rest may take: the median of what a task took, for all that are left, by as many as are at work. None
    /// before enough is known, and where nothing is left.
    pub(crate) fn left(&self, state: &State) -> Option<Duration> {
        let left = state.tasks().len().checked_sub(state.done_count() + state.skipped_count())?;
        let median = self.took.get(self.took.len() / 2).filter(|_| self.took.len() >= ESTIMATED_FROM)?;
        let busy = u32::try_from(self.steps.len().max(1)).ok()?;
        (left > 0).then(|| median.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX)) / busy)
    }
}

/// The step that a task is at, in a word, and true if an agent does it; none if it is not under way.
fn step(task: &Task, state: &State) -> Option<(String, bool)> {
    // Where there is one agent only, the settings of the run tell its name.
    let launch = state.opened().map(|opened| &opened.launch);
    let is_command = launch.is_some_and(|launch| launch.contains_key("agent_cmd"));
    let named = launch.and_then(|launch| launch.get("agent")).map(String::as_str);
    let only = named.or(is_command.then_some("command"));
    let agent = |dispatch, role: Role| {
        let name = state.agent_of(dispatch).or(only).unwrap_or(role.name());
        Some((name.to_owned(), true))
    };
    let word = |word: &str| Some((word.to_owned(), false));
    match &task.status {
        Status::Proving | Status::Checking(_) | Status::Joining { .. } => word("verify"),
        Status::Running(running) => agent(running.dispatch, running.role),
        Status::Judging(judging) => match (judging.judge, judging.state) {
            (Judge::Qa, JudgeState::AtWork(dispatch)) => agent(dispatch, Role::Qa),
            (Judge::Reviewer, JudgeState::AtWork(dispatch)) => agent(dispatch, Role::Reviewer),
            (Judge::Qa | Judge::Reviewer, JudgeState::Wanted) => word("judge"),
            (Judge::Person, JudgeState::Wanted | JudgeState::AtWork(_)) => word("person"),
        },
        Status::Finished { .. } => word("waits"),
        Status::Landing { .. } => word("joins"),
        Status::Recording { .. } => word("commits"),
        Status::Drafted
        | Status::Ready { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_)
        | Status::Done
        | Status::Skipped => None,
    }
}

#[cfg(test)]
mod tests {
    use engine::Rules;

    use super::*;
    use crate::view::samples::{self, Story};

    fn folded(story: &Story) -> (Work, State) {
        let mut work = Work::default();
        let mut last = State::default();
        for (event, state) in story.replay() {
            work.record(&event, &state);
            last = state;
        }
        (work, last)
    }

    #[test]
    fn a_step_has_its_own_beginning() {
        let story = Story::new(Rules::default()).starts("1.2");
        let (work, state) = folded(&story);
        let id = TaskId::new("1.2");
        let step = work.step(&id).unwrap();
        assert_eq!((step.word.as_str(), step.is_agents, step.since), ("executor", true, samples::time(10)));
        assert_eq!(work.under_way(&state).count(), 1);
        let (work, _) = folded(&story.clone().claims("1.2"));
        let step = work.step(&id).unwrap();
        assert_eq!((step.word.as_str(), step.is_agents, step.since), ("verify", false, samples::time(20)));
        let (work, _) = folded(&story.claims("1.2").fails("1.3", "red"));
        assert!(work.step(&id).is_some() && work.steps.len() == 1, "one that failed is under way no longer");
    }

    #[test]
    fn an_estimate_needs_some_tasks() {
        let (work, state) = folded(&samples::fixed());
        assert_eq!((work.took.len(), work.left(&state)), (4, None));
        let work = Work { took: (1..=5).map(Duration::from_secs).collect(), ..work };
        assert_eq!(work.left(&state), None, "nothing is left");
        let (_, state) = folded(&Story::new(Rules::default()));
        assert_eq!(work.left(&state), Some(Duration::from_secs(6)), "two tasks of three seconds");
    }
}

//! The facts of a plan's journal that a proof begins with: how long verification took, which commits are whose, and who judged
//! what no command can show.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Event, Judge, What};
use jiff::Timestamp;
use plan::TaskId;

use crate::git::Oid;
use crate::journal::load;
use crate::project::PlanFile;

/// The facts of a journal.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The time that verify commands took.
    pub(super) verified: Duration,
    /// True if tasks had work trees of their own, so that their commands are known to run in any.
    pub(super) has_used_slots: bool,
    /// The work of tasks that were done, in that order; more than once of a task that was done again.
    works: Vec<Work>,
    judges: BTreeMap<TaskId, Judge>,
    /// The commit before the work of each task that is not done.
    bases: BTreeMap<TaskId, Option<Oid>>,
    /// When the verification that is under way began, by task.
    since: BTreeMap<TaskId, Timestamp>,
}

#[derive(Debug)]
struct Work {
    task: TaskId,
    /// The commit before it.
    base: Option<Oid>,
    /// The commit that holds it; none where nothing was changed.
    commit: Option<Oid>,
}

impl Facts {
    /// Reads a plan's journal. Where that cannot be read, nothing is known.
    pub(super) fn read(file: &PlanFile) -> Facts {
        let mut facts = Facts::default();
        let read = load(file, |event| facts.note(event));
        if read.is_ok() { facts } else { Facts::default() }
    }

    fn note(&mut self, event: &Event) {
        if let What::Opened(_) = &event.what {
            self.since.clear();
        }
        if let What::AttemptStarted(started) = &event.what {
            self.has_used_slots |= started.slot.is_some();
            let head = started.head.as_deref().and_then(Oid::parse);
            self.bases.entry(started.task.clone()).or_insert(head);
        }
        if let What::Landed { task, onto, .. } = &event.what {
            self.bases.insert(task.clone(), onto.as_deref().and_then(Oid::parse));
        }
        if let What::ChecksPassed { task, judge, .. } = &event.what {
            match judge {
                Some(judge) => self.judges.insert(task.clone(), *judge),
                None => self.judges.remove(task),
            };
        }
        if let What::TaskDone { task, commit } = &event.what {
            let base = self.bases.remove(task).flatten();
            let commit = commit.as_deref().and_then(Oid::parse);
            self.works.push(Work { task: task.clone(), base, commit });
        }
        self.note_time(event);
    }

    fn note_time(&mut self, event: &Event) {
        let Some(task) = event.what.task() else { return };
        let begins = matches!(
            event.what,
            What::AttemptClaimed { .. } | What::ProofStarted { .. } | What::Landed { .. }
        );
        let ends = matches!(
            event.what,
            What::ChecksPassed { .. }
                | What::ProofPassed { .. }
                | What::ProofFailed { .. }
                | What::JoinPassed { .. }
                | What::AttemptFailed { .. }
        );
        if begins {
            self.since.insert(task.clone(), event.at);
        } else if ends {
            let took = self.since.remove(task).map(|since| event.at.duration_since(since));
            self.verified += took.and_then(|took| Duration::try_from(took).ok()).unwrap_or_default();
        }
    }

    /// The commit at which a task's command was green: that of its work or, where it changed nothing, the one before it.
    pub(super) fn green_at(&self, task: &TaskId) -> Option<&Oid> {
        let last = self.works.iter().rposition(|work| work.task == *task)?;
        self.works[..=last].iter().rev().find_map(|work| work.commit.as_ref())
    }

    /// The task whose work a commit belongs to, among commits that follow each other.
    pub(super) fn owner(&self, commit: &Oid, chain: &[Oid]) -> Option<&TaskId> {
        let place = |commit: &Oid| chain.iter().position(|other| other == commit);
        let wanted = place(commit)?;
        let holds = |work: &&Work| {
            let end = work.commit.as_ref().and_then(place);
            // One that came before all of these has no place.
            let is_after =
                work.base.as_ref().is_some_and(|base| place(base).is_none_or(|base| base < wanted));
            end == Some(wanted) || end.is_some_and(|end| wanted < end && is_after)
        };
        self.works.iter().find(holds).map(|work| &work.task)
    }

    /// The judge of a task that no command can show.
    pub(super) fn judge(&self, task: &TaskId) -> Option<Judge> {
        self.judges.get(task).copied()
    }
}

#[cfg(test)]
mod tests {
    use engine::{Attempt, Dispatch, Role, Started};

    use super::*;

    fn oid(digit: char) -> Oid {
        Oid::parse(&digit.to_string().repeat(40)).unwrap()
    }

    fn facts(events: Vec<(i64, What)>) -> Facts {
        let mut facts = Facts::default();
        for (second, what) in events {
            facts.note(&Event::new(Timestamp::from_second(second).unwrap(), what));
        }
        facts
    }

    fn started(task: &str, head: char) -> What {
        What::AttemptStarted(Started {
            task: task.into(),
            attempt: Attempt(1),
            dispatch: Dispatch(1),
            role: Role::Executor,
            head: Some(oid(head).as_str().to_owned()),
            tree: None,
            hooks: Vec::new(),
            slot: None,
        })
    }

    fn claimed(task: &str) -> What {
        What::AttemptClaimed {
            task: task.into(),
            dispatch: Dispatch(1),
            touched: Vec::new(),
            learnings: Vec::new(),
            elapsed_ms: 0,
        }
    }

    fn passed(task: &str, judge: Option<Judge>) -> What {
        What::ChecksPassed {
            task: task.into(),
            warnings: Vec::new(),
            judge,
            tree: None,
            hooks_gone: Vec::new(),
        }
    }

    fn done(task: &str, commit: Option<char>) -> What {
        let commit = commit.map(|commit| oid(commit).as_str().to_owned());
        What::TaskDone { task: task.into(), commit }
    }

    #[test]
    fn verification_is_from_the_claim_to_its_end() {
        let of = |what| vec![(0, started("1.1", '0')), (50, claimed("1.1")), (57, what)];
        assert_eq!(facts(of(passed("1.1", None))).verified, Duration::from_secs(7));
        assert_eq!(facts(of(done("1.1", None))).verified, Duration::ZERO);
    }

    #[test]
    fn commits_have_owners() {
        let facts = facts(vec![
            (0, started("1.1", '0')),
            (1, done("1.1", Some('1'))),
            (2, started("1.2", '1')),
            (3, passed("1.2", Some(Judge::Qa))),
            (4, done("1.2", Some('3'))),
            (5, done("1.3", None)),
        ]);
        // An agent may commit more than once; somebody else committed the last one.
        let chain = ['2', '3', '4'].map(oid);
        let owner = |digit| facts.owner(&oid(digit), &chain).map(ToString::to_string);
        assert_eq!(owner('2').as_deref(), Some("1.2"));
        assert_eq!(owner('3').as_deref(), Some("1.2"));
        assert_eq!(owner('4'), None);
        assert_eq!(facts.green_at(&"1.1".into()), Some(&oid('1')));
        assert_eq!(facts.green_at(&"1.3".into()), Some(&oid('3')), "it changed nothing");
        assert_eq!((facts.judge(&"1.2".into()), facts.judge(&"1.1".into())), (Some(Judge::Qa), None));
    }
}

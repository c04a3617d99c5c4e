//! A simulated forge: all is well, except for what a test says.

use engine::{
    Action, Check, CheckLog, CheckState, Event, ForgeAction, ForgeReport, Kept, Look, MergeState, Openness,
    Published, PullRequestEventKind, PullRequestRules, Review, ReviewState, Rules, Thread, Toggle, What,
};

use crate::scenario::{off, script};
use crate::script::{Script, decl, plan};
use crate::world::World;

/// What the forge does; nothing where all is well.
pub(crate) type Hub = fn(&Sight<'_>) -> Option<ForgeReport>;

/// What the forge's answer may depend on. All of it is in the record, so that a crash changes nothing.
pub(crate) struct Sight<'a> {
    pub(crate) action: &'a ForgeAction,
    pub(crate) world: &'a World,
}

impl Sight<'_> {
    /// The push that is watched.
    pub(crate) fn cycle(&self) -> u32 {
        self.world.state.pull_request().cycles()
    }

    /// How often this has happened.
    pub(crate) fn count(&self, kind: PullRequestEventKind) -> usize {
        let is_same =
            |event: &&Event| matches!(&event.what, What::PullRequest(event) if event.kind() == kind);
        self.world.journal.iter().filter(is_same).count()
    }

    /// The look, if it is one.
    pub(crate) fn look(&self) -> Option<Look> {
        matches!(self.action, ForgeAction::Look { .. }).then(|| fine(&head(self.world)))
    }
}

/// A pull request at which all is well.
pub(crate) fn fine(head: &str) -> Look {
    Look {
        openness: Openness::Open,
        head: head.to_owned(),
        merge: MergeState::Fine,
        checks: vec![check("build", CheckState::Passed)],
        reviews: Vec::new(),
        threads: Vec::new(),
        requested: Vec::new(),
    }
}

pub(crate) fn check(label: &str, state: CheckState) -> Check {
    Check {
        label: label.to_owned(),
        state,
        required: false,
        id: format!("{label}-1"),
        run: Some(7),
        url: String::new(),
        summary: format!("{label} says no"),
    }
}

/// The same check, run again.
pub(crate) fn again(label: &str, state: CheckState) -> Check {
    Check { id: format!("{label}-2"), ..check(label, state) }
}

pub(crate) fn thread(id: &str, comment: &str) -> Thread {
    Thread {
        id: id.to_owned(),
        resolved: false,
        path: "src/a.rs".to_owned(),
        line: Some(3),
        comment: comment.to_owned(),
        author: "mona".to_owned(),
        summary: format!("please change {id}"),
        text: format!("mona: please change {id}"),
    }
}

pub(crate) fn review(author: &str, state: ReviewState, at: &str) -> Review {
    Review {
        id: format!("{author}-{at}"),
        author: author.to_owned(),
        state,
        body: "not like this".to_owned(),
        at: at.to_owned(),
        commit: "c0".to_owned(),
    }
}

pub(crate) fn looked(look: Look) -> Option<ForgeReport> {
    Some(ForgeReport::Looked(Box::new(look)))
}

/// The rules of a run with a pull request.
pub(crate) fn rules() -> Rules {
    let pull_request = PullRequestRules { lifecycle: Toggle::On, ..PullRequestRules::default() };
    Rules { pull_request, ..off() }
}

/// A plan of one task, and a forge.
pub(crate) fn world(hub: Hub, rules: Rules) -> World {
    World::new(&plan(&["5.1"]), Script { forge: Some(hub), ..script() }, rules)
}

fn head(world: &World) -> String {
    format!("c{}", world.commits.len())
}

impl World {
    /// Does something at the forge.
    pub(crate) fn at_forge(&mut self, action: &ForgeAction) -> ForgeReport {
        let hub = self.script.forge;
        let said = hub.and_then(|hub| hub(&Sight { action, world: self }));
        if let Some(report) = said {
            return report;
        }
        match action {
            ForgeAction::Publish { .. } => ForgeReport::Published(Published {
                number: 7,
                url: "https://forge/7".to_owned(),
                branch: "feature".to_owned(),
                base: "main".to_owned(),
                head: head(self),
                series: "5.".to_owned(),
                warnings: Vec::new(),
            }),
            ForgeAction::Look { .. } => ForgeReport::Looked(Box::new(fine(&head(self)))),
            ForgeAction::Rerun { .. } => ForgeReport::Rerun { refused: Vec::new() },
            ForgeAction::ReadLogs { checks, .. } => {
                let log = |label: &String| CheckLog {
                    label: label.clone(),
                    step: Some("Test".to_owned()),
                    summary: format!("{label} is broken"),
                    tail: "…\nboom".to_owned(),
                    file: None,
                    line: None,
                };
                ForgeReport::LogsRead(checks.iter().map(|check| log(&check.label)).collect())
            }
            ForgeAction::Write { tasks } => self.write(tasks),
            ForgeAction::Reply { .. } => ForgeReport::Replied { failed: Vec::new() },
            ForgeAction::RequestReview { .. } => ForgeReport::ReviewRequested { failed: Vec::new() },
            ForgeAction::Integrate { .. } => {
                let key = Action::Forge(action.clone()).key();
                self.commits.insert(key, "taken in".to_owned());
                ForgeReport::Integrated
            }
            ForgeAction::Merge { .. } => ForgeReport::Merged,
        }
    }

    fn write(&mut self, tasks: &[plan::TaskId]) -> ForgeReport {
        for task in tasks {
            if self.file.iter().all(|known| known.id != *task) {
                self.file.push(decl(task.name()));
            }
        }
        let decls = self.file.iter().filter(|decl| tasks.contains(&decl.id)).cloned().collect();
        ForgeReport::Written { decls, kept: Kept::InPlan }
    }
}

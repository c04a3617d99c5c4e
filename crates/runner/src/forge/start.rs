//! The start of jobs at the forge: each in a thread of its own, whose end is a message like any other.

use std::{fs, thread};

use engine::{ActionKey, ForgeAction, ForgeReport, Obstacle, Origin, Place, Seen};
use plan::TaskId;

use crate::attempt::dispatch::Purpose;
use crate::error::RunError;
use crate::forge::call::{CallContext, Caller};
use crate::forge::description::description;
use crate::forge::jobs::{Integration, Job, Merge, Reply};
use crate::forge::proposal::{self, Proposal};
use crate::forge::publish::Publication;
use crate::forge::remote::Slug;
use crate::inbox::Message;
use crate::run::effects::{Effects, Flight};

impl Effects<'_, '_> {
    /// Starts something at the forge.
    pub(crate) fn start_forge(&mut self, key: ActionKey, action: &ForgeAction) -> Result<(), RunError> {
        if let ForgeAction::Write { tasks } = action {
            let report = self.write_requests(tasks)?;
            self.see(Seen::Forge { key, report });
            return Ok(());
        }
        let Some(job) = self.job(action) else {
            let obstacle = Obstacle::Refused {
                command: key.clone(),
                detail: "the record has no address of the pull request".to_owned(),
            };
            self.see(Seen::Forge { key, report: ForgeReport::Obstructed(obstacle) });
            return Ok(());
        };
        let (caller, stopper) = Caller::new(self.forge_context()?);
        let sender = self.inbox_sender();
        self.depart(key.clone(), Flight { handle: None, purpose: Purpose::Forge(stopper) });
        let started = thread::Builder::new().name("forge".to_owned()).spawn(move || {
            let report = job.run(&caller);
            // The loop may be over; then nobody waits for the report.
            let _ = sender.send(Message::Forge(key, Box::new(report)));
        });
        started.map(|_| ()).map_err(RunError::io("start a thread for", &self.world.file.home))
    }

    /// The folder and the environment of commands.
    pub(crate) fn forge_context(&self) -> Result<CallContext, RunError> {
        let dir = self.world.file.home.join("forge");
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let env = self.markers(&dir);
        Ok(CallContext {
            runtime: self.world.runtime.clone(),
            root: self.world.project.root().to_owned(),
            dir,
            env,
        })
    }

    fn job(&self, action: &ForgeAction) -> Option<Job> {
        let place = self.state.pull_request().place();
        let slug = || place.and_then(|place| Slug::of_pull_request(&place.url));
        let rules = &self.world.settings.rules.pull_request;
        Some(match action {
            ForgeAction::Publish { .. } => Job::Publish(self.publication()),
            ForgeAction::Look { .. } => Job::Look { slug: slug()?, number: place?.number },
            ForgeAction::Rerun { checks, .. } => Job::Rerun { slug: slug()?, checks: checks.clone() },
            ForgeAction::ReadLogs { checks, .. } => Job::ReadLogs { slug: slug()?, checks: checks.clone() },
            ForgeAction::Reply { tasks } => Job::Reply {
                slug: slug()?,
                replies: tasks.iter().filter_map(|task| self.reply(task, place?)).collect(),
                answers: rules.reply,
                resolves: rules.resolve,
            },
            ForgeAction::RequestReview { reviewers, .. } => {
                Job::RequestReview { slug: slug()?, number: place?.number, reviewers: reviewers.clone() }
            }
            ForgeAction::Integrate { source, .. } => Job::Integrate(Integration {
                git: self.world.files.git().cloned(),
                source: *source,
                base: place.map(|place| place.base.clone()),
                upstream: slug(),
                pushed: place.map(|place| place.head.clone()),
            }),
            ForgeAction::Merge { head } => Job::Merge(Merge {
                slug: slug()?,
                number: place?.number,
                url: place?.url.clone(),
                head: head.clone(),
                method: rules.merge?,
            }),
            ForgeAction::Write { .. } => return None,
        })
    }

    fn publication(&self) -> Publication {
        let chosen = &self.world.settings.pull_request;
        let title = chosen.title.clone().unwrap_or_else(|| proposal::title(&self.world.file.name));
        Publication {
            git: self.world.files.git().cloned(),
            proposal: Proposal {
                title,
                body: description(self.state, &self.world.file.name),
                draft: chosen.draft,
                base: chosen.base.clone(),
            },
            series: self.world.plans.pull_request_series(),
            number: self.state.pull_request().place().map(|place| place.number),
            pushed: self.state.pull_request().place().map(|place| place.head.clone()),
        }
    }

    fn reply(&self, id: &TaskId, place: &Place) -> Option<Reply> {
        let request = self.state.pull_request().request(id)?;
        let Origin::Thread { thread, .. } = &request.origin else { return None };
        let commit = self.state.task(id).and_then(|task| task.commit.clone());
        Some(Reply {
            task: id.clone(),
            thread: thread.clone(),
            title: request.title(),
            commit: commit.unwrap_or_else(|| place.head.clone()),
        })
    }
}

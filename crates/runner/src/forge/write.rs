//! Writes tasks that the pull request asks for into the plan, and notes why.

use engine::{End, ForgeReport, Kept, LimitReached, Origin, Request, StopReason};
use plan::TaskId;

use crate::error::RunError;
use crate::record::Progress;
use crate::run::effects::Effects;

impl Effects<'_, '_> {
    /// Writes the tasks, unless they are there already, and commits that before anything else happens.
    pub(super) fn write_requests(&mut self, tasks: &[TaskId]) -> Result<ForgeReport, RunError> {
        let path = self.world.file.path.clone();
        let requests: Vec<Request> =
            tasks.iter().filter_map(|id| self.state.pull_request().request(id)).cloned().collect();
        let kept =
            self.world.plans.insert_requests(&requests).map_err(RunError::io("write a task into", &path))?;
        self.note_failures(&requests)?;
        let names: Vec<&str> = tasks.iter().map(TaskId::name).collect();
        self.commit_spec(&format!("chore(spec): add task {}", names.join(", ")))?;
        if kept == Kept::InRecord {
            self.note(format!("kept in the record, not in the plan: task {}", names.join(", ")));
        }
        let decls = requests.iter().filter_map(|request| self.world.plans.requested_decl(request)).collect();
        Ok(ForgeReport::Written { decls, kept })
    }

    /// Notes that a limit of the pull request was reached, and which.
    pub(crate) fn note_limit(&mut self, progress: &mut Progress) -> Result<(), RunError> {
        let Some(End::Stopped(StopReason::PullRequest { limit, url })) = self.state.end() else {
            return Ok(());
        };
        let what = match limit {
            LimitReached::Cycles { limit } => format!("{limit} pushes were watched"),
            LimitReached::Time { seconds, awaited } => {
                format!("{} hours went by; it waited for {awaited}", seconds / 3_600)
            }
            LimitReached::CiFixes { limit, checks } => {
                format!("CI is still red after {limit} rounds of fixes: {}", checks.join(", "))
            }
        };
        let url = url.clone().unwrap_or_else(|| "before it was created".to_owned());
        progress.learnings(&[format!("Pull request stopped ({url}): {what}")]);
        let path = self.world.file.progress();
        progress.save().map_err(RunError::io("write", &path))?;
        if let Err(error) = self.commit_spec("chore(spec): note where the pull request stopped") {
            self.note(format!("the progress file could not be committed: {error}"));
        }
        Ok(())
    }

    /// Red checks are worth remembering.
    fn note_failures(&mut self, requests: &[Request]) -> Result<(), RunError> {
        let lines: Vec<String> = requests.iter().filter_map(learning).collect();
        let path = self.world.file.progress();
        let mut progress =
            Progress::open(&path, &self.world.file.name).map_err(RunError::io("read", &path))?;
        progress.learnings(&lines);
        progress.save().map_err(RunError::io("write", &path))
    }
}

fn learning(request: &Request) -> Option<String> {
    let head = request.head.get(..7).unwrap_or(&request.head);
    match &request.origin {
        Origin::Check { check, .. } => {
            Some(format!("CI check {check} failed at {head}: {} (task {})", request.summary, request.id))
        }
        Origin::Thread { author, .. } | Origin::Review { author, .. } => {
            Some(format!("Review by {author} at {head}: {} (task {})", request.summary, request.id))
        }
    }
}

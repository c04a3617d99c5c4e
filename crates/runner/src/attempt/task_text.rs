//! The text that work was made for. It is what the work is judged by and committed under, whatever becomes of the plan
//! meanwhile; and where the plan has another one at the next start, the work is not taken in.

use engine::{Attempt, Event, Status, TaskDecl, What};
use plan::{Dialect, Script, TaskId};

use crate::check;
use crate::error::RunError;
use crate::plan_file::Excerpt;
use crate::record::done::{TRAILER, TRAILER_SEARCH};
use crate::run::effects::Effects;

impl Effects<'_, '_> {
    /// The text that the work of a task is for: as at dispatch, or as in the plan where there was none.
    pub(crate) fn excerpt_of_work(&self, id: &TaskId) -> Option<Excerpt> {
        let task = self.state.task(id)?;
        let is_made = task.status.is_active() && task.status != Status::Recording { attempt: None };
        if !is_made {
            return self.world.plans.excerpt(self.state, id);
        }
        let place = self.attempt_place(id, Attempt(task.attempted), task.dispatch);
        Excerpt::of(self.world.file, &self.task_text(id, &place))
    }

    /// The script that proves a task with this text: the text's own, and the author's where nobody confirmed that.
    pub(crate) fn script_of(&self, id: &TaskId, excerpt: &Excerpt) -> Option<Script> {
        let own = check::script_of(excerpt);
        let former = self.state.task(id).and_then(|task| task.grounds.former.as_ref());
        let Some(former) = former.filter(|former| !former.commands.is_empty()) else { return own };
        let own = own.map(|script| script.snippets).unwrap_or_default();
        let own = own.into_iter().filter(|command| !former.commands.contains(command));
        Some(Script::new(former.commands.iter().cloned().chain(own).collect()))
    }

    /// Before a run goes on: tasks with finished work whose text is another one now, and whose work is good all the same.
    pub(crate) fn find_holding(&mut self, tasks: &[TaskDecl]) -> Result<Vec<TaskId>, RunError> {
        let mut holding = Vec::new();
        for id in engine::outdated(self.state, tasks) {
            if self.is_recorded(&id)? || self.is_alike(&id) {
                holding.push(id);
            }
        }
        Ok(holding)
    }

    /// The attempt whose work was about to be recorded; none within if a command alone had proved the task.
    fn recorded_attempt(&self, id: &TaskId) -> Option<Option<Attempt>> {
        let Status::Recording { attempt } = self.state.task(id)?.status else { return None };
        Some(attempt)
    }

    /// True if the plan or the history shows already what the program before did not get to note.
    fn is_recorded(&self, id: &TaskId) -> Result<bool, RunError> {
        let Some(attempt) = self.recorded_attempt(id) else { return Ok(false) };
        // What comes from a work tree of its own is committed before its box is ticked.
        let is_ticked = !self.is_isolated(id)
            && self.world.plans.is_ticked(id)
            && self.world.file.dialect == Dialect::Spec;
        let Some(git) = self.world.files.git().filter(|_| !is_ticked) else { return Ok(is_ticked) };
        Ok(git.find_trailer(TRAILER, &self.trailer(id, attempt), TRAILER_SEARCH)?.is_some())
    }

    /// True if the text differs from the one at dispatch in nothing that matters. An agent can lay hands on what was
    /// kept of that, so it counts only if it is the one that the record knows.
    fn is_alike(&self, id: &TaskId) -> bool {
        let Some(task) = self.state.task(id) else { return false };
        let kept = self.excerpt_of_work(id).filter(|kept| kept.digest() == task.decl.digest);
        let now = self.world.plans.excerpt(self.state, id);
        kept.zip(now).is_some_and(|(kept, now)| kept.says_the_same(&now))
    }

    /// Once a run is opened: says whose work is not taken in. Its box is open again, whoever ticked it.
    pub(crate) fn tell_of_outdated(&mut self, event: &Event) -> Result<(), RunError> {
        let What::Opened(opened) = &event.what else { return Ok(()) };
        let is_done = |id: &TaskId| self.state.task(id).is_none_or(|task| task.status == Status::Done);
        let again: Vec<&TaskId> = opened.outdated.iter().filter(|id| !is_done(id)).collect();
        for id in &again {
            self.world.plans.untick(id).map_err(RunError::io("write", &self.world.file.path))?;
        }
        let names: Vec<String> = again.iter().map(ToString::to_string).collect();
        let (nouns, begin) = if names.len() == 1 { ("task", "it begins") } else { ("tasks", "they begin") };
        if !names.is_empty() {
            self.note(format!(
                "the plan has another text of {nouns} {} than the one that was worked on, so {begin} again with what is \
                 there; no attempt is counted",
                names.join(", ")
            ));
        }
        Ok(())
    }
}

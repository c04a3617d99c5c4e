//! Verifying ahead: while earlier work still comes in, what the project will be with it and with the work of a task is put
//! together in that task's own tree, and verified there. Once the work comes in and makes the project just that, it need
//! not be verified again. Where verify commands are slow, those of a batch then run side by side instead of one after
//! another.
//!
//! ```text
//!            put together      verified        looked at again
//!  (nothing) ───────────▶ tree ────────▶ green ─────────────▶ proven ──▶ believed, if it is what came in
//!                 │               │                │
//!                 └───────────────┴────────────────┴──▶ void: verified in the project, as if nobody had looked
//! ```
//!
//! Only green is believed, and only of the very same files: red, or anything odd, is left to the project itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use engine::{ActionKey, ChecksReport, Dispatch, Seen, Status, Task};
use plan::{Script, TaskId};

use crate::atomic;
use crate::attempt::{Purpose, verdict};
use crate::book::Excerpt;
use crate::check;
use crate::driver::Driver;
use crate::error::RunError;
use crate::git::{GitError, Oid};
use crate::isolation::Done;
use crate::offstage::Site;
use crate::process::Ended;
use crate::tree_notes::ahead_file;

/// How often it is tried for one attempt: what comes in before it may turn out otherwise.
const TRIES_MAX: u32 = 3;

/// An attempt's work: the task, and its agent's start.
type Work = (TaskId, Dispatch);

/// What has been looked at ahead, and what is.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    looks: BTreeMap<Work, Look>,
    tries: BTreeMap<Work, u32>,
}

/// A look at work together with what comes in before it.
#[derive(Debug)]
struct Look {
    /// What was expected to come in before.
    behind: Vec<Work>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Under way; with what is verified, once that is put together.
    UnderWay(Option<Oid>),
    /// Green.
    Proven(Oid),
    /// It says nothing.
    Void,
}

/// How far such a look has come.
#[derive(Debug)]
pub(crate) enum Step {
    /// The tree is put together; the verify command is to leave its words in this folder.
    Assembly { script: Script, dir: PathBuf },
    /// The verify command runs on it.
    Verify { script: Script, tree: Oid },
    /// It was green, and the tree is looked at once more.
    Inspection,
}

/// What is known of work that came in and is to be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreseen {
    Green,
    /// It will show.
    Pending,
    Nothing,
}

impl Driver<'_> {
    /// Starts to look at what can be looked at ahead, and gives up what has turned out otherwise.
    pub(crate) fn look_ahead(&mut self) -> Result<(), RunError> {
        if !self.settings.verify_ahead.is_on() {
            return Ok(());
        }
        self.give_up_looks();
        let most = usize::try_from(self.state.rules().map_or(1, |rules| rules.parallel.jobs)).unwrap_or(1);
        let line = engine::coming_in(&self.state, most.saturating_add(1));
        // What is being committed is in the history at any moment.
        if line.first().is_some_and(|first| matches!(first.status, Status::Recording { .. })) {
            return Ok(());
        }
        let line: Vec<Work> = line.into_iter().map(work_of).collect();
        for place in 1..line.len() {
            let (behind, rest) = line.split_at(place);
            if let Some(work) = rest.first().filter(|work| self.ahead.may_look(work)) {
                self.start_look(work, behind)?;
            }
        }
        Ok(())
    }

    /// What was looked at ahead of something else than what comes in says nothing.
    fn give_up_looks(&mut self) {
        let state = &self.state;
        let is_on_its_way = |(id, dispatch): &Work| {
            state.task(id).is_some_and(|task| {
                let is_due = matches!(task.status, Status::Finished { .. }) || task.status.is_coming_back();
                task.dispatch == *dispatch && (is_due || task.status == Status::Done)
            })
        };
        let is_off = |(work, look): (&Work, &Look)| {
            let is_off = !is_on_its_way(work) || !look.behind.iter().all(is_on_its_way);
            (is_off && !matches!(look.stage, Stage::Void)).then(|| work.clone())
        };
        let off: Vec<Work> = self.ahead.looks.iter().filter_map(is_off).collect();
        off.iter().for_each(|work| self.give_up_look(work));
        let over: Vec<Work> = self.ahead.looks.iter().filter_map(void).cloned().collect();
        for work in over {
            if !self.is_under_way(&key_of(&work)) {
                self.ahead.looks.remove(&work);
            }
        }
    }

    fn give_up_look(&mut self, work: &Work) {
        self.ahead.settle(work, Stage::Void);
        self.stop_flight(&key_of(work));
    }

    fn start_look(&mut self, work: &Work, behind: &[Work]) -> Result<(), RunError> {
        *self.ahead.tries.entry(work.clone()).or_default() += 1;
        let Some((script, dir)) = self.script_ahead(work)? else { return Ok(()) };
        let Some(site) = self.site(&work.0) else { return Ok(()) };
        let before: Option<Vec<Site>> = behind.iter().map(|(id, _)| self.site(id)).collect();
        // The loop commits, so nothing comes in between this and what the tasks' states say.
        let (Some(before), Some(head)) = (before, site.git.head()?) else { return Ok(()) };
        let look = Look { behind: behind.to_vec(), stage: Stage::UnderWay(None) };
        self.ahead.looks.insert(work.clone(), look);
        let step = Step::Assembly { script, dir };
        let purpose = Purpose::Ahead { task: work.0.clone(), dispatch: work.1, step };
        // What git cannot do now it says when the work comes in.
        self.beside(key_of(work), purpose, move || Done::Ahead(site.assemble(&before, head).unwrap_or(None)))
    }

    /// The verify command, unless it names what is not in the task's own tree or differs there.
    fn script_ahead(&self, (id, dispatch): &Work) -> Result<Option<(Script, PathBuf)>, RunError> {
        let Some(Status::Finished { attempt }) = self.state.task(id).map(|task| &task.status) else {
            return Ok(None);
        };
        let dir = self.attempt_dir(id, *attempt, *dispatch)?;
        let excerpt = Excerpt::read(self.file.dialect, &self.task_text(id, &dir));
        let script = excerpt.as_ref().and_then(check::script_of);
        let plan = self.file.path.file_name().unwrap_or_default();
        let elsewhere = [self.project.root().as_os_str(), plan].map(|place| place.to_string_lossy());
        let is_local = |script: &Script| !elsewhere.iter().any(|place| script.text.contains(place.as_ref()));
        Ok(script.filter(is_local).map(|script| (script, dir.join("ahead"))))
    }

    /// What a step that was done beside the loop amounts to.
    pub(crate) fn looked(&mut self, work: Work, step: Step, tree: Option<Oid>) -> Result<Seen, RunError> {
        let is_wanted = self.ahead.is_under_way(&work) && self.state.end().is_none();
        match (step, tree.filter(|_| is_wanted)) {
            (Step::Assembly { script, dir }, Some(tree)) => {
                self.ahead.settle(&work, Stage::UnderWay(Some(tree.clone())));
                fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
                let step = Step::Verify { script: script.clone(), tree };
                let purpose = Purpose::Ahead { task: work.0.clone(), dispatch: work.1, step };
                self.start_script(key_of(&work), (&script, self.workplace(&work.0)), &dir, purpose);
            }
            (Step::Inspection, Some(tree)) => self.ahead.settle(&work, Stage::Proven(tree)),
            (Step::Assembly { .. } | Step::Verify { .. } | Step::Inspection, _) => {
                self.ahead.settle(&work, Stage::Void);
            }
        }
        Ok(Seen::TimePassed)
    }

    /// The verify command has ended. What it did to the files is looked at, if it is green.
    pub(crate) fn verified_ahead(&mut self, work: Work, step: Step, ended: &Ended) -> Result<Seen, RunError> {
        let is_wanted = self.ahead.is_under_way(&work) && self.state.end().is_none();
        if let (true, Step::Verify { script, tree }, Some(site)) = (is_wanted, step, self.site(&work.0))
            && verdict(&script, ended).failure.is_none()
        {
            let purpose = Purpose::Ahead { task: work.0.clone(), dispatch: work.1, step: Step::Inspection };
            let inspect = move || Done::Ahead(site.holds(&tree).unwrap_or(false).then_some(tree));
            self.beside(key_of(&work), purpose, inspect)?;
        } else {
            self.ahead.settle(&work, Stage::Void);
        }
        Ok(Seen::TimePassed)
    }

    /// What is known of work that came in and is to be verified.
    pub(crate) fn foreseen(&mut self, id: &TaskId, dispatch: Dispatch) -> Result<Foreseen, RunError> {
        let work = (id.clone(), dispatch);
        let (tree, proven) = match self.ahead.looks.get(&work).map(|look| &look.stage) {
            None => return Ok(Foreseen::Nothing),
            Some(Stage::UnderWay(tree)) => (tree.clone(), Foreseen::Pending),
            Some(Stage::Proven(tree)) => (Some(tree.clone()), Foreseen::Green),
            Some(Stage::Void) if self.is_under_way(&key_of(&work)) => return Ok(Foreseen::Pending),
            Some(Stage::Void) => return Ok(Foreseen::Nothing),
        };
        let (Some(tree), Some(site)) = (tree, self.site(id)) else { return Ok(proven) };
        if site.git.lands_as(&tree, &site.dropped)? {
            return Ok(proven);
        }
        self.give_up_look(&work);
        Ok(if self.is_under_way(&key_of(&work)) { Foreseen::Pending } else { Foreseen::Nothing })
    }

    /// Work is what was verified ahead.
    pub(crate) fn join_as_foreseen(&mut self, id: &TaskId, dispatch: Dispatch) {
        self.note(format!("task {id} was verified together with all that in its work tree, ahead"));
        self.see(Seen::JoinEnded { task: id.clone(), dispatch, report: ChecksReport::default() });
    }

    /// Whether something still runs in the tree of a task.
    pub(crate) fn is_looked_at(&self, id: &TaskId) -> bool {
        let mut looks = self.ahead.looks.keys().filter(|(task, _)| task == id);
        looks.any(|work| self.is_under_way(&key_of(work)))
    }
}

impl Ahead {
    fn may_look(&self, work: &Work) -> bool {
        !self.looks.contains_key(work) && self.tries.get(work).is_none_or(|tries| *tries < TRIES_MAX)
    }

    fn is_under_way(&self, work: &Work) -> bool {
        self.looks.get(work).is_some_and(|look| matches!(look.stage, Stage::UnderWay(_)))
    }

    fn settle(&mut self, work: &Work, stage: Stage) {
        if let Some(look) = self.looks.get_mut(work) {
            look.stage = stage;
        }
    }
}

impl Site {
    /// Puts into the tree what the project, which is at `head`, will be with the work of others and then with this.
    fn assemble(&self, before: &[Site], head: Oid) -> Result<Option<Oid>, GitError> {
        // An earlier look may have been given up, or the program have died.
        self.leave_ahead();
        let mut tree = head;
        for site in before.iter().chain([self]) {
            // Not everybody changes something.
            let Some(commit) = site.git.kept(&site.keep)? else { continue };
            let joined = site.base_of_work()?.and_then(|base| self.git.joined_plainly(&base, &tree, &commit));
            // By others' attributes, files that are there already would be written otherwise.
            let joined = match joined {
                Some(joined) if !self.git.changes_attributes(&tree, &joined)? => Some(joined),
                Some(_) | None => None,
            };
            let Some(joined) = joined else { return Ok(None) };
            tree = joined;
        }
        let (Some(base), Some(packed)) = (self.base(), self.git.kept(&self.keep)?) else { return Ok(None) };
        let note = ahead_file(&self.tree);
        atomic::replace(&note, tree.as_str()).map_err(GitError::io("write", &note))?;
        let furnished = self.furnished();
        let is_changed = self.git.change_tree(&self.work(&base, &furnished), &packed, &tree)?;
        // A verify command may have left something when it ran on the work alone.
        Ok((is_changed && self.holds(&tree)?).then_some(tree))
    }

    /// Whether the tree is what was put into it.
    fn holds(&self, tree: &Oid) -> Result<bool, GitError> {
        self.git.tree_holds(&self.work(tree, &self.furnished()), tree)
    }

    /// Takes out of a tree that stays what was put there to be verified with the work.
    pub(crate) fn leave_ahead(&self) {
        let note = ahead_file(&self.tree);
        let noted = fs::read_to_string(&note).ok().and_then(|text| Oid::parse(text.trim()));
        if let (Some(tree), Some(base), Ok(Some(packed))) = (noted, self.base(), self.git.kept(&self.keep))
            && self.git.change_tree(&self.work(&base, &self.furnished()), &tree, &packed).is_ok()
        {
            // One that stays is looked at again.
            let _ = fs::remove_file(note);
        }
    }
}

fn void<'a>((work, look): (&'a Work, &Look)) -> Option<&'a Work> {
    matches!(look.stage, Stage::Void).then_some(work)
}

fn work_of(task: &Task) -> Work {
    (task.id().clone(), task.dispatch)
}

fn key_of((id, dispatch): &Work) -> ActionKey {
    format!("ahead {id} {dispatch}")
}

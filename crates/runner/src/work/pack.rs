//! The work that an attempt left in its slot: looked at beside the loop, and packed as a commit on top of what the slot
//! showed. The next attempt goes on from it, or it comes in.

use std::path::Path;

use engine::{ActionKey, AgentReport, Attempt, Cause, CheckFailure, Dispatch, Failing, FileState, Seen};
use plan::TaskId;

use crate::atomic;
use crate::attempt::dispatch::{AgentEnded, Purpose};
use crate::error::RunError;
use crate::git::{Change, Git, GitError, Keep, Left, Oid, Paths, Place};
use crate::record::done::TRAILER;
use crate::run::effects::Effects;
use crate::work::places::Done;
use crate::work::project_files::{listed, words};

/// The files that an attempt left in a place.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub touched: Vec<FileState>,
    /// The work as a commit of its own, and the one that it was made on.
    pub packed: Option<(Oid, Option<Oid>)>,
    /// The reason why no commit can hold it.
    pub unfit: Option<CheckFailure>,
    /// Files of the plan that it changed, which is dropped.
    pub dropped: Vec<String>,
}

/// The way work in a slot becomes a commit.
#[derive(Debug)]
pub(crate) struct Packing {
    git: Git,
    pub place: Place,
    message: String,
    trailer: String,
    keep: Keep,
}

impl Packing {
    /// Looks at the place and packs what differs from a commit. Nothing that a command leaves afterwards is in it.
    pub(crate) fn pack(&self, base: &Oid) -> Result<Look, GitError> {
        let left = self.git.look(&self.place, base.as_str())?;
        let unsaved = self.git.unsaved_submodules(&self.place.root)?.into_iter().collect::<Vec<_>>();
        let commit = if left.changes.is_empty() {
            self.git.drop_kept(&self.keep)?;
            None
        } else {
            let trailer = (TRAILER, self.trailer.as_str());
            Some(self.git.pack((base, &left.tree), &self.message, trailer, &self.keep)?)
        };
        let unfit = unfit(&left, &unsaved);
        Ok(Look {
            touched: touched(&left.changes),
            packed: Some((base.clone(), commit)),
            unfit,
            dropped: Vec::new(),
        })
    }
}

impl Packing {
    /// Packs files of the work again that have become others since; none if none have.
    fn repack(&self, (base, commit): (&Oid, &Oid)) -> Result<Option<Oid>, GitError> {
        let now = self.git.snapshot(&self.place)?;
        let touched = self.git.changed_between(base.as_str(), commit.as_str())?;
        let changed = self.git.changed_between(commit.as_str(), now.as_str())?;
        let changed: Vec<String> = changed.into_iter().filter(|path| touched.contains(path)).collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let scratch = self.place.index.with_extension("scratch");
        let paths = Paths { tree: &self.place.root, paths: &changed, scratch: &scratch };
        let tree = self.git.tree_of_paths(commit.as_str(), &paths)?;
        self.git.pack((base, &tree), &self.message, (TRAILER, &self.trailer), &self.keep).map(Some)
    }
}

impl Effects<'_, '_> {
    /// Looks at what an attempt left in its slot, beside the loop.
    pub(crate) fn look_at_slot(
        &mut self,
        key: ActionKey,
        (task, dispatch): (TaskId, Dispatch),
        ended: AgentEnded,
    ) -> Result<(), RunError> {
        let base = self.running_baseline(&task).head.as_deref().and_then(Oid::parse);
        let packing = self.packing(&task);
        let plan = ended.plan.clone();
        let purpose = Purpose::Look { task, dispatch, ended: Box::new(ended) };
        self.beside(key, purpose, move || {
            let (Some(packing), Some(base)) = (packing, base) else { return Done::Look(Ok(Look::default())) };
            let changed = plan.iter().filter(|(file, before)| fingerprint(file) != *before);
            let root = packing.place.root.clone();
            let shown = |file: &Path| file.strip_prefix(&root).unwrap_or(file).display().to_string();
            let dropped = changed.map(|(file, _)| shown(file)).collect();
            Done::Look(packing.pack(&base).map(|look| Look { dropped, ..look }))
        })
    }

    /// The packing of the work in a task's slot.
    pub(crate) fn packing(&self, task: &TaskId) -> Option<Packing> {
        let git = self.world.files.git()?.clone();
        let attempt = self.running_attempt(task);
        Some(Packing {
            place: self.place_of(task),
            message: self.landing_message(task),
            trailer: self.trailer(task, attempt),
            keep: self.keep(&git, task),
            git,
        })
    }

    /// Nothing is lost and no attempt spent, but nobody can go on. What to do comes before git's own words, which may
    /// be many.
    pub(crate) fn obstructed(&self, task: &TaskId, error: &GitError) -> Seen {
        let place = self.workplace(task);
        let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        Seen::Obstructed {
            reason: format!("git cannot take in what task {task} left in {}{hint}: {error}", place.display()),
        }
    }

    fn running_attempt(&self, id: &TaskId) -> Option<Attempt> {
        match self.state.task(id).map(|task| &task.status) {
            Some(engine::Status::Running(running)) => Some(running.attempt),
            Some(_) | None => None,
        }
    }

    pub(crate) fn looked(
        &mut self,
        (task, dispatch): (TaskId, Dispatch),
        look: Result<Look, GitError>,
        AgentEnded { end, elapsed, learnings: reported, .. }: AgentEnded,
    ) -> Result<Seen, RunError> {
        let look = look.unwrap_or_else(|error| {
            let unfit = Some(unreadable(&error));
            Look { unfit, ..Look::default() }
        });
        if !look.dropped.is_empty() {
            let files = listed(&look.dropped);
            self.note_of(&task, format!("task {task} changed files of the plan, which is dropped: {files}"));
        }
        if let Some((base, commit)) = &look.packed {
            let (base, commit) = (base.as_str().to_owned(), commit.as_ref().map(|it| it.as_str().to_owned()));
            self.see(Seen::Packed { task: task.clone(), dispatch, base, commit });
        }
        let kept = look.packed.as_ref().and_then(|(_, commit)| commit.as_ref());
        self.tell_of_skipped_work(&task, &look.touched, kept);
        self.fetch_progress(&task)?;
        let mut learnings = self.read_learnings(&task);
        learnings.extend(reported);
        // Nobody is blamed for commits that are gone from the project's history: several are at work. They are missed
        // when something is to come in on top.
        let report = AgentReport {
            end,
            tampered: Vec::new(),
            lost_commit: None,
            touched: look.touched,
            unfit: look.unfit,
            learnings,
            elapsed,
        };
        Ok(Seen::AgentEnded { task, dispatch, report })
    }

    /// After the agent of a task that is left out has ended: what it did is nobody's any more, and stays.
    pub(crate) fn tell_of_skipped_work(&mut self, task: &TaskId, touched: &[FileState], kept: Option<&Oid>) {
        if !self.state.is_leaving(task) || touched.is_empty() {
            return;
        }
        let paths: Vec<String> = touched.iter().map(|file| file.path.clone()).collect();
        let place = match kept {
            Some(commit) => format!("is kept as commit {commit}"),
            None => "stays in the project and is not committed".to_owned(),
        };
        let paths = listed(&paths);
        self.note_of(task, format!("what the agent had changed for skipped task {task} {place}: {paths}"));
    }

    /// Packs what a green verify command made of the files that an attempt had changed in its slot, as one that formats
    /// them does: it is part of the work. What else it left there is not.
    pub(crate) fn pack_verified(&mut self, id: &TaskId, dispatch: Dispatch) -> Result<(), RunError> {
        let Some(task) = self.state.task(id).filter(|task| task.is_isolated()) else { return Ok(()) };
        let work = task
            .work
            .as_ref()
            .and_then(|work| Some((Oid::parse(&work.base)?, Oid::parse(work.commit.as_deref()?)?)));
        let (Some((base, commit)), Some(packing)) = (work, self.packing(id)) else { return Ok(()) };
        let attempt = self.checked_attempt(id);
        let packing = Packing { trailer: self.trailer(id, attempt), ..packing };
        let Some(commit) = packing.repack((&base, &commit))? else { return Ok(()) };
        let (base, commit) = (base.as_str().to_owned(), Some(commit.as_str().to_owned()));
        self.see(Seen::Packed { task: id.clone(), dispatch, base, commit });
        Ok(())
    }

    fn checked_attempt(&self, id: &TaskId) -> Option<Attempt> {
        match self.state.task(id).map(|task| &task.status) {
            Some(engine::Status::Checking(checking)) => Some(checking.attempt),
            Some(_) | None => None,
        }
    }

    /// Fetches the progress that an attempt noted in its slot, to be merged from beside the plan in the order in which
    /// tasks come in.
    fn fetch_progress(&self, task: &TaskId) -> Result<(), RunError> {
        let to = self.progress_file(task);
        let from = self.workplace(task).join(self.world.project.relative(&to));
        match atomic::read(&from) {
            Ok(text) => atomic::replace(&to, String::from_utf8_lossy(&text).as_bytes())
                .map_err(RunError::io("write", &to)),
            Err(_) => Ok(()),
        }
    }

    /// Before a run goes on: what attempts that were cut off left in their slots is packed, and the slots are not trusted.
    pub(crate) fn pack_lost_attempts(&mut self) -> Result<(), RunError> {
        let lost: Vec<(TaskId, Dispatch, Option<Oid>)> = self
            .state
            .attention()
            .filter(|task| task.is_isolated())
            .filter_map(|task| {
                let engine::Status::Running(running) = &task.status else { return None };
                let head = running.head.as_deref().and_then(Oid::parse);
                Some((task.id().clone(), running.dispatch, head))
            })
            .collect();
        for (task, dispatch, head) in lost {
            let slot = self.slot_of(&task);
            let (Some(packing), Some(base)) = (self.packing(&task), head) else { continue };
            // The work tree may never have been made ready, or be gone.
            let is_ready = packing.place.root.is_dir() && packing.place.index.exists();
            let packed = is_ready.then(|| packing.pack(&base));
            match packed {
                Some(Ok(Look { packed: Some((base, Some(commit))), .. })) => {
                    let (base, commit) = (base.as_str().to_owned(), Some(commit.as_str().to_owned()));
                    self.see(Seen::Packed { task, dispatch, base, commit });
                }
                Some(Err(error)) => {
                    self.note(format!(
                        "what the attempt at task {task} left that was cut off is lost: {error}"
                    ));
                }
                Some(Ok(_)) | None => {}
            }
            self.world.slots.iter().for_each(|slots| slots.distrust(slot));
        }
        self.world.slots.iter().for_each(|slots| slots.forget_indexes(None));
        Ok(())
    }
}

/// Changes as the record tells them.
pub(crate) fn touched(changes: &[Change]) -> Vec<FileState> {
    let told =
        |change: &Change| FileState { path: change.path.clone(), state: words(change.kind).to_owned() };
    changes.iter().map(told).collect()
}

/// The reason why no commit of the project's can hold what an attempt left.
pub(crate) fn unfit(left: &Left, unsaved: &[String]) -> Option<CheckFailure> {
    let nested = left.repositories.iter().map(|path| {
        (path, format!(
            "{path} is a repository of its own inside the project, and its files cannot be committed with the project. If \
             they belong to the project, make them plain files (remove {path}/.git); if not, delete {path} or have git \
             ignore it. A repository that is to stay one is added as a submodule (git submodule add). In a work tree of its \
             own, the next attempt begins without {path}."
        ))
    });
    let unreachable = left.unreachable.iter().map(|path| {
        (path, format!(
            "The submodule {path} is at a commit that only this work tree has: it would be gone with it. Push it from inside \
             the submodule, or have the task run in the project itself (`--jobs 1`)."
        ))
    });
    let unsaved = unsaved.iter().map(|path| {
        (path, format!(
            "The submodule {path} has uncommitted changes. Only commits of a submodule are part of the work: commit them \
             inside of it (git -C {path} commit), or take them back."
        ))
    });
    let (names, advice): (Vec<&str>, Vec<String>) =
        nested.chain(unreachable).chain(unsaved).map(|(path, advice)| (path.as_str(), advice)).unzip();
    (!names.is_empty()).then(|| CheckFailure {
        cause: Cause::CommitRefused,
        error: format!("the work cannot be committed as it is: {}", names.join(", ")),
        details: advice.join("\n"),
        command: None,
        exit_code: None,
        failing: Failing::default(),
    })
}

/// The failure of an attempt whose files git cannot read.
pub(crate) fn unreadable(error: &GitError) -> CheckFailure {
    CheckFailure {
        cause: Cause::CommitRefused,
        error: format!("git cannot take in the work: {error}"),
        details: error.told(),
        command: None,
        exit_code: None,
        failing: Failing::default(),
    }
}

/// A sum by which it shows whether a file changed.
pub(super) fn fingerprint(file: &Path) -> String {
    atomic::read(file).map_or_else(|_| "none".to_owned(), |text| format!("{:08x}", crc32fast::hash(&text)))
}

//! A draft: the folder beside the work trees of its plan in which it is written, and its way into the project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plan::{Format, Plan, Reading};

use crate::atomic;
use crate::attempt::{beside, of_project};
use crate::error::RunError;
use crate::git::{Git, GitError, Oid, remove_folder};
use crate::journal::RunLock;
use crate::plan_key::{home_name, key};
use crate::planning::brief::{Brief, Wanted};
use crate::planning::examine::ProposedPlan;
use crate::project::{LocateError, PlanFile, Project};
use crate::run::make_private;
use crate::work::project_files::{OWN_FOLDER, is_own};
use crate::worktrees::{Slots, Worktrees};

/// The folder of a draft among the work trees of its plan, and the lock in it.
const FOLDER: &str = "planning";
const LOCK: &str = "lock";
/// The copy of the project.
const COPY: &str = "copy";
/// The thing that is asked for; once it is there, the copy is ready.
const BRIEF: &str = "brief.json";
/// The text that was examined and is right.
const PROPOSAL: &str = "proposal.json";
/// The commands that were sent back as they are green before the work.
const GREEN: &str = "green.json";
/// The plan of the run that writes the draft, from the root of the copy.
const RUN_PLAN: &str = "planning/tasks.md";

/// How much of the documents beside a plan is copied: files, the size of each, and folders below each other.
const DOCUMENTS_MAX: usize = 200;
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;
const DEPTH_MAX: u32 = 3;

/// A draft that nobody else writes meanwhile.
#[derive(Debug)]
pub struct Draft {
    pub(super) git: Git,
    pub(super) folder: PathBuf,
    /// Holds the tree in which commands are tried.
    pub(super) slots: Slots,
    /// The plan, from the project's root.
    plan: String,
    _lock: Option<RunLock>,
}

/// The reason why no plan can be written, or taken.
#[derive(Debug, thiserror::Error)]
pub enum PlanningError {
    /// There is no repository.
    #[error("planning needs a git repository: the plan is written in a copy of it")]
    NoGit,
    /// There is no commit in it.
    #[error("planning needs a commit: the plan is written in a copy of it")]
    NoCommit,
    /// The plan is not the one any more that commands were proposed for.
    #[error("{plan} was changed since the commands were proposed for it")]
    Changed {
        /// The plan.
        plan: String,
    },
    /// A plan is there.
    #[error("{plan} has tasks already, and stays as it is")]
    Taken {
        /// The plan.
        plan: String,
    },
    /// Somebody wants it to stop.
    #[error("it was interrupted")]
    Interrupted,
    /// What was kept of the draft cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The copy is no project.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// Something that would stop a run as well.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<GitError> for PlanningError {
    fn from(error: GitError) -> Self {
        Self::Run(error.into())
    }
}

/// The lock of a draft among the work trees of its plan.
pub(crate) fn lock_among(trees: &Path) -> PathBuf {
    trees.join(FOLDER).join(LOCK)
}

impl Brief {
    /// The thing that was asked for in the copy of a draft.
    pub fn of_copy(copy: &Path) -> Result<Brief, PlanningError> {
        Brief::of_draft(copy.parent().unwrap_or(copy))
    }

    /// The thing that the draft in a folder was begun for.
    pub(super) fn of_draft(folder: &Path) -> Result<Brief, PlanningError> {
        let path = folder.join(BRIEF);
        read_json(&path).map_err(|source| PlanningError::Unreadable { path, source })
    }
}

impl Draft {
    /// The draft of a plan at a path from the project's root, for whoever writes it.
    pub fn open(project: &Project, plan: &Path, worktrees: &Worktrees) -> Result<Draft, PlanningError> {
        let git = project.git().ok_or(PlanningError::NoGit)?;
        git.head()?.ok_or(PlanningError::NoCommit)?;
        let slots = Slots::new(git, &format!("{}/{FOLDER}", key(&home_name(plan))), worktrees);
        let folder = slots.folder().to_owned();
        make_private(&folder).map_err(RunError::io("create", &folder))?;
        let lock = RunLock::acquire(&folder.join(LOCK)).map_err(RunError::from)?;
        let plan = plan.to_string_lossy().into_owned();
        Ok(Draft { git: git.clone(), folder, slots, plan, _lock: Some(lock) })
    }

    /// The draft in a folder, for whoever examines it meanwhile.
    pub(super) fn at(folder: &Path, worktrees: &Worktrees) -> Result<(Draft, Brief), PlanningError> {
        let brief = Brief::of_draft(folder)?;
        let project = Project::discover(Path::new(&brief.project))?;
        let git = project.git().ok_or(PlanningError::NoGit)?;
        let base = folder.ancestors().nth(3).map(Path::to_owned);
        let worktrees = Worktrees { dir: base, ..worktrees.clone() };
        let slots =
            Slots::new(git, &format!("{}/{FOLDER}", key(&home_name(Path::new(&brief.plan)))), &worktrees);
        let (git, plan) = (git.clone(), brief.plan.clone());
        Ok((Draft { git, folder: folder.to_owned(), slots, plan, _lock: None }, brief))
    }

    /// The thing that was asked for, where a draft was begun.
    pub fn brief(&self) -> Option<Brief> {
        Brief::of_draft(&self.folder).ok()
    }

    /// The draft itself, as the planner left it.
    pub fn path(&self, brief: &Brief) -> PathBuf {
        self.copy().join(brief.draft())
    }

    fn copy(&self) -> PathBuf {
        self.folder.join(COPY)
    }

    /// Begins anew: copies the project as it is committed, with the plan and the documents beside it as they lie there. The
    /// draft is examined by a command that is run in the copy.
    pub fn begin(&self, wanted: Wanted, command: &str) -> Result<Brief, PlanningError> {
        self.refuse_taken(&wanted)?;
        self.clear()?;
        let base = self.git.head()?.ok_or(PlanningError::NoCommit)?;
        let copy = self.git.copy_to(&self.copy(), &base)?;
        let paths = self.copy_documents()?;
        let begun =
            copy.commit_in_copy(&paths, "the plan as it lies there")?.ok_or(PlanningError::NoCommit)?;
        let project = self.git.root().to_string_lossy().into_owned();
        let (base, begun) = (base.as_str().to_owned(), begun.as_str().to_owned());
        let brief = Brief { project, plan: self.plan.clone(), wanted, base, begun };
        let plan = self.copy().join(OWN_FOLDER).join(RUN_PLAN);
        let write = || {
            plan.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&plan, run_plan(&brief, command))?;
            atomic::replace(&self.folder.join(BRIEF), &serde_json::to_string(&brief)?)
        };
        write().map_err(RunError::io("write", &plan))?;
        Ok(brief)
    }

    /// Refuses a new plan where one with tasks is.
    pub fn refuse_taken(&self, wanted: &Wanted) -> Result<(), PlanningError> {
        let is_taken = matches!(wanted, Wanted::Plan { .. }) && has_tasks(&self.plan, &self.there());
        if is_taken { Err(PlanningError::Taken { plan: self.plan.clone() }) } else { Ok(()) }
    }

    /// Removes all of the draft but the lock.
    fn clear(&self) -> Result<(), PlanningError> {
        // Without it, all else is nothing.
        for name in [BRIEF, PROPOSAL, GREEN, COPY] {
            let path = self.folder.join(name);
            remove_folder(&path).map_err(RunError::io("remove", &path))?;
        }
        self.slots.existing().into_iter().try_for_each(|slot| self.slots.remove(slot))?;
        Ok(())
    }

    /// Removes the draft.
    pub fn remove(self) -> Result<(), PlanningError> {
        self.slots.remove_all()?;
        // It goes with its last plan.
        let _ = self.folder.ancestors().nth(2).map(fs::remove_dir);
        Ok(())
    }

    /// Copies the plan and what it is made from, as far as it is of a size to be read. The result is what was copied.
    fn copy_documents(&self) -> Result<Vec<String>, PlanningError> {
        let (root, plan) = (self.git.root(), self.git.root().join(&self.plan));
        let text = fs::read_to_string(&plan).unwrap_or_default();
        let format = Format::of(Path::new(&self.plan), &text);
        let mut found = Vec::new();
        for path in [plan.clone()].into_iter().chain(beside(&plan, &[])).chain(of_project(root, format)) {
            files_in(&path, DEPTH_MAX, &mut found);
        }
        let mut copied = Vec::new();
        for path in found.into_iter().take(DOCUMENTS_MAX) {
            let Ok(relative) = path.strip_prefix(root) else { continue };
            let target = self.copy().join(relative);
            let copy = || {
                target.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::copy(&path, &target).map(drop)
            };
            copy().map_err(RunError::io("write", &target))?;
            copied.push(relative.to_string_lossy().into_owned());
        }
        Ok(copied)
    }

    /// The copy as a project, and the plan of the run that writes the draft.
    pub fn run(&self) -> Result<(Project, PlanFile), PlanningError> {
        let project = Project::discover(&self.copy())?;
        let file = project.locate(project.root(), Some(&format!("{OWN_FOLDER}/{RUN_PLAN}")))?;
        Ok((project, file))
    }

    /// The text that was examined and is right, if there is one.
    pub fn proposal(&self) -> Option<ProposedPlan> {
        read_json(&self.folder.join(PROPOSAL)).ok()
    }

    /// Keeps a text that is right; without one, there is none.
    pub(super) fn keep(&self, proposal: Option<&ProposedPlan>) -> Result<(), PlanningError> {
        let path = self.folder.join(PROPOSAL);
        let kept = || match proposal {
            Some(proposal) => atomic::replace(&path, &serde_json::to_string(proposal)?),
            None => remove_folder(&path),
        };
        Ok(kept().map_err(RunError::io("write", &path))?)
    }

    /// The commands that were sent back before as they are green before the work, each with its task.
    pub(super) fn sent_back(&self) -> Vec<(String, String)> {
        read_json(&self.folder.join(GREEN)).unwrap_or_default()
    }

    /// Notes commands that are sent back.
    pub(super) fn send_back(&self, commands: &[(String, String)]) -> Result<(), PlanningError> {
        let path = self.folder.join(GREEN);
        let text = serde_json::to_string(commands).map_err(io::Error::from);
        Ok(text.and_then(|text| atomic::replace(&path, &text)).map_err(RunError::io("write", &path))?)
    }

    /// The difference that a proposal makes to the plan, line by line.
    pub fn difference(&self, brief: &Brief, proposal: &ProposedPlan) -> Result<String, PlanningError> {
        let (project, _) = self.run()?;
        let copy = project.git().ok_or(PlanningError::NoGit)?;
        let path = project.root().join(&brief.plan);
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            atomic::replace(&path, &proposal.text)
        };
        write().map_err(RunError::io("write", &path))?;
        Ok(copy.difference_in_copy(&brief.begun, &brief.plan)?)
    }

    /// The plan as it lies in the project; empty where there is none.
    fn there(&self) -> String {
        fs::read_to_string(self.git.root().join(&self.plan)).unwrap_or_default()
    }

    /// True if the plan in the project is what was proposed.
    pub fn is_accepted(&self, proposal: &ProposedPlan) -> bool {
        self.there() == proposal.text
    }

    /// Puts a proposal into the project, if the plan there is still what it was made for.
    pub fn accept(&self, brief: &Brief, proposal: &ProposedPlan) -> Result<(), PlanningError> {
        let path = self.git.root().join(&brief.plan);
        let path = path.canonicalize().unwrap_or(path);
        let home = self.git.root().join(OWN_FOLDER).join(home_name(Path::new(&brief.plan)));
        // Where the plan was never run, nobody runs it now.
        let is_known = home.is_dir();
        let _lock =
            is_known.then(|| RunLock::acquire(&home.join("lock"))).transpose().map_err(RunError::from)?;
        self.refuse_taken(&brief.wanted)?;
        if let Wanted::Commands { original } = &brief.wanted
            && *original != self.there()
        {
            return Err(PlanningError::Changed { plan: brief.plan.clone() });
        }
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            path.parent().into_iter().for_each(atomic::tidy);
            atomic::replace(&path, &proposal.text)
        };
        Ok(write().map_err(RunError::io("write", &path))?)
    }

    /// The files of the copy that differ from what the planner was given, but for the draft.
    pub(super) fn dropped(&self, brief: &Brief) -> Result<Vec<String>, PlanningError> {
        let (project, _) = self.run()?;
        let copy = project.git().ok_or(PlanningError::NoGit)?;
        let changed = copy.differing_from(&brief.begun)?;
        Ok(changed.into_iter().filter(|path| path != brief.draft() && !is_own(path)).collect())
    }

    /// The commit that commands are tried on.
    pub(super) fn base(&self, brief: &Brief) -> Result<Oid, PlanningError> {
        Oid::parse(&brief.base).ok_or(PlanningError::NoCommit)
    }
}

/// True if a text at the path of a plan has tasks.
fn has_tasks(path: &str, text: &str) -> bool {
    let path = Path::new(path);
    !Plan::parse_as(Reading::of(Format::of(path, text)), text.to_owned(), path).tasks().is_empty()
}

/// The plan of the run that writes a draft.
fn run_plan(brief: &Brief, command: &str) -> String {
    let title = match brief.wanted {
        Wanted::Plan { .. } => "Write the plan",
        Wanted::Commands { .. } => "Write the commands",
    };
    let draft = brief.draft();
    format!(
        "# Tasks: planning\n\n- [ ] 1 {title}\n  - **Do**: Write `{draft}`\n  - **Files**: `{draft}`\n  \
         - **Verify**: `{command}`\n  - **Commit**: None\n"
    )
}

/// The regular files at a path or below it, none of them too large.
fn files_in(path: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if metadata.is_file() && metadata.len() <= DOCUMENT_BYTES_MAX {
        found.push(path.to_owned());
    }
    if metadata.is_dir() && depth > 0 {
        let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.for_each(|entry| files_in(&entry, depth - 1, found));
    }
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> io::Result<T> {
    Ok(serde_json::from_slice(&atomic::read(path)?)?)
}

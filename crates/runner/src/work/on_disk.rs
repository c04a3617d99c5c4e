//! The work trees of a project's plans as they lie on disk: found, measured and removed while nobody runs the plan.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use engine::Status;
use plan::TaskId;

use super::location::{Location, Surroundings, own_name};
use super::size::bytes_in;
use super::slots::name_of;
use crate::git::{Git, GitError, remove_folder};
use crate::journal::{LockError, RunLock};
use crate::plan_key;
use crate::project::{PlanFile, Project};
use crate::record::load_at;

/// The work trees of one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTrees {
    /// What tells the plan from others of the project.
    pub plan: String,
    /// The folder that holds them.
    pub folder: PathBuf,
    /// Each of them, in the order of their names.
    pub trees: Vec<TreeOnDisk>,
    /// How many bytes they take.
    pub bytes: u64,
    key: String,
}

/// One work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeOnDisk {
    /// The name of its folder.
    pub name: String,
    /// How many bytes it takes.
    pub bytes: u64,
}

impl PlanTrees {
    /// The trees of the plan with a key in a folder.
    pub fn new(key: &str, folder: PathBuf, trees: Vec<TreeOnDisk>) -> PlanTrees {
        let bytes = trees.iter().map(|tree| tree.bytes).sum();
        PlanTrees { plan: plan_key::told(key), folder, trees, bytes, key: key.to_owned() }
    }
}

/// Why work trees could not be removed.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// A run of the plan is under way.
    #[error("a run of {plan} is under way")]
    Held {
        /// The plan.
        plan: String,
        /// Who holds it.
        source: LockError,
    },
    /// An attempt was cut off, and what it did is nowhere else yet.
    #[error("what was done for task {task} of {plan} is only in {}", tree.display())]
    Unpacked {
        /// The plan, whose trees all stay.
        plan: String,
        /// The task.
        task: TaskId,
        /// Where.
        tree: PathBuf,
    },
    /// Something could not be removed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The work trees of a plan, or of all plans of a project, where settings name this folder for them, and wherever else git
/// knows of some.
pub fn trees_on_disk(project: &Project, plan: Option<&PlanFile>, named: Option<&Path>) -> Vec<PlanTrees> {
    found(project, plan, named, &Surroundings::inherited())
}

fn found(
    project: &Project,
    plan: Option<&PlanFile>,
    named: Option<&Path>,
    around: &Surroundings,
) -> Vec<PlanTrees> {
    let Some(git) = project.git() else { return Vec::new() };
    let wanted = plan.map(PlanFile::key);
    let mut plans: BTreeMap<PathBuf, String> = BTreeMap::new();
    let here = Location::of(git.root(), named, around).folder;
    for entry in fs::read_dir(here).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()) {
        plans.insert(entry.path(), entry.file_name().to_string_lossy().into_owned());
    }
    plans.extend(known_to(git));
    let plans = plans.into_iter().filter(|(_, key)| wanted.as_ref().is_none_or(|wanted| wanted == key));
    plans.map(|(folder, key)| measured(folder, &key)).collect()
}

/// The folders of plans in which git knows of trees.
fn known_to(git: &Git) -> impl Iterator<Item = (PathBuf, String)> {
    let own = own_name(git.root());
    let folders = git.linked_trees().into_iter().filter_map(|tree| Some(tree.parent()?.to_owned()));
    folders.filter_map(move |folder| {
        let is_ours = folder.parent()?.file_name()? == own.as_str();
        let key = folder.file_name()?.to_string_lossy().into_owned();
        is_ours.then_some((folder, key))
    })
}

fn measured(folder: PathBuf, key: &str) -> PlanTrees {
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut trees: Vec<TreeOnDisk> = entries
        .filter(|path| path.is_dir())
        .map(|path| TreeOnDisk {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            bytes: bytes_in(&path),
        })
        .collect();
    trees.sort_by(|one, other| one.name.cmp(&other.name));
    PlanTrees::new(key, folder, trees)
}

/// Removes work trees. Nobody may run one of the plans meanwhile, or none of them goes. What they hold that has not come in
/// is kept by references, which stay; where it is not yet, since a run died, the trees of that plan stay.
pub fn remove_trees(project: &Project, plans: &[PlanTrees]) -> Result<(), CleanError> {
    let Some(git) = project.git() else { return Ok(()) };
    let mut locks = Vec::new();
    for plan in plans {
        let home = home_of(project, plan);
        if home.is_dir() {
            let held = |source| CleanError::Held { plan: plan.plan.clone(), source };
            locks.push(RunLock::acquire(&home.join("lock")).map_err(held)?);
        }
    }
    let mut unpacked = None;
    for plan in plans {
        if let Some((task, tree)) = cut_off(project, plan) {
            unpacked = Some(CleanError::Unpacked { plan: plan.plan.clone(), task, tree });
            continue;
        }
        for tree in git.slots_below(&plan.folder) {
            git.remove_slot(&tree)?;
        }
        remove_folder(&plan.folder).map_err(GitError::io("remove", &plan.folder))?;
        // It goes with its last plan.
        let _ = plan.folder.parent().map(fs::remove_dir);
    }
    unpacked.map_or(Ok(()), Err)
}

/// A task of a plan whose run died while an agent worked on it in a tree that is still there.
fn cut_off(project: &Project, plan: &PlanTrees) -> Option<(TaskId, PathBuf)> {
    let journal = home_of(project, plan).join("journal.jsonl");
    // Nobody can tell by a journal that cannot be read.
    let state = load_at(&journal, |_| {}).ok()?.filter(|state| state.end().is_none())?;
    state.attention().find_map(|task| {
        let slot = task.slot.filter(|_| matches!(task.status, Status::Running(_)))?;
        let tree = plan.folder.join(name_of(slot.0));
        tree.is_dir().then(|| (task.id().clone(), tree))
    })
}

fn home_of(project: &Project, plan: &PlanTrees) -> PathBuf {
    project.root().join(".tillgreen").join(plan_key::home_of(&plan.key))
}

/// The references that keep work of a project's plans that has not come in.
pub fn kept_references(project: &Project) -> Vec<String> {
    let references = project.git().map(|git| git.references_below("refs/tillgreen"));
    // Nobody is told of what git does not tell.
    references.and_then(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use testkit::Repository;

    use super::*;
    use crate::work::{SetUpRunner, Slots, Worktrees};

    #[test]
    fn trees_are_found_wherever_they_lie_and_go_unless_somebody_runs_the_plan() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let repository = Repository::init(&top.join("project"), &top.join("home"));
        repository.write("specs/auth/tasks.md", "- [ ] 1.1 x\n");
        repository.write("sub/tasks.md", "- [ ] 1.1 x\n");
        repository.commit_all("first");
        let git = Git::in_test(repository.root(), &repository.environment());
        let head = git.head().unwrap().unwrap();
        let around = Surroundings { cache: Some(top.join("cache")), home: None, temporary: top.join("tmp") };
        let project = Project::discover(repository.root()).unwrap();
        let plan = project.locate(repository.root(), Some("auth")).unwrap();
        let other = project.locate(repository.root(), Some("sub/tasks.md")).unwrap();
        let elsewhere = Worktrees { dir: Some(top.join("elsewhere")), ..Worktrees::default() };
        let runner = SetUpRunner::plain(&top.join("logs"));
        let slots = Slots::among(&git, &plan.key(), &Worktrees::default(), &around);
        slots.show(0, &head, &runner).unwrap();
        slots.show(2, &head, &runner).unwrap();
        Slots::among(&git, &other.key(), &elsewhere, &around).show(1, &head, &runner).unwrap();

        let all = found(&project, None, None, &around);
        let told: Vec<(&str, usize)> =
            all.iter().map(|plan| (plan.plan.as_str(), plan.trees.len())).collect();
        assert_eq!(told, [("auth", 2), ("sub/tasks.md", 1)]);
        assert!(all.iter().all(|plan| plan.bytes > 0));
        let one = found(&project, Some(&plan), None, &around);
        assert_eq!(
            one[0].trees.iter().map(|tree| tree.name.as_str()).collect::<Vec<_>>(),
            ["landing", "slot-2"]
        );

        std::fs::create_dir_all(&plan.home).unwrap();
        let lock = RunLock::acquire(&plan.lock()).unwrap();
        let refused = remove_trees(&project, &all).unwrap_err();
        assert!(matches!(&refused, CleanError::Held { plan, .. } if plan == "auth"), "{refused}");
        assert_eq!(found(&project, None, None, &around), all);
        drop(lock);
        repository.git(&["update-ref", "refs/tillgreen/auth/1.1", "HEAD"]);
        remove_trees(&project, &one).unwrap();
        assert_eq!(found(&project, None, None, &around).len(), 1);
        remove_trees(&project, &found(&project, None, None, &around)).unwrap();
        assert_eq!(found(&project, None, None, &around), []);
        assert_eq!(kept_references(&project), ["refs/tillgreen/auth/1.1"]);
        assert!(!slots.folder().exists());
        assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
    }
}

//! The work trees of a project's plans as they lie on disk: found, measured and removed while nobody runs the plan; and
//! the space that is left for them.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use nix::sys::statvfs::statvfs;

use engine::Status;
use plan::TaskId;

use crate::git::{Git, GitError, remove_folder};
use crate::journal::load_at;
use crate::journal::{LockError, RunLock};
use crate::plan_key;
use crate::planning::lock_among;
use crate::project::{PlanFile, Project};
use crate::worktrees::location::{Location, Surroundings, own_name};
use crate::worktrees::slots::name_of;

/// The work trees of one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTrees {
    /// The key that tells the plan from others of the project.
    pub plan: String,
    /// The folder that holds them.
    pub folder: PathBuf,
    /// Each of them, in the order of their names.
    pub trees: Vec<TreeOnDisk>,
    /// The bytes they take.
    pub bytes: u64,
    key: String,
}

/// One work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeOnDisk {
    /// The name of its folder.
    pub name: String,
    /// The bytes it takes.
    pub bytes: u64,
}

impl PlanTrees {
    /// The work trees of the plan with a key in a folder.
    pub fn new(key: &str, folder: PathBuf, trees: Vec<TreeOnDisk>) -> PlanTrees {
        let bytes = trees.iter().map(|tree| tree.bytes).sum();
        PlanTrees { plan: plan_key::told(key), folder, trees, bytes, key: key.to_owned() }
    }
}

/// The reason why work trees could not be removed.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// A run of the plan is under way.
    #[error("a run of {plan} is under way")]
    Held {
        /// The plan.
        plan: String,
        /// The holder of the lock.
        source: LockError,
    },
    /// An attempt was cut off, and what it did is nowhere else yet.
    #[error("what was done for task {task} of {plan} is only in {}", tree.display())]
    Unpacked {
        /// The plan, whose work trees all stay.
        plan: String,
        /// The task.
        task: TaskId,
        /// The work tree.
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

/// The folders of plans in which git knows of work trees.
fn known_to(git: &Git) -> impl Iterator<Item = (PathBuf, String)> {
    let own = own_name(git.root());
    let folders = git.linked_trees().into_iter().filter_map(|worktree| Some(worktree.parent()?.to_owned()));
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

/// Removes work trees. Nobody may run one of the plans meanwhile, or none of them goes. What they hold that has not
/// come in is kept by references, which stay; where it is not yet, since a run died, the work trees of that plan stay.
pub fn remove_trees(project: &Project, plans: &[PlanTrees]) -> Result<(), CleanError> {
    let Some(git) = project.git() else { return Ok(()) };
    let mut locks = Vec::new();
    for plan in plans {
        let of_run = home_of(project, plan).join("lock");
        for lock in [of_run, lock_among(&plan.folder)] {
            if lock.parent().is_some_and(Path::is_dir) {
                let held = |source| CleanError::Held { plan: plan.plan.clone(), source };
                locks.push(RunLock::acquire(&lock).map_err(held)?);
            }
        }
    }
    let mut unpacked = None;
    for plan in plans {
        if let Some((task, tree)) = cut_off(project, plan) {
            unpacked = Some(CleanError::Unpacked { plan: plan.plan.clone(), task, tree });
            continue;
        }
        for worktree in git.slots_below(&plan.folder) {
            git.remove_slot(&worktree)?;
        }
        remove_folder(&plan.folder).map_err(GitError::io("remove", &plan.folder))?;
        // It goes with its last plan.
        let _ = plan.folder.parent().map(fs::remove_dir);
    }
    unpacked.map_or(Ok(()), Err)
}

/// A task of a plan whose run died while an agent worked on it in a work tree that is still there.
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

/// The bytes that have to be left, at least, before a work tree is made ready.
pub(super) const FREE_BYTES_MIN: u64 = 1 << 30;

/// The bytes that are left where a folder lies, or the nearest one above it that exists.
pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let told = statvfs(there)?;
    Ok(told.blocks_available().saturating_mul(told.fragment_size()))
}

/// The bytes a folder takes on disk. What cannot be looked at counts for nothing.
pub(crate) fn bytes_in(folder: &Path) -> u64 {
    let mut sum = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            sum += metadata.blocks() * 512;
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    sum
}

/// A number of bytes for people.
pub fn in_words(bytes: u64) -> String {
    let units = [("GB", 30), ("MB", 20), ("kB", 10)];
    let unit = units.into_iter().find(|(_, power)| bytes >> power > 0);
    let Some((name, power)) = unit else { return format!("{bytes} B") };
    let tenths = (bytes.saturating_mul(10)) >> power;
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use testkit::Repository;

    use crate::worktrees::{SetUpRunner, Slots, Worktrees};

    use super::*;

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

    #[test]
    fn sizes_are_told_in_words() {
        let check = |bytes: u64, expected: &str| assert_eq!(in_words(bytes), expected);
        check(0, "0 B");
        check(1023, "1023 B");
        check(1024, "1.0 kB");
        check(1 << 20, "1.0 MB");
        check((15 << 20) + (1 << 19), "15 MB");
        check(3 << 29, "1.5 GB");
        check(u64::MAX, "1717986918 GB");
    }

    #[test]
    fn folders_are_measured_without_following_links() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir_all(inside.join("deep")).unwrap();
        fs::write(inside.join("deep/file"), vec![1; 100_000]).unwrap();
        std::os::unix::fs::symlink(folder.path(), inside.join("up")).unwrap();
        let bytes = bytes_in(&inside);
        assert!((100_000..200_000).contains(&bytes), "{bytes}");
        assert_eq!(bytes_in(&folder.path().join("none")), 0);
        assert!(free_bytes(&inside.join("not/there")).unwrap() > 0);
    }
}

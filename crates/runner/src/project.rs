//! Paths: the project's root, its plans, and the program's own files beside them.

use std::path::{Path, PathBuf};

use plan::import::Imported;
use plan::{Dialect, Format, Reading};

use crate::git::{Git, GitError};
use crate::plan_file::Defaults;
use crate::plan_key::{self, home_name};
use crate::record::recovery_mode;
use crate::work::project_files::OWN_FOLDER;

/// A project: the git top level or, without git, the folder that holds `specs/` or what other tools keep plans in.
#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
    git: Option<Git>,
    /// The folder whose plans are meant where only a name is said: the nearest one with plans above the user, as a part of
    /// a larger repository has them; else the root.
    here: PathBuf,
}

/// A plan and the files that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// The name: the spec's name, the plan's number.
    pub name: String,
    /// The dialect of the plan.
    pub dialect: Dialect,
    /// How its text is read.
    pub reading: Reading,
    /// The commands for tasks that have none of their own.
    pub defaults: Defaults,
    /// The `tasks.md`, the `*-PLAN.md`, or the folder of plans.
    pub path: PathBuf,
    /// The files that hold tasks: one, or all of a folder.
    pub plans: Vec<PathBuf>,
    /// The folder that holds it.
    pub dir: PathBuf,
    /// The program's own folder for this plan, under `.tillgreen/`.
    pub home: PathBuf,
}

/// The reason why a plan could not be found. The messages are the ones that people know.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// No plan was named and none is active.
    #[error("No active spec.")]
    NoActiveSpec {
        /// The file that would name it.
        pointer: PathBuf,
    },
    /// The spec's folder is not there.
    #[error("ERROR: Spec directory missing at {}/", shown(.0))]
    MissingSpec(PathBuf),
    /// The spec has no plan.
    #[error("ERROR: Tasks file missing at {}", shown(.0))]
    MissingTasks(PathBuf),
    /// The named path is not a plan.
    #[error("{} is not a plan: give a spec's name, its folder or a tasks.md", .0.display())]
    NotAPlan(PathBuf),
    /// Git tracks the program's own folder.
    #[error("git tracks {OWN_FOLDER}/: it came with the repository, so it is not ours and is not read")]
    TrackedRecord,
    /// A link is in the program's own folder.
    #[error("{} is a link: nothing of ours, so it is not followed", .0.display())]
    LinkedRecord(PathBuf),
    /// A file or folder could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Git does not work here.
    #[error(transparent)]
    Git(#[from] GitError),
}

fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let text = text.trim_start_matches("./");
    if path.is_absolute() || text.starts_with("..") { text.to_owned() } else { format!("./{text}") }
}

/// The folders whose subfolders hold plans: our own and spec-kit's, OpenSpec's, and Kiro's.
pub const PLACES: [&str; 3] = ["specs", "openspec/changes", ".kiro/specs"];

fn holds_plans(folder: &&Path) -> bool {
    PLACES.iter().any(|place| folder.join(place).is_dir())
}

impl Project {
    /// Finds the project around a folder.
    pub fn discover(dir: &Path) -> Result<Self, LocateError> {
        let dir =
            dir.canonicalize().map_err(|source| LocateError::Unreadable { path: dir.to_owned(), source })?;
        if let Some(git) = repository(&dir)? {
            let root = git.root().to_owned();
            let within = dir.ancestors().take_while(|folder| folder.starts_with(&root));
            let here = within.into_iter().find(holds_plans).unwrap_or(&root).to_owned();
            return Ok(Self { here, root, git: Some(git) });
        }
        let root = dir.ancestors().find(holds_plans).unwrap_or(&dir).to_owned();
        Ok(Self { here: root.clone(), root, git: None })
    }

    /// The project's root: verify commands run here.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder whose plans are meant where only a name is said.
    pub fn here(&self) -> &Path {
        &self.here
    }

    /// Git, if the project is a repository.
    pub fn git(&self) -> Option<&Git> {
        self.git.as_ref()
    }

    /// The program's own folder.
    fn own_folder(&self) -> PathBuf {
        self.root.join(OWN_FOLDER)
    }

    /// Refuses a folder of the program's that came with the repository, and links in it, which may lead anywhere.
    pub fn refuse_foreign_record(&self) -> Result<(), LocateError> {
        let own = self.own_folder();
        if std::fs::symlink_metadata(&own).is_err() {
            return Ok(());
        }
        if let Some(link) = link_in(&own, LINKS_DEPTH) {
            return Err(LocateError::LinkedRecord(self.relative(&link).to_owned()));
        }
        match &self.git {
            Some(git) if git.is_tracked(OWN_FOLDER)? => Err(LocateError::TrackedRecord),
            Some(_) | None => Ok(()),
        }
    }

    /// The file that names the active spec. Where there are no specs but plans of other tools, it is one of our own.
    pub fn pointer(&self) -> PathBuf {
        let is_ours = !self.here.join("specs").is_dir()
            && PLACES[1..].iter().any(|place| self.here.join(place).is_dir());
        if is_ours { self.own_folder().join("current-spec") } else { self.here.join("specs/.current-spec") }
    }

    /// Makes a spec the active one.
    pub fn activate(&self, name: &str) -> std::io::Result<()> {
        let pointer = self.pointer();
        pointer.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(pointer, format!("{name}\n"))
    }

    /// A path as it is best shown: from the project's root.
    pub fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// The name of the active spec.
    pub fn active_spec(&self) -> Result<String, LocateError> {
        let pointer = self.pointer();
        let name = std::fs::read_to_string(&pointer).unwrap_or_default();
        let name = name.trim();
        if !name.is_empty() {
            return Ok(name.to_owned());
        }
        self.only_plan().ok_or(LocateError::NoActiveSpec { pointer })
    }

    /// The plan that is meant where nobody said so: the one that the branch is named after, as spec-kit does, else the
    /// only one that another tool keeps here.
    fn only_plan(&self) -> Option<String> {
        let named = |place: &str| {
            let folders = std::fs::read_dir(self.here.join(place)).into_iter().flatten().flatten();
            let folders = folders.filter(|folder| folder.path().join("tasks.md").is_file());
            folders.filter_map(|folder| folder.file_name().into_string().ok()).collect::<Vec<_>>()
        };
        let branch = self.git.as_ref().and_then(|git| git.branch().ok().flatten());
        if let Some(branch) = branch.filter(|branch| PLACES.iter().any(|place| named(place).contains(branch)))
        {
            return Some(branch);
        }
        let elsewhere: Vec<String> = PLACES[1..].iter().flat_map(|place| named(place)).collect();
        match <[String; 1]>::try_from(elsewhere) {
            Ok([only]) if named(PLACES[0]).is_empty() => Some(only),
            Ok(_) | Err(_) => None,
        }
    }

    /// Finds a plan: a spec's name, its folder, a `tasks.md`, or, without an argument, the active spec.
    /// A path is looked for from `dir`, the folder that the user is in.
    pub fn locate(&self, dir: &Path, argument: Option<&str>) -> Result<PlanFile, LocateError> {
        let Some(argument) = argument else {
            let name = self.active_spec()?;
            return self.spec(&self.here, &name);
        };
        let path = dir.join(argument);
        if path.is_file() {
            return self.plan_at(&path);
        }
        if path.is_dir() && !path.join("tasks.md").is_file() {
            let plans = plans_below(&path);
            if !plans.is_empty() {
                return self.folder_of_plans(&path, plans);
            }
        }
        if path.is_dir() && (path.join("tasks.md").is_file() || argument.contains('/')) {
            let tasks = path.join("tasks.md");
            let found = tasks.is_file().then_some(());
            found.ok_or_else(|| LocateError::MissingTasks(self.relative(&tasks).to_owned()))?;
            return self.plan_at(&tasks);
        }
        self.spec(&self.nearest(dir, argument), argument)
    }

    /// The folder whose `specs/` has a spec: the nearest one above the user, within the project.
    fn nearest(&self, dir: &Path, name: &str) -> PathBuf {
        let here = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let mut above = here.ancestors().take_while(|folder| *folder != self.root);
        let found = above.find(|folder| PLACES.iter().any(|place| folder.join(place).join(name).is_dir()));
        found.unwrap_or(&self.root).to_owned()
    }

    fn spec(&self, folder: &Path, name: &str) -> Result<PlanFile, LocateError> {
        let name = name.trim_end_matches('/');
        // The pointer of some tools holds a path rather than a name.
        let place = PLACES.iter().find(|place| folder.join(place).join(name).is_dir()).unwrap_or(&PLACES[0]);
        let dir = if name.contains('/') { folder.join(name) } else { folder.join(place).join(name) };
        if !dir.is_dir() {
            let missing = self.relative(&dir).to_owned();
            let is_file = missing.extension().is_some_and(|extension| extension == "md");
            let error = if is_file { LocateError::MissingTasks } else { LocateError::MissingSpec };
            return Err(error(missing));
        }
        let path = dir.join("tasks.md");
        if !path.is_file() {
            return Err(LocateError::MissingTasks(self.relative(&path).to_owned()));
        }
        self.plan_at(&path)
    }

    /// Only the folder is followed: a plan that is a link keeps its place, and its files stay beside it.
    fn plan_at(&self, path: &Path) -> Result<PlanFile, LocateError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unreadable = |source| LocateError::Unreadable { path: path.to_owned(), source };
        let path = folder.canonicalize().map_err(unreadable)?.join(path.file_name().unwrap_or_default());
        let is_plan = path.extension().is_some_and(|extension| extension == "md");
        let (true, Some(dir)) = (is_plan, path.parent()) else {
            return Err(LocateError::NotAPlan(path));
        };
        let is_spec = path.file_name().is_some_and(|name| name == "tasks.md");
        let named = if is_spec { dir.file_name() } else { path.file_stem() };
        let name = named.map_or_else(|| "plan".to_owned(), |name| name.to_string_lossy().into_owned());
        // Whoever cannot read the file is told so once it is opened.
        let text = std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let format = Format::of(self.relative(&path), &text.unwrap_or_default());
        let (dialect, reading) = (format.dialect(), Reading::of(format));
        let name = name.strip_suffix("-PLAN").map(str::to_owned).unwrap_or(name);
        let home = self.home(&path);
        let defaults = Defaults::default();
        Ok(PlanFile {
            name,
            dialect,
            reading,
            defaults,
            dir: dir.to_owned(),
            home,
            plans: vec![path.clone()],
            path,
        })
    }

    fn folder_of_plans(&self, folder: &Path, plans: Vec<PathBuf>) -> Result<PlanFile, LocateError> {
        let unreadable = |source| LocateError::Unreadable { path: folder.to_owned(), source };
        let path = folder.canonicalize().map_err(unreadable)?;
        let name =
            path.file_name().map_or_else(|| "plans".to_owned(), |name| name.to_string_lossy().into_owned());
        let home = self.home(&path);
        let defaults = Defaults::default();
        let plans = plans.iter().filter_map(|plan| plan.canonicalize().ok()).collect();
        Ok(PlanFile {
            name,
            dialect: Dialect::Phase,
            reading: Reading::of(Format::Phase),
            defaults,
            dir: path.clone(),
            home,
            plans,
            path,
        })
    }

    /// The program's own folder for the plan at a path.
    pub(crate) fn home(&self, plan: &Path) -> PathBuf {
        self.own_folder().join(home_name(self.relative(plan)))
    }

    /// The file in which skipped tasks are noted: beside the plans, else at the project's root.
    pub(crate) fn state_md(&self) -> PathBuf {
        let planning = self.root.join(".planning");
        if planning.is_dir() { planning.join("STATE.md") } else { self.root.join("STATE.md") }
    }
}

/// The depth to which links are looked for in the program's folder: that of what a start opens by its name.
const LINKS_DEPTH: u32 = 2;

/// A link at a path or below it.
fn link_in(path: &Path, depth: u32) -> Option<PathBuf> {
    let kind = std::fs::symlink_metadata(path).ok()?.file_type();
    if kind.is_symlink() {
        return Some(path.to_owned());
    }
    let left = depth.checked_sub(1).filter(|_| kind.is_dir())?;
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).find_map(|entry| link_in(&entry, left))
}

/// The depth below a folder to which plans are looked for.
const PLANS_DEPTH_MAX: usize = 4;

/// All plans below a folder, in the order of their paths. Folders that begin with a dot are left out.
fn plans_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if path.is_dir() && !is_hidden && depth < PLANS_DEPTH_MAX {
                left.push((path, depth + 1));
            } else if is_phase_plan(&path) && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// True if a file's name is that of a plan with phases: `03-01-PLAN.md`, `PLAN.md`.
fn is_phase_plan(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "PLAN.md" || name.ends_with("-PLAN.md")
}

/// The repository around a folder. Git is not needed where nothing looks like a repository.
fn repository(dir: &Path) -> Result<Option<Git>, GitError> {
    match Git::discover(dir) {
        Err(GitError::NotInstalled) if !dir.ancestors().any(|folder| folder.join(".git").exists()) => {
            Ok(None)
        }
        discovered => discovered,
    }
}

impl PlanFile {
    /// By what it is told from others in the project.
    pub(crate) fn key(&self) -> String {
        plan_key::key(&self.home.file_name().unwrap_or_default().to_string_lossy())
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.home.join("journal.jsonl")
    }

    /// The lock that a run holds.
    pub fn lock(&self) -> PathBuf {
        self.home.join("lock")
    }

    /// The folder of the attempts' logs.
    pub fn attempts(&self) -> PathBuf {
        self.home.join("attempts")
    }

    /// The folder of the work trees of tasks that run side by side.
    pub fn trees(&self) -> PathBuf {
        self.home.join("trees")
    }

    /// The origin of its tasks, where they were taken over from elsewhere.
    pub fn imported(&self) -> Option<Imported> {
        if self.reading.format != Format::Imported {
            return None;
        }
        Imported::of(&std::fs::read_to_string(&self.path).ok()?)
    }

    /// True if files of ours lie beside the plan: not beside those of other tools, which archive and check their folders.
    pub(crate) fn keeps_beside(&self) -> bool {
        self.dialect == Dialect::Spec && !self.reading.format.is_foreign()
    }

    /// The progress file. A folder of plans has none of its own, and other tools do not
    /// look for one beside theirs, so there it is kept with the journal.
    pub fn progress(&self) -> PathBuf {
        if self.keeps_beside() { self.dir.join(".progress.md") } else { self.home.join("progress.md") }
    }

    /// The state file that other tools read.
    pub fn state(&self) -> PathBuf {
        let folder = if self.reading.format.is_foreign() { &self.home } else { &self.dir };
        folder.join(".ralph-state.json")
    }

    /// The recovery mode that the state file asks for, should one be there and say so.
    pub fn recovery_mode(&self) -> Option<bool> {
        recovery_mode(&self.state()).filter(|_| self.dialect == Dialect::Spec)
    }

    /// The file for the progress and learnings of an attempt at a task.
    pub(crate) fn task_progress(&self, task: &str) -> PathBuf {
        let folder = if self.keeps_beside() { &self.dir } else { &self.home };
        folder.join(format!(".progress-task-{task}.md"))
    }
}

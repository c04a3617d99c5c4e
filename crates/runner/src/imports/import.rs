//! An import: a source becomes a spec, or is taken again into the one that was made of it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plan::import::{Address, Imported, LeftOut, Merged, Tracker, merge, write};
use plan::{Format, Plan, Reading, Task, Verify};

use crate::atomic;
use crate::attempt::invocation::{DISPATCH_MARKER, MARKER};
use crate::forge::{CallContext, Caller};
use crate::git::GitError;
use crate::imports::known;
use crate::imports::source::{Read, Source, Way};
use crate::imports::write_back::{Reasons, edit, tell};
use crate::journal::{LockError, RunLock};
use crate::plan_file::digest;
use crate::project::{PLACES, Project};
use crate::run::open::{keep_own_files_out, make_private, runtime};

/// Files that folders of trackers stand for.
const IN_FOLDERS: [(&str, &str); 2] = [(".beads", "issues.jsonl"), (".taskmaster", "tasks/tasks.json")];
/// Characters of a name that is made of what a source is called.
const NAME_CHARS_MAX: usize = 60;

/// What is to be imported.
#[derive(Debug)]
pub struct Import<'a> {
    /// The project.
    pub project: &'a Project,
    /// The folder that the user is in.
    pub dir: &'a Path,
    /// The source: a file, or issues.
    pub source: &'a str,
    /// The name of the spec, where one was given.
    pub name: Option<&'a str>,
    /// True if nothing is to be written.
    pub is_dry: bool,
}

/// The result of an import. Tasks are told by their ids.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// The name of the spec.
    pub name: String,
    /// Its plan.
    pub path: PathBuf,
    /// Where its tasks come from.
    pub address: String,
    /// The tool that keeps them there.
    pub tracker: Tracker,
    /// The branch that the source names.
    pub branch: Option<String>,
    /// True if there was no such spec before.
    pub is_new: bool,
    /// How many tasks the plan has now.
    pub tasks: usize,
    /// How many of them are done.
    pub done: usize,
    /// How many of the others have a command of their own.
    pub with_command: usize,
    /// How many things stand above tasks and are none.
    pub groups: usize,
    /// Tasks that are new.
    pub added: Vec<String>,
    /// Tasks that changed in the source.
    pub updated: Vec<String>,
    /// Tasks that changed in the source and here.
    pub overruled: Vec<String>,
    /// Tasks that changed here alone.
    pub kept: Vec<String>,
    /// Tasks that the source says are done since.
    pub ticked: Vec<String>,
    /// Tasks that are done here and whose text changed in the source.
    pub changed_when_done: Vec<String>,
    /// Tasks that the source has no more.
    pub gone: Vec<String>,
    /// What is no task.
    pub left_out: Vec<LeftOut>,
    /// What cannot be heeded.
    pub problems: Vec<String>,
    /// Tasks that the source was told are done.
    pub written_back: Vec<String>,
    /// Tasks that it could not be told of, and why.
    pub not_written_back: Option<(Vec<String>, String)>,
}

/// The reason why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The source is no file, and no issues are named.
    #[error("{0} is no file, and names no issues")]
    NoSource(String),
    /// The source cannot be read.
    #[error("{address} cannot be imported: {reason}")]
    Source {
        /// Where it is.
        address: String,
        /// The reason.
        reason: String,
        /// True if it is elsewhere, and may be read another time.
        is_elsewhere: bool,
    },
    /// There is nothing in the source to be done.
    #[error("{0} lists no tasks")]
    Empty(String),
    /// A spec has the name that was made of another source, or of none.
    #[error("{} is there already, and was not imported from {address}", path.display())]
    Taken {
        /// Its plan.
        path: PathBuf,
        /// The source.
        address: String,
    },
    /// Several specs were imported from the source.
    #[error("several specs were imported from {address}: {}", names.join(", "))]
    Several {
        /// The source.
        address: String,
        /// Their names.
        names: Vec<String>,
    },
    /// A run is under way.
    #[error("a run of this plan is under way")]
    Held(#[from] LockError),
    /// Git does not do what is needed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ImportError {
    move |source| ImportError::Io { action, path: path.to_owned(), source }
}

/// Imports a source: makes a spec of it, or adds to the one that was made of it what is new and updates what changed. What is
/// done here is written back.
pub fn import(request: &Import<'_>) -> Result<ImportReport, ImportError> {
    let project = request.project;
    let imported = Imported { address: address(request)?, branch: None };
    let mut source = Source::of(project, imported);
    let scratch = project.home(&project.root().join(format!("import-{}", std::process::id())));
    let is_elsewhere = !matches!(source.way, Way::File(_));
    if is_elsewhere {
        make_own(project, &scratch)?;
    }
    let caller = caller(project, &scratch)?;
    let read = source.read(&caller).map_err(|reason| ImportError::Source {
        address: source.imported.address.to_string(),
        reason,
        is_elsewhere,
    })?;
    source.imported.branch.clone_from(&read.listing.branch);
    let spec = Spec::find(request, &source.imported, &read)?;
    let taken = take_in(request, &source, read, &spec, &caller);
    if is_elsewhere {
        // What gh and bd printed is of no use to anybody any more.
        let _ = fs::remove_dir_all(&scratch);
    }
    taken
}

/// The address of the source: a file from the project's root, or issues.
fn address(request: &Import<'_>) -> Result<Address, ImportError> {
    let none = || ImportError::NoSource(request.source.to_owned());
    match Address::read(request.source).ok_or_else(none)? {
        Address::File(path) => {
            let path = request.dir.join(path);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let inside = IN_FOLDERS.iter().find(|(folder, _)| *folder == name && path.is_dir());
            let path = inside.map_or(path.clone(), |(_, file)| path.join(file));
            if !path.is_file() {
                return Err(none());
            }
            let path = path.canonicalize().map_err(io_error("read", &path))?;
            let shown = request.project.relative(&path).to_str().map(str::to_owned);
            Ok(Address::File(shown.ok_or_else(none)?))
        }
        issues @ (Address::Label(_) | Address::Milestone(_)) => Ok(issues),
    }
}

fn caller(project: &Project, dir: &Path) -> Result<Caller, ImportError> {
    let env = vec![(MARKER.into(), dir.into()), (DISPATCH_MARKER.into(), dir.into())];
    let runtime = runtime().map_err(io_error("start a thread for", dir))?;
    let context = CallContext { runtime, root: project.root().to_owned(), dir: dir.to_owned(), env };
    Ok(Caller::new(context).0)
}

/// The spec that an import is about.
struct Spec {
    name: String,
    path: PathBuf,
    /// Its text, if it is there.
    text: Option<String>,
}

impl Spec {
    /// The spec of the name that was given; else the one that was made of this source before, or a new one.
    fn find(request: &Import<'_>, imported: &Imported, read: &Read) -> Result<Self, ImportError> {
        let specs = request.project.root().join(PLACES[0]);
        let of = |name: String| {
            let path = specs.join(&name).join("tasks.md");
            Self { name, text: fs::read_to_string(&path).ok(), path }
        };
        let is_of = |spec: &Self| spec.text.as_deref().and_then(Imported::of).as_ref() == Some(imported);
        let spec = match request.name {
            Some(name) => of(name.to_owned()),
            None => {
                let entries = fs::read_dir(&specs).into_iter().flatten().flatten();
                let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
                let mut made: Vec<Self> = names.map(of).filter(is_of).collect();
                if made.len() > 1 {
                    made.sort_by(|left, right| left.name.cmp(&right.name));
                    let names = made.into_iter().map(|spec| spec.name).collect();
                    return Err(ImportError::Several { address: imported.address.to_string(), names });
                }
                made.pop().unwrap_or_else(|| of(name_for(imported, read)))
            }
        };
        if spec.text.is_some() && !is_of(&spec) {
            let path = request.project.relative(&spec.path).to_owned();
            return Err(ImportError::Taken { path, address: imported.address.to_string() });
        }
        Ok(spec)
    }
}

/// The name for the spec of a source: what its branch, its project or its label is called, else its tool.
fn name_for(imported: &Imported, read: &Read) -> String {
    let told = match &imported.address {
        Address::Label(name) | Address::Milestone(name) => Some(name.as_str()),
        Address::File(_) => {
            let branch = imported.branch.as_deref().and_then(|branch| branch.rsplit('/').next());
            branch.or(read.listing.title.as_deref())
        }
    };
    let tool = match read.tracker {
        Tracker::TaskMaster => "task-master",
        Tracker::Prd => "prd",
        Tracker::Beads => "beads",
        Tracker::GitHub => "issues",
    };
    told.map(slug).filter(|name| !name.is_empty()).unwrap_or_else(|| tool.to_owned())
}

/// Words as a name: small letters, digits and dashes.
fn slug(words: &str) -> String {
    let plain = words.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect::<String>();
    let name = plain.to_lowercase().split_whitespace().collect::<Vec<_>>().join("-");
    name.chars().take(NAME_CHARS_MAX).collect::<String>().trim_matches('-').to_owned()
}

/// Makes the plan, or takes into it what the source lists.
fn take_in(
    request: &Import<'_>,
    source: &Source,
    mut read: Read,
    spec: &Spec,
    caller: &Caller,
) -> Result<ImportReport, ImportError> {
    let home = request.project.home(&spec.path);
    let _lock = if request.is_dry { None } else { Some(lock(request.project, &home)?) };
    let reading = Reading::of(Format::Imported);
    let before = spec.text.as_ref().map(|text| Plan::parse_as(reading, text.clone(), &spec.path));
    if read.tracker == Tracker::GitHub {
        read.listing.leave_out_done(|id| before.as_ref().is_some_and(|plan| plan.task(&id.into()).is_some()));
    }
    let new = write(&spec.name, &source.imported, &mut read.listing);
    if new.tasks().is_empty() && before.is_none() {
        return Err(ImportError::Empty(source.imported.address.to_string()));
    }
    let known = known::load(&home);
    let is_new = before.is_none();
    let merged = before.map_or_else(|| Merged::of_all(&new), |plan| merge(plan, &new, &known, digest));
    let plan = merged.plan.clone();
    if !request.is_dry {
        keep(request.project, spec, &plan)?;
        known::keep(&home, known, (&new, &read.listing)).map_err(io_error("write", &home))?;
    }
    let mut report = report(spec, merged, is_new);
    report.address = source.imported.address.to_string();
    report.branch.clone_from(&source.imported.branch);
    report.tracker = read.tracker;
    report.groups = read.listing.groups.len();
    let done = names(plan.tasks().iter().filter(|task| task.state.is_done()));
    let outstanding = read.listing.outstanding(&done);
    report.left_out = read.listing.left_out;
    report.problems.extend(read.listing.problems);
    report
        .problems
        .extend(read.trouble.map(|reason| format!("`bd` did not tell, so the file was read: {reason}")));
    if !request.is_dry && !outstanding.is_empty() {
        write_back(&mut report, source, caller, (outstanding, &done));
        known::note_done(&home, &report.written_back).map_err(io_error("write", &home))?;
    }
    Ok(report)
}

/// Takes the lock that a run of the plan holds.
fn lock(project: &Project, home: &Path) -> Result<RunLock, ImportError> {
    make_own(project, home)?;
    Ok(RunLock::acquire(&home.join("lock"))?)
}

/// Makes a folder of ours, which git leaves out.
fn make_own(project: &Project, home: &Path) -> Result<(), ImportError> {
    make_private(home).map_err(io_error("create", home))?;
    Ok(project.git().map_or(Ok(()), keep_own_files_out)?)
}

/// Writes the plan, unless it is there already; a new one becomes the active one.
fn keep(project: &Project, spec: &Spec, plan: &Plan) -> Result<(), ImportError> {
    if spec.text.as_deref() != Some(plan.text()) {
        spec.path.parent().map_or(Ok(()), fs::create_dir_all).map_err(io_error("create", &spec.path))?;
        atomic::replace(&spec.path, plan.text()).map_err(io_error("write", &spec.path))?;
    }
    if spec.text.is_none() {
        project.activate(&spec.name).map_err(io_error("write", &project.pointer()))?;
    }
    Ok(())
}

fn report(spec: &Spec, merged: Merged, is_new: bool) -> ImportReport {
    let plan = &merged.plan;
    let (done, open): (Vec<&Task>, Vec<&Task>) = plan.tasks().iter().partition(|task| task.state.is_done());
    let has_command = |task: &&&Task| matches!(plan.verify(task), Verify::Runnable(_));
    let mut problems: Vec<String> =
        plan.dependency_problems().into_iter().map(|problem| problem.message).collect();
    problems.extend(merged.refused.iter().map(|id| {
        format!("{id} was not taken in: a task of the plan has its id, or there is no room for it")
    }));
    ImportReport {
        name: spec.name.clone(),
        path: spec.path.clone(),
        address: String::new(),
        tracker: Tracker::TaskMaster,
        branch: None,
        is_new,
        tasks: plan.tasks().len(),
        done: done.len(),
        with_command: open.iter().filter(has_command).count(),
        groups: 0,
        added: merged.added,
        updated: merged.updated,
        overruled: merged.overruled,
        kept: merged.kept,
        ticked: merged.ticked,
        changed_when_done: merged.changed_when_done,
        gone: merged.gone,
        left_out: Vec::new(),
        problems,
        written_back: Vec::new(),
        not_written_back: None,
    }
}

fn names<'t>(tasks: impl Iterator<Item = &'t Task>) -> BTreeSet<String> {
    tasks.map(|task| task.id.name().to_owned()).collect()
}

/// Tells the source what is done here and open there.
fn write_back(
    report: &mut ImportReport,
    source: &Source,
    caller: &Caller,
    (outstanding, done): (Vec<String>, &BTreeSet<String>),
) {
    let told = match source.file() {
        Some(path) => edit(source, path, done),
        None => Ok(tell(source, caller, (done, &Reasons::new()))),
    };
    let trouble = told.map_or_else(|reason| Some((outstanding.clone(), reason)), |closed| closed.trouble());
    let is_told = |id: &String| !trouble.as_ref().is_some_and(|(missing, _)| missing.contains(id));
    report.written_back = outstanding.into_iter().filter(is_told).collect();
    report.not_written_back = trouble;
}

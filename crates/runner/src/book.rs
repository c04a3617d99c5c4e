//! The plan file on disk: read when it changed, edited in the smallest way, and put back where an agent laid
//! hands on what is not its own.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use engine::{TaskDecl, TaskKind, Verification};
use plan::{FixTask, Plan, Task, TaskId, Verify};

use crate::atomic;

/// The plan file and what was last read from or written to it.
#[derive(Debug)]
pub(crate) struct Book {
    path: PathBuf,
    plan: Plan,
    signature: Option<Signature>,
    /// Whether somebody's change was read on the way to an edit of ours, so that the run does not know it yet.
    is_unreported: bool,
}

/// What tells one version of a file from another. The change time cannot be set by a program, so an edit
/// that restores size and modification time is seen as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signature {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Whether the file is another one than it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// As last seen.
    Same,
    /// Somebody changed it.
    Changed,
}

/// What an attempt did to the plan file, and what was done about it.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// Tasks whose boxes were put back, or that had been removed.
    pub tampered: Vec<TaskId>,
    /// Tasks that are new; they are kept.
    pub added: Vec<TaskId>,
    /// Tasks whose text is another one; it is kept.
    pub reworded: Vec<TaskId>,
    /// Whether the task's own box was found ticked.
    pub own_ticked: bool,
}

/// What the own box may look like after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnBox {
    /// The program ticks it later: it is put back.
    PutBack,
    /// The agent was to tick it: it stays.
    Keep,
}

impl Book {
    /// Reads the plan file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut book = Self { path: path.to_owned(), plan: Plan::parse(String::new()), signature: None, is_unreported: false };
        book.refresh()?;
        Ok(book)
    }

    /// The plan as last read.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Reads the file again if it changed; says so also of a change that was read in passing since the last time.
    pub(crate) fn refresh(&mut self) -> io::Result<Freshness> {
        self.catch_up()?;
        let is_changed = std::mem::take(&mut self.is_unreported);
        Ok(if is_changed { Freshness::Changed } else { Freshness::Same })
    }

    /// Before an edit of ours: whatever somebody wrote meanwhile stays.
    fn catch_up(&mut self) -> io::Result<()> {
        self.is_unreported |= self.reread()?.is_some();
        Ok(())
    }

    /// Reads the file again; the plan as it was before, if it is another one now.
    fn reread(&mut self) -> io::Result<Option<Plan>> {
        let signature = Signature::of(&self.path)?;
        if self.signature == Some(signature) {
            return Ok(None);
        }
        let text = read_lossless(&self.path)?;
        self.signature = Some(signature);
        if text == self.plan.text() {
            return Ok(None);
        }
        Ok(Some(std::mem::replace(&mut self.plan, Plan::parse(text))))
    }

    /// What the engine has to know of every task.
    pub(crate) fn decls(&self) -> Vec<TaskDecl> {
        self.plan.tasks().iter().map(|task| decl(&self.plan, task)).collect()
    }

    /// What the engine has to know of one task.
    pub(crate) fn decl(&self, id: &TaskId) -> Option<TaskDecl> {
        self.plan.task(id).map(|task| decl(&self.plan, task))
    }

    /// Ticks a box, if the task is there and its box is open.
    pub(crate) fn tick(&mut self, id: &TaskId) -> io::Result<()> {
        self.catch_up()?;
        let is_open = self.plan.task(id).is_some_and(|task| !task.state.is_done());
        if is_open && self.plan.tick(id).is_ok() {
            self.save()?;
        }
        Ok(())
    }

    /// Unticks a box, if the task is there and its box is ticked.
    pub(crate) fn untick(&mut self, id: &TaskId) -> io::Result<()> {
        self.catch_up()?;
        let is_done = self.plan.task(id).is_some_and(|task| task.state.is_done());
        if is_done && self.plan.untick(id).is_ok() {
            self.save()?;
        }
        Ok(())
    }

    /// Writes a fix task, unless it is there already.
    pub(crate) fn insert_fix(&mut self, fix: &FixTask<'_>) -> io::Result<()> {
        self.catch_up()?;
        if self.plan.task(fix.id).is_some() {
            return Ok(());
        }
        self.plan.insert_fix(fix).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        self.save()
    }

    /// Looks at the file after an attempt at `own`. Boxes of other tasks are put back; if tasks were removed,
    /// the whole text is, and the agent's version is kept in `aside`.
    pub(crate) fn inspect(&mut self, own: &TaskId, own_box: OwnBox, aside: &Path) -> io::Result<Inspection> {
        let before = match self.reread() {
            Ok(None) => return Ok(Inspection::default()),
            Ok(Some(before)) => before,
            Err(error) if is_spoilt(&error) => std::mem::replace(&mut self.plan, Plan::parse(String::new())),
            Err(error) => return Err(error),
        };
        let removed = removed(&before, &self.plan);
        let mut inspection = compare(&before, &self.plan, own);
        if !removed.is_empty() {
            atomic::replace(aside, self.plan.text())?;
            inspection = Inspection { tampered: removed, own_ticked: inspection.own_ticked, ..Inspection::default() };
            self.plan = before;
            self.make_way(aside)?;
            self.save()?;
            return Ok(inspection);
        }
        self.is_unreported = true;
        self.put_back(&before, &inspection.tampered)?;
        if inspection.own_ticked && own_box == OwnBox::PutBack {
            self.untick(own)?;
        }
        Ok(inspection)
    }

    /// Makes room for the plan file where its folder is gone, or a folder of its name stands in its place.
    fn make_way(&self, aside: &Path) -> io::Result<()> {
        if self.path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            fs::rename(&self.path, aside.with_extension("folder"))?;
        }
        self.path.parent().map_or(Ok(()), fs::create_dir_all)
    }

    fn put_back(&mut self, before: &Plan, tampered: &[TaskId]) -> io::Result<()> {
        for id in tampered {
            match before.task(id).map(|task| task.state.is_done()) {
                Some(true) => self.tick(id)?,
                Some(false) => self.untick(id)?,
                None => {}
            }
        }
        Ok(())
    }

    fn save(&mut self) -> io::Result<()> {
        atomic::replace(&self.path, self.plan.text())?;
        self.signature = Some(Signature::of(&self.path)?);
        Ok(())
    }
}

impl Signature {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// Reads a plan that may hold invalid UTF-8: that is an error rather than a loss, because what is written
/// back has to be what the author wrote.
fn read_lossless(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not valid UTF-8"))
    })
}

/// Whether there is no plan any more where there was one: deleted, a folder, or not text.
fn is_spoilt(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData | io::ErrorKind::IsADirectory)
}

fn removed(before: &Plan, after: &Plan) -> Vec<TaskId> {
    let tasks = before.tasks().iter().map(|task| &task.id);
    tasks.filter(|id| after.task(id).is_none()).cloned().collect()
}

fn compare(before: &Plan, after: &Plan, own: &TaskId) -> Inspection {
    let mut inspection = Inspection::default();
    for task in after.tasks() {
        let Some(known) = before.task(&task.id) else {
            inspection.added.push(task.id.clone());
            continue;
        };
        if task.state.is_done() != known.state.is_done() {
            if task.id == *own {
                inspection.own_ticked = task.state.is_done();
            } else {
                inspection.tampered.push(task.id.clone());
            }
        }
        if digest(after, task) != digest(before, known) {
            inspection.reworded.push(task.id.clone());
        }
    }
    inspection
}

fn decl(plan: &Plan, task: &Task) -> TaskDecl {
    let verification = match plan.verify(task) {
        Verify::Runnable(_) => Verification::Command,
        Verify::Prose(_) | Verify::Absent => Verification::Judgement,
    };
    TaskDecl {
        id: task.id.clone(),
        title: plan.title(task).to_owned(),
        kind: if task.markers.verify { TaskKind::Verify } else { TaskKind::Work },
        verification,
        fix_of: task.markers.fix_of.as_ref().map(|name| TaskId::new(name)),
        ticked: task.state.is_done(),
        digest: digest(plan, task),
        files: plan.fields(task).files.map(|files| files.paths).unwrap_or_default(),
        depends_on: Vec::new(),
    }
}

/// A digest of a task's text without its box.
fn digest(plan: &Plan, task: &Task) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(plan.title(task).as_bytes());
    let block = plan.block(task);
    let body = block.find('\n').map_or("", |newline| &block[newline..]);
    hasher.update(body.trim_end().as_bytes());
    hasher.finalize()
}

//! One plan file on disk: read when it changed, replaced as a whole.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use engine::{Dispatch, State};
use plan::{Dialect, Plan, Reading, Task};

use crate::atomic;

/// A plan file and what was last read from or written to it.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    /// The path of the text, as it was when the run began: the plan may be a link that its author made.
    real: PathBuf,
    reading: Reading,
    pub(super) plan: Plan,
    signature: Option<Signature>,
    /// The text before the first edit of ours that is in no commit yet.
    before_edits: Option<String>,
    /// The text as last read or written.
    on_disk: String,
    /// The summary of the work, where one lay beside the plan when it was first read: an agent may write one later.
    summary: Option<PathBuf>,
}

/// The `03-01-SUMMARY.md` beside a `03-01-PLAN.md`: the tool that such plans come from writes it once a plan is done.
pub fn summary_beside(plan: &Path) -> Option<PathBuf> {
    let stem = plan.file_name()?.to_str()?.strip_suffix("PLAN.md")?;
    let summary = plan.with_file_name(format!("{stem}SUMMARY.md"));
    summary.is_file().then_some(summary)
}

/// The signature that tells one version of a file from another. The change time cannot be set by a program, so an edit
/// that restores size and modification time is seen as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signature {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Source {
    /// Reads a plan file.
    pub(super) fn open(path: &Path, reading: Reading) -> io::Result<Self> {
        let plan = Plan::parse(String::new());
        let real = fs::canonicalize(path)?;
        let summary = summary_beside(path).filter(|_| reading.format.dialect() == Dialect::Phase);
        let mut source = Self {
            path: path.to_owned(),
            real,
            reading,
            plan,
            signature: None,
            before_edits: None,
            on_disk: String::new(),
            summary,
        };
        source.reread()?;
        Ok(source)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// True if the plan had its summary beside it when it was first read, and no agent worked on it in this run.
    pub(super) fn is_done_elsewhere(&self, state: &State) -> bool {
        let is_begun = |task: &Task| {
            let known = state.task(&task.id);
            known.is_some_and(|known| known.dispatch != Dispatch::default())
        };
        self.summary.is_some() && !self.plan.tasks().iter().any(is_begun)
    }

    /// Reads the file again; the plan as it was before, if it is another one now.
    pub(super) fn reread(&mut self) -> io::Result<Option<Plan>> {
        self.refuse_other_file()?;
        let signature = Signature::of(&self.real)?;
        if self.signature == Some(signature) {
            return Ok(None);
        }
        let text = read_lossless(&self.real)?;
        let is_first = self.signature.is_none();
        self.signature = Some(signature);
        self.on_disk.clone_from(&text);
        if text == self.plan.text() && !is_first {
            return Ok(None);
        }
        let plan = self.parse(text);
        Ok(Some(std::mem::replace(&mut self.plan, plan)))
    }

    /// Reads the file again where it may be spoilt; the plan as it was before, if it is another one now.
    pub(super) fn reread_or_empty(&mut self) -> io::Result<Option<Plan>> {
        match self.reread() {
            Err(error) if is_spoilt(&error) => {
                let empty = self.parse(String::new());
                Ok(Some(std::mem::replace(&mut self.plan, empty)))
            }
            other => other,
        }
    }

    /// Takes another text for the plan's, which is still to be written.
    pub(super) fn replace(&mut self, text: String) {
        self.plan = self.parse(text);
    }

    /// Writes the plan with an edit of ours.
    pub(super) fn save(&mut self) -> io::Result<()> {
        let before = std::mem::take(&mut self.on_disk);
        self.before_edits.get_or_insert(before);
        self.put_back()
    }

    /// Writes the plan as it was before somebody laid hands on it.
    pub(super) fn put_back(&mut self) -> io::Result<()> {
        atomic::replace(&self.real, self.plan.text())?;
        self.signature = Some(Signature::of(&self.real)?);
        self.on_disk = self.plan.text().to_owned();
        Ok(())
    }

    /// The text before the first edit of ours that is in no commit yet.
    pub(super) fn before_edits(&self) -> Option<&str> {
        self.before_edits.as_deref()
    }

    /// Notes that all edits of ours are in a commit.
    pub(super) fn edits_are_committed(&mut self) {
        self.before_edits = None;
    }

    /// A link that leads elsewhere than when the run began is not the plan any more.
    fn refuse_other_file(&self) -> io::Result<()> {
        let leads_here = self.path == self.real || fs::canonicalize(&self.path)? == self.real;
        let is_link = fs::symlink_metadata(&self.real)?.is_symlink();
        if leads_here && !is_link {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "the plan was replaced by a link"))
    }

    /// Makes room for the plan file where its folder is gone, or a folder of its name stands in its place.
    pub(super) fn make_way(&self, aside: &Path) -> io::Result<()> {
        if self.real.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            fs::rename(&self.real, aside.with_extension("folder"))?;
        }
        self.real.parent().map_or(Ok(()), fs::create_dir_all)?;
        if self.path != self.real && fs::canonicalize(&self.path).ok().as_ref() != Some(&self.real) {
            // What stands in the place of the author's link may be gone already.
            let _ = fs::remove_file(&self.path);
            std::os::unix::fs::symlink(&self.real, &self.path)?;
        }
        Ok(())
    }

    fn parse(&self, text: String) -> Plan {
        Plan::parse_as(self.reading, text, &self.path)
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
    let bytes = atomic::read(path)?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not valid UTF-8"))
    })
}

/// True if there is no plan any more where there was one: deleted, a folder, or not text.
fn is_spoilt(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | InvalidData | IsADirectory | NotADirectory)
}

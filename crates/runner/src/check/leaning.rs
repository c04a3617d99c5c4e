//! Looks at what a green command leans on: it runs again with parts of its proof as they were before the task, and new tests
//! run on the old sources. The files are put back in the place of the attempt, and are afterwards as they were.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{
    ActionKey, Cause, ChangedPart, CheckFailure, ChecksReport, Dispatch, Evidence, Seen, TouchedFile,
    told_put_back,
};
use plan::{Script, TaskId};
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::attempt::dispatch::Purpose;
use crate::attempt::judge::set_aside;
use crate::check::command::verdict;
use crate::check::covers;
use crate::error::RunError;
use crate::git::{Git, GitError, Oid, Paths, Place};
use crate::plan_file::Excerpt;
use crate::process::Ended;
use crate::run::effects::{Effects, Flight};
use crate::work::project_files::listed;

/// The file that tells which files of the project are as they were before a task, while they are.
const PUT_BACK: &str = "put-back.json";

/// How many files are looked at.
const FILES_MAX: usize = 200;

/// An attempt whose checks are green, and what is still to be tried of it.
pub(crate) struct Checked {
    pub task: TaskId,
    pub dispatch: Dispatch,
    pub script: Script,
    pub report: ChecksReport,
    /// The tree that lies in the project.
    pub tree: Option<String>,
    /// The folder for what the command prints.
    pub dir: PathBuf,
    ran: Ran,
    /// The looks that are to be taken, the next one last.
    looks: Vec<Look>,
    /// The one that is under way.
    put_back: Option<PutBack>,
    /// What lay there before the task, as a commit or a tree.
    base: Option<Oid>,
}

/// What the command ran.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    Anything,
    /// A runner of tests that had none.
    NoTest,
}

/// A run of the command with files as they were before the task.
enum Look {
    /// Parts of the proof.
    Parts(Vec<ChangedPart>, Refusal),
    /// The sources, for new tests.
    Sources { sources: Vec<String>, tests: Vec<String> },
}

/// What becomes of an attempt whose command leans on a part that no work needs to change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Off,
    On,
}

impl Look {
    fn paths(&self) -> Vec<String> {
        match self {
            Self::Parts(parts, _) => parts.iter().map(|part| part.path.clone()).collect(),
            Self::Sources { sources, .. } => sources.clone(),
        }
    }
}

/// Files of a place that are as they were before a task.
#[derive(Serialize, Deserialize)]
struct PutBack {
    task: TaskId,
    paths: Vec<String>,
    /// All that lay there.
    tree: String,
    /// All that lies there now.
    now: String,
}

impl Checked {
    pub(crate) fn new(
        (task, dispatch): (TaskId, Dispatch),
        (script, dir, ran): (Script, PathBuf, Ran),
        (report, tree): (ChecksReport, Option<String>),
    ) -> Self {
        let (looks, put_back, base) = (Vec::new(), None, None);
        Self { task, dispatch, script, report, tree, dir, ran, looks, put_back, base }
    }
}

impl Effects<'_, '_> {
    /// After the checks of an attempt: takes the looks that are due, and then reports.
    pub(crate) fn checked(
        &mut self,
        key: ActionKey,
        mut checked: Checked,
        text: &str,
    ) -> Result<Seen, RunError> {
        if checked.report.failure.is_none() && self.state.end().is_none() && !self.is_shared() {
            self.plan_looks(&mut checked, text)?;
        }
        self.look_or_report(key, checked)
    }

    fn look_or_report(&mut self, key: ActionKey, mut checked: Checked) -> Result<Seen, RunError> {
        let git = self.world.files.git();
        let (Some(look), Some(git), Some(base)) = (checked.looks.last(), git, &checked.base) else {
            let Checked { task, dispatch, mut report, tree, ran, .. } = checked;
            if report.failure.is_none() && ran == Ran::NoTest {
                report.failure = self.without_tests(&task);
            }
            return Ok(Seen::ChecksEnded { task, dispatch, report, tree });
        };
        let dir = checked.dir.join("put-back");
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        checked.put_back = Some(self.put_files_back((git, base), &checked.task, look.paths())?);
        let (script, place) = (checked.script.clone(), self.workplace(&checked.task));
        let slot = self.slot_of(&checked.task);
        let invocation = self.verification((&script, place, slot), &dir);
        let handle = crate::process::start(&self.world.runtime, invocation, self.reporter(key.clone()));
        let purpose = Purpose::Leaning { checked: Box::new(checked) };
        self.depart(key, Flight { handle: Some(handle), purpose });
        Ok(Seen::TimePassed)
    }

    /// Takes in the end of a command that ran with files as they were.
    pub(crate) fn leaned(
        &mut self,
        key: ActionKey,
        mut checked: Checked,
        ended: &Ended,
    ) -> Result<Seen, RunError> {
        let place = self.workplace(&checked.task);
        if let Some(put_back) = checked.put_back.take() {
            self.put_files_on(&put_back, &checked.dir)?;
        }
        let (result, look) = (verdict(&checked.script, ended, &place), checked.looks.pop());
        let evidence = match (look, result.failure) {
            _ if !ended.exit.is_whole() => {
                checked.looks.clear();
                None
            }
            (Some(Look::Parts(parts, refusal)), Some(red)) => {
                checked.looks.clear();
                if refusal == Refusal::On {
                    checked.report.failure = Some(refused(&parts, red));
                    None
                } else {
                    Some(Evidence::Leaning { parts, error: plan::one_line(&red.error) })
                }
            }
            (Some(Look::Sources { tests, .. }), None) => Some(Evidence::GreenWithoutWork { tests }),
            (Some(Look::Parts(..)), None) | (Some(Look::Sources { .. }), Some(_)) | (None, _) => None,
        };
        if let Some(evidence) = evidence {
            self.see(Seen::Found { task: checked.task.clone(), evidence });
        }
        if self.state.end().is_some() {
            checked.looks.clear();
        }
        self.look_or_report(key, checked)
    }

    fn plan_looks(&mut self, checked: &mut Checked, text: &str) -> Result<(), RunError> {
        let Some(git) = self.world.files.git() else { return Ok(()) };
        let Some(base) = self.base_of(&checked.task) else { return Ok(()) };
        let Some(excerpt) = Excerpt::read(self.world.file.reading, text).filter(|excerpt| !excerpt.is_red())
        else {
            return Ok(());
        };
        let task = Words::of(&excerpt);
        let files = self.touched_by(git, (&checked.task, &base), &checked.script, &task)?;
        if let Some((tests, sources)) = engine::new_tests(&files) {
            checked.looks.push(Look::Sources { sources, tests });
        }
        let parts = engine::suspects(&files, task.has_files);
        if !parts.is_empty() {
            let is_refusable = parts.iter().any(|part| part.change.is_refusable())
                && task.has_files
                && !engine::speaks_of_tests(&task.text);
            let is_refused = self.world.settings.strict.is_on() && is_refusable;
            checked.looks.push(Look::Parts(parts, if is_refused { Refusal::On } else { Refusal::Off }));
        }
        checked.base = Oid::parse(&base);
        Ok(())
    }

    /// What lay in a task's place before the first of its attempts.
    fn base_of(&self, id: &TaskId) -> Option<String> {
        let task = self.state.task(id)?;
        if task.is_isolated() {
            return task.work.as_ref().map(|work| work.base.clone());
        }
        let found = task.found.as_ref().and_then(|found| found.tree.clone());
        found.or_else(|| task.base.clone())
    }

    /// The files that attempts at a task changed, as far as they matter to its command.
    fn touched_by(
        &self,
        git: &Git,
        (id, base): (&TaskId, &str),
        script: &Script,
        task: &Words,
    ) -> Result<Vec<TouchedFile>, GitError> {
        let mine = self.state.task(id).map(|task| task.touched.clone()).unwrap_or_default();
        let basis = script.basis(&|path| git.text_in(base, path));
        if !mine.iter().any(|path| basis.part(path).is_some()) {
            return Ok(Vec::new());
        }
        let now = git.snapshot(&self.place_of(id))?;
        let changed = git.changed_between(base, now.as_str())?.into_iter().filter(|path| mine.contains(path));
        let root = self.workplace(id);
        let parts = changed.map(|path| (basis.part(&path), path));
        let parts = parts.filter(|(part, path)| part.is_some() || plan::is_source(path)).take(FILES_MAX);
        let look = |(part, path): (Option<plan::Part>, String)| {
            let telling = |text: String| basis.telling(&path, &text);
            // The text of a source does not matter.
            let before = part.and_then(|_| git.text_in(base, &path)).map(telling);
            let after = part.and_then(|_| fs::read(root.join(&path)).ok());
            let after = after.map(|bytes| telling(String::from_utf8_lossy(&bytes).into_owned()));
            TouchedFile { is_named: task.names(&path), part, before, after, path }
        };
        Ok(parts.map(look).collect())
    }

    /// Puts files back as they were before a task. For the project itself it is written down first: whoever starts next puts
    /// them on again. A slot is made ready anew.
    fn put_files_back(
        &self,
        (git, base): (&Git, &Oid),
        id: &TaskId,
        paths: Vec<String>,
    ) -> Result<PutBack, RunError> {
        let place = self.place_of(id);
        let tree = git.snapshot(&place)?.as_str().to_owned();
        let mut put_back = PutBack { task: id.clone(), paths, now: tree.clone(), tree };
        self.write_down(&put_back)?;
        write_files(git, base, (&place, &put_back.paths))?;
        put_back.now = git.snapshot(&place)?.as_str().to_owned();
        self.write_down(&put_back)?;
        Ok(put_back)
    }

    fn write_down(&self, put_back: &PutBack) -> Result<(), RunError> {
        if self.is_isolated(&put_back.task) {
            return Ok(());
        }
        let file = self.world.file.home.join(PUT_BACK);
        let text = serde_json::to_string(put_back).unwrap_or_default();
        atomic::replace(&file, &text).map_err(RunError::io("write", &file))
    }

    /// Puts files on again that were put back, with what the command made of the work meanwhile. What somebody else may have
    /// made of them is kept aside.
    fn put_files_on(&mut self, put_back: &PutBack, dir: &Path) -> Result<(), RunError> {
        let (id, is_isolated) = (&put_back.task, self.is_isolated(&put_back.task));
        let Some((git, tree)) = self.world.files.git().zip(Oid::parse(&put_back.tree)) else { return Ok(()) };
        let place = self.place_of(id);
        let after = git.snapshot(&place)?;
        let is_own = |path: &String| {
            is_isolated
                || put_back.paths.contains(path)
                || self.state.task(id).is_some_and(|task| task.touched.contains(path))
        };
        let mut differing = git.changed_between(tree.as_str(), after.as_str())?;
        differing.retain(is_own);
        let strange = git.changed_between(&put_back.now, after.as_str())?;
        let strange: Vec<String> =
            strange.into_iter().filter(|path| !is_isolated && put_back.paths.contains(path)).collect();
        let aside = dir.join("left-with-old-files");
        for path in &strange {
            set_aside(&place.root.join(path), &aside.join(path))
                .map_err(RunError::io("move", place.root.join(path)))?;
        }
        write_files(git, &tree, (&place, &differing))?;
        if !strange.is_empty() {
            let aside = self.world.project.relative(&aside).display().to_string();
            self.note_of(id, format!(
                "while the verify command of task {id} ran with files as they were before, {} changed; it is as it was, and \
                 what was made of it is in {aside}",
                listed(&strange)
            ));
        }
        match fs::remove_file(self.world.file.home.join(PUT_BACK)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(RunError::io("remove", self.world.file.home.join(PUT_BACK))(error)),
        }
    }

    /// Before a run goes on that died: files of the project that were as they had been before a task are put on again.
    pub(crate) fn put_on_lost_files(&mut self) -> Result<(), RunError> {
        let file = self.world.file.home.join(PUT_BACK);
        let Some(put_back) =
            atomic::read(&file).ok().and_then(|text| serde_json::from_slice::<PutBack>(&text).ok())
        else {
            return Ok(());
        };
        let dir = self.world.file.home.join("put-back");
        self.put_files_on(&put_back, &dir)
    }
}

/// The words of a task about files.
pub(super) struct Words {
    files: Vec<String>,
    has_files: bool,
    /// All that it says but its command.
    text: String,
}

impl Words {
    pub(super) fn of(excerpt: &Excerpt) -> Self {
        let fields = excerpt.fields();
        let files = fields.files.unwrap_or_default();
        let others = fields.others.into_iter().map(|(_, text)| text);
        let text = [Some(excerpt.title().to_owned()), fields.do_, fields.done_when].into_iter().flatten();
        let text = text.chain(others).collect::<Vec<_>>().join("\n");
        Self { has_files: !files.paths.is_empty() && files.unclear.is_empty(), files: files.paths, text }
    }

    /// True if the task speaks of a file.
    pub(super) fn names(&self, path: &str) -> bool {
        self.files.iter().any(|entry| covers(entry, path))
            || engine::names(&self.text, path)
            || engine::is_implied(path, &self.files)
    }
}

/// Writes files as a tree has them. Whatever goes by the time of a file, to the second, notices that it is another one.
fn write_files(git: &Git, tree: &Oid, (place, paths): (&Place, &[String])) -> Result<(), GitError> {
    let root = &place.root;
    let times: Vec<Option<SystemTime>> = paths.iter().map(|path| time_of(&root.join(path))).collect();
    let scratch = place.index.with_extension("scratch");
    git.put_back(tree, &Paths { tree: root, paths, scratch: &scratch })?;
    for (path, before) in paths.iter().zip(times) {
        let file = root.join(path);
        let second = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (Some(before), Some(now)) = (before, time_of(&file)) else { continue };
        if second(now) <= second(before) {
            let next = UNIX_EPOCH + Duration::from_secs(second(before) + 1);
            // A tool that takes it for the one before is wrong about a single look.
            let _ = File::options().write(true).open(&file).and_then(|file| file.set_modified(next));
        }
    }
    Ok(())
}

fn time_of(file: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(file).ok().filter(|metadata| metadata.is_file())?.modified().ok()
}

fn refused(parts: &[ChangedPart], red: CheckFailure) -> CheckFailure {
    let error = format!("the verify command is red with {}: {}", told_put_back(parts), red.error);
    CheckFailure { cause: Cause::ProvesNothing, error, ..red }
}

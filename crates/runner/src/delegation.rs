//! What an agent or a command is given: a prompt, a folder, an environment, limits.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Attempt, Dispatch, Role, retry_context};
use plan::{Dialect, TaskId};

use crate::atomic;
use crate::book::Excerpt;
use crate::driver::Driver;
use crate::error::RunError;
use crate::mask::mask;
use crate::process::{Invocation, ProcessLimits, Program};
use crate::projection::learnings_in;
use crate::prompt::{self, AttemptPart, Subject};
use crate::settings::Bookkeeping;

/// The variable by which leftovers of a run that died are recognised.
pub(crate) const MARKER: &str = "TILLGREEN_RUN";

/// The variable by which leftovers of one agent are recognised.
pub(crate) const DISPATCH_MARKER: &str = "TILLGREEN_DISPATCH";

/// How much output is kept from its beginning and from its end.
const HEAD_BYTES_MAX: usize = 256 * 1024;
const TAIL_BYTES_MAX: usize = 128 * 1024;

/// Between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(5);

impl Driver<'_> {
    /// What a prompt about a task is about.
    pub(crate) fn subject<'a>(&'a self, id: &'a TaskId, excerpt: &'a Excerpt) -> Subject<'a> {
        let path = self.book.path(&self.state, id).unwrap_or(&self.file.path);
        let shown = self.project.relative(path).to_string_lossy().into_owned();
        let dir = format!("./{}/", self.project.relative(&self.file.dir).display());
        Subject { id: id.name(), excerpt, file: self.file, shown, dir }
    }

    pub(crate) fn attempt_prompt(&self, id: &TaskId, attempt: Attempt, role: Role) -> Option<String> {
        let excerpt = self.book.excerpt(&self.state, id)?;
        let task = self.state.task(id)?;
        let progress = atomic::read(&self.file.progress()).unwrap_or_default();
        let progress = format!("{}{}", String::from_utf8_lossy(&progress), self.replies());
        let progress_file = self.progress_file(id);
        let progress_file = self.project.relative(&progress_file).to_string_lossy().into_owned();
        let part = AttemptPart {
            attempt,
            role,
            retry_context: retry_context(&self.state, task, attempt),
            progress: &progress,
            progress_file: &progress_file,
            bookkeeping: self.settings.bookkeeping,
        };
        Some(prompt::attempt(&self.subject(id, &excerpt), &part))
    }

    /// What a person answered at checkpoints: later tasks build on it.
    fn replies(&self) -> String {
        if self.file.dialect == Dialect::Spec {
            return String::new();
        }
        let answered = self.state.tasks().iter().filter_map(|task| Some((task, task.reply.as_ref()?)));
        let lines: String = answered
            .map(|(task, reply)| {
                format!("- {} ({}): {}\n", task.id(), plan::one_line(&task.decl.title), plan::one_line(reply))
            })
            .collect();
        if lines.is_empty() { lines } else { format!("\n## Answers at checkpoints\n{lines}") }
    }

    /// Where an attempt writes progress and learnings.
    pub(crate) fn progress_file(&self, id: &TaskId) -> PathBuf {
        match self.settings.bookkeeping {
            Bookkeeping::Coordinator => self.file.task_progress(&file_name(id)),
            Bookkeeping::Agent => self.file.progress(),
        }
    }

    pub(crate) fn read_learnings(&self, id: &TaskId) -> Vec<String> {
        if self.settings.bookkeeping == Bookkeeping::Agent {
            return Vec::new();
        }
        let text = atomic::read(&self.progress_file(id)).unwrap_or_default();
        let learnings = learnings_in(&String::from_utf8_lossy(&text));
        learnings.iter().map(|learning| mask(learning)).collect()
    }

    pub(crate) fn attempt_dir(
        &self,
        id: &TaskId,
        attempt: Attempt,
        dispatch: Dispatch,
    ) -> Result<PathBuf, RunError> {
        let name = format!("{:05}-{}-{attempt}", dispatch.0, file_name(id));
        let dir = self.file.attempts().join(name);
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        Ok(dir)
    }

    /// The text that the task had when the attempt was started. After a crash it is found in the attempt's folder; should
    /// that have been cleaned away, the plan's own text is the next best.
    pub(crate) fn task_text(&self, id: &TaskId, dir: &Path) -> String {
        let known = self.text_at_start.get(id).cloned();
        let kept = known.or_else(|| fs::read_to_string(dir.join("task.md")).ok());
        kept.or_else(|| self.book.text(&self.state, id)).unwrap_or_default()
    }

    /// The running task keeps its text from dispatch, whatever happens to the plan meanwhile.
    pub(crate) fn keep_task_text(&mut self, id: &TaskId, dir: &Path) -> Result<(), RunError> {
        let text = self.book.text(&self.state, id).unwrap_or_default();
        write(&dir.join("task.md"), &text)?;
        self.text_at_start.insert(id.clone(), text);
        Ok(())
    }

    pub(crate) fn agent_invocation(
        &self,
        (id, attempt, role): (&TaskId, Attempt, Role),
        dir: &Path,
        prompt: &str,
        limits: ProcessLimits,
    ) -> Invocation {
        let mut env = self.markers(dir);
        let mut set = |name: &str, value: OsString| env.push((name.into(), value));
        set("TILLGREEN_ROLE", role.name().into());
        set("TILLGREEN_TASK_ID", id.name().into());
        set("TILLGREEN_ATTEMPT", attempt.to_string().into());
        let cwd = self.workplace(id);
        let here = |path: &Path| cwd.join(self.project.relative(path));
        set("TILLGREEN_PLAN", here(&self.file.path).into());
        set("TILLGREEN_PROGRESS_FILE", here(&self.progress_file(id)).into());
        Invocation {
            command: Program::Shell(self.settings.agent.command.clone()),
            cwd,
            env,
            stdin: Some(prompt.to_owned()),
            stdout_log: dir.join("stdout.log"),
            stderr_log: dir.join("stderr.log"),
            limits,
        }
    }

    pub(crate) fn markers(&self, dir: &Path) -> Vec<(OsString, OsString)> {
        vec![(MARKER.into(), self.file.home.clone().into()), (DISPATCH_MARKER.into(), dir.into())]
    }

    pub(crate) fn limits(&self, deadline: Duration, no_progress: Option<Duration>) -> ProcessLimits {
        ProcessLimits {
            deadline,
            no_progress,
            grace: GRACE,
            head_bytes_max: HEAD_BYTES_MAX,
            tail_bytes_max: TAIL_BYTES_MAX,
        }
    }
}

/// Writes a file of an attempt.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), RunError> {
    fs::write(path, text).map_err(RunError::io("write", path))
}

/// A task id as part of a file name.
pub(crate) fn file_name(id: &TaskId) -> String {
    let keep = |character: char| {
        if character.is_alphanumeric() || matches!(character, '.' | '-' | '_') { character } else { '_' }
    };
    id.to_string().chars().map(keep).collect()
}

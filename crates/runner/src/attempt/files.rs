//! The files that attempts and commands of a run leave under `.tillgreen/`, for whoever asks later. Only reads.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use engine::{Attempt, Dispatch};
use plan::TaskId;

use crate::attempt::invocation::file_name;
use crate::mask::mask;
use crate::process::printable;
use crate::project::PlanFile;

/// The bytes of a file that are read. Logs are shorter, because output is bounded where it is written.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The folder of an attempt, or of a command without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptFiles {
    dir: PathBuf,
}

/// A text that is kept in such a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptText {
    /// The task as it read when the attempt was started.
    Task,
    /// The words that the agent was given.
    Prompt,
    /// The agent's standard output.
    AgentOutput,
    /// The agent's standard error.
    AgentErrors,
    /// The verify command's standard output.
    VerifyOutput,
    /// The verify command's standard error.
    VerifyErrors,
}

impl KeptText {
    fn file_name(self) -> &'static str {
        match self {
            Self::Task => "task.md",
            Self::Prompt => "prompt.md",
            Self::AgentOutput => "stdout.log",
            Self::AgentErrors => "stderr.log",
            Self::VerifyOutput => "verify.out.log",
            Self::VerifyErrors => "verify.err.log",
        }
    }
}

impl AttemptFiles {
    /// Those of an agent's start: an attempt, or the judgement of one.
    pub fn of_attempt(file: &PlanFile, task: &TaskId, attempt: Attempt, dispatch: Dispatch) -> Self {
        Self { dir: file.attempts().join(format!("{:05}-{}-{attempt}", dispatch.0, file_name(task))) }
    }

    /// Those of the latest run of a `[VERIFY]` command without an agent.
    pub fn of_proof(file: &PlanFile, task: &TaskId) -> Self {
        Self { dir: file.attempts().join(format!("proof-{}", file_name(task))) }
    }

    /// Those of the latest run of the regression command.
    pub fn of_regression(file: &PlanFile) -> Self {
        Self { dir: file.attempts().join("regression") }
    }

    /// Those of the verify command that ran again on all that came together.
    pub fn joined(&self) -> Self {
        Self { dir: self.dir.join("joined") }
    }

    /// The folder, which may be gone.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file of a text, which may not be there.
    pub fn path(&self, text: KeptText) -> PathBuf {
        self.dir.join(text.file_name())
    }

    /// The text with control characters and secrets made harmless; none if it was never written or is empty. That of an
    /// agent at work is what it printed so far.
    pub fn read(&self, text: KeptText) -> io::Result<Option<String>> {
        let file = match File::open(self.path(text)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        let text = mask(&printable(&bytes));
        Ok((!text.trim().is_empty()).then_some(text))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_read_is_harmless() {
        let folder = tempfile::tempdir().unwrap();
        let files = AttemptFiles { dir: folder.path().to_owned() };
        assert_eq!(files.read(KeptText::VerifyOutput).unwrap(), None, "never written");
        fs::write(folder.path().join("verify.out.log"), " \n").unwrap();
        assert_eq!(files.read(KeptText::VerifyOutput).unwrap(), None, "empty");
        let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
        fs::write(folder.path().join("verify.out.log"), format!("\u{1b}[31mred\u{1b}[0m {secret}\n"))
            .unwrap();
        assert_eq!(files.read(KeptText::VerifyOutput).unwrap().as_deref(), Some("red [masked]\n"));
    }
}

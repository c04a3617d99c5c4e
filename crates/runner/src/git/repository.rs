//! The repository around a folder: whether there is one, whether it can be used, where its parts are.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::git::call::error::GitError;
use crate::git::call::locks::{NotePlace, Notes};
use crate::git::call::process::{self, Call, Ended, Environment, QUESTION_DEADLINE, words};
use crate::git::config::{Remembered, UNSET_BARE, UNSET_WORKTREE};

/// The oldest git that will do: the first that merges trees without a work tree (`merge-tree --write-tree`).
pub const MINIMUM_VERSION: (u32, u32) = (2, 38);

/// The settings by which what the journal will name is on the disk before it does.
pub(super) const DURABLY: [&str; 4] = ["-c", "core.fsync=committed", "-c", "core.fsyncMethod=batch"];

/// A repository with a work tree.
#[derive(Debug, Clone)]
pub struct Git {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    notes: Option<Arc<Notes>>,
    environment: Environment,
    /// The facts about committing here, for all who share this.
    remembered: Arc<Remembered>,
}

impl Git {
    /// The repository that `dir` lies in; none if it lies in none.
    pub fn discover(dir: &Path) -> Result<Option<Git>, GitError> {
        Git::discover_with(dir, Vec::new())
    }

    /// Finds the repository, with variables for every git process.
    pub(super) fn discover_with(dir: &Path, environment: Environment) -> Result<Option<Git>, GitError> {
        let question = [
            "rev-parse",
            "--is-bare-repository",
            "--absolute-git-dir",
            "--git-common-dir",
            "--show-toplevel",
        ];
        let version = ask(dir, &environment, &["--version"])?;
        let ended = ask(dir, &environment, &question)?;
        check_version(version)?;
        if ended.is_success() {
            return located(dir, ended, environment).map(Some);
        }
        // A broken link to a repository says the same words without the bracket.
        if ended.stderr.contains("not a git repository (or any") {
            return Ok(None);
        }
        Err(GitError::Unusable { dir: dir.to_owned(), reason: why_unusable(&ended) })
    }

    /// Notes every git process that takes locks in this folder while it runs, so that `clear_stale_lock` can tell
    /// which leftover locks are ours.
    pub fn with_notes(mut self, folder: &Path) -> Git {
        self.notes = Some(Arc::new(Notes::new(folder)));
        self
    }

    /// The folder for notes, which is the run's own.
    pub(super) fn notes(&self) -> Option<&Path> {
        self.notes.as_deref().map(Notes::folder)
    }

    /// The top folder of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with this work tree's own state; of a linked work tree, that inside the main one's.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The folder that all work trees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(super) fn remembered(&self) -> &Remembered {
        &self.remembered
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(super) fn note_place(&self) -> Option<NotePlace<'_>> {
        self.notes.as_deref().map(|notes| NotePlace { notes, git_dir: &self.git_dir })
    }

    /// A call at the top folder that takes no locks.
    pub(super) fn call(&self, list: &[&str]) -> Call<'_> {
        Call {
            dir: &self.root,
            environment: &self.environment,
            arguments: words(list),
            stdin: Vec::new(),
            deadline: QUESTION_DEADLINE,
            note_in: None,
        }
    }

    /// A call that takes locks and reads `stdin`.
    pub(super) fn locking_call(&self, list: &[&str], stdin: Vec<u8>) -> Call<'_> {
        Call { stdin, note_in: self.note_place(), ..self.call(list) }
    }
}

fn ask(dir: &Path, environment: &Environment, list: &[&str]) -> Result<Ended, GitError> {
    process::run(Call {
        dir,
        environment,
        arguments: words(list),
        stdin: Vec::new(),
        deadline: QUESTION_DEADLINE,
        note_in: None,
    })
}

/// Refuses a git that is too old.
fn check_version(ended: Ended) -> Result<(), GitError> {
    let command = ended.command.clone();
    let output = String::from_utf8_lossy(&ended.success()?).trim().to_owned();
    match parse_version(&output) {
        None => Err(GitError::Unexpected { command, output }),
        Some(version) if version < MINIMUM_VERSION => {
            let (major, minor) = MINIMUM_VERSION;
            let found = output.trim_start_matches("git version ").to_owned();
            Err(GitError::TooOld { found, minimum: format!("{major}.{minor}") })
        }
        Some(_) => Ok(()),
    }
}

/// `git version 2.39.2 (Apple Git-143)` and the like.
fn parse_version(output: &str) -> Option<(u32, u32)> {
    let mut numbers =
        output.strip_prefix("git version ")?.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn located(dir: &Path, ended: Ended, environment: Environment) -> Result<Git, GitError> {
    let lines: Vec<_> = ended.stdout.split(|byte| *byte == b'\n').map(OsStr::from_bytes).collect();
    // The output ends in a newline. More lines than asked for: a folder with a line break in its name.
    let [_, git_dir, common_dir, root, _] = lines.as_slice() else {
        let reason = "there is a line break in the name of a folder on the way to it: rename that".to_owned();
        return Err(GitError::Unusable { dir: dir.to_owned(), reason });
    };
    let absolute =
        |path: &OsStr| dir.join(path).canonicalize().map_err(GitError::io("find", Path::new(path)));
    let (root, git_dir, common_dir) = (absolute(root)?, absolute(git_dir)?, absolute(common_dir)?);
    if !dir.canonicalize().is_ok_and(|here| here.starts_with(&root)) {
        let reason = format!(
            "its settings say that its working tree is {} (core.worktree); `{UNSET_WORKTREE}` undoes that",
            root.display()
        );
        return Err(GitError::Unusable { dir: dir.to_owned(), reason });
    }
    Ok(Git { root, git_dir, common_dir, notes: None, environment, remembered: Arc::default() })
}

fn why_unusable(ended: &Ended) -> String {
    if ended.stdout.starts_with(b"true\n") {
        return format!("it is bare, it has no working tree (if it has, `{UNSET_BARE}` says so: core.bare)");
    }
    let told = ended.stderr.trim();
    if told.contains("Invalid path") {
        return format!("{told} (if core.worktree says so, `{UNSET_WORKTREE}` undoes that)");
    }
    told.to_owned()
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn versions_of_all_platforms_are_read() {
        let check = |text: &str, expected| assert_eq!(parse_version(text), expected, "{text}");
        check("git version 2.47.3", Some((2, 47)));
        check("git version 2.39.2 (Apple Git-143)", Some((2, 39)));
        check("git version 2.40.0.windows.1", Some((2, 40)));
        check("git version 3.0-rc1", Some((3, 0)));
        check("git version 2", None);
        check("hub version 2.14", None);
        check("", None);
    }
}

//! Errors of the runner, explained: each gets its exit code and the next thing to type.

use std::path::Path;

use engine::{FirstAnswer, Refusal};
use runner::git::GitError;
use runner::journal::{JournalError, LockError};
use runner::{CancelError, CleanError, LocateError, RecordError, RecordsError, RunError, SendError};

use crate::error::{Error, Kind};
use crate::exit;
use crate::view::lines::response_text;
use crate::view::text::moment;

/// How many problems of a plan an error lists.
const PROBLEMS_MAX: usize = 20;

impl From<LocateError> for Error {
    fn from(error: LocateError) -> Self {
        let hint = match error {
            LocateError::NoActiveSpec { .. } => {
                "`tillgreen list` shows the plans here: name one, as in `tillgreen run NAME`, or make it the active one with \
                 `tillgreen use NAME`; `tillgreen new NAME` makes one"
                    .to_owned()
            }
            LocateError::MissingSpec(ref path) => match spec_name(path) {
                Some(name) => format!("create it with `tillgreen new {name}`, or name another plan"),
                None => "run `tillgreen new NAME` to create a new spec".to_owned(),
            },
            LocateError::MissingTasks(_) => {
                "write the plan there, one task a line: `- [ ] 1.1 Title`, and below it what to do, `**Files**:` and \
                 a command in `**Verify**:`"
                    .to_owned()
            }
            LocateError::NotAPlan(_) => {
                "for example `tillgreen check specs/NAME`".to_owned()
            }
            LocateError::TrackedRecord => {
                "remove it with `git rm -r .tillgreen`; if it is yours, `git rm -r --cached .tillgreen` only has git let \
                 go of it"
                    .to_owned()
            }
            LocateError::LinkedRecord(ref path) => {
                format!("remove it: `rm {}`; what it leads to stays", crate::view::text::quoted(&path.display().to_string()))
            }
            LocateError::Unreadable { .. } => "see that it exists and that you may read it".to_owned(),
            LocateError::Git(error) => return error.into(),
        };
        Error::from_source(Kind::Usage, error).hint(hint)
    }
}

/// The name of a spec that is missing; none where a path was given that is no place for specs.
fn spec_name(path: &Path) -> Option<String> {
    path.parent().filter(|folder| *folder == Path::new("specs"))?;
    let name = path.file_name()?.to_str()?;
    Some(crate::view::text::quoted(name))
}

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let hint = match &error {
            GitError::NotInstalled => Some("install git and see that it is on PATH".to_owned()),
            GitError::TooOld { minimum, .. } => Some(format!("install git {minimum} or newer")),
            GitError::NoIdentity { .. } => Some(
                "tell git who you are: `git config user.name NAME` and `git config user.email ADDRESS`"
                    .to_owned(),
            ),
            GitError::InProgress { operation, .. } => {
                Some(format!("finish it or give it up (`git {operation} --abort`), then try again"))
            }
            GitError::Locked { file } => {
                Some(format!("if no git is running, remove the file: `rm {}`", file.display()))
            }
            GitError::Misdirected { undo, .. } => Some(format!("undo it with `{undo}`")),
            GitError::Unusable { .. } => Some("see what `git status` says there".to_owned()),
            GitError::Stopped { .. } => Some("go on with `tillgreen run`; nothing is lost".to_owned()),
            GitError::Failed { .. } | GitError::NoIndex { .. } | GitError::MessageRefused { .. } => {
                error.hint()
            }
            GitError::Hook { .. }
            | GitError::Deadline { .. }
            | GitError::Unreadable { .. }
            | GitError::Unacceptable { .. }
            | GitError::Unexpected { .. }
            | GitError::Io { .. } => None,
        };
        let is_stopped = matches!(error, GitError::Stopped { .. });
        let kind = if is_stopped { Kind::Ended(exit::INTERRUPTED) } else { Kind::Usage };
        let error = Error::from_source(kind, error);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

impl From<LockError> for Error {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Held { .. } | LockError::HeldByUnknown { .. } => {
                Error::new(Kind::Held, "another run holds this plan")
                    .because(error)
                    .hint("see where it stands with `tillgreen status`, or stop it with `tillgreen cancel`")
            }
            LockError::Io { .. } => Error::from_source(Kind::Usage, error),
        }
    }
}

/// True if there is no room on the disk for a journal.
fn is_disk(error: &JournalError) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.io_kind(), Some(StorageFull | ReadOnlyFilesystem | QuotaExceeded))
}

impl From<JournalError> for Error {
    fn from(error: JournalError) -> Self {
        let is_disk = is_disk(&error);
        let kind = if is_disk { Kind::Unavailable } else { Kind::Usage };
        let hint = match &error {
            JournalError::Io { .. } if is_disk => {
                "make room, then go on with `tillgreen run`; nothing is lost"
            }
            JournalError::Io { .. } => "see that you may read and write it",
            JournalError::NewerVersion { .. } | JournalError::UnknownEvent { .. } => {
                "use the newer tillgreen that wrote it"
            }
            JournalError::OlderVersion { .. } => {
                "finish that run with the tillgreen that wrote it, or put the journal aside with \
                 `tillgreen run --fresh` and go on from the boxes"
            }
            JournalError::NotAJournal { .. } | JournalError::Damaged { .. } => {
                "it is left as it is; `tillgreen run --fresh` puts it aside and starts over from the boxes"
            }
            JournalError::Encode { .. } | JournalError::TooLarge { .. } => "go on with `tillgreen run`",
        };
        let hint = hint.to_owned();
        Error::from_source(kind, error).hint(hint)
    }
}

impl From<RecordsError> for Error {
    fn from(error: RecordsError) -> Self {
        Error::from_source(Kind::Usage, error).hint("see that you may read it")
    }
}

impl From<RecordError> for Error {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Journal(error) => error.into(),
            RecordError::Impossible { .. } => contradiction(error),
        }
    }
}

fn contradiction(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::from_source(Kind::Usage, error)
        .hint("it is left as it is; `tillgreen run --fresh` puts it aside and starts over from the boxes")
}

impl From<CancelError> for Error {
    fn from(error: CancelError) -> Self {
        let hint = match &error {
            CancelError::Lock(_) => "see where the run stands with `tillgreen status`".to_owned(),
            CancelError::Signal { .. } => "it may be another user's: ask them, or stop it as them".to_owned(),
            CancelError::StillRunning { pid } => {
                format!("end it with `kill -9 {pid}`: nothing is lost, `tillgreen run` goes on from there")
            }
        };
        Error::from_source(Kind::Usage, error).hint(hint)
    }
}

impl From<SendError> for Error {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Lock(error) => error.into(),
            SendError::Record(error) => error.into(),
            SendError::Run(error) => error.into(),
        }
    }
}

impl From<CleanError> for Error {
    fn from(error: CleanError) -> Self {
        match error {
            CleanError::Git(error) => error.into(),
            CleanError::Unpacked { .. } => Error::from_source(Kind::Usage, error)
                .hint("its work trees stay; `tillgreen run` keeps what was done there, and goes on from it"),
            CleanError::Held { .. } => Error::from_source(Kind::Held, error)
                .hint("nothing was removed; wait for its end, or stop it with `tillgreen cancel PLAN`"),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let hint = match &refusal {
            Refusal::AnsweredBefore { first, .. } => {
                let told = told_of_first(first);
                return Error::from_source(Kind::Answered, refusal)
                    .note(told)
                    .hint("see where it stands with `tillgreen status`");
            }
            Refusal::UnknownTask { .. } => "`tillgreen check` shows the tasks",
            Refusal::Settled { .. } | Refusal::NoQuestion { .. } | Refusal::Over => {
                "see where it stands with `tillgreen status`"
            }
            Refusal::NotAnAnswer { .. } => "`tillgreen status` shows the question, and what answers it",
            Refusal::TooLong { .. } => "say it in fewer words, or write it into a file and name that",
            Refusal::TooMany { .. } => "wait until an agent has been started with them",
            Refusal::Unreadable { .. } => "use the same tillgreen as the run",
        };
        Error::from_source(Kind::Usage, refusal).hint(hint)
    }
}

/// The words about who answered first, when, and what.
pub(crate) fn told_of_first(first: &FirstAnswer) -> String {
    let who = first.from.as_deref().unwrap_or("somebody at the run's own terminal");
    format!("{who} answered at {}: {}", moment(first.at), response_text(&first.response))
}

/// The error for what came in the way of a run. Some of that says already how to go on.
fn midway(error: RunError) -> Error {
    let of_disk = matches!(&error, RunError::Journal(journal) if is_disk(journal));
    let is_told = of_disk || matches!(&error, RunError::Io { .. });
    let error = Error::from(error).midway();
    if is_told { error } else { error.hint("nothing is lost: see to it, then go on with `tillgreen run`") }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        let usage = |error, hint: &str| Error::from_source(Kind::Usage, error).hint(hint);
        match error {
            RunError::Midway(error) => midway(*error),
            RunError::Lock(error) => error.into(),
            RunError::Journal(error) => error.into(),
            RunError::Git(error) => error.into(),
            RunError::Impossible { .. } | RunError::Incomplete { .. } => contradiction(error),
            RunError::Malformed { .. } => malformed(error),
            RunError::Refused(refusal) => (*refusal).into(),
            RunError::Plan { .. } => usage(error, "see that it exists and that you may read it"),
            RunError::EmptyPlan { .. } => {
                usage(error, "write tasks as `- [ ] 1.1 Title`, then look at them with `tillgreen check`")
            }
            RunError::Unverifiable { .. } => usage(
                error,
                "give each a command in `**Verify**:`, or run with `--unverifiable agent` or `ask`",
            ),
            RunError::Dirty { .. } => usage(
                error,
                "commit or stash them, or accept them with `--allow-dirty`: they are never committed",
            ),
            RunError::NotIsolated { .. } => {
                usage(error, "see to it, or turn it off with `--isolate=false`: then tasks work in the project itself")
            }
            RunError::NoSandbox { .. } => usage(
                error,
                "install bubblewrap (`apt install bubblewrap`), see that user namespaces are allowed, or turn it off with \
                 `--sandbox=off`",
            ),
            RunError::NoPullRequest { obstacle } => {
                crate::view::pull_request::refused("`tillgreen run`", &obstacle)
            }
            RunError::StateFile(_) => usage(
                error,
                "it is left as it is; `tillgreen run --fresh` moves it aside and reinitializes the execution state",
            ),
            RunError::Io { action, path, source } => Error::file(action, &path, source).hint(
                "see that the disk has room and that you may write there, then go on with `tillgreen run`; nothing is lost",
            ),
        }
    }
}

/// The plan's problems in the form that editors can jump to.
fn malformed(error: RunError) -> Error {
    let mut notes: Vec<String> = Vec::new();
    let mut check = "tillgreen check".to_owned();
    if let RunError::Malformed { path, problems } = &error {
        let shown = problems.iter().take(PROBLEMS_MAX);
        notes.extend(shown.map(|(file, problem)| {
            format!("{}:{}: error: {}", file.display(), problem.line, problem.message)
        }));
        if problems.iter().any(|(file, _)| file != path) {
            check = format!("tillgreen check {}", crate::view::text::quoted(&path.display().to_string()));
        }
    }
    let error = Error::from_source(Kind::Usage, error);
    notes.into_iter().fold(error, Error::note).hint(format!("`{check}` shows all of them, with what to do"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::args::Format;
    use crate::exit;

    #[track_caller]
    fn check(error: impl Into<Error>, code: u8) -> String {
        let error = error.into();
        assert_eq!(error.code(), code);
        error.render(Format::Text)
    }

    #[test]
    fn plans_that_are_not_found() {
        let missing = |name: &str| PathBuf::from("specs").join(name);
        let pointer = missing(".current-spec");
        insta::assert_snapshot!(check(LocateError::NoActiveSpec { pointer }, exit::USAGE), @r"
        error: No active spec.
        hint: `tillgreen list` shows the plans here: name one, as in `tillgreen run NAME`, or make it the active one with `tillgreen use NAME`; `tillgreen new NAME` makes one
        ");
        insta::assert_snapshot!(check(LocateError::MissingSpec(missing("auth")), exit::USAGE), @r"
        ERROR: Spec directory missing at ./specs/auth/
        hint: create it with `tillgreen new auth`, or name another plan
        ");
        insta::assert_snapshot!(check(LocateError::MissingTasks(missing("auth/tasks.md")), exit::USAGE), @r"
        ERROR: Tasks file missing at ./specs/auth/tasks.md
        hint: write the plan there, one task a line: `- [ ] 1.1 Title`, and below it what to do, `**Files**:` and a command in `**Verify**:`
        ");
        insta::assert_snapshot!(check(LocateError::NotAPlan(PathBuf::from("a.txt")), exit::USAGE), @r"
        error: a.txt is not a plan: give a spec's name, its folder or a tasks.md
        hint: for example `tillgreen check specs/NAME`
        ");
    }

    #[test]
    fn runs_that_cannot_start() {
        let path = PathBuf::from("specs/auth/tasks.md");
        insta::assert_snapshot!(check(RunError::EmptyPlan { path }, exit::USAGE), @r"
        error: specs/auth/tasks.md has no tasks
        hint: write tasks as `- [ ] 1.1 Title`, then look at them with `tillgreen check`
        ");
        let paths = vec!["src/a.rs".to_owned()];
        insta::assert_snapshot!(check(RunError::Dirty { paths }, exit::USAGE), @r"
        error: the project has uncommitted changes: src/a.rs
        hint: commit or stash them, or accept them with `--allow-dirty`: they are never committed
        ");
        let holder = runner::journal::Holder {
            pid: 7,
            started: "2026-01-26T14:30:00Z".parse().unwrap(),
            command: "tillgreen run".to_owned(),
        };
        let held = LockError::Held { path: PathBuf::from("lock"), holder };
        insta::assert_snapshot!(check(RunError::Lock(held), exit::HELD), @r"
        error: another run holds this plan
          caused by: lock is held by process 7 (`tillgreen run`) since 2026-01-26T14:30:00Z
        hint: see where it stands with `tillgreen status`, or stop it with `tillgreen cancel`
        ");
    }

    #[test]
    fn how_to_go_on_is_said_once() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let path = || std::path::PathBuf::from("x");
        let check = |error: RunError| {
            let text = Error::from(RunError::Midway(Box::new(error))).render(crate::args::Format::Text);
            assert_eq!(text.matches("go on with").count(), 1, "{text}");
        };
        check(RunError::Io { action: "write", path: path(), source: full() });
        check(JournalError::Io { action: "append to", path: path(), source: full() }.into());
        check(GitError::NotInstalled.into());
    }

    #[test]
    fn a_full_disk_is_a_pause() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let path = || PathBuf::from("journal.jsonl");
        check(JournalError::Io { action: "append to", path: path(), source: full() }, exit::UNAVAILABLE);
        check(RunError::Io { action: "write", path: path(), source: full() }, exit::UNAVAILABLE);
        check(JournalError::NotAJournal { path: path() }, exit::USAGE);
    }
}

//! The errors of git, told apart as far as a person would act differently: its surroundings, which are nobody's work,
//! or the files.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The reason why git did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git` on the path.
    #[error("git is not installed")]
    NotInstalled,
    /// The installed git lacks options that are needed.
    #[error("git {found} is too old, {minimum} or newer is needed")]
    TooOld {
        /// The installed version.
        found: String,
        /// The oldest version that will do.
        minimum: String,
    },
    /// There is a repository, but it cannot be worked in.
    #[error("the git repository at {} cannot be used: {reason}", dir.display())]
    Unusable {
        /// The folder that was asked about.
        dir: PathBuf,
        /// Git's own words, or that the repository is bare.
        reason: String,
    },
    /// Git has no name and address to put into a commit.
    #[error("git does not know who commits in {}", root.display())]
    NoIdentity {
        /// The repository's top folder.
        root: PathBuf,
    },
    /// A merge, rebase, cherry-pick or revert has been begun and not finished.
    #[error("a {operation} is in progress in {}", root.display())]
    InProgress {
        /// The repository's top folder.
        root: PathBuf,
        /// `merge`, `rebase`, `cherry-pick` or `revert`.
        operation: &'static str,
    },
    /// Settings were changed so that git would no longer work in the project.
    #[error("the settings of the repository at {} were changed, {change}: git would no longer work there", root.display())]
    Misdirected {
        /// The repository's top folder.
        root: PathBuf,
        /// The setting as it is now.
        change: String,
        /// The command that undoes it.
        undo: String,
    },
    /// Another git works here, or one that died left its lock file behind.
    #[error("another git process seems to be running: {} exists", file.display())]
    Locked {
        /// The lock file.
        file: PathBuf,
    },
    /// A hook did not let a commit pass.
    #[error("a hook refused the commit: {}", last_line(output))]
    Hook {
        /// The output of the hook.
        output: String,
    },
    /// A hook does not take the message of a commit, whatever is in it.
    #[error("a hook refuses the commit message \"{subject}\": {}", last_line(output))]
    MessageRefused {
        /// The first line of the message.
        subject: String,
        /// The output of the hook.
        output: String,
    },
    /// Git did not end in time, and was ended.
    #[error("`{command}` did not end within {} s{}", after.as_secs(), said(output))]
    Deadline {
        /// The command.
        command: String,
        /// The time it was given.
        after: Duration,
        /// The output until then.
        output: String,
    },
    /// Git was under way when the run was to end, and was ended.
    #[error("`{command}` was still under way when the run was to end, and was ended")]
    Stopped {
        /// The command.
        command: String,
    },
    /// Git failed for another reason.
    #[error("`{command}` failed{}", said(output))]
    Failed {
        /// The command.
        command: String,
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// The output.
        output: String,
    },
    /// The index is not there, or is none.
    #[error("git's index {} {reason}", file.display())]
    NoIndex {
        /// The path where it should be.
        file: PathBuf,
        /// The problem with it.
        reason: &'static str,
    },
    /// Git cannot read what is in a work tree.
    #[error("git cannot read {}", paths.join(", "))]
    Unreadable {
        /// The files and folders.
        paths: Vec<String>,
    },
    /// A value that cannot be passed to git: an empty message, a path outside, a revision that looks like a flag.
    #[error("{what} cannot be passed to git: {value:?}")]
    Unacceptable {
        /// The thing it was meant to be.
        what: &'static str,
        /// The value.
        value: String,
    },
    /// Git printed what this program does not understand.
    #[error("`{command}` printed something unexpected: {output:?}")]
    Unexpected {
        /// The command.
        command: String,
        /// The part that was not understood.
        output: String,
    },
    /// The operating system refused something.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file, folder or program it was tried on.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl GitError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
        let path = path.to_owned();
        move |source| GitError::Io { action, path, source }
    }

    /// The failure, its cause, and what to do about it, for people.
    pub fn told(&self) -> String {
        let cause = std::error::Error::source(self).map(|cause| format!(": {cause}")).unwrap_or_default();
        let hint = self.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{self}{cause}{hint}")
    }

    /// The advice for a person, with the next command to type.
    pub fn hint(&self) -> Option<String> {
        match self {
            GitError::NotInstalled | GitError::TooOld { .. } => Some("install a newer git".to_owned()),
            GitError::Unusable { dir, .. } => Some(format!("look at it with: git -C {} status", dir.display())),
            GitError::NoIdentity { .. } => Some(
                "tell git who you are: git config user.name \"Your Name\"; git config user.email you@example.com"
                    .to_owned(),
            ),
            GitError::InProgress { operation, .. } => Some(format!(
                "finish it with `git {operation} --continue` or drop it with `git {operation} --abort`"
            )),
            GitError::Misdirected { undo, .. } => Some(format!("undo it with `{undo}`")),
            GitError::Locked { file } => {
                Some(format!("if no git is running, remove the file: rm '{}'", file.display()))
            }
            GitError::NoIndex { file, .. } if file.exists() => {
                let file = file.display();
                Some(format!(
                    "what was staged is not known any more; this makes it anew and changes no file: mv '{file}' \
                     '{file}.broken' && git reset"
                ))
            }
            GitError::NoIndex { .. } => Some(
                "what was staged is not known any more; this makes it anew and changes no file: git reset".to_owned(),
            ),
            GitError::MessageRefused { .. } => Some(
                "give the task a Commit field with a message that it takes, or set commit_prefix in tillgreen.toml, such as a \
                 ticket's number"
                    .to_owned(),
            ),
            GitError::Hook { .. } => Some("repair what the hook complains about, then run again".to_owned()),
            GitError::Deadline { command, .. } => {
                Some(format!("see what keeps it waiting (a hook, a signing key): {command}"))
            }
            GitError::Failed { .. } | GitError::Io { .. } => self.advice(),
            GitError::Stopped { .. }
            | GitError::Unreadable { .. }
            | GitError::Unacceptable { .. }
            | GitError::Unexpected { .. } => None,
        }
    }
}

fn last_line(output: &str) -> &str {
    output.trim_end().lines().next_back().unwrap_or("it printed nothing")
}

fn said(output: &str) -> String {
    match output.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

/// A reason that lies outside of the files which git was to take in. Whoever tries again meets it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hindrance {
    /// The disk is full or broken.
    Disk,
    /// Git may not write in its own folder.
    Rights,
    /// Git's index of the project cannot be read.
    Index,
    /// A program that files pass through failed.
    Filter,
    /// Git itself is not there or not set up, or waits for somebody.
    Setup,
}

impl GitError {
    /// True if the surroundings are the reason, and not what is in a work tree.
    pub fn is_of_surroundings(&self) -> bool {
        self.hindrance().is_some()
    }

    /// True if git says that it cannot take in a file: it cannot be read, or is not encoded as it should be.
    pub fn is_of_files(&self) -> bool {
        let GitError::Failed { code: Some(_), output, .. } = self else { return false };
        let is_of_file = |message: &str| is_of_encoding(message) || unreadable_in(message).is_some();
        !self.is_of_surroundings() && messages(output).any(is_of_file)
    }

    /// The advice for surroundings in which git cannot work.
    pub(super) fn advice(&self) -> Option<String> {
        let advice = match self.hindrance()? {
            Hindrance::Disk => "make room on the disk and see that it works",
            Hindrance::Rights => "see that you may write in git's folder and all that is in it",
            Hindrance::Index => {
                "what was staged is not known any more; this makes the index anew and changes no file: mv .git/index \
                 .git/index.broken && git reset"
            }
            Hindrance::Filter => {
                "see that the program of this filter works, which `git config --get-regexp '^filter'` names"
            }
            Hindrance::Setup => return None,
        };
        Some(advice.to_owned())
    }

    fn hindrance(&self) -> Option<Hindrance> {
        match self {
            GitError::NotInstalled
            | GitError::TooOld { .. }
            | GitError::NoIdentity { .. }
            | GitError::Locked { .. }
            | GitError::Misdirected { .. }
            | GitError::NoIndex { .. }
            | GitError::Stopped { .. } => Some(Hindrance::Setup),
            // Somebody, or a machine without memory, killed it.
            GitError::Failed { code: None, .. } => Some(Hindrance::Setup),
            GitError::Failed { output, .. } => told_by(output),
            GitError::Io { source, .. } => is_of_disk(source.kind()).then_some(Hindrance::Disk),
            GitError::Unusable { .. }
            | GitError::InProgress { .. }
            | GitError::Hook { .. }
            | GitError::MessageRefused { .. }
            | GitError::Deadline { .. }
            | GitError::Unreadable { .. }
            | GitError::Unacceptable { .. }
            | GitError::Unexpected { .. } => None,
        }
    }
}

fn is_of_disk(kind: ErrorKind) -> bool {
    [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem].contains(&kind)
}

fn told_by(output: &str) -> Option<Hindrance> {
    messages(output).find_map(hindrance_in)
}

/// The hindrance that one message of git's tells of.
fn hindrance_in(message: &str) -> Option<Hindrance> {
    const OF_DISK: [&str; 4] =
        ["No space left on device", "Disk quota exceeded", "Read-only file system", "Input/output error"];
    const OF_RIGHTS: [&str; 3] = [
        "insufficient permission for adding an object",
        "unable to create temporary file",
        "cannot lock ref",
    ];
    let message = message.strip_prefix("error: ").or_else(|| message.strip_prefix("fatal: "))?;
    let end = message.trim_end().rsplit(": ").next()?;
    if OF_DISK.contains(&end) {
        return Some(Hindrance::Disk);
    }
    // The index of a work tree is read as a copy of another name.
    if message.contains("/index: index file ") {
        return Some(Hindrance::Index);
    }
    let is_of_filter = end.contains(" filter '") && end.ends_with("' failed");
    if is_of_filter {
        return Some(Hindrance::Filter);
    }
    OF_RIGHTS.iter().any(|words| message.contains(words)).then_some(Hindrance::Rights)
}

/// The number of files and folders that are named as unreadable.
const UNREADABLE_TOLD_MAX: usize = 20;

/// The paths of a work tree that git says it cannot read, if that is all that is the matter. Of a folder it only says
/// so, and goes on as if nothing were in it.
pub(in crate::git) fn unreadable(stderr: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    if told_by(stderr).is_some() {
        return Vec::new();
    }
    let paths = messages(stderr).filter_map(unreadable_in).filter(|path| is_wanted(path));
    paths.take(UNREADABLE_TOLD_MAX).map(str::to_owned).collect()
}

/// The file or folder that one message says cannot be read.
fn unreadable_in(message: &str) -> Option<&str> {
    const WAYS: [(&str, &str); 4] = [
        ("warning: could not open directory '", "': "),
        ("error: open(\"", "\"): "),
        ("error: readlink(\"", "\"): "),
        ("fatal: unable to stat '", "': "),
    ];
    let (rest, after) =
        WAYS.into_iter().find_map(|(before, after)| Some((message.strip_prefix(before)?, after)))?;
    // Git does not print all of a very long path, nor what it would say after it.
    Some(rest.split_once(after).map_or(rest, |(path, _)| path))
}

/// True if a message is about a file that is not in the encoding that attributes tell.
fn is_of_encoding(message: &str) -> bool {
    let Some(message) = message.strip_prefix("fatal: ").or_else(|| message.strip_prefix("error: ")) else {
        return false;
    };
    ["failed to encode '", "BOM is required in '", "BOM is prohibited in '"]
        .iter()
        .any(|words| message.starts_with(words))
}

/// The messages of git, one by one. One may hold a name with line breaks in it.
pub(in crate::git) fn messages(stderr: &str) -> impl Iterator<Item = &str> {
    const BEGINNINGS: [&str; 4] = ["error: ", "fatal: ", "warning: ", "hint: "];
    let is_begun = |rest: &str| BEGINNINGS.iter().any(|beginning| rest.starts_with(beginning));
    let mut rest = stderr.trim_end_matches('\n');
    std::iter::from_fn(move || {
        let breaks = rest.match_indices('\n').map(|(place, _)| place);
        let end =
            breaks.filter_map(|place| Some((place, rest.get(place + 1..)?))).find(|(_, next)| is_begun(next));
        let (message, next) =
            end.map_or((rest, ""), |(place, next)| (rest.get(..place).unwrap_or(rest), next));
        rest = next;
        (!message.is_empty()).then_some(message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(output: &str) -> GitError {
        GitError::Failed { command: "git add".to_owned(), code: Some(1), output: output.to_owned() }
    }

    fn check(output: &str, expected: Option<Hindrance>) {
        assert_eq!(failed(output).hindrance(), expected, "{output}");
    }

    #[test]
    fn surroundings_are_told_from_files() {
        check("error: unable to write loose object file: No space left on device\n", Some(Hindrance::Disk));
        check(
            "error: a: failed to insert into database\nfatal: write error: Disk quota exceeded",
            Some(Hindrance::Disk),
        );
        check(
            "error: insufficient permission for adding an object to repository database .git/objects\n\
             fatal: git-write-tree: error building trees\n",
            Some(Hindrance::Rights),
        );
        check(
            "no\nerror: external filter 'x --clean' failed 1\nfatal: x.bin: clean filter 'lfs' failed\n",
            Some(Hindrance::Filter),
        );
        check("error: open(\"a\"): Permission denied\nerror: unable to index file 'a'\n", None);
        check("error: open(\"No space left on device\"): Permission denied\n", None);
        check("error: 'inner/' does not have a commit checked out\nfatal: adding files failed\n", None);
    }

    #[test]
    fn what_lies_in_files_is_told_from_all_else() {
        let check =
            |output: &str, expected: bool| assert_eq!(failed(output).is_of_files(), expected, "{output}");
        check("fatal: failed to encode 'a' from UTF-16 to UTF-8\n", true);
        check("hint: use UTF-16LE\nfatal: BOM is required in 'a' if encoded as UTF-16\n", true);
        check("error: open(\"a\"): Permission denied\nerror: unable to index file 'a'\n", true);
        check(
            "error: gpg failed to sign the data:\nfailed to encode 'a'\nfatal: failed to write commit object\n",
            false,
        );
        check("error: open(\"a\"): Permission denied\nfatal: write error: No space left on device\n", false);
        let killed = GitError::Failed {
            command: String::new(),
            code: None,
            output: "fatal: failed to encode 'a'".into(),
        };
        assert!(!killed.is_of_files());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let told = |stderr: &str| unreadable(stderr, |path| path != "own/");
        let stderr = "warning: could not open directory 'own/': Permission denied\n\
                      warning: could not open directory 'd/': Permission denied\nd/t: Permission denied\n\
                      error: open(\"a\nb\"): Permission denied\nerror: unable to index file 'a\nb'\n\
                      fatal: unable to stat 'rr/f': Permission denied\n";
        assert_eq!(told(stderr), ["d/", "a\nb", "rr/f"]);
        // With a full disk, that comes first.
        assert_eq!(told(&format!("{stderr}fatal: write error: No space left on device")), [""; 0]);
        assert_eq!(told("warning: unable to access 'rr/.gitignore': Permission denied\n"), [""; 0]);
    }

    #[test]
    fn what_to_do_is_told() {
        let full = GitError::io("write", "note".as_ref())(ErrorKind::StorageFull.into());
        assert!(full.is_of_surroundings() && full.hint().is_some_and(|hint| hint.contains("make room")));
        let denied = GitError::io("write", "note".as_ref())(ErrorKind::PermissionDenied.into());
        assert!(!denied.is_of_surroundings() && denied.hint().is_none());
        assert_eq!(denied.told(), "cannot write note: permission denied");
        let killed = GitError::Failed { command: "git add".to_owned(), code: None, output: String::new() };
        assert!(killed.is_of_surroundings(), "nobody's work is to blame");
    }
}

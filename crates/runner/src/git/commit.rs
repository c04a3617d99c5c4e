//! Commits of exactly the paths that are asked for, and paths put back as they were in a commit. What a person has
//! staged for other paths stays staged.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use std::{fs, io, thread};

use crate::git::call::error::GitError;
use crate::git::call::locks::LOCK_WAITS;
use crate::git::call::process::{self, COMMIT_DEADLINE, Call, Ended, Environment, pathspecs};
use crate::git::diff::{Entry, RawChange, index_info, names, split_names};
use crate::git::exclude::{answered, asked};
use crate::git::history::{Oid, revision};
use crate::git::repository::{DURABLY, Git};
use crate::git::status::{Change, ChangeKind};
use crate::mask::mask;

/// The number of commits among which one is looked for that a hook amended.
const AMENDED_SEARCH: usize = 5;

/// The kernel refuses longer arguments; a message of this size is a mistake anyway.
const MESSAGE_BYTES_MAX: usize = 60_000;

/// The beginning of the call of a commit.
pub(in crate::git) const COMMIT: [&str; 3] = ["commit", "--untracked-files=no", "--cleanup=whitespace"];

/// A commit to make.
#[derive(Debug, Clone, Copy)]
pub struct Commit<'a> {
    /// The paths to commit, from the repository's top folder: changed, new and deleted files. What git ignores, what
    /// did not change and repositories inside this one are left out.
    pub paths: &'a [String],
    /// Further ones, whose names are not UTF-8.
    pub unnameable: &'a [OsString],
    /// The message.
    pub message: &'a str,
    /// A line at the message's end by which the commit can be found again.
    pub trailer: Option<(&'a str, &'a str)>,
    /// The staging that the paths need: there may be new files among them.
    pub staging: Staging,
    /// The time for hooks and signing.
    pub deadline: Duration,
}

/// The way in which paths are made known to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staging {
    /// There may be new files.
    Add,
    /// All are tracked already, which saves a process. A wrong claim only costs time.
    Skip,
    /// They do not go by their names: a file became a folder, or the index says more of them than the files do.
    Whole,
}

impl Staging {
    fn adds(self) -> bool {
        matches!(self, Self::Add)
    }
}

impl<'a> Commit<'a> {
    /// A commit of these paths with defaults for the rest.
    pub fn new(paths: &'a [String], message: &'a str) -> Commit<'a> {
        let (trailer, staging, deadline) = (None, Staging::Add, COMMIT_DEADLINE);
        Commit { paths, unnameable: &[], message, trailer, staging, deadline }
    }
}

/// The answer of git to a list of paths.
pub(in crate::git) enum Answer {
    /// It made this commit.
    Done(Oid),
    NothingToCommit,
    /// Some path is ignored, gone or not known.
    UnknownPath,
}

impl Git {
    /// Commits exactly these paths, with the user's hooks and configuration. None: there was nothing to commit.
    pub fn commit(&self, request: &Commit<'_>) -> Result<Option<Oid>, GitError> {
        let message = full_message(request)?;
        let paths = acceptable(request)?;
        self.refuse_if_in_progress()?;
        if paths.is_empty() {
            return Ok(None);
        }
        self.refuse_without_index()?;
        let answer = match self.stage_and_commit(&paths, &message, request)? {
            Answer::UnknownPath => self.commit_changed_only(&paths, &message, request)?,
            answer @ (Answer::Done(_) | Answer::NothingToCommit) => answer,
        };
        match answer {
            Answer::Done(commit) => self.as_amended(commit, request.trailer).map(Some),
            Answer::NothingToCommit | Answer::UnknownPath => Ok(None),
        }
    }

    /// A commit, or what a hook amended it to.
    fn as_amended(&self, commit: Oid, trailer: Option<(&str, &str)>) -> Result<Oid, GitError> {
        let Some((key, value)) = trailer.filter(|_| self.has_hook("post-commit")) else { return Ok(commit) };
        Ok(self.find_trailer(key, value, AMENDED_SEARCH)?.unwrap_or(commit))
    }

    /// The files among these that git ignores and whose index does not have them.
    fn ignored_and_untracked(&self, paths: &[&OsStr]) -> Result<BTreeSet<OsString>, GitError> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let stdin = asked(paths.iter().copied());
        let ended = process::run(Call { stdin, ..self.call(&["check-ignore", "-z", "--stdin"]) })?;
        // It ends with 1 where none is ignored.
        let listing = if ended.code == Some(1) { Vec::new() } else { ended.success()? };
        Ok(answered(&listing).collect())
    }

    /// The staging that the paths of these changes need.
    pub fn staging_of(&self, changes: &[Change], unnameable: &[OsString]) -> Result<Staging, GitError> {
        let paths = changes.iter().map(|change| change.path.as_ref());
        let paths: BTreeSet<&OsStr> = paths.chain(unnameable.iter().map(OsString::as_os_str)).collect();
        let is_taken_out = |change: &&Change| change.staged && change.kind == ChangeKind::Deleted;
        let taken_out: Vec<&OsStr> =
            changes.iter().filter(is_taken_out).map(|change| change.path.as_ref()).collect();
        if overlap(&paths) || !self.ignored_and_untracked(&taken_out)?.is_empty() {
            return Ok(Staging::Whole);
        }
        let has_new =
            !unnameable.is_empty() || changes.iter().any(|change| change.kind != ChangeKind::Modified);
        Ok(if has_new { Staging::Add } else { Staging::Skip })
    }

    /// The paths at which the index differs from what is checked out.
    pub fn staged(&self) -> Result<BTreeSet<String>, GitError> {
        if self.head()?.is_none() {
            return Ok(BTreeSet::new());
        }
        let list = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", "HEAD"];
        let listing = process::run(self.call(&list))?.success()?;
        Ok(split_names(&listing).filter_map(|path| path.into_string().ok()).collect())
    }

    /// Makes these paths in the index what they are in HEAD; the files stay.
    pub fn forget_staged(&self, paths: &[String]) -> Result<(), GitError> {
        self.unstage(&paths.iter().map(OsStr::new).collect())
    }

    /// Has git look at those of these paths that somebody told it not to look at.
    pub fn uncover(&self, paths: &BTreeSet<String>) -> Result<(), GitError> {
        let listing = process::run(self.call(&["ls-files", "-v", "-z"]))?.success()?;
        let records = listing.split(|byte| *byte == 0).filter_map(|record| record.split_at_checked(2));
        let hidden = records.filter(|(tag, _)| tag[0] == b'S' || tag[0].is_ascii_lowercase());
        let hidden = hidden.map(|(_, path)| OsStr::from_bytes(path));
        let hidden: Vec<&OsStr> = hidden.filter(|path| paths.contains(&*path.to_string_lossy())).collect();
        if hidden.is_empty() {
            return Ok(());
        }
        for option in ["--no-assume-unchanged", "--no-skip-worktree"] {
            let stdin = names(hidden.iter().copied());
            let update = ["update-index", option, "-z", "--stdin"];
            self.run_locking(|| self.locking_call(&update, stdin.clone()))?.success()?;
        }
        Ok(())
    }

    /// Makes these paths in the index what they are in HEAD.
    pub(in crate::git) fn unstage(&self, paths: &BTreeSet<&OsStr>) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        // Names that are only meant to be added count as well.
        let list = [
            "diff-index",
            "--cached",
            "--ita-visible-in-index",
            "--name-only",
            "-z",
            "--no-renames",
            "HEAD",
            "--",
        ];
        let staged = process::run(self.call(&list))?.success()?;
        let staged: Vec<OsString> =
            split_names(&staged).filter(|path| paths.contains(path.as_os_str())).collect();
        if staged.is_empty() {
            return Ok(());
        }
        let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", "HEAD"];
        let stdin = pathspecs(staged.iter().map(OsString::as_os_str));
        self.run_locking(|| self.locking_call(&reset, stdin.clone()))?.success().map(drop)
    }

    /// Further paths of a commit, which hooks have put there: the index that people use knows nothing of them, and the next
    /// commit would take them out again.
    fn follow_hook(&self, commit: &Oid, paths: &BTreeSet<&OsStr>) -> Result<(), GitError> {
        let Some(before) = self.commit_before(commit)?.filter(|_| self.has_commit_hook()) else {
            return Ok(());
        };
        let made = self.differences(&before, commit)?;
        let further = made.iter().map(|change| change.path.as_os_str());
        let further: Vec<&OsStr> = further.filter(|path| !paths.contains(path)).collect();
        self.catch_up_index_at(&before, &further)
    }

    /// Names of files that were only meant to be added, and are not: a hook refused the commit.
    fn forget_intent(&self, paths: &BTreeSet<&OsStr>) -> Result<(), GitError> {
        let meant = ["diff-files", "--name-only", "-z", "--diff-filter=A", "--"];
        let meant = process::run(self.call(&meant))?.success()?;
        let meant: Vec<OsString> =
            split_names(&meant).filter(|path| paths.contains(path.as_os_str())).collect();
        self.unstage(&meant.iter().map(OsString::as_os_str).collect())
    }

    /// The slow way: asks which of the paths changed at all, and leaves out the rest.
    fn commit_changed_only(
        &self,
        paths: &BTreeSet<&OsStr>,
        message: &str,
        request: &Commit<'_>,
    ) -> Result<Answer, GitError> {
        let status = self.status()?;
        let changed = status.changes.iter().map(|change| change.path.as_ref());
        let changed: BTreeSet<&OsStr> =
            changed.chain(status.unnameable.iter().map(OsString::as_os_str)).collect();
        let both: BTreeSet<&OsStr> = paths.intersection(&changed).copied().collect();
        if both.is_empty() {
            return Ok(Answer::NothingToCommit);
        }
        self.stage_and_commit(&both, message, &Commit { staging: Staging::Add, ..*request })
    }

    /// Commits these paths and no others, as git does for anybody.
    pub(in crate::git) fn stage_and_commit(
        &self,
        paths: &BTreeSet<&OsStr>,
        message: &str,
        request: &Commit<'_>,
    ) -> Result<Answer, GitError> {
        let answer = self.add_and_commit(paths, message, request);
        // That the index cannot be put in order is told by the next one who needs it.
        let _ = match &answer {
            Ok(Answer::Done(commit)) => self.follow_hook(commit, paths),
            Ok(_) | Err(_) if request.staging.adds() => self.forget_intent(paths),
            Ok(_) | Err(_) => Ok(()),
        };
        answer
    }

    fn add_and_commit(
        &self,
        paths: &BTreeSet<&OsStr>,
        message: &str,
        request: &Commit<'_>,
    ) -> Result<Answer, GitError> {
        let stdin = pathspecs(paths.iter().copied());
        let new = if request.staging.adds() { self.unknown_to_index(paths)? } else { Vec::new() };
        if !new.is_empty() {
            // Only the names are added: the commit takes the content itself, and should a hook refuse it, what is
            // staged stays as it was.
            let mut ended = self.intend_to_add(&[], &new)?;
            if is_outside_sparse_checkout(&ended.stderr) {
                ended = self.intend_to_add(&["--sparse"], &new)?;
            }
            match ended.code {
                Some(0) => {}
                Some(_) if names_unknown_path(&ended.stderr) => return Ok(Answer::UnknownPath),
                Some(_) | None => return Err(ended.into_failure()),
            }
        }
        let ended = self.run_locking(|| {
            let only = ["--only", "--pathspec-from-file=-", "--pathspec-file-nul", "-m", message];
            let call = self.locking_call(&[&DURABLY[..], &COMMIT, &only].concat(), stdin.clone());
            Call { deadline: request.deadline, ..call }
        })?;
        self.judge_commit(ended, self.root(), (&[], message))
    }

    /// The pathspecs of what is there and not in the index. What git knows needs no adding, and in a folder that is ignored
    /// git refuses to; what was removed from the index as well needs none either.
    fn unknown_to_index(&self, paths: &BTreeSet<&OsStr>) -> Result<Vec<u8>, GitError> {
        let listing = process::run(self.call(&["ls-files", "-z"]))?.success()?;
        let known: BTreeSet<&[u8]> = listing.split(|byte| *byte == 0).collect();
        let is_new = |path: &&OsStr| {
            !known.contains(path.as_bytes()) && fs::symlink_metadata(self.root().join(path)).is_ok()
        };
        Ok(pathspecs(paths.iter().copied().filter(is_new)))
    }

    fn intend_to_add(&self, options: &[&str], stdin: &[u8]) -> Result<Ended, GitError> {
        let add = ["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
        self.run_locking(|| self.locking_call(&[&add[..], options].concat(), stdin.to_vec()))
    }

    /// Runs a call that needs git's locks, waiting a little for another git that has them.
    pub(in crate::git) fn run_locking<'a>(&self, call: impl Fn() -> Call<'a>) -> Result<Ended, GitError> {
        for wait in LOCK_WAITS {
            let ended = self.run_and_clean(call())?;
            if self.lock_met(&ended).is_none() && !was_overtaken(&ended) {
                return Ok(ended);
            }
            thread::sleep(wait);
        }
        let ended = self.run_and_clean(call())?;
        match self.lock_met(&ended) {
            Some(file) => Err(GitError::Locked { file }),
            None => Ok(ended),
        }
    }

    /// A git that was killed may leave a lock behind, which is ours to remove.
    fn run_and_clean(&self, call: Call<'_>) -> Result<Ended, GitError> {
        let result = process::run(call);
        let killed = match &result {
            Ok(ended) => ended.code.is_none(),
            Err(error) => matches!(error, GitError::Deadline { .. } | GitError::Stopped { .. }),
        };
        if killed {
            // That git was killed is what to report; a lock that stays is met again by the next commit.
            let _ = self.clear_stale_lock();
        }
        result
    }

    pub(in crate::git) fn judge(&self, ended: Ended) -> Result<Answer, GitError> {
        if ended.is_success() {
            return self.made(ended).map(Answer::Done);
        }
        if names_unknown_path(&ended.stderr) {
            return Ok(Answer::UnknownPath);
        }
        if lacks_identity(&ended.stderr) {
            return Err(GitError::NoIdentity { root: self.root().to_owned() });
        }
        // Git itself fails with 128. With 1 it ends for two reasons: nothing to commit, which it explains on
        // standard output, and a hook, whose words it passes on to standard error.
        match ended.code {
            Some(1) if says_nothing_to_commit(&ended.stdout) => Ok(Answer::NothingToCommit),
            Some(1) if self.has_commit_hook() => Err(GitError::Hook { output: ended.stderr }),
            Some(_) | None => Err(ended.into_failure()),
        }
    }

    /// The commit that git says it made. What is checked out may be another by now: somebody else can be quick.
    fn made(&self, ended: Ended) -> Result<Oid, GitError> {
        let told = told_commit(&String::from_utf8_lossy(&ended.stdout));
        let head = self.head()?;
        if let Some(head) =
            head.filter(|head| told.as_deref().is_none_or(|told| head.as_str().starts_with(told)))
        {
            return Ok(head);
        }
        let commit = format!("{}^{{commit}}", told.as_deref().unwrap_or("HEAD"));
        Oid::printed(process::run(self.call(&["rev-parse", "--verify", &commit]))?)
    }

    /// Refuses a work tree in which a merge, a rebase or the like was begun and not finished, and one that git would no
    /// longer take for the project's: nothing can be committed.
    pub fn refuse_if_in_progress(&self) -> Result<(), GitError> {
        self.refuse_if_misdirected()?;
        const SIGNS: [(&str, &str); 5] = [
            ("MERGE_HEAD", "merge"),
            ("rebase-merge", "rebase"),
            ("rebase-apply", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
        ];
        match SIGNS.iter().find(|(file, _)| self.git_dir().join(file).exists()) {
            Some((_, operation)) => Err(GitError::InProgress { root: self.root().to_owned(), operation }),
            None => Ok(()),
        }
    }
}

/// The shortened name in `[main 1a2b3c4] subject`.
fn told_commit(stdout: &str) -> Option<String> {
    let line = stdout.lines().find(|line| line.starts_with('['))?;
    let (inside, _) = line.strip_prefix('[')?.split_once("] ")?;
    let name = inside.split_whitespace().last()?;
    let is_name = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| name.to_owned())
}

/// The paths that may be committed, each once. Those ending in a slash are repositories of their own.
pub(in crate::git) fn acceptable<'a>(request: &Commit<'a>) -> Result<BTreeSet<&'a OsStr>, GitError> {
    let mut kept: BTreeSet<&OsStr> = request.unnameable.iter().map(OsString::as_os_str).collect();
    for path in request.paths {
        if !is_inside(path) {
            return Err(GitError::Unacceptable { what: "a path", value: path.clone() });
        }
        if !path.ends_with('/') {
            kept.insert(path.as_ref());
        }
    }
    Ok(kept)
}

/// True if a path from the repository's top folder stays within it and out of git's own folder.
pub(in crate::git) fn is_inside(path: &str) -> bool {
    let mut components = Path::new(path).components();
    let plain = |component: Component<'_>| match component {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
    };
    !path.is_empty() && !path.contains('\0') && components.all(plain)
}

pub(in crate::git) fn full_message(request: &Commit<'_>) -> Result<String, GitError> {
    let message = mask(&plan::harmless_lines(&request.message.replace(['\0', '\r'], "")));
    let message = message.trim();
    if message.is_empty() {
        return Err(GitError::Unacceptable { what: "a commit message", value: String::new() });
    }
    let message = cut(message, MESSAGE_BYTES_MAX);
    Ok(match request.trailer {
        None => message.to_owned(),
        Some((key, value)) if ends_in_trailers(message) => format!("{message}\n{key}: {value}"),
        Some((key, value)) => format!("{message}\n\n{key}: {value}"),
    })
}

/// The beginning of a text, ending between two characters.
fn cut(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    (0..=bytes_max).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// True if the last paragraph, which must not be the subject, consists of trailers already.
fn ends_in_trailers(message: &str) -> bool {
    match message.rsplit_once("\n\n") {
        None => false,
        Some((_, last)) => last.lines().all(is_trailer),
    }
}

fn is_trailer(line: &str) -> bool {
    match line.split_once(": ") {
        None => false,
        Some((key, _)) => {
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        }
    }
}

/// True if one of these paths would be a folder of another.
fn overlap(paths: &BTreeSet<&OsStr>) -> bool {
    let is_folder = |folder: &Path| paths.contains(folder.as_os_str());
    paths.iter().any(|path| Path::new(path).ancestors().skip(1).any(is_folder))
}

fn names_unknown_path(stderr: &str) -> bool {
    stderr.contains("did not match any file")
        || stderr.contains("paths are ignored by one of your .gitignore")
}

/// Older versions add such files without being told to, and do not know the option.
fn is_outside_sparse_checkout(stderr: &str) -> bool {
    stderr.contains("outside of your sparse-checkout definition")
}

pub(in crate::git) fn lacks_identity(stderr: &str) -> bool {
    [
        "Please tell me who you are",
        "empty ident name",
        "unable to auto-detect",
        "no email was given",
        "no name was given",
    ]
    .iter()
    .any(|words| stderr.contains(words))
}

fn says_nothing_to_commit(stdout: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stdout);
    ["nothing to commit", "no changes added to commit", "nothing added to commit"]
        .iter()
        .any(|words| text.contains(words))
}

/// True if another's commit came in while git made its own, or emptied the file that both write their message into.
fn was_overtaken(ended: &Ended) -> bool {
    let stderr = &ended.stderr;
    let is_late = stderr.contains("cannot lock ref 'HEAD': is at ") && stderr.contains(" but expected ");
    !ended.is_success() && (is_late || stderr.contains("Aborting commit due to empty commit message"))
}

impl Git {
    /// Makes these paths what they are in that commit, in the index and on disk; those that it does not have are
    /// deleted. Repositories inside this one (paths ending in a slash) are left alone.
    pub fn restore(&self, head: &str, paths: &[String]) -> Result<(), GitError> {
        let head = revision(head)?;
        if let Some(path) = paths.iter().find(|path| !is_inside(path)) {
            return Err(GitError::Unacceptable { what: "a path", value: path.clone() });
        }
        let paths: BTreeSet<&str> =
            paths.iter().map(String::as_str).filter(|path| !path.ends_with('/')).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", head];
        let stdin = pathspecs(paths.iter().copied());
        self.run_locking(|| self.locking_call(&reset, stdin.clone()))?.success()?;
        let tree = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", head];
        let listing = process::run(self.call(&tree))?.success()?;
        let committed: BTreeSet<&[u8]> = listing.split(|byte| *byte == 0).collect();
        let (kept, new): (Vec<_>, Vec<_>) =
            paths.iter().partition(|path| committed.contains(path.as_bytes()));
        for path in new {
            delete(self.root(), Path::new(path))?;
        }
        self.check_out(&kept)
    }

    fn check_out(&self, paths: &[&str]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut names = Vec::new();
        for path in paths {
            names.extend_from_slice(path.as_bytes());
            names.push(0);
        }
        let check_out = ["checkout-index", "--force", "--index", "-z", "--stdin"];
        self.run_locking(|| self.locking_call(&check_out, names.clone()))?.success().map(drop)
    }
}

/// Deletes a file and the folders that this leaves empty, never through a symbolic link.
pub(in crate::git) fn delete(root: &Path, path: &Path) -> Result<(), GitError> {
    let file = root.join(path);
    let folders = || path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    if folders().any(|folder| root.join(folder).is_symlink()) {
        return Ok(());
    }
    match fs::symlink_metadata(&file) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => fs::remove_file(&file).map_err(GitError::io("delete", &file))?,
        Err(error) if is_absence(&error) => {}
        Err(source) => return Err(GitError::io("look at", &file)(source)),
    }
    for folder in folders() {
        // The first folder that is not empty ends it; that is the usual case and no error.
        if fs::remove_dir(root.join(folder)).is_err() {
            break;
        }
    }
    Ok(())
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The text with which a file of the plan is committed, without what somebody has not committed in it: see
/// `commit_text`.
#[derive(Debug, Clone)]
pub struct Text<'a> {
    /// The file, from the top folder.
    pub path: &'a str,
    /// The text.
    pub text: String,
}

impl Git {
    /// The text of a file as it is committed; none if it is in no commit.
    pub fn committed_text(&self, path: &str) -> Result<Option<String>, GitError> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        let object = format!("HEAD:{path}");
        let ended = process::run(self.call(&["cat-file", "-p", &object]))?;
        if !ended.is_success() {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&ended.success()?).into_owned()))
    }

    /// The text of a file in a commit or tree; none if it is not there, or nobody can tell.
    pub fn text_in(&self, tree: &str, path: &str) -> Option<String> {
        let object = format!("{tree}:{path}");
        let text = process::run(self.call(&["cat-file", "blob", &object])).and_then(Ended::success).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// A text with the edits that lead from one text to another; none where they do not fit.
    pub fn merge_texts(
        &self,
        folder: &Path,
        (before, after): (&str, &str),
        text: &str,
    ) -> Result<Option<String>, GitError> {
        let files = [("text", text), ("before", before), ("after", after)];
        let files = files.map(|(name, text)| (folder.join(format!("merge-{name}.md")), text));
        for (file, text) in &files {
            fs::write(file, text).map_err(GitError::io("write", file))?;
        }
        let mut call = self.call(&["merge-file", "--stdout", "--quiet", "--"]);
        call.arguments.extend(files.iter().map(|(file, _)| file.clone().into()));
        let ended = process::run(call);
        files.iter().try_for_each(|(file, _)| crate::git::snapshot::remove_if_there(file))?;
        let ended = ended?;
        // It ends with the number of conflicts.
        if ended.is_success() {
            Ok(Some(String::from_utf8_lossy(&ended.stdout).into_owned()))
        } else {
            Ok(None)
        }
    }

    /// Commits texts in the place of files, with the user's hooks. The files stay as they are, and so does what somebody
    /// has staged of them.
    pub fn commit_texts(
        &self,
        texts: &[Text<'_>],
        message: &str,
        index: &Path,
    ) -> Result<Option<Oid>, GitError> {
        let mut entries = Vec::new();
        for text in texts {
            let path = format!("--path={}", text.path);
            let store = [&DURABLY[..], &["hash-object", "-w", &path, "--stdin"]].concat();
            let call = self.locking_call(&store, text.text.clone().into_bytes());
            let blob = Oid::printed(process::run(call)?)?;
            let entry = Entry { mode: self.mode_at_head(text.path)?, oid: blob.as_str().to_owned() };
            entries.push((OsString::from(text.path), entry));
        }
        self.commit_entries(&entries, &Commit::new(&[], message), index)
    }

    /// Commits paths as a tree has them, with the user's hooks: what git does not take by its name, as files that became
    /// folders, or that are to be tracked no more.
    pub fn commit_of_tree(
        &self,
        tree: &Oid,
        request: &Commit<'_>,
        index: &Path,
    ) -> Result<Option<Oid>, GitError> {
        let Some(head) = self.head()? else { return Ok(None) };
        let is_wanted = |change: &RawChange| {
            request.paths.contains(&change.shown()) || request.unnameable.contains(&change.path)
        };
        let changes = self.differences(&head, tree)?.into_iter().filter(is_wanted);
        let entries: Vec<(OsString, Entry)> = changes.map(|change| (change.path, change.new)).collect();
        if entries.is_empty() { Ok(None) } else { self.commit_entries(&entries, request, index) }
    }

    pub(in crate::git) fn environment_with(&self, index: &Path) -> Environment {
        let mut environment = self.environment().clone();
        environment.push(("GIT_INDEX_FILE".into(), PathBuf::from(index).into()));
        environment
    }

    /// Runs a call with an index of our own.
    pub(in crate::git) fn with_index(&self, index: &Path, list: &[&str]) -> Result<Ended, GitError> {
        self.fed_with_index(index, list, Vec::new())
    }

    fn fed_with_index(&self, index: &Path, list: &[&str], stdin: Vec<u8>) -> Result<Ended, GitError> {
        let (environment, call) = (self.environment_with(index), self.locking_call(list, stdin));
        process::run(Call { environment: &environment, deadline: COMMIT_DEADLINE, ..call })
    }

    /// Makes an index of our own that has these entries on top of a commit.
    pub(in crate::git) fn index_entries(
        &self,
        (head, entries): (&Oid, &[(OsString, Entry)]),
        index: &Path,
    ) -> Result<(), GitError> {
        crate::git::snapshot::remove_if_there(index)?;
        self.with_index(index, &["read-tree", head.as_str()])?.success()?;
        let lines = index_info(entries.iter().map(|(path, entry)| (path.as_os_str(), entry)));
        let update = ["update-index", "-z", "--add", "--replace", "--index-info"];
        self.fed_with_index(index, &update, lines)?.success().map(drop)
    }

    /// Commits entries on top of what is checked out, through an index of our own.
    fn commit_entries(
        &self,
        entries: &[(OsString, Entry)],
        request: &Commit<'_>,
        index: &Path,
    ) -> Result<Option<Oid>, GitError> {
        let Some(head) = self.head()? else { return Ok(None) };
        self.refuse_if_in_progress()?;
        self.index_entries((&head, entries), index)?;
        let message = full_message(request)?;
        let commit = [&DURABLY[..], &COMMIT, &["-m", &message]].concat();
        let ended = self.with_index(index, &commit);
        crate::git::snapshot::remove_if_there(index)?;
        let commit = match self.judge_commit(ended?, self.root(), (&[], &message))? {
            Answer::Done(commit) => commit,
            Answer::NothingToCommit | Answer::UnknownPath => return Ok(None),
        };
        let paths: Vec<&OsStr> = entries.iter().map(|(path, _)| path.as_os_str()).collect();
        self.catch_up_index_at(&head, &paths)?;
        Ok(Some(commit))
    }

    fn mode_at_head(&self, path: &str) -> Result<String, GitError> {
        let listing = process::run(self.call(&["ls-tree", "-z", "HEAD", "--", path]))?.success()?;
        let listing = String::from_utf8_lossy(&listing).into_owned();
        Ok(listing.split(' ').next().filter(|mode| !mode.is_empty()).unwrap_or("100644").to_owned())
    }

    /// After a commit through an index of our own: what the user's index says of these paths follows, unless they had
    /// staged something there.
    pub(super) fn catch_up_index_at(&self, before: &Oid, paths: &[&OsStr]) -> Result<(), GitError> {
        let staged = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", before.as_str(), "--"];
        let staged = process::run(self.call(&staged))?.success()?;
        let staged: BTreeSet<&[u8]> = staged.split(|byte| *byte == 0).collect();
        let behind = paths.iter().copied().filter(|path| !staged.contains(path.as_bytes()));
        let behind: BTreeSet<&OsStr> = behind.collect();
        self.unstage(&behind)
    }
}

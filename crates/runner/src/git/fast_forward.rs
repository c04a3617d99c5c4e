//! The way of work into the user's checkout: joined with what is checked out, committed in the landing tree with the
//! user's hooks, and taken in by one fast-forward.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::{fs, io};

use crate::git::call::error::GitError;
use crate::git::call::process::{self, COMMIT_DEADLINE, Call, Ended};
use crate::git::commit::{COMMIT, Commit, full_message};
use crate::git::diff::{Entry, RawChange, index_info};
use crate::git::history::Oid;
use crate::git::merge::{Conflict, Merge, UNSPARSE};
use crate::git::refs::Keep;
use crate::git::repository::{DURABLY, Git};

/// The number of tries for a commit that a hook refuses and whose files it changes.
const HOOK_ROUNDS_MAX: u32 = 3;

/// The result of joining work with what is checked out.
#[derive(Debug)]
pub enum Join {
    /// It is there already: nothing would change.
    Nothing,
    /// It fits, and this is the tree that it comes to.
    Tree(Oid),
    /// It does not fit.
    Conflict(Conflict),
}

/// The result of a fast-forward of the user's checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FastForward {
    /// It is in the history now, or was already.
    Done,
    /// Another commit came in since: the work has to be joined again.
    Moved,
    /// Files of the user's are in the way. Nothing was changed.
    InTheWay(Vec<String>),
}

impl Git {
    /// Joins the changes between `base` and `work` with `head`.
    pub fn join_work(&self, (base, work): (&Oid, &Oid), head: &Oid) -> Result<Join, GitError> {
        Ok(match self.merge(base, head, work)? {
            Merge::Clean(tree) if tree == self.tree_of(head)? => Join::Nothing,
            Merge::Clean(tree) => Join::Tree(tree),
            Merge::Conflict(conflict) => Join::Conflict(conflict),
        })
    }

    /// Commits a tree in the landing tree, which shows `head`, with the user's hooks and signing, and keeps the commit by a
    /// reference. What a hook made of it counts. That a hook refuses it is an error.
    pub fn commit_joined(
        &self,
        landing: &Path,
        (head, tree): (&Oid, &Oid),
        request: &Commit<'_>,
        keep: &Keep,
    ) -> Result<Oid, GitError> {
        self.write_into(landing, (head, tree))?;
        let message = full_message(request)?;
        let hooks = self.hooks_for(landing);
        let hooks: Vec<&str> = hooks.iter().flat_map(|hooks| ["-c", hooks.as_str()]).collect();
        let commit = [&DURABLY[..], &hooks, &COMMIT, &["-m", &message]].concat();
        let run = |list: &[&str]| {
            let call = self.locking_call(list, Vec::new());
            process::run(Call { dir: landing, deadline: COMMIT_DEADLINE, ..call })
        };
        for rest in (0..HOOK_ROUNDS_MAX).rev() {
            match self.judge_commit(run(&commit)?, landing, (&hooks, &message)) {
                // Hooks that format files refuse them the first time, and have nothing to say of what they made.
                Err(GitError::Hook { .. }) if rest > 0 && !run(&["diff-files", "--quiet"])?.is_success() => {
                    run(&["add", "--update", "--", ":/"])?.success()?;
                }
                ended => {
                    ended?;
                    break;
                }
            }
        }
        let made = Oid::printed(process::run(Call { dir: landing, ..self.call(&["rev-parse", "HEAD"]) })?)?;
        if made == *head {
            // A hook took everything out of it again.
            return Ok(made);
        }
        // What a hook left in files and not in the commit is not what comes in.
        let reset = [&UNSPARSE[..], &["read-tree", "--reset", "-u", made.as_str()]].concat();
        process::run(Call { dir: landing, ..self.locking_call(&reset, Vec::new()) })?.success()?;
        self.keep(keep, &made)?;
        Ok(made)
    }

    /// Hooks that lie in the project and that git does not know, so that a linked work tree has none at the same place.
    fn hooks_for(&self, landing: &Path) -> Option<String> {
        let told =
            self.config("core.hooksPath").ok().flatten().filter(|path| !Path::new(path).is_absolute())?;
        let (here, there) = (self.root().join(&told), landing.join(&told));
        (here.is_dir() && !there.exists()).then(|| format!("core.hooksPath={}", here.display()))
    }

    /// Moves the user's checkout forward to a commit that was made on top of `onto`, which is checked out. Nothing else is
    /// changed there: what somebody has edited, staged or not added stays as it is.
    pub fn fast_forward(&self, onto: &Oid, commit: &Oid) -> Result<FastForward, GitError> {
        if self.contains(commit.as_str())? {
            return Ok(FastForward::Done);
        }
        self.refuse_if_in_progress()?;
        // Somebody may have gone back to an earlier commit, and has not asked for those in between.
        if self.head()?.as_ref() != Some(onto) {
            return Ok(FastForward::Moved);
        }
        let quietly = ["-c", "core.hooksPath=/dev/null", "-c", "merge.autoStash=false", "-c", "gc.auto=0"];
        let merge = ["merge", "--ff-only", "--quiet", "--no-overwrite-ignore", "--no-verify-signatures"];
        let list = [&DURABLY[..], &quietly, &merge, &[commit.as_str()]].concat();
        let ended = self.run_locking(|| self.locking_call(&list, Vec::new()))?;
        if ended.is_success() {
            return Ok(FastForward::Done);
        }
        if says_diverged(&ended.stderr) || !self.is_ancestor("HEAD", commit.as_str())? {
            return Ok(FastForward::Moved);
        }
        let files = files_in_the_way(&ended);
        if files.is_empty() { Err(ended.into_failure()) } else { Ok(FastForward::InTheWay(files)) }
    }

    /// Clears up after a fast-forward to `commit` that was cut off in the middle, with `onto` still checked out: files that
    /// are as they are to be are entered into the index, half-written ones are put back. Others are somebody's.
    pub fn mend_fast_forward(&self, onto: &Oid, commit: &Oid) -> Result<(), GitError> {
        if self.head()?.as_ref() != Some(onto) {
            return Ok(());
        }
        let mut whole: Vec<RawChange> = Vec::new();
        for change in self.differences(onto, commit)? {
            let file = self.root().join(&change.path);
            let found = self.hash_of(&change.path)?;
            let is_new = found.as_deref() == Some(change.new.oid.as_str());
            let is_gone = found.is_none() && change.new.is_absent();
            if found.as_deref() == Some(change.old.oid.as_str()) || change.new.is_gitlink() {
                continue;
            }
            if is_new || is_gone {
                whole.push(change);
            } else if self.is_half_written(&file, &change.new)? {
                fs::remove_file(&file).map_err(GitError::io("remove", &file))?;
                self.restore(onto.as_str(), &[change.shown()])?;
            }
        }
        if whole.is_empty() {
            return Ok(());
        }
        let lines = index_info(whole.iter().map(|change| (change.path.as_os_str(), &change.new)));
        let update = ["update-index", "-z", "--add", "--replace", "--index-info"];
        self.run_locking(|| self.locking_call(&update, lines.clone()))?.success().map(drop)
    }

    /// The name of the object that a file would be.
    fn hash_of(&self, path: &OsStr) -> Result<Option<String>, GitError> {
        let file = self.root().join(path);
        let found = match fs::symlink_metadata(&file) {
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(GitError::io("look at", &file)(error)),
            Ok(found) => found,
        };
        if !found.is_file() {
            return Ok(Some(String::new()));
        }
        let mut call = self.call(&["hash-object", "--"]);
        call.arguments.push(path.to_owned());
        Ok(Some(Oid::printed(process::run(call)?)?.as_str().to_owned()))
    }

    /// True if a file holds the beginning of what it was to become, and no more.
    fn is_half_written(&self, file: &Path, entry: &Entry) -> Result<bool, GitError> {
        let Ok(found) = fs::read(file) else { return Ok(false) };
        let whole = process::run(self.call(&["cat-file", "blob", &entry.oid]))?.success()?;
        Ok(found.len() < whole.len() && whole.starts_with(&found))
    }

    /// The files among these that git does not know.
    pub fn unknown(&self, paths: &[String]) -> Vec<String> {
        let known = process::run(self.call(&["ls-files", "-z"])).and_then(Ended::success).unwrap_or_default();
        let known: BTreeSet<&[u8]> = known.split(|byte| *byte == 0).collect();
        paths.iter().filter(|path| !known.contains(path.as_bytes())).cloned().collect()
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn says_diverged(stderr: &str) -> bool {
    stderr.contains("Not possible to fast-forward") || stderr.contains("can't be fast-forwarded")
}

/// The files that git names, a line each after a tab.
fn files_in_the_way(ended: &Ended) -> Vec<String> {
    let text = format!("{}{}", ended.stderr, String::from_utf8_lossy(&ended.stdout));
    let named = text.lines().filter_map(|line| line.strip_prefix('\t'));
    let quoted = text.lines().filter_map(|line| {
        let rest = line
            .strip_prefix("error: Entry '")
            .or_else(|| line.strip_prefix("error: Untracked working tree file '"))?;
        rest.split_once('\'').map(|(path, _)| path)
    });
    let files: BTreeSet<String> = named.chain(quoted).map(|path| path.trim_end().to_owned()).collect();
    files.into_iter().collect()
}

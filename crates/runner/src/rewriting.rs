//! Files of a task's work that change while it is verified in the project itself: somebody saves one of them, or the
//! verify command writes it. What would be committed is then not what was verified, so it is verified again, and a command
//! that formats the work comes to rest. Where it does not, what was verified last is committed, and what the files have
//! become since stays uncommitted.
//!
//! Work that comes back from a tree of its own is looked at in `original`, where git knows what came in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use engine::Status;
use plan::TaskId;

use crate::driver::Driver;
use crate::error::RunError;
use crate::git::{Left, Oid, SetBack, Since};
use crate::offstage::fingerprint;
use crate::recording::Obstacle;
use crate::traces::listed;

/// Larger files are known by their size and time alone.
const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How often work is verified whose files change each time.
const ROUNDS_MAX: u32 = 3;

/// What is said when work in the project itself is red at the second look.
const MADE_RED_BY_HOOK: &str =
    "A git hook changed the work as it was committed. What it made of it is red, and not committed.";
const MADE_RED: &str =
    "Files of the work changed while it was verified. As they are now they are red, and not committed.";

/// The files of a task's work, each with a fingerprint of its content.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    files: BTreeMap<String, String>,
    /// The same for git, with the commit that was checked out, where they have changed before.
    tree: Option<(Oid, Oid)>,
}

/// Work whose files have changed while it was verified, by what its commit is found again.
#[derive(Debug, Default)]
pub(crate) struct Rewriting {
    /// How often.
    rounds: BTreeMap<String, u32>,
    /// Work that came in again as it was.
    fell_back: BTreeSet<String>,
    /// What was checked out when each task was first verified: its agent has ended by then, and commits nothing any more.
    begun_on: BTreeMap<TaskId, Oid>,
    /// Files that somebody else commits all the time, which are not to be in its commit.
    left_out: BTreeMap<String, BTreeSet<String>>,
}

impl Rewriting {
    /// They have changed once more.
    pub(crate) fn count(&mut self, key: &str) {
        *self.rounds.entry(key.to_owned()).or_default() += 1;
    }

    fn has_begun(&self, key: &str) -> bool {
        self.rounds.contains_key(key)
    }

    /// Whether they have changed so often that it is not waited for any longer that they stay as they are.
    pub(crate) fn is_endless(&self, key: &str) -> bool {
        self.rounds.get(key).is_some_and(|rounds| rounds + 1 >= ROUNDS_MAX)
    }

    /// What is left of some paths without those that somebody else commits.
    pub(crate) fn without_left_out(&self, key: &str, mut paths: BTreeSet<String>) -> BTreeSet<String> {
        if let Some(left_out) = self.left_out.get(key) {
            paths.retain(|path| !left_out.contains(path));
        }
        paths
    }

    /// Whether the work may come in again as it was. From then on it may not.
    pub(crate) fn may_fall_back(&mut self, key: &str) -> bool {
        self.fell_back.insert(key.to_owned())
    }
}

impl Driver<'_> {
    /// Before a verify command runs in the project itself.
    pub(crate) fn note_files(&mut self, id: &TaskId) {
        let Some(git) = self.tree.git().filter(|_| !self.is_isolated(id)) else { return };
        let mut paths = self.paths_of_work(id);
        let key = self.joining_key(id).filter(|key| self.rewriting.has_begun(key));
        match (&key, git.head().ok().flatten()) {
            (Some(key), _) => paths = self.rewriting.without_left_out(key, paths),
            (None, Some(head)) if self.joining_key(id).is_none() => {
                self.rewriting.begun_on.insert(id.clone(), head);
            }
            (None, _) => {}
        }
        let paths: Vec<String> = paths.into_iter().collect();
        // What git cannot tell is verified again and again, until somebody sees to it.
        let tree = key.and_then(|_| {
            let head = git.head().ok().flatten()?;
            Some((head, git.tree_of_work(&paths).ok().flatten()?))
        });
        let root = self.project.root();
        let files = paths.into_iter().map(|path| (look(&root.join(&path)), path));
        let files = files.map(|(look, path)| (path, look)).collect();
        self.verified.insert(id.clone(), Verified { files, tree });
    }

    /// Before the work is committed: what it has become while it was verified is verified, a few times. Then what was
    /// verified last is what is there to be committed; the rest is given back.
    pub(crate) fn heed_rewriting_here(&mut self, id: &TaskId, key: &str) -> Result<Option<Since>, Obstacle> {
        // It stays noted: should somebody have git's lock, the commit is tried again.
        let Some(verified) = self.verified.get(id) else { return Ok(None) };
        let root = self.project.root();
        let changed = verified.files.iter().filter(|(path, before)| look(&root.join(path)) != **before);
        let changed: Vec<String> = changed.map(|(path, _)| path.clone()).collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let tree = verified.tree.clone();
        self.tree.forget();
        if let (true, Some(tree)) = (self.rewriting.is_endless(key), tree) {
            return self.set_back_here(id, key, (tree, changed));
        }
        self.verified.remove(id);
        self.rewriting.count(key);
        self.tell_of_rewriting(id, &changed);
        Err(Obstacle::Moved)
    }

    /// Files that change each time are what was verified last. Those that somebody has committed since are theirs: what they
    /// hold is newer, and in the history.
    fn set_back_here(
        &mut self,
        id: &TaskId,
        key: &str,
        ((head, tree), changed): ((Oid, Oid), Vec<String>),
    ) -> Result<Option<Since>, Obstacle> {
        let Some(git) = self.tree.git() else { return Ok(None) };
        let Some(now) = git.head()? else { return Ok(None) };
        let mut committed = BTreeSet::new();
        for before in [Some(&head), self.rewriting.begun_on.get(id)].into_iter().flatten() {
            committed.extend(git.changed_between(before.as_str(), now.as_str())?);
        }
        let (theirs, changed): (Vec<String>, Vec<String>) =
            changed.into_iter().partition(|path| committed.contains(path));
        let left_out = self.rewriting.left_out.entry(key.to_owned()).or_default();
        let theirs: Vec<String> = theirs.into_iter().filter(|path| left_out.insert(path.clone())).collect();
        if !theirs.is_empty() {
            self.note_of(id, format!(
                "somebody commits files all the time while task {id} is verified, so they are not in its commit: {}",
                listed(&theirs)
            ));
        }
        if changed.is_empty() { Ok(None) } else { git.set_back((&now, &tree), &changed)?.settled() }
    }

    pub(crate) fn tell_of_rewriting(&mut self, id: &TaskId, files: &[String]) {
        let files = listed(files);
        self.note_of(id, format!(
            "files of task {id} changed while it was verified ({files}), so they are verified as they are now"
        ));
    }

    /// After the work was committed as it was verified, or was not: what its files have become since is there again, as
    /// nobody's work.
    pub(crate) fn bring_since(&mut self, id: &TaskId, since: Option<Since>) -> Result<(), RunError> {
        let (Some(git), Some(since)) = (self.tree.git(), since) else { return Ok(()) };
        let files = listed(since.files());
        let left = git.bring_since(since)?;
        self.tree.forget();
        // Should it be in the way of other work, it was left by that check.
        self.note_end_of_check()?;
        let place = match left {
            Some(Left { folder, .. }) => format!("is kept in {}", self.project.relative(&folder).display()),
            None => "stays as it is, uncommitted".to_owned(),
        };
        self.note_of(id, format!(
            "files of task {id} change each time it is verified ({files}): what was verified counts, and what they \
             have become since {place}"
        ));
        Ok(())
    }

    /// By which work is known that is verified on all that came together.
    pub(crate) fn joining_key(&self, id: &TaskId) -> Option<String> {
        match self.state.task(id).map(|task| &task.status) {
            Some(Status::Joining { attempt }) => Some(self.trailer(id, Some(*attempt))),
            Some(_) | None => None,
        }
    }

    /// Why a task's work in the project itself was verified a second time.
    pub(crate) fn why_again(&self, id: &TaskId) -> &'static str {
        let is_rewritten = self.joining_key(id).is_some_and(|key| self.rewriting.has_begun(&key));
        if is_rewritten { MADE_RED } else { MADE_RED_BY_HOOK }
    }
}

impl SetBack {
    /// What was moved away. Where somebody is at the files in this very moment, they are to be verified once more.
    pub(crate) fn settled(self) -> Result<Option<Since>, Obstacle> {
        match self {
            SetBack::Unchanged => Ok(None),
            SetBack::Done(since) => Ok(Some(since)),
            SetBack::Busy => Err(Obstacle::Moved),
        }
    }
}

/// By which it shows whether a file changed.
fn look(file: &Path) -> String {
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.len() > READ_BYTES_MAX => {
            format!("{} {} {}", metadata.len(), metadata.mtime(), metadata.mtime_nsec())
        }
        Ok(_) | Err(_) => fingerprint(file),
    }
}

//! Submodules in linked working trees. Each becomes a linked tree of the submodule's own repository: nothing is
//! fetched or copied, and what an agent commits there is in the store that the main working tree's submodule uses.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::worktree::{remove_folder, settled};
use crate::git::calls::process::{self, Call, Environment};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::RawChange;
use crate::git::repository::Git;

/// A submodule that is checked out in the main working tree.
#[derive(Debug)]
pub(in crate::git) struct Submodule {
    pub(in crate::git) path: OsString,
    /// The commit that the superproject asks for.
    pub(in crate::git) commit: Oid,
    /// Its working tree in the main one.
    pub(in crate::git) main: PathBuf,
}

impl Git {
    /// The submodules of a commit that are checked out here. Those that are not are left empty in linked trees, too.
    pub(in crate::git) fn submodules(&self, commit: &str) -> Result<Vec<Submodule>, GitError> {
        if !self.root().join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let list = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let listing = process::run(self.call(&list))?.success()?;
        let records = listing.split(|byte| *byte == 0);
        let found = records.filter_map(|record| self.read_gitlink(record));
        Ok(found.filter(|submodule| submodule.main.join(".git").exists()).collect())
    }

    /// Where a commit has submodules, by whatever name.
    pub(in crate::git) fn links_of(&self, commit: &Oid) -> Result<BTreeSet<OsString>, GitError> {
        let list = ["ls-tree", "-r", "-z", "--full-tree", commit.as_str()];
        let listing = process::run(self.call(&list))?.success()?;
        let records = listing.split(|byte| *byte == 0);
        Ok(records.filter_map(|record| self.read_gitlink(record)).map(|link| link.path).collect())
    }

    /// Whether a commit has one there. Without a commit there is none.
    pub fn is_link_at(&self, commit: Option<&str>, path: &str) -> Result<bool, GitError> {
        match commit.and_then(Oid::parse) {
            Some(commit) => Ok(self.links_of(&commit)?.contains(OsStr::new(path))),
            None => Ok(false),
        }
    }

    fn read_gitlink(&self, record: &[u8]) -> Option<Submodule> {
        let rest = record.strip_prefix(b"160000 commit ")?;
        let tab = rest.iter().position(|byte| *byte == b'\t')?;
        let commit = Oid::parse(std::str::from_utf8(rest.get(..tab)?).ok()?)?;
        let path = OsStr::from_bytes(rest.get(tab + 1..)?).to_owned();
        Some(Submodule { main: self.root().join(&path), commit, path })
    }

    /// Checks submodules out in a new linked tree.
    pub(in crate::git) fn add_submodules(&self, tree: &Path) -> Result<(), GitError> {
        let Ok(state) = self.state_of(tree) else { return Ok(()) };
        let head = fs::read_to_string(state.join("HEAD")).unwrap_or_default();
        for submodule in self.submodules(head.trim())? {
            self.link_tree(&submodule.main, &tree.join(&submodule.path), &submodule.commit)?;
        }
        Ok(())
    }

    /// Whether a submodule's repository has a commit.
    pub(in crate::git) fn has_in(&self, main: &Path, commit: &str) -> Result<bool, GitError> {
        let object = format!("{commit}^{{commit}}");
        let call = self.call(&["cat-file", "-e", &object]);
        Ok(process::run(Call { dir: main, ..call })?.is_success())
    }

    /// Keeps a commit of a submodule alive, or with none lets it go.
    pub(in crate::git) fn keep_in(&self, main: &Path, reference: &str, commit: &str) -> Result<(), GitError> {
        let call = self.locking_call(&["update-ref", reference, commit], Vec::new());
        process::run(Call { dir: main, ..call })?.success().map(drop)
    }

    /// Before work is put into the main working tree: submodules go of which it makes folders of the project's own. Git would
    /// take what is in them for somebody's files; somebody has looked that nothing is in them but what is committed there.
    pub(in crate::git) fn make_room(&self, changes: &[RawChange]) -> Result<(), GitError> {
        for link in changes.iter().filter(|change| change.old.is_gitlink() && change.new.is_absent()) {
            let main = self.root().join(&link.path);
            let is_within = |change: &RawChange| {
                Path::new(&change.path).starts_with(&link.path) && !change.new.is_absent()
            };
            // One that has its repository inside of it stays, and is in the way.
            if changes.iter().any(is_within) && main.join(".git").is_file() {
                remove_folder(&main).map_err(GitError::io("remove", &main))?;
            }
        }
        Ok(())
    }

    /// After work was put into the main working tree: its submodules are what an index asks for, the one that this
    /// environment names. Those that it no longer has go, as `git rm` does it; somebody has looked that nothing is in them
    /// but what is committed there.
    pub(in crate::git) fn follow_submodules(
        &self,
        changes: &[RawChange],
        environment: &Environment,
    ) -> Result<(), GitError> {
        let links = changes.iter().filter(|change| change.old.is_gitlink() || change.new.is_gitlink());
        let (there, gone): (Vec<_>, Vec<_>) = links.partition(|change| change.new.is_gitlink());
        for change in gone {
            let main = self.root().join(&change.path);
            // One that has its repository inside of it stays: that is nowhere else. So does a link that came in its place.
            if self.is_repository(&change.path) && main.join(".git").is_file() {
                remove_folder(&main).map_err(GitError::io("remove", &main))?;
            }
        }
        let is_checked_out = |path: &&OsStr| self.is_repository(path);
        let paths = there.into_iter().map(|change| change.path.as_os_str());
        self.update_submodules(paths.filter(is_checked_out).collect(), environment)
    }

    /// The same after work was taken out again. Those that it had removed are there again, with nothing fetched.
    pub(in crate::git) fn put_submodules_back(&self, changes: &[RawChange]) -> Result<(), GitError> {
        let links = changes.iter().filter(|change| change.old.is_gitlink());
        let links: Vec<&OsStr> = links.map(|change| change.path.as_os_str()).collect();
        if links.is_empty() {
            return Ok(());
        }
        let kept: Vec<PathBuf> =
            self.stores_of_submodules().iter().filter_map(|store| stands_at(store)).collect();
        let is_had = |path: &&OsStr| {
            let main = self.root().join(path);
            main.join(".git").exists() || kept.contains(&main)
        };
        self.update_submodules(links.into_iter().filter(is_had).collect(), self.environment())
    }

    fn update_submodules(&self, paths: Vec<&OsStr>, environment: &Environment) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let update = ["submodule", "update", "--quiet", "--no-fetch", "--checkout", "--force", "--"];
        let mut call = Call { environment, ..self.locking_call(&update, Vec::new()) };
        call.arguments.extend(paths.into_iter().map(OsStr::to_owned));
        process::run(call)?.success().map(drop)
    }
}

/// Where the working tree of a submodule stands, by what its repository says.
fn stands_at(store: &Path) -> Option<PathBuf> {
    let config = fs::read_to_string(store.join("config")).ok()?;
    let place = config.lines().find_map(|line| line.trim().strip_prefix("worktree = "))?;
    Some(settled(&store.join(place)))
}

//! A repository with linked trees, and the way of work from such a tree into the main one.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use super::scratch::{Scratch, owned};
use crate::git::{
    Applied, COMMIT_DEADLINE, Conflict, Git, GitError, Keep, Landed, Landing, Novelty, Oid, Packed, Stamps,
    Touched, TreeWork,
};

pub(super) const TRAILER: &str = "Tillgreen-Task";

/// A linked tree under test.
pub(super) struct Linked<'a> {
    pub(super) scratch: &'a Scratch,
    pub(super) git: Git,
    pub(super) path: PathBuf,
    pub(super) base: Oid,
    key: String,
    /// What the work looked like when it was applied last.
    stamps: RefCell<Option<Stamps>>,
}

impl<'a> Linked<'a> {
    pub(super) fn new(scratch: &'a Scratch, key: &str) -> Linked<'a> {
        let git = scratch.git();
        git.exclude(&crate::tree::OWN_PATTERNS).unwrap();
        let base = git.head().unwrap().unwrap();
        let path = scratch.repository.root().join(".tillgreen/demo/trees").join(key);
        git.add_tree(&path, &base).unwrap();
        Linked { scratch, git, path, base, key: key.to_owned(), stamps: RefCell::default() }
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = self.path.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub(super) fn keep(&self) -> Keep {
        Keep::new("demo", &self.key)
    }

    fn work<'b>(&'b self, dropped: &'b [String], furnished: &'b [String]) -> TreeWork<'b> {
        TreeWork { tree: &self.path, base: &self.base, dropped, furnished }
    }

    pub(super) fn touched(&self, dropped: &[&str], furnished: &[&str]) -> Touched {
        self.git.touched_in(&self.work(&owned(dropped), &owned(furnished))).unwrap()
    }

    pub(super) fn try_pack(
        &self,
        dropped: &[&str],
        furnished: &[&str],
    ) -> Result<Option<Packed>, crate::git::GitError> {
        let message = format!("work of {}", self.key);
        let (dropped, furnished) = (owned(dropped), owned(furnished));
        self.git.pack(&self.work(&dropped, &furnished), &message, (TRAILER, &self.key), &self.keep())
    }

    pub(super) fn pack(&self) -> Oid {
        self.try_pack(&[], &[]).unwrap().unwrap().commit
    }

    pub(super) fn apply(&self, commit: &Oid) -> Applied {
        let applied = self.try_apply(commit).unwrap();
        if let Applied::Done { stamps, .. } = &applied {
            *self.stamps.borrow_mut() = Some(stamps.clone());
        }
        applied
    }

    pub(super) fn try_apply(&self, commit: &Oid) -> Result<Applied, GitError> {
        let landing =
            Landing { commit, base: &self.base, trailer: (TRAILER, &self.key), novelty: Novelty::Unknown };
        self.git.apply_landing(&landing)
    }

    pub(super) fn commit(&self) -> Landed {
        let message = format!("work of {}", self.key);
        self.git
            .commit_landing((TRAILER, &self.key), &message, COMMIT_DEADLINE, self.stamps.take().as_ref())
            .unwrap()
    }

    /// Packs, applies and commits.
    #[track_caller]
    pub(super) fn land(&self) -> Oid {
        let commit = self.pack();
        let applied = self.apply(&commit);
        assert!(matches!(applied, Applied::Done { .. }), "{applied:?}");
        match self.commit() {
            Landed::Done(commit) => commit,
            other @ (Landed::Changed(_) | Landed::Nothing | Landed::Moved) => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn conflict(&self) -> Conflict {
        let before = (self.scratch.repository.dirt(), self.scratch.git().head().unwrap());
        let applied = self.apply(&self.pack());
        assert_eq!((self.scratch.repository.dirt(), self.scratch.git().head().unwrap()), before);
        match applied {
            Applied::Conflict(conflict) => conflict,
            other @ (Applied::Done { .. }
            | Applied::Already(_)
            | Applied::Nothing
            | Applied::Refused { .. }) => {
                panic!("{other:?}")
            }
        }
    }

    /// What the packed commit changed, as letters and paths.
    pub(super) fn packed(&self, commit: &Oid) -> Vec<String> {
        let show = [
            "-c",
            "core.quotePath=true",
            "show",
            "--format=",
            "--name-status",
            "--no-renames",
            commit.as_str(),
        ];
        self.scratch.repository.git(&show).lines().map(|line| line.replace('\t', " ")).collect()
    }

    /// Git in the tree, as an agent would run it.
    pub(super) fn agent(&self, arguments: &[&str]) {
        let path = self.path.to_str().unwrap();
        self.scratch.repository.git(&[&["-C", path], arguments].concat());
    }
}

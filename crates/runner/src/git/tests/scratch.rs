//! A scratch repository, and the module under test looking at it through the same hermetic environment.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use testkit::Repository;

use crate::git::call::process::Environment;
use crate::git::{Commit, Git, GitError, Oid};

pub(super) struct Scratch {
    folder: TempDir,
    pub(super) repository: Repository,
}

impl Scratch {
    /// A repository without commits.
    pub(super) fn empty() -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(&folder.path().join("project"), &folder.path().join("home"));
        fs::create_dir(folder.path().join("notes")).unwrap();
        Scratch { folder, repository }
    }

    /// A repository with one commit of a few files.
    pub(super) fn new() -> Scratch {
        let scratch = Scratch::empty();
        for path in ["one", "two", "deep/three"] {
            scratch.repository.write(path, format!("{path}\n"));
        }
        scratch.repository.commit_all("first");
        scratch
    }

    pub(super) fn environment(&self) -> Environment {
        self.repository.environment().into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    pub(super) fn discover(&self, dir: &Path) -> Result<Option<Git>, GitError> {
        Git::discover_with(dir, self.environment())
    }

    pub(super) fn git(&self) -> Git {
        self.discover(self.repository.root()).unwrap().unwrap().with_notes(&self.notes())
    }

    pub(super) fn notes(&self) -> std::path::PathBuf {
        self.folder.path().join("notes")
    }

    pub(super) fn commit(&self, paths: &[&str], message: &str) -> Result<Option<Oid>, GitError> {
        self.git().commit(&Commit::new(&owned(paths), message))
    }

    /// The changes of the last commit, as letters and paths.
    pub(super) fn last_commit(&self) -> Vec<String> {
        let text = self.repository.git(&[
            "-c",
            "core.quotePath=false",
            "show",
            "--format=",
            "--name-status",
            "--no-renames",
        ]);
        text.lines().map(|line| line.replace('\t', " ")).collect()
    }

    pub(super) fn hook(&self, name: &str, script: &str) {
        let file = self.repository.root().join(".git/hooks").join(name);
        testkit::write_executable(&file, &format!("#!/bin/sh\n{script}\n"));
    }
}

pub(super) fn owned(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

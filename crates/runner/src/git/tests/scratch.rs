//! A scratch repository, and the module under test looking at it through the same hermetic environment.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use testkit::Repository;

use crate::git::calls::process::Environment;
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

    /// The same in which objects have the longer names.
    pub(super) fn with_long_names() -> Scratch {
        let scratch = Scratch::empty();
        fs::remove_dir_all(scratch.repository.root().join(".git")).unwrap();
        scratch.repository.git(&["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
        scratch
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

    /// The same, and whom to ask how many gits it has started.
    pub(super) fn counted_git(&self) -> (Git, impl Fn() -> usize) {
        let (git, count) = self.traced_git();
        (git, move || count("\"event\":\"start\""))
    }

    /// The same, and whom to ask how often a text is in what gits tell of themselves.
    pub(super) fn traced_git(&self) -> (Git, impl Fn(&str) -> usize) {
        let trace = self.folder.path().join("trace");
        let mut environment = self.environment();
        environment.push(("GIT_TRACE2_EVENT".into(), trace.clone().into()));
        let git = Git::discover_with(self.repository.root(), environment).unwrap().unwrap();
        let count = move |text: &str| fs::read_to_string(&trace).unwrap().matches(text).count();
        (git.with_notes(&self.notes()), count)
    }

    pub(super) fn notes(&self) -> std::path::PathBuf {
        self.folder.path().join("notes")
    }

    pub(super) fn commit(&self, paths: &[&str], message: &str) -> Result<Option<Oid>, GitError> {
        self.git().commit(&Commit::new(&owned(paths), message))
    }

    /// What the last commit changed, as letters and paths.
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

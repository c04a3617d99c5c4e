//! A project with slots beside it, and what agents do in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::Repository;

use crate::git::{Git, Oid};
use crate::worktrees::location::Surroundings;
use crate::worktrees::{SetUpRunner, Slots, Unready, Worktrees};

pub(super) struct Bench {
    folder: TempDir,
    pub(super) repository: Repository,
    pub(super) worktrees: Worktrees,
}

impl Bench {
    /// A project with these files in its first commit.
    pub(super) fn new(files: &[(&str, &str)]) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let repository = Repository::init(&top.join("project"), &top.join("home"));
        let bench = Bench { folder, repository, worktrees: Worktrees::default() };
        bench.commit(files);
        bench
    }

    pub(super) fn with_setup(self, command: &str) -> Bench {
        let worktrees = Worktrees { setup: Some(command.to_owned()), ..self.worktrees };
        Bench { worktrees, ..self }
    }

    pub(super) fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(super) fn project(&self) -> &Path {
        self.repository.root()
    }

    pub(super) fn git(&self) -> Git {
        Git::in_test(self.project(), &self.repository.environment())
    }

    pub(super) fn slots(&self) -> Slots {
        let around = Surroundings {
            cache: Some(self.top().join("cache")),
            home: Some(self.top().join("home")),
            temporary: self.top().join("tmp"),
        };
        Slots::among(&self.git(), "plan", &self.worktrees, &around).with_free_bytes_min(0)
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.slots().root(1)
    }

    /// Writes files and commits all.
    pub(super) fn commit(&self, files: &[(&str, &str)]) -> Oid {
        for (path, text) in files {
            self.repository.write(path, text);
        }
        self.repository.commit_all("work");
        self.head()
    }

    /// Removes files and commits that.
    pub(super) fn remove(&self, paths: &[&str]) -> Oid {
        self.repository.git(&[&["rm", "-q", "-r", "-f", "--"], paths].concat());
        self.repository.git(&["commit", "-q", "-m", "without"]);
        self.head()
    }

    pub(super) fn head(&self) -> Oid {
        self.git().head().unwrap().unwrap()
    }

    pub(super) fn runner(&self) -> SetUpRunner {
        SetUpRunner::plain(&self.top().join("logs"))
    }

    pub(super) fn try_show(&self, commit: &Oid) -> Result<Vec<String>, Unready> {
        self.slots().show(1, commit, &self.runner())
    }

    /// Has slot 1 show a commit, which has to be all that git sees there.
    #[track_caller]
    pub(super) fn show(&self, commit: &Oid) -> Vec<String> {
        let notes = self.try_show(commit).unwrap_or_else(|unready| panic!("{unready}"));
        assert_eq!(self.agent_git(&["rev-parse", "HEAD"]).trim(), commit.as_str());
        assert_eq!(self.agent_git(&["diff", "--stat", commit.as_str()]), "");
        notes
    }

    /// Runs a script in slot 1 by a shell, as an agent does.
    #[track_caller]
    pub(super) fn agent(&self, script: &str) -> String {
        let (green, output) = self.verify(script);
        assert!(green, "{script}: {output}");
        output
    }

    #[track_caller]
    pub(super) fn agent_git(&self, arguments: &[&str]) -> String {
        let environment = self.repository.environment();
        let output =
            Command::new("git").args(arguments).current_dir(self.tree()).envs(environment).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// A command in slot 1 with the environment of verifications: whether it was green, and what it printed.
    pub(super) fn verify(&self, script: &str) -> (bool, String) {
        self.run_in(&self.tree(), script)
    }

    pub(super) fn run_in(&self, place: &Path, script: &str) -> (bool, String) {
        self.run_with(place, script, &[])
    }

    /// Runs a script where these variables are inherited.
    pub(super) fn run_with(&self, place: &Path, script: &str, inherited: &[(&str, &str)]) -> (bool, String) {
        let inherited = || inherited.iter().map(|(name, value)| (name.into(), value.into()));
        let all = std::env::vars_os().chain(inherited());
        let changes = crate::worktrees::environment(self.project(), place, 1, all, true);
        let mut command = Command::new("bash");
        command.args(["-e", "-c", script]).current_dir(place).envs(inherited());
        for (name, value) in changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        // The person's own settings of git are none of these tests' business.
        let variables = self.repository.environment();
        command.envs(variables.into_iter().filter(|(name, _)| name.starts_with("GIT_")));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.tree().join(path)).unwrap_or_else(|error| format!("{path}: {error}"))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        fs::symlink_metadata(self.tree().join(path)).is_ok()
    }
}

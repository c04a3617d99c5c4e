//! The user's hooks: which there are, running them apart from a commit, and what they refuse.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git::call::error::GitError;
use crate::git::call::process::{self, COMMIT_DEADLINE, Call, Ended};
use crate::git::commit::Answer;
use crate::git::history::Oid;
use crate::git::refs::Keep;
use crate::git::repository::Git;

/// Hooks that can make a commit another one, or want to hear of it.
const COMMIT_HOOKS: [&str; 5] =
    ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change"];

/// Hooks that can refuse something.
const GUARDS: [&str; 4] = ["pre-commit", "pre-merge-commit", "commit-msg", "pre-push"];

/// Before hooks that are set up by settings.
const HOOK_SETTINGS: &str = "hook.";

impl Git {
    /// True if a commit may be more than its text to anybody here.
    pub fn has_commit_hook(&self) -> bool {
        self.has_any_hook(&COMMIT_HOOKS) || self.has_set_hooks()
    }

    /// True if settings name hooks.
    pub(in crate::git) fn has_set_hooks(&self) -> bool {
        let configuration = self.configuration().ok().flatten();
        configuration.is_some_and(|settings| settings.names().any(|name| name.starts_with(HOOK_SETTINGS)))
    }

    /// The hooks that git runs on commits and pushes and that can refuse them, by their files.
    pub fn active_hooks(&self) -> Vec<String> {
        let Some(folder) = self.hooks_folder() else { return Vec::new() };
        // Husky has git run a file of its own for every hook, which runs the one beside its folder.
        let is_husky = folder.ends_with("_") && folder.join("h").exists();
        let own = if is_husky { folder.parent().unwrap_or(&folder) } else { &folder };
        let is_active = |name: &&str| is_executable(&folder.join(name)) && own.join(name).exists();
        let shown = |name: &str| {
            let file = own.join(name);
            file.strip_prefix(self.root()).unwrap_or(&file).display().to_string()
        };
        GUARDS.iter().copied().filter(is_active).map(shown).collect()
    }

    /// The folder of hooks, if git names one.
    pub(in crate::git) fn hooks_folder(&self) -> Option<PathBuf> {
        let told = process::run(self.call(&["rev-parse", "--git-path", "hooks"])).ok()?.success().ok()?;
        let folder = told.strip_suffix(b"\n").unwrap_or(&told);
        Some(self.root().join(std::ffi::OsString::from_vec(folder.to_vec())))
    }

    /// True if there is a hook of this name.
    pub(super) fn has_hook(&self, name: &str) -> bool {
        self.has_any_hook(&[name])
    }

    /// True if there is one of these hooks. Where git does not say where hooks are, there may be.
    pub(super) fn has_any_hook(&self, names: &[&str]) -> bool {
        let folder = self.hooks_folder();
        folder.is_none_or(|folder| names.iter().any(|name| folder.join(name).exists()))
    }

    /// Judges how a commit in a folder, with settings of its own and a message, came out.
    pub(in crate::git) fn judge_commit(
        &self,
        ended: Ended,
        dir: &Path,
        (settings, message): (&[&str], &str),
    ) -> Result<Answer, GitError> {
        match self.judge(ended) {
            Err(GitError::Hook { output }) if self.has_hook("commit-msg") || self.has_set_hooks() => {
                Err(match self.refused_message(dir, settings, message)? {
                    Some(output) => GitError::MessageRefused {
                        subject: message.lines().next().unwrap_or_default().to_owned(),
                        output,
                    },
                    None => GitError::Hook { output },
                })
            }
            judged => judged,
        }
    }

    /// The words of the user's commit-msg hook about a message that it does not take.
    fn refused_message(
        &self,
        dir: &Path,
        settings: &[&str],
        message: &str,
    ) -> Result<Option<String>, GitError> {
        let file = self.git_dir().join("tillgreen-message");
        fs::write(&file, format!("{message}\n")).map_err(GitError::io("write", &file))?;
        let shown = file.to_string_lossy();
        let hook = ["hook", "run", "--ignore-missing", "commit-msg", "--", &shown];
        let list = [settings, &hook].concat();
        let call = self.locking_call(&list, Vec::new());
        let ended = process::run(Call { dir, deadline: COMMIT_DEADLINE, ..call });
        crate::git::snapshot::remove_if_there(&file)?;
        let ended = ended?;
        Ok(ended.code.is_some_and(|code| code != 0).then_some(ended.stderr))
    }

    /// True if a hook may have something to say before a commit is made.
    pub fn has_pre_commit(&self) -> bool {
        self.has_hook("pre-commit") || self.has_set_hooks()
    }

    /// Runs the user's pre-commit hook on paths that are committed already, as if they were to be committed now: what they
    /// were in one commit or tree is what they are in HEAD, what they are in another is staged, and the files are those
    /// that lie in the project. The result is the tree that was staged, and what the hook made of it. That it refuses
    /// it is an error.
    pub fn run_pre_commit(
        &self,
        (base, tree): (&str, &Oid),
        paths: &BTreeSet<String>,
        (keep, index): (&Keep, &Path),
    ) -> Result<Option<(Oid, Oid)>, GitError> {
        let Some(head) = self.head()? else { return Ok(None) };
        let mut changes = self.differences_of(base, tree.as_str())?;
        changes.retain(|change| paths.contains(&change.shown()));
        let before: Vec<_> = changes.iter().map(|change| (change.path.clone(), change.old.clone())).collect();
        let after: Vec<_> = changes.into_iter().map(|change| (change.path, change.new)).collect();
        self.index_entries((&head, &before), index)?;
        let before = Oid::printed(self.with_index(index, &["write-tree"])?)?;
        let list = ["commit-tree", before.as_str(), "-p", head.as_str(), "-m", "before"];
        let before = Oid::printed(process::run(self.locking_call(&list, Vec::new()))?)?;
        self.index_entries((&head, &after), index)?;
        let staged = Oid::printed(self.with_index(index, &["write-tree"])?)?;
        let made = self.hooked((&head, &before), keep, index);
        crate::git::snapshot::remove_if_there(index)?;
        Ok(Some((staged, made?)))
    }

    /// The tree that the pre-commit hook makes of an index of our own, while it sees another commit in the place of HEAD.
    /// Hooks go by what differs from HEAD, and some look for the repository themselves: so git is told of the other one
    /// by a replacement, which nobody else is shown.
    fn hooked(&self, (head, before): (&Oid, &Oid), keep: &Keep, index: &Path) -> Result<Oid, GitError> {
        let shown = keep.in_place_of(head);
        self.keep(&shown, before)?;
        let mut environment = self.environment_with(index);
        let base = shown.reference().trim_end_matches(head.as_str());
        environment.push(("GIT_REPLACE_REF_BASE".into(), base.into()));
        let run = |list: &[&str]| {
            let call = self.locking_call(list, Vec::new());
            process::run(Call { environment: &environment, deadline: COMMIT_DEADLINE, ..call })
        };
        // The exit code tells that files differ from what is staged, as somebody's may.
        let ended = run(&["update-index", "-q", "--refresh"])
            .and_then(|_| run(&["hook", "run", "--ignore-missing", "pre-commit"]));
        self.drop_kept(&shown)?;
        let ended = ended?;
        match ended.code {
            Some(0) => Oid::printed(run(&["write-tree"])?),
            Some(_) => Err(GitError::Hook { output: ended.stderr }),
            None => Err(ended.into_failure()),
        }
    }
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

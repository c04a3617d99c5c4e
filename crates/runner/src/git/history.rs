//! Questions about commits, and how one comes back into the history of what is checked out without costing anybody
//! another.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use serde::{Deserialize, Serialize};

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Ended};
use crate::git::repository::Git;
use crate::git::status::ChangeKind;

/// The number of paths that a commit is looked for by. The kernel refuses longer lists of arguments.
const PATHS_MAX: usize = 200;

/// The number of commits whose messages are looked at.
const MESSAGES_MAX: &str = "--max-count=100";

/// The full name of a commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Oid(String);

impl Oid {
    /// None if the text is not 40 or 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Oid> {
        let whole = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        whole.then(|| Oid(text.to_owned()))
    }

    /// The name that a command printed.
    pub(super) fn printed(ended: Ended) -> Result<Oid, GitError> {
        let command = ended.command.clone();
        let stdout = ended.success()?;
        let output = String::from_utf8_lossy(&stdout).trim_end_matches(['\n', '\0']).to_owned();
        Oid::parse(&output).ok_or(GitError::Unexpected { command, output })
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough digits for people.
    pub fn short(&self) -> &str {
        self.0.get(..7).unwrap_or(&self.0)
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Git {
    /// True if there is such a commit.
    pub fn has_commit(&self, commit: &str) -> bool {
        let object = format!("{commit}^{{commit}}");
        process::run(self.call(&["cat-file", "-e", &object])).is_ok_and(|ended| ended.is_success())
    }

    /// The files below a folder that git knows.
    pub fn tracked_below(&self, folder: &Path) -> Result<BTreeSet<String>, GitError> {
        let mut call = self.call(&["--literal-pathspecs", "ls-files", "-z", "--"]);
        call.arguments.push(folder.as_os_str().to_owned());
        let listing = process::run(call)?.success()?;
        Ok(crate::git::diff::split_names(&listing).filter_map(|path| path.into_string().ok()).collect())
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let tree = format!("{commit}^{{tree}}");
        Oid::printed(process::run(self.call(&["rev-parse", "--verify", &tree]))?)
    }

    /// True if the history of what is checked out contains a commit.
    pub fn contains(&self, commit: &str) -> Result<bool, GitError> {
        let ended = process::run(self.call(&["merge-base", "--is-ancestor", commit, "HEAD"]))?;
        Ok(ended.is_success())
    }

    /// The last commit; none before the first.
    pub fn head(&self) -> Result<Option<Oid>, GitError> {
        let ended = process::run(self.call(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]))?;
        if !ended.is_success() && ended.stderr.trim().is_empty() {
            return Ok(None);
        }
        let stdout = ended.success()?;
        Ok(Oid::parse(String::from_utf8_lossy(&stdout).trim()))
    }

    /// The commit that another one was made on top of; none for the first.
    pub fn commit_before(&self, commit: &Oid) -> Result<Option<Oid>, GitError> {
        let first = format!("{commit}^");
        let ended = process::run(self.call(&["rev-parse", "--verify", "--quiet", &first]))?;
        Ok(if ended.is_success() { Some(Oid::printed(ended)?) } else { None })
    }

    /// The commits that follow one up to another, by first parents, oldest first; none where they do not.
    pub fn commits_between(&self, from: &Oid, to: &Oid) -> Result<Vec<Oid>, GitError> {
        if !self.is_ancestor(from.as_str(), to.as_str())? {
            return Ok(Vec::new());
        }
        let range = format!("{from}..{to}");
        let stdout =
            process::run(self.call(&["rev-list", "--first-parent", "--reverse", &range, "--"]))?.success()?;
        Ok(String::from_utf8_lossy(&stdout).lines().filter_map(Oid::parse).collect())
    }

    /// The first line of a commit's message.
    pub fn subject_of(&self, commit: &Oid) -> Result<String, GitError> {
        let log = ["log", "-1", "--no-show-signature", "--no-color", "--format=%s", commit.as_str(), "--"];
        let stdout = process::run(self.call(&log))?.success()?;
        Ok(String::from_utf8_lossy(&stdout).trim().to_owned())
    }

    /// The newest commit with this trailer among the last `limit`.
    pub fn find_trailer(&self, key: &str, value: &str, limit: usize) -> Result<Option<Oid>, GitError> {
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(GitError::Unacceptable { what: "a trailer's name", value: key.to_owned() });
        }
        self.find_trailer_once((key, value), limit)
    }

    /// The newest commit with this trailer among the last `limit`, where the trailer's name is known to be valid.
    pub(super) fn find_trailer_once(
        &self,
        trailer: (&str, &str),
        limit: usize,
    ) -> Result<Option<Oid>, GitError> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        let count = format!("--max-count={limit}");
        self.first_carrying(trailer, &[&count, "HEAD"])
    }

    /// The newest commit since another one that changed one of these paths.
    pub fn newest_since(&self, since: &str, paths: &BTreeSet<String>) -> Result<Option<Oid>, GitError> {
        let range = format!("{}..HEAD", revision(since)?);
        let mut call = self.call(&["--literal-pathspecs", "rev-list", "--max-count=1", &range, "--"]);
        call.arguments.extend(paths.iter().take(PATHS_MAX).map(OsString::from));
        let ended = process::run(call)?;
        Ok(Oid::parse(String::from_utf8_lossy(&ended.stdout).trim()).filter(|_| ended.is_success()))
    }

    /// The paths that commits since another one changed, without those that have a trailer of this name.
    pub fn changed_without(&self, trailer: &str, since: &str) -> Result<BTreeSet<String>, GitError> {
        let (range, grep) = (format!("{}..HEAD", revision(since)?), format!("--grep=^{trailer}: "));
        let log = ["log", "--no-show-signature", "--no-renames", "--name-only", "-z", "--format="];
        let list = [&log[..], &["--invert-grep", "--basic-regexp", &grep, &range, "--"]].concat();
        let stdout = process::run(self.call(&list))?.success()?;
        let names = stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The messages of the commits since another one, without those that have a trailer of this name.
    pub fn messages_without(&self, trailer: &str, since: &str) -> Result<Vec<(Oid, String)>, GitError> {
        let (range, grep) = (format!("{}..HEAD", revision(since)?), format!("--grep=^{trailer}: "));
        let log = ["log", "-z", "--no-show-signature", "--no-color", "--format=%H%n%B", MESSAGES_MAX];
        let list = [&log[..], &["--invert-grep", "--basic-regexp", &grep, &range, "--"]].concat();
        let stdout = process::run(self.call(&list))?.success()?;
        let text = String::from_utf8_lossy(&stdout);
        let message = |record: &str| {
            let (commit, message) = record.split_once('\n')?;
            Some((Oid::parse(commit)?, message.to_owned()))
        };
        Ok(text.split('\0').filter_map(message).collect())
    }

    /// The newest of these commits whose message has this trailer. Git itself takes only the last paragraph for trailers,
    /// and a hook may have put one of its own behind ours.
    pub(super) fn first_carrying(
        &self,
        (key, value): (&str, &str),
        which: &[&str],
    ) -> Result<Option<Oid>, GitError> {
        let log = ["log", "-z", "--no-show-signature", "--no-color", "--format=%H%n%B"];
        let stdout = process::run(self.call(&[&log[..], which, &["--"]].concat()))?.success()?;
        let text = String::from_utf8_lossy(&stdout);
        Ok(text.split('\0').find_map(|record| carries(record, (key, value))))
    }

    /// The paths that differ between two commits.
    pub fn changed_between(&self, a: &str, b: &str) -> Result<Vec<String>, GitError> {
        let (a, b) = (revision(a)?, revision(b)?);
        let diff = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", a, b, "--"];
        let stdout = process::run(self.call(&diff))?.success()?;
        let names = stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The paths that differ between a commit and what is in the work tree now, new files included. What is not
    /// committed inside submodules is no difference.
    pub fn differing_from(&self, commit: &str) -> Result<BTreeSet<String>, GitError> {
        let diff = [
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules=dirty",
            revision(commit)?,
            "--",
        ];
        let stdout = process::run(self.call(&diff))?.success()?;
        let names = stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let tracked = names.map(|name| String::from_utf8_lossy(name).into_owned());
        let new = self.status()?.changes.into_iter().filter(|change| change.kind == ChangeKind::Untracked);
        Ok(tracked.chain(new.map(|change| change.path)).collect())
    }
}

fn carries(record: &str, (key, value): (&str, &str)) -> Option<Oid> {
    let (oid, message) = record.split_once('\n')?;
    let is_that = |line: &str| {
        let told = line.split_once(':');
        told.is_some_and(|(name, told)| name.eq_ignore_ascii_case(key) && told.trim() == value.trim())
    };
    // The first line is the subject.
    message.lines().skip(1).any(is_that).then(|| Oid::parse(oid)).flatten()
}

/// A revision that git cannot take for an option.
pub(super) fn revision(text: &str) -> Result<&str, GitError> {
    if text.is_empty() || text.starts_with('-') || text.contains('\0') {
        return Err(GitError::Unacceptable { what: "a revision", value: text.to_owned() });
    }
    Ok(text)
}

/// The number of steps of a branch's own record that are looked at.
const STEPS_MAX: usize = 100;

/// A commit that is missing, and what is known of where it was.
#[derive(Debug, Clone, Copy)]
pub struct Missing<'a> {
    /// The commit that is not in the history.
    pub commit: &'a Oid,
    /// One on top of it that was checked out, if any is known.
    pub known: Option<&'a Oid>,
    /// The branch that was checked out then.
    pub branch: Option<&'a str>,
}

/// The command to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WayBack {
    /// It is on a branch, and another one is checked out.
    CheckOut(String),
    /// The checked-out commit is a part of its history.
    Reset(Oid),
    /// The checked-out branch has commits of its own, which would be gone.
    Merge(Oid),
}

impl Git {
    /// The way to have the commit again, with all that came on top of it.
    pub fn way_back(&self, missing: Missing<'_>) -> Result<WayBack, GitError> {
        if let Some(branch) = self.branch_with(&missing)? {
            return Ok(WayBack::CheckOut(branch));
        }
        let newest = self.newest_with(&missing)?;
        let is_part = self.is_ancestor("HEAD", newest.as_str())?;
        Ok(if is_part { WayBack::Reset(newest) } else { WayBack::Merge(newest) })
    }

    /// Another branch that has the commit; that from before, if it is one of them.
    fn branch_with(&self, missing: &Missing<'_>) -> Result<Option<String>, GitError> {
        let list =
            ["for-each-ref", "--format=%(refname)", "--contains", missing.commit.as_str(), "refs/heads"];
        let listing = process::run(self.call(&list))?;
        let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
        let now = self.branch()?;
        let names = listing.lines().filter_map(|line| line.strip_prefix("refs/heads/"));
        // Somebody may paste it into a shell.
        let names: Vec<&str> = names.filter(|name| is_plain(name) && now.as_deref() != Some(name)).collect();
        let before = missing.branch.filter(|name| names.contains(name));
        Ok(before.or(names.first().copied()).map(str::to_owned))
    }

    /// The youngest commit that was checked out and has this one in its history. What came after the work tells that it
    /// is done, and is missing without it.
    fn newest_with(&self, missing: &Missing<'_>) -> Result<Oid, GitError> {
        let branch = missing.branch.filter(|name| is_plain(name) && !name.contains(".."));
        let branch = branch.map(|name| self.common_dir().join("logs/refs/heads").join(name));
        let records = branch.into_iter().chain([self.git_dir().join("logs/HEAD")]);
        let candidates = records.flat_map(steps).chain(missing.known.cloned());
        let mut seen = BTreeSet::new();
        for candidate in candidates.filter(|candidate| seen.insert(candidate.clone())) {
            if self.is_ancestor(missing.commit.as_str(), candidate.as_str())? {
                return Ok(candidate);
            }
        }
        Ok(missing.commit.clone())
    }
}

/// The commits that a branch was moved to, the latest first. Some keep no such record.
fn steps(record: PathBuf) -> Vec<Oid> {
    let record = fs::read(record).unwrap_or_default();
    let record = String::from_utf8_lossy(&record);
    let lines = record.lines().rev().take(STEPS_MAX);
    lines.filter_map(|line| Oid::parse(line.split(' ').nth(1)?)).collect()
}

fn is_plain(name: &str) -> bool {
    !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./+".contains(&byte))
}

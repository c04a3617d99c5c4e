//! Questions about commits.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use super::calls::process::{self, Ended};
use super::error::GitError;
use super::references::packed_reference;
use super::repository::Git;
use super::status::ChangeKind;

/// How many paths a commit is looked for by. The kernel refuses longer lists of arguments.
const PATHS_MAX: usize = 200;

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

    /// The name that these bytes are.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Oid> {
        Oid::parse(&digits(bytes))
    }

    /// How many bytes it has.
    pub(super) fn width(&self) -> usize {
        self.0.len() / 2
    }

    /// The bytes themselves.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        let pair = |pair: &[u8]| {
            pair.iter().filter_map(|digit| value(*digit)).fold(0, |byte, value| byte << 4 | value)
        };
        self.0.as_bytes().chunks(2).map(pair).collect()
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
    /// Whether the history of what is checked out contains a commit.
    pub fn contains(&self, commit: &str) -> Result<bool, GitError> {
        if self.loose_head().is_some_and(|head| head.as_str() == commit) {
            return Ok(true);
        }
        let ended = process::run(self.call(&["merge-base", "--is-ancestor", commit, "HEAD"]))?;
        Ok(ended.is_success())
    }

    /// The last commit; none before the first.
    pub fn head(&self) -> Result<Option<Oid>, GitError> {
        if let Some(oid) = self.loose_head() {
            return Ok(Some(oid));
        }
        let ended = process::run(self.call(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]))?;
        if !ended.is_success() && ended.stderr.trim().is_empty() {
            return Ok(None);
        }
        let stdout = ended.success()?;
        Ok(Oid::parse(String::from_utf8_lossy(&stdout).trim()))
    }

    /// The commit that another one was made on top of. The record of what was checked out when says so as well, which
    /// saves a process.
    pub(super) fn parent_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let record = fs::read_to_string(self.git_dir().join("logs/HEAD")).unwrap_or_default();
        let made = record.lines().rev().take(20).find_map(|line| {
            let (before, rest) = line.split_once(' ')?;
            // Other things than plain commits, such as amending one, come from elsewhere.
            let is_it = rest.starts_with(commit.as_str()) && rest.contains("\tcommit: ");
            is_it.then(|| Oid::parse(before)).flatten()
        });
        let first = format!("{commit}^");
        made.map_or_else(|| Oid::printed(process::run(self.call(&["rev-parse", "--verify", &first]))?), Ok)
    }

    /// The commit that another one was made on top of; none for the first.
    pub fn commit_before(&self, commit: &Oid) -> Result<Option<Oid>, GitError> {
        let first = format!("{commit}^");
        let ended = process::run(self.call(&["rev-parse", "--verify", "--quiet", &first]))?;
        Ok(if ended.is_success() { Some(Oid::printed(ended)?) } else { None })
    }

    /// The newest commit with this trailer among the last `limit`.
    pub fn find_trailer(&self, key: &str, value: &str, limit: usize) -> Result<Option<Oid>, GitError> {
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(GitError::Unacceptable { what: "a trailer's name", value: key.to_owned() });
        }
        self.despite_tidying(|| self.find_trailer_once((key, value), limit))
    }

    /// The same, for whoever asks again where objects are gone.
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

    /// The paths that differ between a commit and what is in the working tree now, new files included. What is not
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

    /// HEAD as files say it, which saves a process. Git answers where references are kept otherwise.
    fn loose_head(&self) -> Option<Oid> {
        let head = fs::read_to_string(self.git_dir().join("HEAD")).ok()?;
        match head.trim_end().strip_prefix("ref: ") {
            None => Oid::parse(head.trim_end()),
            Some(name) if name.starts_with("refs/heads/") && !name.contains("..") => {
                match fs::read_to_string(self.common_dir().join(name)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        packed_reference(self.common_dir(), name)
                    }
                    text => Oid::parse(text.ok()?.trim_end()),
                }
            }
            Some(_) => None,
        }
    }
}

/// Bytes as they are written for people.
pub(super) fn digits(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().map(char::from);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).flatten().collect()
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

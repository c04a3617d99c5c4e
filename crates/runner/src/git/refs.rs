//! References: our own, which keep packed work alive until it has landed, those of them that no run knows any more, and
//! the branches, tags and stashes that all work trees share.

use std::collections::{BTreeMap, BTreeSet};

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call};
use crate::git::history::Oid;
use crate::git::repository::{DURABLY, Git};

const PLACE: &str = "refs/tillgreen";
const PLACE_LEFT: &str = "refs/tillgreen-left";

/// The suffix of references that keep what somebody was told of.
const TOLD: &str = "%told";

/// The suffix of references that keep commits of the landing tree.
const LANDED: &str = "%landed";

/// A reference is a file as well, and names of files are bounded.
const NAME_BYTES_MAX: usize = 120;

/// The reference that keeps the work of one key of a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keep {
    reference: String,
}

impl Keep {
    /// Different keys have different references, whatever they are made of.
    pub fn new(plan: &str, key: &str) -> Keep {
        Keep { reference: format!("{}/{}", place_of(plan), encode(key)) }
    }

    /// The one that keeps the commit which was made of the work in the landing tree.
    pub fn landed(&self) -> Keep {
        Keep { reference: format!("{}{LANDED}", self.reference) }
    }

    /// The reference that keeps work which somebody was told of by its name, whatever comes after it. No key is written
    /// like this.
    fn told(&self) -> String {
        format!("{}{TOLD}", self.reference)
    }

    /// The one by which a commit is shown in the place of another, which is let go with what was told.
    pub(in crate::git) fn in_place_of(&self, commit: &Oid) -> Keep {
        Keep { reference: format!("{}/hook/{commit}", self.told()) }
    }

    /// The name of the reference that what is kept at another belongs to.
    pub(in crate::git) fn owner_of(name: &str) -> &str {
        let owner = name.split_once(TOLD).map_or(name, |(owner, _)| owner);
        owner.strip_suffix(LANDED).unwrap_or(owner)
    }

    /// Its full name.
    pub fn reference(&self) -> &str {
        &self.reference
    }
}

impl Git {
    /// Keeps work under a key.
    pub fn keep(&self, keep: &Keep, commit: &Oid) -> Result<(), GitError> {
        let update = [&DURABLY[..], &["update-ref", keep.reference(), commit.as_str()]].concat();
        self.run_locking(|| self.locking_call(&update, Vec::new()))?.success().map(drop)
    }

    /// Keeps work that somebody is told of by its name, until all that is told of under the key is let go.
    pub fn keep_told(&self, keep: &Keep, commit: &Oid) -> Result<(), GitError> {
        let update = ["update-ref", &format!("{}/{commit}", keep.told()), commit.as_str()];
        self.run_locking(|| self.locking_call(&update, Vec::new()))?.success().map(drop)
    }

    /// Lets go of all of it.
    pub fn drop_told(&self, keep: &Keep) -> Result<(), GitError> {
        self.drop_references(&keep.told())
    }

    /// Lets one go.
    pub fn drop_kept(&self, keep: &Keep) -> Result<(), GitError> {
        self.drop_references(keep.reference())
    }

    /// Deletes the references at a name and below it.
    fn drop_references(&self, name: &str) -> Result<(), GitError> {
        let list = self.call(&["for-each-ref", "--format=delete %(refname)", name]);
        let commands = process::run(list)?.success()?;
        if commands.is_empty() {
            return Ok(());
        }
        let delete = ["update-ref", "--stdin"];
        self.run_locking(|| self.locking_call(&delete, commands.clone()))?.success().map(drop)
    }
}

/// The prefix of a plan's references.
pub(in crate::git) fn place_of(plan: &str) -> String {
    format!("{PLACE}/{}", encode(plan))
}

/// The prefix of those that stay.
pub(in crate::git) fn place_of_left(plan: &str) -> String {
    format!("{PLACE_LEFT}/{}", encode(plan))
}

/// One part of a reference's name: letters, digits, dashes and single dots between them stay, the rest is written as
/// numbers. What is too long is cut and told apart by a checksum.
pub(in crate::git) fn encode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut name = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| bytes.get(index));
        let is_plain_dot = *byte == b'.'
            && before.is_some_and(u8::is_ascii_alphanumeric)
            && bytes.get(index + 1).is_some_and(u8::is_ascii_digit);
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || is_plain_dot {
            name.push(char::from(*byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    if name.len() > NAME_BYTES_MAX {
        name.truncate(NAME_BYTES_MAX);
        name.push_str(&format!("%%{:08x}-{}", crc32fast::hash(bytes), bytes.len()));
    }
    name
}

impl Git {
    /// Work that is kept for a plan under other names than these is put where nothing touches it. Tells the references
    /// that it is kept under then.
    pub fn set_kept_aside(&self, plan: &str, known: &BTreeSet<Keep>) -> Result<Vec<String>, GitError> {
        let place = place_of(plan);
        let listing =
            process::run(self.call(&["for-each-ref", "--format=%(refname) %(objectname)", &place]))?;
        let listing = String::from_utf8_lossy(&listing.success()?).into_owned();
        let commits = self.commits_among(listing.lines().filter_map(|line| Some(line.split_once(' ')?.1)))?;
        // What is gone cannot be put anywhere.
        let kept = listing.lines().filter_map(|line| line.split_once(' '));
        let kept = kept.filter(|(_, object)| commits.contains(*object));
        let known: BTreeSet<&str> = known.iter().map(Keep::reference).collect();
        let merged =
            process::run(self.call(&["for-each-ref", "--merged=HEAD", "--format=%(refname)", &place]))?;
        // Before the first commit there is nothing that they could be in.
        let merged = String::from_utf8_lossy(&merged.success().unwrap_or_default()).into_owned();
        let merged: BTreeSet<&str> = merged.lines().collect();
        let (mut commands, mut moved) = (String::new(), Vec::new());
        for (name, object) in kept.filter(|(name, _)| !known.contains(Keep::owner_of(name))) {
            if merged.contains(name) {
                commands.push_str(&format!("delete {name} {object}\n"));
                continue;
            }
            let key = name.strip_prefix(&place).unwrap_or(name).trim_start_matches('/');
            let short = object.get(..12).unwrap_or(object);
            let aside = format!("{}/{key}-{short}", place_of_left(plan));
            commands.push_str(&format!("update {aside} {object}\ndelete {name} {object}\n"));
            moved.push(aside);
        }
        if !commands.is_empty() {
            let update = ["update-ref", "--stdin"];
            self.run_locking(|| self.locking_call(&update, commands.clone().into_bytes()))?.success()?;
        }
        Ok(moved)
    }

    /// The commits among these objects that are there.
    fn commits_among<'a>(
        &self,
        objects: impl Iterator<Item = &'a str>,
    ) -> Result<BTreeSet<String>, GitError> {
        let stdin: String = objects.map(|object| format!("{object}\n")).collect();
        if stdin.is_empty() {
            return Ok(BTreeSet::new());
        }
        let list = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
        let told = process::run(Call { stdin: stdin.into_bytes(), ..self.call(&list) })?.success()?;
        let told = String::from_utf8_lossy(&told).into_owned();
        Ok(told.lines().filter_map(|line| line.strip_prefix("commit ")).map(str::to_owned).collect())
    }
}

const STASH: &str = "refs/stash";

/// The branches, tags and stashes of a repository, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The object of each.
    names: BTreeMap<String, String>,
}

impl Git {
    /// The branches, the tags and the latest stash.
    pub fn references(&self) -> Result<References, GitError> {
        let list = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", STASH];
        let listing = process::run(self.call(&list))?.success()?;
        let listing = String::from_utf8_lossy(&listing);
        let names = listing.lines().filter_map(|line| line.split_once(' '));
        Ok(References { names: names.map(|(name, object)| (name.to_owned(), object.to_owned())).collect() })
    }
}

impl References {
    /// The names that are there now and were not before, in words. A branch that moved on is no news.
    pub fn new_since(&self, before: &References) -> Vec<String> {
        let mut told = Vec::new();
        for (name, object) in &self.names {
            let known = before.names.get(name);
            if name == STASH && known != Some(object) {
                told.push("a stash (`git stash list`)".to_owned());
            } else if known.is_none() {
                told.push(words(name));
            }
        }
        told
    }
}

fn words(name: &str) -> String {
    let branch = name.strip_prefix("refs/heads/").map(|name| format!("branch {name}"));
    let tag = || name.strip_prefix("refs/tags/").map(|name| format!("tag {name}"));
    branch.or_else(tag).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_key_becomes_a_name_that_git_accepts() {
        let check = |key: &str, expected: &str| assert_eq!(encode(key), expected);
        check("1.3", "1.3");
        check("demo/1.1#2", "demo%2F1.1%232");
        check("..", "%2E%2E");
        check("x.lock", "x%2Elock");
        check("-a b~^:?*[\\@{é", "-a%20b%7E%5E%3A%3F%2A%5B%5C%40%7B%C3%A9");
        check("", "%");
        assert_ne!(encode(&"a".repeat(500)), encode(&"a".repeat(501)));
        assert!(encode(&"é".repeat(500)).len() < 160);
    }

    fn references(pairs: &[(&str, &str)]) -> References {
        let owned = |(name, object): &(&str, &str)| ((*name).to_owned(), (*object).to_owned());
        References { names: pairs.iter().map(owned).collect() }
    }

    #[test]
    fn what_appeared_is_told_and_what_moved_is_not() {
        let before = references(&[("refs/heads/main", "a"), ("refs/stash", "a"), ("refs/tags/gone", "a")]);
        let after = references(&[
            ("refs/heads/main", "b"),
            ("refs/heads/x/y", "a"),
            ("refs/stash", "b"),
            ("refs/tags/v1", "b"),
        ]);
        assert_eq!(after.new_since(&before), ["branch x/y", "a stash (`git stash list`)", "tag v1"]);
        assert_eq!(after.new_since(&after), [""; 0]);
    }
}

//! Branches, tags and stashes: what all working trees of a repository share, so that whoever makes one in a tree of its
//! own leaves it to everybody.

use std::collections::BTreeMap;

use super::calls::process;
use super::error::GitError;
use super::repository::Git;

const STASH: &str = "refs/stash";

/// What people name things by in a repository, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// What each stands for.
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
    /// What is there now and was not before, in words. A branch that moved on is no news.
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
    use super::References;

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

//! Branches, tags and stashes: what all working trees of a repository share, so that whoever makes one in a tree of its
//! own leaves it to everybody.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::calls::process;
use super::error::GitError;
use super::history::Oid;
use super::repository::Git;

const STASH: &str = "refs/stash";

/// The file that many references are kept in.
const PACKED: &str = "packed-refs";

/// Where branches and tags are.
const FOLDERS: [&str; 2] = ["refs/heads", "refs/tags"];

/// What people name things by in a repository, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// What each stands for.
    names: BTreeMap<String, String>,
}

impl Git {
    /// The branches, the tags and the latest stash.
    pub fn references(&self) -> Result<References, GitError> {
        match References::read(self.common_dir()) {
            Some(references) => Ok(references),
            None => self.ask_for_references(),
        }
    }

    pub(super) fn ask_for_references(&self) -> Result<References, GitError> {
        let list = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", STASH];
        let listing = process::run(self.call(&list))?.success()?;
        let listing = String::from_utf8_lossy(&listing);
        let names = listing.lines().filter_map(|line| line.split_once(' '));
        Ok(References { names: names.map(|(name, object)| (name.to_owned(), object.to_owned())).collect() })
    }
}

impl References {
    /// What files tell, which saves a process. None: it is kept otherwise, or is more than names of objects.
    fn read(folder: &Path) -> Option<References> {
        let is_plain = FOLDERS.iter().all(|name| folder.join(name).is_dir());
        if !is_plain || folder.join("reftable").exists() {
            return None;
        }
        let mut loose = BTreeMap::new();
        FOLDERS.iter().try_for_each(|name| read_below(folder, name, &mut loose)).ok()?;
        loose.extend(read_object(&folder.join(STASH)).ok()?.map(|object| (STASH.to_owned(), object)));
        // After the others: what git packs meanwhile is in the pack before its own file goes.
        let packed = read_regular(&folder.join(PACKED)).ok()?.unwrap_or_default();
        let mut names: BTreeMap<String, String> = packed.lines().filter_map(read_packed).collect();
        names.append(&mut loose);
        Some(References { names })
    }

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

/// What a reference that has no file of its own stands for, if files tell.
pub(super) fn packed_reference(folder: &Path, wanted: &str) -> Option<Oid> {
    let packed = read_regular(&folder.join(PACKED)).ok()??;
    let line = packed.lines().find(|line| line.split_once(' ').is_some_and(|(_, name)| name == wanted))?;
    Oid::parse(line.split_once(' ')?.0)
}

/// Takes in the references in a folder and in those below it. What is gone by now is none.
fn read_below(root: &Path, folder: &str, names: &mut BTreeMap<String, String>) -> io::Result<()> {
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in if_there(fs::read_dir(root.join(&folder)))?.into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|_| io::ErrorKind::InvalidData)?;
            // That is where git writes a reference before it is one.
            if name.starts_with('.') || name.ends_with(".lock") {
                continue;
            }
            let name = format!("{folder}/{name}");
            if entry.file_type()?.is_dir() {
                left.push(name);
            } else if let Some(object) = read_object(&entry.path())? {
                names.insert(name, object);
            }
        }
    }
    Ok(())
}

/// What a reference in a file of its own stands for. One that points to another is left to git.
fn read_object(file: &Path) -> io::Result<Option<String>> {
    let Some(text) = read_regular(file)? else { return Ok(None) };
    let object = Oid::parse(text.trim_end()).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some(object.as_str().to_owned()))
}

/// Agents can write here: nothing else than a regular file is opened.
fn read_regular(file: &Path) -> io::Result<Option<String>> {
    match if_there(fs::symlink_metadata(file))? {
        None => Ok(None),
        Some(metadata) if metadata.is_file() => if_there(fs::read_to_string(file)),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn if_there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// A line of the file of many. Others tell about it, or what a tag stands for in the end.
fn read_packed(line: &str) -> Option<(String, String)> {
    let (object, name) = line.split_once(' ')?;
    let is_wanted = name == STASH || FOLDERS.iter().any(|folder| is_below(name, folder));
    (Oid::parse(object).is_some() && is_wanted).then(|| (name.to_owned(), object.to_owned()))
}

fn is_below(name: &str, folder: &str) -> bool {
    name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
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

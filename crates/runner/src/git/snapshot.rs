//! Snapshots: all that lies in a place, as a tree. The project itself or a linked work tree is looked at in the same
//! way, through an index of our own. Whatever somebody did to HEAD, branches or the index there, the files are what
//! counts.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::call::error::{GitError, messages, unreadable};
use crate::git::call::process::{self, Call, Ended};
use crate::git::diff::{Entry, RawChange, index_info, lies_in, names, split_names};
use crate::git::exclude::{answered, asked};
use crate::git::history::Oid;
use crate::git::index::OwnIndex;
use crate::git::repository::Git;
use crate::git::status::Change;
use crate::work::project_files::is_own;

/// The place in which attempts work: the project itself, or a linked work tree of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its top folder.
    pub root: PathBuf,
    /// The index of our own that it is looked at through.
    pub index: PathBuf,
    /// Paths that are never looked at: files of the plan, and what was put there for everybody.
    pub left_out: Vec<String>,
}

/// The files that an attempt left in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// All that lies there, as a tree.
    pub tree: Oid,
    /// The difference from what was there before.
    pub changes: Vec<Change>,
    /// Repositories of their own that are new: no commit of the project's holds what is in them.
    pub repositories: Vec<String>,
    /// Submodules at commits that only this place has.
    pub unreachable: Vec<String>,
}

impl Git {
    /// Begins the index of our own as a copy of the one that people and agents use there, which saves reading every file.
    pub fn begin_index(&self, place: &Place) -> Result<(), GitError> {
        let state = self.state_at(&place.root)?;
        let index = OwnIndex::new(self, place, &state);
        index.begin()?;
        self.drop_nested(&index, place)
    }

    /// Repositories that somebody put into the index and that are no submodules are not taken for such.
    fn drop_nested(&self, index: &OwnIndex<'_>, place: &Place) -> Result<(), GitError> {
        let listing = index.run(&["ls-files", "--stage", "-z"], Vec::new())?.success()?;
        let links = listing.split(|byte| *byte == 0).filter(|record| record.starts_with(b"160000 "));
        let links = links.filter_map(|record| record.splitn(2, |byte| *byte == b'\t').nth(1));
        let nested = links.filter(|path| !is_submodule(&place.root, &String::from_utf8_lossy(path)));
        let nested: Vec<&OsStr> = nested.map(OsStr::from_bytes).collect();
        if nested.is_empty() {
            return Ok(());
        }
        index.run(&["update-index", "--force-remove", "-z", "--stdin"], names(nested))?.success().map(drop)
    }

    /// All that lies in a place, as a tree.
    pub fn snapshot(&self, place: &Place) -> Result<Oid, GitError> {
        let state = self.state_at(&place.root)?;
        let index = OwnIndex::new(self, place, &state);
        self.add_everything(&index, place, &state)?;
        index.write_tree()
    }

    /// Looks at what lies in a place, compared with a commit or tree from before.
    pub fn look(&self, place: &Place, before: &str) -> Result<Left, GitError> {
        let state = self.state_at(&place.root)?;
        let index = OwnIndex::new(self, place, &state);
        let mut repositories = self.add_everything(&index, place, &state)?;
        let mut tree = index.write_tree()?;
        let (mut changes, mut unreachable, mut undone) = (Vec::new(), Vec::new(), Vec::new());
        for change in self.differences_of(before, tree.as_str())? {
            if is_own(&change.shown()) {
                undone.push(change);
            } else if self.is_nested(place, &change) {
                repositories.push(change.shown());
                undone.push(change);
            } else if self.is_unreachable(place, &change)? {
                unreachable.push(change.shown());
                undone.push(change);
            } else {
                changes.push(change.told());
            }
        }
        if !undone.is_empty() {
            index.set(index_info(undone.iter().map(|change| (change.path.as_os_str(), &change.old))))?;
            tree = index.write_tree()?;
        }
        for path in &mut repositories {
            path.truncate(path.trim_end_matches('/').len());
        }
        repositories.sort();
        repositories.dedup();
        Ok(Left { tree, changes, repositories, unreachable })
    }

    /// The paths that a tree has and a commit has not.
    pub fn new_in(&self, commit: &str, tree: &Oid) -> Result<Vec<String>, GitError> {
        let changes = self.differences_of(commit, tree.as_str())?;
        Ok(changes.iter().filter(|change| change.old.is_absent()).map(RawChange::shown).collect())
    }

    /// The submodules of a place in which something is changed and not committed. New files alone are what builds leave.
    pub fn unsaved_submodules(&self, root: &Path) -> Result<BTreeSet<String>, GitError> {
        if !root.join(".gitmodules").exists() {
            return Ok(BTreeSet::new());
        }
        let look = [
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "-z",
            "--ignore-submodules=none",
            "--no-renames",
        ];
        let listing = process::run(Call { dir: root, ..self.call(&look) })?.success()?;
        let records = listing.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        Ok(records.filter_map(|record| unsaved_submodule(&record)).collect())
    }

    /// The folder with the own state of a work tree. The work tree itself is not asked: an agent can write there.
    pub(super) fn state_at(&self, root: &Path) -> Result<PathBuf, GitError> {
        if root == self.root() { Ok(self.git_dir().to_owned()) } else { self.state_of(root) }
    }

    /// Puts all that is there into the index; gives repositories without a commit, which cannot be put into one.
    fn add_everything(
        &self,
        index: &OwnIndex<'_>,
        place: &Place,
        state: &Path,
    ) -> Result<Vec<String>, GitError> {
        index.continue_or_begin()?;
        let repositories = add_all(index, place)?;
        // An index that somebody removed or broke says nothing; the files do.
        if let Ok(theirs) = self.names_in(&place.root, &state.join("index")) {
            self.follow_intent(index, place, &theirs)?;
        }
        Ok(repositories)
    }

    /// Adds what somebody added although git ignores it, which is part of the work; what they took out and have git
    /// ignore is not.
    fn follow_intent(
        &self,
        index: &OwnIndex<'_>,
        place: &Place,
        theirs: &BTreeSet<OsString>,
    ) -> Result<(), GitError> {
        let ours =
            split_names(&index.run(&["ls-files", "-z"], Vec::new())?.success()?).collect::<BTreeSet<_>>();
        let is_there = |path: &&OsString| {
            let found = fs::symlink_metadata(place.root.join(path));
            let is_left_out = lies_in(path.as_bytes(), &place.left_out) || is_own(&path.to_string_lossy());
            found.is_ok_and(|found| !found.is_dir()) && !is_left_out && !is_beyond_link(&place.root, path)
        };
        let added: Vec<&OsStr> = theirs.difference(&ours).filter(is_there).map(OsString::as_os_str).collect();
        if !added.is_empty() {
            index.run(&["update-index", "-z", "--add", "--replace", "--stdin"], names(added))?.success()?;
        }
        let removed: Vec<&OsStr> =
            ours.difference(theirs).filter(is_there).map(OsString::as_os_str).collect();
        if removed.is_empty() {
            return Ok(());
        }
        let check = ["check-ignore", "--no-index", "-z", "--stdin"];
        let ended = index.run(&check, asked(removed.iter().copied()))?;
        // It ends with 1 where none is ignored.
        let ignored = if ended.code == Some(1) { Vec::new() } else { ended.success()? };
        let absent = Entry::absent(40);
        let ignored: Vec<OsString> = answered(&ignored).collect();
        index.set(index_info(ignored.iter().map(|path| (path.as_os_str(), &absent))))
    }

    /// The names in an index that people and agents use.
    fn names_in(&self, root: &Path, index: &Path) -> Result<BTreeSet<OsString>, GitError> {
        fs::symlink_metadata(index).map_err(GitError::io("read", index))?;
        let mut environment = self.environment().clone();
        let state = index.parent().unwrap_or(index);
        environment
            .extend([("GIT_DIR", state), ("GIT_WORK_TREE", root)].map(|(name, at)| (name.into(), at.into())));
        let call = Call { dir: root, environment: &environment, ..self.call(&["ls-files", "-z"]) };
        Ok(split_names(&process::run(call)?.success()?).collect())
    }

    /// True for a repository that is no submodule and was none.
    fn is_nested(&self, place: &Place, change: &RawChange) -> bool {
        change.new.is_gitlink() && !change.old.is_gitlink() && !is_submodule(&place.root, &change.shown())
    }

    /// True if a change points at a commit of a submodule's that would be gone with the place.
    fn is_unreachable(&self, place: &Place, change: &RawChange) -> Result<bool, GitError> {
        if !change.new.is_gitlink() || place.root == self.root() {
            return Ok(false);
        }
        let main = self.root().join(&change.path);
        Ok(!main.join(".git").exists() || !self.has_in(&main, &change.new.oid)?)
    }

    /// True if a submodule's repository has a commit.
    fn has_in(&self, main: &Path, commit: &str) -> Result<bool, GitError> {
        let object = format!("{commit}^{{commit}}");
        let call = self.call(&["cat-file", "-e", &object]);
        Ok(process::run(Call { dir: main, ..call })?.is_success())
    }
}

/// The path of a submodule with uncommitted changes, in a record of `git status --porcelain=v2`.
fn unsaved_submodule(record: &str) -> Option<String> {
    let mut fields = record.splitn(9, ' ');
    let (kind, _, submodule) = (fields.next()?, fields.next()?, fields.next()?);
    let is_changed = submodule.starts_with('S') && submodule.as_bytes().get(2) == Some(&b'M');
    (kind == "1" && is_changed).then(|| fields.nth(5).map(str::to_owned)).flatten()
}

/// True if a folder on the way to a path is a symbolic link.
fn is_beyond_link(root: &Path, path: &OsStr) -> bool {
    let mut folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.any(|folder| root.join(folder).is_symlink())
}

/// True if a work tree has a submodule there, or somebody is about to add one.
fn is_submodule(root: &Path, path: &str) -> bool {
    let text = fs::read_to_string(root.join(".gitmodules")).unwrap_or_default();
    let mut named =
        text.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='));
    named.any(|named| named.trim().trim_matches('"') == path)
}

/// Puts all files into the index; gives repositories without a commit.
fn add_all(index: &OwnIndex<'_>, place: &Place) -> Result<Vec<String>, GitError> {
    let add = [
        "-c",
        "advice.addEmbeddedRepo=false",
        "-c",
        "core.safecrlf=false",
        // What somebody has watch the files for git, or has noted of folders, hides nothing.
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.untrackedCache=false",
        "add",
        "--all",
        // What is outside a sparse checkout was written all the same.
        "--sparse",
        "--ignore-errors",
        "--pathspec-from-file=-",
        "--pathspec-file-nul",
    ];
    let mut pathspecs = b":(top)\0".to_vec();
    for path in &place.left_out {
        pathspecs.extend_from_slice(b":(top,exclude,literal)");
        pathspecs.extend_from_slice(path.trim_end_matches('/').as_bytes());
        pathspecs.push(0);
    }
    let ended = index.run(&add, pathspecs)?;
    let paths = unreadable(&ended.stderr, |path| !is_own(path) && !lies_in(path.as_bytes(), &place.left_out));
    if !paths.is_empty() {
        return Err(GitError::Unreadable { paths });
    }
    if ended.is_success() {
        return Ok(Vec::new());
    }
    // What git cannot print it prints otherwise: a path that is not there is not what it means.
    let is_there = |path: &String| place.root.join(path).is_dir();
    match repositories_without_commit(&ended).filter(|paths| paths.iter().all(is_there)) {
        Some(paths) => Ok(paths),
        None => Err(ended.into_failure()),
    }
}

/// The paths that git complains of, if it complains of nothing else. That something which is left out anyway is also
/// ignored is a complaint that it makes after having done all the rest.
fn repositories_without_commit(ended: &Ended) -> Option<Vec<String>> {
    const COMPLAINT: &str = "' does not have a commit checked out";
    let mut paths = Vec::new();
    for error in messages(&ended.stderr).filter(|message| message.starts_with("error: ")) {
        let Some(path) = error.strip_prefix("error: '").and_then(|rest| rest.strip_suffix(COMPLAINT)) else {
            // Git says a second time which file it did not take.
            if error.starts_with("error: unable to index file '") {
                continue;
            }
            return None;
        };
        paths.push(path.to_owned());
    }
    let is_about_ignored = ended.stderr.contains("are ignored by one of your .gitignore files");
    (ended.code == Some(1) && (!paths.is_empty() || is_about_ignored)).then_some(paths)
}

/// Removes a file, if it is there.
pub(super) fn remove_if_there(file: &Path) -> Result<(), GitError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(GitError::io("remove", file)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_named_by_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "[submodule \"a\"]\n\tpath = lib/a\n\turl = ../pathology\n[submodule \"b\"]\npath=\"b c\"\n";
        fs::write(folder.path().join(".gitmodules"), text).unwrap();
        let check = |path: &str, expected| assert_eq!(is_submodule(folder.path(), path), expected, "{path}");
        check("lib/a", true);
        check("b c", true);
        check("a", false);
        check("../pathology", false);
    }

    #[test]
    fn only_changed_content_of_submodules_counts() {
        let check = |record: &str, expected: Option<&str>| {
            assert_eq!(unsaved_submodule(record).as_deref(), expected, "{record}");
        };
        let rest = "160000 160000 160000 aaaa bbbb";
        check(&format!("1 .M S.M. {rest} lib a"), Some("lib a"));
        check(&format!("1 .M SCMU {rest} lib"), Some("lib"));
        check(&format!("1 .M S..U {rest} lib"), None);
        check(&format!("1 .M SC.. {rest} lib"), None);
        check("1 .M N... 100644 100644 100644 aaaa bbbb file", None);
        check("? new", None);
    }
}

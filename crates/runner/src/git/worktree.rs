//! The linked work tree of a slot as git sees it: made at a commit, shown another one so that nothing of the former is
//! left, removed. What is put into it beside the commit is left to others.
//!
//! Agents work in these work trees. So nothing in a work tree is asked where its repository is, its index is dropped at
//! every use, and a work tree that git does not know any more, or knows otherwise than it was made, is made anew.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use sha2::{Digest, Sha256};

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call, Ended};
use crate::git::history::Oid;
use crate::git::index::TREE_DEADLINE;
use crate::git::repository::Git;

/// Hooks that people have for their own checkouts do not run for a work tree of ours, no process stays behind to watch
/// it, and files are written with all cores.
const QUIETLY: [&str; 8] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "checkout.workers=0",
    "-c",
    "worktree.useRelativePaths=false",
];

/// The files that an operation which was begun in a work tree and not finished leaves in git's folder for it.
const UNFINISHED: [&str; 15] = [
    "AUTO_MERGE",
    "BISECT_EXPECTED_REV",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_START",
    "CHERRY_PICK_HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "REBASE_HEAD",
    "REVERT_HEAD",
    "rebase-apply",
    "rebase-merge",
    "sequencer",
];

/// The name that state gets while it is removed.
const ASIDE: &str = "tillgreen-gone-";

/// The mode of a submodule's entry.
const GITLINK: &str = "160000";

/// One path of the commit that a work tree shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tracked {
    /// Its kind and permissions, as git writes them.
    pub(crate) mode: String,
    /// The object that holds its content.
    pub(crate) object: String,
    pub(crate) path: PathBuf,
}

impl Tracked {
    /// True for a submodule.
    pub(crate) fn is_submodule(&self) -> bool {
        self.mode == GITLINK
    }
}

/// The files that a work tree shows after it was reset.
#[derive(Debug)]
pub(crate) struct Shown {
    /// All paths of the commit.
    pub(crate) tracked: Vec<Tracked>,
    /// True if submodules were filled and are empty now.
    pub(crate) emptied_submodules: bool,
}

impl Git {
    /// Makes the work tree of a slot at a commit, with no branch checked out. Whatever stands at the path is removed
    /// first.
    pub(crate) fn add_slot(&self, worktree: &Path, commit: &Oid) -> Result<Shown, GitError> {
        self.remove_slot(worktree)?;
        if let Some(folder) = worktree.parent() {
            fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        let add = ["worktree", "add", "--quiet", "--force", "--detach", "--no-checkout", "--"];
        let mut call = self.locking_call(&[&QUIETLY[..], &add[..]].concat(), Vec::new());
        call.arguments.extend([worktree.as_os_str().to_owned(), commit.as_str().into()]);
        let queue = self.queue_for_trees()?;
        process::run(call)?.success()?;
        drop(queue);
        let slot = SlotTree::of(self, worktree)?;
        slot.read(commit)?;
        Ok(Shown { tracked: slot.tracked()?, emptied_submodules: false })
    }

    /// Has a work tree show the files of a commit. Every one is written anew, so that none is older than what was built
    /// from another one. What git does not track stays until it is cleaned.
    pub(crate) fn rewrite_slot(&self, worktree: &Path, commit: &Oid) -> Result<Shown, GitError> {
        let slot = SlotTree::of(self, worktree)?;
        slot.forget_unfinished().map_err(GitError::io("tidy", &slot.state))?;
        // Only the index of the former commit knows which files of it are in none any more.
        slot.read(commit)?;
        slot.drop_index()?;
        slot.read(commit)?;
        slot.run(&["update-ref", "--no-deref", "HEAD", commit.as_str()])?.success()?;
        let tracked = slot.tracked()?;
        let emptied_submodules = slot.empty_submodules(&tracked)?;
        slot.remove_nested_repositories(&tracked)?;
        Ok(Shown { tracked, emptied_submodules })
    }

    /// Removes all that git does not track from a work tree, ignored or not, but for the paths `kept` in folders that
    /// there are.
    pub(crate) fn clean_slot(&self, worktree: &Path, shown: &Shown, kept: &[String]) -> Result<(), GitError> {
        let folders = folders_of(&shown.tracked);
        SlotTree::of(self, worktree)?.clean(kept.iter().filter(|path| lies_in(path, &folders)))
    }

    /// The work trees below a folder that git knows.
    pub(crate) fn slots_below(&self, folder: &Path) -> Vec<PathBuf> {
        let inside = folder.canonicalize().unwrap_or_else(|_| settled(folder));
        let is_below = |worktree: &PathBuf| worktree.starts_with(folder) || worktree.starts_with(&inside);
        self.linked_trees().into_iter().filter(is_below).collect()
    }

    /// All linked work trees that git knows, whoever made them.
    pub(crate) fn linked_trees(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.common_dir().join("worktrees")).into_iter().flatten().flatten();
        entries.filter_map(|entry| place_of(&entry.path())).collect()
    }

    /// The names of references below a place.
    pub(crate) fn references_below(&self, place: &str) -> Result<Vec<String>, GitError> {
        let stdout = process::run(self.call(&["for-each-ref", "--format=%(refname)", place]))?.success()?;
        Ok(String::from_utf8_lossy(&stdout).lines().map(str::to_owned).collect())
    }

    /// Puts tracked files back that differ from the commit; they are the result.
    pub(crate) fn restore_slot(&self, worktree: &Path, commit: &Oid) -> Result<Vec<String>, GitError> {
        let slot = SlotTree::of(self, worktree)?;
        let diff = ["diff-files", "--name-only", "-z", "--ignore-submodules=all"];
        let refresh = ["update-index", "-q", "--refresh", "--ignore-submodules"];
        // Its exit code tells that something differs, which is asked next.
        slot.run(&refresh)?;
        let stdout = slot.run(&diff)?.success()?;
        let changed: Vec<String> = names(&stdout).map(|name| name.to_string_lossy().into_owned()).collect();
        if !changed.is_empty() {
            slot.read(commit)?;
        }
        Ok(changed)
    }

    /// The entries of a work tree's index.
    pub(crate) fn tracked_in_slot(&self, worktree: &Path) -> Result<Vec<Tracked>, GitError> {
        SlotTree::of(self, worktree)?.tracked()
    }

    /// The paths in a work tree that git does not track, ignored or not; of a folder without tracked files only its
    /// own.
    pub(crate) fn untracked_in_slot(&self, worktree: &Path) -> Result<BTreeSet<String>, GitError> {
        let slot = SlotTree::of(self, worktree)?;
        let stdout = slot.run(&["ls-files", "--others", "--directory", "-z"])?.success()?;
        let plain = |name: OsString| name.to_string_lossy().trim_end_matches('/').to_owned();
        Ok(names(&stdout).map(plain).collect())
    }

    /// True if git leaves this path of a work tree out.
    pub(crate) fn is_ignored_in_slot(&self, worktree: &Path, path: &str) -> Result<bool, GitError> {
        let ended =
            SlotTree::of(self, worktree)?.run(&["check-ignore", "--quiet", "--", &format!("./{path}")])?;
        match ended.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(ended.into_failure()),
        }
    }

    /// Files of the project that git ignores, and folders of such as a whole.
    pub(crate) fn ignored_in_project(&self) -> Result<Vec<String>, GitError> {
        let list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let stdout = process::run(self.call(&list))?.success()?;
        Ok(names(&stdout).map(|name| name.to_string_lossy().into_owned()).collect())
    }

    /// The files of the project that git tracks.
    pub(crate) fn tracked_paths(&self) -> Result<BTreeSet<String>, GitError> {
        let stdout = process::run(self.call(&["ls-files", "-z"]))?.success()?;
        Ok(names(&stdout).map(|name| name.to_string_lossy().into_owned()).collect())
    }

    /// The bytes of a commit's files.
    pub(crate) fn bytes_of(&self, commit: &Oid) -> Result<u64, GitError> {
        let call = self.call(&["ls-tree", "-r", "-l", "-z", "--full-tree", commit.as_str()]);
        let stdout = process::run(Call { deadline: TREE_DEADLINE, ..call })?.success()?;
        let size = |entry: &[u8]| {
            let text = String::from_utf8_lossy(entry.split(|byte| *byte == b'\t').next()?).into_owned();
            text.split_whitespace().nth(3)?.parse::<u64>().ok()
        };
        Ok(stdout.split(|byte| *byte == 0).filter_map(size).sum())
    }

    /// By what a work tree is known to be as it was made: sparse checkout and settings of its own, and the project's.
    pub(crate) fn slot_settings(&self, worktree: &Path) -> Option<String> {
        let state = self.slot_state(worktree)?;
        let link = fs::read(worktree.join(".git")).ok()?;
        let leads_to = link.strip_prefix(b"gitdir: ")?.trim_ascii_end();
        if !is_same(Path::new(OsStr::from_bytes(leads_to)), &state) {
            return None;
        }
        let mut sum = Sha256::new();
        for folder in [state.as_path(), self.git_dir()] {
            for file in ["config.worktree", "info/sparse-checkout"] {
                // One that is not there is as good as an empty one.
                let text = fs::read(folder.join(file)).unwrap_or_default();
                sum.update(text.len().to_le_bytes());
                sum.update(text);
            }
        }
        Some(sum.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }

    /// Removes the work tree of a slot and git's knowledge of it. Links in it are removed, never followed.
    pub(crate) fn remove_slot(&self, worktree: &Path) -> Result<(), GitError> {
        remove_folder(worktree).map_err(GitError::io("remove", worktree))?;
        let queue = self.queue_for_trees()?;
        let forgotten =
            self.forget_slot(worktree).map_err(GitError::io("remove what git knows of", worktree));
        drop(queue);
        forgotten
    }

    /// Others' work trees are not pruned, also if they are not there at the moment: they may lie on a disk that is not.
    fn forget_slot(&self, worktree: &Path) -> io::Result<()> {
        if let Some(state) = self.slot_state(worktree) {
            // Moved away as a whole: no git that looks meanwhile finds half of it.
            let name = state.file_name().unwrap_or_default().to_string_lossy().into_owned();
            fs::rename(&state, self.common_dir().join(format!("{ASIDE}{name}")))?;
        }
        for entry in fs::read_dir(self.common_dir())?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(ASIDE) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// The folder in which git keeps the state of a work tree.
    pub(super) fn state_of(&self, worktree: &Path) -> Result<PathBuf, GitError> {
        self.slot_state(worktree).ok_or_else(|| GitError::Unusable {
            dir: worktree.to_owned(),
            reason: "git no longer knows this working tree".to_owned(),
        })
    }

    /// The folder in which git keeps the state of a work tree, if it knows it.
    fn slot_state(&self, worktree: &Path) -> Option<PathBuf> {
        let wanted = settled(worktree);
        let entries = fs::read_dir(self.common_dir().join("worktrees")).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|state| place_of(state).as_ref() == Some(&wanted))
    }

    /// Git reads what is known of all work trees whenever it adds one, and fails over another that is only half known:
    /// one after another, then, for these milliseconds. Writing the files is not part of it.
    fn queue_for_trees(&self) -> Result<Flock<File>, GitError> {
        let folder = self.common_dir();
        let file = File::open(folder).map_err(GitError::io("open", folder))?;
        Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, error)| GitError::io("lock", folder)(io::Error::from(error)))
    }
}

/// A work tree, and where git keeps its state.
struct SlotTree<'a> {
    git: &'a Git,
    worktree: &'a Path,
    state: PathBuf,
}

impl<'a> SlotTree<'a> {
    fn of(git: &'a Git, worktree: &'a Path) -> Result<SlotTree<'a>, GitError> {
        let state = git.slot_state(worktree).ok_or_else(|| GitError::Unusable {
            dir: worktree.to_owned(),
            reason: "git no longer knows this work tree".to_owned(),
        })?;
        Ok(SlotTree { git, worktree, state })
    }

    fn run(&self, list: &[&str]) -> Result<Ended, GitError> {
        self.run_with(list, std::iter::empty())
    }

    fn run_with(&self, list: &[&str], more: impl Iterator<Item = OsString>) -> Result<Ended, GitError> {
        let call = self.git.locking_call(&QUIETLY, Vec::new());
        let mut arguments = call.arguments;
        for (option, folder) in [("--git-dir=", self.state.as_path()), ("--work-tree=", self.worktree)] {
            let mut argument = OsString::from(option);
            argument.push(folder);
            arguments.push(argument);
        }
        arguments.extend(list.iter().map(OsString::from).chain(more));
        process::run(Call { dir: self.worktree, arguments, deadline: TREE_DEADLINE, ..call })
    }

    /// Writes the files of a commit that differ from what the index knows, whatever is in their place.
    fn read(&self, commit: &Oid) -> Result<(), GitError> {
        let read = ["read-tree", "--reset", "-u", "--no-recurse-submodules", commit.as_str()];
        self.run(&read)?.success().map(drop)
    }

    /// Without an index no file is taken for unchanged, whatever was marked in it.
    fn drop_index(&self) -> Result<(), GitError> {
        let index = self.state.join("index");
        match fs::remove_file(&index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(GitError::io("remove", &index)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Drops merges and the like that somebody began here, and locks of gits that were killed.
    fn forget_unfinished(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.state)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if UNFINISHED.contains(&name.as_str()) || name.ends_with(".lock") {
                remove_folder(&entry.path())?;
            }
        }
        Ok(())
    }

    fn tracked(&self) -> Result<Vec<Tracked>, GitError> {
        let stdout = self.run(&["ls-files", "--stage", "-z"])?.success()?;
        Ok(stdout.split(|byte| *byte == 0).filter_map(tracked).collect())
    }

    /// Empties submodules, which git would let be: an agent may have worked there.
    fn empty_submodules(&self, tracked: &[Tracked]) -> Result<bool, GitError> {
        let mut emptied = false;
        for submodule in tracked.iter().filter(|entry| entry.is_submodule()) {
            let folder = self.worktree.join(&submodule.path);
            let is_empty = fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty && fs::symlink_metadata(&folder).is_ok() {
                remove_folder(&folder).map_err(GitError::io("remove", &folder))?;
                fs::create_dir(&folder).map_err(GitError::io("create", &folder))?;
                emptied = true;
            }
        }
        Ok(emptied)
    }

    /// Git looks past the folder of a repository inside another one, also when it cleans, and whoever asks git in a folder
    /// beside it asks that one.
    fn remove_nested_repositories(&self, tracked: &[Tracked]) -> Result<(), GitError> {
        for folder in folders_of(tracked).into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
            let nested = self.worktree.join(folder).join(".git");
            remove_folder(&nested).map_err(GitError::io("remove", &nested))?;
        }
        Ok(())
    }

    fn clean<'p>(&self, kept: impl Iterator<Item = &'p String>) -> Result<(), GitError> {
        let excluded = kept.flat_map(|path| [OsString::from("-e"), OsString::from(exactly(path))]);
        self.run_with(&["clean", "-ffdx", "--quiet"], excluded)?.success().map(drop)
    }
}

/// An entry of `ls-files --stage`: mode, object and stage, then the path behind a tab.
fn tracked(entry: &[u8]) -> Option<Tracked> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let (facts, path) = entry.split_at(tab);
    let facts = String::from_utf8_lossy(facts).into_owned();
    let mut facts = facts.split(' ').map(str::to_owned);
    let path = PathBuf::from(OsString::from_vec(path.get(1..)?.to_vec()));
    Some(Tracked { mode: facts.next()?, object: facts.next()?, path })
}

/// The folders that hold tracked files, the top one included.
fn folders_of(tracked: &[Tracked]) -> BTreeSet<&Path> {
    let mut folders = BTreeSet::from([Path::new("")]);
    for entry in tracked {
        // Whoever is known is known with all above.
        for folder in entry.path.ancestors().skip(1) {
            if !folders.insert(folder) {
                break;
            }
        }
    }
    folders
}

/// True for a path whose folder the commit still has: what lies in one that is gone would keep it alive.
fn lies_in(path: &str, folders: &BTreeSet<&Path>) -> bool {
    Path::new(path).parent().is_some_and(|folder| folders.contains(folder))
}

/// A pattern that stands for this path alone.
fn exactly(path: &str) -> String {
    let mut pattern = "/".to_owned();
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | '\\' | ' ') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// The names in a list that is separated by NUL.
fn names(list: &[u8]) -> impl Iterator<Item = OsString> {
    let whole = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    whole.map(|name| OsString::from_vec(name.to_vec()))
}

/// The place of the work tree whose state is kept here.
fn place_of(state: &Path) -> Option<PathBuf> {
    let link = fs::read(state.join("gitdir")).ok()?;
    Some(Path::new(OsStr::from_bytes(link.trim_ascii_end())).parent()?.to_owned())
}

/// A path with all links in the folder that holds it resolved; the last part need not exist.
fn settled(worktree: &Path) -> PathBuf {
    match (worktree.parent().map(Path::canonicalize), worktree.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        (_, _) => worktree.to_owned(),
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Removes a file, or a folder with all that is in it, also if an agent took away its own right to do so.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.is_dir() => return fs::remove_file(folder),
        Ok(_) => {}
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(folder)?;
            fs::remove_dir_all(folder)
        }
        ended @ (Ok(()) | Err(_)) => ended,
    }
}

/// Makes all folders below writable. Links are not followed.
fn open_up(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
impl Git {
    /// The repository at a folder, with these variables for every git.
    pub(crate) fn in_test(root: &Path, environment: &[(String, String)]) -> Git {
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Git::discover_with(root, environment).unwrap().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_one_path() {
        assert_eq!(exactly("a b/*.[ch]?\\!"), "/a\\ b/\\*.\\[ch]\\?\\\\!");
        assert_eq!(exactly("node_modules"), "/node_modules");
    }

    #[test]
    fn entries_of_the_index_are_read() {
        let entry = tracked(b"100644 abc 0\tsrc/a b\tc").unwrap();
        assert_eq!((entry.mode.as_str(), entry.object.as_str()), ("100644", "abc"));
        assert_eq!(entry.path, Path::new("src/a b\tc"));
        assert!(tracked(b"").is_none() && !entry.is_submodule());
        let list = [entry, tracked(b"160000 abc 0\tlib/x/y").unwrap()];
        let folders: Vec<&str> = folders_of(&list).into_iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(folders, ["", "lib", "lib/x", "src"]);
        assert!(lies_in("node_modules", &folders_of(&list)) && lies_in("lib/x/target", &folders_of(&list)));
        assert!(!lies_in("packages/gone/node_modules", &folders_of(&list)));
    }
}

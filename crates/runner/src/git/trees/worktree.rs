//! Linked working trees: made at a commit, removed without a trace, found again. What an agent did in one is the
//! business of the snapshot.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use crate::git::calls::process::{self, Call};
use crate::git::calls::own_index::TREE_DEADLINE;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// Hooks that people have for their own checkouts do not run for a tree that comes and goes, and files are written
/// with all cores.
const QUIETLY: [&str; 6] =
    ["-c", "core.hooksPath=/dev/null", "-c", "checkout.workers=0", "-c", "worktree.useRelativePaths=false"];

/// What is known of a tree that is being removed.
const ASIDE: &str = "tillgreen-gone-";

impl Git {
    /// Makes a linked working tree at a commit, with no branch checked out. What stands at the path, such as one that
    /// a killed program had begun, is removed first.
    pub fn add_tree(&self, tree: &Path, base: &Oid) -> Result<(), GitError> {
        self.remove_tree(tree)?;
        if let Some(folder) = tree.parent() {
            fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        self.link_tree(tree, base)
    }

    /// Removes a linked working tree and git's knowledge of it. Links in it are removed, never followed.
    pub fn remove_tree(&self, tree: &Path) -> Result<(), GitError> {
        remove_folder(tree).map_err(GitError::io("remove", tree))?;
        let tree = settled(tree);
        let turn = self.take_turn()?;
        forget(self.common_dir(), &tree).map_err(GitError::io("remove what git knows of", &tree))?;
        drop(turn);
        Ok(())
    }

    /// The trees below a folder, whoever left them there, in the order of their names.
    pub fn trees_in(&self, folder: &Path) -> Result<Vec<PathBuf>, GitError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(GitError::io("list", folder)(source)),
        };
        let mut trees: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let inside = settled(folder);
        let known = linked(self.common_dir()).into_iter().map(|(_, tree)| tree);
        trees.extend(known.filter(|tree| tree.parent() == Some(&inside) && !tree.exists()));
        trees.sort();
        Ok(trees)
    }

    /// Where all linked trees stand that are known.
    pub(in crate::git) fn known_trees(&self) -> Vec<PathBuf> {
        linked(self.common_dir()).into_iter().map(|(_, tree)| tree).collect()
    }

    /// Where git keeps the state of a linked tree. The tree itself is not asked: an agent can write there.
    pub(in crate::git) fn state_of(&self, tree: &Path) -> Result<PathBuf, GitError> {
        state_in(self.common_dir(), tree).ok_or_else(|| GitError::Unusable {
            dir: tree.to_owned(),
            reason: "git no longer knows this working tree".to_owned(),
        })
    }

    fn link_tree(&self, tree: &Path, commit: &Oid) -> Result<(), GitError> {
        let add = ["worktree", "add", "--quiet", "--force", "--detach", "--no-checkout", "--"];
        let mut call = self.locking_call(&[&QUIETLY[..], &add[..]].concat(), Vec::new());
        call.arguments.extend([tree.as_os_str().to_owned(), commit.as_str().into()]);
        let turn = self.take_turn()?;
        process::run(call)?.success()?;
        drop(turn);
        self.fill_tree(tree)
    }

    /// Writes the files of a tree that git knows. `git reset` would do the same, and lock all references twice on the way.
    pub(in crate::git) fn fill_tree(&self, tree: &Path) -> Result<(), GitError> {
        let fill = ["read-tree", "--reset", "-u", "--no-recurse-submodules", "HEAD"];
        let call = self.locking_call(&[&QUIETLY[..], &fill[..]].concat(), Vec::new());
        process::run(Call { dir: tree, deadline: TREE_DEADLINE, ..call })?.success().map(drop)
    }

    /// Git reads what is known of all trees whenever it adds one, and fails over another that is only half known: one
    /// after another, then, for these milliseconds. Writing the files is not part of it.
    pub(in crate::git) fn take_turn(&self) -> Result<Flock<File>, GitError> {
        let folder = self.common_dir();
        let file = File::open(folder).map_err(GitError::io("open", folder))?;
        Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, error)| GitError::io("lock", folder)(io::Error::from(error)))
    }
}

/// A path with all links in the folder that holds it resolved; the last part need not exist.
pub(in crate::git) fn settled(tree: &Path) -> PathBuf {
    match (tree.parent().map(Path::canonicalize), tree.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        (_, _) => tree.to_owned(),
    }
}

/// The linked trees that a repository knows: where the state of each is kept, and where it stands.
fn linked(store: &Path) -> Vec<(PathBuf, PathBuf)> {
    linked_among(store, |_| true)
}

/// Those of them whose state is kept under such a name. Each is a file to read, and there may be hundreds.
fn linked_among(store: &Path, is_wanted: impl Fn(&OsStr) -> bool) -> Vec<(PathBuf, PathBuf)> {
    let Ok(entries) = fs::read_dir(store.join("worktrees")) else { return Vec::new() };
    let entries = entries.flatten().filter(|entry| is_wanted(&entry.file_name()));
    entries.filter_map(|entry| Some((entry.path(), place_of(&entry.path())?))).collect()
}

/// Where the tree stands whose state is kept here.
fn place_of(state: &Path) -> Option<PathBuf> {
    let link = fs::read(state.join("gitdir")).ok()?;
    Some(Path::new(OsStr::from_bytes(link.trim_ascii_end())).parent()?.to_owned())
}

/// Where a repository keeps the state of a linked tree, if it knows it.
pub(in crate::git) fn state_in(store: &Path, tree: &Path) -> Option<PathBuf> {
    let wanted = settled(tree);
    // Git names it after the tree where it can.
    let likely = store.join("worktrees").join(wanted.file_name()?);
    if place_of(&likely).as_ref() == Some(&wanted) {
        return Some(likely);
    }
    linked(store).into_iter().find(|(_, known)| *known == wanted).map(|(state, _)| state)
}

/// The names of the folders in a folder. There may be hundreds, and asking for each is slower than listing them.
fn folders_in(folder: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.file_name()).collect()
}

/// Removes what a repository knows of a tree and of trees below it. Others' trees are not pruned, also if they are
/// not there at the moment: they may lie on a disk that is.
fn forget(store: &Path, tree: &Path) -> io::Result<()> {
    // What bears the name of another tree beside this one is that one's.
    let beside = tree.parent().map(folders_in).unwrap_or_default();
    let is_others = |name: &OsStr| tree.file_name() != Some(name) && beside.contains(name);
    let known = linked_among(store, |name| !is_others(name));
    for (state, _) in known.into_iter().filter(|(_, known)| known.starts_with(tree)) {
        // Moved away as a whole: no git that looks meanwhile finds half of it.
        let aside = state.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::rename(&state, store.join(format!("{ASIDE}{aside}")))?;
    }
    for entry in fs::read_dir(store)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(ASIDE) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Removes a folder with all that is in it, also if an agent took away its own right to do so.
pub(in crate::git) fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
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

//! Signs that a folder which git ignores belongs to the place that it is in: links out of it into the project, and the
//! project's own path written into its files. Linked or copied, it would have tests in another work tree load the
//! project's files.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The number of entries of a folder that are looked at.
const ENTRIES_MAX: usize = 200_000;
/// Larger files are no shebangs, settings or lists of paths.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Folders of caches, which are about the place by their nature and which nobody copies.
pub(super) const CACHES: [&str; 4] = [".cache", ".vite", ".vitest", "__pycache__"];

/// The way in which a folder is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Other work trees get a link to it.
    Link,
    /// Other work trees get a copy of it.
    Copy,
}

/// A sign, with the path at which it is, from the top of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sign {
    /// A link that leads to another path of the project.
    Leads {
        /// The link.
        link: PathBuf,
        /// The other path.
        to: PathBuf,
    },
    /// A file that holds the project's path.
    Names {
        /// The file.
        file: PathBuf,
    },
}

/// The first sign that a folder of the project cannot be shared in this way.
pub(super) fn sign(project: &Path, folder: &str, sharing: Sharing) -> Option<Sign> {
    let own = project.join(folder);
    let is_sign = |path: &Path, kind: &fs::FileType| {
        if kind.is_symlink() {
            let to = leads_to(path, project).filter(|to| !project.join(to).starts_with(&own))?;
            let is_absolute = fs::read_link(path).is_ok_and(|target| target.is_absolute());
            return (sharing == Sharing::Link || is_absolute)
                .then(|| Sign::Leads { link: from_top(path, project), to });
        }
        let names = kind.is_file() && names(path, project);
        names.then(|| Sign::Names { file: from_top(path, project) })
    };
    search(&own, is_sign)
}

/// The first sign that something in another work tree leads into the project.
pub(super) fn sign_of_project(project: &Path, worktree: &Path, path: &str) -> Option<Sign> {
    let is_sign = |path: &Path, kind: &fs::FileType| {
        if kind.is_symlink() {
            let to = leads_to(path, project)?;
            return Some(Sign::Leads { link: from_top(path, worktree), to });
        }
        let names = kind.is_file() && is_telling(path) && names(path, project);
        names.then(|| Sign::Names { file: from_top(path, worktree) })
    };
    let top = worktree.join(path);
    let kind = fs::symlink_metadata(&top).ok()?.file_type();
    if kind.is_dir() { search(&top, is_sign) } else { is_sign(&top, &kind) }
}

fn search(folder: &Path, is_sign: impl Fn(&Path, &fs::FileType) -> Option<Sign>) -> Option<Sign> {
    let mut folders = vec![folder.to_owned()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            looked_at += 1;
            let Ok(kind) = entry.file_type() else { continue };
            let is_cache = CACHES.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !is_cache {
                folders.push(entry.path());
            } else if let Some(sign) = is_sign(&entry.path(), &kind) {
                return Some(sign);
            }
        }
        if looked_at > ENTRIES_MAX {
            return None;
        }
    }
    None
}

/// The path in the project that a link leads to.
fn leads_to(link: &Path, project: &Path) -> Option<PathBuf> {
    let target = link.canonicalize().ok()?;
    target.strip_prefix(project).ok().map(Path::to_owned)
}

fn from_top(path: &Path, top: &Path) -> PathBuf {
    path.strip_prefix(top).unwrap_or(path).to_owned()
}

/// True for files by which installed packages are found: lists of paths, and programs with the path of what runs them.
fn is_telling(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let ends = [".pth", ".egg-link"].iter().any(|end| name.ends_with(end));
    let is_named = ["direct_url.json", "pyvenv.cfg", "CMakeCache.txt"].contains(&name.as_ref());
    ends || is_named || name.starts_with("__editable__") || folder == "bin" || folder == ".bin"
}

/// True if a file holds the project's path, and not only that of a folder whose name begins alike.
pub(super) fn names(file: &Path, project: &Path) -> bool {
    if !fs::symlink_metadata(file).is_ok_and(|metadata| metadata.len() <= FILE_BYTES_MAX) {
        return false;
    }
    fs::read(file).is_ok_and(|text| holds_path(&text, project))
}

/// True if a text holds a folder's path, and not only that of one whose name begins alike.
pub(super) fn holds_path(text: &[u8], folder: &Path) -> bool {
    let wanted = folder.as_os_str().as_bytes();
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let mut rest = text;
    while let Some(place) = rest.windows(wanted.len().max(1)).position(|window| window == wanted) {
        let behind = rest.get(place + wanted.len()..).unwrap_or_default();
        if !behind.first().is_some_and(goes_on) {
            return true;
        }
        rest = behind;
    }
    false
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Project(tempfile::TempDir);

    impl Project {
        fn new() -> Project {
            Project(tempfile::tempdir().unwrap())
        }

        fn root(&self) -> PathBuf {
            self.0.path().canonicalize().unwrap()
        }

        fn write(&self, path: &str, text: &str) {
            let file = self.root().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
    }

    #[test]
    fn links_of_workspaces_can_be_copied_and_not_linked() {
        let project = Project::new();
        project.write("packages/lib/index.js", "");
        project.write("node_modules/left/index.js", "");
        project.write("node_modules/.bin/real", "");
        fs::create_dir_all(project.root().join("node_modules/@x")).unwrap();
        symlink("real", project.root().join("node_modules/.bin/alias")).unwrap();
        let check = |sharing| sign(&project.root(), "node_modules", sharing);
        assert_eq!(check(Sharing::Link), None);
        symlink("../../packages/lib", project.root().join("node_modules/@x/lib")).unwrap();
        let leads = Sign::Leads { link: "node_modules/@x/lib".into(), to: "packages/lib".into() };
        assert_eq!(check(Sharing::Link), Some(leads));
        assert_eq!(check(Sharing::Copy), None);
        symlink(project.root().join("packages/lib"), project.root().join("node_modules/abs")).unwrap();
        let leads = Sign::Leads { link: "node_modules/abs".into(), to: "packages/lib".into() };
        assert_eq!(check(Sharing::Copy), Some(leads));
    }

    #[test]
    fn the_projects_path_in_a_file_is_a_sign() {
        let project = Project::new();
        let root = project.root();
        project.write("node_modules/.cache/x", &format!("{}/src", root.display()));
        project.write("node_modules/a/other", &format!("{}-two/src", root.display()));
        for sharing in [Sharing::Link, Sharing::Copy] {
            assert_eq!(sign(&root, "node_modules", sharing), None);
        }
        project.write("node_modules/.bin/jest", &format!("NODE_PATH=\"{}/node_modules\"", root.display()));
        for sharing in [Sharing::Link, Sharing::Copy] {
            let names = Sign::Names { file: "node_modules/.bin/jest".into() };
            assert_eq!(sign(&root, "node_modules", sharing), Some(names));
        }
    }

    #[test]
    fn what_set_up_made_may_lead_into_the_project() {
        let (project, worktree) = (Project::new(), Project::new());
        let check = || sign_of_project(&project.root(), &worktree.root(), ".venv");
        worktree.write(".venv/lib/site-packages/a.py", &format!("# {}", project.root().display()));
        worktree.write(".venv/lib/site-packages/own.pth", &format!("{}/src", worktree.root().display()));
        assert_eq!(check(), None);
        worktree.write(".venv/lib/site-packages/x.pth", &format!("{}/src\n", project.root().display()));
        assert_eq!(check(), Some(Sign::Names { file: ".venv/lib/site-packages/x.pth".into() }));
        fs::remove_dir_all(worktree.root().join(".venv")).unwrap();
        project.write(".venv/pyvenv.cfg", "");
        symlink(project.root().join(".venv"), worktree.root().join(".venv")).unwrap();
        assert_eq!(check(), Some(Sign::Leads { link: ".venv".into(), to: ".venv".into() }));
    }
}

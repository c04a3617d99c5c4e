//! The folder in which the work trees of a plan lie.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use nix::unistd::geteuid;
use sha2::{Digest, Sha256};

/// The bytes of the sum that tell projects of the same name apart.
const SUM_BYTES: usize = 4;

/// Folders of the user's that work trees may be made in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    /// `$XDG_CACHE_HOME`.
    pub(crate) cache: Option<PathBuf>,
    /// `$HOME`.
    pub(crate) home: Option<PathBuf>,
    /// For temporary files.
    pub(crate) temporary: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn inherited() -> Surroundings {
        let folder = |name: &str| {
            let value: Option<OsString> = std::env::var_os(name);
            // A relative one is to be ignored, says whoever invented it.
            value.map(PathBuf::from).filter(|path| path.is_absolute())
        };
        Surroundings {
            cache: folder("XDG_CACHE_HOME"),
            home: folder("HOME"),
            temporary: std::env::temp_dir(),
        }
    }
}

/// The folder with the work trees of all plans of a project, and what to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) folder: PathBuf,
    pub(crate) note: Option<String>,
}

impl Location {
    /// The folder that is named, else the cache folder, else the one for temporary files; never one inside the project,
    /// where tools would find the project's own dependencies and settings.
    pub(crate) fn of(project: &Path, named: Option<&Path>, surroundings: &Surroundings) -> Location {
        let base = base(project, named, surroundings);
        let own = own_name(project);
        let temporary = || surroundings.temporary.join(format!("tillgreen-{}", geteuid()));
        match base {
            Some(base) if !resolved(&base).starts_with(project) => {
                Location { folder: base.join(own), note: None }
            }
            Some(base) => {
                let folder = temporary().join(own);
                let note = format!(
                    "work trees would lie inside the project in {}, where tools find the project's own files: they are in \
                     {} instead (worktree_dir names another folder)",
                    base.display(),
                    folder.display()
                );
                Location { folder, note: Some(note) }
            }
            None => Location { folder: temporary().join(own), note: None },
        }
    }
}

fn base(project: &Path, named: Option<&Path>, surroundings: &Surroundings) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(match (named.strip_prefix("~"), &surroundings.home) {
            (Ok(rest), Some(home)) => plain(&home.join(rest)),
            (_, _) => plain(&project.join(named)),
        });
    }
    let cache =
        surroundings.cache.clone().or_else(|| surroundings.home.as_ref().map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("tillgreen"))
}

/// The project's name with what tells it from others of that name.
pub(super) fn own_name(project: &Path) -> String {
    let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
    let name: String =
        name.chars().map(|character| if is_plain(character) { character } else { '-' }).take(60).collect();
    let sum = Sha256::digest(project.as_os_str().as_bytes());
    let sum: String = sum.iter().take(SUM_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("{name}-{sum}")
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

/// A path with the links in the part of it that exists resolved.
fn resolved(path: &Path) -> PathBuf {
    for folder in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (folder.canonicalize(), path.strip_prefix(folder)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_lie_outside_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let project = top.join("home/my app");
        std::fs::create_dir_all(&project).unwrap();
        std::os::unix::fs::symlink(&project, top.join("linked")).unwrap();
        let surroundings = |cache: Option<&str>, home: Option<&str>| Surroundings {
            cache: cache.map(|cache| top.join(cache)),
            home: home.map(|home| top.join(home)),
            temporary: top.join("tmp"),
        };
        let own = own_name(&project);
        assert!(own.starts_with("my-app-") && own.len() == "my-app-".len() + 8, "{own}");
        let user = format!("tmp/tillgreen-{}", geteuid());
        let check = |named: Option<&str>, around: Surroundings, expected: &str| {
            let location = Location::of(&project, named.map(Path::new), &around);
            assert_eq!(location.folder, top.join(expected).join(&own), "{named:?} {around:?}");
            assert_eq!(location.note.is_some(), expected == user && around.home.is_some(), "{location:?}");
        };
        check(None, surroundings(Some("cache"), Some("home")), "cache/tillgreen");
        check(None, surroundings(None, Some("home")), "home/.cache/tillgreen");
        check(None, surroundings(None, None), &user);
        check(None, surroundings(None, Some("home/my app")), &user);
        check(None, surroundings(Some("linked"), Some("home")), &user);
        check(Some("../trees"), surroundings(None, Some("home")), "home/trees");
        check(Some("~/x"), surroundings(None, Some("home")), "home/x");
        check(Some("trees"), surroundings(None, Some("home")), &user);
        check(Some("../my app/./deep"), surroundings(None, Some("home")), &user);
        check(Some(&top.join("else").to_string_lossy()), surroundings(None, Some("home")), "else");
    }

    #[test]
    fn projects_of_one_name_are_told_apart() {
        assert_ne!(own_name(Path::new("/a/app")), own_name(Path::new("/b/app")));
        assert_eq!(own_name(Path::new("/a/app")), own_name(Path::new("/a/app")));
        assert!(own_name(Path::new("/")).starts_with('-'));
    }
}

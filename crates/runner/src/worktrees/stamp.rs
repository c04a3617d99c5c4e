//! The stamp of a set-up, by which it is known whether it has to run again: its command, the tracked files that say
//! what is installed, and the programs that install it. It lies in a file beside the work tree, with what set-up made
//! there. That is a cache: without it nothing in the work tree is kept.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::agent::find_program;
use crate::atomic;
use crate::git::Tracked;
use crate::worktrees::setup::{Use, use_of};

/// The bytes of a sum that are written down.
const SUM_BYTES: usize = 16;

/// The number of words of a command that are looked up as programs.
const PROGRAMS_MAX: usize = 40;

/// Names of files that say what is installed, wherever they are.
const MANIFESTS: [&str; 52] = [
    ".gitmodules",
    ".node-version",
    ".npmrc",
    ".nvmrc",
    ".pnpmfile.cjs",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
    ".yarnrc",
    ".yarnrc.yml",
    "CMakeLists.txt",
    "CMakePresets.json",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "MANIFEST.in",
    "Pipfile",
    "Pipfile.lock",
    "build.gradle",
    "build.gradle.kts",
    "bun.lock",
    "bun.lockb",
    "composer.json",
    "composer.lock",
    "conanfile.py",
    "conanfile.txt",
    "deno.json",
    "deno.lock",
    "environment.yml",
    "go.mod",
    "go.sum",
    "go.work",
    "gradle.properties",
    "lerna.json",
    "mise.toml",
    "mix.exs",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "poetry.lock",
    "pom.xml",
    "pyproject.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "setup.cfg",
    "setup.py",
    "uv.lock",
    "yarn.lock",
];

/// Programs whose result depends on another one that runs them.
const RUN_BY: [(&str, &str); 12] = [
    ("bundle", "ruby"),
    ("composer", "php"),
    ("corepack", "node"),
    ("npm", "node"),
    ("npx", "node"),
    ("pip", "python3"),
    ("pip3", "python3"),
    ("pipenv", "python3"),
    ("pnpm", "node"),
    ("poetry", "python3"),
    ("uv", "python3"),
    ("yarn", "node"),
];

/// The stamp of a set-up command in a work tree with these tracked files.
pub(super) fn stamp(command: &str, tracked: &[Tracked], root: &Path) -> String {
    let mut sum = Sum::new();
    sum.add(command.as_bytes());
    let named: BTreeSet<&str> = words(command).map(|word| word.trim_start_matches("./")).collect();
    for entry in tracked.iter().filter(|entry| is_manifest(entry, &named)) {
        sum.add_entry(entry);
    }
    for program in programs(command, root) {
        sum.add(program.as_os_str().as_bytes());
        if let Ok(metadata) = fs::metadata(&program) {
            sum.add(&metadata.len().to_le_bytes());
            sum.add(&metadata.mtime().to_le_bytes());
        }
    }
    sum.told()
}

struct Sum(Sha256);

impl Sum {
    fn new() -> Sum {
        Sum(Sha256::new())
    }

    fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes.len().to_le_bytes());
        self.0.update(bytes);
    }

    fn add_entry(&mut self, entry: &Tracked) {
        self.add(entry.path.as_os_str().as_bytes());
        self.add(entry.mode.as_bytes());
        self.add(entry.object.as_bytes());
    }

    fn told(self) -> String {
        self.0.finalize().iter().take(SUM_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// True for what decides over the result of a set-up: manifests, submodules, patches, and files that the command names.
/// True of the name of a file that says what is to be installed.
pub(crate) fn is_manifest_name(name: &str) -> bool {
    MANIFESTS.binary_search(&name).is_ok()
        || (name.starts_with("requirements") || name.starts_with("constraints"))
            && (name.ends_with(".txt") || name.ends_with(".in"))
        || [".gemspec", ".cmake", ".csproj", ".prisma"].iter().any(|end| name.ends_with(end))
}

fn is_manifest(entry: &Tracked, named: &BTreeSet<&str>) -> bool {
    let Some(name) = entry.path.file_name().and_then(OsStr::to_str) else { return entry.is_submodule() };
    let is_build_file = ["Makefile", "makefile", "GNUmakefile", "justfile", "Justfile"].contains(&name)
        && (named.contains("make") || named.contains("just"));
    let is_in = |folder: &str| entry.path.components().any(|part| part.as_os_str() == folder);
    entry.is_submodule()
        || is_manifest_name(name)
        || is_build_file
        || is_in("patches")
        || is_in(".yarn")
        || is_in("requirements")
        || entry.path.to_str().is_some_and(|path| named.contains(path))
}

/// The programs that a command runs, as far as its words tell, where they really are.
fn programs(command: &str, root: &Path) -> BTreeSet<PathBuf> {
    let mut names: BTreeSet<&str> = words(command).take(PROGRAMS_MAX).collect();
    let more: Vec<&str> = RUN_BY.iter().filter(|(name, _)| names.contains(name)).map(|(_, by)| *by).collect();
    names.extend(more);
    let is_plain = |name: &&str| !name.contains('/') && !name.starts_with('-');
    let found = names.into_iter().filter(is_plain).filter_map(|name| find_program(name, root));
    found.map(|program| program.canonicalize().unwrap_or(program)).collect()
}

fn words(command: &str) -> impl Iterator<Item = &str> {
    let is_gap = |character: char| character.is_whitespace() || "&|;()'\"`$<>{}=".contains(character);
    command.split(is_gap).filter(|word| !word.is_empty())
}

/// The name of this process among all that ever use the same slots.
static PROCESS: LazyLock<String> =
    LazyLock::new(|| format!("{}-{}", std::process::id(), Timestamp::now().as_nanosecond()));

/// The memory of a slot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    /// True while nothing was cut short in it.
    pub(super) trusted: bool,
    /// The process that uses it; none if what ran in it last ended by itself.
    pub(super) in_use_by: Option<String>,
    /// The work tree as git made it.
    pub(super) settings: Option<String>,
    /// The stamp of the set-up that was done.
    pub(super) stamp: Option<String>,
    /// The paths that set-up made.
    pub(super) made: Vec<Made>,
    /// The paths that were copied or linked.
    pub(super) put: Vec<String>,
}

/// A path that set-up made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) path: String,
    /// The use of it when the work tree shows another commit.
    pub(super) used: Use,
    /// By which it is known for the same: what was put into its place since is another.
    identity: String,
}

/// The identity of a file or folder. The number of one that was removed is soon another's, so its kind and birth count too.
fn identity(metadata: &fs::Metadata) -> String {
    let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let born = born.map_or(0, |born| born.as_nanos());
    format!("{}-{}-{born}", metadata.ino(), if metadata.is_dir() { "folder" } else { "other" })
}

impl Made {
    /// The path as it is now; none if there is nothing.
    pub(super) fn now(worktree: &Path, path: &str) -> Option<Made> {
        let metadata = fs::symlink_metadata(worktree.join(path)).ok()?;
        Some(Made { path: path.to_owned(), used: use_of(worktree, path), identity: identity(&metadata) })
    }

    /// True if it is still the one that set-up made.
    pub(super) fn is_there(&self, worktree: &Path) -> bool {
        fs::symlink_metadata(worktree.join(&self.path))
            .is_ok_and(|metadata| identity(&metadata) == self.identity)
    }
}

impl Remembered {
    /// Reads the file, if it says anything.
    pub(super) fn read(file: &Path) -> Remembered {
        let text = atomic::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Writes the file. Should that fail, one that says nothing is as good.
    pub(super) fn write(&self, file: &Path) {
        let text = serde_json::to_string(self).unwrap_or_default();
        if atomic::replace(file, &text).is_err() {
            // Nothing is kept then at the next use.
            let _ = fs::remove_file(file);
        }
    }

    /// True if what is in the work tree can be kept: whatever ran in it last was not cut short.
    pub(super) fn can_be_kept(&self) -> bool {
        self.trusted && self.in_use_by.as_ref().is_none_or(|process| *process == *PROCESS)
    }

    /// True if this process made the work tree ready, and nothing was cut short in it since.
    pub(super) fn is_held(&self) -> bool {
        self.trusted && self.in_use_by.as_ref() == Some(&*PROCESS)
    }

    /// Marks it as used by this process.
    pub(super) fn taken(self) -> Remembered {
        Remembered { in_use_by: Some(PROCESS.clone()), trusted: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, object: &str) -> Tracked {
        Tracked { mode: "100644".into(), object: object.into(), path: path.into() }
    }

    #[test]
    fn names_of_manifests_are_in_order() {
        assert!(MANIFESTS.is_sorted(), "they are searched in halves");
    }

    #[test]
    fn a_stamp_follows_what_decides_over_the_result() {
        let root = Path::new("/");
        let files = |lock: &str, source: &str, script: &str| {
            vec![
                entry("package-lock.json", lock),
                entry("packages/a/package.json", "2"),
                entry("scripts/prepare.sh", script),
                entry("src/index.ts", source),
            ]
        };
        let command = "npm ci && ./scripts/prepare.sh";
        let before = stamp(command, &files("1", "1", "1"), root);
        assert_eq!(before, stamp(command, &files("1", "2", "1"), root), "a source is none of it");
        assert_ne!(before, stamp(command, &files("2", "1", "1"), root));
        assert_ne!(before, stamp(command, &files("1", "1", "2"), root), "it is named by the command");
        assert_ne!(before, stamp("npm install && ./scripts/prepare.sh", &files("1", "1", "1"), root));
    }

    #[test]
    fn programs_are_found_behind_links() {
        let found = programs("cd web && sh -c 'npm ci' || --x", Path::new("/"));
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        assert!(found.contains(&shell) && found.iter().all(|program| program.is_absolute()), "{found:?}");
    }

    #[test]
    fn manifests_are_told_from_sources() {
        let none = BTreeSet::new();
        for path in [
            "Cargo.lock",
            "a/b/package.json",
            "requirements-dev.txt",
            "requirements/dev.txt",
            "x.gemspec",
            "patches/a.patch",
            "prisma/schema.prisma",
        ] {
            assert!(is_manifest(&entry(path, "1"), &none), "{path}");
        }
        for path in ["src/lib.rs", "Makefile", "notes.txt", "package.json.bak"] {
            assert!(!is_manifest(&entry(path, "1"), &none), "{path}");
        }
        assert!(is_manifest(&entry("Makefile", "1"), &BTreeSet::from(["make"])));
        let submodule = Tracked { mode: "160000".into(), ..entry("lib", "1") };
        assert!(is_manifest(&submodule, &none));
    }

    #[test]
    fn what_another_process_left_in_use_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("slot-1.json");
        assert!(!Remembered::read(&file).can_be_kept());
        let taken = Remembered { stamp: Some("1".into()), ..Remembered::default() }.taken();
        taken.write(&file);
        assert_eq!(Remembered::read(&file), taken);
        assert!(taken.can_be_kept());
        let other = Remembered { in_use_by: Some("1-2".into()), ..taken.clone() };
        assert!(!other.can_be_kept());
        assert!(Remembered { in_use_by: None, ..other.clone() }.can_be_kept());
        assert!(!Remembered { trusted: false, ..taken }.can_be_kept());
        fs::write(&file, "{\"trusted\": tr").unwrap();
        assert!(!Remembered::read(&file).can_be_kept());
    }

    #[test]
    fn what_was_replaced_is_not_what_set_up_made() {
        let folder = tempfile::tempdir().unwrap();
        let worktree = folder.path();
        fs::create_dir_all(worktree.join("modules/a")).unwrap();
        let made = Made::now(worktree, "modules").unwrap();
        fs::write(worktree.join("modules/b"), "").unwrap();
        assert!(made.is_there(worktree));
        fs::rename(worktree.join("modules"), worktree.join("before")).unwrap();
        assert!(!made.is_there(worktree));
        std::os::unix::fs::symlink("before", worktree.join("modules")).unwrap();
        assert!(!made.is_there(worktree));
    }
}

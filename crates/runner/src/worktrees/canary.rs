//! The canary of a set-up: in a work tree whose verification was green, a source file is broken on purpose, and the
//! verification has to turn red. If it does not, it may well be about other files than the work tree's.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::atomic;
use crate::worktrees::slots::Slots;

/// The set-ups whose canary was run.
const RUN_FILE: &str = "canaries.json";

/// No language that is known here goes on like this.
const SYNTAX_ERROR: &[u8] = b"\n)(\n";

/// Languages in which a file with this text at its end cannot be loaded or compiled.
const SOURCES: [&str; 31] = [
    "c", "cc", "cjs", "cpp", "cs", "cts", "cxx", "dart", "ex", "go", "h", "hpp", "hs", "java", "js", "jsx",
    "kt", "lua", "m", "mjs", "ml", "mts", "php", "py", "rb", "rs", "scala", "swift", "ts", "tsx", "zig",
];

/// Names of folders and files that are tests, or what tests read: broken or not, they are read from the work tree.
const TESTS: [&str; 12] = [
    "__mocks__",
    "__tests__",
    "bench",
    "benches",
    "e2e",
    "examples",
    "fixtures",
    "spec",
    "specs",
    "test",
    "testdata",
    "tests",
];

/// The end of a command that was run for a canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was green.
    Green,
    /// It was red.
    Red,
    /// It was stopped, or could not be started.
    Unknown,
}

/// The result of a canary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Canary {
    /// Nothing is set up, linked or copied that could lead elsewhere, or it was run already.
    NotNeeded,
    /// None of the files can be broken so that everybody notices.
    NoFile,
    /// The verification turned red, as it has to.
    Red {
        /// The file that was broken.
        file: String,
    },
    /// The verification stayed green.
    Green {
        /// The file that was broken.
        file: String,
        /// The words for people.
        told: String,
    },
    /// Nobody knows: the command was stopped.
    Unknown,
}

/// Runs the canary of a slot in which a verification was green just now, once for each set-up. `touched` are paths that
/// the verification should know, and `run` runs it again. What it leaves in the work tree beside the file is not taken
/// back, so it is for a work tree whose work has been committed.
pub(crate) fn canary(
    slots: &Slots,
    slot: u32,
    touched: &[String],
    run: impl FnOnce() -> Verdict,
) -> io::Result<Canary> {
    let Some(key) = key(slots, slot).filter(|key| !is_run(slots, key)) else { return Ok(Canary::NotNeeded) };
    let root = slots.root(slot);
    let Some(file) = file_to_break(&root, touched) else { return Ok(Canary::NoFile) };
    let broken = Broken::of(&root.join(&file))?;
    let verdict = run();
    broken.mend()?;
    match verdict {
        Verdict::Unknown => return Ok(Canary::Unknown),
        Verdict::Green | Verdict::Red => note_run(slots, &key),
    }
    let told = || {
        format!(
            "I broke {file} on purpose and your check stayed green: it does not see this tree, or does not test this file \
             (the tree is {}; worktree_setup in tillgreen.toml says how trees are made ready)",
            root.display()
        )
    };
    let told = (verdict == Verdict::Green).then(told);
    Ok(match told {
        Some(told) => Canary::Green { file, told },
        None => Canary::Red { file },
    })
}

/// A file that is broken until this is dropped.
struct Broken {
    file: PathBuf,
    /// None once it is whole again.
    before: Option<Vec<u8>>,
}

impl Broken {
    fn of(file: &Path) -> io::Result<Broken> {
        let before = fs::read(file)?;
        let broken = Broken { file: file.to_owned(), before: Some(before.clone()) };
        fs::write(file, [&before[..], SYNTAX_ERROR].concat())?;
        Ok(broken)
    }

    fn mend(mut self) -> io::Result<()> {
        self.put_back()
    }

    /// The file is newer than whatever was built from the broken one.
    fn put_back(&mut self) -> io::Result<()> {
        let Some(before) = self.before.take() else { return Ok(()) };
        fs::write(&self.file, before)?;
        File::options().write(true).open(&self.file)?.set_modified(SystemTime::now())
    }
}

impl Drop for Broken {
    fn drop(&mut self) {
        // The next use of the slot writes all files anew.
        let _ = self.put_back();
    }
}

/// By what it is known whether the canary of a slot was run: all that could lead elsewhere.
fn key(slots: &Slots, slot: u32) -> Option<String> {
    let worktrees = slots.worktrees();
    let stamp = slots.stamp_of(slot);
    if stamp.is_none() && worktrees.link.is_empty() && worktrees.copy.is_empty() {
        return None;
    }
    let text = format!("{stamp:?} {:?} {:?}", worktrees.link, worktrees.copy);
    Some(Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn is_run(slots: &Slots, key: &str) -> bool {
    run_before(slots).contains(key)
}

fn run_before(slots: &Slots) -> BTreeSet<String> {
    let text = atomic::read(&slots.folder().join(RUN_FILE)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn note_run(slots: &Slots, key: &str) {
    let _lock = slots.lock();
    let mut run = run_before(slots);
    run.insert(key.to_owned());
    // What is not written down is run again.
    let _ = serde_json::to_string(&run).map(|text| atomic::replace(&slots.folder().join(RUN_FILE), &text));
}

/// The first of these paths that is a source file, and neither a test nor what tests read.
fn file_to_break(root: &Path, touched: &[String]) -> Option<String> {
    touched.iter().find(|path| is_source(path) && can_be_broken(&root.join(path))).cloned()
}

fn is_source(path: &str) -> bool {
    let mut names = path.rsplit('/');
    let name = names.next().unwrap_or(path);
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_test = [".test", ".spec", "_test", "_spec", "Test", "Tests", ".config", ".d", "conftest"]
        .iter()
        .any(|end| stem.ends_with(end))
        || stem.starts_with("test_");
    let is_test_folder = |folder: &str| TESTS.binary_search(&folder).is_ok();
    SOURCES.binary_search(&extension).is_ok() && !is_test && !names.any(is_test_folder)
}

/// True for a plain file at whose end the language is still spoken.
fn can_be_broken(file: &Path) -> bool {
    let is_plain = fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    let Some(text) = is_plain.then(|| fs::read_to_string(file).ok()).flatten() else { return false };
    !text.contains("?>") && !text.lines().any(|line| line == "__END__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order() {
        assert!(SOURCES.is_sorted() && TESTS.is_sorted(), "they are searched in halves");
    }

    #[test]
    fn sources_are_told_from_tests_and_data() {
        for path in ["pkg/core.py", "src/index.ts", "packages/lib/src/a.jsx", "lib.rs", "a/b.go"] {
            assert!(is_source(path), "{path}");
        }
        for path in [
            "README.md",
            "Makefile",
            "package.json",
            "tests/core.py",
            "src/__tests__/a.ts",
            "src/a.test.ts",
            "a_test.go",
            "test_a.py",
            "jest.config.js",
            "types.d.ts",
            "tests/fixtures/x.js",
            "run.sh",
            "style.css",
        ] {
            assert!(!is_source(path), "{path}");
        }
    }

    #[test]
    fn a_broken_file_is_whole_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.py");
        fs::write(&file, "x = 1").unwrap();
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        let broken = Broken::of(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "x = 1\n)(\n");
        broken.mend().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "x = 1");
        assert!(fs::metadata(&file).unwrap().modified().unwrap() > before);
        drop(Broken::of(&file).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "x = 1");
        fs::write(&file, "<?php ?>\n").unwrap();
        assert!(!can_be_broken(&file));
    }
}

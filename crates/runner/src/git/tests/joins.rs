//! What is done with trees without starting git, held against what git does with the same trees.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use super::scratch::Scratch;
use crate::git::Oid;
use crate::git::formats::index_tree;
use crate::git::formats::raw_change::RawChange;

/// Contents by path. The numbers choose among long files, so that moved ones are recognised.
type Files = BTreeMap<String, u8>;

fn files() -> impl Strategy<Value = Files> {
    let name = prop::sample::select(vec!["a", "b", "a.b", "a-b", "d", "é\n\"x"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    prop::collection::btree_map(path, 0..6_u8, 0..8)
}

/// Changes at up to three places: something else there, nothing there, or moved from another place.
fn changed(base: &Files, changes: &[(usize, Option<u8>, usize)]) -> Files {
    let mut files = base.clone();
    let paths: Vec<String> = base.keys().cloned().collect();
    for (at, content, to) in changes {
        let Some(path) = paths.get(at % paths.len().max(1)) else { continue };
        match (content, to % 3) {
            (Some(content), 0) => drop(files.insert(path.clone(), *content)),
            (Some(content), _) => drop(files.insert(format!("{path}.{to}"), *content)),
            (None, 0) => drop(files.remove(path)),
            (None, _) => {
                if let Some(content) = files.remove(path) {
                    files.insert(format!("moved{to}/{path}"), content);
                }
            }
        }
    }
    files
}

/// Stores them as a commit without a parent; a file in the way of a folder is left out.
fn commit(scratch: &Scratch, files: &Files) -> Oid {
    let root = scratch.repository.root();
    let there = fs::read_dir(root).unwrap().flatten().filter(|entry| entry.file_name() != ".git");
    for entry in there {
        let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
    }
    for (path, content) in files {
        let file = root.join(path);
        if fs::create_dir_all(file.parent().unwrap()).is_ok() {
            let text: String = (0..20).map(|line| format!("{content} {line}\n")).collect();
            let _ = fs::write(file, text);
        }
    }
    scratch.repository.git(&["add", "--all"]);
    let tree = scratch.repository.git(&["write-tree"]);
    let commit = scratch.repository.git(&["commit-tree", tree.trim(), "-m", "state"]);
    Oid::parse(commit.trim()).unwrap()
}

fn told(changes: &[RawChange]) -> Vec<String> {
    let line = |change: &RawChange| {
        format!(
            "{:?} {} {} {} {}",
            change.path, change.old.mode, change.old.oid, change.new.mode, change.new.oid
        )
    };
    let mut lines: Vec<String> = changes.iter().map(line).collect();
    lines.sort();
    lines
}

fn gits_diff(scratch: &Scratch, from: &Oid, to: &Oid) -> Vec<String> {
    let git = scratch.git();
    let diff = ["diff-tree", "-r", "--raw", "-z", "--no-renames", from.as_str(), to.as_str(), "--"];
    told(&RawChange::parse_all(crate::git::calls::process::run(git.call(&diff)).unwrap()).unwrap())
}

/// The tree that git joins them to; none in a conflict.
fn gits_merge(scratch: &Scratch, [base, ours, theirs]: [&Oid; 3]) -> Option<Oid> {
    let git = scratch.git();
    let base = format!("--merge-base={base}");
    let merge = ["merge-tree", "--write-tree", "--name-only", &base, ours.as_str(), theirs.as_str()];
    let ended = crate::git::calls::process::run(git.call(&merge)).unwrap();
    ended.is_success().then(|| Oid::printed(ended).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn trees_are_compared_and_joined_as_git_does(
        base in files(),
        ours in prop::collection::vec((0..8_usize, prop::option::of(0..6_u8), 0..4_usize), 0..4),
        theirs in prop::collection::vec((0..8_usize, prop::option::of(0..6_u8), 0..4_usize), 0..4),
    ) {
        let scratch = Scratch::new();
        let commits = [base.clone(), changed(&base, &ours), changed(&base, &theirs)].map(|files| commit(&scratch, &files));
        let [base, ours, theirs] = &commits;
        let git = scratch.git();
        for (from, to) in [(base, ours), (base, theirs), (ours, theirs)] {
            prop_assert_eq!(told(&git.differences(from, to).unwrap()), gits_diff(&scratch, from, to));
        }
        if let Some(tree) = git.merge_plainly(base, ours, theirs) {
            prop_assert_eq!(Some(tree), gits_merge(&scratch, [base, ours, theirs]));
        }
    }
}

#[test]
fn most_work_is_joined_plainly() {
    let scratch = Scratch::new();
    let files =
        |paths: &[(&str, u8)]| paths.iter().map(|(path, content)| ((*path).to_owned(), *content)).collect();
    let base = commit(&scratch, &files(&[("src/a", 1), ("src/b", 1), ("c", 1)]));
    let ours = commit(&scratch, &files(&[("src/a", 2), ("src/b", 1), ("c", 1), ("src/new/x", 1)]));
    let theirs = commit(&scratch, &files(&[("src/a", 1), ("c", 1), ("src/new/y", 1)]));
    let git = scratch.git();
    let joined = git.merge_plainly(&base, &ours, &theirs).unwrap();
    let expected = commit(&scratch, &files(&[("src/a", 2), ("c", 1), ("src/new/x", 1), ("src/new/y", 1)]));
    assert!(git.differences(&joined, &expected).unwrap().is_empty());
    let both = commit(&scratch, &files(&[("src/a", 3), ("src/b", 1), ("c", 1)]));
    assert_eq!(git.merge_plainly(&base, &ours, &both), None, "the same file on both sides");
}

#[test]
fn an_index_tells_which_tree_it_holds() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    let index = repository.root().join(".git/index");
    let tree = |()| Oid::parse(repository.git(&["write-tree"]).trim()).unwrap();
    for version in ["2", "3", "4"] {
        repository.write(&format!("new in {version}"), "");
        repository.git(&["add", "--all"]);
        repository.git(&["update-index", "--index-version", version]);
        if version == "3" {
            repository.git(&["update-index", "--skip-worktree", "one"]);
        }
        let written = tree(());
        assert_eq!(index_tree::held(&index, &written), Some(written), "version {version}");
    }
    let before = tree(());
    repository.write("one more", "");
    repository.git(&["add", "one more"]);
    assert_eq!(index_tree::held(&index, &before), None, "it is not known what the new one comes to");
}

#[test]
fn an_index_that_is_cut_or_flipped_tells_nothing_wrong() {
    let scratch = Scratch::new();
    let tree = Oid::parse(scratch.repository.git(&["write-tree"]).trim()).unwrap();
    let index = scratch.repository.root().join(".git/index");
    let whole = fs::read(&index).unwrap();
    let file = scratch.repository.root().join("cut");
    for end in 0..whole.len() {
        fs::write(&file, &whole[..end]).unwrap();
        // Whatever it says, it does not panic; what is whole is read above.
        let _ = index_tree::held(&file, &tree);
        let mut flipped = whole.clone();
        flipped[end] ^= 0xff;
        fs::write(&file, flipped).unwrap();
        let _ = index_tree::held(&file, &tree);
    }
    assert_eq!(index_tree::held(&scratch.repository.root().join("one"), &tree), None);
    assert_eq!(index_tree::held(&scratch.repository.root().join("not there"), &tree), None);
}

//! Trees that are written of an index without git, held against what git writes of the same index.

use std::fs;

use proptest::prelude::*;

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::{Oid, TreeWork};

/// What somebody does to one file before it is staged.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Write(u8),
    Run(u8),
    Link,
    Remove,
}

fn deeds() -> impl Strategy<Value = Vec<(String, Deed)>> {
    let name = prop::sample::select(vec!["a", "b", "a.b", "a-b", "d", "é\n\"x"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    let deed = prop_oneof![
        any::<u8>().prop_map(Deed::Write),
        any::<u8>().prop_map(Deed::Run),
        Just(Deed::Link),
        Just(Deed::Remove)
    ];
    prop::collection::vec((path, deed), 0..10)
}

fn perform(scratch: &Scratch, deeds: &[(String, Deed)]) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    for (path, deed) in deeds {
        let file = scratch.repository.root().join(path);
        let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir_all(&file));
        // What is in the way of a folder stays.
        if matches!(deed, Deed::Remove) || fs::create_dir_all(file.parent().unwrap()).is_err() {
            continue;
        }
        match deed {
            Deed::Write(content) | Deed::Run(content) => fs::write(&file, [*content]).unwrap(),
            Deed::Link => symlink("somewhere", &file).unwrap(),
            Deed::Remove => {}
        }
        if matches!(deed, Deed::Run(_)) {
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    scratch.repository.git(&["add", "--all"]);
}

/// What is written without git of the index, and what git writes then.
fn written(scratch: &Scratch) -> (Option<Oid>, Oid) {
    let git = scratch.git();
    let like = Oid::parse(scratch.repository.git(&["hash-object", "/dev/null"]).trim()).unwrap();
    let ours = git.write_tree_of(&scratch.repository.root().join(".git/index"), &like);
    (ours, Oid::parse(scratch.repository.git(&["write-tree"]).trim()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_tree_of_an_index_is_what_git_writes(
        rounds in prop::collection::vec(deeds(), 1..4),
        version in 2..5_u8,
        is_long in any::<bool>(),
    ) {
        let scratch = if is_long { Scratch::with_long_names() } else { Scratch::empty() };
        scratch.repository.git(&["config", "index.version", &version.to_string()]);
        for deeds in rounds {
            perform(&scratch, &deeds);
            if scratch.repository.root().join(".git/index").exists() {
                // Git notes what it wrote, so that the next round begins with folders that are known.
                let (ours, git) = written(&scratch);
                prop_assert_eq!(ours, Some(git));
            }
        }
    }
}

#[test]
fn an_index_that_says_more_is_left_to_git() {
    let check = |set_up: &dyn Fn(&Scratch), is_written: bool| {
        let scratch = Scratch::new();
        set_up(&scratch);
        let (ours, git) = written(&scratch);
        assert_eq!(ours, is_written.then_some(git));
    };
    let git = |list: &'static [&'static str]| move |scratch: &Scratch| drop(scratch.repository.git(list));
    check(&|_| (), true);
    check(&git(&["update-index", "--skip-worktree", "one"]), true);
    check(&git(&["update-index", "--assume-unchanged", "one"]), true);
    check(&git(&["update-index", "--untracked-cache"]), true);
    check(&git(&["update-index", "--split-index"]), false);
    check(&git(&["sparse-checkout", "set", "--cone", "--sparse-index", "other"]), false);
    let intend = |scratch: &Scratch| {
        scratch.repository.write("deep/new", "");
        scratch.repository.git(&["add", "--intent-to-add", "deep/new"]);
    };
    check(&intend, false);
    let deep = |scratch: &Scratch| {
        scratch.repository.write(&format!("{}file", "a/".repeat(201)), "");
        scratch.repository.git(&["add", "--all"]);
    };
    check(&deep, false);
    let inner = |scratch: &Scratch| {
        let head = scratch.repository.git(&["rev-parse", "HEAD"]);
        let entry = format!("160000,{},inner", head.trim());
        scratch.repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
    };
    check(&inner, true);
}

#[test]
fn a_survey_starts_one_git() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let (git, count) = scratch.counted_git();
    let work = TreeWork { tree: &linked.path, base: &linked.base, dropped: &[], furnished: &[] };
    let survey = |content: &str| {
        linked.write("deep/three", content);
        linked.write("new/file", content);
        assert_eq!(git.touched_in(&work).unwrap().changes.len(), 2);
        count()
    };
    // With the first, those are started that stay.
    assert_eq!(survey("by the agent\n") + 1, survey("by the agent again\n"));
}

#[test]
fn a_conflict_has_no_tree() {
    let scratch = Scratch::new();
    let blob = scratch.repository.git(&["rev-parse", "HEAD:one"]);
    let head = scratch.git().head().unwrap().unwrap();
    let entry = format!("0 {} 0\tone\n100644 {} 1\tone\n", "0".repeat(40), blob.trim());
    fs::write(scratch.notes().join("entry"), entry).unwrap();
    let script = format!("git update-index --index-info < '{}'", scratch.notes().join("entry").display());
    scratch.repository.git(&["-c", &format!("alias.conflict=!{script}"), "conflict"]);
    assert!(!scratch.repository.try_git(&["write-tree"]).status.success());
    assert_eq!(scratch.git().write_tree_of(&scratch.repository.root().join(".git/index"), &head), None);
}

use std::collections::BTreeSet;

use crate::git::tests::scratch::{Scratch, owned};

#[test]
fn own_files_are_kept_out_of_git() {
    let scratch = Scratch::new();
    let git = scratch.git();
    scratch.repository.write(".git/info/exclude", "# mine\n*.tmp");
    git.exclude(&["/.tillgreen/", ".progress-task-*"]).unwrap();
    git.exclude(&["/.tillgreen/", ".progress-task-*"]).unwrap();
    assert_eq!(
        scratch.repository.read(".git/info/exclude"),
        "# mine\n*.tmp\n/.tillgreen/\n.progress-task-*\n"
    );
    scratch.repository.write(".tillgreen/journal", "");
    scratch.repository.write("specs/demo/.progress-task-1.md", "");
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn what_a_program_left_that_died_while_it_wrote_the_list_goes() {
    let scratch = Scratch::new();
    let left = format!(".git/info/.tillgreen-{}-0-exclude", u32::MAX - 1);
    scratch.repository.write(&left, "");
    scratch.git().exclude(&["/.tillgreen/"]).unwrap();
    assert!(!scratch.repository.has(&left) && scratch.repository.has(".git/info/exclude"));
}

#[test]
fn a_list_of_what_is_wanted_does_not_let_own_files_in() {
    let scratch = Scratch::new();
    let git = scratch.git();
    git.exclude(&crate::work::project_files::OWN_PATTERNS).unwrap();
    scratch.repository.write(".tillgreen/specs-x/journal.jsonl", "");
    scratch.repository.write(".gitignore", "*\n!*/\n!*.jsonl\n");
    assert_eq!(scratch.repository.dirt(), ["?? .tillgreen/specs-x/journal.jsonl"]);
    git.hide(crate::work::project_files::OWN_FOLDER).unwrap();
    git.hide(crate::work::project_files::OWN_FOLDER).unwrap();
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn a_linked_working_tree_shares_the_patterns() {
    let scratch = Scratch::new();
    scratch.repository.git(&["worktree", "add", "-q", "../linked"]);
    std::fs::remove_dir_all(scratch.repository.root().join(".git/info")).unwrap();
    let linked = scratch.repository.root().with_file_name("linked");
    let git = scratch.discover(&linked).unwrap().unwrap();
    git.exclude(&["/.tillgreen/"]).unwrap();
    std::fs::create_dir(linked.join(".tillgreen")).unwrap();
    std::fs::write(linked.join(".tillgreen/x"), "").unwrap();
    assert_eq!(git.status().unwrap().changes, []);
}

#[test]
fn ignored_and_tracked_are_asked_of_git() {
    let scratch = Scratch::new();
    let git = scratch.git();
    scratch.repository.write(".gitignore", "one\n*.log\n/build/\n");
    let ignored = |path: &str| git.ignored_among(&[path.to_owned()]).map(|ignored| ignored.contains(path));
    let check = |path: &str, is_ignored: bool, is_tracked: bool| {
        let told = (ignored(path).unwrap(), git.is_tracked(path).unwrap());
        assert_eq!(told, (is_ignored, is_tracked), "{path}");
    };
    check("one", false, true);
    check("a.log", true, false);
    check("build/x", true, false);
    check("deep/three", false, true);
    check("deep", false, true);
    check("missing", false, false);
    check("*", false, false);
    check(":(top)one", false, false);
    check("-x.log", true, false);
    check("with\nbreak.log", true, false);
    assert!(ignored("").is_err());
    assert!(ignored("../outside").is_err());
    let paths = owned(&["deep/three", "a.log", "missing", "build/x", "one"]);
    assert_eq!(
        git.ignored_among(&paths).unwrap(),
        BTreeSet::from(["a.log".to_owned(), "build/x".to_owned()])
    );
    assert_eq!(git.ignored_among(&[]).unwrap(), BTreeSet::new());
}

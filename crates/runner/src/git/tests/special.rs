//! Repositories with submodules, sparse checkout, filters, and those in which trees cannot be used.

use std::fs;

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::{Applied, Dropped, Parallelism};

fn words(scratch: &Scratch) -> String {
    match scratch.git().parallelism().unwrap() {
        Parallelism::Possible => "possible".to_owned(),
        Parallelism::Sequential(reason) => reason.to_string(),
    }
}

/// A repository with a submodule at `sub`, cloned from a repository beside it.
fn with_submodule() -> Scratch {
    let scratch = Scratch::new();
    let library = scratch.repository.root().with_file_name("library");
    let library = library.to_str().unwrap();
    let repository = &scratch.repository;
    repository.git(&["init", "-q", library]);
    fs::write(format!("{library}/lib"), "lib\n").unwrap();
    repository.git(&["-C", library, "add", "lib"]);
    repository.git(&["-C", library, "commit", "-qm", "lib"]);
    repository.git(&["submodule", "--quiet", "add", library, "sub"]);
    repository.commit_all("with a submodule");
    // Whatever follows has to do without the place that it came from.
    fs::remove_dir_all(library).unwrap();
    scratch
}

#[test]
fn submodules_come_from_the_local_store_and_their_commits_come_back() {
    let scratch = with_submodule();
    assert_eq!(words(&scratch), "possible");
    let linked = Linked::new(&scratch, "1.1");
    assert_eq!(fs::read_to_string(linked.path.join("sub/lib")).unwrap(), "lib\n");
    assert_eq!(linked.touched(&[], &[]).changes, []);
    linked.write("sub/lib", "better\n");
    linked.agent(&["-C", "sub", "commit", "-qam", "better"]);
    linked.write("one", "uses it\n");
    let commit = linked.pack();
    assert_eq!(linked.packed(&commit), ["M one", "M sub"]);
    linked.git.remove_tree(&linked.path).unwrap();
    scratch.repository.git(&["-C", "sub", "gc", "-q", "--prune=now"]);
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    assert_eq!(scratch.repository.read("sub/lib"), "better\n");
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.read("sub/lib"), "lib\n");
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    linked.commit();
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert_eq!(scratch.repository.git(&["-C", "sub", "worktree", "list"]).lines().count(), 1);
    linked.git.drop_all_kept("demo").unwrap();
    assert_eq!(scratch.repository.git(&["-C", "sub", "for-each-ref", "refs/tillgreen"]), "");
}

#[test]
fn where_a_submodule_says_that_its_files_are_is_put_back() {
    let scratch = with_submodule();
    let repository = &scratch.repository;
    let set = ["config", "--file", ".git/modules/sub/config", "core.worktree"];
    let unset = ["config", "--file", ".git/modules/sub/config", "--unset", "core.worktree"];
    let said = || repository.read(".git/modules/sub/config");
    let (linked, before) = (Linked::new(&scratch, "1.1"), said());
    for again in [1, 2] {
        linked.agent(&["submodule", "--quiet", "update", "--init"]);
        assert_ne!(said(), before);
        assert_eq!(linked.git.status().unwrap().changes, []);
        assert_eq!(said(), before);
        assert_eq!(linked.git.mended_submodules().len(), usize::from(again == 1), "it is told once");
    }
    repository.git(&unset);
    linked.git.mend_submodules();
    assert_eq!(repository.git(&set), "../../../sub\n", "one that is not set any more is set again");
    // A program that was not there before knows by the folders.
    linked.agent(&["submodule", "--quiet", "update", "--init"]);
    let git = scratch.git();
    git.mend_submodules();
    assert_eq!(
        (repository.git(&set), git.mended_submodules()),
        ("../../../sub\n".into(), vec!["sub".into()])
    );
    repository.git(&["mv", "sub", "moved"]);
    git.mend_submodules();
    assert_eq!(repository.git(&set), "../../../moved\n", "what a person moves stays there");
}

#[test]
fn the_same_is_put_back_of_a_submodule_inside_a_submodule() {
    let scratch = with_submodule();
    let repository = &scratch.repository;
    let library = repository.root().join(".git/modules/sub");
    repository.git(&["-C", "sub", "submodule", "--quiet", "add", library.to_str().unwrap(), "deep/inner"]);
    let config = ".git/modules/sub/modules/deep/inner/config";
    let before = repository.read(config);
    let astray = "../../../../../../../../.tillgreen/demo/trees/1.1/sub/deep/inner";
    repository.git(&["config", "--file", config, "core.worktree", astray]);
    let git = scratch.git();
    git.mend_submodules();
    assert_eq!(repository.read(config), before);
    assert_eq!(git.mended_submodules(), ["sub/deep/inner"]);
}

#[test]
fn a_submodule_with_changes_of_a_person_is_in_the_way() {
    let scratch = with_submodule();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("sub/lib", "better\n");
    linked.agent(&["-C", "sub", "commit", "-qam", "better"]);
    let commit = linked.pack();
    scratch.repository.write("sub/lib", "by a person\n");
    assert_eq!(linked.apply(&commit), Applied::Refused { paths: vec!["sub".to_owned()] });
    assert_eq!(scratch.repository.read("sub/lib"), "by a person\n");
}

#[test]
fn a_sparse_checkout_is_sparse_in_its_trees() {
    let scratch = Scratch::new();
    scratch.repository.write("wide/four", "four\n");
    scratch.repository.commit_all("more");
    scratch.repository.git(&["sparse-checkout", "set", "deep"]);
    assert!(!scratch.repository.has("wide"));
    assert_eq!(words(&scratch), "possible");
    let linked = Linked::new(&scratch, "1.1");
    assert!(linked.path.join("deep/three").exists() && !linked.path.join("wide").exists());
    linked.write("deep/three", "changed\n");
    let commit = linked.pack();
    assert_eq!(linked.packed(&commit), ["M deep/three"]);
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.read("deep/three"), "deep/three\n");
    linked.land();
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert!(!scratch.repository.has("wide"));
}

#[test]
fn work_outside_a_sparse_checkout_lands_and_is_dropped() {
    let scratch = Scratch::new();
    scratch.repository.write("wide/four", "four\n");
    scratch.repository.commit_all("more");
    let linked = Linked::new(&scratch, "1.1");
    linked.write("wide/four", "changed\n");
    let commit = linked.pack();
    scratch.repository.git(&["sparse-checkout", "set", "deep"]);
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    linked.land();
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert_eq!(scratch.repository.git(&["show", "HEAD:wide/four"]), "changed\n");
    assert_eq!(scratch.repository.read("wide/four"), "changed\n", "as if it had been written here");
}

#[test]
fn new_files_outside_a_sparse_checkout_land_and_are_there() {
    let scratch = Scratch::new();
    scratch.repository.write("wide/four", "four\n");
    scratch.repository.commit_all("more");
    scratch.repository.git(&["sparse-checkout", "set", "deep"]);
    let linked = Linked::new(&scratch, "1.1");
    linked.write("wide/five", "five\n");
    linked.write("new/six", "six\n");
    linked.write("deep/seven", "seven\n");
    let commit = linked.pack();
    assert_eq!(linked.packed(&commit), ["A deep/seven", "A new/six", "A wide/five"]);
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    assert_eq!(scratch.repository.read("wide/five"), "five\n");
    assert_eq!(scratch.repository.read("new/six"), "six\n");
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert!(!scratch.repository.has("wide") && !scratch.repository.has("new"));
    linked.land();
    assert_eq!(scratch.last_commit(), ["A deep/seven", "A new/six", "A wide/five"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert_eq!(scratch.repository.read("wide/five"), "five\n");
    assert!(!scratch.repository.has("wide/four"));
}

#[test]
fn files_outside_a_sparse_checkout_are_committed() {
    let scratch = Scratch::new();
    scratch.repository.write("wide/four", "four\n");
    scratch.repository.commit_all("more");
    scratch.repository.git(&["sparse-checkout", "set", "deep"]);
    scratch.repository.write("wide/five", "five\n");
    scratch.repository.write("deep/six", "six\n");
    let paths = ["wide/five", "deep/six"].map(str::to_owned);
    scratch.git().commit(&crate::git::Commit::new(&paths, "both")).unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["A deep/six", "A wide/five"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn filters_work_in_trees_and_a_missing_one_is_said() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    repository.git(&["config", "filter.upper.smudge", "tr A-Z a-z"]);
    repository.git(&["config", "filter.upper.required", "true"]);
    repository.write(".gitattributes", "*.big filter=upper\n");
    repository.write("x.big", "content\n");
    repository.commit_all("filtered");
    assert_eq!(repository.git(&["show", "HEAD:x.big"]), "CONTENT\n");
    assert_eq!(words(&scratch), "possible");
    let linked = Linked::new(&scratch, "1.1");
    assert_eq!(fs::read_to_string(linked.path.join("x.big")).unwrap(), "content\n");
    linked.write("x.big", "changed\n");
    linked.land();
    assert_eq!(repository.read("x.big"), "changed\n");
    assert_eq!(repository.git(&["show", "HEAD:x.big"]), "CHANGED\n");
    repository.git(&["config", "filter.upper.smudge", "no-such-program smudge"]);
    let expected = "files pass through the filter upper, and its program no-such-program is not installed";
    assert_eq!(words(&scratch), expected);
    repository.git(&["config", "filter.upper.required", "false"]);
    assert_eq!(words(&scratch), "possible");
    repository.git(&["config", "--unset", "filter.upper.required"]);
    let file = repository.root().join(".git/config");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{text}[filter \"upper\"]\n\trequired\n")).unwrap();
    assert_eq!(words(&scratch), expected, "a setting without a value is on");
}

#[test]
fn where_trees_cannot_be_used_the_reason_is_said() {
    let empty = Scratch::empty();
    assert_eq!(words(&empty), "the branch has no commit yet");
    let scratch = Scratch::new();
    assert_eq!(words(&scratch), "possible");
    fs::write(scratch.repository.root().join(".git/MERGE_HEAD"), "").unwrap();
    assert_eq!(words(&scratch), "a merge is in progress");
    let scratch = with_submodule();
    let root = scratch.repository.root();
    fs::remove_file(root.join("sub/.git")).unwrap();
    fs::rename(root.join(".git/modules/sub"), root.join("sub/.git")).unwrap();
    assert!(
        words(&scratch).starts_with("the submodule sub keeps its repository inside"),
        "{}",
        words(&scratch)
    );
}

#[test]
fn a_git_killed_in_the_middle_of_the_files_leaves_a_landing_that_is_put_back() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.write(".gitattributes", "deadly filter=deadly\n");
    repository.commit_all("attributes");
    let linked = Linked::new(&scratch, "1.1");
    for path in ["aaa", "deadly", "one", "zzz"] {
        linked.write(path, "changed\n");
    }
    fs::remove_file(linked.path.join("two")).unwrap();
    let commit = linked.pack();
    repository.git(&["config", "filter.deadly.smudge", "kill -KILL $PPID"]);
    let landing = crate::git::Landing {
        commit: &commit,
        base: &linked.base,
        trailer: (super::batch::TRAILER, "1.1"),
        novelty: crate::git::Novelty::Unknown,
    };
    linked.git.apply_landing(&landing).unwrap_err();
    assert_ne!(repository.dirt(), Vec::<String>::new(), "it died half-way");
    repository.git(&["config", "filter.deadly.smudge", "cat"]);
    assert_eq!(scratch.git().drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(repository.dirt(), Vec::<String>::new());
    linked.land();
    assert_eq!(scratch.last_commit(), ["A aaa", "A deadly", "M one", "D two", "A zzz"]);
}

/// In a linked tree no branch is checked out, so what is ignored on one would not be ignored there.
#[test]
fn settings_that_depend_on_the_branch_are_no_settings_of_trees() {
    let scratch = Scratch::new();
    scratch.repository.git(&["config", "includeIf.onbranch:main.path", "other"]);
    assert!(words(&scratch).contains("includeIf.onbranch"), "{}", words(&scratch));
}

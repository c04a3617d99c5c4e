//! What an agent told git not to look at.

use std::fs;

use super::batch::Linked;
use super::scratch::Scratch;

const OPTIONS: [&str; 2] = ["--assume-unchanged", "--skip-worktree"];

#[test]
fn work_in_files_that_an_agent_hid_from_git_is_found() {
    for option in OPTIONS {
        for version in ["2", "3", "4"] {
            let scratch = Scratch::new();
            let linked = Linked::new(&scratch, "1.1");
            linked.agent(&["update-index", "--index-version", version]);
            linked.agent(&["update-index", option, "one", "deep/three", "two"]);
            linked.write("one", "changed\n");
            linked.write("deep/three", "changed as well\n");
            assert_eq!(
                linked.packed(&linked.pack()),
                ["M deep/three", "M one"],
                "{option}, version {version}"
            );
        }
    }
}

#[test]
fn files_that_an_agent_hid_and_deleted_are_gone() {
    for option in OPTIONS {
        let scratch = Scratch::new();
        let linked = Linked::new(&scratch, "1.1");
        linked.agent(&["update-index", option, "one", "deep/three"]);
        fs::remove_file(linked.path.join("one")).unwrap();
        fs::remove_dir_all(linked.path.join("deep")).unwrap();
        assert_eq!(linked.packed(&linked.pack()), ["D deep/three", "D one"], "{option}");
    }
}

#[test]
fn files_hidden_in_an_index_of_two_halves_are_found() {
    for option in OPTIONS {
        let scratch = Scratch::new();
        let linked = Linked::new(&scratch, "1.1");
        linked.agent(&["update-index", "--split-index"]);
        linked.agent(&["update-index", option, "one"]);
        linked.write("one", "changed\n");
        assert_eq!(linked.packed(&linked.pack()), ["M one"], "{option}");
    }
}

#[test]
fn the_index_of_the_tree_stays_as_its_agent_left_it() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.agent(&["update-index", "--skip-worktree", "one"]);
    linked.write("one", "changed\n");
    let index = linked.git.state_of(&linked.path).unwrap().join("index");
    let before = fs::read(&index).unwrap();
    linked.pack();
    assert_eq!(fs::read(&index).unwrap(), before);
}

#[test]
fn a_sparse_checkout_leaves_out_what_it_leaves_out() {
    for cone in ["--cone", "--no-cone"] {
        let scratch = Scratch::new();
        for path in ["far/away", "far/deep/er", "near/by"] {
            scratch.repository.write(path, format!("{path}\n"));
        }
        scratch.repository.commit_all("more");
        scratch.repository.git(&["sparse-checkout", "set", cone, "near"]);
        let linked = Linked::new(&scratch, "1.1");
        assert!(!linked.path.join("far").exists() && linked.path.join("near/by").exists());
        linked.agent(&["update-index", "--skip-worktree", "near/by"]);
        linked.write("near/by", "changed\n");
        linked.write("far/new", "new\n");
        linked.agent(&["config", "sparse.expectFilesOutsideOfPatterns", "true"]);
        assert_eq!(linked.packed(&linked.pack()), ["A far/new", "M near/by"], "{cone}");
    }
}

#[test]
fn an_agent_may_make_its_own_tree_sparse() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.agent(&["sparse-checkout", "set", "--no-cone", "/one", "/two"]);
    assert!(!linked.path.join("deep").exists());
    linked.agent(&["update-index", "--assume-unchanged", "one"]);
    linked.write("one", "changed\n");
    assert_eq!(linked.packed(&linked.pack()), ["M one"]);
}

#[test]
fn a_watcher_of_files_that_an_agent_set_up_hides_nothing() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let watcher = linked.path.with_extension("watcher");
    testkit::write_executable(&watcher, "#!/bin/sh\nprintf 'token\\0'\n");
    linked.agent(&["config", "core.fsmonitor", watcher.to_str().unwrap()]);
    linked.agent(&["update-index", "--fsmonitor"]);
    linked.agent(&["status"]);
    linked.write("one", "another content\n");
    linked.write("new", "");
    assert_eq!(linked.packed(&linked.pack()), ["A new", "M one"]);
}

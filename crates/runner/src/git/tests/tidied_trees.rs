//! What only the index of a work tree says is found also where git could not read or write objects; an
//! index that is missing says nothing.

use std::fs;
use std::path::Path;

use testkit::write_executable;

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::{Git, TreeWork};

/// With a file that is tracked although it is ignored.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.repository.write(".gitignore", "*.ign\n");
    scratch.repository.write("keep.ign", "kept\n");
    scratch.repository.git(&["add", "--force", "keep.ign"]);
    scratch.repository.commit_all("ignored");
    scratch
}

/// A git that fails so often at adding files as it does where somebody has just removed objects.
fn failing(scratch: &Scratch, times: usize) -> Git {
    let folder = scratch.notes();
    let real = std::env::var("PATH").unwrap();
    let gone = format!("fatal: unable to read {}", "1".repeat(40));
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' add '*) for time in $(seq {times}); do\n\
         mkdir '{}/'$time 2>/dev/null && echo '{gone}' >&2 && exit 128; done;; esac\n\
         PATH='{real}' exec git \"$@\"\n",
        folder.display()
    );
    fs::create_dir(folder.join("bin")).unwrap();
    write_executable(&folder.join("bin/git"), &script);
    let mut environment = scratch.environment();
    environment.retain(|(name, _)| name != "PATH");
    environment.push(("PATH".into(), format!("{}:{real}", folder.join("bin").display()).into()));
    Git::discover_with(scratch.repository.root(), environment).unwrap().unwrap()
}

#[test]
fn what_only_the_index_says_is_not_lost_where_somebody_tidies_up() {
    // The last is as often as it is tried in the same way.
    for times in [1, 3, 6] {
        let scratch = scratch();
        let mut linked = Linked::new(&scratch, "1.1");
        linked.write("new", "new\n");
        linked.write("forced.ign", "forced\n");
        linked.agent(&["add", "--force", "forced.ign"]);
        linked.agent(&["rm", "--quiet", "--cached", "keep.ign"]);
        linked.git = failing(&scratch, times);
        assert_eq!(linked.packed(&linked.pack()), ["A forced.ign", "D keep.ign", "A new"], "{times}");
        assert!(scratch.notes().join(times.to_string()).exists(), "git has failed");
    }
}

#[test]
fn files_that_were_added_by_force_are_found_also_where_the_index_is_not_gone_by() {
    let scratch = scratch();
    let linked = Linked::new(&scratch, "1.1");
    for path in ["forced.ign", "gone.ign", "deep/forced.ign", "mine.ign", ".tillgreen-x", "folder.ign"] {
        linked.write(path, format!("{path}\n"));
        linked.agent(&["add", "--force", path]);
    }
    linked.write("forced.ign", "more\n");
    fs::remove_file(linked.path.join("gone.ign")).unwrap();
    fs::remove_file(linked.path.join("folder.ign")).unwrap();
    linked.write("folder.ign/file", "ignored\n");
    let furnished = ["mine.ign".to_owned()];
    let work = TreeWork { tree: &linked.path, base: &linked.base, dropped: &[], furnished: &furnished };
    let state = linked.git.state_of(&linked.path).unwrap();
    let snapshot = linked.git.snapshot_afresh(&work, &state).unwrap();
    let paths: Vec<&Path> = snapshot.changes.iter().map(|change| Path::new(&change.path)).collect();
    assert_eq!(paths, ["deep/forced.ign", "forced.ign"].map(Path::new));
    assert_eq!(snapshot.tree, linked.git.content_of(&work).unwrap());
}

#[test]
fn an_index_that_an_agent_removed_is_taken_for_the_one_that_the_tree_was_made_with() {
    let scratch = scratch();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("new", "new\n");
    fs::remove_file(linked.git.state_of(&linked.path).unwrap().join("index")).unwrap();
    assert_eq!(linked.touched(&[], &[]).taken_out, [""; 0]);
    assert_eq!(linked.packed(&linked.pack()), ["A new"]);
}

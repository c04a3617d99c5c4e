//! A work tree that is reused shows exactly the commit, whatever an agent did in it. Each of these fails without one of
//! the steps.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::worktrees::tests::bench::Bench;
use crate::worktrees::{LANDING, Unready};

const FILES: [(&str, &str); 4] =
    [("one", "1\n"), ("deep/two", "2\n"), ("deep/er/three", "3\n"), (".gitignore", "*.log\n/modules/\n")];

#[test]
fn a_new_tree_lies_outside_and_hooks_do_not_run() {
    let bench = Bench::new(&FILES);
    for hook in ["post-checkout", "post-index-change", "reference-transaction"] {
        let file = bench.project().join(".git/hooks").join(hook);
        let ran = bench.top().join("ran").display().to_string();
        testkit::write_executable(&file, &format!("#!/bin/sh\necho {hook} >> {ran}\n"));
    }
    let head = bench.head();
    assert_eq!(bench.show(&head), Vec::<String>::new());
    assert_eq!(bench.show(&head), Vec::<String>::new());
    assert!(!bench.top().join("ran").exists(), "{:?}", fs::read_to_string(bench.top().join("ran")));
    assert!(!bench.tree().starts_with(bench.project()));
    assert_eq!(bench.read("deep/two"), "2\n");
    assert_eq!(bench.repository.dirt(), Vec::<String>::new());
    assert!(bench.repository.try_git(&["symbolic-ref", "-q", "HEAD"]).status.success());
    let mode = fs::metadata(bench.slots().folder()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "there are copies of local settings in it");
}

#[test]
fn another_commit_takes_the_place_of_the_former() {
    let bench = Bench::new(&FILES);
    let first = bench.head();
    bench.commit(&[("one", "other\n"), ("new", "")]);
    let second = bench.remove(&["deep/er"]);
    bench.show(&first);
    bench.show(&second);
    assert_eq!(
        (bench.read("one").as_str(), bench.has("new"), bench.has("deep/er")),
        ("other\n", true, false)
    );
    bench.show(&first);
    assert_eq!((bench.read("one").as_str(), bench.has("new"), bench.has("deep/er")), ("1\n", false, true));
}

/// A tool that compares times takes nothing for current that was built from other files.
#[test]
fn every_file_is_written_anew() {
    let bench = Bench::new(&FILES);
    let head = bench.head();
    bench.show(&head);
    let before = fs::metadata(bench.tree().join("deep/two")).unwrap();
    bench.agent("cp -p one saved; echo x > one; touch -d '2001-01-01' saved; mv saved one");
    bench.agent("git update-index -q --refresh; test -z \"$(git status --porcelain)\"");
    bench.show(&head);
    for file in ["one", "deep/two"] {
        let metadata = fs::metadata(bench.tree().join(file)).unwrap();
        assert!(metadata.modified().unwrap() > before.modified().unwrap(), "{file}");
        assert!(file == "one" || metadata.ino() != before.ino(), "{file}");
    }
}

#[test]
fn marks_in_the_index_do_not_hide_what_an_agent_wrote() {
    let bench = Bench::new(&FILES);
    let first = bench.head();
    let second = bench.commit(&[("new", "")]);
    bench.show(&first);
    bench.agent("git update-index --skip-worktree one; git update-index --assume-unchanged deep/two");
    bench.agent("echo hidden > one; echo hidden > deep/two; git rm -q --cached deep/er/three");
    for commit in [&first, &second] {
        bench.show(commit);
        assert_eq!((bench.read("one").as_str(), bench.read("deep/two").as_str()), ("1\n", "2\n"));
    }
}

/// Without the index of the former commit, nobody knows what of a folder that stays was tracked.
#[test]
fn tracked_files_that_are_gone_go_from_folders_that_stay() {
    let bench = Bench::new(&FILES).with_setup("mkdir -p modules; echo made > modules/made");
    bench.repository.write("modules/patched", "");
    bench.repository.git(&["add", "-f", "modules/patched"]);
    let first = bench.commit(&[]);
    let second = bench.remove(&["modules/patched"]);
    bench.show(&second);
    bench.show(&first);
    bench.show(&second);
    assert_eq!((bench.has("modules/made"), bench.has("modules/patched")), (true, false));
}

#[test]
fn no_branch_is_checked_out_and_those_of_an_agent_stay() {
    let bench = Bench::new(&FILES);
    let head = bench.head();
    bench.show(&head);
    bench.agent("git checkout -q -b own; echo x > x; git add x; git commit -q -m x");
    bench.show(&head);
    assert!(!bench.verify("git symbolic-ref -q HEAD").0);
    assert_eq!(bench.repository.git(&["log", "-1", "--format=%s", "own"]).trim(), "x");
    assert_eq!(bench.head(), head);
}

#[test]
fn what_git_does_not_track_goes_with_all_that_is_in_it() {
    let bench = Bench::new(&FILES);
    let head = bench.head();
    bench.show(&head);
    bench.agent("mkdir -p modules/x left deep/er/nest; touch modules/x/y left/z a.log deep/b.log");
    bench.agent("git init -q nested; cd nested; touch n; git add n; git commit -q -m n");
    bench.agent("git init -q deep; cd deep; git status >/dev/null");
    bench.show(&head);
    for path in ["modules", "left", "a.log", "deep/b.log", "deep/er/nest", "nested", "deep/.git"] {
        assert!(!bench.has(path), "{path}");
    }
    assert_eq!(bench.agent("cd deep; git rev-parse --show-toplevel").trim(), bench.tree().to_str().unwrap());
}

#[test]
fn links_in_the_place_of_folders_are_not_followed() {
    let bench = Bench::new(&FILES);
    let head = bench.head();
    bench.show(&head);
    let other = bench.commit(&[("deep/two", "other\n")]);
    let outside = bench.top().join("outside");
    fs::create_dir_all(outside.join("er")).unwrap();
    fs::write(outside.join("two"), "theirs").unwrap();
    fs::remove_dir_all(bench.tree().join("deep")).unwrap();
    symlink(&outside, bench.tree().join("deep")).unwrap();
    bench.agent("rm one; mkdir -p one/x/y; touch one/x/y/z");
    bench.show(&other);
    assert_eq!(fs::read_to_string(outside.join("two")).unwrap(), "theirs");
    assert_eq!((bench.read("deep/two").as_str(), bench.read("one").as_str()), ("other\n", "1\n"));
    fs::remove_file(bench.tree().join("one")).unwrap();
    fs::hard_link(bench.project().join("one"), bench.tree().join("one")).unwrap();
    bench.show(&bench.commit(&[("one", "later\n")]));
    bench.show(&head);
    assert_eq!(bench.repository.read("one"), "later\n");
}

#[test]
fn what_was_begun_and_not_finished_is_forgotten() {
    let bench = Bench::new(&FILES).with_setup("mkdir modules");
    let head = bench.head();
    bench.show(&head);
    bench.agent("echo a > one; git commit -q -a -m a; git checkout -q -b b HEAD~; echo b > one; git commit -q -a -m b");
    bench.agent("git merge -q -m m HEAD@{2} || true");
    assert!(bench.verify("git rev-parse -q --verify MERGE_HEAD").0);
    bench.show(&head);
    assert!(!bench.verify("git rev-parse -q --verify MERGE_HEAD").0);
    bench.agent("echo c > one; git commit -q -a -m c; test \"$(git log -1 --format=%P | wc -w)\" = 1");
    bench.agent("touch modules/kept \"$(git rev-parse --git-path index.lock)\"");
    bench.show(&head);
    assert!(bench.has("modules/kept"), "the lock of a git that was killed is no reason for a new tree");
}

#[test]
fn a_tree_that_git_does_not_know_any_more_is_made_anew() {
    let bench = Bench::new(&FILES).with_setup("mkdir modules");
    let head = bench.head();
    let breaks = [
        "rm .git",
        "rm .git; git init -q .; git add -A; git commit -q -m own",
        "echo garbage > \"$(git rev-parse --git-dir)/HEAD\"",
        "rm -r \"$(git rev-parse --git-dir)\"",
        "echo broken > \"$(git rev-parse --git-dir)/index\"",
    ];
    for (number, script) in breaks.into_iter().enumerate() {
        bench.show(&head);
        bench.agent(&format!("touch modules/{number}; {script}"));
        bench.show(&head);
        let is_new = !bench.has(&format!("modules/{number}"));
        // A broken index is dropped anyway, and nobody needs it but for files of the former commit.
        assert!(is_new, "{script}");
        let known = bench.repository.git(&["worktree", "list"]);
        assert_eq!(known.lines().count(), 2, "{script}: {known}");
    }
    fs::remove_dir_all(bench.tree()).unwrap();
    bench.repository.git(&["worktree", "prune"]);
    bench.show(&head);
    fs::remove_dir_all(bench.tree()).unwrap();
    fs::write(bench.tree(), "a file").unwrap();
    bench.show(&head);
}

#[test]
fn a_sparse_checkout_is_the_projects_own() {
    let bench = Bench::new(&[("a/one", "1"), ("b/two", "2"), ("c/three", "3")]);
    bench.repository.git(&["sparse-checkout", "set", "a", "b"]);
    let head = bench.head();
    bench.show(&head);
    assert!(bench.has("a/one") && bench.has("b/two") && !bench.has("c/three"));
    bench.agent_git(&["sparse-checkout", "set", "c"]);
    bench.show(&head);
    assert!(bench.has("a/one") && bench.has("b/two") && !bench.has("c/three"));
    bench.repository.git(&["sparse-checkout", "set", "a"]);
    bench.show(&head);
    assert!(bench.has("a/one") && !bench.has("b/two"));
    bench.show(&bench.commit(&[("a/one", "new")]));
    assert_eq!(bench.read("a/one"), "new");
    bench.repository.git(&["sparse-checkout", "disable"]);
    bench.show(&head);
    assert!(bench.has("c/three"));
}

#[test]
fn files_pass_through_filters() {
    let bench = Bench::new(&[(".gitattributes", "*.big filter=shout\n")]);
    bench.repository.git(&["config", "filter.shout.clean", "tr A-Z a-z"]);
    bench.repository.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    bench.repository.git(&["config", "filter.shout.required", "true"]);
    let first = bench.commit(&[("x.big", "LOUD\n")]);
    let second = bench.commit(&[("x.big", "LOUDER\n")]);
    for (commit, text) in [(&first, "LOUD\n"), (&second, "LOUDER\n"), (&first, "LOUD\n")] {
        bench.show(commit);
        assert_eq!(bench.read("x.big"), text);
        assert_eq!(bench.agent_git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn submodules_are_empty_unless_set_up_fills_them() {
    let mut bench = Bench::new(&FILES);
    let library = testkit::Repository::init(&bench.top().join("library"), bench.repository.home());
    library.write("lib", "1\n");
    library.commit_all("library");
    bench.repository.git(&["submodule", "--quiet", "add", &library.root().display().to_string(), "lib"]);
    let first = bench.commit(&[]);
    bench.show(&first);
    assert!(bench.has("lib") && !bench.has("lib/lib"));
    let config = bench.repository.home().join(".gitconfig").display().to_string();
    let fill = format!("GIT_CONFIG_GLOBAL='{config}' git submodule --quiet update --init");
    bench.worktrees.setup = Some(fill);
    bench.show(&first);
    assert_eq!(bench.read("lib/lib"), "1\n");
    bench.agent("echo mine > lib/lib; touch lib/more; cd lib; git update-index --skip-worktree lib");
    bench.show(&first);
    assert_eq!((bench.read("lib/lib").as_str(), bench.has("lib/more")), ("1\n", false));
    library.write("lib", "2\n");
    library.commit_all("library");
    bench.repository.git(&["-C", "lib", "pull", "-q", &library.root().display().to_string(), "main"]);
    let second = bench.commit(&[]);
    bench.show(&second);
    assert_eq!(bench.read("lib/lib"), "2\n");
    bench.show(&bench.remove(&["lib", ".gitmodules"]));
    assert!(!bench.has("lib"));
    bench.worktrees.setup = None;
    bench.show(&first);
    assert!(bench.has("lib") && !bench.has("lib/lib"));
}

#[test]
fn trees_are_found_and_removed_and_those_of_others_stay() {
    let bench = Bench::new(&FILES);
    let head = bench.head();
    bench.repository.git(&["worktree", "add", "-q", "../others"]);
    let slots = bench.slots();
    assert_eq!(slots.existing(), Vec::<u32>::new());
    for slot in [2, LANDING, 1] {
        slots.show(slot, &head, &bench.runner()).unwrap();
    }
    assert_eq!(slots.existing(), [LANDING, 1, 2]);
    assert!(slots.root(LANDING).ends_with("plan/landing"));
    slots.remove(2).unwrap();
    slots.remove(2).unwrap();
    assert_eq!(slots.existing(), [LANDING, 1]);
    fs::remove_dir_all(slots.root(1)).unwrap();
    assert_eq!(slots.existing(), [LANDING, 1], "git still knows it");
    slots.remove_all().unwrap();
    slots.remove_all().unwrap();
    assert_eq!(slots.existing(), Vec::<u32>::new());
    assert!(!slots.folder().exists() && !slots.folder().parent().unwrap().exists());
    assert_eq!(bench.repository.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn slots_are_made_at_once() {
    let bench = Bench::new(&FILES).with_setup("mkdir modules; echo $TILLGREEN_SLOT > modules/slot");
    bench.repository.write(".gitignore", ".env\n/modules/\n");
    bench.repository.write(".env", "A=1\n");
    let head = bench.commit(&[]);
    let slots = bench.slots();
    let show = |slot| slots.show(slot, &head, &bench.runner()).unwrap();
    let notes: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|slot| scope.spawn(move || show(slot))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(notes, ["agents can read the copies that work trees get of .env"]);
    for slot in 0..6 {
        let told = fs::read_to_string(slots.root(slot).join("modules/slot")).unwrap();
        assert_eq!(told, format!("{slot}\n"));
    }
}

#[test]
fn too_little_space_is_said_before_anything_is_made() {
    let bench = Bench::new(&FILES);
    let slots = bench.slots().with_free_bytes_min(u64::MAX);
    let unready = slots.show(1, &bench.head(), &bench.runner());
    assert!(matches!(unready, Err(Unready::LowDisk { wanted_bytes: u64::MAX, .. })), "{unready:?}");
    assert!(!bench.tree().exists());
    let bench = bench.with_setup("mkdir modules");
    bench.show(&bench.head());
    bench.agent("touch modules/kept");
    let unready = slots.show(1, &bench.head(), &bench.runner());
    assert!(matches!(unready, Err(Unready::LowDisk { .. })), "{unready:?}");
    bench.show(&bench.head());
    assert!(bench.has("modules/kept"), "nothing was touched for want of space");
}

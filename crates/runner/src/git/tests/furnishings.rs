use std::fs;
use std::os::unix::fs::symlink;

use super::batch::Linked;
use super::scratch::{Scratch, owned};
use crate::git::{Furnishing, GitError};

#[test]
fn caches_are_linked_settings_copied_and_neither_is_work() {
    let scratch = Scratch::new();
    scratch.repository.write("node_modules/left-pad/index.js", "");
    scratch.repository.write("deep/.env", "KEY=1\n");
    scratch.repository.write("data/a/b", "");
    symlink("../one", scratch.repository.root().join("data/link")).unwrap();
    let linked = Linked::new(&scratch, "1.1");
    let wanted =
        Furnishing { link: owned(&["node_modules/", "target"]), copy: owned(&["deep/.env", "data", "one"]) };
    let skipped = wanted.put(scratch.repository.root(), &linked.path).unwrap();
    assert_eq!(skipped, ["target", "one"], "one is not there, the other is tracked");
    assert!(linked.path.join("node_modules").is_symlink());
    assert!(linked.path.join("node_modules/left-pad/index.js").exists());
    assert!(linked.path.join("data/a/b").is_file() && linked.path.join("data/link").is_symlink());
    linked.write("deep/.env", "KEY=2\n");
    assert_eq!(scratch.repository.read("deep/.env"), "KEY=1\n");
    linked.agent(&["add", "--all", "--force"]);
    let paths = wanted.paths();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    assert_eq!(linked.touched(&[], &paths).changes, []);
    assert_eq!(linked.try_pack(&[], &paths).unwrap(), None);
    linked.git.remove_tree(&linked.path).unwrap();
    assert!(scratch.repository.has("node_modules/left-pad/index.js"));
}

#[test]
fn paths_that_lead_out_are_refused() {
    let scratch = Scratch::new();
    let root = scratch.repository.root();
    fs::create_dir(root.with_file_name("outside")).unwrap();
    symlink("../outside", root.join("way")).unwrap();
    let linked = Linked::new(&scratch, "1.1");
    for path in
        ["../outside", "/etc/passwd", "a/../../b", "way/out", ".git", ".git/config", ".tillgreen", ".", ""]
    {
        let wanted = Furnishing { link: Vec::new(), copy: owned(&[path]) };
        let error = wanted.put(root, &linked.path).unwrap_err();
        assert!(matches!(error, GitError::Unacceptable { .. }), "{path}: {error}");
        let wanted = Furnishing { link: owned(&[path]), copy: Vec::new() };
        assert!(wanted.put(root, &linked.path).is_err(), "{path}");
    }
}

//! What is in the way of work trees, said so that one knows what and where.

use std::fs;

use super::scene::{Scene, members, plan, worker};

#[test]
fn a_pattern_is_no_path_to_copy() {
    let scene = Scene::new(&members(2));
    scene.write("tillgreen.toml", "worktree_copy = [\".env*\"]\n");
    scene.commit_all("settings");
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert!(run.stderr.contains(".env* is not there"), "{run}");
    assert!(run.stderr.contains("patterns are not understood here"), "{run}");
}

#[test]
fn a_filter_that_fails_is_named_with_what_to_look_at() {
    let scene = Scene::new(&members(2));
    scene.write("data.bin", "1\n");
    scene.write(".gitattributes", "*.bin filter=broken\n");
    scene.commit_all("attributes");
    scene.git(&["config", "filter.broken.clean", "false"]);
    scene.git(&["config", "filter.broken.required", "true"]);
    // Of the same size, so that git has to ask the filter whether it changed.
    scene.write("data.bin", "2\n");
    let run = scene.go(&worker(), &[]);
    assert!(run.stderr.contains("data.bin: clean filter 'broken' failed"), "{run}");
    assert!(run.stderr.contains("see that the program of this filter works"), "{run}");
}

#[test]
fn a_line_break_in_a_folder_s_name_is_what_is_told() {
    let scene = Scene::bare();
    let inner = scene.root().join("two\nlines");
    fs::create_dir_all(inner.join("specs/demo")).expect("a folder can be made");
    fs::write(inner.join("specs/demo/tasks.md"), plan(&members(1))).expect("it can be written");
    let inner = inner.display().to_string();
    scene.git(&["init", "--quiet", &inner]);
    let check = scene.run(&["-C", &inner, "check", "specs/demo"]).expect_code(2);
    assert!(check.stderr.contains("there is a line break in the name of a folder"), "{check}");
}

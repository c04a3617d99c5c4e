//! Work that comes back and that git does not take by the names of files: it goes through an index of its own, whether
//! there are hooks or not.

use testkit::{Agent, Step};

use super::scene::{Scene, done, task, work};

/// Two tasks side by side, in a project with a few files: the first does this beside its usual work, with and without a
/// hook that accepts everything.
#[track_caller]
fn check(script: &str, (files, verify): (&str, &str), expected: &[&str]) {
    for has_hook in [false, true] {
        let scene = Scene::bare();
        for path in ["thing", "x.conf", "d/f", "x.sh"] {
            scene.write(path, "before\n");
        }
        scene.write(".gitignore", "*.log\n");
        scene.plan(&[
            task("1.1", &format!("out/1.1.txt, {files}"), &format!("grep -q done out/1.1.txt && {verify}")),
            task("1.2", "out/1.2.txt", "grep -q done out/1.2.txt"),
        ]);
        if has_hook {
            scene.hook("pre-commit", "exit 0");
        }
        let work = || [work(), scene.meet(2)];
        let agent = Agent::new().on("1.1", work().into_iter().chain([Step::shell(script), done()]));
        let run = scene.go(&agent.otherwise(work().into_iter().chain([done()])), &[]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.attempts("1.1"), 1, "hook: {has_hook}, {run}");
        let show = ["log", "--grep=^feat: task 1.1$", "--raw", "--abbrev=4", "--no-renames", "--format="];
        let changed = scene.git(&show);
        let changed: Vec<String> = changed.lines().map(told).collect();
        assert_eq!(changed, expected, "hook: {has_hook}, {run}");
    }
}

/// The mode and the path of a raw difference.
fn told(line: &str) -> String {
    let mode = line.split(' ').nth(1).expect("it has two modes");
    let path = line.split('\t').nth(1).expect("it has a path");
    format!("{mode} {path}")
}

#[test]
fn a_file_becomes_a_folder() {
    let script = "rm thing; mkdir thing; echo x > thing/x; rm -r d; ln -s out d";
    let expected = ["120000 d", "000000 d/f", "100644 out/1.1.txt", "000000 thing", "100644 thing/x"];
    check(script, ("thing, d", "test -f thing/x && test -L d"), &expected);
}

#[test]
fn an_ignored_file_is_added_on_purpose() {
    let script = "echo 1 > x.log; git add -f x.log";
    check(script, ("x.log", "test -f x.log"), &["100644 out/1.1.txt", "100644 x.log"]);
}

#[test]
fn a_file_is_no_longer_tracked_and_stays_on_disk() {
    let script = "git rm -q --cached x.conf; echo x.conf >> .gitignore";
    let expected = ["100644 .gitignore", "100644 out/1.1.txt", "000000 x.conf"];
    check(script, ("x.conf, .gitignore", "grep -q before x.conf"), &expected);
}

#[test]
fn a_file_that_is_deleted_and_ignored_from_then_on_goes() {
    let script = "git rm -q x.conf; echo x.conf >> .gitignore";
    let expected = ["100644 .gitignore", "100644 out/1.1.txt", "000000 x.conf"];
    check(script, ("x.conf, .gitignore", "test ! -e x.conf"), &expected);
}

#[test]
fn modes_that_only_the_index_knows_come_along() {
    for has_hook in [false, true] {
        let scene = Scene::bare();
        scene.git(&["config", "core.fileMode", "false"]);
        scene.git(&["config", "core.symlinks", "false"]);
        scene.write("x.sh", "before\n");
        scene.plan(&[task("1.1", "x.sh", "grep -q 2 x.sh"), task("1.2", "l", "grep -q base l")]);
        if has_hook {
            scene.hook("pre-commit", "exit 0");
        }
        let link = "printf base.txt > l; git update-index --add --cacheinfo 120000,$(git hash-object -w l),l";
        let agent = Agent::new()
            .on("1.1", [scene.meet(2), Step::shell("echo 2 > x.sh; git add --chmod=+x x.sh"), done()])
            .on("1.2", [scene.meet(2), Step::shell(link), done()]);
        let run = scene.go(&agent, &[]).expect_code(0);
        scene.expect_complete(&run);
        let modes = scene.git(&["ls-tree", "--format=%(objectmode) %(path)", "HEAD", "l", "x.sh"]);
        assert_eq!(modes, "120000 l\n100755 x.sh\n", "hook: {has_hook}, {run}");
    }
}

#[test]
fn what_landed_first_may_ignore_what_lands_next() {
    for has_hook in [false, true] {
        let scene = Scene::new(&[
            task("1.1", ".gitignore", "grep -q log .gitignore"),
            task("1.2", "keep.log", "test -f keep.log"),
        ]);
        if has_hook {
            scene.hook("pre-commit", "exit 0");
        }
        let agent = Agent::new()
            .on("1.1", [scene.meet(2), Step::append(".gitignore", "*.log\n"), done()])
            .on("1.2", [scene.meet(2), Step::write("keep.log", "kept\n"), done()]);
        let run = scene.go(&agent, &[]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.attempts("1.2"), 1, "hook: {has_hook}, {run}");
        assert_eq!(scene.git(&["show", "HEAD:keep.log"]), "kept\n", "hook: {has_hook}, {run}");
    }
}

#[test]
fn what_a_file_that_is_no_longer_tracked_becomes_meanwhile_is_nobodys_work() {
    let scene = Scene::bare();
    scene.write("x.conf", "before\n");
    scene.plan(&[
        // It writes to files of the work and to the one that is no longer part of it.
        task("1.1", "x.conf, .gitignore", "echo more >> x.conf; touch .gitignore; grep -q conf .gitignore"),
        task("1.2", "out/1.2.txt", "grep -q done out/1.2.txt"),
    ]);
    let untrack = "git rm -q --cached x.conf; echo x.conf >> .gitignore";
    let agent = Agent::new().on("1.1", [scene.meet(2), Step::shell(untrack), done()]).otherwise([
        scene.meet(2),
        work(),
        done(),
    ]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.git(&["ls-tree", "--name-only", "HEAD", "x.conf"]), "", "{run}");
    assert_eq!(scene.read("x.conf"), "before\nmore\n", "{run}");
}

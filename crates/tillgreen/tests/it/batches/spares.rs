//! In a large project, trees are made of those that are done with. Nobody notices.

use std::collections::BTreeSet;

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, work};

/// Enough files for that.
const FILES: usize = 2_000;

/// Fails unless all is as it was committed, then leaves a mess that the task has no use for.
fn tidy_then_messy(scene: &Scene) -> [Step; 2] {
    let files = scene.control("files").display().to_string();
    let check = "test -z \"$(git status --porcelain --ignored)\" || { git status --porcelain --ignored; exit 7; }\n\
                 test $(ls src | wc -l) = 2000 && test -z \"$(cat src/1)\" || exit 8";
    let mess = "mkdir -p build/deep; echo x > build/deep/a.o; ln -s / build/root; chmod +x base.txt; chmod -x base.txt\n\
                git init -q build/inner";
    [Step::shell(&format!("{check}\nstat -c %i src/1 >> '{files}'")), Step::shell(mess)]
}

#[test]
fn the_next_tree_has_nothing_of_the_one_before() {
    let scene = Scene::bare();
    (0..FILES).for_each(|number| scene.write(&format!("src/{number}"), ""));
    scene.write(".gitignore", "build/\n");
    scene.plan(&members(8));
    let steps = tidy_then_messy(&scene);
    // What an attempt hides from git is its work, which is taken back with it.
    let hide = Step::shell("git update-index --assume-unchanged src/2; echo lost > src/2");
    let first = [&steps[..], &[hide, Step::Exit(3)]].concat();
    let agent = Agent::new().on_attempt("1.2", 1, first).otherwise([&steps[..], &[work(), done()]].concat());
    let run = scene.go(&agent, &["--jobs", "2", "--clean-retry"]).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    let others = ["1.1", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8"];
    assert!(others.iter().all(|task| scene.attempts(task) == 1), "{run}");
    assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
    assert_eq!(scene.read("src/2"), "", "{run}");
    assert!(!scene.has(".tillgreen/specs-demo/spare"), "none is left: {run}");
    let files = std::fs::read_to_string(scene.control("files")).expect("each agent wrote a line");
    let kept: BTreeSet<&str> = files.lines().collect();
    assert!(kept.len() < files.lines().count(), "files that nobody touched stay: {files}");
}

#[test]
fn a_run_that_was_killed_leaves_none() {
    let scene = Scene::new(&members(2));
    scene.write(".tillgreen/specs-demo/spare/0/file", "");
    scene.write(".tillgreen/specs-demo/spare/0.index", "");
    let agent = Agent::new().otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!scene.has(".tillgreen/specs-demo/spare"), "{run}");
}

//! Work trees that git cannot take in as they are: whose fault that is, and that nothing of them is lost.

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, work, worker};

/// Where the tree of the first attempt at 1.2 goes when another is made in its place.
const KEPT: &str = ".tillgreen/specs-demo/left/1.2";

fn precious() -> Step {
    Step::write("precious.txt", "precious\n")
}

#[test]
fn a_tree_that_cannot_be_taken_over_is_kept_as_it_is() {
    let scene = Scene::new(&members(2));
    let unlinked = Step::shell("rm -r \"$(git rev-parse --git-dir)\" .git && mkdir .git");
    let steps = [precious(), work(), unlinked, done()];
    let agent = Agent::new().on_attempt("1.2", 1, steps).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
    assert_eq!(scene.read(&format!("{KEPT}/precious.txt")), "precious\n", "{run}");
    assert!(run.stderr.contains(KEPT), "{run}");
    assert!(scene.feedback("1.2", 2).contains(KEPT), "the next attempt is told where it is: {run}");
}

/// Attributes tell how files are encoded, and what is in this one is not: side by side and one by one.
#[test]
fn a_file_that_git_cannot_encode_is_that_tasks_failure() {
    for jobs in ["2", "1"] {
        let scene = Scene::new(&members(2));
        scene.write(".gitattributes", "*.wide working-tree-encoding=UTF-16\n");
        scene.commit_all("attributes");
        let narrow = [Step::write("note.wide", "narrow\n"), work(), done()];
        let wide = Step::shell("printf '\\376\\377\\000n' > note.wide");
        let agent = Agent::new()
            .on_attempt("1.2", 1, narrow)
            .on("1.2", [wide, work(), done()])
            .otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
        assert!(scene.feedback("1.2", 2).contains("BOM is required in 'note.wide'"), "{run}");
        assert_eq!(scene.git(&["show", "HEAD:note.wide"]), "n", "{run}");
    }
}

/// A filter such as that for large files, which fails as long as a file is there.
fn filtered(scene: &Scene) -> std::path::PathBuf {
    let down = scene.control("down");
    scene.write(".gitattributes", "*.bin filter=large\n");
    scene.commit_all("attributes");
    let clean = format!("if test -e '{}'; then echo no answer >&2; exit 1; fi; cat", down.display());
    for (name, value) in [("clean", clean.as_str()), ("smudge", "cat"), ("required", "true")] {
        scene.git(&["config", &format!("filter.large.{name}"), value]);
    }
    down
}

#[test]
fn a_filter_that_fails_costs_no_attempt_and_no_work() {
    let scene = Scene::new(&members(2));
    let down = filtered(&scene);
    let breakdown = Step::write(&down.display().to_string(), "");
    let steps = [precious(), Step::write("large.bin", "large\n"), breakdown, done()];
    let agent = Agent::new().on("1.2", steps).otherwise([work(), done()]);
    let once = ["--max-task-iterations", "1"];
    let run = scene.go(&agent, &once).expect_code(6);
    assert!(run.stderr.contains("see that the program of this filter works"), "what to do is said: {run}");
    let run = scene.go(&worker(), &once).expect_code(6);
    assert!(run.stderr.contains("trees/1.2"), "where the work is: {run}");
    std::fs::remove_file(&down).expect("it is there");
    let run = scene.go(&worker(), &once).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(
        (scene.read("precious.txt"), scene.read("large.bin")),
        ("precious\n".into(), "large\n".into())
    );
}

/// Whoever begins each attempt afresh does without it, and it is there all the same.
#[test]
fn work_that_a_filter_held_up_outlives_a_clean_retry() {
    let scene = Scene::new(&members(2));
    let down = filtered(&scene);
    let breakdown = Step::write(&down.display().to_string(), "");
    let steps = [precious(), Step::write("large.bin", "large\n"), breakdown, done()];
    let agent = Agent::new().on("1.2", steps).otherwise([scene.meet(3), work(), done()]);
    scene.go(&agent, &[]).expect_code(6);
    let run = scene.go(&worker(), &["--clean-retry"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read(&format!("{KEPT}/precious.txt")), "precious\n", "{run}");
    assert!(run.stderr.contains(KEPT), "{run}");
}

/// A folder that git cannot open, for whoever runs this: its path is too long.
#[test]
fn a_folder_that_git_cannot_open_is_that_tasks_failure_and_is_kept() {
    let scene = Scene::new(&members(2));
    let deep = "here=$PWD; long=$(printf 'deep/%.0s' $(seq 600)); mkdir -p $long other/$long; echo x > other/${long}x; \
                cd $long; mv \"$here/other\" .";
    let steps = [precious(), work(), Step::shell(deep), done()];
    let agent = Agent::new().on_attempt("1.2", 1, steps).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
    assert!(scene.feedback("1.2", 2).contains("git cannot read deep/deep"), "{run}");
    assert_eq!(scene.read(&format!("{KEPT}/precious.txt")), "precious\n", "{run}");
}

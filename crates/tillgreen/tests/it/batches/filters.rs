//! Filters and attributes: files are not in git as they lie in working trees. Large files by git-lfs, encodings, and
//! filters that fail or are away.

use testkit::{Agent, Signal, Step, wait_for};

use super::repositories::expect_one_by_one;
use super::scene::{Scene, done, members, task, work, worker};

#[test]
fn files_pass_through_filters() {
    let scene = Scene::new(&members(2));
    scene.git(&["config", "filter.caesar.clean", "tr a-z b-za"]);
    scene.git(&["config", "filter.caesar.smudge", "tr b-za a-z"]);
    scene.git(&["config", "filter.caesar.required", "true"]);
    scene.write(".gitattributes", "*.txt filter=caesar\n");
    scene.git(&["add", "--renormalize", "."]);
    scene.commit_all("filtered");
    let uses = Step::shell("grep -q base base.txt || exit 3");
    let run = scene.go(&Agent::new().otherwise([scene.meet(2), uses, work(), done()]), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("out/1.1.txt"), "done\n");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "epof\n");
}

#[test]
fn a_filter_that_is_not_installed_means_one_by_one() {
    let scene = Scene::new(&members(2));
    scene.write(".gitattributes", "*.big filter=lfs\n");
    scene.commit_all("large files");
    for (key, value) in
        [("clean", "no-such-lfs clean %f"), ("smudge", "no-such-lfs smudge %f"), ("required", "true")]
    {
        scene.git(&["config", &format!("filter.lfs.{key}"), value]);
    }
    let run = scene.go(&worker(), &[]);
    expect_one_by_one(&scene, &run, "no-such-lfs");
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

/// Attributes tell how files are encoded, and what is in this one is not.
#[test]
fn a_file_that_git_cannot_encode_is_that_tasks_failure() {
    let scene = Scene::new(&members(2));
    scene.write(".gitattributes", "*.wide working-tree-encoding=UTF-16\n");
    scene.commit_all("attributes");
    let narrow = [Step::write("note.wide", "narrow\n"), work(), done()];
    let wide = Step::shell("printf '\\376\\377\\000n' > note.wide");
    let agent = Agent::new()
        .on_attempt("1.2", 1, narrow)
        .on("1.2", [wide, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
    assert!(scene.feedback("1.2", 2).contains("BOM is required in 'note.wide'"), "{run}");
    assert_eq!(scene.git(&["show", "HEAD:note.wide"]), "n", "{run}");
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
fn a_filter_that_fails_costs_no_attempt() {
    let scene = Scene::new(&members(2));
    let down = filtered(&scene);
    let breakdown = Step::write(&down.display().to_string(), "");
    let steps = [Step::write("large.bin", "large\n"), breakdown, done()];
    let agent = Agent::new().on("1.2", steps).otherwise([work(), done()]);
    let once = ["--max-task-iterations", "1"];
    let run = scene.go(&agent, &once).expect_code(6);
    assert!(run.stderr.contains("see that the program of this filter works"), "what to do is said: {run}");
    assert!(run.stderr.contains("/slot-"), "where the work is: {run}");
    std::fs::remove_file(&down).expect("it is there");
    let run = scene.go(&worker(), &once).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.agent_calls().iter().all(|call| call.attempt == 1), "{run}");
}

/// A batch of three in a project with a file that git can write only so often, whatever it is asked for.
fn with_writes(count: usize) -> Scene {
    let scene = Scene::new(&members(3));
    let written = scene.control("written").display().to_string();
    let smudge = format!(
        "mkdir -p {written}; for n in $(seq {count}); do mkdir {written}/$n 2>/dev/null && exec cat; done; \
                          echo away from keyboard >&2; exit 1"
    );
    scene.install_program("scarce", &smudge);
    for (key, value) in [("clean", "cat"), ("smudge", "scarce"), ("required", "true")] {
        scene.git(&["config", &format!("filter.scarce.{key}"), value]);
    }
    scene.write(".gitattributes", "*.big filter=scarce\n");
    scene.write("one.big", "big\n");
    scene.commit_all("large file");
    scene
}

#[test]
fn where_no_work_tree_can_be_made_tasks_run_one_by_one() {
    let scene = with_writes(0);
    let run = scene.go(&worker(), &[]);
    expect_one_by_one(&scene, &run, "away from keyboard");
    assert_eq!(run.stderr.matches("one by one").count(), 1, "{run}");
    let attempts: Vec<(String, u32)> =
        scene.agent_calls().into_iter().map(|call| (call.task, call.attempt)).collect();
    assert_eq!(attempts, ["1.1", "1.2", "1.3"].map(|task| (task.to_owned(), 1)), "{run}");
    assert!(!run.stderr.contains("unavailable"), "{run}");
    scene.expect_complete(&run);
}

/// Three members that add a large file each, in a project with one; none where the program is not installed.
fn with_large_files(hooks: &[&str]) -> Option<Scene> {
    let scene = Scene::bare();
    if !scene.try_git(&["lfs", "version"]).status.success() {
        eprintln!("skipped: git-lfs is not installed here");
        return None;
    }
    scene.git(&["lfs", "install", "--local"]);
    for hook in ["post-checkout", "post-commit", "post-merge", "pre-push"] {
        if !hooks.contains(&hook) {
            std::fs::remove_file(scene.root().join(".git/hooks").join(hook)).expect("git-lfs installed it");
        }
    }
    scene.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    scene.write("base.bin", "large\n");
    let member = |id| task(id, &format!("out/{id}.bin"), &format!("grep -qx 'large {id}' out/{id}.bin"));
    scene.plan(&["1.1", "1.2", "1.3"].map(member));
    Some(scene)
}

fn large() -> Step {
    Step::shell("mkdir -p out && echo \"large $TILLGREEN_TASK_ID\" > \"out/$TILLGREEN_TASK_ID.bin\"")
}

/// Git has the pointer, the project the file, and what the pointer means is there.
#[track_caller]
fn expect_large(scene: &Scene, path: &str, content: &str) {
    let pointer = scene.git(&["show", &format!("HEAD:{path}")]);
    assert!(pointer.starts_with("version https://git-lfs.github.com/spec/"), "{path}: {pointer}");
    assert_eq!(scene.read(path), content, "{path}");
    scene.git(&["lfs", "fsck"]);
}

#[test]
fn large_files_come_back_side_by_side_and_one_by_one_with_hooks_and_without() {
    for hooks in [&[][..], &["pre-push"], &["post-checkout", "post-commit", "post-merge", "pre-push"]] {
        for jobs in ["1", "3"] {
            let Some(scene) = with_large_files(hooks) else { return };
            let change = Step::shell("grep -qx large base.bin || exit 3; echo larger > base.bin");
            let agent = Agent::new().on("1.2", [change, large(), done()]).otherwise([large(), done()]);
            let run = scene.go(&agent, &["--jobs", jobs]).expect_code(0);
            scene.expect_complete(&run);
            assert_eq!((scene.agent_calls().len(), run.stderr.contains("one by one")), (3, false), "{run}");
            expect_large(&scene, "base.bin", "larger\n");
            for id in ["1.1", "1.2", "1.3"] {
                expect_large(&scene, &format!("out/{id}.bin"), &format!("large {id}\n"));
            }
        }
    }
}

#[test]
fn a_conflict_in_a_large_file_is_told_and_settled_by_the_next_attempt() {
    let Some(scene) = with_large_files(&["post-commit", "pre-push"]) else { return };
    let both = Step::shell("echo $TILLGREEN_TASK_ID >> base.bin");
    let first = [scene.meet(2), both.clone(), large(), scene.until_done("1.1"), done()];
    let agent = Agent::new()
        .on("1.1", [scene.meet(2), both.clone(), large(), done()])
        .on_attempt("1.2", 1, first)
        .on("1.2", [both, large(), done()])
        .otherwise([large(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
    assert!(scene.feedback("1.2", 2).contains("base.bin"), "{run}");
    expect_large(&scene, "base.bin", "large\n1.1\n1.2\n");
}

#[test]
fn large_files_outlive_a_program_that_is_killed_as_they_come_in() {
    let Some(scene) = with_large_files(&["post-commit", "pre-push"]) else { return };
    let file = scene.root().join("out/1.1.bin");
    let agent = Agent::new().otherwise([work(), large(), done()]);
    let mut run = scene.begin(&agent, &[]);
    wait_for("work to come in", || file.exists());
    run.signal(Signal::Kill);
    run.wait();
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    for id in ["1.1", "1.2", "1.3"] {
        expect_large(&scene, &format!("out/{id}.bin"), &format!("large {id}\n"));
    }
}

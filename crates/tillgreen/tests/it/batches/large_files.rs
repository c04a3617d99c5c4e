//! Large files that git-lfs keeps, by the real program: git holds pointers to them, and working trees the files.

use testkit::{Agent, Signal, Step, wait_for};

use super::scene::{Scene, done, task, work};

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
    let agent = Agent::new().on("1.3", [large(), done()]).otherwise([scene.meet(2), both, large(), done()]);
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

//! What is left of work trees when git cannot let go of it: it goes as soon as that is possible, and until then it is told.

use testkit::{Agent, Step};

use super::scene::{Scene, TREES, done, member, members, work, worker};

/// Locks the list of references, as a git that died there leaves it.
fn lock(scene: &Scene) -> Step {
    Step::write(&packed_refs_lock(scene), "")
}

fn packed_refs_lock(scene: &Scene) -> String {
    scene.root().join(".git/packed-refs.lock").display().to_string()
}

/// Git does not wait for the lock.
fn impatient(scene: &Scene) {
    scene.git(&["config", "core.packedRefsTimeout", "0"]);
}

fn references(scene: &Scene) -> usize {
    scene.git(&["for-each-ref", "refs/tillgreen"]).lines().count()
}

#[test]
fn references_that_are_locked_go_at_the_next_start() {
    let scene = Scene::new(&members(3));
    impatient(&scene);
    let agent =
        Agent::new().on("1.1", [lock(&scene), work(), done()]).otherwise([scene.meet(2), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
    // One for each task, and one for what was being verified.
    assert_eq!((references(&scene), scene.trees().len()), (4, 0), "{run}");
    let lock = packed_refs_lock(&scene);
    assert_eq!(run.stderr.matches(&format!("rm '{lock}'")).count(), 1, "{run}");
    assert!(run.stderr.contains("3 finished tasks"), "{run}");
    // As long as it is locked, that is said.
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(run.stderr.matches(&format!("rm '{lock}'")).count(), 1, "{run}");
    std::fs::remove_file(&lock).unwrap();
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!run.stderr.contains("packed-refs.lock"), "{run}");
}

#[test]
fn references_that_were_locked_for_a_while_are_gone_in_the_end() {
    let mut tasks = members(2);
    tasks.push(member("1.3").replace(" [P]", ""));
    let scene = Scene::new(&tasks);
    impatient(&scene);
    let trees = scene.root().join(TREES).display().to_string();
    let removed =
        Step::shell(&format!("while test -e {trees}/1.1 || test -e {trees}/1.2; do sleep 0.02; done"));
    let unlock = Step::Delete(packed_refs_lock(&scene));
    let agent = Agent::new()
        .on("1.1", [lock(&scene), work(), done()])
        .on("1.3", [removed, unlock, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!run.stderr.contains("packed-refs.lock"), "{run}");
}

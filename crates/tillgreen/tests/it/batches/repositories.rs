//! Projects of all kinds: with sparse checkouts, without commits, without git, in a linked working tree. Tasks run side by
//! side where that can be done, and one by one, with a word about it, where it cannot; in one tree, if that is asked for.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step};

use super::scene::{PROGRAM, Scene, done, members, plan, work, worker};

/// All was done one after another, in the project itself, and this was said.
#[track_caller]
pub(super) fn expect_one_by_one(scene: &Scene, run: &Finished, reason: &str) {
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("one by one") && run.stderr.contains(reason), "{reason:?} is missing: {run}");
    let root = scene.root().display().to_string();
    assert!(scene.agent_calls().iter().all(|call| call.folder == root), "{run}");
    assert!(!scene.tasks("demo").contains("- [ ]"));
}

#[test]
fn without_git_the_tree_is_shared() {
    let sandbox = Sandbox::without_git(Path::new(PROGRAM));
    sandbox.spec("demo", &plan(&members(3)));
    let scene = Scene::within(sandbox);
    let run = scene.go(&Agent::new().otherwise([scene.meet(3), work(), done()]), &[]).expect_code(0);
    assert!(run.stdout.contains("ALL_TASKS_COMPLETE") && !scene.tasks("demo").contains("- [ ]"), "{run}");
    assert!((1..=3).all(|number| scene.has(&format!("out/1.{number}.txt"))));
}

#[test]
fn the_tree_is_shared_on_request() {
    let scene = Scene::new(&members(3));
    let agent = Agent::new().otherwise([scene.meet(3), work(), done()]);
    let run = scene.go(&agent, &["--share-tree"]).expect_code(0);
    let root = scene.root().display().to_string();
    assert!(scene.agent_calls().iter().all(|call| call.folder == root), "{run}");
    scene.expect_settled(&run);
    assert!((1..=3).all(|number| scene.git(&["ls-files"]).contains(&format!("out/1.{number}.txt"))));
}

/// Waits in an agent until the boxes of all these tasks are ticked.
fn await_boxes(ids: &[&str]) -> Step {
    let tests = ids.iter().map(|id| {
        format!("until grep -q '^- .x. {id} ' specs/demo/tasks.md; do sleep 0.02; done").replace("1.", "1\\.")
    });
    Step::shell(&tests.collect::<Vec<_>>().join("\n"))
}

#[test]
fn nobody_is_charged_with_what_others_change_in_their_own_files() {
    let scene = Scene::new(&members(3));
    let agent = Agent::new()
        .on("1.1", [work(), scene.meet(3), await_boxes(&["1.2", "1.3"]), done()])
        .otherwise([work(), scene.meet(3), done()]);
    let flags = ["--share-tree", "--scope", "reject", "--max-task-iterations", "1"];
    let run = scene.go(&agent, &flags).expect_code(0);
    scene.expect_settled(&run);
    assert!(!run.stderr.contains("outside"), "{run}");
    for id in ["1.1", "1.2", "1.3"] {
        let grep = format!("^feat: task {id}$").replace("1.", "1\\.");
        let files = scene.git(&["log", "--format=", "--name-only", &format!("--grep={grep}")]);
        assert_eq!(files.trim(), format!("out/{id}.txt"), "{run}");
    }
}

#[test]
fn what_a_task_breaks_in_its_own_files_is_not_committed_with_another() {
    let scene = Scene::new(&members(2));
    let agent = Agent::new()
        .on("1.1", [Step::write("out/1.1.txt", "broken\n"), scene.meet(2), await_boxes(&["1.2"]), done()])
        .otherwise([work(), scene.meet(2), done()]);
    let run = scene.go(&agent, &["--share-tree", "--max-task-iterations", "1"]).expect_code(1);
    assert_eq!(scene.landed(), ["1.2"], "{run}");
    assert_eq!(scene.dirt(), ["?? out/1.1.txt"], "{run}");
}

#[test]
fn what_lies_in_nobodys_files_is_still_outside() {
    let scene = Scene::new(&members(2));
    let stray = Step::write("stray.txt", "x\n");
    let agent = Agent::new().on("1.1", [work(), scene.meet(2), await_boxes(&["1.2"]), done()]).otherwise([
        work(),
        stray,
        scene.meet(2),
        done(),
    ]);
    let run = scene.go(&agent, &["--share-tree"]).expect_code(0);
    assert!(run.stderr.contains("changed outside the task's Files: stray.txt"), "{run}");
    assert!(!run.stderr.contains("Files: out"), "{run}");
}

#[test]
fn agents_that_keep_the_books_work_one_by_one() {
    let scene = Scene::new(&members(2));
    let tick = Step::shell(
        "sed -i \"s/^- \\[ \\] $TILLGREEN_TASK_ID /- [x] $TILLGREEN_TASK_ID /\" specs/demo/tasks.md",
    );
    let agent = Agent::new().otherwise([work(), tick, Step::commit("feat: all"), done()]);
    let run = scene.go(&agent, &["--bookkeeping", "agent"]);
    expect_one_by_one(&scene, &run, "agents keep the books themselves");
}

#[test]
fn with_uncommitted_changes_tasks_run_one_by_one() {
    let scene = Scene::new(&members(2));
    scene.write("mine.txt", "mine\n");
    let run = scene.go(&worker(), &["--allow-dirty"]);
    expect_one_by_one(&scene, &run, "mine.txt");
    assert_eq!(scene.dirt(), ["?? mine.txt"]);
}

#[test]
fn before_the_first_commit_tasks_run_one_by_one() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", &plan(&members(2)));
    let scene = Scene::within(sandbox);
    let run = scene.go(&worker(), &["--allow-dirty"]);
    expect_one_by_one(&scene, &run, "");
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    let scene = Scene::new(&members(2));
    scene.write("far/away.txt", "away\n");
    scene.commit_all("far");
    scene.git(&["sparse-checkout", "set", "--cone", "specs", "out"]);
    let run = scene.go(&Agent::new().otherwise([scene.meet(2), work(), done()]), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(!scene.has("far/away.txt"));
    assert!(scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]).contains("far/away.txt"));
}

#[test]
fn new_files_outside_a_sparse_checkout_come_in_side_by_side_and_one_by_one() {
    for jobs in ["1", "2"] {
        let scene = Scene::new(&members(2));
        scene.write("far/away.txt", "away\n");
        scene.commit_all("far");
        scene.git(&["sparse-checkout", "set", "--cone", "specs"]);
        let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.agent_calls().len(), 2, "{run}");
        assert!(!scene.has("far/away.txt"), "{run}");
        assert_eq!(scene.git(&["show", "HEAD:out/1.2.txt"]), "done\n", "{run}");
    }
}

#[test]
fn a_project_in_a_folder_of_a_repository_and_in_a_linked_tree() {
    let scene = Scene::new(&members(2));
    let linked = scene.root().with_file_name("linked");
    scene.git(&["worktree", "add", "-q", "-b", "side", &linked.display().to_string()]);
    let command = scene.install_agent(&worker());
    let run =
        scene.command(&["run", "--jobs", "4", "--agent-cmd", &command]).dir(&linked).run().expect_code(0);
    assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
    assert_eq!(scene.trees(), [linked.display().to_string()], "only the one that was there");
    assert_eq!(scene.landed(), [""; 0], "nothing happened on the other branch");
    let log = scene.git(&["log", "--format=%s", "side"]);
    assert!(log.contains("feat: task 1.1") && log.contains("feat: task 1.2"), "{log}");
}

/// A loss of power must not take what the journal names.
#[test]
fn what_the_journal_names_is_made_durable() {
    let scene = Scene::new(&members(2));
    let log = scene.control("updates");
    scene.hook(
        "reference-transaction",
        &format!(
            "test $1 = committed || exit 0\n\
             while read old new name; do echo \"$name $new $GIT_CONFIG_PARAMETERS\" >> {}; done",
            log.display()
        ),
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let updates = std::fs::read_to_string(&log).expect("references were updated");
    let is_deleted =
        |line: &str| line.split(' ').nth(1).is_some_and(|to| to.bytes().all(|byte| byte == b'0'));
    let made: Vec<&str> = updates.lines().filter(|line| !is_deleted(line)).collect();
    for name in ["refs/heads/", "refs/tillgreen/"] {
        let of_name: Vec<&&str> = made.iter().filter(|line| line.starts_with(name)).collect();
        assert!(of_name.len() >= 2, "{name}: {updates}");
        let lacking: Vec<_> =
            of_name.iter().filter(|line| !line.contains("'core.fsync'='committed'")).collect();
        assert!(lacking.is_empty(), "{lacking:#?}");
    }
}

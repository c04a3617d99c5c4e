//! Projects of all kinds: with submodules, filters, sparse checkouts, without commits, without git. Tasks run side by
//! side where that can be done, and one by one, with a word about it, where it cannot.

use std::path::Path;

use testkit::{Agent, Finished, Repository, Sandbox, Signal, Step, wait_for};

use super::scene::{PROGRAM, Scene, done, members, plan, work, worker};

/// All was done one after another, in the project itself, and this was said.
#[track_caller]
fn expect_one_by_one(scene: &Scene, run: &Finished, reason: &str) {
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

/// Two members and a submodule.
pub(super) fn with_submodule() -> Scene {
    let scene = Scene::new(&members(2));
    let other = Repository::init(&scene.root().with_file_name("other"), scene.home());
    other.write("lib.txt", "lib\n");
    other.commit_all("lib");
    let url = other.root().display().to_string();
    scene.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
    scene.commit_all("submodule");
    scene
}

#[test]
fn uncommitted_changes_in_a_submodule_are_that_tasks_failure_and_are_kept() {
    let scene = with_submodule();
    let edit = Step::shell("echo better >> lib/lib.txt; echo new > lib/new.txt");
    let again = Step::shell("git -C lib add -A && git -C lib commit -q -m better || exit 5");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [edit, work(), done()])
        .on("1.2", [again, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let feedback = scene.feedback("1.2", 2);
    for part in ["The submodule lib has uncommitted changes (lib.txt, new.txt)", "git -C lib commit"] {
        assert!(feedback.contains(part), "{part:?} is missing in {feedback}");
    }
    assert_eq!(
        (scene.read("lib/lib.txt"), scene.read("lib/new.txt")),
        ("lib\nbetter\n".to_owned(), "new\n".to_owned())
    );
}

#[test]
fn uncommitted_changes_in_a_submodule_outlive_a_program_that_is_killed() {
    let scene = with_submodule();
    let (ready, go) = (scene.control("ready").display().to_string(), scene.control("go"));
    let edit = Step::shell("echo better >> lib/lib.txt");
    let wait = [edit, Step::write(&ready, ""), Step::AwaitFile(go.display().to_string()), done()];
    let agent = Agent::new().on("1.2", wait).otherwise([work(), done()]);
    let mut run = scene.begin(&agent, &[]);
    wait_for("the agent", || scene.control("ready").exists());
    run.signal(Signal::Kill);
    run.wait();
    let again = Step::shell("git -C lib commit -qam better || exit 5");
    let run = scene.go(&Agent::new().on("1.2", [again, work(), done()]).otherwise([work(), done()]), &[]);
    assert_eq!(run.code, Some(0), "{run}");
    scene.expect_complete(&run);
    assert_eq!(scene.read("lib/lib.txt"), "lib\nbetter\n");
}

#[test]
fn what_a_build_leaves_in_a_submodule_is_no_failure_and_is_told() {
    let scene = with_submodule();
    let build = Step::shell("echo object > lib/lib.o");
    let agent = Agent::new().on("1.2", [build, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 2, "{run}");
    assert!(run.stderr.contains("uncommitted in the submodule lib, and kept there as commit"), "{run}");
    let kept = scene.git(&["-C", "lib", "for-each-ref", "--format=%(objectname)", "refs/tillgreen-left"]);
    assert_eq!(scene.git(&["-C", "lib", "show", &format!("{}:lib.o", kept.trim())]), "object\n");
}

#[test]
fn commits_in_a_submodule_are_carried_into_the_next_attempt() {
    let scene = with_submodule();
    let edit = Step::shell("echo better >> lib/lib.txt; git -C lib commit -qam better");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [edit, done()])
        .on("1.2", [Step::shell("grep -q better lib/lib.txt || exit 5"), work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert_eq!(scene.read("lib/lib.txt"), "lib\nbetter\n");
}

#[test]
fn submodules_are_there_in_every_tree() {
    let scene = with_submodule();
    let uses = Step::shell("grep -q lib lib/lib.txt || exit 3");
    let run = scene.go(&Agent::new().otherwise([scene.meet(2), uses, work(), done()]), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("lib/lib.txt"), "lib\n");
}

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
fn a_hook_that_refuses_references_means_one_by_one() {
    let scene = Scene::new(&members(2));
    let refuse = "test $1 = prepared || exit 0\nwhile read -r old new name; do case $name in refs/tillgreen*) \
                  echo \"$name is not allowed\" >&2; exit 1;; esac; done";
    scene.hook("reference-transaction", refuse);
    let run = scene.go(&worker(), &[]);
    expect_one_by_one(&scene, &run, "refuses references under refs/tillgreen/: refs/tillgreen/");
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

#[test]
fn whoever_has_a_work_tree_ends_there_when_the_next_gets_none() {
    let scene = with_writes(1);
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!(run.stderr.matches("one by one").count(), 1, "{run}");
    let root = scene.root().display().to_string();
    let calls = scene.agent_calls();
    assert_eq!(calls.iter().filter(|call| call.folder != root).count(), 1, "{run}");
    assert_eq!(calls.len(), 3, "{run}");
    scene.expect_complete(&run);
}

#[test]
fn a_retry_that_gets_no_work_tree_begins_afresh_in_the_project() {
    for flags in [&[][..], &["--clean-retry"]] {
        let scene = with_writes(3);
        let half = Step::write("half.txt", "half\n");
        // Each has its tree before one of them wants another.
        let agent = Agent::new().on_attempt("1.2", 1, [scene.meet(3), half, Step::Exit(3)]);
        let agent = agent.otherwise([scene.meet(3), work(), done()]);
        let run = scene.go(&agent, flags).expect_code(0);
        assert_eq!((scene.attempts("1.2"), scene.agent_calls().len()), (2, 4), "{run}");
        assert!(!scene.has("half.txt"), "{run}");
        assert_eq!(run.stderr.contains("is not brought along"), flags.is_empty(), "{run}");
        scene.expect_complete(&run);
    }
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
fn new_files_outside_a_sparse_checkout_come_back_side_by_side_and_one_by_one() {
    for jobs in ["1", "2"] {
        let scene = Scene::new(&members(2));
        scene.write("far/away.txt", "away\n");
        scene.commit_all("far");
        scene.git(&["sparse-checkout", "set", "--cone", "specs"]);
        let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.agent_calls().len(), 2, "{run}");
        assert!(!scene.has("far/away.txt") && scene.has("out/1.2.txt"), "{run}");
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

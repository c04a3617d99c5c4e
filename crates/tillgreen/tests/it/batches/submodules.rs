//! Submodules that agents remove, add or leave changed in work trees.

use std::fs;

use testkit::{Agent, Finished, Repository, Signal, Step, wait_for};

use super::repositories::with_submodule;
use super::scene::{JOURNAL, Scene, done, member, members, task, work};

fn remove() -> Step {
    Step::shell("test ! -e lib || git rm -q -f lib || exit 5")
}

/// The submodule is gone from the project and its history.
#[track_caller]
fn expect_removed(scene: &Scene, run: &Finished) {
    scene.expect_complete(run);
    assert!(!scene.has("lib"), "{run}");
    assert_eq!(scene.git(&["ls-tree", "HEAD", "lib"]), "", "{run}");
}

#[test]
fn a_submodule_that_is_removed_in_a_work_tree_is_gone_from_the_project() {
    let scene = with_submodule();
    let agent = Agent::new().on("1.2", [remove(), work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(0);
    expect_removed(&scene, &run);
}

/// The work of the second task is green in its tree, red in the project, and green from then on.
fn first_red_together() -> Scene {
    let scene = with_submodule();
    let times = scene.control("times");
    fs::create_dir_all(&times).expect("a folder can be made");
    let times = times.display();
    let verify = format!("n=$(ls {times} | wc -l); mkdir {times}/$n; test $n -ne 1");
    scene.spec("demo", &super::scene::plan(&[member("1.1"), task("1.2", "lib", &verify)]));
    scene.commit_all("plan");
    scene
}

#[test]
fn a_submodule_is_there_again_where_its_removal_does_not_stay() {
    let scene = first_red_together();
    let (root, back) = (scene.root().display().to_string(), scene.control("back").display().to_string());
    let look = Step::shell(&format!("cat {root}/lib/lib.txt > {back}; test ! -e lib || exit 5"));
    let agent = Agent::new()
        .on_attempt("1.2", 1, [remove(), work(), done()])
        .on("1.2", [look, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "2"]).expect_code(0);
    expect_removed(&scene, &run);
    assert_eq!(fs::read_to_string(&back).expect("the second attempt looked"), "lib\n", "{run}");
}

#[test]
fn a_submodule_that_became_a_folder_is_one_again_where_that_does_not_stay() {
    let scene = first_red_together();
    let (root, back) = (scene.root().display().to_string(), scene.control("back").display().to_string());
    let make = Step::shell("git rm -q --cached lib; rm -rf lib/.git; git rm -q -f .gitmodules");
    let look = Step::shell(&format!("git -C {root}/lib status --porcelain --branch > {back} || exit 5"));
    let agent = Agent::new()
        .on_attempt("1.2", 1, [make, work(), done()])
        .on("1.2", [look, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "2"]).expect_code(0);
    scene.expect_complete(&run);
    let seen = fs::read_to_string(&back).expect("the second attempt looked");
    assert_eq!(seen, "## HEAD (no branch)\n", "{run}");
    assert_eq!(scene.git(&["ls-files", "lib"]), "lib/lib.txt\n", "{run}");
}

/// Half of it, without the submodule itself, would be the work of an attempt that goes on from there.
#[test]
fn a_submodule_that_is_moved_in_a_work_tree_is_not_half_moved() {
    let scene = with_submodule();
    scene.spec(
        "demo",
        &super::scene::plan(&[member("1.1"), task("1.2", "moved", "grep -q moved .gitmodules")]),
    );
    scene.commit_all("plan");
    let shift = Step::shell("test -e moved || git mv lib moved || exit 5");
    let agent = || Agent::new().on_attempt("1.2", 1, [shift.clone(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent(), &["--max-task-iterations", "2"]).expect_code(1);
    assert!(scene.feedback("1.2", 2).contains("moved is a repository of its own"), "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.2"), "{run}");
    assert_eq!(scene.git(&["ls-files", "--stage", "lib"]).split_whitespace().next(), Some("160000"), "{run}");
    let run = scene.go(&agent(), &["--jobs", "1", "--fresh"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.git(&["ls-tree", "HEAD", "moved"]).split_whitespace().next(), Some("160000"), "{run}");
}

/// An agent that adds a submodule with the second task.
fn adding(scene: &Scene) -> Agent {
    let other = Repository::init(&scene.root().with_file_name("other"), scene.home());
    other.write("lib.txt", "lib\n");
    other.commit_all("lib");
    let url = other.root().display();
    let add = Step::shell(&format!(
        "test -e lib || git -c protocol.file.allow=always submodule --quiet add {url} lib || exit 5\n\
         git -C lib rev-parse -q --verify HEAD > /dev/null || exit 6"
    ));
    Agent::new().on("1.2", [add, work(), done()]).otherwise([work(), done()])
}

#[test]
fn a_submodule_that_is_added_in_the_project_itself_is_committed() {
    let scene = Scene::new(&members(2));
    let run = scene.go(&adding(&scene), &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    let tree = scene.git(&["ls-tree", "-r", "HEAD", "lib", ".gitmodules"]);
    assert!(tree.contains("160000 commit") && tree.contains("\t.gitmodules"), "{tree} {run}");
}

/// It fails each time, with what to do, and is a repository each time.
#[test]
fn a_submodule_that_is_added_in_a_work_tree_does_not_become_plain_files() {
    let scene = Scene::new(&members(2));
    let agent = adding(&scene);
    let run = scene.go(&agent, &["--max-task-iterations", "2"]).expect_code(1);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert_eq!(
        run.stderr.matches("left what cannot come back: lib is a repository of its own").count(),
        2,
        "{run}"
    );
    assert!(scene.feedback("1.2", 2).contains("tillgreen run --jobs 1"), "{run}");
}

#[test]
fn what_is_left_in_a_submodule_is_kept_also_where_that_does_not_know_who_commits() {
    let scene = with_submodule();
    for (name, value) in [("user.name", "Pat"), ("user.email", "pat@example.org")] {
        scene.git(&["config", name, value]);
    }
    scene.git(&["config", "--global", "--remove-section", "user"]);
    scene.git(&["config", "--global", "user.useConfigOnly", "true"]);
    let edit = Step::shell("echo better >> lib/lib.txt");
    let undo = Step::shell("git -C lib reset -q --hard || exit 5");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [edit, work(), done()])
        .on("1.2", [undo, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(
        scene.feedback("1.2", 2).contains("The submodule lib has uncommitted changes (lib.txt)"),
        "{run}"
    );
}

#[test]
fn uncommitted_changes_in_a_submodule_of_the_project_itself_are_that_tasks_failure() {
    let scene = with_submodule();
    let edit = Step::shell("echo better >> lib/lib.txt; echo new > lib/new.txt");
    let again = Step::shell("git -C lib add -A && git -C lib commit -q -m better || exit 5");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [edit, work(), done()])
        .on_attempt("1.2", 2, [work(), done()])
        .on("1.2", [again, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 3), "{run}");
    assert!(
        scene.feedback("1.2", 2).contains("The submodule lib has uncommitted changes (lib.txt, new.txt)"),
        "{run}"
    );
    let told = "task 1.2 left changes in the submodule lib that are not committed there";
    assert_eq!(run.stderr.matches(told).count(), 2, "{run}");
    let asked = scene.git(&["rev-parse", "HEAD:lib"]);
    assert_eq!(asked, scene.git(&["-C", "lib", "rev-parse", "HEAD"]), "{run}");
}

#[test]
fn new_files_in_a_submodule_of_the_project_itself_are_told_of_and_no_failure() {
    let scene = with_submodule();
    let build = Step::shell("echo new > lib/new.txt");
    let agent = Agent::new().on("1.2", [build, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    scene.expect_done(&run);
    assert_eq!(scene.attempts("1.2"), 1, "{run}");
    assert!(run.stderr.contains("not with its work: new.txt"), "{run}");
}

fn left_inside(scene: &Scene) -> String {
    scene.git(&["-C", "lib", "for-each-ref", "refs/tillgreen-left", "refs/tillgreen"])
}

#[test]
fn what_was_left_in_a_submodule_and_is_committed_since_is_kept_no_more() {
    let scene = with_submodule();
    let ready = scene.control("ready");
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let edit = Step::shell("echo better >> lib/lib.txt");
    let agent = Agent::new()
        .on("1.2", [edit, Step::write(&ready.display().to_string(), ""), never])
        .otherwise([work(), done()]);
    let mut run = scene.begin(&agent, &[]);
    wait_for("the agent", || ready.exists());
    run.signal(Signal::Kill);
    run.wait();
    let commit = Step::shell("git -C lib commit -qam better || exit 5");
    let run = scene.go(&Agent::new().on("1.2", [commit, work(), done()]).otherwise([work(), done()]), &[]);
    scene.expect_complete(&run);
    assert_eq!(
        (scene.read("lib/lib.txt"), left_inside(&scene)),
        ("lib\nbetter\n".to_owned(), String::new()),
        "{run}"
    );
}

#[test]
fn what_was_left_in_a_submodule_and_is_not_taken_up_stays() {
    let scene = with_submodule();
    let edit = Step::shell("echo better >> lib/lib.txt");
    let agent = Agent::new().on_attempt("1.2", 1, [edit, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--clean-retry"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(left_inside(&scene).lines().count(), 1, "{run}");
}

/// What the repository of the submodule says, which its work trees share.
fn settings_inside(scene: &Scene) -> String {
    scene.read(".git/modules/lib/config")
}

const PUT_BACK: &str = "an agent changed where the submodule lib says that its files are";

/// What agents type, with what they did before.
const UPDATES: [&str; 4] = [
    "git submodule --quiet update --init || exit 5",
    "rm lib/lib.txt; git submodule --quiet update --init --force --recursive || exit 5",
    "git submodule --quiet update --init --checkout || exit 5",
    "echo better >> lib/lib.txt; git -C lib commit -qam better && git add lib && \
     git submodule --quiet update --init || exit 5",
];

#[test]
fn an_agent_that_updates_submodules_in_its_work_tree_does_no_harm() {
    for update in UPDATES {
        let scene = with_submodule();
        let before = settings_inside(&scene);
        let ready = scene.control("ready").display().to_string();
        // The other one's work is looked at and verified while the settings are those of the work tree.
        let agent = Agent::new()
            .on("1.1", [Step::AwaitFile(ready.clone()), work(), done()])
            .on("1.2", [Step::shell(update), Step::write(&ready, ""), scene.until_passed(1), work(), done()])
            .otherwise([work(), done()]);
        let run = scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1), "{update}: {run}");
        assert_eq!(settings_inside(&scene), before, "{update}: {run}");
        assert_eq!(scene.git(&["-C", "lib", "status", "--porcelain"]), "", "{update}: {run}");
        assert_eq!(run.stderr.matches(PUT_BACK).count(), 1, "{update}: {run}");
    }
}

#[test]
fn settings_of_a_submodule_are_put_back_after_a_program_that_was_killed() {
    let scene = with_submodule();
    let before = settings_inside(&scene);
    let ready = scene.control("ready");
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let update = Step::shell("git submodule --quiet update --init || exit 5");
    // Nobody's tree is made and nobody's work looked at from then on, so that nothing is put back before.
    let ready_step = Step::write(&ready.display().to_string(), "");
    let agent = Agent::new()
        .on("1.2", [scene.meet(2), update, ready_step, never.clone()])
        .otherwise([scene.meet(2), never]);
    let mut run = scene.begin(&agent, &[]);
    wait_for("the agent", || ready.exists());
    run.signal(Signal::Kill);
    run.wait();
    let run = scene.go(&Agent::new().otherwise([work(), done()]), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(settings_inside(&scene), before, "{run}");
    assert_eq!(run.stderr.matches(PUT_BACK).count(), 1, "{run}");
}

/// An agent updates submodules after the work of another was last looked at, and before that is verified in the project: a
/// hook makes something else of it as it is committed, which takes a while.
#[test]
fn verify_commands_find_submodules_where_they_are() {
    let scene = with_submodule();
    let [begun, updated] = ["begun", "updated"].map(|name| scene.control(name).display().to_string());
    let (root, journal) = (scene.root().display().to_string(), scene.root().join(JOURNAL));
    let verify = format!("test $PWD != {root} || test $(git -C lib rev-parse --show-toplevel) = {root}/lib");
    scene.spec("demo", &super::scene::plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]));
    scene.commit_all("plan");
    scene.hook(
        "pre-commit",
        &format!(
            "git diff --cached --name-only | grep -q out/1.1.txt && test ! -e {begun} || exit 0\n: > {begun}\n\
             while ! test -e {updated}; do sleep 0.02; done\necho more >> out/1.1.txt; git add out/1.1.txt"
        ),
    );
    let update = Step::shell("git submodule --quiet update --init || exit 5");
    let journal = journal.display();
    let wait = format!("while ! grep -qE 'task_done|attempt_failed' '{journal}'; do sleep 0.02; done");
    let steps =
        [Step::AwaitFile(begun), update, Step::write(&updated, ""), Step::shell(&wait), work(), done()];
    let agent = Agent::new().on("1.2", steps).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches(PUT_BACK).count(), 1, "{run}");
}

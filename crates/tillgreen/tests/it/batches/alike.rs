//! Odd agents, one by one and side by side: whatever they do, the same comes of it.

use testkit::{Agent, Finished, Step};

use super::repositories::with_submodule;
use super::scene::{Scene, done, members, work};

/// Three members and a file that is there before them.
fn three() -> Scene {
    Scene::new(&members(3))
}

/// Two, of which the second may fail for good without keeping others from being done.
fn two() -> Scene {
    Scene::new(&members(2))
}

/// Runs the same plan both ways, with an agent that does this at the second task before its work. What is committed, what is
/// left in the project, how often was tried and how it ended is the same.
#[track_caller]
fn check(scene: impl Fn() -> Scene, odd: &str) -> [(Scene, Finished); 2] {
    let runs = ["1", "3"].map(|jobs| {
        let scene = scene();
        let agent = Agent::new().on("1.2", [Step::shell(odd), work(), done()]).otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs, "--max-task-iterations", "2"]);
        (scene, run)
    });
    let [one_by_one, side_by_side] = runs.each_ref().map(|(scene, run)| {
        // Where a submodule comes from is another folder each time.
        let files: Vec<String> =
            scene.files().into_iter().filter(|line| !line.contains(".gitmodules")).collect();
        (run.code, scene.attempts("1.2"), files)
    });
    let [(_, first), (_, second)] = &runs;
    assert_eq!(one_by_one, side_by_side, "{odd}\n{first}\n{second}");
    runs
}

/// The same where no attempt can succeed as long as the agent does this, and the next one is told so.
#[track_caller]
fn check_refused(scene: impl Fn() -> Scene, odd: &str, feedback: &str) {
    for (scene, run) in check(scene, odd) {
        assert_eq!(run.code, Some(1), "{odd}: {run}");
        let told = scene.feedback("1.2", 2);
        assert!(told.contains(feedback), "{odd}: {feedback:?} is missing in {told}\n{run}");
    }
}

/// With a commit in it, which git would take for a submodule's.
const COMMITTED: &str = "git init -q nest; echo 1 > nest/f; git -C nest add f; git -C nest commit -q -m x; git add nest 2>/dev/null";

#[test]
fn a_repository_that_an_agent_makes_fails_the_attempt() {
    let told = "nest is a repository of its own";
    for odd in
        ["git init -q nest; echo 1 > nest/f", "git worktree add -q nest -b b$TILLGREEN_ATTEMPT", COMMITTED]
    {
        check_refused(two, odd, told);
    }
    check_refused(two, "git init -q a/b/nest", "a/b/nest is a repository of its own");
}

#[test]
fn an_agent_that_heeds_the_feedback_on_its_repository_gets_through() {
    for (odd, file) in [
        ("rm -rf nest/.git", Some("nest/f")),
        ("echo nest/ >> .gitignore", None),
        ("rm -rf nest/.git; git add -A", Some("nest/f")),
    ] {
        let odd = format!("if test $TILLGREEN_ATTEMPT = 1; then {COMMITTED}; git reset -q; else {odd}; fi");
        for (scene, run) in check(three, &odd) {
            scene.expect_complete(&run);
            assert_eq!(scene.attempts("1.2"), 2, "{run}");
            assert_eq!(scene.git(&["ls-files", "nest"]).lines().next(), file, "{run}");
        }
    }
}

#[test]
fn a_repository_that_an_agent_commits_itself_is_no_submodule_either() {
    let scene = two();
    let undo = Step::shell("rm -rf nest/.git; git rm -q --cached nest; git add nest; git commit -q -m plain");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::shell(&format!("{COMMITTED}; git commit -q -m nest")), work(), done()])
        .on("1.2", [undo, work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    assert!(scene.feedback("1.2", 2).contains("nest is a repository of its own"), "{run}");
    assert_eq!(scene.git(&["ls-files", "nest"]), "nest/f\n", "{run}");
    assert_eq!(scene.dirt(), [""; 0], "{run}");
}

#[test]
fn repositories_that_lay_there_before_are_nobodys_doing() {
    let before = || {
        let scene = three();
        scene.write(".gitignore", "mine/\n");
        scene.commit_all("ignore");
        for folder in ["mine", "theirs"] {
            scene.git(&["init", "-q", folder]);
        }
        scene
    };
    let scene = before();
    let odd = Step::shell("echo 1 > mine/f; echo 1 > theirs/f");
    let agent = Agent::new().on("1.2", [odd, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1", "--allow-dirty"]).expect_code(0);
    assert_eq!((scene.landed().len(), scene.agent_calls().len()), (3, 3), "{run}");
    assert!(!run.stderr.contains("repository of its own"), "{run}");
}

#[test]
fn only_who_left_something_in_a_submodule_is_told_of() {
    for (_, run) in check(with_submodule, "true") {
        assert_eq!(run.code, Some(0), "{run}");
    }
    let scene = with_submodule();
    let build = Step::shell("echo new > lib/new.txt");
    let agent = Agent::new().on("1.1", [build, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    assert_eq!(run.stderr.matches("left changes in the submodule lib").count(), 1, "{run}");
    assert!(!run.stderr.contains("changed outside the task's Files"), "{run}");
    // What the next one changes there is its own.
    let scene = with_submodule();
    let (build, edit) = (Step::shell("echo new > lib/new.txt"), Step::shell("echo better >> lib/lib.txt"));
    let undo = Step::shell("git -C lib checkout -q lib.txt");
    let agent = Agent::new()
        .on("1.1", [build, work(), done()])
        .on_attempt("1.2", 1, [edit, work(), done()])
        .on("1.2", [undo, work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
    let feedback = scene.feedback("1.2", 2);
    assert!(feedback.contains("The submodule lib has uncommitted changes (lib.txt)"), "{feedback}");
}

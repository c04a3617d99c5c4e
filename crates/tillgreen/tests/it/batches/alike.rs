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

/// The same where all is green: nothing is left over either, and this is told once, if anything.
#[track_caller]
fn check_green(scene: impl Fn() -> Scene, odd: &str, told: Option<&str>) {
    for (scene, run) in check(scene, odd) {
        assert_eq!(run.code, Some(0), "{odd}: {run}");
        assert_eq!(scene.dirt(), [""; 0], "{odd}: {run}");
        assert_eq!(scene.attempts("1.2"), 1, "{odd}: {run}");
        let notes: Vec<&str> =
            run.stderr.lines().filter_map(|line| line.find("note: task ").map(|at| &line[at..])).collect();
        let expected: Vec<String> = told.iter().map(|told| format!("note: task 1.2 {told}")).collect();
        assert_eq!(notes, expected, "{odd}: {run}");
    }
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
fn a_repository_that_was_added_and_is_plain_files_by_now_is_these() {
    let runs = check(three, &format!("{COMMITTED}; rm -rf nest/.git"));
    assert!(runs.iter().all(|(scene, _)| scene.git(&["ls-files", "nest"]) == "nest/f\n"));
    check_green(with_submodule, "git rm -q -f lib; echo file > lib", None);
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

#[test]
fn what_is_only_taken_out_of_the_index_stays_in_git_and_is_told() {
    let told = "took files out of git's index that are still there and not ignored; they stay in git: ";
    check_green(three, "git rm -q --cached base.txt", Some(&format!("{told}base.txt")));
    let changed = "git rm -q --cached base.txt; echo more >> base.txt";
    check_green(three, changed, Some(&format!("{told}base.txt")));
    check_green(three, "git mv base.txt moved; mv moved base.txt", Some(&format!("{told}base.txt")));
    check_green(with_submodule, "git rm -q --cached lib", Some(&format!("{told}lib")));
    check_green(
        with_submodule,
        "git -C lib commit -q --allow-empty -m more; git rm -q --cached lib",
        Some(&format!("{told}lib")),
    );
    check_green(three, "git rm -q --cached base.txt; echo base.txt > .gitignore", None);
}

#[test]
fn a_link_to_a_repository_is_a_link() {
    for odd in ["ln -s . self", "mkdir q; ln -s .. q/up", "ln -s . self; git add self"] {
        check_green(three, odd, None);
    }
    check_green(with_submodule, "git rm -q -f lib; ln -s . lib", None);
    let other = three();
    other.git(&["worktree", "add", "-q", "linked"]);
    let other = other.root().display();
    check_green(three, &format!("ln -s '{other}' lk"), None);
    check_green(with_submodule, &format!("git rm -q -f lib; ln -s '{other}/linked' lib"), None);
}

#[test]
fn what_only_the_index_says_is_not_in_it_when_all_is_done() {
    let several = || {
        let scene = three();
        ["a", "b", "c", "d"].iter().for_each(|name| scene.write(name, "text\n"));
        scene.commit_all("files");
        scene
    };
    let odd = "H=$(echo other | git hash-object -w --stdin); git update-index --cacheinfo 100644,$H,a
               git update-index --add --cacheinfo 100644,$H,new; git update-index --cacheinfo 120000,$H,b
               git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),link
               git update-index --chmod=+x c; echo other > d; git add d; echo text > d
               echo new > gone; git add gone; rm gone; echo x > .tillgreen-x; git add -f .tillgreen-x";
    check_green(several, odd, None);
}

#[test]
fn what_a_person_staged_before_the_run_stays_staged() {
    let scene = three();
    scene.write("mine.txt", "mine\n");
    scene.write("base.txt", "mine\n");
    scene.git(&["add", "mine.txt", "base.txt"]);
    scene.write("base.txt", "base\n");
    scene.git(&["update-index", "--chmod=+x", "mine.txt"]);
    let dirt = scene.dirt();
    let odd = Step::shell("echo x > x; git add x; rm x");
    let agent = Agent::new().otherwise([odd, work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1", "--allow-dirty"]).expect_code(0);
    assert_eq!(scene.dirt(), dirt, "{run}");
    assert_eq!(scene.git(&["show", ":base.txt"]), "mine\n", "{run}");
}

#[test]
fn what_is_left_in_a_submodule_counts_if_it_was_meant_to_stay() {
    let told = "The submodule lib has uncommitted changes (new.txt)";
    check_refused(with_submodule, "echo new > lib/new.txt; git -C lib add new.txt", told);
    check_refused(with_submodule, "echo new > lib/new.txt; git -C lib add -N new.txt", told);
    check_refused(with_submodule, "git init -q lib/nest", "lib/nest is a repository of its own");
    for (scene, run) in check(with_submodule, "git -C lib rm -q --cached lib.txt") {
        assert_eq!((run.code, scene.attempts("1.2")), (Some(0), 1), "{run}");
    }
}

#[test]
fn a_submodule_may_become_a_folder_of_the_projects_own() {
    let odd = "git rm -q --cached lib; rm -rf lib/.git; git rm -q -f .gitmodules";
    for (scene, run) in check(with_submodule, odd) {
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["ls-files", "lib"]), "lib/lib.txt\n", "{run}");
    }
}

#[test]
fn what_a_build_left_in_a_submodule_counts_no_more_at_the_next_attempt() {
    let odd = "test $TILLGREEN_ATTEMPT = 2 || { echo new > lib/new.txt; exit 3; }";
    for (scene, run) in check(with_submodule, odd) {
        assert_eq!((run.code, scene.attempts("1.2")), (Some(0), 2), "{run}");
    }
    // Somebody who added it is told again.
    let odd = "test $TILLGREEN_ATTEMPT = 2 || { echo new > lib/new.txt; git -C lib add new.txt; }";
    check_refused(with_submodule, odd, "The submodule lib has uncommitted changes (new.txt)");
}

#[test]
fn a_submodule_that_is_put_out_of_the_way_is_no_change() {
    check_green(with_submodule, "git submodule --quiet deinit -f lib", None);
}

#[test]
fn submodules_are_looked_into_also_where_nothing_says_that_they_are_some() {
    let told = "The submodule lib has uncommitted changes (lib.txt)";
    check_refused(with_submodule, "rm -f .gitmodules; echo better >> lib/lib.txt", told);
}

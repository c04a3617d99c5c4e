//! Submodules: in slots they are left alone. Only commits of theirs are part of the work; what is changed inside and not
//! committed fails the attempt, and is told.

use testkit::{Agent, Repository, Step};

use super::scene::{Scene, done, members, work};

/// A repository that is to become a submodule.
fn other(scene: &Scene) -> String {
    let other = Repository::init(&scene.root().with_file_name("other"), scene.home());
    other.write("lib.txt", "lib\n");
    other.commit_all("lib");
    other.root().display().to_string()
}

/// Two members and a submodule.
fn with_submodule() -> Scene {
    let scene = Scene::new(&members(2));
    let url = other(&scene);
    scene.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
    scene.commit_all("submodule");
    scene
}

#[test]
fn submodules_are_nobodys_business() {
    for jobs in ["1", "4"] {
        let scene = with_submodule();
        let run = scene.go(&Agent::new().otherwise([work(), done()]), &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.read("lib/lib.txt"), "lib\n", "{run}");
        assert_eq!(scene.git(&["submodule", "status"]).chars().next(), Some(' '), "{run}");
    }
}

/// In a slot there is nothing in the folder, unless somebody has git check it out.
#[test]
fn uncommitted_work_inside_fails_the_attempt_and_says_so() {
    let init = "git -c protocol.file.allow=always submodule --quiet update --init || exit 5";
    for (jobs, prepare) in [("1", ":"), ("4", init)] {
        let scene = with_submodule();
        let edit = Step::shell(&format!("{prepare}; echo better >> lib/lib.txt"));
        let undo = Step::shell("test ! -e lib/lib.txt || git -C lib checkout -q lib.txt || rm lib/lib.txt");
        let agent = Agent::new()
            .on_attempt("1.2", 1, [edit, work(), done()])
            .on("1.2", [undo, work(), done()])
            .otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{jobs} {prepare}: {run}");
        let feedback = scene.feedback("1.2", 2);
        for part in ["The submodule lib has uncommitted changes", "git -C lib commit"] {
            assert!(feedback.contains(part), "{jobs} {prepare}: {part:?} is missing in {feedback}");
        }
        assert_eq!(scene.read("lib/lib.txt"), "lib\n", "{run}");
    }
}

#[test]
fn what_a_build_leaves_inside_is_no_failure() {
    let scene = with_submodule();
    let build = Step::shell("echo object > lib/lib.o");
    let agent = Agent::new().on("1.2", [build, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    assert_eq!((scene.landed().len(), scene.attempts("1.2")), (2, 1), "{run}");
    assert_eq!(scene.read("lib/lib.o"), "object\n", "{run}");
}

#[test]
fn a_commit_inside_is_work_where_it_can_be_found_again() {
    let commit = "echo better >> lib/lib.txt; git -C lib commit -qam better || exit 5";
    let scene = with_submodule();
    let agent = Agent::new().on("1.2", [Step::shell(commit), work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(
        scene.git(&["rev-parse", "HEAD:lib"]),
        scene.git(&["-C", "lib", "rev-parse", "HEAD"]),
        "{run}"
    );
    // In a slot it would be gone with that.
    let scene = with_submodule();
    let init = "git -c protocol.file.allow=always submodule --quiet update --init || exit 5";
    let inside = Step::shell(&format!("{init}; git -C lib switch -qc mine; {commit}"));
    let agent = Agent::new().on_attempt("1.2", 1, [inside, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let told = "The submodule lib is at a commit that only this work tree has";
    assert!(scene.feedback("1.2", 2).contains(told), "{}", scene.feedback("1.2", 2));
}

#[test]
fn a_submodule_that_is_added_in_the_project_itself_is_committed() {
    let scene = Scene::new(&members(2));
    let url = other(&scene);
    let add = format!("git -c protocol.file.allow=always submodule --quiet add {url} lib || exit 5");
    let agent = Agent::new().on("1.2", [Step::shell(&add), work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    let tree = scene.git(&["ls-tree", "-r", "HEAD", "lib", ".gitmodules"]);
    assert!(tree.contains("160000 commit") && tree.contains("\t.gitmodules"), "{tree} {run}");
}

/// Its folder stays with the user, as after any `git pull`.
#[test]
fn a_submodule_that_is_removed_in_a_slot_is_gone_from_the_history() {
    let scene = with_submodule();
    let remove = Step::shell("git rm -q -f lib || exit 5");
    let agent = Agent::new().on("1.2", [remove, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert_eq!(scene.git(&["ls-tree", "HEAD", "lib"]), "", "{run}");
    assert_eq!(scene.read("lib/lib.txt"), "lib\n", "{run}");
}

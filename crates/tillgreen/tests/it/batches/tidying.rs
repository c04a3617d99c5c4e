//! A batch is killed and a person tidies up before it goes on: with `git clean`, by removing work trees, by taking tasks
//! out of the plan. What was done is not lost for that, and nobody pays for it.

use std::fs;

use testkit::{Agent, Step, wait_for};

use super::scene::{JOURNAL, Scene, TREES, done, members, work, worker};

/// A batch of three that is killed when two of them are finished and wait for the first, which has left something.
fn killed() -> Scene {
    let scene = Scene::new(&members(3));
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let half = Step::write("half.txt", "half\n");
    let agent =
        Agent::new().on("1.1", [half, scene.meet(3), never]).otherwise([work(), scene.meet(3), done()]);
    let run = scene.begin(&agent, &[]);
    let journal = scene.root().join(JOURNAL);
    let finished = |text: String| text.matches("checks_passed").count() == 2;
    wait_for("two that are finished", || fs::read_to_string(&journal).is_ok_and(finished));
    run.kill();
    assert_eq!(scene.trees().len(), 3);
    scene
}

/// The references that stay, each with what is in a file there.
fn left(scene: &Scene) -> Vec<(String, Vec<String>)> {
    let names = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen-left"]);
    let files = |name: &str| scene.git(&["diff", "--name-only", &format!("{name}^"), name]);
    let told = |name: &str| (name.to_owned(), files(name).lines().map(str::to_owned).collect());
    names.lines().map(told).collect()
}

#[test]
fn work_outlives_a_git_clean_that_takes_the_journal_and_spares_the_work_trees() {
    let scene = killed();
    scene.git(&["clean", "-fdxq"]);
    assert!(!scene.has(JOURNAL) && scene.has(&format!("{TREES}/1.2")));
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let kept = left(&scene);
    let files: Vec<&[String]> = kept.iter().map(|(_, files)| files.as_slice()).collect();
    assert_eq!(files, [["half.txt"], ["out/1.2.txt"], ["out/1.3.txt"]], "{run}");
    for (name, _) in kept {
        assert!(run.stderr.contains(&name), "{name} is told: {run}");
    }
}

#[test]
fn what_was_done_in_a_tree_after_it_was_packed_is_kept_as_well() {
    let scene = killed();
    fs::write(scene.root().join(TREES).join("1.2/more.txt"), "more\n").expect("it can be written");
    scene.git(&["clean", "-fdxq"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let files: Vec<String> = left(&scene).into_iter().map(|(_, files)| files.join(" ")).collect();
    assert_eq!(files, ["half.txt", "more.txt out/1.2.txt", "out/1.2.txt", "out/1.3.txt"], "{run}");
}

#[test]
fn what_an_agent_committed_in_its_tree_outlives_a_git_clean() {
    let scene = Scene::new(&members(2));
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let agent = Agent::new().otherwise([work(), Step::commit("mine"), scene.meet(2), never]);
    let run = scene.begin(&agent, &[]);
    let met = scene.control("met");
    wait_for("both", || fs::read_dir(&met).is_ok_and(|entries| entries.count() == 2));
    run.kill();
    scene.git(&["clean", "-fdxq"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let files: Vec<String> = left(&scene).into_iter().map(|(_, files)| files.join(" ")).collect();
    assert_eq!(files, ["out/1.1.txt", "out/1.2.txt"], "{run}");
}

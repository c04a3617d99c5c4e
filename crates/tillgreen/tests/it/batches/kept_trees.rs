//! Work trees that are kept because their tasks failed: where they are is told as long as they are there.

use testkit::{Agent, Step};

use super::scene::{Scene, TREES, done, member, work};

#[test]
fn status_names_them_and_nothing_stays_of_those_that_were_removed() {
    let scene = Scene::new(&[member("1.1"), member("1.2")]);
    let spoil = Step::shell("mkdir -p out && echo bad > out/1.1.txt");
    let agent = Agent::new().on("1.1", [spoil, done()]).otherwise([work(), done()]);
    scene.go(&agent, &["--max-task-iterations", "1", "--on-exhausted", "ask"]).expect_code(3);
    let (place, name) = (format!("{TREES}/1.1"), "1.1: what its last attempt left is in ");
    let status = scene.run(&["status"]).expect_code(0);
    assert!(status.stdout.contains(&format!("{name}{place}\n")), "{status}");
    let status = scene.run(&["status", "--format", "json"]).expect_code(0);
    let kept = format!(r#""kept":[{{"task":"1.1","path":"{place}"}}]"#);
    assert!(status.stdout.split_whitespace().collect::<String>().contains(&kept), "{status}");

    scene.run(&["answer", "skip"]).expect_code(0);
    assert!(scene.run(&["status"]).stdout.contains(&place), "it is kept where the task is skipped");
    scene.git(&["worktree", "remove", "--force", &place]);
    assert!(!scene.run(&["status"]).stdout.contains(&place), "it is not there any more");
    let again = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.git(&["for-each-ref", "refs/tillgreen"]).trim(), "", "{again}");
    let notes = std::fs::read_dir(scene.root().join(TREES)).map_or(0, Iterator::count);
    assert_eq!(notes, 0, "{again}");
}

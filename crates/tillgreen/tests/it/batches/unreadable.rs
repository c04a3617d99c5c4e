//! Work trees that git cannot take in as they are: whose fault that is, and that nothing of them is lost.

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, work};

/// Where the tree of the first attempt at 1.2 goes when another is made in its place.
const KEPT: &str = ".tillgreen/specs-demo/left/1.2-1";

fn precious() -> Step {
    Step::write("precious.txt", "precious\n")
}

#[test]
fn a_tree_that_cannot_be_taken_over_is_kept_as_it_is() {
    let scene = Scene::new(&members(2));
    let unlinked = Step::shell("rm -r \"$(git rev-parse --git-dir)\"");
    let steps = [precious(), work(), unlinked, done()];
    let agent = Agent::new().on_attempt("1.2", 1, steps).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
    assert_eq!(scene.read(&format!("{KEPT}/precious.txt")), "precious\n", "{run}");
    assert!(run.stderr.contains(KEPT), "{run}");
    assert!(scene.feedback("1.2", 2).contains(KEPT), "the next attempt is told where it is: {run}");
}

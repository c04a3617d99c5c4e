//! What is started ahead, while there is time: gits that are asked when work comes in, and keepers for agents and commands.

use std::fs;

use testkit::{Agent, Step, wait_for};

use super::scene::{Scene, done, members, work};

/// The command lines of what a program has started and that has not ended.
fn children(program: u32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{program}/task")).into_iter().flatten().flatten();
    let listed = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let listed: Vec<String> = listed.collect();
    let numbers = listed.iter().flat_map(|list| list.split_whitespace());
    let lines = numbers.filter_map(|number| fs::read_to_string(format!("/proc/{number}/cmdline")).ok());
    lines.map(|line| line.replace('\0', " ")).collect()
}

#[test]
fn while_agents_work_what_takes_in_their_work_is_started() {
    let scene = Scene::new(&members(3));
    let go = scene.control("go");
    let agent = Agent::new().otherwise([Step::AwaitFile(go.display().to_string()), work(), done()]);
    let run = scene.begin(&agent, &["--jobs", "2"]);
    let has = |word: &str| children(run.pid()).iter().any(|line| line.contains(word));
    wait_for("a git that moves what is checked out", || has("update-ref"));
    // One for each of the two agents, two for what each does, which is verified twice, and one for the next agent.
    let wanted = 2 + 2 * 2 + 1;
    let standing = || children(run.pid()).iter().filter(|line| line.contains("--stand-by")).count();
    wait_for("keepers for agents and commands", || standing() >= wanted);
    fs::write(go, "").unwrap();
    let run = run.wait().expect_code(0);
    scene.expect_complete(&run);
}

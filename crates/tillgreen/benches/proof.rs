//! What the final proof costs beyond the commands that it runs: a plan of done tasks is proved, and the same commands run in a
//! shell loop in a checkout that is there already, in turns. Machines are noisy, so only the ratio means anything.
//!
//! `cargo bench -p tillgreen --bench proof`

mod scratch;

use std::process::Command;
use std::time::Instant;

use scratch::{Scratch, Taken, megabytes};

const TASKS: usize = 100;
const TURNS: usize = 3;
/// What each command takes.
const SECONDS: &str = "0.05";

const AGENT: &str = "#!/bin/sh\ncat > /dev/null\necho TASK_COMPLETE\n";

fn main() {
    let mut turns: Vec<(f64, Taken)> = (0..TURNS).map(|_| measure()).collect();
    turns.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let (ratio, taken) = &turns[TURNS / 2];
    println!(
        "proof of {TASKS} tasks whose commands take {SECONDS} s: {ratio:.2} times those commands (bar: 1.3), {:.1?} of it its own, \
         {:.1} MB at most",
        taken.busy,
        megabytes(taken.memory)
    );
}

fn measure() -> (f64, Taken) {
    let mut plan = String::from("# Tasks\n\n## Phase 1: Files\n\n");
    let mut files = vec![("specs/.current-spec".to_owned(), "bench\n".to_owned())];
    for number in 1..=TASKS {
        let verify = command(number);
        plan.push_str(&format!("- [x] 1.{number} Write file {number}\n  - **Verify**: `{verify}`\n\n"));
        files.push((format!("src/f{number}.txt"), "work\n".to_owned()));
    }
    files.push(("specs/bench/tasks.md".to_owned(), plan));
    let scratch = Scratch::new(AGENT, &files);
    let taken = scratch.run(&["prove", "bench"], &[]);
    let since = Instant::now();
    for number in 1..=TASKS {
        let done =
            Command::new("bash").args(["-e", "-c", &command(number)]).current_dir(scratch.root()).status();
        assert!(done.is_ok_and(|status| status.success()), "the command of task {number} is green");
    }
    let ratio = taken.time.as_secs_f64() / since.elapsed().as_secs_f64();
    (ratio, taken)
}

fn command(number: usize) -> String {
    format!("sleep {SECONDS} && test -s src/f{number}.txt")
}

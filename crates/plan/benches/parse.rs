//! How fast a plan is parsed, against reading its file, and its tasks are read, against parsing it.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark reads clock and files and prints; the crate does not"
)]

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use plan::Plan;

const TASKS: usize = 10_000;
const TURNS: usize = 15;

fn main() {
    let text = synthetic(TASKS);
    let path = std::env::temp_dir().join(format!("tillgreen-bench-{}.md", std::process::id()));
    fs::write(&path, &text).expect("a file");
    let read = median(|| drop(black_box(fs::read_to_string(&path).expect("a file"))));
    let parse = median(|| {
        let text = fs::read_to_string(&path).expect("a file");
        assert_eq!(black_box(Plan::parse(text)).tasks().len(), TASKS);
    });
    fs::remove_file(&path).expect("a file");
    let plan = Plan::parse(text.clone());
    let verify = median(|| plan.tasks().iter().for_each(|task| drop(black_box(plan.verify(task)))));
    let fields = median(|| plan.tasks().iter().for_each(|task| drop(black_box(plan.fields(task)))));
    let megabytes_per_second = text.len() as f64 / 1e6 / parse.as_secs_f64();
    let ratio = parse.as_secs_f64() / read.as_secs_f64();
    println!(
        "parse: {megabytes_per_second:.0} MB/s here; reading and parsing takes {ratio:.1} times as long as reading"
    );
    let times = |time: Duration| time.as_secs_f64() / parse.as_secs_f64();
    println!(
        "verify: {:.1} times as long as that for all tasks; fields: {:.1} times",
        times(verify),
        times(fields)
    );
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..TURNS)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .collect();
    times.sort();
    times[TURNS / 2]
}

fn synthetic(tasks: usize) -> String {
    let mut text = String::from("# Tasks\n\n## Phase 1: Make it work\n\n");
    for number in 1..=tasks {
        text.push_str(&format!(
            "- [ ] 1.{number} Write part {number} of the program\n  - **Do**:\n    1. Read `src/part{number}.rs`\n    \
             2. Implement what is missing\n  - **Files**: `src/part{number}.rs`, `tests/part{number}.rs`\n  \
             - **Done when**: All tests of the part pass\n  - **Verify**: `cargo test part{number} 2>&1 | tail -5`\n  \
             - **Commit**: `feat(part): add part {number}`\n  - _Requirements: FR-{number}_\n\n"
        ));
    }
    text
}

//! How fast a plan is parsed, against reading its file, and its tasks are read, against parsing it; and the same of plans
//! of other tools, against ours.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark reads clock and files and prints; the crate does not"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use plan::{Format, Plan, Reading};

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
    let ours = looked_at(Format::Spec, &text);
    for (format, text) in [
        (Format::SpecKit, spec_kit(TASKS)),
        (Format::OpenSpec, open_spec(TASKS)),
        (Format::Kiro, kiro(TASKS)),
    ] {
        let ratio = looked_at(format, &text).as_secs_f64() / ours.as_secs_f64();
        println!("{}: parsed and looked at in {ratio:.1} times the time of ours", format.name());
    }
}

/// The time to do what `check` does with a text.
fn looked_at(format: Format, text: &str) -> Duration {
    median(|| {
        let plan = Plan::parse_as(Reading::of(format), text.to_owned(), Path::new(""));
        assert_eq!(plan.tasks().len(), TASKS);
        plan.tasks().iter().for_each(|task| drop(black_box((plan.proof(task), plan.fields(task)))));
        drop(black_box(plan.lint()));
    })
}

fn spec_kit(tasks: usize) -> String {
    let mut text = String::from("# Tasks\n");
    for number in 1..=tasks {
        if number % 10 == 1 {
            text.push_str(&format!(
                "\n## Phase {number}: User Story {number}\n\n**Independent Test**: `pytest tests/{number}` passes\n\n"
            ));
        }
        text.push_str(&format!(
            "- [ ] T{number:05} [P] [US{number}] Create part {number} in src/part{number}.py (depends on T00001)\n"
        ));
    }
    text
}

fn open_spec(tasks: usize) -> String {
    let mut text = String::new();
    for number in 1..=tasks {
        if number % 10 == 1 {
            text.push_str(&format!("\n## {number}. Part {number}\n\n"));
        }
        text.push_str(&format!(
            "- [ ] {}.{number} Write `src/part{number}.ts`\n  - [ ] and test it\n",
            number / 10
        ));
    }
    text
}

fn kiro(tasks: usize) -> String {
    let mut text = String::from("# Implementation Plan\n");
    for number in 0..tasks {
        if number % 10 == 0 {
            text.push_str(&format!("\n- [ ] {}. Group\n", number / 10 + 1));
        }
        text.push_str(&format!(
            "  - [ ] {}.{} Create `src/part{number}.py`\n    - with tests\n    - _Requirements: 1.2, 3.4_\n",
            number / 10 + 1,
            number % 10 + 1
        ));
    }
    text
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

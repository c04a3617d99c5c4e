//! What the program costs beyond what it is told to do. For each size of plan the same work is done twice, in
//! turns: by the program, and by a shell loop that starts the same agent and the same verify command, writes and
//! commits the same files and syncs a line to the disk. Machines are noisy, so only the ratio means anything.
//!
//! `cargo bench -p tillgreen --bench run -- [--full]`: with `--full` every task of every size is run; otherwise
//! the last tasks of a plan whose other tasks are done already.

mod scratch;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use scratch::{Scratch, megabytes};

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const MEASURED_MAX: usize = 100;
const TURNS: usize = 3;

const AGENT: &str =
    "#!/bin/sh\ncat > /dev/null\necho work > src/f${TILLGREEN_TASK_ID#1.}.txt\necho TASK_COMPLETE\n";

/// The run that is measured.
const RUN: [&str; 6] = ["run", "bench", "--agent-cmd", "./agent.sh", "--max-global-iterations", "1000000"];

/// The floor: a loop in `sh`, one process for each thing that has to be done.
const FLOOR: &str = r##"
i=$1
while [ "$i" -le "$2" ]; do
    TILLGREEN_TASK_ID=1.$i sh -c ./agent.sh < specs/.current-spec > /dev/null
    bash -e -c "test -f src/f$i.txt"
    git add -A -- "src/f$i.txt"
    git commit -q -m "feat: file $i" -- "src/f$i.txt"
    sed -i "s/^- \[ \] 1\.$i /- [x] 1.$i /" specs/bench/tasks.md
    echo "- [x] 1.$i Write file $i - $(git rev-parse --short HEAD)" >> specs/bench/.progress.md
    git add -A -- specs/bench/tasks.md specs/bench/.progress.md
    git commit -q -m "chore(spec): complete task 1.$i" -- specs/bench
    echo "{\"done\":\"1.$i\"}" | dd of=.git/floor.jsonl oflag=append conv=notrunc,fsync status=none
    i=$((i + 1))
done
"##;

fn main() {
    let is_full = std::env::args().any(|argument| argument == "--full");
    let binary = fs::metadata(Path::new(env!("CARGO_BIN_EXE_tillgreen"))).expect("the binary is there");
    println!("binary: {:.1} MB (aim: at most 12 MB)", megabytes(binary.len()));
    for tasks in SIZES {
        let measured = if is_full { tasks } else { tasks.min(MEASURED_MAX) };
        measure(tasks, measured, if is_full { 1 } else { TURNS });
    }
    report_growth();
}

/// How the program's own part of a task grows with the plan, in a repository of the same size.
fn report_growth() {
    let (few, many) = (SIZES[0], SIZES[2]);
    let own = |scratch: &Scratch| {
        let taken = scratch.run(&RUN, &[]);
        (taken.busy / u32::try_from(MEASURED_MAX).expect("few tasks"), taken.memory)
    };
    let (small, _) = own(&scratch_among(few, MEASURED_MAX, many - few));
    let (large, memory) = own(&scratch(many, MEASURED_MAX));
    println!(
        "its own part of a task: {small:.1?} with {few} tasks, {large:.1?} with {many} in the same repository: {:.2} times (bar: 2); \
         {:.1} MB at most (bar: 25)",
        large.as_secs_f64() / small.as_secs_f64(),
        megabytes(memory)
    );
}

fn measure(tasks: usize, measured: usize, turns: usize) {
    let mut ratios = Vec::new();
    let mut memory = 0;
    let mut per_task = Duration::ZERO;
    let mut own = Duration::ZERO;
    for _ in 0..turns {
        let taken = scratch(tasks, measured).run(&RUN, &[]);
        let floor = run_floor(&scratch(tasks, measured), tasks, measured);
        ratios.push(taken.time.as_secs_f64() / floor.as_secs_f64());
        memory = memory.max(taken.memory);
        let count = u32::try_from(measured).expect("few tasks");
        (per_task, own) = (taken.time / count, taken.busy / count);
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[ratios.len() / 2];
    println!(
        "{tasks:>6} tasks, {measured} of them run: {ratio:.2} times the floor, {:.1} MB at most; about {per_task:.1?} a task here, {own:.1?} of them its own",
        megabytes(memory)
    );
}

fn scratch(tasks: usize, measured: usize) -> Scratch {
    scratch_among(tasks, measured, 0)
}

/// A repository with so many further files that belong to no task.
fn scratch_among(tasks: usize, measured: usize, further: usize) -> Scratch {
    let done = tasks - measured;
    let mut plan = String::from("# Tasks\n\n## Phase 1: Files\n\n");
    let mut progress = String::from("# Progress: bench\n\n## Completed Tasks\n");
    let mut files = vec![
        ("specs/.current-spec".to_owned(), "bench\n".to_owned()),
        ("src/.keep".to_owned(), String::new()),
    ];
    for number in 1..=tasks {
        let mark = if number <= done { 'x' } else { ' ' };
        plan.push_str(&task(number, mark));
        if number <= done {
            files.push((format!("src/f{number}.txt"), "work\n".to_owned()));
            progress.push_str(&format!("- [x] 1.{number} Write file {number} - abcdef0\n"));
        }
    }
    files.extend((0..further).map(|number| (format!("src/g{number}.txt"), "work\n".to_owned())));
    files.push(("specs/bench/tasks.md".to_owned(), plan));
    files.push(("specs/bench/.progress.md".to_owned(), progress));
    Scratch::new(AGENT, &files)
}

fn task(number: usize, mark: char) -> String {
    format!(
        "- [{mark}] 1.{number} Write file {number}\n  - **Do**: Write the file\n  - **Files**: src/f{number}.txt\n  \
         - **Done when**: It is there\n  - **Verify**: `test -f src/f{number}.txt`\n  - **Commit**: `feat: file {number}`\n\n"
    )
}

fn run_floor(scratch: &Scratch, tasks: usize, measured: usize) -> Duration {
    let first = (tasks - measured + 1).to_string();
    let started = Instant::now();
    let status = Command::new("sh")
        .args(["-e", "-c", FLOOR, "floor", &first, &tasks.to_string()])
        .current_dir(scratch.root())
        .status()
        .expect("sh runs");
    assert!(status.success(), "the floor runs to its end");
    started.elapsed()
}

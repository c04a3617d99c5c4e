//! What running side by side costs, as a report beside the same work done by a script of plain git commands that looks
//! after nothing: time and git processes a task in a small and in a large project, how close a batch of slow agents
//! comes to what it cannot be faster than, and what the program itself takes while two hundred agents are at work.

mod scratch;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use scratch::{Scratch, Taken, megabytes};

/// How many files a small and a large project have.
const PROJECTS: [u32; 2] = [100, 10_000];

/// How many tasks are run there, and how many at once.
const TASKS: u32 = 8;
const JOBS: u32 = 4;

/// How long a slow agent takes.
const SLOW_SECONDS: u32 = 5;

/// By plain git: a tree, the agent, its check and a commit each, as many side by side as there are jobs; then one after
/// another the commit comes in, is checked again and its box is ticked in a second commit.
const BY_HAND: &str = r#"
work() {
    cd "../tree-$1"
    echo prompt | TILLGREEN_TASK_ID=1.$1 ./agent.sh > /dev/null
    bash -e -c "test -f src/f$1.txt"
    git add -A
    git commit -q -m "feat: file $1"
}
i=1
while [ "$i" -le "$TASKS" ]; do
    for slot in $(seq 1 "$JOBS"); do
        # Git does not add two at once.
        git worktree add -q --detach "../tree-$i"
        (work "$i") &
        i=$((i + 1))
    done
    wait
done
for i in $(seq 1 "$TASKS"); do
    git cherry-pick "$(git -C "../tree-$i" rev-parse HEAD)" > /dev/null
    bash -e -c "test -f src/f$i.txt"
    sed -i "s/^- \[ \] 1\.$i /- [x] 1.$i /" specs/bench/tasks.md
    git commit -q -m "chore(spec): complete task 1.$i" -- specs/bench
    git worktree remove --force "../tree-$i"
done
"#;

/// A plan that is much wider than what can run at once.
const WIDE: u32 = 500;
const WIDE_JOBS: u32 = 64;
const WIDE_SECONDS: u32 = 2;

const CROWD: u32 = 200;
const CROWD_SECONDS: u32 = 60;

fn main() {
    // Some file systems are slow to write where much was removed just before: what is done with stays until the end.
    let mut kept = Vec::new();
    for files in PROJECTS {
        report_per_task(files, &mut kept);
    }
    report_slow_agents(&mut kept);
    report_crowd();
    report_wide_plan();
}

/// The first tasks get new slots, the others those that the first had.
fn report_per_task(files: u32, kept: &mut Vec<Scratch>) {
    let (few, all, theirs) = (scratch(JOBS, files, 0), scratch(TASKS, files, 0), scratch(TASKS, files, 0));
    let (new, both) = (run(&few, JOBS).time, run(&all, JOBS).time);
    let by_hand = run_by_hand(&theirs);
    let gits = |scratch: &Scratch, tasks: u32| git_processes(scratch) / f64::from(tasks);
    println!(
        "{files:>6} files, {JOBS} at once: {:.0?} a task in a new slot, {:.0?} in one that is used again, {:.1} git processes",
        new / JOBS,
        both.saturating_sub(new) / (TASKS - JOBS),
        gits(&all, TASKS)
    );
    println!(
        "        by a script of plain git commands: {:.0?} a task, {:.1} git processes",
        by_hand / TASKS,
        gits(&theirs, TASKS)
    );
    kept.extend([few, all, theirs]);
}

fn report_slow_agents(kept: &mut Vec<Scratch>) {
    let (ours, theirs) =
        (scratch(TASKS, PROJECTS[0], SLOW_SECONDS), scratch(TASKS, PROJECTS[0], SLOW_SECONDS));
    let bound = f64::from(SLOW_SECONDS * TASKS.div_ceil(JOBS));
    let taken = run(&ours, JOBS);
    println!(
        "{TASKS} tasks of {SLOW_SECONDS} s, {JOBS} at once: {:.3} times the lower bound, by a script {:.3} times",
        taken.time.as_secs_f64() / bound,
        run_by_hand(&theirs).as_secs_f64() / bound
    );
    kept.extend([ours, theirs]);
}

fn report_crowd() {
    let taken = run(&scratch(CROWD, PROJECTS[0], CROWD_SECONDS), CROWD);
    println!(
        "{CROWD} agents of {CROWD_SECONDS} s at once, {:.1?} in all: {:.1} % of one core, {:.1} MB at most",
        taken.time,
        100.0 * taken.busy.as_secs_f64() / taken.time.as_secs_f64(),
        megabytes(taken.memory)
    );
}

/// Many small tasks at once: what is finished comes in while agents work on others.
fn report_wide_plan() {
    let scratch = scratch(WIDE, PROJECTS[0], WIDE_SECONDS);
    let bound = f64::from(WIDE_SECONDS * WIDE.div_ceil(WIDE_JOBS));
    let taken = run(&scratch, WIDE_JOBS);
    println!(
        "{WIDE} tasks of {WIDE_SECONDS} s, {WIDE_JOBS} at once: {:.0?} in all, {:.1} times what the agents take, {:.0?} a task; \
         {:.1} MB at most",
        taken.time,
        taken.time.as_secs_f64() / bound,
        taken.time / WIDE,
        megabytes(taken.memory)
    );
}

fn run(scratch: &Scratch, jobs: u32) -> Taken {
    let jobs = jobs.to_string();
    let words =
        ["run", "bench", "--agent-cmd", "./agent.sh", "--max-global-iterations", "1000000", "--jobs", &jobs];
    scratch.run(&words, &[("GIT_TRACE2_EVENT", trace(scratch))])
}

fn run_by_hand(scratch: &Scratch) -> Duration {
    let started = Instant::now();
    let mut command = Command::new("sh");
    command.args(["-e", "-c", BY_HAND]).current_dir(scratch.root());
    command.env("TASKS", TASKS.to_string()).env("JOBS", JOBS.to_string());
    command.env("GIT_TRACE2_EVENT", trace(scratch));
    assert!(command.status().expect("sh runs").success(), "the script does it as well");
    started.elapsed()
}

/// Where every git notes what it does.
fn trace(scratch: &Scratch) -> PathBuf {
    scratch.root().with_file_name("gits")
}

#[expect(clippy::cast_precision_loss, reason = "a count is shown with one digit")]
fn git_processes(scratch: &Scratch) -> f64 {
    let text = fs::read_to_string(trace(scratch)).expect("gits were started");
    text.matches("\"event\":\"start\"").count() as f64
}

fn scratch(tasks: u32, files: u32, seconds: u32) -> Scratch {
    let agent = format!(
        "#!/bin/sh\ncat > /dev/null\nsleep {seconds}\nmkdir -p src\necho work > src/f${{TILLGREEN_TASK_ID#1.}}.txt\n\
         echo TASK_COMPLETE\n"
    );
    let mut plan = String::from("# Tasks\n\n## Phase 1: Files\n\n");
    for number in 1..=tasks {
        plan.push_str(&format!(
            "- [ ] 1.{number} [P] Write file {number}\n  - **Files**: src/f{number}.txt\n  \
             - **Verify**: `test -f src/f{number}.txt`\n  - **Commit**: `feat: file {number}`\n\n"
        ));
    }
    let mut all = vec![
        ("specs/.current-spec".to_owned(), "bench\n".to_owned()),
        ("specs/bench/tasks.md".to_owned(), plan),
    ];
    let line = |number: u32| format!("line of {number}\n").repeat(40);
    all.extend((0..files).map(|number| (format!("lib/{}/{number}", number / 100), line(number))));
    Scratch::new(&agent, &all)
}

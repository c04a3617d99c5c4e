//! What running side by side costs. A batch cannot be done sooner than its longest task, or than all of them over the
//! jobs: how close it comes is one figure, beside those of a script that does the same with plain git commands, without
//! looking after anything, and of one that only runs the agents and the checks. What the program itself takes while two hundred agents are at work is another.

mod scratch;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use scratch::{Scratch, Taken, megabytes};

/// Tasks, jobs, and how long an agent takes.
const SHAPES: [(u32, u32, u32); 6] = [(4, 4, 2), (8, 2, 2), (16, 4, 2), (12, 4, 5), (8, 8, 2), (16, 16, 2)];

/// What has to be done whoever looks after it: each agent and its check side by side, then each check once more, one after
/// another, on all that came together.
const FLOOR: &str = r#"
for i in $(seq 1 "$TASKS"); do
    (
        mkdir "../place-$i"
        cd "../place-$i"
        echo prompt | TILLGREEN_TASK_ID=1.$i sh -c ../project/agent.sh > /dev/null
        bash -e -c "test -f src/f$i.txt"
        cp -r src ../project/
    ) &
done
wait
for i in $(seq 1 "$TASKS"); do
    bash -e -c "test -f src/f$i.txt"
done
"#;

/// A batch all at once by plain git: a tree, the agent, its check and a commit each side by side; then one after another
/// the commit comes in, is checked again and its box is ticked in a second commit.
const BY_HAND: &str = r#"
for i in $(seq 1 "$TASKS"); do
    git worktree add -q --detach "../tree-$i"
done
for i in $(seq 1 "$TASKS"); do
    (
        cd "../tree-$i"
        echo prompt | TILLGREEN_TASK_ID=1.$i ./agent.sh > /dev/null
        bash -e -c "test -f src/f$i.txt"
        git add -A
        git commit -q -m "feat: file $i"
    ) &
done
wait
for i in $(seq 1 "$TASKS"); do
    git cherry-pick "$(git -C "../tree-$i" rev-parse HEAD)" > /dev/null
    bash -e -c "test -f src/f$i.txt"
    sed -i "s/^- \[ \] 1\.$i /- [x] 1.$i /" specs/bench/tasks.md
    git commit -q -m "chore(spec): complete task 1.$i" -- specs/bench
    git worktree remove --force "../tree-$i"
done
"#;

/// How a task is verified.
const CHECK: &str = "test -f src/f{number}.txt";

/// A batch whose verify commands take time, all at once: each has to run on the work alone and once more on all that came
/// together.
const SLOW_TASKS: u32 = 6;
const SLOW_SECONDS: u32 = 2;

const CROWD: u32 = 200;
const CROWD_SECONDS: u32 = 60;

fn main() {
    shapes();
    slow_checks();
    crowd();
}

fn run(scratch: &Scratch, jobs: u32, flags: &[&str]) -> Taken {
    let jobs = jobs.to_string();
    let words =
        ["run", "bench", "--agent-cmd", "./agent.sh", "--max-global-iterations", "1000000", "--jobs", &jobs];
    scratch.run(&[&words[..], flags].concat())
}

fn shapes() {
    // Some file systems are slow to write where much was removed just before: what is done with stays until the end.
    let mut kept = Vec::new();
    for (tasks, jobs, seconds) in SHAPES {
        let project = scratch(tasks, seconds, CHECK);
        let taken = run(&project, jobs, &[]);
        let bound = Duration::from_secs(u64::from(seconds * tasks.div_ceil(jobs)));
        let batch = makespan(&project).as_secs_f64();
        println!(
            "{tasks:>3} tasks of {seconds} s, {jobs} at once: {:.3} times the lower bound (aim: at most 1.05), {:.3} times \
             that of the agents as they really ran, the whole program {:.3} times",
            batch / bound.as_secs_f64(),
            batch / real_bound(&project, jobs).as_secs_f64(),
            taken.time.as_secs_f64() / bound.as_secs_f64()
        );
        if tasks == jobs {
            for (words, script) in [("by a script of plain git commands", BY_HAND), ("without a git", FLOOR)]
            {
                let other = scratch(tasks, seconds, CHECK);
                let time = by_hand(&other, script, tasks);
                println!("    {words}: {:.3} times", time.as_secs_f64() / bound.as_secs_f64());
                kept.push(other);
            }
        }
        kept.push(project);
    }
}

/// What no batch of these agents can be done sooner than: where many start at once on few processors, each takes longer
/// than it would alone.
fn real_bound(scratch: &Scratch, jobs: u32) -> Duration {
    let journal = journal(scratch);
    let events = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let elapsed = events.filter_map(|line| line["event"]["what"]["attempt_claimed"]["elapsed_ms"].as_u64());
    let elapsed: Vec<Duration> = elapsed.map(Duration::from_millis).collect();
    let longest = elapsed.iter().max().copied().expect("an agent has ended");
    longest.max(elapsed.iter().sum::<Duration>() / jobs)
}

fn journal(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.root().join(".tillgreen/specs-bench/journal.jsonl")).expect("a journal")
}

/// The time from the first start of an agent to the last task that was done, as the journal tells it.
fn makespan(scratch: &Scratch) -> Duration {
    let journal = journal(scratch);
    let events = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let times = |name: &'static str| {
        let named = events.clone().filter(move |line| line["event"]["what"].get(name).is_some());
        named.filter_map(|line| line["event"]["at"].as_str()?.parse::<Timestamp>().ok())
    };
    let (begin, end) = (times("attempt_started").min(), times("task_done").max());
    let span = end.expect("a task was done").duration_since(begin.expect("an agent was started"));
    Duration::try_from(span).expect("time goes on")
}

fn slow_checks() {
    let check = format!("sleep {SLOW_SECONDS}; {CHECK}");
    let bound = f64::from(3 * SLOW_SECONDS);
    for (flags, words) in [(&[][..], "one after another"), (&["--verify-ahead"][..], "ahead")] {
        let taken = run(&scratch(SLOW_TASKS, SLOW_SECONDS, &check), SLOW_TASKS, flags);
        println!(
            "{SLOW_TASKS} tasks of {SLOW_SECONDS} s with checks of {SLOW_SECONDS} s at once, verified together {words}: {:.2} \
             times the lower bound",
            taken.time.as_secs_f64() / bound
        );
    }
}

fn crowd() {
    let taken = run(&scratch(CROWD, CROWD_SECONDS, CHECK), CROWD, &[]);
    println!(
        "{CROWD} agents of {CROWD_SECONDS} s at once, {:.1?} in all: {:.1} % of one core (aim: under 5 %), {:.1} MB at most \
         (aim: under 64 MB)",
        taken.time,
        100.0 * taken.busy.as_secs_f64() / taken.time.as_secs_f64(),
        megabytes(taken.memory)
    );
}

fn by_hand(scratch: &Scratch, script: &str, tasks: u32) -> Duration {
    let started = Instant::now();
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).env("TASKS", tasks.to_string()).current_dir(scratch.root());
    assert!(command.status().expect("sh runs").success(), "the script does it as well");
    started.elapsed()
}

fn scratch(tasks: u32, seconds: u32, check: &str) -> Scratch {
    let agent = format!(
        "#!/bin/sh\ncat > /dev/null\nsleep {seconds}\nmkdir -p src\necho work > src/f${{TILLGREEN_TASK_ID#1.}}.txt\n\
         echo TASK_COMPLETE\n"
    );
    let mut plan = String::from("# Tasks\n\n## Phase 1: Files\n\n");
    for number in 1..=tasks {
        let check = check.replace("{number}", &number.to_string());
        plan.push_str(&format!(
            "- [ ] 1.{number} [P] Write file {number}\n  - **Files**: src/f{number}.txt\n  \
             - **Verify**: `{check}`\n  - **Commit**: `feat: file {number}`\n\n"
        ));
    }
    let files =
        [("specs/.current-spec".to_owned(), "bench\n".to_owned()), ("specs/bench/tasks.md".to_owned(), plan)];
    Scratch::new(&agent, &files)
}

//! What the program costs beyond what it is told to do. For each size of plan the same work is done twice, in
//! turns: by the program, and by a shell loop that starts the same agent and the same verify command, writes and
//! commits the same files and syncs a line to the disk. Machines are noisy, so only the ratio means anything.
//!
//! `cargo bench -p tillgreen --bench run -- [--full]`: with `--full` every task of every size is run; otherwise
//! the last tasks of a plan whose other tasks are done already.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const MEASURED_MAX: usize = 100;
const TURNS: usize = 3;

const AGENT: &str =
    "#!/bin/sh\ncat > /dev/null\necho work > src/f${TILLGREEN_TASK_ID#1.}.txt\necho TASK_COMPLETE\n";

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
    let binary = Path::new(env!("CARGO_BIN_EXE_tillgreen"));
    let size = fs::metadata(binary).expect("the binary is there").len();
    println!("binary: {:.1} MB (aim: at most 12 MB)", megabytes(size));
    for tasks in SIZES {
        let measured = if is_full { tasks } else { tasks.min(MEASURED_MAX) };
        let mut ratios = Vec::new();
        let mut peak = 0;
        let mut per_task = Duration::ZERO;
        for _ in 0..if is_full { 1 } else { TURNS } {
            let ours = Scratch::new(tasks, measured);
            let (our_time, memory) = ours.run_program(binary);
            let floor = Scratch::new(tasks, measured);
            let floor_time = floor.run_floor(tasks, measured);
            ratios.push(our_time.as_secs_f64() / floor_time.as_secs_f64());
            peak = peak.max(memory);
            per_task = our_time / u32::try_from(measured).expect("few tasks");
        }
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        println!(
            "{tasks:>6} tasks, {measured} of them run: {ratio:.2} times the floor (aim: at most 1.5), {:.1} MB at most \
             (aim: at most 15 MB); about {per_task:.1?} a task here",
            megabytes(peak)
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size is shown with one digit")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}

/// A repository with a plan, removed at the end.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new(tasks: usize, measured: usize) -> Self {
        let scratch = Self { folder: tempfile::tempdir().expect("a folder") };
        let root = scratch.root();
        fs::create_dir_all(root.join("specs/bench")).expect("a folder");
        fs::create_dir_all(root.join("src")).expect("a folder");
        let done = tasks - measured;
        let mut plan = String::from("# Tasks\n\n## Phase 1: Files\n\n");
        let mut progress = String::from("# Progress: bench\n\n## Completed Tasks\n");
        for number in 1..=tasks {
            let mark = if number <= done { 'x' } else { ' ' };
            plan.push_str(&task(number, mark));
            if number <= done {
                fs::write(root.join(format!("src/f{number}.txt")), "work\n").expect("a file");
                progress.push_str(&format!("- [x] 1.{number} Write file {number} - abcdef0\n"));
            }
        }
        fs::write(root.join("specs/bench/tasks.md"), plan).expect("a plan");
        fs::write(root.join("specs/bench/.progress.md"), progress).expect("a progress file");
        fs::write(root.join("specs/.current-spec"), "bench\n").expect("a pointer");
        fs::write(root.join("agent.sh"), AGENT).expect("an agent");
        scratch.sh("chmod +x agent.sh && git init -q && git config user.name Bench && git config user.email bench@localhost");
        scratch.sh("git config gc.auto 0 && git config maintenance.auto false && git add -A && git commit -q -m begin");
        scratch
    }

    fn root(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn sh(&self, script: &str) {
        let status =
            Command::new("sh").args(["-e", "-c", script]).current_dir(self.root()).status().expect("sh runs");
        assert!(status.success(), "{script}");
    }

    fn run_floor(&self, tasks: usize, measured: usize) -> Duration {
        let first = (tasks - measured + 1).to_string();
        let started = Instant::now();
        let status = Command::new("sh")
            .args(["-e", "-c", FLOOR, "floor", &first, &tasks.to_string()])
            .current_dir(self.root())
            .status()
            .expect("sh runs");
        assert!(status.success(), "the floor runs to its end");
        started.elapsed()
    }

    /// How long the program takes, and the most memory it had.
    fn run_program(&self, binary: &Path) -> (Duration, u64) {
        let started = Instant::now();
        let mut child = Command::new(binary)
            .args(["run", "--agent-cmd", "./agent.sh", "--max-global-iterations", "1000000"])
            .current_dir(self.root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let status_file = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let status = loop {
            peak = peak.max(peak_memory(&status_file).unwrap_or(0));
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "the run is complete");
        (started.elapsed(), peak)
    }
}

fn task(number: usize, mark: char) -> String {
    format!(
        "- [{mark}] 1.{number} Write file {number}\n  - **Do**: Write the file\n  - **Files**: src/f{number}.txt\n  \
         - **Done when**: It is there\n  - **Verify**: `test -f src/f{number}.txt`\n  - **Commit**: `feat: file {number}`\n\n"
    )
}

/// The peak of a process's memory so far, in bytes.
fn peak_memory(status_file: &str) -> Option<u64> {
    let text = fs::read_to_string(status_file).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

//! A repository to measure in, and a way to run the program there and watch what it takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A repository, removed at the end.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

/// What a run took.
pub(crate) struct Taken {
    /// How long it was.
    pub(crate) time: Duration,
    /// The most memory that it had, in bytes.
    pub(crate) memory: u64,
    /// The time that it kept a core busy itself, without what it started.
    pub(crate) busy: Duration,
}

impl Scratch {
    /// A repository with these files and this agent, all committed.
    pub(crate) fn new(agent: &str, files: &[(String, String)]) -> Self {
        let scratch = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(scratch.root()).expect("a folder");
        for (name, text) in files {
            let path = scratch.root().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        fs::write(scratch.root().join("agent.sh"), agent).expect("an agent");
        scratch.sh("chmod +x agent.sh && git init -q && git config user.name Bench && git config user.email bench@localhost");
        scratch.sh("git config gc.auto 0 && git config maintenance.auto false && git add -A && git commit -q -m begin");
        scratch
    }

    /// Its folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn sh(&self, script: &str) {
        let status =
            Command::new("sh").args(["-e", "-c", script]).current_dir(self.root()).status().expect("sh runs");
        assert!(status.success(), "{script}");
    }

    /// Runs the program to its end, with these variables.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, PathBuf)]) -> Taken {
        let started = Instant::now();
        let mut child = Command::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")))
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (status_file, stat_file) =
            (format!("/proc/{}/status", child.id()), format!("/proc/{}/stat", child.id()));
        let (mut memory, mut busy) = (0, Duration::ZERO);
        let status = loop {
            memory = memory.max(peak_memory(&status_file).unwrap_or(0));
            busy = busy.max(busy_time(&stat_file).unwrap_or_default());
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "the run is complete");
        Taken { time: started.elapsed(), memory, busy }
    }
}

/// The peak of a process's memory so far, in bytes.
fn peak_memory(status_file: &str) -> Option<u64> {
    let text = fs::read_to_string(status_file).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The time that a process has kept a core busy, in its own code and in the kernel.
fn busy_time(stat_file: &str) -> Option<Duration> {
    const TICKS_PER_SECOND: u64 = 100;
    let text = fs::read_to_string(stat_file).ok()?;
    // The name in parentheses may hold anything: fields count from the last one.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// Bytes as megabytes.
#[expect(clippy::cast_precision_loss, reason = "a size is shown with one digit")]
pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}

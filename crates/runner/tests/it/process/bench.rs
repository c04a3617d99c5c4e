//! What the tests share: an invocation to vary, a way to run it, and a look at what is still alive.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use runner::process::{Ended, Handle, Invocation, ProcessLimits, Program, start, use_keeper};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot::{Receiver, channel};

/// No wait in these tests may take longer, on a machine that has much else to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// What is told to end may take this long to do so.
const GRACE: Duration = Duration::from_secs(200);

/// More than this means that the grace time was waited for although it need not have been.
pub(crate) const SOON: Duration = Duration::from_secs(150);

/// The example that keeps one command; `cargo test` builds it beside the tests.
pub(crate) fn keeper() -> &'static Path {
    static KEEPER: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = std::env::current_exe().unwrap();
        let keeper = test.ancestors().nth(2).unwrap().join("examples/keep");
        assert!(
            keeper.is_file(),
            "{} is missing: run all tests of this crate, or --example keep first",
            keeper.display()
        );
        keeper
    });
    &KEEPER
}

/// A folder and a marker of one test's own.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) marker: String,
    runtime: Runtime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        use_keeper(keeper());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self {
            folder: tempfile::tempdir().unwrap(),
            marker: format!("TILLGREEN_TEST_MARKER={}-{number}", std::process::id()),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn shell(&self, script: &str) -> Invocation {
        self.program(Program::Shell(script.to_owned()))
    }

    pub(crate) fn program(&self, command: Program) -> Invocation {
        let (name, value) = self.marker.split_once('=').unwrap();
        Invocation {
            command,
            cwd: self.folder.path().to_owned(),
            env: vec![(name.into(), value.into())],
            env_remove: Vec::new(),
            stdin: None,
            stdout_log: self.path("stdout.log"),
            stderr_log: self.path("stderr.log"),
            limits: ProcessLimits {
                deadline: PATIENCE,
                no_progress: None,
                grace: GRACE,
                head_bytes_max: 4096,
                tail_bytes_max: 4096,
            },
        }
    }

    pub(crate) fn start(&self, invocation: Invocation) -> (Handle, Receiver<Ended>) {
        let (sender, receiver) = channel();
        let on_end = |ended| sender.send(ended).unwrap();
        (start(self.runtime.handle(), invocation, on_end), receiver)
    }

    /// Runs to the end, at which nothing may be left.
    pub(crate) fn run(&self, invocation: Invocation) -> Ended {
        let (_, end) = self.start(invocation);
        self.end(end)
    }

    pub(crate) fn end(&self, end: Receiver<Ended>) -> Ended {
        let ended = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, end).await });
        let ended = ended.expect("ends in time").expect("is told");
        assert_eq!(marked(&self.marker), Vec::<u32>::new(), "left behind after {ended:?}");
        ended
    }

    /// Lets the runtime work until the condition holds.
    pub(crate) fn until(&self, what: &str, condition: impl Fn() -> bool) {
        self.runtime.block_on(async {
            let give_up_at = Instant::now() + PATIENCE;
            while !condition() {
                assert!(Instant::now() < give_up_at, "{what}: not in time");
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        });
    }
}

/// The processes whose environment holds the marker.
pub(crate) fn marked(marker: &str) -> Vec<u32> {
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
    })
    .collect()
}

/// The name of a process.
pub(crate) fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

/// Whether this process may make namespaces, and keepers therefore do.
pub(crate) fn namespaces_allowed() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(effective.trim(), 16).unwrap() & (1 << 21) != 0
}

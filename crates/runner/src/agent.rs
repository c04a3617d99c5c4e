//! An agent that is just a command: what its end means, and whether it can be found at all.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use engine::{AgentEnd, Claim, Dialect, Stuck, contradiction};

use crate::mask::mask;
use crate::process::{Ended, Exit};

/// Exit codes with a meaning of their own.
const TEMPORARILY_UNAVAILABLE: i32 = 75;
const PERMISSION_DENIED: i32 = 126;
const CANNOT_START: i32 = 127;

/// How long a program may take to say its version, and how much it may say.
const VERSION_PATIENCE: Duration = Duration::from_secs(10);
const VERSION_BYTES_MAX: u64 = 4_096;

/// How much of an agent's output a failure keeps.
const TAIL_CHARS_MAX: usize = 4_000;
/// How much of that is the beginning, where an answer cannot be read.
const HEAD_CHARS_MAX: usize = 1_000;

/// What the end of an agent means. An echo of the prompt is not part of its answer.
pub(crate) fn agent_end(ended: &Ended, prompt: &str, dialect: Dialect) -> AgentEnd {
    let answer = ended.stdout.text.replacen(prompt.trim(), "", 1);
    let claim = Claim::read(&answer, dialect);
    let said = || mask(&if claim == Claim::Silent { head_and_tail(&answer) } else { tail(&answer) });
    let complained = || mask(&tail(&format!("{}\n{}", answer.trim_end(), ended.stderr.text)));
    match &ended.exit {
        Exit::Code(0) => AgentEnd::Answered {
            tail: said(),
            contradiction: contradiction(&answer).map(str::to_owned),
            claim: masked(claim),
        },
        Exit::Code(TEMPORARILY_UNAVAILABLE) => AgentEnd::Unavailable {
            reason: because("the agent is temporarily unavailable", &complained()),
            retry_after: None,
        },
        Exit::Code(PERMISSION_DENIED) => AgentEnd::PermissionDenied { text: complained() },
        Exit::Code(CANNOT_START) => AgentEnd::Unavailable {
            reason: because("the agent cannot be started", &complained()),
            retry_after: None,
        },
        Exit::Code(code) => AgentEnd::Exited { code: *code, claim: masked(claim), tail: complained() },
        Exit::Signal(signal) => {
            AgentEnd::Exited { code: 128 + signal, claim: masked(claim), tail: complained() }
        }
        Exit::DeadlinePassed => {
            let limit = format!("no end within {} s", ended.elapsed.as_secs());
            AgentEnd::TimedOut { limit, tail: complained() }
        }
        Exit::NoProgress => {
            AgentEnd::TimedOut { limit: "no output for too long".to_owned(), tail: complained() }
        }
        Exit::Stopped => {
            AgentEnd::Unavailable { reason: "the agent was stopped".to_owned(), retry_after: None }
        }
        Exit::CannotStart(reason) => AgentEnd::Unavailable {
            reason: format!("the agent cannot be started: {reason}"),
            retry_after: None,
        },
    }
}

fn masked(claim: Claim) -> Claim {
    match claim {
        Claim::Failed(failed) => Claim::Failed(engine::FailureClaim {
            error: mask(&failed.error),
            attempted_fix: mask(&failed.attempted_fix),
            status: mask(&failed.status),
            suggested_fix: failed.suggested_fix.as_deref().map(mask),
            root_cause: failed.root_cause.as_deref().map(mask),
        }),
        Claim::Stuck(stuck) => Claim::Stuck(Stuck { reason: mask(&stuck.reason), ..stuck }),
        other @ (Claim::Complete | Claim::NotVerified | Claim::Silent) => other,
    }
}

fn because(what: &str, output: &str) -> String {
    let line = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(
        || what.to_owned(),
        |line| format!("{what}: {}", line.chars().take(200).collect::<String>()),
    )
}

fn tail(text: &str) -> String {
    let text = text.trim();
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(TAIL_CHARS_MAX)).collect()
}

/// What is kept of an answer that cannot be read: its beginning is what people look at first.
fn head_and_tail(text: &str) -> String {
    let text = text.trim();
    let count = text.chars().count();
    if count <= TAIL_CHARS_MAX {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD_CHARS_MAX).collect();
    let rest: String = text.chars().skip(count - (TAIL_CHARS_MAX - HEAD_CHARS_MAX)).collect();
    format!("{head}\n…\n{rest}")
}

/// Where a program is found: a path as it is, a name on `PATH`.
pub fn find_program(name: &str, dir: &Path) -> Option<PathBuf> {
    if name.contains('/') {
        let path = dir.join(name);
        return is_executable(&path).then_some(path);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// What a program says to `--version`, first line only.
pub fn version_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let give_up = Instant::now() + VERSION_PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= give_up {
            // It may have ended by itself just now; either way it is gone.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let mut text = Vec::new();
    child.stdout.take()?.take(VERSION_BYTES_MAX).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.chars().take(100).collect())
}

//! The set-up command of a work tree: how it is run, and what the paths that it makes are good for at the next use.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{fmt, fs};

use serde::{Deserialize, Serialize};

use crate::git::is_interrupted;
use crate::mask::mask;
use crate::process::{self, Ended, Exit, Invocation, ProcessLimits, Program};
use crate::worktrees::copies::is_database;
use crate::worktrees::environment::{Variables, environment};
use crate::worktrees::slots::Unready;

/// The time a set-up may take by default.
pub(crate) const SET_UP_DEADLINE: Duration = Duration::from_secs(30 * 60);

/// The time a set-up has between being told to end and being killed.
const GRACE: Duration = Duration::from_secs(5);
/// The bytes of its output that are kept, from its beginning and from its end.
const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// The interval at which to look whether the run was interrupted.
const SLICE: Duration = Duration::from_millis(100);

/// Runs set-up commands: below a keeper, with a deadline, stopped when the run is interrupted.
#[derive(Clone)]
pub(crate) struct SetUpRunner {
    run: Arc<dyn Fn(Invocation) -> Ended + Send + Sync>,
    logs: PathBuf,
    deadline: Duration,
    variables: Vec<(OsString, OsString)>,
    withheld: Vec<OsString>,
}

impl SetUpRunner {
    /// One that starts processes on the runtime and writes what they print into files in the folder `logs`.
    pub(crate) fn new(runtime: tokio::runtime::Handle, logs: PathBuf, deadline: Duration) -> SetUpRunner {
        let run = move |invocation| run_below_keeper(&runtime, invocation);
        SetUpRunner { run: Arc::new(run), logs, deadline, variables: Vec::new(), withheld: Vec::new() }
    }

    /// Takes variables away from all of them.
    pub(crate) fn without(self, variables: &Variables) -> SetUpRunner {
        SetUpRunner { withheld: variables.withheld_here(), ..self }
    }

    /// Gives all of them these variables, such as those by which processes of a run are known.
    pub(crate) fn with_variables(self, variables: Vec<(OsString, OsString)>) -> SetUpRunner {
        SetUpRunner { variables, ..self }
    }

    /// Runs another command in the same way, and waits for its end.
    pub(crate) fn run(&self, invocation: Invocation) -> Ended {
        (self.run)(invocation)
    }

    /// Runs a set-up command in a work tree of the project.
    pub(super) fn set_up(&self, command: &str, project: &Path, place: &Place<'_>) -> Result<(), Unready> {
        if is_interrupted() {
            return Err(Unready::Interrupted);
        }
        // Without the folder the process cannot start, which is said then.
        let _ = fs::create_dir_all(&self.logs);
        let log = self.logs.join(format!("setup-{}.log", place.name));
        let changes = environment(project, place.root, place.slot, std::env::vars_os(), false);
        let (set, removed): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, value)| value.is_some());
        let removed = removed.into_iter().map(|(name, _)| name).chain(self.withheld.iter().cloned());
        let set = set.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let invocation = Invocation {
            // All output goes where people expect it, in order.
            command: Program::Bash(format!("exec 2>&1\n{command}")),
            cwd: place.root.to_owned(),
            env_remove: removed.collect(),
            env: set.chain(self.variables.iter().cloned()).collect(),
            stdin: None,
            stdout_log: log.clone(),
            stderr_log: log.with_extension("err.log"),
            limits: ProcessLimits {
                deadline: self.deadline,
                no_progress: None,
                grace: GRACE,
                head_bytes_max: OUTPUT_BYTES_MAX,
                tail_bytes_max: OUTPUT_BYTES_MAX,
            },
        };
        let ended = (self.run)(invocation);
        let reason = match &ended.exit {
            Exit::Code(0) => return Ok(()),
            Exit::Stopped => return Err(Unready::Interrupted),
            Exit::Code(code) => format!("failed with exit code {code}"),
            Exit::Signal(signal) => format!("was killed by signal {signal}"),
            Exit::DeadlinePassed | Exit::NoProgress => {
                format!("did not end within {}", ended.limit_in_words())
            }
            Exit::CannotStart(reason) => format!("cannot be started: {reason}"),
        };
        let output = mask(&format!("{}{}", ended.stdout.text, ended.stderr.text));
        Err(Unready::SetUp { command: command.to_owned(), output, reason, log })
    }
}

#[cfg(test)]
impl SetUpRunner {
    /// One without a keeper, since the program of a test can be none.
    pub(crate) fn plain(logs: &Path) -> SetUpRunner {
        let run = |invocation: Invocation| {
            let Program::Bash(script) = &invocation.command else { panic!("{:?}", invocation.command) };
            let mut command = std::process::Command::new("bash");
            command.args(["-e", "-c", "--", script]).current_dir(&invocation.cwd);
            invocation.env_remove.iter().for_each(|name| _ = command.env_remove(name));
            let output = command.envs(invocation.env).output().unwrap();
            fs::write(&invocation.stdout_log, &output.stdout).unwrap();
            let kept = |bytes: &[u8]| process::Kept {
                text: String::from_utf8_lossy(bytes).into_owned(),
                ..process::Kept::default()
            };
            Ended {
                exit: output.status.code().map_or(Exit::Stopped, Exit::Code),
                stdout: kept(&output.stdout),
                stderr: kept(&output.stderr),
                elapsed: Duration::ZERO,
                limit: invocation.limits.deadline,
            }
        };
        let deadline = Duration::from_secs(300);
        let (variables, withheld) = (Vec::new(), Vec::new());
        SetUpRunner { run: Arc::new(run), logs: logs.to_owned(), deadline, variables, withheld }
    }
}

impl fmt::Debug for SetUpRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetUpRunner").field("logs", &self.logs).finish_non_exhaustive()
    }
}

/// A work tree that is set up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) root: &'a Path,
    pub(super) slot: u32,
    /// The name of its folder.
    pub(super) name: &'a str,
}

fn run_below_keeper(runtime: &tokio::runtime::Handle, invocation: Invocation) -> Ended {
    let (sender, receiver) = channel();
    let limit = invocation.limits.deadline;
    // Nobody but this thread waits for it.
    let handle = process::start(runtime, invocation, move |ended| drop(sender.send(ended)));
    loop {
        match receiver.recv_timeout(SLICE) {
            Ok(ended) => return ended,
            Err(RecvTimeoutError::Timeout) if is_interrupted() => handle.stop(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Ended {
                    exit: Exit::Stopped,
                    stdout: process::Kept::default(),
                    stderr: process::Kept::default(),
                    elapsed: Duration::ZERO,
                    limit,
                };
            }
        }
    }
}

/// The use of a path that set-up made when the work tree shows another commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Use {
    /// It depends on manifests alone, as installed packages do: it stays.
    Keep,
    /// It depends on sources: set-up makes it again.
    MakeAgain,
    /// It is a cache of a tool: nobody misses it.
    Drop,
}

/// The use of a path that set-up made in a work tree, from its name and, of a file, from what it is.
pub(super) fn use_of(worktree: &Path, path: &str) -> Use {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = |list: &[&str]| list.iter().any(|end| name.ends_with(end));
    let caches = ["__pycache__", ".eslintcache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache"];
    let outputs = ["dist", "build", "out", ".next", ".nuxt", ".output", ".svelte-kit", ".vite", ".turbo"];
    if caches.contains(&name) || ends(&[".pyc"]) {
        Use::Drop
    } else if outputs.contains(&name)
        || name.starts_with("cmake-build-")
        || ends(&[".tsbuildinfo", ".o", ".a", ".so"])
        || is_database(&worktree.join(path))
    {
        Use::MakeAgain
    } else {
        Use::Keep
    }
}

/// Caches of tools inside what is kept: they are about sources.
pub(super) fn drop_caches(worktree: &Path, kept: &str) {
    for name in [".cache", ".vite", ".vitest"] {
        // What cannot be removed is found out by whoever cleans, and by the verification in a new work tree.
        let _ = crate::git::remove_folder(&worktree.join(kept).join(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_from_sources_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("data"), b"SQLite format 3\0...").unwrap();
        let check = |path: &str, expected: Use| assert_eq!(use_of(folder.path(), path), expected, "{path}");
        check("node_modules", Use::Keep);
        check("packages/a/node_modules", Use::Keep);
        check(".venv", Use::Keep);
        check("vendor", Use::Keep);
        check("src/app.egg-info", Use::Keep);
        check("packages/a/dist", Use::MakeAgain);
        check("build", Use::MakeAgain);
        check("tsconfig.tsbuildinfo", Use::MakeAgain);
        check("data", Use::MakeAgain);
        check("src/app/__pycache__", Use::Drop);
    }
}

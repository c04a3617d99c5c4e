//! Running one git process: environment, process group, deadline, bounded output. What its words mean is left to
//! the callers.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::child_note::{ChildNote, NotePlace};
use super::error::GitError;

/// How long a question to git may take. A cold status of a huge repository needs a while.
pub(super) const QUESTION_DEADLINE: Duration = Duration::from_secs(120);

/// What a listing may need; nothing that is asked of git comes near it.
const STDOUT_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Hooks may flood; the beginning is kept for people, the rest is read and dropped.
const STDERR_BYTES_MAX: usize = 64 * 1024;
/// How long git has to clean up after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long to read on after git has ended, when a process that a hook started keeps the pipes open.
const DRAIN: Duration = Duration::from_millis(300);

/// Variables that would point git at another repository than the one it is run in, as they do inside a hook.
const LOCATION_VARIABLES: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Variables for every git process besides the inherited ones.
pub(super) type Environment = Vec<(OsString, OsString)>;

/// One git process to run.
pub(super) struct Call<'a> {
    pub(super) dir: &'a Path,
    pub(super) environment: &'a Environment,
    pub(super) arguments: Vec<OsString>,
    pub(super) stdin: Vec<u8>,
    pub(super) deadline: Duration,
    /// Where to note the process while it runs, for commands that take git's locks.
    pub(super) note_in: Option<NotePlace<'a>>,
}

/// How a git process ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) command: String,
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl Ended {
    pub(super) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// The error for an exit code that has no special meaning.
    pub(super) fn into_failure(self) -> GitError {
        GitError::Failed { command: self.command, code: self.code, output: self.stderr }
    }

    /// The standard output of a process that succeeded.
    pub(super) fn success(self) -> Result<Vec<u8>, GitError> {
        if self.is_success() { Ok(self.stdout) } else { Err(self.into_failure()) }
    }
}

/// What the threads around a child report to its one owner.
enum Heard {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Closed,
    Ended,
}

/// Runs git and waits for its end, at most until the deadline. The note of a git that was killed stays: it may have
/// left a lock file, which the note lets us recognise as ours.
pub(super) fn run(call: Call<'_>) -> Result<Ended, GitError> {
    let command = describe(&call.arguments);
    // Git may take its lock, and all may end, before its own number is noted: until then ours stands in for it.
    let stand_in = call.note_in.and_then(|place| ChildNote::write(place, std::process::id()));
    let spawned = spawn(&call);
    let pid = spawned.as_ref().ok().map(Child::id);
    let note = call.note_in.zip(pid).and_then(|(place, pid)| ChildNote::write(place, pid));
    stand_in.into_iter().for_each(ChildNote::remove);
    let mut child = spawned?;
    let (sender, inbox) = sync_channel(64);
    listen(&mut child, call.stdin, &sender);
    drop(sender);
    let mut heard = Output::default();
    let in_time = collect(&inbox, &mut heard, Instant::now() + call.deadline);
    if !in_time {
        end(&child, &inbox, &mut heard);
    }
    let status = child.wait().map_err(GitError::io("wait for", Path::new("git")))?;
    if !in_time {
        let output = heard.stderr();
        return Err(GitError::Deadline { command, after: call.deadline, output });
    }
    drain(&inbox, &mut heard);
    if let Some(note) = note.filter(|_| status.code().is_some()) {
        note.remove();
    }
    finish(command, status, heard)
}

fn finish(command: String, status: ExitStatus, heard: Output) -> Result<Ended, GitError> {
    if heard.stdout.len() > STDOUT_BYTES_MAX {
        let output = format!("more than {STDOUT_BYTES_MAX} bytes");
        return Err(GitError::Unexpected { command, output });
    }
    let stderr = heard.stderr();
    Ok(Ended { command, code: status.code(), stdout: heard.stdout, stderr })
}

fn spawn(call: &Call<'_>) -> Result<Child, GitError> {
    let mut command = Command::new("git");
    command.args(&call.arguments).current_dir(call.dir).process_group(0);
    command.stdin(if call.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    prepare_environment(&mut command);
    command.envs(call.environment.iter().map(|(name, value)| (name, value)));
    command.spawn().map_err(|source| {
        if source.kind() != io::ErrorKind::NotFound {
            return GitError::io("run", Path::new("git"))(source);
        }
        // A missing folder and a missing program give the same error.
        if call.dir.is_dir() { GitError::NotInstalled } else { GitError::io("run git in", call.dir)(source) }
    })
}

/// No prompts, no pager, no editor, English messages. The character set stays the user's, because hooks inherit
/// all of this and some break in the C locale.
fn prepare_environment(command: &mut Command) {
    for name in LOCATION_VARIABLES {
        command.env_remove(name);
    }
    if let Some(locale) = std::env::var_os("LC_ALL") {
        command.env("LC_CTYPE", locale);
    }
    command.env_remove("LC_ALL").env_remove("LANGUAGE").env("LC_MESSAGES", "C");
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat").env("GIT_EDITOR", "true");
}

/// Starts the threads that feed the inbox. Each ends by itself with its pipe or with the child.
fn listen(child: &mut Child, stdin: Vec<u8>, sender: &SyncSender<Heard>) {
    if let Some(mut pipe) = child.stdin.take() {
        // A git that fails early closes its end; its exit code tells, not this write.
        thread::spawn(move || pipe.write_all(&stdin).is_ok());
    }
    if let Some(pipe) = child.stdout.take() {
        forward(pipe, sender.clone(), Heard::Stdout);
    }
    if let Some(pipe) = child.stderr.take() {
        forward(pipe, sender.clone(), Heard::Stderr);
    }
    let (pid, sender) = (pid_of(child), sender.clone());
    thread::spawn(move || {
        // The child is left unreaped, so that its process group cannot be another's when it is signalled.
        while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
            == Err(nix::errno::Errno::EINTR)
        {}
        sender.send(Heard::Ended).is_ok()
    });
}

fn forward(mut pipe: impl Read + Send + 'static, sender: SyncSender<Heard>, wrap: fn(Vec<u8>) -> Heard) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return sender.send(Heard::Closed).is_ok(),
                Ok(count) => {
                    if sender.send(wrap(buffer.get(..count).unwrap_or_default().to_vec())).is_err() {
                        return false;
                    }
                }
            }
        }
    });
}

#[derive(Default)]
struct Output {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    closed: usize,
}

impl Output {
    /// Takes one report; true when it says that the child has ended.
    fn take(&mut self, heard: Heard) -> bool {
        match heard {
            Heard::Stdout(bytes) => {
                if self.stdout.len() <= STDOUT_BYTES_MAX {
                    self.stdout.extend_from_slice(&bytes);
                }
            }
            Heard::Stderr(bytes) => {
                let room = STDERR_BYTES_MAX.saturating_sub(self.stderr.len());
                self.stderr.extend(bytes.into_iter().take(room));
            }
            Heard::Closed => self.closed += 1,
            Heard::Ended => return true,
        }
        false
    }

    fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Listens until the child has ended; false when the deadline came first.
fn collect(inbox: &Receiver<Heard>, output: &mut Output, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match inbox.recv_timeout(left) {
            Ok(heard) => {
                if output.take(heard) {
                    return true;
                }
            }
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => return true,
        }
        if left.is_zero() {
            return false;
        }
    }
}

/// Reads what is left in the pipes after the child has ended.
fn drain(inbox: &Receiver<Heard>, output: &mut Output) {
    let deadline = Instant::now() + DRAIN;
    while output.closed < 2 {
        match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(heard) => {
                output.take(heard);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Terminate, grace, kill, for the whole group. SIGCONT wakes what stopped at the terminal.
fn end(child: &Child, inbox: &Receiver<Heard>, output: &mut Output) {
    let group = pid_of(child);
    // A group that is gone already is what is wanted.
    let _ = killpg(group, Signal::SIGTERM);
    let _ = killpg(group, Signal::SIGCONT);
    collect(inbox, output, Instant::now() + GRACE);
    let _ = killpg(group, Signal::SIGKILL);
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id fits the system's own type"))
}

fn describe(arguments: &[OsString]) -> String {
    let mut arguments = arguments;
    while let [option, _, rest @ ..] = arguments
        && option == "-c"
    {
        arguments = rest;
    }
    let shown = arguments.iter().take(6).map(|argument| argument.to_string_lossy().into_owned());
    let mut words: Vec<_> = std::iter::once("git".to_owned()).chain(shown).collect();
    if arguments.len() > 6 {
        words.push("…".to_owned());
    }
    words.join(" ")
}

/// Arguments from words known at compile time.
pub(super) fn words(list: &[&str]) -> Vec<OsString> {
    list.iter().map(|word| OsStr::new(word).to_owned()).collect()
}

/// Paths as git reads them from standard input: taken literally and separated by NUL, so that no name is special.
pub(super) fn pathspecs<P: AsRef<OsStr>>(paths: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut text = Vec::new();
    for path in paths {
        text.extend_from_slice(b":(literal)");
        text.extend_from_slice(path.as_ref().as_bytes());
        text.push(0);
    }
    text
}

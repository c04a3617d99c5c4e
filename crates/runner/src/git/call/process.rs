//! One git process: environment, process group, deadline, bounded output, all in the thread that waits for it. What its
//! words mean is left to the callers.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::git::call::error::GitError;
use crate::git::call::locks::{ChildNote, NotePlace, Noted, outwait};
use crate::git::call::stopping::UnderWay;
use crate::git::repository::Git;

/// The time a question to git may take. A cold status of a huge repository needs a while.
pub(in crate::git) const QUESTION_DEADLINE: Duration = Duration::from_secs(120);

/// The time a commit may take by default, hooks and signing included.
pub const COMMIT_DEADLINE: Duration = Duration::from_secs(120);

/// The time git has to clean up after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// The interval at which to look whether the run is to end while git is waited for.
const SLICE: Duration = Duration::from_millis(200);

/// Variables that would point git at another repository than the one it is run in, as they do inside a hook and an alias.
/// Settings that somebody passes on to all gits are not among them.
pub(crate) const LOCATION_VARIABLES: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_CONFIG",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Variables that would make git read our paths otherwise than they are meant. A person's own gits keep them.
const PATHSPEC_VARIABLES: [&str; 4] =
    ["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// The variable by which a git that outlived the program is known to be of its run: where notes of it are.
pub(in crate::git) const OF_RUN: &str = "TILLGREEN_GIT_NOTES";

/// Variables for every git process besides the inherited ones.
pub(in crate::git) type Environment = Vec<(OsString, OsString)>;

/// One git process to run.
pub(in crate::git) struct Call<'a> {
    pub(in crate::git) dir: &'a Path,
    pub(in crate::git) environment: &'a Environment,
    pub(in crate::git) arguments: Vec<OsString>,
    pub(in crate::git) stdin: Vec<u8>,
    pub(in crate::git) deadline: Duration,
    /// The place for a note of the process while it runs, for commands that take git's locks.
    pub(in crate::git) note_in: Option<NotePlace<'a>>,
}

/// The end of a git process.
#[derive(Debug)]
pub(in crate::git) struct Ended {
    pub(in crate::git) command: String,
    pub(in crate::git) code: Option<i32>,
    pub(in crate::git) stdout: Vec<u8>,
    pub(in crate::git) stderr: String,
}

impl Ended {
    pub(in crate::git) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// The error for an exit code that has no special meaning.
    pub(in crate::git) fn into_failure(self) -> GitError {
        GitError::Failed { command: self.command, code: self.code, output: self.stderr }
    }

    /// The standard output of a process that succeeded.
    pub(in crate::git) fn success(self) -> Result<Vec<u8>, GitError> {
        if self.is_success() { Ok(self.stdout) } else { Err(self.into_failure()) }
    }
}

/// Runs git and waits for its end, at most until the deadline. The note of a git that was killed stays: it may have
/// left a lock file, which the note lets us recognise as ours.
pub(in crate::git) fn run(call: Call<'_>) -> Result<Ended, GitError> {
    // Git may take its lock, and all may end, before its own number is noted: until then ours stands in for it.
    let mut note = call.note_in.and_then(|place| Some((ChildNote::write(place, std::process::id())?, place)));
    let mut begun = match Begun::start(call) {
        Ok(begun) => begun,
        Err(error) => {
            note.into_iter().for_each(|(note, place)| note.end(place));
            return Err(error);
        }
    };
    if let Some((note, place)) = &mut note {
        // One that has ended already leaves the stand-in.
        let _ = note.rewrite(*place, begun.child.id());
    }
    let status = begun.wait()?;
    if let Some((note, place)) = note.filter(|_| status.code().is_some()) {
        note.end(place);
    }
    finish(begun.command, status, begun.listener.heard)
}

/// The reason why a git was ended.
enum Cut {
    /// Its time was up.
    Late,
    /// The run is to end.
    Stopped,
}

/// A git that is under way.
pub(in crate::git) struct Begun {
    command: String,
    deadline: Duration,
    child: Child,
    listener: Listener,
    /// None once it has ended.
    under_way: Option<UnderWay>,
}

impl Begun {
    /// Starts a git. What it prints before somebody listens has to fit into a pipe, or it waits.
    pub(in crate::git) fn start(call: Call<'_>) -> Result<Begun, GitError> {
        let command = describe(&call.arguments);
        let mut child = spawn(&call)?;
        let under_way = Some(UnderWay::new(pid_of(&child)));
        let listener = Listener::new(&mut child, call.stdin).map_err(deaf())?;
        Ok(Begun { command, deadline: call.deadline, child, listener, under_way })
    }

    fn wait(&mut self) -> Result<ExitStatus, GitError> {
        let cut = self.listen()?;
        if cut.is_some() {
            end(&self.child, &mut self.listener);
        }
        self.under_way = None;
        let status = self.child.wait().map_err(GitError::io("wait for", Path::new("git")))?;
        let (command, output) = (self.command.clone(), self.listener.heard.stderr());
        match cut {
            None => Ok(status),
            Some(Cut::Late) => Err(GitError::Deadline { command, after: self.deadline, output }),
            Some(Cut::Stopped) => Err(GitError::Stopped { command }),
        }
    }

    /// Listens until it has ended, or until it is to be.
    fn listen(&mut self) -> Result<Option<Cut>, GitError> {
        let deadline = Instant::now() + self.deadline;
        loop {
            let now = Instant::now();
            if self.listener.listen(deadline.min(now + SLICE)).map_err(deaf())? {
                return Ok(None);
            }
            if self.under_way.as_ref().is_some_and(|git| git.is_to_end(&self.command)) {
                return Ok(Some(Cut::Stopped));
            }
            if Instant::now() >= deadline {
                return Ok(Some(Cut::Late));
            }
        }
    }
}

impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begun").field("command", &self.command).finish_non_exhaustive()
    }
}

fn deaf() -> impl FnOnce(io::Error) -> GitError {
    GitError::io("listen to", Path::new("git"))
}

fn finish(command: String, status: ExitStatus, heard: Output) -> Result<Ended, GitError> {
    if heard.stdout.len() > STDOUT_BYTES_MAX {
        let output = format!("more than {STDOUT_BYTES_MAX} bytes");
        return Err(GitError::Unexpected { command, output });
    }
    let mut stderr = heard.stderr();
    if let Some(signal) = status.signal() {
        // Whoever is killed has no words for it.
        let gap = if stderr.is_empty() || stderr.ends_with('\n') { "" } else { "\n" };
        stderr.push_str(&format!("{gap}killed by signal {signal}"));
    }
    Ok(Ended { command, code: status.code(), stdout: heard.stdout, stderr })
}

fn prepare(call: &Call<'_>) -> Command {
    let mut command = Command::new("git");
    command.args(&call.arguments).current_dir(call.dir).process_group(0);
    prepare_environment(&mut command);
    if call.note_in.is_none() {
        prepare_question(&mut command);
    }
    command.envs(call.note_in.map(|place| (OF_RUN, place.notes.folder())));
    command.envs(call.environment.iter().map(|(name, value)| (name, value)));
    command
}

fn spawn(call: &Call<'_>) -> Result<Child, GitError> {
    let mut command = prepare(call);
    command.stdin(if call.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
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
    for name in LOCATION_VARIABLES.iter().chain(&PATHSPEC_VARIABLES) {
        command.env_remove(name);
    }
    if let Some(locale) = std::env::var_os("LC_ALL") {
        command.env("LC_CTYPE", locale);
    }
    command.env_remove("LC_ALL").env_remove("LANGUAGE").env("LC_MESSAGES", "C");
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat").env("GIT_EDITOR", "true");
}

/// A question starts no program that the repository's settings name, and writes nothing, as a look at a stranger's
/// repository has to. What somebody passes on to all gits stays.
fn prepare_question(command: &mut Command) {
    let passed_on = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<u32>().ok());
    let count = passed_on.unwrap_or_default();
    command.env(format!("GIT_CONFIG_KEY_{count}"), "core.fsmonitor");
    command.env(format!("GIT_CONFIG_VALUE_{count}"), "false");
    command.env("GIT_CONFIG_COUNT", (count + 1).to_string()).env("GIT_OPTIONAL_LOCKS", "0");
}

/// Terminate, grace, kill, for the whole group. SIGCONT wakes what stopped at the terminal.
fn end(child: &Child, listener: &mut Listener) {
    let group = pid_of(child);
    // A group that is gone already is what is wanted.
    let _ = killpg(group, Signal::SIGTERM);
    let _ = killpg(group, Signal::SIGCONT);
    // Whether it ended in time or cannot be listened to: what is left is killed.
    let _ = listener.listen(Instant::now() + GRACE);
    let _ = killpg(group, Signal::SIGKILL);
}

fn describe(arguments: &[OsString]) -> String {
    let mut arguments = arguments;
    while let [option, _, rest @ ..] = arguments
        && option == "-c"
    {
        arguments = rest;
    }
    let shown = arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
    // Where it looks is long, and never what is wrong.
    let is_place = |word: &String| word.starts_with("--git-dir=") || word.starts_with("--work-tree=");
    let shown: Vec<_> = shown.skip_while(is_place).collect();
    let mut words: Vec<_> = std::iter::once("git".to_owned()).chain(shown.iter().take(4).cloned()).collect();
    if shown.len() > 4 {
        words.push("…".to_owned());
    }
    words.join(" ")
}

/// Arguments from words known at compile time.
pub(in crate::git) fn words(list: &[&str]) -> Vec<OsString> {
    list.iter().map(|word| OsStr::new(word).to_owned()).collect()
}

/// Paths as git reads them from standard input: taken literally and separated by NUL, so that no name is special.
pub(in crate::git) fn pathspecs<P: AsRef<OsStr>>(paths: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut text = Vec::new();
    for path in paths {
        text.extend_from_slice(b":(literal)");
        text.extend_from_slice(path.as_ref().as_bytes());
        text.push(0);
    }
    text
}

/// The bytes that a listing may need; nothing that is asked of git comes near it.
pub(in crate::git) const STDOUT_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Hooks may flood; the beginning is kept for people, the rest is read and dropped.
const STDERR_BYTES_MAX: usize = 64 * 1024;
/// The bytes that are read at once.
const READ_BYTES: usize = 16 * 1024;
/// The time to read on after git has ended, when a process that a hook started keeps the pipes open.
const DRAIN: Duration = Duration::from_millis(300);
/// The interval at which to look whether git has ended while its pipes are open and silent.
const TICK: Duration = Duration::from_millis(20);
/// The first wait for the end of a git that has closed its pipes: it comes at once.
const FIRST_WAIT: Duration = Duration::from_micros(50);

/// A git process that is listened to.
pub(in crate::git) struct Listener {
    pid: Pid,
    stdin: Option<(ChildStdin, Vec<u8>)>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    pub(in crate::git) heard: Output,
    /// The buffer of all reads. It is made once: clearing it for each look takes longer than the look.
    buffer: Vec<u8>,
}

/// The output.
#[derive(Default)]
pub(in crate::git) struct Output {
    pub(in crate::git) stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Output {
    pub(in crate::git) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    fn take_stdout(&mut self, bytes: &[u8]) {
        if self.stdout.len() <= STDOUT_BYTES_MAX {
            self.stdout.extend_from_slice(bytes);
        }
    }

    fn take_stderr(&mut self, bytes: &[u8]) {
        let room = STDERR_BYTES_MAX.saturating_sub(self.stderr.len());
        self.stderr.extend(bytes.iter().take(room));
    }
}

impl Listener {
    /// Takes the pipes of a child, and what it is to read.
    pub(in crate::git) fn new(child: &mut Child, stdin: Vec<u8>) -> io::Result<Listener> {
        let pipe = child.stdin.take().map(|pipe| (pipe, stdin));
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        pipe.as_ref().map_or(Ok(()), |(pipe, _)| never_block(pipe))?;
        stdout.as_ref().map_or(Ok(()), never_block)?;
        stderr.as_ref().map_or(Ok(()), never_block)?;
        let (heard, buffer) = (Output::default(), vec![0; READ_BYTES]);
        Ok(Listener { pid: pid_of(child), stdin: pipe, stdout, stderr, heard, buffer })
    }

    /// Listens until the child has ended; false when the deadline came first. The child is left unreaped, so that its
    /// process group cannot be another's when it is signalled.
    pub(in crate::git) fn listen(&mut self, deadline: Instant) -> io::Result<bool> {
        let (mut wait, mut looked) = (FIRST_WAIT, Instant::now());
        loop {
            let is_silent = self.stdout.is_none() && self.stderr.is_none();
            if is_silent && self.has_ended()? {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            if is_silent {
                thread::sleep(wait.min(left));
                wait = (wait * 2).min(TICK);
                continue;
            }
            let is_quiet = !self.exchange(TICK.min(left))?;
            if is_quiet || looked.elapsed() >= TICK {
                looked = Instant::now();
                if self.has_ended()? {
                    return self.drain().map(|()| true);
                }
            }
        }
    }

    /// Reads what is left in the pipes after the child has ended.
    fn drain(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + DRAIN;
        while self.stdout.is_some() || self.stderr.is_some() {
            let left = deadline.saturating_duration_since(Instant::now());
            // However late it has become meanwhile: what lies in the pipes is git's own.
            self.exchange(left)?;
            if left.is_zero() {
                break;
            }
        }
        Ok(())
    }

    fn has_ended(&self) -> io::Result<bool> {
        has_ended(self.pid)
    }

    /// Waits until something can be read or written, and does so; false if nothing could.
    fn exchange(&mut self, wait: Duration) -> io::Result<bool> {
        let mut asked = Vec::with_capacity(3);
        asked.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
        asked.extend(self.stderr.as_ref().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
        asked.extend(self.stdin.as_ref().map(|(pipe, _)| PollFd::new(pipe.as_fd(), PollFlags::POLLOUT)));
        let milliseconds = u16::try_from(wait.as_millis().max(1)).unwrap_or(u16::MAX);
        match poll(&mut asked, PollTimeout::from(milliseconds)) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // None of them blocks, so those that are not ready have nothing to say.
        let (buffer, heard) = (&mut self.buffer, &mut self.heard);
        self.stdout = take_in(self.stdout.take(), buffer, |bytes| heard.take_stdout(bytes));
        self.stderr = take_in(self.stderr.take(), buffer, |bytes| heard.take_stderr(bytes));
        self.stdin = self.stdin.take().and_then(|(pipe, text)| feed(pipe, text));
        Ok(true)
    }
}

/// True if a child has ended. It is left unreaped.
pub(in crate::git) fn has_ended(pid: Pid) -> io::Result<bool> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
    match waitid(Id::Pid(pid), flags) {
        Ok(status) => Ok(status != WaitStatus::StillAlive),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Reads what is there; none when the pipe is closed.
fn take_in<P: Read>(pipe: Option<P>, buffer: &mut [u8], mut take: impl FnMut(&[u8])) -> Option<P> {
    let mut pipe = pipe?;
    loop {
        match pipe.read(buffer) {
            Ok(count) if count > 0 => take(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(pipe),
            Ok(_) | Err(_) => return None,
        }
    }
}

/// Writes what fits; none when all is written. A git that fails early closes its end; its exit code tells, not this
/// write.
fn feed(mut pipe: ChildStdin, mut text: Vec<u8>) -> Option<(ChildStdin, Vec<u8>)> {
    loop {
        match pipe.write(&text) {
            Ok(count) if count == text.len() => return None,
            Ok(count) => drop(text.drain(..count)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some((pipe, text)),
            Err(_) => return None,
        }
    }
}

fn never_block(pipe: &impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(pipe.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(pipe.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

pub(in crate::git) fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id fits the system's own type"))
}

impl Git {
    /// Waits for gits of an earlier process of this run, and in the end kills them.
    pub fn outwait_earlier(&self, tell: &mut dyn FnMut(String)) {
        let noted = self.note_place().map(ChildNote::read_all).unwrap_or_default();
        let noted: Vec<Noted> = noted.into_iter().map(|(_, noted)| noted).collect();
        for git in noted.iter().chain(&self.orphans()).filter(|git| git.is_another()) {
            // One that was noted is found twice, and has ended by then.
            if !git.is_alive() {
                continue;
            }
            tell(format!(
                "git of an earlier start (process {}) is still running, perhaps in a hook; waiting for it, at most {} s: \
                 `kill -- -{}` ends it if it hangs",
                git.pid,
                COMMIT_DEADLINE.as_secs(),
                git.pid
            ));
            outwait(git, COMMIT_DEADLINE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_person_has_paths_read_does_not_reach_our_gits() {
        let mut command = Command::new("git");
        prepare_environment(&mut command);
        let removed: Vec<&OsStr> =
            command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        for name in ["LITERAL", "GLOB", "NOGLOB", "ICASE"].map(|kind| format!("GIT_{kind}_PATHSPECS")) {
            assert!(removed.contains(&OsStr::new(&name)), "{name} is still there: {removed:?}");
        }
    }
}

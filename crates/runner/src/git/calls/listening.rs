//! Listening to one git process: what it prints is taken in, what it is to read is written, and its end is noticed. All
//! of that happens in the thread that waits for it anyway; threads of its own for each would cost more than many a
//! git takes.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

/// What a listing may need; nothing that is asked of git comes near it.
pub(in crate::git) const STDOUT_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Hooks may flood; the beginning is kept for people, the rest is read and dropped.
const STDERR_BYTES_MAX: usize = 64 * 1024;
/// How much is read at once.
const READ_BYTES: usize = 16 * 1024;
/// How long to read on after git has ended, when a process that a hook started keeps the pipes open.
const DRAIN: Duration = Duration::from_millis(300);
/// How often to look whether git has ended while its pipes are open and silent.
const TICK: Duration = Duration::from_millis(20);
/// How long to wait, at first, for the end of a git that has closed its pipes: it comes at once.
const FIRST_WAIT: Duration = Duration::from_micros(50);

/// A git process that is listened to.
pub(in crate::git) struct Listener {
    pid: Pid,
    stdin: Option<(ChildStdin, Vec<u8>)>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    pub(in crate::git) heard: Output,
    /// What is read goes through here. It is made once: clearing it for each look takes longer than the look.
    buffer: Vec<u8>,
}

/// What it printed.
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

/// Whether a child has ended. It is left unreaped.
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

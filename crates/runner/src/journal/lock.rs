//! The lock that lets one process write a plan's journal. It is a `flock`, so it ends with the process that holds
//! it, however that process ends; the file's text only tells others who that is.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// The time `acquire` waits for a lock that nobody seems to hold: a `holder` call takes it for a moment, and a new
/// holder needs a moment to write its name. A machine with much else to do makes seconds of moments.
const SETTLE: Duration = Duration::from_secs(5);
const SETTLE_STEP: Duration = Duration::from_millis(5);

/// A holder's text is a few hundred bytes; more is not read.
const HOLDER_BYTES_MAX: u64 = 64 * 1024;

/// The lock, held until this value is dropped or the process ends.
#[derive(Debug)]
pub struct RunLock {
    file: Flock<File>,
    path: PathBuf,
    holder: Holder,
}

/// The holder of a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// When it took the lock.
    pub started: Timestamp,
    /// Its command line.
    pub command: String,
}

/// The reason why a lock could not be had or asked about.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run has it.
    #[error("{} is held by process {} (`{}`) since {}", path.display(), holder.pid, holder.command, holder.started)]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The holder.
        holder: Holder,
    },
    /// The lock is held by somebody who left no name.
    #[error("{} is held by a process that did not write its name into it", path.display())]
    HeldByUnknown {
        /// The lock file.
        path: PathBuf,
    },
    /// The operating system refused something.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The lock file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl RunLock {
    /// Takes the lock, or says who has it. The file is created if need be; its folder must exist.
    pub fn acquire(path: &Path) -> Result<RunLock, LockError> {
        let give_up = Instant::now() + SETTLE;
        loop {
            match attempt(path)? {
                Attempt::Locked(file) => return named(file, path),
                Attempt::Held(Some(holder)) if is_alive(&holder) || Instant::now() >= give_up => {
                    return Err(LockError::Held { path: path.to_owned(), holder });
                }
                Attempt::Held(None) if Instant::now() >= give_up => {
                    return Err(LockError::HeldByUnknown { path: path.to_owned() });
                }
                Attempt::Held(_) => thread::sleep(SETTLE_STEP),
                Attempt::Replaced => {}
            }
        }
    }

    /// Takes the lock anew if its file was deleted, after which anybody else could have taken it.
    pub(super) fn reinstate(&mut self) -> io::Result<()> {
        if !is_at(&self.file, &self.path)? {
            *self = RunLock::acquire(&self.path).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// The holder as others see it: this process.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // The text is only for people and for `holder`; a leftover name is recognised as stale by its process.
        let _ = self.file.set_len(0);
    }
}

/// The holder of the lock right now, if there is one.
pub fn holder(path: &Path) -> Result<Option<Holder>, LockError> {
    let give_up = Instant::now() + SETTLE;
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed("open", path, source)),
    };
    let mut file = file;
    loop {
        // A shared lock does not get in the way of another `holder`, only of an `acquire`, which waits for it.
        file = match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Ok(_) => return Ok(None),
            Err((file, Errno::EWOULDBLOCK)) => file,
            Err((_, errno)) => return Err(failed("lock", path, errno.into())),
        };
        match read_holder(&mut file).map_err(|source| failed("read", path, source))? {
            Some(holder) if is_alive(&holder) || Instant::now() >= give_up => return Ok(Some(holder)),
            None if Instant::now() >= give_up => {
                return Err(LockError::HeldByUnknown { path: path.to_owned() });
            }
            Some(_) | None => thread::sleep(SETTLE_STEP),
        }
    }
}

enum Attempt {
    Locked(Flock<File>),
    Held(Option<Holder>),
    /// The file at the path is not the one that was locked: somebody removed or replaced it.
    Replaced,
}

fn attempt(path: &Path) -> Result<Attempt, LockError> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|source| failed("open", path, source))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) if is_at(&file, path).map_err(|source| failed("look at", path, source))? => {
            Ok(Attempt::Locked(file))
        }
        Ok(_) => Ok(Attempt::Replaced),
        Err((mut file, Errno::EWOULDBLOCK)) => {
            read_holder(&mut file).map(Attempt::Held).map_err(|source| failed("read", path, source))
        }
        Err((_, errno)) => Err(failed("lock", path, errno.into())),
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(current) => Ok(open.dev() == current.dev() && open.ino() == current.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes this process's name into the lock that it has just taken.
fn named(mut file: Flock<File>, path: &Path) -> Result<RunLock, LockError> {
    let arguments: Vec<_> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let holder = Holder { pid: std::process::id(), started: Timestamp::now(), command: arguments.join(" ") };
    let text = serde_json::to_vec(&holder).map_err(io::Error::from);
    let written = text.and_then(|text| {
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&text)
    });
    written.map_err(|source| failed("write", path, source))?;
    Ok(RunLock { file, path: path.to_owned(), holder })
}

/// None: the text is empty or half written.
fn read_holder(file: &mut File) -> io::Result<Option<Holder>> {
    file.rewind()?;
    let mut text = Vec::new();
    (&*file).take(HOLDER_BYTES_MAX).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}

fn is_alive(holder: &Holder) -> bool {
    match i32::try_from(holder.pid) {
        Ok(pid) if pid > 0 => signal::kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH),
        Ok(_) | Err(_) => false,
    }
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> LockError {
    LockError::Io { action, path: path.to_owned(), source }
}

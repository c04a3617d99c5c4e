//! The keeper where namespaces are allowed: process 1 of the PID namespace that holds the command.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, process};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::keeper::command::{Ending, KeptCommand, cannot_start};
use crate::process::keeper::role::Post;
use crate::process::keeper::surroundings::{
    Wakeup, Wakeups, close_inherited_files, die_with_parent, leave_session,
};
use crate::process::keeper::word::{Word, WordWriter};
use crate::process::sweep::Process;

/// Keeps the command until it ends; the kernel then kills the rest of the namespace.
pub(super) fn keep(post: Post) -> ! {
    die_with_parent();
    // The /proc of the outer namespace is still mounted and shows us as we are seen from there; from
    // inside, the parent's pid cannot be seen.
    let outside = Process::read(Path::new("/proc/self/stat"));
    if outside.is_some_and(|outside| outside.parent != post.parent) {
        process::exit(1);
    }
    let word = WordWriter::open(post.word).unwrap_or_else(|error| cannot_start("in a namespace", &error));
    close_inherited_files(&[word.number()]);
    // A terminal's signals are lost on an init without handlers, so leaving it comes first.
    leave_session();
    let mut wakeups = Wakeups::begin();
    if mount_proc().is_err() {
        // With nobody to hear it, the exit code has to do.
        let _ = word.write(Word::Unable);
        process::exit(1);
    }
    number_processes_after(outside);
    finish(keep_command(&post.argv, &mut wakeups), &word)
}

fn keep_command(argv: &[OsString], wakeups: &mut Wakeups) -> Ending {
    let mut command = KeptCommand::start(argv);
    loop {
        for wakeup in wakeups.wait() {
            match wakeup {
                Wakeup::ChildEnded => {}
                // All but ourselves; there may be none left.
                Wakeup::Stop => drop(kill(Pid::from_raw(-1), Signal::SIGTERM)),
                Wakeup::KillAll => return Ending::Signal(Signal::SIGKILL as i32),
            }
        }
        if let Some(ending) = command.reap() {
            return ending;
        }
    }
}

/// Shows the namespace's own processes under /proc, here only: nothing that is mounted in here reaches the
/// mounts outside.
fn mount_proc() -> nix::Result<()> {
    const NONE: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_SLAVE, NONE)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, NONE)
}

/// Lets the pids in here begin where ours is outside. Otherwise they would begin at 2 in each namespace,
/// and programs that run side by side and name temporary files by pid would get in each other's way.
fn number_processes_after(outside: Option<Process>) {
    if let Some(outside) = outside {
        // Not every kernel has this file, and nothing depends on it.
        let _ = fs::write("/proc/sys/kernel/ns_last_pid", outside.pid.to_string());
    }
}

/// Process 1 cannot die of a signal, so it tells of it.
fn finish(ending: Ending, word: &WordWriter) -> ! {
    if let Some(signal) = ending.named_signal() {
        // With nobody to hear it, the exit code has to do.
        let _ = word.write(Word::Signalled(signal));
    }
    process::exit(ending.shell_code())
}

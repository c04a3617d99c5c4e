//! The role of a keeper, by which it is told from the program proper, and its instructions.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid};

use crate::process::keeper::{init, subreaper};

/// The name of a keeper's process, apart from the program's so that `pkill` by the program's name spares it.
pub(super) const NAME: &str = "tg-keeper";
/// Tells a keeper to kill everything at once. Asking for a graceful stop is SIGTERM.
pub(in crate::process) const KILL_ALL: Signal = Signal::SIGUSR1;

const KEEP: &str = "--keep";
const KEEP_AS_INIT: &str = "--keep-as-init";
/// Also right when the file was replaced by an upgrade, as `current_exe` is not.
const THIS_EXECUTABLE: &str = "/proc/self/exe";

/// Set once, before any process is started; see [`use_keeper`].
static KEEPER: OnceLock<PathBuf> = OnceLock::new();

/// Nobody said which executable acts as a keeper.
#[derive(Debug, thiserror::Error)]
#[error("this program cannot keep processes: its main function must call keep_if_asked first")]
pub(in crate::process) struct KeeperMissing;

/// Acts as a keeper and does not return, if this process was started as one. To be called first thing in
/// `main`, before any thread or file exists.
pub fn keep_if_asked() {
    match Role::of(env::args_os()) {
        Some(Role { way: Way::Subreaper, post }) => subreaper::keep(post),
        Some(Role { way: Way::Init, post }) => init::keep(post),
        None => use_keeper(Path::new(THIS_EXECUTABLE)),
    }
}

/// Names another executable, whose `main` calls [`keep_if_asked`], as the keeper. For tests, whose own
/// `main` is not theirs. The first call in a process counts.
pub fn use_keeper(executable: &Path) {
    hear_of_children();
    // A second call changes nothing, as documented.
    let _ = KEEPER.set(executable.to_owned());
}

/// A program that was started with SIGCHLD ignored never learns how its children end; any handler undoes
/// that.
fn hear_of_children() {
    // It cannot fail for this signal, and where nothing ignores it nothing depends on it.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGCHLD, Arc::default());
}

/// The way in which a keeper keeps its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum Way {
    /// As the init of the PID namespace that it is started in.
    Init,
    /// As a subreaper.
    Subreaper,
}

/// The executable, name and arguments of a keeper that leaves its words at this descriptor.
pub(in crate::process) fn keeper_command_line(
    way: Way,
    word: RawFd,
    argv: &[OsString],
) -> Result<(&'static Path, &'static str, Vec<OsString>), KeeperMissing> {
    // Starting a program that is not a keeper could start the same tests again and again.
    let executable = KEEPER.get().ok_or(KeeperMissing)?;
    let role = match way {
        Way::Subreaper => KEEP,
        Way::Init => KEEP_AS_INIT,
    };
    let args = [role.into(), word.to_string().into(), getpid().to_string().into()];
    Ok((executable, NAME, args.into_iter().chain(argv.iter().cloned()).collect()))
}

/// The instructions for a keeper when it is started.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Post {
    /// The process that started the keeper, in that process's own namespace.
    pub(super) parent: Pid,
    /// The descriptor for its words.
    pub(super) word: RawFd,
    /// The command that it is to keep.
    pub(super) argv: Vec<OsString>,
}

#[derive(Debug, PartialEq, Eq)]
struct Role {
    way: Way,
    post: Post,
}

impl Role {
    /// Reads the arguments, the process's name first. Nothing is taken from the environment, because
    /// agents inherit that and may start this program themselves.
    fn of(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        if args.next()? != OsStr::new(NAME) {
            return None;
        }
        let role = args.next()?;
        let word = args.next()?.to_str()?.parse().ok()?;
        let parent = Pid::from_raw(args.next()?.to_str()?.parse().ok()?);
        let way = match role.to_str()? {
            KEEP => Way::Subreaper,
            KEEP_AS_INIT => Way::Init,
            _ => return None,
        };
        Some(Self { way, post: Post { parent, word, argv: args.collect() } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(args: &[&str]) -> Option<Role> {
        Role::of(args.iter().map(OsString::from))
    }

    #[test]
    fn only_name_and_role_together_make_a_keeper() {
        let given = || vec![OsString::from("sh"), OsString::from("-c")];
        for (args, way, argv) in [
            (&["tg-keeper", "--keep", "5", "7", "sh", "-c"][..], Way::Subreaper, given()),
            (&["tg-keeper", "--keep-as-init", "5", "7", "sh", "-c"], Way::Init, given()),
            (&["tg-keeper", "--keep", "5", "7"], Way::Subreaper, vec![]),
        ] {
            let post = Post { parent: Pid::from_raw(7), word: 5, argv };
            assert_eq!(role(args), Some(Role { way, post }), "{args:?}");
        }
        for other in [
            &[][..],
            &["tg-keeper"],
            &["tg-keeper", "--keep"],
            &["tg-keeper", "--keep", "x", "7", "sh"],
            &["tg-keeper", "--keep-as-init", "5"],
            &["tg-keeper", "--keep-as-init", "5", "x", "sh"],
            &["tg-keeper", "--keep-as-init", "x", "7", "sh"],
            &["tg-keeper", "run", "5", "7", "sh"],
            &["tillgreen", "--keep", "5", "7", "sh"],
        ] {
            assert_eq!(role(other), None, "{other:?}");
        }
    }
}

//! How a keeper is told from the program proper, and what it is told to do.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid};

use super::{init, outer};

/// The name of a keeper's process, apart from the program's so that `pkill` by the program's name spares it.
pub(super) const NAME: &str = "tg-keeper";
/// Tells a keeper to kill everything at once. Asking for a graceful stop is SIGTERM.
pub(in crate::process) const KILL_ALL: Signal = Signal::SIGUSR1;

const OUTER: &str = "--keep";
const INIT: &str = "--keep-as-init";
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
        Some(Role::Outer(order)) => outer::keep(&order),
        Some(Role::Init(order)) => init::keep(&order),
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

/// The executable, name and arguments of a keeper for this command.
pub(in crate::process) fn keeper_command_line(
    argv: Vec<OsString>,
) -> Result<(&'static Path, &'static str, Vec<OsString>), KeeperMissing> {
    // Starting a program that is not a keeper could start the same tests again and again.
    let executable = KEEPER.get().ok_or(KeeperMissing)?;
    Ok((executable, NAME, Order { parent: getpid(), argv }.args(OUTER)))
}

/// What a keeper is to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The process that started the keeper, in that process's own namespace.
    pub(super) parent: Pid,
    /// The command to keep.
    pub(super) argv: Vec<OsString>,
}

impl Order {
    /// The arguments of the second stage, which keeps the same command as init of a namespace.
    pub(super) fn args_for_init(&self) -> Vec<OsString> {
        Self { parent: getpid(), argv: self.argv.clone() }.args(INIT)
    }

    fn args(self, role: &str) -> Vec<OsString> {
        [role.into(), self.parent.to_string().into()].into_iter().chain(self.argv).collect()
    }
}

/// The executable of the next stage.
pub(super) fn this_executable() -> &'static Path {
    Path::new(THIS_EXECUTABLE)
}

#[derive(Debug, PartialEq, Eq)]
enum Role {
    Outer(Order),
    Init(Order),
}

impl Role {
    /// Reads the arguments, the process's name first. Nothing is taken from the environment, because
    /// agents inherit that and may start this program themselves.
    fn of(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        if args.next()? != OsStr::new(NAME) {
            return None;
        }
        let role = args.next()?;
        let parent = Pid::from_raw(args.next()?.to_str()?.parse().ok()?);
        let order = Order { parent, argv: args.collect() };
        match role.to_str()? {
            OUTER => Some(Self::Outer(order)),
            INIT => Some(Self::Init(order)),
            _ => None,
        }
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
        let order = || Order { parent: Pid::from_raw(7), argv: vec!["sh".into(), "-c".into()] };
        assert_eq!(role(&["tg-keeper", "--keep", "7", "sh", "-c"]), Some(Role::Outer(order())));
        assert_eq!(role(&["tg-keeper", "--keep-as-init", "7", "sh", "-c"]), Some(Role::Init(order())));
        for other in [
            &[][..],
            &["tg-keeper"],
            &["tg-keeper", "--keep"],
            &["tg-keeper", "--keep", "x", "sh"],
            &["tg-keeper", "run", "7", "sh"],
            &["tillgreen", "--keep", "7", "sh"],
        ] {
            assert_eq!(role(other), None, "{other:?}");
        }
    }
}

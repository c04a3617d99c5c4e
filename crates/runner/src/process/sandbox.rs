//! A sandbox around an agent, by bubblewrap: everything can be read, and little be written.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::handle::Program;
use crate::settings::Sandboxing;

/// The program that makes the sandbox.
const PROGRAM: &str = "bwrap";

/// The parts of a repository's folder that are written by commits. What git runs, hooks and settings, is not among them.
const WRITTEN_BY_COMMITS: [&str; 3] = ["objects", "refs", "logs"];

/// The parts that decide what git runs.
const DECIDING: [&str; 4] = ["hooks", "config", "config.worktree", "info"];

/// The sandbox of one start of an agent.
#[derive(Debug)]
pub(crate) struct Sandbox<'a> {
    /// With or without a network.
    pub sandboxing: Sandboxing,
    /// The folder that the agent works in.
    pub place: &'a Path,
    /// The folder that all work trees of the repository share.
    pub git_common: Option<&'a Path>,
    /// The program's own folder for the plan.
    pub home: &'a Path,
    /// The folder of the attempt.
    pub dir: &'a Path,
    /// The folders that the agent keeps its own things in, from the user's home.
    pub of_agent: &'static [&'static str],
}

impl Sandbox<'_> {
    /// The program within the sandbox.
    pub(crate) fn around(&self, program: &Program) -> Program {
        let mut argv: Vec<OsString> =
            [PROGRAM, "--die-with-parent", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]
                .map(OsString::from)
                .to_vec();
        let mut bind = |how: &str, path: &Path| argv.extend([how.into(), path.into(), path.into()]);
        for path in self.written() {
            bind("--bind-try", &path);
        }
        for path in self.kept() {
            bind("--ro-bind-try", &path);
        }
        bind("--bind-try", self.dir);
        if self.sandboxing == Sandboxing::Offline {
            argv.push("--unshare-net".into());
        }
        argv.push("--".into());
        argv.extend(program.argv());
        Program::Argv(argv)
    }

    /// The paths that can be written: the place, the slot's part of the repository, temporary folders, the agent's own.
    fn written(&self) -> Vec<PathBuf> {
        let mut paths = vec![PathBuf::from("/tmp"), std::env::temp_dir()];
        if let Some(user) = std::env::home_dir() {
            let of_agent = self.of_agent.iter().map(|folder| user.join(folder));
            // It could not make them itself; a file that is missing stays so.
            let is_folder = |path: &PathBuf| path.extension().is_none();
            of_agent.clone().filter(is_folder).for_each(|folder| _ = fs::create_dir_all(folder));
            paths.extend(of_agent);
        }
        paths.push(self.place.to_owned());
        // What is bound by itself cannot be moved away to have another one in its place.
        paths.extend(Some(self.place.join(".git")).filter(|git| git.is_dir()));
        if let Some(common) = self.git_common.filter(|common| !common.starts_with(self.place)) {
            paths.extend(WRITTEN_BY_COMMITS.map(|part| common.join(part)));
            paths.extend(own_part(self.place));
        }
        paths
    }

    /// The paths within those that cannot.
    fn kept(&self) -> Vec<PathBuf> {
        let folders = self.git_common.into_iter().map(Path::to_owned).chain(own_part(self.place));
        let mut paths: Vec<PathBuf> =
            folders.flat_map(|folder| DECIDING.map(|part| folder.join(part))).collect();
        paths.extend(Some(self.place.join(".git")).filter(|git| git.is_file()));
        // All that is known of runs; the folder of the attempt, which lies in it, is bound again.
        paths.extend(self.home.parent().map(Path::to_owned));
        paths
    }
}

/// The folder of a linked work tree's own state.
fn own_part(place: &Path) -> Option<PathBuf> {
    let link = fs::read_to_string(place.join(".git")).ok()?;
    Some(PathBuf::from(link.strip_prefix("gitdir: ")?.trim_end()))
}

/// The reason why there can be no sandbox here.
pub(crate) fn no_sandbox() -> Option<String> {
    let mut trial = Command::new(PROGRAM);
    trial.args(["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--", "true"]);
    match trial.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(format!("bubblewrap is not installed: `{PROGRAM}` was not found"))
        }
        Err(error) => Some(format!("`{PROGRAM}` cannot be started: {error}")),
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("`{PROGRAM}` says: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_may_write() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("slot");
        fs::create_dir(&place).unwrap();
        fs::write(place.join(".git"), "gitdir: /repo/.git/worktrees/slot-1\n").unwrap();
        let shown = |sandboxing| {
            let sandbox = Sandbox {
                sandboxing,
                place: &place,
                git_common: Some(Path::new("/repo/.git")),
                home: Path::new("/repo/.tillgreen/specs-demo"),
                dir: Path::new("/repo/.tillgreen/specs-demo/attempts/1"),
                of_agent: &[],
            };
            let Program::Argv(argv) = sandbox.around(&Program::Shell("x".to_owned())) else {
                panic!("a list")
            };
            let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let text = words.join(" ").replace(&place.display().to_string(), "SLOT");
            text.replace(&std::env::temp_dir().display().to_string(), "/tmp").replace(" --", "\n--")
        };
        insta::assert_snapshot!(shown(Sandboxing::Offline), @r"
        bwrap
        --die-with-parent
        --ro-bind / /
        --dev-bind /dev /dev
        --bind-try /tmp /tmp
        --bind-try /tmp /tmp
        --bind-try SLOT SLOT
        --bind-try /repo/.git/objects /repo/.git/objects
        --bind-try /repo/.git/refs /repo/.git/refs
        --bind-try /repo/.git/logs /repo/.git/logs
        --bind-try /repo/.git/worktrees/slot-1 /repo/.git/worktrees/slot-1
        --ro-bind-try /repo/.git/hooks /repo/.git/hooks
        --ro-bind-try /repo/.git/config /repo/.git/config
        --ro-bind-try /repo/.git/config.worktree /repo/.git/config.worktree
        --ro-bind-try /repo/.git/info /repo/.git/info
        --ro-bind-try /repo/.git/worktrees/slot-1/hooks /repo/.git/worktrees/slot-1/hooks
        --ro-bind-try /repo/.git/worktrees/slot-1/config /repo/.git/worktrees/slot-1/config
        --ro-bind-try /repo/.git/worktrees/slot-1/config.worktree /repo/.git/worktrees/slot-1/config.worktree
        --ro-bind-try /repo/.git/worktrees/slot-1/info /repo/.git/worktrees/slot-1/info
        --ro-bind-try SLOT/.git SLOT/.git
        --ro-bind-try /repo/.tillgreen /repo/.tillgreen
        --bind-try /repo/.tillgreen/specs-demo/attempts/1 /repo/.tillgreen/specs-demo/attempts/1
        --unshare-net
        -- sh -c
        -- x
        ");
        assert!(!shown(Sandboxing::On).contains("--unshare-net"));
    }
}

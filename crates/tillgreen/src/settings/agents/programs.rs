//! Programs of agents: where they are looked for, and which one a command starts.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where programs are looked for.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    path: Option<OsString>,
    /// The folder that agents are started in.
    root: PathBuf,
}

impl Programs {
    /// Looks along the given search path.
    pub(crate) fn new(path: Option<OsString>, root: &Path) -> Self {
        Self { path, root: root.to_owned() }
    }

    /// Looks along the search path of this process.
    pub(crate) fn of_environment(root: &Path) -> Self {
        Self::new(std::env::var_os("PATH"), root)
    }

    /// The file that a program's name stands for.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(self.root.join(program)).filter(|file| file.is_file());
        }
        let folders = self.path.as_ref()?;
        std::env::split_paths(folders)
            .map(|folder| self.root.join(folder).join(program))
            .find(|file| is_executable(file))
    }

    /// The program of a command that is not installed, if that can be told without running a shell.
    pub(crate) fn missing(&self, command: &str) -> Option<String> {
        let program = program_of(command)?;
        self.find(program).is_none().then(|| program.to_owned())
    }

    /// The program of a command that is a file which may not be run.
    pub(crate) fn forbidden(&self, command: &str) -> Option<PathBuf> {
        self.find(program_of(command)?).filter(|file| !is_executable(file))
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Words that a shell knows itself: what runs after them is not guessed.
const SHELL_WORDS: &[&str] = &[
    ".", ":", "[", "[[", "alias", "break", "case", "cd", "command", "continue", "do", "done", "echo", "elif",
    "else", "esac", "eval", "exec", "exit", "export", "false", "fi", "for", "function", "if", "kill",
    "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test", "then", "time",
    "times", "trap", "true", "type", "ulimit", "umask", "unset", "until", "wait", "while", "{", "}", "!",
];

/// The program that a command begins with: its first word after `NAME=value`s. None where only a shell can tell.
pub(crate) fn program_of(command: &str) -> Option<&str> {
    let word = command.split_whitespace().find(|word| !is_assignment(word))?;
    let before = &command[..command.find(word)?];
    let is_plain = |text: &str| {
        !text.contains([
            '\'', '"', '\\', '$', '`', '(', ')', '{', '}', '<', '>', '|', '&', ';', '*', '?', '#', '~',
        ])
    };
    (is_plain(before) && is_plain(word) && !SHELL_WORDS.contains(&word)).then_some(word)
}

fn is_assignment(word: &str) -> bool {
    let is_letter = |character: char| character.is_ascii_alphanumeric() || character == '_';
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(is_letter)
            && !name.starts_with(|character: char| character.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command() {
        let check = |command: &str, expected: Option<&str>| {
            assert_eq!(program_of(command), expected, "for {command:?}");
        };
        check("claude -p", Some("claude"));
        check("  codex exec -", Some("codex"));
        check("A=1 B=two ./agent.sh", Some("./agent.sh"));
        check("/opt/x/agent --flag", Some("/opt/x/agent"));
        check("A='x y' agent", None);
        check("A=\"$HOME\" agent", None);
        check("if true; then agent; fi", None);
        check("cd x && agent", None);
        check("exec agent", None);
        check("(agent)", None);
        check("$AGENT -p", None);
        check("~/bin/agent", None);
        check("\"my agent\" -p", None);
        check("A=1", None);
        check("", None);
        check("cat|agent", None);
    }

    #[test]
    fn programs_are_found_on_the_path_or_as_files() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for (name, mode) in [("agent", 0o755), ("notes", 0o644)] {
            std::fs::write(bin.join(name), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let programs = Programs::new(Some(bin.clone().into_os_string()), folder.path());
        assert_eq!(programs.find("agent"), Some(bin.join("agent")));
        assert_eq!(programs.find("notes"), None, "not executable");
        assert_eq!(programs.find("bin/notes"), Some(folder.path().join("bin/notes")), "named as a file");
        assert_eq!(programs.missing("X=1 nowhere -p"), Some("nowhere".to_owned()));
        assert_eq!(programs.missing("agent -p"), None);
        assert_eq!(programs.missing("$(nowhere)"), None, "only a shell can tell");
        let none = Programs::new(None, folder.path());
        assert_eq!(none.find("agent"), None);
    }
}

//! A verify command that cannot start: what it needs and is not there. That is told apart from a command that was red,
//! because trying again does not make it appear.

use engine::{Cause, CheckFailure};

use crate::mask::mask;
use crate::process::{Ended, Exit};

/// The exit code of a shell that did not find a program.
const NOT_FOUND: i32 = 127;

/// How much of a message tells what is missing, where the message is not known.
const MESSAGE_CHARS_MAX: usize = 200;

/// The failure of a command that ended for want of a program or a folder; any other is as it was.
pub(crate) fn or_missing(failure: CheckFailure, ended: &Ended) -> CheckFailure {
    let Some(missing) = missing(ended) else { return failure };
    let error = mask(&format!("the verify command cannot start: {missing}"));
    CheckFailure { cause: Cause::VerifyCannotStart, error, ..failure }
}

/// The program or folder that a script ended for want of, in words.
fn missing(ended: &Ended) -> Option<String> {
    let complaints = || ended.stderr.text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    match &ended.exit {
        Exit::Code(0) => None,
        Exit::Code(NOT_FOUND) => {
            let named = complaints().find_map(program);
            let told = || complaints().next().map(|line| line.chars().take(MESSAGE_CHARS_MAX).collect());
            Some(named.or_else(told).unwrap_or_else(|| "a program that it runs is not there".to_owned()))
        }
        Exit::Code(_) => complaints().next().and_then(|line| folder(line).or_else(|| module(line))),
        Exit::CannotStart(reason) => Some(reason.clone()),
        Exit::Signal(_) | Exit::DeadlinePassed | Exit::NoProgress | Exit::Stopped => None,
    }
}

/// `bash: line 1: jest: command not found`, `sh: 1: jest: not found`, `env: 'node': No such file or directory`.
fn program(line: &str) -> Option<String> {
    let ends = [": command not found", ": not found", ": No such file or directory"];
    let rest = ends.into_iter().find_map(|end| line.strip_suffix(end))?;
    let name = rest.rsplit(": ").next()?.trim_matches(['\'', '"', '‘', '’', '`']);
    Some(format!("the program `{name}` is not there"))
}

/// `bash: line 1: cd: web: No such file or directory`.
fn folder(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(": cd: ")?;
    let name = rest.strip_suffix(": No such file or directory")?;
    Some(format!("the folder `{name}` is not there"))
}

/// `/usr/bin/python3: No module named pytest`, which is how `python3 -m pytest` ends where there is none.
fn module(line: &str) -> Option<String> {
    let (python, name) = line.split_once(": No module named ")?;
    let is_python = python.rsplit('/').next()?.starts_with("python") && !python.contains(' ');
    is_python.then(|| format!("the module `{name}` of Python is not there"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::process::Kept;

    #[track_caller]
    fn check(exit: Exit, stderr: &str, expected: Option<&str>) {
        let stderr = Kept { text: stderr.to_owned(), ..Kept::default() };
        let (stdout, elapsed, limit) = (Kept::default(), Duration::ZERO, Duration::ZERO);
        let ended = Ended { exit, stdout, stderr, elapsed, limit };
        assert_eq!(missing(&ended).as_deref(), expected, "for {:?}", ended.stderr.text);
    }

    #[test]
    fn what_is_missing_is_named() {
        let program = |line: &str, expected: &str| check(Exit::Code(127), line, Some(expected));
        program("bash: line 1: jest: command not found\n", "the program `jest` is not there");
        program(
            "bash: line 2: ./check.sh: No such file or directory\n",
            "the program `./check.sh` is not there",
        );
        program("sh: 1: jest: not found\nnpm error code 127\n", "the program `jest` is not there");
        program("env: ‘node’: No such file or directory\n", "the program `node` is not there");
        program(
            "bash: Zeile 1: jest: Kommando nicht gefunden.",
            "bash: Zeile 1: jest: Kommando nicht gefunden.",
        );
        program("", "a program that it runs is not there");
        let line = "bash: line 1: cd: web: No such file or directory\n";
        check(Exit::Code(1), line, Some("the folder `web` is not there"));
        let line = "/usr/bin/python3: No module named pytest\n";
        check(Exit::Code(1), line, Some("the module `pytest` of Python is not there"));
    }

    #[test]
    fn what_is_red_is_not_missing() {
        check(Exit::Code(0), "bash: line 1: jest: command not found\n", None);
        check(Exit::Code(1), "cat: notes.txt: No such file or directory\n", None);
        check(Exit::Code(1), "bash: line 1: cd: web: No such file or directory\n1 test failed\n", None);
        check(Exit::Code(1), "bash: line 1: jest: command not found\n", None);
        check(Exit::Signal(9), "sh: 1: jest: not found\n", None);
        check(Exit::Code(1), "ModuleNotFoundError: No module named 'app'\n", None);
    }
}

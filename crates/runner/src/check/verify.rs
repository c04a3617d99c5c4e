//! The verify command: what of a task is run, and what its end means. One that cannot start is told apart from one that
//! was red, because trying again does not make appear what is missing.

use std::path::{Path, PathBuf};

use engine::{Cause, CheckFailure, ChecksReport, Failing, Reading};
use plan::{Script, TaskId};

use crate::mask::mask;
use crate::plan_file::Excerpt;
use crate::process::{Ended, Exit, Program};

/// The status of a pipeline whose last command stopped reading.
const BROKEN_PIPE: i32 = 141;

/// The characters of an output that a failure keeps.
const EXCERPT_CHARS_MAX: usize = 2_000;

/// The verify script of a task, from the text that the task had when it was started.
pub(crate) fn script_of(excerpt: &Excerpt) -> Option<Script> {
    excerpt.script().map(|(script, _)| script)
}

/// The program that runs a script.
pub(crate) fn program(script: &Script) -> Program {
    Program::Bash(script.text.clone())
}

/// The meaning of the end of a verify command that ran below `root`: nothing, a warning, or a red check.
pub(crate) fn judge(
    script: &Script,
    ended: &Ended,
    root: &Path,
) -> Result<Option<String>, Box<CheckFailure>> {
    let command = one_line(script);
    match &ended.exit {
        Exit::Code(0) => Ok(None),
        Exit::Code(BROKEN_PIPE) if script.broken_pipe_passes() => {
            Ok(Some(format!("`{command}` ended in a broken pipe, which counts as green")))
        }
        Exit::Code(code) => Err(red(script, ended, root, Some(*code))),
        Exit::Signal(signal) => Err(red(script, ended, root, Some(128 + signal))),
        Exit::DeadlinePassed | Exit::NoProgress => {
            let error = format!("`{command}` did not end within {}", ended.limit_in_words());
            let (cause, failing) = (Cause::VerifyTimeout, Failing::default());
            Err(Box::new(CheckFailure { cause, error, failing, ..*red(script, ended, root, None) }))
        }
        Exit::Stopped => Err(red(script, ended, root, None)),
        Exit::CannotStart(reason) => {
            let error = format!("the verify command cannot be started: {reason}");
            Err(Box::new(CheckFailure { error, ..*red(script, ended, root, None) }))
        }
    }
}

fn red(script: &Script, ended: &Ended, root: &Path, exit_code: Option<i32>) -> Box<CheckFailure> {
    let reading = Reading::of(&mask(&output(ended)), &root.to_string_lossy(), EXCERPT_CHARS_MAX);
    let command = one_line(script);
    let error = reading.error.unwrap_or_else(|| match exit_code {
        Some(code) => format!("`{command}` failed with exit code {code}"),
        None => format!("`{command}` failed"),
    });
    Box::new(CheckFailure {
        cause: Cause::VerifyRed,
        error: mask(&error),
        details: reading.excerpt,
        command: Some(mask(&command)),
        exit_code,
        failing: reading.failing,
    })
}

/// True if a command was green and ran tests, of which there was none.
pub(crate) fn ran_no_test(ended: &Ended, root: &Path) -> bool {
    ended.exit.is_whole() && Reading::of(&output(ended), &root.to_string_lossy(), 0).failing.ran_no_test()
}

/// Standard output and standard error, the latter last because errors are there.
fn output(ended: &Ended) -> String {
    let (out, err) = (ended.stdout.text.trim_end(), ended.stderr.text.trim_end());
    match (out.is_empty(), err.is_empty()) {
        (_, true) => out.to_owned(),
        (true, false) => err.to_owned(),
        (false, false) => format!("{out}\n{err}"),
    }
}

pub(crate) fn one_line(script: &Script) -> String {
    let collapsed = |snippet: &String| snippet.split_whitespace().collect::<Vec<_>>().join(" ");
    let joined = script.snippets.iter().map(collapsed).collect::<Vec<_>>().join("; ");
    joined.chars().take(COMMAND_CHARS_MAX).collect()
}

/// Characters of a command.
const COMMAND_CHARS_MAX: usize = 300;

/// The number of times that a command is run again.
const AGAIN: usize = 3;

/// The results of a command. Where the first one is not what the same files were known for, it is run again: either
/// may be luck.
#[derive(Debug)]
pub(crate) struct Looks {
    /// The folder for what it prints.
    pub dir: PathBuf,
    reports: Vec<ChecksReport>,
}

impl Looks {
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), reports: Vec::new() }
    }

    /// Takes in a result. True if the command is to be run again.
    pub(crate) fn take(&mut self, report: ChecksReport, ended: &Ended, is_contrary: bool) -> bool {
        self.reports.push(report);
        let wants_more = if self.reports.len() == 1 { is_contrary } else { self.reports.len() <= AGAIN };
        ended.exit.is_whole() && wants_more
    }

    /// The words about a command that was run again; `before` is what it was known for.
    pub(crate) fn told(&self, task: &TaskId, before: &str) -> Option<String> {
        let word = |report: &ChecksReport| if report.failure.is_none() { "green" } else { "red" };
        let words: Vec<&str> = self.reports.iter().map(word).collect();
        let (first, again) = words.split_first().filter(|(_, again)| !again.is_empty())?;
        let reason = if again.iter().all(|word| *word == again[0]) {
            "it is flaky, or goes by something that git does not see"
        } else {
            "it is flaky"
        };
        Some(format!(
            "the verify command of task {task} was {before} and is {first} now, on the same files: {reason}; run again, it was {}",
            again.join(", ")
        ))
    }

    /// The result that counts: the only one, or what most of the later ones say.
    pub(crate) fn settled(mut self) -> ChecksReport {
        let again = self.reports.split_off(usize::from(self.reports.len() > 1));
        let (green, red): (Vec<_>, Vec<_>) = again.into_iter().partition(|report| report.failure.is_none());
        let most = if green.len() > red.len() { green } else { red };
        most.into_iter().next_back().unwrap_or_default()
    }
}

/// The exit code of a shell that did not find a program.
const NOT_FOUND: i32 = 127;

/// The characters of a message that tell what is missing, where the message is not known.
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
            let named = complaints().find_map(missing_program);
            let told = || complaints().next().map(|line| line.chars().take(MESSAGE_CHARS_MAX).collect());
            Some(named.or_else(told).unwrap_or_else(|| "a program that it runs is not there".to_owned()))
        }
        Exit::Code(_) => complaints().next().and_then(|line| folder(line).or_else(|| module(line))),
        Exit::CannotStart(reason) => Some(reason.clone()),
        Exit::Signal(_) | Exit::DeadlinePassed | Exit::NoProgress | Exit::Stopped => None,
    }
}

/// `bash: line 1: jest: command not found`, `sh: 1: jest: not found`, `env: 'node': No such file or directory`.
fn missing_program(line: &str) -> Option<String> {
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

//! The verify command: what of a task is run, and what its end means.

use engine::{Cause, CheckFailure};
use plan::{Script, Verify};

use crate::book::Excerpt;
use crate::mask::mask;
use crate::process::{Ended, Exit, Program};

/// The status of a pipeline whose last command stopped reading.
const BROKEN_PIPE: i32 = 141;

/// The verify script of a task, from the text that the task had when it was started.
pub(crate) fn script_of(excerpt: &Excerpt) -> Option<Script> {
    match excerpt.verify() {
        Verify::Runnable(script) => Some(script),
        Verify::Prose(_) | Verify::Absent => None,
    }
}

/// How a script is run.
pub(crate) fn program(script: &Script) -> Program {
    Program::Bash(script.text.clone())
}

/// What the end of a verify command means: nothing, a warning, or a red check.
pub(crate) fn judge(script: &Script, ended: &Ended) -> Result<Option<String>, Box<CheckFailure>> {
    let command = one_line(&script.source());
    match &ended.exit {
        Exit::Code(0) => Ok(None),
        Exit::Code(BROKEN_PIPE) if script.broken_pipe_passes() => {
            Ok(Some(format!("`{command}` ended in a broken pipe, which counts as green")))
        }
        Exit::Code(code) => Err(red(script, ended, Some(*code))),
        Exit::Signal(signal) => Err(red(script, ended, Some(128 + signal))),
        Exit::DeadlinePassed | Exit::NoProgress => {
            let error = format!("`{command}` did not end within {}", ended.limit_in_words());
            Err(Box::new(CheckFailure { cause: Cause::VerifyTimeout, error, ..*red(script, ended, None) }))
        }
        Exit::Stopped => Err(red(script, ended, None)),
        Exit::CannotStart(reason) => {
            let error = format!("the verify command cannot be started: {reason}");
            Err(Box::new(CheckFailure { error, ..*red(script, ended, None) }))
        }
    }
}

fn red(script: &Script, ended: &Ended, exit_code: Option<i32>) -> Box<CheckFailure> {
    let output = output(ended);
    let error = match telling_line(&output) {
        Some(line) => line,
        None => match exit_code {
            Some(code) => format!("`{}` failed with exit code {code}", one_line(&script.source())),
            None => format!("`{}` failed", one_line(&script.source())),
        },
    };
    Box::new(CheckFailure {
        cause: Cause::VerifyRed,
        error: mask(&error),
        details: mask(&output),
        command: Some(mask(&one_line(&script.source()))),
        exit_code,
    })
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

/// The line that tells most: the last one that speaks of an error, else the last one at all.
fn telling_line(output: &str) -> Option<String> {
    let lines = || output.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let speaks = |line: &&str| {
        let lower = line.to_lowercase();
        ["error", "fail", "not found", "panicked", "no such file", "cannot", "exception"]
            .iter()
            .any(|word| lower.contains(word))
    };
    let line = lines().take(200).find(speaks).or_else(|| lines().next())?;
    Some(line.chars().take(200).collect())
}

fn one_line(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().take(300).collect()
}

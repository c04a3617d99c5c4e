//! The verify command: what of a task is run, and what its end means.

use std::path::Path;

use engine::{Cause, CheckFailure, Failing, Reading};
use plan::{Script, Verify};

use crate::book::Excerpt;
use crate::mask::mask;
use crate::process::{Ended, Exit, Program};

/// The status of a pipeline whose last command stopped reading.
const BROKEN_PIPE: i32 = 141;

/// How much of an output is kept of a failure.
const EXCERPT_CHARS_MAX: usize = 2_000;

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

/// What the end of a verify command that ran below `root` means: nothing, a warning, or a red check.
pub(crate) fn judge(
    script: &Script,
    ended: &Ended,
    root: &Path,
) -> Result<Option<String>, Box<CheckFailure>> {
    let command = one_line(&script.source());
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
    let command = one_line(&script.source());
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

/// Standard output and standard error, the latter last because errors are there.
fn output(ended: &Ended) -> String {
    let (out, err) = (ended.stdout.text.trim_end(), ended.stderr.text.trim_end());
    match (out.is_empty(), err.is_empty()) {
        (_, true) => out.to_owned(),
        (true, false) => err.to_owned(),
        (false, false) => format!("{out}\n{err}"),
    }
}

fn one_line(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().take(300).collect()
}

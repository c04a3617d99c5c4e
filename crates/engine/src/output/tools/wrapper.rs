//! Programs that run others, where they fail themselves: npm, make, the shell.

use crate::output::failing::Tool;
use crate::output::reading::Found;

/// Lines of npm besides the reason.
const NPM_NOISE: &[&str] = &[
    "code ",
    "syscall ",
    "path ",
    "errno ",
    "command ",
    "workspace ",
    "location ",
    "Lifecycle script",
    "A complete log",
    "Test failed.",
    "Exit status",
    "To see a list",
    "ELIFECYCLE",
    "This is probably not a problem",
];

/// Finds a script that is missing, a target without a rule, a command that is not there.
pub(super) fn read(lines: &[&str], found: &mut Found) {
    for (at, line) in lines.iter().enumerate() {
        if let Some(said) = npm(line).filter(|_| !found.has(Tool::Npm)) {
            found.told(Tool::Npm, said, at..at + 3);
        } else if line.contains(": *** No rule to make target ") {
            found.told(Tool::Make, line.trim_end_matches(" Stop.").trim_end(), at..at + 1);
        } else if is_missing_command(line) {
            found.told(Tool::Shell, line, at..at + 1);
        }
    }
}

fn npm(line: &str) -> Option<&str> {
    let said = line.strip_prefix("npm error ").or_else(|| line.strip_prefix("npm ERR! "))?;
    let is_noise = NPM_NOISE.iter().any(|beginning| said.starts_with(beginning)) || said.starts_with(' ');
    (!is_noise && said.contains(' ')).then_some(said)
}

/// `bash: line 1: frobnicate: command not found`.
fn is_missing_command(line: &str) -> bool {
    let is_shell =
        ["bash: ", "sh: ", "/bin/sh: ", "/bin/bash: ", "zsh: "].iter().any(|shell| line.starts_with(shell));
    is_shell && (line.ends_with(": command not found") || line.ends_with(": not found"))
}

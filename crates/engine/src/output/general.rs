//! The line that tells most in the output of a tool that is not known.

use super::text::{is_exception, is_omission};

/// Lines from the end that are looked at.
const LINES_MAX: usize = 500;

/// Beginnings of lines whose text is told better by others, or is not about the failure at all.
const NOISE_BEGINNINGS: &[&str] = &[
    "npm notice",
    "npm warn",
    "npm WARN",
    "at ",
    "File \"",
    "Node.js v",
    "Require stack:",
    "Traceback (most",
    "stack backtrace:",
    "note: run with",
    "note: Some details",
    "For more information",
    "Some errors have detailed",
    "Run with --",
    "Re-run Maven",
    "To see the full stack trace",
    "[Help ",
    "* Try:",
    "* Get more help",
    "> Get more help",
    "Time:",
    "Duration",
    "Snapshots:",
    "Finished in",
    "Ran all test",
    "Done in",
    "real\t",
    "user\t",
    "sys\t",
    "make: Leaving",
    "make: Entering",
];

/// Parts of lines of which the same is true.
const NOISE_PARTS: &[&str] = &[
    "A complete log of this run",
    "Leaving directory",
    "Entering directory",
    "npm update check",
    "See above for",
];

/// Lines of programs that ran another one, which failed.
const WRAPPER_BEGINNINGS: &[&str] = &[
    "npm error",
    "npm ERR!",
    "make: ***",
    "make[",
    "gmake",
    "ninja: build stopped",
    "error Command failed",
    "ELIFECYCLE",
    "ERR_PNPM",
    "error: could not compile",
    "error: test failed",
    "error: test run failed",
    "error: aborting due to",
    "error: script ",
    "collect2: error",
    "error: Recipe",
    "Error: Process completed with",
    "BUILD FAIL",
    "Command failed",
    "exit status",
    "exit code",
    "FAIL",
    "Failed",
];

/// Names of an error in lines that are about nothing else.
const STRONG: &[&str] = &[
    "error:",
    "error[",
    "fatal:",
    "fatal error",
    "panic:",
    "panicked at",
    "command not found",
    "no such file",
    "permission denied",
    "segmentation fault",
    "failed:",
    "assertion",
    "undefined reference",
    "cannot find",
    "could not",
];

/// Parts of lines that speak of errors.
const WEAK: &[&str] = &[
    "error",
    "fail",
    "not found",
    "cannot",
    "can't",
    "exception",
    "unexpected",
    "expected",
    "invalid",
    "missing",
    "denied",
    "refused",
    "timed out",
    "mismatch",
    "differ",
    "abort",
    "undefined",
    "no files",
    "not ok",
    "unable",
    "violation",
];

/// Words of lines that count and measure.
const COUNTING_WORDS: &[&str] = &[
    "a",
    "all",
    "and",
    "assertions",
    "build",
    "by",
    "cancelled",
    "checks",
    "completed",
    "duration",
    "duration_ms",
    "error",
    "errors",
    "example",
    "examples",
    "executed",
    "fail",
    "failed",
    "failing",
    "failure",
    "failures",
    "file",
    "files",
    "finished",
    "found",
    "generated",
    "ignored",
    "in",
    "info",
    "jobs",
    "ms",
    "of",
    "ok",
    "out",
    "pass",
    "passed",
    "passing",
    "pending",
    "problem",
    "problems",
    "ran",
    "result",
    "results",
    "run",
    "s",
    "sec",
    "second",
    "seconds",
    "skipped",
    "suite",
    "suites",
    "task",
    "tasks",
    "test",
    "tests",
    "time",
    "todo",
    "took",
    "total",
    "warning",
    "warnings",
    "with",
    "x",
];

/// How much a line tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Nothing of the failure.
    Noise,
    /// That something failed, and how often.
    Count,
    /// Something, perhaps of the failure.
    Plain,
    /// That something inside failed.
    Wrapper,
    /// Something of an error.
    Weak,
    /// The error.
    Strong,
}

/// The last of the lines that tell most; of programs that ran another one, the first. What differs is told by the line
/// that names the file.
pub(super) fn telling_line(lines: &[&str]) -> Option<String> {
    if let Some(hunk) = lines.iter().position(|line| line.starts_with("@@ -")) {
        let names = |line: &&&str| line.starts_with("diff ") || line.starts_with("--- ");
        return lines[..hunk].iter().find(names).map(|line| (*line).to_owned());
    }
    let from = lines.len().saturating_sub(LINES_MAX);
    let mut best: Option<(Weight, &str)> = None;
    for line in &lines[from..] {
        let line = bare(line);
        let weight = weight(line);
        let is_better = match best {
            None => weight > Weight::Noise,
            Some((known, _)) if weight == Weight::Wrapper => weight > known,
            Some((known, _)) => weight >= known && weight > Weight::Noise,
        };
        if is_better {
            best = Some((weight, line));
        }
    }
    best.filter(|(weight, _)| *weight > Weight::Count).map(|(_, line)| line.to_owned())
}

/// A line without the marks of its level and of the tool that passes it on.
fn bare(line: &str) -> &str {
    let line = line.trim();
    ["[ERROR] ", "E   ", "!! ", "# "].iter().find_map(|mark| line.strip_prefix(mark)).map_or(line, str::trim)
}

fn weight(line: &str) -> Weight {
    if is_noise(line) {
        return Weight::Noise;
    }
    if is_counting(line) {
        return Weight::Count;
    }
    if WRAPPER_BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) {
        return Weight::Wrapper;
    }
    let lower = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if is_exception(line) || has(STRONG) {
        Weight::Strong
    } else if has(WEAK) {
        Weight::Weak
    } else {
        Weight::Plain
    }
}

fn is_noise(line: &str) -> bool {
    let has_word = line
        .split_whitespace()
        .any(|word| word.chars().filter(|character| character.is_alphabetic()).count() > 1);
    // A line of code that a tool shows, the echo of a script, progress.
    let is_code = line.starts_with(|character: char| character.is_ascii_digit()) && line.contains(" | ");
    let is_echo = line.starts_with("> ") || line.starts_with("+ ") || line.starts_with("$ ");
    let is_progress = line.ends_with("%]") || line.ends_with('%') || line.contains("] 100%");
    !has_word
        || is_code
        || is_echo
        || is_progress
        || is_omission(line)
        || NOISE_BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
        || NOISE_PARTS.iter().any(|part| line.contains(part))
}

/// True if a line only counts and measures: `1 failed in 0.03s`, `# fail 1`, `Tests: 2 failed, 3 total`.
fn is_counting(line: &str) -> bool {
    let has_digit = line.contains(|character: char| character.is_ascii_digit());
    let mut words = line.split(|character: char| !character.is_alphanumeric() && character != '_');
    has_digit
        && words.all(|word| {
            let word = word.trim_start_matches(|character: char| character.is_ascii_digit());
            word.is_empty() || COUNTING_WORDS.contains(&word.to_lowercase().as_str())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: Option<&str>) {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(telling_line(&lines).as_deref(), expected, "{output}");
    }

    #[test]
    fn the_last_line_that_tells_something() {
        check(
            "building\nerror: no such module\ndone in 3 s\n1 failed in 0.03s\n",
            Some("error: no such module"),
        );
        check(
            "Step 1\nStep 2: the moon does not rhyme\n# fail 1\n\n",
            Some("Step 2: the moon does not rhyme"),
        );
        check("connecting\nsomething is invalid\nbye bye", Some("something is invalid"));
        check("Error: first\nError: second\nexit code 1", Some("Error: second"));
        check("nothing of note", Some("nothing of note"));
        check("[ 50%]\n100%\n....\n3 passed, 1 failed\n", None);
        check("", None);
        check("--- a.txt\n+++ b.txt\n@@ -1 +1 @@\n-old\n+error: new\n", Some("--- a.txt"));
    }

    #[test]
    fn what_ran_another_program_is_told_where_nothing_else_is() {
        let wrapper =
            "gcc -c a.c\nmake[1]: *** [Makefile:2: check] Error 1\nmake: *** [Makefile:11: sub] Error 2";
        check(wrapper, Some("make[1]: *** [Makefile:2: check] Error 1"));
        check(&format!("a.x: unexpected end\n{wrapper}"), Some("a.x: unexpected end"));
    }
}

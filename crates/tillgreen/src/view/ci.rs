//! A run in a CI system: folds and a summary where GitHub Actions runs it, and test results as JUnit XML, which all of
//! them read.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{End, Event, State, Status, Summary, Task, What};

use super::facts;
use super::subject::Subject;
use super::text::{clean, clean_lines, one_line, took};
use super::usage;

/// Lines of a fold, and rows of the summary's table: pages of a CI system have an end.
const FOLD_LINES_MAX: usize = 400;
const ROWS_MAX: usize = 500;
/// Characters of a title or an error.
const TEXT_CHARS_MAX: usize = 160;

/// GitHub Actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GithubActions {
    /// The file that is shown on the page of the job.
    summary: Option<PathBuf>,
}

impl GithubActions {
    /// Those that this program runs in.
    pub(crate) fn of_environment() -> Option<Self> {
        let is_there = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        is_there.then(|| Self { summary: summary.map(PathBuf::from) })
    }

    /// Writes how the run went onto the page of the job. Others write there as well.
    pub(crate) fn summarize(&self, subject: &Subject, state: &State) -> std::io::Result<()> {
        let Some(path) = &self.summary else { return Ok(()) };
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(markdown(subject, state).as_bytes())
    }
}

/// A text in which nothing is a command to GitHub Actions: agents' words must not set variables of later steps.
pub(crate) fn without_commands(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace("##[", "## [");
        if line.trim_start().starts_with("::") { format!("| {line}") } else { line }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The text as it may be printed where this program runs.
pub(crate) fn harmless_here(text: String) -> String {
    match GithubActions::of_environment() {
        Some(_) => without_commands(&text) + "\n",
        None => text,
    }
}

/// The whole record of a failure, folded.
pub(crate) fn fold(event: &Event) -> Option<String> {
    let (task, failure) = event.what.task().zip(event.what.failure())?;
    if matches!(event.what, What::Reopened { .. }) || failure.details.trim().is_empty() {
        return None;
    }
    let title = one_line(&format!("{task} attempt {}: what failed", failure.attempt), TEXT_CHARS_MAX);
    let mut text = format!("::group::{title}\n");
    for line in clean_lines(&failure.details).lines().take(FOLD_LINES_MAX) {
        push(&mut text, &format!("| {}", line.replace("##[", "## [")));
    }
    Some(text + "::endgroup::")
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

/// How a task ended up, in a word.
fn word(task: &Task) -> &'static str {
    match task.status {
        Status::Done => "✓ done",
        Status::Skipped => "⊘ skipped",
        Status::Asking(_) => "? waits for an answer",
        Status::Failed | Status::WaitingFor(_) => "✗ failed",
        Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. } => {
            if task.last_failure().is_some() {
                "✗ failed"
            } else {
                "· not done"
            }
        }
    }
}

fn is_failed(task: &Task) -> bool {
    word(task) == "✗ failed" || matches!(task.status, Status::Asking(_))
}

/// The run as a page in Markdown.
fn markdown(subject: &Subject, state: &State) -> String {
    let summary = Summary::of(state);
    let verdict = match state.end() {
        Some(End::Complete { .. }) => "complete",
        Some(_) => "not complete",
        None => "under way",
    };
    let done = format!("{}/{} tasks done", state.done_count(), state.tasks().len());
    let used = usage::words(summary.usage).map(|used| format!(", {used}")).unwrap_or_default();
    let mut text = format!("## {}: {verdict}\n\n", cell(&subject.name));
    push(&mut text, &format!("{done} in {}{used}.\n", took(summary.elapsed)));
    push(&mut text, "| task | | attempts | time | commit |\n|---|---|---|---|---|");
    for task in state.tasks().iter().take(ROWS_MAX) {
        let time = state.time_of(task).map(took).unwrap_or_default();
        let commit = task.commit.as_deref().map(|commit| commit.chars().take(9).collect::<String>());
        let name = cell(&format!("{} {}", task.id(), task.decl.short_title()));
        let (word, attempted, commit) = (word(task), task.attempted, commit.unwrap_or_default());
        push(&mut text, &format!("| {name} | {word} | {attempted} | {time} | {commit} |"));
    }
    if state.tasks().len() > ROWS_MAX {
        push(&mut text, &format!("\nand {} more tasks", state.tasks().len() - ROWS_MAX));
    }
    for task in state.unsettled().filter(|task| is_failed(task)) {
        let Some(failure) = task.last_failure() else { continue };
        push(&mut text, &format!("\n**{}**: {}\n", cell(task.id().name()), cell(&failure.error)));
        // Indented text is code, whatever it holds.
        facts::matter(failure).iter().for_each(|line| push(&mut text, &format!("    {line}")));
    }
    text + "\n"
}

/// Text in a table: no mark-up of its own.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for character in one_line(text, TEXT_CHARS_MAX).chars() {
        if "\\`*_[]<>|#~&!@".contains(character) {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}

/// Writes the tasks as test results.
pub(crate) fn write_junit(path: &Path, subject: &Subject, state: &State) -> std::io::Result<()> {
    std::fs::write(path, junit(subject, state))
}

/// The tasks as test results.
pub(crate) fn junit(subject: &Subject, state: &State) -> String {
    let count = |is: &dyn Fn(&Task) -> bool| state.tasks().iter().filter(|task| is(task)).count();
    let failures = count(&|task| is_failed(task));
    let skipped = count(&|task| task.status != Status::Done && !is_failed(task));
    let name = xml(&subject.name);
    let (tests, time) = (state.tasks().len(), seconds(state.elapsed()));
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let suite = format!("tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\" time=\"{time}\"");
    push(&mut text, &format!("<testsuites>\n<testsuite name=\"{name}\" {suite}>"));
    for task in state.tasks() {
        let time = seconds(state.time_of(task).unwrap_or_default());
        let case = xml(&format!("{} {}", task.id(), task.decl.short_title()));
        let case = format!("<testcase classname=\"{name}\" name=\"{case}\" time=\"{time}\"");
        match task.last_failure().filter(|_| is_failed(task)) {
            Some(failure) => {
                push(&mut text, &format!("{case}>"));
                let (error, details) = (xml(&failure.error), xml(&failure.details));
                push(&mut text, &format!("<failure message=\"{error}\">{details}</failure>\n</testcase>"));
            }
            None if is_failed(task) => {
                let word = word(task);
                push(&mut text, &format!("{case}><failure message=\"{word}\"/></testcase>"));
            }
            None if task.status == Status::Done => push(&mut text, &format!("{case}/>")),
            None => {
                let word = word(task);
                push(&mut text, &format!("{case}><skipped message=\"{word}\"/></testcase>"));
            }
        }
    }
    text + "</testsuite>\n</testsuites>\n"
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// Text for XML, which has no words for control characters.
fn xml(text: &str) -> String {
    let mut escaped = String::new();
    for line in text.lines() {
        if !escaped.is_empty() {
            escaped.push('\n');
        }
        for character in clean(line).chars() {
            match character {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
                other => escaped.push(other),
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use engine::Rules;

    use super::*;
    use crate::view::samples::{self, Story};

    fn story() -> Story {
        Story::new(Rules::default())
            .fails("1.2", "a <b> & \"c\" | `d`\u{1b}\n::set-env name=X::y")
            .escalates("1.2")
    }

    #[test]
    fn the_page_of_a_job() {
        insta::assert_snapshot!(markdown(&samples::subject(), &story().state()), @r#"
        ## auth: under way

        1/3 tasks done in 30s.

        | task | | attempts | time | commit |
        |---|---|---|---|---|
        | 1.1 Set up | ✓ done | 0 |  |  |
        | 1.2 Add a parser | ? waits for an answer | 1 |  |  |
        | 1.3 Use the parser | · not done | 0 |  |  |

        **1.2**: a \<b\> \& "c" \| \`d\`␛ ::set-env name=X::y

            FAIL a <b> & "c" | `d`␛
            ::set-env name=X::y
              expected 2, got 3
        "#);
    }

    #[test]
    fn test_results() {
        insta::assert_snapshot!(junit(&samples::subject(), &story().state()), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
        <testsuite name="auth" tests="3" failures="1" skipped="1" time="30.000">
        <testcase classname="auth" name="1.1 Set up" time="0.000"/>
        <testcase classname="auth" name="1.2 Add a parser" time="0.000">
        <failure message="a &lt;b&gt; &amp; &quot;c&quot; | `d`␛
        ::set-env name=X::y">FAIL a &lt;b&gt; &amp; &quot;c&quot; | `d`␛
        ::set-env name=X::y
          expected 2, got 3</failure>
        </testcase>
        <testcase classname="auth" name="1.3 Use the parser" time="0.000"><skipped message="· not done"/></testcase>
        </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn nothing_that_an_agent_printed_is_a_command() {
        assert_eq!(
            without_commands("a\n ::add-mask::x\n x ##[error]y"),
            "a\n|  ::add-mask::x\n x ## [error]y"
        );
        let (event, _) = story().replay().swap_remove(2);
        insta::assert_snapshot!(fold(&event).unwrap(), @r#"
        ::group::1.2 attempt 1: what failed
        | FAIL a <b> & "c" | `d`␛
        | ::set-env name=X::y
        |   expected 2, got 3
        ::endgroup::
        "#);
    }

    #[test]
    fn the_page_of_a_job_is_added_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary");
        std::fs::write(&path, "before\n").unwrap();
        let actions = GithubActions { summary: Some(path.clone()) };
        actions.summarize(&samples::subject(), &story().state()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("before\n## auth: "), "{text}");
    }
}

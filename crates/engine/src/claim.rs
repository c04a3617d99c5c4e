//! What an agent's final message claims. Only whole lines count, so that neither an echo of the prompt nor a
//! remark about a signal is one. A claim is evidence, never proof.

use crate::result;
use plan::Dialect;

/// What the final message claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// `TASK_COMPLETE` or `VERIFICATION_PASS`.
    Complete,
    /// `Task 1.3: name FAILED`.
    Failed(FailureClaim),
    /// `VERIFICATION_FAIL`.
    NotVerified,
    /// A structured result says that trying again is of no use.
    Stuck(Stuck),
    /// No signal at all.
    Silent,
}

/// Why an agent cannot go on, from a structured result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// What kind of obstacle it is.
    pub kind: StuckKind,
    /// What it says.
    pub reason: String,
    /// The task that is in the way, as it is spelled there.
    pub by: Option<String>,
}

/// The obstacles that only a structured result can name: prose is never read for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StuckKind {
    /// Something else has to be done first.
    Blocked,
    /// The task cannot be done.
    Impossible,
    /// The requirements contradict each other.
    ConflictingRequirements,
    /// A service is away.
    ServiceUnavailable,
}

/// What an agent says of its own failure, with the words used where it says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureClaim {
    /// What went wrong.
    pub error: String,
    /// What it tried.
    pub attempted_fix: String,
    /// A line for people; it routes nothing.
    pub status: String,
    /// What it suggests to do about it.
    pub suggested_fix: Option<String>,
    /// What it takes for the cause.
    pub root_cause: Option<String>,
}

impl Claim {
    /// Reads the final message. Where several signals contradict each other, the last one counts.
    ///
    /// A structured result counts in both dialects where it says that something went wrong; that all is well is
    /// said by a signal in a spec and by the result in a plan with phases.
    pub fn read(message: &str, dialect: Dialect) -> Self {
        let (signalled, claim) = last_signal(message);
        let result = result::read(message);
        match (result, dialect) {
            (Some((at, Self::Complete)), Dialect::Phase) if at >= signalled => Self::Complete,
            (Some((_, Self::Complete)), Dialect::Spec | Dialect::Phase) | (None, Dialect::Spec) => claim,
            (Some((at, result)), Dialect::Spec | Dialect::Phase) if at >= signalled => result,
            (Some(_) | None, Dialect::Phase | Dialect::Spec) => claim,
        }
    }
}

/// The last signal, with the line after which it stands; nothing stands after no line at all.
fn last_signal(message: &str) -> (usize, Claim) {
    let mut last = (0, Claim::Silent);
    let mut lines = message.lines();
    let mut number = 0;
    while let Some(line) = lines.next() {
        number += 1;
        match Signal::of(line) {
            Some(Signal::Complete) => last = (number, Claim::Complete),
            Some(Signal::NotVerified) => last = (number, Claim::NotVerified),
            Some(Signal::Failed) => last = (number, Claim::Failed(FailureClaim::read(lines.clone()))),
            None => {}
        }
    }
    last
}

enum Signal {
    Complete,
    NotVerified,
    Failed,
}

impl Signal {
    fn of(line: &str) -> Option<Self> {
        let line = bare(line);
        match line {
            "TASK_COMPLETE" | "VERIFICATION_PASS" => return Some(Self::Complete),
            "VERIFICATION_FAIL" => return Some(Self::NotVerified),
            _ => {}
        }
        let rest = line.strip_prefix("Task ")?;
        let rest = rest.trim_end_matches(['.', '!', '*', '_', ' ']);
        let is_failed = rest.strip_suffix("FAILED").is_some_and(|named| named.contains(':'));
        is_failed.then_some(Self::Failed)
    }
}

/// A line without markdown emphasis around it.
fn bare(line: &str) -> &str {
    line.trim().trim_matches(['*', '_', '`']).trim()
}

impl FailureClaim {
    /// Reads the fields that follow a FAILED line, up to the next signal.
    fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut error = None;
        let mut attempted_fix = None;
        let mut status = None;
        for line in lines.take_while(|line| Signal::of(line).is_none()) {
            let line = line.trim().trim_start_matches(['-', '*', '+', ' ']);
            for (name, slot) in
                [("Error", &mut error), ("Attempted fix", &mut attempted_fix), ("Status", &mut status)]
            {
                if slot.is_none() {
                    *slot = field(line, name);
                }
            }
        }
        Self {
            error: error.unwrap_or_else(|| "Task execution failed".to_owned()),
            attempted_fix: attempted_fix.unwrap_or_else(|| "No fix attempted".to_owned()),
            status: status.unwrap_or_else(|| "Unknown status".to_owned()),
            suggested_fix: None,
            root_cause: None,
        }
    }
}

/// The value of `Name: value`, with the name perhaps in bold.
fn field(line: &str, name: &str) -> Option<String> {
    let line = line.trim_matches(['*', '_']);
    let start = line.get(..name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    let rest = line[name.len()..].trim_start_matches(['*', '_']);
    let value = rest.strip_prefix(':')?.trim_start_matches(['*', '_']).trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// Phrases that admit failure.
const ADMISSIONS: [&str; 5] =
    ["requires manual", "cannot be automated", "could not complete", "needs human", "manual intervention"];

/// Words that turn an admission round when they stand shortly before it.
const NEGATIONS: [&str; 9] = ["no", "not", "never", "without", "none", "nothing", "neither", "nor", "zero"];

/// How many words before an admission a negation may stand.
const NEGATION_REACH: usize = 5;

/// The first phrase by which a message admits failure: as whole words, outside code and quotes, and not
/// negated in the same sentence.
pub fn contradiction(message: &str) -> Option<&'static str> {
    let prose = without_code_and_quotes(message).to_lowercase();
    sentences(&prose).find_map(|sentence| admission(&sentence))
}

fn admission(sentence: &[&str]) -> Option<&'static str> {
    ADMISSIONS.into_iter().find(|phrase| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        (0..sentence.len()).any(|start| {
            let is_here = sentence[start..].starts_with(&phrase);
            let before = &sentence[start.saturating_sub(NEGATION_REACH)..start];
            is_here && !before.iter().any(|word| is_negation(word))
        })
    })
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n’t")
}

/// Sentences as lists of words.
fn sentences(prose: &str) -> impl Iterator<Item = Vec<&str>> {
    let parts = prose.split(['.', '!', '?', ';', '\n']);
    parts.map(|part| {
        let is_word = |character: char| character.is_alphanumeric() || matches!(character, '\'' | '’' | '_');
        part.split(move |character| !is_word(character)).filter(|word| !word.is_empty()).collect()
    })
}

/// The message with fenced blocks, code spans, block quotes and quoted text taken out. A line break is kept
/// only where the next line starts a new block: else the sentence goes on.
fn without_code_and_quotes(message: &str) -> String {
    let mut kept = String::with_capacity(message.len());
    let mut fence: Option<&str> = None;
    for line in message.lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => {
                kept.push('\n');
                fence = Some(marker);
            }
            (Some(open), Some(marker)) if open == marker => fence = None,
            (Some(_), _) => {}
            (None, None) if trimmed.starts_with('>') => kept.push('\n'),
            (None, None) => {
                kept.push(if starts_block(trimmed) { '\n' } else { ' ' });
                push_prose(&mut kept, line);
            }
        }
    }
    kept
}

/// Whether a line does not go on with the sentence of the line before it.
fn starts_block(line: &str) -> bool {
    let is_numbered =
        line.trim_start_matches(|character: char| character.is_ascii_digit()).starts_with(['.', ')']);
    let is_signal = Signal::of(line).is_some();
    line.is_empty() || line.starts_with(['-', '*', '+', '#', '|', '_']) || is_numbered || is_signal
}

/// Adds a line without what stands between backticks or double quotes on it.
fn push_prose(kept: &mut String, line: &str) {
    let mut rest = line;
    while let Some(start) = rest.find(['`', '"', '“']) {
        let open = rest[start..].chars().next().unwrap_or('`');
        let close = if open == '“' { '”' } else { open };
        let after = &rest[start + open.len_utf8()..];
        kept.push_str(&rest[..start]);
        let Some(end) = after.find(close) else {
            rest = after;
            break;
        };
        kept.push_str(" quoted ");
        rest = &after[end + close.len_utf8()..];
    }
    kept.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: Claim) {
        assert_eq!(Claim::read(message, Dialect::Spec), expected, "for {message:?}");
    }

    fn failed(error: &str, attempted_fix: &str, status: &str) -> Claim {
        Claim::Failed(FailureClaim {
            error: error.to_owned(),
            attempted_fix: attempted_fix.to_owned(),
            status: status.to_owned(),
            suggested_fix: None,
            root_cause: None,
        })
    }

    #[test]
    fn signals_are_whole_lines() {
        check("TASK_COMPLETE", Claim::Complete);
        check("all good\n\n**TASK_COMPLETE**\n", Claim::Complete);
        check("`TASK_COMPLETE`", Claim::Complete);
        check("VERIFICATION_PASS", Claim::Complete);
        check("VERIFICATION_FAIL", Claim::NotVerified);
        check("7. Output TASK_COMPLETE when done", Claim::Silent);
        check("TASK_COMPLETED", Claim::Silent);
        check("not TASK_COMPLETE", Claim::Silent);
        check("> TASK_COMPLETE", Claim::Silent);
        check("", Claim::Silent);
        check("TASK_COMPLETE\r\n", Claim::Complete);
    }

    #[test]
    fn a_failure_is_read_with_its_fields() {
        let text = "Task 1.3: Add failure parser FAILED\n- Error: File not found: src/parser.ts\n\
                    - Attempted fix: Checked alternate paths\n- Status: Blocked, needs manual intervention\n";
        check(
            text,
            failed(
                "File not found: src/parser.ts",
                "Checked alternate paths",
                "Blocked, needs manual intervention",
            ),
        );
        check(
            "**Task 9.9: x FAILED**\n- **Error**: boom",
            failed("boom", "No fix attempted", "Unknown status"),
        );
        check("Task 1.3: x FAILED", failed("Task execution failed", "No fix attempted", "Unknown status"));
        check("The task FAILED", Claim::Silent);
    }

    #[test]
    fn the_last_signal_counts() {
        check("Task 1: a FAILED\n- Error: e\nTASK_COMPLETE", Claim::Complete);
        check(
            "TASK_COMPLETE\nTask 1: a FAILED\n- Error: e",
            failed("e", "No fix attempted", "Unknown status"),
        );
        check("VERIFICATION_PASS\nVERIFICATION_FAIL", Claim::NotVerified);
    }

    #[test]
    fn admissions_contradict() {
        let check = |message: &str, expected: Option<&str>| {
            assert_eq!(contradiction(message), expected, "for {message:?}");
        };
        check("This requires manual testing.", Some("requires manual"));
        check("It CANNOT BE AUTOMATED", Some("cannot be automated"));
        check("I could not complete step 3", Some("could not complete"));
        check("The rest needs human review", Some("needs human"));
        check("Done, but manual intervention is needed", Some("manual intervention"));
        check("No manual intervention needed.", None);
        check("It works without any manual intervention.", None);
        check("This doesn't need manual intervention", None);
        check("It is not done. Manual intervention needed.", Some("manual intervention"));
        check("It works without\nmanual intervention.", None);
        check("It is not done\n- manual intervention needed", Some("manual intervention"));
        check("It is not done\n\nmanual intervention needed", Some("manual intervention"));
        check("The rest\nrequires\nmanual testing", Some("requires manual"));
        check("the docs say \"requires manual\" somewhere", None);
        check("see `manual intervention` in the code", None);
        check("```\nrequires manual\n```\nfine", None);
        check("> needs human\nfine", None);
        check("requires manually", None);
        check("prerequires manual", None);
        check("", None);
    }
}

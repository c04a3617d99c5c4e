//! The claim of an agent's final message. Only whole lines count, so that neither an echo of the prompt nor a
//! remark about a signal is one. A claim is evidence, never proof.

use plan::Dialect;
use serde::{Deserialize, Serialize};

use crate::result;
use crate::status::Role;

/// The word with which an executor says that a task is done.
pub(crate) const SUCCESS: &str = "TASK_COMPLETE";

/// The claim of a final message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The success word of the role, or a result that says so where that is how success is said.
    Complete,
    /// A success beside a result whose own fields deny it. Where a command decides, that is run all the same.
    Denied(FailureClaim),
    /// A success word of another role, which counts for nothing where only words decide.
    OtherRole,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// The kind of obstacle.
    pub kind: StuckKind,
    /// The text.
    pub reason: String,
    /// The task that is in the way, as it is spelled there.
    pub by: Option<String>,
}

/// The obstacles that only a structured result can name: prose is never read for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StuckKind {
    /// Something else has to be done first.
    Blocked,
    /// The task cannot be done.
    Impossible,
    /// The requirements contradict each other.
    ConflictingRequirements,
    /// A service is away.
    ServiceUnavailable,
    /// Something was not permitted.
    PermissionDenied,
}

/// An agent's own account of its failure, with the words used where it says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureClaim {
    /// The error.
    pub error: String,
    /// The things that it tried.
    pub attempted_fix: String,
    /// A line for people; it routes nothing.
    pub status: String,
    /// The remedy that it suggests.
    pub suggested_fix: Option<String>,
    /// The cause, as it takes it.
    pub root_cause: Option<String>,
}

/// The word by which a result is not accepted.
pub(crate) const NOT_VERIFIED: &str = "VERIFICATION_FAIL";

impl Claim {
    /// Reads the final message of an agent in a role. A failure beside a success word is a failure, whoever's word it is
    /// and whichever comes first.
    ///
    /// A structured result counts in both dialects where it says that something went wrong; that all is well is said by
    /// a word in a spec, and by a word or by the result of an executor in a plan with phases.
    pub fn read(message: &str, dialect: Dialect, role: Role) -> Self {
        let result = result::read(message);
        let said = Signals::of(message);
        let by_result = dialect == Dialect::Phase && role == Role::Executor;
        let is_judge = matches!(role, Role::Qa | Role::Reviewer);
        let (is_own, is_other) = match role {
            Role::Executor | Role::Planner => (said.complete, said.pass),
            Role::Qa | Role::Reviewer => (said.pass, said.complete),
        };
        match (said.failed, result) {
            (_, Some(stuck @ Self::Stuck(_))) => stuck,
            (Some(failed), _) | (None, Some(Self::Failed(failed))) => Self::Failed(failed),
            (None, _) if said.fail || is_judge && denies(message) => Self::NotVerified,
            (None, Some(denied @ Self::Denied(_))) if is_own || by_result => denied,
            (None, Some(Self::Complete)) if by_result => Self::Complete,
            (None, _) if is_own => Self::Complete,
            (None, _) if is_other => Self::OtherRole,
            (None, _) => Self::Silent,
        }
    }
}

/// True if a message says no in a line that says more than that: the word at its beginning, or as the end of "the verdict
/// is". A yes has to stand alone; a no of a judge that is missed would be a yes.
fn denies(message: &str) -> bool {
    let is_verdict = |said: &str| said.ends_with(':') || said.ends_with(" is");
    message.lines().map(bare).any(|line| {
        let mut parts = line.splitn(2, NOT_VERIFIED);
        let before = parts.next().unwrap_or_default().trim_end_matches(['*', '`', ' ']);
        parts.next().is_some() && (before.is_empty() || is_verdict(before))
    })
}

/// The words of a message, each of which may be there.
#[derive(Default)]
struct Signals {
    complete: bool,
    pass: bool,
    fail: bool,
    /// The last report of a failure.
    failed: Option<FailureClaim>,
}

impl Signals {
    fn of(message: &str) -> Self {
        let mut signals = Self::default();
        let mut lines = message.lines();
        while let Some(line) = lines.next() {
            match Signal::of(line) {
                Some(Signal::Complete) => signals.complete = true,
                Some(Signal::Pass) => signals.pass = true,
                Some(Signal::Fail) => signals.fail = true,
                Some(Signal::Failed) => signals.failed = Some(FailureClaim::read(lines.clone())),
                None => {}
            }
        }
        signals
    }
}

enum Signal {
    Complete,
    Pass,
    Fail,
    Failed,
}

impl Signal {
    fn of(line: &str) -> Option<Self> {
        let line = bare(line);
        match line {
            SUCCESS => return Some(Self::Complete),
            "VERIFICATION_PASS" => return Some(Self::Pass),
            NOT_VERIFIED => return Some(Self::Fail),
            _ => {}
        }
        let is_failed =
            line.strip_prefix("Task ")?.strip_suffix("FAILED").is_some_and(|named| named.contains(':'));
        is_failed.then_some(Self::Failed)
    }
}

/// True if a line is a signal of any role.
pub(crate) fn is_signal(line: &str) -> bool {
    Signal::of(line).is_some()
}

/// A line without what people and models put around a signal.
fn bare(line: &str) -> &str {
    let is_symbol = |character: char| !character.is_ascii() && !character.is_alphanumeric();
    let is_around = |c: char| c.is_whitespace() || "*_`".contains(c) || is_symbol(c);
    let line = line.trim_start_matches(|character| is_around(character) || "-+#".contains(character));
    line.trim_end_matches(|character| is_around(character) || ".!".contains(character))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: Claim) {
        assert_eq!(Claim::read(message, Dialect::Spec, Role::Executor), expected, "for {message:?}");
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
    fn a_judges_no_counts_however_it_is_put() {
        let read = |message: &str, role| Claim::read(message, Dialect::Spec, role);
        for no in [
            "VERIFICATION_FAIL: rude",
            "**VERIFICATION_FAIL**: rude",
            "`VERIFICATION_FAIL`: rude",
            "Verdict: VERIFICATION_FAIL",
            "- VERIFICATION_FAIL - it is rude",
            "VERIFICATION_FAILED",
            "The verdict is VERIFICATION_FAIL because it is rude",
        ] {
            for role in [Role::Qa, Role::Reviewer] {
                assert_eq!(read(no, role), Claim::NotVerified, "{no}");
                assert_eq!(read(&format!("{no}\nVERIFICATION_PASS"), role), Claim::NotVerified, "{no}");
            }
            assert_eq!(read(&format!("{no}\nTASK_COMPLETE"), Role::Executor), Claim::Complete, "{no}");
        }
        for talk in
            ["It prints `VERIFICATION_FAIL` as asked.", "Last time I had to say VERIFICATION_FAIL for this."]
        {
            assert_eq!(read(&format!("{talk}\nVERIFICATION_PASS"), Role::Qa), Claim::Complete, "{talk}");
        }
    }

    #[test]
    fn signals_are_whole_lines() {
        for line in [
            "TASK_COMPLETE",
            "all good\n\n**TASK_COMPLETE**\n",
            "`TASK_COMPLETE`",
            "TASK_COMPLETE\r\n",
            "TASK_COMPLETE.",
            "TASK_COMPLETE!",
            "**TASK_COMPLETE.**",
            "✅ TASK_COMPLETE",
            "✔️ TASK_COMPLETE",
            "TASK_COMPLETE ✅",
            "🎉 TASK_COMPLETE 🎉",
            "## TASK_COMPLETE",
            "- TASK_COMPLETE",
            "* **TASK_COMPLETE**",
            "- ✅ `TASK_COMPLETE`",
        ] {
            check(line, Claim::Complete);
        }
        for line in [
            "7. Output TASK_COMPLETE when done",
            "TASK_COMPLETED",
            "NOT TASK_COMPLETE",
            "not TASK_COMPLETE",
            "TASK_COMPLETE?",
            "TASK_COMPLETE: nearly",
            "> TASK_COMPLETE",
            "\"TASK_COMPLETE\"",
            "",
        ] {
            check(line, Claim::Silent);
        }
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
        check(
            "### ❌ Task 1: x FAILED.",
            failed("Task execution failed", "No fix attempted", "Unknown status"),
        );
        check("Task 1.3: x FAILED", failed("Task execution failed", "No fix attempted", "Unknown status"));
        check("The task FAILED", Claim::Silent);
    }

    #[test]
    fn a_failure_beside_a_success_is_a_failure() {
        let told = failed("e", "No fix attempted", "Unknown status");
        check("Task 1: a FAILED\n- Error: e\nTASK_COMPLETE", told.clone());
        check("TASK_COMPLETE\nTask 1: a FAILED\n- Error: e", told);
        check("VERIFICATION_FAIL\nTASK_COMPLETE", Claim::NotVerified);
        check("TASK_COMPLETE\nVERIFICATION_FAIL", Claim::NotVerified);
    }

    #[test]
    fn each_role_has_its_own_word() {
        let check = |role: Role, message: &str, expected: Claim| {
            for dialect in [Dialect::Spec, Dialect::Phase] {
                assert_eq!(Claim::read(message, dialect, role), expected, "{role:?} for {message:?}");
            }
        };
        check(Role::Executor, "TASK_COMPLETE", Claim::Complete);
        check(Role::Executor, "VERIFICATION_PASS", Claim::OtherRole);
        for role in [Role::Qa, Role::Reviewer] {
            check(role, "VERIFICATION_PASS", Claim::Complete);
            check(role, "TASK_COMPLETE", Claim::OtherRole);
            check(role, "status: success", Claim::Silent);
            check(role, "TASK_COMPLETE\nVERIFICATION_PASS", Claim::Complete);
            check(role, "There is no login page.\nVERIFICATION_FAIL\nTASK_COMPLETE", Claim::NotVerified);
            check(role, "VERIFICATION_PASS\nVERIFICATION_FAIL", Claim::NotVerified);
            check(role, "VERIFICATION_FAIL\nVERIFICATION_PASS", Claim::NotVerified);
        }
    }
}

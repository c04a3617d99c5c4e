//! When two red runs of a command show the same error.

use engine::{Attempt, Cause, Failure, Rung, same_error};
use jiff::Timestamp;

fn red(cause: Cause, error: &str, details: &str) -> Failure {
    let is_command = matches!(cause, Cause::VerifyRed | Cause::VerifyTimeout);
    Failure {
        attempt: Attempt(1),
        at: Timestamp::UNIX_EPOCH,
        cause,
        rung: Rung::Fix,
        error: error.to_owned(),
        details: details.to_owned(),
        command: is_command.then(|| "npm test".to_owned()),
        exit_code: is_command.then_some(1),
        attempted_fix: None,
        suggested_fix: None,
        root_cause: None,
        blocked_by: None,
        files: Vec::new(),
        learnings: Vec::new(),
        elapsed_ms: 0,
    }
}

#[track_caller]
fn check(before: &str, after: &str, expected: bool) {
    let (before, after) = (red(Cause::VerifyRed, "red", before), red(Cause::VerifyRed, "red", after));
    assert_eq!(same_error(&before, &after), expected, "{:?} and {:?}", before.details, after.details);
    assert_eq!(same_error(&after, &before), expected, "the other way round");
}

#[test]
fn what_varies_between_two_runs_is_the_same_error() {
    for (before, after) in [
        ("boom", "boom"),
        ("boom  at\tnoon", "boom at\nnoon\n"),
        ("1 failed in 0.52s", "1 failed in 1.07s"),
        ("ran (12ms)", "ran (9ms)"),
        ("✗ adds (5 ms)", "✗ adds (17 ms)"),
        ("Time: 1.234 s, estimated 2 s", "Time: 2.1 s, estimated 3 s"),
        ("real 0m1.234s", "real 0m0.200s"),
        ("finished in 12 seconds", "finished in 14 seconds"),
        ("[14:30:00] boom", "[14:31:07] boom"),
        ("2026-01-26T14:30:00Z boom", "2026-01-27T09:12:44Z boom"),
        ("2026-01-26T14:30:00+01:00 boom", "2026-01-27T09:12:44+01:00 boom"),
        ("cannot open /tmp/tmp.AbCdEf/x", "cannot open /tmp/tmp.ZyXwVu/x"),
        ("cannot open /tmp/a1", "cannot open /tmp/b2"),
        ("no such file: /private/var/folders/zz/a/T/x", "no such file: /private/var/folders/zz/b/T/x"),
        ("segfault at 0x7ffd12", "segfault at 0x55aa01"),
        ("at commit 4ead12f", "at commit 99ab001"),
        ("port 54321 refused", "port 61234 refused"),
    ] {
        check(before, after, true);
    }
}

#[test]
fn what_says_something_else_is_another_error() {
    for (before, after) in [
        ("boom", "bang"),
        ("boom", ""),
        ("3 failed, 2 passed", "1 failed, 4 passed"),
        ("FAIL tests/a.test.ts", "FAIL tests/b.test.ts"),
        ("error[E0308]: mismatched types", "error[E0425]: cannot find value"),
        ("expected 4, found 5", "expected 4, found 6"),
        ("line 4: unexpected token", "line 5: unexpected token"),
        ("cannot open src/a.rs", "cannot open src/b.rs"),
        ("boom", "boom\nbang"),
    ] {
        check(before, after, false);
    }
}

#[test]
fn another_exit_code_or_summary_is_another_error() {
    let before = red(Cause::VerifyRed, "red", "boom");
    assert!(!same_error(&before, &Failure { exit_code: Some(2), ..before.clone() }));
    assert!(!same_error(&before, &Failure { error: "blue".to_owned(), ..before.clone() }));
}

#[test]
fn what_an_agent_described_is_looked_for_in_the_output() {
    let claimed = red(Cause::ClaimedFailure, "File not found: src/parser.ts", "I tried everything");
    let check = |details: &str| same_error(&claimed, &red(Cause::VerifyRed, "red", details));
    assert!(check("npm ERR!\nFile not found:  src/parser.ts\nexit 1"));
    assert!(!check("File not found: src/lexer.ts"));
    assert!(!check(""));
    let mute = red(Cause::ClaimedFailure, "", "");
    assert!(!same_error(&mute, &red(Cause::VerifyRed, "red", "anything")));
}

#[test]
fn a_timeout_is_like_a_timeout() {
    let (agent, verify) = (red(Cause::AgentTimeout, "a", ""), red(Cause::VerifyTimeout, "b", "x"));
    let red = red(Cause::VerifyRed, "b", "x");
    assert!(same_error(&agent, &verify));
    assert!(same_error(&verify, &verify));
    assert!(!same_error(&verify, &red));
    assert!(!same_error(&red, &verify));
}

//! Every recorded stream through its adapter: whole, cut at every line, and with rubbish between the lines.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use engine::{AgentEnd, Dialect, Lasting, Role, Usage};

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::kind::AgentKind;
use crate::agent::line::Line;
use crate::agent::reader::Reader;
use crate::agent::{Activity, Duty, Words, agent_end};
use crate::process::{Ended, Exit, Kept};

/// The end of an agent, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It answered.
    Answered,
    /// It could not be had.
    Away,
    /// It has no quota.
    Quota,
    /// It is not authenticated.
    Authentication,
    /// It gave up: an execution error.
    GaveUp,
    /// It ended badly.
    Exited,
    /// It was not permitted something.
    Denied,
}

use Ending::{Answered, Authentication, Away, Denied, GaveUp, Quota};

/// The recordings: file, exit code (a negative one is a signal), what is expected.
const RECORDINGS: &[(&str, i32, Ending)] = &[
    ("claude-success-tools.jsonl", 0, Answered),
    ("claude-partial-messages.jsonl", 0, Answered),
    ("claude-permission-denied.jsonl", 0, Denied),
    ("claude-tool-failure.jsonl", 0, Answered),
    ("claude-max-turns.jsonl", 1, GaveUp),
    ("claude-max-budget.jsonl", 1, GaveUp),
    ("claude-overloaded-then-success.jsonl", 0, Answered),
    ("claude-overloaded-fail.jsonl", 1, Away),
    ("claude-rate-limit-fail.jsonl", 1, Away),
    ("claude-auth-fail.jsonl", 1, Authentication),
    ("claude-credit-fail.jsonl", 1, Quota),
    ("claude-500-fail.jsonl", 1, Away),
    ("claude-stream-error.jsonl", 1, Away),
    ("claude-cut.jsonl", 0, Answered),
    ("claude-max-tokens.jsonl", 0, Answered),
    ("claude-refusal.jsonl", 1, GaveUp),
    ("claude-resume-1.jsonl", 0, Answered),
    ("claude-resume-2.jsonl", 0, Answered),
    ("claude-resume-unknown.jsonl", 1, Away),
    ("claude-sigterm-during-tool.jsonl", 143, Away),
    ("claude-sigint-during-tool.jsonl", 1, Away),
    ("claude-sigkill-during-tool.jsonl", -9, Away),
    ("claude-sighup-during-tool.jsonl", 129, Away),
    ("claude-latest-success-tools.jsonl", 0, Answered),
    ("claude-latest-max-turns.jsonl", 1, GaveUp),
    ("claude-latest-overloaded-fail.jsonl", 1, Away),
    ("claude-latest-sigterm-during-tool.jsonl", 143, Away),
    ("claude-latest-sigint-during-tool.jsonl", 0, Away),
    ("claude-latest-sigkill-during-tool.jsonl", -9, Away),
    ("codex-success-tools.jsonl", 0, Answered),
    ("codex-apply-patch.jsonl", 0, Answered),
    ("codex-tool-failure.jsonl", 0, Answered),
    ("codex-sandbox-workspace-write.jsonl", 0, Answered),
    ("codex-sandbox-read-only.jsonl", 0, Answered),
    ("codex-overloaded-then-success.jsonl", 0, Answered),
    ("codex-overloaded-fail.jsonl", 1, Away),
    ("codex-rate-limit-fail.jsonl", 1, Away),
    ("codex-quota-fail.jsonl", 1, Quota),
    ("codex-auth-fail.jsonl", 1, Authentication),
    ("codex-400-fail.jsonl", 1, GaveUp),
    ("codex-stream-error.jsonl", 1, Away),
    ("codex-cut-then-success.jsonl", 0, Answered),
    ("codex-max-tokens.jsonl", 1, GaveUp),
    ("codex-resume-1.jsonl", 0, Answered),
    ("codex-resume-2.jsonl", 0, Answered),
    ("codex-sigterm-during-tool.jsonl", -15, Away),
    ("codex-sigint-during-tool.jsonl", 1, Away),
    ("codex-sigkill-during-tool.jsonl", -9, Away),
    ("gemini-success-tools.jsonl", 0, Answered),
    ("gemini-permission-denied.jsonl", 0, Denied),
    ("gemini-tool-failure.jsonl", 0, Answered),
    ("gemini-max-turns.jsonl", 53, GaveUp),
    ("gemini-overloaded-then-success.jsonl", 0, Answered),
    ("gemini-overloaded-fail.jsonl", 247, Away),
    ("gemini-rate-limit-fail.jsonl", 173, Away),
    ("gemini-auth-fail.jsonl", 144, Authentication),
    ("gemini-resume-1.jsonl", 0, Answered),
    ("gemini-resume-2.jsonl", 0, Answered),
    ("gemini-sigterm-during-tool.jsonl", 0, Away),
    ("gemini-sigint-during-tool.jsonl", 0, Away),
    ("gemini-sigkill-during-tool.jsonl", -9, Away),
    ("opencode-success-tools.jsonl", 0, Answered),
    ("opencode-tool-failure.jsonl", 0, Answered),
    ("opencode-permission-denied.jsonl", 0, Denied),
    ("opencode-auth-fail.jsonl", 1, Authentication),
    ("opencode-overloaded-fail.jsonl", -9, Away),
    ("opencode-overloaded-then-success.jsonl", 0, Answered),
    ("opencode-max-steps.jsonl", 0, Answered),
    ("opencode-resume-1.jsonl", 0, Answered),
    ("opencode-resume-2.jsonl", 0, Answered),
    ("opencode-sigterm-during-tool.jsonl", -15, Away),
    ("opencode-sigint-during-tool.jsonl", -2, Away),
    ("opencode-sigkill-during-tool.jsonl", -9, Away),
    ("aider-success.txt", 0, Answered),
    ("aider-shell-suggested.txt", 0, Answered),
    ("aider-auto-test.txt", 0, Answered),
    ("aider-auth-fail.txt", 0, Authentication),
    ("aider-overloaded-fail.txt", 0, Away),
    ("pi-success-tools.jsonl", 0, Answered),
];

/// The recordings of agents that speak of their own accord; none where they are not there.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/agents/streams"));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: there are no recordings in {}", folder.display());
    None
}

pub(super) fn read(name: &str) -> Option<String> {
    folder().map(|folder| fs::read_to_string(folder.join(name)).expect("a recording that is listed is there"))
}

fn kind_of(name: &str) -> AgentKind {
    match name.split('-').next() {
        Some("claude") => AgentKind::Claude,
        Some("codex") => AgentKind::Codex,
        Some("gemini") => AgentKind::Gemini,
        Some("opencode") => AgentKind::Opencode,
        Some("aider") => AgentKind::Aider,
        Some("pi") => AgentKind::Pi,
        other => panic!("{other:?} is no agent"),
    }
}

fn exit_of(code: i32) -> Exit {
    if code < 0 { Exit::Signal(-code) } else { Exit::Code(code) }
}

/// The outcome of lines with an exit code.
fn replay<'a>(kind: &AgentKind, lines: impl Iterator<Item = &'a str>, exit: i32) -> (Outcome, Vec<Activity>) {
    let mut reader = Reader::new(kind, None);
    let mut activities = Vec::new();
    for line in lines {
        reader.line(Line::Whole(line), &mut activities);
    }
    let code = (exit >= 0).then_some(exit);
    (reader.end(code, ""), activities)
}

/// An executor of a spec.
pub(super) fn words(prompt: &str) -> Words<'_> {
    Words { prompt, dialect: Dialect::Spec, role: Role::Executor, duty: Duty::Work }
}

pub(super) fn ending(outcome: &Outcome, exit: i32) -> (Ending, AgentEnd) {
    let ended = Ended {
        exit: exit_of(exit),
        stdout: Kept::default(),
        stderr: Kept::default(),
        elapsed: Duration::from_secs(1),
        limit: Duration::from_secs(1),
    };
    let end = agent_end(&ended, outcome, words("the prompt"));
    let ending = match &end {
        AgentEnd::Answered { .. } => Ending::Answered,
        AgentEnd::Exited { .. } => Ending::Exited,
        AgentEnd::Unavailable { .. } => Ending::Away,
        AgentEnd::OutOfReach { lasting: Lasting::Quota, .. } => Ending::Quota,
        AgentEnd::OutOfReach { lasting: Lasting::Authentication, .. } => Ending::Authentication,
        AgentEnd::GaveUp { .. } => Ending::GaveUp,
        AgentEnd::PermissionDenied { .. } => Ending::Denied,
        other @ (AgentEnd::TimedOut { .. } | AgentEnd::OutOfReach { .. }) => panic!("{other:?}"),
    };
    (ending, end)
}

#[test]
fn every_recording_ends_as_it_did() {
    for (name, exit, expected) in RECORDINGS {
        let Some(text) = read(name) else { return };
        let (outcome, _) = replay(&kind_of(name), text.lines(), *exit);
        let (found, end) = ending(&outcome, *exit);
        assert_eq!(found, *expected, "{name}: {end:?}");
    }
}

#[test]
fn no_recording_is_forgotten() {
    let Some(folder) = folder() else { return };
    let is_stream = |name: &str| {
        let is_agents = ["claude", "codex", "gemini", "opencode", "aider", "pi"]
            .iter()
            .any(|agent| name.starts_with(&format!("{agent}-")));
        let is_other =
            name.ends_with(".json") || name.ends_with(".stderr.txt") || name.contains("control-protocol");
        is_agents && !is_other
    };
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_known = RECORDINGS.iter().any(|(known, ..)| *known == name);
        assert_eq!(is_known, is_stream(&name), "{name}");
    }
}

#[test]
fn nothing_that_is_cut_off_is_a_success() {
    for (name, _, expected) in RECORDINGS {
        let Some(text) = read(name) else { return };
        let kind = kind_of(name);
        let lines: Vec<&str> = text.lines().collect();
        // The line that says so is the last one that does; aider goes on to say what it did with the answer.
        let last = if kind == AgentKind::Aider {
            lines.iter().rposition(|line| line.starts_with("Tokens: "))
        } else {
            lines.len().checked_sub(1)
        };
        for end in 0..lines.len() {
            let (outcome, _) = replay(&kind, lines[..end].iter().copied(), 0);
            let is_whole = last.is_some_and(|last| end > last);
            if !is_whole {
                let (found, _) = ending(&outcome, 0);
                assert!(
                    !matches!(found, Answered) && outcome.conclusion != Conclusion::Finished,
                    "{name} cut after {end} lines: {found:?}, whole: {expected:?}"
                );
            }
        }
    }
}

#[test]
fn the_last_line_counts_only_if_it_is_whole() {
    for (name, exit, _) in RECORDINGS.iter().filter(|(_, exit, _)| *exit == 0) {
        let Some(text) = read(name) else { return };
        let kind = kind_of(name);
        if kind == AgentKind::Aider {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        let Some((last, before)) = lines.split_last() else { continue };
        for end in (0..last.len()).step_by(37).filter(|end| last.is_char_boundary(*end)) {
            let cut = before.iter().copied().chain([&last[..end]]);
            let (outcome, _) = replay(&kind, cut, *exit);
            assert_ne!(outcome.conclusion, Conclusion::Finished, "{name}, last line cut after {end} bytes");
        }
    }
}

/// Lines that nobody expects.
const RUBBISH: &[&str] = &[
    "",
    "not JSON at all",
    "{",
    "null",
    "[]",
    "{}",
    r#"{"type":null}"#,
    r#"{"type":42,"result":"TASK_COMPLETE"}"#,
    r#"{"type":"unheard of","is_error":false}"#,
    r#"{"type":"assistant"}"#,
    r#"{"type":"system","subtype":"api_retry","retry_delay_ms":"soon"}"#,
    r#"{"type":"item.completed","item":[]}"#,
    r#"{"type":"message","role":"assistant","content":{}}"#,
    "\u{0}\u{1b}[31m",
    r#"{"type":"text","part":null}"#,
];

#[test]
fn rubbish_between_the_lines_changes_no_ending_for_the_better() {
    for (name, exit, expected) in RECORDINGS {
        let Some(text) = read(name) else { return };
        let kind = kind_of(name);
        for rubbish in RUBBISH {
            let mixed = text.lines().flat_map(|line| [*rubbish, line]);
            let (outcome, _) = replay(&kind, mixed, *exit);
            let (found, end) = ending(&outcome, *exit);
            assert_eq!(found, *expected, "{name} with {rubbish:?}: {end:?}");
        }
        // A failed exit code makes no success of any stream.
        let (outcome, _) = replay(&kind, text.lines(), 1);
        assert_ne!(ending(&outcome, 1).0, Answered, "{name} with exit code 1");
    }
}

#[test]
fn very_deep_and_very_long_lines_do_no_harm() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{{\"type\":{deep}}}");
    for name in ["claude-", "codex-", "gemini-", "opencode-", "aider-", "pi-"] {
        let (outcome, _) = replay(&kind_of(name), [deep.as_str(), &nested].into_iter(), 0);
        assert_eq!(outcome.conclusion, Conclusion::Cut, "{name}");
    }
    let mut reader = Reader::new(&AgentKind::Pi, None);
    reader.line(Line::Start(r#"{"type":"agent_end","messages":["#), &mut Vec::new());
    assert_eq!(reader.end(Some(0), "").conclusion, Conclusion::Cut, "no message of the model came before");
}

/// Checks what a recording told: final message, session, usage (input, cached, output, millionths of a dollar).
#[track_caller]
fn check_told(
    name: &str,
    message: &str,
    session: Option<&str>,
    [input, cached, output, cost_micros]: [Option<u64>; 4],
) {
    let Some(text) = read(name) else { return };
    let (outcome, _) = replay(&kind_of(name), text.lines(), 0);
    assert_eq!(outcome.message.trim(), message, "{name}");
    assert_eq!(outcome.session.as_ref().map(|session| session.id.as_str()), session, "{name}");
    assert_eq!(outcome.usage, Usage { input, cached, output, cost_micros }, "{name}");
}

#[test]
fn what_successes_tell() {
    let done = "All done: hello.txt was written and the command ran.";
    check_told(
        "claude-success-tools.jsonl",
        done,
        Some("2c6f4032-9a4a-434e-8aae-9baaefe52156"),
        [Some(3_300), Some(500), Some(92), Some(19_050)],
    );
    check_told(
        "codex-success-tools.jsonl",
        done,
        Some("01a1e0b1-c632-7012-8464-f2c10438f635"),
        [Some(2_800), Some(500), Some(92), None],
    );
    check_told(
        "gemini-success-tools.jsonl",
        done,
        Some("8cfaeda0-c53e-4996-9e55-a350e0e94fad"),
        [Some(2_900), Some(500), Some(112), None],
    );
    check_told(
        "opencode-success-tools.jsonl",
        done,
        Some("ses_e1f42924cffeh2V1NUI3fVT6QX"),
        [Some(2_800), Some(500), Some(92), Some(9_780)],
    );
    check_told(
        "pi-success-tools.jsonl",
        done,
        Some("01a1e0e0-d6f9-71b9-91f4-a7adaf295492"),
        [Some(2_800), Some(500), Some(92), Some(9_780)],
    );
    check_told(
        "aider-shell-suggested.txt",
        "Run this:\n\n```bash\necho ran > ran.txt\n```",
        None,
        [Some(2_300), None, Some(14), None],
    );
}

#[test]
fn a_broken_stream_does_not_hide_what_it_cost() {
    check_told(
        "claude-cut.jsonl",
        "a long text that will be cut in the midst of streaming it to the client",
        Some("bdec2f4c-a081-4652-911f-acae4c8d2bd5"),
        [Some(100), Some(0), Some(20), Some(1_000)],
    );
}

#[test]
fn a_resumed_thread_counts_only_its_own() {
    let Some((first, second)) = read("codex-resume-1.jsonl").zip(read("codex-resume-2.jsonl")) else {
        return;
    };
    let (before, _) = replay(&AgentKind::Codex, first.lines(), 0);
    let session = before.session.clone().expect("it told a thread");
    let mut reader = Reader::new(&AgentKind::Codex, Some(&session));
    second.lines().for_each(|line| reader.line(Line::Whole(line), &mut Vec::new()));
    let after = reader.end(Some(0), "");
    assert_eq!(after.usage, before.usage, "both turns were alike");
    assert_eq!(after.session.map(|session| session.total.input), Some(Some(200)));
}

#[test]
fn sessions_that_are_not_known_are_none() {
    let Some(text) = read("claude-resume-unknown.jsonl") else { return };
    let (outcome, _) = replay(&AgentKind::Claude, text.lines(), 1);
    assert_eq!(outcome.session, None);
    let Some(stderr) = read("codex-resume-unknown.stderr.txt") else { return };
    let outcome = Reader::new(&AgentKind::Codex, None).end(Some(1), &stderr);
    let (found, end) = ending(&outcome, 1);
    assert_eq!(found, Away);
    let AgentEnd::Unavailable { retry_after, .. } = end else { panic!("{end:?}") };
    assert_eq!(retry_after, Some(Duration::ZERO), "it is tried again at once, afresh");
    let stderr = "No session found matching '00000000-1111-2222-3333-444444444444'\n";
    let (_, end) = ending(&Reader::new(&AgentKind::Pi, None).end(Some(1), stderr), 1);
    assert!(matches!(end, AgentEnd::Unavailable { retry_after: Some(Duration::ZERO), .. }), "{end:?}");
    let session = engine::Session { id: "s".to_owned(), total: Usage::default() };
    for (resume, wait) in [(Some(&session), Some(Duration::ZERO)), (None, None)] {
        let outcome = Reader::new(&AgentKind::Gemini, resume).end(Some(42), "bad input");
        let (_, end) = ending(&outcome, 42);
        assert!(matches!(end, AgentEnd::Unavailable { retry_after, .. } if retry_after == wait), "{end:?}");
    }
}

#[test]
fn activities_are_told() {
    let Some(text) = read("claude-success-tools.jsonl") else { return };
    let (_, activities) = replay(&AgentKind::Claude, text.lines(), 0);
    let tools: Vec<String> = activities
        .iter()
        .filter_map(|activity| match activity {
            Activity::ToolStarted { name, subject } => Some(format!("{name} {subject}")),
            Activity::Said(_) | Activity::ToolEnded | Activity::Retrying { .. } | Activity::Used(_) => None,
        })
        .collect();
    assert_eq!(
        tools,
        ["Write /sandbox/cases/claude-ok/sandbox/w/hello.txt", "Bash cat hello.txt && echo ran > ran.txt"]
    );
    let Some(text) = read("codex-overloaded-fail.jsonl") else { return };
    let (_, activities) = replay(&AgentKind::Codex, text.lines(), 1);
    let retries = activities.iter().filter(|activity| matches!(activity, Activity::Retrying { .. })).count();
    assert_eq!(retries, 6);
}

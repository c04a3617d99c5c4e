//! `retry.log` for people and `retry.jsonl` for programs: what an event means for them, and for how long entries are
//! kept.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::{
    Cause, End, Event, Failure, OnEscalation, Question, Response, State, Status, Task, What, retry_context,
};
use jiff::{SignedDuration, Timestamp};
use plan::TaskId;
use serde_json::{Value, json};

use crate::atomic;
use crate::mask::mask;

/// The two logs of a project.
#[derive(Debug)]
pub(crate) struct RetryLog {
    text: PathBuf,
    objects: PathBuf,
    opened: Timestamp,
}

impl RetryLog {
    /// The logs in a folder, pruned.
    pub(crate) fn open(folder: &Path, now: Timestamp) -> io::Result<Self> {
        let log = Self { text: folder.join("retry.log"), objects: folder.join("retry.jsonl"), opened: now };
        prune(&log.text, &log.objects, now)?;
        Ok(log)
    }

    /// Logs an event, given the state after it.
    pub(crate) fn write(&self, event: &Event, state: &State) -> io::Result<()> {
        let entry = entry(event, state);
        append(&self.text, &entry.lines)?;
        append(&self.objects, &texts(&entry.objects))
    }

    /// Logs the last event before a crash, as far as the crash came before the logs did.
    pub(crate) fn catch_up(&self, event: &Event, state: &State) -> io::Result<()> {
        let entry = entry(event, state);
        let is_kept = |days| event.at >= oldest(self.opened, days);
        if is_kept(TEXT_DAYS) {
            append_missing(&self.text, &entry.lines)?;
        }
        if is_kept(OBJECT_DAYS) { append_missing(&self.objects, &texts(&entry.objects)) } else { Ok(()) }
    }
}

fn texts(objects: &[Value]) -> Vec<String> {
    objects.iter().map(Value::to_string).collect()
}

/// Adds the lines of which the first ones may stand at the end already.
fn append_missing(path: &Path, lines: &[String]) -> io::Result<()> {
    let known = match fs::read_to_string(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        read => read.unwrap_or_default(),
    };
    let known: Vec<&str> = known.lines().collect();
    let ends_with = |count: &usize| {
        let end = known.len().checked_sub(*count).map(|start| &known[start..]);
        end.is_some_and(|end| end.iter().zip(lines).all(|(known, line)| known == line))
    };
    let there = (0..=lines.len()).rev().find(ends_with).unwrap_or_default();
    append(path, &lines[there..])
}

/// One write for all, so that readers never see half a line.
fn append(path: &Path, lines: &[String]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

/// Characters of an error in a log.
const ERROR_CHARS_MAX: usize = 200;

/// The log entries of one event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Entry {
    /// Lines of `retry.log`.
    pub lines: Vec<String>,
    /// Objects of `retry.jsonl`.
    pub objects: Vec<Value>,
}

/// The log entries of an event, given the state after it.
pub(super) fn entry(event: &Event, state: &State) -> Entry {
    let at = event.at;
    match &event.what {
        What::AttemptStarted(started) => match state.task(&started.task) {
            Some(task) => feedback_injected(at, state, task),
            None => Entry::default(),
        },
        What::AttemptFailed { task, failure, .. } | What::Reopened { task, failure } => {
            attempt_failed(at, task, failure)
        }
        What::Escalated { task, question } => escalated(at, state, task, *question),
        What::Answered { task, response } => answered(at, task, response),
        What::TaskSkipped { task, .. } => resolved(at, state, task, "skipped"),
        What::TaskDone { task, .. } => done(at, state, task),
        What::Ended(end) => ended(at, state, end),
        What::Opened(_)
        | What::PlanChanged(_)
        | What::ProofStarted { .. }
        | What::ProofPassed { .. }
        | What::ProofFailed { .. }
        | What::Mended { .. }
        | What::AttemptClaimed { .. }
        | What::AgentUnavailable { .. }
        | What::AgentDropped { .. }
        | What::TreeUnavailable { .. }
        | What::Spent(_)
        | What::ChecksPassed { .. }
        | What::Found { .. }
        | What::JudgeStarted { .. }
        | What::NoVerdict { .. }
        | What::JudgePassed { .. }
        | What::LandingStarted { .. }
        | What::Landed { .. }
        | What::JoinPassed { .. }
        | What::HeldUp { .. }
        | What::Packed { .. }
        | What::RetryPlanned { .. }
        | What::FixPlanned(_)
        | What::FixInserted { .. }
        | What::Deferred { .. }
        | What::Noted { .. }
        | What::Told { .. }
        | What::PauseRequested
        | What::SkipRequested { .. }
        | What::LimitsChanged(_)
        | What::ClockMoved(_)
        | What::RegressionPassed
        | What::Proved(_)
        | What::PullRequest(_) => Entry::default(),
    }
}

fn attempt_failed(at: Timestamp, task: &TaskId, failure: &Failure) -> Entry {
    if failure.cause == Cause::Blocked {
        return attempt_blocked(at, task, failure);
    }
    let kind = failure.cause.failure_type().name();
    let error = short(&failure.error);
    let mut lines = vec![
        line(at, task, &format!("attempt={} status=failed type={kind}", failure.attempt)),
        line(at, task, &format!("error=\"{}\"", quoted(&error))),
    ];
    if let Some(fix) = &failure.suggested_fix {
        lines.push(line(at, task, &format!("suggested_fix=\"{}\"", quoted(&short(fix)))));
    }
    let object = json!({
        "timestamp": stamp(at), "event": "attempt", "task_id": task.to_string(), "attempt": failure.attempt.0,
        "status": "failed", "failure_type": kind, "error": error, "duration_ms": failure.elapsed_ms,
    });
    Entry { lines, objects: vec![object] }
}

/// An entry for a task that is blocked, which has not failed: something else has to be done first.
fn attempt_blocked(at: Timestamp, task: &TaskId, failure: &Failure) -> Entry {
    let reason = short(&failure.error);
    let by = failure.blocked_by.as_ref().map(|by| format!(" by={}", short(by.name()))).unwrap_or_default();
    let mut object = json!({
        "timestamp": stamp(at), "event": "attempt", "task_id": task.to_string(), "attempt": failure.attempt.0,
        "status": "blocked", "reason": reason, "duration_ms": failure.elapsed_ms,
    });
    if let Some(by) = &failure.blocked_by {
        object["blocked_by"] = json!(short(by.name()));
    }
    let lines = vec![
        line(at, task, &format!("attempt={} status=blocked{by}", failure.attempt)),
        line(at, task, &format!("reason=\"{}\"", quoted(&reason))),
    ];
    Entry { lines, objects: vec![object] }
}

fn feedback_injected(at: Timestamp, state: &State, task: &Task) -> Entry {
    let attempt = task.next_attempt();
    let Some(block) = retry_context(state, task, attempt) else { return Entry::default() };
    let object = json!({
        "timestamp": stamp(at), "event": "feedback_injected", "task_id": task.id().to_string(),
        "attempt": attempt.0, "feedback_lines": block.lines().count(),
    });
    Entry {
        lines: vec![line(at, task.id(), &format!("injecting_feedback attempt={attempt}"))],
        objects: vec![object],
    }
}

fn escalated(at: Timestamp, state: &State, task: &TaskId, question: Question) -> Entry {
    let reason = reason(question);
    let attempts = state.task(task).map_or(0, |task| task.failures.len());
    let object = json!({
        "timestamp": stamp(at), "event": "escalated", "task_id": task.to_string(), "attempts": attempts, "reason": reason,
    });
    Entry { lines: vec![line(at, task, &format!("escalating reason=\"{reason}\""))], objects: vec![object] }
}

/// The reason for a question to a person, as logs name it.
pub(super) fn reason(question: Question) -> &'static str {
    match question {
        Question::Exhausted => "max_retries_exceeded",
        Question::PermissionDenied => "permission_denied",
        Question::Judge => "judgement_needed",
        Question::HooksGone => "hooks_gone",
        Question::Mended => "mended_by_hand",
        Question::Checkpoint => "checkpoint",
        Question::HistoryRewritten => "history_rewritten",
        Question::Blocked => "blocked",
        Question::Impossible => "impossible",
        Question::ConflictingRequirements => "conflicting_requirements",
        Question::ServiceUnavailable => "service_unavailable",
        Question::VerifyCannotStart => "verify_cannot_start",
        Question::NotProved => "not_proved",
        Question::RedBefore => "red_before",
        Question::InTheWay => "files_in_the_way",
    }
}

fn answered(at: Timestamp, task: &TaskId, response: &Response) -> Entry {
    let word = match response {
        Response::Retry => "retry",
        Response::Skip => "skip",
        Response::Abort => "abort",
        Response::Fix(_) => "fix",
        Response::Approve => "approve",
        Response::Reject(_) => "reject",
        Response::Reply(_) => "reply",
    };
    user_response(at, task, word)
}

/// That a person aborts the run is an answer to what was asked, and the run's end at once.
fn ended(at: Timestamp, state: &State, end: &End) -> Entry {
    let is_asked = |task: &&Task| matches!(task.status, Status::Asking(_));
    match state.attention().find(is_asked) {
        Some(task) if *end == End::Aborted && asks_people(state) => user_response(at, task.id(), "abort"),
        Some(_) | None => Entry::default(),
    }
}

/// True if questions go to people, and not to a setting that answers all of them.
fn asks_people(state: &State) -> bool {
    state.rules().is_some_and(|rules| matches!(rules.on_escalation, OnEscalation::Ask | OnEscalation::Pause))
}

fn user_response(at: Timestamp, task: &TaskId, word: &str) -> Entry {
    let object = json!({"timestamp": stamp(at), "event": "user_response", "task_id": task.to_string(), "response": word});
    Entry { lines: vec![line(at, task, &format!("user_response=\"{word}\""))], objects: vec![object] }
}

fn done(at: Timestamp, state: &State, id: &TaskId) -> Entry {
    let mut entry = Entry::default();
    if let Some(task) = state.task(id).filter(|task| task.passes > 0) {
        let attempt = task.attempted;
        entry.lines.push(line(at, id, &format!("attempt={attempt} status=success")));
        entry.objects.push(json!({
            "timestamp": stamp(at), "event": "attempt", "task_id": id.to_string(), "attempt": attempt, "status": "success",
            "duration_ms": task.claimed_after_ms,
        }));
    }
    let Entry { lines, objects } = resolved(at, state, id, "success");
    entry.lines.extend(lines);
    entry.objects.extend(objects);
    entry
}

fn resolved(at: Timestamp, state: &State, id: &TaskId, resolution: &str) -> Entry {
    let task = state.task(id);
    let attempts = task.map_or(0, |task| task.attempted);
    let duration = state.elapsed_on(id).and_then(|time| u64::try_from(time.as_millis()).ok()).unwrap_or(0);
    let object = json!({
        "timestamp": stamp(at), "event": "resolved", "task_id": id.to_string(), "resolution": resolution,
        "total_attempts": attempts, "total_duration_ms": duration,
    });
    let mut entry = Entry::default();
    if resolution == "skipped" && asks_people(state) {
        let Entry { lines, objects } = user_response(at, id, "skip");
        entry.lines.extend(lines);
        entry.objects.extend(objects);
    }
    entry.lines.push(line(at, id, &format!("resolved status={resolution}")));
    entry.objects.push(object);
    entry
}

fn line(at: Timestamp, task: &TaskId, text: &str) -> String {
    format!("[{}] [RETRY] [{task}] {text}", stamp(at))
}

/// A time to the second, as the log's readers expect it.
pub(super) fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// One line of at most so many characters, with what looks like a key masked.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    mask(&line).chars().take(ERROR_CHARS_MAX).collect()
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

const TEXT_DAYS: i64 = 7;
const OBJECT_DAYS: i64 = 30;

fn oldest(now: Timestamp, days: i64) -> Timestamp {
    now - SignedDuration::from_hours(24 * days)
}

/// Drops entries that are too old, and a last line that a crash cut short. A line whose time cannot be read is kept.
pub(super) fn prune(text: &Path, objects: &Path, now: Timestamp) -> io::Result<()> {
    prune_file(text, now, TEXT_DAYS, time_of_line)?;
    prune_file(objects, now, OBJECT_DAYS, time_of_object)
}

fn prune_file(path: &Path, now: Timestamp, days: i64, time: fn(&str) -> Option<Timestamp>) -> io::Result<()> {
    let known = match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let oldest = oldest(now, days);
    let is_kept = |line: &&str| line.ends_with('\n') && time(line).is_none_or(|at| at >= oldest);
    let kept: String = known.split_inclusive('\n').filter(is_kept).collect();
    if kept.len() == known.len() { Ok(()) } else { atomic::replace(path, &kept) }
}

fn time_of_line(line: &str) -> Option<Timestamp> {
    line.strip_prefix('[')?.split(']').next()?.parse().ok()
}

fn time_of_object(line: &str) -> Option<Timestamp> {
    let value: Value = serde_json::from_str(line).ok()?;
    value.get("timestamp")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use engine::{Observation, Opening, Seen, decide};

    use super::*;

    /// An event with several lines and one object, and one that comes before it.
    fn events() -> [Event; 2] {
        let entry = |error: &str| {
            let event = format!(
                r#"{{"at":"2026-01-26T14:30:00Z","what":{{"attempt_failed":{{"task":"1.3","failure":{{"attempt":2,"at":"1970-01-01T00:00:00Z","cause":"verify_red","rung":"fix","error":"{error}","details":"","elapsed_ms":5}},"touched":[]}}}}}}"#
            );
            serde_json::from_str(&event).unwrap()
        };
        [entry("einer – größer"), entry("two")]
    }

    #[test]
    fn an_entry_that_was_cut_anywhere_is_there_once() {
        let seen = Seen::Started(Opening::default());
        let at = Timestamp::from_second(1_769_437_800).unwrap();
        let mut state = State::default();
        state.apply(&decide(&state, Observation { at, seen }).unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let log = RetryLog::open(folder.path(), at).unwrap();
        let [first, last] = events();
        let read = || [&log.text, &log.objects].map(|path| fs::read(path).unwrap());
        log.write(&first, &state).unwrap();
        let before = read();
        log.write(&last, &state).unwrap();
        let whole = read();
        for (place, path) in [&log.text, &log.objects].into_iter().enumerate() {
            for length in before[place].len()..=whole[place].len() {
                fs::write(&log.text, &whole[0]).unwrap();
                fs::write(&log.objects, &whole[1]).unwrap();
                fs::write(path, &whole[place][..length]).unwrap();
                RetryLog::open(folder.path(), at).unwrap().catch_up(&last, &state).unwrap();
                assert_eq!(read().map(String::from_utf8), whole.clone().map(String::from_utf8), "{length}");
            }
        }
        // An entry before it is lost, and none is half there.
        fs::write(&log.objects, &before[1][..before[1].len() / 2]).unwrap();
        RetryLog::open(folder.path(), at).unwrap().catch_up(&last, &state).unwrap();
        assert_eq!(read()[1], whole[1][before[1].len()..]);
    }
}

//! States, observations and actions as they travel to another driver: none of them changes on the way, and nobody
//! changes their form without meaning to.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};
use std::time::Duration;

use engine::{
    Action, AgentEnd, AgentReport, Attempt, Baseline, Before, Cause, Changes, CheckFailure, CheckLog,
    CheckRef, ChecksReport, Claim, ClockMoved, Directive, DirectiveId, Dispatch, Event, Evidence, Facts,
    Failing, FailureClaim, FileState, ForgeAction, ForgeReport, Isolation, Kept, Landing, Lasting, Limits,
    NewLimits, Observation, Obstacle, Opening, Parallel, Proof, ProofVerdict, Published, Record, Response,
    Reviewer, Role, Rules, Said, Seen, Sign, Signs, Source, Spent, State, StatusKind, Stuck, StuckKind,
    TaskProof, Toggle, Usage, Versioned, decide, due, schedule,
};
use jiff::Timestamp;
use plan::TaskId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::pull_request::fine;
use crate::script::{decl, plan};

const STATE: &str = include_str!("../fixtures/state-v1.json");
const OBSERVATIONS: &str = include_str!("../fixtures/observations-v1.jsonl");
const ACTIONS: &str = include_str!("../fixtures/actions-v1.jsonl");

/// Everything that has a form of its own, written and read.
fn read_back<T: Serialize + DeserializeOwned>(content: &T) -> (String, T) {
    let text = serde_json::to_string(&Versioned::new(content)).expect("it can be written");
    let read: Versioned<T> = serde_json::from_str(&text).expect("what was written can be read");
    (text, read.content)
}

/// A state that has travelled is the same, and the same follows from it.
pub(crate) fn state_travels(state: &State, now: Timestamp) {
    let (text, read) = read_back(state);
    assert_eq!(read, *state, "{text}");
    assert_eq!(schedule(&read, now), schedule(state, now), "{text}");
    assert_eq!(due(&read, now), due(state, now), "{text}");
    assert_eq!(engine::overlaps(&read).len(), engine::overlaps(state).len(), "{text}");
}

pub(crate) fn observation_travels(observation: &Observation) {
    assert_eq!(read_back(observation).1, *observation);
}

pub(crate) fn action_travels(action: &Action) {
    assert_eq!(read_back(action).1, *action);
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn at() -> Timestamp {
    "2026-01-26T14:30:00Z".parse().expect("a valid timestamp")
}

fn failure() -> CheckFailure {
    CheckFailure {
        cause: Cause::VerifyRed,
        error: text("1 failed"),
        details: text("FAIL a"),
        command: Some(text("npm test")),
        exit_code: Some(1),
        failing: Failing::default(),
    }
}

fn report(end: AgentEnd) -> AgentReport {
    AgentReport {
        end,
        tampered: vec!["1.9".into()],
        lost_commit: Some(text("dead")),
        touched: vec![FileState { path: text("src/a.rs"), state: text("created") }],
        unfit: Some(failure()),
        learnings: vec![text("so")],
        elapsed: Duration::from_millis(1_500),
    }
}

fn ends() -> Vec<AgentEnd> {
    let failed = FailureClaim {
        error: text("no"),
        attempted_fix: text("npm i"),
        status: text("stuck"),
        suggested_fix: Some(text("check null")),
        root_cause: None,
    };
    let stuck = Stuck { kind: StuckKind::Blocked, reason: text("waits"), by: Some(text("1.9")) };
    let answered = |claim: Claim| AgentEnd::Answered { claim, contradiction: None, tail: text("…") };
    let claims = [
        Claim::Complete,
        Claim::Denied(failed.clone()),
        Claim::OtherRole,
        Claim::Failed(failed),
        Claim::NotVerified,
        Claim::Stuck(stuck),
        Claim::Silent,
    ];
    let mut ends: Vec<AgentEnd> = claims.into_iter().map(answered).collect();
    let (reason, tail, retry_after) = (text("overloaded"), text("…"), Some(Duration::from_secs(3)));
    ends.extend([
        AgentEnd::Exited { code: 1, claim: Claim::Silent, tail: tail.clone() },
        AgentEnd::TimedOut { limit: text("10m"), tail: tail.clone() },
        AgentEnd::Unavailable { reason: reason.clone(), retry_after },
        AgentEnd::OutOfReach { lasting: Lasting::Quota, reason: reason.clone(), retry_after },
        AgentEnd::GaveUp { reason, tail },
        AgentEnd::PermissionDenied { text: text("may not write") },
    ]);
    ends
}

fn forge_reports() -> Vec<ForgeReport> {
    let published = Published {
        number: 7,
        url: text("https://forge/7"),
        branch: text("feature"),
        base: text("main"),
        head: text("c9"),
        series: text("5."),
        warnings: Vec::new(),
    };
    let log = CheckLog {
        label: text("test"),
        step: Some(text("run")),
        summary: text("red"),
        tail: text("FAIL a"),
        file: None,
        line: Some(3),
    };
    vec![
        ForgeReport::Published(published),
        ForgeReport::AlreadyMerged { number: 7, url: text("https://forge/7") },
        ForgeReport::Moved,
        ForgeReport::Looked(Box::new(fine("c9"))),
        ForgeReport::Rerun { refused: vec![text("test")] },
        ForgeReport::LogsRead(vec![log]),
        ForgeReport::Written { decls: vec![decl("5.1")], kept: Kept::InPlan },
        ForgeReport::Integrated,
        ForgeReport::Replied { failed: vec![("5.1".into(), text("gone"))] },
        ForgeReport::ReviewRequested { failed: vec![text("mona")] },
        ForgeReport::Merged,
        ForgeReport::MergeQueued,
        ForgeReport::Obstructed(Obstacle::NoRemote),
        ForgeReport::Unavailable { reason: text("HTTP 502"), retry_after: Some(Duration::from_secs(3)) },
    ]
}

fn proof() -> Proof {
    let verdict = ProofVerdict::Green { exit_code: 0 };
    let results = vec![TaskProof { task: TaskId::from("1.2"), command: Some(text("make")), verdict }];
    Proof { head: text("4ead"), tree: text("7ree"), results, linked: Vec::new(), elapsed_ms: 3 }
}

fn opening() -> Opening {
    Opening {
        rules: Rules::default(),
        launch: BTreeMap::from([(text("agent"), text("claude"))]),
        tasks: plan(&["1.1 p in:a", "1.2 verify"]),
        dirty: vec![text("notes.txt")],
        gone: vec!["1.2".into()],
        holding: Vec::new(),
        head: Some(text("4ead")),
        surroundings: vec![text(".venv/")],
    }
}

fn red_before() -> Evidence {
    Evidence::Before { before: Before::Red, tree: Some(text("7ree")), failing: Failing::default() }
}

fn signs() -> Evidence {
    Evidence::Signs(Signs::new(vec![Sign { path: text("a.py"), line: 2, what: text("it.only") }]))
}

fn baseline() -> Baseline {
    Baseline { head: Some(text("4ead")), tree: Some(text("7ree")), hooks: vec![text("hook")] }
}

fn red() -> ChecksReport {
    let (warnings, hooks_gone) = (vec![text("careful")], vec![text("hook")]);
    ChecksReport {
        failure: Some(failure()),
        warnings,
        tree: Some(text("7ree")),
        hooks_gone,
        facts: Some(Facts::default()),
    }
}

/// One of each kind, and of each kind of what they hold.
fn all_seen() -> Vec<Seen> {
    let (task, dispatch) = (TaskId::from("1.2"), Dispatch(9));
    let spent = || {
        let usage = Usage { input: Some(3), ..Usage::default() };
        let agent = text("claude");
        Box::new(Spent { task: task.clone(), dispatch, agent, usage, session: None, interim: true })
    };
    let facts = Facts { changes: Changes::Made, missing: vec![text("a.rs")] };
    let tell = Said::Tell { task: None, text: text("use tabs") };
    let mut seen = vec![
        Seen::Started(opening()),
        Seen::PlanRead(plan(&["1.1"])),
        Seen::Prepared { task: task.clone(), baseline: baseline() },
        Seen::Spending { spent: spent() },
        Seen::Packed { task: task.clone(), dispatch, base: text("4ead"), commit: Some(text("5eed")) },
        Seen::TreeFailed { task: task.clone(), dispatch, reason: text("disk full") },
        Seen::Spent { spent: spent() },
        Seen::ProofEnded { task: task.clone(), report: red(), uncommitted: vec![text("a.rs")] },
        Seen::ChecksEnded { task: task.clone(), dispatch, report: red(), tree: Some(text("7ree")) },
        Seen::Found { task: task.clone(), evidence: red_before() },
        Seen::Found { task: task.clone(), evidence: signs() },
        Seen::JudgeEnded {
            task: task.clone(),
            dispatch,
            report: report(AgentEnd::PermissionDenied { text: text("no") }),
            facts,
        },
        Seen::JoinEnded { task: task.clone(), dispatch, report: ChecksReport::default(), tree: None },
        Seen::Displaced { task: task.clone(), dispatch },
        Seen::Obstructed { reason: text("no git") },
        Seen::FixInserted { decl: Box::new(decl("1.2.1")) },
        Seen::RegressionEnded { report: red() },
        Seen::ProofTaken { proof: Box::new(proof()) },
        Seen::Directed(Box::new(Directive { id: DirectiveId(text("d1")), from: text("ada"), said: tell })),
        Seen::LimitsRead(Box::new(NewLimits { limits: Limits::default(), jobs: 2, changes: Vec::new() })),
        Seen::NobodyAnswers { task: task.clone() },
        Seen::Noted { task: Some(task.clone()), text: text("it left a file"), passing: false },
        Seen::Interrupted,
        Seen::ClockMoved(ClockMoved { still_ms: 9_000, set_ms: -60_000 }),
        Seen::TimePassed,
    ];
    let ended = |end| Seen::AgentEnded { task: task.clone(), dispatch, report: report(end) };
    seen.extend(ends().into_iter().map(ended));
    let done = Landing::Done { touched: vec![text("a.rs")], onto: Some(text("4ead")), commit: None };
    let landings = [done, Landing::Failed(failure()), Landing::Blocked { reason: text("locked") }];
    let landed = |landing| Seen::LandingEnded { task: task.clone(), dispatch, landing };
    seen.extend(landings.map(landed));
    let records = [
        Record::Kept { commit: Some(text("c0ffee")) },
        Record::Refused(failure()),
        Record::Moved,
        Record::InTheWay { files: vec![text("a.rs")] },
        Record::Blocked { reason: text("locked") },
    ];
    seen.extend(records.map(|record| Seen::Recorded { task: task.clone(), record }));
    let responses = [Response::Retry, Response::Fix(text("trim")), Response::Reply(text("yes"))];
    seen.extend(responses.map(|response| Seen::Answered { task: task.clone(), response }));
    let forge = |report| Seen::Forge { key: text("forge look 1"), report };
    seen.extend(forge_reports().into_iter().map(forge));
    seen
}

/// One of each kind.
fn all_actions() -> Vec<Action> {
    let (task, attempt, dispatch) = (TaskId::from("1.2"), Attempt(2), Dispatch(9));
    let id = || task.clone();
    let check = CheckRef {
        label: text("test"),
        id: text("1"),
        run: Some(7),
        url: text("https://forge/run"),
        summary: text("red"),
    };
    let (head, checks) = (text("c9"), vec![check]);
    let reviewers = vec![Reviewer { login: text("mona"), review: text("R1") }];
    let at_forge = vec![
        ForgeAction::Publish { cycle: 1 },
        ForgeAction::Look { look: 2 },
        ForgeAction::Rerun { head: head.clone(), checks: checks.clone() },
        ForgeAction::ReadLogs { head: head.clone(), checks },
        ForgeAction::Write { tasks: vec![id()] },
        ForgeAction::Reply { tasks: vec![id()] },
        ForgeAction::RequestReview { head: head.clone(), reviewers },
        ForgeAction::Integrate { cycle: 1, source: Source::Base },
        ForgeAction::Merge { head },
    ];
    let mut actions = vec![
        Action::Prepare { task: id() },
        Action::Prove { task: id() },
        Action::RunAgent { task: id(), attempt, dispatch, role: Role::Executor },
        Action::Check { task: id(), attempt, dispatch },
        Action::RunJudge { task: id(), attempt, dispatch, role: Role::Reviewer },
        Action::Land { task: id(), attempt, dispatch },
        Action::Join { task: id(), attempt, dispatch },
        Action::Record { task: id(), attempt: Some(attempt) },
        Action::InsertFix { fix: "1.2.1".into() },
        Action::Ask { task: id() },
        Action::Regress,
        Action::ProveAll,
    ];
    actions.extend(at_forge.into_iter().map(Action::Forge));
    actions
}

/// How many kinds there are among these.
fn kinds<T>(values: &[T]) -> usize {
    let mut kinds: Vec<Discriminant<T>> = Vec::new();
    for kind in values.iter().map(discriminant) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.len()
}

/// The lines of a golden file, each value read back as it was.
fn lines<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(values: &[T]) -> String {
    let line = |value: &T| {
        let (line, read) = read_back(value);
        assert_eq!(read, *value);
        line + "\n"
    };
    values.iter().map(line).collect()
}

#[test]
fn every_kind_of_observation() {
    let seen = all_seen();
    assert_eq!(kinds(&seen), 29, "one of each");
    let observations: Vec<Observation> =
        seen.into_iter().map(|seen| Observation { at: at(), seen }).collect();
    assert_eq!(lines(&observations), OBSERVATIONS);
}

#[test]
fn every_kind_of_action() {
    let actions = all_actions();
    assert_eq!(kinds(&actions), 13, "one of each");
    assert_eq!(lines(&actions), ACTIONS);
}

/// What happened to get a bit of everything: a task that is done, one that an agent works on, one that waits for its fix
/// task, one that has passed, one that is judged, one that a person is asked about, one that was left out, and some that
/// have not begun, most of them side by side; and a pull request that is watched.
const HISTORY: &str = r#"
{"attempt_started":{"task":"1.1","attempt":1,"dispatch":1,"role":"executor","head":"4ead"}}
{"attempt_claimed":{"task":"1.1","dispatch":1,"touched":[{"path":"src/a.rs","state":"created"}],"elapsed_ms":60000}}
{"checks_passed":{"task":"1.1","warnings":["out of scope"]}}
{"task_done":{"task":"1.1","commit":"c1"}}
{"spent":{"task":"1.1","dispatch":1,"agent":"claude","usage":{"input":3300,"output":92,"cost_micros":19050},"session":{"id":"s-1"}}}
{"attempt_started":{"task":"1.2","attempt":1,"dispatch":2,"role":"executor","head":"c1","slot":1}}
{"attempt_started":{"task":"1.3","attempt":1,"dispatch":3,"role":"executor","head":"c1","slot":2}}
{"attempt_started":{"task":"1.4","attempt":1,"dispatch":4,"role":"executor","head":"c1","slot":3}}
{"attempt_started":{"task":"1.5","attempt":1,"dispatch":5,"role":"executor","head":"c1","slot":4}}
{"packed":{"task":"1.3","dispatch":3,"base":"c1","commit":"5eed"}}
{"attempt_failed":{"task":"1.3","failure":{"attempt":1,"at":"2026-01-26T14:31:06Z","cause":"verify_red","rung":"fix","error":"boom","details":"FAIL","command":"npm test","exit_code":1},"touched":["src/c.rs"]}}
{"fix_planned":{"fix":"1.3.1","failing":"1.3","error":"boom"}}
{"fix_inserted":{"decl":{"id":"1.3.1","title":"Fix: boom","kind":"work","verification":"command","ticked":false,"digest":2}}}
{"attempt_claimed":{"task":"1.4","dispatch":4,"touched":[{"path":"src/d.rs","state":"created"}],"learnings":["so"],"elapsed_ms":5}}
{"packed":{"task":"1.4","dispatch":4,"base":"c1","commit":"600d"}}
{"checks_passed":{"task":"1.4","tree":"7ree"}}
{"attempt_claimed":{"task":"1.5","dispatch":5,"touched":[],"elapsed_ms":5}}
{"checks_passed":{"task":"1.5","judge":"qa"}}
{"judge_started":{"task":"1.5","dispatch":6}}
{"attempt_started":{"task":"1.6","attempt":1,"dispatch":7,"role":"executor","head":"c1","slot":3}}
{"attempt_failed":{"task":"1.6","failure":{"attempt":1,"at":"2026-01-26T14:31:06Z","cause":"permission_denied","rung":"ask","error":"may not write","details":"no"},"touched":[]}}
{"escalated":{"task":"1.6","question":"permission_denied"}}
{"task_skipped":{"task":"1.8","reason":"no time","dependents":["1.9"]}}
{"told":{"task":"1.9","text":"use tabs"}}
{"agent_unavailable":{"task":"1.2","dispatch":2,"reason":"overloaded","nth":1,"until":"2026-01-26T15:00:00Z"}}
{"attempt_started":{"task":"1.2","attempt":1,"dispatch":8,"role":"executor","head":"c1","slot":1}}
{"pull_request":"begun"}
{"pull_request":{"published":{"published":{"number":7,"url":"https://forge/7","branch":"feature","base":"main","head":"c9","series":"5."},"cycle":1}}}
{"pull_request":{"looked":{"awaited":"head","until":"2026-01-26T15:00:00Z","checks":["test"]}}}
"#;

fn a_bit_of_everything() -> State {
    let parallel = Parallel { jobs: 4, infer: Toggle::Off, isolation: Isolation::Trees };
    let rules = Rules { parallel, keep_going: Toggle::On, ..Rules::default() };
    let tasks = plan(&[
        "1.1 in:src/a.rs",
        "1.2 p in:src/b.rs",
        "1.3 p in:src/c.rs",
        "1.4 p in:src/d.rs",
        "1.5 p judge in:src/e.rs",
        "1.6 p in:src/f.rs",
        "1.7 p in:src/c.rs",
        "1.8 p in:src/g.rs",
        "1.9 p in:src/g.rs on:1.8",
        "1.10 verify",
        "1.11 checkpoint stage:1",
    ]);
    let opening = Opening { rules, tasks, head: Some(text("4ead")), ..Opening::default() };
    let mut state = State::default();
    let opened = decide(&state, Observation { at: at(), seen: Seen::Started(opening) });
    state.apply(&opened.expect("a start is an event")).expect("a run can be opened");
    for line in HISTORY.lines().filter(|line| !line.is_empty()) {
        let what = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        state.apply(&Event::new(at(), what)).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    state
}

#[test]
fn a_state_with_a_bit_of_everything() {
    let state = a_bit_of_everything();
    let statuses: Vec<StatusKind> = state.tasks().iter().map(|task| task.status.kind()).collect();
    let written = serde_json::to_string_pretty(&Versioned::new(&state)).expect("it can be written") + "\n";
    assert_eq!(
        statuses,
        [
            StatusKind::Done,
            StatusKind::Running,
            StatusKind::WaitingFor,
            StatusKind::Ready,
            StatusKind::Finished,
            StatusKind::Judging,
            StatusKind::Asking,
            StatusKind::Ready,
            StatusKind::Skipped,
            StatusKind::Ready,
            StatusKind::Ready,
            StatusKind::Ready,
        ]
    );
    assert_eq!(written, STATE);
    let read: Versioned<State> = serde_json::from_str(STATE).expect("the golden file can be read");
    assert_eq!(read.content, state);
    state_travels(&state, at());
}

#[test]
fn another_version_is_refused() {
    let other = STATE.replacen("\"version\": 1", "\"version\": 2", 1);
    let error = serde_json::from_str::<Versioned<State>>(&other).expect_err("nobody can read it");
    assert!(error.to_string().contains("version 2 instead of 1"), "{error}");
}

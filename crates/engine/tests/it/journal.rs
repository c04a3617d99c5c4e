//! What events look like on disk. Journals of every release have to be read for ever, so a change here is a
//! broken promise unless it only adds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::{
    Attempt, Before, CapKind, Cause, ClockMoved, Dialect, DirectiveId, Dispatch, End, Event, Evidence,
    Failing, Failure, FileState, FixPlan, Isolation, Item, ItemStage, Judge, Lasting, Limits, NewLimits,
    OnEscalation, OnExhausted, Opened, Parallel, PlanChanges, Proof, ProofVerdict, Question, Recovery,
    Response, Role, Rules, Rung, Session, SettingChanged, Slot, Spent, Started, State, Status, StopReason,
    Summary, Taken, TaskKind, TaskProof, Toggle, Tool, Unverifiable, Usage, What,
};
use insta::assert_snapshot;
use jiff::Timestamp;
use plan::TaskId;

use crate::script::decl;

fn task() -> TaskId {
    TaskId::from("1.3")
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn failing() -> Failing {
    let test = Item {
        tool: Tool::Jest,
        stage: ItemStage::Test,
        name: text("a.test.ts › adds"),
        line: None,
        count: 1,
    };
    let (tool, stage) = (Tool::Cc, ItemStage::Build);
    let twice = Item { tool, stage, name: text("a.c: error: no"), line: Some(3), count: 2 };
    Failing { items: vec![test, twice], unlisted: 4, ran: [(Tool::Jest, 5)].into() }
}

fn failure() -> Box<Failure> {
    Box::new(Failure {
        attempt: Attempt(2),
        at: Timestamp::UNIX_EPOCH,
        cause: Cause::VerifyRed,
        rung: Rung::Fix,
        error: text("2 failed"),
        details: text("FAIL a\nFAIL b"),
        command: Some(text("npm test")),
        exit_code: Some(1),
        failing: failing(),
        tree: Some(text("7ree")),
        attempted_fix: Some(text("npm i")),
        suggested_fix: Some(text("check null")),
        root_cause: Some(text("no null check")),
        blocked_by: Some("1.9".into()),
        files: vec![FileState { path: text("src/a.ts"), state: text("created") }],
        learnings: vec![text("null is not empty")],
        elapsed_ms: 45_000,
    })
}

fn opened() -> Opened {
    let rules = Rules {
        recovery: Recovery::On,
        limits: Limits {
            global_iterations_max: Some(7),
            time_max: Some(Duration::from_millis(1_500)),
            ..Limits::default()
        },
        on_exhausted: OnExhausted::Ask,
        on_escalation: OnEscalation::Skip,
        unverifiable: Unverifiable::Refuse,
        review: Toggle::On,
        regression: Toggle::Off,
        keep_going: Toggle::On,
        pull_request: engine::PullRequestRules::default(),
        dialect: Dialect::Phase,
        parallel: Parallel { jobs: 4, infer: Toggle::On, isolation: Isolation::Trees },
        ..Rules::default()
    };
    Opened {
        round: 2,
        rules,
        launch: BTreeMap::from([(text("agent"), text("claude"))]),
        changes: changes(),
        dirty: vec![text("notes.txt")],
        lost: vec![task()],
        gone: vec![],
        outdated: vec![],
        head: Some(text("c0ffee")),
        surroundings: Some(vec![text("node_modules/")]),
    }
}

fn proof() -> Proof {
    let of = |task: &str, verdict| TaskProof { task: task.into(), command: Some(text("npm test")), verdict };
    let (exit_code, error) = (Some(1), text("2 failed"));
    let differs = Some(text("`a.txt` is ignored by git"));
    Proof {
        head: text("c0ffee"),
        tree: text("7ree"),
        results: vec![
            of("1.1", ProofVerdict::Green { exit_code: 0 }),
            of("1.2", ProofVerdict::LeftOut { reason: text("it asks git") }),
            of("1.3", ProofVerdict::Superseded { by: vec!["1.6".into()], exit_code, error: error.clone() }),
            of("1.4", ProofVerdict::NotProved { reason: text("no node_modules") }),
            of("1.5", ProofVerdict::NotReached),
            of("1.6", ProofVerdict::Red { exit_code, error, differs }),
        ],
        linked: vec![text("node_modules")],
        elapsed_ms: 7,
    }
}

fn changes() -> PlanChanges {
    let mut fix = decl("1.3.1 judge verify done");
    fix.fix_of = Some(task());
    PlanChanges {
        added: vec![fix],
        removed: vec!["1.4".into()],
        reworded: vec![decl("1.5 checkpoint in:src/a.ts on:1.3")],
        ticked: vec!["1.6".into()],
        unticked: vec!["1.7~2".into()],
        order: vec!["1.5".into(), "1.3".into()],
    }
}

fn spent() -> Spent {
    let usage = Usage { input: Some(3_300), output: Some(92), cost_micros: Some(19_050), ..Usage::default() };
    let session = Some(Session { id: text("s-1"), total: Usage::default() });
    Spent { task: task(), dispatch: Dispatch(9), agent: text("claude"), usage, session, interim: false }
}

fn new_limits() -> NewLimits {
    let change = SettingChanged { key: text("jobs"), from: Some(text("4")), to: Some(text("2")) };
    NewLimits { limits: Limits::default(), jobs: 2, changes: vec![change] }
}

fn started() -> Started {
    Started {
        task: task(),
        attempt: Attempt(2),
        dispatch: Dispatch(9),
        role: Role::Qa,
        head: Some(text("4ead")),
        tree: Some(text("c0ffee")),
        hooks: hooks(),
        slot: Some(Slot(1)),
    }
}

fn fix() -> FixPlan {
    FixPlan {
        fix: "1.3.1".into(),
        failing: task(),
        error: text("2 failed"),
        attempted_fix: Some(text("npm i")),
    }
}

fn hooks() -> Vec<String> {
    vec![text(".git/hooks/pre-commit")]
}

fn green_before() -> Evidence {
    Evidence::Before { before: Before::Green, tree: Some(text("7ree")), failing: Failing::default() }
}

/// One of each event, in the order of the enum.
pub(crate) fn events() -> Vec<What> {
    let touched = vec![FileState { path: text("src/a.ts"), state: text("created") }];
    let (dispatch, until) = (Dispatch(9), Timestamp::UNIX_EPOCH);
    vec![
        What::Opened(Box::new(opened())),
        What::PlanChanged(changes()),
        What::ProofStarted { task: task(), head: Some(text("4ead")) },
        What::ProofPassed { task: task(), warnings: vec![text("proves nothing")] },
        What::ProofFailed { task: task(), failure: failure() },
        What::Mended { task: task(), files: vec![text("src/a.ts")] },
        What::AttemptStarted(started()),
        What::AttemptClaimed { task: task(), dispatch, touched, learnings: vec![text("so")], elapsed_ms: 5 },
        What::AttemptFailed { task: task(), failure: failure(), touched: vec![text("src/a.ts")] },
        What::AgentUnavailable { task: task(), dispatch, reason: text("overloaded"), nth: 3, until },
        What::AgentDropped {
            task: task(),
            dispatch,
            agent: text("claude"),
            lasting: Lasting::Quota,
            reason: text("out of quota"),
        },
        What::Packed { task: task(), dispatch, base: text("4ead"), commit: Some(text("5eed")) },
        What::TreeUnavailable { task: task(), dispatch, reason: Some(text("disk full")) },
        What::Spent(Box::new(spent())),
        What::ChecksPassed {
            task: task(),
            warnings: vec![text("out of scope")],
            judge: Some(Judge::Reviewer),
            tree: None,
            hooks_gone: hooks(),
        },
        What::Found { task: task(), evidence: green_before() },
        What::JudgeStarted { task: task(), dispatch },
        What::NoVerdict { task: task(), dispatch, reason: text("said neither yes nor no") },
        What::JudgePassed {
            task: task(),
            warnings: vec![text("nothing was changed for this task")],
            unchanged: true,
            next: Some(Judge::Reviewer),
        },
        What::LandingStarted { task: task() },
        What::Landed {
            task: task(),
            touched: vec![text("src/a.rs")],
            onto: Some(text("4ead")),
            commit: Some(text("c0ffee")),
        },
        What::JoinPassed { task: task(), warnings: vec![text("careful")], tree: Some(text("7ree")) },
        What::HeldUp { task: task(), files: vec![text("src/a.rs")] },
        What::TaskDone { task: task(), commit: Some(text("c0ffee")) },
        What::RetryPlanned { task: task(), attempt: Attempt(3) },
        What::FixPlanned(fix()),
        What::FixInserted { decl: Box::new(decl("1.3.1")) },
        What::Deferred { task: task(), by: "1.9".into() },
        What::Escalated { task: task(), question: Question::Exhausted },
        What::Answered { task: task(), response: Response::Fix(text("trim")) },
        What::TaskSkipped { task: task(), reason: text("no time"), dependents: vec!["1.4".into()] },
        What::Noted { task: Some(task()), text: text("it left a file"), passing: false },
        What::Told { task: Some(task()), text: text("use tabs") },
        What::PauseRequested,
        What::SkipRequested { task: task() },
        What::LimitsChanged(Box::new(new_limits())),
        What::ClockMoved(ClockMoved { still_ms: 9_000, set_ms: -60_000 }),
        What::RegressionPassed,
        What::Proved(Box::new(proof())),
        What::Reopened { task: task(), failure: failure() },
        What::PullRequest(Box::new(engine::PullRequestEvent::Begun)),
        What::Ended(End::Complete { skipped: 1 }),
    ]
}

fn line(what: What) -> String {
    let event = Event::new("2026-01-26T14:30:00.5Z".parse().expect("a valid timestamp"), what);
    let line = serde_json::to_string(&event).expect("an event can be written");
    assert_eq!(serde_json::from_str::<Event>(&line).expect("it can be read"), event);
    line
}

fn words<T: serde::Serialize>(values: &[T]) -> String {
    serde_json::to_string(values).expect("words can be written")
}

#[test]
fn every_kind_of_event() {
    let kinds: Vec<_> = events().iter().map(std::mem::discriminant).collect();
    assert!(kinds.iter().enumerate().all(|(place, kind)| !kinds[..place].contains(kind)), "one of each");
    let lines: Vec<String> = events().into_iter().map(line).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"at":"2026-01-26T14:30:00.5Z","what":{"opened":{"round":2,"rules":{"recovery":"on","limits":{"task_iterations_max":5,"fix_tasks_max":3,"fix_depth_max":3,"global_iterations_max":7,"unavailable_max":10,"unavailable_wait":{"secs":1,"nanos":0},"unavailable_wait_max":{"secs":300,"nanos":0},"returns_max":50,"time_max":{"secs":1,"nanos":500000000},"failure_chars_max":2000,"feedback_chars_max":10000},"on_exhausted":"ask","on_escalation":"skip","unverifiable":"refuse","review":"on","regression":"off","keep_going":"on","dialect":"phase","parallel":{"jobs":4,"infer":"on","isolation":"trees"}},"launch":{"agent":"claude"},"changes":{"added":[{"id":"1.3.1","title":"do 1.3.1","kind":"verify","verification":"judgement","fix_of":"1.3","ticked":true,"digest":1}],"removed":["1.4"],"reworded":[{"id":"1.5","title":"do 1.5","kind":"checkpoint","verification":"command","ticked":false,"digest":1,"files":["src/a.ts"],"depends_on":["1.3"]}],"ticked":["1.6"],"unticked":["1.7~2"],"order":["1.5","1.3"]},"dirty":["notes.txt"],"lost":["1.3"],"head":"c0ffee","surroundings":["node_modules/"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"plan_changed":{"added":[{"id":"1.3.1","title":"do 1.3.1","kind":"verify","verification":"judgement","fix_of":"1.3","ticked":true,"digest":1}],"removed":["1.4"],"reworded":[{"id":"1.5","title":"do 1.5","kind":"checkpoint","verification":"command","ticked":false,"digest":1,"files":["src/a.ts"],"depends_on":["1.3"]}],"ticked":["1.6"],"unticked":["1.7~2"],"order":["1.5","1.3"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"proof_started":{"task":"1.3","head":"4ead"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"proof_passed":{"task":"1.3","warnings":["proves nothing"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"proof_failed":{"task":"1.3","failure":{"attempt":2,"at":"1970-01-01T00:00:00Z","cause":"verify_red","rung":"fix","error":"2 failed","details":"FAIL a\nFAIL b","command":"npm test","exit_code":1,"failing":{"items":[{"tool":"jest","stage":"test","name":"a.test.ts › adds"},{"tool":"cc","stage":"build","name":"a.c: error: no","line":3,"count":2}],"unlisted":4,"ran":{"jest":5}},"tree":"7ree","attempted_fix":"npm i","suggested_fix":"check null","root_cause":"no null check","blocked_by":"1.9","files":[{"path":"src/a.ts","state":"created"}],"learnings":["null is not empty"],"elapsed_ms":45000}}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"mended":{"task":"1.3","files":["src/a.ts"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"attempt_started":{"task":"1.3","attempt":2,"dispatch":9,"role":"qa","head":"4ead","tree":"c0ffee","hooks":[".git/hooks/pre-commit"],"slot":1}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"attempt_claimed":{"task":"1.3","dispatch":9,"touched":[{"path":"src/a.ts","state":"created"}],"learnings":["so"],"elapsed_ms":5}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"attempt_failed":{"task":"1.3","failure":{"attempt":2,"at":"1970-01-01T00:00:00Z","cause":"verify_red","rung":"fix","error":"2 failed","details":"FAIL a\nFAIL b","command":"npm test","exit_code":1,"failing":{"items":[{"tool":"jest","stage":"test","name":"a.test.ts › adds"},{"tool":"cc","stage":"build","name":"a.c: error: no","line":3,"count":2}],"unlisted":4,"ran":{"jest":5}},"tree":"7ree","attempted_fix":"npm i","suggested_fix":"check null","root_cause":"no null check","blocked_by":"1.9","files":[{"path":"src/a.ts","state":"created"}],"learnings":["null is not empty"],"elapsed_ms":45000},"touched":["src/a.ts"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"agent_unavailable":{"task":"1.3","dispatch":9,"reason":"overloaded","nth":3,"until":"1970-01-01T00:00:00Z"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"agent_dropped":{"task":"1.3","dispatch":9,"agent":"claude","lasting":"quota","reason":"out of quota"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"packed":{"task":"1.3","dispatch":9,"base":"4ead","commit":"5eed"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"tree_unavailable":{"task":"1.3","dispatch":9,"reason":"disk full"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"spent":{"task":"1.3","dispatch":9,"agent":"claude","usage":{"input":3300,"output":92,"cost_micros":19050},"session":{"id":"s-1"}}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"checks_passed":{"task":"1.3","warnings":["out of scope"],"judge":"reviewer","hooks_gone":[".git/hooks/pre-commit"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"found":{"task":"1.3","evidence":{"before":{"before":"green","tree":"7ree"}}}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"judge_started":{"task":"1.3","dispatch":9}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"no_verdict":{"task":"1.3","dispatch":9,"reason":"said neither yes nor no"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"judge_passed":{"task":"1.3","warnings":["nothing was changed for this task"],"unchanged":true,"next":"reviewer"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"landing_started":{"task":"1.3"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"landed":{"task":"1.3","touched":["src/a.rs"],"onto":"4ead","commit":"c0ffee"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"join_passed":{"task":"1.3","warnings":["careful"],"tree":"7ree"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"held_up":{"task":"1.3","files":["src/a.rs"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"task_done":{"task":"1.3","commit":"c0ffee"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"retry_planned":{"task":"1.3","attempt":3}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"fix_planned":{"fix":"1.3.1","failing":"1.3","error":"2 failed","attempted_fix":"npm i"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"fix_inserted":{"decl":{"id":"1.3.1","title":"do 1.3.1","kind":"work","verification":"command","ticked":false,"digest":1}}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"deferred":{"task":"1.3","by":"1.9"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"escalated":{"task":"1.3","question":"exhausted"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"answered":{"task":"1.3","response":{"fix":"trim"}}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"task_skipped":{"task":"1.3","reason":"no time","dependents":["1.4"]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"noted":{"task":"1.3","text":"it left a file"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"told":{"task":"1.3","text":"use tabs"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":"pause_requested"}
    {"at":"2026-01-26T14:30:00.5Z","what":{"skip_requested":{"task":"1.3"}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"limits_changed":{"limits":{"task_iterations_max":5,"fix_tasks_max":3,"fix_depth_max":3,"global_iterations_max":null,"unavailable_max":10,"unavailable_wait":{"secs":1,"nanos":0},"unavailable_wait_max":{"secs":300,"nanos":0},"returns_max":50,"time_max":null,"failure_chars_max":2000,"feedback_chars_max":10000},"jobs":2,"changes":[{"key":"jobs","from":"4","to":"2"}]}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"clock_moved":{"still_ms":9000,"set_ms":-60000}}}
    {"at":"2026-01-26T14:30:00.5Z","what":"regression_passed"}
    {"at":"2026-01-26T14:30:00.5Z","what":{"proved":{"head":"c0ffee","tree":"7ree","results":[{"task":"1.1","command":"npm test","verdict":{"green":{"exit_code":0}}},{"task":"1.2","command":"npm test","verdict":{"left_out":{"reason":"it asks git"}}},{"task":"1.3","command":"npm test","verdict":{"superseded":{"by":["1.6"],"exit_code":1,"error":"2 failed"}}},{"task":"1.4","command":"npm test","verdict":{"not_proved":{"reason":"no node_modules"}}},{"task":"1.5","command":"npm test","verdict":"not_reached"},{"task":"1.6","command":"npm test","verdict":{"red":{"exit_code":1,"error":"2 failed","differs":"`a.txt` is ignored by git"}}}],"linked":["node_modules"],"elapsed_ms":7}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"reopened":{"task":"1.3","failure":{"attempt":2,"at":"1970-01-01T00:00:00Z","cause":"verify_red","rung":"fix","error":"2 failed","details":"FAIL a\nFAIL b","command":"npm test","exit_code":1,"failing":{"items":[{"tool":"jest","stage":"test","name":"a.test.ts › adds"},{"tool":"cc","stage":"build","name":"a.c: error: no","line":3,"count":2}],"unlisted":4,"ran":{"jest":5}},"tree":"7ree","attempted_fix":"npm i","suggested_fix":"check null","root_cause":"no null check","blocked_by":"1.9","files":[{"path":"src/a.ts","state":"created"}],"learnings":["null is not empty"],"elapsed_ms":45000}}}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"pull_request":"begun"}}
    {"at":"2026-01-26T14:30:00.5Z","what":{"ended":{"complete":{"skipped":1}}}}
    "#);
}

#[test]
fn an_event_that_came_of_a_directive_tells_of_which() {
    let taken = Taken { id: DirectiveId(text("1769437800-7")), from: text("ada") };
    let by = Some(Box::new(taken));
    let event = Event { by, ..Event::new(Timestamp::UNIX_EPOCH, What::PauseRequested) };
    let line = serde_json::to_string(&event).expect("an event can be written");
    assert_eq!(serde_json::from_str::<Event>(&line).expect("it can be read"), event);
    assert_snapshot!(line, @r#"{"at":"1970-01-01T00:00:00Z","what":"pause_requested","by":{"id":"1769437800-7","from":"ada"}}"#);
}

#[test]
fn every_kind_of_end() {
    let task = task();
    let ends = [
        End::Stopped(StopReason::Retries { task: task.clone(), attempts: 5 }),
        End::Stopped(StopReason::FixTasks { task: task.clone(), limit: 3 }),
        End::Stopped(StopReason::FixDepth { task: task.clone(), limit: 3 }),
        End::Stopped(StopReason::Regression { error: text("red") }),
        End::Capped(CapKind::Iterations { limit: 100 }),
        End::Capped(CapKind::Time { seconds: 60 }),
        End::Waiting { task },
        End::Paused { from: text("ada") },
        End::Unavailable { reason: text("overloaded") },
        End::Aborted,
        End::Interrupted,
    ];
    let lines: Vec<String> =
        ends.iter().map(|end| serde_json::to_string(end).expect("it can be written")).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    {"stopped":{"retries":{"task":"1.3","attempts":5}}}
    {"stopped":{"fix_tasks":{"task":"1.3","limit":3}}}
    {"stopped":{"fix_depth":{"task":"1.3","limit":3}}}
    {"stopped":{"regression":{"error":"red"}}}
    {"capped":{"iterations":{"limit":100}}}
    {"capped":{"time":{"seconds":60}}}
    {"waiting":{"task":"1.3"}}
    {"paused":{"from":"ada"}}
    {"unavailable":{"reason":"overloaded"}}
    "aborted"
    "interrupted"
    "#);
}

fn questions() -> [Question; 15] {
    [
        Question::Exhausted,
        Question::PermissionDenied,
        Question::Judge,
        Question::HooksGone,
        Question::Mended,
        Question::Checkpoint,
        Question::HistoryRewritten,
        Question::Blocked,
        Question::Impossible,
        Question::ConflictingRequirements,
        Question::ServiceUnavailable,
        Question::VerifyCannotStart,
        Question::RedBefore,
        Question::NotProved,
        Question::InTheWay,
    ]
}

#[test]
fn every_word() {
    use Cause as C;
    let causes = [
        C::ClaimedFailure,
        C::NoSignal,
        C::BadExit,
        C::AgentTimeout,
        C::VerificationFail,
        C::VerifyRed,
        C::VerifyTimeout,
        C::ProvesNothing,
        C::Contradiction,
        C::Tampered,
        C::Bookkeeping,
        C::OutOfScope,
        C::ReviewerRejected,
        C::PermissionDenied,
        C::Blocked,
        C::Impossible,
        C::ConflictingRequirements,
        C::ServiceUnavailable,
        C::CommitRefused,
        C::NotProved,
    ];
    let responses = [
        Response::Retry,
        Response::Skip,
        Response::Abort,
        Response::Fix(text("so")),
        Response::Approve,
        Response::Reject(text("no")),
        Response::Reply(text("blue")),
    ];
    let lines = [
        words(&causes),
        words(&[Rung::Retry, Rung::Fix, Rung::Ask]),
        words(&responses),
        words(&questions()),
        words(&[Judge::Qa, Judge::Reviewer, Judge::Person]),
        words(&[Role::Executor, Role::Qa, Role::Reviewer, Role::Planner]),
        words(&[Recovery::Off, Recovery::On]),
        words(&[OnExhausted::Stop, OnExhausted::Ask]),
        words(&[OnEscalation::Ask, OnEscalation::Pause, OnEscalation::Skip, OnEscalation::Abort]),
        words(&[Unverifiable::Agent, Unverifiable::Ask, Unverifiable::Refuse]),
        words(&[TaskKind::Work, TaskKind::Verify, TaskKind::Checkpoint]),
        words(&[Isolation::Trees, Isolation::Always, Isolation::Shared]),
        words(&[Dialect::Spec, Dialect::Phase]),
    ];
    assert_snapshot!(lines.join("\n"), @r#"
    ["claimed_failure","no_signal","bad_exit","agent_timeout","verification_fail","verify_red","verify_timeout","proves_nothing","contradiction","tampered","bookkeeping","out_of_scope","reviewer_rejected","permission_denied","blocked","impossible","conflicting_requirements","service_unavailable","commit_refused","not_proved"]
    ["retry","fix","ask"]
    ["retry","skip","abort",{"fix":"so"},"approve",{"reject":"no"},{"reply":"blue"}]
    ["exhausted","permission_denied","judge","hooks_gone","mended","checkpoint","history_rewritten","blocked","impossible","conflicting_requirements","service_unavailable","verify_cannot_start","red_before","not_proved","in_the_way"]
    ["qa","reviewer","person"]
    ["executor","qa","reviewer","planner"]
    ["off","on"]
    ["stop","ask"]
    ["ask","pause","skip","abort"]
    ["agent","ask","refuse"]
    ["work","verify","checkpoint"]
    ["trees","always","shared"]
    ["spec","phase"]
    "#);
}

/// The events of a journal as the first version wrote them.
const FIRST_VERSION: &str = include_str!("../fixtures/journal-v1.jsonl");

#[test]
fn the_journal_of_the_first_version_can_be_read() {
    let mut state = State::default();
    let mut kinds = BTreeSet::new();
    for line in FIRST_VERSION.lines() {
        let event: Event = serde_json::from_str(line).expect("an old event can be read");
        kinds.insert(format!("{:?}", event.what).split([' ', '(']).next().map(str::to_owned));
        state.apply(&event).expect("an old event can be applied");
    }
    assert_eq!(state.end(), Some(&End::Complete { skipped: 0 }));
    assert!(state.tasks().iter().all(|task| task.status == Status::Done));
    assert!(kinds.len() > 15, "it has most kinds of events: {}", kinds.len());
    let summary = Summary::of(&state);
    assert_snapshot!(format!("{summary:?}"), @r#"Summary { originals: 4, originals_done: 4, fixes: 2, fixes_done: 2, skipped: 0, attempts: 9, failed_attempts: 3, warnings: Warnings { named: [], more: 0, passing: [] }, elapsed: 858s, usage: Usage { input: None, cached: None, output: None, cost_micros: None }, fixed: [(TaskId { name: "1.1", occurrence: 1 }, [TaskId { name: "1.1.1", occurrence: 1 }]), (TaskId { name: "1.3", occurrence: 1 }, [TaskId { name: "1.3.1", occurrence: 1 }])] }"#);
}

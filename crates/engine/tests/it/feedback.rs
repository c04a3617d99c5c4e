//! The `<retry_context>` block, byte for byte.

use std::collections::BTreeMap;

use engine::{
    AgentEnd, AgentReport, Attempt, Cause, Claim, Dispatch, Event, Failing, Failure, FileState, Item,
    ItemStage, Limits, Observation, Opened, PlanChanges, Question, Recovery, Response, Role, Rules, Rung,
    Seen, Started, State, Tool, What, decide, retry_context,
};
use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};

use crate::scenario::named;
use crate::script::plan;

/// The seed's example: two of three tests fail.
fn failure(attempt: u32) -> Failure {
    let begin: Timestamp = "2026-01-26T14:28:00.25Z".parse().expect("a valid timestamp");
    Failure {
        attempt: Attempt(attempt),
        at: begin.checked_add(SignedDuration::from_mins(2 * i64::from(attempt))).expect("a valid timestamp"),
        cause: Cause::VerifyRed,
        rung: Rung::Retry,
        error: "1 passed, 2 failed".to_owned(),
        details: "FAIL tests/PlannerId.test.ts\n- InvalidPlannerIdError not thrown for empty string\n\
                  - InvalidPlannerIdError not thrown for null\n"
            .to_owned(),
        command: Some("npm test -- PlannerId".to_owned()),
        exit_code: Some(1),
        failing: Failing::default(),
        tree: None,
        attempted_fix: None,
        suggested_fix: Some(
            "Add validation for empty string and null inputs in PlannerId constructor".to_owned(),
        ),
        root_cause: None,
        blocked_by: None,
        files: vec![FileState {
            path: "src/domain/PlannerId.ts".to_owned(),
            state: "partially modified".to_owned(),
        }],
        learnings: vec!["uuid.validate() returns false for empty string but does not throw".to_owned()],
        elapsed_ms: 45_000,
    }
}

fn rules() -> Rules {
    Rules { limits: Limits { task_iterations_max: 3, ..Limits::default() }, ..Rules::default() }
}

/// A state in which the task `1.1` has these failures.
fn failed(rules: Rules, failures: Vec<Failure>) -> State {
    let mut state = State::default();
    let changes = PlanChanges { added: plan(&["1.1", "1.2"]), ..PlanChanges::default() };
    let (launch, dirty, lost) = (BTreeMap::new(), Vec::new(), Vec::new());
    let opened = Opened {
        round: 1,
        rules,
        launch,
        changes,
        dirty,
        lost,
        gone: vec![],
        outdated: vec![],
        head: None,
        surroundings: None,
    };
    happen(&mut state, What::Opened(Box::new(opened)));
    for failure in failures {
        start(&mut state, failure.attempt);
        let failure = Box::new(failure);
        happen(&mut state, What::AttemptFailed { task: "1.1".into(), failure, touched: Vec::new() });
        happen(&mut state, What::RetryPlanned { task: "1.1".into(), attempt: Attempt(0) });
    }
    state
}

fn start(state: &mut State, attempt: Attempt) {
    let (role, dispatch) = (Role::Executor, Dispatch(attempt.0));
    let started = Started {
        task: "1.1".into(),
        attempt,
        dispatch,
        role,
        head: None,
        tree: None,
        hooks: vec![],
        slot: None,
    };
    happen(state, What::AttemptStarted(started));
}

fn happen(state: &mut State, what: What) {
    state.apply(&Event::new(Timestamp::UNIX_EPOCH, what)).expect("this can happen");
}

fn feedback(state: &State) -> String {
    let task = state.task(&"1.1".into()).expect("it is there");
    retry_context(state, task, task.next_attempt()).expect("it has a history")
}

#[test]
fn nothing_to_tell() {
    let state = failed(rules(), vec![failure(1)]);
    let other = state.task(&"1.2".into()).expect("it is there");
    assert_eq!(retry_context(&state, other, Attempt(1)), None);
}

#[test]
fn first_retry_as_in_the_seed() {
    let mut first = failure(1);
    first
        .learnings
        .push("Constructor must explicitly check for null/undefined before UUID validation".to_owned());
    assert_snapshot!(feedback(&failed(rules(), vec![first])), @r#"
    <retry_context attempt="2" max_attempts="3">
      <previous_failures>
        <failure attempt="1">
          <type>verification_failed</type>
          <timestamp>2026-01-26T14:30:00Z</timestamp>
          <error_summary>
            npm test -- PlannerId returned exit code 1
            1 passed, 2 failed
          </error_summary>
          <error_details>
            FAIL tests/PlannerId.test.ts
            - InvalidPlannerIdError not thrown for empty string
            - InvalidPlannerIdError not thrown for null
          </error_details>
          <files_affected>
            - src/domain/PlannerId.ts (partially modified)
          </files_affected>
          <suggested_fix>
            Add validation for empty string and null inputs in PlannerId constructor
          </suggested_fix>
        </failure>
      </previous_failures>

      <accumulated_learnings>
        - uuid.validate() returns false for empty string but does not throw
        - Constructor must explicitly check for null/undefined before UUID validation
      </accumulated_learnings>

      <instruction>
        This is retry attempt 2 of 3.
        Review the previous failure(s) above.
        Address the specific issues before re-executing.
        If you believe the task is impossible, report status: blocked.
      </instruction>
    </retry_context>
    "#);
}

#[test]
fn second_retry() {
    let second = Failure {
        cause: Cause::ClaimedFailure,
        error: "cannot import <uuid> & friends".to_owned(),
        details: "tried:\n\n  npm i uuid && npm test\r\n".to_owned(),
        command: None,
        exit_code: None,
        suggested_fix: None,
        files: Vec::new(),
        learnings: vec![
            "uuid.validate()  returns false for\nempty string but does not throw".to_owned(),
            "the registry is a mirror".to_owned(),
        ],
        ..failure(2)
    };
    assert_snapshot!(feedback(&failed(rules(), vec![failure(1), second])), @r#"
    <retry_context attempt="3" max_attempts="3">
      <previous_failures>
        <failure attempt="1">
          <type>verification_failed</type>
          <timestamp>2026-01-26T14:30:00Z</timestamp>
          <error_summary>
            npm test -- PlannerId returned exit code 1
            1 passed, 2 failed
          </error_summary>
          <error_details>
            FAIL tests/PlannerId.test.ts
            - InvalidPlannerIdError not thrown for empty string
            - InvalidPlannerIdError not thrown for null
          </error_details>
          <files_affected>
            - src/domain/PlannerId.ts (partially modified)
          </files_affected>
          <suggested_fix>
            Add validation for empty string and null inputs in PlannerId constructor
          </suggested_fix>
        </failure>
        <failure attempt="2">
          <type>execution_error</type>
          <timestamp>2026-01-26T14:32:00Z</timestamp>
          <error_summary>
            cannot import &lt;uuid&gt; &amp; friends
          </error_summary>
          <error_details>
            tried:

              npm i uuid &amp;&amp; npm test
          </error_details>
        </failure>
      </previous_failures>

      <accumulated_learnings>
        - uuid.validate() returns false for empty string but does not throw
        - the registry is a mirror
      </accumulated_learnings>

      <instruction>
        This is retry attempt 3 of 3.
        Review the previous failure(s) above.
        Address the specific issues before re-executing.
        If you believe the task is impossible, report status: blocked.
      </instruction>
    </retry_context>
    "#);
}

#[test]
fn after_a_fix_task() {
    let world = named("one fix").world().run();
    let mut state = State::default();
    for event in &world.journal {
        state.apply(event).expect("this has happened");
        if let What::AttemptStarted(started) = &event.what
            && started.attempt == Attempt(2)
        {
            break;
        }
    }
    let task = state.task(&"1.1".into()).expect("it is there");
    assert_snapshot!(retry_context(&state, task, Attempt(2)).expect("it has a history"), @r#"
    <retry_context attempt="2" max_attempts="6">
      <previous_failures>
        <failure attempt="1">
          <type>execution_error</type>
          <timestamp>2026-01-26T14:31:01Z</timestamp>
          <error_summary>
            boom
          </error_summary>
          <error_details>
            FAILED: boom
          </error_details>
          <files_affected>
            - src/1.1.rs (partially modified)
          </files_affected>
        </failure>
      </previous_failures>

      <instruction>
        This is retry attempt 2 of 6.
        Review the previous failure(s) above.
        Address the specific issues before re-executing.
        If you believe the task is impossible, report status: blocked.
      </instruction>
    </retry_context>
    "#);
}

/// Whoever repairs knows what whoever tries again knows, and more: what has failed before what it is to fix.
#[test]
fn what_a_fix_is_told() {
    let world = named("a fix of a fix").world().run();
    let mut state = State::default();
    let mut told = Vec::new();
    for event in &world.journal {
        state.apply(event).expect("this has happened");
        if let What::AttemptStarted(started) = &event.what
            && started.task.name() == "1.1.1.1"
        {
            let task = state.task(&started.task).expect("it was just started");
            told.extend(retry_context(&state, task, started.attempt));
        }
    }
    assert_snapshot!(told.concat(), @r#"
    <retry_context attempt="1" max_attempts="6">
      <previous_failures>
        <failure task="1.1" attempt="1">
          <type>execution_error</type>
          <timestamp>2026-01-26T14:31:01Z</timestamp>
          <error_summary>
            boom
          </error_summary>
          <error_details>
            FAILED: boom
          </error_details>
          <files_affected>
            - src/1.1.rs (partially modified)
          </files_affected>
        </failure>
        <failure task="1.1.1" attempt="1">
          <type>execution_error</type>
          <timestamp>2026-01-26T14:32:03Z</timestamp>
          <error_summary>
            bang
          </error_summary>
          <error_details>
            FAILED: bang
          </error_details>
          <files_affected>
            - src/1.1.1.rs (partially modified)
          </files_affected>
        </failure>
      </previous_failures>

      <instruction>
        This task repairs what made task 1.1.1 fail.
        Review the previous failure(s) above.
        Address the specific issues; task 1.1.1 is executed again afterwards.
        If you believe the task is impossible, report status: blocked.
      </instruction>
    </retry_context>
    "#);
}

#[test]
fn all_that_fails_is_named_and_the_output_begins_with_it() {
    let item = |name: &str| Item {
        tool: Tool::Pytest,
        stage: ItemStage::Test,
        name: name.to_owned(),
        line: None,
        count: 1,
    };
    let failing = Failing { items: vec![item("a.py::test_a"), item("a.py::test_b")], ..Failing::default() };
    let details = format!("____ test_a ____\n{}", "a line of output\n".repeat(1_000));
    let error = "a.py::test_a - assert 0 == 4".to_owned();
    let text = feedback(&failed(rules(), vec![Failure { failing, details, error, ..failure(1) }]));
    let summary = "        a.py::test_a - assert 0 == 4\n        2 items fail:\n        - a.py::test_a\n        - a.py::test_b\n";
    assert!(text.contains(summary), "{text}");
    assert!(text.contains("<error_details>\n        ____ test_a ____\n"), "{text}");
}

/// The same after one more failure, a question, and the seed's instruction.
fn instructed(failures: Vec<Failure>, last: Failure) -> State {
    let mut state = failed(rules(), failures);
    start(&mut state, last.attempt);
    let last = Box::new(last);
    happen(&mut state, What::AttemptFailed { task: "1.1".into(), failure: last, touched: Vec::new() });
    happen(&mut state, What::Escalated { task: "1.1".into(), question: Question::Exhausted });
    let response = Response::Fix("Check for whitespace using .trim() before UUID validation".to_owned());
    happen(&mut state, What::Answered { task: "1.1".into(), response });
    state
}

#[test]
fn after_an_answer() {
    let short = |attempt| Failure {
        details: String::new(),
        suggested_fix: None,
        files: Vec::new(),
        learnings: Vec::new(),
        ..failure(attempt)
    };
    assert_snapshot!(feedback(&instructed(vec![short(1), short(2)], short(3))), @r#"
    <retry_context attempt="4" max_attempts="4">
      <user_intervention>
        <instruction priority="high">
          User provided fix: Check for whitespace using .trim() before UUID validation
        </instruction>
        <context>
          This instruction comes from the user after automated recovery failed.
          Treat this as authoritative guidance.
        </context>
      </user_intervention>

      <previous_failures>
        <failure attempt="1">
          <type>verification_failed</type>
          <timestamp>2026-01-26T14:30:00Z</timestamp>
          <error_summary>
            npm test -- PlannerId returned exit code 1
            1 passed, 2 failed
          </error_summary>
        </failure>
        <failure attempt="2">
          <type>verification_failed</type>
          <timestamp>2026-01-26T14:32:00Z</timestamp>
          <error_summary>
            npm test -- PlannerId returned exit code 1
            1 passed, 2 failed
          </error_summary>
        </failure>
        <failure attempt="3">
          <type>verification_failed</type>
          <timestamp>2026-01-26T14:34:00Z</timestamp>
          <error_summary>
            npm test -- PlannerId returned exit code 1
            1 passed, 2 failed
          </error_summary>
        </failure>
      </previous_failures>
    </retry_context>
    "#);
}

#[test]
fn an_answer_does_not_push_out_what_was_learned() {
    assert_snapshot!(feedback(&instructed(Vec::new(), failure(1))), @r#"
    <retry_context attempt="2" max_attempts="2">
      <user_intervention>
        <instruction priority="high">
          User provided fix: Check for whitespace using .trim() before UUID validation
        </instruction>
        <context>
          This instruction comes from the user after automated recovery failed.
          Treat this as authoritative guidance.
        </context>
      </user_intervention>

      <previous_failures>
        <failure attempt="1">
          <type>verification_failed</type>
          <timestamp>2026-01-26T14:30:00Z</timestamp>
          <error_summary>
            npm test -- PlannerId returned exit code 1
            1 passed, 2 failed
          </error_summary>
          <error_details>
            FAIL tests/PlannerId.test.ts
            - InvalidPlannerIdError not thrown for empty string
            - InvalidPlannerIdError not thrown for null
          </error_details>
          <files_affected>
            - src/domain/PlannerId.ts (partially modified)
          </files_affected>
          <suggested_fix>
            Add validation for empty string and null inputs in PlannerId constructor
          </suggested_fix>
        </failure>
      </previous_failures>

      <accumulated_learnings>
        - uuid.validate() returns false for empty string but does not throw
      </accumulated_learnings>
    </retry_context>
    "#);
}

/// A checkpoint has no history: there is only what the person says.
#[test]
fn an_instruction_at_a_checkpoint() {
    let mut state = State::default();
    let (launch, dirty, lost) = (BTreeMap::new(), Vec::new(), Vec::new());
    let changes = PlanChanges { added: plan(&["1.1 checkpoint"]), ..PlanChanges::default() };
    let opened = Opened {
        round: 1,
        rules: rules(),
        launch,
        changes,
        dirty,
        lost,
        gone: vec![],
        outdated: vec![],
        head: None,
        surroundings: None,
    };
    happen(&mut state, What::Opened(Box::new(opened)));
    happen(&mut state, What::Escalated { task: "1.1".into(), question: Question::Checkpoint });
    let response = Response::Fix("make <b> bold".to_owned());
    happen(&mut state, What::Answered { task: "1.1".into(), response });
    assert_snapshot!(feedback(&state), @r#"
    <retry_context attempt="1" max_attempts="1">
      <user_intervention>
        <instruction priority="high">
          User provided fix: make &lt;b&gt; bold
        </instruction>
        <context>
          This instruction comes from the user after automated recovery failed.
          Treat this as authoritative guidance.
        </context>
      </user_intervention>
    </retry_context>
    "#);
}

/// What an agent suggests in its result is what the next attempt is told.
#[test]
fn a_result_with_a_suggestion() {
    let text = "Two tests are red.\n\n```yaml\nstatus: failure\nerror: \"Cannot find module 'uuid'\"\n\
                root_cause_guess: Missing dependency\nsuggested_fix: Run npm install uuid\n```\n";
    let mut state = failed(Rules { dialect: engine::Dialect::Phase, ..rules() }, Vec::new());
    start(&mut state, Attempt(1));
    let end = AgentEnd::Answered {
        claim: Claim::read(text, engine::Dialect::Phase, engine::Role::Executor),
        contradiction: None,
        tail: "Two tests are red.".to_owned(),
    };
    let learnings = vec!["the registry is a mirror".to_owned()];
    let (tampered, touched, elapsed) = (Vec::new(), Vec::new(), std::time::Duration::ZERO);
    let report = AgentReport { end, tampered, lost_commit: None, touched, learnings, elapsed, unfit: None };
    let seen = Seen::AgentEnded { task: "1.1".into(), dispatch: Dispatch(1), report };
    let failed = decide(&state, Observation { at: failure(1).at, seen }).expect("it failed");
    state.apply(&failed).expect("this can happen");
    assert_eq!(
        state.tasks()[0].failures[0].root_cause.as_deref(),
        Some("Missing dependency"),
        "for the record, not for the feedback"
    );
    assert_snapshot!(feedback(&state), @r#"
    <retry_context attempt="2" max_attempts="3">
      <previous_failures>
        <failure attempt="1">
          <type>execution_error</type>
          <timestamp>2026-01-26T14:30:00Z</timestamp>
          <error_summary>
            Cannot find module 'uuid'
          </error_summary>
          <error_details>
            Two tests are red.
          </error_details>
          <suggested_fix>
            Run npm install uuid
          </suggested_fix>
        </failure>
      </previous_failures>

      <accumulated_learnings>
        - the registry is a mirror
      </accumulated_learnings>

      <instruction>
        This is retry attempt 2 of 3.
        Review the previous failure(s) above.
        Address the specific issues before re-executing.
        If you believe the task is impossible, report status: blocked.
      </instruction>
    </retry_context>
    "#);
}

#[test]
fn the_red_command_of_a_verify_task() {
    let world = named("verify red, QA repairs").world().run();
    let mut state = State::default();
    world.journal.iter().take(3).for_each(|event| state.apply(event).expect("this has happened"));
    assert_snapshot!(feedback(&state), @r#"
    <retry_context attempt="1" max_attempts="3">
      <previous_failures>
        <failure attempt="1">
          <type>verification_failed</type>
          <timestamp>2026-01-26T14:30:06Z</timestamp>
          <error_summary>
            cargo test returned exit code 101
            lint
          </error_summary>
          <error_details>
            output of the command:
            lint
          </error_details>
        </failure>
      </previous_failures>

      <instruction>
        This is retry attempt 1 of 3.
        Review the previous failure(s) above.
        Address the specific issues before re-executing.
        If you believe the task is impossible, report status: blocked.
      </instruction>
    </retry_context>
    "#);
}

#[test]
fn max_attempts_is_the_last_one_that_the_limits_allow() {
    #[track_caller]
    fn check(rules: Rules, failures: u32, expected: &str) {
        let text = feedback(&failed(rules, (1..=failures).map(failure).collect()));
        assert!(text.starts_with(&format!("<retry_context {expected}>\n")), "{text}");
    }
    check(rules(), 1, r#"attempt="2" max_attempts="3""#);
    check(rules(), 2, r#"attempt="3" max_attempts="3""#);
    let with_fixes = Rules { recovery: Recovery::On, ..rules() };
    check(with_fixes, 1, r#"attempt="2" max_attempts="6""#);
    let endless = Limits { task_iterations_max: u32::MAX, fix_tasks_max: u32::MAX, ..Limits::default() };
    let endless = Rules { limits: endless, recovery: Recovery::On, ..rules() };
    check(endless, 1, r#"attempt="2" max_attempts="4294967295""#);
}

#[test]
fn the_end_of_a_long_output_is_kept() {
    let long =
        Failure { details: format!("{}\nthe error\n", "a line of output\n".repeat(1_000)), ..failure(1) };
    let text = feedback(&failed(rules(), vec![long]));
    assert!(text.contains("        the error\n      </error_details>"), "{text}");
}

#[test]
fn the_oldest_is_left_out_first() {
    let long = |attempt| Failure {
        details: format!("{} attempt {attempt}", "<&> ".repeat(1_000)),
        learnings: vec![format!("{} {attempt}", "long ".repeat(500))],
        ..failure(attempt)
    };
    let limits = Limits { task_iterations_max: 20, ..Limits::default() };
    let state = failed(Rules { limits, ..rules() }, (1..=12).map(long).collect());
    let text = feedback(&state);
    assert!(text.chars().count() <= 10_000);
    assert!(text.chars().count() > 6_000, "the room is used: {}", text.chars().count());
    assert!(text.contains("<failure attempt=\"12\">") && !text.contains("<failure attempt=\"1\">"));
    assert!(text.contains("<accumulated_learnings>"));
}

/// The seed shows the block of a first retry; ours is the same text.
#[test]
#[expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "the seed is read where it lies")]
fn the_seed_has_the_same_words() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/seeds/004_8e9b22c0747dd0f2.txt");
    let Ok(seed) = std::fs::read_to_string(path) else {
        println!("skipped: {path} is not here");
        return;
    };
    let mut first = failure(1);
    first
        .learnings
        .push("Constructor must explicitly check for null/undefined before UUID validation".to_owned());
    let block = feedback(&failed(rules(), vec![first]));
    assert!(seed.contains(&format!("```xml\n{block}```\n")), "{block}");

    // Of the block after a person's instruction the seed shows all but the failures.
    let block = feedback(&instructed(vec![failure(1), failure(2)], failure(3)));
    let (head, rest) = block.split_once("    <failure attempt=\"1\">").expect("it has failures");
    let (_, tail) = rest.rsplit_once("    </failure>\n").expect("they are closed");
    let tail = tail.split_once("\n  <accumulated_learnings>").map_or(tail, |(tail, _)| tail);
    let shown = format!("```xml\n{head}    <!-- Previous 3 failures included -->\n{tail}");
    assert!(seed.contains(&shown), "{shown}");
}

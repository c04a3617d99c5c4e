//! Several plans in one go: one after another or side by side, with one summary and one exit code for all.

use std::path::Path;

use serde_json::Value;
use testkit::{Agent, Finished, Sandbox, Signal, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

/// Plans of one task each, by name and id; it is done when a file of its own holds the word `good`.
const PLANS: [(&str, &str); 3] = [("alpha", "1.1"), ("beta", "2.1"), ("gamma", "3.1")];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    for (name, id) in PLANS {
        sandbox.spec(
            name,
            &format!("# Tasks\n\n- [ ] {id} Make {name}\n  - **Verify**: `grep -q good {id}.txt`\n"),
        );
    }
    sandbox.commit_all("plans");
    sandbox
}

fn good(id: &str) -> [Step; 2] {
    [Step::write(&format!("{id}.txt"), "good\n"), Step::say("TASK_COMPLETE")]
}

fn all_good() -> Agent {
    all_good_but(Agent::new())
}

/// The agent, which does well what it does not do otherwise.
fn all_good_but(agent: Agent) -> Agent {
    PLANS.iter().fold(agent, |agent, (_, id)| agent.on(id, good(id)))
}

fn run(sandbox: &Sandbox, agent: &Agent, arguments: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", "--agent-cmd", &command, "--max-task-iterations", "1"], arguments].concat())
}

/// The tasks that agents were started for, in order.
fn worked_on(sandbox: &Sandbox) -> Vec<String> {
    sandbox.agent_calls().into_iter().map(|call| call.task).collect()
}

#[track_caller]
fn expect_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn plans_are_run_in_the_order_in_which_they_are_named() {
    let sandbox = sandbox();
    let finished = run(&sandbox, &all_good(), &["gamma", "alpha", "specs/gamma", "beta"]).expect_code(0);
    assert_eq!(worked_on(&sandbox), ["3.1", "1.1", "2.1"]);
    assert_eq!(finished.stdout.matches("ALL_TASKS_COMPLETE").count(), 1, "{finished}");
    assert!(finished.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{finished}");
    expect_parts(
        &finished.stdout,
        &["3 of 3 plans complete: ", "\n  gamma  1/1  complete\n  alpha  1/1  complete\n"],
    );
    expect_parts(&finished.stderr, &["Plan 1 of 3: gamma\n", "Plan 3 of 3: beta\n"]);
    let again = sandbox.run(&["run", "specs"]).expect_code(2);
    expect_parts(&again.stderr, &["3 plans below specs, complete already"]);
}

#[test]
fn no_plan_begins_behind_one_that_stops() {
    let sandbox = sandbox();
    let agent = all_good_but(Agent::new().on("2.1", [Step::say("I do not know how.")]));
    let finished = run(&sandbox, &agent, &["specs"]).expect_code(1);
    assert_eq!(worked_on(&sandbox), ["1.1", "2.1"]);
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    expect_parts(&finished.stdout, &["1 of 3 plans complete", "\n  gamma  0/1  not started\n"]);
    let hint = "`tillgreen run beta gamma`; `--keep-going` goes on with the others";
    expect_parts(
        &finished.stderr,
        &["ERROR: Max retries reached for task 2.1", "2 of 3 plans not complete", hint],
    );
    run(&sandbox, &agent, &["specs", "--keep-going"]).expect_code(1);
    assert_eq!(worked_on(&sandbox), ["1.1", "2.1", "2.1", "3.1"], "alpha is complete, gamma is gone on with");
}

#[test]
fn a_plan_that_asks_is_left_until_somebody_comes() {
    let sandbox = sandbox();
    let agent = all_good_but(Agent::new().on("1.1", [Step::say("I do not know how.")]));
    let flags = ["--on-exhausted", "ask", "--keep-going", "alpha", "beta"];
    let finished = run(&sandbox, &agent, &flags).expect_code(3);
    assert_eq!(worked_on(&sandbox), ["1.1", "2.1"]);
    expect_parts(&finished.stdout, &["\n  alpha  0/1  paused: task 1.1 waits for an answer\n"]);
    expect_parts(
        &finished.stderr,
        &["## Task Escalation Required", "`tillgreen status alpha` shows what is asked"],
    );
    sandbox.install_agent(&all_good());
    sandbox.run(&["answer", "alpha", "retry"]).expect_code(0);
}

#[test]
fn side_by_side_each_is_at_work_while_the_others_are() {
    let sandbox = sandbox();
    let (alpha, beta) = (sandbox.control("alpha"), sandbox.control("beta"));
    let meets = |own: &Path, other: &Path, id: &str| {
        let [work, word] = good(id);
        [Step::write(&own.display().to_string(), ""), Step::await_file(other), work, word]
    };
    let agent = Agent::new().on("1.1", meets(&alpha, &beta, "1.1")).on("2.1", meets(&beta, &alpha, "2.1"));
    let finished = run(&sandbox, &agent, &["alpha", "beta", "--side-by-side", "--jobs", "2"]).expect_code(0);
    expect_parts(&finished.stderr, &["\nalpha: Beginning execution", "\nbeta: Beginning execution"]);
    expect_parts(&finished.stderr, &["✓ 1.1 done", "✓ 2.1 done"]);
    assert_eq!(finished.stdout.matches("ALL_TASKS_COMPLETE").count(), 1, "{finished}");
    assert_eq!(sandbox.dirt(), [""; 0], "{finished}");
    let subjects = sandbox.subjects();
    assert_eq!(subjects.iter().filter(|subject| subject.contains("): make ")).count(), 2, "{subjects:?}");
}

#[test]
fn programs_are_told_whose_event_it_is() {
    let sandbox = sandbox();
    let finished = run(&sandbox, &all_good(), &["alpha", "beta", "--format", "json"]).expect_code(0);
    let lines: Vec<Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON value a line"))
        .collect();
    let (summary, events) = lines.split_last().expect("there are lines");
    let of = |name: &str| {
        let is_done =
            |line: &&Value| line["plan"] == name && line["event"]["what"].get("task_done").is_some();
        events.iter().filter(is_done).count()
    };
    assert_eq!((of("alpha"), of("beta")), (1, 1), "{finished}");
    let states: Vec<&Value> =
        summary["plans"].as_array().expect("rows").iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["complete", "complete"]);
}

#[test]
fn nothing_is_started_where_one_of_them_cannot_be() {
    let sandbox = sandbox();
    sandbox.spec("odd", "# Tasks\n\n- [ ] 1.1 One\n- [ ] 1.1 Two\n  - **Depends on**: 9.9\n");
    sandbox.spec("empty", "# Tasks\n");
    sandbox.commit_all("more");
    let table: [(&[&str], &str); 4] = [
        (&["alpha", "nosuch"], "Spec directory missing"),
        (&["alpha", "empty"], "specs/empty/tasks.md has errors"),
        (&["alpha", "beta", "--junit", "out.xml"], "--junit is about one plan"),
        (&["alpha", "beta", "--pr"], "--pr is about one plan"),
    ];
    for (arguments, said) in table {
        let finished = run(&sandbox, &all_good(), arguments).expect_code(2);
        assert!(finished.stderr.contains(said), "{arguments:?}: {finished}");
    }
    assert_eq!(worked_on(&sandbox), [""; 0]);
}

#[test]
fn an_interruption_is_for_all() {
    for (id, complete, worked) in [("1.1", 0, &["1.1"][..]), ("2.1", 1, &["1.1", "2.1"])] {
        let sandbox = sandbox();
        let (there, gate) = (sandbox.control("there"), sandbox.control("gate"));
        let waits = [Step::write(&there.display().to_string(), ""), Step::await_file(&gate)];
        let command = sandbox.install_agent(&all_good_but(Agent::new().on(id, waits)));
        let mut run = sandbox.start(&["run", "specs", "--keep-going", "--agent-cmd", &command]);
        wait_for("the agent", || there.exists());
        run.signal(Signal::Interrupt);
        let finished = run.wait().expect_code(130);
        let complete = format!("{complete} of 3 plans complete");
        expect_parts(&finished.stdout, &[&complete, "  gamma  0/1  not started\n"]);
        assert_eq!(worked_on(&sandbox), worked);
    }
}

#[test]
fn an_interruption_at_the_last_proof_keeps_the_next_plan_from_beginning() {
    let sandbox = sandbox();
    let there = sandbox.control("there");
    let verify =
        format!("grep -q good 1.1.txt && {{ test -d .git || {{ touch '{}'; sleep 5; }}; }}", there.display());
    sandbox.spec("alpha", &format!("# Tasks\n\n- [ ] 1.1 Make alpha\n  - **Verify**: `{verify}`\n"));
    sandbox.commit_all("a proof that takes its time");
    let command = sandbox.install_agent(&all_good());
    let mut run = sandbox.start(&["run", "alpha", "beta", "--agent-cmd", &command]);
    wait_for("the proof", || there.exists());
    run.signal(Signal::Interrupt);
    let finished = run.wait().expect_code(130);
    expect_parts(&finished.stdout, &["  beta   0/1  not started\n"]);
    assert_eq!(worked_on(&sandbox), ["1.1"]);
}

#[test]
fn what_a_plan_leaves_behind_keeps_no_other_from_being_done() {
    let sandbox = sandbox();
    let stuck = [Step::write("half.txt", "half\n"), Step::say("I do not know how.")];
    let agent = all_good_but(Agent::new().on("1.1", stuck));
    let finished = run(&sandbox, &agent, &["specs", "--keep-going"]).expect_code(1);
    expect_parts(&finished.stdout, &["2 of 3 plans complete"]);
    assert_eq!(worked_on(&sandbox), ["1.1", "2.1", "3.1"]);
}

//! Plans of other tools, run where they lie: to green by an agent that works, and refused or named where it lies.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step};

const SPEC_KIT: &str = "# Tasks: Photos

**Input**: Design documents from `/specs/001-photos/`

## Phase 1: Setup

- [ ] T001 Create the structure per plan.md in src/

## Phase 2: User Story 1 - Keep photos (Priority: P1)

**Independent Test**: `grep -q photo src/photo.txt` passes

- [ ] T002 [P] [US1] Write the model in src/photo.txt
- [ ] T003 [US1] Write the service in src/service.txt (depends on T002)

**Checkpoint**: photos are kept

## Phase 3: Polish

- [ ] T004 Verify `test -f src/service.txt`

## Validation Checklist

- [ ] Every story has its test
";

const OPEN_SPEC: &str = "## 1. Implementation

- [ ] 1.1 Write `album.txt`
  - [ ] with a title
- [ ] 1.2 Write `index.txt`

## 2. Validation

- [ ] 2.1 Check `grep -q title album.txt`
";

const KIRO: &str = "# Implementation Plan

- [ ] 1. Build the album
  - Keep it small
  - [ ] 1.1 Write `album.txt`
    - refuse what has no title
    - _Requirements: 1.2_
  - [ ]* 1.2 Write property tests
- [ ] 2. Write `index.txt`
  - _Requirements: 1.1_
";

fn sandbox(plan: &str, tasks: &str, others: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.write(plan, tasks);
    others.iter().for_each(|(path, text)| sandbox.write(path, text));
    sandbox.commit_all("plan");
    sandbox
}

fn spec_kit() -> Sandbox {
    let spec = "# Spec\n\n### User Story 1 - Keep photos\n\nNo photo is lost.\n\n### User Story 2 - Share\n";
    let others = [
        ("specs/001-photos/spec.md", spec),
        ("specs/001-photos/plan.md", "# Plan\n"),
        (".specify/memory/constitution.md", "# Constitution\n"),
    ];
    let sandbox = sandbox("specs/001-photos/tasks.md", SPEC_KIT, &others);
    sandbox.git(&["switch", "--quiet", "--create", "001-photos"]);
    sandbox
}

fn open_spec() -> Sandbox {
    let proposal = ("openspec/changes/add-album/proposal.md", "# Why\n");
    sandbox("openspec/changes/add-album/tasks.md", OPEN_SPEC, &[proposal])
}

fn kiro() -> Sandbox {
    let requirements = "# Requirements\n\n### Requirement 1: Albums\n\n#### Acceptance Criteria\n\n1. WHEN it is named THEN \
                        it is there\n2. WHEN it has no title THEN it is refused\n";
    let others =
        [(".kiro/specs/album/requirements.md", requirements), (".kiro/steering/tech.md", "# Plain text\n")];
    sandbox(".kiro/specs/album/tasks.md", KIRO, &others)
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", "--on-escalation", "pause", "--agent-cmd", &command], flags].concat())
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

fn approving(agent: Agent, tasks: &[&str]) -> Agent {
    let accepts = || [Step::say("VERIFICATION_PASS")];
    tasks.iter().fold(agent, |agent, task| agent.on_role("qa", task, accepts()))
}

/// The agents that were started, as role and task.
fn started(sandbox: &Sandbox) -> Vec<String> {
    sandbox.agent_calls().into_iter().map(|call| format!("{} {}", call.role, call.task)).collect()
}

#[test]
fn a_plan_of_spec_kit_is_carried_to_green_where_it_lies() {
    let sandbox = spec_kit();
    let agent = approving(Agent::new(), &["T001", "T002"])
        .on("T001", [Step::write("src/README.txt", "structure\n"), done()])
        .on("T002", [Step::write("src/photo.txt", "a model\n"), done()])
        .on(
            "T003",
            [Step::edit("src/photo.txt", "model", "photo"), Step::write("src/service.txt", "s\n"), done()],
        );
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    // The command of the phase is red before its last task and green after it, so nobody judges that one.
    let expected = ["executor T001", "qa T001", "executor T002", "qa T002", "executor T003"];
    assert_eq!(started(&sandbox), expected);
    assert_eq!(sandbox.tasks("001-photos"), SPEC_KIT.replace("[ ] T", "[x] T"));
    let told = "Rests on:  a command of the task's own: 1; one of the phase or the settings, with facts or a judge: 1 (T003); \
                a judge: 2";
    assert!(finished.stdout.contains(told), "{finished}");
    let prompt = &sandbox.agent_calls()[2].prompt;
    for part in ["No photo is lost.", "- .specify/memory/constitution.md", "**Independent Test**: `grep"] {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
    assert!(!prompt.contains("User Story 2"), "{prompt}");
    let shown = sandbox.run(&["show", "T002"]).expect_code(0).stdout;
    assert!(shown.contains("src/photo.txt"), "{shown}");
    assert!(!sandbox.has("specs/001-photos/.progress.md") && sandbox.dirt().is_empty());
}

#[test]
fn a_change_of_open_spec_is_carried_to_green_where_it_lies() {
    let sandbox = open_spec();
    let agent = approving(Agent::new(), &["1.2"])
        .on("1.1", [Step::write("album.txt", "title\n"), done()])
        .on("1.2", [Step::write("index.txt", "album\n"), done()]);
    let finished = run(&sandbox, &agent, &["--verify", "test -f album.txt"]).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    // Green before the second task, the command of the settings shows nothing about it.
    assert_eq!(started(&sandbox), ["executor 1.1", "executor 1.2", "qa 1.2"]);
    let tasks = sandbox.read("openspec/changes/add-album/tasks.md");
    assert_eq!(tasks, OPEN_SPEC.replace("[ ]", "[x]"));
    assert!(sandbox.agent_calls()[0].prompt.contains("- openspec/changes/add-album/proposal.md"));
    let listed = sandbox.run(&["list"]).expect_code(0);
    assert!(listed.stdout.contains("add-album"), "{listed}");
}

#[test]
fn a_plan_of_kiro_is_carried_to_green_where_it_lies() {
    let sandbox = kiro();
    sandbox.write("tillgreen.toml", "[verify_paths]\n\"album.txt\" = \"grep -q title album.txt\"\n");
    sandbox.commit_all("settings");
    let agent = approving(Agent::new(), &["2"])
        .on("1.1", [Step::write("album.txt", "title\n"), done()])
        .on("2", [Step::write("index.txt", "album\n"), done()]);
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    assert!(finished.stderr.contains("one optional task is left out"), "{finished}");
    assert_eq!(started(&sandbox), ["executor 1.1", "executor 2", "qa 2"]);
    let tasks = sandbox.read(".kiro/specs/album/tasks.md");
    assert_eq!(tasks, KIRO.replace("[ ] ", "[x] "), "the group is ticked, and what is optional is not");
    let prompt = &sandbox.agent_calls()[0].prompt;
    for part in
        ["Keep it small", "2. WHEN it has no title THEN it is refused", "- .kiro/steering", "grep -q title"]
    {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
    assert!(!prompt.contains("WHEN it is named"), "{prompt}");
    assert_eq!(sandbox.run(&["status"]).expect_code(0).code, Some(0), "the only plan there is meant");
    sandbox.run(&["use", "album"]).expect_code(0);
    assert!(sandbox.dirt().is_empty(), "{:?}", sandbox.dirt());
}

#[test]
fn optional_tasks_are_done_where_that_is_asked_for() {
    let sandbox = kiro();
    let agent = approving(Agent::new(), &["1.1", "1.2", "2"])
        .on("1.1", [Step::write("album.txt", "title\n"), done()])
        .on("1.2", [Step::write("tests.txt", "album\n"), done()])
        .on("2", [Step::write("index.txt", "album\n"), done()]);
    run(&sandbox, &agent, &["--optional"]).expect_code(0);
    assert_eq!(sandbox.read(".kiro/specs/album/tasks.md"), KIRO.replace("[ ]", "[x]"));
}

#[test]
fn an_agent_that_lies_gets_nowhere_in_any_format() {
    for (sandbox, first) in [(spec_kit(), "T001"), (open_spec(), "1.1"), (kiro(), "1.1")] {
        let lies = Agent::new().otherwise([done()]);
        let finished = run(&sandbox, &lies, &["--max-task-iterations", "1"]).expect_code(1);
        let error = "QA gave no verdict, asked twice";
        assert!(finished.stderr.contains(error) && finished.stderr.contains(first), "{finished}");
    }
    // Also where its judge lies with it, and a command of the settings is green.
    for (sandbox, first) in [(spec_kit(), "T001"), (open_spec(), "1.1"), (kiro(), "1.1")] {
        let lies = approving(Agent::new(), &[first]).otherwise([done()]);
        let finished = run(&sandbox, &lies, &["--verify", "test -d ."]).expect_code(3);
        assert!(finished.stderr.contains("- nothing was changed for this task"), "{finished}");
        assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    }
}

#[test]
fn boxes_of_groups_steps_and_criteria_are_nobodys_to_tick() {
    let criteria = format!("{OPEN_SPEC}\n## Acceptance Criteria\n\n- [ ] Titles are sorted\n");
    let other_step = criteria.replace(
        "  - [ ] with a title\n- [ ] 1.2 Write `index.txt`\n",
        "- [ ] 1.2 Write `index.txt`\n  - [ ] with a title\n",
    );
    let group =
        KIRO.replace("- [ ] 2. Write `index.txt`\n", "- [ ] 2. Index\n  - [ ] 2.1 Write `index.txt`\n");
    for (plan, text, words) in [
        ("openspec/changes/add-album/tasks.md", criteria.as_str(), "Titles are sorted"),
        ("openspec/changes/add-album/tasks.md", &other_step, "with a title"),
        (".kiro/specs/album/tasks.md", &group, "2. Index"),
        (".kiro/specs/album/tasks.md", &group, "1.2 Write property tests"),
    ] {
        let sandbox = sandbox(plan, text, &[]);
        let line =
            text.lines().find(|line| line.ends_with(words.split_once(' ').unwrap().1)).expect("a line");
        let ticks = Step::edit(plan, line, &line.replace("[ ]", "[x]"));
        let agent = Agent::new().on("1.1", [ticks, Step::write("album.txt", "title\n"), done()]);
        let finished = run(&sandbox, &agent, &["--max-task-iterations", "1"]).expect_code(1);
        let error = format!("other tasks of the plan were changed: {words}");
        assert!(finished.stderr.contains(&error), "{error} in {finished}");
        assert_eq!(sandbox.read(plan), text);
    }
    // A step of its own is the task's.
    let sandbox = open_spec();
    let ticks = Step::edit("openspec/changes/add-album/tasks.md", "[ ] with", "[x] with");
    let agent = approving(Agent::new(), &["1.1", "1.2"])
        .on("1.1", [ticks, Step::write("album.txt", "title\n"), done()])
        .on("1.2", [Step::write("index.txt", "album\n"), done()]);
    run(&sandbox, &agent, &[]).expect_code(0);
}

#[test]
fn check_says_what_each_task_rests_on() {
    let sandbox = spec_kit();
    let told = sandbox.run(&["check"]).expect_code(0).stdout;
    let rungs = "spec-kit: of what is left 1 on one in its words, 1 on one of its phase, 2 on facts and a judge; other boxes: \
                 criteria 1\n";
    assert!(told.ends_with(rungs), "{told}");
    assert_eq!(told.matches("has no verification").count(), 1, "{told}");
    sandbox.write("tillgreen.toml", "verify = \"true\"\n");
    let told = sandbox.run(&["check"]).expect_code(0).stdout;
    assert!(told.contains("  true (of the settings)\n"), "{told}");
    assert!(told.contains("2 on one of the settings") && !told.contains("has no verification"), "{told}");
    let json = sandbox.run(&["check", "--format", "json"]).expect_code(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tasks"][0]["rung"], "settings");
    assert_eq!(json["format"], "spec-kit");
}

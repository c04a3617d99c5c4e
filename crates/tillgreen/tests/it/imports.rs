//! Plans that other tools keep: imported, carried to green, and written back, with the real `gh` and a stand-in for `bd`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::forge::{Forge, Issue, install_gh};
use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const TASKS_JSON: &str = ".taskmaster/tasks/tasks.json";
const TASK_MASTER: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Store",
        "description": "Keep photos",
        "status": "in-progress",
        "dependencies": [],
        "subtasks": [
          {"id": 1, "title": "Write one.txt", "status": "done", "dependencies": []},
          {"id": 2, "title": "Write two.txt", "testStrategy": "Verify `test -f two.txt`", "dependencies": [1]}
        ]
      },
      {
        "id": 2,
        "title": "Write three.txt",
        "testStrategy": "Verify `test -f three.txt`",
        "status":"pending",
        "dependencies": [1, 7]
      },
      {"id": 3, "title": "Later", "status": "deferred", "dependencies": []}
    ],
    "metadata": {"created": "2026-01-01"}
  }
}
"#;

const PRD: &str = r#"{
  "project": "Photos",
  "branchName": "ralph/photos",
  "description": "Keep photos",
  "userStories": [
    {
      "id": "US-002",
      "title": "Share",
      "acceptanceCriteria": ["Verify `test -f three.txt`"],
      "priority": 2,
      "passes": false,
      "notes": ""
    },
    {
      "id": "US-001",
      "title": "Keep",
      "acceptanceCriteria": [{"id": "AC-1", "text": "two.txt is there", "testCommand": "test -f two.txt", "passes": false}],
      "priority": 1,
      "passes": false
    }
  ]
}"#;

const BEADS: &str = concat!(
    r#"{"id":"bd-e","title":"Photos","status":"open","priority":1,"issue_type":"epic"}"#,
    "\n",
    r#"{"id":"bd-b","title":"Share","acceptance_criteria":"Verify `test -f three.txt`","status":"open","priority":0,"issue_type":"task","dependencies":[{"issue_id":"bd-b","depends_on_id":"bd-a1","type":"blocks"},{"issue_id":"bd-b","depends_on_id":"bd-e","type":"parent-child"}]}"#,
    "\n",
    r#"{"id":"bd-a1","title":"Keep","acceptance_criteria":"Verify `test -f two.txt`","status":"in_progress","priority":2,"issue_type":"task","dependencies":[]}"#,
    "\n",
);

fn sandbox(path: &str, source: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.write(path, source);
    sandbox.commit_all("source");
    sandbox
}

fn imported(path: &str, source: &str) -> Sandbox {
    let sandbox = sandbox(path, source);
    sandbox.run(&["import", path]).expect_code(0);
    sandbox.commit_all("plan");
    sandbox
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

/// Does the first task and the second.
fn worker(first: &str, second: &str) -> Agent {
    Agent::new()
        .on(first, [Step::write("two.txt", "2\n"), done()])
        .on(second, [Step::write("three.txt", "3\n"), done()])
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&["run", "--on-escalation", "pause", "--agent-cmd", &command])
}

/// The text of a file in the latest commit.
fn committed(sandbox: &Sandbox, path: &str) -> String {
    let text = sandbox.git(&["show", &format!("HEAD:{path}")]);
    format!("{}\n", text.trim_end())
}

fn told(finished: &Finished, text: &str) {
    let all = format!("{}{}", finished.stdout, finished.stderr);
    assert!(all.contains(text), "{text} in {finished}");
}

#[test]
fn tasks_of_task_master_are_carried_to_green_and_say_so_there() {
    let sandbox = sandbox(TASKS_JSON, TASK_MASTER);
    let told = sandbox.run(&["import", ".taskmaster"]).expect_code(0).stdout;
    insta::assert_snapshot!(told, @"
    Imported from .taskmaster/tasks/tasks.json (task-master) into specs/task-master/tasks.md: 3 tasks, 1 done
      above them 1 group: what is below is the work
      open: 2, with a command of their own: 2
      left out, deferred: 3
    warning: .taskmaster/tasks/tasks.json: 2 depends on 7, which is not there: it does not wait
    Next: look at it with `tillgreen check task-master`, then `tillgreen run task-master`.
    ");
    insta::assert_snapshot!(sandbox.tasks("task-master"), @r#"
    ---
    imported_from: ".taskmaster/tasks/tasks.json"
    ---

    # Tasks: task-master

    Imported from .taskmaster/tasks/tasks.json. Tillgreen writes back there what is done: leave the status there alone.

    - [x] 1.1 Write one.txt
      - **Do**: Part of 1, Store: Keep photos
      - **Files**: `one.txt`
      - **Source**: task 1.1 of .taskmaster/tasks/tasks.json

    - [ ] 1.2 Write two.txt
      - **Do**: Part of 1, Store: Keep photos
      - **Files**: `two.txt`
      - **Done when**: Verify 'test -f two.txt'
      - **Verify**: `test -f two.txt`
      - **Depends on**: 1.1
      - **Source**: task 1.2 of .taskmaster/tasks/tasks.json

    - [ ] 2 Write three.txt
      - **Do**: Write three.txt
      - **Files**: `three.txt`
      - **Done when**: Verify 'test -f three.txt'
      - **Verify**: `test -f three.txt`
      - **Depends on**: 1.2
      - **Source**: task 2 of .taskmaster/tasks/tasks.json
    "#);
    let checked = sandbox.run(&["check"]).expect_code(0);
    assert!(checked.stdout.contains("3 tasks, 1 done"), "{checked}");
    assert!(checked.stdout.contains("imported: of what is left 2 on a command in a field\n"), "{checked}");
    sandbox.commit_all("plan");
    let finished = run(&sandbox, &worker("1.2", "2")).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    let expected = TASK_MASTER
        .replace("\"status\": \"in-progress\"", "\"status\": \"done\"")
        .replace("\"dependencies\": [1]}", "\"dependencies\": [1],\"status\":\"done\"}")
        .replace("\"pending\"", "\"done\"");
    assert_eq!(sandbox.read(TASKS_JSON), expected);
    assert_eq!(committed(&sandbox, TASKS_JSON), expected);
    assert_eq!(sandbox.dirt(), [""; 0]);
    let subjects = sandbox.subjects();
    assert_eq!(
        subjects[2..],
        [
            "feat(task-master): write two.txt",
            "chore(spec): complete task 1.2",
            "feat(task-master): write three.txt",
            "chore(spec): complete task 2"
        ]
    );
    let prompt = &sandbox.agent_calls()[0].prompt;
    assert!(
        prompt.contains("Part of 1, Store: Keep photos") && prompt.contains("leave the status there alone"),
        "{prompt}"
    );
    let again = sandbox.run(&["import", TASKS_JSON]).expect_code(0).stdout;
    assert!(again.contains("nothing changed since"), "{again}");
}

#[test]
fn a_box_that_is_emptied_after_it_was_written_back_stays_empty() {
    let empty_it = |sandbox: &Sandbox| {
        let plan = sandbox.tasks("photos").replace("- [x] US-001", "- [ ] US-001");
        sandbox.write("specs/photos/tasks.md", &plan);
        sandbox.run(&["import", "prd.json"]).expect_code(0);
        assert!(sandbox.tasks("photos").contains("- [ ] US-001"), "{}", sandbox.tasks("photos"));
    };
    let sandbox = imported("prd.json", PRD);
    run(&sandbox, &worker("US-001", "US-002")).expect_code(0);
    assert!(sandbox.tasks("photos").contains("- [x] US-001"));
    empty_it(&sandbox);
    empty_it(&sandbox);
    // The same where an import wrote it back.
    sandbox.write("prd.json", PRD);
    sandbox.run(&["import", "prd.json"]).expect_code(0);
    let plan = sandbox.tasks("photos").replace("- [ ] US-001", "- [x] US-001");
    sandbox.write("specs/photos/tasks.md", &plan);
    told(&sandbox.run(&["import", "prd.json"]).expect_code(0), "written back as done: US-001");
    empty_it(&sandbox);
}

#[test]
fn stories_are_carried_to_green_and_pass_there() {
    let sandbox = imported("scripts/ralph/prd.json", PRD);
    let plan = sandbox.tasks("photos");
    assert!(plan.contains("- [ ] US-001 Keep\n") && plan.find("US-001") < plan.find("US-002"), "{plan}");
    run(&sandbox, &worker("US-001", "US-002")).expect_code(0);
    let expected = PRD.replace("\"passes\": false,\n      \"notes\"", "\"passes\": true,\n      \"notes\"");
    let expected = expected.replace("1,\n      \"passes\": false", "1,\n      \"passes\": true");
    assert_eq!(sandbox.read("scripts/ralph/prd.json"), expected);
    // A new document in its place is another plan, and the old one is not written into it.
    let next = PRD.replace("ralph/photos", "ralph/albums").replace("Keep\"", "Collect\"");
    sandbox.write("scripts/ralph/prd.json", &next);
    let told = sandbox.run(&["import", "scripts/ralph/prd.json"]).expect_code(0).stdout;
    assert!(told.contains("specs/albums/tasks.md") && told.contains("--branch ralph/albums"), "{told}");
    sandbox.commit_all("another plan");
    let finished = sandbox.run(&["run", "photos"]).expect_code(0);
    assert_eq!(sandbox.read("scripts/ralph/prd.json"), next);
    self::told(&finished, "it is about ralph/albums by now");
}

#[test]
fn issues_of_beads_are_closed_in_their_file_where_there_is_no_bd() {
    let sandbox = imported(".beads/issues.jsonl", BEADS);
    let plan = sandbox.tasks("beads");
    assert!(plan.contains("- [ ] **bd-b** Share\n") && plan.contains("- [ ] bd-a1 Keep\n"), "{plan}");
    run(&sandbox, &worker("bd-a1", "bd-b")).expect_code(0);
    let calls: Vec<String> = sandbox.agent_calls().into_iter().map(|call| call.task).collect();
    assert_eq!(calls, ["bd-a1", "bd-b"]);
    let text = sandbox.read(".beads/issues.jsonl");
    let before: Vec<Value> = BEADS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let after: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(after[0], before[0]);
    for (mut after, mut before) in after.into_iter().zip(before).skip(1) {
        assert_eq!(after["status"], "closed");
        assert!(after["closed_at"].is_string(), "{after}");
        before["status"] = "closed".into();
        after.as_object_mut().unwrap().remove("closed_at");
        assert_eq!(after, before);
    }
    assert_eq!(committed(&sandbox, ".beads/issues.jsonl"), text);
}

/// Puts in place a `bd` that keeps its issues elsewhere than in the file, and one of them in a way of its own.
fn with_bd(sandbox: &Sandbox) {
    let [kept, log, block, broken] =
        ["bd.jsonl", "bd.log", "block", "broken"].map(|name| sandbox.control(name));
    fs::write(&kept, BEADS).expect("a file");
    let script = format!(
        "kept='{}'; if [ -e '{}' ]; then echo \"no database\" >&2; exit 1; fi; echo \"$*\" >> '{}'\n\
         case $1 in\n\
         export) cat \"$kept\";;\n\
         close) if [ -e '{}' ]; then sleep 600; fi; [ \"$3\" = --reason ] || exit 2\n\
           grep -q \"\\\"id\\\":\\\"$2\\\"\" \"$kept\" || {{ echo \"no issue $2\" >&2; exit 1; }}\n\
           sed \"/\\\"id\\\":\\\"$2\\\"/s/\\\"status\\\":\\\"[a-z_]*\\\"/\\\"status\\\":\\\"closed\\\"/\" \"$kept\" > \"$kept.new\"\n\
           mv \"$kept.new\" \"$kept\";;\n\
         *) exit 3;;\n\
         esac",
        kept.display(),
        broken.display(),
        log.display(),
        block.display()
    );
    sandbox.install_program("bd", &script);
}

fn closings(sandbox: &Sandbox) -> Vec<String> {
    let log = fs::read_to_string(sandbox.control("bd.log")).unwrap_or_default();
    let mut closings: Vec<String> =
        log.lines().filter_map(|line| line.strip_prefix("close ")).map(str::to_owned).collect();
    closings.sort();
    closings
}

#[test]
fn issues_of_beads_are_closed_through_bd_where_there_is_one() {
    let sandbox = sandbox(".beads/issues.jsonl", "stale\n");
    with_bd(&sandbox);
    sandbox.run(&["import", ".beads"]).expect_code(0);
    sandbox.commit_all("plan");
    run(&sandbox, &worker("bd-a1", "bd-b")).expect_code(0);
    let reason = "--reason done, and proved by its command";
    assert_eq!(closings(&sandbox), [format!("bd-a1 {reason}"), format!("bd-b {reason}")]);
    assert_eq!(sandbox.read(".beads/issues.jsonl"), "stale\n");
    assert_eq!(sandbox.dirt(), [""; 0]);
}

#[test]
fn what_bd_refused_once_is_closed_later_with_the_truth_and_told_no_more() {
    let sandbox = sandbox(".beads/issues.jsonl", BEADS);
    with_bd(&sandbox);
    let kept = sandbox.control("bd.jsonl");
    let text =
        fs::read_to_string(&kept).expect("a file").replace("Verify `test -f three.txt`", "It is shared");
    fs::write(&kept, text).expect("a file");
    sandbox.run(&["import", ".beads"]).expect_code(0);
    sandbox.commit_all("plan");
    sandbox.release("broken");
    let agent = Agent::new()
        .on_role("qa", "bd-b", [Step::say("VERIFICATION_PASS")])
        .on("bd-a1", [Step::write("two.txt", "2\n"), done()])
        .on("bd-b", [Step::write("three.txt", "3\n"), done()]);
    let words = ".beads/issues.jsonl does not say yet that bd-a1, bd-b are done";
    told(&run(&sandbox, &agent).expect_code(0), words);
    fs::remove_file(sandbox.control("broken")).expect("a file");
    for _ in 0..2 {
        let again = run(&sandbox, &agent).expect_code(0);
        assert!(again.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{again}");
        assert!(!format!("{}{}", again.stdout, again.stderr).contains("does not say yet"), "{again}");
    }
    let expected =
        ["bd-a1 --reason done, and proved by its command", "bd-b --reason done, and judged by an agent"];
    assert_eq!(closings(&sandbox), expected);
}

#[test]
fn what_was_not_written_back_before_a_kill_is_by_the_next_start() {
    let sandbox = sandbox(".beads/issues.jsonl", BEADS);
    with_bd(&sandbox);
    sandbox.run(&["import", ".beads"]).expect_code(0);
    sandbox.commit_all("plan");
    sandbox.release("block");
    let command = sandbox.install_agent(&worker("bd-a1", "bd-b"));
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the first issue to be closed", || !closings(&sandbox).is_empty());
    run.kill();
    sandbox.kill_everything();
    assert!(sandbox.tasks("beads").contains("- [x] bd-a1"));
    fs::remove_file(sandbox.control("block")).expect("a file");
    let finished = sandbox.run(&["run"]).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    let kept = fs::read_to_string(sandbox.control("bd.jsonl")).expect("a file");
    assert_eq!(kept.matches("\"status\":\"closed\"").count(), 2, "{kept}");
    // What is closed is not closed again.
    let closed = closings(&sandbox);
    sandbox.run(&["import", ".beads"]).expect_code(0);
    assert_eq!(closings(&sandbox), closed);
}

#[test]
fn a_kill_after_every_edit_of_the_plan_loses_no_status() {
    let sandbox = imported("prd.json", PRD);
    let command = sandbox.install_agent(&worker("US-001", "US-002"));
    let ticks = |sandbox: &Sandbox| sandbox.tasks("photos").matches("- [x]").count();
    for expected in 1..=2 {
        let mut run = sandbox.start(&["run", "--agent-cmd", &command]);
        wait_for("a tick", || ticks(&sandbox) >= expected || !run.is_running());
        run.kill();
        sandbox.kill_everything();
    }
    // As if it had been killed before it came to that.
    sandbox.write("prd.json", PRD);
    let finished = sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    let text = sandbox.read("prd.json");
    assert_eq!(text.matches("\"passes\": true").count(), 2, "{text}");
    assert_eq!(sandbox.agent_calls().len(), 2, "no task is done twice");
}

/// A sandbox with a forge; none, visibly, where `gh` cannot be had. In CI that is a failure.
fn with_issues() -> Option<(Sandbox, Forge)> {
    let Some(gh) = install_gh(Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "gh cannot be had, and in CI it has to be");
        println!("skipped: gh is not installed and cannot be fetched");
        return None;
    };
    let sandbox = sandbox("README.md", "# Photos\n");
    let forge = Forge::start(&sandbox, &gh);
    let closed = |number| Issue { closed: true, ..Issue::new(number, "Old", "") };
    let other = Issue { label: "later".to_owned(), ..Issue::new(15, "Other", "") };
    forge.hub().issues.extend([
        Issue::new(
            13,
            "Share",
            "After that.\r\n\r\nDepends on #12\r\n\r\n- [ ] Verify `test -f three.txt`\r\n",
        ),
        closed(11),
        Issue::new(12, "Keep", "- [ ] Verify `test -f two.txt`\n- [x] 9.9 [P] evil\n## Phase 9\n"),
        other,
    ]);
    Some((sandbox, forge))
}

#[test]
fn issues_of_a_label_are_closed_through_gh() {
    let Some((sandbox, forge)) = with_issues() else { return };
    let finished = forge.run(&sandbox, &["import", "github:label=ready"]).expect_code(0);
    told(&finished, "left out, closed already: GH-11");
    insta::assert_snapshot!(sandbox.tasks("ready"), @r#"
    ---
    imported_from: "github:label=ready"
    ---

    # Tasks: ready

    Imported from github:label=ready. Tillgreen writes back there what is done: leave the status there alone.

    - [ ] GH-12 Keep
      - **Do**: Phase 9
      - **Done when**: Verify 'test -f two.txt'
        - 9.9 (P) evil
      - **Verify**: `test -f two.txt`
      - **Source**: issue #12 of github:label=ready

    - [ ] GH-13 Share
      - **Do**: After that.
        - Depends on #12
      - **Done when**: Verify 'test -f three.txt'
      - **Verify**: `test -f three.txt`
      - **Depends on**: GH-12
      - **Source**: issue #13 of github:label=ready
    "#);
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&worker("GH-12", "GH-13"));
    let finished = forge.run(&sandbox, &["run", "--agent-cmd", &command]).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    let open: Vec<u64> =
        forge.hub().issues.iter().filter(|issue| !issue.closed).map(|issue| issue.number).collect();
    assert_eq!(open, [15], "{finished}");
    let closes = forge.hub().calls.iter().filter(|call| call.contains("mutation IssueClose")).count();
    assert_eq!(closes, 2);
    // What is closed now is in the plan, and stays there.
    let again = forge.run(&sandbox, &["import", "github:label=ready"]).expect_code(0);
    told(&again, "nothing changed since");
}

#[test]
fn a_source_is_left_alone_where_that_is_set() {
    let sandbox = imported("prd.json", PRD);
    let command = sandbox.install_agent(&worker("US-001", "US-002"));
    let finished = sandbox.run(&["run", "--write-back=false", "--agent-cmd", &command]).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    assert_eq!((sandbox.read("prd.json").as_str(), sandbox.dirt()), (PRD, vec![]));
    told(&sandbox.run(&["import", "prd.json"]).expect_code(0), "written back as done: US-001, US-002");
}

#[test]
fn issues_of_a_milestone_wait_for_a_login() {
    let Some((sandbox, forge)) = with_issues() else { return };
    forge.run(&sandbox, &["import", "github:milestone=1.0", "--name", "first"]).expect_code(0);
    sandbox.commit_all("plan");
    let nobody = forge.anonymous(&sandbox, &["import", "github:milestone=1.0"]).run().expect_code(6);
    told(&nobody, "gh auth login");
    let agent = worker("GH-12", "GH-13").on_role("qa", "GH-15", [Step::say("VERIFICATION_PASS")]);
    let agent = agent.on("GH-15", [Step::write("other.txt", "4\n"), done()]);
    let command = sandbox.install_agent(&agent);
    let finished = forge.anonymous(&sandbox, &["run", "--agent-cmd", &command]).run().expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    let words =
        "github:milestone=1.0 does not say yet that GH-12, GH-13, GH-15 are done: gh is not logged in";
    told(&finished, words);
    assert_eq!(finished.stdout.matches(words).count(), 1, "{finished}");
    let again = forge.run(&sandbox, &["import", "github:milestone=1.0"]).expect_code(0);
    told(&again, "written back as done: GH-12, GH-13, GH-15");
    assert!(forge.hub().issues.iter().all(|issue| issue.closed));
}

#[test]
fn what_changed_on_both_sides_is_told_and_the_source_stands() {
    let sandbox = imported("prd.json", PRD);
    let plan = sandbox.tasks("photos");
    let mine = plan.replace("US-002 Share\n", "US-002 Share, as I say\n  - **Commit**: `feat: share`\n");
    sandbox.write("specs/photos/tasks.md", mine.replace("- [ ] US-001", "- [x] US-001"));
    let source = PRD.replace("\"Share\"", "\"Share it\"").replace("\"Keep\"", "\"Keep all\"");
    let source = source.replace("  \"userStories\": [\n", "  \"userStories\": [\n    {\"id\": \"US-003\", \"title\": \"New\", \"priority\": 3, \"passes\": false},\n");
    sandbox.write("prd.json", &source);
    let told = sandbox.run(&["import", "prd.json", "--format", "json"]).expect_code(0).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let ids = |key: &str| {
        told[key].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect::<Vec<_>>().join(",")
    };
    assert_eq!(
        ["added", "updated", "overruled", "changed_when_done", "written_back"].map(ids),
        ["US-003", "US-001", "US-002", "US-001", "US-001"]
    );
    let plan = sandbox.tasks("photos");
    assert!(plan.contains("- [x] US-001 Keep all\n") && plan.contains("- [ ] US-002 Share it\n"), "{plan}");
    assert!(plan.contains("  - **Commit**: `feat: share`\n") && !plan.contains("as I say"), "{plan}");
    assert_eq!(
        sandbox.read("prd.json"),
        source
            .replace("\"priority\": 1,\n      \"passes\": false", "\"priority\": 1,\n      \"passes\": true")
    );
    // Nothing goes: what the source has no more stays, and so does what was done.
    sandbox.write("prd.json", PRD);
    let again = sandbox.run(&["import", "prd.json"]).expect_code(0);
    self::told(&again, "no longer in the source, left as they are: US-003");
    assert!(sandbox.tasks("photos").contains("- [x] US-001 Keep\n"));
}

#[test]
fn words_of_others_in_the_source_stay_and_are_not_committed() {
    let sandbox = imported(TASKS_JSON, TASK_MASTER);
    let mine = TASK_MASTER.replace("\"Later\"", "\"Later, I think\"");
    sandbox.write(TASKS_JSON, &mine);
    let theirs = Step::edit(TASKS_JSON, "2026-01-01", "2026-02-02");
    let agent = Agent::new()
        .on("1.2", [theirs, Step::write("two.txt", "2\n"), done()])
        .on("2", [Step::write("three.txt", "3\n"), done()]);
    run(&sandbox, &agent).expect_code(0);
    let text = sandbox.read(TASKS_JSON);
    assert!(
        text.contains("Later, I think") && text.contains("2026-02-02") && !text.contains("pending"),
        "{text}"
    );
    let kept = committed(&sandbox, TASKS_JSON);
    assert!(kept.contains("\"Later\"") && kept.contains("2026-01-01") && !kept.contains("pending"), "{kept}");
}

#[test]
fn an_agent_that_says_in_the_source_that_it_is_done_gets_nowhere() {
    for (path, source, first, second) in [
        (TASKS_JSON, TASK_MASTER, "1.2", "2"),
        ("prd.json", PRD, "US-001", "US-002"),
        (".beads/issues.jsonl", BEADS, "bd-a1", "bd-b"),
    ] {
        let sandbox = imported(path, source);
        let claims = [
            ("pending", "done"),
            ("in-progress", "done"),
            ("\"passes\": false", "\"passes\": true"),
            ("\"status\":\"open\"", "\"status\":\"closed\""),
        ];
        let steps = claims.map(|(from, to)| Step::edit(path, from, to));
        let command = sandbox.install_agent(&Agent::new().otherwise(steps.into_iter().chain([done()])));
        let finished =
            sandbox.run(&["run", "--max-task-iterations", "1", "--agent-cmd", &command]).expect_code(1);
        assert!(finished.stderr.contains(&format!("task {first}")), "{finished}");
        told(&finished, &format!("{path} was made to say that {second}"));
        // What a criterion and an epic say is read by nobody.
        let text = sandbox.read(path).replace("two.txt\", \"passes\": true", "two.txt\", \"passes\": false");
        assert_eq!(text.replacen("\"closed\"", "\"open\"", 1).trim_end(), source.trim_end());
        assert!(!sandbox.tasks(sandbox.read("specs/.current-spec").trim()).contains(&format!("[x] {first}")));
    }
}

#[test]
fn a_source_that_is_gone_stops_nothing_and_is_told() {
    let sandbox = imported("prd.json", PRD);
    sandbox.git(&["rm", "--quiet", "prd.json"]);
    sandbox.commit_all("gone");
    let finished = run(&sandbox, &worker("US-001", "US-002")).expect_code(0);
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
    told(&finished, "prd.json does not say yet that US-001, US-002 are done: it cannot be read");
    sandbox.write("prd.json", PRD);
    let again = sandbox.run(&["import", "prd.json"]).expect_code(0);
    told(&again, "written back as done: US-001, US-002");
}

#[test]
fn what_cannot_be_imported_is_told_with_what_to_do() {
    let sandbox = sandbox("prd.json", PRD);
    sandbox.write("broken.json", "{\"userStories\": [");
    sandbox.write("other.json", "{\"a\": 1}");
    sandbox.write("empty.json", "{\"userStories\": []}");
    sandbox.spec("mine", "- [ ] 1.1 Mine\n");
    for (arguments, code, words) in [
        (&["none.json"][..], 2, "none.json is no file, and names no issues"),
        (&["github:label="], 2, "names no issues"),
        (&["broken.json"], 2, "it is not JSON"),
        (&["other.json"], 2, "was expected in it"),
        (&["empty.json"], 2, "empty.json lists no tasks"),
        (&["prd.json", "--name", "mine"], 2, "--name NAME"),
        (&["prd.json", "--name", "a/b"], 2, "a spec cannot be called"),
        (&["github:label=x"], 6, "github:label=x cannot be imported"),
    ] {
        let finished = sandbox.run(&[&["import"], arguments].concat()).expect_code(code);
        assert!(
            finished.stderr.contains(words) && finished.stderr.contains("hint: "),
            "{words} in {finished}"
        );
    }
    assert_eq!(sandbox.tasks("mine"), "- [ ] 1.1 Mine\n");
    assert!(!sandbox.has("specs/photos"));
    let story = |id: &str, on: &str| format!("{{\"id\": \"{id}\", \"title\": \"t\", \"deps\": [\"{on}\"]}}");
    let stories = [story("A1", "A2"), story("A2", "A1"), story("A3", "A3"), story("A4", "A9")].join(",");
    sandbox.write("circle.json", format!("{{\"userStories\": [{stories}]}}"));
    let circle = sandbox.run(&["import", "circle.json", "--dry-run"]).expect_code(0);
    for words in [
        "task A1 depends on A2 and does not wait for it: A2 depends on A1 in turn",
        "A3 depends on itself, which counts for nothing",
        "A4 depends on A9, which is not there",
    ] {
        assert!(circle.stdout.contains(&format!("warning: circle.json: {words}")), "{circle}");
    }
    let dry = sandbox.run(&["import", "prd.json", "--dry-run"]).expect_code(0);
    assert!(dry.stdout.starts_with("Nothing is written.") && !sandbox.has("specs/photos"), "{dry}");
    sandbox.write("sub/x.txt", "");
    sandbox.run(&["-C", "sub", "import", "../prd.json"]).expect_code(0);
    assert!(sandbox.tasks("photos").contains("imported_from: \"prd.json\"\n"));
}

#[test]
fn nothing_is_imported_into_a_plan_that_is_run() {
    let sandbox = imported("prd.json", PRD);
    let started = sandbox.control("started");
    let hangs = [Step::write(&started.display().to_string(), ""), Step::Hang];
    let command = sandbox.install_agent(&Agent::new().otherwise(hangs));
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the agent", || started.exists());
    let refused = sandbox.run(&["import", "prd.json"]).expect_code(4);
    assert!(refused.stderr.contains("tillgreen pause"), "{refused}");
    drop(run);
}

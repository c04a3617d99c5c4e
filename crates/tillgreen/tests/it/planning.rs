//! `tillgreen plan`: plans and commands that an agent writes in a copy of the project, sent back with what is wrong, and
//! taken only if they are accepted.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Agent, Finished, Sandbox, Signal, Step, wait_for};

const DRAFT: &str = "specs/add-limits/tasks.md";

const BROKEN: &str = "\
# Tasks: limits

- [ ] 1.1 Write the limit
  - **Do**: Write limit into limits.txt
  - **Files**: limits.txt
  - **Verify**: `grep -q limit limits.txt || true`
- [ ] 1.1 Describe it
  - **Do**: Describe it
  - **Files**: ../elsewhere.md
  - **Depends on**: 7.7
  - **Verify**: `no-such-program --check`
- [x] 1.3 Look
  - **Files**: app.txt
  - **Verify**: look at it
";

const GOOD: &str = "\
# Tasks: limits

Requests are limited.

## Phase 1: Limits

- [ ] 1.1 Write the limit
  - **Do**: Write limit into limits.txt
  - **Files**: limits.txt
  - **Done when**: it is there
  - **Verify**: `grep -q limit limits.txt`
  - **Commit**: `feat: limit`

- [ ] 1.2 [VERIFY] All is well
  - **Verify**: `test -f app.txt && test -f limits.txt`
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.write("app.txt", "an app\n");
    sandbox.commit_all("app");
    sandbox
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

/// An agent whose attempts write these texts, the last of them from then on.
fn writes(path: &str, texts: &[&str]) -> Agent {
    let agent = (1..).zip(texts).fold(Agent::new(), |agent, (attempt, text)| {
        agent.on_attempt("1", attempt, [Step::write(path, text), done()])
    });
    let last = texts.last().expect("a text");
    agent.on_role("planner", "1", [Step::write(path, last), done()])
}

#[track_caller]
fn plan(sandbox: &Sandbox, agent: &Agent, arguments: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["plan", "--agent-cmd", &command], arguments].concat())
}

/// All that lies in the cache of the program.
fn cache(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".cache/tillgreen")
}

/// The references, the settings and the state of the project's files.
fn of_project(sandbox: &Sandbox) -> (String, String, Vec<String>) {
    (sandbox.git(&["for-each-ref"]), sandbox.git(&["config", "--local", "--list"]), sandbox.dirt())
}

#[test]
fn a_broken_plan_is_sent_back_and_a_good_one_waits_to_be_accepted() {
    let sandbox = sandbox();
    let before = of_project(&sandbox);
    let finished = plan(&sandbox, &writes(DRAFT, &[BROKEN, GOOD]), &["add", "limits"]).expect_code(3);
    assert_eq!(of_project(&sandbox), before, "nothing is in the project before it is accepted");
    assert!(!sandbox.has("specs"));
    let calls = sandbox.agent_calls();
    let roles: Vec<&str> = calls.iter().map(|call| call.role.as_str()).collect();
    assert_eq!(roles, ["planner", "planner"], "{finished}");
    assert!(calls[0].prompt.contains("<goal>\nadd limits\n</goal>"), "{}", calls[0].prompt);
    let details = calls[1].prompt.split("<error_details>").nth(1).expect("details");
    let details = details.split("</error_details>").next().unwrap_or_default();
    let details = details.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(details.trim(), @"
    line 3: the command of 1.1 cannot fail: '|| true' turns every failure into success
    line 7: duplicate id 1.1, first used in line 3; this one is 1.1~2 (give each task an id of its own)
    line 7: task 1.1~2 depends on 7.7, which is no task of this plan (name tasks of this plan by their ids, such as '1.1, 1.2', or take the field out)
    line 7: the Files of 1.1~2 lie outside of the project: ../elsewhere.md
    line 7: the command of 1.1~2 needs the program 'no-such-program', which is not here
    line 12: the box of task 1.3 is ticked, and nothing is done yet
    line 12: task 1.3 has no Do: its agent is told nothing else
    line 12: task 1.3 has no Verify with one command in backticks
    error: specs/add-limits/tasks.md has 8 problems
    ");
    assert!(finished.stdout.contains("\n+- [ ] 1.1 Write the limit\n"), "{finished}");
    assert!(
        finished.stdout.contains("Proposed: the plan 'add-limits' with 2 tasks in 1 phase\n"),
        "{finished}"
    );
    assert!(finished.stdout.contains("  red before the work, as it should be (tried at "), "{finished}");
    assert!(
        finished.stderr.contains("hint: take it with `tillgreen plan --name add-limits --accept`\n"),
        "{finished}"
    );
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");

    let again = sandbox.run(&["plan", "add", "limits"]).expect_code(3);
    assert!(
        again.stderr.starts_with("note: this was proposed before, and waits to be accepted\n"),
        "{again}"
    );
    let accepted = sandbox.run(&["plan", "--name", "add-limits", "--accept"]).expect_code(0);
    assert!(accepted.stdout.ends_with("then `tillgreen run`.\n"), "{accepted}");
    assert_eq!(sandbox.tasks("add-limits"), GOOD);
    assert_eq!(sandbox.read("specs/.current-spec"), "add-limits\n");
    assert!(!cache(&sandbox).join("add-limits").exists());
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(sandbox.agent_calls().len(), 2, "nobody is asked again");

    let works = Agent::new().on_role("executor", "1.1", [Step::write("limits.txt", "limit\n"), done()]);
    let run = sandbox.run(&["run", "--agent-cmd", &sandbox.install_agent(&works)]).expect_code(0);
    assert!(run.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{run}");
    let taken = sandbox.run(&["plan", "add", "limits"]).expect_code(2);
    assert!(
        taken.stderr.contains("specs/add-limits/tasks.md has tasks already, and stays as it is"),
        "{taken}"
    );
}

#[test]
fn a_command_that_is_green_before_is_sent_back_once_and_then_told() {
    let sandbox = sandbox();
    let green = GOOD.replace("grep -q limit limits.txt", "grep -q app app.txt");
    let agent = writes(DRAFT, &[&green]);
    let finished = plan(&sandbox, &agent, &["--accept", "add", "limits"]).expect_code(0);
    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 2, "{finished}");
    assert!(calls[1].prompt.contains("the command of 1.1 is green before the work"), "{}", calls[1].prompt);
    let told = "  green before the work: proves nothing yet for 1.1 (`grep -q app app.txt`)\n";
    assert!(finished.stdout.contains(told), "{finished}");
    assert_eq!(sandbox.tasks("add-limits"), green);
    assert!(!format!("{}{}", finished.stdout, finished.stderr).contains("flaky"), "{finished}");
}

#[test]
fn what_may_do_more_than_look_is_not_run() {
    let sandbox = sandbox();
    let mark = sandbox.control("ran");
    let command = format!("touch {} && grep -q limit limits.txt", mark.display());
    let text = GOOD.replace("grep -q limit limits.txt", &command);
    let finished = plan(&sandbox, &writes(DRAFT, &[&text]), &["--accept", "add", "limits"]).expect_code(0);
    assert!(!mark.exists());
    assert!(
        finished.stdout.contains("  not tried, as it may do more than look, for 1.1 (`touch "),
        "{finished}"
    );
}

#[test]
fn a_planner_changes_nothing_of_the_project() {
    let sandbox = sandbox();
    let before = of_project(&sandbox);
    let mischief = "echo more >> app.txt; echo new > new.txt; git add --all; git commit -q -m mine; git branch other; \
                    git config user.name somebody; git push -q origin HEAD:main; git stash list; git tag v1";
    let steps = [Step::shell(mischief), Step::write(DRAFT, GOOD), done()];
    let finished = plan(&sandbox, &Agent::new().on("1", steps), &["add", "limits"]).expect_code(3);
    assert_eq!(of_project(&sandbox), before);
    assert_eq!(sandbox.read("app.txt"), "an app\n");
    let told = "  the planner also changed app.txt, new.txt in its copy: nothing of that is taken\n";
    assert!(finished.stdout.contains(told), "{finished}");
    let call = &sandbox.agent_calls()[0];
    assert!(!Path::new(&call.folder).starts_with(sandbox.root()), "{}", call.folder);
}

#[test]
fn a_dirty_project_does_not_matter_and_what_is_beside_the_plan_comes_along() {
    let sandbox = sandbox();
    sandbox.write("app.txt", "changed\n");
    sandbox.write("specs/add-limits/requirements.md", "Five a second.\n");
    let steps = [
        Step::shell("grep -q Five specs/add-limits/requirements.md && grep -q 'an app' app.txt || exit 9"),
        Step::write(DRAFT, GOOD),
        done(),
    ];
    plan(&sandbox, &Agent::new().on("1", steps), &["add", "limits", "--yes"]).expect_code(0);
    let prompt = &sandbox.agent_calls()[0].prompt;
    assert!(prompt.contains("\n- specs/add-limits/requirements.md\n"), "{prompt}");
    assert_eq!(sandbox.read("app.txt"), "changed\n");
}

#[test]
fn attempts_are_limited_as_those_of_a_task() {
    let sandbox = sandbox();
    let agent = writes(DRAFT, &["", "- [ ] 1.1 Nothing\n"]);
    let finished = plan(&sandbox, &agent, &["--max-task-iterations", "2", "add", "limits"]).expect_code(1);
    let error = finished.stderr.split("\nerror: ").last().unwrap_or_default().to_owned();
    let error = error.replace(&cache(&sandbox).display().to_string(), "CACHE");
    let error = error.split('\n').map(|line| line.split("/project-").next().unwrap_or_default());
    insta::assert_snapshot!(error.collect::<Vec<_>>().join("\n"), @"
    the draft is not right after 2 attempts
      line 1: task 1.1 has no Do: its agent is told nothing else
      line 1: task 1.1 has no Files: name what it creates or changes
      line 1: task 1.1 has no Verify with one command in backticks
      error: specs/add-limits/tasks.md has 3 problems
      the draft: CACHE
    hint: go on for as many attempts again with `tillgreen plan --name add-limits`, or begin anew with `tillgreen plan --name add-limits --fresh`
    ");
    assert!(!sandbox.has("specs"));
    let draft = finished.stderr.lines().find_map(|line| line.trim().strip_prefix("the draft: "));
    assert_eq!(fs::read_to_string(draft.expect("it is told")).expect("it is there"), "- [ ] 1.1 Nothing\n");
    let agent = writes(DRAFT, &[GOOD]);
    plan(&sandbox, &agent, &["--name", "add-limits", "--accept"]).expect_code(0);
    assert_eq!(sandbox.tasks("add-limits"), GOOD);
}

#[test]
fn a_planner_that_crashes_has_written_nothing() {
    let sandbox = sandbox();
    let arguments =
        ["plan", "--agent-cmd", "echo no key >&2; exit 1", "--max-task-iterations", "1", "add", "limits"];
    let finished = sandbox.run(&arguments).expect_code(1);
    assert!(finished.stderr.contains("error: nothing was written after 1 attempt\n"), "{finished}");
    assert!(finished.stderr.contains("no key") && !finished.stderr.contains("the draft"), "{finished}");
}

#[test]
fn who_cannot_begin_is_told_why_and_leaves_nothing() {
    let check = |sandbox: &Sandbox, arguments: &[&str], expected: &str| {
        let finished = sandbox.run(&[&["plan"], arguments].concat()).expect_code(2);
        assert!(finished.stderr.contains(expected), "{arguments:?}: {finished}");
        let left = fs::read_dir(cache(sandbox)).into_iter().flatten().flatten();
        assert_eq!(
            left.map(|entry| entry.path()).collect::<Vec<_>>(),
            Vec::<PathBuf>::new(),
            "{arguments:?}"
        );
    };
    let own = sandbox();
    check(&own, &["add", "limits"], "no agent is set");
    check(&own, &["--agent", "claude", "add", "limits"], "agent `claude` is not installed");
    check(&own, &[], "what is to be planned?");
    check(&own, &["--name", "a b", "x"], "a spec cannot be called \"a b\": it has spaces in it");
    check(&own, &["--name", "unknown", "--agent-cmd", "true"], "nothing was begun as 'unknown'");
    check(&own, &["--verify"], "No active spec.");
    own.write(
        "phases/01-01-PLAN.md",
        "---\nphase: 01\nplan: 01\n---\n<task type=\"auto\">\n<name>A</name>\n</task>\n",
    );
    check(&own, &["--verify", "phases"], "which are never written");
    let without = Sandbox::without_git(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    check(&without, &["--agent-cmd", "true", "add", "limits"], "planning needs a git repository");
    let empty = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    check(&empty, &["--agent-cmd", "true", "add", "limits"], "planning needs a commit");
}

#[test]
fn another_goal_needs_another_name() {
    let sandbox = sandbox();
    plan(&sandbox, &writes(DRAFT, &[GOOD]), &["add", "limits"]).expect_code(3);
    let other = sandbox.run(&["plan", "--name", "add-limits", "something else"]).expect_code(2);
    assert!(
        other.stderr.contains("a plan for another goal was begun as 'add-limits': “add limits”"),
        "{other}"
    );
    let agent = writes(DRAFT, &[&GOOD.replace("limits.txt", "other.txt")]);
    plan(&sandbox, &agent, &["--name", "add-limits", "--fresh", "--accept", "something else"]).expect_code(0);
    assert!(sandbox.tasks("add-limits").contains("other.txt"));
}

#[test]
fn whoever_is_killed_goes_on() {
    let sandbox = sandbox();
    let gate = sandbox.control("gate");
    let steps = [Step::await_file(&gate), Step::write(DRAFT, GOOD), done()];
    let command = sandbox.install_agent(&Agent::new().on("1", steps));
    let arguments = ["plan", "--agent-cmd", &command, "add", "limits"];
    let first = sandbox.start(&arguments);
    wait_for("the agent to be at work", || sandbox.agent_calls().len() == 1);
    let held = sandbox.run(&arguments).expect_code(4);
    assert!(held.stderr.contains("somebody else writes or runs this plan"), "{held}");
    sandbox.run(&["clean"]).expect_code(4);
    first.kill();
    sandbox.wait_until_quiet();
    assert!(!sandbox.has("specs"));
    let mut second = sandbox.start(&arguments);
    wait_for("the agent to be at work again", || sandbox.agent_calls().len() == 2);
    second.signal(Signal::Interrupt);
    let second = second.wait().expect_code(130);
    assert!(second.stderr.contains("hint: go on with `tillgreen plan --name add-limits`"), "{second}");
    sandbox.release("gate");
    sandbox.run(&arguments).expect_code(3);
    let attempts: Vec<u32> = sandbox.agent_calls().iter().map(|call| call.attempt).collect();
    assert_eq!(attempts, [1, 1, 1], "what nobody watched to its end is no attempt");
    sandbox.run(&["plan", "--name", "add-limits", "--accept"]).expect_code(0);
    assert_eq!(sandbox.tasks("add-limits"), GOOD);
}

#[test]
fn a_copy_that_was_not_finished_is_made_anew() {
    let sandbox = sandbox();
    let agent = writes(DRAFT, &[GOOD]);
    plan(&sandbox, &agent, &["add", "limits"]).expect_code(3);
    let folder =
        fs::read_dir(cache(&sandbox)).expect("a cache").next().expect("a project").expect("an entry").path();
    let folder = folder.join("add-limits/planning");
    fs::remove_file(folder.join("brief.json")).expect("it is written last");
    fs::remove_dir_all(folder.join("copy/.git/refs")).expect("a half of a copy");
    sandbox.write("specs/add-limits/.tillgreen-4194304-tasks.md", "a half of a plan");
    plan(&sandbox, &agent, &["add", "limits", "--accept"]).expect_code(0);
    assert_eq!(sandbox.tasks("add-limits"), GOOD);
    assert!(!sandbox.has("specs/add-limits/.tillgreen-4194304-tasks.md"));
}

#[test]
fn what_was_accepted_before_a_kill_is_wound_up() {
    let sandbox = sandbox();
    plan(&sandbox, &writes(DRAFT, &[GOOD]), &["add", "limits"]).expect_code(3);
    sandbox.write(DRAFT, GOOD);
    let finished = sandbox.run(&["plan", "add", "limits"]).expect_code(0);
    assert!(finished.stdout.contains("nothing is left to accept"), "{finished}");
    assert_eq!(sandbox.read("specs/.current-spec"), "add-limits\n");
    assert!(!cache(&sandbox).join("add-limits").exists());
}

#[test]
fn a_planner_that_sees_no_way_is_believed() {
    let sandbox = sandbox();
    let answer = "```yaml\nstatus: impossible\nreason: there is no API here\n```";
    let agent = Agent::new().on("1", [Step::say(answer)]);
    let finished = plan(&sandbox, &agent, &["add", "limits"]).expect_code(3);
    assert!(finished.stderr.contains("error: paused: the agent says that it cannot be done\n"), "{finished}");
    assert!(finished.stderr.contains("there is no API here"), "{finished}");
    assert!(
        finished.stderr.contains("hint: answer at a terminal, after `tillgreen plan --name add-limits`"),
        "{finished}"
    );
}

/// Has commands proposed for a plan; gives the plan as it is then.
#[track_caller]
fn verified(path: &str, tasks: &str, commands: &[&str]) -> (Sandbox, String, Finished) {
    let sandbox = sandbox();
    sandbox.write(path, tasks);
    let folder = path.trim_end_matches("/tasks.md");
    let agent = writes("tillgreen-commands.txt", commands);
    let finished = plan(&sandbox, &agent, &["--verify", folder, "--accept"]).expect_code(0);
    let text = sandbox.read(path);
    (sandbox, text, finished)
}

/// The lines that one text has more than another.
fn added(before: &str, after: &str) -> Vec<String> {
    let mut left = before.lines().peekable();
    let is_new = |line: &&str| left.next_if_eq(line).is_none();
    let added: Vec<String> = after.lines().filter(is_new).map(str::to_owned).collect();
    assert_eq!(left.next(), None, "nothing else is changed");
    added
}

#[test]
fn tasks_without_a_command_get_one() {
    let tasks = "# Tasks\n\n- [ ] 1.1 One\n  - **Do**: it\n  - **Commit**: `feat: one`\n\n- [ ] 1.2 Two\n  - **Verify**: `test -f two.txt`\n\n- [ ] 1.3 Three\n";
    let wrong = "1.1: true\n1.2: test -f other.txt\n9.9: test -f x\nwhatever\n";
    let (sandbox, text, finished) = verified("specs/x/tasks.md", tasks, &[wrong, "1.1: test -f one.txt\n"]);
    assert_eq!(added(tasks, &text), ["  - **Verify**: `test -f one.txt`"]);
    let calls = sandbox.agent_calls();
    for expected in [
        "line 1: the command of 1.1 cannot fail",
        "line 2: task 1.2 has words of its own about how it is verified",
        "line 3: the plan has no task 9.9",
        "line 4: this is not a task's name, a colon and a command",
    ] {
        assert!(calls[1].prompt.contains(expected), "{expected}: {}", calls[1].prompt);
    }
    assert!(
        calls[0].prompt.contains("Tasks without a command:\n- 1.1 One\n- 1.3 Three\n"),
        "{}",
        calls[0].prompt
    );
    assert!(finished.stdout.contains("  without a command, so judged: 1.3\n"), "{finished}");
    assert!(finished.stdout.ends_with("Wrote 1 command into specs/x/tasks.md.\n"), "{finished}");
}

#[test]
fn plans_of_other_tools_get_commands_in_place() {
    let kit = "# Tasks: Photos\n\n## Phase 1: Setup\n\n- [ ] T001 [P] Create photo.txt\n- [ ] T002 Verify `test -f photo.txt`\n";
    let (sandbox, text, _) = verified("specs/001-photos/tasks.md", kit, &["T001: grep -q photo photo.txt"]);
    assert_eq!(added(kit, &text), ["  - Verify: `grep -q photo photo.txt`"]);
    let check = sandbox.run(&["check", "specs/001-photos"]).expect_code(0);
    assert!(
        check.stdout.contains("spec-kit: of what is left 1 on a command in a field, 1 on one in its words"),
        "{check}"
    );
    let open_spec = "## 1. Implementation\n\n- [ ] 1.1 Write `album.txt`\n  - with a title\n- [ ] 1.2 Write `index.txt`\n";
    let (_, text, _) =
        verified("openspec/changes/add-album/tasks.md", open_spec, &["1.1: grep -q title album.txt"]);
    assert_eq!(added(open_spec, &text), ["  - Verify: `grep -q title album.txt`"]);
    let kiro = "# Implementation Plan\n\n- [ ] 1. Build the album\n  - [ ] 1.1 Write `album.txt`\n    - _Requirements: 1.2_\n- [ ] 2. Write `index.txt`\n";
    let (_, text, _) =
        verified(".kiro/specs/album/tasks.md", kiro, &["1.1: test -s album.txt\n2: test -s index.txt"]);
    assert_eq!(added(kiro, &text), ["    - Verify: `test -s album.txt`", "  - Verify: `test -s index.txt`"]);
}

#[test]
fn scripts_are_taken_and_what_cannot_be_written_is_left_out() {
    let kit = "# Tasks: Photos\n\n## Phase 1: Setup\n\n- [ ] T001 [P] Create photo.txt\n- [ ] T002 Create other.txt\n- [ ] T003 Create last.txt\n";
    let sandbox = sandbox();
    sandbox.write("specs/001-photos/tasks.md", kit);
    sandbox.write("scripts/check.sh", "test -f photo.txt\n");
    fs::set_permissions(sandbox.root().join("scripts/check.sh"), Permissions::from_mode(0o755))
        .expect("a file");
    sandbox.commit_all("plan");
    let commands = "T001: scripts/check.sh\nT002: grep -q `cat a` other.txt\nT003: test -f last.txt\n";
    let agent = writes("tillgreen-commands.txt", &[commands]);
    let finished = plan(&sandbox, &agent, &["--verify", "001-photos", "--accept"]).expect_code(0);
    let text = sandbox.read("specs/001-photos/tasks.md");
    assert_eq!(added(kit, &text), ["  - Verify: `scripts/check.sh`", "  - Verify: `test -f last.txt`"]);
    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 2, "{finished}");
    assert!(
        calls[1].prompt.contains("so that it is read as it stands: it has to be one without"),
        "{}",
        calls[1].prompt
    );
    assert!(finished.stdout.contains("  without a command, so judged: T002\n"), "{finished}");
}

#[test]
fn a_plan_that_was_changed_meanwhile_stays_as_it_is() {
    let sandbox = sandbox();
    let tasks = "- [ ] 1.1 One\n- [ ] 1.2 Two\n";
    sandbox.spec("x", tasks);
    let agent = writes("tillgreen-commands.txt", &["1.1: test -f one.txt"]);
    let command = sandbox.install_agent(&agent);
    sandbox.run(&["plan", "--verify", "--agent-cmd", &command]).expect_code(3);
    sandbox.spec("x", &tasks.replace("Two", "Three"));
    let refused = sandbox.run(&["plan", "--verify", "--accept", "--agent-cmd", &command]).expect_code(2);
    assert!(refused.stderr.contains("was changed since the commands were proposed for it"), "{refused}");
    assert_eq!(sandbox.agent_calls().len(), 1, "nothing is accepted that nobody saw");
    let finished = sandbox.run(&["plan", "--verify", "--agent-cmd", &command]).expect_code(3);
    assert!(
        finished.stderr.contains("note: the plan was changed since commands were begun for it"),
        "{finished}"
    );
    sandbox.run(&["plan", "--verify", "--accept"]).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 2, "what was proposed for another text is not taken");
    assert_eq!(sandbox.tasks("x"), "- [ ] 1.1 One\n  - **Verify**: `test -f one.txt`\n- [ ] 1.2 Three\n");
    let all = sandbox.run(&["plan", "--verify", "--agent-cmd", "false"]);
    assert_eq!(all.code, Some(1), "1.2 is left: {all}");
    sandbox.spec("x", "- [ ] 1.1 One\n  - **Verify**: `test -f one.txt`\n");
    let none = sandbox.run(&["plan", "--verify"]).expect_code(0);
    assert!(none.stdout.contains("there is nothing to propose"), "{none}");
}

#[test]
fn commands_are_tried_with_what_sets_up_work_trees() {
    let sandbox = sandbox();
    sandbox.write("tillgreen.toml", "worktree_setup = \"mkdir -p made && echo made > made/by-set-up\"\n");
    sandbox.write(".gitignore", "made/\n");
    sandbox.commit_all("settings");
    let text = GOOD.replace("grep -q limit limits.txt", "grep -q limit made/by-set-up");
    let finished = plan(&sandbox, &writes(DRAFT, &[&text]), &["add", "limits"]).expect_code(3);
    assert!(finished.stdout.contains("red before the work"), "{finished}");
    let green = GOOD.replace("grep -q limit limits.txt", "grep -q made made/by-set-up");
    let finished = plan(&sandbox, &writes(DRAFT, &[&green]), &["add", "limits", "--fresh"]).expect_code(3);
    assert!(finished.stdout.contains("green before the work: proves nothing yet for 1.1"), "{finished}");
}

#[test]
fn programs_are_told_all_of_it() {
    let sandbox = sandbox();
    let finished =
        plan(&sandbox, &writes(DRAFT, &[GOOD]), &["--format", "json", "add", "limits"]).expect_code(3);
    let last = finished.stdout.lines().last().expect("a document");
    let document: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(document["plan"], DRAFT);
    assert_eq!(document["accepted"], false);
    assert_eq!(document["commands"][0]["task"], "1.1");
    assert_eq!(document["commands"][0]["trial"], "red");
    assert!(document["diff"].as_str().expect("a diff").contains("+# Tasks: limits"));
}

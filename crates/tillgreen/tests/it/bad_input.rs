//! Bad input and bad luck: one clear message, a hint, a documented exit code, and nothing lost.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use testkit::{Agent, Finished, Sandbox, Step, wait_for, write_executable};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write the file
  - **Do**: write it
  - **Files**: `out.txt`
  - **Verify**: `grep -q done out.txt`
  - **Commit**: `feat: write the file`
";

const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";
const STATE: &str = "specs/demo/.ralph-state.json";

/// A project with a plan that the agent can do, everything committed, and the agent's command.
fn prepared(plan: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", plan);
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&worker());
    (sandbox, command)
}

fn worker() -> Agent {
    Agent::new().otherwise([Step::write("out.txt", "done\n"), Step::say("TASK_COMPLETE")])
}

/// A run of the plan that was interrupted by the agent's being unavailable: it can be resumed.
fn paused() -> (Sandbox, String) {
    let (sandbox, command) = prepared(PLAN);
    let run = sandbox.run(&["run", "--agent-cmd", "exit 75", "--infra-retries", "1"]);
    run.expect_code(6);
    (sandbox, command)
}

/// Every file below the project's root but git's own.
fn files(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![sandbox.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder was just found").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(sandbox.root()).expect("it lies in the project").to_owned();
            if name == Path::new(".git") {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

/// Runs a command that has to be refused: its exit code, what it says, no agent started and no byte lost. The
/// program's own folder may be new.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], code: i32, said: &[&str]) -> Finished {
    let before = files(sandbox);
    let calls = sandbox.agent_calls().len();
    let finished = sandbox.run(arguments).expect_code(code);
    expect_said(&finished, said);
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    assert_eq!(sandbox.agent_calls().len(), calls, "no agent may start");
    let mut after = files(sandbox);
    after.retain(|path, _| before.contains_key(path) || !path.starts_with(".tillgreen"));
    assert_eq!(after, before, "nothing may change");
    finished
}

#[track_caller]
fn expect_said(finished: &Finished, said: &[&str]) {
    for part in said {
        assert!(finished.stderr.contains(part), "{part:?} is missing\n{finished}");
    }
}

#[track_caller]
fn completes(sandbox: &Sandbox, arguments: &[&str]) -> Finished {
    let finished = sandbox.run(arguments).expect_code(0);
    assert!(finished.stdout.lines().any(|line| line == "ALL_TASKS_COMPLETE"), "{finished}");
    finished
}

#[test]
fn plans_that_are_not_there() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let run = ["run", "--agent-cmd", "true"];
    let no_spec: &[&str] = &["No active spec.", "tillgreen new NAME"];
    for command in ["status", "check", "log", "cancel"] {
        refused(&sandbox, &[command], 2, no_spec);
    }
    refused(&sandbox, &run, 2, no_spec);
    sandbox.write("specs/.current-spec", "");
    refused(&sandbox, &run, 2, no_spec);
    sandbox.write("specs/.current-spec", " \n\n");
    refused(&sandbox, &run, 2, no_spec);
    sandbox.write("specs/.current-spec", "demo\n");
    refused(&sandbox, &run, 2, &["ERROR: Spec directory missing at ./specs/demo/\n", "`tillgreen new demo`"]);
    sandbox.write("specs/demo/design.md", "kept");
    refused(&sandbox, &run, 2, &["ERROR: Tasks file missing at ./specs/demo/tasks.md\n", "- [ ] 1.1 Title"]);
    refused(&sandbox, &["run", "other", "--agent-cmd", "true"], 2, &["missing at ./specs/other/\n"]);
    refused(&sandbox, &["check", "dmo"], 2, &["missing at ./specs/dmo/\n", "did you mean `demo`?"]);
    refused(&sandbox, &["check", "a/b"], 2, &["missing at ./a/b/\n", "`tillgreen new NAME`"]);
    refused(&sandbox, &["check", "other/"], 2, &["missing at ./specs/other/\n", "`tillgreen new other`"]);
    refused(&sandbox, &["check", "a/tasks.md"], 2, &["ERROR: Tasks file missing at ./a/tasks.md\n"]);
    sandbox.write("notes.txt", "x");
    refused(&sandbox, &["check", "notes.txt"], 2, &["notes.txt is not a plan", "tillgreen check specs/NAME"]);
    fs::create_dir(sandbox.root().join("specs/demo/tasks.md")).unwrap();
    refused(&sandbox, &run, 2, &["ERROR: Tasks file missing at ./specs/demo/tasks.md"]);
}

#[test]
fn plans_that_cannot_be_read() {
    let (sandbox, agent) = prepared("");
    let run = ["run", "--agent-cmd", &agent, "--allow-dirty"];
    let check = |plan: &[u8], said: &[&str]| {
        sandbox.write("specs/demo/tasks.md", plan);
        refused(&sandbox, &run, 2, said)
    };
    check(b"", &["specs/demo/tasks.md has no tasks", "`tillgreen check`"]);
    check(b"# Tasks\n\nJust prose.\n", &["has no tasks"]);
    check(b"- [ ] 1.1 Good\n\n- [] 3.2 Bad\n", &["specs/demo/tasks.md:3: error:", "`tillgreen check`"]);
    let spoilt = check(b"- [ ] 1.1 Good\n- [ ] 1.2 B\xffad\n", &["tasks.md"]);
    expect_said(&spoilt, &["line 2 is not valid UTF-8"]);
    let checked = sandbox.run(&["check"]).expect_code(2);
    expect_said(&checked, &["tasks.md:2: error: the plan is not valid UTF-8"]);
    assert!(!sandbox.run(&["status"]).expect_code(2).stderr.is_empty());
}

#[test]
fn state_files_that_are_corrupt() {
    let (sandbox, agent) = prepared(PLAN);
    let run = ["run", "--agent-cmd", &agent];
    let cases: [&[u8]; 5] =
        [b"not json", b"", b"[1, 2]", b"{\"phase\": \"execution\", \"totalTasks\": 3}", b"\xff\xfe"];
    for text in cases {
        sandbox.write(STATE, text);
        let said = ["ERROR: State file missing or corrupt at ./specs/demo/.ralph-state.json", "--fresh"];
        refused(&sandbox, &run, 2, &said);
    }
    completes(&sandbox, &["run", "--agent-cmd", &agent, "--fresh"]);
    let archive = sandbox.root().join(".tillgreen/specs-demo/archive");
    let kept = fs::read_dir(archive)
        .unwrap()
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().ends_with("ralph-state.json"));
    assert_eq!(fs::read(kept.expect("the state file is kept").path()).unwrap(), b"\xff\xfe");
}

#[test]
fn a_state_file_of_another_phase_keeps_its_keys() {
    let (sandbox, _) = prepared(PLAN);
    sandbox.write(STATE, "{\"phase\": \"design\", \"mine\": [1, {\"a\": null}]}");
    sandbox.run(&["run", "--agent-cmd", "exit 75", "--infra-retries", "1"]).expect_code(6);
    let state = sandbox.read(STATE);
    assert!(state.contains("\"mine\"") && state.contains("\"execution\""), "{state}");
}

#[test]
fn journals_that_are_damaged() {
    let (sandbox, agent) = paused();
    let whole = fs::read(sandbox.root().join(JOURNAL)).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut flipped = whole.clone();
    let middle = lines[0].len() + 1 + lines[1].len() / 2;
    flipped[middle] ^= 1;
    let garbage = format!("{}\ngarbage\n{}\n", lines[0], lines[1..].join("\n"));
    let newer = text.replacen("\"version\":2", "\"version\":999", 1);
    assert_ne!(newer, text, "the header holds a version: {}", lines[0]);
    let older = text.replacen("\"version\":2", "\"version\":1", 1);
    let missing = format!("{}\n{}\n", lines[0], lines[2..].join("\n"));
    let cases: [(&[u8], &str); 6] = [
        (&flipped, "--fresh"),
        (garbage.as_bytes(), "--fresh"),
        (missing.as_bytes(), "--fresh"),
        (newer.as_bytes(), "newer tillgreen"),
        (older.as_bytes(), "--fresh"),
        (b"hello\n", "is not a journal"),
    ];
    for (bytes, said) in cases {
        sandbox.write(JOURNAL, bytes);
        refused(&sandbox, &["run", "--agent-cmd", &agent], 2, &["journal.jsonl", said, "hint: "]);
        refused(&sandbox, &["status"], 2, &["journal.jsonl", said]);
    }
    completes(&sandbox, &["run", "--agent-cmd", &agent, "--fresh"]);
    let archive = fs::read_dir(sandbox.root().join(".tillgreen/specs-demo/archive")).unwrap();
    let journals: Vec<_> = archive
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "jsonl"))
        .collect();
    assert_eq!(journals.len(), 1);
    assert_eq!(fs::read(journals[0].path()).unwrap(), b"hello\n");
}

#[test]
fn a_torn_last_line_is_repaired() {
    let (sandbox, agent) = paused();
    let whole = fs::read(sandbox.root().join(JOURNAL)).unwrap();
    let torn = [&whole[..], b"{\"half\":"].concat();
    sandbox.write(JOURNAL, &torn);
    sandbox.run(&["status"]).expect_code(0);
    assert_eq!(fs::read(sandbox.root().join(JOURNAL)).unwrap(), torn, "a reader repairs nothing");
    let run = completes(&sandbox, &["run", "--agent-cmd", &agent]);
    expect_said(&run, &["cut short"]);
    let now = fs::read(sandbox.root().join(JOURNAL)).unwrap();
    assert!(now.starts_with(&whole), "what was whole is kept");
    completes(&sandbox, &["run", "--agent-cmd", &agent]);
}

#[test]
fn agents_that_cannot_be_had() {
    let (sandbox, _) = prepared(PLAN);
    let cases: [(&[&str], &[&str]); 3] = [
        (&["run"], &["no agent is set", "--agent-cmd 'COMMAND'", "tillgreen agents"]),
        (&["run", "--agent", "clod"], &["unknown agent `clod`", "[agents.clod]"]),
        (
            &["run", "--agent-cmd", "no-such-program --x"],
            &["not installed", "`no-such-program` was not found"],
        ),
    ];
    for (arguments, said) in cases {
        refused(&sandbox, arguments, 2, said);
    }
    sandbox.write("agent.sh", "echo TASK_COMPLETE\n");
    refused(&sandbox, &["run", "--agent-cmd", "./agent.sh -p"], 2, &["is not executable", "chmod +x"]);
    assert!(!sandbox.has(".tillgreen"), "it is found out before anything starts");
    sandbox.write("tillgreen.toml", "[agents.claude]\ncommand = \"no-such-program -p\"\n");
    refused(&sandbox, &["run", "--agent", "clude"], 2, &["unknown agent `clude`", "did you mean `claude`?"]);
    refused(&sandbox, &["run", "--agent", "claude"], 2, &["not installed"]);
}

#[test]
fn without_a_repository_a_run_warns() {
    let sandbox = Sandbox::without_git(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    let agent = sandbox.install_agent(&worker());
    let run = completes(&sandbox, &["run", "--agent-cmd", &agent]);
    expect_said(&run, &["not a git repository"]);
    assert!(sandbox.tasks("demo").contains("- [x] 1.1"));
}

#[test]
fn without_git_on_the_path() {
    let (sandbox, agent) = prepared(PLAN);
    let empty = sandbox.control("empty");
    fs::create_dir(&empty).unwrap();
    for program in ["sh", "bash", "grep", "cat", "mkdir", "pwd", "mv", "dirname"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|file| file.exists());
        symlink(found.expect("the usual programs are there"), empty.join(program)).unwrap();
    }
    let path = empty.display().to_string();
    let run = sandbox.command(&["run", "--agent-cmd", &agent]).env("PATH", &path).run().expect_code(2);
    expect_said(&run, &["git is not installed", "install git"]);
    let bare = Sandbox::without_git(Path::new(PROGRAM));
    bare.spec("demo", PLAN);
    let agent = bare.install_agent(&worker());
    let run = bare.command(&["run", "--agent-cmd", &agent]).env("PATH", &path).run().expect_code(0);
    expect_said(&run, &["not a git repository"]);
}

#[test]
fn a_dirty_tree_stops_the_start_of_a_new_run() {
    let (sandbox, agent) = prepared(PLAN);
    sandbox.write("mine.txt", "precious");
    refused(
        &sandbox,
        &["run", "--agent-cmd", &agent],
        2,
        &["uncommitted changes: mine.txt", "--allow-dirty"],
    );
    completes(&sandbox, &["run", "--agent-cmd", &agent, "--allow-dirty"]);
    assert_eq!(sandbox.dirt(), ["?? mine.txt"]);
    assert_eq!(sandbox.read("mine.txt"), "precious");
}

#[test]
fn a_fresh_start_that_is_refused_puts_nothing_aside() {
    let (sandbox, agent) = paused();
    sandbox.write("other.txt", "mine\n");
    let said = ["the project has uncommitted changes: other.txt"];
    refused(&sandbox, &["run", "--fresh", "--agent-cmd", &agent], 2, &said);
    completes(&sandbox, &["run", "--fresh", "--agent-cmd", &agent, "--allow-dirty"]);
    assert!(sandbox.has(".tillgreen/specs-demo/archive"));
}

#[test]
fn what_a_run_keeps_is_its_users_alone() {
    let (sandbox, _) = paused();
    let own = sandbox.root().join(".tillgreen");
    let mode = || fs::metadata(&own).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o700);
    for command in
        [&["run", "--agent-cmd", "exit 75", "--infra-retries", "1"][..], &["tell", "a word"], &["prove"]]
    {
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        sandbox.run(command);
        assert_eq!(mode(), 0o700, "{command:?}");
    }
}

#[test]
fn a_complete_plan_needs_no_agent() {
    let (sandbox, agent) = prepared(PLAN);
    refused(&sandbox, &["run"], 2, &["no agent is set"]);
    completes(&sandbox, &["run", "--agent-cmd", &agent]);
    completes(&sandbox, &["run"]);
    for flag in ["--fresh", "--dry-run", "--pr"] {
        refused(&sandbox, &["run", flag], 2, &["no agent is set"]);
    }
    sandbox.git(&["reset", "-q", "--keep", "HEAD~2"]);
    refused(&sandbox, &["run"], 2, &["no agent is set"]);
    let status = sandbox.run(&["status"]).expect_code(0);
    for part in ["complete: when it ended, but 1 box is open now\n", "0/1 done", "Next      tillgreen run\n"]
    {
        assert!(status.stdout.contains(part), "{part} is not in {status}");
    }
}

#[test]
fn a_second_run_is_told_who_holds_the_plan() {
    let (sandbox, _) = prepared(PLAN);
    let gate = sandbox.control("gate");
    let agent = Agent::new().otherwise([
        Step::await_file(&gate),
        Step::write("out.txt", "done\n"),
        Step::say("TASK_COMPLETE"),
    ]);
    let agent = sandbox.install_agent(&agent);
    let first = sandbox.start(&["run", "--agent-cmd", &agent]);
    wait_for("the agent", || !sandbox.agent_calls().is_empty());
    let pid = format!("process {}", first.pid());
    let said = ["another run holds this plan", pid.as_str(), "tillgreen status", "tillgreen cancel"];
    for arguments in [["run", "--agent-cmd", "true"].as_slice(), &["run", "--agent-cmd", "true", "--fresh"]] {
        let second = sandbox.run(arguments).expect_code(4);
        expect_said(&second, &said);
    }
    sandbox.release("gate");
    first.wait().expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 1);
}

#[test]
fn settings_that_are_wrong() {
    let (sandbox, agent) = prepared(PLAN);
    let check = |text: &str, said: &[&str]| {
        sandbox.write("tillgreen.toml", text);
        refused(&sandbox, &["run", "--agent-cmd", &agent], 2, said);
    };
    check(
        "strict = true\nrecover_mode = true\n",
        &["tillgreen.toml:2: unknown key `recover_mode`", "did you mean `recovery_mode`?"],
    );
    check("\nscope = \"wran\"\n", &["tillgreen.toml:2: `scope` must be one of warn, reject, off"]);
    check("verify_timeout = \"soon\"\n", &["tillgreen.toml:1: `verify_timeout`"]);
    check("verify_timeout = 30\n", &["tillgreen.toml:1: `verify_timeout` needs a unit"]);
    check("max_task_iterations = 0\n", &["tillgreen.toml:1: `max_task_iterations` must be at least 1"]);
    check("# fine\nthis is not toml\n", &["tillgreen.toml:2:"]);
    check("\u{0}", &["tillgreen.toml:1:"]);
    fs::write(sandbox.root().join("tillgreen.toml"), b"a = \"\xff\"").unwrap();
    refused(&sandbox, &["run", "--agent-cmd", &agent], 2, &["tillgreen.toml"]);
}

#[test]
fn limits_of_zero_are_refused() {
    let (sandbox, agent) = prepared(PLAN);
    let limits = [
        "--max-task-iterations",
        "--max-fix-tasks",
        "--max-fix-depth",
        "--max-global-iterations",
        "--infra-retries",
    ];
    for limit in limits {
        refused(&sandbox, &["run", "--agent-cmd", &agent, limit, "0"], 2, &[limit, "at least 1"]);
    }
    for limit in
        ["--attempt-timeout", "--no-progress-timeout", "--verify-timeout", "--review-timeout", "--max-time"]
    {
        refused(&sandbox, &["run", "--agent-cmd", &agent, limit, "0s"], 2, &[limit]);
    }
}

#[test]
fn a_linked_plan_stays_a_link_and_its_files_stay_beside_it() {
    let (sandbox, agent) = prepared(PLAN);
    fs::rename(sandbox.root().join("specs/demo/tasks.md"), sandbox.root().join("plan.md")).unwrap();
    symlink("../../plan.md", sandbox.root().join("specs/demo/tasks.md")).unwrap();
    sandbox.commit_all("link");
    completes(&sandbox, &["run", "--agent-cmd", &agent]);
    let link = sandbox.root().join("specs/demo/tasks.md").symlink_metadata().unwrap();
    assert!(link.file_type().is_symlink(), "the link stays a link");
    assert_eq!(sandbox.read("plan.md"), PLAN.replace("[ ]", "[x]"));
    assert!(sandbox.has("specs/demo/.progress.md") && !sandbox.has(".progress.md"));
    let status = sandbox.run(&["status"]).expect_code(0);
    assert!(status.stdout.contains("demo (specs/demo/tasks.md)"), "{status}");
    assert_eq!(sandbox.dirt(), Vec::<String>::new());
}

#[test]
fn line_ends_and_marks_of_other_systems_are_kept() {
    for plan in [PLAN.replace('\n', "\r\n"), format!("\u{feff}{PLAN}"), PLAN.trim_end().to_owned()] {
        let (sandbox, agent) = prepared(&plan);
        completes(&sandbox, &["run", "--agent-cmd", &agent]);
        assert_eq!(sandbox.tasks("demo"), plan.replace("[ ]", "[x]"));
    }
}

#[test]
fn git_in_the_middle_of_something_pauses_the_run() {
    let (sandbox, agent) = prepared(PLAN);
    sandbox.write(".git/index.lock", "");
    let run = sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(6);
    expect_said(&run, &[".git/index.lock", "rm '"]);
    assert!(sandbox.has(".git/index.lock"), "it is somebody else's");
    fs::remove_file(sandbox.root().join(".git/index.lock")).unwrap();
    completes(&sandbox, &["run"]);
    assert_eq!(sandbox.agent_calls().len(), 1, "the work was not done twice");
    assert_eq!(sandbox.dirt(), Vec::<String>::new());
}

#[test]
fn with_a_merge_in_progress_nothing_is_started() {
    let (sandbox, agent) = prepared(PLAN);
    for (branch, text) in [("side", "a"), ("main", "b")] {
        sandbox.git(&["checkout", "--quiet", "-B", branch, if branch == "side" { "main" } else { "side~1" }]);
        sandbox.write("both.txt", text);
        sandbox.commit_all(branch);
    }
    assert!(!sandbox.try_git(&["merge", "side"]).status.success(), "the merge is to conflict");
    for flags in [&[][..], &["--allow-dirty"]] {
        let arguments = [&["run", "--agent-cmd", &agent], flags].concat();
        refused(&sandbox, &arguments, 2, &["a merge is in progress", "git merge --abort"]);
    }
    assert_eq!(sandbox.agent_calls().len(), 0);
    sandbox.git(&["merge", "--abort"]);
    completes(&sandbox, &["run", "--agent-cmd", &agent]);
    assert_eq!(sandbox.agent_calls().len(), 1);
    assert_eq!(sandbox.dirt(), Vec::<String>::new());
}

#[test]
fn a_merge_that_an_attempt_left_half_done_is_put_in_order_by_the_next() {
    let (sandbox, _) = prepared(PLAN);
    let begin = Step::shell("git rev-parse HEAD > .git/MERGE_HEAD");
    let abort = Step::shell("git merge --abort; echo done > out.txt");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [begin, Step::Exit(3)])
        .otherwise([abort, Step::say("TASK_COMPLETE")]);
    completes(&sandbox, &["run", "--agent-cmd", &sandbox.install_agent(&agent)]);
    assert_eq!(sandbox.agent_calls().len(), 2);
}

#[test]
fn a_merge_that_begins_between_two_tasks_pauses_the_run_before_the_next_agent() {
    let plan = format!("{PLAN}{}", PLAN.split_once("\n\n").unwrap().1.replace("1.1", "1.2"));
    let (sandbox, agent) = prepared(&plan);
    let hook = sandbox.root().join(".git/hooks/post-commit");
    let begins =
        "git log -1 --format=%s | grep -q 'chore(spec)' || exit 0; git rev-parse HEAD > .git/MERGE_HEAD";
    write_executable(&hook, &format!("#!/bin/sh\n{begins}\n"));
    let run = sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(6);
    expect_said(&run, &["a merge is in progress", "git merge --abort"]);
    assert_eq!(sandbox.agent_calls().len(), 1, "{run}");
    assert_eq!(sandbox.dirt(), Vec::<String>::new());
    fs::remove_file(&hook).unwrap();
    fs::remove_file(sandbox.root().join(".git/MERGE_HEAD")).unwrap();
    completes(&sandbox, &["run"]);
    assert_eq!(sandbox.agent_calls().len(), 2);
}

#[test]
fn without_a_git_identity_nothing_is_started() {
    let (sandbox, agent) = prepared(PLAN);
    let known = fs::read_to_string(sandbox.home().join(".gitconfig")).unwrap();
    fs::write(sandbox.home().join(".gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    let run = sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(2);
    expect_said(&run, &["git does not know who commits", "git config user.name"]);
    assert_eq!(sandbox.dirt(), Vec::<String>::new(), "the program's own files do not show");
    assert_eq!(sandbox.agent_calls().len(), 0);
    fs::write(sandbox.home().join(".gitconfig"), known).unwrap();
    completes(&sandbox, &["run", "--agent-cmd", &agent]);
    assert_eq!(sandbox.agent_calls().len(), 1);
    assert_eq!(sandbox.dirt(), Vec::<String>::new());
}

#[test]
fn without_a_home() {
    let (sandbox, agent) = prepared(PLAN);
    let run = sandbox.command(&["run", "--agent-cmd", &agent]).env("HOME", "").run().expect_code(0);
    assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
}

/// Runs a script in a mount namespace of its own; none, with a line that says so, where that is not allowed.
fn in_own_mounts(sandbox: &Sandbox, script: &str) -> Option<Output> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-euc", script]).current_dir(sandbox.root());
        command.env_clear().envs(sandbox.environment()).env("TILLGREEN", PROGRAM);
        command.env("ROOT", sandbox.root()).output()
    };
    let can = unshare("mount -t tmpfs -o size=64k tmpfs /mnt").is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: no mount namespaces here");
        return None;
    }
    Some(unshare(script).expect("it could be run a moment ago"))
}

#[track_caller]
fn expect_printed(output: &Output, parts: &[&str]) {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing\n{text}");
    }
}

#[test]
fn a_folder_that_is_read_only() {
    let (sandbox, agent) = prepared(PLAN);
    let before = files(&sandbox);
    let script = format!(
        "mount --bind \"$ROOT\" \"$ROOT\"; mount -o remount,bind,ro \"$ROOT\"; cd \"$ROOT\"\n\
         code=0; \"$TILLGREEN\" run --agent-cmd {:?} || code=$?; echo \"code $code\"",
        agent
    );
    let Some(output) = in_own_mounts(&sandbox, &script) else { return };
    expect_printed(&output, &["code 6", ".tillgreen", "Read-only file system", "hint: "]);
    assert_eq!(files(&sandbox), before);
    assert!(sandbox.agent_calls().is_empty());
}

#[test]
fn a_start_on_a_disk_that_cannot_be_written_is_a_pause() {
    let (sandbox, agent) = paused();
    let read_only = |path: &str| format!("mount --bind {path} {path}; mount -o remount,bind,ro {path};");
    let full = "mount -t tmpfs -o size=64k tmpfs .tillgreen; cp -a ../kept/. .tillgreen; cat /dev/zero > .tillgreen/filler 2>/dev/null || :;";
    for (mounts, name) in
        [(read_only(".git"), "git"), (read_only(".tillgreen"), "own"), (full.to_owned(), "full")]
    {
        let script = format!(
            "rm -rf ../kept; cp -a .tillgreen ../kept; {mounts}\n\
             for start in \"run --agent-cmd x\" 'run --fresh --agent-cmd x' 'run --branch b --agent-cmd x' 'tell word' 'prove'; do\n\
             code=0; \"$TILLGREEN\" $start </dev/null >../said 2>&1 || code=$?; echo \"$start: $code $(grep -c '^hint: ' ../said)\"; cat ../said\n\
             done"
        );
        let script = script.replace("--agent-cmd x", &format!("--agent-cmd {:?}", "exit 75"));
        let script = script.replace("\"exit 75\"", "false");
        let Some(output) = in_own_mounts(&sandbox, &script) else { return };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let refused: Vec<&str> = text.lines().filter(|line| line.contains(": 6 ")).collect();
        let odd: Vec<&str> =
            text.lines().filter(|line| line.contains(": 2 ") || line.contains(": 6 0")).collect();
        assert!(
            !refused.is_empty() && odd.is_empty(),
            "{name}: {text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    drop(agent);
}

#[test]
fn a_full_disk_pauses_the_run_and_nothing_is_lost() {
    let (sandbox, _) = prepared(PLAN);
    let agent = Agent::new().on_attempt(
        "1.1",
        1,
        [
            Step::write("out.txt", "done\n"),
            Step::shell("test -e filled || { touch filled; cat /dev/zero > filler 2>/dev/null || :; }"),
            Step::say("TASK_COMPLETE"),
        ],
    );
    let agent = sandbox.install_agent(&agent);
    let script = format!(
        "cp -a \"$ROOT\" \"$ROOT.copy\"; mount -t tmpfs -o size=2m tmpfs \"$ROOT\"; cp -a \"$ROOT.copy/.\" \"$ROOT\"\n\
         cd \"$ROOT\"; git status --short; echo filler > .git/info/exclude; echo filled >> .git/info/exclude\n\
         code=0; \"$TILLGREEN\" run --agent-cmd {agent:?} || code=$?; echo \"first $code\"\n\
         rm filler; code=0; \"$TILLGREEN\" run || code=$?; echo \"second $code\"; cat specs/demo/tasks.md; git log --format=%s"
    );
    let Some(output) = in_own_mounts(&sandbox, &script) else { return };
    expect_printed(
        &output,
        &["first 6", "hint: ", "second 0", "ALL_TASKS_COMPLETE", "- [x] 1.1", "feat: write the file"],
    );
}

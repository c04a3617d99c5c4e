//! A repository that was merely cloned: nothing of it runs before `run`, which says what does, and a record that came with
//! it is not ours.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use testkit::{Agent, Sandbox, Step, write_executable};

use crate::serve::scene::Server;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write the file
  - **Do**: write it
  - **Files**: `out.txt`
  - **Verify**: `./evil.sh`
";

const SETTINGS: &str = "\
worktree_setup = \"./evil.sh setup\"
regression = \"./evil.sh regression\"

[agents.claude]
program = \"./evil.sh\"
env = { ANTHROPIC_BASE_URL = \"http://localhost:9\" }

[agents.mine]
command = \"./evil.sh -p\"

[agents.far]
program = \"far\"
kind = \"codex\"
";

/// Everything that only looks.
const LOOKS: [&[&str]; 20] = [
    &["check"],
    &["check", "--graph"],
    &["status"],
    &["status", "--format", "json"],
    &["log"],
    &["show", "1.1"],
    &["show", "1.1", "--output"],
    &["show", "1.1", "--diff"],
    &["stats"],
    &["stats", "--all"],
    &["report"],
    &["report", "--markdown"],
    &["report", "--junit"],
    &["agents"],
    &["list"],
    &["init"],
    &["completions", "bash"],
    &["man"],
    &["run", "--dry-run"],
    &["run", "--dry-run", "--pr", "--format", "json"],
];

/// A project whose every program leaves a mark when it is started: agents and commands, hooks, filters, a file system
/// monitor.
fn hostile() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let evil = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", sandbox.control("mark").display());
    write_executable(&sandbox.root().join("evil.sh"), &evil);
    // A program on the path that only this project's file names, and one that lies in it.
    sandbox.install_program("far", &evil);
    symlink(sandbox.root().join("evil.sh"), sandbox.control("../bin/gemini")).expect("a link can be made");
    sandbox.spec("demo", PLAN);
    sandbox.write("tillgreen.toml", SETTINGS);
    sandbox.write(".gitattributes", "*.txt filter=evil diff=evil\n");
    sandbox.write("out.txt", "before\n");
    sandbox.commit_all("project");
    for (key, value) in [
        ("core.fsmonitor", "./evil.sh"),
        ("filter.evil.clean", "./evil.sh clean"),
        ("diff.evil.command", "./evil.sh diff"),
        ("diff.evil.textconv", "./evil.sh textconv"),
        ("diff.external", "./evil.sh external"),
        ("core.pager", "./evil.sh pager"),
        ("core.sshCommand", "./evil.sh ssh"),
    ] {
        sandbox.git(&["config", key, value]);
    }
    for hook in ["post-index-change", "pre-commit", "reference-transaction", "post-checkout"] {
        write_executable(&sandbox.root().join(".git/hooks").join(hook), &evil);
    }
    // Git has to look at its content to know that nothing was changed.
    fs::write(sandbox.root().join("out.txt"), "before\n").expect("a file can be written");
    fs::remove_file(sandbox.control("mark")).unwrap_or_default();
    sandbox
}

/// Every file of the project, git's own included.
fn files(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![sandbox.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder was just found").flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else {
                found.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
            }
        }
    }
    found
}

#[track_caller]
fn nothing_runs(sandbox: &Sandbox, commands: &[&[&str]]) {
    let before = files(sandbox);
    for arguments in commands {
        let finished = sandbox.run(arguments);
        let mark = fs::read_to_string(sandbox.control("mark")).unwrap_or_default();
        assert_eq!(mark, "", "{arguments:?} started that\n{finished}");
        assert_eq!(files(sandbox), before, "{arguments:?} wrote\n{finished}");
    }
}

#[test]
fn looking_at_a_clone_starts_nothing_of_it_and_writes_nothing() {
    let sandbox = hostile();
    nothing_runs(&sandbox, &LOOKS);
    let agents = sandbox.run(&["agents"]).expect_code(0);
    for reason in [
        "(not asked for its version: it lies in the project)",
        "(not asked for its version: only tillgreen.toml names it)",
    ] {
        assert!(agents.stdout.contains(reason), "{agents}");
    }
}

/// Asks the page for everything that it can be asked for.
#[track_caller]
fn the_page_runs_nothing(sandbox: &Sandbox) {
    let server = Server::start(sandbox, "127.0.0.1:0");
    let (host, cookie) = (format!("Host: {}", server.host()), server.cookie());
    let before = files(sandbox);
    let of_task = "run=specs-demo&task=1.1";
    let mut asked = vec!["/".to_owned(), "/api/runs".to_owned(), "/api/run?run=specs-demo".to_owned()];
    asked.extend([
        "/api/costs?run=specs-demo".to_owned(),
        "/api/statistics".to_owned(),
        format!("/api/task?{of_task}"),
    ]);
    for part in ["output", "checks", "prompt", "diff", "events"] {
        asked.push(format!("/api/text?{of_task}&part={part}"));
        asked.push(format!("/api/text?{of_task}&part={part}&attempt=0&from=0"));
    }
    for path in asked {
        let (_, answer) = server.ask(&format!("GET {path}"), &[&host, &cookie], "");
        let mark = fs::read_to_string(sandbox.control("mark")).unwrap_or_default();
        assert_eq!(mark, "", "{path} started that\n{answer}");
        assert_eq!(files(sandbox), before, "{path} wrote\n{answer}");
    }
    // What is said is left for the next run, and starts none.
    let skip = r#"{"what":"skip","run":"specs-demo","task":"1.1"}"#;
    let origin = format!("Origin: {}", server.base());
    server.ask("POST /api/say", &[&host, &cookie, &origin], skip);
    assert_eq!(fs::read_to_string(sandbox.control("mark")).unwrap_or_default(), "", "that was started");
}

#[test]
fn the_page_of_a_clone_starts_nothing_of_it_and_writes_nothing() {
    the_page_runs_nothing(&hostile());
}

#[test]
fn looking_at_an_own_run_starts_nothing_of_the_project() {
    let sandbox = hostile();
    let agent =
        sandbox.install_agent(&Agent::new().otherwise([Step::write("out.txt", "done\n"), Step::say("no")]));
    sandbox.git(&["config", "--unset", "core.fsmonitor"]);
    sandbox.run(&["run", "--agent-cmd", &agent, "--max-task-iterations", "1"]).expect_code(1);
    sandbox.git(&["config", "core.fsmonitor", "./evil.sh"]);
    fs::remove_file(sandbox.control("mark")).expect("the run started something");
    // Filters are the user's own settings: whoever compares with files that are not committed needs them.
    sandbox.git(&["-c", "core.fsmonitor=false", "config", "--unset", "filter.evil.clean"]);
    nothing_runs(&sandbox, &LOOKS);
    the_page_runs_nothing(&sandbox);
}

#[test]
fn a_dry_run_shows_every_command_and_where_it_comes_from() {
    let sandbox = hostile();
    let dry = sandbox.run(&["run", "--dry-run"]).expect_code(0);
    let (_, commands) = dry.stdout.split_once("Commands:\n").expect("commands are shown");
    insta::assert_snapshot!(commands, @"
      `./evil.sh` to work as agent claude, with ANTHROPIC_BASE_URL set (tillgreen.toml)
      `./evil.sh setup` to make work trees ready (tillgreen.toml)
      `./evil.sh regression` to look for regressions at the very end (tillgreen.toml)
      `./evil.sh` to verify 1.1 (specs/demo/tasks.md:3)
      `.git/hooks/pre-commit` to look at what is committed or pushed (a hook of git's)
    ");
    let json = sandbox.run(&["run", "--dry-run", "--agent-cmd", "true", "--format", "json"]).expect_code(0);
    assert!(json.stdout.contains("\"command\": \"true\",\n      \"from\": \"--agent-cmd\""), "{json}");
}

#[test]
fn a_run_says_at_its_start_what_the_project_has_it_start() {
    let sandbox = hostile();
    let run = sandbox.run(&[
        "run",
        "--agent-cmd",
        "exit 3",
        "--max-task-iterations",
        "1",
        "--worktree-setup",
        "true",
    ]);
    let told: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("From ")).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    From tillgreen.toml: `./evil.sh regression` to look for regressions at the very end
    From specs/demo/tasks.md: 1 verify command
    ");
}

/// What a stranger's journal would have run.
fn with_record() -> Sandbox {
    let sandbox = hostile();
    sandbox.run(&["run", "--agent-cmd", "./evil.sh; exit 75", "--infra-retries", "1"]).expect_code(6);
    fs::remove_file(sandbox.control("mark")).expect("the run started something");
    sandbox
}

#[test]
fn a_record_that_came_with_the_repository_is_not_read() {
    let sandbox = with_record();
    sandbox.git(&["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "-f", ".tillgreen"]);
    fs::remove_file(sandbox.control("mark")).unwrap_or_default();
    sandbox.write("tillgreen.toml", "");
    nothing_runs(&sandbox, &LOOKS);
    nothing_runs(
        &sandbox,
        &[&["run"], &["answer", "retry"], &["tell", "x"], &["clean"], &["run", "--fresh"]],
    );
    let status = sandbox.run(&["status"]).expect_code(2);
    insta::assert_snapshot!(status.stderr, @"
    error: git tracks .tillgreen/: it came with the repository, so it is not ours and is not read
    hint: remove it with `git rm -r .tillgreen`; if it is yours, `git rm -r --cached .tillgreen` only has git let go of it
    ");
    sandbox.run(&["check"]).expect_code(0);
    sandbox.git(&["rm", "-r", "-q", "--cached", ".tillgreen"]);
    let status = sandbox.run(&["status"]).expect_code(0);
    assert!(status.stdout.contains("paused"), "{status}");
}

#[test]
fn links_in_the_record_are_not_followed() {
    let sandbox = with_record();
    let elsewhere = sandbox.control("elsewhere");
    fs::rename(sandbox.root().join(".tillgreen/specs-demo/attempts"), &elsewhere).expect("it can be moved");
    symlink(&elsewhere, sandbox.root().join(".tillgreen/specs-demo/attempts")).expect("a link can be made");
    let run = sandbox.run(&["run"]).expect_code(2);
    assert!(run.stderr.contains(".tillgreen/specs-demo/attempts is a link"), "{run}");
}

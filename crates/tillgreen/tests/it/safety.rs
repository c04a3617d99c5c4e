//! What must not get out: secrets into anything that is written, text of others as more than text, agents out of their
//! sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{Agent, Sandbox, Step, wait_for, write_executable};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write the file
  - **Do**: write it
  - **Files**: `out.txt`
  - **Verify**: `./check.sh`
  - **Commit**: `feat: write the file`
";

/// Secrets: by form, by the name of a variable, by a setting, by a name before them.
const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const OF_ENVIRONMENT: &str = "zq81-4fTt.w9x02";
const LISTED: &str = "internal.example";
const PASSWORD: &str = "swordfish-7";

fn prepared(plan: &str, check: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", plan);
    write_executable(&sandbox.root().join("check.sh"), check);
    sandbox.commit_all("plan");
    sandbox
}

/// Every file below a folder, git's objects left out.
fn files_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.ends_with(".git/objects") {
                continue;
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
                found.push((path, text));
            }
        }
    }
    found
}

#[track_caller]
fn expect_no_secret(place: &str, text: &str) {
    for secret in [TOKEN, "c3D4e5F6g7H8", OF_ENVIRONMENT, LISTED, PASSWORD] {
        assert!(!text.contains(secret), "{secret} is in {place}:\n{text}");
    }
}

#[test]
fn secrets_are_in_nothing_that_is_written() {
    let tell = format!(
        "printf 'key ghp_a1B2'; sleep 0.3; printf '{}\\n'; echo \"$DEPLOY_TOKEN at {LISTED}\"; echo 'password: {PASSWORD}' >&2",
        &TOKEN[8..]
    );
    let check = format!("#!/bin/sh\n{tell}\necho \"FAILED {TOKEN}\"\ntest -e out.txt");
    // The secrets are in no file of the project.
    let sandbox = prepared(PLAN, "#!/bin/sh\nexec \"$CHECK\"\n");
    write_executable(&sandbox.control("check.sh"), &check);
    sandbox.write("tillgreen.toml", "mask = [\"$LISTED_HOST\"]\n");
    sandbox.commit_all("settings");
    let claim = format!(
        "Task 1.1: x FAILED\n- Error: {TOKEN} {OF_ENVIRONMENT} refused\n- Attempted fix: {LISTED}\n- Status: password={PASSWORD}"
    );
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::shell(&tell), Step::say("TASK_COMPLETE")])
        .on_attempt("1.1", 2, [Step::say(&claim)])
        .otherwise([
            Step::shell(&tell),
            Step::append("specs/demo/.progress-task-1.1.md", &format!("## Learnings\n- use {TOKEN}\n")),
            Step::write("out.txt", "done\n"),
            Step::say("TASK_COMPLETE"),
        ]);
    let agent = sandbox.install_agent(&agent);
    let run = sandbox
        .command(&["run", "--agent-cmd", &agent, "--recovery-mode"])
        .env("DEPLOY_TOKEN", OF_ENVIRONMENT)
        .env("LISTED_HOST", LISTED)
        .env("CHECK", &sandbox.control("check.sh").display().to_string())
        .run();
    run.expect_code(0);
    for arguments in [
        &["log"][..],
        &["show", "1.1"],
        &["show", "1.1", "--output"],
        &["status"],
        &["stats"],
        &["log", "--format", "json"],
    ] {
        let shown = sandbox.run(arguments);
        expect_no_secret(&format!("{arguments:?}"), &format!("{}{}", shown.stdout, shown.stderr));
    }
    let written = files_below(sandbox.root());
    let masked = written.iter().filter(|(_, text)| text.contains("[masked]")).count();
    assert!(masked > 5, "{masked}");
    for (path, text) in written {
        expect_no_secret(&path.display().to_string(), &text);
    }
    expect_no_secret("the history", &sandbox.git(&["log", "-p", "--format=%B"]));
}

#[test]
fn secrets_are_masked_before_they_are_written_also_where_the_run_is_killed() {
    let sandbox = prepared(PLAN, "#!/bin/sh\ntrue\n");
    let agent = sandbox.install_agent(&Agent::new().otherwise([
        Step::shell(&format!("printf 'key ghp_a1B2'; sleep 0.2; printf '{}\\nnext\\n'", &TOKEN[8..])),
        Step::Hang,
    ]));
    let run = sandbox.start(&["run", "--agent-cmd", &agent, "--report-tools=false"]);
    let log = || {
        files_below(&sandbox.root().join(".tillgreen"))
            .into_iter()
            .find(|(path, text)| path.ends_with("stdout.log") && text.contains("next"))
    };
    wait_for("the output to be written", || log().is_some());
    sandbox.kill_everything();
    drop(run);
    let (_, text) = log().expect("it is still there");
    assert_eq!(text, "key [masked]\nnext\n");
}

#[test]
fn a_likely_key_in_an_agents_work_is_told_and_left_as_it_is() {
    let sandbox = prepared(PLAN, "#!/bin/sh\ntest -e out.txt\n");
    let text = format!("key = {TOKEN}\n");
    let agent = sandbox
        .install_agent(&Agent::new().otherwise([Step::write("out.txt", &text), Step::say("TASK_COMPLETE")]));
    let run = sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(0);
    let told = "out.txt has what looks like a key (github): it is committed as it is";
    assert!(run.stderr.contains(told) && run.stdout.contains(told), "{run}");
    assert_eq!(sandbox.git(&["show", "HEAD~1:out.txt"]).trim(), text.trim());
    expect_no_secret("the messages", &format!("{}{}", run.stdout, run.stderr));
}

#[test]
fn variables_reach_agents_and_commands_as_they_are_let() {
    let sandbox = prepared(PLAN, "#!/bin/sh\nenv > verify.env; test -e out.txt\n");
    let tell = Step::shell("env > agent.env");
    let agent = sandbox.install_agent(&Agent::new().otherwise([
        tell,
        Step::write("out.txt", "x\n"),
        Step::say("TASK_COMPLETE"),
    ]));
    let check = |flags: &[&str], blocked: &[&str], passed: &[&str]| {
        let arguments = [&["run", "--fresh", "--agent-cmd", &agent, "--allow-dirty"], flags].concat();
        sandbox.command(&arguments).env("AWS_REGION", "x").env("NPM_THING", "y").run().expect_code(0);
        for file in ["agent.env", "verify.env"] {
            let text = sandbox.read(file);
            let has = |name: &&&str| text.lines().any(|line| line.starts_with(&format!("{name}=")));
            assert_eq!(blocked.iter().find(has), None, "{file}: {text}");
            assert_eq!(passed.iter().filter(has).count(), passed.len(), "{file}: {text}");
        }
        let tasks = sandbox.tasks("demo").replace("[x]", "[ ]");
        sandbox.spec("demo", &tasks);
        fs::remove_file(sandbox.root().join("out.txt")).expect("the task is done anew");
        sandbox.commit_all("again");
    };
    check(&[], &[], &["AWS_REGION", "NPM_THING", "PATH"]);
    check(&["--env-block", "AWS_*"], &["AWS_REGION"], &["NPM_THING", "PATH", "TILLGREEN_RUN"]);
    check(&["--env-pass", "NPM_*"], &["AWS_REGION"], &["NPM_THING", "PATH", "HOME", "TILLGREEN_RUN"]);
}

/// Characters that do more than being read, in words between which they can be told apart.
const HOSTILE: &str = "a\u{1b}[31mb\u{1b}]0;t\u{7}c\u{9b}2Jd\u{202e}e\u{2066}f\u{200b}g\u{feff}h\u{e0041}i\u{ad}j\u{8}k\u{7f}l\u{200f}m";

/// The first character of a text that should not be in it.
fn harmful(text: &str) -> Option<char> {
    text.chars()
        .find(|character| !matches!(character, '\n' | '\t') && plan::harmless(*character) != Some(*character))
}

#[track_caller]
fn expect_harmless(place: &str, text: &str) {
    let found = harmful(text).map(|character| character.escape_unicode().to_string());
    assert_eq!(found, None, "in {place}:\n{}", text.escape_debug());
}

/// Everything that shows something of a run.
const SHOWN: [&[&str]; 14] = [
    &["log"],
    &["show", "1.1"],
    &["show", "1.1", "--output"],
    &["show", "1.1", "--prompt"],
    &["show", "1.1", "--diff"],
    &["status"],
    &["stats"],
    &["stats", "--chart", "run.svg"],
    &["stats", "--chart", "run.html"],
    &["check"],
    &["check", "--graph"],
    &["check", "--graph=mermaid"],
    &["list"],
    &["run", "--dry-run", "--fresh"],
];

#[test]
fn text_of_others_is_harmless_wherever_it_is_shown_or_written() {
    let plan = PLAN
        .replace("Write the file", &format!("Write {HOSTILE}"))
        .replace("feat: write", &format!("feat: {HOSTILE} write"))
        + &format!(
            "- [ ] 1.2 Other {HOSTILE}\n  - **Files**: `{HOSTILE}.txt`\n  - **Verify**: `true {HOSTILE}`\n"
        );
    let sandbox = prepared(&plan, &format!("#!/bin/sh\nprintf 'FAILED {HOSTILE}\\r\\n'\ntest -e out.txt\n"));
    let claim =
        format!("Task 1.1: x FAILED\n- Error: {HOSTILE}\n- Attempted fix: {HOSTILE}\n- Status: {HOSTILE}");
    let agent = sandbox.install_agent(
        &Agent::new()
            .on_attempt("1.1", 1, [Step::say(&format!("said {HOSTILE}")), Step::say("TASK_COMPLETE")])
            .on_attempt("1.1", 2, [Step::Complain(HOSTILE.to_owned()), Step::say(&claim)])
            .otherwise([
                Step::append("specs/demo/.progress-task-1.1.md", &format!("## Learnings\n- use {HOSTILE}\n")),
                Step::write(&format!("{HOSTILE}.txt"), "x\n"),
                Step::write("out.txt", "done\n"),
                Step::say(&format!("{HOSTILE}\nTASK_COMPLETE")),
            ]),
    );
    let run = sandbox.run(&["run", "--agent-cmd", &agent, "--recovery-mode"]);
    expect_harmless("run's messages", &run.stderr);
    expect_harmless("run's results", &run.stdout);
    assert!(run.stderr.contains('\u{241b}'), "{run}");
    for arguments in SHOWN {
        for format in [&[][..], &["--format", "json"]] {
            let shown = sandbox.run(&[arguments, format].concat());
            expect_harmless(
                &format!("{arguments:?} {format:?}"),
                &format!("{}{}", shown.stdout, shown.stderr),
            );
            for line in shown.stdout.lines().filter(|_| !format.is_empty() && arguments.len() == 1) {
                for value in
                    serde_json::Deserializer::from_str(&shown.stdout).into_iter::<serde_json::Value>()
                {
                    expect_texts_harmless(
                        &value.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {line}")),
                    );
                }
            }
        }
    }
    for (path, text) in files_below(sandbox.root()) {
        let name = path.strip_prefix(sandbox.root()).expect("it is below").display().to_string();
        let is_others = ["tasks.md", "task.md", "prompt.md", ".index", "check.sh", "progress-task-1.1.md"]
            .iter()
            .any(|own| name.ends_with(own));
        if !is_others && !name.starts_with(".git/") && !name.ends_with("journal.jsonl") {
            expect_harmless(&name, &text);
        }
    }
    expect_harmless("commit messages", &sandbox.git(&["log", "--format=%B"]));
    let fixes: Vec<String> =
        sandbox.tasks("demo").lines().filter(|line| line.contains("[FIX")).map(str::to_owned).collect();
    assert!(!fixes.is_empty());
    expect_harmless("fix tasks", &fixes.join("\n"));
}

fn expect_texts_harmless(value: &serde_json::Value) {
    match value {
        serde_json::Value::String(text) => expect_harmless("a value", text),
        serde_json::Value::Array(values) => values.iter().for_each(expect_texts_harmless),
        serde_json::Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            expect_harmless("a key", key);
            expect_texts_harmless(value);
        }),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// True if sandboxes can be had here; else a line that says why not.
pub(crate) fn can_sandbox() -> bool {
    let trial =
        Command::new("bwrap").args(["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "true"]).output();
    let can = trial.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: bubblewrap is not installed, or namespaces are not allowed");
    }
    can
}

/// An agent that writes wherever it can, and says where that was.
fn intruder(sandbox: &Sandbox, elsewhere: &Path) -> String {
    let elsewhere = elsewhere.display();
    let home = sandbox.root().join(".tillgreen/specs-demo");
    let try_all = format!(
        "git_folder=$(cd \"$(git rev-parse --git-common-dir)\" && pwd)\n\
         for place in '{elsewhere}' \"$git_folder/hooks/pre-commit\" \"$git_folder/config\" '{}/journal.jsonl'; do\n\
         (echo >> \"$place\") 2>/dev/null && echo \"wrote $place\" >> out.txt\n\
         done\n\
         for place in .git '{}' '{}'; do mv \"$place\" moved 2>/dev/null && echo \"moved $place\" >> out.txt; done\n\
         echo done >> out.txt; git add out.txt; git commit -q -m 'agent: work' || echo 'no commit' >> out.txt",
        home.display(),
        sandbox.root().join(".tillgreen").display(),
        home.display()
    );
    sandbox.install_agent(&Agent::new().otherwise([Step::shell(&try_all), Step::say("TASK_COMPLETE")]))
}

#[test]
fn an_agent_in_the_sandbox_writes_in_its_place_alone() {
    if !can_sandbox() {
        return;
    }
    for flags in [&["--sandbox"][..], &["--sandbox", "--isolate"], &["--sandbox=offline"]] {
        let sandbox = prepared(PLAN, "#!/bin/sh\ngrep -q done out.txt\n");
        let elsewhere = PathBuf::from(format!("/var/tmp/tillgreen-test-{}", std::process::id()));
        let agent = intruder(&sandbox, &elsewhere);
        let run = sandbox.run(&[&["run", "--agent-cmd", &agent][..], flags].concat());
        let was_written = fs::remove_file(&elsewhere).is_ok();
        let run = run.expect_code(0);
        assert!(!was_written, "{flags:?}");
        assert_eq!(sandbox.read("out.txt"), "done\n", "{flags:?}: {run}");
    }
}

#[test]
fn a_sandbox_that_cannot_be_had_is_an_error_before_anything_starts() {
    let sandbox = prepared(PLAN, "#!/bin/sh\ntrue\n");
    sandbox.install_program("bwrap", "echo 'no namespaces' >&2; exit 1");
    let run = sandbox.run(&["run", "--agent-cmd", "true", "--sandbox"]).expect_code(2);
    insta::assert_snapshot!(run.stderr, @"
    error: there can be no sandbox here: `bwrap` says: no namespaces
    hint: install bubblewrap (`apt install bubblewrap`), see that user namespaces are allowed, or turn it off with `--sandbox=off`
    ");
    assert!(!sandbox.has(".tillgreen"));
}

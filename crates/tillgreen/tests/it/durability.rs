//! What is durable before what, seen in the system calls of a real run: events before what they allow, and every file that
//! is replaced before it takes the other's place. A power loss in between then leaves the old text or the new one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::{Agent, Sandbox, Step};

const CALLS: &str = "trace=write,fsync,fdatasync,rename,renameat,renameat2,execve";
const PLAN: &str =
    "# Tasks\n\n- [ ] 1.1 Write it\n  - **Files**: out.txt\n  - **Verify**: `test -s out.txt`\n";

/// The system calls of a run to green, of all its threads and children; nothing without strace.
fn traced() -> Option<String> {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    let agent = Agent::new().otherwise([Step::write("out.txt", "done\n"), Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let log = sandbox.control("calls");
    let run = Command::new("strace")
        .args(["-f", "-y", "-s", "400", "-e", CALLS, "-o"])
        .arg(&log)
        .args([env!("CARGO_BIN_EXE_tillgreen"), "run", "--agent-cmd", &command])
        .current_dir(sandbox.root())
        .env_clear()
        .envs(sandbox.environment())
        .stdin(Stdio::null())
        .output();
    match run {
        Ok(run) => assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr)),
        Err(error) => {
            println!("skipped: strace cannot be started ({error})");
            return None;
        }
    }
    Some(String::from_utf8_lossy(&fs::read(log).expect("a log")).into_owned())
}

/// The text between two others.
fn between<'a>(line: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(from)?;
    Some(rest.split_once(to)?.0)
}

/// What was done before what it rests on was durable.
fn too_early(log: &str) -> Vec<String> {
    let (mut open, mut found) = (BTreeSet::new(), Vec::new());
    for line in log.lines() {
        let written = line.contains(" write(").then(|| between(line, "<", ">")).flatten();
        let synced = ["fsync(", "fdatasync("].iter().any(|call| line.contains(&format!(" {call}")));
        if let Some(path) = written {
            open.insert(path);
        } else if let Some(path) = between(line, "<", ">").filter(|_| synced) {
            open.remove(path);
        } else if let Some(from) = line.contains(" rename").then(|| between(line, "\"", "\"")).flatten() {
            if from.contains("/.tillgreen-") && open.contains(from) {
                found.push(format!("renamed before it is durable: {line}"));
            }
        } else if line.contains("tg-keeper")
            && line.contains("agent.sh")
            && open.iter().any(|path| path.ends_with("journal.jsonl"))
        {
            found.push(format!("an agent is started before its event is durable: {line}"));
        }
    }
    found
}

#[test]
fn nothing_is_done_before_what_it_rests_on_is_durable() {
    let Some(log) = traced() else { return };
    assert_eq!(too_early(&log), Vec::<String>::new());
    let start = log.lines().position(|line| line.contains("tg-keeper") && line.contains("agent.sh"));
    let is_told_before =
        log.lines().take(start.expect("the agent is started")).any(|line| line.contains("attempt_started"));
    assert!(is_told_before, "the event comes first");
    assert!(log.contains("tasks.md\")"), "the plan is replaced");
    // The same run by a program that makes nothing durable.
    let without: Vec<&str> = log.lines().filter(|line| !line.contains("sync(")).collect();
    let found = too_early(&without.join("\n"));
    assert!(found.iter().any(|found| found.contains("tasks.md")), "{found:?}");
    assert!(found.iter().any(|found| found.starts_with("an agent")), "{found:?}");
}

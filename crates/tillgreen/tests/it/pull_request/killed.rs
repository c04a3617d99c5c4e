//! The program is killed at every step of a lifecycle and started again: one pull request, no task asked for or
//! done twice, one answer for each thread.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::forge::{Forge, Moment, Sight};
use testkit::{Background, Sandbox, wait_for};

use super::lifecycle::eventful;
use super::scratch::{PLAN, QUICK, agent, push_as_another, pushed, scratch};

const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";

/// What has happened to the pull request so far.
fn steps(sandbox: &Sandbox) -> usize {
    let text = fs::read_to_string(sandbox.root().join(JOURNAL)).unwrap_or_default();
    text.matches("\"what\":{\"pull_request\":").count()
}

fn begin(sandbox: &Sandbox, forge: &Forge) -> Background {
    let command = sandbox.install_agent(&agent());
    forge.begin(sandbox, &[&["run", "--agent-cmd", command.as_str(), "--pr-reply"][..], &QUICK].concat())
}

/// What has to be the same however often the program was killed.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    subjects: Vec<String>,
    boxes: Vec<String>,
    pushed: usize,
    pulls: Vec<(String, &'static str)>,
    answers: Vec<String>,
    resolved: usize,
    requested: Vec<String>,
    reruns: usize,
}

fn outcome(sandbox: &Sandbox, forge: &Forge) -> Outcome {
    let tasks = sandbox.tasks("demo");
    let hub = forge.hub();
    // Merge commits name the remote, which is in another folder each time.
    let remote = sandbox.control("remote").display().to_string();
    Outcome {
        subjects: sandbox.subjects().iter().map(|subject| subject.replace(&remote, "remote")).collect(),
        boxes: tasks.lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect(),
        pushed: pushed(sandbox, "feature").len(),
        pulls: hub.pulls.iter().map(|pull| (told(sandbox, &pull.body), pull.state)).collect(),
        resolved: hub.resolved.len(),
        requested: hub.requested.clone(),
        reruns: hub.calls.iter().filter(|call| call.ends_with("rerun-failed-jobs")).count(),
        answers: hub.answers.iter().map(|(thread, _)| thread.clone()).collect(),
    }
}

/// A pull request's text without the name of what was proved, which has such a merge commit in it, without its digest and
/// without times.
fn told(sandbox: &Sandbox, body: &str) -> String {
    let names = sandbox.git(&["log", "--format=%h %H", "--abbrev=9"]);
    let text = body.split_once('\n').map_or(body, |(_, text)| text);
    let timeless = |line: &str| match line.strip_prefix("| ") {
        Some(row) => {
            row.split(" | ").enumerate().filter(|(place, _)| *place != 4).map(|(_, cell)| cell).collect()
        }
        None if line.starts_with("Plan: ") => {
            line.rsplit_once("; ").map_or(line, |(figures, _)| figures).to_owned()
        }
        None => line.to_owned(),
    };
    let text = text.lines().map(timeless).collect::<Vec<String>>().join("\n");
    let last =
        |text: String, name: &str| text.replace(&format!("clean checkout of {name}"), "clean checkout");
    names.split_whitespace().fold(text, last)
}

#[track_caller]
fn check_killed_every(step: usize, expected: &Outcome) {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(eventful);
    for lives in 1.. {
        assert!(lives < 100, "the run gets nowhere: {}", sandbox.read(JOURNAL));
        let before = steps(&sandbox);
        let mut run = begin(&sandbox, &forge);
        wait_for("something to kill for", || steps(&sandbox) >= before + step || !run.is_running());
        if run.is_running() {
            run.kill();
            sandbox.wait_until_quiet();
            continue;
        }
        let finished = run.wait();
        assert_eq!(finished.code, Some(0), "killed every {step}: {finished}");
        assert_eq!(outcome(&sandbox, &forge), *expected, "killed every {step}: {finished}");
        return;
    }
}

fn undisturbed() -> Option<Outcome> {
    let (sandbox, forge) = scratch(PLAN)?;
    forge.shows(eventful);
    let finished = begin(&sandbox, &forge).wait().expect_code(0);
    let outcome = outcome(&sandbox, &forge);
    assert_eq!((outcome.pulls.len(), outcome.answers.len()), (1, 2), "{finished}");
    Some(outcome)
}

#[test]
fn at_every_step() {
    let Some(expected) = undisturbed() else { return };
    check_killed_every(1, &expected);
}

/// Stops at every command for the forge, first before it is run and then after, each once: the record tells one
/// moment from another. Whoever stopped waits to be killed.
const TRAP: &str = r#"
moment=$(grep -c '"what":{"pull_request":' "$JOURNAL" 2>/dev/null)
key=$(printf '%s' "$moment $NAME $*" | cksum | tr ' ' '-')
trap_at() {
    if mkdir "$TRAPS/$1-$key" 2>/dev/null; then
        printf '%s %s %s\n' "$1" "$NAME" "$SHOWN" >> "$TRAPS/log"
        : > "$TRAPS/reached"
        exec sleep 600
    fi
}
SHOWN=$(printf '%s' "$*" | tr '\n' ' ' | cut -c 1-140)
trap_at before
"$REAL" "$@"
code=$?
trap_at after
exit $code
"#;

fn set_traps(sandbox: &Sandbox, gh: &Path) -> PathBuf {
    let traps = sandbox.control("traps");
    fs::create_dir(&traps).expect("a folder can be made");
    let journal = sandbox.root().join(JOURNAL);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.exists());
    let git = git.expect("git is installed");
    let trap = |name: &str, real: &Path| {
        let shown =
            [("TRAPS", traps.as_path()), ("JOURNAL", &journal), ("REAL", real), ("NAME", Path::new(name))];
        let variables: String = shown.map(|(name, value)| format!("{name}='{}'\n", value.display())).concat();
        format!("{variables}{TRAP}")
    };
    sandbox.install_program("gh", &trap("gh", gh));
    let of_git = trap("git", &git);
    let real = git.display();
    sandbox.install_program(
        "git",
        &format!("case \"$1\" in push|fetch) ;; *) exec '{real}' \"$@\" ;; esac\n{of_git}"),
    );
    traps
}

/// As eventful as can be: in the end the base moves on, and then it is merged.
fn grand(moment: &Moment) -> Sight {
    let sight = eventful(moment);
    let is_behind = moment.push == 3 && moment.requests > 0;
    if is_behind { Sight { merge_state: "BEHIND", ..sight } } else { sight }
}

const GRAND: [&str; 3] = ["--pr-reply", "--pr-resolve", "--merge"];

fn begin_grand(sandbox: &Sandbox, forge: &Forge) -> Background {
    let command = sandbox.install_agent(&agent());
    forge.begin(sandbox, &[&["run", "--agent-cmd", command.as_str()][..], &QUICK, &GRAND].concat())
}

fn grand_scratch() -> Option<(Sandbox, Forge)> {
    let (sandbox, forge) = scratch(PLAN)?;
    push_as_another(&sandbox, "main", "main", "base.txt", &[]);
    forge.shows(grand);
    Some((sandbox, forge))
}

/// Every command that changes something elsewhere, and every one that asks.
const COMMANDS: [&str; 18] = [
    "gh --version",
    "gh api graphql --hostname github.com -f owner=acme -f name=widgets -f query=",
    "gh api graphql --hostname github.com -f owner=acme -f name=widgets -f branch=feature",
    "git push --set-upstream origin refs/heads/feature:refs/heads/feature",
    "gh pr create --repo github.com/acme/widgets",
    "gh api graphql --hostname github.com -f owner=acme -f name=widgets -F number=7",
    "gh api --hostname github.com repos/acme/widgets/actions/runs/101",
    "gh run rerun 101 --failed",
    "gh run view 101 --log-failed",
    "gh api --hostname github.com --method PATCH repos/acme/widgets/pulls/7 -F body=@-",
    "gh api graphql --hostname github.com -f id=T1 -f query=query",
    "gh api graphql --hostname github.com -f id=T1 -f body=",
    "gh api graphql --hostname github.com -f id=T2 -f body=",
    "gh api graphql --hostname github.com -f id=T1 -f query=mutation",
    "gh api --hostname github.com repos/acme/widgets/pulls/7/requested_reviewers",
    "gh api --hostname github.com --method POST repos/acme/widgets/pulls/7/requested_reviewers -f reviewers[]=mona",
    "git fetch --no-tags origin refs/heads/main",
    "gh pr merge 7 --repo github.com/acme/widgets --merge",
];

#[test]
fn before_and_after_every_command() {
    let Some((sandbox, forge)) = grand_scratch() else { return };
    begin_grand(&sandbox, &forge).wait().expect_code(0);
    let expected = outcome(&sandbox, &forge);
    let Some((sandbox, forge)) = grand_scratch() else { return };
    let gh = testkit::forge::install_gh(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("it was there before");
    let traps = set_traps(&sandbox, &gh);
    let reached = traps.join("reached");
    let finished = loop {
        let mut run = begin_grand(&sandbox, &forge);
        wait_for("a command to be stopped at", || reached.exists() || !run.is_running());
        if !run.is_running() {
            break run.wait();
        }
        run.kill();
        sandbox.wait_until_quiet();
        fs::remove_file(&reached).expect("it was made");
    };
    let log = fs::read_to_string(traps.join("log")).unwrap_or_default();
    assert_eq!(finished.code, Some(0), "{finished}\n{log}");
    assert_eq!(outcome(&sandbox, &forge), expected, "{finished}\n{log}");
    for command in COMMANDS {
        for when in ["before", "after"] {
            assert!(
                log.lines().any(|line| line.starts_with(&format!("{when} {command}"))),
                "{when} {command}\n{log}"
            );
        }
    }
}

//! Looks at what a green command leans on: what they cost, that everything is afterwards as it was, and how they are told.

use std::fs;
use std::path::Path;

use testkit::{Agent, Background, Finished, Sandbox, Signal, Step, wait_for};

const TASKS: &str = "\
- [ ] 1.1 Write the work
  - **Files**: work.txt, new.py, test_new.py
  - **Verify**: `sh check.sh`
";

/// A check whose runs are counted.
fn check(rest: &str) -> String {
    format!("echo run >> \"$HOME/runs\"\n{rest}\n")
}

fn sandbox(check: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", TASKS);
    sandbox.write("check.sh", check);
    sandbox.commit_all("plan");
    sandbox
}

/// A sandbox whose check waits where the work is wrong.
fn holding() -> Sandbox {
    sandbox(&check(
        "grep -q right work.txt || { : > \"$HOME/held\"; while test -e \"$HOME/hold\"; do sleep 0.02; done; exit 1; }",
    ))
}

fn home(sandbox: &Sandbox, name: &str) -> std::path::PathBuf {
    let variables = sandbox.environment();
    let (_, home) = variables.iter().find(|(variable, _)| variable == "HOME").expect("a home");
    Path::new(home).join(name)
}

fn runs(sandbox: &Sandbox) -> usize {
    fs::read_to_string(home(sandbox, "runs")).unwrap_or_default().lines().count()
}

fn read(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(sandbox.root().join(path)).unwrap_or_default()
}

fn works(script: &str) -> Agent {
    Agent::new().otherwise([Step::shell(script), Step::say("TASK_COMPLETE")])
}

fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", "--prove", "off", "--agent-cmd", &command], flags].concat())
}

/// A liar, until its command runs with the old check.
fn lie_until_held(sandbox: &Sandbox, flags: &[&str]) -> Background {
    fs::write(home(sandbox, "hold"), "").expect("a file for the test");
    let command = sandbox.install_agent(&works("echo wrong > work.txt; echo 'exit 0' > check.sh"));
    let background = sandbox.start(&[&["run", "--prove", "off", "--agent-cmd", &command], flags].concat());
    wait_for("the old check", || home(sandbox, "held").exists());
    background
}

#[test]
fn one_more_run_is_paid_for_only_where_a_proof_was_touched() {
    for (script, expected) in [
        ("echo right > work.txt", 1),
        ("echo right > work.txt; echo '# More.' >> check.sh", 2),
        ("echo right > work.txt; echo 'a = 1' > new.py", 1),
        ("echo right > work.txt; echo 'a = 1' > new.py; echo 'def test_a(): pass' > test_new.py", 2),
    ] {
        for flags in [&[][..], &["--isolate"]] {
            let sandbox =
                sandbox(&check("grep -q right work.txt && { test ! -e test_new.py || test -e new.py; }"));
            let finished = run(&sandbox, &works(script), flags).expect_code(0);
            // Where it comes in it runs once more.
            let joined = usize::from(!flags.is_empty());
            assert_eq!(runs(&sandbox), expected + joined, "{script}: {finished}");
            assert!(
                !finished.stdout.contains("put back") && !finished.stdout.contains("new tests"),
                "{finished}"
            );
        }
    }
}

#[test]
fn everything_is_as_it_was_afterwards() {
    for flags in [&[][..], &["--isolate"]] {
        let sandbox = sandbox(&check("test -s work.txt"));
        let script = "echo work > work.txt; mkdir -p pkg; echo 'a = 1' > pkg/a.py; chmod +x pkg/a.py; \
                      echo 'def test_a(): pass' > test_new.py; sed -i '1i # A check.' check.sh";
        let finished = run(&sandbox, &works(script), flags).expect_code(0);
        let told = "new tests that are green without the new work: test_new.py";
        assert!(finished.stdout.contains(&format!("Warning:   task 1.1: {told}")), "{finished}");
        assert!(read(&sandbox, "check.sh").starts_with("# A check."));
        let committed = sandbox.git(&["ls-tree", "-r", "HEAD", "pkg/a.py"]);
        assert!(committed.starts_with("100755"), "{committed}");
        let status = sandbox.git(&["status", "--porcelain"]);
        assert_eq!(status.trim(), "", "{finished}");
        for told_by in [&["show", "1.1"][..], &["log"]] {
            let shown = sandbox.run(told_by).expect_code(0);
            assert!(shown.stdout.contains(told), "{shown}");
        }
    }
}

#[test]
fn everything_is_as_it_was_after_a_kill() {
    for flags in [&[][..], &["--isolate"]] {
        let sandbox = holding();
        let background = lie_until_held(&sandbox, flags);
        drop(background.kill());
        sandbox.wait_until_quiet();
        fs::remove_file(home(&sandbox, "hold")).expect("a file of the test");
        let told = "the verify command is red with check.sh put back (changed)";
        let finished = run(&sandbox, &Agent::new(), flags).expect_code(0);
        assert!(finished.stdout.contains(told), "{finished}");
        assert_eq!(
            (&*read(&sandbox, "check.sh"), &*read(&sandbox, "work.txt")),
            ("exit 0\n", "wrong\n"),
            "{finished}"
        );
        assert!(!sandbox.root().join(".tillgreen/specs-demo/put-back.json").exists());
        assert_eq!(sandbox.agent_calls().len(), 1, "{finished}");
    }
}

#[test]
fn everything_is_as_it_was_after_an_interrupt() {
    let sandbox = holding();
    let mut background = lie_until_held(&sandbox, &[]);
    assert!(read(&sandbox, "check.sh").contains("runs"), "the old one");
    background.signal(Signal::Interrupt);
    let finished = background.wait().expect_code(130);
    assert_eq!(
        (&*read(&sandbox, "check.sh"), &*read(&sandbox, "work.txt")),
        ("exit 0\n", "wrong\n"),
        "{finished}"
    );
    assert!(!sandbox.root().join(".tillgreen/specs-demo/put-back.json").exists());
}

#[test]
fn what_a_person_makes_of_the_file_meanwhile_is_kept() {
    let sandbox = holding();
    let background = lie_until_held(&sandbox, &[]);
    sandbox.write("check.sh", "# By hand.\n");
    fs::remove_file(home(&sandbox, "hold")).expect("a file of the test");
    let finished = background.wait().expect_code(0);
    assert_eq!(read(&sandbox, "check.sh"), "exit 0\n", "{finished}");
    let (_, place) = finished.stderr.split_once("what was made of it is in ").expect("a place");
    let place = place.lines().next().expect("a line").trim();
    assert_eq!(read(&sandbox, &format!("{place}/check.sh")), "# By hand.\n", "{finished}");
}

#[test]
fn with_strict_the_attempt_is_sent_back_with_the_reason() {
    let sandbox = sandbox("");
    sandbox.spec("demo", "- [ ] 1.1 Write the work\n  - **Files**: work.txt\n  - **Verify**: `make check`\n");
    sandbox.write("Makefile", "check:\n\tgrep -q right work.txt\n");
    sandbox.commit_all("make");
    let forgive = "echo wrong > work.txt; sed -i 's/grep/-grep/' Makefile";
    let mend = "echo right > work.txt; git checkout --quiet Makefile";
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::shell(forgive), Step::say("TASK_COMPLETE")])
        .on_attempt("1.1", 2, [Step::shell(mend), Step::say("TASK_COMPLETE")]);
    let finished = run(&sandbox, &agent, &["--strict"]).expect_code(0);
    let said = "the verify command is red with Makefile put back (configuration changed)";
    assert!(sandbox.agent_calls()[1].prompt.contains(said), "{finished}");
    assert!(!finished.stdout.contains("Warning"), "{finished}");
}

//! The final proof: what is called done is green in a clean checkout as well, or it is said what is not, and why.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Signal, Step, wait_for};

const COMPLETE: &str = "\nALL_TASKS_COMPLETE\n";

fn sandbox(tasks: &str, ignored: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.write(".gitignore", ignored);
    sandbox.spec("demo", tasks);
    sandbox.commit_all("plan");
    sandbox
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

fn leave(path: &str, text: &str) -> Step {
    Step::write(path, text)
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    let finished = sandbox.run(&[&["run", "--agent-cmd", &command], flags].concat());
    sandbox.wait_until_quiet();
    finished.expect_code(0)
}

fn task(id: &str, verify: &str) -> String {
    format!("- [ ] {id} Task {id}\n  - **Verify**: `{verify}`\n\n")
}

#[test]
fn what_is_green_all_over_is_complete() {
    let sandbox =
        sandbox(&(task("1.1", "grep -q a a.txt") + &task("1.2", "test -z \"$(git status --short)\"")), "");
    let agent =
        Agent::new().on("1.1", [leave("a.txt", "a\n"), done()]).otherwise([Step::commit("feat: b"), done()]);
    let finished = run(&sandbox, &agent, &[]);
    assert!(finished.stdout.contains(COMPLETE), "{finished}");
    assert!(finished.stdout.contains("Proof:     1 of 2 tasks green in a clean checkout of "), "{finished}");
    assert!(finished.stdout.contains("1.2 left out: it asks `git`"), "{finished}");
    let shown = sandbox.run(&["show", "1.1"]).expect_code(0);
    assert!(shown.stdout.contains("green in a clean checkout of "), "{shown}");
    let shown = sandbox.run(&["show", "1.1", "--format", "json"]).expect_code(0);
    assert!(shown.stdout.contains("\"exit_code\": 0"), "{shown}");
    // A commit that was proved is not proved again.
    let again = run(&sandbox, &agent, &[]);
    assert!(again.stdout.contains(COMPLETE) && again.stdout.contains("1 of 2 tasks green"), "{again}");
}

#[test]
fn work_that_is_only_in_an_ignored_file_is_named() {
    for verify in ["test -s out/result.txt", "grep -q a out/result.txt"] {
        let sandbox = sandbox(&task("1.1", verify), "out/\n");
        let agent = Agent::new().otherwise([leave("out/result.txt", "a\n"), leave("b.txt", "b\n"), done()]);
        let finished = run(&sandbox, &agent, &[]);
        assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
        assert!(
            finished.stdout.contains("1.1 is red") && finished.stdout.contains("git ignores `out"),
            "{finished}"
        );
        let proved = sandbox.run(&["prove"]).expect_code(1);
        assert!(proved.stdout.contains("1.1 is red"), "{proved}");
    }
}

/// What only a clean checkout shows has to be mended: the agent is told what differs, and the proof is taken again.
#[test]
fn what_is_required_is_opened_again_once() {
    let sandbox = sandbox(&task("1.1", "grep -q a out/result.txt"), "out/\n");
    let agent = Agent::new().on_attempt(
        "1.1",
        2,
        [Step::shell("git add -f out/result.txt && git commit -qm 'feat: result'"), done()],
    );
    let agent = agent.otherwise([leave("out/result.txt", "a\n"), leave("b.txt", "b\n"), done()]);
    let finished = run(&sandbox, &agent, &["--prove", "require"]);
    assert!(
        finished
            .stderr
            .contains("1.1 is open again: its command is red in a clean checkout (git ignores `out"),
        "{finished}"
    );
    assert!(
        finished.stdout.contains("1 of 1 task green") && finished.stdout.contains(COMPLETE),
        "{finished}"
    );
    let prompt = sandbox.agent_calls().last().map(|call| call.prompt.clone()).unwrap_or_default();
    assert!(prompt.contains("git ignores `out") && prompt.contains("Commit all that they need"), "{prompt}");
    assert!(sandbox.tasks("demo").starts_with("- [x]"), "{}", sandbox.tasks("demo"));
}

/// Whoever comes back sees what is red wherever they look, mends it and only says `run`.
#[test]
fn what_was_mended_by_hand_is_proved_by_the_next_run() {
    let sandbox = sandbox(&task("1.1", "grep -q a out/result.txt"), "out/\n");
    let agent = Agent::new().otherwise([leave("out/result.txt", "a\n"), done()]);
    let finished = run(&sandbox, &agent, &[]);
    assert!(finished.stderr.contains("complete, but 1 task red in a clean checkout of"), "{finished}");
    let status = sandbox.run(&["status"]).expect_code(0);
    assert!(status.stdout.contains("complete: 1 task red in a clean checkout of"), "{status}");
    assert!(status.stdout.contains("Next      tillgreen prove"), "{status}");
    let list = sandbox.run(&["list"]).expect_code(0);
    assert!(list.stdout.contains("complete: 1 task red"), "{list}");
    sandbox.git(&["add", "-f", "out/result.txt"]);
    sandbox.git(&["commit", "-qm", "result"]);
    let again = sandbox.run(&["run"]).expect_code(0);
    assert!(again.stdout.contains("1 of 1 task green") && again.stdout.contains(COMPLETE), "{again}");
    assert_eq!(sandbox.agent_calls().len(), 1, "{again}");
    let status = sandbox.run(&["status"]).expect_code(0);
    assert!(status.stdout.contains("State     complete\n"), "{status}");
    // Nothing is left to do, so nobody who could do it is asked for.
    sandbox.run(&["run", "--prove", "require"]).expect_code(0);
}

/// A second turn is a person's: nobody pays a third agent for the same.
#[test]
fn what_is_red_once_more_is_asked_about() {
    let sandbox = sandbox(&(task("1.1", "grep -q one a.txt") + &task("1.2", "grep -q two a.txt")), "");
    let agent = Agent::new()
        .on("1.1", [leave("a.txt", "one\n"), done()])
        .on("1.2", [leave("a.txt", "two\n"), done()]);
    let command = sandbox.install_agent(&agent);
    let flags = ["run", "--agent-cmd", &command, "--prove", "require", "--on-escalation", "pause"];
    let finished = sandbox.run(&flags).expect_code(3);
    sandbox.wait_until_quiet();
    let told = "1.2 is open again: the command of task 1.1 is red in a clean checkout since this task";
    assert_eq!(finished.stderr.matches(told).count(), 2, "{finished}");
    assert_eq!(sandbox.agent_calls().len(), 3, "{finished}");
    assert!(sandbox.tasks("demo").contains("- [ ] 1.2"), "{}", sandbox.tasks("demo"));
    // Whoever wants it to count all the same says so in the plan.
    sandbox.write("specs/demo/tasks.md", sandbox.tasks("demo").replace("- [ ] 1.2", "- [x] 1.2"));
    let again = sandbox.run(&flags).expect_code(0);
    assert!(again.stdout.contains("1.1 is superseded by 1.2"), "{again}");
}

/// Whoever commits beside the tasks is named by the commit, which is looked for.
#[test]
fn a_commit_that_is_no_tasks_is_named() {
    let tasks: String =
        (1..=4).map(|number| task(&format!("1.{number}"), &format!("test -s f{number}.txt"))).collect();
    let sandbox = sandbox(&(tasks + &task("1.5", "grep -q good f1.txt")), "");
    let commit = |text: &str, message: &str| {
        Step::shell(&format!("printf '{text}\\n' >> f1.txt && git commit -qam '{message}'"))
    };
    let agent = Agent::new()
        .on("1.1", [leave("f1.txt", "good\n"), done()])
        .on("1.2", [leave("f2.txt", "2\n"), done()])
        .on("1.3", [leave("f3.txt", "3\n"), done()])
        .on("1.4", [leave("f4.txt", "4\n"), done()])
        .on("1.5", [commit("more", "feat: more"), done()]);
    run(&sandbox, &agent, &[]);
    for (number, text) in ["good one", "bad", "worse"].iter().enumerate() {
        sandbox.write("f1.txt", format!("{text}\n"));
        sandbox.git(&["commit", "-qam", &format!("by hand {number}")]);
    }
    let proved = sandbox.run(&["prove"]).expect_code(1);
    assert!(
        proved.stdout.contains("1.5 is red (the commit ")
            && proved.stdout.contains("\"by hand 1\" broke it)"),
        "{proved}"
    );
}

/// A command that is red once and green at the next look is no alarm, and is told.
#[test]
fn a_flaky_command_is_told() {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    let mark = sandbox.control("seen");
    let root = sandbox.root().display().to_string();
    let (head, tail) = root.split_at(root.len() / 2);
    let verify = format!(
        "test -s a.txt && {{ test \"$PWD\" = \"{head}\"\"{tail}\" || test -e {0} || {{ : > {0}; false; }}; }}",
        mark.display()
    );
    sandbox.spec("demo", &task("1.1", &verify));
    sandbox.commit_all("plan");
    let finished = run(&sandbox, &Agent::new().otherwise([leave("a.txt", "a\n"), done()]), &[]);
    assert!(finished.stdout.contains("the command of task 1.1 was red and then green"), "{finished}");
    assert!(finished.stdout.contains(COMPLETE), "{finished}");
}

/// Tasks that had trees of their own are proved side by side; a command may all the same need what another one makes.
#[test]
fn side_by_side_where_tasks_had_trees() {
    let tasks = "- [ ] 1.1 [P] Build\n  - **Files**: a.txt\n  - **Verify**: `test -s a.txt && mkdir -p dist && cp a.txt dist/a`\n\n\
                 - [ ] 1.2 [P] Use\n  - **Files**: b.txt\n  - **Verify**: `test -s b.txt`\n\n\
                 - [ ] 1.3 Both\n  - **Verify**: `test -s c.txt && test -s dist/a`\n\n";
    let sandbox = sandbox(tasks, "dist/\n");
    let agent = Agent::new()
        .on("1.1", [leave("a.txt", "a\n"), done()])
        .on("1.2", [leave("b.txt", "b\n"), done()])
        .otherwise([Step::shell("mkdir -p dist && cp a.txt dist/a"), leave("c.txt", "c\n"), done()]);
    let finished = run(&sandbox, &agent, &[]);
    assert!(
        finished.stdout.contains("3 of 3 tasks green") && finished.stdout.contains(COMPLETE),
        "{finished}"
    );
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1, "no tree stays");
}

#[test]
fn what_a_later_task_broke_is_superseded() {
    let sandbox = sandbox(&(task("1.1", "grep -q one a.txt") + &task("1.2", "grep -q two a.txt")), "");
    let agent = Agent::new()
        .on("1.1", [leave("a.txt", "one\n"), done()])
        .on("1.2", [leave("a.txt", "two\n"), done()]);
    let finished = run(&sandbox, &agent, &[]);
    assert!(finished.stdout.contains("1.1 is superseded by 1.2"), "{finished}");
    assert!(finished.stdout.contains(COMPLETE), "{finished}");
}

#[test]
fn what_surrounds_the_project_is_no_alarm() {
    let sandbox = sandbox(&task("1.1", ".venv/bin/tool a.txt"), ".venv/\n");
    sandbox.write(".venv/pyvenv.cfg", "");
    sandbox.write(".venv/bin/tool", "#!/bin/sh\ngrep -q a \"$1\"\n");
    sandbox.write("requirements.txt", "");
    sandbox.git(&["add", "requirements.txt"]);
    sandbox.git(&["commit", "-qm", "requirements"]);
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(sandbox.root().join(".venv/bin/tool"))
        .status()
        .unwrap();
    let finished = run(&sandbox, &Agent::new().otherwise([leave("a.txt", "a\n"), done()]), &[]);
    assert!(finished.stdout.contains("1.1 not proved: `.venv/bin/tool` is in .venv"), "{finished}");
    assert!(finished.stdout.contains("worktree_setup"), "{finished}");
    assert!(finished.stdout.contains(COMPLETE), "{finished}");
    // Whoever asks for a proof and gets none is told so by the exit code as well.
    sandbox.run(&["prove"]).expect_code(1);
}

/// A lock file that names a package.
const LOCK: &str = "{\"packages\": {\"node_modules/left-pad\": {\"version\": \"1.3.0\"}}}\n";

/// Nobody has installed anything, as on a machine that tests what was pushed.
#[test]
fn a_fresh_clone_without_packages_is_not_proved() {
    let sandbox = sandbox(&task("1.1", "sh test.sh").replace("[ ]", "[x]"), "node_modules/\n");
    sandbox.write("package-lock.json", LOCK);
    sandbox.write("test.sh", "echo \"Error: Cannot find module 'left-pad'\" >&2; exit 1\n");
    sandbox.commit_all("packages");
    let proved = sandbox.run(&["prove"]).expect_code(1);
    let told = "1.1 not proved: `left-pad` is installed neither here nor in a clean checkout: set worktree_setup = \"npm ci\"";
    assert!(proved.stdout.contains(told) && !proved.stdout.contains("red"), "{proved}");
}

/// What a set-up needs is work like any other.
#[test]
fn a_lock_file_that_no_commit_holds_is_named() {
    for (is_there_before, told, is_complete) in [
        (
            false,
            "1.1 is red (git ignores `package-lock.json`): `jest`: worktree_setup `npm ci` failed",
            false,
        ),
        (true, "1.1 not proved: git ignores `package-lock.json`, and worktree_setup `npm ci` failed", true),
    ] {
        let sandbox = sandbox(&task("1.1", "jest"), "package-lock.json\n");
        sandbox.install_program("jest", "exit 0");
        sandbox.install_program("npm", "test -e package-lock.json");
        sandbox.write("tillgreen.toml", "worktree_setup = \"npm ci\"\n");
        sandbox.commit_all("a set-up");
        if is_there_before {
            sandbox.write("package-lock.json", LOCK);
        }
        let agent = Agent::new().otherwise([leave("a.js", "a\n"), leave("package-lock.json", LOCK), done()]);
        let finished = run(&sandbox, &agent, &[]);
        assert!(finished.stdout.contains(told), "{finished}");
        assert_eq!(finished.stdout.contains(COMPLETE), is_complete, "{finished}");
    }
}

/// Nothing is set up, and the run itself installs what the tests need.
#[test]
fn dependencies_that_the_run_installed_are_no_alarm() {
    let sandbox = sandbox(&task("1.1", "sh test.sh"), "node_modules/\n");
    let test =
        "test -e node_modules/left-pad || { echo \"Error: Cannot find module 'left-pad'\" >&2; exit 1; }\n";
    let install = Step::shell("mkdir -p node_modules/left-pad && echo x > node_modules/left-pad/index.js");
    let agent =
        Agent::new().otherwise([leave("test.sh", test), leave("package-lock.json", LOCK), install, done()]);
    let finished = run(&sandbox, &agent, &[]);
    assert!(
        finished.stdout.contains("1.1 not proved: the package `left-pad` is in node_modules"),
        "{finished}"
    );
    assert!(finished.stdout.contains(COMPLETE), "{finished}");
}

#[test]
fn what_its_author_made_stricter_since_is_what_is_proved() {
    let sandbox = sandbox(&task("1.1", "grep -q a a.txt"), "");
    run(&sandbox, &Agent::new().otherwise([leave("a.txt", "a\n"), done()]), &[]);
    sandbox.write("specs/demo/tasks.md", sandbox.tasks("demo").replace("grep -q a ", "grep -q stricter "));
    sandbox.commit_all("a stricter check");
    let proved = sandbox.run(&["prove"]).expect_code(1);
    assert!(proved.stdout.contains("grep -q stricter a.txt"), "{proved}");
}

#[test]
fn it_can_be_left_off() {
    let sandbox = sandbox(&task("1.1", "test -s out.txt"), "out.txt\n");
    let agent = Agent::new().otherwise([leave("out.txt", "a\n"), leave("b.txt", "b\n"), done()]);
    let finished = run(&sandbox, &agent, &["--prove", "off"]);
    assert!(finished.stdout.contains(COMPLETE) && !finished.stdout.contains("Proof:"), "{finished}");
}

/// A command that waits in a clean checkout, and only there.
fn waiting(sandbox: &Sandbox) -> String {
    let (begun, go) = (sandbox.control("begun"), sandbox.control("go"));
    let root = sandbox.root().display().to_string();
    // Words in pieces, since the project's root in a command is replaced by that of the place.
    let (head, tail) = root.split_at(root.len() / 2);
    let (begun, go) = (begun.display(), go.display());
    format!(
        "test -s a.txt && if test \"$PWD\" != \"{head}\"\"{tail}\"; then : > {begun}; while ! test -e {go}; do sleep 0.05; done; fi"
    )
}

#[test]
fn killed_or_interrupted_it_is_taken_by_the_next_run() {
    for signal in [Signal::Kill, Signal::Interrupt] {
        let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
        sandbox.spec("demo", &task("1.1", &waiting(&sandbox)));
        sandbox.commit_all("plan");
        let command = sandbox.install_agent(&Agent::new().otherwise([leave("a.txt", "a\n"), done()]));
        let mut background = sandbox.start(&["run", "--agent-cmd", &command]);
        wait_for("the proof to begin", || sandbox.control("begun").exists());
        background.signal(signal);
        let finished = background.wait();
        if signal == Signal::Interrupt {
            assert!(finished.stdout.contains("Proof:     unfinished"), "{finished}");
            assert_eq!(finished.code, Some(0), "{finished}");
        }
        assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
        assert!(sandbox.tasks("demo").starts_with("- [x]"), "all is done");
        sandbox.wait_until_quiet();
        sandbox.release("go");
        let again = sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
        assert!(again.stdout.contains(COMPLETE) && again.stdout.contains("1 of 1 task green"), "{again}");
        assert_eq!(sandbox.agent_calls().len(), 1);
    }
}

#[test]
fn prove_tells_by_its_exit_code() {
    let sandbox = sandbox(&(task("1.1", "grep -q a a.txt") + &task("1.2", "test -s b.txt")), "");
    let agent =
        Agent::new().on("1.1", [leave("a.txt", "a\n"), done()]).otherwise([leave("b.txt", "b\n"), done()]);
    run(&sandbox, &agent, &[]);
    let proved = sandbox.run(&["prove"]).expect_code(0);
    assert!(proved.stdout.contains("'demo': 2 of 2 tasks green"), "{proved}");
    // A person breaks it later, and what is not committed does not count.
    sandbox.write("a.txt", "b\n");
    sandbox.run(&["prove"]).expect_code(0);
    sandbox.git(&["commit", "-qam", "break it"]);
    sandbox.run(&["prove", "1.2"]).expect_code(0);
    let proved = sandbox.run(&["prove", "demo", "1.1", "--format", "json"]).expect_code(1);
    assert!(proved.stdout.contains("\"is_red\": true"), "{proved}");
    // In a fresh clone the boxes say what is done.
    std::fs::remove_dir_all(sandbox.root().join(".tillgreen")).unwrap();
    let proved = sandbox.run(&["prove", "demo"]).expect_code(1);
    assert!(proved.stderr.contains("the boxes of the plan say what is done"), "{proved}");
    sandbox.run(&["prove", "9.9"]).expect_code(2);
    sandbox.write("specs/demo/tasks.md", sandbox.tasks("demo").replace("- [x]", "- [ ]"));
    let proved = sandbox.run(&["prove"]).expect_code(0);
    assert!(proved.stdout.contains("no task is done, so there is nothing to prove"), "{proved}");
}

fn is_there(program: &str) -> bool {
    let output = std::process::Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// An honest project without any set-up does not end in alarms: what it installed was there before the run.
#[test]
fn a_python_project_with_an_environment() {
    if !is_there("/usr/bin/python3") {
        return;
    }
    let verify = ".venv/bin/python -m unittest discover -s tests";
    let sandbox =
        sandbox(&(task("1.1", verify) + &task("1.2", "grep -q sub calc.py")), ".venv/\n__pycache__/\n");
    let made = std::process::Command::new("/usr/bin/python3")
        .args(["-m", "venv", "--without-pip", ".venv"])
        .current_dir(sandbox.root())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let libraries = std::fs::read_dir(sandbox.root().join(".venv/lib")).unwrap();
    let library = libraries.map(|entry| entry.unwrap().path()).next().expect("a folder of libraries");
    std::fs::write(library.join("site-packages/numbers_of.py"), "def two():\n    return 2\n").unwrap();
    sandbox.write("requirements.txt", "numbers_of\n");
    sandbox.git(&["add", "requirements.txt"]);
    sandbox.git(&["commit", "-qm", "requirements"]);
    let test = "import sys, unittest\nsys.path.insert(0, '.')\nimport calc, numbers_of\n\nclass T(unittest.TestCase):\n    \
                def test_add(self):\n        self.assertEqual(calc.add(1, 1), numbers_of.two())\n";
    let agent = Agent::new()
        .on(
            "1.1",
            [
                leave("calc.py", "def add(a, b):\n    return a + b\n"),
                leave("tests/test_calc.py", test),
                done(),
            ],
        )
        .otherwise([Step::shell("printf 'def sub(a, b):\\n    return a - b\\n' >> calc.py"), done()]);
    let finished = run(&sandbox, &agent, &[]);
    assert!(
        finished.stdout.contains("1 of 2 tasks green") && finished.stdout.contains(COMPLETE),
        "{finished}"
    );
    assert!(finished.stdout.contains("1.1 not proved: `.venv/bin/python` is in .venv"), "{finished}");
}

#[test]
fn a_node_project_with_packages() {
    if !is_there("node") {
        return;
    }
    let sandbox =
        sandbox(&(task("1.1", "node --test test/") + &task("1.2", "node src/calc.js")), "node_modules/\n");
    sandbox.write("node_modules/numbers-of/index.js", "exports.two = () => 2;\n");
    sandbox.write("package.json", "{\"dependencies\": {\"numbers-of\": \"1.0.0\"}}\n");
    sandbox.write("package-lock.json", LOCK);
    sandbox.git(&["add", "package.json", "package-lock.json"]);
    sandbox.git(&["commit", "-qm", "packages"]);
    let test = "const { test } = require('node:test');\nconst assert = require('node:assert');\n\
                test('add', () => assert.equal(require('../src/calc').add(1, 1), require('numbers-of').two()));\n";
    let agent = Agent::new()
        .on(
            "1.1",
            [
                leave("src/calc.js", "exports.add = (a, b) => a + b;\n"),
                leave("test/calc.test.js", test),
                done(),
            ],
        )
        .otherwise([leave("src/sub.js", "exports.sub = (a, b) => a - b;\n"), done()]);
    let finished = run(&sandbox, &agent, &[]);
    assert!(
        finished.stdout.contains("1 of 2 tasks green") && finished.stdout.contains(COMPLETE),
        "{finished}"
    );
    assert!(
        finished.stdout.contains("1.1 not proved: the package `numbers-of` is in node_modules"),
        "{finished}"
    );
    assert!(finished.stdout.contains("worktree_setup = \"npm ci\""), "{finished}");
}

/// The proof is in the numbers as well, and in JSON.
#[test]
fn stats_tell_of_it() {
    let sandbox = sandbox(&task("1.1", "grep -q a out.txt"), "out.txt\n");
    let agent = Agent::new().otherwise([leave("out.txt", "a\n"), leave("b.txt", "b\n"), done()]);
    run(&sandbox, &agent, &[]);
    let shown = sandbox.run(&["stats"]).expect_code(0);
    assert!(shown.stdout.contains("### Proof\n\n0 of 1 task green in a clean checkout of "), "{shown}");
    assert!(shown.stdout.contains("\n- 1.1 is red (git ignores `out.txt`)"), "{shown}");
    let shown = sandbox.run(&["stats", "--format", "json"]).expect_code(0);
    assert!(shown.stdout.contains("\"differs\": \"git ignores `out.txt`\""), "{shown}");
}

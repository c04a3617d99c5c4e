//! `watch` at a real terminal: what a person sees there, types there, and what comes of it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::{Agent, Background, Sandbox, Signal, Step, wait_for, write_executable};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

/// A terminal with the program in it.
struct Terminal<'a> {
    sandbox: &'a Sandbox,
}

impl<'a> Terminal<'a> {
    /// The same with a variable, and as wide as it takes to see a task beside its tree.
    fn open_with(sandbox: &'a Sandbox, (name, value): (&str, &str), arguments: &str) -> Option<Self> {
        let terminal = Self::open(sandbox, "--version", (120, 30))?;
        let program = format!("{name}=\"{value}\" '{PROGRAM}' {arguments}; echo ended; sleep 60");
        terminal.tmux(&["respawn-pane", "-k", "-t", "it", &program]);
        Some(terminal)
    }

    /// None, with a line that says so, where there is no tmux. In CI it has to be there.
    fn open(sandbox: &'a Sandbox, arguments: &str, (columns, rows): (u16, u16)) -> Option<Self> {
        if !Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success()) {
            let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            assert!(!is_ci, "tmux has to be installed where CI runs: apt-get install tmux");
            eprintln!("skipped: tmux is not installed, so there is no terminal");
            return None;
        }
        let terminal = Self { sandbox };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let program = format!("'{PROGRAM}' {arguments}; echo ended; sleep 60");
        let size = ["-x", &columns, "-y", &rows];
        terminal.tmux(&[&["new-session", "-d", "-s", "it"], size.as_slice(), &[&program]].concat());
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        let socket = self.sandbox.control("tmux");
        command.args(["-u", "-f", "/dev/null", "-S"]).arg(&socket).args(arguments);
        command.env_clear().envs(self.sandbox.environment()).env("TERM", "xterm-256color");
        command.env("SHELL", "/bin/sh").env("LC_ALL", "C.UTF-8").env_remove("CI");
        let output = command.current_dir(self.sandbox.root()).output().expect("tmux runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn seen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "it"])
    }

    #[track_caller]
    fn wait_to_see(&self, part: &str) {
        wait_for(&format!("{part:?} on the screen"), || {
            // Each look is a process, on a machine that has the run to carry as well.
            std::thread::sleep(Duration::from_millis(30));
            self.seen().contains(part)
        });
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", "-t", "it", key]);
    }

    fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "it", "-l", text]);
    }

    fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-t", "it", "-x", &columns, "-y", &rows]);
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Two tasks that may run side by side.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let task = |id: &str| {
        format!(
            "- [ ] {id} [P] Make {id}\n  - **Files**: `{id}.txt`\n  - **Verify**: `grep -q good {id}.txt`\n"
        )
    };
    sandbox.spec("demo", &format!("# Tasks\n\n{}{}", task("1.1"), task("1.2")));
    sandbox.commit_all("plan");
    sandbox
}

fn good(task: &str) -> [Step; 2] {
    [Step::write(&format!("{task}.txt"), "good\n"), Step::say("TASK_COMPLETE")]
}

/// A run whose first task is asked about, while the second waits for its gate.
fn start(sandbox: &Sandbox, first: impl IntoIterator<Item = Step>) -> Background {
    let gate = Step::await_file(&sandbox.control("gate"));
    let agent = Agent::new()
        .on_attempt("1.1", 1, first)
        .on("1.1", good("1.1"))
        .on("1.2", [gate].into_iter().chain(good("1.2")));
    let command = sandbox.install_agent(&agent);
    sandbox.start(&["run", "--agent-cmd", &command, "--max-task-iterations", "1", "--on-exhausted", "ask"])
}

#[test]
fn a_question_is_answered_on_the_screen() {
    let sandbox = sandbox();
    let run = start(&sandbox, [Step::say("TASK_COMPLETE")]);
    let Some(screen) = Terminal::open(&sandbox, "watch", (80, 24)) else { return };
    screen.wait_to_see("? task 1.1 asks");
    screen.wait_to_see("a answer");
    screen.press("a");
    screen.wait_to_see("Task Escalation Required");
    screen.type_text("perhaps");
    screen.press("Enter");
    screen.wait_to_see("`perhaps` is not an answer");
    screen.press("C-u");
    screen.type_text("fix: write good into 1.1.txt");
    screen.press("Enter");
    screen.wait_to_see("has taken the answer about task 1.1");
    sandbox.release("gate");
    screen.wait_to_see("COMPLETE");
    let text = screen.seen();
    assert!(text.contains("2/2") && !text.contains("? task"), "{text}");
    run.wait().expect_code(0);
    assert!(sandbox.agent_calls().iter().any(|call| call.prompt.contains("write good into 1.1.txt")));
    screen.press("q");
    screen.wait_to_see("ended");
}

#[test]
fn a_run_that_dies_while_it_is_watched_and_a_window_that_changes_its_size() {
    let sandbox = sandbox();
    let mut run = start(&sandbox, good("1.1"));
    let Some(screen) = Terminal::open(&sandbox, "watch", (80, 24)) else { return };
    screen.wait_to_see("RUNNING");
    screen.wait_to_see("✓ 1.1 Make 1.1");
    assert!(!screen.seen().contains("1 Output"), "the tree alone");
    screen.resize(140, 40);
    screen.wait_to_see("[1 Output]");
    screen.resize(30, 8);
    screen.wait_to_see("too small: 30×8, needs 40×10");
    screen.resize(80, 24);
    screen.wait_to_see("▶ 1.2 Make 1.2");
    run.signal(Signal::Kill);
    run.wait();
    screen.wait_to_see("stopped without an end at ");
    sandbox.release("gate");
    let agent = Agent::new().otherwise(good("1.2"));
    let command = sandbox.install_agent(&agent);
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    screen.wait_to_see("COMPLETE");
    screen.press("q");
    screen.wait_to_see("ended");
}

#[test]
fn hostile_output_changes_nothing_but_the_output() {
    let sandbox = sandbox();
    // A title, another screen, a cleared one, turned text, a long line, and one of ten megabytes, which is shown at the end.
    let hostile = r"printf '\033]0;owned\007\033[?1049l\033[2J\033[1;1H\342\200\256turned\nvisible\n'; for n in 100000 10000000; do head -c $n /dev/zero | tr '\0' x; echo; done";
    let run = start(&sandbox, [Step::shell(hostile), Step::await_file(&sandbox.control("gate"))]);
    let Some(screen) = Terminal::open(&sandbox, "watch", (120, 30)) else { return };
    screen.wait_to_see("[1 Output]");
    screen.press("Tab");
    wait_for("the output", || {
        screen.press("g");
        screen.seen().contains("visible")
    });
    let text = screen.seen();
    assert!(text.lines().next().is_some_and(|line| line.starts_with(" demo on ")), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.contains("q quit")), "{text}");
    assert!(!text.contains('\u{202e}'), "{text}");
    assert_ne!(screen.tmux(&["display-message", "-p", "-t", "it", "#{pane_title}"]).trim(), "owned");
    screen.press("G");
    screen.wait_to_see("xxxxxxxxxx");
    screen.press("/");
    screen.type_text("VISIBLE");
    screen.press("Enter");
    screen.wait_to_see("visible");
    run.kill();
}

#[test]
fn a_run_that_is_over_is_played_again_and_found_in_the_list() {
    let sandbox = sandbox();
    let agent = Agent::new().on("1.1", good("1.1")).on("1.2", good("1.2"));
    let command = sandbox.install_agent(&agent);
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    sandbox.run(&["run", "--agent-cmd", &command, "--fresh"]).expect_code(0);
    let Some(screen) = Terminal::open(&sandbox, "watch --replay=1000", (100, 24)) else { return };
    screen.wait_to_see("REPLAY 1000×");
    screen.press("R");
    screen.wait_to_see("All runs of this project");
    screen.wait_to_see("put aside");
    screen.press("G");
    screen.press("Enter");
    screen.wait_to_see("✓ 1.2 Make 1.2");
    screen.press("x");
    screen.wait_to_see("This is a replay");
}

#[test]
fn what_is_shown_is_opened_in_the_editor_and_saved_where_no_work_lies() {
    let sandbox = sandbox();
    let command = sandbox.install_agent(&Agent::new().on("1.1", good("1.1")).on("1.2", good("1.2")));
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    let (seen, gate) = (sandbox.control("seen"), sandbox.control("closed"));
    let wait = "while [ ! -e \"$1\" ]; do sleep 0.05; done";
    let script = format!("#!/bin/sh\ncp \"$2\" '{}'\necho the editor is open\n{wait}\n", seen.display());
    let editor = sandbox.control("editor");
    write_executable(&editor, &script);
    let command = format!("'{}' '{}'", editor.display(), gate.display());
    let Some(screen) = Terminal::open_with(&sandbox, ("EDITOR", &command), "watch") else { return };
    screen.wait_to_see("1 Output");
    screen.press("3");
    screen.wait_to_see("Task: Execute task");
    screen.press("o");
    screen.wait_to_see("the editor is open");
    assert!(fs::read_to_string(&seen).unwrap_or_default().contains("Task: Execute task"));
    sandbox.release("closed");
    screen.wait_to_see("1 Output");
    screen.press("e");
    screen.wait_to_see("Saved as .tillgreen/");
    screen.press("q");
    screen.wait_to_see("ended");
    assert_eq!(sandbox.dirt(), [""; 0], "what was opened is gone, and what was saved is no work");
}

#[test]
fn in_github_actions_failures_are_folded_and_the_job_gets_a_summary() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let verify = "echo '::set-output name=a::b'; echo '##[error]x'; test -f never";
    sandbox.spec("demo", &format!("# Tasks\n\n- [ ] 1.1 Make it\n  - **Verify**: `{verify}`\n"));
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&Agent::new().otherwise([Step::say("TASK_COMPLETE")]));
    let summary = sandbox.control("summary");
    let junit = sandbox.control("results.xml").display().to_string();
    let run = ["run", "--agent-cmd", &command, "--max-task-iterations", "1", "--junit", &junit];
    let run = sandbox.command(&run).env("GITHUB_ACTIONS", "true").env("CI", "true");
    let stopped = run.env("GITHUB_STEP_SUMMARY", &summary.display().to_string()).run().expect_code(1);
    let lines: Vec<&str> = stopped.stderr.lines().collect();
    let begin = lines.iter().position(|line| line.starts_with("::group::1.1 attempt 1"));
    let end = lines.iter().position(|line| *line == "::endgroup::");
    assert!(begin.zip(end).is_some_and(|(begin, end)| begin < end), "{stopped}");
    assert!(!lines.iter().any(|line| line.starts_with("::set-output")), "{stopped}");
    assert!(!stopped.stderr.contains("##[error]"), "{stopped}");
    let summary = std::fs::read_to_string(&summary).expect("the summary is written");
    assert!(summary.contains("| 1.1 Make it | ✗ failed | 1 |"), "{summary}");
    let results = std::fs::read_to_string(&junit).expect("the results are written");
    assert!(results.contains("tests=\"1\" failures=\"1\""), "{results}");
}

#[test]
fn without_a_terminal_it_says_what_else_there_is() {
    let sandbox = sandbox();
    let refused = sandbox.run(&["watch"]).expect_code(2);
    assert!(
        refused.stderr.contains("needs a terminal") && refused.stderr.contains("tillgreen log -f"),
        "{refused}"
    );
    sandbox.run(&["watch", "--format", "json"]).expect_code(2);
}

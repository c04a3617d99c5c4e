//! Questions to a person: what is asked, which answers count, what each of them does, and that a question waits for
//! as long as it takes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use testkit::{Agent, AgentCall, Finished, Sandbox, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");
const FOLDER: &str = ".planning/phases";
const FIRST: &str = ".planning/phases/03-x/03-01-PLAN.md";

const DECISION: &str = "\
<task type=\"checkpoint:decision\" gate=\"blocking\">
  <decision>Which colour?</decision>
  <options>
    <option id=\"red\"><name>Warm red</name></option>
    <option id=\"blue\"><name>Cold blue</name></option>
  </options>
  <resume-signal>Select: red or blue</resume-signal>
</task>
";

const HUMAN_VERIFY: &str = "\
<task type=\"checkpoint:human-verify\" gate=\"blocking\">
  <what-built>The page</what-built>
  <how-to-verify>Look at it</how-to-verify>
  <resume-signal>Type \"approved\" or describe issues</resume-signal>
</task>
";

const HUMAN_ACTION: &str = "\
<task type=\"checkpoint:human-action\" gate=\"blocking\">
  <action>Log in to the vault</action>
  <instructions>Run login</instructions>
  <resume-signal>Type \"done\"</resume-signal>
</task>
";

/// A task that is done when a file holds the word `good`.
fn task(name: &str, file: &str) -> String {
    format!(
        "<task type=\"auto\">\n  <name>{name}</name>\n  <files>{file}</files>\n  <action>Write it.</action>\n  \
         <verify>\n    <automated>grep good {file}</automated>\n  </verify>\n  <done>{file} is good</done>\n</task>\n"
    )
}

fn plan(front: &str, tasks: &[&str]) -> String {
    format!("---\nphase: 03-x\n{front}---\n\n<tasks>\n\n{}\n</tasks>\n", tasks.join("\n"))
}

fn sandbox(tasks: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.write(FIRST, plan("plan: 01\n", tasks));
    sandbox.commit_all("plan");
    sandbox
}

/// A project with one task, and one that comes after it and needs another file.
fn two_tasks() -> Sandbox {
    sandbox(&[&task("Task 1: Make a", "a"), &task("Task 2: Make b", "b")])
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", FOLDER, "--agent-cmd", &command], flags].concat())
}

#[track_caller]
fn answer(sandbox: &Sandbox, response: &str) -> Finished {
    sandbox.run(&["answer", FOLDER, response])
}

fn success() -> Step {
    Step::say("status: success")
}

fn good(file: &str) -> [Step; 2] {
    [Step::write(file, "good\n"), success()]
}

/// Writes the file `a` and never gets it right.
fn hopeless() -> Agent {
    Agent::new().on("03-01:task-1", [Step::append("a", "bad\n"), success()]).on("03-01:task-2", good("b"))
}

fn attempts(sandbox: &Sandbox) -> Vec<(String, u32)> {
    sandbox.agent_calls().into_iter().map(|call| (call.task, call.attempt)).collect()
}

/// The part of the text between two words, the words included.
#[track_caller]
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from} in {text}"));
    let end = text[start..].find(to).unwrap_or_else(|| panic!("no {to} in {text}"));
    &text[start..start + end + to.len()]
}

/// A text with `TIME` for every time that is written as in the history or as in the feedback.
fn timeless(text: &str) -> String {
    let is_date = |word: &str| word.starts_with("20") && word.matches('-').count() == 2;
    let word = |word: &str| {
        let bare = word.trim_start_matches("<timestamp>");
        if is_date(bare) {
            word.replace(bare.trim_end_matches("</timestamp>"), "TIME")
        } else if word.len() == 5 && word.as_bytes()[2] == b':' {
            String::new()
        } else {
            word.to_owned()
        }
    };
    let line =
        |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ").replace("TIME  |", "TIME |");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_message_is_that_of_the_protocol() {
    let sandbox = two_tasks();
    run(&sandbox, &hopeless(), &["--max-task-iterations", "2"]).expect_code(3);
    let status = sandbox.run(&["status", FOLDER]).expect_code(0).stdout;
    let message = part(&status, "## Task Escalation Required", "specific fix instruction");
    insta::assert_snapshot!(timeless(message), @r"
    ## Task Escalation Required

    **Task:** Task 1: Make a
    **Plan:** 03-01
    **Attempts:** 2 of 2

    ### Failure Summary

    This task has failed 2 times. Automated recovery has been exhausted.

    ### Attempt History

    | Attempt | Timestamp | Failure Type | Error |
    |---------|-----------|--------------|-------|
    | 1 | TIME | verification_failed | `grep good a` failed with exit code 1 |
    | 2 | TIME | verification_failed | `grep good a` failed with exit code 1 |

    ### Last Error Details

    ```
    `grep good a` failed with exit code 1
    ```

    ### Files Modified (Partial State)

    - `a` - created

    ### Suggested Actions

    1. **Review task definition** - Is <done> criteria achievable?
    2. **Check test expectations** - Are tests correct?
    3. **Manual intervention** - Fix the specific issue
    4. **Skip task** - Mark as skipped and continue
    5. **Abort plan** - Stop execution entirely

    ---

    **Your options:**
    - `retry` - Try one more time (resets counter)
    - `skip` - Skip this task, continue with next
    - `abort` - Stop plan execution
    - `fix: <instruction>` - Provide specific fix instruction
    ");
}

#[test]
fn a_run_that_pauses_prints_the_question() {
    let sandbox = two_tasks();
    let asked = |finished: &Finished| {
        part(&finished.stderr, "## Task Escalation Required", "specific fix instruction").to_owned()
    };
    let paused = run(&sandbox, &hopeless(), &["--max-task-iterations", "1"]).expect_code(3);
    let status = sandbox.run(&["status", FOLDER]).expect_code(0).stdout;
    assert!(status.contains(&asked(&paused)), "{paused}");
    assert!(asked(&paused).contains("**Attempts:** 1 of 1\n"), "{paused}");
    assert!(paused.stderr.trim_end().lines().last().unwrap().starts_with("hint: answer with"), "{paused}");
    let again = answer(&sandbox, "retry").expect_code(3);
    assert!(asked(&again).contains("\n| 2 | "), "{again}");
    let for_programs = sandbox.run(&["answer", FOLDER, "retry", "--format", "json"]).expect_code(3);
    let last = for_programs.stderr.lines().last().unwrap_or_default();
    let error: serde_json::Value = serde_json::from_str(last).expect("an error is an object");
    assert!(error["question"].as_str().is_some_and(|text| text.contains("\n| 3 | ")), "{for_programs}");
}

#[test]
fn fences_in_an_error_do_not_end_its_block() {
    let sandbox = two_tasks();
    let error = "status: failure\nerror: |\n  before\n  ````rust\n  let a = 1;\n  ````\n  after\n";
    run(&sandbox, &Agent::new().otherwise([Step::say(error)]), &["--max-task-iterations", "1"])
        .expect_code(3);
    let status = sandbox.run(&["status", FOLDER]).expect_code(0).stdout;
    let block = part(&status, "### Last Error Details\n", "### Suggested Actions");
    assert!(block.contains("\n\n`````\n") && block.contains("\n`````\n\n"), "{block}");
    assert!(block.contains("\n  ````rust\n  let a = 1;\n  ````\n"), "{block}");
}

#[test]
fn retry_is_a_new_round_with_a_full_budget() {
    let sandbox = two_tasks();
    run(&sandbox, &hopeless(), &[]).expect_code(3);
    answer(&sandbox, "retry").expect_code(3);
    let numbers: Vec<_> = attempts(&sandbox).into_iter().map(|(_, attempt)| attempt).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6], "the numbering goes on");
    let prompt = &sandbox.agent_calls()[3].prompt;
    assert!(prompt.contains("<retry_context attempt=\"4\" max_attempts=\"6\">"), "{prompt}");
    assert!(prompt.contains("<failure attempt=\"1\">"), "the history goes on: {prompt}");
    let status = sandbox.run(&["status", FOLDER]).stdout;
    assert!(status.contains("**Attempts:** 3 of 3, after 3 before\n"), "{status}");
    let history: Vec<_> = status.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(history[1].starts_with("| 4 |") && history.len() == 4, "{status}");
}

#[test]
fn skip_leaves_the_task_out_and_says_so() {
    let sandbox = sandbox(&[&task("Task 1: Make a", "a.txt"), &task("Task 2: Make a better", "a.txt")]);
    let third =
        plan("plan: 02\n", &[&task("Task 1: Make a best", "a.txt"), &task("Task 2: Make b", "b.txt")]);
    sandbox.write(&format!("{FOLDER}/03-x/03-02-PLAN.md"), third);
    sandbox.write(".planning/STATE.md", "# State\n\nAll is well.\n");
    sandbox.commit_all("state");
    let agent = Agent::new()
        .on("03-01:task-1", [success()])
        .on("03-02:task-2", good("b.txt"))
        .otherwise([Step::append("a.txt", "good\n"), success()]);
    run(&sandbox, &agent, &[]).expect_code(3);
    let finished = answer(&sandbox, "skip").expect_code(0);
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    assert!(finished.stdout.contains("1 task (03-01:task-1)"), "the skip is said: {finished}");
    assert!(finished.stderr.contains("[SKIPPED]"), "{finished}");
    let warning = "these tasks depend on it and may fail: 03-01:task-2, 03-02:task-1\n";
    assert!(finished.stderr.contains(warning), "{finished}");
    let state = sandbox.read(".planning/STATE.md");
    assert!(state.starts_with("# State\n\nAll is well.\n"), "{state}");
    let entry = "skipped_tasks:\n  - task: \"03-01:task-1\"\n    reason: \"User escalation";
    assert!(state.contains(entry) && state.contains("\"\n    timestamp: \"20"), "{state}");
    let block = "[SKIPPED] Task 1: Make a\n  Reason: User escalation after 3 failed attempts\n  \
                 Impact: Dependent tasks may fail\n";
    assert!(state.contains(block), "{state}");
    assert!(finished.stdout.contains(block), "{finished}");
    let again = run(&sandbox, &agent, &[]).expect_code(0);
    assert!(!again.stdout.contains("ALL_TASKS_COMPLETE"), "it stays skipped: {again}");
    assert_eq!(sandbox.agent_calls().len(), 6);
    let fresh = run(&sandbox, &Agent::new().otherwise([success()]), &["--fresh"]).expect_code(0);
    assert!(fresh.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{fresh}");
}

#[test]
fn there_is_one_list_of_skipped_tasks() {
    let sandbox = sandbox(&[&task("Task 1: Make a", "a"), &task("Task 2: Make b", "b")]);
    let known = "---\nphase: 3\nskipped_tasks:\n- task: \"02-01:task-1\"\n  reason: \"x\"\nmode: fast\n---\n\n# State\n";
    sandbox.write(".planning/STATE.md", known);
    sandbox.commit_all("state");
    let agent = Agent::new().otherwise([Step::say("status: blocked")]);
    run(&sandbox, &agent, &["--on-escalation", "skip"]).expect_code(0);
    let state = sandbox.read(".planning/STATE.md");
    assert_eq!(state.matches("skipped_tasks:").count(), 1, "{state}");
    assert!(state.starts_with(&known[..known.find("mode").unwrap()]), "{state}");
    let ids: Vec<&str> = state.lines().filter_map(|line| line.strip_prefix("- task: ")).collect();
    assert_eq!(ids, ["\"02-01:task-1\"", "\"03-01:task-1\"", "\"03-01:task-2\""], "{state}");
    let blocks = "[SKIPPED] Task 1: Make a\n  Reason: skipped by --on-escalation skip\n  Impact: Dependent tasks may fail\n\
                  \n[SKIPPED] Task 2: Make b\n  Reason: skipped by --on-escalation skip\n  Impact: No task depends on it\n";
    assert!(state.contains(blocks), "{state}");
    assert!(state.contains("mode: fast\n---\n\n# State\n"), "{state}");
}

#[test]
fn abort_ends_the_run_and_keeps_everything() {
    let sandbox = two_tasks();
    run(&sandbox, &hopeless(), &[]).expect_code(3);
    let finished = answer(&sandbox, "abort").expect_code(7);
    assert!(finished.stderr.contains("aborted"), "{finished}");
    assert_eq!(sandbox.read("a"), "bad\nbad\nbad\n", "the partial state is kept");
    answer(&sandbox, "retry").expect_code(2);
    sandbox.run(&["run", FOLDER]).expect_code(3);
    assert_eq!(attempts(&sandbox).len(), 6, "a new round has full budgets");
}

#[test]
fn a_fix_is_authoritative_and_one_more_attempt() {
    let sandbox = two_tasks();
    run(&sandbox, &hopeless(), &[]).expect_code(3);
    answer(&sandbox, "fix: Check for <whitespace> using .trim() first").expect_code(3);
    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 4, "failing, it asks again");
    let block = part(&calls[3].prompt, "<retry_context", "</retry_context>");
    let expected = "\
<retry_context attempt=\"4\" max_attempts=\"4\">
  <user_intervention>
    <instruction priority=\"high\">
      User provided fix: Check for &lt;whitespace&gt; using .trim() first
    </instruction>
    <context>
      This instruction comes from the user after automated recovery failed.
      Treat this as authoritative guidance.
    </context>
  </user_intervention>

  <previous_failures>
    <failure attempt=\"1\">
";
    assert!(block.starts_with(expected), "{block}");
    assert!(block.ends_with("    </failure>\n  </previous_failures>\n</retry_context>"), "{block}");
    assert_eq!(block.matches("<failure attempt=").count(), 3, "{block}");
    sandbox.install_agent(&Agent::new().on("03-01:task-1", good("a")).otherwise(good("b")));
    answer(&sandbox, "fix: write good").expect_code(0);
    let prompt = &sandbox.agent_calls()[4].prompt;
    assert!(prompt.contains("User provided fix: write good"), "{prompt}");
    assert!(!prompt.contains("whitespace"), "an instruction is for one attempt: {prompt}");
    let last = sandbox.agent_calls().last().map(|call| call.prompt.clone()).unwrap_or_default();
    assert!(!last.contains("<user_intervention>"), "and for one task: {last}");
}

#[test]
fn what_is_no_answer_is_refused_and_the_question_stays_open() {
    let sandbox = two_tasks();
    let nothing = answer(&sandbox, "retry").expect_code(2);
    assert!(nothing.stderr.contains("no question"), "{nothing}");
    run(&sandbox, &hopeless(), &["--max-task-iterations", "1"]).expect_code(3);
    for text in ["", "yes", "fix:", "retry please", "approve", "reject: no", "done", "skip: it", "-1"] {
        let refused = sandbox.run(&["answer", FOLDER, "--", text]);
        assert_eq!(refused.code, Some(2), "for {text:?}: {refused}");
        assert!(refused.stderr.contains("hint: "), "for {text:?}: {refused}");
    }
    assert_eq!(sandbox.agent_calls().len(), 1);
    let status = sandbox.run(&["status", FOLDER]).stdout;
    assert!(status.contains("## Task Escalation Required"), "{status}");
    answer(&sandbox, " Skip ").expect_code(0);
}

#[test]
fn a_checkpoint_asks_and_takes_its_answer() {
    let sandbox = sandbox(&[DECISION, HUMAN_VERIFY, HUMAN_ACTION, &task("Task 4: Make a", "a")]);
    let paused = run(&sandbox, &Agent::new().otherwise(good("a")), &[]).expect_code(3);
    assert!(paused.stderr.contains("03-01:task-1 waits for an answer"), "{paused}");
    let status = sandbox.run(&["status", FOLDER]).stdout;
    for words in ["Which colour?", "- `red`: Warm red", "- `blue`: Cold blue", "Select: red or blue"] {
        assert!(status.contains(words), "{words} is missing in {status}");
    }
    for wrong in ["green", "yes", "retry", "approve", ""] {
        let refused = answer(&sandbox, wrong);
        assert_eq!(refused.code, Some(2), "for {wrong:?}: {refused}");
    }
    answer(&sandbox, "cold BLUE").expect_code(3);
    for wrong in ["no", "blue", "retry", "it looks wrong"] {
        let refused = answer(&sandbox, wrong);
        assert_eq!(refused.code, Some(2), "for {wrong:?}: {refused}");
    }
    answer(&sandbox, "Approved").expect_code(3);
    answer(&sandbox, "approved").expect_code(2);
    assert_eq!(sandbox.agent_calls(), [], "no agent is needed for any of this");
    let finished = answer(&sandbox, "done").expect_code(0);
    assert!(finished.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{finished}");
    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].prompt.contains("03-01:task-1 (Which colour?): blue"), "{}", calls[0].prompt);
}

#[test]
fn a_checkpoint_can_send_work_back() {
    let sandbox = sandbox(&[&task("Task 1: Make a", "a"), HUMAN_VERIFY]);
    let agent = Agent::new()
        .on("03-01:task-1", good("a"))
        .on("03-01:task-2", [Step::append("a", "better\n"), success()]);
    run(&sandbox, &agent, &[]).expect_code(3);
    answer(&sandbox, "fix: make the logo bigger").expect_code(3);
    let calls = sandbox.agent_calls();
    assert_eq!((calls.len(), calls[1].role.as_str()), (2, "executor"));
    assert!(calls[1].prompt.contains("User provided fix: make the logo bigger"), "{}", calls[1].prompt);
    assert_eq!(sandbox.read("a"), "good\nbetter\n");
    answer(&sandbox, "approved").expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 2);
    assert_eq!(sandbox.dirt(), [""; 0], "what the fix changed is committed");
}

#[test]
fn questions_can_be_settled_beforehand() {
    for (choice, code) in [("pause", 3), ("skip", 0), ("abort", 7)] {
        let sandbox = two_tasks();
        let finished = run(&sandbox, &hopeless(), &["--on-escalation", choice, "--max-task-iterations", "1"]);
        assert_eq!(finished.code, Some(code), "for {choice}: {finished}");
        assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "for {choice}: {finished}");
        let went_on = attempts(&sandbox).iter().any(|(task, _)| task == "03-01:task-2");
        assert_eq!(went_on, choice == "skip", "for {choice}");
        assert_eq!(sandbox.has(".planning/STATE.md"), choice == "skip", "for {choice}");
    }
}

/// Plan 1 asks at once; plan 2 depends on it, plan 3 shares its file, plan 4 has nothing to do with it.
fn four_plans() -> Sandbox {
    let sandbox = sandbox(&[&task("Task 1: Make a", "a.txt")]);
    let write = |number: &str, text: &str| sandbox.write(&format!("{FOLDER}/03-x/03-{number}-PLAN.md"), text);
    write("02", &plan("plan: 02\ndepends_on: [03-01]\n", &[&task("Task 1: Make b", "b")]));
    write("03", &plan("plan: 03\n", &[&task("Task 1: Improve a", "a.txt")]));
    write("04", &plan("plan: 04\n", &[&task("Task 1: Make c", "c"), &task("Task 2: Make d", "d")]));
    sandbox.commit_all("plans");
    sandbox
}

fn four_plans_agent() -> Agent {
    Agent::new()
        .on_attempt("03-01:task-1", 1, [Step::say("status: blocked\nreason: no idea")])
        .on("03-01:task-1", good("a.txt"))
        .on("03-02:task-1", good("b"))
        .on("03-03:task-1", [Step::append("a.txt", "good"), success()])
        .on("03-04:task-1", good("c"))
        .otherwise(good("d"))
}

fn order(sandbox: &Sandbox) -> Vec<String> {
    attempts(sandbox).into_iter().map(|(task, _)| task).collect()
}

#[test]
fn what_does_not_depend_on_a_question_can_go_on() {
    let sandbox = four_plans();
    run(&sandbox, &four_plans_agent(), &["--keep-going"]).expect_code(3);
    assert_eq!(order(&sandbox), ["03-01:task-1", "03-04:task-1", "03-04:task-2"]);
    answer(&sandbox, "retry").expect_code(0);
    assert_eq!(order(&sandbox)[3..], ["03-01:task-1", "03-02:task-1", "03-03:task-1"]);
}

#[test]
fn by_default_nothing_new_starts_while_a_question_is_open() {
    let sandbox = four_plans();
    run(&sandbox, &four_plans_agent(), &[]).expect_code(3);
    assert_eq!(order(&sandbox), ["03-01:task-1"]);
}

#[test]
fn several_questions_are_answered_one_after_the_other() {
    let sandbox = sandbox(&[&task("Task 1: Make a", "a")]);
    sandbox.write(&format!("{FOLDER}/03-x/03-02-PLAN.md"), plan("plan: 02\n", &[DECISION]));
    sandbox.commit_all("plans");
    let agent =
        Agent::new().on_attempt("03-01:task-1", 1, [Step::say("status: blocked")]).otherwise(good("a"));
    run(&sandbox, &agent, &["--keep-going"]).expect_code(3);
    let first = sandbox.run(&["status", FOLDER]).stdout;
    assert!(first.contains("03-01:task-1 waits for an answer"), "{first}");
    answer(&sandbox, "red").expect_code(2);
    answer(&sandbox, "retry").expect_code(3);
    answer(&sandbox, "red").expect_code(0);
}

#[test]
fn an_answer_can_be_noted_for_later() {
    let sandbox = two_tasks();
    run(&sandbox, &hopeless(), &["--max-task-iterations", "1"]).expect_code(3);
    sandbox.run(&["answer", FOLDER, "fix: use good", "--no-run"]).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 1);
    let second = answer(&sandbox, "skip").expect_code(8);
    assert!(second.stderr.contains(": fix: use good\n"), "{second}");
    sandbox.install_agent(&Agent::new().on("03-01:task-1", good("a")).otherwise(good("b")));
    sandbox.run(&["run", FOLDER]).expect_code(0);
    assert!(sandbox.agent_calls()[1].prompt.contains("User provided fix: use good"));
}

#[test]
fn a_skip_noted_for_later_is_kept() {
    let sandbox = two_tasks();
    run(&sandbox, &hopeless(), &["--max-task-iterations", "1"]).expect_code(3);
    sandbox.run(&["answer", FOLDER, "skip", "--no-run"]).expect_code(0);
    assert!(sandbox.has(".planning/STATE.md"));
    let finished = sandbox.run(&["run", FOLDER]).expect_code(0);
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    assert_eq!(order(&sandbox), ["03-01:task-1", "03-01:task-2"]);
}

/// The program at a terminal of its own.
struct Terminal {
    child: Child,
    screen: PathBuf,
}

impl Terminal {
    /// None, with a line that says so, where there is no program that makes terminals.
    fn start(sandbox: &Sandbox, agent: &Agent) -> Option<Terminal> {
        let found = Command::new("script").arg("--version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            eprintln!("skipped: `script` is not installed, so there is no terminal");
            return None;
        }
        let agent = sandbox.install_agent(agent);
        let screen = sandbox.control("screen");
        let mut command = Command::new("script");
        command.args(["-qec", "exec \"$PROGRAM\" run .planning/phases --agent-cmd \"$AGENT\"", "/dev/null"]);
        command.env_clear().envs(sandbox.environment()).env("SHELL", "/bin/sh").env("TERM", "xterm");
        command.env("PROGRAM", PROGRAM).env("AGENT", agent).current_dir(sandbox.root());
        let output = File::create(&screen).expect("a file can be made");
        command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null());
        Some(Terminal { child: command.spawn().expect("`script` is installed"), screen })
    }

    #[track_caller]
    fn await_questions(&self, count: usize) {
        wait_for("the question", || self.shown().matches("Your answer: ").count() >= count);
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.screen).unwrap_or_default()).into_owned()
    }

    fn type_keys(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().expect("it is piped");
        stdin.write_all(keys.as_bytes()).expect("the terminal reads");
        stdin.flush().expect("the terminal reads");
    }

    fn code(mut self) -> Option<i32> {
        // Its input stays open until the end: its end would be another Ctrl-D.
        let stdin = self.child.stdin.take();
        wait_for("the end", || self.child.try_wait().expect("a child can be waited for").is_some());
        drop(stdin);
        self.child.wait().expect("a child can be waited for").code()
    }
}

#[test]
fn at_a_terminal_it_asks_there() {
    let sandbox = sandbox(&[DECISION, &task("Task 2: Make a", "a")]);
    let Some(mut terminal) = Terminal::start(&sandbox, &Agent::new().otherwise(good("a"))) else { return };
    terminal.await_questions(1);
    assert!(terminal.shown().contains("## Task Escalation Required"), "{}", terminal.shown());
    terminal.type_keys("green\r");
    terminal.await_questions(2);
    assert!(terminal.shown().contains("answer one of red, blue"), "{}", terminal.shown());
    terminal.type_keys("red\r");
    let screen = terminal.screen.clone();
    assert_eq!(terminal.code(), Some(0), "{}", String::from_utf8_lossy(&fs::read(screen).unwrap()));
    let calls = sandbox.agent_calls();
    assert!(calls[0].prompt.contains("(Which colour?): red"), "{}", calls[0].prompt);
}

#[test]
fn at_a_terminal_it_says_that_somebody_else_was_first() {
    let sandbox = sandbox(&[DECISION, &task("Task 2: Make a", "a"), HUMAN_ACTION]);
    let Some(mut terminal) = Terminal::start(&sandbox, &Agent::new().otherwise(good("a"))) else { return };
    terminal.await_questions(1);
    let answered = answer(&sandbox, "red").expect_code(0);
    assert!(answered.stdout.contains("has taken the answer about task 03-01:task-1: red."), "{answered}");
    // The next question is put though nobody typed anything to the first.
    terminal.await_questions(2);
    assert!(terminal.shown().contains("was answered elsewhere, by "), "{}", terminal.shown());
    terminal.type_keys("done\r");
    let screen = terminal.screen.clone();
    assert_eq!(terminal.code(), Some(0), "{}", String::from_utf8_lossy(&fs::read(screen).unwrap()));
}

#[test]
fn silence_is_never_consent() {
    let sandbox = sandbox(&[HUMAN_VERIFY]);
    let Some(mut terminal) = Terminal::start(&sandbox, &Agent::new()) else { return };
    terminal.await_questions(1);
    terminal.type_keys("\r");
    terminal.await_questions(2);
    terminal.type_keys("\u{4}");
    assert_eq!(terminal.code(), Some(3));
    sandbox.wait_until_quiet();
    answer(&sandbox, "approved").expect_code(0);
}

#[test]
fn a_question_survives_a_crash() {
    let sandbox = two_tasks();
    let Some(terminal) = Terminal::start(&sandbox, &hopeless()) else { return };
    terminal.await_questions(1);
    sandbox.kill_everything();
    let _ = terminal.code();
    let status = sandbox.run(&["status", FOLDER]).expect_code(0).stdout;
    assert!(status.contains("## Task Escalation Required"), "{status}");
    assert!(status.contains("**Attempts:** 3 of 3"), "{status}");
    let again = sandbox.run(&["run", FOLDER]).expect_code(3);
    assert!(again.stderr.contains("waits for an answer"), "{again}");
    sandbox.install_agent(&Agent::new().on("03-01:task-1", good("a")).otherwise(good("b")));
    answer(&sandbox, "retry").expect_code(0);
    let calls: Vec<AgentCall> = sandbox.agent_calls();
    assert_eq!((calls.len(), calls[3].attempt), (5, 4));
}

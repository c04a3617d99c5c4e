//! Work trees outside the project: what is proposed for them, what they take, and how they go.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write one
  - **Files**: `one.txt`
  - **Verify**: `grep -q one one.txt`
";

fn parsed(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished}"))
}

#[track_caller]
fn expect_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// A linked tree where those of a plan lie.
fn with_tree(sandbox: &Sandbox, folder: &Path, key: &str) -> PathBuf {
    let root = sandbox.root().display().to_string();
    let sum = Command::new("sh").args(["-c", "printf %s \"$0\" | sha256sum | cut -c1-8", &root]).output();
    let sum = sum.expect("there is a shell");
    let sum = String::from_utf8(sum.stdout).expect("digits");
    let name = sandbox.root().file_name().expect("a project has a name").to_string_lossy().into_owned();
    let plan = folder.join(format!("{name}-{}", sum.trim())).join(key);
    let tree = plan.join("slot-1").display().to_string();
    sandbox.git(&["worktree", "add", "--quiet", "--detach", &tree]);
    plan
}

#[test]
fn clean_removes_work_trees_and_says_how_much_they_took() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&Agent::new().on("1.1", [Step::Hang]));
    let none = sandbox.run(&["clean"]).expect_code(0);
    assert_eq!(none.stdout, "There are no work trees to remove.\n");
    let cache = sandbox.home().join(".cache/tillgreen");
    let plan = with_tree(&sandbox, &cache, "demo");
    let other = with_tree(&sandbox, &sandbox.home().join("elsewhere"), "other");
    let status = sandbox.run(&["status"]).expect_code(0).stdout;
    let row = status
        .lines()
        .find(|line| line.starts_with("Trees     1 work tree, "))
        .unwrap_or_else(|| panic!("{status}"));
    assert!(row.ends_with(&format!(", in {}", plan.display())), "{row}");

    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the agent", || !sandbox.agent_calls().is_empty());
    let refused = sandbox.run(&["clean", "demo"]).expect_code(4);
    expect_parts(&refused.stderr, &["error: a run of demo is under way", "hint: nothing was removed"]);
    sandbox.run(&["clean"]).expect_code(4);
    assert!(plan.exists() && other.exists());
    sandbox.run(&["cancel"]).expect_code(0);
    run.wait().expect_code(130);
    sandbox.wait_until_quiet();

    sandbox.git(&["update-ref", "refs/tillgreen/demo/1.1", "HEAD"]);
    let cleaned = sandbox.run(&["clean", "demo"]).expect_code(0).stdout;
    let lines: Vec<&str> = cleaned.lines().collect();
    assert!(
        lines[0].starts_with("demo: 1 work tree, ") && lines[1].starts_with("Removed 1 work tree, "),
        "{cleaned}"
    );
    assert_eq!(
        lines[2],
        "Work that has not come in stays in git: 1 reference (`git for-each-ref refs/tillgreen`)."
    );
    assert!(!plan.exists() && other.exists() && !cache.join("demo").exists());
    let cleaned = parsed(&sandbox.run(&["clean", "--format", "json"]).expect_code(0));
    assert_eq!(
        (&cleaned["removed"][0]["plan"], &cleaned["kept"][0]),
        (&Value::from("other"), &Value::from("refs/tillgreen/demo/1.1"))
    );
    assert!(cleaned["bytes"].as_u64().unwrap() > 0 && !other.exists());
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn init_proposes_what_makes_work_trees_ready() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.write("requirements.txt", "");
    sandbox.write("package-lock.json", "{}");
    sandbox.git(&["add", "--all"]);
    let init = parsed(&sandbox.run(&["init", "--format", "json"]).expect_code(0));
    assert_eq!(init["worktree_setup"]["set"], Value::Bool(false), "{init}");
    let text = sandbox.read("tillgreen.toml");
    expect_parts(
        &text,
        &[
            "# worktree_setup, from package-lock.json, requirements.txt: ",
            "\n# worktree_setup = \"npm ci && python3 -m venv --clear .venv && ",
        ],
    );
    sandbox.install_program("npm", "exit 0");
    sandbox.git(&["rm", "--quiet", "--cached", "requirements.txt"]);
    fs::remove_file(sandbox.root().join("tillgreen.toml")).unwrap();
    let init = sandbox.run(&["init"]).expect_code(0).stdout;
    expect_parts(
        &init,
        &["Work trees are made ready by `npm ci` (package-lock.json): see worktree_setup there."],
    );
    expect_parts(&sandbox.read("tillgreen.toml"), &["\nworktree_setup = \"npm ci\"\n"]);
}

/// A set-up command.
const MAKES_DEPS: &str = "mkdir -p deps; echo ready > deps/slot";

/// A project whose one task needs something that only set-up makes.
fn needing(setup: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let verify = "grep -q one one.txt && test -e deps/slot && ! test -e deps/of-project";
    sandbox.spec("demo", &PLAN.replace("grep -q one one.txt", verify));
    sandbox.write(".gitignore", "/deps/\n");
    sandbox.write("package.json", "{}");
    sandbox.write("tillgreen.toml", format!("worktree_setup = '{setup}'\n"));
    sandbox.commit_all("plan");
    sandbox.write("deps/of-project", "");
    let steps = [Step::write("one.txt", "one\n"), Step::say("TASK_COMPLETE")];
    let command = sandbox.install_agent(&Agent::new().on("1.1", steps));
    (sandbox, command)
}

#[test]
fn work_is_done_and_comes_in_where_set_up_made_what_it_needs() {
    let (sandbox, command) = needing("mkdir deps; echo $TILLGREEN_SLOT > deps/slot; echo ready");
    let run = sandbox.run(&["run", "--isolate", "--agent-cmd", &command]).expect_code(0);
    expect_parts(&run.stdout, &["ALL_TASKS_COMPLETE"]);
    assert_eq!(sandbox.read("one.txt"), "one\n");
    assert!(!sandbox.has("deps/slot") && sandbox.has("deps/of-project"), "the project keeps its own");
    let log = sandbox.read(".tillgreen/specs-demo/setup/setup-landing.log");
    assert_eq!(log, "ready\n");
}

/// A verify command for `needing` that, once and where this holds, spoils what set-up made and never ends.
fn spoiling(sandbox: &Sandbox, place: &str) -> String {
    let begun = sandbox.control("begun").display().to_string();
    let spoil = format!("touch {begun}; echo half > deps/slot; sleep 1000");
    format!(
        "grep -q one one.txt && grep -q ready deps/slot && if {place} && ! test -e {begun}; then {spoil}; fi"
    )
}

/// The same project with another verify command.
fn verified_by(sandbox: &Sandbox, verify: &str) {
    sandbox.spec("demo", &PLAN.replace("grep -q one one.txt", verify));
    sandbox.commit_all("another verify command");
}

#[test]
fn what_was_cut_off_in_the_landing_tree_is_not_kept() {
    let (sandbox, command) = needing(MAKES_DEPS);
    verified_by(&sandbox, &spoiling(&sandbox, "test $TILLGREEN_SLOT = 0"));
    let flags = ["run", "--isolate", "--verify-timeout", "3s", "--agent-cmd", &command];
    sandbox.run(&flags).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 2, "one attempt was out of time");
}

#[test]
fn an_agent_that_was_out_of_time_leaves_nothing_to_the_next() {
    let (sandbox, _) = needing(MAKES_DEPS);
    verified_by(&sandbox, "grep -q one one.txt && grep -q ready deps/slot");
    let hangs = [Step::shell("echo half > deps/slot"), Step::Hang];
    let works = [Step::write("one.txt", "one\n"), Step::say("TASK_COMPLETE")];
    let command = sandbox.install_agent(&Agent::new().on_attempt("1.1", 1, hangs).otherwise(works));
    let flags = ["run", "--isolate", "--attempt-timeout", "3s", "--agent-cmd", &command];
    sandbox.run(&flags).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 2);
}

#[test]
fn a_check_that_the_program_did_not_survive_is_made_in_a_slot_that_is_made_ready_again() {
    let (sandbox, command) = needing(MAKES_DEPS);
    verified_by(&sandbox, &spoiling(&sandbox, "test $TILLGREEN_SLOT = 1"));
    let flags = ["run", "--isolate", "--agent-cmd", &command];
    let run = sandbox.start(&flags);
    wait_for("the check", || sandbox.control("begun").exists());
    run.kill();
    sandbox.wait_until_quiet();
    let run = sandbox.run(&flags).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 1, "{run}");
}

#[test]
fn what_was_set_up_is_kept_from_one_start_to_the_next() {
    let (sandbox, _) = needing(MAKES_DEPS);
    let setups = sandbox.control("setups").display().to_string();
    sandbox.write(
        "tillgreen.toml",
        format!("worktree_setup = '{MAKES_DEPS}; echo $TILLGREEN_SLOT >> {setups}'\n"),
    );
    verified_by(&sandbox, "grep -q one one.txt");
    let works = [Step::write("one.txt", "one\n"), Step::say("TASK_COMPLETE")];
    let agent = Agent::new().on_attempt("1.1", 1, [Step::say("TASK_COMPLETE")]).otherwise(works);
    let command = sandbox.install_agent(&agent);
    let flags = ["run", "--isolate", "--prove", "off", "--max-task-iterations", "1", "--agent-cmd", &command];
    sandbox.run(&flags).expect_code(1);
    sandbox.run(&flags).expect_code(0);
    assert_eq!(fs::read_to_string(setups).unwrap(), "1\n0\n");
}

#[test]
fn a_set_up_that_hangs_is_stopped_with_the_run() {
    let (sandbox, command) = needing("touch ../begun; sleep 1000");
    let run = sandbox.start(&["run", "--isolate", "--agent-cmd", &command]);
    let cache = sandbox.home().join(".cache/tillgreen");
    let begun = || Command::new("find").arg(&cache).args(["-name", "begun"]).output();
    wait_for("the set-up", || begun().is_ok_and(|found| !found.stdout.is_empty()));
    sandbox.run(&["cancel"]).expect_code(0);
    run.wait().expect_code(130);
    sandbox.wait_until_quiet();
    assert!(sandbox.agent_calls().is_empty());
}

#[test]
fn a_set_up_that_fails_costs_no_attempt_and_is_said() {
    let (sandbox, command) = needing("echo no such registry; exit 3");
    sandbox.write("deps/slot", "");
    fs::remove_file(sandbox.root().join("deps/of-project")).unwrap();
    let run = sandbox.run(&["run", "--isolate", "--agent-cmd", &command]);
    let said = format!("{}{}", run.stdout, run.stderr);
    expect_parts(
        &said,
        &["worktree_setup `echo no such registry; exit 3` failed with exit code 3: no such registry"],
    );
    expect_parts(&run.expect_code(0).stdout, &["ALL_TASKS_COMPLETE"]);
    assert_eq!(sandbox.agent_calls().len(), 1, "it was done in the project");
}

/// A project with something that git ignores and no set-up makes, and a plan of tasks with these verify commands.
fn lacking(verify: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let task = |(number, verify): (usize, &&str)| {
        format!("- [ ] 1.{number} Write\n  - **Files**: `{number}.js`\n  - **Verify**: `{verify}`\n\n")
    };
    let tasks: String = (1..).zip(verify).map(task).collect();
    sandbox.spec("demo", &format!("# Tasks\n\n{tasks}"));
    sandbox.write(".gitignore", "/deps/\n/node_modules/\n");
    sandbox.commit_all("plan");
    sandbox.write("deps/list.txt", "all\n");
    sandbox
}

/// Runs a plan in slots with an agent that writes the files of its tasks, and may fail nowhere.
#[track_caller]
fn isolated(sandbox: &Sandbox) -> Finished {
    let works = Step::shell("echo done > \"${TILLGREEN_TASK_ID#1.}.js\"");
    let command = sandbox.install_agent(&Agent::new().otherwise([works, Step::say("TASK_COMPLETE")]));
    sandbox.run(&["run", "--isolate", "--max-task-iterations", "1", "--agent-cmd", &command]).expect_code(0)
}

/// For each start of an agent, whether it was in the project itself.
fn in_project(sandbox: &Sandbox) -> Vec<bool> {
    let root = sandbox.root().display().to_string();
    sandbox.agent_calls().iter().map(|call| call.folder == root).collect()
}

#[test]
fn what_a_verify_command_names_as_missing_is_known_before_its_agent_is_started() {
    let sandbox = lacking(&["cat deps/list.txt && grep -q done 1.js"]);
    let run = isolated(&sandbox);
    expect_parts(&run.stderr, &["1.1 gets no work tree", "worktree_copy = [\"deps/list.txt\"]"]);
    assert_eq!(in_project(&sandbox), [true], "{run}");
}

#[test]
fn what_an_attempt_left_in_a_slot_that_lacks_something_is_in_the_project_for_the_next() {
    // Nothing is missing until there is something to check.
    let sandbox = lacking(&["test -e 1.js && cat deps/list.txt && grep -q done 1.js"]);
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::write("1.js", "done\n"), Step::say("TASK_COMPLETE")])
        .otherwise([Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let run = sandbox.run(&["run", "--isolate", "--agent-cmd", &command]).expect_code(0);
    assert_eq!(in_project(&sandbox), [false, true], "{run}");
    assert!(run.stderr.contains("left in its work tree is in the project now: 1.js"), "{run}");
    assert_eq!(sandbox.git(&["show", "HEAD~1:1.js"]), "done\n", "{run}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn each_verify_command_is_tried_before_its_agent_is_started() {
    let sandbox = lacking(&["grep -q done 1.js", "test -e deps/list.txt"]);
    let run = isolated(&sandbox);
    expect_parts(
        &run.stderr,
        &["1.2 gets no work tree", "green in the project and red in a new work tree, which lacks", "deps/"],
    );
    assert_eq!(in_project(&sandbox), [false, true], "{run}");
}

/// Before new tests are there a command is red everywhere; that its packages are missing is known all the same.
#[test]
fn packages_that_a_command_loads_are_missed_before_its_agent_is_started() {
    for (verify, is_in_project) in [("jest 1.js", true), ("test -e 1.js", false)] {
        let sandbox = lacking(&[verify]);
        sandbox.install_program("jest", "test -e \"$1\"");
        sandbox.write("node_modules/left-pad/index.js", "");
        let run = isolated(&sandbox);
        let told = "may need is in node_modules of the project, which git ignores, and not in the work tree";
        assert_eq!(run.stderr.contains(told), is_in_project, "{run}");
        assert_eq!(in_project(&sandbox), [is_in_project], "{run}");
    }
}

/// What an agent installs without a trace does not come along, and that is no luck.
#[test]
fn a_package_that_the_work_does_not_name_is_named_to_the_agent() {
    let sandbox = lacking(&["jest"]);
    let jest =
        "test -e node_modules/left-pad || { echo \"Error: Cannot find module 'left-pad'\" >&2; exit 1; }";
    sandbox.install_program("jest", jest);
    sandbox.write("package-lock.json", "{}\n");
    sandbox.write(
        "tillgreen.toml",
        "worktree_setup = 'mkdir -p node_modules/other $(grep -q left-pad package-lock.json && echo node_modules/left-pad)'\n",
    );
    sandbox.commit_all("a set-up");
    sandbox.write("node_modules/other/index.js", "");
    let install = Step::shell("mkdir -p node_modules/left-pad; echo done > 1.js");
    let named = Step::write("package-lock.json", "{\"node_modules/left-pad\": {}}\n");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [install, Step::say("TASK_COMPLETE")])
        .otherwise([named, Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let run = sandbox.run(&["run", "--isolate", "--agent-cmd", &command]).expect_code(0);
    let calls = sandbox.agent_calls();
    expect_parts(&calls[1].prompt, &["`left-pad` is in node_modules and not in package.json"]);
    assert!(calls.len() == 2 && !run.stderr.contains("flaky"), "{run}");
}

/// An environment beside the project that holds it in editable form, with a stand-in for pytest that loads what is there.
fn editable(sandbox: &Sandbox) -> String {
    let environment = sandbox.home().join("env");
    let list = environment.join("lib/python3.11/site-packages/__editable__.demo-1.0.pth");
    fs::create_dir_all(list.parent().expect("a folder")).expect("it can be written");
    fs::create_dir_all(environment.join("bin")).expect("it can be written");
    fs::write(&list, format!("{}\n", sandbox.root().display())).expect("it can be written");
    let pytest = environment.join("bin/pytest");
    testkit::write_executable(&pytest, &format!("#!/bin/sh\ntest -e \"$(cat {})/1.js\"\n", list.display()));
    pytest.display().to_string()
}

#[test]
fn a_command_that_loads_the_projects_package_proves_nothing_of_another_tree() {
    let sandbox = lacking(&["true"]);
    let pytest = editable(&sandbox);
    let plan = sandbox.tasks("demo").replace("`true`", &format!("`{pytest}`"));
    sandbox.spec("demo", &plan);
    sandbox.commit_all("a command");
    let run = isolated(&sandbox);
    let told = "Python loads this project in editable form";
    expect_parts(&run.stderr, &["1.1 gets no work tree, so tasks run one by one from here: ", told]);
    assert_eq!(in_project(&sandbox), [true], "{run}");
    expect_parts(&run.stdout, &["1.1 not proved: Python loads", "ALL_TASKS_COMPLETE"]);
}

#[test]
fn a_verify_task_that_loads_the_projects_package_is_proved_in_the_project() {
    let sandbox = lacking(&["true"]);
    let pytest = editable(&sandbox);
    let plan = sandbox.tasks("demo").replace("1.1 Write", "1.1 [VERIFY] Look");
    sandbox.spec("demo", &plan.replace("`true`", &format!("`{pytest}`")));
    sandbox.write("1.js", "");
    sandbox.commit_all("a proof");
    let run = isolated(&sandbox);
    expect_parts(
        &run.stderr,
        &["Python loads this project in editable form", "task 1.1 is proved in the project"],
    );
    assert_eq!(sandbox.agent_calls().len(), 0, "{run}");
}

#[test]
fn a_proof_that_lacks_something_in_the_landing_tree_is_run_in_the_project() {
    let sandbox = lacking(&["cat deps/list.txt"]);
    let plan = sandbox.tasks("demo").replace("1.1 Write", "1.1 [VERIFY] Look");
    sandbox.spec("demo", &plan);
    sandbox.commit_all("a proof");
    let run = isolated(&sandbox);
    expect_parts(&run.stderr, &["worktree_copy = [\"deps/list.txt\"]", "task 1.1 is proved in the project"]);
    assert_eq!(sandbox.agent_calls().len(), 0, "{run}");
}

#[test]
fn a_hook_that_lacks_something_in_the_landing_tree_costs_no_attempt() {
    let sandbox = lacking(&["grep -q done 1.js"]);
    let bin = sandbox.root().join("node_modules/.bin");
    fs::create_dir_all(&bin).unwrap();
    testkit::write_executable(&bin.join("lint-staged"), "#!/bin/sh\n");
    let hook = "#!/bin/sh\nPATH=node_modules/.bin:$PATH\nlint-staged\n";
    testkit::write_executable(&sandbox.root().join(".git/hooks/pre-commit"), hook);
    let run = isolated(&sandbox);
    expect_parts(&run.stderr, &["1.1 gets no work tree", "a git hook refused the commit: ", "lint-staged"]);
    assert_eq!(sandbox.agent_calls().len(), 2, "{run}");
}

#[test]
fn the_projects_own_path_in_a_verify_command_is_that_of_the_tree() {
    let sandbox = lacking(&["true"]);
    let here = format!("grep -q done {}/1.js", sandbox.root().display());
    sandbox.spec("demo", &sandbox.tasks("demo").replace("`true`", &format!("`{here}`")));
    sandbox.commit_all("an absolute path");
    let run = isolated(&sandbox);
    expect_parts(&run.stderr, &["verify commands name the project by its absolute path"]);
    assert_eq!(sandbox.agent_calls().len(), 1, "{run}");
}

#[test]
fn a_check_that_does_not_see_its_tree_is_found_out_by_breaking_a_file() {
    let broken = "I broke 1.js on purpose and your check stayed green";
    let (whole, part) = ("test \"$(cat 1.js)\" = done", "grep -q done 1.js");
    // A plain look at a file is about the tree, whatever it finds there.
    for (verify, pytest, is_told) in [("pytest", part, true), ("pytest", whole, false), (part, part, false)] {
        let sandbox = lacking(&[verify]);
        sandbox.install_program("pytest", pytest);
        sandbox.write("tillgreen.toml", format!("worktree_setup = '{MAKES_DEPS}'\n"));
        sandbox.commit_all("a set-up");
        let run = isolated(&sandbox);
        assert_eq!(run.stderr.contains(broken) || run.stdout.contains(broken), is_told, "{verify}: {run}");
        assert_eq!(sandbox.git(&["show", "HEAD:1.js"]), "done\n", "it was mended");
    }
}

#[test]
fn who_asks_for_isolation_does_not_get_less_without_a_word() {
    let sandbox = lacking(&["grep -q done 1.js"]);
    let command = sandbox.install_agent(&Agent::new().otherwise([Step::Hang]));
    sandbox.write("draft.txt", "mine\n");
    let run = ["run", "--isolate", "--agent-cmd", &command];
    let refused = sandbox.run(&[&run[..], &["--allow-dirty"]].concat()).expect_code(2);
    expect_parts(
        &refused.stderr,
        &[
            "error: tasks cannot be isolated here: there are uncommitted changes (draft.txt)",
            "--isolate=false",
        ],
    );
    fs::remove_file(sandbox.root().join("draft.txt")).unwrap();
    let refused = sandbox.run(&[&run[..], &["--bookkeeping", "agent"]].concat()).expect_code(2);
    expect_parts(&refused.stderr, &["cannot be isolated here: agents keep the books themselves"]);
    assert!(sandbox.agent_calls().is_empty());
}

/// What is installed is what the work says, where it is verified to come in: a dependency that it adds is there, and one that
/// it drops is not.
#[test]
fn what_work_changes_of_what_is_installed_is_set_up_before_it_is_verified() {
    let install =
        "mkdir -p deps; rm -f deps/*; for name in $(cat requirements.txt); do echo $name > deps/$name; done";
    for (requirements, verify, code) in [("old\nnew\n", "cat deps/new", 0), ("new\n", "cat deps/old", 1)] {
        let sandbox = lacking(&[verify]);
        fs::remove_dir_all(sandbox.root().join("deps")).unwrap();
        sandbox.write("requirements.txt", "old\n");
        sandbox.write("tillgreen.toml", format!("worktree_setup = '{install}'\n"));
        sandbox.commit_all("what is installed");
        let works = [
            Step::write("requirements.txt", requirements),
            Step::shell("mkdir -p deps; echo old > deps/old; echo new > deps/new"),
            Step::say("TASK_COMPLETE"),
        ];
        let command = sandbox.install_agent(&Agent::new().otherwise(works));
        let flags = ["run", "--isolate", "--max-task-iterations", "1", "--agent-cmd", &command];
        let run = sandbox.run(&flags).expect_code(code);
        assert_eq!(in_project(&sandbox), [false], "{run}");
        assert_eq!(sandbox.git(&["show", "HEAD:requirements.txt"]) == requirements, code == 0, "{run}");
    }
}

#[test]
fn clean_leaves_what_only_a_work_tree_has() {
    let (sandbox, _) = needing(MAKES_DEPS);
    verified_by(&sandbox, "grep -q one one.txt");
    let hangs = [Step::write("one.txt", "one\n"), Step::Hang];
    let agent = Agent::new().on_attempt("1.1", 1, hangs);
    let command = sandbox.install_agent(&agent);
    let flags = ["run", "--isolate", "--agent-cmd", &command];
    let run = sandbox.start(&flags);
    let written =
        || Command::new("find").arg(sandbox.home().join(".cache")).args(["-name", "one.txt"]).output();
    wait_for("the work", || written().is_ok_and(|found| !found.stdout.is_empty()));
    run.kill();
    sandbox.wait_until_quiet();
    let other = with_tree(&sandbox, &sandbox.home().join("elsewhere"), "other");
    let refused = sandbox.run(&["clean"]).expect_code(2);
    expect_parts(
        &refused.stderr,
        &[
            "error: what was done for task 1.1 of demo is only in ",
            "slot-1",
            "`tillgreen run` keeps what was done",
        ],
    );
    assert!(!other.exists(), "trees of others go");
    let command = sandbox.install_agent(&Agent::new().otherwise([Step::say("TASK_COMPLETE")]));
    sandbox.run(&["run", "--isolate", "--agent-cmd", &command]).expect_code(0);
    assert_eq!(sandbox.read("one.txt"), "one\n");
}

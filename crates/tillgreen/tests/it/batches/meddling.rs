//! People who lay hands on work while it is verified together with the rest: they edit its files, commit them along with
//! theirs, take them out of the project or tidy the repository up. Nothing of theirs is lost, and no task pays for it.

use std::fs;

use testkit::{Agent, Finished, Signal, Step, wait_for};

use super::scene::{Scene, done, member, task, work, worker};

/// The second of two members changes a file that is there before. Its verify command does one thing before it waits in the
/// project, and another one after that.
fn waiting(before: &str, after: &str) -> Scene {
    let scene = Scene::bare();
    let (began, gate) = (scene.control("began"), scene.control("gate"));
    let wait = format!("touch {}; while ! test -e {}; do sleep 0.02; done", began.display(), gate.display());
    let verify = format!("{before} && if test -d .git; then {wait}; {after}; fi");
    scene.write("mine.txt", "mine\n");
    scene.plan(&[member("1.1"), task("1.2", "base.txt", &verify)]);
    scene
}

fn agent() -> Agent {
    let edit = || Step::write("base.txt", "edited\n");
    Agent::new()
        .on_attempt("1.2", 1, [edit(), done()])
        .on("1.2", [edit(), Step::write("allowed", ""), done()])
        .otherwise([work(), done()])
}

/// Runs it, and lets a person do something while the second member is verified together with the first.
fn meanwhile(scene: &Scene, flags: &[&str], person: impl FnOnce()) -> Finished {
    let run = scene.begin(&agent(), flags);
    wait_for("the check", || scene.control("began").exists());
    person();
    scene.release("gate");
    run.wait()
}

const ONCE: [&str; 2] = ["--max-task-iterations", "1"];
const LEFT: &str = ".tillgreen/specs-demo/left/files/base.txt";
const KEPT: &str = "what was there is kept in .tillgreen/specs-demo/left/files";

fn commit_all(scene: &Scene) {
    scene.write("mine.txt", "more\n");
    scene.git(&["commit", "-q", "-a", "-m", "mine"]);
}

#[test]
fn what_a_person_makes_of_work_that_turns_out_red_is_kept() {
    let scene = waiting("true", "test -f allowed");
    let run = meanwhile(&scene, &[], || scene.write("base.txt", "precious\n")).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert_eq!(scene.read(LEFT), "precious\n", "{run}");
    assert_eq!(run.stderr.matches(KEPT).count(), 1, "{run}");
    assert_eq!(scene.read("base.txt"), "edited\n");
}

/// Kills the program while the second member is verified, lets a person do something, and starts it again.
fn after_kill(scene: &Scene, person: impl FnOnce()) -> Finished {
    let mut run = scene.begin(&agent(), &[]);
    wait_for("the check", || scene.control("began").exists());
    run.signal(Signal::Kill);
    run.wait();
    scene.wait_until_quiet();
    person();
    scene.release("gate");
    scene.go(&agent(), &ONCE).expect_code(0)
}

#[test]
fn what_a_person_makes_of_work_after_the_program_was_killed_is_kept() {
    let scene = waiting("true", "true");
    let run = after_kill(&scene, || scene.write("base.txt", "precious\n"));
    scene.expect_complete(&run);
    assert_eq!(scene.read(LEFT), "precious\n", "{run}");
    assert_eq!(run.stderr.matches(KEPT).count(), 1, "{run}");
}

#[test]
fn work_that_somebody_committed_along_with_theirs_is_done_when_it_is_green() {
    let scene = waiting("grep -qx edited base.txt", "true");
    let run = meanwhile(&scene, &ONCE, || commit_all(&scene)).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(scene.landed(), ["1.1"], "it is in the history already: {run}");
    let commit = scene.git(&["log", "--format=%h", "--grep", "^mine$"]);
    assert!(run.stderr.contains(&format!("commit {}", &commit[..7])), "{run}");
    assert!(
        run.stderr.contains("took along work of task 1.2 that was being verified: it turned out green"),
        "{run}"
    );
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n");
    assert_eq!(scene.git(&["show", "HEAD:mine.txt"]), "more\n");
}

#[test]
fn work_that_somebody_committed_after_the_program_was_killed_is_verified_once_more() {
    let scene = waiting("grep -qx edited base.txt", "true");
    let run = after_kill(&scene, || commit_all(&scene));
    scene.expect_settled(&run);
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    let told = "took along work of task 1.2 that was being verified: it is verified once more";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
}

#[test]
fn work_that_somebody_committed_along_with_theirs_is_tried_again_when_it_is_red() {
    let scene = waiting("grep -qx edited base.txt", "test -f allowed");
    let run = meanwhile(&scene, &[], || commit_all(&scene)).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert!(
        run.stderr.contains("took along work of task 1.2 that was being verified: it turned out red"),
        "{run}"
    );
    let mine = scene.git(&["log", "--format=", "--name-only", "--grep", "^mine$"]);
    assert_eq!(mine.lines().collect::<Vec<_>>(), ["base.txt", "mine.txt"], "{run}");
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert!(scene.git(&["ls-files", "allowed"]).contains("allowed"), "{run}");
}

#[test]
fn work_that_somebody_took_out_is_brought_in_again_at_no_cost() {
    for (before, after) in [("true", "grep -qx edited base.txt"), ("grep -qx edited base.txt", "true")] {
        let scene = waiting(before, after);
        let run = meanwhile(&scene, &ONCE, || drop(scene.git(&["stash", "-q"]))).expect_code(0);
        scene.expect_complete(&run);
        assert!(run.stderr.contains("took work of task 1.2 out of the project"), "{run}");
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n", "{run}");
        assert_eq!(scene.git(&["stash", "list"]).lines().count(), 1, "what is stashed stays there");
    }
}

#[test]
fn a_verify_command_that_takes_its_own_work_out_is_red_in_the_end() {
    let scene = waiting("true", "git checkout -q -- base.txt; grep -qx edited base.txt");
    let run = meanwhile(&scene, &ONCE, || {}).expect_code(1);
    assert_eq!(run.stderr.matches("took work of task 1.2 out of the project").count(), 1, "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    scene.expect_tidy();
}

#[test]
fn whoever_tidies_the_repository_up_takes_nothing_away() {
    let scene = waiting("grep -qx edited base.txt", "true");
    let tidy = || drop(scene.git(&["gc", "--quiet", "--prune=now"]));
    let run = meanwhile(&scene, &ONCE, tidy).expect_code(0);
    scene.expect_complete(&run);
}

const MADE: &str = "with what was made of its files while it was verified (base.txt) task 1.2 is not accepted: that is \
                    kept in .tillgreen/specs-demo/left/files, and the work is brought in again as it was";

#[test]
fn what_somebody_writes_into_the_work_while_it_is_verified_is_verified() {
    let scene = waiting("grep -q ^edited base.txt", "true");
    let edit = || scene.write("base.txt", "edited, and more\n");
    let run = meanwhile(&scene, &ONCE, edit).expect_code(0);
    scene.expect_complete(&run);
    assert!(run.stderr.contains("files of task 1.2 changed while it was verified (base.txt)"), "{run}");
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited, and more\n", "{run}");
    assert!(!scene.has(LEFT), "{run}");
}

#[test]
fn what_somebody_writes_into_the_work_and_is_red_is_kept_and_costs_nothing() {
    let scene = waiting("grep -q ^edited base.txt", "true");
    let run = meanwhile(&scene, &ONCE, || scene.write("base.txt", "half-typed\n")).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches(MADE).count(), 1, "{run}");
    assert_eq!(scene.read(LEFT), "half-typed\n", "{run}");
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n", "{run}");
}

#[test]
fn what_somebody_writes_into_the_work_and_a_hook_refuses_is_kept_and_costs_nothing() {
    let scene = waiting("grep -q ^edited base.txt", "true");
    scene.hook("pre-commit", "! grep -q more base.txt");
    let edit = || scene.write("base.txt", "edited, and more\n");
    let run = meanwhile(&scene, &ONCE, edit).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches(MADE).count(), 1, "{run}");
    assert_eq!(scene.read(LEFT), "edited, and more\n", "{run}");
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n", "{run}");
}

#[test]
fn what_somebody_wrote_into_the_work_is_kept_when_the_run_is_interrupted() {
    let wait = "touch .git/second; while ! test -e .git/gate; do sleep 0.02; done";
    let after = format!("if test -e .git/first; then {wait}; fi; touch .git/first");
    let scene = waiting("grep -q ^edited base.txt", &after);
    let mut run = scene.begin(&agent(), &ONCE);
    wait_for("the check", || scene.control("began").exists());
    scene.write("base.txt", "edited, and more\n");
    scene.release("gate");
    wait_for("the second check", || scene.has(".git/second"));
    run.signal(Signal::Interrupt);
    let run = run.wait().expect_code(130);
    assert_eq!(
        (scene.read(LEFT).as_str(), scene.read("base.txt").as_str()),
        ("edited, and more\n", "base\n")
    );
    assert!(run.stderr.contains("(base.txt) is kept in .tillgreen/specs-demo/left/files"), "{run}");
    scene.write(".git/gate", "");
    let run = scene.go(&agent(), &ONCE).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n", "{run}");
}

#[test]
fn what_is_written_into_the_work_time_and_again_is_not_committed_unverified() {
    // The first time it is green with it, the second time it is not.
    let saves =
        "if grep -q fine base.txt; then echo unfinished > base.txt; else echo edited, fine > base.txt; fi";
    let scene = waiting("grep -q ^edited base.txt", saves);
    let run = meanwhile(&scene, &ONCE, || {}).expect_code(0);
    scene.expect_done(&run);
    assert_eq!(run.stderr.matches("files of task 1.2 changed while it was verified").count(), 2, "{run}");
    assert_eq!(scene.read(LEFT), "unfinished\n", "{run}");
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n", "{run}");
    assert_eq!(scene.git(&["log", "--format=%s", "-Sunfinished", "--", "base.txt"]), "", "{run}");
}

#[test]
fn a_command_that_changes_the_work_each_time_has_committed_what_it_verified() {
    for hook in ["", "exit 0"] {
        let scene = waiting("grep -q ^edited base.txt", "echo again >> base.txt");
        if !hook.is_empty() {
            scene.hook("pre-commit", hook);
        }
        let run = meanwhile(&scene, &ONCE, || {}).expect_code(0);
        scene.expect_done(&run);
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\nagain\nagain\n", "{run}");
        assert_eq!(scene.read("base.txt"), "edited\nagain\nagain\nagain\n", "{run}");
        assert_eq!(scene.git(&["diff", "--cached", "--name-only"]), "", "{run}");
        let told = "files of task 1.2 change each time it is verified (base.txt): what was verified counts, and what they \
                    have become since stays as it is, uncommitted";
        assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
        assert!(!scene.has(".tillgreen/specs-demo/left"), "{run}");
    }
}

#[test]
fn nothing_is_committed_where_no_branch_is_checked_out() {
    let scene = waiting("true", "true");
    let detach = || drop(scene.git(&["checkout", "-q", "--detach"]));
    let run = meanwhile(&scene, &[], detach).expect_code(6);
    assert!(run.stderr.contains("no branch is checked out any more, and the run began on main"), "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
    scene.git(&["checkout", "-q", "main"]);
    let run = scene.go(&agent(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.2"), 1, "{run}");
}

#[test]
fn a_branch_that_somebody_makes_meanwhile_is_told_of() {
    let scene = waiting("true", "true");
    let switch = || drop(scene.git(&["checkout", "-q", "-b", "other"]));
    let run = meanwhile(&scene, &[], switch).expect_code(0);
    let told = "branch other is checked out now instead of main: the run goes on there";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
}

/// Who names a plan may have another one that is current, or none.
#[test]
fn what_is_to_be_typed_names_the_plan() {
    let scene = waiting("true", "true");
    let command = scene.install_agent(&agent());
    fs::remove_file(scene.root().join("specs/.current-spec")).expect("it is there");
    let run = scene.start(&["run", "demo", "--agent-cmd", &command, "--jobs", "4"]);
    wait_for("the check", || scene.control("began").exists());
    scene.git(&["checkout", "-q", "--orphan", "elsewhere"]);
    scene.git(&["commit", "-q", "-m", "elsewhere"]);
    scene.release("gate");
    let run = run.wait().expect_code(6);
    assert!(run.stderr.contains("`tillgreen run demo"), "{run}");
    assert!(!run.stderr.contains("`tillgreen run`") && !run.stderr.contains("`tillgreen run --"), "{run}");
}

#[test]
fn a_command_that_formats_the_work_has_committed_what_it_made() {
    let format = "grep -q formatted base.txt || echo formatted >> base.txt";
    let scene = waiting("grep -q ^edited base.txt", format);
    let run = meanwhile(&scene, &ONCE, || {}).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches("files of task 1.2 changed while it was verified").count(), 1, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\nformatted\n", "{run}");
}

#[test]
fn a_commit_that_took_edited_work_along_is_named() {
    let scene = Scene::bare();
    let (began, gate) = (scene.control("began"), scene.control("gate"));
    let wait = format!("touch {}; while ! test -e {}; do sleep 0.02; done", began.display(), gate.display());
    let verify =
        format!("grep -q work list.txt && if test -d .git; then {wait}; ! grep -q wrong list.txt; fi");
    scene.write("list.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    scene.plan(&[member("1.1"), task("1.2", "list.txt", &verify)]);
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::shell("sed -i 's/^2$/wrong work/' list.txt"), done()])
        .on("1.2", [Step::shell("sed -i 's/^wrong work$/right work/' list.txt"), done()])
        .otherwise([work(), done()]);
    let run = scene.begin(&agent, &[]);
    wait_for("the check", || began.exists());
    scene.write("list.txt", scene.read("list.txt").replace('8', "mine"));
    scene.git(&["commit", "-q", "-m", "mine", "list.txt"]);
    scene.release("gate");
    let run = run.wait().expect_code(0);
    scene.expect_complete(&run);
    let commit = scene.git(&["log", "--format=%h", "--grep", "^mine$"]);
    let told = format!(
        "commit {} took along work of task 1.2 that was being verified: it turned out red",
        &commit[..7]
    );
    assert!(run.stderr.contains(&told), "{told:?} is missing: {run}");
    assert!(!run.stderr.contains("took work of task 1.2 out of the project"), "{run}");
    assert_eq!(scene.read("list.txt"), "1\nright work\n3\n4\n5\n6\n7\nmine\n", "{run}");
}

/// As a program does that formats whatever is saved: it is quicker than our first look at what git has just written.
#[test]
fn what_somebody_makes_of_the_work_at_once_is_not_verified_in_its_place() {
    let scene = Scene::bare();
    let (git, seen) = (super::kills::real_git(), scene.control("seen").display().to_string());
    let file = scene.root().join("out/1.1.txt").display().to_string();
    let verify = format!("! test -d .git || cp out/1.1.txt '{seen}'; grep -q done out/1.1.txt");
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    scene.install_program(
        "git",
        &format!(
            "case \"$*\" in *'read-tree -m -u'*) ;; *) exec {git} \"$@\";; esac\n{git} \"$@\"; code=$?\n\
             test ! -e '{file}' || grep -q formatted '{file}' || echo formatted >> '{file}'; exit $code"
        ),
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let verified = fs::read_to_string(&seen).expect("it was verified in the project");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), verified, "{run}");
    assert_eq!(verified, "done\nformatted\n", "{run}");
}

//! People who go on working in the project while a batch runs: nothing of theirs is lost or touched, nothing of a task's is
//! in a commit of theirs before it is verified, and what they have in the way holds up nobody else.

use std::fs;
use std::thread;
use std::time::Duration;

use testkit::{Agent, Finished, Step, wait_for};

use super::scene::{Scene, done, member, members, real_git, task, work, worker};

const ONCE: [&str; 2] = ["--max-task-iterations", "1"];

/// Two members, the first of which waits while it is verified with the rest, and does this then. The second comes after it.
fn waiting(after: &str) -> Scene {
    let scene = Scene::bare();
    let verify = scene.gated("grep -q done out/1.1.txt", after);
    scene.write("mine.txt", "mine\n");
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    scene
}

/// Runs it, and lets a person do something while the first member is verified.
fn meanwhile(scene: &Scene, flags: &[&str], person: impl FnOnce()) -> Finished {
    let agent = Agent::new().on("1.2", [work(), scene.until_done("1.1"), done()]).otherwise([work(), done()]);
    meanwhile_with(scene, &agent, flags, person)
}

fn meanwhile_with(scene: &Scene, agent: &Agent, flags: &[&str], person: impl FnOnce()) -> Finished {
    let run = scene.begin(agent, flags);
    scene.await_gate();
    person();
    scene.release("gate");
    run.wait()
}

/// The files that the commits with this subject changed.
fn files_of(scene: &Scene, subject: &str) -> Vec<String> {
    let grep = format!("--grep=^{subject}$");
    let files = scene.git(&["log", "--format=", "--name-only", &grep]);
    files.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn what_is_verified_is_in_nobodys_commit_index_or_files() {
    let scene = waiting(":");
    let run = meanwhile(&scene, &ONCE, || {
        assert_eq!((scene.dirt(), scene.has("out")), (Vec::new(), false));
        scene.write("mine.txt", "more\n");
        scene.write("new.txt", "new\n");
        scene.git(&["add", "--all"]);
        scene.git(&["commit", "-q", "-a", "-m", "mine"]);
    });
    scene.expect_complete(&run.expect_code(0));
    assert_eq!(files_of(&scene, "mine"), ["mine.txt", "new.txt"]);
    assert_eq!(files_of(&scene, "feat: task 1.1"), ["out/1.1.txt"]);
}

/// The most ordinary thing that a person does with git, while what a slot brought turns out red.
#[test]
fn red_work_is_in_nobodys_commit() {
    let scene = waiting("test -e mended");
    let run = meanwhile_with(&scene, &worker(), &ONCE, || {
        scene.write("mine.txt", "more\n");
        scene.git(&["commit", "-q", "-a", "-m", "mine"]);
        scene.write("new.txt", "new\n");
        scene.git(&["add", "--all"]);
        scene.git(&["commit", "-q", "-m", "all of mine"]);
    });
    let run = run.expect_code(1);
    assert_eq!(
        (files_of(&scene, "mine"), files_of(&scene, "all of mine")),
        (vec!["mine.txt".into()], vec!["new.txt".into()])
    );
    assert!(!scene.landed().contains(&"1.1".to_owned()) && !scene.has("out/1.1.txt"), "{run}");
    scene.expect_tidy();
}

#[test]
fn what_somebody_commits_meanwhile_is_verified_with_the_work() {
    let scene = waiting("grep -qx mine mine.txt");
    let run = meanwhile_with(&scene, &worker(), &ONCE, || {
        scene.write("mine.txt", "other\n");
        scene.git(&["commit", "-q", "-a", "-m", "mine"]);
    });
    assert_eq!(run.code, Some(1), "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.1") && !scene.has("out/1.1.txt"), "{run}");
}

#[test]
fn edits_and_what_is_staged_or_new_stay_as_they_are() {
    let scene = waiting(":");
    scene.write("staged.txt", "0\n");
    scene.commit_all("more");
    let run = meanwhile(&scene, &ONCE, || {
        scene.write("mine.txt", "more\n");
        scene.write("staged.txt", "staged\n");
        scene.git(&["add", "staged.txt"]);
        scene.write("staged.txt", "and edited\n");
        scene.write("new.txt", "new\n");
    });
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert_eq!(scene.dirt(), [" M mine.txt", "MM staged.txt", "?? new.txt"], "{run}");
    assert_eq!(scene.git(&["show", ":staged.txt"]), "staged\n", "{run}");
}

#[test]
fn whoever_commits_all_the_time_loses_nothing_and_holds_nobody_up() {
    let scene = Scene::new(&members(4));
    let agent = Agent::new().otherwise([Step::shell("sleep 0.${TILLGREEN_TASK_ID#1.}"), work(), done()]);
    let mut run = scene.begin(&agent, &[]);
    wait_for("an agent", || !scene.agent_calls().is_empty());
    let mut number = 0;
    while run.is_running() {
        number += 1;
        let name = format!("mine-{number}.txt");
        scene.write(&name, "mine\n");
        // Git's locks may be taken for a moment.
        while !scene.try_git(&["add", &name]).status.success() {}
        if number % 3 == 0 {
            while !scene.try_git(&["commit", "-q", "-a", "-m", "mine"]).status.success() {}
        }
        // On a busy machine work takes longer to come in; nobody types faster for that.
        thread::sleep(Duration::from_millis(50 + number as u64 * 5));
    }
    let run = run.wait().expect_code(0);
    scene.git(&["add", "."]);
    scene.try_git(&["commit", "-q", "-m", "mine"]);
    scene.expect_complete(&run);
    // The plan's own files are ticked where everybody sees it, and may be in a commit of theirs.
    let mut mine = files_of(&scene, "mine");
    mine.retain(|file| !file.starts_with("specs/demo/"));
    assert!(mine.len() == number && mine.iter().all(|file| file.starts_with("mine-")), "{mine:?}: {run}");
}

/// What a person has at a path, which the first member brings as well.
#[track_caller]
fn check_in_the_way(
    has: impl Fn(&Scene),
    dirt: &[&str],
    is_kept: impl Fn(&Scene) -> bool,
    clear: impl Fn(&Scene),
) {
    let scene = Scene::bare();
    scene.write("shared.txt", "shared\n");
    scene.write(".gitignore", "*.cfg\n");
    scene.plan(&[member("1.1"), member("1.2"), member("1.3")]);
    let (ready, gate) = (scene.control("ready").display().to_string(), scene.control("gate"));
    let bring = Step::shell(
        "echo theirs > shared.txt; echo theirs > new.txt; echo theirs > own.cfg; git add -f own.cfg",
    );
    let agent = Agent::new()
        .on("1.1", [bring, work(), Step::write(&ready, ""), Step::await_file(&gate), done()])
        .otherwise([Step::await_file(&gate), work(), done()]);
    let run = scene.begin(&agent, &[]);
    wait_for("the agent", || scene.control("ready").exists());
    has(&scene);
    scene.release("gate");
    let run = run.wait().expect_code(3);
    assert_eq!(scene.landed(), ["1.2", "1.3"], "others come in: {run}");
    assert!(run.stderr.contains("1.1 needs a person: it cannot come in"), "{run}");
    assert_eq!(scene.dirt(), dirt, "{run}");
    assert!(is_kept(&scene), "{run}");
    clear(&scene);
    let run = scene.run(&["answer", "retry"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 3, "{run}");
    assert_eq!(
        scene.read("shared.txt") + &scene.read("new.txt") + &scene.read("own.cfg"),
        "theirs\n".repeat(3)
    );
}

#[test]
fn an_edited_file_in_the_way_is_a_question_and_holds_up_nobody_else() {
    check_in_the_way(
        |scene| scene.write("shared.txt", "mine\n"),
        &[" M shared.txt"],
        |scene| scene.read("shared.txt") == "mine\n",
        |scene| drop(scene.git(&["stash"])),
    );
}

#[test]
fn so_is_a_staged_one() {
    check_in_the_way(
        |scene| {
            scene.write("shared.txt", "mine\n");
            scene.git(&["add", "shared.txt"]);
        },
        &["M  shared.txt"],
        |scene| scene.git(&["show", ":shared.txt"]) == "mine\n",
        |scene| drop(scene.git(&["stash"])),
    );
}

#[test]
fn so_is_one_that_git_does_not_know_and_one_that_it_ignores() {
    let remove = |name: &'static str| {
        move |scene: &Scene| fs::remove_file(scene.root().join(name)).expect("it is there")
    };
    check_in_the_way(
        |scene| scene.write("new.txt", "mine\n"),
        &["?? new.txt"],
        |scene| scene.read("new.txt") == "mine\n",
        remove("new.txt"),
    );
    check_in_the_way(
        |scene| scene.write("own.cfg", "mine\n"),
        &[],
        |scene| scene.read("own.cfg") == "mine\n",
        remove("own.cfg"),
    );
}

/// What they have committed meanwhile is a conflict, and the next attempt goes on from there.
#[test]
fn an_answer_may_be_a_commit() {
    let scene = Scene::new(&members(2));
    let agent = Agent::new()
        .on_attempt(
            "1.1",
            1,
            [
                Step::shell(&format!("echo mine > '{}/base.txt'", scene.root().display())),
                Step::write("base.txt", "theirs\n"),
                work(),
                done(),
            ],
        )
        .on("1.1", [Step::append("base.txt", "theirs\n"), work(), done()])
        .otherwise([work(), done()]);
    scene.go(&agent, &[]).expect_code(3);
    scene.git(&["commit", "-q", "-a", "-m", "mine"]);
    let run = scene.run(&["answer", "retry"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("base.txt"), "mine\ntheirs\n", "{run}");
    assert_eq!(scene.attempts("1.1"), 2, "{run}");
}

#[test]
fn the_persons_own_commits_are_missed_as_well() {
    let scene = Scene::new(&members(3));
    scene.write("precious.txt", "work of a person\n");
    scene.commit_all("precious");
    let precious = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let branch = scene.git(&["symbolic-ref", "HEAD"]).trim().to_owned();
    let rewound = scene.control("rewound").display().to_string();
    let rewind = Step::shell(&format!("git update-ref {branch} HEAD~1; : > {rewound}"));
    let agent = Agent::new().on_attempt("1.2", 1, [rewind, work(), done()]).otherwise([
        Step::AwaitFile(rewound),
        work(),
        done(),
    ]);
    let run = scene.go(&agent, &[]).expect_code(6);
    assert!(run.stderr.contains(&precious), "{run}");
    scene.git(&["reset", "-q", "--hard", &precious]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn work_of_a_task_that_was_taken_out_of_the_plan_does_not_come_in() {
    let scene = waiting(":");
    let agent = Agent::new().on("1.2", [work(), Step::await_file(&scene.control("began")), done()]);
    let run = scene.begin(&agent.otherwise([work(), done()]), &ONCE);
    scene.await_gate();
    scene.await_passed("demo", 2);
    scene.spec("demo", scene.tasks("demo").split("- [ ] 1.2").next().unwrap_or_default());
    scene.commit_all("without");
    scene.release("gate");
    let run = run.wait().expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert!(run.stderr.contains("task 1.2 is no longer in the plan, so its work does not come in"), "{run}");
    let kept = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen-left"]);
    assert_eq!(scene.git(&["show", &format!("{}:out/1.2.txt", kept.trim())]), "done\n", "{run}");
    assert!(run.stderr.contains(kept.trim()), "{run}");
}

#[test]
fn settings_of_the_program_itself_are_no_uncommitted_changes() {
    let scene = Scene::new(&members(2));
    scene.write("tillgreen.toml", "max_fix_tasks = 2\n");
    scene.write("specs/.current-spec", "demo\n");
    let agent = Agent::new().otherwise([scene.meet(2), work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert!(run.stderr.contains("in a work tree"), "{run}");
}

/// Agents work in trees of their own, so that whatever changes in the project's plan is a person's doing.
#[test]
fn what_a_person_does_to_the_plan_while_agents_work_in_trees_counts_as_it_stands() {
    let tasks =
        [members(2), vec![task("2.1", "out/2.1.txt", "grep -q done out/2.1.txt").replace(" [P]", "")]];
    let scene = Scene::new(&tasks.concat());
    let (began, gate) = (scene.control("met"), scene.control("gate"));
    let wait = Step::AwaitFile(gate.display().to_string());
    let agent = Agent::new().otherwise([scene.meet(2), wait, work(), done()]);
    let run = scene.begin(&agent, &[]);
    wait_for("both", || std::fs::read_dir(&began).is_ok_and(|entries| entries.count() == 2));
    scene.spec("demo", &scene.tasks("demo").replace("- [ ] 2.1", "- [x] 2.1"));
    scene.release("gate");
    let run = run.wait().expect_code(0);
    assert_eq!(scene.attempts("2.1"), 0, "{run}");
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1), "no attempt is charged for it: {run}");
    assert!(!run.stderr.contains("put back"), "{run}");
}

#[test]
fn whoever_tidies_the_repository_up_takes_nothing_away() {
    let scene = waiting(":");
    let tidy = || drop(scene.git(&["gc", "--quiet", "--prune=now"]));
    let run = meanwhile(&scene, &ONCE, tidy).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn nothing_comes_in_where_no_branch_is_checked_out() {
    let scene = waiting(":");
    let detach = || drop(scene.git(&["checkout", "-q", "--detach"]));
    let run = meanwhile(&scene, &[], detach).expect_code(6);
    assert!(run.stderr.contains("no branch is checked out any more, and the run began on main"), "{run}");
    assert_eq!((scene.landed(), scene.dirt()), (Vec::new(), Vec::new()), "{run}");
    scene.git(&["checkout", "-q", "main"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.1"), 1, "{run}");
}

#[test]
fn a_branch_that_somebody_makes_meanwhile_is_told_of() {
    let scene = waiting(":");
    let switch = || drop(scene.git(&["checkout", "-q", "-b", "other"]));
    let run = meanwhile(&scene, &[], switch).expect_code(0);
    let told = "branch other is checked out now instead of main: the run goes on there";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
}

/// Who names a plan may have another one that is current, or none.
#[test]
fn what_is_to_be_typed_names_the_plan() {
    let scene = waiting(":");
    let command = scene.install_agent(&worker());
    fs::remove_file(scene.root().join("specs/.current-spec")).expect("it is there");
    let run = scene.start(&["run", "demo", "--agent-cmd", &command, "--jobs", "4"]);
    scene.await_gate();
    scene.git(&["checkout", "-q", "--orphan", "elsewhere"]);
    scene.git(&["commit", "-q", "-m", "elsewhere"]);
    scene.release("gate");
    let run = run.wait().expect_code(6);
    assert!(run.stderr.contains("`tillgreen run demo"), "{run}");
    assert!(!run.stderr.contains("`tillgreen run`") && !run.stderr.contains("`tillgreen run --"), "{run}");
}

/// Somebody commits `base.txt` once, as git commits the work of the first task in the project itself.
#[test]
fn one_by_one_a_commit_that_comes_before_or_after_ours_stays() {
    for is_before in [true, false] {
        for hook in [
            "exit 0",
            "for file in $(git diff --cached --name-only -- out); do echo more >> $file; git add $file; done",
        ] {
            let scene = Scene::new(&members(2));
            scene.hook("pre-commit", hook);
            let (git, once) = (real_git(), scene.control("once").display().to_string());
            let person = format!(
                "echo mine >> base.txt; {git} commit -q -m mine base.txt > '{once}/out' 2>&1 < /dev/null"
            );
            let pass = format!("exec {git} \"$@\"");
            let order = match is_before {
                true => format!("{person}; {pass}"),
                false => format!("{git} \"$@\"; code=$?; {person}; exit $code"),
            };
            scene.install_program(
                "git",
                &format!(
                    "case \"$*\" in *commit*'feat: task 1.1'*) ;; *) {pass};; esac\n\
                 mkdir '{once}' 2> /dev/null || {pass}\n{order}"
                ),
            );
            let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
            scene.expect_complete(&run);
            assert_eq!(files_of(&scene, "mine"), ["base.txt"], "{run}");
            assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "base\nmine\n", "{run}");
        }
    }
}

#[test]
fn what_a_person_staged_before_the_run_stays_staged() {
    let scene = Scene::new(&members(3));
    scene.write("mine.txt", "mine\n");
    scene.write("base.txt", "mine\n");
    scene.git(&["add", "mine.txt", "base.txt"]);
    scene.write("base.txt", "base\n");
    scene.git(&["update-index", "--chmod=+x", "mine.txt"]);
    let dirt = scene.dirt();
    let odd = Step::shell("echo x > x; git add x; rm x");
    let agent = Agent::new().otherwise([odd, work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1", "--allow-dirty"]).expect_code(0);
    assert_eq!(scene.dirt(), dirt, "{run}");
    assert_eq!(scene.git(&["show", ":base.txt"]), "mine\n", "{run}");
}

#[test]
fn what_an_agent_hides_from_git_is_committed_and_what_a_person_hides_is_not() {
    for option in ["--skip-worktree", "--assume-unchanged"] {
        let scene = Scene::new(&members(2));
        scene.write("mine.txt", "theirs\n");
        scene.commit_all("mine");
        scene.git(&["update-index", option, "mine.txt"]);
        scene.write("mine.txt", "mine\n");
        let hide = Step::shell(&format!("git update-index {option} base.txt && echo hidden > base.txt"));
        let agent = Agent::new().on("1.1", [hide, work(), done()]).otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "hidden\n", "{option}: {run}");
        assert_eq!(scene.git(&["show", "HEAD:mine.txt"]), "theirs\n", "{option}: {run}");
        assert_eq!(scene.read("mine.txt"), "mine\n", "{option}: {run}");
    }
}

#[test]
fn what_is_staged_during_an_attempt_in_the_project_and_is_not_of_it_is_told() {
    let scene = Scene::new(&members(1));
    scene.write("draft.txt", "mine\n");
    let agent = Agent::new().otherwise([work(), Step::shell("git add draft.txt"), done()]);
    let run = scene.go(&agent, &["--allow-dirty"]).expect_code(0);
    assert!(run.stderr.contains("draft.txt was staged, although it is not of the task"), "{run}");
    assert_eq!(scene.dirt(), ["?? draft.txt"]);
}

/// The same tree on top of another commit: it was seen green where no agent works.
#[test]
fn what_comes_together_as_the_same_tree_again_is_not_verified_again() {
    let scene = Scene::bare();
    let count = scene.control("count").display().to_string();
    let verify = scene.gated("grep -q done out/1.1.txt", &format!("echo 1 >> {count}"));
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    let run = meanwhile(&scene, &ONCE, || {
        scene.git(&["commit", "-q", "--allow-empty", "-m", "a word"]);
    });
    scene.expect_complete(&run.expect_code(0));
    // Once where it comes together, and once in the final proof.
    assert_eq!(fs::read_to_string(count).unwrap(), "1\n1\n");
}

//! Hooks that change what is committed: what ends up in the history is what was verified.

use std::fs;

use testkit::{Agent, Signal, Step, wait_for};

use super::scene::{Scene, done, members, task, work, worker};

#[test]
fn what_a_hook_makes_of_the_work_is_verified_again() {
    let scene = Scene::new(&members(3));
    // A formatter, which adds what it changed.
    scene.hook(
        "pre-commit",
        "for file in $(git diff --cached --name-only -- out); do\n\
         grep -q formatted $file || echo formatted >> $file; echo all > out/list; git add $file out/list; done",
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches("a git hook changed the work of task").count(), 3, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.2.txt"]), "done\nformatted\n");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn work_that_a_hook_breaks_does_not_stay() {
    let scene = Scene::new(&[members(1).concat(), task("1.2", "out/1.2.txt", "grep -q ^done$ out/1.2.txt")]);
    scene.hook(
        "pre-commit",
        "test -f out/1.2.txt && sed -i s/done/broken/ out/1.2.txt && git add out/1.2.txt; exit 0",
    );
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]);
    assert_ne!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("a git hook changed the work of task 1.2"), "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert!(!scene.has("out/1.2.txt"), "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.2"), "{run}");
}

#[test]
fn what_a_hook_makes_anew_each_time_is_taken_in_as_it_was_verified() {
    let scene = Scene::new(&members(2));
    scene.hook(
        "pre-commit",
        "for file in $(git diff --cached --name-only -- out); do date +%N >> $file; git add $file; done",
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches("a git hook changed the work of task").count(), 2, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]).lines().count(), 2, "it ran once for each");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_hook_that_amends_leaves_nothing_half_done() {
    for jobs in ["1", "4"] {
        check_amending(jobs);
    }
}

fn check_amending(jobs: &str) {
    let scene = Scene::new(&members(3));
    scene.hook(
        "post-commit",
        "test -n \"$AMENDING\" && exit; export AMENDING=1\n\
         git commit --quiet --amend --no-edit --trailer 'Amended: yes'",
    );
    let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
}

#[test]
fn one_by_one_what_a_hook_makes_is_verified_as_well() {
    let scene = Scene::new(&members(2));
    scene.hook(
        "pre-commit",
        "for file in $(git diff --cached --name-only -- out); do\n\
         date +%N >> $file; echo all > out/list; git add $file out/list; done",
    );
    let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches("a git hook changed the work of task").count(), 2, "{run}");
    assert_eq!(run.stderr.matches("checks are green again").count(), 2, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]).lines().count(), 2, "it ran once for each");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn one_by_one_work_that_a_hook_breaks_is_no_success() {
    let scene = Scene::new(&[members(1).concat(), task("1.2", "out/1.2.txt", "grep -q ^done$ out/1.2.txt")]);
    scene.hook(
        "pre-commit",
        "git diff --cached --name-only | grep -q out/1.2 || exit 0\n\
         sed -i s/done/broken/ out/1.2.txt; git add out/1.2.txt",
    );
    let run = scene.go(&worker(), &["--jobs", "1", "--max-task-iterations", "1"]);
    assert_ne!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("a git hook changed the work of task 1.2"), "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.2"), "{run}");
    assert_eq!(scene.git(&["status", "--porcelain"]).trim(), "?? out/1.2.txt", "what it left stays: {run}");
}

#[test]
fn what_a_hook_changes_only_where_it_is_staged_is_verified_as_well() {
    for (word, code) in [("done, and clean", 0), ("broken", 1)] {
        let scene = Scene::new(&members(1));
        scene.hook(
            "pre-commit",
            &format!(
                "git diff --cached --name-only | grep -q out/1.1 || exit 0\n\
                 oid=$(echo {word} | git hash-object -w --stdin)\n\
                 git update-index --cacheinfo 100644,$oid,out/1.1.txt"
            ),
        );
        let run = scene.go(&worker(), &["--jobs", "1", "--max-task-iterations", "1"]).expect_code(code);
        assert!(run.stderr.contains("what the hook did not commit of out/1.1.txt is kept in"), "{run}");
        assert_eq!(scene.read("out/1.1.txt"), format!("{word}\n"), "{run}");
        assert_eq!(scene.landed().len(), usize::from(code == 0), "{run}");
    }
}

#[test]
fn a_hook_that_leaves_nothing_of_the_work_is_no_success() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&members(2));
        scene.hook("pre-commit", "git reset -q -- out/1.1.txt; exit 0");
        let run = scene.go(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]);
        assert_ne!(run.code, Some(0), "{run}");
        assert!(scene.tasks("demo").contains("- [ ] 1.1"), "{run}");
    }
}

/// Whatever hooks do, nothing of what passed is taken back by it.
#[test]
fn a_hook_that_commits_something_of_its_own_undoes_nothing() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&members(3));
        scene.hook(
            "post-commit",
            "test -n \"$AGAIN\" && exit; export AGAIN=1; date +%N > version; git add version\n\
             git commit --quiet -m 'version'",
        );
        let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
        assert_eq!(scene.git(&["ls-files", "out"]), "out/1.1.txt\nout/1.2.txt\nout/1.3.txt\n", "{run}");
    }
}

#[test]
fn what_a_hook_made_while_the_program_was_killed_is_verified() {
    for jobs in ["1", "4"] {
        let scene =
            Scene::new(&[members(1).concat(), task("1.2", "out/1.2.txt", "grep -q ^done$ out/1.2.txt")]);
        let (here, go) = (scene.control("here"), scene.control("go"));
        let (here_name, go_name) = (here.display(), go.display());
        scene.hook(
            "pre-commit",
            &format!(
                "git diff --cached --name-only | grep -q out/1.2 || exit 0\n\
                 sed -i s/done/broken/ out/1.2.txt; git add out/1.2.txt; : > '{here_name}'\n\
                 while test ! -e '{go_name}'; do sleep 0.02; done"
            ),
        );
        let mut run = scene.begin(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]);
        wait_for("the hook", || here.exists());
        run.signal(Signal::Kill);
        run.wait();
        fs::write(&go, "").expect("it can be written");
        let run = scene.go(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]);
        assert_ne!(run.code, Some(0), "{run}");
        assert!(scene.tasks("demo").contains("- [ ] 1.2"), "{run}");
    }
}

/// One by one, what a hook made lies in the project while it is verified again. Whoever is killed then goes on from there.
#[test]
fn one_by_one_a_kill_while_a_hooks_work_is_verified_costs_nothing() {
    for signal in [Signal::Kill, Signal::Interrupt] {
        let scene = Scene::bare();
        let (here, go) = (scene.control("here"), scene.control("go"));
        let wait = format!(
            "! grep -q formatted out/1.1.txt || {{ : > {}; while ! test -e {}; do sleep 0.02; done; }}",
            here.display(),
            go.display()
        );
        scene.plan(&[task("1.1", "out/1.1.txt", &wait)]);
        scene.hook(
            "pre-commit",
            "for file in $(git diff --cached --name-only -- out); do\n\
             grep -q formatted $file || echo formatted >> $file; git add $file; done",
        );
        let mut run = scene.begin(&worker(), &["--jobs", "1"]);
        wait_for("the second check", || here.exists());
        run.signal(signal);
        run.wait();
        scene.wait_until_quiet();
        fs::write(&go, "").expect("it can be written");
        let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.attempts("1.1"), 1, "{run}");
        assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "done\nformatted\n");
        assert_eq!(scene.git(&["status", "--porcelain"]), "");
    }
}

/// Kills the program as soon as git has made the commit with this subject, once.
pub(super) fn kill_after(scene: &Scene, subject: &str) {
    let once = scene.control("once").display().to_string();
    scene.hook(
        "post-commit",
        &format!(
            "test \"$(git log -1 --format=%s)\" = '{subject}' && mkdir '{once}' 2>/dev/null || exit 0\n\
             kill -KILL $(ps -o ppid= -p $PPID)"
        ),
    );
}

#[test]
fn what_we_took_back_ourselves_is_not_missed() {
    let scene = Scene::new(&members(2));
    scene.hook(
        "pre-commit",
        "for file in $(git diff --cached --name-only -- out); do\n\
         grep -q formatted $file || echo formatted >> $file; git add $file; done",
    );
    kill_after(&scene, "feat: task 1.1");
    let second = scene.control("second");
    let agent = Agent::new().on("1.2", [Step::AwaitFile(second.display().to_string()), work(), done()]);
    let agent = agent.otherwise([work(), done()]);
    scene.begin(&agent, &[]).wait();
    scene.wait_until_quiet();
    fs::write(&second, "").expect("it can be written");
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(run.stderr.contains("a git hook changed the work of task 1.1"), "{run}");
    assert_eq!(scene.attempts("1.1"), 1, "{run}");
}

/// As hooks do that number changes for a review.
#[test]
fn a_paragraph_that_a_hook_adds_hides_no_commit_of_ours() {
    for subject in ["feat: task 1.1", "chore(spec): complete task 1.1"] {
        let scene = Scene::new(&members(2));
        scene.hook("commit-msg", "printf '\n\nChange-Id: I%s\n' $(git write-tree) >> \"$1\"");
        kill_after(&scene, subject);
        scene.begin(&worker(), &[]).wait();
        scene.wait_until_quiet();
        let run = scene.go(&worker(), &[]).expect_code(0);
        scene.expect_complete(&run);
        let subjects = scene.git(&["log", "--format=%s"]);
        for subject in ["feat: task 1.1", "feat: task 1.2", "chore(spec): complete task 1.1"] {
            let count = subjects.lines().filter(|line| *line == subject).count();
            assert_eq!(count, 1, "{subject}: {subjects}\n{run}");
        }
        let progress = scene.read("specs/demo/.progress.md");
        assert_eq!(progress.matches("- [x] 1.1").count(), 1, "{progress}");
    }
}

#[test]
fn what_a_hook_formats_before_it_refuses_goes_into_the_next_attempt() {
    let scene = Scene::new(&members(2));
    // As those do that format and want to be asked again.
    scene.hook(
        "pre-commit",
        "code=0; for file in $(git diff --cached --name-only -- out); do\n\
         grep -q formatted $file || { echo formatted >> $file; code=1; }; done; exit $code",
    );
    let work =
        "mkdir -p out; test -e \"out/$TILLGREEN_TASK_ID.txt\" || echo done > \"out/$TILLGREEN_TASK_ID.txt\"";
    let agent = Agent::new().otherwise([Step::shell(work), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "2"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (2, 2), "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.2.txt"]), "done\nformatted\n");
    let told = "The hook changed files of the work, which are now as it left them: out/1.2.txt";
    assert!(scene.feedback("1.2", 2).contains(told), "{}", scene.feedback("1.2", 2));
    assert!(!scene.has(".tillgreen/specs-demo/left"), "{run}");
}

/// As generators of changelogs and versions do. Git commits the plan's files from an index of its own.
#[test]
fn a_further_file_that_a_hook_adds_is_what_was_committed() {
    for jobs in ["1", "4"] {
        let scene = Scene::bare();
        scene.write("log.txt", "0\n");
        scene.plan(&members(2));
        scene.hook("pre-commit", "echo more >> log.txt; git add log.txt");
        let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["diff", "--cached", "--name-only"]), "", "--jobs {jobs}: {run}");
    }
}

#[test]
fn what_a_person_staged_stays_staged_where_a_hook_adds_files() {
    let scene = Scene::bare();
    scene.write("log.txt", "0\n");
    scene.write("mine.txt", "0\n");
    scene.plan(&members(2));
    scene.hook("pre-commit", "echo more >> log.txt; git add log.txt");
    scene.write("mine.txt", "staged\n");
    scene.git(&["add", "mine.txt"]);
    let run = scene.go(&worker(), &["--jobs", "1", "--allow-dirty"]).expect_code(0);
    assert_eq!(scene.dirt(), ["M  mine.txt"], "{run}");
}

#[test]
fn a_refused_commit_leaves_no_names_in_the_index() {
    let scene = Scene::new(&members(2));
    let before = scene.git(&["ls-files"]);
    scene.hook("pre-commit", "echo 'no commits here' >&2; exit 1");
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(1);
    assert_eq!(scene.git(&["ls-files"]), before, "{run}");
}

/// Whoever commits by name builds on the index as it is, which does not know yet what came in.
#[test]
fn the_index_knows_what_came_in_also_where_somebody_committed_on_top_at_once() {
    let scene = Scene::bare();
    scene.write("theirs.txt", "0\n");
    scene.plan(&members(2));
    let once = scene.control("once").display().to_string();
    let commit = "env -u GIT_INDEX_FILE -u GIT_DIR git commit -q -m theirs -- theirs.txt";
    scene.hook(
        "post-commit",
        &format!(
            "git log -1 --format=%s | grep -q 'feat: task 1.1' && mkdir {once} && echo 1 > theirs.txt && {commit}; exit 0"
        ),
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_settled(&run);
    assert!(scene.git(&["log", "--format=%s"]).lines().any(|subject| subject == "theirs"), "{run}");
}

//! Hooks that change or refuse what is committed: what ends up in the history is what was verified.

use std::fs;

use testkit::{Agent, Signal, Step, wait_for};

use super::scene::{LANDS, Scene, done, member, members, task, work, worker};

/// A formatter, which adds what it changed.
const FORMATTER: &str = "for file in $(git diff --cached --name-only -- out); do\n\
     grep -q formatted $file || echo formatted >> $file; git add $file; done";

/// A task whose verify command keeps what it saw where no agent works.
fn watched(scene: &Scene, id: &str) -> String {
    let seen = scene.control(&format!("seen-{id}")).display().to_string();
    let verify = format!("if {LANDS}; then cp out/{id}.txt {seen}; fi; grep -q done out/{id}.txt");
    task(id, &format!("out/{id}.txt"), &verify)
}

/// What was verified of it is what is committed.
#[track_caller]
fn expect_verified(scene: &Scene, id: &str, expected: &str) {
    let seen = fs::read_to_string(scene.control(&format!("seen-{id}"))).expect("it was verified");
    assert_eq!(scene.git(&["show", &format!("HEAD:out/{id}.txt")]), seen);
    assert!(seen.starts_with(expected), "{seen:?}");
}

#[test]
fn what_a_hook_makes_of_the_work_is_what_is_verified() {
    let anew =
        "for file in $(git diff --cached --name-only -- out); do date +%N >> $file; git add $file; done";
    for jobs in ["1", "4"] {
        for (hook, made) in [(FORMATTER, "done\nformatted\n"), (anew, "done\n")] {
            let scene = Scene::bare();
            scene.plan(&["1.1", "1.2"].map(|id| watched(&scene, id)));
            scene.hook("pre-commit", hook);
            let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
            scene.expect_complete(&run);
            expect_verified(&scene, "1.1", made);
            expect_verified(&scene, "1.2", made);
            assert_eq!(scene.read("out/1.2.txt").lines().count(), 2, "it ran once for each: {run}");
        }
    }
}

/// A hook that breaks the work of the second of two tasks.
fn broken() -> Scene {
    let scene = Scene::new(&[member("1.1"), task("1.2", "out/1.2.txt", "grep -q ^done$ out/1.2.txt")]);
    scene.hook(
        "pre-commit",
        "git diff --cached --name-only | grep -q out/1.2 || exit 0\n\
         sed -i s/done/broken/ out/1.2.txt; git add out/1.2.txt",
    );
    scene
}

#[test]
fn work_that_a_hook_breaks_is_no_success() {
    for jobs in ["1", "4"] {
        let scene = broken();
        let run = scene.go(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]).expect_code(1);
        assert!(scene.tasks("demo").contains("- [ ] 1.2"), "{run}");
        if jobs == "4" {
            assert_eq!(scene.landed(), ["1.1"], "{run}");
            assert!(!scene.has("out/1.2.txt"), "{run}");
        }
    }
}

#[test]
fn what_a_hook_changes_only_where_it_is_staged_is_verified_as_well() {
    for (word, code) in [("done, and clean", 0), ("broken", 1)] {
        for jobs in ["1", "4"] {
            let scene = Scene::new(&members(2));
            scene.hook(
                "pre-commit",
                &format!(
                    "git diff --cached --name-only | grep -q out/1.1 || exit 0\n\
                     oid=$(echo {word} | git hash-object -w --stdin)\n\
                     git update-index --cacheinfo 100644,$oid,out/1.1.txt"
                ),
            );
            let run = scene.go(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]).expect_code(code);
            assert_eq!(scene.tasks("demo").contains("- [x] 1.1"), code == 0, "{run}");
            assert!(code != 0 || scene.read("out/1.1.txt") == format!("{word}\n"), "{run}");
        }
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

#[test]
fn a_hook_that_refuses_one_landing_is_that_tasks_failure() {
    let scene = Scene::new(&members(3));
    scene.hook("pre-commit", "if grep -rqs forbidden out; then echo 'no forbidden words'; exit 1; fi");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::write("out/1.2.txt", "done\nforbidden\n"), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.feedback("1.2", 2).contains("no forbidden words"), "{run}");
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2"), scene.attempts("1.3")), (1, 2, 1));
}

#[test]
fn a_hook_that_refuses_everything_leaves_no_names_in_the_index() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&members(2));
        let before = scene.git(&["ls-files"]);
        scene.hook("pre-commit", "echo 'no commits here' >&2; exit 1");
        let run = scene.go(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]).expect_code(1);
        assert_eq!(scene.git(&["ls-files"]), before, "{run}");
    }
}

/// As those do that format and want to be asked again.
#[test]
fn a_hook_that_formats_before_it_refuses_is_asked_again() {
    for jobs in ["1", "4"] {
        let scene = Scene::bare();
        scene.plan(&["1.1", "1.2"].map(|id| watched(&scene, id)));
        scene.hook(
            "pre-commit",
            "code=0; for file in $(git diff --cached --name-only -- out); do\n\
             grep -q formatted $file || { echo formatted >> $file; code=1; }; done; exit $code",
        );
        let run = scene.go(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]).expect_code(0);
        scene.expect_complete(&run);
        expect_verified(&scene, "1.1", "done\nformatted\n");
        expect_verified(&scene, "1.2", "done\nformatted\n");
    }
}

#[test]
fn a_hook_that_amends_leaves_nothing_half_done() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&members(3));
        scene.hook(
            "post-commit",
            "test -n \"$AMENDING\" && exit; export AMENDING=1\n\
             git commit --quiet --amend --no-edit --trailer 'Amended: yes'",
        );
        let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
    }
}

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
        assert_eq!(scene.git(&["ls-files", "out"]), "out/1.1.txt\nout/1.2.txt\nout/1.3.txt\n", "{run}");
    }
}

/// As generators of changelogs and versions do, beside a person who has staged something.
#[test]
fn a_further_file_that_a_hook_adds_is_what_was_committed() {
    for jobs in ["1", "4"] {
        let scene = Scene::bare();
        scene.write("log.txt", "0\n");
        scene.write("mine.txt", "0\n");
        scene.plan(&members(2));
        scene.hook("pre-commit", "echo more >> log.txt; git add log.txt");
        scene.write("mine.txt", "staged\n");
        scene.git(&["add", "mine.txt"]);
        let run = scene.go(&worker(), &["--jobs", jobs, "--allow-dirty"]).expect_code(0);
        assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
        assert_eq!(scene.dirt(), ["M  mine.txt"], "--jobs {jobs}: {run}");
    }
}

#[test]
fn what_a_hook_made_while_the_program_was_killed_is_verified() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&[member("1.1"), task("1.2", "out/1.2.txt", "grep -q ^done$ out/1.2.txt")]);
        let (here, go) = (scene.control("here"), scene.control("go"));
        scene.hook(
            "pre-commit",
            &format!(
                "git diff --cached --name-only | grep -q out/1.2 || exit 0\n\
                 sed -i s/done/broken/ out/1.2.txt; git add out/1.2.txt; : > '{}'\n\
                 while test ! -e '{}'; do sleep 0.02; done",
                here.display(),
                go.display()
            ),
        );
        let mut run = scene.begin(&worker(), &["--jobs", jobs, "--max-task-iterations", "1"]);
        wait_for("the hook", || here.exists());
        run.signal(Signal::Kill);
        run.wait();
        scene.release("go");
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
        scene.hook("pre-commit", FORMATTER);
        let mut run = scene.begin(&worker(), &["--jobs", "1"]);
        wait_for("the second check", || here.exists());
        run.signal(signal);
        run.wait();
        scene.wait_until_quiet();
        scene.release("go");
        let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.attempts("1.1"), 1, "{run}");
        assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "done\nformatted\n");
    }
}

/// Kills the program as soon as git has made the commit with this subject, once.
fn kill_after(scene: &Scene, subject: &str) {
    let once = scene.control("once").display().to_string();
    scene.hook(
        "post-commit",
        &format!(
            "test \"$(git log -1 --format=%s)\" = '{subject}' && mkdir '{once}' 2>/dev/null || exit 0\n\
             kill -KILL $(ps -o ppid= -p $PPID)"
        ),
    );
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
        let subjects = scene.subjects();
        for subject in ["feat: task 1.1", "feat: task 1.2", "chore(spec): complete task 1.1"] {
            assert_eq!(subjects.iter().filter(|line| *line == subject).count(), 1, "{subjects:?}\n{run}");
        }
        let progress = scene.read("specs/demo/.progress.md");
        assert_eq!(progress.matches("- [x] 1.1").count(), 1, "{progress}");
    }
}

/// The agent commits its work itself, so that no commit carries our trailer.
#[test]
fn one_by_one_a_kill_after_the_box_is_committed_costs_no_second_commit() {
    let scene = Scene::new(&members(2));
    kill_after(&scene, "chore(spec): complete task 1.1");
    let commit = Step::shell("git add out && git commit --quiet --message agent");
    let agent = Agent::new().otherwise([work(), commit, done()]);
    scene.begin(&agent, &["--jobs", "1"]).wait();
    scene.wait_until_quiet();
    let made = scene.git(&["log", "-1", "--format=%h", "--abbrev=7", "--", "out/1.1.txt"]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    scene.expect_settled(&run);
    let ticks = scene.subjects().iter().filter(|line| *line == "chore(spec): complete task 1.1").count();
    let progress = scene.read("specs/demo/.progress.md");
    assert_eq!((ticks, progress.matches("- [x] 1.1").count()), (1, 1), "{progress}: {run}");
    assert!(progress.contains(made.trim()), "{progress}");
}

/// As a task does that sets up a tool for hooks.
#[test]
fn a_folder_of_hooks_that_is_set_meanwhile_counts_for_what_lands_afterwards() {
    for path in [".git/mine", "hooks"] {
        let scene = Scene::new(&members(3));
        let (gate, seen) = (scene.control("gate"), scene.control("seen"));
        let gate = Step::AwaitFile(gate.display().to_string());
        let agent = Agent::new().on("1.1", [work(), done()]).otherwise([work(), gate, done()]);
        let run = scene.begin(&agent, &[]);
        wait_for("the first to land", || scene.tasks("demo").contains("- [x] 1.1"));
        scene.write(".git/info/exclude", "hooks/\n");
        let hook = format!("#!/bin/sh\ngit diff --cached --name-only >> {}\n", seen.display());
        scene.install(&format!("{path}/pre-commit"), &hook);
        scene.git(&["config", "core.hooksPath", path]);
        scene.release("gate");
        let run = run.wait().expect_code(0);
        scene.expect_complete(&run);
        let seen = fs::read_to_string(seen).unwrap_or_default();
        let mut work: Vec<&str> = seen.lines().filter(|path| path.starts_with("out/")).collect();
        work.sort_unstable();
        assert_eq!(work, ["out/1.2.txt", "out/1.3.txt"], "{path}: {run}");
    }
}

/// Signed as the user signs, or not at all.
#[test]
fn commits_are_signed_as_the_user_signs_and_none_is_made_where_that_fails() {
    let scene = Scene::new(&members(2));
    let key = "printf '\\n[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----'; echo mine";
    let gpg = |scene: &Scene, ends: &str| {
        scene.install(".git/gpg", &format!("#!/bin/sh\ncat > /dev/null; {ends}\n"))
    };
    gpg(&scene, "exit 2");
    let program = scene.root().join(".git/gpg").display().to_string();
    scene.git(&["config", "gpg.program", &program]);
    scene.git(&["config", "commit.gpgsign", "true"]);
    let run = scene.go(&worker(), &[]).expect_code(6);
    assert!(run.stderr.contains("sign"), "{run}");
    assert_eq!(scene.landed(), [""; 0], "{run}");
    gpg(&scene, key);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.agent_calls().iter().all(|call| call.attempt == 1), "{run}");
    let commit = scene.git(&["log", "--format=%H", "--grep=^feat: task 1.1$"]);
    assert!(scene.git(&["cat-file", "commit", commit.trim()]).contains("gpgsig"), "{run}");
}

/// A linter of what is about to be committed, which keeps what it was shown.
fn linter(scene: &Scene) -> String {
    let shown = scene.control("shown").display().to_string();
    format!(
        "echo $(git diff --cached --name-only -- . ':!specs') >> {shown}\n\
         for file in $(git diff --cached --name-only --diff-filter=d -- out); do\n\
         git show :$file | grep -q forbidden && {{ echo \"no forbidden words: $file\"; exit 1; }}; done; exit 0"
    )
}

/// An agent that commits on its own, first what the linter would refuse, then what it would not.
fn committer(how: &str) -> Agent {
    let commit = |word: &str| {
        Step::shell(&format!(
            "mkdir -p out; echo '{word}' > out/$TILLGREEN_TASK_ID.txt; git add out; {how} -qm 'its own'"
        ))
    };
    Agent::new()
        .on_attempt("1.1", 1, [commit("done, forbidden"), done()])
        .otherwise([commit("done and $TILLGREEN_ATTEMPT"), done()])
}

#[test]
fn what_an_agent_commits_past_the_hooks_goes_through_them() {
    let past = ["git commit --no-verify", "git -c core.hooksPath=/dev/null commit"];
    for (how, jobs) in past.into_iter().flat_map(|how| ["1", "4"].map(|jobs| (how, jobs))) {
        let scene = Scene::new(&members(2));
        scene.hook("pre-commit", &linter(&scene));
        let run = scene.go(&committer(how), &["--jobs", jobs]).expect_code(0);
        scene.expect_settled(&run);
        assert!(scene.feedback("1.1", 2).contains("no forbidden words: out/1.1.txt"), "{how}: {run}");
        assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (2, 1), "{how}: {run}");
        assert!(!scene.git(&["show", "HEAD:out/1.1.txt"]).contains("forbidden"), "{how}: {run}");
    }
}

#[test]
fn a_hook_is_shown_what_the_task_changed_and_nothing_else() {
    let scene = Scene::new(&members(1));
    scene.hook("pre-commit", &linter(&scene));
    scene.write("base.txt", "somebody's\n");
    let beside = Step::shell("echo x > beside.txt; git add beside.txt; git commit -qm beside beside.txt");
    let own = "mkdir -p out; echo done > out/1.1.txt; git add out; git commit --no-verify -qm own out";
    let agent =
        Agent::new().otherwise([beside, Step::shell(own), work(), Step::write("left.txt", ""), done()]);
    let run = scene.go(&agent, &["--jobs", "1", "--allow-dirty"]).expect_code(0);
    let shown = fs::read_to_string(scene.control("shown")).unwrap();
    // The agent's commit of its own, all of the attempt's work together, and what was left to commit.
    let expected = ["beside.txt", "beside.txt left.txt out/1.1.txt", "left.txt", ""];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected, "{run}");
    assert_eq!(scene.read("base.txt"), "somebody's\n");
    assert_eq!(scene.dirt(), [" M base.txt"], "{run}");
    assert_eq!(scene.trees(), [""; 0], "{run}");
}

#[test]
fn a_hook_that_formats_what_was_committed_past_it_is_followed() {
    let fixes = "if git diff --cached --name-only | grep -q out/ && ! grep -q formatted out/1.1.txt; then\n\
                 echo formatted >> out/1.1.txt; echo 'files were modified by this hook'; exit 1; fi";
    let staged = "git diff --cached --name-only | grep -q out/1.1 || exit 0\n\
                  oid=$(printf 'done\\nformatted\\n' | git hash-object -w --stdin)\n\
                  git update-index --cacheinfo 100644,$oid,out/1.1.txt";
    for (hook, bookkeeping) in [
        (FORMATTER, "coordinator"),
        (fixes, "coordinator"),
        (staged, "coordinator"),
        (FORMATTER, "agent"),
        (fixes, "agent"),
    ] {
        let scene = Scene::new(&members(1));
        scene.hook("pre-commit", hook);
        let tick = Step::edit(super::scene::TASKS, "- [ ] 1.1", "- [x] 1.1");
        let tick = if bookkeeping == "agent" { tick } else { Step::shell(":") };
        let agent = Agent::new().otherwise([
            work(),
            tick,
            Step::shell("git add -A; git commit --no-verify -qm own"),
            done(),
        ]);
        let run = scene.go(&agent, &["--jobs", "1", "--bookkeeping", bookkeeping]).expect_code(0);
        scene.expect_settled(&run);
        assert_eq!(scene.attempts("1.1"), 1, "{run}");
        assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "done\nformatted\n", "{hook}: {run}");
    }
}

#[test]
fn hooks_of_a_folder_that_the_settings_name_run_on_an_agents_commits() {
    let scene = Scene::bare();
    // As husky does it: the folder is there once something was installed, and git does not know it.
    scene.write(".husky/_/.gitignore", "*");
    scene.install(
        ".husky/_/pre-commit",
        "#!/bin/sh\nexec sh -e \"$(dirname \"$(dirname \"$0\")\")/pre-commit\"\n",
    );
    scene.write(".husky/pre-commit", linter(&scene));
    scene.git(&["config", "core.hooksPath", ".husky/_"]);
    scene.plan(&members(1));
    let run = scene.go(&committer("git commit --no-verify"), &["--jobs", "1"]).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(scene.attempts("1.1"), 2, "{run}");
}

#[test]
fn hooks_that_are_gone_are_asked_about() {
    let ways = [
        "rm HOOK",
        "chmod -x HOOK",
        "git config core.hooksPath /dev/null",
        "mkdir h; git config core.hooksPath h",
    ];
    for (way, jobs) in ways.into_iter().flat_map(|way| ["1", "4"].map(|jobs| (way, jobs))) {
        let scene = Scene::new(&members(2));
        scene.hook("pre-commit", &linter(&scene));
        let hook = scene.root().join(".git/hooks/pre-commit").display().to_string();
        let off = Step::shell(&way.replace("HOOK", &hook));
        let agent = Agent::new().on("1.2", [work(), done()]).otherwise([off, work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs]).expect_code(3);
        assert!(run.stderr.contains("Hooks that are gone: .git/hooks/pre-commit"), "{way}: {run}");
        assert!(scene.tasks("demo").contains("- [ ] 1.1"), "{way}: {run}");
        // Whoever approves goes on without them, and is not asked again.
        let mut run = scene.run(&["answer", "approve"]);
        if jobs == "4" && run.code == Some(3) {
            // The other was at work meanwhile.
            run = scene.run(&["answer", "approve"]);
        }
        assert_eq!(run.code, Some(0), "{way}: {run}");
        assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1), "{way}: {run}");
    }
}

#[test]
fn hooks_that_somebody_puts_back_before_they_approve_count() {
    let scene = Scene::new(&members(1));
    scene.hook("pre-commit", &linter(&scene));
    let agent = committer("rm $(git rev-parse --git-path hooks)/pre-commit; git commit");
    scene.go(&agent, &["--jobs", "1"]).expect_code(3);
    scene.hook("pre-commit", &linter(&scene));
    let run = scene.run(&["answer", "approve"]);
    assert!(scene.feedback("1.1", 2).contains("no forbidden words: out/1.1.txt"), "{run}");
}

#[test]
fn hooks_that_change_as_they_do_in_honest_work_are_not_asked_about() {
    // One is written again, one comes in, one is only an example, and a task is about them.
    let rewritten = "printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-commit";
    let new = "printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/commit-msg; chmod +x .git/hooks/commit-msg";
    let check = |plan: &str, way: &str| {
        let scene = Scene::new(&[plan.to_owned()]);
        scene.hook("pre-commit", "exit 0");
        scene.hook("pre-push.sample", "exit 0");
        let run = scene.go(&Agent::new().otherwise([Step::shell(way), work(), done()]), &["--jobs", "1"]);
        run.expect_code(0);
    };
    check(&member("1.1"), rewritten);
    check(&member("1.1"), new);
    check(&member("1.1"), "rm .git/hooks/pre-push.sample");
    let named = member("1.1").replace("Task number 1.1", "Replace the pre-commit hook by husky");
    check(&named, "rm .git/hooks/pre-commit");
}

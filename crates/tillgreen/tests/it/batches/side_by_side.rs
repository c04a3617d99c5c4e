//! Batches in which every member does its work: each in a slot, not more at once than allowed, and in the project once it
//! is verified with the rest.

use std::collections::BTreeSet;
use std::path::PathBuf;

use testkit::{Agent, Step};

use super::scene::{PROGRESS, Scene, done, member, members, task, work, worker};

/// The folders that agents worked in.
fn folders(scene: &Scene) -> BTreeSet<PathBuf> {
    scene.agent_calls().into_iter().map(|call| call.folder.into()).collect()
}

/// Everybody is at work at once, each in a slot, and comes in with what says so of it.
#[track_caller]
fn check_all_at_once(count: usize) {
    let scene = Scene::new(&members(count));
    let run = scene.go(&Agent::new().otherwise([scene.meet(count), work(), done()]), &[]).expect_code(0);
    scene.expect_complete(&run);
    let folders = folders(&scene);
    assert_eq!(folders.len(), count, "a folder each");
    assert!(folders.iter().all(|folder| folder.starts_with(scene.cache())), "{folders:?}");
    let pairs = scene
        .came_in()
        .into_iter()
        .flat_map(|id| [format!("feat: task {id}"), format!("chore(spec): complete task {id}")]);
    assert_eq!(scene.subjects()[1..], pairs.collect::<Vec<_>>());
}

#[test]
fn two_at_once() {
    check_all_at_once(2);
}

#[test]
fn fifty_at_once() {
    check_all_at_once(50);
}

#[test]
fn who_is_ready_first_comes_in_first_and_is_listed_in_its_place() {
    let scene = Scene::new(&members(3));
    let agent = Agent::new()
        .on("1.1", [work(), scene.until_done("1.3"), done()])
        .on("1.2", [work(), scene.until_done("1.1"), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.came_in(), ["1.3", "1.1", "1.2"]);
    let progress = scene.read(PROGRESS);
    let places: Vec<_> = scene.ids().iter().map(|id| progress.find(&format!("- [x] {id} "))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{progress}");
}

/// Verified where nobody sees it: in a slot, and in the landing tree.
#[test]
fn what_is_not_verified_is_not_in_the_project_also_of_a_task_that_is_alone() {
    let verify = |id: &str| format!("grep -q done out/{id}.txt && test ! -e $HOME/../project/out/{id}.txt");
    let tasks = ["1.1", "1.2"].map(|id| task(id, &format!("out/{id}.txt"), &verify(id)).replace(" [P]", ""));
    let scene = Scene::new(&tasks);
    // In the end the project has it, so that a proof would be red.
    let flags = ["--isolate", "--max-task-iterations", "1", "--prove", "off"];
    let run = scene.go(&worker(), &flags).expect_code(0);
    scene.expect_complete(&run);
    let folders = folders(&scene);
    assert!(folders.len() == 1 && folders.iter().all(|folder| folder.ends_with("slot-1")), "{folders:?}");
}

#[test]
fn not_more_at_once_than_jobs() {
    for jobs in [1, 2, 3] {
        let scene = Scene::new(&members(6));
        let (place, seen) = (scene.control("at-work"), scene.control("seen"));
        let count = format!(
            "mkdir -p '{0}/'$TILLGREEN_TASK_ID; ls '{0}' | wc -l >> '{1}'; sleep 0.1; rmdir '{0}/'$TILLGREEN_TASK_ID",
            place.display(),
            seen.display()
        );
        let agent = Agent::new().otherwise([Step::shell(&count), work(), done()]);
        let run = scene.go(&agent, &["--jobs", &jobs.to_string()]).expect_code(0);
        scene.expect_complete(&run);
        let seen = std::fs::read_to_string(seen).unwrap();
        let most = seen.lines().filter_map(|line| line.trim().parse::<usize>().ok()).max();
        assert!(most <= Some(jobs), "{most:?} at once with --jobs {jobs}");
        assert!(folders(&scene).len() <= jobs, "slots are used again: {:?}", folders(&scene));
    }
}

#[test]
fn tasks_about_the_same_file_follow_each_other_and_the_reason_is_said() {
    let first = task("1.1", "out/1.1.txt, log.txt", "grep -q 1.1 log.txt");
    let second = task("1.2", "log.txt", "grep -q 1.2 log.txt");
    let scene = Scene::new(&[first, second, member("1.3")]);
    let log = || Step::shell("echo $TILLGREEN_TASK_ID >> log.txt");
    let agent = Agent::new().on("1.1", [scene.meet(2), log(), done()]).on("1.2", [log(), done()]);
    let run = scene.go(&agent.on("1.3", [scene.meet(2), work(), done()]), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("log.txt"), "1.1\n1.2\n");
    assert!(run.stderr.contains("1.2 waits for 1.1: both are about log.txt"), "{run}");
    assert_eq!(scene.agent_calls().len(), 3, "nobody had to try again");
}

#[test]
fn tasks_whose_files_nobody_can_tell_do_not_run_beside_those_that_name_theirs() {
    let vague = member("1.2").replace("`out/1.2.txt`\n", "All documentation files\n");
    let scene = Scene::new(&[member("1.1"), vague, member("1.3")]);
    let check = scene.run(&["check", "demo"]).expect_code(0);
    assert!(check.stdout.contains("the Files of 1.2 name no path at “All documentation files”"), "{check}");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    for part in
        ["1.2 waits for 1.1: one of them may be about any file", "1.3 waits for 1.2: one of them may be"]
    {
        assert!(run.stderr.contains(part), "{part:?} is missing in {run}");
    }
}

#[test]
fn a_verification_comes_after_the_whole_batch_and_the_next_batch_after_it() {
    let check =
        "- [ ] V1 [VERIFY] All are there\n  - **Verify**: `test $(ls out | wc -l) = 3`\n\n".to_owned();
    let tasks = [members(3), vec![check], vec![member("2.1"), member("2.2")]].concat();
    let scene = Scene::new(&tasks);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.came_in()[3..].iter().all(|id| id.starts_with("2.")), "{:?}", scene.came_in());
}

#[test]
fn a_single_marked_task_runs_in_the_project() {
    let single = member("1.2").replace(" [P]", "");
    let scene = Scene::new(&[member("1.1"), single, member("1.3")]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
    let root = scene.root().display().to_string();
    assert!(scene.agent_calls().iter().all(|call| call.folder == root), "{run}");
    scene.expect_tidy();
}

#[test]
fn what_members_learned_is_noted() {
    let scene = Scene::new(&members(4));
    let learn = Step::shell(
        "printf '## Learnings\\n- %s learned\\n' $TILLGREEN_TASK_ID > \"$TILLGREEN_PROGRESS_FILE\"",
    );
    let run = scene.go(&Agent::new().otherwise([scene.meet(4), learn, work(), done()]), &[]).expect_code(0);
    scene.expect_complete(&run);
    let progress = scene.read(PROGRESS);
    assert!(scene.ids().iter().all(|id| progress.contains(&format!("- {id} learned"))), "{progress}");
}

#[test]
fn what_a_project_needs_is_in_every_tree_and_comes_back_from_none() {
    let scene = Scene::new(&members(2));
    scene.write(".gitignore", ".env\ncache/\n");
    scene.commit_all("ignore");
    scene.write(".env", "SECRET=1\n");
    scene.write("cache/big", "big\n");
    let uses = Step::shell("grep -q SECRET .env && grep -q big cache/big && echo more >> .env || exit 3");
    let agent = Agent::new().otherwise([uses, work(), done()]);
    let run = scene.go(&agent, &["--worktree-copy", ".env", "--worktree-link", "cache"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read(".env"), "SECRET=1\n", "a copy is a copy");
    assert_eq!(scene.read("cache/big"), "big\n", "what is linked outlives the trees");
}

#[test]
fn tasks_that_show_to_be_independent_run_together_when_that_is_asked_for() {
    let unmarked: Vec<String> = members(3).iter().map(|task| task.replace(" [P]", "")).collect();
    let scene = Scene::new(&unmarked);
    let agent = Agent::new().otherwise([scene.meet(3), work(), done()]);
    let run = scene.go(&agent, &["--infer-parallel"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.landed(), scene.ids());
}

#[test]
fn a_task_that_names_another_as_its_condition_waits_for_it() {
    let second =
        member("1.2").replace("grep -q done out/1.2.txt", "test -f out/1.1.txt && test -f out/1.2.txt");
    let second = second.replace("  - **Commit**", "  - **Depends on**: task 1.1, and 7.7.\n  - **Commit**");
    let scene = Scene::new(&[member("1.1"), second]);
    let graph = scene.run(&["check", "--graph"]).expect_code(0);
    assert!(graph.stdout.contains("it is declared to depend on it"), "{graph}");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1));
}

#[test]
fn a_second_batch_begins_where_the_first_ended() {
    let mut tasks = members(2);
    tasks.push(member("1.3").replace(" [P]", ""));
    tasks.extend(["1.4", "1.5"].map(member));
    let scene = Scene::new(&tasks);
    let look = Step::shell("test -f out/1.1.txt -a -f out/1.2.txt -a -f out/1.3.txt || exit 3");
    let agent = Agent::new().on("1.4", [look.clone(), work(), done()]).on("1.5", [look, work(), done()]);
    let run = scene.go(&agent.otherwise([work(), done()]), &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
}

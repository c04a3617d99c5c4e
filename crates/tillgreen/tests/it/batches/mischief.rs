//! What agents do in their trees and outside of them: none of it hurts the others, the plan or the project.

use testkit::{Agent, Step};

use super::scene::{Scene, TASKS, done, members, work, worker};

/// One member does this, two are good. All land at the first attempt.
#[track_caller]
fn check(steps: &[Step]) -> Scene {
    let scene = Scene::new(&members(3));
    let agent = Agent::new().on("1.2", [steps, &[done()]].concat()).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 3, "{run}");
    assert_eq!(scene.landed(), ["1.1", "1.2", "1.3"]);
    scene
}

#[test]
fn commits_of_its_own_become_one() {
    let scene = check(&[work(), Step::commit("one"), Step::write("b", "b\n"), Step::commit("two")]);
    assert_eq!(scene.read("b"), "b\n");
    let subjects = scene.subjects();
    assert!(
        !subjects.contains(&"one".to_owned()) && subjects.contains(&"feat: task 1.2".to_owned()),
        "{subjects:?}"
    );
}

#[test]
fn an_amended_base_is_no_loss() {
    let scene = check(&[work(), Step::shell("git add -A && git commit -q --amend -m amended")]);
    assert_eq!(scene.subjects()[0], "plan");
}

#[test]
fn branches_are_its_own_business() {
    let scene = check(&[Step::shell("git switch -q -c side"), work(), Step::commit("on the side")]);
    assert_eq!(
        scene.git(&["branch", "--show-current"]).trim(),
        scene.git(&["config", "init.defaultBranch"]).trim()
    );
    check(&[Step::shell("git checkout -q --orphan new && git rm -rqf --cached ."), work()]);
    check(&[work(), Step::shell("git reset -q --soft HEAD; git add -A; git stash -q; git stash pop -q")]);
}

#[test]
fn the_link_to_git_may_be_gone_or_bent() {
    check(&[work(), Step::shell("rm -f .git")]);
    check(&[work(), Step::shell("rm -f .git && git init -q .")]);
    check(&[work(), Step::shell("echo 'gitdir: /nowhere' > .git")]);
    check(&[work(), Step::shell("printf broken > \"$(git rev-parse --git-dir)/index\"")]);
    check(&[work(), Step::shell("rm \"$(git rev-parse --git-dir)/index\"")]);
}

#[test]
fn what_an_agent_hides_from_git_lands() {
    for option in ["--skip-worktree", "--assume-unchanged"] {
        let hide = format!("git update-index {option} base.txt && echo hidden > base.txt");
        let scene = check(&[Step::shell(&hide), work()]);
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "hidden\n", "{option}");
    }
}

#[test]
fn boxes_and_plans_changed_in_the_tree_are_dropped() {
    let scene = check(&[work(), Step::edit(TASKS, "- [ ]", "- [x]"), Step::commit("ticked all")]);
    assert_eq!(scene.tasks("demo").matches("- [x]").count(), 3);
    let scene = check(&[work(), Step::shell("rm -r specs; echo gone")]);
    assert!(scene.has(TASKS));
    check(&[work(), Step::write("specs/demo/.progress.md", "nothing\n")]);
}

#[test]
fn boxes_changed_in_the_tree_are_told_of_committed_or_not() {
    let tick = || Step::edit(TASKS, "- [ ]", "- [x]");
    for steps in [vec![work(), tick()], vec![work(), tick(), Step::commit("ticked")]] {
        let scene = Scene::new(&members(2));
        let agent = Agent::new().on("1.2", [&steps[..], &[done()]].concat()).otherwise([work(), done()]);
        let run = scene.go(&agent, &[]).expect_code(0);
        scene.expect_complete(&run);
        let told = format!("task 1.2 changed files of the plan, which is dropped: {TASKS}");
        assert_eq!(run.stderr.matches(&told).count(), 1, "{run}");
        assert!(!run.stderr.contains("task 1.1 changed files of the plan"), "{run}");
    }
}

#[test]
fn a_repository_inside_the_tree_is_that_tasks_failure() {
    let scene = Scene::new(&members(2));
    let inner = Step::shell("git init -q deep/inner && echo precious > deep/inner/file");
    let agent = Agent::new()
        .on_attempt("1.2", 1, [inner, work(), done()])
        .on("1.2", [Step::write("deep/inner/file", "precious\n"), work(), done()])
        .otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 2), "{run}");
    assert!(
        scene.feedback("1.2", 2).contains("deep/inner is a repository of its own inside the project"),
        "{run}"
    );
    assert_eq!(scene.git(&["show", "HEAD:deep/inner/file"]), "precious\n", "{run}");
}

#[test]
fn a_work_tree_inside_a_work_tree_does_not_come_in() {
    let scene = Scene::new(&members(2));
    let inside = Step::shell("git worktree add -q inside -b branch; echo precious > inside/file");
    let agent = Agent::new().on_attempt("1.2", 1, [inside, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert!(!scene.git(&["ls-files"]).contains("inside"), "{run}");
}

#[test]
fn processes_that_stay_behind_are_ended() {
    check(&[work(), Step::Detach, Step::shell("(while :; do echo x >> late.txt; sleep 0.05; done) &")]);
}

#[test]
fn ignored_files_stay_behind_and_untracked_ones_come_along() {
    let scene = Scene::new(&members(2));
    scene.write(".gitignore", "*.o\nbuild/\n");
    scene.commit_all("ignore");
    let litter = Step::shell("mkdir build; echo x > build/x; echo x > a.o; echo y > new.txt");
    let agent = Agent::new().on("1.1", [litter, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.has("new.txt") && !scene.has("build") && !scene.has("a.o"));
}

#[test]
fn deleted_files_links_modes_and_odd_names_come_along() {
    let odd = "mkdir -p 'a b'; echo 1 > 'a b/\u{e9} \"q\" $x'; ln -s ../nowhere link; echo '#!/bin/sh' > run.sh; \
               chmod +x run.sh; printf x > \"$(printf 'new\\nline')\"; echo t > -dash; printf '\\377' | xargs -0 touch; \
               rm base.txt";
    let scene = check(&[Step::shell(odd), work()]);
    assert!(
        !scene.has("base.txt")
            && scene.has("a b/\u{e9} \"q\" $x")
            && scene.has("new\nline")
            && scene.has("-dash")
    );
    assert_eq!(std::fs::read_link(scene.root().join("link")).unwrap().to_str(), Some("../nowhere"));
    assert!(scene.git(&["ls-files", "-s", "run.sh"]).starts_with("100755"));
}

#[test]
fn a_tree_that_is_taken_away_is_that_tasks_failure() {
    let scene = Scene::new(&members(3));
    let gone = Step::shell("here=$PWD; cd ..; rm -rf \"$here\"");
    let agent = Agent::new().on_attempt("1.2", 1, [gone, done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2"), scene.attempts("1.3")), (1, 2, 1));
}

#[test]
fn what_is_done_to_the_trees_of_others_is_not_the_projects_loss() {
    let scene = Scene::new(&members(3));
    let wreck = Step::shell("git worktree prune; for t in ../1.3; do rm -rf $t; done");
    let agent = Agent::new().on_attempt("1.1", 1, [scene.meet(3), wreck, work(), done()]).otherwise([
        scene.meet(3),
        work(),
        done(),
    ]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn an_agent_that_commits_on_the_projects_own_branch_is_in_nobodys_way() {
    let scene = Scene::new(&members(3));
    let root = scene.root().display().to_string();
    let stray = Step::shell(&format!("git -C '{root}' commit -q --allow-empty -m stray"));
    let agent = Agent::new().on_attempt("1.3", 1, [stray, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
}

/// Takes all out of the history that came after the plan, once the first task is done.
fn rewind(scene: &Scene) -> Step {
    let (root, first) = (scene.root().display().to_string(), scene.git(&["rev-parse", "HEAD"]));
    // Whoever commits holds a lock for a moment.
    Step::shell(&format!(
        "cd '{root}'; while ! git log --format=%s | grep -q 'complete task 1.1'; do sleep 0.05; done\n\
         git rev-parse HEAD > '{}'\n\
         until git reset -q --hard {} 2>/dev/null; do sleep 0.05; done; cd - >/dev/null",
        scene.control("lost").display(),
        first.trim()
    ))
}

#[test]
fn on_top_of_a_history_that_lacks_finished_work_nothing_comes_in() {
    let scene = Scene::new(&members(4));
    let agent =
        Agent::new().on_attempt("1.2", 1, [rewind(&scene), work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(6);
    assert!(run.stderr.contains("the work of task 1.1, commit "), "{run}");
    assert_eq!(scene.landed(), [""; 0]);
    assert!(run.stderr.contains("is no longer in the history of what is checked out"), "{run}");
    let lost = std::fs::read_to_string(scene.control("lost")).unwrap();
    // Not the work alone: what tells that it is done came after it.
    assert!(run.stderr.contains(&format!("`git reset --hard {}`", lost.trim())), "{run}");
    scene.git(&["reset", "-q", "--hard", lost.trim()]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.1"), 1, "{run}");
}

#[test]
fn whoever_checked_out_another_branch_is_told_of_the_one_from_before() {
    let scene = Scene::new(&members(4));
    scene.git(&["branch", "side"]);
    let (root, main) = (scene.root().display().to_string(), scene.git(&["branch", "--show-current"]));
    let leave = Step::shell(&format!(
        "cd '{root}'; while ! git log --format=%s | grep -q 'complete task 1.1'; do sleep 0.05; done\n\
         until git checkout -q side 2>/dev/null; do sleep 0.05; done; cd - >/dev/null"
    ));
    let agent = Agent::new().on_attempt("1.2", 1, [leave, work(), done()]).otherwise([work(), done()]);
    let told = format!("`git checkout {}`", main.trim());
    let run = scene.go(&agent, &[]).expect_code(6);
    assert!(run.stderr.contains(&told) && !run.stderr.contains("reset --hard"), "{run}");
    scene.git(&["checkout", "-q", "--force", main.trim()]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn whoever_goes_on_without_lost_work_does_it_again() {
    let scene = Scene::new(&members(3));
    let agent =
        Agent::new().on_attempt("1.2", 1, [rewind(&scene), work(), done()]).otherwise([work(), done()]);
    scene.go(&agent, &[]).expect_code(6);
    scene.git(&["checkout", "-q", "--", "."]);
    let run = scene.go(&worker(), &["--fresh"]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn work_that_was_rebased_is_not_lost() {
    let scene = Scene::new(&members(3));
    let root = scene.root().display().to_string();
    // The message of the plan's commit changes, and with it the names of all that follow.
    let rebase = Step::shell(&format!(
        "cd '{root}'; while ! git log --format=%s | grep -q 'complete task 1.1'; do sleep 0.05; done\n\
         until git rebase -q --root --exec true --reset-author-date 2>/dev/null; do git rebase --abort 2>/dev/null; \
         sleep 0.05; done; cd - >/dev/null"
    ));
    let agent = Agent::new().on_attempt("1.2", 1, [rebase, work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn a_read_only_tree_is_removed_all_the_same() {
    check(&[work(), Step::shell("mkdir -p deep/er; echo x > deep/er/x; chmod -R a-w deep")]);
}

#[test]
fn a_second_batch_begins_where_the_first_ended() {
    let mut tasks = members(2);
    tasks.push(super::scene::member("1.3").replace(" [P]", ""));
    tasks.extend(["1.4", "1.5"].map(super::scene::member));
    let scene = Scene::new(&tasks);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.landed(), ["1.1", "1.2", "1.3", "1.4", "1.5"]);
}

#[test]
fn branches_tags_and_stashes_that_agents_make_are_told_once() {
    let scene = Scene::new(&members(3));
    scene.git(&["branch", "old"]);
    let makes = "git branch mine; git tag v9; echo x > new.txt; git add new.txt; git stash -q; git branch -f old HEAD";
    let agent = Agent::new().on("1.2", [Step::shell(makes), work(), done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let told = "branch mine, a stash (`git stash list`), tag v9; it is not part of their work, and stays";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
    assert!(scene.git(&["stash", "list"]).contains("stash@{0}"));
}

#[test]
fn nothing_is_told_of_a_repository_where_nothing_appeared() {
    let scene = Scene::new(&members(3));
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert!(!run.stderr.contains("appeared in the repository"), "{run}");
}

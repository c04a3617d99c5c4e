//! What a person's shell, their project's patterns and the place of a plan may be like, without a run being hurt by it.

use std::fs;

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, plan, task, work, worker};

#[test]
fn how_a_person_has_git_read_paths_costs_no_attempt() {
    for variable in ["GIT_LITERAL_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"] {
        for jobs in ["1", "4"] {
            let scene = Scene::new(&members(2));
            let agent = scene.install_agent(&worker());
            let run = scene.command(&["run", "--agent-cmd", &agent, "--jobs", jobs]).env(variable, "1").run();
            scene.expect_complete(&run.expect_code(0));
            assert_eq!(scene.agent_calls().len(), 2);
        }
    }
}

#[test]
fn what_points_a_person_s_gits_at_a_repository_does_not_reach_agents_and_commands() {
    let free =
        "test -z \"$GIT_DIR$GIT_INDEX_FILE$GIT_WORK_TREE$GIT_PREFIX\" && test -n \"$GIT_CONFIG_COUNT\"";
    let verify = |id: &str| format!("{free} && grep -q done out/{id}.txt");
    for jobs in ["1", "4"] {
        let tasks = ["1.1", "1.2"].map(|id| task(id, &format!("out/{id}.txt"), &verify(id)));
        let scene = Scene::new(&tasks);
        let agent = Agent::new().otherwise([
            work(),
            Step::shell(&format!("{free} || rm -r out; git add -A")),
            done(),
        ]);
        let agent = scene.install_agent(&agent);
        let command = scene.command(&["run", "--agent-cmd", &agent, "--jobs", jobs, "--regression", free]);
        let place = |path: &str| scene.root().join(path).display().to_string();
        let run = command
            .env("GIT_DIR", &place(".git"))
            .env("GIT_INDEX_FILE", &place(".git/index"))
            .env("GIT_WORK_TREE", &place(""))
            .env("GIT_PREFIX", "specs/")
            .env("GIT_CONFIG_COUNT", "0")
            .run();
        scene.expect_complete(&run.expect_code(0));
        assert_eq!(scene.agent_calls().len(), 2);
    }
}

#[test]
fn a_list_of_what_git_is_to_know_does_not_show_it_own_files() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&members(3));
        scene.write(".gitignore", "*\n!*/\n!*.md\n!*.txt\n!*.jsonl\n!.gitignore\n");
        scene.commit_all("only these");
        let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["status", "--porcelain", "--untracked-files=all"]), "", "{run}");
    }
}

#[test]
fn a_plan_outside_of_the_repository_is_carried_out_and_not_committed() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&[]);
        let folder = scene.control("elsewhere");
        fs::create_dir_all(&folder).expect("a folder can be made");
        let tasks = folder.join("tasks.md");
        fs::write(&tasks, plan(&members(3))).expect("it can be written");
        let path = tasks.display().to_string();
        let run = scene.go(&worker(), &["--jobs", jobs, &path]).expect_code(0);
        assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
        assert_eq!(run.stderr.matches("lies outside of").count(), 1, "{run}");
        assert_eq!(scene.landed(), ["1.1", "1.2", "1.3"], "{run}");
        let text = fs::read_to_string(&tasks).expect("it is still there");
        assert_eq!(text.matches("- [x]").count(), 3, "{text}");
        assert!(folder.join(".progress.md").is_file(), "{run}");
        assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
        assert_eq!(scene.git(&["worktree", "list"]).lines().count(), 1, "{run}");
    }
}

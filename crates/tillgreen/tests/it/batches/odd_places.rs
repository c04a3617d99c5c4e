//! Names, folders and files that are seldom, and rightful all the same.

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, plan, task, work};

const ODD: &str = "odd\nfolder/new\nline.txt";

#[test]
fn a_line_break_in_a_name_comes_back_side_by_side_and_one_by_one() {
    for jobs in ["1", "2"] {
        let scene = Scene::new(&members(2));
        let odd = Step::shell("mkdir -p 'odd\nfolder' && echo odd > 'odd\nfolder/new\nline.txt'");
        let agent = Agent::new().on("1.2", [odd, work(), done()]).otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.agent_calls().len(), 2, "{run}");
        assert_eq!(scene.read(ODD), "odd\n", "{run}");
        assert_eq!(scene.git(&["show", &format!("HEAD:{ODD}")]), "odd\n", "{run}");
    }
}

/// A file whose name holds a line break is changed by two, deleted by a third, and in conflict for a fourth.
#[test]
fn a_line_break_in_a_name_is_merged() {
    let scene = Scene::new(&members(4));
    scene.write(ODD, "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    scene.write("gone\nfile", "gone\n");
    scene.commit_all("odd");
    let step = |script: &str| [scene.meet(4), Step::shell(script), work(), done()];
    let agent = Agent::new()
        .on("1.1", step("sed -i s/1/one/ odd*/*"))
        .on("1.2", step("sed -i s/9/nine/ odd*/*"))
        .on("1.3", step("rm gone*; mkdir -p 'gone\nfile'; echo x > 'gone\nfile/x'"))
        .on_attempt("1.4", 1, step("sed -i s/1/eins/ odd*/*"))
        .on("1.4", [work(), done()]);
    // Whichever of the two is second meets a conflict.
    let run = scene.go(&agent, &[]).expect_code(0);
    scene.expect_complete(&run);
    let merged = scene.read(ODD);
    assert!(
        ["one", "eins"].iter().any(|first| merged == format!("{first}\n2\n3\n4\n5\n6\n7\n8\nnine\n")),
        "{merged}: {run}"
    );
    assert!(scene.has("gone\nfile/x") && scene.attempts("1.1") + scene.attempts("1.4") == 3, "{run}");
}

/// The first attempt makes repositories without commits, under names that git does not print as they are.
#[test]
fn repositories_with_odd_names_fail_the_task_with_clear_words_and_are_kept() {
    for (name, told) in
        [("in\nside", "cannot be committed as it is: in side"), ("in\u{1}side", "git cannot take in")]
    {
        let scene = Scene::new(&members(2));
        let make = Step::shell(&format!("git init -q '{name}'; echo x > '{name}/x'"));
        let agent = Agent::new()
            .on_attempt("1.2", 1, [make, work(), done()])
            .on("1.2", [Step::shell("rm -rf in*side"), work(), done()])
            .otherwise([work(), done()]);
        let run = scene.go(&agent, &[]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.attempts("1.2"), 2, "{run}");
        assert!(run.stderr.contains(told), "{told:?} is missing: {run}");
    }
}

/// Agents, verify commands and Files mean the same folder, whether tasks run one by one or side by side: the top of the
/// repository.
#[test]
fn a_plan_in_a_folder_of_the_repository_means_the_same_side_by_side_and_one_by_one() {
    for jobs in ["1", "4"] {
        let scene = Scene::bare();
        let verify = |id: &str| format!("test -d sub/specs && grep -q done out/{id}.txt");
        let tasks = ["1.1", "1.2"].map(|id| task(id, &format!("out/{id}.txt"), &verify(id)));
        scene.write("sub/specs/demo/tasks.md", plan(&tasks));
        scene.plan(&members(2));
        let uses = Step::shell("test -f sub/specs/demo/tasks.md || exit 5");
        let command = scene.install_agent(&Agent::new().otherwise([uses, work(), done()]));
        let flags = ["run", "demo", "--scope", "reject", "--jobs", jobs, "--agent-cmd", &command];
        let run = scene.command(&flags).dir(&scene.root().join("sub")).run().expect_code(0);
        assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
        assert_eq!(
            (scene.landed(), scene.agent_calls().len()),
            (vec!["1.1".to_owned(), "1.2".to_owned()], 2),
            "{run}"
        );
        let place = if jobs == "1" { "project" } else { "+sub-specs-demo/slot-1" };
        let folders: Vec<String> = scene.agent_calls().into_iter().map(|call| call.folder).collect();
        assert!(folders.iter().any(|folder| folder.ends_with(place)), "{folders:?}");
        assert!(scene.has("out/1.1.txt") && scene.has("out/1.2.txt") && !scene.has("sub/out"), "{run}");
        assert!(!scene.read("sub/specs/demo/tasks.md").contains("- [ ]"), "{run}");
        assert!(
            !scene.tasks("demo").contains("- [x]"),
            "the plan of the same name at the top is another: {run}"
        );
        scene.expect_tidy();
    }
}

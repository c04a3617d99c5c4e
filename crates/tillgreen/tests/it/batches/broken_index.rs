//! Somebody removes or breaks git's index of the project: it is named, nothing is taken for deleted, and nothing comes in
//! until it is there again.

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, work, worker};

/// An agent does this to the index; a person then types what is advised.
#[track_caller]
fn check(harm: &str, told: &str, repair: impl Fn(&Scene)) {
    let scene = Scene::new(&members(2));
    let index = scene.root().join(".git/index").display().to_string();
    let harm = Step::shell(&format!("{harm} '{index}'"));
    let agent = Agent::new()
        .on("1.1", [work(), scene.meet(2), harm, done()])
        .on("1.2", [work(), scene.meet(2), scene.until_passed(1), done()]);
    let run = scene.go(&agent, &[]).expect_code(6);
    assert!(run.stderr.contains(told) && run.stderr.contains("git reset"), "{run}");
    assert_eq!(scene.landed(), [""; 0], "{run}");
    repair(&scene);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn an_index_that_is_missing_is_named_and_made_anew_by_what_is_advised() {
    check("rm", "is missing", |scene| {
        scene.git(&["reset", "--quiet"]);
    });
}

#[test]
fn an_index_that_is_broken_is_named_and_made_anew_by_what_is_advised() {
    check("cp /dev/null", "index file smaller than expected", |scene| {
        let index = scene.root().join(".git/index");
        std::fs::rename(&index, index.with_extension("broken")).expect("it can be moved away");
        scene.git(&["reset", "--quiet"]);
    });
}

/// Before anything starts: git's own advice, to commit what it takes for deleted, would lose all of it.
#[test]
fn an_index_that_is_missing_or_broken_at_the_start_is_named_whatever_is_allowed() {
    let cases: [(&str, &str); 4] = [
        ("rm", "is missing"),
        ("cp /dev/null", "is broken"),
        ("cp /bin/sh", "is broken"),
        ("sh -c 'rm \"$0\"; mkdir \"$0\"'", "is broken"),
    ];
    for (harm, told) in cases {
        for flags in [&["--jobs", "1"][..], &["--allow-dirty"]] {
            let scene = Scene::new(&members(2));
            let index = scene.root().join(".git/index");
            let harm = format!("{harm} '{}'", index.display());
            assert!(
                std::process::Command::new("sh").args(["-c", &harm]).status().expect("sh runs").success()
            );
            let run = scene.go(&worker(), flags).expect_code(2);
            assert!(run.stderr.contains(&format!("git's index {} {told}", index.display())), "{harm}: {run}");
            assert!(run.stderr.contains("git reset"), "{harm}: {run}");
            assert_eq!(scene.agent_calls().len(), 0, "{harm}: {run}");
        }
    }
}

//! What the pull request says of itself is kept up to date, and what people wrote is kept.

use testkit::forge::{Check, Sight};

use super::lifecycle::{LOG, threads};
use super::scratch::{PLAN, run, scratch};

#[test]
fn tasks_that_were_added_are_in_it() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|moment| match moment.push {
        1 => Sight { checks: vec![Check::failed("test", LOG)], ..Sight::default() },
        _ => Sight::default(),
    });
    let finished = run(&sandbox, &forge, &[]).expect_code(0);
    let body = forge.hub().pulls[0].body.clone();
    assert!(body.contains("| 5.2 Fix CI failure: "), "{body}\n{finished}");
    assert!(body.contains("| 1.1 First | ✓ |"), "{body}");
}

#[test]
fn what_people_wrote_around_it_or_in_it_is_kept() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { threads: threads(false), ..Sight::default() });
    let _ = run(&sandbox, &forge, &["--pr-cycles-max", "1"]).expect_code(1);
    let made = forge.hub().pulls[0].body.clone();
    forge.hub().pulls[0].body = format!("Dear reviewers!\r\n\r\n{}\r\nThanks.", made.replace('\n', "\r\n"));
    forge.shows(|_| Sight::default());
    let finished = run(&sandbox, &forge, &[]).expect_code(0);
    let body = forge.hub().pulls[0].body.clone();
    assert!(
        body.starts_with("Dear reviewers!\n\n<!-- tillgreen ") && body.ends_with("Thanks."),
        "{body}\n{finished}"
    );
    assert!(body.contains("| 5.2 Address review: mona"), "{body}");
    // Another task, after somebody rewrote the list by hand.
    let rewritten = body.replace("| 1.1 First |", "| 1.1 The first thing |");
    assert_ne!(rewritten, body);
    forge.hub().pulls[0].body = rewritten.clone();
    sandbox.spec(
        "demo",
        &format!("{}\n- [ ] 5.9 More\n  - **Verify**: `true`\n", sandbox.tasks("demo").trim_end()),
    );
    sandbox.commit_all("more tasks");
    run(&sandbox, &forge, &[]).expect_code(0);
    assert_eq!(forge.hub().pulls[0].body, rewritten);
}

#[test]
fn a_pull_request_of_somebody_else_keeps_its_text() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().open("feature", "main");
    forge.hub().pulls[0].body = "By hand.".to_owned();
    run(&sandbox, &forge, &[]).expect_code(0);
    assert_eq!(forge.hub().pulls[0].body, "By hand.");
}

//! Answers that are none: a proxy's login page, half a document, JSON without anything in it.

use testkit::forge::Sight;

use super::lifecycle::threads;
use super::scratch::{PLAN, run, scratch};

const NONSENSE: [&str; 5] = [
    "<html><body>Please log in to the hotel's network</body></html>",
    "",
    r#"{"data":{"repository":{"defaultBra"#,
    r#"{"data":null}"#,
    "[]",
];

/// The first look and the first push get nonsense for an answer, and then real ones.
#[test]
fn nonsense_is_waited_out() {
    for nonsense in NONSENSE {
        let Some((sandbox, forge)) = scratch(PLAN) else { return };
        forge.hub().garbled.extend([nonsense.to_owned(), nonsense.to_owned()]);
        let finished = run(&sandbox, &forge, &[]).expect_code(0);
        assert!(
            finished.stderr.contains("note: whether there can be a pull request is not known"),
            "{finished}"
        );
        assert!(finished.stderr.contains("the forge cannot be reached"), "{finished}");
        assert!(!finished.stderr.contains("is the branch that pull requests are merged into"), "{finished}");
        assert_eq!(forge.hub().pulls.len(), 1);
    }
}

#[test]
fn nonsense_for_long_pauses_the_run() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().garbled.extend((0..3).map(|_| NONSENSE[0].to_owned()));
    let finished = run(&sandbox, &forge, &["--infra-retries", "2"]).expect_code(6);
    assert!(finished.stderr.contains("paused: the forge cannot be reached"), "{finished}");
    assert!(finished.stderr.contains("hotel"), "{finished}");
    run(&sandbox, &forge, &[]).expect_code(0);
}

/// Nonsense in the midst of things is neither "no checks" nor "no threads" nor "not answered yet".
#[test]
fn nonsense_now_and_then_changes_nothing() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().garbles_every = 7;
    forge.shows(|moment| match moment.push {
        1 => Sight { threads: threads(false), ..Sight::default() },
        _ => Sight { threads: threads(moment.answers > 0), ..Sight::default() },
    });
    let finished = run(&sandbox, &forge, &["--pr-reply", "--infra-retries", "100"]).expect_code(0);
    let hub = forge.hub();
    assert_eq!((hub.pulls.len(), hub.answers.len()), (1, 2), "{finished}");
}

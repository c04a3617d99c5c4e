//! What agents claim, what commands print, what settings say.

use std::hint::black_box;

use engine::{Claim, Dialect, Reading, Role};

use super::{expect_harmless, in_two};

/// The characters that are shown of an output.
const EXCERPT_CHARS_MAX: usize = 2_000;

/// An agent's final message, a structured result among it. No word of success in it, no success.
pub(super) fn claims(data: &[u8]) {
    let message = String::from_utf8_lossy(data);
    let has_word = ["TASK_COMPLETE", "VERIFICATION_PASS"].iter().any(|word| message.contains(word));
    for role in [Role::Executor, Role::Qa, Role::Reviewer] {
        for dialect in [Dialect::Spec, Dialect::Phase] {
            let claim = Claim::read(&message, dialect, role);
            let needs_word = dialect == Dialect::Spec || role != Role::Executor;
            assert!(claim != Claim::Complete || has_word || !needs_word, "{role:?} {message:?}");
        }
    }
    black_box(engine::contradiction(&message));
    drop((plan::read_yaml(&message), plan::read_yaml_leniently(&message)));
    expect_harmless(&plan::harmless_lines(&message));
    for line in [plan::one_line(&message), plan::summary(&message)] {
        expect_harmless(&line);
        assert!(!line.contains(['\n', '\t', '`']), "{line:?}");
    }
    black_box(runner::mask(&message));
}

/// The output of a red command, and that of the same one later.
pub(super) fn outputs(data: &[u8]) {
    let (before, after) = in_two(data);
    let [before, after] = [before, after].map(|output| {
        let read = Reading::of(&output, "/project", EXCERPT_CHARS_MAX);
        assert!(read.error.as_ref().is_none_or(|error| !error.contains('\n') && !error.trim().is_empty()));
        assert!(read.excerpt.chars().count() <= EXCERPT_CHARS_MAX, "{}", read.excerpt);
        assert_eq!(Reading::of(&output, "/project", EXCERPT_CHARS_MAX), read);
        read
    });
    assert!(!engine::is_repaired(&before.failing, &before.failing), "{before:?}");
    black_box(engine::is_repaired(&before.failing, &after.failing));
}

/// A `tillgreen.toml`.
pub(super) fn settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(problem) = tillgreen::settings_problem(&text) {
        expect_harmless(&problem);
        assert!(problem.starts_with("error: ") && problem.ends_with('\n'), "{problem:?}");
    }
}

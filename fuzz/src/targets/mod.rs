//! The targets: what has to hold of everything that reads what others wrote, for whatever bytes. Fuzzers call them, and
//! tests of the program do with what fuzzers found.
//!
//! A text of two parts has a NUL between them.

mod journals;
mod outputs;
#[path = "../../../crates/plan/tests/it/phase_expect.rs"]
mod phase_expect;
#[path = "../../../crates/plan/tests/it/expect.rs"]
mod plan_expect;
mod plans;
mod streams;

/// A target; it panics where something does not hold.
pub(crate) type Target = fn(&[u8]);

/// Every target by its name.
pub(crate) const ALL: [(&str, Target); 10] = [
    ("tasks", plans::tasks),
    ("phases", plans::phases),
    ("foreign", plans::foreign),
    ("imports", plans::imports),
    ("journals", journals::raw),
    ("events", journals::events),
    ("streams", streams::streams),
    ("claims", outputs::claims),
    ("outputs", outputs::outputs),
    ("settings", outputs::settings),
];

/// A text, and what comes after the first NUL in it.
fn in_two(data: &[u8]) -> (String, String) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let mut text = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    (text(), text())
}

/// Expects a text that was made harmless to be so.
#[track_caller]
fn expect_harmless(text: &str) {
    assert_eq!(plan::harmless_lines(text), text);
}

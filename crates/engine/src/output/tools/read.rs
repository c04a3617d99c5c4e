//! All readers together.

use super::{diagnostics, go, java, javascript, node_test, php, python, ruby, rust, wrapper};
use crate::output::reading::Found;

/// A reader of a tool's output, with what is in any output that it finds something in.
type Reader = (&'static [&'static str], fn(&[&str], &mut Found));

/// The tools that run tests.
const TEST_RUNNERS: &[Reader] = &[
    (&[".py", " passed in ", " skipped in "], python::pytest),
    (&["===\nFAIL: ", "===\nERROR: ", "Ran "], python::unittest),
    (&["  ● ", "Tests:", "No tests found"], javascript::jest),
    (&["FAIL  ", "Tests  ", "No test files found"], javascript::vitest),
    (&[" passing", " failing", "Exception during run: "], javascript::mocha),
    (&["not ok ", "# pass "], node_test::tap),
    (&["✖ failing tests:", "ℹ pass "], node_test::spec),
    (&["test result: ", " stdout ----", " ... FAILED"], rust::libtest),
    (&["--- FAIL: ", "ok  \t", "FAIL\t", "[no test files]"], go::test),
    (&["Tests run:", "<<< "], java::maven),
    (&[" FAILED", " completed, "], java::gradle),
    (&["Failures:", "occurred while loading ", " examples, "], ruby::rspec),
    (&["Assertions: ", ") ", " ✘ ", "PHP ", "No tests executed!"], php::phpunit),
];

/// Finds what fails in an output. What a test shows of another tool's output is no failure of that tool, and a program
/// that runs others has failed itself only where nothing inside has.
pub(in crate::output) fn read(text: &str, lines: &[&str], found: &mut Found) {
    for (signs, reader) in TEST_RUNNERS {
        if signs.iter().any(|sign| text.contains(sign)) {
            reader(lines, found);
        }
    }
    let mut checkers = Found::default();
    diagnostics::read(lines, &mut checkers);
    let mut is_shown = vec![false; lines.len()];
    for finding in &found.findings {
        is_shown[finding.lines.clone()].fill(true);
    }
    found.take_in(checkers, &is_shown);
    if found.findings.is_empty() {
        wrapper::read(lines, found);
    }
}

//! `go test`; what `go build` and `go vet` say is among the diagnostics.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::output::failing::Tool;
use crate::output::reading::Found;
use crate::output::text::{Place, end_of_block, indent};

/// A failing test whose package is not told yet.
struct Test {
    name: String,
    reason: String,
    lines: Range<usize>,
}

/// `--- FAIL: TestAdd (0.00s)`, with what it logged below it, or before it where all is shown. The package comes last.
pub(super) fn test(lines: &[&str], found: &mut Found) {
    let mut pending: Vec<Test> = Vec::new();
    let mut logged: BTreeMap<&str, &str> = BTreeMap::new();
    let mut running = "";
    let mut packages = None;
    let mut is_complete = true;
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = running_test(line) {
            running = name;
        } else if is_log(line) && !running.is_empty() {
            logged.entry(running).or_insert_with(|| line.trim());
        } else if let Some(name) = failed_test(line) {
            let test = test_at(lines, (at, name), &logged);
            // A test has failed because of the tests in it.
            pending.extend(test);
        } else if let Some(package) = package(line) {
            packages = Some(packages.unwrap_or(0) + u32::from(!line.ends_with("[no tests to run]")));
            add(found, &mut pending, Some(package));
            (logged, running) = (BTreeMap::new(), "");
        } else if line.starts_with("?") && line.ends_with("\t[no test files]") {
            packages = Some(packages.unwrap_or(0));
        }
        is_complete &= !line.starts_with("panic: ");
    }
    add(found, &mut pending, None);
    if let Some(packages) = packages.filter(|_| is_complete) {
        found.ran(Tool::GoTest, packages);
    }
}

fn running_test(line: &str) -> Option<&str> {
    ["=== RUN   ", "=== NAME  ", "=== CONT  "].iter().find_map(|mark| line.strip_prefix(mark))
}

/// `    calc_test.go:7: Add(2, 2) = 0, want 4`.
fn is_log(line: &str) -> bool {
    indent(line) >= 4 && Place::read(line.trim_start()).is_some_and(|place| place.file.ends_with(".go"))
}

fn failed_test(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("--- FAIL: ")?;
    Some(rest.rsplit_once(" (").map_or(rest, |(name, _)| name))
}

/// The package of a line that begins with `ok` or `FAIL` and goes on with tabs; one that was not built did not run.
fn package(line: &str) -> Option<&str> {
    let mut parts = line.split('\t');
    let verdict = parts.next()?.trim_end();
    let package = parts.next()?;
    let is_run = matches!(verdict, "ok" | "FAIL") && !package.ends_with(" failed]");
    is_run.then_some(package)
}

fn test_at(lines: &[&str], (at, name): (usize, &str), logged: &BTreeMap<&str, &str>) -> Option<Test> {
    let depth = indent(lines[at]);
    let ends = |line: &str| {
        let is_outside = indent(line) <= depth && failed_test(line).is_some();
        is_outside
            || line == "FAIL"
            || line.starts_with("FAIL\t")
            || line.starts_with("=== ")
            || line == "PASS"
    };
    let end = end_of_block(lines, at + 1, ends);
    let body = &lines[at + 1..end];
    let is_inside =
        |line: &str| failed_test(line).is_some_and(|inner| inner.starts_with(&format!("{name}/")));
    if body.iter().any(|line| is_inside(line)) {
        return None;
    }
    let told = body.iter().map(|line| line.trim()).find(|line| !line.is_empty());
    let told = told.filter(|line| !line.starts_with("--- ")).or_else(|| logged.get(name).copied());
    let reason = told.unwrap_or_default().trim_end_matches(" [recovered]").to_owned();
    Some(Test { name: name.to_owned(), reason, lines: at..end })
}

fn add(found: &mut Found, pending: &mut Vec<Test>, package: Option<&str>) {
    for test in pending.drain(..) {
        let name = package.map_or_else(|| test.name.clone(), |package| format!("{package}.{}", test.name));
        found.test(Tool::GoTest, &name, &test.reason, test.lines);
    }
}

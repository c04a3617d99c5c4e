//! Outputs of red commands: each recorded one with its error line, its failing items and what was seen to run.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{ItemStage, Reading};
use proptest::prelude::*;

const ROOT: &str = "/home/dev/project";
const EXCERPT_CHARS_MAX: usize = 2_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/output")
}

/// The recorded outputs by name.
#[expect(clippy::disallowed_methods, reason = "a test reads its fixtures")]
fn recorded() -> Vec<(String, String)> {
    let entries = fs::read_dir(folder()).expect("the fixtures are there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut outputs: Vec<(String, String)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("an output"))
        })
        .collect();
    outputs.sort();
    assert!(outputs.len() > 50, "the outputs were found");
    outputs
}

fn read(output: &str) -> Reading {
    Reading::of(output, ROOT, EXCERPT_CHARS_MAX)
}

/// What is read from an output, a line for each thing.
fn shown(reading: &Reading) -> String {
    let mut text = format!("error: {}\n", reading.error.as_deref().unwrap_or("none"));
    for item in &reading.failing.items {
        let stage = match item.stage {
            ItemStage::Build => "build",
            ItemStage::Check => "check",
            ItemStage::Test => "test",
        };
        let line = item.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let count = if item.count > 1 { format!(" x{}", item.count) } else { String::new() };
        writeln!(text, "{stage} {:?}: {}{line}{count}", item.tool, item.name).expect("a string takes it");
    }
    if !reading.failing.ran.is_empty() {
        writeln!(text, "ran: {:?}", reading.failing.ran).expect("a string takes it");
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its fixtures")]
fn what_each_recorded_output_says() {
    let expected = fs::read_to_string(folder().join("expected.md")).expect("what is expected");
    let mut sections: Vec<&str> = expected.split("## ").skip(1).collect();
    for (name, output) in recorded() {
        let at = sections.iter().position(|section| section.starts_with(&format!("{name}\n")));
        let section = at.map_or("", |at| sections.remove(at));
        let expected = section.split_once('\n').map_or("", |(_, expected)| expected).trim();
        assert_eq!(shown(&read(&output)).trim(), expected, "in {name}");
    }
    assert!(sections.is_empty(), "expected of outputs that are not there: {sections:?}");
}

#[test]
fn a_green_output_tells_whether_a_test_ran() {
    let node = |name: &str| format!("TAP version 13\n# Subtest: {name}\nok 1 - {name}\n# pass 1\n# fail 0\n");
    let (file, test) = (node("/home/dev/project/a.test.mjs"), node("adds"));
    let none = [
        "\n----\nRan 0 tests in 0.000s\n\nOK\n",
        "sss\n----\nRan 3 tests in 0.000s\n\nOK (skipped=3)\n",
        "ss                     [100%]\n2 skipped in 0.01s\n",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out\n",
        "ok  \texample.com/calc\t0.003s [no tests to run]\n",
        "?   \texample.com/calc\t[no test files]\n",
        "No tests found, exiting with code 0\n",
        "Tests:       3 skipped, 3 total\n",
        "No test files found, exiting with code 0\n",
        "  0 passing (1ms)\n",
        "0 examples, 0 failures\n",
        "No tests executed!\n",
        "TAP version 13\n1..0\n# tests 0\n# pass 0\n# fail 0\n",
        "✔ a.test.mjs (93.6ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\n",
        &file,
    ];
    let some = [
        "",
        "all is well\n",
        "Found 0 errors.\n",
        "----\nRan 1 test in 0.000s\n\nOK\n",
        "2 passed, 1 skipped in 0.01s\n",
        "test result: ok. 0 passed; 0 failed\ntest result: ok. 3 passed; 0 failed\n",
        "?   \texample.com/cmd\t[no test files]\nok  \texample.com/calc\t0.003s\n",
        "Tests:       1 skipped, 2 passed, 3 total\n",
        "  2 passing (1ms)\n",
        "✔ a.test.mjs (9.6ms)\n✔ adds (1ms)\nℹ tests 2\nℹ pass 2\nℹ fail 0\n",
        &test,
    ];
    let says_so = |output: &&str| read(output).failing.ran_no_test();
    assert_eq!(none.into_iter().filter(|output| !says_so(output)).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(some.into_iter().filter(says_so).collect::<Vec<_>>(), [""; 0]);
}

/// What holds of every reading.
#[track_caller]
fn check_bounds(output: &str) -> Reading {
    let reading = read(output);
    let error = reading.error.as_deref().unwrap_or("none");
    assert!(!error.is_empty() && !error.contains('\n') && error.chars().count() <= 300, "{error}");
    assert!(reading.failing.items.len() <= 50, "{} items", reading.failing.items.len());
    for item in &reading.failing.items {
        assert!(!item.name.is_empty() && item.name.chars().count() <= 200, "{}", item.name);
    }
    let size = reading.excerpt.chars().count();
    assert!(size <= EXCERPT_CHARS_MAX, "{size} characters are shown of {output}");
    reading
}

#[test]
fn an_output_that_breaks_off_anywhere_is_read() {
    for (_, output) in recorded() {
        for (at, _) in output.match_indices('\n') {
            check_bounds(&output[..at]);
            check_bounds(&output[at..]);
        }
    }
}

#[test]
fn an_output_without_its_middle_does_not_say_all_that_fails() {
    for (name, output) in recorded().into_iter().filter(|(_, output)| output.lines().count() > 10) {
        let lines: Vec<&str> = output.lines().collect();
        let (head, tail) = (lines.len() / 3, lines.len() - lines.len() / 3);
        let cut = [&lines[..head], &["[4711 bytes left out]"], &lines[tail..]].concat().join("\n");
        let reading = check_bounds(&cut);
        assert!(reading.failing.unlisted > 0, "in {name}");
        assert_ne!(reading.error.as_deref(), Some("[4711 bytes left out]"), "in {name}");
    }
}

#[test]
fn the_excerpt_of_a_long_output_shows_what_fails_and_the_end() {
    let (_, failures) =
        recorded().into_iter().find(|(name, _)| name == "pytest-several").expect("it is there");
    let output = format!("{}{failures}", "collecting one more test module\n".repeat(500));
    let reading = check_bounds(&output);
    for shown in ["raise RuntimeError(\"no database\")", "assert add(2, 2) == 4", "1 error in 0.09s"] {
        assert!(reading.excerpt.contains(shown), "{shown} in {}", reading.excerpt);
    }
    assert_eq!(reading.failing, read(&failures).failing);
    assert_eq!(
        read(&failures[..300]).excerpt,
        failures[..300].trim_matches('\n'),
        "a short one is shown whole"
    );
    let unknown = format!("{}the end", "no news\n".repeat(1_000));
    assert!(read(&unknown).excerpt.ends_with("the end"));
    assert!(!read(&"x".repeat(100_000)).excerpt.is_empty());
}

#[test]
fn many_items_are_counted_and_not_listed() {
    let output: String = (0..5_000).map(|at| format!("src/{at}.c:1:2: error: no such thing\n")).collect();
    let reading = check_bounds(&output);
    assert_eq!((reading.failing.items.len(), reading.failing.unlisted), (50, 4_950));
    let twice = "a.c:1:2: error: no\na.c:9:2: error: no\na.c:9:2: error: no\n";
    let item = read(twice).failing.items.remove(0);
    assert_eq!((item.name.as_str(), item.line, item.count), ("a.c: error: no", Some(1), 2));
}

fn pieces() -> Vec<String> {
    let lines =
        recorded().into_iter().flat_map(|(_, output)| output.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read(text in "(?s).{0,400}", line in "[ -~✖●⎯›\u{1b}\r\t]{0,80}\n[:()\\[\\] 0-9a-z.]{0,40}") {
        check_bounds(&text);
        check_bounds(&line);
    }

    #[test]
    fn any_mixture_of_lines_is_read(places in prop::collection::vec(any::<prop::sample::Index>(), 0..120)) {
        let pieces = pieces();
        let lines: Vec<&str> = places.iter().map(|place| place.get(&pieces).as_str()).collect();
        check_bounds(&lines.join("\n"));
    }
}

mod repaired {
    use engine::{Failing, Item, ItemStage, Tool, is_repaired};

    const BUILD: (Tool, ItemStage) = (Tool::Rustc, ItemStage::Build);
    const LINT: (Tool, ItemStage) = (Tool::Ruff, ItemStage::Check);
    const TEST: (Tool, ItemStage) = (Tool::CargoTest, ItemStage::Test);

    /// What fails, how often, and how many tests were run.
    fn failing(items: &[((Tool, ItemStage), &str)], ran: &[(Tool, u32)]) -> Failing {
        let items = items.iter().map(|((tool, stage), name)| Item {
            tool: *tool,
            stage: *stage,
            name: (*name).to_owned(),
            line: Some(1),
            count: 1,
        });
        Failing { items: items.collect(), unlisted: 0, ran: ran.iter().copied().collect() }
    }

    #[track_caller]
    fn check(before: &Failing, after: &Failing, expected: bool) {
        assert_eq!(is_repaired(before, after), expected, "{before:?} and then {after:?}");
    }

    #[test]
    fn tests_that_pass_now() {
        let before = failing(&[(TEST, "a"), (TEST, "b")], &[(Tool::CargoTest, 5)]);
        for (now, ran, expected) in [
            (&["c"][..], 5, true),
            (&["c", "d"][..], 9, true),
            (&["b"][..], 5, false),
            (&["a", "b"][..], 5, false),
            // Fewer were run: deleted, skipped or not reached.
            (&["c"][..], 4, false),
        ] {
            let items: Vec<_> = now.iter().map(|name| (TEST, *name)).collect();
            check(&before, &failing(&items, &[(Tool::CargoTest, ran)]), expected);
        }
        check(&before, &failing(&[(TEST, "c")], &[]), false);
    }

    #[test]
    fn stages() {
        let counted = [(Tool::CargoTest, 5)];
        let (build, test) = (failing(&[(BUILD, "x")], &[]), failing(&[(TEST, "a")], &counted));
        check(&build, &test, true);
        check(&test, &build, false);
        check(&build, &failing(&[(BUILD, "y")], &[]), false);
        check(&build, &failing(&[(BUILD, "y"), (TEST, "a")], &counted), false);
        let both = failing(&[(BUILD, "x"), (TEST, "a")], &[(Tool::CargoTest, 3)]);
        check(&both, &failing(&[(TEST, "b")], &counted), true);
        check(&both, &test, false);
    }

    #[test]
    fn checkers_that_looked_at_everything() {
        let before = failing(&[(LINT, "a.py: F401")], &[(Tool::Ruff, 0)]);
        check(&before, &failing(&[(LINT, "b.py: F401")], &[(Tool::Ruff, 0)]), true);
        check(&before, &failing(&[(TEST, "a")], &[(Tool::Ruff, 0), (Tool::CargoTest, 1)]), true);
        // Nobody knows which of the two runs first.
        check(&before, &failing(&[(TEST, "a")], &[(Tool::CargoTest, 1)]), false);
    }

    #[test]
    fn what_cannot_be_told_apart_is_red() {
        let known = failing(&[(TEST, "a")], &[(Tool::CargoTest, 1)]);
        let other = failing(&[(TEST, "b")], &[(Tool::CargoTest, 1)]);
        check(&Failing::default(), &known, false);
        check(&known, &Failing::default(), false);
        check(&Failing { unlisted: 1, ..known.clone() }, &other, false);
        check(&known, &Failing { unlisted: 1, ..other.clone() }, false);
        check(&known, &other, true);
    }

    #[test]
    fn lines_do_not_matter_and_places_are_counted() {
        let at = |line: u32, count: u32| {
            let item =
                Item { line: Some(line), count, ..failing(&[(LINT, "a.py: F401")], &[]).items.remove(0) };
            Failing { items: vec![item], unlisted: 0, ran: [(Tool::Ruff, 0)].into() }
        };
        check(&at(3, 1), &at(9, 1), false);
        check(&at(3, 2), &at(3, 1), false);
    }
}

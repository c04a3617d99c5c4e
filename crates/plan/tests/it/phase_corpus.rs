//! Real `*-PLAN.md` files. They are read in place and are no part of the project; without them this says so
//! and passes.

use std::collections::BTreeMap;

use plan::{Dialect, Plan, TaskType, Verify};
use serde_json::Value as Json;

use crate::phase_expect::{is_never_written, lossless};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/plans");

/// What another parser found in a file.
struct Indexed {
    file: String,
    types: BTreeMap<String, u64>,
    names: Vec<String>,
}

#[expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read files and print")]
fn for_each_file(check: impl Fn(&Indexed, &str)) -> usize {
    let Ok(index) = std::fs::read_to_string(format!("{FOLDER}/INDEX.jsonl")) else {
        eprintln!("skipped: no real plans at {FOLDER}");
        return 0;
    };
    for line in index.lines() {
        let indexed = indexed(line);
        let bytes = std::fs::read(format!("{FOLDER}/{}", indexed.file)).expect("a readable file");
        check(&indexed, &String::from_utf8_lossy(&bytes));
    }
    index.lines().count()
}

fn indexed(line: &str) -> Indexed {
    let json: Json = serde_json::from_str(line).expect("a line of JSON");
    let types = json["types"].as_object().expect("an object");
    let names = json["names"].as_array().expect("an array");
    Indexed {
        file: json["file"].as_str().expect("a name").to_owned(),
        types: types.iter().map(|(name, count)| (name.clone(), count.as_u64().expect("a number"))).collect(),
        names: names.iter().map(|name| name.as_str().expect("a name").to_owned()).collect(),
    }
}

/// The part of a file's name that is its own; owner and repository come before it.
fn hint(file: &str) -> &str {
    file.rsplit("__").next().unwrap_or(file)
}

fn type_name(type_: TaskType) -> &'static str {
    match type_ {
        TaskType::Auto => "auto",
        TaskType::Tdd => "tdd",
        TaskType::HumanVerify => "checkpoint:human-verify",
        TaskType::Decision => "checkpoint:decision",
        TaskType::HumanAction => "checkpoint:human-action",
    }
}

/// Files in which this program sees other tasks than the index, each looked at, and why it is right.
const ACCEPTED: &[(&str, &str)] = &[(
    "Atypical-Consulting__FlowForge__22-new-content-blades-22-09-PLAN.md",
    "the file has four tasks, none of them inside another or in code; the index misses one",
)];

#[test]
fn tasks_are_those_of_the_index() {
    for_each_file(|indexed, text| {
        let plan = lossless(text, hint(&indexed.file));
        assert_eq!(plan.dialect(), Dialect::Phase);
        if ACCEPTED.iter().any(|(file, _)| *file == indexed.file) {
            return;
        }
        let titles: Vec<&str> = plan.tasks().iter().map(|task| plan.title(task)).collect();
        assert_eq!(titles.len(), indexed.names.len(), "{}: {titles:?}", indexed.file);
        for (title, name) in titles.iter().zip(&indexed.names) {
            assert!(name.is_empty() || title == name, "{}: {title:?}, not {name:?}", indexed.file);
        }
        let mut types = BTreeMap::new();
        for task in plan.tasks() {
            *types.entry(type_name(task.type_).to_owned()).or_insert(0) += 1;
        }
        let mut expected = BTreeMap::new();
        for (name, count) in &indexed.types {
            let name = if matches!(name.as_str(), "(none)" | "test-first") { "auto" } else { name };
            *expected.entry(name.to_owned()).or_insert(0) += count;
        }
        assert_eq!(types, expected, "{}", indexed.file);
    });
}

#[test]
fn edits_are_refused() {
    for_each_file(|indexed, text| {
        is_never_written(&Plan::parse_phase(text.to_owned(), hint(&indexed.file)));
    });
}

#[test]
fn line_endings_make_no_difference() {
    for_each_file(|indexed, text| {
        let unix = Plan::parse_phase(text.replace("\r\n", "\n"), hint(&indexed.file));
        let dos = lossless(&unix.text().replace('\n', "\r\n"), hint(&indexed.file));
        assert_eq!(unix.tasks().len(), dos.tasks().len(), "{}", indexed.file);
        assert_eq!(unix.front_matter(), dos.front_matter(), "{}", indexed.file);
        for (left, right) in unix.tasks().iter().zip(dos.tasks()) {
            assert_eq!((&left.id, left.type_, left.line), (&right.id, right.type_, right.line));
            assert_eq!(unix.title(left), dos.title(right));
            assert_eq!(unix.fields(left), dos.fields(right), "{} {}", indexed.file, left.id);
            if let Verify::Runnable(script) = unix.verify(left) {
                assert_eq!(dos.verify(right), Verify::Runnable(script), "{} {}", indexed.file, left.id);
            }
        }
    });
}

/// The classes as they were judged by reading samples of each; a change here is to be looked at.
#[test]
fn how_real_tasks_are_verified() {
    let counts = std::cell::Cell::new((0, 0, 0));
    let files = for_each_file(|indexed, text| {
        let plan = Plan::parse_phase(text.to_owned(), hint(&indexed.file));
        for task in plan.tasks() {
            let (runnable, prose, absent) = counts.get();
            counts.set(match plan.verify(task) {
                Verify::Runnable(_) => (runnable + 1, prose, absent),
                Verify::Prose(_) => (runnable, prose + 1, absent),
                Verify::Absent => (runnable, prose, absent + 1),
            });
        }
    });
    if files == 353 {
        assert_eq!(counts.get(), (508, 256, 137));
    }
}

/// Front matter that says where a plan belongs, and a question at every checkpoint.
#[test]
fn plans_say_what_they_are() {
    for_each_file(|indexed, text| {
        let plan = Plan::parse_phase(text.to_owned(), hint(&indexed.file));
        let id = plan.plan_id().expect("an id");
        assert!(!id.is_empty() && !id.contains(char::is_whitespace), "{}: {id}", indexed.file);
        if let Some(front_matter) = plan.front_matter().filter(|found| found.type_ != "quick") {
            assert!(!front_matter.plan.is_empty(), "{}", indexed.file);
        }
        for task in plan.tasks().iter().filter(|task| task.type_.is_checkpoint()) {
            assert!(plan.question(task).lines().count() > 4, "{} {}", indexed.file, task.id);
        }
    });
}

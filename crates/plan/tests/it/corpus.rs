//! Real plans. They are read in place and are no part of the project; without them this says so and passes.

use std::path::Path;

use plan::{Format, Plan, Verify};

use crate::expect;

#[expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read files and print")]
fn for_each_file(check: impl Fn(&str, &str)) -> usize {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/tasks");
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("skipped: no real plans at {folder}");
        return 0;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    for path in &paths {
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("a readable file")).into_owned();
        check(&path.file_name().expect("a file").to_string_lossy(), &text);
    }
    paths.len()
}

#[test]
fn plans_with_fields_are_told_from_those_of_other_tools() {
    let others = std::cell::RefCell::new(Vec::<String>::new());
    for_each_file(|name, text| {
        let format = Format::of(Path::new("specs/demo/tasks.md"), text);
        if format != Format::Spec {
            others.borrow_mut().push(format!("{name} {format:?}"));
        }
    });
    // One of them is a plan of spec-kit: tasks called T001, and no field in it.
    let others = others.into_inner();
    assert!(others.len() <= 1 && others.iter().all(|other| other.ends_with(" SpecKit")), "{others:?}");
}

#[test]
fn nothing_is_lost_and_every_box_can_be_ticked() {
    for_each_file(|_, text| {
        let plan = expect::lossless(text);
        assert!(!plan.tasks().is_empty());
        for task in plan.tasks().iter().step_by(3) {
            expect::ticks(&plan, &task.id);
        }
    });
}

#[test]
fn every_task_can_get_a_fix_that_inherits_its_verification() {
    for_each_file(|name, text| {
        let plan = Plan::parse(text.to_owned());
        for task in plan.tasks().iter().step_by(5) {
            let fixed = expect::gains_one_fix(&plan, &task.id, "- [ ] 9.9 Expected `1`\n**Verify**: true")
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let fix = fixed.task(&plan.next_fix_id(&task.id)).unwrap();
            match (plan.verify(task), fixed.verify(fix)) {
                (Verify::Runnable(before), Verify::Runnable(after)) => {
                    assert_eq!(before, after, "{name} {}", task.id)
                }
                (Verify::Prose(_) | Verify::Absent, Verify::Prose(_) | Verify::Absent) => {}
                (before, after) => panic!("{name} {}: {before:?} became {after:?}", task.id),
            }
        }
    });
}

#[test]
fn line_endings_make_no_difference() {
    for_each_file(|name, text| {
        let unix = Plan::parse(text.replace("\r\n", "\n"));
        let dos = expect::lossless(&text.replace("\r\n", "\n").replace('\n', "\r\n"));
        assert_eq!(unix.tasks().len(), dos.tasks().len(), "{name}");
        for (left, right) in unix.tasks().iter().zip(dos.tasks()) {
            assert_eq!((&left.id, left.state, unix.title(left)), (&right.id, right.state, dos.title(right)));
            assert_eq!(unix.fields(left), dos.fields(right), "{name} {}", left.id);
            if let Verify::Runnable(script) = unix.verify(left) {
                assert_eq!(dos.verify(right), Verify::Runnable(script), "{name} {}", left.id);
            }
        }
        let first = &dos.tasks()[0].id;
        let fixed = expect::gains_one_fix(&dos, first, "e").unwrap();
        assert_eq!(fixed.text().matches('\n').count(), fixed.text().matches("\r\n").count());
    });
}

/// The classes as they were judged by reading samples of each; a change here is to be looked at.
#[test]
fn how_real_tasks_are_verified() {
    let counts = std::cell::Cell::new((0, 0, 0));
    let files = for_each_file(|_, text| {
        let plan = Plan::parse(text.to_owned());
        for task in plan.tasks() {
            let (runnable, prose, absent) = counts.get();
            counts.set(match plan.verify(task) {
                Verify::Runnable(_) => (runnable + 1, prose, absent),
                Verify::Prose(_) => (runnable, prose + 1, absent),
                Verify::Absent => (runnable, prose, absent + 1),
            });
        }
    });
    if files == 177 {
        assert_eq!(counts.get(), (3633, 612, 70));
    }
}

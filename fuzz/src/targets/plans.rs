//! Plans: what is read is written back byte for byte, and an edit changes its own lines alone, whatever it says.

use std::collections::BTreeSet;
use std::path::Path;

use plan::import::{Address, Imported, Tracker};
use plan::{Beside, BoxState, ErrorType, FixTask, Format, Plan, Reading, RequestTask, Task, TaskId};

use super::{in_two, phase_expect, plan_expect};

/// When something was told to be done.
const NOW: &str = "2026-01-01T00:00:00Z";

/// The task that is edited: one, as each edit reads the whole plan again.
fn chosen<'a>(plan: &'a Plan, data: &[u8]) -> Option<&'a Task> {
    plan.tasks().get(data.len() % plan.tasks().len().max(1))
}

/// A `tasks.md`, and hostile text that is written into it.
pub(super) fn tasks(data: &[u8]) {
    let (text, words) = in_two(data);
    let plan = plan_expect::lossless(&text);
    let Some(task) = chosen(&plan, data) else { return };
    plan_expect::ticks(&plan, &task.id);
    // Where the text around does not allow a fix, it is refused and nothing changes.
    if let Ok(fixed) = plan_expect::gains_one_fix(&plan, &task.id, &words) {
        drop(plan_expect::gains_one_fix(&fixed, &plan.next_fix_id(&task.id), &words));
    }
    gains_one_beside(&plan, task, &words);
}

/// A `*-PLAN.md`, and its path.
pub(super) fn phases(data: &[u8]) {
    let (text, path) = in_two(data);
    phase_expect::is_never_written(&phase_expect::lossless(&text, &path));
    drop((plan::read_yaml(&text), plan::read_yaml_leniently(&text)));
}

/// The plans of other tools, and hostile text that is written into them.
pub(super) fn foreign(data: &[u8]) {
    let (text, words) = in_two(data);
    let formats = [Format::SpecKit, Format::OpenSpec, Format::Kiro];
    for format in formats {
        drop(Plan::parse_as(Reading::of(format), text.clone(), Path::new("")));
    }
    let format = formats[words.len() % formats.len()];
    let plan = plan_expect::foreign(&text, format);
    let Some(task) = chosen(&plan, data) else { return };
    ticks_boxes_alone(&plan, task);
    gains_one_beside(&plan, task, &words);
    gains_one_foreign_fix(&plan, task, &words);
}

/// What a tracker keeps: each item becomes one task, and telling that all is done makes all done and nothing else.
pub(super) fn imports(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    for tracker in [Tracker::TaskMaster, Tracker::Prd, Tracker::Beads, Tracker::GitHub] {
        let Ok(mut listing) = tracker.read(&text) else { continue };
        assert_eq!(listing.with_done(&text, &BTreeSet::new(), NOW), text, "{tracker:?}");
        let all: BTreeSet<String> = listing.items.iter().map(|item| item.id.clone()).collect();
        let told = listing.with_done(&text, &all, NOW);
        if tracker != Tracker::GitHub {
            let again = tracker.read(&told).expect("what was read before");
            assert!(again.outstanding(&all).is_empty(), "{tracker:?}: {told}");
            assert_eq!(again.items.len(), listing.items.len(), "{tracker:?}: {told}");
        }
        let imported = Imported { address: Address::File("tasks.json".to_owned()), branch: None };
        let plan = plan::import::write("demo", &imported, &mut listing);
        assert_eq!(plan.tasks().len(), listing.items.len(), "{tracker:?}: {}", plan.text());
        assert_eq!(Plan::parse(plan.text().to_owned()).text(), plan.text());
    }
}

/// Ticks a task: its own box, those of its steps and those of groups above it, and no other byte.
fn ticks_boxes_alone(plan: &Plan, task: &Task) {
    let mut ticked = plan.clone();
    ticked.tick(&task.id).expect("a known task");
    assert_eq!(ticked.task(&task.id).map(|task| task.state), Some(BoxState::Done));
    if task.is_header() {
        return;
    }
    others_are_as_before(plan, &ticked, &task.id);
    assert_eq!(plan.text().lines().count(), ticked.text().lines().count());
    for (before, after) in plan.text().lines().zip(ticked.text().lines()) {
        one_box_differs(before, after);
    }
}

#[track_caller]
fn one_box_differs(before: &str, after: &str) {
    if before == after {
        return;
    }
    let start = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
    let end = |line: &str| line[start..].find(']').map(|end| start + end);
    let ends = end(before).zip(end(after));
    let (is_box, rest) = match ends {
        Some((of_before, of_after)) => {
            (before[..start].ends_with('['), before[of_before..] == after[of_after..])
        }
        None => (false, false),
    };
    assert!(is_box && rest, "{before:?} became {after:?}");
}

/// Expects that all tasks but these are as they were.
#[track_caller]
fn others_are_as_before(plan: &Plan, edited: &Plan, except: &TaskId) {
    let others = edited.tasks().iter().filter(|task| task.id != *except);
    let before = plan.tasks().iter().filter(|task| task.id != *except);
    let seen = |task: &Task| (task.id.clone(), task.state, task.markers.clone());
    assert_eq!(before.map(seen).collect::<Vec<_>>(), others.map(seen).collect::<Vec<_>>());
}

fn gains_one_foreign_fix(plan: &Plan, failing: &Task, error: &str) {
    let id = plan.next_fix_id(&failing.id);
    let mut fixed = plan.clone();
    let fix =
        FixTask { id: &id, failing: &failing.id, error, attempted_fix: Some(error), kind: ErrorType::Error };
    match fixed.insert_fix(&fix) {
        Ok(()) => gained_one(plan, &fixed, &id),
        Err(_) => assert_eq!(fixed.text(), plan.text()),
    }
}

fn gains_one_beside(plan: &Plan, task: &Task, words: &str) {
    let details: Vec<String> = words.lines().map(str::to_owned).collect();
    let id = plan.next_fix_id(&task.id);
    let request = RequestTask {
        id: &id,
        title: words,
        goal: words,
        details: &details,
        files: &details,
        done_when: words,
        verify: None,
        commit: words,
    };
    for place in [Beside::Before, Beside::After] {
        let mut edited = plan.clone();
        match edited.insert_beside(&request, place, &task.id) {
            Ok(()) => gained_one(plan, &edited, &id),
            Err(_) => assert_eq!(edited.text(), plan.text()),
        }
    }
}

/// Expects that a plan has gained this one task, in lines of its own.
#[track_caller]
fn gained_one(plan: &Plan, edited: &Plan, id: &TaskId) {
    assert_eq!(edited.tasks().len(), plan.tasks().len() + 1);
    assert_eq!(edited.task(id).map(|task| task.state), Some(BoxState::Open));
    others_are_as_before(plan, edited, id);
    let mut rest = edited.text();
    for line in plan.text().split_inclusive('\n') {
        let line = line.trim_end_matches(['\r', '\n']);
        let found = rest.find(line).unwrap_or_else(|| panic!("{line:?} is gone"));
        rest = &rest[found + line.len()..];
    }
}

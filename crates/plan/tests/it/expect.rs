//! What must hold of every plan, whatever its text.

use std::path::Path;

use plan::{BoxState, EditError, ErrorType, FixTask, Format, Optional, Plan, Reading, TaskId};

/// Checks everything that can be checked without knowing what the text means.
pub(crate) fn lossless(text: &str) -> Plan {
    let plan = Plan::parse(text.to_owned());
    assert_eq!(plan.text(), text);
    for task in plan.tasks() {
        assert!(text.contains(plan.block(task)) && plan.block(task).contains(plan.title(task)));
        assert_eq!(plan.task(&task.id), Some(task));
        drop(plan.fields(task));
        drop(plan.verify(task));
    }
    drop(plan.lint());
    for format in [Format::SpecKit, Format::OpenSpec, Format::Kiro, Format::Imported] {
        foreign(text, format);
    }
    plan
}

/// Checks the same of a text that is read as another tool's plan.
pub(crate) fn foreign(text: &str, format: Format) -> Plan {
    let reading = Reading { format, optional: Optional::Included };
    let plan = Plan::parse_as(reading, text.to_owned(), Path::new(""));
    assert_eq!(plan.text(), text);
    for task in plan.tasks() {
        assert!(text.contains(plan.block(task)) && plan.block(task).contains(plan.title(task)));
        assert_eq!(plan.task(&task.id), Some(task));
        drop((plan.fields(task), plan.proof(task), plan.groups_of(task)));
    }
    plan.boxes().iter().for_each(|other| assert!(text.contains(plan.words(other))));
    drop(plan.lint());
    plan
}

/// Ticks and unticks a task and checks that nothing but its box changes.
pub(crate) fn ticks(plan: &Plan, id: &TaskId) {
    let before = plan.task(id).expect("the task is in the plan").clone();
    let mut ticked = plan.clone();
    ticked.tick(id).expect("a known task");
    assert_eq!(ticked.tasks().len(), plan.tasks().len());
    for (old, new) in plan.tasks().iter().zip(ticked.tasks()) {
        let expected = if old.id == *id { BoxState::Done } else { old.state };
        assert_eq!((new.state, &new.id, &new.markers), (expected, &old.id, &old.markers));
        // A task with a heading may have a box elsewhere as well, as in a list below another heading.
        let open =
            |block: &str| if before.is_header() { block.replace("[x]", "[ ]") } else { block.to_owned() };
        assert!(old.id == *id || open(ticked.block(new)) == open(plan.block(old)));
    }
    if !before.is_header() {
        one_box_differs(plan.text(), ticked.text(), before.state);
    }
    let read_again = Plan::parse(ticked.text().to_owned());
    assert!(before.is_header() || read_again.tasks() == ticked.tasks());
    if before.state == BoxState::Open {
        ticked.untick(id).expect("a known task");
    } else {
        ticked.set_box(id, before.state).expect("a known task");
    }
    let capital = before.state == BoxState::Done;
    assert!(capital || before.is_header() || ticked.text() == plan.text());
    assert!(!before.is_header() || before.state != BoxState::Open || ticked.text() == plan.text());
}

fn one_box_differs(before: &str, after: &str, state: BoxState) {
    let common = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
    match state {
        BoxState::Done => assert_eq!(before, after),
        BoxState::Open | BoxState::Other(_) => {
            let rest = after[common..].strip_prefix("x]").expect("a tick inside a box");
            let mark = before.len() - rest.len() - common - 1;
            assert_eq!(&before[common + mark..], format!("]{rest}"));
            assert_eq!(before[common..common + mark].chars().count(), 1);
        }
    }
}

/// Inserts a fix task and checks that it is the only thing that the text gained.
pub(crate) fn gains_one_fix(plan: &Plan, failing: &TaskId, error: &str) -> Result<Plan, EditError> {
    let id = plan.next_fix_id(failing);
    let mut fixed = plan.clone();
    fixed.insert_fix(&FixTask {
        id: &id,
        failing,
        error,
        attempted_fix: Some(error),
        kind: ErrorType::of(error),
    })?;
    let position = fixed.position(&id).expect("the fix is in the plan");
    let fix = &fixed.tasks()[position];
    assert_eq!(fix.markers.fix_of.as_deref(), Some(failing.name()));
    assert_eq!(fix.state, BoxState::Open);
    assert!(position > fixed.position(failing).expect("the failing task is still there"));
    let others: Vec<_> = fixed.tasks().iter().filter(|task| task.id != id).collect();
    assert_eq!(others.len(), plan.tasks().len());
    for (old, new) in plan.tasks().iter().zip(others) {
        assert_eq!(
            (&old.id, old.state, &old.markers, old.phase),
            (&new.id, new.state, &new.markers, new.phase)
        );
        assert_eq!(plan.block(old), fixed.block(new));
    }
    let at = plan.text().bytes().zip(fixed.text().bytes()).take_while(|(left, right)| left == right).count();
    let gained = fixed.text().len() - plan.text().len();
    let end = (0..=at).rev().find(|&at| fixed.text().get(at + gained..) == plan.text().get(at..));
    let end = end.expect("without the fix the text is what it was");
    assert_eq!(&plan.text()[..end], &fixed.text()[..end]);
    Ok(fixed)
}

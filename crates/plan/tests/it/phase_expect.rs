//! What must hold of every `*-PLAN.md`, whatever its text.

use plan::{Dialect, EditError, ErrorType, FixTask, Plan, TaskId};

/// Checks everything that can be checked without knowing what the text means.
pub(crate) fn lossless(text: &str, hint: &str) -> Plan {
    let plan = Plan::parse_phase(text.to_owned(), hint);
    assert_eq!(plan.text(), text);
    assert_eq!(plan.dialect(), Dialect::Phase);
    let id = plan.plan_id().expect("every plan of this dialect has an id").to_owned();
    let lines: Vec<&str> = text.split('\n').collect();
    for (at, task) in plan.tasks().iter().enumerate() {
        assert_eq!(task.id, TaskId::new(&format!("{id}:task-{}", at + 1)));
        for spelled in [task.id.to_string(), format!("{id}-task-{}", at + 1), format!("{id}-{:02}", at + 1)] {
            assert_eq!(plan.find(&spelled), Some(task), "{spelled}");
        }
        let block = plan.block(task);
        assert!(block.starts_with("<task") && text.contains(block) && block.contains(plan.title(task)));
        assert!(lines[task.line - 1].contains("<task"));
        drop((plan.fields(task), plan.verify(task), plan.question(task), plan.choices(task)));
        assert!(plan.title(task).ends_with(plan.short_title(task)));
    }
    assert!(plan.problems().iter().all(|problem| (1..=lines.len()).contains(&problem.line)));
    drop(plan.lint());
    plan
}

/// Checks that no edit changes the plan.
pub(crate) fn is_never_written(plan: &Plan) {
    for task in plan.tasks().iter().take(3) {
        let mut edited = plan.clone();
        let refused = Err(EditError::NeverWritten { id: task.id.clone() });
        assert_eq!(edited.tick(&task.id), refused);
        assert_eq!(edited.untick(&task.id), refused);
        let id = plan.next_fix_id(&task.id);
        let fix =
            FixTask { id: &id, failing: &task.id, error: "e", attempted_fix: None, kind: ErrorType::Error };
        assert_eq!(edited.insert_fix(&fix), Err(EditError::NeverWritten { id: id.clone() }));
        assert_eq!(edited.text(), plan.text());
    }
}

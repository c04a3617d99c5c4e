//! The file in which a planner proposes commands: a line for each task, with its name, a colon and the command.

use plan::{Plan, Task, TaskId};

/// A proposed command.
pub(super) struct Proposed<'a> {
    /// The line in the file.
    pub(super) line: usize,
    pub(super) task: &'a Task,
    pub(super) command: &'a str,
}

/// The commands for tasks of a plan, and what is wrong with other lines, each by its number.
pub(super) fn read<'a>(text: &'a str, plan: &'a Plan) -> (Vec<Proposed<'a>>, Vec<(usize, String)>) {
    let mut proposed: Vec<Proposed<'_>> = Vec::new();
    let mut problems = Vec::new();
    let wanted = plan.unverified();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() {
            continue;
        }
        let Some((name, command)) = split(content) else {
            problems.push((line, "this is not a task's name, a colon and a command".to_owned()));
            continue;
        };
        let id = TaskId::new(name);
        let problem = match (plan.task(&id), wanted.iter().find(|task| task.id == id)) {
            (None, _) => format!("the plan has no task {name}"),
            (Some(task), None) if task.state.is_done() => format!("task {name} is done already"),
            (Some(_), None) => format!("task {name} has words of its own about how it is verified"),
            (Some(_), Some(_)) if proposed.iter().any(|other| other.task.id == id) => {
                format!("task {name} has a command already, in a line above")
            }
            (Some(_), Some(task)) => {
                proposed.push(Proposed { line, task, command });
                continue;
            }
        };
        problems.push((line, problem));
    }
    (proposed, problems)
}

/// The name and the command of a line, without what makes it an item of a list and code.
fn split(line: &str) -> Option<(&str, &str)> {
    let item = line.strip_prefix(['-', '*']).filter(|rest| rest.starts_with(' ')).unwrap_or(line);
    let (name, command) = item.split_once(": ")?;
    let (name, command) = (name.trim().trim_matches(['`', '*']), command.trim());
    let inside = command.strip_prefix('`').and_then(|command| command.strip_suffix('`'));
    let command = inside.filter(|inside| !inside.contains('`')).unwrap_or(command).trim();
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    (is_name && !command.is_empty()).then_some((name, command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_task() {
        let plan = Plan::parse(
            "- [ ] 1.1 One\n- [ ] 1.2 Two\n  - **Verify**: `make`\n- [x] 1.3 Three\n- [ ] 1.4 Four\n"
                .to_owned(),
        );
        let text = "1.1: pytest -q a.py::b\n\n- **1.4**: `grep -q x: f`\n1.2: make\n1.3: make\n9: make\n1.1: make\nnot a line\n1.4:\n";
        let (proposed, problems) = read(text, &plan);
        let shown: Vec<_> = proposed.iter().map(|one| (one.line, one.task.id.name(), one.command)).collect();
        assert_eq!(shown, [(1, "1.1", "pytest -q a.py::b"), (3, "1.4", "grep -q x: f")]);
        let problems: Vec<String> =
            problems.iter().map(|(line, problem)| format!("{line} {problem}")).collect();
        insta::assert_snapshot!(problems.join("\n"), @r"
        4 task 1.2 has words of its own about how it is verified
        5 task 1.3 is done already
        6 the plan has no task 9
        7 task 1.1 has a command already, in a line above
        8 this is not a task's name, a colon and a command
        9 this is not a task's name, a colon and a command
        ");
    }
}

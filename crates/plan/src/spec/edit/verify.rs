//! A command for a task that has none: proposed by an agent, accepted by a person, written as the task's own Verify.

use super::EditError;
use super::fix::line_ending;
use crate::markdown::{indent_of, regions};
use crate::phase::Dialect;
use crate::spec::fields::{FieldName, Fields, raw_fields};
use crate::spec::plan::{Plan, Rung};
use crate::spec::task::Task;
use crate::verify::Verify;
use crate::{Script, TaskId};

impl Plan {
    /// The tasks that are not done and have no word of their own about how they are verified. In a `*-PLAN.md`, which is
    /// never written, there is none.
    #[must_use]
    pub fn unverified(&self) -> Vec<&Task> {
        let is_without = |task: &&Task| {
            let has_none = self.fields(task).verify.is_none() && self.proof(task).1 != Rung::Text;
            has_none && !task.state.is_done() && !task.type_.is_checkpoint()
        };
        let is_written = self.dialect() == Dialect::Spec;
        self.tasks.iter().filter(|_| is_written).filter(is_without).collect()
    }

    /// Writes a command of one line into a task that has none, as its Verify. All else stays byte for byte.
    ///
    /// # Errors
    /// There is no such task, the plan is never written, or the command would not be read as it stands.
    pub fn add_verify(&mut self, id: &TaskId, command: &str) -> Result<(), EditError> {
        let Some(position) = self.position(id) else {
            return Err(EditError::UnknownTask { id: id.clone() });
        };
        self.check_writable(id)?;
        let texts = self.places_for_verify(position).into_iter().map(|(at, indent, bullet)| {
            // Bold names of fields are what plans of ours are told by from those of other tools.
            let label = if self.reading().format.is_foreign() { "Verify" } else { "**Verify**" };
            let line = format!("{}{indent}{bullet}{label}: `{command}`", line_ending(&self.text));
            let mut text = self.text.clone();
            text.insert_str(at, &line);
            text
        });
        let fits = |edited: &Plan| self.gained_verify(edited, position, command);
        match texts.map(|text| self.read_again(text)).find(fits) {
            Some(edited) => {
                *self = edited;
                Ok(())
            }
            None => Err(EditError::CommandDoesNotFit { id: id.clone() }),
        }
    }

    /// The places in a task at which the field can stand, the best first: each with the white space and the bullet that
    /// lines there begin with.
    fn places_for_verify(&self, position: usize) -> Vec<(usize, String, &'static str)> {
        let task = &self.tasks[position];
        let block = self.block(task);
        let regions = regions(block);
        let fields = raw_fields(block, &regions);
        let nested = block.lines().skip(1).find(|line| line.trim_start().starts_with(['-', '*', '+']));
        let indent = match (fields.first(), nested) {
            (Some(field), _) => field.indent.to_owned(),
            (None, Some(line)) if indent_of(line) > self.margin(task).len() => {
                line[..indent_of(line)].to_owned()
            }
            (None, _) => format!("{}  ", self.margin(task)),
        };
        let bullet = match fields.first().map_or(Some('-'), |field| field.bullet) {
            Some('*') => "* ",
            Some('+') => "+ ",
            Some(_) => "- ",
            None => "",
        };
        let commit = fields.iter().find(|field| field.name == FieldName::Commit);
        let before_commit = commit.and_then(|field| block[..field.text.start].rfind('\n'));
        let behind_title = block.find('\n').unwrap_or(block.len());
        let ends = before_commit.into_iter().chain([block.trim_end().len(), behind_title]);
        ends.map(|end| (task.block.start + end, indent.clone(), bullet)).collect()
    }

    /// True if the task has this very command now, and nothing else became another.
    fn gained_verify(&self, edited: &Plan, position: usize, command: &str) -> bool {
        let is_same = |(at, (before, after)): (usize, (&Task, &Task))| {
            let is_alike =
                before.id == after.id && before.state == after.state && before.markers == after.markers;
            is_alike
                && self.title(before) == edited.title(after)
                && (at == position || self.block(before) == edited.block(after))
        };
        let of = |plan: &Plan| Fields { verify: None, ..plan.fields(&plan.tasks[position]) };
        let own = Verify::Runnable(Script::new(vec![command.to_owned()]));
        edited.tasks.len() == self.tasks.len()
            && self.tasks.iter().zip(&edited.tasks).enumerate().all(is_same)
            && edited.proof(&edited.tasks[position]) == (own, Rung::Field)
            && of(self) == of(edited)
            && edited.problems().len() <= self.problems().len()
            && edited.boxes().len() == self.boxes().len()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::format::{Format, Reading};

    #[track_caller]
    fn check(path: &str, text: &str, id: &str, expected: &str) {
        let format = Format::of(Path::new(path), text);
        let mut plan = Plan::parse_as(Reading::of(format), text.to_owned(), Path::new(path));
        let ids: Vec<String> = plan.unverified().iter().map(|task| task.id.to_string()).collect();
        assert!(ids.contains(&id.to_owned()), "{ids:?}");
        plan.add_verify(&TaskId::new(id), "pytest -q tests/a.py").unwrap();
        assert_eq!(plan.text(), expected);
        assert_eq!(Format::of(Path::new(path), plan.text()), format, "the plan is still that tool's");
        assert!(plan.unverified().iter().all(|task| task.id != TaskId::new(id)));
    }

    const OWN: &str = "specs/x/tasks.md";

    #[test]
    fn a_field_like_those_around_it() {
        check(
            OWN,
            "- [ ] 1.1 One\n  - **Do**: it\n  - **Commit**: `feat: one`\n\n- [ ] 1.2 Two\n  - **Verify**: `make`\n",
            "1.1",
            "- [ ] 1.1 One\n  - **Do**: it\n  - **Verify**: `pytest -q tests/a.py`\n  - **Commit**: `feat: one`\n\n- [ ] 1.2 Two\n  - **Verify**: `make`\n",
        );
        check(
            OWN,
            "* [ ] 1.1 One\n\t* **Do**: it\n",
            "1.1",
            "* [ ] 1.1 One\n\t* **Do**: it\n\t* **Verify**: `pytest -q tests/a.py`\n",
        );
        check(
            OWN,
            "- [ ] 1.1 One\r\n- [ ] 1.2 Two\r\n",
            "1.1",
            "- [ ] 1.1 One\r\n  - **Verify**: `pytest -q tests/a.py`\r\n- [ ] 1.2 Two\r\n",
        );
        check(OWN, "- [ ] 1.1 One", "1.1", "- [ ] 1.1 One\n  - **Verify**: `pytest -q tests/a.py`");
        check(
            OWN,
            "### Task 1.1: One\n\n**Do**: it\n\n### Task 1.2: Two\n",
            "1.1",
            "### Task 1.1: One\n\n**Do**: it\n**Verify**: `pytest -q tests/a.py`\n\n### Task 1.2: Two\n",
        );
    }

    #[test]
    fn plans_of_other_tools_stay_theirs() {
        let kit = "specs/001-x/tasks.md";
        check(
            kit,
            "- [ ] T001 [P] Create src/a.py\n- [ ] T002 Do b\n",
            "T001",
            "- [ ] T001 [P] Create src/a.py\n  - Verify: `pytest -q tests/a.py`\n- [ ] T002 Do b\n",
        );
        let change = "openspec/changes/add-x/tasks.md";
        check(
            change,
            "## 1. A\n\n- [ ] 1.1 Do a\n- [ ] 1.2 Do b\n",
            "1.2",
            "## 1. A\n\n- [ ] 1.1 Do a\n- [ ] 1.2 Do b\n  - Verify: `pytest -q tests/a.py`\n",
        );
        let kiro = ".kiro/specs/x/tasks.md";
        check(
            kiro,
            "- [ ] 1. Group\n  - [ ] 1.1 Leaf\n    - Do it\n    - _Requirements: 1.2_\n  - [ ] 1.2 Other\n",
            "1.1",
            "- [ ] 1. Group\n  - [ ] 1.1 Leaf\n    - Do it\n    - _Requirements: 1.2_\n    - Verify: `pytest -q tests/a.py`\n  - [ ] 1.2 Other\n",
        );
        check(
            kiro,
            "- [ ] 1. Group\n  - [ ] 1.1 Leaf\n  - [ ] 1.2 Other\n",
            "1.2",
            "- [ ] 1. Group\n  - [ ] 1.1 Leaf\n  - [ ] 1.2 Other\n    - Verify: `pytest -q tests/a.py`\n",
        );
    }

    #[test]
    fn scripts_of_the_project_are_commands() {
        for command in ["./run_tests.sh", "scripts/check.sh", "./tools/check", "scripts/check.py --all"] {
            for path in
                ["specs/001-x/tasks.md", "openspec/changes/add-x/tasks.md", ".kiro/specs/x/tasks.md", OWN]
            {
                let text = "# Tasks\n\n- [ ] 1.1 Create src/a.py\n- [ ] 1.2 Do b\n";
                let reading = Reading::of(Format::of(Path::new(path), text));
                let mut plan = Plan::parse_as(reading, text.to_owned(), Path::new(path));
                let id = TaskId::new("1.1");
                let files = plan.fields(plan.task(&id).unwrap()).files;
                plan.add_verify(&id, command).unwrap_or_else(|error| panic!("{path} {command}: {error}"));
                assert_eq!(plan.fields(plan.task(&id).unwrap()).files, files, "{path} {command}");
            }
        }
    }

    #[test]
    fn what_would_be_read_otherwise_is_not_written() {
        for command in ["echo `date`", "a\n- [x] 9.9 done", "", "grep x f\n", "` - [ ] 2 x"] {
            let mut plan = Plan::parse("- [ ] 1.1 One\n  - **Do**: it\n".to_owned());
            let refused = plan.add_verify(&TaskId::new("1.1"), command);
            assert_eq!(refused, Err(EditError::CommandDoesNotFit { id: TaskId::new("1.1") }), "{command:?}");
            assert_eq!(plan.text(), "- [ ] 1.1 One\n  - **Do**: it\n");
        }
        let mut plan = Plan::parse("- [ ] 1.1 One\n  - **Verify**: by looking\n- [x] 1.2 Two\n".to_owned());
        assert_eq!(plan.unverified().len(), 0);
        assert!(plan.add_verify(&TaskId::new("1.1"), "make").is_err());
        let unknown = plan.add_verify(&TaskId::new("7"), "make");
        assert!(matches!(unknown, Err(EditError::UnknownTask { .. })));
    }
}

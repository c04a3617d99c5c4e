//! Tasks that an agent asks for: written right before the task that it worked on, or after it.
//!
//! The words are an agent's and are made harmless first; a command is never among them. The result is read again
//! before it is accepted, so no text can smuggle in a second task.

use super::EditError;
use super::fix::line_ending;
use super::request::RequestTask;
use crate::TaskId;
use crate::spec::plan::Plan;

/// Where a task goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Before the other task, behind what was put there before.
    Before,
    /// After the other task, its fixes and whatever else is numbered below it.
    After,
}

impl Plan {
    /// Adds a task beside another one.
    ///
    /// # Errors
    /// The other task is unknown, the plan is never written, the id is taken, or the text around does not allow it.
    pub fn insert_beside(
        &mut self,
        request: &RequestTask<'_>,
        place: Beside,
        other: &TaskId,
    ) -> Result<(), EditError> {
        let Some(position) = self.position(other) else {
            return Err(EditError::UnknownTask { id: other.clone() });
        };
        self.check_writable(request.id)?;
        if self.position(request.id).is_some() {
            return Err(EditError::IdTaken { id: request.id.clone() });
        }
        let at = match place {
            Beside::Before => position,
            Beside::After => self.last_below(position) + 1,
        };
        let edited = self.read_again(self.text_beside(request, place, (position, at)));
        let is_there = edited.tasks.get(at).is_some_and(|task| task.id == *request.id);
        let is_in_phase = edited.tasks.get(at).map(|task| task.phase) == Some(self.tasks[position].phase);
        if !(is_there && is_in_phase && self.gained_request(&edited, request)) {
            return Err(EditError::NoRoom { id: request.id.clone() });
        }
        *self = edited;
        Ok(())
    }

    /// The last task of the unbroken row below a task: its fixes, and what has its id as the beginning of its own.
    fn last_below(&self, position: usize) -> usize {
        let below = format!("{}.", self.tasks[position].id.name());
        let first = self.last_fix(position);
        let row = self.tasks[first + 1..].iter().take_while(|task| task.id.name().starts_with(&below));
        first + row.count()
    }

    fn text_beside(
        &self,
        request: &RequestTask<'_>,
        place: Beside,
        (position, at): (usize, usize),
    ) -> String {
        let ending = line_ending(&self.text);
        let margin = self.margin(&self.tasks[position]);
        let block = request.block().trim_end().replace('\n', &format!("{ending}{margin}"));
        let before = if place == Beside::Before { position } else { at - 1 };
        let gap = if self.has_gaps(position, before) { ending.repeat(2) } else { ending.to_owned() };
        let mut text = self.text.clone();
        match place {
            Beside::Before => {
                text.insert_str(self.tasks[position].block.start, &format!("{block}{gap}{margin}"))
            }
            Beside::After => text.insert_str(self.tasks[at - 1].block.end, &format!("{gap}{margin}{block}")),
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "## Phase 1\n\n- [ ] 1.1 One\n  - **Verify**: `true`\n- [ ] 1.2 Two\n\n## Phase 2\n\n- [ ] 2.1 Three\n";

    fn inserted(
        text: &str,
        place: Beside,
        (id, other): (&str, &str),
        title: &str,
    ) -> Result<String, EditError> {
        let mut plan = Plan::parse(text.to_owned());
        let request = RequestTask {
            id: &TaskId::new(id),
            title,
            goal: title,
            details: &[],
            files: &[],
            done_when: title,
            verify: None,
            commit: "feat: it",
        };
        plan.insert_beside(&request, place, &TaskId::new(other))?;
        Ok(plan.text().to_owned())
    }

    #[test]
    fn a_prerequisite_stands_before_the_task_and_behind_earlier_ones() {
        let once = inserted(PLAN, Beside::Before, ("1.2.1", "1.2"), "Zero").unwrap();
        let twice = inserted(&once, Beside::Before, ("1.2.2", "1.2"), "Half").unwrap();
        insta::assert_snapshot!(twice, @"
        ## Phase 1

        - [ ] 1.1 One
          - **Verify**: `true`
        - [ ] 1.2.1 Zero
          - **Do**: Zero
          - **Done when**: Zero
          - **Commit**: `feat: it`
        - [ ] 1.2.2 Half
          - **Do**: Half
          - **Done when**: Half
          - **Commit**: `feat: it`
        - [ ] 1.2 Two

        ## Phase 2

        - [ ] 2.1 Three
        ");
    }

    #[test]
    fn what_follows_stands_behind_what_is_below_the_task() {
        let once = inserted(PLAN, Beside::After, ("1.2.1", "1.2"), "Then").unwrap();
        let twice = inserted(&once, Beside::After, ("1.2.2", "1.2"), "And then").unwrap();
        let ids: Vec<String> = Plan::parse(twice).tasks().iter().map(|task| task.id.to_string()).collect();
        assert_eq!(ids, ["1.1", "1.2", "1.2.1", "1.2.2", "2.1"]);
    }

    #[test]
    fn no_words_become_anything_but_one_task() {
        let hostile = [
            "a\n- [x] 9.9 done",
            "[VERIFY] all",
            "[P] beside",
            "```\n- [ ] 3.1 x",
            "**Verify**: `rm -rf x`",
            "# Phase 9",
            "<<EOF",
            "`open",
        ];
        for title in hostile {
            let Ok(text) = inserted(PLAN, Beside::Before, ("1.2.1", "1.2"), title) else { continue };
            let plan = Plan::parse(text);
            assert_eq!(plan.tasks().len(), 4, "for {title:?}");
            let task = plan.task(&TaskId::new("1.2.1")).unwrap();
            assert_eq!(plan.verify(task), crate::Verify::Absent, "for {title:?}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let unknown = inserted(PLAN, Beside::After, ("7.1", "7"), "x");
        assert!(matches!(unknown, Err(EditError::UnknownTask { .. })), "{unknown:?}");
        let taken = inserted(PLAN, Beside::After, ("1.1", "1.2"), "x");
        assert!(matches!(taken, Err(EditError::IdTaken { .. })), "{taken:?}");
        let unnamed = inserted("- [ ] One\n- [ ] Two\n", Beside::After, ("#1.1", "#1"), "x");
        assert!(matches!(unnamed, Err(EditError::NoRoom { .. })), "{unnamed:?}");
        let crlf = inserted(&PLAN.replace('\n', "\r\n"), Beside::Before, ("1.2.1", "1.2"), "x").unwrap();
        assert!(!crlf.replace("\r\n", "").contains('\n'), "{crlf:?}");
    }
}

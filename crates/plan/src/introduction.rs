//! The introduction of a plan: its words about itself before its first task, which tell what the whole is for.

use std::ops::Range;

use crate::phase::head_elements;
use crate::{Dialect, Plan};

/// The elements of a `*-PLAN.md` that say what it is for.
const PURPOSE: [&str; 2] = ["objective", "context"];

impl Plan {
    /// The text before the first task: title and introduction of a `tasks.md`, `<objective>` and `<context>` of a
    /// `*-PLAN.md`. Empty where there is none.
    #[must_use]
    pub fn introduction(&self) -> String {
        let tasks = self.tasks().iter().map(|task| task.block.start);
        let boxes = self.boxes().iter().map(|other| other.text.start);
        let end = tasks.chain(boxes).min().unwrap_or(self.text().len());
        let start = after_front_matter(self.text()).min(end);
        match self.dialect() {
            Dialect::Spec => without_last_headings(&self.text()[start..end]).trim().to_owned(),
            Dialect::Phase => self.purpose(start..end),
        }
    }

    fn purpose(&self, range: Range<usize>) -> String {
        let parts = head_elements(self.text(), range, &PURPOSE);
        parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join("\n\n")
    }
}

/// Where the text begins behind its front matter.
fn after_front_matter(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("---\n") else { return 0 };
    rest.find("\n---\n").map_or(0, |end| text.len() - rest.len() + end + "\n---\n".len())
}

/// The text without the headings right before the first task, which are the task's.
fn without_last_headings(text: &str) -> &str {
    let mut kept = text.trim_end();
    loop {
        let start = kept.rfind('\n').map_or(0, |newline| newline + 1);
        let line = kept[start..].trim();
        let is_heading = line.starts_with("##") || line.trim_matches('-').is_empty();
        if kept.is_empty() || !is_heading {
            return kept;
        }
        kept = kept[..start].trim_end();
    }
}

#[cfg(test)]
mod tests {
    use crate::Plan;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Plan::parse(text.to_owned()).introduction(), expected, "for {text:?}");
    }

    #[test]
    fn of_a_spec() {
        let task = "- [ ] 1.1 Do it\n";
        check(
            &format!("# Tasks: Login\n\nUsers can log in.\n\n## Phase 1: Setup\n\n{task}"),
            "# Tasks: Login\n\nUsers can log in.",
        );
        check(&format!("---\ntotal_tasks: 3\n---\n\n# Login\n\n---\n\n## Phase 1\n### A\n{task}"), "# Login");
        check(&format!("## Overview\nAll of it.\n\n{task}\n# Later\n"), "## Overview\nAll of it.");
        check(&format!("## Phase 1\n{task}"), "");
        check(task, "");
        check("", "");
    }

    #[test]
    fn of_a_plan_with_phases() {
        let text = "---\nphase: 03-x\nplan: 01\n---\n\n<objective>\nLog in.\n</objective>\n\n<execution_context>\n@a\n\
                    </execution_context>\n\n<context>\n@b\n</context>\n\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: a</name>\n\
                    <context>inside</context>\n</task>\n</tasks>\n";
        let plan = Plan::parse_phase(text.to_owned(), "03-01-PLAN.md");
        let expected = "<objective>\nLog in.\n</objective>\n\n<context>\n@b\n</context>";
        assert_eq!(plan.introduction(), expected);
        assert_eq!(Plan::parse_phase(String::new(), "03-01-PLAN.md").introduction(), "");
    }
}

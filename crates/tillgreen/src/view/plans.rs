//! The plans of a project, a row each.

use std::fmt::Write as _;

use serde::Serialize;

use super::paint::Paint;
use super::status::{Brief, Phase, Standing};
use super::text::{clean, one_line};
use crate::args::Format;
use crate::error::Error;

/// Characters of a reason.
const REASON_CHARS_MAX: usize = 80;

/// A plan and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PlanRow {
    /// The name by which commands take it.
    plan: String,
    path: String,
    /// True if commands take it where no plan is named.
    active: bool,
    /// None where its plan or its journal cannot be read.
    state: Option<Phase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    done: usize,
    total: usize,
    /// The task that a person is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
}

impl PlanRow {
    /// The row of a plan; an error is what it says instead of a state.
    pub(crate) fn new(plan: String, path: String, standing: Result<Standing, Error>) -> Self {
        let active = false;
        match standing.map(Standing::brief) {
            Ok(Brief { state, reason, done, total, question }) => {
                Self { plan, path, active, state: Some(state), reason, done, total, question }
            }
            Err(error) => {
                let text = error.render(Format::Text);
                let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
                Self {
                    plan,
                    path,
                    active,
                    state: None,
                    reason: Some(reason),
                    done: 0,
                    total: 0,
                    question: None,
                }
            }
        }
    }

    /// Marks it as the plan that commands take where none is named.
    pub(crate) fn activated(self) -> Self {
        Self { active: true, ..self }
    }

    /// True if nothing of it is left to do, as far as its boxes and its run tell.
    pub(crate) fn is_complete(&self) -> bool {
        let is_quiet = self.reason.is_none();
        let is_ended = matches!(self.state, Some(Phase::Complete | Phase::NotStarted));
        is_ended && is_quiet && self.total > 0 && self.done == self.total
    }

    fn done_text(&self) -> String {
        match self.state {
            Some(_) => format!("{}/{}", self.done, self.total),
            None => "-".to_owned(),
        }
    }

    fn state_text(&self, paint: Paint) -> String {
        let word = self.state.map_or_else(|| paint.bad("unreadable"), |state| state.word(paint));
        match &self.reason {
            Some(reason) => format!("{word}: {}", one_line(reason, REASON_CHARS_MAX)),
            None => word,
        }
    }
}

/// The rows for people.
pub(crate) fn render(rows: &[PlanRow], paint: Paint) -> String {
    if rows.is_empty() {
        return "There are no plans here. Create one with `tillgreen new NAME`.\n".to_owned();
    }
    let mut text = render_rows(rows, paint);
    if !rows.iter().any(|row| row.active) {
        text.push_str("\nNo spec is active: make one so with `tillgreen use NAME`.\n");
    }
    text
}

/// A line for each row.
pub(crate) fn render_rows(rows: &[PlanRow], paint: Paint) -> String {
    let width =
        |of: fn(&PlanRow) -> String| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (name_width, done_width) = (width(|row| clean(&row.plan)), width(PlanRow::done_text));
    let mut text = String::new();
    for row in rows {
        let (mark, name) = (if row.active { "*" } else { " " }, format!("{:name_width$}", clean(&row.plan)));
        let name = if row.active { paint.strong(&name) } else { name };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{mark} {name}  {:>done_width$}  {}", row.done_text(), row.state_text(paint));
    }
    text
}

#[cfg(test)]
mod tests {
    use engine::{End, Rules};
    use plan::TaskId;

    use super::*;
    use crate::view::samples::{self, Story};

    fn row(name: &str, standing: Result<Standing, Error>) -> PlanRow {
        PlanRow::new(name.to_owned(), format!("specs/{name}/tasks.md"), standing)
    }

    fn rows() -> Vec<PlanRow> {
        let of = |story: Story| Ok(Standing::of(&samples::subject(), &story.state(), None));
        let asks = Story::new(Rules::default()).fails("1.2", "red").escalates("1.2");
        vec![
            row("auth", of(asks.end(End::Waiting { task: TaskId::new("1.2") }))).activated(),
            row("billing", Ok(Standing::not_started(&samples::subject(), 12, 0))),
            row("chart", of(samples::fixed().end(End::Complete { skipped: 0 }))),
            row("docs", of(Story::new(Rules::default()).starts("1.2"))),
            row("odd", Err(Error::usage("odd/journal.jsonl is not a journal"))),
        ]
    }

    #[test]
    fn for_people() {
        insta::assert_snapshot!(render(&rows(), Paint::Plain), @r"
        * auth      1/3  paused: task 1.2 waits for an answer
          billing  0/12  not started
          chart     5/5  complete
          docs      1/3  crashed: the program that ran it is gone; nothing is lost
          odd         -  unreadable: odd/journal.jsonl is not a journal
        ");
        assert!(render(&rows()[1..], Paint::Plain).ends_with("`tillgreen use NAME`.\n"));
        insta::assert_snapshot!(render(&[], Paint::Plain), @"There are no plans here. Create one with `tillgreen new NAME`.");
    }

    #[test]
    fn for_programs() {
        insta::assert_snapshot!(serde_json::to_string(&rows()[0]).unwrap(), @r#"{"plan":"auth","path":"specs/auth/tasks.md","active":true,"state":"paused","reason":"task 1.2 waits for an answer","done":1,"total":3,"question":"1.2"}"#);
        assert!(serde_json::to_string(&rows()[4]).unwrap().contains(r#""state":null"#));
    }
}

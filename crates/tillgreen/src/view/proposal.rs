//! What a planner proposes, for the person who accepts it.

use std::fmt::Write as _;
use std::path::Path;

use engine::{End, State, Summary, Usage};
use plan::Plan;
use runner::{Brief, ProposedPlan, Trial, Tried, Wanted};
use serde::Serialize;

use super::ending;
use super::lines::question_of;
use super::subject::Subject;
use super::text::{clean, count, one_line};
use super::usage;
use crate::error::{Error, Kind};
use crate::exit;

/// Characters of a command, and of a reason.
const COMMAND_CHARS_MAX: usize = 100;
const REASON_CHARS_MAX: usize = 300;
/// Files that are named.
const FILES_MAX: usize = 10;
/// Characters of a problem of a draft.
const PROBLEM_CHARS_MAX: usize = 500;

/// A proposal with all that is to be said of it.
pub(crate) struct Shown<'a> {
    pub(crate) name: &'a str,
    pub(crate) brief: &'a Brief,
    pub(crate) proposed: &'a ProposedPlan,
    /// The state of the run that wrote it.
    pub(crate) state: Option<&'a State>,
}

/// A proposal for programs.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    plan: &'a str,
    accepted: bool,
    base: &'a str,
    commands: &'a [Tried],
    without_command: &'a [String],
    dropped: &'a [String],
    diff: &'a str,
}

impl<'a> Shown<'a> {
    /// What the person should know beside the difference.
    pub(crate) fn summary(&self) -> String {
        let mut text = format!("{}\n", self.headline());
        let mut push = |line: String| {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "  {line}");
        };
        let base: String = self.brief.base.chars().take(9).collect();
        let red = self.tasks(|trial| *trial == Trial::Red);
        if !red.is_empty() {
            push(format!("red before the work, as it should be (tried at {base}): {}", red.join(", ")));
        }
        for tried in &self.proposed.tried {
            if let Some(line) = told(tried) {
                push(line);
            }
        }
        let others = self.tasks(|trial| *trial == Trial::Meaningless);
        if !others.is_empty() {
            push(format!(
                "not tried, as what they say before the work means nothing ([VERIFY], [RED]): {}",
                others.join(", ")
            ));
        }
        if !self.proposed.left.is_empty() {
            push(format!("without a command, so judged: {}", clean(&self.proposed.left.join(", "))));
        }
        if !self.proposed.dropped.is_empty() {
            let files: Vec<String> = self.proposed.dropped.iter().map(|path| clean(path)).collect();
            let more = files.len().saturating_sub(FILES_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let files = files.into_iter().take(FILES_MAX).collect::<Vec<_>>().join(", ");
            push(format!("the planner also changed {files}{more} in its copy: nothing of that is taken"));
        }
        if let Some(used) = usage::words(self.usage()) {
            push(format!("used: {used}"));
        }
        text
    }

    fn usage(&self) -> Usage {
        self.state.map(|state| Summary::of(state).usage).unwrap_or_default()
    }

    fn headline(&self) -> String {
        let name = one_line(self.name, COMMAND_CHARS_MAX);
        match self.brief.wanted {
            Wanted::Plan { .. } => {
                let plan = Plan::parse(self.proposed.text.clone());
                let (tasks, phases) =
                    (count(plan.tasks().len(), "task"), count(plan.phases().len(), "phase"));
                format!("Proposed: the plan '{name}' with {tasks} in {phases}")
            }
            Wanted::Commands { .. } => {
                format!("Proposed: {} for '{name}'", count(self.proposed.tried.len(), "command"))
            }
        }
    }

    fn tasks(&self, is_meant: impl Fn(&Trial) -> bool) -> Vec<String> {
        let meant = self.proposed.tried.iter().filter(|tried| is_meant(&tried.trial));
        meant.map(|tried| clean(&tried.task)).collect()
    }

    /// The question whether it is to be taken.
    pub(crate) fn question(&self) -> String {
        match self.brief.wanted {
            Wanted::Plan { .. } => format!("Take it as {}?", clean(&self.brief.plan)),
            Wanted::Commands { .. } => format!("Write them into {}?", clean(&self.brief.plan)),
        }
    }

    /// The words once it is taken.
    pub(crate) fn accepted(&self) -> String {
        let (path, name) = (clean(&self.brief.plan), one_line(self.name, COMMAND_CHARS_MAX));
        match self.brief.wanted {
            Wanted::Plan { .. } => format!(
                "Created {path} and made '{name}' the active spec.\nNext: look at it with `tillgreen check`, then `tillgreen run`.\n"
            ),
            Wanted::Commands { .. } => {
                format!("Wrote {} into {path}.\n", count(self.proposed.tried.len(), "command"))
            }
        }
    }

    /// All of it for programs.
    pub(crate) fn document(&self, diff: &'a str, accepted: bool) -> Document<'a> {
        Document {
            plan: &self.brief.plan,
            accepted,
            base: &self.brief.base,
            commands: &self.proposed.tried,
            without_command: &self.proposed.left,
            dropped: &self.proposed.dropped,
            diff,
        }
    }
}

/// A line about a command of which more is to be said than that it is red.
fn told(tried: &Tried) -> Option<String> {
    let (task, command) = (clean(&tried.task), one_line(&tried.command, COMMAND_CHARS_MAX));
    let reason = |why: &str| one_line(why, REASON_CHARS_MAX);
    match &tried.trial {
        Trial::Red | Trial::Meaningless => None,
        Trial::Green => Some(format!("green before the work: proves nothing yet for {task} (`{command}`)")),
        Trial::Lacks(why) => Some(format!("does not run yet for {task} (`{command}`): {}", reason(why))),
        Trial::Unknown(why) => Some(format!("not known for {task} (`{command}`): {}", reason(why))),
        Trial::NotTried => Some(format!("not tried, as it may do more than look, for {task} (`{command}`)")),
    }
}

/// The error of a run that ended without a proposal. The draft as it was left lies at a path.
pub(crate) fn stopped(subject: &Subject, state: &State, draft: &Path) -> Error {
    let last = state.tasks().first().map(AsRef::as_ref);
    let (again, fresh) = (subject.command("run", ""), subject.command("run", "--fresh"));
    match state.end() {
        Some(End::Stopped(_)) => {
            let attempts = last.map_or(0, |task| task.failures.len());
            let what = if draft.exists() { "the draft is not right" } else { "nothing was written" };
            let message = format!("{what} after {}", count(attempts, "attempt"));
            let error = Error::new(Kind::Ended(exit::STOPPED), message);
            let failure = last.and_then(|task| task.last_failure());
            let details = failure
                .map(|failure| if failure.details.is_empty() { &failure.error } else { &failure.details });
            let lines = details.into_iter().flat_map(|details| details.lines());
            let error = lines.fold(error, |error, line| error.note(one_line(line, PROBLEM_CHARS_MAX)));
            let error =
                if draft.exists() { error.note(format!("the draft: {}", draft.display())) } else { error };
            error.hint(format!("go on for as many attempts again with {again}, or begin anew with {fresh}"))
        }
        Some(End::Waiting { task }) => {
            let status = state.task(task).map(|task| &task.status);
            let question = if let Some(engine::Status::Asking(asked)) = status {
                Some(question_of(asked.question, task, state))
            } else {
                None
            };
            let why = question.unwrap_or_else(|| "a person is asked".to_owned());
            let error = Error::new(Kind::Ended(exit::WAITING), format!("paused: {why}"));
            ending::last_error(subject, error, last).hint(format!(
                "answer at a terminal, after {again}, or begin anew with {fresh} and other words"
            ))
        }
        Some(_) | None => ending::error(subject, state).unwrap_or_else(|| {
            Error::new(Kind::Ended(exit::STOPPED), "nothing was written").hint(format!("go on with {again}"))
        }),
    }
}

//! The question of a checkpoint, and the words that answer it.

use std::fs;

use engine::Response;
use plan::{Choice, Dialect, Plan, TaskId, TaskType};
use runner::PlanFile;

use crate::error::Error;

/// Words that say that what was built is right.
const APPROVALS: [&str; 8] = ["approved", "approve", "yes", "ok", "y", "pass", "passed", "done"];
/// Words that say that what was asked for is done.
const DONE: [&str; 4] = ["done", "yes", "ok", "ready"];

/// A checkpoint of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    kind: TaskType,
    /// The question, to be read by a person.
    pub(crate) text: String,
    choices: Vec<Choice>,
}

impl Checkpoint {
    /// Finds a checkpoint in the files of a plan; none if the task is not there, or is no checkpoint.
    pub(crate) fn find(file: &PlanFile, id: &TaskId) -> Option<Self> {
        if file.dialect == Dialect::Spec {
            return None;
        }
        file.plans.iter().find_map(|path| {
            let text = fs::read_to_string(path).ok()?;
            let plan = Plan::parse_as(file.reading, text, path);
            let task = plan.task(id).filter(|task| task.type_.is_checkpoint())?;
            Some(Self { kind: task.type_, text: plan.question(task), choices: plan.choices(task) })
        })
    }

    /// Reads the answer to it. Silence is never consent, and neither is what does not answer the question.
    pub(crate) fn answer(&self, text: &str) -> Result<Response, Error> {
        let text = text.trim();
        let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
        let (is_answer, hint) = match self.kind {
            TaskType::HumanVerify => (
                is_one_of(&APPROVALS),
                "answer approved, or say what is wrong with 'fix: …', or skip or abort".to_owned(),
            ),
            TaskType::HumanAction => {
                (is_one_of(&DONE), "answer done when you did it, or skip or abort".to_owned())
            }
            TaskType::Decision if self.choices.is_empty() => {
                (!text.is_empty(), "answer with your decision in a few words".to_owned())
            }
            TaskType::Decision => (self.choice(text).is_some(), format!("answer one of {}", self.names())),
            TaskType::Auto | TaskType::Tdd => (false, "answer retry, skip, abort or 'fix: …'".to_owned()),
        };
        if !is_answer {
            return Err(
                Error::usage(format!("`{text}` is not an answer; the question stays open")).hint(hint)
            );
        }
        let reply = self.choice(text).map_or_else(|| text.to_owned(), |choice| choice.id.clone());
        Ok(Response::Reply(reply))
    }

    fn choice(&self, text: &str) -> Option<&Choice> {
        let is_meant =
            |choice: &&Choice| choice.id.eq_ignore_ascii_case(text) || choice.name.eq_ignore_ascii_case(text);
        self.choices.iter().find(is_meant)
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.choices.iter().map(|choice| choice.id.as_str()).collect();
        names.join(", ")
    }
}

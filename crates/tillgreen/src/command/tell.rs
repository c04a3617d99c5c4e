//! `tillgreen tell`: a word to the next prompt of a run.

use engine::{Refusal, Said, WORD_CHARS_MAX};

use crate::args::TellArgs;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::steering::{Target, say_masked};
use crate::task_argument::Spelled;

/// Hands the word to the run, or keeps it for the next one.
pub(crate) fn run(context: &mut Context, arguments: &TellArgs) -> Ended {
    let (plan, text) = arguments.words();
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::usage("there is nothing to tell")
            .hint("put it in quotation marks: tillgreen tell 'keep the public API as it is'"));
    }
    if text.chars().count() > WORD_CHARS_MAX {
        return Err(Refusal::TooLong { chars_max: WORD_CHARS_MAX }.into());
    }
    let target = Target::find(context, plan)?;
    let spelled = |task| Spelled { verb: "show", plan, task };
    let task = arguments.task.as_deref().map(|task| target.open_task(context, &spelled(task))).transpose()?;
    let said = Said::Tell { task: task.clone(), text: text.to_owned() };
    let directive = runner::directive(said.clone());
    let fate = match target.send(&directive)? {
        Some(fate) => fate,
        None => target.leave(&directive)?,
    };
    let whose = match &task {
        Some(task) => format!("tells it to the next prompt of task {task}"),
        None => "tells it to the next prompt".to_owned(),
    };
    target.say(context, (&fate, task.as_ref()), &whose)?;
    say_masked(&said, &directive);
    Ok(exit::DONE)
}

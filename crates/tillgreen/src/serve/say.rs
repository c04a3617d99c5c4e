//! Acting on a run: what somebody says on the page goes through the run's inbox, as `answer`, `tell`, `pause` and `skip` do.
//! Where no run is under way it is left there for the next one: the page starts nothing.

use engine::Said;
use plan::TaskId;
use runner::{PlanFile, Project};
use serde::Deserialize;

use crate::answer;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Kind};
use crate::steering::{Target, done};
use crate::view::question;
use crate::view::subject::Subject;

/// Something that somebody says, as the page sends it.
#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Saying {
    Answer {
        run: String,
        task: String,
        /// Since when the question was open that is answered.
        since: jiff::Timestamp,
        text: String,
    },
    Tell {
        run: String,
        task: Option<String>,
        text: String,
    },
    Pause {
        run: String,
    },
    Skip {
        run: String,
        task: String,
    },
}

impl Saying {
    /// The run that it is said to.
    pub(super) fn run(&self) -> &str {
        match self {
            Self::Answer { run, .. }
            | Self::Tell { run, .. }
            | Self::Pause { run }
            | Self::Skip { run, .. } => run,
        }
    }
}

/// Says it, and what became of it in words.
pub(super) fn say(
    project: &Project,
    file: PlanFile,
    subject: Subject,
    saying: Saying,
) -> Result<String, Error> {
    let target = Target::of(project.clone(), file, subject)?;
    let said = said(&target, saying)?;
    let done = done(&said);
    let is_pause = said == Said::Pause;
    let directive = runner::directive(said);
    let fate = match target.send(&directive)? {
        Some(fate) => fate,
        None if is_pause => return Ok(format!("No run of '{}' is under way.", target.subject.name)),
        None => target.leave(&directive)?,
    };
    Ok(target.words(&fate, &done))
}

fn said(target: &Target, saying: Saying) -> Result<Said, Error> {
    Ok(match saying {
        Saying::Pause { .. } => Said::Pause,
        Saying::Skip { task, .. } => Said::Skip { task: open_task(target, &task)? },
        Saying::Tell { task, text, .. } => {
            let text = text.trim().to_owned();
            if text.is_empty() {
                return Err(Error::usage("there is nothing to tell").hint("type a few words"));
            }
            let task = task.map(|task| open_task(target, &task)).transpose()?;
            Said::Tell { task, text }
        }
        Saying::Answer { task, since, text, .. } => {
            let open = target.state.as_ref().and_then(question::open);
            let asked = open.filter(|(open, asked)| open.id().name() == task && asked.since == since);
            let Some((task, asked)) = asked else {
                return Err(Error::new(
                    Kind::Answered,
                    format!("somebody else was first: the question about task {task} is answered already"),
                ));
            };
            let checkpoint = Checkpoint::find(&target.file, task.id());
            let response = answer::read(&text, asked.question, checkpoint.as_ref())?;
            Said::Answer { task: task.id().clone(), since, response }
        }
    })
}

fn open_task(target: &Target, name: &str) -> Result<TaskId, Error> {
    let tasks = target.state.iter().flat_map(|state| state.tasks());
    let known = tasks.into_iter().find(|task| task.id().name() == name);
    match known {
        None => Err(Error::usage(format!("the run knows no task {name}"))),
        Some(task) if task.status.is_settled() => {
            Err(engine::Refusal::Settled { task: task.id().clone() }.into())
        }
        Some(task) => Ok(task.id().clone()),
    }
}

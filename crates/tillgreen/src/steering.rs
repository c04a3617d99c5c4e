//! Telling a run something from the command line, the same way whether one is under way or not.

use std::io::Write;

use engine::{Directive, End, Said, State};
use plan::TaskId;
use runner::journal::Holder;
use runner::{Beginning, PlanFile, Project, Request, Sent, Settings, Then};
use serde::Serialize;

use crate::args::Format;
use crate::cli::Context;
use crate::command::check;
use crate::error::Error;
use crate::settings::{FileSettings, Programs, from_recorded};
use crate::task_argument::{Spelled, Tasks};
use crate::view::json;
use crate::view::lines::response_text;
use crate::view::subject::Subject;

/// The variable that tells an agent's processes by the run they belong to.
const OWN_RUN: &str = "TILLGREEN_RUN";

/// The plan whose run is told something.
pub(crate) struct Target {
    pub(crate) project: Project,
    pub(crate) file: PlanFile,
    pub(crate) subject: Subject,
    /// The run so far.
    pub(crate) state: Option<State>,
}

/// The fate of something that was told to a run.
pub(crate) enum Fate {
    /// A run that is under way has taken it.
    Taken(Holder),
    /// It is recorded; no run is under way.
    Recorded,
    /// No run is under way: the next one takes it.
    Kept,
    /// The run that was under way was killed: the next start takes it.
    Died(Holder),
    /// The run that is under way takes it when it gets to it.
    Unheard(Holder),
}

/// The fate, for programs.
#[derive(Serialize)]
struct Document<'a> {
    plan: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a TaskId>,
    /// True if it is in the journal.
    taken: bool,
    /// True if it waits for a run to take it.
    waits: bool,
    /// The run that is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
}

/// What a run has done that has taken this, in words.
pub(crate) fn done(said: &Said) -> String {
    match said {
        Said::Answer { task, response, .. } => {
            format!("has taken the answer about task {task}: {}", response_text(response))
        }
        Said::Tell { task: Some(task), .. } => format!("tells it to the next prompt of task {task}"),
        Said::Tell { task: None, .. } => "tells it to the next prompt".to_owned(),
        Said::Pause => "pauses after what is under way".to_owned(),
        Said::Skip { task } => format!("skips task {task}"),
    }
}

impl Target {
    /// The plan that an argument names. The agents of its own run are not those who steer it.
    pub(crate) fn find(context: &Context, plan: Option<&str>) -> Result<Self, Error> {
        let project = context.project()?;
        let (file, subject) = context.plan(&project, plan)?;
        Self::of(project, file, subject)
    }

    /// That plan.
    pub(crate) fn of(project: Project, file: PlanFile, subject: Subject) -> Result<Self, Error> {
        // What is told may hold what the settings list; what is wrong with them is said where they count.
        FileSettings::load(project.root()).unwrap_or_default().mask();
        if std::env::var_os(OWN_RUN).is_some_and(|home| *home == *file.home) {
            return Err(Error::usage(format!("an agent of '{}' cannot steer its own run", subject.name))
                .hint("report what is in the way instead, in the way that the prompt says"));
        }
        let state = runner::load(&file, |_| ())?;
        Ok(Self { project, file, subject, state })
    }

    /// The task that is meant, if it is one that is not settled.
    pub(crate) fn open_task(&self, context: &Context, spelled: &Spelled<'_>) -> Result<TaskId, Error> {
        // A plan that cannot be read any more has a record all the same.
        let plans = check::read(&self.file);
        let plans = if self.state.is_some() { plans.unwrap_or_default() } else { plans? };
        let tasks = Tasks { plans: &plans, state: self.state.as_ref() };
        let task = tasks.find(context, (&self.project, &self.subject), spelled)?;
        if self.is_settled(&task)? {
            return Err(engine::Refusal::Settled { task }.into());
        }
        Ok(task)
    }

    fn is_settled(&self, id: &TaskId) -> Result<bool, Error> {
        if let Some(task) = self.state.as_ref().and_then(|state| state.task(id)) {
            return Ok(task.status.is_settled());
        }
        let declared = check::declared_tasks(&self.file)?;
        Ok(declared.iter().any(|task| task.id == *id && task.ticked))
    }

    /// Tells the run something if one is under way; none if no run is.
    pub(crate) fn send(&self, directive: &Directive) -> Result<Option<Fate>, Error> {
        let sent =
            runner::send(&self.file, directive).map_err(|error| Error::from(error).about(&self.subject))?;
        match sent {
            Sent::NotRunning => Ok(None),
            Sent::Taken(run) => Ok(Some(Fate::Taken(run))),
            Sent::Died(run) => Ok(Some(Fate::Died(run))),
            Sent::Unheard(run) => Ok(Some(Fate::Unheard(run))),
            Sent::Refused(refusal) => Err(Error::from(refusal).about(&self.subject)),
        }
    }

    /// Leaves something for the next run.
    pub(crate) fn leave(&self, directive: &Directive) -> Result<Fate, Error> {
        runner::leave(&self.project, &self.file, directive)?;
        Ok(Fate::Kept)
    }

    /// Opens a run that is not under way, records what it is told and nothing else.
    pub(crate) fn record(&self, directive: Directive) -> Result<Fate, Error> {
        let settings = self.settings()?;
        let beginning = Beginning::Told(Box::new(directive), Then::Stop);
        let request = Request { project: &self.project, file: &self.file, settings: &settings, beginning };
        runner::run(&request, &mut |_, _| ()).map_err(|error| Error::from(error).about(&self.subject))?;
        Ok(Fate::Recorded)
    }

    /// True of a run that has begun and is not complete.
    pub(crate) fn is_unfinished(&self) -> bool {
        let end = self.state.as_ref().map(State::end);
        end.is_some_and(|end| !matches!(end, Some(End::Complete { .. })))
    }

    /// The settings that the run had.
    pub(crate) fn settings(&self) -> Result<Settings, Error> {
        let launch = self.state.as_ref().and_then(State::opened).map(|opened| opened.launch.clone());
        let of_file = FileSettings::load(self.project.root())?;
        let programs = Programs::of_environment(self.project.root());
        from_recorded(&launch.unwrap_or_default(), self.file.dialect, &of_file, &programs)
    }

    /// Says what became of it: what a run has done in these words, or what else is the case.
    pub(crate) fn say(
        &self,
        context: &mut Context,
        (fate, task): (&Fate, Option<&TaskId>),
        done: &str,
    ) -> Result<(), Error> {
        let pid = match fate {
            Fate::Taken(run) | Fate::Unheard(run) => Some(run.pid),
            Fate::Recorded | Fate::Kept | Fate::Died(_) => None,
        };
        if context.format == Format::Json {
            let taken = matches!(fate, Fate::Taken(_) | Fate::Recorded);
            let plan = &self.subject.name;
            json::document(&mut context.out, &Document { plan, task, taken, waits: !taken, pid })?;
            return Ok(());
        }
        Ok(writeln!(context.out, "{}", self.words(fate, done))?)
    }

    /// It in words.
    pub(crate) fn words(&self, fate: &Fate, done: &str) -> String {
        let (name, run) = (&self.subject.name, self.subject.command("run", ""));
        match fate {
            Fate::Taken(holder) => format!("The run of '{name}' (process {}) {done}.", holder.pid),
            Fate::Recorded => format!("Noted; no run of '{name}' is under way: go on with {run}."),
            Fate::Kept => format!("No run of '{name}' is under way; the next {run} takes it."),
            Fate::Died(holder) => format!(
                "The run of '{name}' (process {}) was killed before it took this. It is kept: the next {run} takes it.",
                holder.pid
            ),
            Fate::Unheard(holder) => format!(
                "The run of '{name}' (process {}) is busy and has not taken this yet. It does when it gets to it.",
                holder.pid
            ),
        }
    }
}

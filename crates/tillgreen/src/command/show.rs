//! `tillgreen show`: everything about one task. Takes no part in a run: it only reads.

use std::io;

use engine::{Attempt, History, State};
use jiff::Timestamp;
use plan::TaskId;
use runner::{KeptText, PlanFile, Project};
use serde::Serialize;

use crate::args::{Format, ShowArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::inspect::changes::Changes;
use crate::inspect::output::{agent_kind, feedback, planned, retold, sections};
use crate::task_argument::{Spelled, Tasks};
use crate::view::json;
use crate::view::paint::Paint;
use crate::view::subject::Subject;
use crate::view::task_report::{AttemptReport, Sources, TaskReport};
use crate::view::task_text::{self, Section};
use crate::view::text::clean_lines;

/// The part of a task that is shown.
enum Part {
    Overview,
    Attempt(Attempt),
    Output(Option<Attempt>),
    Prompt(Option<Attempt>),
    Diff(Option<Attempt>),
}

impl Part {
    fn of(arguments: &ShowArgs) -> Self {
        let attempt = arguments.attempt.map(Attempt);
        match (arguments.output, arguments.prompt, arguments.diff) {
            (true, _, _) => Self::Output(attempt),
            (_, true, _) => Self::Prompt(attempt),
            (_, _, true) => Self::Diff(attempt),
            (false, false, false) => attempt.map_or(Self::Overview, Self::Attempt),
        }
    }
}

/// A plan and the task of it that is asked for.
struct Asked<'a> {
    project: &'a Project,
    subject: &'a Subject,
    report: TaskReport,
    /// The run's state; none before the first run, or where the task is newer.
    state: Option<State>,
    task: TaskId,
}

/// One part of a task, for programs.
#[derive(Serialize)]
struct PartDocument<'a> {
    plan: &'a str,
    task: &'a TaskId,
    attempt: Option<Attempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a [Section]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
}

/// Shows a task, or a part of it.
pub(crate) fn run(context: &mut Context, arguments: &ShowArgs) -> Ended {
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    let asked = look_up(context, (&project, &file, &subject), arguments)?;
    match Part::of(arguments) {
        Part::Overview => show_task(context, asked)?,
        Part::Attempt(number) => show_attempt(context, &asked, number)?,
        Part::Output(number) => show_output(context, &asked, number)?,
        Part::Prompt(number) => show_prompt(context, &asked, number)?,
        Part::Diff(number) => show_diff(context, &asked, number)?,
    }
    Ok(exit::DONE)
}

fn look_up<'a>(
    context: &Context,
    (project, file, subject): (&'a Project, &'a PlanFile, &'a Subject),
    arguments: &ShowArgs,
) -> Result<Asked<'a>, Error> {
    let holder = super::status::holder_of(file)?;
    let state = runner::load(file, |_| ())?;
    // A plan that cannot be read any more has a record all the same.
    let plans = super::check::read(file);
    let plans = if state.is_some() { plans.unwrap_or_default() } else { plans? };
    let spelled = Spelled { verb: "show", plan: arguments.plan.as_deref(), task: &arguments.task };
    let tasks = Tasks { plans: &plans, state: state.as_ref() };
    let task = tasks.find(context, (project, subject), &spelled)?;
    let report = planned(subject, &plans, &task);
    let mut history = History::default();
    let mut events = Vec::new();
    let state = runner::load(file, |event| {
        history.record(event);
        if event.what.task() == Some(&task) {
            events.push(event.clone());
        }
    })?;
    let known = state.as_ref().and_then(|state| Some((state, state.task(&task)?)));
    let report = match known {
        Some((state, known)) => {
            let holder = holder.as_ref();
            let sources = Sources { state, history: &history, events: &events, file: Some(file), holder };
            report.with_run(known, &sources).with_feedback(feedback)
        }
        None => report,
    };
    let state = state.filter(|state| state.task(&task).is_some());
    Ok(Asked { project, subject, report, state, task })
}

fn show_task(context: &mut Context, asked: Asked<'_>) -> Result<(), Error> {
    let changes = match &asked.state {
        // A commit that is gone, or a tree that git cannot read, hides nothing else.
        Some(state) => Changes::of_task(asked.project, &asked.report, state)
            .and_then(|changes| changes.files())
            .unwrap_or_default(),
        None => None,
    };
    let report = asked.report.with_changes(changes);
    match context.format {
        Format::Text => {
            let paint = Paint::of(&io::stdout());
            let text = task_text::overview(&report, asked.subject, Timestamp::now(), paint);
            context.out.write_all(text.as_bytes())?;
        }
        Format::Json => json::document(&mut context.out, &report)?,
    }
    Ok(())
}

fn show_attempt(context: &mut Context, asked: &Asked<'_>, number: Attempt) -> Result<(), Error> {
    let attempt = numbered(asked, number)?;
    match context.format {
        Format::Text => {
            let text = task_text::attempt(&asked.report, attempt, Paint::of(&io::stdout()));
            context.out.write_all(text.as_bytes())?;
        }
        Format::Json => json::document(&mut context.out, attempt)?,
    }
    Ok(())
}

fn show_output(context: &mut Context, asked: &Asked<'_>, number: Option<Attempt>) -> Result<(), Error> {
    let attempts = asked.report.attempts();
    let attempt = match number {
        Some(number) => numbered(asked, number)?,
        None => attempts.last().ok_or_else(|| nothing(asked))?,
    };
    let sections = sections(attempt)?;
    match context.format {
        Format::Text => {
            let kind = agent_kind(asked.project.root(), attempt);
            let sections = retold(kind.as_ref(), sections);
            let text = task_text::output(&asked.report, attempt, &sections, Paint::of(&io::stdout()));
            context.out.write_all(text.as_bytes())?;
        }
        Format::Json => {
            let part = PartDocument { output: Some(&sections), ..document(asked, attempt.number()) };
            json::document(&mut context.out, &part)?;
        }
    }
    Ok(())
}

fn show_prompt(context: &mut Context, asked: &Asked<'_>, number: Option<Attempt>) -> Result<(), Error> {
    let attempt = match number {
        Some(number) => numbered(asked, number)?,
        None => {
            let told = asked.report.attempts().iter().rev().find(|attempt| attempt.number().is_some());
            told.ok_or_else(|| match asked.report.attempts() {
                [] => nothing(asked),
                [_, ..] => Error::usage(format!("no agent was started for task {}", asked.task)),
            })?
        }
    };
    let prompt = read(attempt, KeptText::Prompt)?.ok_or_else(|| {
        Error::usage(format!("the prompt of {} at task {} is gone", attempt.name(), asked.task))
    })?;
    match context.format {
        Format::Text => context.out.write_all(clean_lines(&prompt).as_bytes())?,
        Format::Json => {
            let part = PartDocument { prompt: Some(&prompt), ..document(asked, attempt.number()) };
            json::document(&mut context.out, &part)?;
        }
    }
    Ok(())
}

fn show_diff(context: &mut Context, asked: &Asked<'_>, number: Option<Attempt>) -> Result<(), Error> {
    let Some(state) = &asked.state else { return Err(nothing(asked)) };
    let changes = match number {
        Some(number) => Changes::of_attempt((asked.project, &asked.report), state, numbered(asked, number)?)?,
        None => Changes::of_task(asked.project, &asked.report, state)?,
    };
    let diff = changes.lines()?.ok_or_else(|| changes.why_none(&asked.task))?;
    match context.format {
        Format::Text => context.out.write_all(clean_lines(&diff).as_bytes())?,
        Format::Json => {
            let part = PartDocument { diff: Some(&diff), ..document(asked, number) };
            json::document(&mut context.out, &part)?;
        }
    }
    Ok(())
}

fn document<'a>(asked: &'a Asked<'_>, attempt: Option<Attempt>) -> PartDocument<'a> {
    let plan = asked.subject.name.as_str();
    PartDocument { plan, task: &asked.task, attempt, output: None, prompt: None, diff: None }
}

/// The attempt with a number. One that was lost gave its number to the next: the latest is meant.
fn numbered<'a>(asked: &'a Asked<'_>, number: Attempt) -> Result<&'a AttemptReport, Error> {
    let attempts = asked.report.attempts();
    let found = attempts.iter().rev().find(|attempt| attempt.number() == Some(number));
    found.ok_or_else(|| match attempts.iter().filter_map(AttemptReport::number).max() {
        Some(last) => {
            Error::usage(format!("task {} has no attempt {number}: the latest is {last}", asked.task))
                .hint(format!("`{}` shows all of them", asked.subject.show(&asked.task, "")))
        }
        None => nothing(asked),
    })
}

/// The error where nothing was done for a task yet.
fn nothing(asked: &Asked<'_>) -> Error {
    let Asked { task, subject, .. } = asked;
    let error = Error::usage(format!("nothing was done for task {task} yet"));
    if asked.state.as_ref().is_some_and(|state| state.end().is_none()) {
        return error.hint(format!("{} shows where the run stands", subject.command("status", "")));
    }
    error.hint(format!("start the plan with {}", subject.command("run", "")))
}

fn read(attempt: &AttemptReport, text: KeptText) -> Result<Option<String>, Error> {
    let Some(files) = &attempt.files else { return Ok(None) };
    files.read(text).map_err(|error| Error::file("read", files.dir(), error))
}

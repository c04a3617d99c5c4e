//! `tillgreen order`: what `tillgreen-cluster` has the plain program do for runs whose loop is elsewhere: carry out orders
//! in a clone, find plans, show people what happens. What it is told and what it answers are lines of JSON.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use clap::Parser;
use engine::{Action, End, Event, OnEscalation, Said, Seen, State, Status, Toggle, Versioned};
use runner::{Carried, OrderPlace, PlanFile, Project};
use serde::{Deserialize, Serialize};

use crate::args::{Arguments, Command, Format, RunArgs};
use crate::checkpoint::Checkpoint;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{
    Attendance, FileSettings, Programs, SettingsLayer, Sources, apply_recorded, from_recorded, resolve,
};
use crate::view::lines::{self, Clock};
use crate::view::paint::Paint;
use crate::view::subject::Subject;
use crate::view::text::one_line;
use crate::view::{ending, json, question};

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 100;

/// An order.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// Say with what a run of a plan would begin.
    Open {
        /// The plan, from the project's root.
        plan: PathBuf,
        /// The flags of `tillgreen run`.
        flags: Vec<String>,
    },
    /// Say which plan is meant.
    Locate {
        /// The plan as a person names it.
        plan: Option<String>,
    },
    /// Print the events that follow, a line each, for people; then how the run ended.
    Tell {
        /// The plan, from the project's root.
        plan: PathBuf,
        /// What to type to go on.
        again: String,
    },
    /// Print where a run stands, for people.
    Show {
        /// The plan, from the project's root.
        plan: PathBuf,
        /// What to type to go on.
        again: String,
        /// The run's state.
        state: Box<State>,
    },
    /// Make a directive of the answer to the open question.
    Answer {
        /// The plan, from the project's root.
        plan: PathBuf,
        /// The run's state.
        state: Box<State>,
        /// The answer as a person gives it.
        response: String,
    },
    /// Carry out actions of a run.
    CarryOut {
        /// The plan, from the project's root.
        plan: PathBuf,
        /// The run's state.
        state: Box<State>,
        /// The actions.
        actions: Vec<Action>,
    },
}

/// The answer to an order that was carried out.
#[derive(Debug, Serialize)]
struct Answer {
    seen: Vec<Seen>,
}

/// A plan that was found.
#[derive(Debug, Serialize)]
struct Located {
    /// From the project's root.
    plan: PathBuf,
    name: String,
}

/// Reads an order, carries it out and answers it.
pub(crate) fn run(context: &mut Context) -> Ended {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let order: Versioned<Order> = serde_json::from_str(&line).map_err(|error| {
        Error::usage("the order cannot be read: tillgreen and tillgreen-cluster are not of the same version")
            .because(error)
    })?;
    let project = context.project()?;
    match order.content {
        Order::Locate { plan } => {
            let (file, _) = context.plan_alone(&project, plan.as_deref())?;
            let plan = project.relative(&file.path).to_owned();
            answer(context, Located { plan, name: file.name })
        }
        Order::Tell { plan, again } => {
            let (_, subject) = subject(context, &project, &plan)?;
            tell(context, &Subject { instead: Some(again), ..subject })
        }
        Order::Show { plan, again, state } => {
            let (_, subject) = subject(context, &project, &plan)?;
            let subject = Subject { instead: Some(again), ..subject };
            context.out.write_all(standing(&subject, &state).as_bytes())?;
            Ok(exit::DONE)
        }
        Order::Answer { plan, state, response } => {
            let (file, subject) = subject(context, &project, &plan)?;
            let Some((task, asked)) = question::open(&state) else {
                return Err(Error::usage(format!("no question of '{}' is open", subject.name)));
            };
            let checkpoint = Checkpoint::find(&file, task.id());
            let response = crate::answer::read(&response, asked.question, checkpoint.as_ref())?;
            let said = Said::Answer { task: task.id().clone(), since: asked.since, response };
            answer(context, runner::directive(said))
        }
        Order::Open { plan, flags } => {
            // Whoever gave the order keeps its end open: once that is gone, nobody wants the answer.
            runner::live_as_long_as(io::stdin())?;
            let seen = vec![open(&project, &plan, flags)?];
            answer(context, Answer { seen })
        }
        Order::CarryOut { plan, state, actions } => {
            runner::live_as_long_as(io::stdin())?;
            match carry_out(&project, &plan, (&state, &actions))? {
                Carried::Out(seen) => answer(context, Answer { seen }),
                Carried::Interrupted => Ok(exit::INTERRUPTED),
            }
        }
    }
}

fn answer(context: &mut Context, content: impl Serialize) -> Ended {
    json::line(&mut context.out, &Versioned::new(content))?;
    Ok(exit::DONE)
}

fn subject(context: &Context, project: &Project, plan: &Path) -> Result<(PlanFile, Subject), Error> {
    let file = project.locate(project.root(), plan.to_str())?;
    let name = file.name.clone();
    Ok(context.with_subject(project, file, Some(&name)))
}

/// Prints events as they come in, and ends as the run does.
fn tell(context: &mut Context, subject: &Subject) -> Ended {
    let paint = Paint::of(&io::stdout());
    let mut state = State::default();
    for line in io::stdin().lock().lines() {
        let event: Event = serde_json::from_str(&line?).map_err(io::Error::from)?;
        state
            .apply(&event)
            .map_err(|error| Error::usage("the events contradict each other").because(error))?;
        writeln!(context.out, "{}", lines::render(&event, &state, Clock::Local, paint))?;
        context.out.flush()?;
    }
    if let Some(error) = ending::error(subject, &state) {
        return Err(error.asking(question::unanswered(subject, &state)));
    }
    if state.end() == Some(&End::Complete { skipped: 0 }) {
        writeln!(context.out, "{}", exit::ALL_TASKS_COMPLETE)?;
    }
    Ok(exit::DONE)
}

fn standing(subject: &Subject, state: &State) -> String {
    let (done, all) = (state.done_count(), state.tasks().len());
    let ended = ending::error(subject, state).map(|error| error.render(Format::Text));
    let mut text = match (state.end(), ended) {
        (None, _) => format!("'{}': {done}/{all} tasks done, under way\n", subject.name),
        (Some(_), None) => format!("'{}': {done}/{all} tasks done, complete\n", subject.name),
        (Some(_), Some(ended)) => format!("'{}': {done}/{all} tasks done\n{ended}", subject.name),
    };
    for task in state.in_progress() {
        let title = one_line(task.decl.short_title(), TITLE_CHARS_MAX);
        text.push_str(&format!("  {} {title}: {}\n", task.id(), status_word(&task.status)));
    }
    text.push_str(&question::unanswered(subject, state).unwrap_or_default());
    text
}

fn status_word(status: &Status) -> &'static str {
    match status {
        Status::Drafted => "a fix task is written",
        Status::Ready { .. } => "ready",
        Status::Proving | Status::Checking(_) => "is verified",
        Status::Running(_) => "an agent is at work",
        Status::Judging(_) => "is judged",
        Status::Finished { .. } => "waits to come in",
        Status::Landing { .. } | Status::Joining { .. } | Status::Recording { .. } => "comes in",
        Status::Failed => "failed",
        Status::WaitingFor(_) => "waits for its fix task",
        Status::Asking(_) => "a person is asked",
        Status::Done => "done",
        Status::Skipped => "skipped",
    }
}

/// The start of a run with these flags. What cannot be had on many machines is refused before anything begins.
fn open(project: &Project, plan: &Path, flags: Vec<String>) -> Result<Seen, Error> {
    let words = ["tillgreen", "run"].map(str::to_owned).into_iter().chain(flags);
    let arguments = Arguments::try_parse_from(words).map_err(|error| Error::usage(error.to_string()))?;
    let Command::Run(run) = arguments.command else { return Err(Error::usage("no flags of `run`")) };
    let RunArgs { flags, plans, .. } = *run;
    if let Some(stray) = plans.first() {
        return Err(Error::usage(format!("`{stray}` stands behind the flags")).hint("name the plan first"));
    }
    let mut file = project.locate(project.root(), plan.to_str())?;
    let of_file = FileSettings::load(project.root())?;
    of_file.apply_to(&mut file);
    flags.apply_to(&mut file);
    let flags = SettingsLayer { isolate: Some(Toggle::On), share_tree: Some(Toggle::Off), ..flags };
    let resolved = resolve(Sources {
        flags,
        file: &of_file,
        earlier: None,
        state_file: None,
        // Whoever is asked answers from elsewhere, whenever that is.
        attendance: Attendance::Attended,
        dialect: file.dialect,
        programs: &Programs::of_environment(project.root()),
    })?;
    let settings = &resolved.settings;
    let opening = runner::opening(&OrderPlace { project, file: &file, settings })?;
    if opening.rules.pull_request.lifecycle.is_on() {
        return Err(Error::usage("runs on many machines make no pull requests yet")
            .hint("run it with `--pr=false`, and make the pull request of its branch"));
    }
    Ok(Seen::Started(opening))
}

fn carry_out(
    project: &Project,
    plan: &Path,
    (state, actions): (&State, &[Action]),
) -> Result<Carried, Error> {
    let mut file = project.locate(project.root(), plan.to_str())?;
    let of_file = FileSettings::load(project.root())?;
    of_file.apply_to(&mut file);
    let launch = state.opened().map(|opened| opened.launch.clone()).unwrap_or_default();
    apply_recorded(&launch, &mut file)?;
    let programs = Programs::of_environment(project.root());
    let mut settings = from_recorded(&launch, file.dialect, &of_file, &programs)?;
    settings.rules.on_escalation = OnEscalation::Ask;
    let place = OrderPlace { project, file: &file, settings: &settings };
    let mut tell = |text: String| {
        // Where nobody reads it, the work goes on.
        let _ = writeln!(io::stderr(), "{text}");
    };
    Ok(runner::carry_out(&place, (state, actions), &mut tell)?)
}

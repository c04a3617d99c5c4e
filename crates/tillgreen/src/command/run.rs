//! `tillgreen run`: starts or resumes a run, or several.

mod several;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use engine::{Dialect, End, State, Statistics, TaskDecl, Toggle};
use plan::{Plan, Severity};
use runner::git::Git;
use runner::{Beginning, PlanFile, Project, Request, RunError, Settings};
use serde::Serialize;

use crate::args::{Format, RunArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{
    Attendance, CommandOrigin, FileSettings, LiveReader, Mode, Programs, PullRequestLayer, Resolved,
    SettingsLayer, Sources, of_plan, of_settings, resolve,
};
use crate::view::facts::Verbosity;
use crate::view::screen::{Label, Screen};
use crate::view::subject::Subject;
use crate::view::text::{clean, one_line, script_line};
use crate::view::{ci, ending, json, proof, pull_request, question, retry_summary, summary};

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 100;

/// Runs the plans.
pub(crate) fn run(context: &mut Context, arguments: RunArgs) -> Ended {
    let project = context.project()?;
    let mut plans = several::named(context, &project, &arguments.plans)?;
    match plans.pop() {
        Some((file, subject)) if plans.is_empty() => run_one(context, &project, (file, subject), arguments),
        last => {
            plans.extend(last);
            several::run(context, &project, plans, &arguments)
        }
    }
}

fn run_one(
    context: &mut Context,
    project: &Project,
    (mut file, subject): (PlanFile, Subject),
    arguments: RunArgs,
) -> Ended {
    arguments.flags.apply_to(&mut file);
    let of_file = FileSettings::load(project.root())?;
    let flags = arguments.flags.clone();
    let resolved = match settings(project, &file, arguments.flags.clone(), &of_file) {
        // Nobody is needed where nothing is left to do, and nothing else is asked for.
        Err(error) if error.is_no_agent() && flags == SettingsLayer::default() && !of_file.starts_fresh() => {
            let done = runner::load(&file, |_| ())?.filter(|state| super::status::is_complete(&file, state));
            return done.map_or(Err(error), |state| conclude(context, &subject, &file, &state));
        }
        resolved => resolved?,
    };
    if resolved.mode == Mode::DryRun {
        let commands = of_settings(&resolved.settings, &of_file, &flags);
        return dry_run(context, project, (&file, &subject), &resolved.settings, commands);
    }
    let beginning = resolved.start.beginning();
    let live = LiveReader::of_flags(flags, of_file, file.dialect, project.root());
    let settings = &resolved.settings;
    let request = Request { project, file: &file, settings, beginning };
    let telling =
        Telling { verbosity: arguments.verbosity(), junit: arguments.junit, live: Some(live), among: None };
    execute(context, &subject, &request, telling)
}

/// What else is told of a run while it goes on, or told to it.
#[derive(Debug, Default)]
pub(super) struct Telling {
    /// How much scrolls by at a terminal.
    pub(super) verbosity: Verbosity,
    /// The file for the tasks as test results.
    pub(super) junit: Option<PathBuf>,
    /// The reader of the settings that count while the run goes on.
    pub(super) live: Option<LiveReader>,
    /// The name by which it is told from others.
    pub(super) among: Option<Label>,
}

pub(super) fn settings(
    project: &Project,
    file: &PlanFile,
    flags: SettingsLayer,
    settings: &FileSettings,
) -> Result<Resolved, Error> {
    let is_fresh = flags.fresh.map_or_else(|| settings.starts_fresh(), Toggle::is_on);
    let proves_at_most = flags.dry_run.is_none() && flags.pull_request == PullRequestLayer::default();
    // A journal that cannot be read is no reason to refuse starting over.
    let state = if is_fresh { None } else { runner::load(file, |_| ())? };
    let state_file = if is_fresh { None } else { file.recovery_mode() };
    let resolve = |earlier: Option<&BTreeMap<String, String>>| {
        resolve(Sources {
            flags: flags.clone(),
            file: settings,
            earlier,
            state_file: state_file.map(|is_on| if is_on { Toggle::On } else { Toggle::Off }),
            attendance: attendance(),
            dialect: file.dialect,
            programs: &Programs::of_environment(project.root()),
        })
    };
    let earlier = state.as_ref().and_then(State::opened).map(|opened| &opened.launch);
    let is_over = state.as_ref().is_some_and(|state| matches!(state.end(), Some(End::Complete { .. })));
    match resolve(earlier.filter(|_| !is_over)) {
        // Where nothing is left to do but to prove it, whoever did it is asked for nothing more.
        Err(error)
            if error.is_no_agent()
                && proves_at_most
                && state.as_ref().is_some_and(|state| super::status::is_complete(file, state)) =>
        {
            resolve(earlier).map_err(|_| error)
        }
        resolved => resolved,
    }
}

/// The attendance at the terminal: a person, or nobody.
pub(super) fn attendance() -> Attendance {
    let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_attended { Attendance::Attended } else { Attendance::Unattended }
}

/// Runs a plan and says how it ended. Settings that are changed meanwhile are read again.
pub(super) fn execute(
    context: &mut Context,
    subject: &Subject,
    request: &Request<'_>,
    telling: Telling,
) -> Ended {
    let state = carry_out(context.format, subject, request, telling)?;
    conclude(context, subject, request.file, &state)
}

/// Runs a plan until it is complete; where it ends otherwise, the error says how.
fn carry_out(
    format: Format,
    subject: &Subject,
    request: &Request<'_>,
    telling: Telling,
) -> Result<State, Error> {
    let Telling { verbosity, junit, live, among } = telling;
    let screen = Screen::new(format, verbosity, subject.clone(), request.settings.clone());
    let screen = among.into_iter().fold(screen, Screen::among);
    let notify = FileSettings::load(request.project.root())?.notify;
    let screen = screen.reading(live).with_origins(of_project(request)).notifying(&notify);
    notify.unable().iter().for_each(|problem| eprint_quietly(&format!("note: {}\n", clean(problem))));
    let has_answer = matches!(request.beginning, Beginning::Told(..));
    let mut screen = if has_answer { screen.with_answer() } else { screen };
    let finished = runner::run(request, &mut |state, notice| screen.show(state, notice));
    screen.finish_notices();
    let was_asked = screen.has_asked();
    drop(screen);
    if let Err(RunError::NoPullRequest { obstacle }) = &finished {
        return Err(pull_request::refused(&subject.command("run", ""), obstacle));
    }
    let finished = finished.map_err(|error| Error::from(error).about(subject))?;
    leave_results(junit.as_deref(), subject, &finished.state)?;
    if let Some(error) = ending::error(subject, &finished.state) {
        // At a terminal it was put already, and nobody answered.
        let question = if was_asked { None } else { question::unanswered(subject, &finished.state) };
        return Err(error.about(subject).asking(question));
    }
    Ok(finished.state)
}

/// The commands of a run that the project's own files name.
fn of_project(request: &Request<'_>) -> Vec<CommandOrigin> {
    let Request { project, file, settings, .. } = request;
    // Both were read before; what cannot be read any more ends the run with an error of its own.
    let of_file = FileSettings::load(project.root()).unwrap_or_default();
    let plans = super::check::read(file).unwrap_or_default();
    let commands = of_settings(settings, &of_file, &SettingsLayer::default()).into_iter();
    let of_plans = plans.iter().flat_map(|(path, plan)| of_plan(project.relative(path), plan));
    commands.chain(of_plans).filter(|command| command.of_project).collect()
}

/// Leaves the results where a CI system finds them. What it cannot be told does not make a run one that failed.
fn leave_results(junit: Option<&Path>, subject: &Subject, state: &State) -> Result<(), Error> {
    if let Some(actions) = ci::GithubActions::of_environment()
        && let Err(error) = actions.summarize(subject, state)
    {
        eprint_quietly(&format!("note: the summary of the job cannot be written: {error}\n"));
    }
    junit.map_or(Ok(()), |path| {
        ci::write_junit(path, subject, state).map_err(|error| Error::file("write", path, error))
    })
}

/// Says what a run that is complete came to.
fn conclude(context: &mut Context, subject: &Subject, file: &PlanFile, state: &State) -> Ended {
    summarize(context, subject, file, state)?;
    if is_all_done(state) && context.format == Format::Text {
        writeln!(context.out, "{}", exit::ALL_TASKS_COMPLETE)?;
    }
    Ok(exit::DONE)
}

fn summarize(context: &mut Context, subject: &Subject, file: &PlanFile, state: &State) -> Result<(), Error> {
    let summary = summary::complete(subject, state) + &summary::left(subject, &stray_boxes(file));
    // For programs the last event says it: every line of theirs is JSON.
    match context.format {
        Format::Text => {
            let retries = retry_summary(subject, file, state);
            let text = ci::harmless_here(format!("\n{summary}\n{}", retries.unwrap_or_default()));
            write!(context.out, "{text}")?;
        }
        Format::Json => eprint_quietly(&summary),
    }
    Ok(())
}

/// True if a run is complete, nothing was skipped, and no proof is red.
fn is_all_done(state: &State) -> bool {
    state.end() == Some(&End::Complete { skipped: 0 }) && proof::alarm(state).is_none()
}

/// The lines of unticked boxes among the tasks that are none, as nothing was done about them. What cannot be read any
/// more was worked off all the same.
fn stray_boxes(file: &PlanFile) -> Vec<usize> {
    let plans = super::check::read(file).unwrap_or_default();
    plans.iter().flat_map(|(_, plan)| plan.stray_boxes()).map(|problem| problem.line).collect()
}

/// The summary of the retries; nothing where there is nothing to tell.
fn retry_summary(subject: &Subject, file: &PlanFile, state: &State) -> Option<String> {
    let has_failed = state.tasks().iter().any(|task| !task.failures.is_empty());
    if !has_failed && file.dialect == Dialect::Spec {
        return None;
    }
    // The run is complete whatever the record says of it now; `stats` explains what is wrong with it.
    let (state, history) = runner::review(&file.journal()).ok().flatten()?;
    let statistics = Statistics::of(&state, &history);
    Some(format!("{}\n", retry_summary::render(&subject.name, &statistics)))
}

fn eprint_quietly(text: &str) {
    use std::io::Write as _;
    // Where nobody reads the summary, the run is complete all the same.
    let _ = io::stderr().write_all(format!("\n{text}").as_bytes());
}

/// The work that a real run would do.
#[derive(Serialize)]
struct Outlook<'a> {
    plan: &'a str,
    agent: &'a str,
    done: usize,
    tasks: Vec<String>,
    /// The commands that would be run for them, and where each comes from.
    commands: Vec<CommandOrigin>,
    /// The commands that the pull request would need.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pull_request: Vec<String>,
    /// Why there would be none.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    settings: &'a BTreeMap<String, String>,
}

/// The hooks that git would run at each commit, and at a push.
fn of_hooks(project: &Project) -> Vec<CommandOrigin> {
    let hooks = project.git().map(Git::active_hooks).unwrap_or_default();
    let origin = |hook: String| CommandOrigin {
        command: hook,
        from: "a hook of git's".to_owned(),
        purpose: "look at what is committed or pushed".to_owned(),
        of_project: true,
    };
    hooks.into_iter().map(origin).collect()
}

/// The parts of a plan, read; an error in one of them is refused.
fn without_errors(file: &PlanFile, subject: &Subject) -> Result<Vec<(PathBuf, Plan)>, Error> {
    let plans = super::check::read(file)?;
    let of_order = runner::order_problems(&plans.iter().map(|(_, plan)| plan).collect::<Vec<_>>());
    let of_order = of_order.iter().map(|(_, problem)| problem);
    let mut problems = plans.iter().flat_map(|(_, plan)| plan.problems()).chain(of_order);
    if problems.any(|problem| problem.severity == Severity::Error) {
        return Err(Error::usage(format!("{} has errors", subject.path))
            .hint(format!("{} shows them", subject.command("check", ""))));
    }
    Ok(plans)
}

/// Says what would be done.
fn dry_run(
    context: &mut Context,
    project: &Project,
    (file, subject): (&PlanFile, &Subject),
    settings: &Settings,
    mut commands: Vec<CommandOrigin>,
) -> Ended {
    let plans = without_errors(file, subject)?;
    let tasks = super::check::declared_tasks(file)?;
    let open: Vec<&TaskDecl> = tasks.iter().filter(|task| !task.ticked).collect();
    let done = tasks.len() - open.len();
    commands.extend(plans.iter().flat_map(|(path, plan)| of_plan(project.relative(path), plan)));
    commands.extend(of_hooks(project));
    let names_lifecycle = plans.iter().any(|(_, plan)| plan.names_pr_lifecycle());
    let wants_forge = settings.pull_request.wanted.map_or(names_lifecycle, Toggle::is_on);
    let forge = if wants_forge { runner::forge::outline(project, file, settings) } else { Vec::new() };
    let refusal = if wants_forge { runner::forge::foresee(project, settings) } else { None };
    let refusal = refusal.map(|obstacle| pull_request::outlook(&obstacle, settings.pull_request.wanted));
    if context.format == Format::Json {
        let tasks = open.iter().map(|task| task.id.to_string()).collect();
        let outlook = Outlook {
            plan: &subject.name,
            agent: &settings.agent.name,
            done,
            tasks,
            commands,
            pull_request: forge.into_iter().map(|(command, _)| command).collect(),
            refusal,
            settings: &settings.launch,
        };
        json::document(&mut context.out, &outlook)?;
        return Ok(exit::DONE);
    }
    writeln!(context.out, "'{}': {done}/{} tasks completed", clean(&subject.name), tasks.len())?;
    writeln!(context.out, "Agent: {} ({})", settings.agent.name, clean(&settings.agent.shown()))?;
    for task in open {
        writeln!(context.out, "would run {} {}", task.id, one_line(task.short_title(), TITLE_CHARS_MAX))?;
    }
    writeln!(context.out, "Commands:")?;
    for CommandOrigin { command, from, purpose, .. } in commands {
        writeln!(
            context.out,
            "  `{}` to {} ({})",
            clean(&script_line(&command)),
            clean(&purpose),
            clean(&from)
        )?;
    }
    for (command, purpose) in forge {
        writeln!(context.out, "would run `{}` to: {purpose}", clean(&command))?;
    }
    if let Some(refusal) = refusal {
        writeln!(context.out, "{}", clean(&refusal))?;
    }
    Ok(exit::DONE)
}

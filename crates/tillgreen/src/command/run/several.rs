//! Several plans in one go: one after another, or side by side as `--jobs` allows, with one summary for all.

use std::fs;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};
use std::time::Duration;

use engine::{State, Toggle, Usage};
use runner::{PlanFile, Project, Request};
use serde::Serialize;

use super::{
    Telling, attendance, carry_out, eprint_quietly, is_all_done, settings, summarize, without_errors,
};
use crate::args::{Format, RunArgs};
use crate::cli::{Context, Ended};
use crate::command::list;
use crate::error::{Error, Kind};
use crate::exit;
use crate::settings::{Attendance, FileSettings, LiveReader, Mode, Resolved, SettingsLayer, of_settings};
use crate::view::facts::Verbosity;
use crate::view::paint::Paint;
use crate::view::plans::{self, PlanRow};
use crate::view::screen::Label;
use crate::view::subject::Subject;
use crate::view::text::{clean, count, quoted, took};
use crate::view::{ci, json, usage};

/// The plans that arguments name, each once. A folder that is none itself stands for those below it that are not complete.
pub(super) fn named(
    context: &Context,
    project: &Project,
    arguments: &[String],
) -> Result<Vec<(PlanFile, Subject)>, Error> {
    if arguments.is_empty() {
        return Ok(vec![context.plan(project, None)?]);
    }
    let mut found: Vec<(PlanFile, Subject)> = Vec::new();
    for argument in arguments {
        let plans = match context.plan(project, Some(argument)) {
            Ok(plan) => vec![plan],
            Err(error) => below(context, project, argument)?.ok_or(error)?,
        };
        for (file, subject) in plans {
            if found.iter().all(|(other, _)| other.path != file.path) {
                found.push((file, subject));
            }
        }
    }
    Ok(found)
}

/// The plans below a folder that are not complete; none where no plan is below it.
fn below(
    context: &Context,
    project: &Project,
    folder: &str,
) -> Result<Option<Vec<(PlanFile, Subject)>>, Error> {
    let Ok(path) = fs::canonicalize(context.dir.join(folder)) else { return Ok(None) };
    let mut files = runner::plans(project);
    files.retain(|file| file.path.starts_with(&path));
    if files.is_empty() {
        return Ok(None);
    }
    let all = files.len();
    files.retain(|file| !list::row(project, file, None).is_complete());
    let plan = |file: PlanFile| {
        let argument = list::argument(project, &file);
        context.with_subject(project, file, Some(&argument))
    };
    let plans: Vec<_> = files.into_iter().map(plan).collect();
    if plans.is_empty() {
        let what = format!("{} below {folder}, complete already", count(all, "plan"));
        return Err(Error::usage(what).hint("name the one that you want to run again"));
    }
    Ok(Some(plans))
}

/// A plan with all that its run needs.
struct Prepared {
    file: PlanFile,
    subject: Subject,
    resolved: Resolved,
    flags: SettingsLayer,
}

/// Runs plans and says what became of them.
pub(super) fn run(
    context: &mut Context,
    project: &Project,
    plans: Vec<(PlanFile, Subject)>,
    arguments: &RunArgs,
) -> Ended {
    refuse_what_is_for_one(project, arguments)?;
    let of_file = FileSettings::load(project.root())?;
    let prepare = |flags: &SettingsLayer| -> Result<Vec<Prepared>, Error> {
        plans.iter().map(|plan| prepared(project, plan.clone(), flags, &of_file)).collect()
    };
    let mut prepared = prepare(&arguments.flags)?;
    let mut at_once = 1;
    if arguments.side_by_side {
        let jobs = prepared.iter().map(|plan| plan.resolved.settings.rules.parallel.jobs).min().unwrap_or(1);
        let (plans_at_once, jobs_each) = shares(plans.len(), jobs);
        at_once = plans_at_once;
        prepared = prepare(&SettingsLayer {
            jobs: Some(jobs_each),
            isolate: Some(Toggle::On),
            ..arguments.flags.clone()
        })?;
    } else if project.git().is_some()
        && prepared.iter().any(|plan| plan.resolved.settings.rules.keep_going.is_on())
    {
        // What a plan that stops leaves behind must not keep the next one from beginning.
        prepared = prepare(&SettingsLayer { isolate: Some(Toggle::On), ..arguments.flags.clone() })?;
    }
    for Prepared { resolved, .. } in &mut prepared {
        let rules = &mut resolved.settings.rules;
        // Where others wait behind it, or work beside it, a plan that asks is left until somebody comes.
        let is_attended = at_once == 1 && !rules.keep_going.is_on();
        let attendance = if is_attended { attendance() } else { Attendance::Unattended };
        rules.on_escalation = attendance.escalation(rules.on_escalation);
    }
    if prepared.iter().any(|plan| plan.resolved.mode == Mode::DryRun) {
        return dry_run(context, project, &prepared, &of_file);
    }
    let runs = Runs { project, of_file: &of_file, prepared: &prepared, verbosity: arguments.verbosity() };
    let outcomes = runs.carry_out(context, at_once)?;
    conclude(context, project, &prepared, outcomes)
}

/// The number of plans that run at once, and of agents that each may have at work.
fn shares(plans: usize, jobs: u32) -> (usize, u32) {
    let at_once = u32::try_from(plans).unwrap_or(u32::MAX).min(jobs).max(1);
    (usize::try_from(at_once).unwrap_or(usize::MAX), (jobs / at_once).max(1))
}

fn refuse_what_is_for_one(project: &Project, arguments: &RunArgs) -> Result<(), Error> {
    let one_by_one = "run the plans one at a time";
    if arguments.junit.is_some() {
        return Err(Error::usage("--junit is about one plan").hint(one_by_one));
    }
    if arguments.flags.pull_request.pr.is_some_and(Toggle::is_on) {
        let why = "--pr is about one plan: each pull request needs a branch of its own";
        return Err(Error::usage(why).hint(format!("{one_by_one}, each with a --branch")));
    }
    if arguments.side_by_side && project.git().is_none() {
        let why = "plans run side by side in work trees, and this is no git repository";
        return Err(Error::usage(why).hint("leave out --side-by-side, or make it one with `git init`"));
    }
    Ok(())
}

fn prepared(
    project: &Project,
    (mut file, subject): (PlanFile, Subject),
    flags: &SettingsLayer,
    of_file: &FileSettings,
) -> Result<Prepared, Error> {
    flags.apply_to(&mut file);
    without_errors(&file, &subject)?;
    let resolved = settings(project, &file, flags.clone(), of_file)?;
    Ok(Prepared { file, subject, resolved, flags: flags.clone() })
}

fn dry_run(context: &mut Context, project: &Project, prepared: &[Prepared], of_file: &FileSettings) -> Ended {
    for Prepared { file, subject, resolved, flags } in prepared {
        let commands = of_settings(&resolved.settings, of_file, flags);
        super::dry_run(context, project, (file, subject), &resolved.settings, commands)?;
    }
    Ok(exit::DONE)
}

/// The runs of some plans.
struct Runs<'a> {
    project: &'a Project,
    of_file: &'a FileSettings,
    prepared: &'a [Prepared],
    verbosity: Verbosity,
}

/// The end of a plan's run: its state once it is complete, or why it is not.
type Outcome = Result<State, Error>;

impl Runs<'_> {
    /// Runs all of them, so many at once, and tells of each when it ends. After one that is not complete no other begins,
    /// unless it is to be gone on; those that did not begin have no outcome.
    fn carry_out(&self, context: &mut Context, at_once: usize) -> Result<Vec<Option<Outcome>>, Error> {
        let mut outcomes: Vec<Option<Outcome>> = self.prepared.iter().map(|_| None).collect();
        let mut waiting = 0..self.prepared.len();
        let format = context.format;
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let mut at_work = 0;
            let mut is_over = false;
            loop {
                is_over |= runner::git::is_interrupted();
                while !is_over
                    && at_work < at_once
                    && let Some(index) = waiting.next()
                {
                    self.start(scope, index, (format, at_once), sender.clone());
                    at_work += 1;
                }
                if at_work == 0 {
                    return Ok(outcomes);
                }
                let (index, outcome) = receiver.recv().expect("this thread has a sender as well");
                at_work -= 1;
                is_over |= self.tell(context, index, &outcome)?;
                outcomes[index] = Some(outcome);
            }
        })
    }

    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        index: usize,
        (format, at_once): (Format, usize),
        sender: Sender<(usize, Outcome)>,
    ) {
        let Prepared { file, subject, resolved, flags } = &self.prepared[index];
        if at_once == 1 && format == Format::Text {
            let name = clean(&subject.name);
            eprint_quietly(&format!("Plan {} of {}: {name}\n", index + 1, self.prepared.len()));
        }
        scope.spawn(move || {
            let name = subject.name.clone();
            let among = Some(if at_once == 1 { Label::InTurn(name) } else { Label::Beside(name) });
            let (flags, before) = (flags.clone(), self.of_file.clone());
            let live = Some(LiveReader::of_flags(flags, before, file.dialect, self.project.root()));
            let (settings, beginning) = (&resolved.settings, resolved.start.beginning());
            let request = Request { project: self.project, file, settings, beginning };
            let telling = Telling { verbosity: self.verbosity, junit: None, live, among };
            // Whoever started this waits for it.
            let _ = sender.send((index, carry_out(format, subject, &request, telling)));
        });
    }

    /// Tells how a plan ended. True if no other is to begin.
    fn tell(&self, context: &mut Context, index: usize, outcome: &Outcome) -> Result<bool, Error> {
        let Prepared { file, subject, resolved, .. } = &self.prepared[index];
        match outcome {
            Ok(state) => {
                summarize(context, subject, file, state)?;
                context.out.flush()?;
                Ok(false)
            }
            Err(error) => {
                eprint_quietly(&ci::harmless_here(error.render(context.format)));
                let is_over = error.code() == exit::INTERRUPTED;
                Ok(is_over || !resolved.settings.rules.keep_going.is_on())
            }
        }
    }
}

/// All plans, for programs.
#[derive(Serialize)]
struct Summary {
    plans: Vec<PlanRow>,
}

/// Says what became of all plans. The exit code is that of the first that is not complete.
fn conclude(
    context: &mut Context,
    project: &Project,
    prepared: &[Prepared],
    outcomes: Vec<Option<Outcome>>,
) -> Ended {
    let plans: Vec<PlanRow> = prepared.iter().map(|plan| list::row(project, &plan.file, None)).collect();
    let complete = outcomes.iter().filter(|outcome| matches!(outcome, Some(Ok(_)))).count();
    match context.format {
        Format::Json => json::line(&mut context.out, &Summary { plans })?,
        Format::Text => {
            let came_to = came_to(prepared, &outcomes);
            writeln!(context.out, "\n{complete} of {} complete{came_to}", count(prepared.len(), "plan"))?;
            write!(context.out, "{}", plans::render_rows(&plans, Paint::of(&std::io::stdout())))?;
        }
    }
    let is_green = |outcome: &Option<Outcome>| matches!(outcome, Some(Ok(state)) if is_all_done(state));
    if context.format == Format::Text && outcomes.iter().all(is_green) {
        writeln!(context.out, "{}", exit::ALL_TASKS_COMPLETE)?;
    }
    let mut codes = outcomes.iter().flatten().filter_map(|outcome| outcome.as_ref().err().map(Error::code));
    // What did not begin although nothing failed was kept from it by somebody.
    let interrupted = outcomes.iter().any(Option::is_none).then_some(exit::INTERRUPTED);
    let Some(code) = codes.next().or(interrupted) else { return Ok(exit::DONE) };
    let what = format!("{} of {} not complete", prepared.len() - complete, count(prepared.len(), "plan"));
    let error = Error::new(Kind::Ended(code), what);
    Err(next_steps(prepared, &outcomes).into_iter().fold(error, Error::hint))
}

/// What to type next.
fn next_steps(prepared: &[Prepared], outcomes: &[Option<Outcome>]) -> Vec<String> {
    let is_waiting =
        |outcome: &Option<Outcome>| matches!(outcome, Some(Err(error)) if error.code() == exit::WAITING);
    let plans = || prepared.iter().zip(outcomes);
    let waiting = plans().filter(|(_, outcome)| is_waiting(outcome));
    let mut steps: Vec<String> = waiting
        .map(|(plan, _)| format!("{} shows what is asked", plan.subject.command("status", "")))
        .collect();
    let others = plans().filter(|(_, outcome)| !is_waiting(outcome) && !matches!(outcome, Some(Ok(_))));
    let others: Vec<&Subject> = others.map(|(plan, _)| &plan.subject).collect();
    if let Some((first, rest)) = others.split_first() {
        let rest: Vec<String> = rest.iter().filter_map(|plan| plan.argument.as_deref().map(quoted)).collect();
        let is_held_up = outcomes.iter().any(Option::is_none);
        let why =
            if is_held_up { "; `--keep-going` goes on with the others where one stops or asks" } else { "" };
        steps.push(format!("go on with {}{why}", first.command("run", &rest.join(" "))));
    }
    steps
}

/// The time that plans took, and their cost where that is known.
fn came_to(prepared: &[Prepared], outcomes: &[Option<Outcome>]) -> String {
    let begun = prepared.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_some());
    let states: Vec<State> =
        begun.filter_map(|(plan, _)| runner::load(&plan.file, |_| ()).ok().flatten()).collect();
    let elapsed: Duration = states.iter().map(State::elapsed).sum();
    let used = states.iter().fold(Usage::default(), |sum, state| sum.plus(state.usage()));
    let cost = usage::words(used).map(|words| format!(", {words}")).unwrap_or_default();
    format!(": {} of work{cost}", took(elapsed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_share_the_jobs() {
        let table = [(2, 4, (2, 2)), (3, 4, (3, 1)), (9, 4, (4, 1)), (1, 4, (1, 4)), (2, 1, (1, 1))];
        for (plans, jobs, expected) in table {
            assert_eq!(shares(plans, jobs), expected, "{plans} plans, {jobs} jobs");
        }
    }
}

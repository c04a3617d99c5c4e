//! The words of a run when it begins and when it is complete.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{
    Before, Dialect, Isolation, Parallel, Recovery, State, Status, Summary, Task, TaskKind, Unverifiable,
    Verification,
};
use plan::TaskId;
use runner::{Agent, Brief, Settings, Wanted};

use super::budget;
use super::proof;
use super::pull_request;
use super::subject::Subject;
use super::text::{clean, count, one_line, script_line, took};
use super::usage;
use crate::settings::CommandOrigin;

/// Characters of an agent's command in the start message.
const COMMAND_CHARS_MAX: usize = 100;
/// Characters of a warning.
const WARNING_CHARS_MAX: usize = 400;
/// Tasks whose signs of unfinished work are named, and how many of each.
const SIGNED_MAX: usize = 10;
pub(super) const SIGNS_MAX: usize = 5;
/// Skipped tasks that are told of at length.
const SKIPS_MAX: usize = 10;

/// The message at the start; the state is the one after the run was opened.
pub(crate) fn start(
    subject: &Subject,
    state: &State,
    settings: &Settings,
    origins: &[CommandOrigin],
) -> String {
    if let Some(brief) = &settings.planning {
        return planning_start(subject, brief, state, settings);
    }
    let mut text = format!("Starting execution for '{}'\n\n", one_line(&subject.name, COMMAND_CHARS_MAX));
    push(&mut text, &format!("Tasks: {}/{} completed", state.done_count(), state.tasks().len()));
    match state.first_unsettled() {
        Some(task) => push(&mut text, &format!("Starting from task {}", task.id())),
        None => push(&mut text, "Nothing is left to do"),
    }
    for line in crew(settings) {
        push(&mut text, &line);
    }
    if let Some((folder, _)) =
        subject.path.split_once("/specs/").filter(|(folder, _)| !folder.ends_with(".kiro"))
    {
        push(&mut text, &format!("Agents and commands work at the root of the repository, not in {folder}/"));
    }
    for line in of_project(origins) {
        push(&mut text, &line);
    }
    push(&mut text, "\nThe execution loop will:");
    push(&mut text, &format!("- {} and check each result itself", side_by_side(state)));
    for line in policy(state).into_iter().chain(budget::lines(state, settings)) {
        push(&mut text, &format!("- {line}"));
    }
    push(&mut text, "\nBeginning execution...");
    text
}

/// The message at the start of a run in which a plan, or commands for one, are written.
fn planning_start(subject: &Subject, brief: &Brief, state: &State, settings: &Settings) -> String {
    let what = match brief.wanted {
        Wanted::Plan { .. } => "Planning",
        Wanted::Commands { .. } => "Looking for commands for the tasks of",
    };
    let mut text =
        format!("{what} '{}', in a copy of the project\n\n", one_line(&subject.name, COMMAND_CHARS_MAX));
    crew(settings).iter().for_each(|line| push(&mut text, line));
    let attempts = state.rules().map_or(1, |rules| rules.limits.task_iterations_max);
    let attempts = count(usize::try_from(attempts).unwrap_or(usize::MAX), "attempt");
    push(&mut text, &format!("\nWhat is written is checked and its commands are tried, up to {attempts}"));
    budget::lines(state, settings).iter().for_each(|line| push(&mut text, line));
    text
}

/// The commands that the project's own files name: those of the settings one by one, those of plans by their number.
fn of_project(origins: &[CommandOrigin]) -> Vec<String> {
    let (of_plans, others): (Vec<_>, Vec<_>) =
        origins.iter().partition(|origin| origin.from.contains(".md:"));
    let mut lines: Vec<String> = others.into_iter().map(told).collect();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for (plan, _) in of_plans.iter().filter_map(|origin| origin.from.rsplit_once(':')) {
        *numbers.entry(plan).or_default() += 1;
    }
    lines.extend(numbers.iter().map(|(plan, number)| {
        format!("From {}: {}", one_line(plan, COMMAND_CHARS_MAX), count(*number, "verify command"))
    }));
    lines
}

fn told(origin: &CommandOrigin) -> String {
    let command = one_line(&script_line(&origin.command), COMMAND_CHARS_MAX);
    format!("From {}: `{command}` to {}", origin.from, one_line(&origin.purpose, COMMAND_CHARS_MAX))
}

/// The agents that work, and what they may do: nobody should have to look that up.
fn crew(settings: &Settings) -> Vec<String> {
    let one = std::slice::from_ref(&settings.agent);
    let agents = if settings.agents.is_empty() { one } else { &settings.agents };
    let mut lines: Vec<String> = agents.iter().map(introduction).collect();
    let roles = &settings.rules.agents;
    for (role, names) in [("Executor", &roles.executor), ("QA", &roles.qa), ("Reviewer", &roles.reviewer)] {
        if !names.is_empty() {
            lines.push(format!("{role}: {}", names.join(", then ")));
        }
    }
    lines
}

fn introduction(agent: &Agent) -> String {
    let model = agent.model.as_ref().map(|model| format!(", model {}", one_line(model, COMMAND_CHARS_MAX)));
    format!(
        "Agent: {} ({}){}: {}",
        agent.name,
        one_line(&agent.shown(), COMMAND_CHARS_MAX),
        model.unwrap_or_default(),
        agent.kind.allows(agent.permission)
    )
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn side_by_side(state: &State) -> String {
    let parallel = state.rules().map(|rules| &rules.parallel);
    let marked = || state.unsettled().filter(|task| task.decl.parallel).take(2).count() == 2;
    let is_wide = |parallel: &&Parallel| {
        let is_spec = state.rules().is_some_and(|rules| rules.dialect == Dialect::Spec);
        parallel.jobs > 1 && (!is_spec || parallel.infer.is_on() || marked())
    };
    match parallel.filter(is_wide) {
        None if parallel.is_some_and(|parallel| parallel.isolation == Isolation::Always) => {
            "Execute one task at a time, each in a work tree,".to_owned()
        }
        None => "Execute one task at a time".to_owned(),
        Some(parallel) => {
            let place = match parallel.isolation {
                Isolation::Trees | Isolation::Always => "each in a work tree of its own",
                Isolation::Shared => "all in the project itself",
            };
            format!("Execute up to {} independent tasks side by side, {place},", parallel.jobs)
        }
    }
}

fn policy(state: &State) -> Vec<String> {
    let Some(rules) = state.rules() else { return Vec::new() };
    let limits = &rules.limits;
    let attempts = count(usize::try_from(limits.task_iterations_max).unwrap_or(usize::MAX), "attempt");
    let after_failure = match rules.recovery {
        Recovery::Off if limits.task_iterations_max == 1 => {
            "Try each task once: one that fails is not tried again".to_owned()
        }
        Recovery::Off => format!("Try a failing task again, with feedback, up to {attempts}"),
        Recovery::On => format!(
            "Write fix tasks for what fails: up to {} for a task, nested up to {} deep",
            limits.fix_tasks_max, limits.fix_depth_max
        ),
    };
    let cap = state.global_cap();
    let goal = format!("Continue until all tasks complete or {cap} agent starts are reached");
    let wants_forge = rules.pull_request.lifecycle.is_on();
    let forge = wants_forge.then(|| "Push, and look after a pull request until it is green".to_owned());
    [after_failure, goal].into_iter().chain(forge).collect()
}

/// The words about unticked boxes in these lines of the plan that are no tasks; nothing where there are none.
pub(crate) fn left(subject: &Subject, lines: &[usize]) -> String {
    let Some(first) = lines.first() else { return String::new() };
    let boxes = count(lines.len(), "open checkbox");
    let (tasks, place) =
        if lines.len() == 1 { ("a task", "in line") } else { ("tasks", "the first in line") };
    let look = subject.command("check", "");
    format!("Left:      {boxes} of the plan not read as {tasks}, {place} {first} (see {look})\n")
}

/// The summary of a run that is complete.
pub(crate) fn complete(subject: &Subject, state: &State) -> String {
    let summary = Summary::of(state);
    let name = one_line(&subject.name, COMMAND_CHARS_MAX);
    let mut text = format!("Completed '{name}' in {}\n\n", took(summary.elapsed));
    push(&mut text, &format!("Tasks:     {}/{} completed", summary.originals_done, summary.originals));
    if summary.fixes > 0 {
        push(&mut text, &format!("Fix tasks: {}/{} completed", summary.fixes_done, summary.fixes));
    }
    push(&mut text, &format!("Attempts:  {}, {} failed", summary.attempts, summary.failed_attempts));
    if let Some(used) = usage::words(summary.usage) {
        push(&mut text, &format!("Used:      {used}"));
    }
    for (task, fixes) in &summary.fixed {
        push(&mut text, &format!("Fixed:     {task} by {}", list(fixes)));
    }
    if let Some(line) = proved_by(state) {
        push(&mut text, &line);
    }
    let judged = ids(state.judged());
    if !judged.is_empty() {
        let (tasks, ids) = (count(judged.len(), "task"), list(&judged));
        push(
            &mut text,
            &format!("Judged:    {tasks} without a command to prove it ({ids}), by {}", judge(state)),
        );
    }
    let unchanged = tasks_where(state, |task| task.is_unchanged);
    if !unchanged.is_empty() {
        let tasks = count(unchanged.len(), "task");
        push(&mut text, &format!("Unchanged: {tasks} done without a change ({})", list(&unchanged)));
    }
    let green = tasks_where(state, |task| task.grounds.before == Some(Before::Green));
    if !green.is_empty() {
        let tasks = count(green.len(), "task");
        push(
            &mut text,
            &format!("Green:     {tasks} with a command that was green before the work ({})", list(&green)),
        );
    }
    look_here(state).iter().for_each(|line| push(&mut text, line));
    let skipped = skipped(state);
    if !skipped.is_empty() {
        let tasks = count(skipped.len(), "task");
        push(&mut text, &format!("Skipped:   {tasks} ({})", list(&skipped)));
    }
    for warning in &summary.warnings.named {
        push(&mut text, &format!("Warning:   {}", one_line(warning, WARNING_CHARS_MAX)));
    }
    if summary.warnings.more > 0 {
        let look = subject.command("log", "");
        push(&mut text, &format!("           and {} more: {look}", summary.warnings.more));
    }
    if let Some(head) = state.first_head() {
        let short = head.get(..9).unwrap_or(head);
        push(&mut text, &format!("Before:    {short} (back to it: git reset --keep {short})"));
    }
    push(&mut text, regression(state));
    proof::summary(subject, state).iter().for_each(|line| push(&mut text, line));
    if let Some(said) = pull_request::summary(state.pull_request()) {
        push(&mut text, &format!("Pull request: {said}"));
    }
    text + &skip_blocks(state)
}

fn regression(state: &State) -> &'static str {
    let is_on = state.rules().is_some_and(|rules| rules.regression.is_on());
    if is_on {
        "The regression command is green"
    } else {
        "Regressions were not checked: no regression command is set"
    }
}

/// The places where work says of itself that it is put off or silenced.
fn look_here(state: &State) -> Vec<String> {
    let is_odd = |task: &&Task| task.status == Status::Done && !task.grounds.signs.is_empty();
    let tasks: Vec<&Task> = state.tasks().iter().map(AsRef::as_ref).filter(is_odd).collect();
    let line = |task: &&Task| {
        let signs = format!("{}: {}", task.id(), task.grounds.signs.words(SIGNS_MAX));
        format!("Look here: {}", one_line(&signs, WARNING_CHARS_MAX))
    };
    let more = tasks.len().saturating_sub(SIGNED_MAX);
    let more = (more > 0).then(|| format!("           and in the work of {}", count(more, "more task")));
    tasks.iter().take(SIGNED_MAX).map(line).chain(more).collect()
}

/// What the tasks rest on, where a command was not a task's own.
fn proved_by(state: &State) -> Option<String> {
    let on = |verification| {
        tasks_where(state, |task| {
            task.decl.verification == verification && task.decl.kind != TaskKind::Checkpoint
        })
    };
    let borrowed = on(Verification::Borrowed);
    let (own, judged) = (on(Verification::Command).len(), on(Verification::Judgement).len());
    (!borrowed.is_empty()).then(|| {
        format!(
            "Rests on:  a command of the task's own: {own}; one of the phase or the settings, with facts or a judge: {} \
             ({}); a judge: {judged}",
            borrowed.len(),
            list(&borrowed)
        )
    })
}

/// The agent that judged: the one that is named for it, or else the one that did the work.
fn judge(state: &State) -> String {
    let Some(rules) = state.rules() else { return "nobody".to_owned() };
    if rules.unverifiable != Unverifiable::Agent {
        return "a person".to_owned();
    }
    match (rules.agents.qa.first(), rules.agents.executor.first()) {
        (Some(judge), worker) if Some(judge) != worker => one_line(judge, COMMAND_CHARS_MAX),
        (_, _) => "the agent that did the work, in a fresh start".to_owned(),
    }
}

fn ids<'a>(tasks: impl Iterator<Item = &'a Task>) -> Vec<TaskId> {
    tasks.map(|task| task.id().clone()).collect()
}

/// The tasks that are done and of which this is true.
fn tasks_where(state: &State, is: impl Fn(&Task) -> bool) -> Vec<TaskId> {
    ids(state.done_where(is))
}

fn skipped(state: &State) -> Vec<TaskId> {
    let tasks = state.tasks().iter().filter(|task| task.status == Status::Skipped);
    tasks.map(|task| task.id().clone()).collect()
}

/// The lines that tell of each task that was left out, the first of them.
fn skip_blocks(state: &State) -> String {
    let skips = state.tasks().iter().filter(|task| task.status == Status::Skipped);
    let blocks = skips.filter_map(|task| Some(task.skip.as_ref()?.block(task))).take(SKIPS_MAX);
    let lines = |block: String| block.lines().map(|line| clean(line) + "\n").collect::<String>();
    blocks.map(|block| format!("\n{}", lines(block))).collect()
}

/// Ids in a row.
pub(crate) fn list(ids: &[TaskId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use engine::{End, Rules, Toggle};

    use super::*;
    use crate::view::samples::{self, Story};

    fn settings() -> Settings {
        samples::settings(Agent::new("claude", runner::AgentKind::Claude, "claude"))
    }

    #[test]
    fn the_start() {
        let state = Story::new(Rules::default()).state();
        insta::assert_snapshot!(start(&samples::subject(), &state, &settings(), &[]), @r"
        Starting execution for 'auth'

        Tasks: 1/3 completed
        Starting from task 1.2
        Agent: claude (claude): may edit files in its folder and run any command, without being asked

        The execution loop will:
        - Execute one task at a time and check each result itself
        - Try a failing task again, with feedback, up to 5 attempts
        - Continue until all tasks complete or 100 agent starts are reached

        Beginning execution...
        ");
    }

    #[test]
    fn a_single_attempt_is_no_retry() {
        let limits = engine::Limits { task_iterations_max: 1, ..engine::Limits::default() };
        let state = Story::new(Rules { limits, ..Rules::default() }).state();
        let text = start(&samples::subject(), &state, &settings(), &[]);
        assert!(text.contains("\n- Try each task once: one that fails is not tried again\n"), "{text}");
    }

    #[test]
    fn the_start_in_recovery_mode() {
        let state = Story::new(Rules { recovery: Recovery::On, ..Rules::default() }).state();
        let text = start(&samples::subject(), &state, &settings(), &[]);
        assert!(
            text.contains("- Write fix tasks for what fails: up to 3 for a task, nested up to 3 deep"),
            "{text}"
        );
    }

    #[test]
    fn the_end_with_fixes() {
        let state = samples::fixed().end(End::Complete { skipped: 0 }).state();
        insta::assert_snapshot!(complete(&samples::subject(), &state), @r"
        Completed 'auth' in 4m 30s

        Tasks:     3/3 completed
        Fix tasks: 2/2 completed
        Attempts:  6, 2 failed
        Fixed:     1.2 by 1.2.1
        Fixed:     1.2.1 by 1.2.1.1
        Before:    012345678 (back to it: git reset --keep 012345678)
        Regressions were not checked: no regression command is set
        ");
    }

    #[test]
    fn a_start_on_a_complete_plan_takes_no_time() {
        let story = samples::fixed().end(End::Complete { skipped: 0 }).idles(1_260).opens();
        let text = complete(&samples::subject(), &story.end(End::Complete { skipped: 0 }).state());
        assert!(text.starts_with("Completed 'auth' in 4m 40s\n"), "{text}");
    }

    #[test]
    fn warnings_are_named() {
        let noted = |story: Story, number: u32| {
            story.then(engine::What::Noted {
                task: None,
                text: format!("task 1.3 left file {number}"),
                passing: false,
            })
        };
        let story = (1..=12).fold(samples::fixed(), noted);
        let state = story.end(End::Complete { skipped: 0 }).state();
        let text = complete(&samples::subject(), &state);
        assert!(
            text.contains("\nWarning:   task 1.3 left file 1\nWarning:   task 1.3 left file 2\n"),
            "{text}"
        );
        assert!(text.contains("left file 10\n           and 2 more: `tillgreen log`\n"), "{text}");
    }

    #[test]
    fn the_end_with_a_skip_and_a_regression_command() {
        let rules = Rules { regression: Toggle::On, ..Rules::default() };
        let story = Story::new(rules).fails("1.2", "no way").escalates("1.2").skips("1.2").passes("1.3");
        let state = story.end(End::Complete { skipped: 1 }).state();
        insta::assert_snapshot!(complete(&samples::subject(), &state), @r"
        Completed 'auth' in 1m 30s

        Tasks:     2/3 completed
        Attempts:  2, 1 failed
        Skipped:   1 task (1.2)
        Before:    012345678 (back to it: git reset --keep 012345678)
        The regression command is green

        [SKIPPED] 1.2 Add a parser
          Reason: User escalation after 1 failed attempt
          Impact: No task depends on it
        ");
    }
}

//! What a planner wrote is examined: whether it is a plan that can be run, and whether its commands prove anything.

use std::path::Path;

use plan::{Plan, Problem, Script, ScriptLint, Task, Verify, one_line};
use serde::{Deserialize, Serialize};

use crate::agent::find_program;
use crate::atomic;
use crate::check;
use crate::error::RunError;
use crate::mask::mask;
use crate::planning::brief::{Brief, Wanted};
use crate::planning::commands;
use crate::planning::draft::{Draft, PlanningError};
use crate::planning::trial::{Trial, Trials, Tried};
use crate::run::runtime;
use crate::worktrees::{SET_UP_DEADLINE, SetUpRunner, Worktrees};

/// The size of a draft.
const BYTES_MAX: usize = 1 << 20;
/// The characters of all problems, and of one: what goes into the feedback of an attempt.
const PROBLEMS_CHARS_MAX: usize = 1_400;
const PROBLEM_CHARS_MAX: usize = 320;

/// A text that is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedPlan {
    /// The whole plan.
    pub text: String,
    /// Its commands, or those that are new in it.
    pub tried: Vec<Tried>,
    /// The tasks that are left without a command.
    pub left: Vec<String>,
    /// The other files that the planner changed in its copy, of which nothing is taken.
    pub dropped: Vec<String>,
}

/// The result of an examination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examined {
    /// There is nothing to be said against it.
    Right(ProposedPlan),
    /// What is wrong, in lines.
    Wrong(Vec<String>),
}

/// Examines the draft in a copy of the project. One that is right is kept there as the proposal.
pub fn examine(copy: &Path, worktrees: &Worktrees) -> Result<Examined, PlanningError> {
    let (draft, brief) = Draft::at(copy.parent().unwrap_or(copy), worktrees)?;
    draft.keep(None)?;
    let mut examination = Examination { draft: &draft, brief: &brief, problems: Vec::new() };
    let proposal = examination.proposal()?;
    let mut problems = examination.problems;
    if let (Some(proposal), true) = (proposal, problems.is_empty()) {
        draft.keep(Some(&proposal))?;
        return Ok(Examined::Right(proposal));
    }
    problems.sort_by_key(|(line, _)| *line);
    Ok(Examined::Wrong(told(&brief, &problems)))
}

/// The lines about problems, as many as there is room for.
fn told(brief: &Brief, problems: &[(usize, String)]) -> Vec<String> {
    let mut room = PROBLEMS_CHARS_MAX;
    let mut lines = Vec::new();
    for (line, what) in problems {
        let what: String = one_line(&mask(what)).chars().take(PROBLEM_CHARS_MAX).collect();
        let text = if *line == 0 { what } else { format!("line {line}: {what}") };
        let Some(left) = room.checked_sub(text.chars().count()) else { break };
        room = left;
        lines.push(text);
    }
    let more = problems.len() - lines.len();
    lines.extend((more > 0).then(|| format!("and {more} more")));
    let number = problems.len();
    lines.push(format!(
        "error: {} has {number} problem{}",
        brief.draft(),
        if number == 1 { "" } else { "s" }
    ));
    lines
}

struct Examination<'a> {
    draft: &'a Draft,
    brief: &'a Brief,
    /// What is wrong, each with its line; 0 for the whole.
    problems: Vec<(usize, String)>,
}

/// A command of a draft.
struct Candidate {
    line: usize,
    task: String,
    script: Script,
    /// True if it is to be red before the work.
    proves: bool,
}

impl Examination<'_> {
    /// The plan that the draft amounts to, unless there is none.
    fn proposal(&mut self) -> Result<Option<ProposedPlan>, PlanningError> {
        let Some(text) = self.text() else { return Ok(None) };
        let (plan, candidates) = match &self.brief.wanted {
            Wanted::Plan { .. } => {
                let plan = self.brief.read(&text);
                let candidates = self.whole(&plan);
                (plan, candidates)
            }
            Wanted::Commands { original } => self.added(original, &text),
        };
        for candidate in &candidates {
            self.look_at(candidate, &plan);
        }
        let tried = self.try_out(&candidates, &plan)?;
        let left = plan.unverified().iter().map(|task| task.id.to_string()).collect();
        let dropped = self.draft.dropped(self.brief)?;
        Ok(Some(ProposedPlan { text: plan.text().to_owned(), tried, left, dropped }))
    }

    fn text(&mut self) -> Option<String> {
        let problem = match atomic::read(&self.draft.path(self.brief)).map(String::from_utf8) {
            Ok(Ok(text)) if text.len() <= BYTES_MAX && !text.trim().is_empty() => return Some(text),
            Ok(Ok(text)) if text.len() > BYTES_MAX => "it is longer than any plan",
            Ok(Ok(_)) => "it is empty",
            Ok(Err(_)) => "it is not UTF-8",
            Err(_) => "it was not written",
        };
        self.problem(0, problem);
        None
    }

    fn problem(&mut self, line: usize, what: &str) {
        self.problems.push((line, what.to_owned()));
    }

    fn told(&mut self, problem: &Problem) {
        let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        self.problem(problem.line, &format!("{}{hint}", problem.message));
    }

    /// Looks at a whole plan; gives its commands.
    fn whole(&mut self, plan: &Plan) -> Vec<Candidate> {
        plan.problems().to_vec().iter().for_each(|problem| self.told(problem));
        if plan.reading().format.is_foreign() {
            let what = "its tasks have none of the fields Do, Files, Done when and Verify";
            self.problem(0, what);
            return Vec::new();
        }
        // What is wrong with commands is said of each, by what comes of it.
        let is_of_command = |problem: &&Problem| problem.message.starts_with("the verify command of ");
        let is_of_verify = |problem: &&Problem| {
            problem.message.contains(" is verified by prose only")
                || problem.message.ends_with(" has no verification")
        };
        let lints = plan.lint();
        lints
            .iter()
            .filter(|problem| !is_of_command(problem) && !is_of_verify(problem))
            .for_each(|problem| self.told(problem));
        let mut candidates = Vec::new();
        for task in plan.tasks() {
            self.look_at_task(plan, task);
            match plan.verify(task) {
                Verify::Runnable(script) => candidates.push(Candidate {
                    line: task.line,
                    task: task.id.to_string(),
                    script,
                    proves: !task.markers.verify && !task.markers.red,
                }),
                Verify::Prose(_) | Verify::Absent => {
                    self.problem(
                        task.line,
                        &format!("task {} has no Verify with one command in backticks", task.id),
                    );
                }
            }
        }
        candidates
    }

    fn look_at_task(&mut self, plan: &Plan, task: &Task) {
        let id = &task.id;
        if task.state.is_done() {
            self.problem(task.line, &format!("the box of task {id} is ticked, and nothing is done yet"));
        }
        if id.name().starts_with('#') {
            self.problem(task.line, &format!("task {id} has no id: write `- [ ] 1.1 Title`"));
        }
        let fields = plan.fields(task);
        if fields.do_.is_none() && !task.markers.verify {
            self.problem(task.line, &format!("task {id} has no Do: its agent is told nothing else"));
        }
        match fields.files {
            None if !task.markers.verify => {
                self.problem(task.line, &format!("task {id} has no Files: name what it creates or changes"));
            }
            Some(files) => {
                let outside = files
                    .paths
                    .iter()
                    .find(|path| path.starts_with(['/', '~']) || path.split('/').any(|part| part == ".."));
                if let Some(path) = outside {
                    self.problem(task.line, &format!("the Files of {id} lie outside of the project: {path}"));
                }
                if files.paths.contains(&self.brief.plan) {
                    self.problem(
                        task.line,
                        &format!("the Files of {id} name the plan, which no agent changes"),
                    );
                }
            }
            None => {}
        }
    }

    /// The plan with the commands of a draft in it, and these commands.
    fn added(&mut self, original: &str, text: &str) -> (Plan, Vec<Candidate>) {
        let before = self.brief.read(original);
        let (proposed, problems) = commands::read(text, &before);
        problems.iter().for_each(|(line, problem)| self.problem(*line, problem));
        if proposed.is_empty() && problems.is_empty() {
            self.problem(0, "it has no command");
        }
        let mut plan = before.clone();
        let mut candidates = Vec::new();
        for one in proposed {
            match plan.add_verify(&one.task.id, one.command) {
                Ok(()) => candidates.push(Candidate {
                    line: one.line,
                    task: one.task.id.to_string(),
                    script: Script::new(vec![one.command.to_owned()]),
                    proves: !one.task.markers.verify && !one.task.markers.red,
                }),
                Err(error) => {
                    self.problem(one.line, &format!("{error}: it has to be one line without backticks"));
                }
            }
        }
        (plan, candidates)
    }

    /// Looks at a command without running it.
    fn look_at(&mut self, candidate: &Candidate, plan: &Plan) {
        let Candidate { line, task, script, .. } = candidate;
        for lint in script.lints() {
            let what = match lint {
                ScriptLint::CannotFail(why) => format!("the command of {task} cannot fail: {why}"),
                ScriptLint::HidesFailure(why) => format!("the command of {task} hides failures: {why}"),
                ScriptLint::AbsolutePath(path) => {
                    format!("the command of {task} names {path}: write paths from the root of the project")
                }
            };
            self.problem(*line, &what);
        }
        let root = self.draft.git.root();
        for program in script.programs().iter().filter(|program| find_program(program, root).is_none()) {
            if !is_made(plan, program) {
                self.problem(
                    *line,
                    &format!("the command of {task} needs the program `{program}`, which is not here"),
                );
            }
        }
    }

    /// Tries the commands before the work. One that is green is sent back once.
    fn try_out(&mut self, candidates: &[Candidate], plan: &Plan) -> Result<Vec<Tried>, PlanningError> {
        let draft = self.draft;
        let runtime = runtime().map_err(RunError::io("start a thread for", &draft.folder))?;
        let logs = draft.folder.join("logs");
        let variables = &draft.slots.worktrees().variables;
        let by = SetUpRunner::new(runtime, logs.clone(), SET_UP_DEADLINE).without(variables);
        let trials = Trials { git: &draft.git, slots: &draft.slots, by, base: draft.base(self.brief)?, logs };
        let proving: Vec<&Script> = candidates
            .iter()
            .filter(|candidate| candidate.proves)
            .map(|candidate| &candidate.script)
            .collect();
        let results = trials.all(&proving).ok_or(PlanningError::Interrupted)?;
        let mut sent_back = draft.sent_back();
        let mut tried = Vec::new();
        for candidate in candidates {
            let (task, command) = (candidate.task.clone(), check::one_line(&candidate.script));
            let known = results.get(&candidate.script.text).filter(|_| candidate.proves);
            let trial = known.cloned().unwrap_or(Trial::Meaningless);
            let pair = (task.clone(), command.clone());
            match &trial {
                Trial::Green if !sent_back.contains(&pair) && candidate.script.cannot_fail().is_none() => {
                    let what = format!(
                        "the command of {task} is green before the work (`{command}`), so it proves nothing: take one that fails \
                         until the task is done. If there is none, leave it as it is, and the person is told"
                    );
                    self.problem(candidate.line, &what);
                    sent_back.push(pair);
                }
                Trial::Lacks(why) if !named(why).is_some_and(|name| is_made(plan, name)) => {
                    self.problem(candidate.line, &format!("the command of {task} does not run here: {why}"));
                }
                Trial::Red
                | Trial::Green
                | Trial::Lacks(_)
                | Trial::Unknown(_)
                | Trial::NotTried
                | Trial::Meaningless => {}
            }
            tried.push(Tried { task, command, trial });
        }
        draft.send_back(&sent_back)?;
        Ok(tried)
    }
}

/// The name of what a command lacks.
fn named(why: &str) -> Option<&str> {
    let (_, rest) = why.split_once('`')?;
    rest.split_once('`').map(|(name, _)| name)
}

/// True if tasks of the plan are to make a program, a module or a folder: by their Files, or since one says that it
/// installs it.
fn is_made(plan: &Plan, name: &str) -> bool {
    let name = name.trim_start_matches("./");
    let module = name.split('.').next().unwrap_or(name);
    plan.tasks().iter().any(|task| {
        let files = plan.fields(task).files.unwrap_or_default();
        let is_file = |path: &String| {
            let path = path.trim_start_matches("./");
            path == name || path.split('/').any(|part| part == name || part.split('.').next() == Some(module))
        };
        let words = plan.block(task).to_lowercase();
        let is_named = || {
            words
                .split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.'))
                .any(|word| word == name)
        };
        files.paths.iter().any(is_file) || words.contains("install") && is_named()
    })
}

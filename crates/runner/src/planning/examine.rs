//! What a planner wrote is examined: whether it is a plan that can be run, and whether its commands prove anything.

use std::path::Path;

use plan::{Plan, Script, one_line};
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::check;
use crate::error::RunError;
use crate::mask::mask;
use crate::planning::brief::{Brief, Wanted};
use crate::planning::checks::{Candidate, Wrong, is_made, look_at_command, look_at_plan};
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
fn told(brief: &Brief, problems: &[Wrong]) -> Vec<String> {
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
    problems: Vec<Wrong>,
}

impl Examination<'_> {
    /// The plan that the draft amounts to, unless there is none.
    fn proposal(&mut self) -> Result<Option<ProposedPlan>, PlanningError> {
        let Some(text) = self.text() else { return Ok(None) };
        let (plan, candidates) = match &self.brief.wanted {
            Wanted::Plan { .. } => {
                let plan = self.brief.read(&text);
                let (candidates, wrong) = look_at_plan(&plan, &self.brief.plan);
                self.problems.extend(wrong);
                (plan, candidates)
            }
            Wanted::Commands { original } => self.added(original, &text)?,
        };
        for candidate in &candidates {
            self.problems.extend(look_at_command(candidate, &plan, self.draft.git.root()));
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

    /// The plan with the commands of a draft in it, and these commands.
    fn added(&mut self, original: &str, text: &str) -> Result<(Plan, Vec<Candidate>), PlanningError> {
        let before = self.brief.read(original);
        let (proposed, problems) = commands::read(text, &before);
        problems.iter().for_each(|(line, problem)| self.problem(*line, problem));
        let mut plan = before.clone();
        let mut candidates = Vec::new();
        let mut sent_back = self.draft.sent_back();
        let mut refused = Vec::new();
        for one in proposed {
            let pair = (one.task.id.to_string(), one.command.to_owned());
            match plan.add_verify(&one.task.id, one.command) {
                Ok(()) => {
                    let script = Script::new(vec![one.command.to_owned()]);
                    candidates.push(Candidate::of(one.task, one.line, script));
                }
                // Who insists goes without it; the other commands are offered all the same.
                Err(_) if sent_back.contains(&pair) => {}
                Err(error) => {
                    refused.push((one.line, format!("{error}: {}", how_it_fits(one.command))));
                    sent_back.push(pair);
                }
            }
        }
        if candidates.is_empty() && refused.is_empty() && problems.is_empty() {
            self.problem(0, "it has no command that can be written into the plan");
        }
        self.problems.extend(refused);
        self.draft.send_back(&sent_back)?;
        Ok((plan, candidates))
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

/// What makes a command fit that was not taken as it stands.
fn how_it_fits(command: &str) -> &'static str {
    if command.contains('`') {
        "it has to be one without backticks"
    } else {
        "it has to begin with a program, as in `bash scripts/check.sh`"
    }
}

/// The name of what a command lacks.
fn named(why: &str) -> Option<&str> {
    let (_, rest) = why.split_once('`')?;
    rest.split_once('`').map(|(name, _)| name)
}

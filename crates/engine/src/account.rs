//! The account that a run gives of itself to whoever reviews its work: what came of it, what to look at first, and on what
//! each task rests. Counted from the state when somebody asks.

use std::time::Duration;

use plan::TaskId;

use crate::event::{CapKind, End, StopReason};
use crate::evidence::{Before, Evidence};
use crate::proof::ProofVerdict;
use crate::rules::Unverifiable;
use crate::state::State;
use crate::status::Status;
use crate::task::{Task, TaskKind, Verification};

/// Tasks that are named for having been tried most often.
const TRIED_MAX: usize = 3;
/// Signs of unfinished work that are named of a task.
const SIGNS_MAX: usize = 5;

/// The account of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// What came of it, in a sentence.
    pub verdict: String,
    /// True if nothing speaks against taking it as it is.
    pub is_green: bool,
    /// What a reviewer should look at first, the most telling before the rest.
    pub look_first: Vec<Point>,
    /// The fix tasks of each task that needed some, with what each was written for.
    pub chains: Vec<Chain>,
}

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The task that it is about, if it is about one.
    pub task: Option<TaskId>,
    /// What it is.
    pub text: String,
}

/// A task of the plan's author with the fix tasks that it needed, fixes of fixes included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The task.
    pub task: TaskId,
    /// Its fix tasks in order, each with how deep it nests and the error that it was written for.
    pub fixes: Vec<(TaskId, u32, String)>,
}

impl Account {
    /// The account of a run so far.
    pub fn of(state: &State) -> Self {
        let look_first = points(state);
        let is_complete = matches!(state.end(), Some(End::Complete { .. })) || is_all_settled(state);
        let is_red = state.proof().is_some_and(|proof| proof.red().next().is_some());
        let is_green = is_complete && !is_red && !state.lacks_proof();
        Self { verdict: verdict(state), is_green, look_first, chains: chains(state) }
    }
}

impl State {
    /// How long a task that is done or was left out took, from its first start to its end, as far as a program was there.
    pub fn time_of(&self, task: &Task) -> Option<Duration> {
        let whole = task.started_at.zip(task.ended_at).map(|(began, ended)| ended.duration_since(began));
        let whole = whole.map(|whole| Duration::try_from(whole).unwrap_or_default())?;
        self.elapsed_on(task.id()).map(|elapsed| elapsed.min(whole))
    }

    /// Tasks that an agent or a person judged, because no command can prove them.
    pub fn judged(&self) -> impl Iterator<Item = &Task> {
        self.done_where(|task| {
            task.decl.verification == Verification::Judgement
                && task.decl.kind != TaskKind::Checkpoint
                && task.passes > 0
        })
    }

    /// The tasks that are done and of which this is true.
    pub fn done_where(&self, is: impl Fn(&Task) -> bool) -> impl Iterator<Item = &Task> {
        let tasks = self.tasks().iter().map(AsRef::as_ref);
        tasks.filter(move |task: &&Task| task.status == Status::Done && is(task))
    }
}

impl Task {
    /// What its being done rests on, in a few words.
    pub fn rests_on(&self, state: &State) -> String {
        let is_by_person = || state.rules().is_some_and(|rules| rules.unverifiable != Unverifiable::Agent);
        match (&self.status, &self.proof) {
            (Status::Skipped, _) => return "left out".to_owned(),
            (Status::Done, None) => {}
            (Status::Done, Some(record)) => match &record.verdict {
                ProofVerdict::Green { exit_code } => {
                    let command = record.command.as_deref().map(|command| format!(": {command}"));
                    let command = command.unwrap_or_default();
                    return format!("exit code {exit_code} in a clean checkout{command}");
                }
                ProofVerdict::Red { .. } => return "red in a clean checkout".to_owned(),
                ProofVerdict::Superseded { .. } => return "green, until later tasks changed it".to_owned(),
                ProofVerdict::LeftOut { .. } | ProofVerdict::NotProved { .. } | ProofVerdict::NotReached => {}
            },
            (_, _) => return "not done".to_owned(),
        }
        if self.is_ticked_by_hand || self.started_at.is_none() {
            return "ticked by a person".to_owned();
        }
        let words = match (self.decl.kind, self.decl.verification) {
            (TaskKind::Checkpoint, _) => "a person's answer",
            (_, Verification::Command) => "its own command",
            (_, Verification::Borrowed) => "a command that is not its own, with facts or a judge",
            (_, Verification::Judgement) if is_by_person() => "a person's judgement",
            (_, Verification::Judgement) => "an agent's judgement",
        };
        words.to_owned()
    }
}

fn is_all_settled(state: &State) -> bool {
    !state.tasks().is_empty() && state.first_unsettled().is_none()
}

fn verdict(state: &State) -> String {
    let (done, all, skipped) = (state.done_count(), state.tasks().len(), state.skipped_count());
    let far = match skipped {
        0 => format!("{done} of {all} {} done", if all == 1 { "task is" } else { "tasks are" }),
        _ => format!("{done} of {all} tasks are done and {skipped} left out"),
    };
    let proof = match state.proof() {
        Some(proof) if proof.red().next().is_some() => {
            format!("; but {} red in a clean checkout of it", proof.red().count())
        }
        Some(_) => ", and what can be was proved once more in a clean checkout".to_owned(),
        None if state.lacks_proof() => "; the proof of it is not finished".to_owned(),
        None => String::new(),
    };
    match state.end() {
        Some(End::Complete { .. }) => format!("Complete: {far}{proof}."),
        Some(end) => format!("Not complete: {far}; {}.", why(end)),
        None if is_all_settled(state) => format!("Complete: {far}{proof}."),
        None => format!("Under way, or cut off: {far}."),
    }
}

fn why(end: &End) -> String {
    match end {
        End::Complete { .. } => "nothing is left".to_owned(),
        End::Stopped(StopReason::Retries { task, attempts }) => {
            format!("task {task} failed {attempts} times")
        }
        End::Stopped(StopReason::FixTasks { task, limit }) => {
            format!("task {task} is red after {limit} fix tasks")
        }
        End::Stopped(StopReason::FixDepth { task, .. }) => {
            format!("fixes of fixes of task {task} nest too deep")
        }
        End::Stopped(StopReason::Regression { .. }) => "the regression command is red".to_owned(),
        End::Stopped(StopReason::PullRequest { .. }) => "a limit of the pull request was reached".to_owned(),
        End::Capped(CapKind::Iterations { limit }) => format!("the cap of {limit} agent starts was reached"),
        End::Capped(CapKind::Time { .. }) => "the cap on time was reached".to_owned(),
        End::Capped(CapKind::Cost { .. }) => "the cap on cost was reached".to_owned(),
        End::Capped(CapKind::Tokens { .. }) => "the cap on tokens was reached".to_owned(),
        End::Waiting { task } => format!("task {task} waits for an answer"),
        End::PullRequest { .. } => "the pull request waits for a person".to_owned(),
        End::Unavailable { reason } => format!("the agent stays away: {}", plan::one_line(reason)),
        End::Paused { .. } => "it was paused".to_owned(),
        End::Aborted => "a person ended it".to_owned(),
        End::Interrupted => "it was interrupted".to_owned(),
    }
}

fn points(state: &State) -> Vec<Point> {
    let of = |task: &Task, text: String| Point { task: Some(task.id().clone()), text };
    let mut points = Vec::new();
    for red in state.proof().into_iter().flat_map(|proof| proof.red()) {
        let error = red.verdict.error().unwrap_or_default();
        let text = format!("red in a clean checkout: {}", plan::one_line(error));
        points.push(Point { task: Some(red.task.clone()), text });
    }
    points.extend(
        state
            .judged()
            .map(|task| of(task, format!("no command proves it; it rests on {}", task.rests_on(state)))),
    );
    for task in state.tasks().iter().filter(|task| task.status == Status::Skipped) {
        let reason = task.skip.as_ref().map(|skip| plan::one_line(&skip.reason)).unwrap_or_default();
        points.push(of(task, format!("left out: {reason}")));
    }
    for task in state.tasks() {
        let found = task.grounds.findings.iter().filter_map(Evidence::finding);
        points.extend(found.map(|finding| of(task, finding)));
        let signs = &task.grounds.signs;
        if task.status == Status::Done && !signs.is_empty() {
            points
                .push(of(task, format!("says of itself that it is unfinished: {}", signs.words(SIGNS_MAX))));
        }
    }
    for warning in &state.warnings.named {
        points.push(Point { task: None, text: warning.clone() });
    }
    let green = state.done_where(|task| task.grounds.before == Some(Before::Green));
    points.extend(green.map(|task| of(task, "its command was green before the work".to_owned())));
    let unchanged = state.done_where(|task| task.is_unchanged);
    points.extend(unchanged.map(|task| of(task, "done without a change".to_owned())));
    let borrowed = state.done_where(|task| task.decl.verification == Verification::Borrowed);
    points.extend(borrowed.map(|task| of(task, format!("rests on {}", task.rests_on(state)))));
    points.extend(tried_most(state).map(|task| {
        let failed = task.failures.len();
        of(task, format!("failed {failed} times {}", came_to(task)))
    }));
    points
}

fn came_to(task: &Task) -> &'static str {
    if task.status == Status::Done {
        "and passed then"
    } else if task.status == Status::Skipped {
        "and was left out"
    } else {
        "and is not done"
    }
}

/// The tasks that failed most often, if any failed more than once.
fn tried_most(state: &State) -> impl Iterator<Item = &Task> {
    let mut tasks: Vec<&Task> =
        state.tasks().iter().map(AsRef::as_ref).filter(|task: &&Task| task.failures.len() > 1).collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(task.failures.len()));
    tasks.into_iter().take(TRIED_MAX)
}

fn chains(state: &State) -> Vec<Chain> {
    let originals = state.tasks_with_fixes().filter(|task| task.decl.fix_of.is_none());
    let chain = |task: &Task| {
        let mut chain = Chain { task: task.id().clone(), fixes: Vec::new() };
        collect(state, task, &mut chain.fixes);
        chain
    };
    originals.map(chain).collect()
}

/// Fixes cannot nest without end: each is written once, for a task that was there before.
fn collect(state: &State, task: &Task, fixes: &mut Vec<(TaskId, u32, String)>) {
    for fix in &task.fixes {
        let error = state.fix_plan(fix).map(|plan| plan::one_line(&plan.error)).unwrap_or_default();
        fixes.push((fix.clone(), state.fix_depth(fix), error));
        if let Some(fix) = state.task(fix) {
            collect(state, fix, fixes);
        }
    }
}

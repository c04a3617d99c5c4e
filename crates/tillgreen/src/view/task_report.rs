//! Everything that is known of one task: what the plan says of it, where it stands, and every attempt, put together from
//! the state, the history and the task's own events.

use std::path::PathBuf;

use engine::{
    Attempt, Dispatch, Event, Failure, Grounds, History, Judge, ProofRecord, Role, Span, SpanKind,
    SpanOutcome, Started, State, Task, Usage, What,
};
use jiff::Timestamp;
use plan::{Commit, Fields, Files, TaskId};
use runner::journal::Holder;
use runner::{AttemptFiles, KeptText, PlanFile};
use serde::Serialize;

use super::lines::{found_text, in_the_way, question_text, response_text};
use super::status::Current;
use super::text::took;

/// All that is known of a task.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TaskReport {
    pub(super) plan: String,
    pub(super) path: String,
    pub(super) task: TaskId,
    pub(super) title: String,
    /// None before the run knows it.
    pub(super) standing: Option<Current>,
    pub(super) fields: Vec<Field>,
    /// The tasks that it was written to fix, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fix_of: Vec<FixOf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fixes: Vec<Current>,
    #[serde(skip_serializing_if = "Usage::is_unknown")]
    pub(super) usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
    /// What is known of how much its green command proves.
    pub(super) grounds: Grounds,
    /// What the latest proof said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<ProofRecord>,
    pub(super) attempts: Vec<AttemptReport>,
    /// The files that were changed, as git lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changes: Option<String>,
}

/// A field of the task's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Field {
    pub(super) name: String,
    pub(super) text: String,
}

/// A task that another one was written to fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FixOf {
    pub(super) task: String,
    pub(super) error: String,
}

/// An attempt at a task, or a `[VERIFY]` command without an agent.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AttemptReport {
    /// None for a command without an agent.
    pub(super) attempt: Option<Attempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    pub(super) began: Timestamp,
    pub(super) worked_ms: u64,
    pub(super) verdict: Verdict,
    /// The steps on the way, in words.
    pub(super) steps: Vec<String>,
    /// The steps that followed from its failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) then: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<Failure>,
    #[serde(skip_serializing_if = "Usage::is_unknown")]
    pub(super) usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
    /// The commit that was checked out when it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<String>,
    /// The part of its prompt about the failures before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) feedback: Option<String>,
    /// Its prompt and its logs.
    #[serde(skip)]
    pub(crate) files: Option<AttemptFiles>,
    /// Those of its judges.
    #[serde(skip)]
    pub(crate) judges: Vec<AttemptFiles>,
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Passed,
    Failed,
    Lost,
    Unavailable,
    UnderWay,
    Undecided,
}

impl Verdict {
    /// It in words.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Lost => "lost with the program, or for want of a work tree; it counts as none",
            Self::Unavailable => "the agent could not be had; it counts as none",
            Self::UnderWay => "under way",
            Self::Undecided => "not decided",
        }
    }
}

/// The parts of a run's record that a report is made from.
pub(crate) struct Sources<'a> {
    pub(crate) state: &'a State,
    pub(crate) history: &'a History,
    /// Those about the task, in order.
    pub(crate) events: &'a [Event],
    pub(crate) file: Option<&'a PlanFile>,
    pub(crate) holder: Option<&'a Holder>,
}

impl TaskReport {
    /// A task that no run has met: only the plan knows it.
    pub(crate) fn planned((plan, path): (&str, &str), id: &TaskId, title: &str, fields: &Fields) -> Self {
        Self {
            plan: plan.to_owned(),
            path: path.to_owned(),
            task: id.clone(),
            title: title.to_owned(),
            standing: None,
            fields: listed(fields),
            fix_of: Vec::new(),
            fixes: Vec::new(),
            usage: Usage::default(),
            commit: None,
            grounds: Grounds::default(),
            proof: None,
            attempts: Vec::new(),
            changes: None,
        }
    }

    /// Adds what a run knows of it.
    pub(crate) fn with_run(self, task: &Task, sources: &Sources<'_>) -> Self {
        let Sources { state, holder, .. } = *sources;
        let fixes = task.fixes.iter().filter_map(|fix| state.task(fix));
        Self {
            title: task.decl.short_title().to_owned(),
            standing: Some(Current::of(task, state, holder)),
            fix_of: lineage(state, task.id()),
            fixes: fixes.map(|fix| Current::of(fix, state, holder)).collect(),
            usage: task.usage,
            commit: task.commit.clone(),
            grounds: task.grounds.clone(),
            proof: task.proof.clone(),
            attempts: attempts(task, sources),
            ..self
        }
    }

    /// Adds the files that were changed.
    pub(crate) fn with_changes(self, changes: Option<String>) -> Self {
        Self { changes, ..self }
    }

    /// The task.
    pub(crate) fn task(&self) -> &TaskId {
        &self.task
    }

    /// Its attempts, oldest first.
    pub(crate) fn attempts(&self) -> &[AttemptReport] {
        &self.attempts
    }

    /// Adds what each attempt was told of the failures before it.
    pub(crate) fn with_feedback(mut self, feedback: impl Fn(&AttemptReport) -> Option<String>) -> Self {
        for attempt in &mut self.attempts {
            attempt.feedback = feedback(attempt);
        }
        self
    }
}

impl AttemptReport {
    /// True if it failed.
    pub(crate) fn is_failed(&self) -> bool {
        self.verdict == Verdict::Failed
    }

    /// The files that grow while it is under way.
    pub(crate) fn growing(files: &AttemptFiles) -> Vec<PathBuf> {
        let texts =
            [KeptText::AgentOutput, KeptText::AgentErrors, KeptText::VerifyOutput, KeptText::VerifyErrors];
        texts.into_iter().map(|text| files.path(text)).collect()
    }

    /// Its number; none for a command without an agent.
    pub(crate) fn number(&self) -> Option<Attempt> {
        self.attempt
    }

    /// The agent's name; none for a command without one.
    pub(crate) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The failure, if it is one.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// It in a few words.
    pub(crate) fn name(&self) -> String {
        match self.attempt {
            Some(attempt) => format!("attempt {attempt}"),
            None => "verify command".to_owned(),
        }
    }
}

fn listed(fields: &Fields) -> Vec<Field> {
    let commit = match &fields.commit {
        Commit::Message(message) | Commit::OnlyIfNeeded(message) => Some(message.clone()),
        Commit::None | Commit::Unset => None,
    };
    let known = [
        ("Do", fields.do_.clone()),
        ("Files", fields.files.as_ref().map(files)),
        ("Done when", fields.done_when.clone()),
        ("Verify", fields.verify.clone()),
        ("Commit", commit),
    ];
    let known = known.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
    known.chain(fields.others.iter().cloned()).map(|(name, text)| Field { name, text }).collect()
}

/// The files as they are written; those that are only found in a task's words, by their paths.
fn files(files: &Files) -> String {
    if files.text.is_empty() { files.paths.join(", ") } else { files.text.clone() }
}

fn lineage(state: &State, id: &TaskId) -> Vec<FixOf> {
    let plans = std::iter::successors(state.fix_plan(id), |fix| state.fix_plan(&fix.failing));
    plans.map(|fix| FixOf { task: fix.failing.to_string(), error: fix.error.clone() }).collect()
}

/// Every beginning of an attempt or a proof is a span; what follows it belongs to it until the next beginning.
fn attempts(task: &Task, sources: &Sources<'_>) -> Vec<AttemptReport> {
    let spans = sources.history.spans().iter().filter(|span| span.task == *task.id());
    let begins = |event: &Event| matches!(event.what, What::AttemptStarted(_) | What::ProofStarted { .. });
    let places: Vec<usize> = sources
        .events
        .iter()
        .enumerate()
        .filter(|(_, event)| begins(event))
        .map(|(place, _)| place)
        .collect();
    let ends = places.iter().skip(1).copied().chain([sources.events.len()]);
    let groups = places.iter().zip(ends).map(|(begin, end)| &sources.events[*begin..end]);
    let is_at_work = task.status.is_active();
    let count = places.len();
    let each = |(place, (span, events))| {
        let open = if is_at_work && place + 1 == count { Verdict::UnderWay } else { Verdict::Undecided };
        attempt(task.id(), (span, events), open, sources)
    };
    let mut attempts: Vec<AttemptReport> = spans.zip(groups).enumerate().map(each).collect();
    // Each run of a command without an agent writes over the logs of the one before.
    let proofs = attempts.iter_mut().rev().filter(|attempt| attempt.attempt.is_none());
    proofs.skip(1).for_each(|proof| proof.files = None);
    attempts
}

fn attempt(
    task: &TaskId,
    (span, events): (&Span, &[Event]),
    open: Verdict,
    sources: &Sources<'_>,
) -> AttemptReport {
    let (on_the_way, afterwards) = match events.iter().position(|event| event.what.failure().is_some()) {
        Some(place) => events.split_at(place),
        None => (events, &[][..]),
    };
    let started = events.iter().find_map(started);
    let judges = events.iter().filter_map(judge);
    let dispatches: Vec<Dispatch> =
        started.map(|started| started.dispatch).into_iter().chain(judges).collect();
    let spent = sources.history.spent().filter(|spent| dispatches.contains(&spent.dispatch));
    let folders = dispatches.iter().filter_map(|dispatch| {
        Some(AttemptFiles::of_attempt(sources.file?, task, started?.attempt, *dispatch))
    });
    let mut folders: Vec<AttemptFiles> = folders.collect();
    let judges = folders.split_off(folders.len().min(1));
    let of_proof = || Some(AttemptFiles::of_proof(sources.file?, task));
    let (role, agent) = match &span.kind {
        SpanKind::Attempt { role, agent, .. } => (Some(*role), Some(agent.clone())),
        SpanKind::Proof => (None, None),
    };
    AttemptReport {
        attempt: started.map(|started| started.attempt),
        role,
        agent,
        began: span.began,
        worked_ms: u64::try_from(span.worked().as_millis()).unwrap_or(u64::MAX),
        verdict: verdict(&span.outcome, open),
        steps: on_the_way.iter().flat_map(|event| steps(&event.what)).collect(),
        then: afterwards.iter().flat_map(|event| steps(&event.what)).collect(),
        failure: events.iter().find_map(|event| event.what.failure()).cloned(),
        usage: spent.fold(Usage::default(), |sum, spent| sum.plus(spent.usage)),
        commit: events.iter().find_map(commit),
        head: started.and_then(|started| started.head.clone()),
        feedback: None,
        files: folders.pop().or_else(of_proof),
        judges,
    }
}

fn started(event: &Event) -> Option<&Started> {
    let What::AttemptStarted(started) = &event.what else { return None };
    Some(started)
}

fn judge(event: &Event) -> Option<Dispatch> {
    let What::JudgeStarted { dispatch, .. } = &event.what else { return None };
    Some(*dispatch)
}

fn commit(event: &Event) -> Option<String> {
    let What::TaskDone { commit, .. } = &event.what else { return None };
    commit.clone()
}

fn verdict(outcome: &SpanOutcome, open: Verdict) -> Verdict {
    match outcome {
        SpanOutcome::Passed => Verdict::Passed,
        SpanOutcome::Failed { .. } => Verdict::Failed,
        SpanOutcome::Lost => Verdict::Lost,
        SpanOutcome::Unavailable => Verdict::Unavailable,
        SpanOutcome::Undecided => open,
    }
}

/// The steps that an event tells of, in words.
fn steps(what: &What) -> Vec<String> {
    let judged = |judge: &Option<Judge>| match judge {
        Some(Judge::Qa) => "; the QA agent judges",
        Some(Judge::Reviewer) => "; the reviewer judges",
        Some(Judge::Person) => "; a person judges",
        None => "",
    };
    let green = |text: String, warnings: &[String]| {
        let warnings = warnings.iter().map(|warning| format!("warning: {warning}"));
        std::iter::once(text).chain(warnings).collect()
    };
    match what {
        What::AttemptClaimed { elapsed_ms, .. } => {
            vec![format!("the agent claims success after {}", ms(*elapsed_ms))]
        }
        What::ChecksPassed { warnings, judge, .. } => {
            green(format!("checks are green{}", judged(judge)), warnings)
        }
        What::ProofPassed { warnings, .. } => green("green".to_owned(), warnings),
        What::JudgePassed { next, .. } => vec![format!("approved{}", judged(next))],
        What::Noted { text, .. } => vec![text.clone()],
        What::Found { evidence, .. } => vec![found_text(evidence)],
        What::Mended { files, .. } => {
            vec![format!("green by changes that nobody committed: {}", files.join(", "))]
        }
        What::NoVerdict { reason, .. } => {
            vec![format!("no verdict, so the judge is asked once more: {reason}")]
        }
        What::JoinPassed { warnings, .. } => {
            green("green together with what came before".to_owned(), warnings)
        }
        What::AgentUnavailable { reason, .. } => vec![format!("the agent is unavailable: {reason}")],
        What::AgentDropped { agent, reason, .. } => vec![format!("{agent} is not asked again: {reason}")],
        What::FixPlanned(fix) => vec![format!("fix task {} is written", fix.fix)],
        What::Deferred { by, .. } => vec![format!("waits for {by}, which is in its way")],
        What::Escalated { question, .. } => vec![format!("a person is asked: {}", question_text(*question))],
        What::Answered { response, .. } => vec![format!("a person answered: {}", response_text(response))],
        What::Told { text, .. } => vec![format!("a person told: {text}")],
        What::SkipRequested { .. } => vec!["a person wants it to be skipped".to_owned()],
        What::TaskSkipped { reason, .. } => vec![format!("skipped: {reason}")],
        What::HeldUp { files, .. } => {
            vec![format!("waits to come in: {}", in_the_way(files))]
        }
        What::AttemptStarted(_)
        | What::ProofStarted { .. }
        | What::ProofFailed { .. }
        | What::AttemptFailed { .. }
        | What::Reopened { .. }
        | What::Packed { .. }
        | What::TreeUnavailable { .. }
        | What::Spent(_)
        | What::JudgeStarted { .. }
        | What::LandingStarted { .. }
        | What::Landed { .. }
        | What::TaskDone { .. }
        | What::RetryPlanned { .. }
        | What::FixInserted { .. }
        | What::Opened(_)
        | What::PlanChanged(_)
        | What::PauseRequested
        | What::LimitsChanged(_)
        | What::ClockMoved(_)
        | What::RegressionPassed
        | What::Proved(_)
        | What::PullRequest(_)
        | What::Ended(_) => Vec::new(),
    }
}

/// A number of milliseconds, as people read it.
pub(super) fn ms(elapsed: u64) -> String {
    took(std::time::Duration::from_millis(elapsed))
}

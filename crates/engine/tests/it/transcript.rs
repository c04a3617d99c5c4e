//! A run in a few readable lines.

use engine::{Event, PlanChanges, Proof, What};
use plan::TaskId;

use crate::invariants;
use crate::scenario::named;
use crate::world::World;

/// A scenario from the catalogue, as a transcript.
pub(crate) fn show(name: &str) -> String {
    let world = named(name).world().run();
    invariants::at_the_end(&world);
    transcript(&world)
}

pub(crate) fn transcript(world: &World) -> String {
    // What is packed decides nothing.
    let shown = world.journal.iter().filter(|event| !matches!(event.what, What::Packed { .. }));
    let mut lines: Vec<String> = shown.map(line).collect();
    let boxes =
        world.file.iter().map(|decl| format!("[{}] {}", if decl.ticked { 'x' } else { ' ' }, decl.id));
    lines.push(boxes.collect::<Vec<_>>().join("  "));
    lines.join("\n")
}

#[expect(clippy::too_many_lines, reason = "a line for each kind of event")]
pub(crate) fn line(event: &Event) -> String {
    match &event.what {
        What::Opened(opened) => format!("opened, round {}{}", opened.round, list("lost", &opened.lost)),
        What::PlanChanged(changes) => format!("plan changed{}", changed(changes)),
        What::ProofStarted { task, .. } => format!("{task} proof started"),
        What::ProofPassed { task, .. } => format!("{task} proof green"),
        What::Mended { task, files } => format!("{task} mended by hand: {}", files.join(", ")),
        What::ProofFailed { task, failure } => format!("{task} proof red: {}", failure.error),
        What::AttemptStarted(started) => {
            format!("{} attempt {} ({})", started.task, started.attempt, started.role.name())
        }
        What::AttemptClaimed { task, .. } => format!("{task} claims success"),
        What::AttemptFailed { task, failure, .. } => {
            format!("{task} failed, {:?} -> {:?}: {}", failure.cause, failure.rung, failure.error)
        }
        What::AgentUnavailable { task, nth, until, .. } => {
            format!("{task} agent away, {nth}, until {:.0}", until.strftime("%H:%M:%S"))
        }
        What::AgentDropped { task, agent, lasting: why, .. } => {
            format!("{task} agent {agent} dropped: {why:?}")
        }
        What::Packed { task, commit, .. } => format!("{task} packed{}", list("commit", commit.as_slice())),
        What::TreeUnavailable { task, reason, .. } => {
            format!("{task} gets no tree: {}", reason.as_deref().unwrap_or("as before"))
        }
        What::Spent(spent) => format!("{} spent {:?}", spent.task, spent.usage.tokens()),
        What::ChecksPassed { task, warnings, judge, .. } => {
            let judge = judge.map(|judge| format!(", {judge:?} judges")).unwrap_or_default();
            format!("{task} checks green{judge}{}", list("warned", warnings))
        }
        What::JudgeStarted { task, .. } => format!("{task} judge started"),
        What::NoVerdict { task, reason, .. } => format!("{task} no verdict: the judge {reason}"),
        What::JudgePassed { task, warnings, next, .. } => {
            let next = next.map(|judge| format!(", {judge:?} judges")).unwrap_or_default();
            format!("{task} judge says yes{next}{}", list("warned", warnings))
        }
        What::LandingStarted { task } => format!("{task} comes back"),
        What::Landed { task, .. } => format!("{task} landed"),
        What::JoinPassed { task, warnings, .. } => {
            format!("{task} green together{}", list("warned", warnings))
        }
        What::HeldUp { task, files } => format!("{task} is held up by {}", files.join(", ")),
        What::TaskDone { task, commit } => format!("{task} done{}", list("commit", commit.as_slice())),
        What::RetryPlanned { task, attempt } => format!("{task} again, attempt {attempt}"),
        What::FixPlanned(fix) => format!("{} gets fix {}", fix.failing, fix.fix),
        What::FixInserted { decl } => format!("{} inserted", decl.id),
        What::Deferred { task, by } => format!("{task} waits for {by}"),
        What::Escalated { task, question } => format!("{task} asks: {question:?}"),
        What::Answered { task, response } => format!("{task} answered: {response:?}"),
        What::TaskSkipped { task, reason, dependents } => {
            format!("{task} skipped: {reason}{}", list("needed by", dependents))
        }
        What::Noted { text, .. } => format!("noted: {text}"),
        What::Told { task, text } => format!("told{}: {text}", list("to", task.as_slice())),
        What::PauseRequested => "pause requested".to_owned(),
        What::SkipRequested { task } => format!("{task} is to be skipped"),
        What::ClockMoved(moved) => format!("{moved:?}"),
        What::LimitsChanged(new) => {
            let changes = new.changes.iter().map(|change| format!(" {}", change.key));
            format!("limits changed:{}", changes.collect::<String>())
        }
        What::RegressionPassed => "regression green".to_owned(),
        What::Found { task, evidence } => format!("{task} found: {evidence:?}"),
        What::Proved(proof) => proved(proof),
        What::Reopened { task, failure } => {
            format!("{task} open again -> {:?}: {}", failure.rung, failure.error)
        }
        What::PullRequest(event) => {
            format!("pull request: {}", serde_json::to_string(event).expect("an event can be written"))
        }
        What::Ended(end) => format!("ended: {}", serde_json::to_string(end).expect("an end can be written")),
    }
}

fn proved(proof: &Proof) -> String {
    let results = proof.results.iter().map(|result| {
        let verdict = serde_json::to_string(&result.verdict).expect("a verdict can be written");
        format!(" {} {verdict}", result.task)
    });
    format!("proved {}:{}", proof.head, results.collect::<String>())
}

fn changed(changes: &PlanChanges) -> String {
    let ids = |decls: &[engine::TaskDecl]| decls.iter().map(|decl| decl.id.clone()).collect::<Vec<TaskId>>();
    [
        list("added", &ids(&changes.added)),
        list("removed", &changes.removed),
        list("reworded", &ids(&changes.reworded)),
        list("ticked", &changes.ticked),
        list("unticked", &changes.unticked),
        list("order", &changes.order),
    ]
    .concat()
}

fn list<T: ToString>(name: &str, items: &[T]) -> String {
    if items.is_empty() {
        return String::new();
    }
    format!(", {name} {}", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

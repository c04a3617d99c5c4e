//! What the final proof says, for people.

use engine::{Proof, ProofRecord, ProofVerdict, State, TaskProof};
use plan::TaskId;

use super::subject::Subject;
use super::summary::list;
use super::text::{count, one_line, took};

/// Characters of a reason, of an error and of a command.
const CHARS_MAX: usize = 300;
/// Characters of a commit's name.
const COMMIT_CHARS: usize = 9;

/// Whether a run that is complete cannot be said to be so without a word: something is red in a clean checkout, or nobody
/// has looked although that was asked for.
pub(crate) fn is_alarming(state: &State) -> bool {
    state.lacks_proof() || state.proof().is_some_and(|proof| proof.red().next().is_some())
}

/// How the proof of a run went, in a line.
pub(crate) fn headline(proof: &Proof) -> String {
    let of = |is: fn(&ProofVerdict) -> bool| {
        proof.results.iter().filter(move |result| is(&result.verdict)).count()
    };
    let green = of(|verdict| matches!(verdict, ProofVerdict::Green { .. }));
    let parts = [
        (of(|verdict| matches!(verdict, ProofVerdict::Red { .. })), "red"),
        (of(|verdict| matches!(verdict, ProofVerdict::Superseded { .. })), "superseded"),
        (of(|verdict| matches!(verdict, ProofVerdict::NotProved { .. })), "not proved"),
        (of(|verdict| matches!(verdict, ProofVerdict::NotReached)), "not reached"),
        (of(|verdict| matches!(verdict, ProofVerdict::LeftOut { .. })), "left out"),
    ];
    let others =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!(", {number} {what}"));
    let elapsed = took(std::time::Duration::from_millis(proof.elapsed_ms));
    let tasks = count(proof.results.len(), "task");
    format!(
        "{green} of {tasks} green in a clean checkout of {}{}{}, in {elapsed}",
        short(&proof.head),
        linked(&proof.linked),
        others.collect::<String>()
    )
}

/// The part of a checkout that is the project's own, and so not proved.
fn linked(paths: &[String]) -> String {
    if paths.is_empty() { String::new() } else { format!(" (not of {}, linked)", paths.join(", ")) }
}

/// The error of a red command, with the command where the error does not name it, and what differs.
fn red(command: Option<&String>, error: &str, differs: Option<&String>) -> String {
    let command =
        command.map(|command| one_line(command, CHARS_MAX)).filter(|command| !error.contains(command));
    let command = command.map(|command| format!(" `{command}`:")).unwrap_or_default();
    let differs = differs.map(|differs| format!(" ({})", one_line(differs, CHARS_MAX))).unwrap_or_default();
    format!("{differs}:{command} {}", one_line(error, CHARS_MAX))
}

/// The lines of the summary.
pub(crate) fn summary(subject: &Subject, state: &State) -> Vec<String> {
    if state.lacks_proof() {
        let again = subject.command("run", "");
        return vec![format!("Proof:     unfinished; {again} takes it")];
    }
    let Some(proof) = state.proof() else { return Vec::new() };
    let mut lines = vec![format!("Proof:     {}", headline(proof))];
    lines.extend(details(proof).into_iter().map(|line| format!("           {line}")));
    if proof.red().next().is_some() {
        let again = subject.command("prove", "");
        lines.push(format!("           once that is mended and committed, {again} shows it"));
    }
    lines
}

/// A line for each task, or for each reason, of which there is something to say.
pub(crate) fn details(proof: &Proof) -> Vec<String> {
    let mut lines: Vec<String> = proof.results.iter().filter_map(told).collect();
    let mut grouped: Vec<(String, Vec<TaskId>)> = Vec::new();
    for result in &proof.results {
        let reason = match &result.verdict {
            ProofVerdict::LeftOut { reason } => format!("left out: {reason}"),
            ProofVerdict::NotProved { reason } => format!("not proved: {reason}"),
            ProofVerdict::NotReached => {
                "not reached: the time for the proof was over (prove_budget)".to_owned()
            }
            ProofVerdict::Green { .. } | ProofVerdict::Superseded { .. } | ProofVerdict::Red { .. } => {
                continue;
            }
        };
        match grouped.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, tasks)) => tasks.push(result.task.clone()),
            None => grouped.push((reason, vec![result.task.clone()])),
        }
    }
    lines.extend(
        grouped
            .into_iter()
            .map(|(reason, tasks)| format!("{} {}", list(&tasks), one_line(&reason, CHARS_MAX))),
    );
    lines
}

fn told(result: &TaskProof) -> Option<String> {
    let (task, command) = (&result.task, result.command.as_ref());
    match &result.verdict {
        ProofVerdict::Red { error, differs, .. } => {
            Some(format!("{task} is red{}", red(command, error, differs.as_ref())))
        }
        ProofVerdict::Superseded { by, error, .. } => {
            Some(format!("{task} is superseded by {}{}", list(by), red(command, error, None)))
        }
        ProofVerdict::Green { .. }
        | ProofVerdict::LeftOut { .. }
        | ProofVerdict::NotProved { .. }
        | ProofVerdict::NotReached => None,
    }
}

/// A task's own record, in a line.
pub(crate) fn record(record: &ProofRecord) -> String {
    let (commit, tree) = (short(&record.commit), short(&record.tree));
    let at = format!("in a clean checkout of {commit} (tree {tree}){}", linked(&record.linked));
    let command = record.command.as_ref().map(|command| format!(" `{}`", one_line(command, CHARS_MAX)));
    let command = command.unwrap_or_default();
    let code = |code: &Option<i32>| code.map(|code| format!(", exit code {code}")).unwrap_or_default();
    match &record.verdict {
        ProofVerdict::Green { exit_code } => format!("green {at}:{command}, exit code {exit_code}"),
        ProofVerdict::Red { exit_code, error, differs } => {
            let red = red(None, error, differs.as_ref());
            format!("red {at}:{command}{}{red}", code(exit_code))
        }
        ProofVerdict::Superseded { by, exit_code, error } => {
            let error = one_line(error, CHARS_MAX);
            format!("superseded by {}: red {at}:{command}{}: {error}", list(by), code(exit_code))
        }
        ProofVerdict::LeftOut { reason } => format!("left out: {}", one_line(reason, CHARS_MAX)),
        ProofVerdict::NotProved { reason } => format!("not proved {at}: {}", one_line(reason, CHARS_MAX)),
        ProofVerdict::NotReached => "not reached: the time for the proof was over".to_owned(),
    }
}

fn short(name: &str) -> &str {
    name.get(..COMMIT_CHARS).unwrap_or(name)
}

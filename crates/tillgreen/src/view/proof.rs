//! What the final proof says, for people.

use engine::{Before, Grounds, Proof, ProofRecord, ProofVerdict, State, TaskProof};
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
        "{green} of {tasks} green in a clean checkout of {}{}, in {elapsed}",
        short(&proof.head),
        others.collect::<String>()
    )
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
    let command = result.command.as_deref().unwrap_or_default();
    let task = &result.task;
    match &result.verdict {
        ProofVerdict::Red { error, differs, .. } => {
            let differs = differs.as_ref().map(|differs| format!(" ({})", one_line(differs, CHARS_MAX)));
            Some(format!(
                "{task} is red: `{}`: {}{}",
                one_line(command, CHARS_MAX),
                one_line(error, CHARS_MAX),
                differs.unwrap_or_default()
            ))
        }
        ProofVerdict::Superseded { by, error, .. } => {
            Some(format!("{task} is superseded by {}: {}", list(by), one_line(error, CHARS_MAX)))
        }
        ProofVerdict::Green { .. }
        | ProofVerdict::LeftOut { .. }
        | ProofVerdict::NotProved { .. }
        | ProofVerdict::NotReached => None,
    }
}

/// What is known of how much a task's green command proves, in lines.
pub(crate) fn grounds(grounds: &Grounds) -> Vec<String> {
    let before = grounds.before.map(|before| match before {
        Before::Green => "the verify command was green before the work",
        Before::Red => "the verify command was red before the work",
        Before::Unknown => {
            "nobody knows whether the verify command was red before the work: it takes too long"
        }
    });
    let former = grounds.former.as_ref().map(|former| match former.commands.as_slice() {
        [] => "the Verify was changed while somebody worked; it was judged as before as well".to_owned(),
        commands => {
            let commands = one_line(&commands.join("; "), CHARS_MAX);
            format!("the Verify was changed while somebody worked; `{commands}` had to be green as well")
        }
    });
    before.map(str::to_owned).into_iter().chain(former).collect()
}

/// A task's own record, in a line.
pub(crate) fn record(record: &ProofRecord) -> String {
    let (commit, tree) = (short(&record.commit), short(&record.tree));
    let at = format!("in a clean checkout of {commit} (tree {tree})");
    let command = record.command.as_ref().map(|command| format!(" `{}`", one_line(command, CHARS_MAX)));
    let command = command.unwrap_or_default();
    let code = |code: &Option<i32>| code.map(|code| format!(", exit code {code}")).unwrap_or_default();
    match &record.verdict {
        ProofVerdict::Green { exit_code } => format!("green {at}:{command}, exit code {exit_code}"),
        ProofVerdict::Red { exit_code, error, differs } => {
            let differs = differs.as_ref().map(|differs| format!(" ({})", one_line(differs, CHARS_MAX)));
            let error = one_line(error, CHARS_MAX);
            format!("red {at}:{command}{}: {error}{}", code(exit_code), differs.unwrap_or_default())
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

//! The final proof, for people.

use std::time::Duration;

use engine::{Before, Evidence, Grounds, Proof, State};

use super::subject::Subject;
use super::text::{count, one_line, took};

/// Characters of a commit's name.
const COMMIT_CHARS: usize = 9;
/// Characters of a line.
const CHARS_MAX: usize = 700;
/// Characters of all that is to be looked at first in the work of a task.
const SIGNS_CHARS_MAX: usize = 4_000;

/// What keeps a run that is complete from being said to be so without a word: something is red in a clean checkout, or nobody
/// has looked although that was asked for.
pub(crate) fn alarm(state: &State) -> Option<String> {
    if state.lacks_proof() {
        return Some("its proof is unfinished".to_owned());
    }
    let proof = state.proof()?;
    let (red, of) = (proof.red().count(), proof.head.get(..COMMIT_CHARS).unwrap_or(&proof.head));
    (red > 0).then(|| format!("{} red in a clean checkout of {of}", count(red, "task")))
}

/// The result of a proof, in a line.
pub(crate) fn headline(proof: &Proof) -> String {
    let elapsed = took(Duration::from_millis(proof.elapsed_ms));
    one_line(&format!("{}, in {elapsed}", proof.headline()), CHARS_MAX)
}

/// A line for each task, or for each reason, of which there is something to say.
pub(crate) fn details(proof: &Proof) -> Vec<String> {
    proof.findings().iter().map(|line| one_line(line, CHARS_MAX)).collect()
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
    let signs = (!grounds.signs.is_empty())
        .then(|| one_line(&format!("look here first: {}", grounds.signs.words(usize::MAX)), SIGNS_CHARS_MAX));
    let findings = grounds.findings.iter().filter_map(Evidence::finding);
    let findings = findings.map(|finding| one_line(&finding, CHARS_MAX));
    before.map(str::to_owned).into_iter().chain(former).chain(findings).chain(signs).collect()
}

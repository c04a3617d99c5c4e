//! Runs failed checks again, once.

use std::collections::BTreeSet;

use engine::{CheckRef, ForgeReport};

use super::call::Caller;
use super::command::ForgeCommand;
use super::json::{document, number, text};
use super::remote::Slug;
use super::setback::Setback;

/// Starts the failed jobs of every workflow run concerned, unless somebody did already.
pub(super) fn rerun(caller: &Caller, slug: &Slug, checks: &[CheckRef]) -> Result<ForgeReport, Setback> {
    let runs: BTreeSet<u64> = checks.iter().filter_map(|check| check.run).collect();
    let mut refused = Vec::new();
    for run in runs {
        let state = document(&caller.call(&ForgeCommand::run_state(slug, run)))?;
        let is_under_way = text(&state, "/status") != "completed";
        let attempts = number(&state, "/run_attempt").unwrap_or(1);
        if is_under_way || attempts > 1 {
            continue;
        }
        let answer = caller.call(&ForgeCommand::rerun(slug, run));
        if answer.is_success() {
            continue;
        }
        // A run that is too old, or not ours to start, is believed as it is; a forge that is away is waited for.
        if let away @ Setback::Unavailable { .. } = Setback::of(&answer) {
            return Err(away);
        }
        let of_run = checks.iter().filter(|check| check.run == Some(run));
        refused.extend(of_run.map(|check| check.label.clone()));
    }
    Ok(ForgeReport::Rerun { refused })
}

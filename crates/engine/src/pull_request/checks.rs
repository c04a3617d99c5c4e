//! The checks of a look: which of them count, and what they show, also by not being there.

use std::collections::BTreeSet;

use super::lifecycle::{Lifecycle, PATIENCE_LOOKS};
use super::look::{Check, CheckState, Look};
use super::rules::{PullRequestRules, WhichChecks};

/// The checks that count, by what they show.
pub(super) struct Relevant<'a> {
    pub(super) total: usize,
    pub(super) passed: usize,
    pub(super) pending: Vec<String>,
    pub(super) red: Vec<&'a Check>,
    pub(super) blocked: Vec<String>,
    /// Those that were there before, are not any more, and were waited for.
    pub(super) gone: Vec<String>,
    /// Those that are there.
    pub(super) labels: BTreeSet<String>,
}

impl<'a> Relevant<'a> {
    pub(super) fn of(lifecycle: &Lifecycle, rules: &PullRequestRules, look: &'a Look) -> Self {
        let mut relevant = Self {
            total: 0,
            passed: 0,
            pending: Vec::new(),
            red: Vec::new(),
            blocked: Vec::new(),
            gone: Vec::new(),
            labels: BTreeSet::new(),
        };
        for check in that_count(rules, look) {
            relevant.take(lifecycle, check);
        }
        relevant.miss(lifecycle, look);
        relevant.total = relevant.total.max(relevant.pending.len());
        relevant
    }

    fn take(&mut self, lifecycle: &Lifecycle, check: &'a Check) {
        self.total += 1;
        self.labels.insert(check.label.clone());
        match check.state {
            CheckState::Passed => self.passed += 1,
            CheckState::Pending => self.pending.push(check.label.clone()),
            CheckState::NeedsApproval => self.blocked.push(check.label.clone()),
            CheckState::Failed | CheckState::Cancelled if is_old_news(lifecycle, check) => {
                self.pending.push(check.label.clone());
            }
            CheckState::Failed | CheckState::Cancelled => self.red.push(check),
        }
    }

    /// Checks that are expected and not there are waited for a while.
    fn miss(&mut self, lifecycle: &Lifecycle, look: &Look) {
        let there: BTreeSet<&String> = look.checks.iter().map(|check| &check.label).collect();
        for (label, looks) in lifecycle.seen.iter().filter(|(label, _)| !there.contains(label)) {
            let list = if *looks < PATIENCE_LOOKS { &mut self.pending } else { &mut self.gone };
            list.push(label.clone());
        }
    }

    /// The checks that do not count and are not green.
    pub(super) fn not_green(&self, look: &Look) -> Vec<String> {
        let is_other =
            |check: &&Check| check.state != CheckState::Passed && !self.labels.contains(&check.label);
        look.checks.iter().filter(is_other).map(|check| check.label.clone()).collect()
    }
}

/// The labels of the checks that count.
pub(super) fn labels_that_count(rules: &PullRequestRules, look: &Look) -> Vec<String> {
    that_count(rules, look).map(|check| check.label.clone()).collect()
}

fn that_count<'a>(rules: &PullRequestRules, look: &'a Look) -> impl Iterator<Item = &'a Check> {
    let only_required =
        rules.checks == WhichChecks::Required && look.checks.iter().any(|check| check.required);
    look.checks.iter().filter(move |check| check.required || !only_required)
}

/// True if this is the run that failed before the check was started again, and not the new one.
fn is_old_news(lifecycle: &Lifecycle, check: &Check) -> bool {
    lifecycle
        .rerun
        .get(&check.label)
        .is_some_and(|rerun| rerun.id == check.id && !rerun.refused && rerun.looks < PATIENCE_LOOKS)
}

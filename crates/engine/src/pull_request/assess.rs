//! What a look at the pull request means: the first thing that is not as it should be.

use super::address::{self, Draft};
use super::awaited::Awaited;
use super::event::Outcome;
use super::lifecycle::{Lifecycle, Place};
use super::look::{Check, CheckState, Look, MergeState, Openness, Review, ReviewState};
use super::obstacle::Obstacle;
use super::request::{CheckRef, Origin};
use super::rules::{PullRequestRules, WhichChecks};
use super::stage::{Reviewer, Source, Stage};

/// How many looks something odd may last before it is taken at its word: a push that the forge has not noticed, a
/// check that is gone, no check at all.
const PATIENCE_LOOKS: u32 = 3;

/// How many looks red checks wait for those that do not end.
const PENDING_LOOKS: u32 = 10;

/// How many reviewers are asked at once.
const REVIEWERS_MAX: usize = 15;

/// Names that are kept of what is waited for.
const NAMES_MAX: usize = 5;

/// What a look means.
pub(super) enum Verdict {
    /// Something has to be waited for.
    Await(Awaited),
    /// These checks are run again before they are believed.
    Rerun(Vec<CheckRef>),
    /// These checks are red for good.
    Believe(Vec<CheckRef>),
    /// Reviews and threads ask for these tasks.
    Address(Vec<Draft>),
    /// These said no before what is there now was pushed.
    RequestReview(Vec<Reviewer>),
    /// Commits of the other side have to be taken in.
    Integrate(Source),
    /// A person has to do something.
    Obstructed(Obstacle),
    /// It was merged.
    Over(Outcome),
    /// Everything holds.
    Ready(Outcome),
}

/// What the look means.
pub(super) fn assess(lifecycle: &Lifecycle, rules: &PullRequestRules, look: &Look) -> Option<Verdict> {
    let place = lifecycle.place.as_ref()?;
    let verdict = closed(place, look)
        .or_else(|| moved(lifecycle, place, look))
        .or_else(|| checks(lifecycle, place, &Relevant::of(lifecycle, rules, look)))
        .or_else(|| first_check(lifecycle, look))
        .or_else(|| reviews(lifecycle, rules, look))
        .or_else(|| base(lifecycle, look));
    Some(verdict.unwrap_or(Verdict::Ready(Outcome::Ready { checks: look.checks.len() })))
}

fn closed(place: &Place, look: &Look) -> Option<Verdict> {
    let Place { number, url, .. } = place.clone();
    match look.openness {
        Openness::Open => None,
        Openness::Merged if look.head == place.head => Some(Verdict::Over(Outcome::Merged { number, url })),
        Openness::Merged => Some(Verdict::Obstructed(Obstacle::MergedWithout { number, url })),
        Openness::Closed => Some(Verdict::Obstructed(Obstacle::Closed { number, url })),
    }
}

/// How many looks in a row showed what this one shows.
fn looks_for(lifecycle: &Lifecycle, awaited: &Awaited) -> u32 {
    let Stage::Watching(watch) = &lifecycle.stage else { return 0 };
    let is_same = watch.awaited.as_ref().is_some_and(|known| known.is_like(awaited));
    if is_same { watch.looks } else { 0 }
}

/// Waits for something, but not for ever.
fn patiently(lifecycle: &Lifecycle, awaited: Awaited) -> Option<Verdict> {
    (looks_for(lifecycle, &awaited) < PATIENCE_LOOKS).then_some(Verdict::Await(awaited))
}

/// The branch is elsewhere, or cannot be merged: then nothing that the checks say is of interest, and on a
/// conflict there are none.
fn moved(lifecycle: &Lifecycle, place: &Place, look: &Look) -> Option<Verdict> {
    if look.head != place.head {
        let is_late = lifecycle.pushed.contains(&look.head);
        let wait = if is_late { patiently(lifecycle, Awaited::Head) } else { None };
        return Some(wait.unwrap_or(Verdict::Integrate(Source::Branch)));
    }
    (look.merge == MergeState::Conflicting).then_some(Verdict::Integrate(Source::Base))
}

/// The checks that count, by what they show.
struct Relevant<'a> {
    total: usize,
    pending: Vec<String>,
    red: Vec<&'a Check>,
    blocked: Vec<String>,
}

impl<'a> Relevant<'a> {
    fn of(lifecycle: &Lifecycle, rules: &PullRequestRules, look: &'a Look) -> Self {
        let only_required =
            rules.checks == WhichChecks::Required && look.checks.iter().any(|check| check.required);
        let counts = |check: &&Check| check.required || !only_required;
        let mut relevant = Self { total: 0, pending: Vec::new(), red: Vec::new(), blocked: Vec::new() };
        for check in look.checks.iter().filter(counts) {
            relevant.take(lifecycle, check);
        }
        let vanished = |label: &String| !look.checks.iter().any(|check| check.label == *label);
        let gone = lifecycle.seen.iter().filter(|(label, looks)| vanished(label) && **looks < PATIENCE_LOOKS);
        relevant.pending.extend(gone.map(|(label, _)| label.clone()).filter(|_| !only_required));
        relevant.total = relevant.total.max(relevant.pending.len());
        relevant
    }

    fn take(&mut self, lifecycle: &Lifecycle, check: &'a Check) {
        self.total += 1;
        match check.state {
            CheckState::Passed => {}
            CheckState::Pending => self.pending.push(check.label.clone()),
            CheckState::NeedsApproval => self.blocked.push(check.label.clone()),
            CheckState::Failed | CheckState::Cancelled if is_old_news(lifecycle, check) => {
                self.pending.push(check.label.clone());
            }
            CheckState::Failed | CheckState::Cancelled => self.red.push(check),
        }
    }
}

/// Whether this is the run that failed before the check was started again, and not the new one.
fn is_old_news(lifecycle: &Lifecycle, check: &Check) -> bool {
    lifecycle
        .rerun
        .get(&check.label)
        .is_some_and(|rerun| rerun.id == check.id && !rerun.refused && rerun.looks < PATIENCE_LOOKS)
}

fn checks(lifecycle: &Lifecycle, place: &Place, relevant: &Relevant<'_>) -> Option<Verdict> {
    let Relevant { total, pending, red, blocked } = relevant;
    if !pending.is_empty() {
        let names = pending.iter().take(NAMES_MAX).cloned().collect();
        let awaited = Awaited::Checks { pending: pending.len(), total: *total, names };
        if red.is_empty() || looks_for(lifecycle, &awaited) < PENDING_LOOKS {
            return Some(Verdict::Await(awaited));
        }
    }
    let refs = |keep: &dyn Fn(&Check) -> bool| -> Vec<CheckRef> {
        red.iter().filter(|check| keep(check)).map(|check| reference(check)).collect()
    };
    let fresh = refs(&|check| check.run.is_some() && !lifecycle.rerun.contains_key(&check.label));
    let failed = refs(&|check| check.state == CheckState::Failed);
    if !fresh.is_empty() {
        return Some(Verdict::Rerun(fresh));
    }
    if !failed.is_empty() {
        return Some(Verdict::Believe(failed));
    }
    if !red.is_empty() {
        let checks = red.iter().map(|check| check.label.clone()).collect();
        return Some(Verdict::Obstructed(Obstacle::Cancelled { checks, url: place.url.clone() }));
    }
    let names = blocked.iter().take(NAMES_MAX).cloned().collect();
    (!blocked.is_empty()).then_some(Verdict::Await(Awaited::Approval { names }))
}

fn reference(check: &Check) -> CheckRef {
    CheckRef {
        label: check.label.clone(),
        id: check.id.clone(),
        run: check.run,
        url: check.url.clone(),
        summary: check.summary.clone(),
    }
}

/// Checks take a moment to appear. Where none does, none is configured, and there is nothing to wait for.
fn first_check(lifecycle: &Lifecycle, look: &Look) -> Option<Verdict> {
    if look.checks.is_empty() { patiently(lifecycle, Awaited::FirstCheck) } else { None }
}

fn reviews(lifecycle: &Lifecycle, rules: &PullRequestRules, look: &Look) -> Option<Verdict> {
    let drafts = address::unaddressed(lifecycle, look);
    if !drafts.is_empty() {
        return Some(Verdict::Address(drafts));
    }
    let again = to_look_again(lifecycle, look);
    if rules.request_review.is_on() && !again.is_empty() {
        return Some(Verdict::RequestReview(again));
    }
    let threads = look.threads.iter().filter(|thread| !thread.resolved).count();
    let says_no = |state| matches!(state, ReviewState::ChangesRequested | ReviewState::Pending);
    let latest = look.latest_reviews();
    let reviewers = latest.iter().filter(|review| says_no(review.state));
    let reviewers: Vec<String> = reviewers.map(|review| review.author.clone()).take(NAMES_MAX).collect();
    let is_open = threads > 0 || !reviewers.is_empty();
    is_open.then_some(Verdict::Await(Awaited::Review { threads, reviewers }))
}

/// Those whose no is about an earlier commit, if something was done in answer to them. Each no is answered once.
fn to_look_again(lifecycle: &Lifecycle, look: &Look) -> Vec<Reviewer> {
    let was_heeded = |review: &Review| {
        lifecycle.requests().any(|request| match &request.origin {
            Origin::Check { .. } => false,
            Origin::Thread { author, .. } | Origin::Review { author, .. } => *author == review.author,
        })
    };
    let is_due = |review: &&&Review| {
        review.state == ReviewState::ChangesRequested
            && !review.commit.is_empty()
            && review.commit != look.head
            && !look.requested.contains(&review.author)
            && lifecycle.asked_again.get(&review.author) != Some(&review.id)
            && was_heeded(review)
    };
    let latest = look.latest_reviews();
    let due = latest.iter().filter(is_due).take(REVIEWERS_MAX);
    due.map(|review| Reviewer { login: review.author.clone(), review: review.id.clone() }).collect()
}

fn base(lifecycle: &Lifecycle, look: &Look) -> Option<Verdict> {
    match look.merge {
        MergeState::Fine | MergeState::Conflicting => None,
        MergeState::Behind => Some(Verdict::Integrate(Source::Base)),
        MergeState::Unknown => patiently(lifecycle, Awaited::Mergeability),
    }
}

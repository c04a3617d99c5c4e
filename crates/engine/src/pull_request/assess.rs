//! The meaning of a look at the pull request: the first thing that is not as it should be.

use super::address::{self, Draft};
use super::awaited::Awaited;
use super::checks::Relevant;
use super::event::{Caveat, Outcome};
use super::lifecycle::{Lifecycle, PATIENCE_LOOKS, Place};
use super::look::{Check, CheckState, Look, MergeState, Openness, Review, ReviewState};
use super::obstacle::Obstacle;
use super::request::{CheckRef, Origin};
use super::rules::PullRequestRules;
use super::stage::{Reviewer, Source, Stage};

/// How many looks red checks wait for those that do not end.
const PENDING_LOOKS: u32 = 10;

/// How many looks in a row have to show the same checks before it is believed that there are no more: some report
/// at once, and the others appear only then.
const SETTLED_LOOKS: u32 = 3;

/// How many reviewers are asked at once.
const REVIEWERS_MAX: usize = 15;

/// Names that are kept of what is waited for.
const NAMES_MAX: usize = 5;

/// The meaning of a look.
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

/// Gives the meaning of a look.
pub(super) fn assess(lifecycle: &Lifecycle, rules: &PullRequestRules, look: &Look) -> Option<Verdict> {
    let place = lifecycle.place.as_ref()?;
    let relevant = Relevant::of(lifecycle, rules, look);
    let verdict = closed(place, look)
        .or_else(|| moved(lifecycle, place, look))
        .or_else(|| checks(lifecycle, place, &relevant))
        .or_else(|| first_check(lifecycle, &relevant))
        .or_else(|| reviews(lifecycle, rules, look))
        .or_else(|| base(lifecycle, look))
        .or_else(|| settling(lifecycle, &relevant))
        .or_else(|| gone(lifecycle, rules, place, &relevant))
        .or_else(|| queued(lifecycle, place))
        .or_else(|| allowed(lifecycle, rules, place, look));
    Some(verdict.unwrap_or_else(|| Verdict::Ready(ready(relevant, look))))
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

fn checks(lifecycle: &Lifecycle, place: &Place, relevant: &Relevant<'_>) -> Option<Verdict> {
    let Relevant { total, pending, red, blocked, .. } = relevant;
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
fn first_check(lifecycle: &Lifecycle, relevant: &Relevant<'_>) -> Option<Verdict> {
    let never_was_one = relevant.labels.is_empty() && relevant.gone.is_empty();
    if never_was_one { patiently(lifecycle, Awaited::FirstCheck) } else { None }
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
    if let Some(verdict) = wordless(lifecycle, look) {
        return Some(verdict);
    }
    let threads = look.threads.iter().filter(|thread| !thread.resolved).count();
    let says_no = |state| matches!(state, ReviewState::ChangesRequested | ReviewState::Pending);
    let latest = look.latest_reviews();
    let reviewers = latest.iter().filter(|review| says_no(review.state));
    let reviewers: Vec<String> = reviewers.map(|review| review.author.clone()).take(NAMES_MAX).collect();
    let is_open = threads > 0 || !reviewers.is_empty();
    is_open.then_some(Verdict::Await(Awaited::Review { threads, reviewers }))
}

/// Those whose no comes without a word, in the review or in a thread: nothing can be done about it here.
fn wordless(lifecycle: &Lifecycle, look: &Look) -> Option<Verdict> {
    let says_nothing = |review: &&&Review| {
        review.state == ReviewState::ChangesRequested
            && review.body.trim().is_empty()
            && !look.threads.iter().any(|thread| thread.has_words_of(&review.author))
            && !look.requested.contains(&review.author)
            && !was_heeded(lifecycle, review)
    };
    let latest = look.latest_reviews();
    let reviewers = latest.iter().filter(says_nothing).take(NAMES_MAX);
    let reviewers: Vec<String> = reviewers.map(|review| review.author.clone()).collect();
    let url = lifecycle.place.as_ref().map(|place| place.url.clone()).unwrap_or_default();
    (!reviewers.is_empty()).then_some(Verdict::Obstructed(Obstacle::Wordless { reviewers, url }))
}

/// True if something was done in answer to the author of a review.
fn was_heeded(lifecycle: &Lifecycle, review: &Review) -> bool {
    lifecycle.requests().any(|request| match &request.origin {
        Origin::Check { .. } => false,
        Origin::Thread { author, .. } | Origin::Review { author, .. } => *author == review.author,
    })
}

/// Those whose no is about an earlier commit, if something was done in answer to them. Each no is answered once.
fn to_look_again(lifecycle: &Lifecycle, look: &Look) -> Vec<Reviewer> {
    let is_due = |review: &&&Review| {
        review.state == ReviewState::ChangesRequested
            && !review.commit.is_empty()
            && review.commit != look.head
            && !look.requested.contains(&review.author)
            && lifecycle.asked_again.get(&review.author) != Some(&review.id)
            && was_heeded(lifecycle, review)
    };
    let latest = look.latest_reviews();
    let due = latest.iter().filter(is_due).take(REVIEWERS_MAX);
    due.map(|review| Reviewer { login: review.author.clone(), review: review.id.clone() }).collect()
}

fn base(lifecycle: &Lifecycle, look: &Look) -> Option<Verdict> {
    match look.merge {
        MergeState::Fine | MergeState::Blocked | MergeState::Conflicting => None,
        MergeState::Behind => Some(Verdict::Integrate(Source::Base)),
        MergeState::Unknown => patiently(lifecycle, Awaited::Mergeability),
    }
}

/// Right after a push the quick checks may be there and the slow ones not even begun.
fn settling(lifecycle: &Lifecycle, relevant: &Relevant<'_>) -> Option<Verdict> {
    let is_same = lifecycle.roll == relevant.labels;
    let looks = if is_same { lifecycle.roll_looks.saturating_add(1) } else { 1 };
    (looks < SETTLED_LOOKS).then_some(Verdict::Await(Awaited::MoreChecks))
}

/// Checks that were given up are merely told of, unless nothing else is left to go by or there is no way back.
fn gone(
    lifecycle: &Lifecycle,
    rules: &PullRequestRules,
    place: &Place,
    relevant: &Relevant<'_>,
) -> Option<Verdict> {
    let is_grave = relevant.labels.is_empty() || rules.merge.is_some();
    let is_open = is_grave && !relevant.gone.is_empty() && !lifecycle.accepts_gone;
    let checks = relevant.gone.clone();
    is_open.then(|| Verdict::Obstructed(Obstacle::ChecksGone { checks, url: place.url.clone() }))
}

/// The forge agreed to merge this very commit.
fn queued(lifecycle: &Lifecycle, place: &Place) -> Option<Verdict> {
    let is_queued = lifecycle.queued.as_ref() == Some(&place.head);
    is_queued.then_some(Verdict::Await(Awaited::MergeQueue))
}

/// The forge takes a moment to allow the merge. Where it does not, that is told of, unless it is to be merged.
fn allowed(lifecycle: &Lifecycle, rules: &PullRequestRules, place: &Place, look: &Look) -> Option<Verdict> {
    if look.merge != MergeState::Blocked {
        return None;
    }
    patiently(lifecycle, Awaited::Allowance).or_else(|| {
        let detail = "the forge does not allow it yet: a required review or check is missing".to_owned();
        let obstacle = Obstacle::NotMerged { url: place.url.clone(), detail };
        rules.merge.is_some().then_some(Verdict::Obstructed(obstacle))
    })
}

fn remark(review: &Review) -> String {
    format!("{}: {}", review.author, plan::summary(&review.body))
}

fn ready(relevant: Relevant<'_>, look: &Look) -> Outcome {
    let not_green = relevant.not_green(look);
    let Relevant { gone, passed, .. } = relevant;
    let mut caveats = Vec::new();
    if !gone.is_empty() {
        caveats.push(Caveat::Gone { checks: gone });
    }
    if !not_green.is_empty() {
        caveats.push(Caveat::NotGreen { checks: not_green });
    }
    if look.merge == MergeState::Blocked {
        caveats.push(Caveat::NotAllowed);
    }
    let remarks: Vec<String> = look.remarks().into_iter().take(NAMES_MAX).map(remark).collect();
    if !remarks.is_empty() {
        caveats.push(Caveat::Commented { remarks });
    }
    Outcome::Ready { checks: passed, caveats }
}

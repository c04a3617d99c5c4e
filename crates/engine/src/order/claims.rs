//! Which task is about which files: names, folders and patterns alike.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use plan::{ANY_FILE, TaskId};

use super::pattern::Pattern;
use super::{Hold, Why};
use crate::task::TaskDecl;

/// How much is compared, in pairs of characters, before whatever begins alike counts as the same: a look at a huge plan
/// full of patterns has to come to an end.
const EFFORT_MAX: usize = 50_000_000;

/// What earlier tasks are about.
#[derive(Debug)]
pub(super) struct Claims<'a> {
    /// By path.
    literals: BTreeMap<String, Claim<'a>>,
    /// By the entry as it is written.
    patterns: BTreeMap<&'a str, (Pattern, Claim<'a>)>,
    /// Tasks that may be about any file.
    any: BTreeSet<&'a TaskId>,
    effort: Cell<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Claim<'a> {
    by: &'a TaskId,
    entry: &'a str,
}

fn is_folder(entry: &str) -> bool {
    entry.trim().ends_with('/')
}

impl Default for Claims<'_> {
    fn default() -> Self {
        Self {
            literals: BTreeMap::new(),
            patterns: BTreeMap::new(),
            any: BTreeSet::new(),
            effort: Cell::new(EFFORT_MAX),
        }
    }
}

impl<'a> Claims<'a> {
    pub(super) fn add(&mut self, task: &'a TaskDecl) {
        for entry in &task.files {
            let claim = Claim { by: &task.id, entry };
            if entry == ANY_FILE {
                self.any.insert(&task.id);
            }
            let pattern = Pattern::read(entry);
            if let Some(path) = pattern.literal() {
                let known = self.literals.entry(path.to_owned()).or_insert(claim);
                // As a folder it stands for all below it as well.
                if is_folder(entry) && !is_folder(known.entry) {
                    *known = claim;
                }
            } else {
                self.patterns.entry(entry).or_insert((pattern, claim));
            }
        }
    }

    /// A task that is about what an entry stands for, or about something above or below it.
    pub(super) fn find(&self, entry: &str) -> Option<Hold> {
        let wanted = Pattern::read(entry);
        let claim = match wanted.literal() {
            Some(path) => self.at_path(path),
            None => self.among_literals(&wanted),
        };
        if let Some(claim) = claim {
            return Some(self.hold((entry, &wanted), (claim, &Pattern::read(claim.entry))));
        }
        let (pattern, claim) = self.patterns.values().find(|(pattern, _)| self.meet(&wanted, pattern))?;
        Some(self.hold((entry, &wanted), (*claim, pattern)))
    }

    /// The path itself, a folder above it, or something below it.
    fn at_path(&self, path: &str) -> Option<Claim<'a>> {
        let above = || path.match_indices('/').find_map(|(at, _)| self.literals.get(&path[..at]));
        let below = || self.beginning_with(&format!("{path}/")).next().map(|(_, claim)| claim);
        self.literals.get(path).or_else(above).or_else(below).copied()
    }

    fn among_literals(&self, wanted: &Pattern) -> Option<Claim<'a>> {
        let head = wanted.head();
        let above = head.match_indices('/').find_map(|(at, _)| self.literals.get(&head[..at]));
        let is_met = |claim: &Claim<'_>| self.meet(wanted, &Pattern::read(claim.entry));
        let below = || self.beginning_with(head).map(|(_, claim)| claim).find(|claim| is_met(claim));
        above.or_else(below).copied()
    }

    fn beginning_with(&self, head: &str) -> impl Iterator<Item = (&String, &Claim<'a>)> {
        let range = self.literals.range::<str, _>((Bound::Included(head), Bound::Unbounded));
        range.take_while(move |(path, _)| path.starts_with(head))
    }

    /// Whether two have a file in common, or nobody had the time to find out.
    fn meet(&self, one: &Pattern, two: &Pattern) -> bool {
        if one.begins_otherwise(two) {
            return false;
        }
        let effort = one.size().saturating_mul(two.size());
        let Some(left) = self.effort.get().checked_sub(effort) else { return true };
        self.effort.set(left);
        one.meets(two)
    }

    fn hold(&self, (entry, wanted): (&str, &Pattern), (claim, claimed): (Claim<'_>, &Pattern)) -> Hold {
        let both = if entry == ANY_FILE || self.any.contains(claim.by) {
            Some(ANY_FILE)
        } else if entry == claim.entry || wanted.is_matched_by(claimed) || claimed.is_above(wanted) {
            Some(entry)
        } else if claimed.is_matched_by(wanted) || wanted.is_above(claimed) {
            Some(claim.entry)
        } else {
            None
        };
        let may_be = || Why::MayOverlap { own: entry.to_owned(), other: claim.entry.to_owned() };
        let why = both.map_or_else(may_be, |both| Why::Overlap(both.to_owned()));
        Hold { by: claim.by.clone(), why }
    }
}

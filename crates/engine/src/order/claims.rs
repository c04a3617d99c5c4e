//! Which tasks are about which files: paths, folders and patterns alike.

use std::collections::BTreeMap;
use std::ops::Bound;

use plan::ANY_FILE;

use super::Why;
use super::pattern::Pattern;
use super::queue::remove;
use crate::task::TaskDecl;

/// How many different patterns of a plan are compared. Those beyond it count for all that begins like them: a look at a
/// huge plan full of patterns has to come to an end.
const PATTERNS_MAX: usize = 500;

/// The tasks that name each entry of a Files list. Tasks are numbers here, in the order of the plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    /// By path; a folder keeps the slash at its end.
    paths: BTreeMap<String, Vec<u32>>,
    /// By the entry as it is written.
    patterns: BTreeMap<String, (Pattern, Vec<u32>)>,
}

impl Claims {
    /// Adds a task that comes after all that were added before.
    pub(super) fn add(&mut self, number: u32, files: &[String]) {
        for entry in files {
            let claimants = self.claimants(entry);
            if claimants.last() != Some(&number) {
                claimants.push(number);
            }
        }
    }

    fn claimants(&mut self, entry: &str) -> &mut Vec<u32> {
        let pattern = Pattern::read(entry);
        if let Some(path) = path_of(entry, &pattern) {
            return self.paths.entry(path).or_default();
        }
        let is_beyond = self.patterns.len() >= PATTERNS_MAX && entry != ANY_FILE;
        let pattern = if is_beyond { pattern.all_that_begins_alike() } else { pattern };
        &mut self.patterns.entry(entry.to_owned()).or_insert((pattern, Vec::new())).1
    }

    /// Takes a task out.
    pub(super) fn remove(&mut self, number: u32, files: &[String]) {
        for entry in files {
            if let Some((_, claimants)) = self.patterns.get_mut(entry) {
                // The pattern itself stays, as how many there are may not depend on what is settled.
                remove(claimants, number);
            } else if let Some(path) = path_of(entry, &Pattern::read(entry))
                && let Some(claimants) = self.paths.get_mut(&path)
            {
                remove(claimants, number);
                if claimants.is_empty() {
                    self.paths.remove(&path);
                }
            }
        }
    }

    /// The tasks that name what can be about the same file as an entry, each list in the order of the plan.
    pub(super) fn related(&self, entry: &str) -> Vec<&[u32]> {
        let known = self.patterns.get(entry).map(|(pattern, _)| pattern.clone());
        let wanted = known.unwrap_or_else(|| Pattern::read(entry));
        let mut found = Vec::new();
        match wanted.literal() {
            Some(path) => {
                found.extend(self.paths.get(path));
                found.extend(self.beginning_with(&format!("{path}/")).map(|(_, claimants)| claimants));
                found.extend(self.above(path));
            }
            None => {
                let below = self.beginning_with(wanted.head());
                let met = below.filter(|(path, _)| wanted.meets(&Pattern::read(path)));
                found.extend(met.map(|(_, claimants)| claimants));
                found.extend(self.above(wanted.head()));
            }
        }
        let patterns = self.patterns.values().filter(|(pattern, _)| wanted.meets(pattern));
        found.extend(patterns.map(|(_, claimants)| claimants));
        found.into_iter().map(Vec::as_slice).collect()
    }

    /// The folders above a path, with and without a slash at their end.
    fn above(&self, path: &str) -> impl Iterator<Item = &Vec<u32>> {
        let folders = path.match_indices('/').flat_map(|(at, _)| [&path[..at], &path[..=at]]);
        folders.filter_map(|folder| self.paths.get(folder))
    }

    fn beginning_with(&self, head: &str) -> impl Iterator<Item = (&String, &Vec<u32>)> {
        let range = self.paths.range::<str, _>((Bound::Included(head), Bound::Unbounded));
        range.take_while(move |(path, _)| path.starts_with(head))
    }
}

/// The path that an entry names, if it is not a pattern.
fn path_of(entry: &str, pattern: &Pattern) -> Option<String> {
    let slash = if entry.trim().ends_with('/') { "/" } else { "" };
    pattern.literal().map(|path| format!("{path}{slash}"))
}

/// The file that two tasks are both about, or may be.
pub(super) fn overlap(earlier: &TaskDecl, later: &TaskDecl) -> Option<Why> {
    let claimed: Vec<Pattern> = earlier.files.iter().map(|entry| Pattern::read(entry)).collect();
    later.files.iter().find_map(|own| {
        let wanted = Pattern::read(own);
        let (other, claimed) = earlier.files.iter().zip(&claimed).find(|(_, other)| wanted.meets(other))?;
        let is_any = own == ANY_FILE || earlier.files.iter().any(|entry| entry == ANY_FILE);
        let both = if is_any {
            Some(ANY_FILE)
        } else if own == other || wanted.is_matched_by(claimed) || claimed.is_above(&wanted) {
            Some(own.as_str())
        } else if claimed.is_matched_by(&wanted) || wanted.is_above(claimed) {
            Some(other.as_str())
        } else {
            None
        };
        let may_be = || Why::MayOverlap { own: own.clone(), other: other.clone() };
        Some(both.map_or_else(may_be, |both| Why::Overlap(both.to_owned())))
    })
}

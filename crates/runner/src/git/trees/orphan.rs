//! Work of ours that git still keeps after a person deleted the program's own folder by hand.

use std::collections::BTreeSet;
use std::fs;

use super::keep::{Keep, place_of, place_of_left};
use crate::git::calls::process::{self, Call};
use crate::git::error::GitError;
use crate::git::repository::Git;

impl Git {
    /// Work that is kept for a plan under other names than these is put where nothing touches it. Tells the references
    /// that it is kept under then.
    pub fn set_kept_aside(&self, plan: &str, known: &BTreeSet<Keep>) -> Result<Vec<String>, GitError> {
        let place = place_of(plan);
        if !self.may_keep(&place) {
            return Ok(Vec::new());
        }
        let listing =
            process::run(self.call(&["for-each-ref", "--format=%(refname) %(objectname)", &place]))?;
        let listing = String::from_utf8_lossy(&listing.success()?).into_owned();
        let commits = self.commits_among(listing.lines().filter_map(|line| Some(line.split_once(' ')?.1)))?;
        // What is gone cannot be put anywhere.
        let kept = listing.lines().filter_map(|line| line.split_once(' '));
        let kept = kept.filter(|(_, object)| commits.contains(*object));
        let known: BTreeSet<&str> = known.iter().map(Keep::reference).collect();
        let (mut commands, mut moved) = (String::new(), Vec::new());
        for (name, object) in kept.filter(|(name, _)| !known.contains(Keep::owner_of(name))) {
            let key = name.strip_prefix(&place).unwrap_or(name).trim_start_matches('/');
            let short = object.get(..12).unwrap_or(object);
            let aside = format!("{}/{key}-{short}", place_of_left(plan));
            commands.push_str(&format!("update {aside} {object}\ndelete {name} {object}\n"));
            moved.push(aside);
        }
        if !moved.is_empty() {
            let update = ["update-ref", "--stdin"];
            self.run_locking(|| self.locking_call(&update, commands.clone().into_bytes()))?.success()?;
        }
        Ok(moved)
    }

    /// Which of these objects are commits that are there.
    fn commits_among<'a>(
        &self,
        objects: impl Iterator<Item = &'a str>,
    ) -> Result<BTreeSet<String>, GitError> {
        let stdin: String = objects.map(|object| format!("{object}\n")).collect();
        if stdin.is_empty() {
            return Ok(BTreeSet::new());
        }
        let list = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
        let told = process::run(Call { stdin: stdin.into_bytes(), ..self.call(&list) })?.success()?;
        let told = String::from_utf8_lossy(&told).into_owned();
        Ok(told.lines().filter_map(|line| line.strip_prefix("commit ")).map(str::to_owned).collect())
    }

    /// Whether there can be references at a place, which mostly there are not. That saves a process.
    pub(in crate::git) fn may_keep(&self, place: &str) -> bool {
        let packed = || fs::read(self.common_dir().join("packed-refs")).unwrap_or_default();
        let is_packed = || packed().windows(place.len()).any(|bytes| bytes == place.as_bytes());
        self.common_dir().join(place).is_dir() || self.common_dir().join("reftable").is_dir() || is_packed()
    }
}

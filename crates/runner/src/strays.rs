//! Trees among a plan's own that no task has: the journal that told of them was deleted, the task was taken out of the plan,
//! or an agent made one beside its own. They go; what is in them may be all that is left of somebody's effort and is kept.

use std::collections::BTreeSet;
use std::fs;

use crate::delegation::file_name;
use crate::driver::Driver;
use crate::git::{Git, GitError, Keep, Oid};
use crate::offstage::Site;
use crate::stranded::Unready;
use crate::tree_notes::task_part;

/// How many trees are named at once.
const TOLD_MAX: usize = 20;

/// What marks a reference as that of a tree without a task. No part of a file's name for a task has it.
const MARK: char = '+';

impl Driver<'_> {
    /// The names among the trees, of trees and of notes about some.
    pub(crate) fn names_of_trees(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.file.trees()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.map(|name| task_part(&name).to_owned()).collect()
    }

    /// Removes trees that no task has, and tells so.
    pub(crate) fn clear_strays(&self, git: &Git, plan: &str) -> Vec<String> {
        let mut names = self.names_of_trees();
        if !names.is_empty() {
            let known: BTreeSet<String> =
                self.state.tasks().iter().map(|task| file_name(task.id())).collect();
            names.retain(|name| !known.contains(name));
        }
        let (mut notes, mut gone) = (Vec::new(), Vec::new());
        for name in names {
            let site = self.site_at(git.clone(), &name);
            let later = Keep::new(plan, &format!("{name}{MARK}"));
            match site.salvage(&later, &mut notes) {
                Ok(true) => gone.push(self.project.relative(&site.tree).display().to_string()),
                Ok(false) => {}
                Err(Unready::NoTree(error) | Unready::Held { error, .. }) => {
                    let place = self.project.relative(&site.tree).display();
                    notes.push(format!("{place}, which no task has, cannot be removed: {error}"));
                }
            }
        }
        notes.extend(told(&gone));
        notes
    }
}

impl Site {
    /// Removes a tree that no task has. What is in it and is not kept already is kept under another name. Whether there
    /// was one.
    fn salvage(&self, later: &Keep, notes: &mut Vec<String>) -> Result<bool, Unready> {
        let is_there = self.tree.exists();
        if self.base().is_none() && is_there {
            let Some(head) = self.git.checked_out_in(&self.tree)? else {
                notes.extend(self.move_aside()?.map(|place| {
                    format!(
                        "{}, which git does not know, is kept in {}",
                        self.tree.display(),
                        place.display()
                    )
                }));
                return Ok(false);
            };
            if let Err(error) = self.keep_found(&head, later) {
                notes.extend(self.strand(error)?);
            }
            self.clear_tree();
            self.forget_notes();
        } else {
            self.abandon(notes);
        }
        Ok(is_there && !self.tree.exists())
    }

    /// Keeps what is in a tree of which nothing is known but what it has checked out.
    fn keep_found(&self, head: &Oid, later: &Keep) -> Result<(), GitError> {
        let furnished = self.furnishing.paths();
        let work = self.work(head, &furnished);
        if self.git.is_kept_as(&self.keep, &self.git.content_of(&work)?)? {
            return Ok(());
        }
        let is_kept = self.git.kept(&self.keep)?.is_some();
        let keep = if is_kept { later } else { &self.keep };
        let site = Site { keep: keep.clone(), ..self.clone() };
        if site.pack_lost(head)?.is_none() && !self.git.contains(head.as_str())? {
            self.git.keep(keep, head)?;
        }
        Ok(())
    }
}

fn told(gone: &[String]) -> Option<String> {
    let (shown, rest) = gone.split_at(gone.len().min(TOLD_MAX));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    (!shown.is_empty())
        .then(|| format!("work trees that no task has are removed: {}{more}", shown.join(", ")))
}

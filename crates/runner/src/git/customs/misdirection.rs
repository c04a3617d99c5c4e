//! Settings that make git take another folder for the project, or none at all. Linked working trees share them with the
//! project, so that whoever changes them for a tree of a task changes them for the project: git would write there
//! whatever comes in. What is set when the program starts is as somebody wants it.

use super::configuration::Configuration;
use crate::git::calls::process::{self, Call};
use crate::git::error::GitError;
use crate::git::repository::Git;

/// What somebody types who did not mean it. It works also where git finds no such folder.
pub(in crate::git) const UNSET_WORKTREE: &str = "GIT_WORK_TREE=. git config --unset core.worktree";
pub(in crate::git) const UNSET_BARE: &str = "git config core.bare false";

/// Where a repository says that its working tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Place {
    worktree: Option<String>,
    is_bare: bool,
}

impl Place {
    pub(in crate::git) fn of(configuration: &Configuration) -> Place {
        let last = |wanted: &str| {
            let named = configuration.entries().filter(|(name, _)| *name == wanted);
            named.last().map(|(_, value)| value.to_owned())
        };
        let is_true =
            |value: String| ["true", "yes", "on", "1"].contains(&value.to_ascii_lowercase().as_str());
        Place { worktree: last("core.worktree"), is_bare: last("core.bare").is_some_and(is_true) }
    }

    /// What is otherwise now, and how that is undone.
    fn change(&self, now: &Place) -> Option<(String, String)> {
        if now.is_bare && !self.is_bare {
            return Some(("core.bare is true".to_owned(), UNSET_BARE.to_owned()));
        }
        match (&self.worktree, &now.worktree) {
            (before, now) if before == now => None,
            (None, Some(now)) => Some((format!("core.worktree is {now}"), UNSET_WORKTREE.to_owned())),
            (Some(before), now) => {
                let told = now.as_ref().map_or("is not set".to_owned(), |now| format!("is {now}"));
                let undo = format!("GIT_WORK_TREE=. git config core.worktree '{before}'");
                Some((format!("core.worktree {told}"), undo))
            }
            (None, None) => None,
        }
    }
}

impl Git {
    /// Refuses a repository whose settings were changed, since the program started, so that git would not work in the
    /// project any more. The project that is itself a linked tree has nothing to do with them.
    pub(crate) fn refuse_if_misdirected(&self) -> Result<(), GitError> {
        let is_main = self.git_dir() == self.common_dir();
        let Some(before) = self.habits().place().filter(|_| is_main) else { return Ok(()) };
        let now = match self.configuration()? {
            Some(configuration) => Place::of(&configuration),
            // Git reads no settings where the folder does not exist that they name.
            None => self.place_told_otherwise()?,
        };
        match before.change(&now) {
            Some((change, undo)) => Err(GitError::Misdirected { root: self.root().to_owned(), change, undo }),
            None => Ok(()),
        }
    }

    fn place_told_otherwise(&self) -> Result<Place, GitError> {
        let mut environment = self.environment().clone();
        environment.push(("GIT_WORK_TREE".into(), self.root().into()));
        let call = Call { environment: &environment, ..self.call(&Configuration::QUESTION) };
        process::run(call)?.success().map(|listing| Place::of(&Configuration::parse(&listing)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_told_with_what_undoes_it() {
        let place = |listing: &[u8]| Place::of(&Configuration::parse(listing));
        let check = |before: &[u8], now: &[u8], expected: Option<(&str, &str)>| {
            let change = place(before).change(&place(now));
            let change = change.as_ref().map(|(change, undo)| (change.as_str(), undo.as_str()));
            assert_eq!(change, expected);
        };
        let set = b"core.worktree\n../a\0";
        check(b"core.bare\nfalse\0", b"", None);
        check(b"core.bare\nYes\0", b"core.bare\0", None);
        check(b"", b"core.bare\n1\0", Some(("core.bare is true", UNSET_BARE)));
        check(b"", set, Some(("core.worktree is ../a", UNSET_WORKTREE)));
        check(set, set, None);
        check(
            set,
            b"",
            Some(("core.worktree is not set", "GIT_WORK_TREE=. git config core.worktree '../a'")),
        );
    }
}

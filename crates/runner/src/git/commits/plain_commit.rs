//! Commits that are written without starting a git for it, where git would do nothing but write them: no hook is there,
//! nothing is signed, no text is recoded. Everything else is left to git.

use std::time::SystemTime;

use crate::git::customs::conversion::Conversion;
use crate::git::customs::habits::{Ident, Names};
use crate::git::error::GitError;
use crate::git::formats::loose_object::Kind;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// Whoever of these is there may change a commit, refuse it or wait for it.
const HOOKS: [&str; 5] =
    ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change"];

/// A hook that is about references, whoever changes them, and that looks around where it runs.
const REFERENCE_HOOK: &str = "reference-transaction";

/// How writing a commit came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) enum Plain {
    /// It is what is checked out.
    Done(Oid),
    /// Somebody else committed first.
    Overtaken,
    /// It takes git itself.
    LeftToGit,
}

impl Git {
    /// Whether a commit may be more than its text to anybody here.
    pub fn has_commit_hook(&self) -> bool {
        self.has_any_hook(&HOOKS) || self.habit().has_set_hooks
    }

    /// Whether git would do nothing but write commits down.
    pub(in crate::git) fn commits_plainly(&self) -> bool {
        !self.has_commit_hook() && !self.has_hook(REFERENCE_HOOK) && self.habit().names.is_some()
    }

    /// What becomes of content that is committed here; none if only git gets it right.
    pub(in crate::git) fn conversion(&self) -> Option<Conversion> {
        self.habit().conversion
    }

    /// Writes a commit of this tree on top of what is checked out and makes it that.
    pub(in crate::git) fn commit_plainly(
        &self,
        (head, tree): (&Oid, &Oid),
        message: &str,
    ) -> Result<Plain, GitError> {
        if !self.commits_plainly() || self.tree_of(head)? == *tree {
            return Ok(Plain::LeftToGit);
        }
        match self.store_commit((head, tree), message) {
            Some(commit) => self.check_out_plainly(head, commit),
            None => Ok(Plain::LeftToGit),
        }
    }

    /// Stores a commit that nobody has checked out yet.
    pub(in crate::git) fn store_commit(&self, (parent, tree): (&Oid, &Oid), message: &str) -> Option<Oid> {
        let text = self.habit().names?.text((parent, tree), message);
        let commit = self.store_object(Kind::Commit, text.as_bytes(), tree.width())?;
        self.remember_commit(&commit, tree);
        Some(commit)
    }

    /// Makes it what is checked out.
    pub(in crate::git) fn check_out_plainly(&self, head: &Oid, commit: Oid) -> Result<Plain, GitError> {
        if self.move_head(head, &commit) {
            self.hold_on();
            return Ok(Plain::Done(commit));
        }
        let now = self.head()?;
        // Whoever was to say so may have been killed after having done it.
        if now.as_ref() == Some(&commit) {
            return Ok(Plain::Done(commit));
        }
        Ok(if now.as_ref() == Some(head) { Plain::LeftToGit } else { Plain::Overtaken })
    }
}

impl Names {
    /// A commit as git stores it.
    fn text(&self, (parent, tree): (&Oid, &Oid), message: &str) -> String {
        let (author, committer) = (self.author.now(), self.committer.now());
        let message = without_spare_space(message);
        format!("tree {tree}\nparent {parent}\nauthor {author}\ncommitter {committer}\n\n{message}")
    }
}

impl Ident {
    fn now(&self) -> String {
        let Ident { who, fixed, zone } = self;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        fixed.as_ref().map_or_else(|| format!("{who} {now} {zone}"), |fixed| format!("{who} {fixed} {zone}"))
    }
}

/// As git cleans a message up: no space at the ends of lines, no empty lines at the ends, never two in a row.
fn without_spare_space(message: &str) -> String {
    let mut text = String::new();
    let mut has_gap = false;
    for line in message.split('\n') {
        let line =
            line.trim_end_matches(|character: char| character.is_ascii_whitespace() || character == '\x0b');
        if line.is_empty() {
            has_gap = !text.is_empty();
            continue;
        }
        if std::mem::take(&mut has_gap) {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::without_spare_space;

    #[test]
    fn messages_are_cleaned_up_as_git_does() {
        let check =
            |message: &str, expected: &str| assert_eq!(without_spare_space(message), expected, "{message:?}");
        check("one", "one\n");
        check("\n\n one \t\r\n\n\n two\n\n", " one\n\n two\n");
        check("# no comment", "# no comment\n");
        check("a\u{a0}\n\x0b\n\x0cb", "a\u{a0}\n\n\x0cb\n");
        check("", "");
    }
}

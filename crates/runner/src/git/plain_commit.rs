//! Commits that are written without starting a git for it, where git would do nothing but write them: no hook is there,
//! nothing is signed, no text is recoded. Everything else is left to git.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::conversion::Conversion;
use super::error::GitError;
use super::history::Oid;
use super::process;
use super::repository::Git;
use super::stamps::Stamp;

/// Where the text of a commit is put for the git that stores it.
pub(super) const TEXT: &str = "tillgreen-commit-text";

/// Whoever of these is there may change a commit, refuse it or wait for it.
const HOOKS: [&str; 5] =
    ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change"];

/// A hook that is about references, whoever changes them, and that looks around where it runs.
const REFERENCE_HOOK: &str = "reference-transaction";

/// Settings that make a commit more than its text.
const SETTINGS: [&str; 3] = ["commit.gpgsign", "i18n.commitencoding", "commit.cleanup"];

/// Before hooks that are set up by settings.
const HOOK_SETTINGS: &str = "hook.";

/// What is known about committing here, asked of git once and again when the repository's settings change.
#[derive(Debug, Default)]
pub(super) struct Habits {
    known: Mutex<Option<(Option<Stamp>, Habit)>>,
}

/// How commits are made here.
#[derive(Debug, Clone, Default)]
struct Habit {
    has_set_hooks: bool,
    /// Who commits; none if only git gets it right.
    names: Option<Names>,
    /// What becomes of content on the way; none if only git gets it right.
    conversion: Option<Conversion>,
}

/// Author and committer.
#[derive(Debug, Clone)]
struct Names {
    author: Ident,
    committer: Ident,
}

/// One of them, as git tells it.
#[derive(Debug, Clone)]
struct Ident {
    /// Name and address.
    who: String,
    /// The time, if a variable says that it is always the same.
    fixed: Option<String>,
    zone: String,
}

/// How writing a commit came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plain {
    /// It is what is checked out.
    Done(Oid),
    /// Somebody else committed first.
    Overtaken,
    /// It takes git itself.
    LeftToGit,
}

impl Git {
    /// Finds out how commits are made here, so that the first one need not wait for it.
    pub fn learn_to_commit(&self) {
        self.habit();
    }

    /// Whether that is known already, or being found out.
    pub fn knows_how_to_commit(&self) -> bool {
        self.habits().known.try_lock().map_or(true, |known| known.is_some())
    }

    /// Whether a commit may be more than its text to anybody here.
    pub fn has_commit_hook(&self) -> bool {
        HOOKS.iter().any(|name| self.has_hook(name)) || self.habit().has_set_hooks
    }

    /// Whether git would do nothing but write commits down.
    pub(super) fn commits_plainly(&self) -> bool {
        !self.has_commit_hook() && !self.has_hook(REFERENCE_HOOK) && self.habit().names.is_some()
    }

    /// What becomes of content that is committed here; none if only git gets it right.
    pub(super) fn conversion(&self) -> Option<Conversion> {
        self.habit().conversion
    }

    /// Writes a commit of this tree on top of what is checked out and makes it that.
    pub(super) fn commit_plainly(
        &self,
        (head, tree): (&Oid, &Oid),
        message: &str,
    ) -> Result<Plain, GitError> {
        let Some(names) = self.habit().names.filter(|_| self.commits_plainly()) else {
            return Ok(Plain::LeftToGit);
        };
        if self.tree_of(head).is_none_or(|before| before == *tree) {
            return Ok(Plain::LeftToGit);
        }
        let Some(commit) = self.write_commit(&names.text((head, tree), message))? else {
            return Ok(Plain::LeftToGit);
        };
        if self.move_head(head, &commit) {
            return Ok(Plain::Done(commit));
        }
        let now = self.head()?;
        // Whoever was to say so may have been killed after having done it.
        if now.as_ref() == Some(&commit) {
            return Ok(Plain::Done(commit));
        }
        Ok(if now.as_ref() == Some(head) { Plain::LeftToGit } else { Plain::Overtaken })
    }

    fn write_commit(&self, text: &str) -> Result<Option<Oid>, GitError> {
        let file = self.git_dir().join(TEXT);
        fs::write(&file, text).map_err(GitError::io("write", &file))?;
        let commit = self.write_commit_object(&file);
        // One that stays is overwritten by the next.
        let _ = fs::remove_file(&file);
        Ok(commit)
    }

    fn habit(&self) -> Habit {
        let stamp = Stamp::of(&self.common_dir().join("config"));
        let mut known = self.habits().known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref().filter(|(before, _)| *before == stamp) {
            Some((_, habit)) => habit.clone(),
            None => {
                let habit = self.ask_for_habit().unwrap_or_default();
                *known = Some((stamp, habit.clone()));
                habit
            }
        }
    }

    /// None: git does not say, and commits by itself.
    fn ask_for_habit(&self) -> Option<Habit> {
        let listing =
            process::run(self.call(&["config", "--list", "--name-only", "-z"])).ok()?.success().ok()?;
        let listing = String::from_utf8_lossy(&listing).to_ascii_lowercase();
        let settings: Vec<&str> = listing.split('\0').collect();
        let has_set_hooks = settings.iter().any(|name| name.starts_with(HOOK_SETTINGS));
        if settings.iter().any(|name| SETTINGS.contains(name)) {
            return Some(Habit { has_set_hooks, ..Habit::default() });
        }
        let conversion = Conversion::ask(self, &settings);
        Some(Habit { has_set_hooks, names: self.ask_for_names(), conversion })
    }

    fn ask_for_names(&self) -> Option<Names> {
        let author = self.ask_for_ident("GIT_AUTHOR_IDENT", "GIT_AUTHOR_DATE")?;
        let committer = self.ask_for_ident("GIT_COMMITTER_IDENT", "GIT_COMMITTER_DATE")?;
        Some(Names { author, committer })
    }

    fn ask_for_ident(&self, variable: &str, date: &str) -> Option<Ident> {
        let told = process::run(self.call(&["var", variable])).ok()?.success().ok()?;
        // `Name <address> seconds zone`
        let told = String::from_utf8(told).ok()?;
        let (rest, zone) = told.trim_end().rsplit_once(' ')?;
        let (who, seconds) = rest.rsplit_once(' ')?;
        let is_fixed =
            std::env::var_os(date).is_some() || self.environment().iter().any(|(name, _)| name == date);
        who.ends_with('>').then(|| Ident {
            who: who.to_owned(),
            fixed: is_fixed.then(|| seconds.to_owned()),
            zone: zone.to_owned(),
        })
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

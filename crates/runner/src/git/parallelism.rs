//! The conditions under which tasks can run side by side here, each in a linked work tree; if they cannot, the reason
//! in words for people.

use std::collections::BTreeSet;
use std::fmt;

use crate::agent::find_program;
use crate::git::call::error::GitError;
use crate::git::call::process;
use crate::git::repository::Git;

/// Before the names of settings that hold on a branch alone.
const ON_BRANCH: &str = "includeif.onbranch:";

/// The possibility of using linked work trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parallelism {
    /// They can.
    Possible,
    /// They cannot: tasks run one after another.
    Sequential(Reason),
}

/// The reason why tasks cannot run side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing to make a work tree of.
    NoCommit,
    /// A merge or the like has been begun.
    InProgress(&'static str),
    /// Files pass through a program that is not there.
    Filter {
        /// The filter's name.
        name: String,
        /// The program.
        program: String,
    },
    /// Settings hold on a branch alone, and no branch is checked out in a linked work tree.
    OnBranch,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoCommit => f.write_str("the branch has no commit yet"),
            Reason::InProgress(operation) => write!(f, "a {operation} is in progress"),
            Reason::Filter { name, program } => {
                write!(f, "files pass through the filter {name}, and its program {program} is not installed")
            }
            Reason::OnBranch => f.write_str(
                "settings of git depend on the branch (includeIf.onbranch), and work trees have none",
            ),
        }
    }
}

impl Git {
    /// Tells if linked work trees can be used in this repository at this moment.
    pub fn parallelism(&self) -> Result<Parallelism, GitError> {
        let reason = match self.broad_reason()? {
            Some(reason) => Some(reason),
            None => self.filter_reason()?,
        };
        Ok(reason.map_or(Parallelism::Possible, Parallelism::Sequential))
    }

    fn broad_reason(&self) -> Result<Option<Reason>, GitError> {
        if self.head()?.is_none() {
            return Ok(Some(Reason::NoCommit));
        }
        let is_on_branch = |name: &str| name.starts_with(ON_BRANCH);
        if self.configuration()?.is_some_and(|settings| settings.names().any(is_on_branch)) {
            return Ok(Some(Reason::OnBranch));
        }
        match self.refuse_if_in_progress() {
            Err(GitError::InProgress { operation, .. }) => Ok(Some(Reason::InProgress(operation))),
            ended @ (Ok(()) | Err(_)) => ended.map(|()| None),
        }
    }

    /// Filters that are required and whose program is missing: checking out a file would fail.
    fn filter_reason(&self) -> Result<Option<Reason>, GitError> {
        let Some(configuration) = self.configuration()? else { return Ok(None) };
        let settings =
            || configuration.entries().filter_map(|(key, value)| Some((filter_setting(key)?, value)));
        let required =
            settings().filter(|((_, variable), value)| *variable == "required" && *value == "true");
        let required: BTreeSet<&str> = required.map(|((name, _), _)| name).collect();
        let is_command = |variable: &str| matches!(variable, "smudge" | "process");
        for ((name, _), command) in settings().filter(|((_, variable), _)| is_command(variable)) {
            let missing = program_of(command).filter(|program| find_program(program, self.root()).is_none());
            let Some(program) = missing.filter(|_| required.contains(name)) else { continue };
            if self.uses_filter(name)? {
                return Ok(Some(Reason::Filter { name: name.to_owned(), program: program.to_owned() }));
            }
        }
        Ok(None)
    }

    /// True if attributes of this repository name the filter.
    fn uses_filter(&self, name: &str) -> Result<bool, GitError> {
        let wanted = format!("filter={name}");
        let local = std::fs::read_to_string(self.common_dir().join("info/attributes")).unwrap_or_default();
        if local.split_whitespace().any(|word| word == wanted) {
            return Ok(true);
        }
        let list = ["grep", "-q", "-w", "-F", "-e", &wanted, "HEAD", "--", ":(glob)**/.gitattributes"];
        let ended = process::run(self.call(&list))?;
        match ended.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(_) | None => Err(ended.into_failure()),
        }
    }
}

/// `lfs` and `smudge` of `filter.lfs.smudge`.
fn filter_setting(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("filter.")?.rsplit_once('.')
}

/// The program of a command line, if it is plain to see.
fn program_of(command: &str) -> Option<&str> {
    let word = command.split_whitespace().next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    word.bytes().all(is_plain).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::{filter_setting, program_of};

    #[test]
    fn names_and_programs_of_filters_are_read() {
        assert_eq!(filter_setting("filter.lfs.smudge"), Some(("lfs", "smudge")));
        assert_eq!(filter_setting("filter.a.b.process"), Some(("a.b", "process")));
        assert_eq!(filter_setting("filter.smudge"), None);
        assert_eq!(filter_setting("filters.lfs.smudge"), None);
        assert_eq!(program_of("git-lfs smudge -- %f"), Some("git-lfs"));
        assert_eq!(program_of("\"/a b/c\" x"), None);
        assert_eq!(program_of(""), None);
    }
}

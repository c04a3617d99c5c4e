//! What of somebody's in the project meets work that comes in, in words: what keeps it out, and what it undoes. What that
//! is is found by `git::landings::obstacle`.

use engine::Landing;

use crate::git::Git;
use crate::traces;

/// What is said when a deletion of somebody's is undone.
pub(crate) fn told_of_revived(revived: &[String]) -> Option<String> {
    let told =
        || format!("deleted in the project, and there again with finished work: {}", traces::listed(revived));
    (!revived.is_empty()).then(told)
}

/// Why work does not come in where somebody's changes are, and what to do about them.
pub(crate) fn refused(git: &Git, paths: &[String]) -> Landing {
    let (what, advice) = remedy(paths, &git.unknown(paths));
    let overlooked = overlooked(git, paths);
    Landing::Blocked {
        reason: format!(
            "{what} in the project are in the way of finished work: {} ({advice}, then run again{overlooked})",
            traces::listed(paths),
        ),
    }
}

/// What is in the way, and what to do about it. Files that git does not know, or ignores, are not stashed.
fn remedy(paths: &[String], unknown: &[String]) -> (&'static str, String) {
    if unknown.is_empty() {
        return ("uncommitted changes", "commit or stash them".to_owned());
    }
    if unknown.len() == paths.len() {
        return ("files that git does not know", "move them away".to_owned());
    }
    ("uncommitted changes", format!("commit or stash them, and move away {}", traces::listed(unknown)))
}

/// How to have git look again at what it was told not to look at: `git status` does not show that it is changed.
fn overlooked(git: &Git, paths: &[String]) -> String {
    // Where git does not say so, the paths are told all the same.
    let overlooked = git.overlooked(paths).unwrap_or_default();
    let told = |(path, option): (String, &str)| {
        format!("; git was told not to look at {path}: `git update-index {option} {path}` shows it again")
    };
    overlooked.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::remedy;

    #[test]
    fn only_what_git_knows_is_to_be_stashed() {
        let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let check = |paths: &[&str], unknown: &[&str], what: &str, advice: &str| {
            let (seen, told) = remedy(&list(paths), &list(unknown));
            assert_eq!((seen, told.as_str()), (what, advice));
        };
        check(&["a"], &[], "uncommitted changes", "commit or stash them");
        check(&["a", "b"], &["a", "b"], "files that git does not know", "move them away");
        check(&["a", "b"], &["b"], "uncommitted changes", "commit or stash them, and move away b");
    }
}

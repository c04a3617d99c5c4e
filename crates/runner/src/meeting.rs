//! Why work that is green in its own tree may be red in the project, in words for whoever tries again.

use crate::git::GitError;
use crate::offstage::Site;

impl Site {
    /// What differs between the tree and the project, apart from the work itself.
    pub(crate) fn met(&self) -> Option<String> {
        let base = self.base_of_work().ok()??;
        let told = |found: Result<Vec<String>, GitError>| found.unwrap_or_default();
        let since = told(self.git.told_since(&base));
        let ignored = told(self.git.ignored_only_in(&self.tree, &self.furnished()));
        Some(words(&since, &ignored))
    }
}

fn words(since: &[String], ignored: &[String]) -> String {
    let mut text = if since.is_empty() {
        "Green in its own work tree, red in the project, although nothing came in meanwhile.".to_owned()
    } else {
        format!("Green in its own tree, red together with what came in meanwhile:\n{}", since.join("\n"))
    };
    if !ignored.is_empty() {
        text.push_str(&format!(
            "\nFiles that git ignores do not come back from a work tree. These are in the tree and not in the project: \
             {}. If the result needs one of them, have it made by what is committed or by the verify command, or do not \
             ignore it; what all trees need can be listed in the settings under worktree_link or worktree_copy.",
            ignored.join(", ")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn what_came_in_and_what_stays_behind_are_told() {
        let list = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let check = |since: &[&str], ignored: &[&str], parts: &[&str], absent: &[&str]| {
            let text = words(&list(since), &list(ignored));
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert!(!absent.iter().any(|part| text.contains(part)), "{text}");
        };
        check(&["abc feat: a"], &[], &["red together", "abc feat: a"], &["ignores"]);
        check(
            &[],
            &["build/", "x.o"],
            &["nothing came in", "build/, x.o", "worktree_copy"],
            &["red together"],
        );
        check(&[], &[], &["nothing came in"], &["ignores"]);
    }
}

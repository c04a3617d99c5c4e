//! What is done while somebody tidies the repository up, `git gc --prune=now` or `git prune`: objects that nobody refers to
//! yet are gone in the middle of it. It is done once more then, a few times.

use std::thread;
use std::time::Duration;

use super::calls::process;
use super::error::GitError;
use super::hindrance::messages;
use super::history::Oid;
use super::repository::Git;

/// How long is waited before something is done once more.
const WAITS_MS: [u64; 14] = [0, 0, 5, 10, 10, 20, 20, 50, 50, 100, 100, 200, 400, 800];
/// The same for what can be done in another way after that.
const SHORT_WAITS_MS: [u64; 5] = [0, 0, 5, 10, 10];

impl Git {
    /// Does something that can be done again at any moment, as often as it takes while others tidy up.
    pub(crate) fn despite_tidying<T>(&self, step: impl Fn() -> Result<T, GitError>) -> Result<T, GitError> {
        self.tried_again(&WAITS_MS, step)
    }

    /// The same, a few times only, for what there is another way to do.
    pub(in crate::git) fn despite_some_tidying<T>(
        &self,
        step: impl Fn() -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        self.tried_again(&SHORT_WAITS_MS, step)
    }

    fn tried_again<T>(
        &self,
        waits_ms: &[u64],
        step: impl Fn() -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        for wait in waits_ms {
            match step() {
                Err(error) if error.is_of_gone_objects() => {
                    self.recent_objects().note_missed();
                    self.forget_trees();
                    self.hold_on_to_all();
                    thread::sleep(Duration::from_millis(*wait));
                }
                ended => return ended,
            }
        }
        step().map_err(GitError::or_gone)
    }

    /// Whether a commit or a tree is there with all that it adds to what is checked out. Nobody can tell in a repository that
    /// lacks even that: its disk may be elsewhere.
    pub(crate) fn is_whole(&self, object: &Oid) -> Result<bool, GitError> {
        let list = ["rev-list", "--objects", "--quiet", object.as_str(), "--not", "HEAD", "--"];
        match process::run(self.call(&list))?.success() {
            Ok(_) => Ok(true),
            Err(error) if error.is_of_gone_objects() => {
                let head = ["rev-list", "--objects", "--quiet", "--no-walk", "HEAD", "--"];
                process::run(self.call(&head))?.success().map(|_| false)
            }
            Err(error) => Err(error),
        }
    }
}

impl GitError {
    /// Where it does not help to try again, nobody's work is to blame.
    pub(in crate::git) fn or_gone(self) -> GitError {
        if let (true, GitError::Failed { output, .. }) = (self.is_of_gone_objects(), &self) {
            return GitError::Gone { told: output.clone() };
        }
        self
    }

    /// Whether objects were missing, or the folders that they were to be written into.
    pub(crate) fn is_of_gone_objects(&self) -> bool {
        let GitError::Failed { code: Some(_), output, .. } = self else {
            return matches!(self, GitError::Gone { .. });
        };
        tells_of_gone_objects(output)
    }
}

pub(in crate::git) fn tells_of_gone_objects(output: &str) -> bool {
    messages(output).any(is_of_gone_object)
}

/// Whether one message of git's is about an object that is not there.
fn is_of_gone_object(message: &str) -> bool {
    const OF_OBJECTS: [&str; 22] = [
        "unable to read ",
        "could not read ",
        "Could not read ",
        "failed to read object",
        "failed to unpack tree object ",
        "invalid object ",
        "bad object ",
        "bad tree object ",
        "missing object ",
        "missing blob object ",
        "missing tree object ",
        "nonexistent object ",
        "not a valid object",
        "not a tree object",
        "unable to find ",
        "unable to parse commit",
        "could not parse ",
        "Could not parse ",
        "Not a valid commit name ",
        "Not a valid object name ",
        "Invalid revision range ",
        "bad revision ",
    ];
    // Git does not always say which object it was.
    const OF_HEAD: [&str; 9] = [
        "bad object HEAD",
        "bad tree object HEAD",
        "bad revision 'HEAD'",
        "could not parse HEAD",
        "could not parse HEAD commit",
        "could not parse newly created commit",
        "cannot create an empty blob in the object database",
        "your current branch appears to be broken",
        "Needed a single revision",
    ];
    const OF_PLACES: [&str; 3] =
        ["unable to create temporary file", "unable to write file ", "unable to write loose object"];
    let Some(message) = message.strip_prefix("error: ").or_else(|| message.strip_prefix("fatal: ")) else {
        return false;
    };
    if OF_HEAD.contains(&message.trim_end()) {
        return true;
    }
    let is_of_place = OF_PLACES.iter().any(|words| message.starts_with(words));
    OF_OBJECTS.iter().any(|words| message.contains(words) && has_name(message))
        || (is_of_place && message.trim_end().ends_with(": No such file or directory"))
}

/// Whether an object is named.
fn has_name(message: &str) -> bool {
    let mut words = message.split(|character: char| !character.is_ascii_hexdigit());
    words.any(|word| word.len() == 40 || word.len() == 64)
}

#[cfg(test)]
mod tests {
    use super::tells_of_gone_objects;

    #[test]
    fn what_git_says_of_objects_that_are_gone_is_told_from_all_else() {
        let check = |output: &str, expected| assert_eq!(tells_of_gone_objects(output), expected, "{output}");
        let name = "f631938ecf2c692ca92d5161893918bcb1f4ab86";
        check(&format!("fatal: unable to read tree ({name})\n"), true);
        check(
            &format!(
                "error: invalid object 100644 {name} for 'a'\nfatal: git-write-tree: error building trees"
            ),
            true,
        );
        check(&format!("fatal: missing object {name} for refs/tillgreen/demo/1.1"), true);
        check(&format!("error: unable to read sha1 file of a ({name})\n"), true);
        check(
            &format!(
                "fatal: update_ref failed for ref 'r': trying to write ref 'r' with nonexistent object {name}"
            ),
            true,
        );
        check(&format!("fatal: failed to unpack tree object {name}\n"), true);
        check("fatal: bad object HEAD\n", true);
        check("error: bad tree object HEAD\n", true);
        check("fatal: could not parse HEAD\n", true);
        check("fatal: Needed a single revision\n", true);
        check(&format!("fatal: Invalid revision range {name}..HEAD\n"), true);
        check(&format!("fatal: Not a valid commit name {name}\n"), true);
        check("fatal: Invalid revision range main..other\n", false);
        check("error: could not parse conflict hunks in 'a'\n", false);
        check(&format!("fatal: missing blob object '{name}'\n"), true);
        check("error: unable to create temporary file: No such file or directory\nerror: a: failed", true);
        check("error: unable to write file .git/objects/0f/1: No such file or directory\n", true);
        check("error: unable to create temporary file: Permission denied\n", false);
        check("error: open(\"unable to read tree\"): Permission denied\n", false);
        check("fatal: unable to read files to add\n", false);
        check("error: pathspec 'bad object' did not match any file(s) known to git\n", false);
    }
}

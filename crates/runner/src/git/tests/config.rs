//! Questions to git before anything begins: settings, and who commits.

use std::fs;

use crate::git::GitError;
use crate::git::tests::scratch::Scratch;

#[test]
fn settings_are_told_whatever_they_hold_and_wherever_they_are() {
    let scratch = Scratch::new();
    scratch.repository.git(&["config", "alias.two", "!echo one\necho two"]);
    scratch.repository.git(&["config", "Filter.A=B.c.Smudge", "x = y"]);
    let file = scratch.repository.root().join(".git/config");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}[filter \"bare\"]\n\trequired\n[include]\n\tpath = more\n")).unwrap();
    scratch.repository.write(".git/more", "[hook \"Mine\"]\n\tcommand = true\n");
    let configuration = scratch.git().configuration().unwrap().unwrap();
    let value =
        |wanted: &str| configuration.entries().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    assert_eq!(value("alias.two"), Some("!echo one\necho two"));
    assert_eq!(value("filter.A=B.c.smudge"), Some("x = y"));
    assert_eq!(value("filter.bare.required"), Some("true"));
    assert_eq!(value("hook.Mine.command"), Some("true"));
    assert!(scratch.git().has_commit_hook(), "it is set up in a file that is included");
}

#[test]
fn settings_that_git_cannot_read_leave_commits_to_git() {
    let scratch = Scratch::new();
    let git = scratch.git();
    scratch.repository.write(".git/config", "[half");
    assert!(git.configuration().unwrap().is_none());
    assert!(matches!(git.check_identity(), Err(GitError::NoIdentity { .. })));
}

#[test]
fn hooks_are_found_wherever_settings_put_them_later() {
    let scratch = Scratch::new();
    let git = scratch.git();
    scratch.repository.write("mine/pre-commit", "");
    assert!(!git.has_commit_hook());
    scratch.repository.git(&["config", "core.hooksPath", "mine"]);
    assert!(git.has_commit_hook(), "a setting of the repository");
    scratch.repository.git(&["config", "--unset", "core.hooksPath"]);
    assert!(!git.has_commit_hook());
    scratch.repository.git(&["config", "include.path", "../theirs"]);
    assert!(!git.has_commit_hook());
    scratch.repository.write("theirs", "[core]\n\thooksPath = mine\n");
    assert!(git.has_commit_hook(), "a file that others include, and that was not there before");
    scratch.repository.write("theirs", "[core]\n\thooksPath = nowhere\n");
    assert!(!git.has_commit_hook());
    scratch.repository.write(".git/hooks/commit-msg", "");
    assert!(!git.has_commit_hook(), "not where they are");
}

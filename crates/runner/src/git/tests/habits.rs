//! What is asked of git before anything begins: settings, and who commits.

use std::fs;

use testkit::wait_for;

use super::scratch::Scratch;
use crate::git::calls::question::Question;
use crate::git::{Git, GitError};

/// Without dates that are always the same, as it is where people work.
fn undated(scratch: &Scratch) -> Git {
    let environment =
        scratch.environment().into_iter().filter(|(name, _)| !name.to_string_lossy().ends_with("_DATE"));
    Git::discover_with(scratch.repository.root(), environment.collect()).unwrap().unwrap()
}

/// Author and committer, and whether time goes on for them.
fn names(git: &Git) -> Option<[(String, bool); 2]> {
    let names = git.habit().names?;
    Some([names.author, names.committer].map(|ident| (ident.who, ident.fixed.is_none())))
}

/// What git itself says, without the time.
fn told(scratch: &Scratch, variable: &str) -> String {
    let told = scratch.repository.git(&["var", variable]);
    told.trim_end().rsplitn(3, ' ').last().unwrap().to_owned()
}

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
    assert!(names(&git).is_none());
    assert!(matches!(git.check_identity(), Err(GitError::NoIdentity { .. })));
}

#[test]
fn author_and_committer_are_told_apart() {
    let scratch = Scratch::new();
    let git = undated(&scratch);
    let check = |case: &str| {
        let expected = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map(|name| (told(&scratch, name), true));
        assert_eq!(names(&git), Some(expected), "{case}");
    };
    check("the same");
    scratch.repository.git(&["config", "author.name", "An Author"]);
    check("an author by a setting");
    scratch.repository.git(&["config", "committer.email", "committer@example.com"]);
    check("a committer by another");
    let [author, committer] = names(&git).unwrap();
    assert_ne!(author, committer);
    let [author, committer] = names(&scratch.git()).unwrap();
    assert!(!author.1 && !committer.1, "the time that variables fix");
    let mut environment = scratch.environment();
    environment.push(("GIT_AUTHOR_NAME".into(), "By Variable".into()));
    let git = Git::discover_with(scratch.repository.root(), environment).unwrap().unwrap();
    assert!(names(&git).unwrap()[0].0.starts_with("By Variable <"));
}

#[test]
fn answers_to_early_questions_count_unless_settings_changed_since() {
    let scratch = Scratch::new();
    let git = scratch.git();
    git.put_first_questions();
    git.check_identity().unwrap();
    scratch.repository.git(&["config", "user.name", "Another One"]);
    git.put_first_questions();
    scratch.repository.git(&["config", "user.name", "A Third"]);
    assert!(names(&git).unwrap()[1].0.starts_with("A Third <"));
    scratch.repository.git(&["config", "user.name", ""]);
    git.put_first_questions();
    assert!(matches!(git.check_identity(), Err(GitError::NoIdentity { .. })));
}

#[test]
fn a_question_that_nobody_wants_answered_ends() {
    let scratch = Scratch::new();
    let (git, file) = (scratch.git(), scratch.notes().join("pid"));
    let alias = format!("alias.wait=!echo $$ > '{}' && exec sleep 1000", file.display());
    let question = Question::put(git.call(&["-c", &alias, "wait"])).unwrap();
    let pid = || fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'));
    wait_for("the question to be put", || pid().is_some());
    drop(question);
    let process = format!("/proc/{}/stat", pid().unwrap().trim());
    // Somebody has yet to take note of its end, perhaps.
    let has_ended = || fs::read_to_string(&process).map_or(true, |state| state.contains(") Z "));
    wait_for("the end of the process", has_ended);
}

#[test]
fn hooks_are_found_wherever_settings_put_them_later() {
    let scratch = Scratch::new();
    let git = scratch.git();
    scratch.repository.write("mine/pre-commit", "");
    assert!(!git.has_commit_hook() && git.commits_plainly());
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

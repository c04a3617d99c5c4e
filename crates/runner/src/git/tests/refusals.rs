use std::time::{Duration, Instant};

use crate::git::tests::scratch::{Scratch, owned};
use crate::git::tests::states::conflict;
use crate::git::{Commit, GitError};

#[test]
fn a_hook_that_says_no_is_quoted() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    for (hook, script, what) in [
        ("pre-commit", "echo checking; echo 'no: tests fail' >&2; exit 1", "refused the commit"),
        ("commit-msg", "echo 'bad message' >&2; exit 7", "refuses the commit message \"work\""),
    ] {
        scratch.hook(hook, script);
        let error = scratch.commit(&["one"], "work").unwrap_err();
        let expected = script.rsplit('\'').nth(1).unwrap();
        assert_eq!(error.to_string(), format!("a hook {what}: {expected}"));
        std::fs::remove_file(scratch.repository.root().join(".git/hooks").join(hook)).unwrap();
    }
    assert_eq!(scratch.repository.dirt(), [" M one"]);
}

#[test]
fn a_hook_sees_the_users_world() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    scratch.repository.write("two", "changed\n");
    let script =
        "git diff --cached --name-only -- 'o*' > hook.txt; echo \"$LC_MESSAGES${LC_ALL-unset}\" >> hook.txt";
    scratch.hook("pre-commit", script);
    scratch.commit(&["one", "two"], "work").unwrap().unwrap();
    assert_eq!(scratch.repository.read("hook.txt"), "one\nCunset\n");
}

#[test]
fn a_hook_with_nothing_to_commit_is_no_refusal() {
    let scratch = Scratch::new();
    scratch.hook("pre-commit", "echo nothing to commit, says the hook; exit 0");
    assert_eq!(scratch.commit(&["one"], "work").unwrap(), None);
}

#[test]
fn a_slow_hook_meets_the_deadline_and_leaves_no_lock() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    scratch.hook("pre-commit", "trap '' TERM; echo still at it; sleep 600");
    let (paths, started) = (owned(&["one"]), Instant::now());
    // Long enough for the hook to say its word where a machine has much else to do.
    let request = Commit { deadline: Duration::from_secs(5), ..Commit::new(&paths, "work") };
    let error = scratch.git().commit(&request).unwrap_err();
    assert!(matches!(&error, GitError::Deadline { output, .. } if output == "still at it\n"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(300));
    assert!(!scratch.repository.has(".git/index.lock"));
    std::fs::remove_file(scratch.repository.root().join(".git/hooks/pre-commit")).unwrap();
    scratch.commit(&["one"], "work").unwrap().unwrap();
}

#[test]
fn a_hook_that_leaves_a_process_behind_does_not_hold_us_up() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    scratch.hook("post-commit", "sleep 600 &\necho $! > pid");
    let started = Instant::now();
    scratch.commit(&["one"], "work").unwrap().unwrap();
    assert!(started.elapsed() < Duration::from_secs(300));
    scratch.repository.git(&["-c", "alias.end=!kill $(cat pid)", "end"]);
}

#[test]
fn a_flood_from_a_hook_is_cut() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    scratch.hook("pre-commit", "yes | head -c 5000000; exit 1");
    let error = scratch.commit(&["one"], "work").unwrap_err();
    let cut = |output: &str| (1000..100_000).contains(&output.len());
    assert!(matches!(&error, GitError::Hook { output } if cut(output)), "{error}");
}

#[test]
fn git_that_does_not_know_who_commits_gets_a_hint() {
    let scratch = Scratch::new();
    std::fs::write(scratch.repository.home().join(".gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    scratch.repository.write("one", "changed\n");
    let error = scratch.commit(&["one"], "work").unwrap_err();
    assert!(matches!(error, GitError::NoIdentity { .. }), "{error}");
    assert!(error.hint().unwrap().contains("git config user.name"));
}

#[test]
fn an_unfinished_operation_is_named() {
    let check = |scratch: &Scratch, operation: &str| {
        let error = scratch.commit(&["two"], "work").unwrap_err();
        assert!(error.to_string().starts_with(&format!("a {operation} is in progress in ")), "{error}");
        assert!(error.hint().unwrap().contains(&format!("git {operation} --abort")));
        scratch.repository.git(&[operation, "--abort"]);
    };
    let scratch = Scratch::new();
    conflict(&scratch);
    check(&scratch, "merge");
    assert!(!scratch.repository.try_git(&["rebase", "other"]).status.success());
    check(&scratch, "rebase");
    assert!(!scratch.repository.try_git(&["cherry-pick", "other"]).status.success());
    check(&scratch, "cherry-pick");
}

#[test]
fn a_signing_program_that_fails_is_an_error_in_gits_words() {
    let scratch = Scratch::new();
    scratch.repository.git(&["config", "commit.gpgSign", "true"]);
    scratch.repository.git(&["config", "gpg.program", "false"]);
    scratch.repository.write("one", "changed\n");
    let error = scratch.commit(&["one"], "work").unwrap_err();
    assert!(matches!(error, GitError::Failed { code: Some(128), .. }), "{error}");
    assert!(error.to_string().contains("failed to sign"), "{error}");
}

#[test]
fn what_cannot_be_meant_is_not_passed_on() {
    let scratch = Scratch::new();
    let check = |paths: &[&str], message: &str| {
        let error = scratch.commit(paths, message).unwrap_err();
        assert!(matches!(error, GitError::Unacceptable { .. }), "{error}");
    };
    check(&["one"], " \n\0");
    check(&["../outside"], "work");
    check(&["/etc/passwd"], "work");
    check(&[".git/config"], "work");
    check(&["deep/../.GIT/config"], "work");
    check(&[""], "work");
    check(&["a\0b"], "work");
}

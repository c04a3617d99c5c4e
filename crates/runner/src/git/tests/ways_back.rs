use crate::git::history::{Missing, WayBack};
use crate::git::tests::scratch::Scratch;
use crate::git::{Git, Oid};

fn head(git: &Git) -> Oid {
    git.head().unwrap().unwrap()
}

/// Commits two more, of which the first is what will be missed.
fn work(scratch: &Scratch) -> (Oid, Oid) {
    let git = scratch.git();
    let [work, last] = ["work", "its box"].map(|message| {
        scratch.repository.git(&["commit", "-q", "--allow-empty", "-m", message]);
        head(&git)
    });
    (work, last)
}

fn check(scratch: &Scratch, (commit, branch): (&Oid, Option<&str>), expected: &WayBack) {
    let missing = Missing { commit, known: None, branch };
    assert_eq!(scratch.git().way_back(missing).unwrap(), *expected);
}

#[test]
fn what_came_on_top_of_the_work_comes_back_with_it() {
    let scratch = Scratch::new();
    let (work, last) = work(&scratch);
    scratch.repository.git(&["reset", "-q", "--soft", "HEAD~2"]);
    check(&scratch, (&work, Some("main")), &WayBack::Reset(last.clone()));
    check(&scratch, (&work, None), &WayBack::Reset(last.clone()));
    std::fs::remove_dir_all(scratch.repository.root().join(".git/logs")).unwrap();
    let missing = Missing { commit: &work, known: Some(&last), branch: None };
    assert_eq!(scratch.git().way_back(missing).unwrap(), WayBack::Reset(last));
    check(&scratch, (&work, None), &WayBack::Reset(work.clone()));
}

#[test]
fn no_commit_of_somebody_is_to_be_dropped_for_it() {
    let scratch = Scratch::new();
    let (work, last) = work(&scratch);
    scratch.repository.git(&["reset", "-q", "--hard", "HEAD~2"]);
    scratch.repository.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
    check(&scratch, (&work, Some("main")), &WayBack::Merge(last));
}

#[test]
fn work_on_another_branch_is_had_by_checking_that_out() {
    let scratch = Scratch::new();
    let (work, _) = work(&scratch);
    let main = scratch.git().branch().unwrap().unwrap();
    scratch.repository.git(&["branch", "also"]);
    scratch.repository.git(&["checkout", "-q", "-b", "side", "HEAD~2"]);
    check(&scratch, (&work, Some(&main)), &WayBack::CheckOut(main.clone()));
    check(&scratch, (&work, None), &WayBack::CheckOut("also".to_owned()));
    // A name that a shell would make something else of is not offered.
    scratch.repository.git(&["branch", "-m", "also", "a$(x)"]);
    check(&scratch, (&work, Some("a$(x)")), &WayBack::CheckOut(main));
}

//! Work that is committed without git: nobody must be able to tell, and whatever is more than writing is left to git.

use super::batch::{Linked, TRAILER};
use super::scratch::Scratch;
use crate::git::{Applied, COMMIT_DEADLINE, Landed};

/// What is recorded of a commit that was written without git.
const PLAIN: &str = "commit: by tillgreen";

fn last_record(scratch: &Scratch) -> String {
    scratch.repository.git(&["log", "--walk-reflogs", "-1", "--format=%gs"]).trim().to_owned()
}

/// The commit that work comes in with, once a repository is set up; times are fixed.
fn landed(message: &str, set_up: &dyn Fn(&Scratch)) -> (Scratch, String) {
    let scratch = Scratch::new();
    set_up(&scratch);
    {
        let linked = Linked::new(&scratch, "1.1");
        linked.write("one", "changed\n");
        linked.write("new/deep/file", "");
        let applied = linked.apply(&linked.pack());
        let Applied::Done { stamps, .. } = applied else { panic!("{applied:?}") };
        let trailer = (TRAILER, "1.1");
        let landed = linked.git.commit_landing(trailer, message, COMMIT_DEADLINE, Some(&stamps)).unwrap();
        assert!(matches!(landed, Landed::Done(_)), "{landed:?}");
    }
    assert_eq!(scratch.last_commit(), ["A new/deep/file", "M one"]);
    assert!(scratch.repository.dirt().is_empty());
    let text = scratch.repository.git(&["cat-file", "commit", "HEAD"]);
    (scratch, text)
}

#[test]
fn nobody_can_tell_who_wrote_it() {
    let messages =
        ["feat: one", "\n\n  a \t\n\n\n\nb\r\n# c\n\n", "ünï\n\nKey: value", "-dash", "a\u{a0}\n\x0bb"];
    for message in messages {
        let (scratch, plain) = landed(message, &|_| ());
        assert_eq!(last_record(&scratch), PLAIN, "{message:?}");
        scratch.repository.git(&["fsck", "--strict"]);
        let (scratch, by_git) = landed(message, &|scratch| scratch.hook("pre-commit", "exit 0"));
        assert_ne!(last_record(&scratch), PLAIN, "{message:?}");
        assert_eq!(plain, by_git, "{message:?}");
    }
}

#[test]
fn whatever_is_more_than_writing_is_left_to_git() {
    let check = |set_up: &dyn Fn(&Scratch), is_plain: bool| {
        let (scratch, _) = landed("feat: one", set_up);
        assert_eq!(last_record(&scratch) == PLAIN, is_plain, "{}", last_record(&scratch));
    };
    let set = |name: &'static str, value: &'static str| {
        move |scratch: &Scratch| drop(scratch.repository.git(&["config", name, value]))
    };
    check(&|_| (), true);
    for hook in ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"] {
        check(&|scratch| scratch.hook(hook, "exit 0"), false);
    }
    check(&set("commit.gpgSign", "false"), false);
    check(&set("i18n.commitEncoding", "UTF-8"), false);
    check(&set("hook.mine.command", "true"), false);
    check(&|scratch| drop(scratch.repository.git(&["checkout", "--quiet", "--detach"])), true);
    check(&set("index.version", "4"), true);
    check(&set("core.splitIndex", "true"), true);
}

#[test]
fn settings_that_change_on_the_way_count() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.git.learn_to_commit();
    assert!(linked.git.knows_how_to_commit());
    scratch.repository.git(&["config", "user.name", "Another One"]);
    linked.write("one", "changed\n");
    linked.land();
    assert_eq!(last_record(&scratch), PLAIN);
    assert_eq!(scratch.repository.git(&["log", "-1", "--format=%an %cn"]).trim(), "Another One Another One");
}

#[test]
fn what_a_verify_command_makes_of_the_files_is_written_as_well() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "by the task\n");
    assert!(matches!(linked.apply(&linked.pack()), Applied::Done { .. }));
    scratch.repository.write("one", "by the command\n");
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!((last_record(&scratch).as_str(), scratch.repository.dirt().len()), (PLAIN, 0));
    let another = Linked::new(&scratch, "1.2");
    another.write("two", "by the task\n");
    assert!(matches!(another.apply(&another.pack()), Applied::Done { .. }));
    scratch.repository.write("two", "two\n");
    assert_eq!(another.commit(), Landed::Nothing, "a command that takes the work back leaves nothing");
}

#[test]
fn what_is_checked_out_moves_only_from_where_it_is_taken_to_be() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let (git, first) = (&linked.git, linked.base.clone());
    linked.write("one", "changed\n");
    let second = linked.land();
    assert!(!git.move_head(&first, &second) && git.head().unwrap() == Some(second.clone()));
    assert!(git.move_head(&second, &first) && git.head().unwrap() == Some(first));
}

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::calls::child_note::Noted;
use crate::git::{Applied, COMMIT_DEADLINE, Dropped, GitError, Landed};

fn refused(paths: &[&str]) -> Applied {
    Applied::Refused { paths: super::scratch::owned(paths) }
}

#[test]
fn work_lands_in_order_on_top_of_what_landed() {
    let scratch = Scratch::new();
    let (first, second) = (Linked::new(&scratch, "1.1"), Linked::new(&scratch, "1.2"));
    first.write("one", "by the first\n");
    second.write("two", "by the second\n");
    fs::remove_file(second.path.join("deep/three")).unwrap();
    let a = first.land();
    let b = second.land();
    assert_eq!(scratch.repository.subjects(), ["first", "work of 1.1", "work of 1.2"]);
    assert_eq!(scratch.last_commit(), ["D deep/three", "M two"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert!(!scratch.repository.has("deep"));
    assert_eq!(second.apply(&second.pack()), Applied::Already(b));
    assert_eq!(first.apply(&first.pack()), Applied::Already(a));
}

#[test]
fn applied_work_can_be_verified_and_dropped() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    linked.write("new/file", "");
    fs::remove_file(linked.path.join("two")).unwrap();
    scratch.repository.write("mine", "a person's\n");
    let commit = linked.pack();
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    assert_eq!(scratch.repository.read("one"), "changed\n");
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::Nothing);
    assert_eq!(scratch.repository.dirt(), ["?? mine"]);
    assert_eq!(scratch.repository.read("one"), "one\n");
    assert!(!scratch.repository.has("new"));
    assert_eq!(linked.git.kept(&linked.keep()).unwrap(), Some(commit), "the work itself is not lost");
}

#[test]
fn what_a_verify_command_makes_of_the_files_is_committed() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "not  formatted\n");
    linked.apply(&linked.pack());
    scratch.repository.write("one", "formatted\n");
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.git(&["show", "HEAD:one"]), "formatted\n");
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn changes_of_a_person_stay_and_what_would_overwrite_them_is_refused() {
    let scratch = Scratch::new();
    scratch.repository.write(".gitignore", "*.env\n");
    scratch.repository.commit_all("ignore");
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "by the agent\n");
    linked.write("fresh", "");
    linked.write("x.env", "");
    linked.agent(&["add", "--force", "x.env"]);
    let commit = linked.pack();
    scratch.repository.write("one", "by a person\n");
    assert_eq!(linked.apply(&commit), refused(&["one"]));
    scratch.repository.git(&["add", "one"]);
    assert_eq!(linked.apply(&commit), refused(&["one"]));
    scratch.repository.git(&["reset", "-q", "--hard"]);
    scratch.repository.write("fresh", "by a person\n");
    scratch.repository.write("x.env", "secret\n");
    assert_eq!(linked.apply(&commit), refused(&["fresh", "x.env"]));
    assert_eq!(scratch.repository.read("x.env"), "secret\n");
    fs::remove_file(scratch.repository.root().join("fresh")).unwrap();
    fs::remove_file(scratch.repository.root().join("x.env")).unwrap();
    scratch.repository.write("two", "staged by a person\n");
    scratch.repository.git(&["add", "two"]);
    scratch.repository.write("deep/three", "not staged\n");
    linked.land();
    assert_eq!(scratch.repository.dirt(), [" M deep/three", "M  two"]);
    assert_eq!(scratch.last_commit(), ["A fresh", "M one", "A x.env"]);
}

#[test]
fn a_file_that_only_looks_changed_is_in_nobodys_way() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    let file = fs::File::options().write(true).open(scratch.repository.root().join("one")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    linked.land();
}

#[test]
fn a_file_that_was_changed_in_the_same_moment_and_looks_the_same_is_in_the_way() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.git(&["config", "core.trustctime", "false"]);
    let moment = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let date = |path: &str| {
        let file = fs::File::options().write(true).open(repository.root().join(path)).unwrap();
        file.set_modified(moment).unwrap();
    };
    date("one");
    repository.git(&["update-index", "--refresh"]);
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "by the agent\n");
    let commit = linked.pack();
    date(".git/index");
    repository.write("one", "two\n");
    date("one");
    assert_eq!(linked.apply(&commit), refused(&["one"]));
    assert_eq!(repository.read("one"), "two\n");
}

#[test]
fn conflicts_of_all_kinds_touch_nothing() {
    let check = |name: &str, ours: &dyn Fn(&Linked<'_>), theirs: &dyn Fn(&Linked<'_>), file: &str| {
        let scratch = Scratch::new();
        scratch.repository.write("binary", [0, 1, 2]);
        scratch.repository.write("long", (0..40).map(|line| format!("line {line}\n")).collect::<String>());
        scratch.repository.commit_all("more");
        let (first, second) = (Linked::new(&scratch, "1.1"), Linked::new(&scratch, "1.2"));
        ours(&first);
        theirs(&second);
        first.land();
        let conflict = second.conflict();
        let named = conflict.files.iter().filter(|found| *found == file).count();
        assert_eq!(named, 1, "{name}: {conflict:?}");
        assert!(!conflict.messages.is_empty(), "{name}: {conflict:?}");
        assert!(scratch.repository.dirt().is_empty(), "{name}");
        assert_eq!(scratch.git().drop_landing().unwrap(), Dropped::Nothing, "{name}");
    };
    let write = |path: &'static str, text: &'static str| move |linked: &Linked<'_>| linked.write(path, text);
    let remove =
        |path: &'static str| move |linked: &Linked<'_>| fs::remove_file(linked.path.join(path)).unwrap();
    let rename = |to: &'static str| {
        move |linked: &Linked<'_>| fs::rename(linked.path.join("long"), linked.path.join(to)).unwrap()
    };
    let link = |to: &'static str| move |linked: &Linked<'_>| symlink(to, linked.path.join("link")).unwrap();
    check("content", &write("one", "a\n"), &write("one", "b\n"), "one");
    check("add/add", &write("new", "a\n"), &write("new", "b\n"), "new");
    check("modify/delete", &remove("one"), &write("one", "b\n"), "one");
    check("delete/modify", &write("one", "b\n"), &remove("one"), "one");
    check("rename/rename", &rename("here"), &rename("there"), "long");
    check("rename/delete", &remove("long"), &rename("there"), "there");
    check("binary", &write("binary", "\0a"), &write("binary", "\0b"), "binary");
    check("symlink", &link("a"), &link("b"), "link");
    check("symlink/file", &link("a"), &write("link", "b"), "link");
    check("file/folder", &write("place", "a"), &write("place/below", "b"), "place");
}

#[test]
fn the_lines_in_conflict_are_told() {
    let scratch = Scratch::new();
    let (first, second) = (Linked::new(&scratch, "1.1"), Linked::new(&scratch, "1.2"));
    first.write("one", "by the first\n");
    second.write("one", "by the second\n");
    first.land();
    let conflict = second.conflict();
    assert_eq!(conflict.files, ["one"]);
    assert_eq!(conflict.messages, ["CONFLICT (content): Merge conflict in one"]);
    for words in [
        "one, line 1:",
        "<<<<<<< what landed before",
        ">>>>>>> this work",
        "by the first",
        "=======",
        "by the second",
    ] {
        assert!(conflict.hunks.contains(words), "{}", conflict.hunks);
    }
}

#[test]
fn both_changes_to_one_file_are_joined_and_modes_too() {
    let scratch = Scratch::new();
    scratch.repository.write("long", (0..40).map(|line| format!("line {line}\n")).collect::<String>());
    scratch.repository.commit_all("more");
    let (first, second) = (Linked::new(&scratch, "1.1"), Linked::new(&scratch, "1.2"));
    let edit = |linked: &Linked<'_>, line: &str, new: &str| {
        let text = fs::read_to_string(linked.path.join("long")).unwrap();
        linked.write("long", text.replace(line, new));
    };
    edit(&first, "line 3\n", "line three\n");
    edit(&second, "line 30\n", "line thirty\n");
    fs::set_permissions(second.path.join("long"), fs::Permissions::from_mode(0o755)).unwrap();
    first.land();
    second.land();
    let text = scratch.repository.read("long");
    assert!(text.contains("line three\n") && text.contains("line thirty\n"));
    assert!(scratch.repository.git(&["ls-files", "--stage", "long"]).starts_with("100755"));
}

#[test]
fn the_same_work_twice_leaves_nothing_to_commit() {
    let scratch = Scratch::new();
    let (first, second) = (Linked::new(&scratch, "1.1"), Linked::new(&scratch, "1.2"));
    first.write("one", "the same\n");
    second.write("one", "the same\n");
    first.land();
    assert_eq!(second.apply(&second.pack()), Applied::Nothing);
}

#[test]
fn a_hook_that_refuses_leaves_the_landing_to_be_dropped() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    scratch.hook("pre-commit", "git diff --cached --name-only >&2; exit 1");
    linked.apply(&linked.pack());
    let error =
        linked.git.commit_landing((super::batch::TRAILER, "1.1"), "work", COMMIT_DEADLINE, None).unwrap_err();
    assert!(matches!(&error, GitError::Hook { output } if output == "one\n"), "{error:?}");
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn what_a_hook_makes_of_the_work_is_told_and_stays_or_goes() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    scratch.hook("pre-commit", "echo made >made; echo tidy >one; git add made one");
    let changed = |()| {
        linked.apply(&linked.pack());
        match linked.commit() {
            Landed::Changed(commit) => commit,
            other @ (Landed::Done(_) | Landed::Nothing | Landed::Moved) => panic!("{other:?}"),
        }
    };
    let head = linked.git.take_back_landing(&changed(())).unwrap();
    assert_eq!(head.as_ref(), Some(&linked.base));
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert_eq!(linked.git.adopt_landing(&linked.base, None).unwrap(), None, "nothing is under way");
}

#[test]
fn what_a_hook_made_is_taken_in_as_it_is_once_it_is_verified() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    scratch.hook("pre-commit", "date +%s%N >>one; git add one");
    linked.apply(&linked.pack());
    let Landed::Changed(made) = linked.commit() else { panic!("the hook changes it") };
    linked.git.take_back_landing(&made).unwrap();
    let again = |()| match linked.apply(&made) {
        Applied::Done { stamps, .. } => stamps,
        other @ (Applied::Already(_) | Applied::Nothing | Applied::Conflict(_) | Applied::Refused { .. }) => {
            panic!("{other:?}")
        }
    };
    let stamps = again(());
    scratch.repository.write("one", "by somebody\n");
    assert_eq!(linked.git.adopt_landing(&made, Some(&stamps)).unwrap(), None, "that is not what it made");
    assert_eq!(linked.git.adopt_landing(&linked.base, Some(&again(()))).unwrap(), None);
    assert_eq!(linked.git.adopt_landing(&made, Some(&again(()))).unwrap(), Some(made.clone()));
    assert_eq!(linked.git.head().unwrap(), Some(made));
    assert_eq!(scratch.last_commit(), ["M one"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn a_commit_that_a_hook_amends_is_what_came_in() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    linked.write("new", "");
    scratch.hook(
        "post-commit",
        "test -n \"$AMENDING\" && exit; export AMENDING=1; git commit --quiet --amend -m \"$(git log -1 --format=%B)\nYes\"",
    );
    linked.apply(&linked.pack());
    let landed = linked.commit();
    assert_eq!(landed, Landed::Done(linked.git.head().unwrap().unwrap()));
    assert_eq!(scratch.last_commit(), ["A new", "M one"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn a_note_that_power_was_lost_over_is_of_a_landing_that_changed_nothing() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    for left in ["", "\0\0\0\0"] {
        fs::write(scratch.repository.root().join(".git/tillgreen-landing.json"), left).unwrap();
        assert_eq!(linked.git.drop_landing().unwrap(), Dropped::Nothing);
    }
    linked.apply(&linked.pack());
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn the_landing_of_another_run_is_left_to_it() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    linked.apply(&linked.pack());
    let note = scratch.repository.root().join(".git/tillgreen-landing.json");
    let mut other = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let mut text: serde_json::Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    text["owner"] = serde_json::to_value(Noted::of(other.id(), linked.git.git_dir()).unwrap()).unwrap();
    fs::write(&note, text.to_string()).unwrap();
    let second = Linked::new(&scratch, "1.2");
    second.write("two", "changed\n");
    let packed = second.pack();
    let before = (scratch.repository.read("one"), scratch.repository.read("two"));
    assert_eq!(linked.git.landing_of_another().unwrap(), Some(other.id()));
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::Nothing);
    assert_eq!(linked.commit(), Landed::Moved);
    let error = second.try_apply(&packed).unwrap_err().to_string();
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(error.contains(&format!("another run, process {}", other.id())), "{error}");
    assert_eq!((scratch.repository.read("one"), scratch.repository.read("two")), before);
    assert_eq!(linked.git.landing_of_another().unwrap(), None);
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
}

#[test]
fn a_commit_in_between_means_to_apply_again() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    let commit = linked.pack();
    linked.apply(&commit);
    scratch.repository.write("two", "by a person\n");
    scratch.commit(&["two"], "a person's").unwrap().unwrap();
    assert_eq!(linked.commit(), Landed::Moved);
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.subjects(), ["first", "a person's", "work of 1.1"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

/// Writing a file that goes back takes a moment, in which somebody commits what has just been removed.
#[test]
fn what_somebody_commits_while_it_goes_out_of_the_project_is_not_missing() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    linked.write("new", "new\n");
    let packed = linked.pack();
    linked.apply(&packed);
    let commit = "test -e .git/once || { touch .git/once; export GIT_INDEX_FILE=.git/theirs; git read-tree HEAD; \
                  git update-index --add --cacheinfo \"100644,$(git rev-parse \"$PACKED:new\"),new\"; \
                  git update-ref HEAD \"$(git commit-tree -p HEAD -m theirs \"$(git write-tree)\")\"; \
                  unset GIT_INDEX_FILE; git read-tree HEAD; }; cat";
    let smudge = format!("PACKED={packed}; {commit}");
    scratch.repository.git(&["config", "filter.busy.smudge", &smudge]);
    fs::write(scratch.repository.root().join(".git/info/attributes"), "one filter=busy\n").unwrap();
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.subjects(), ["first", "theirs"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert_eq!(
        (scratch.repository.read("one"), scratch.repository.read("new")),
        ("one\n".into(), "new\n".into())
    );
}

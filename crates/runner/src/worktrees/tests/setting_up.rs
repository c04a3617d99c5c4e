//! Set-up runs when it has to, and what it made stays as long as it can be relied on.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use crate::worktrees::tests::bench::Bench;
use crate::worktrees::{SetUpRunner, Unready};

/// Counts how often it ran, in a folder outside of the work tree.
const COUNTING: &str = "mkdir -p modules; echo x >> ../ran; wc -l < ../ran > modules/number";

fn files() -> [(&'static str, &'static str); 3] {
    [("package-lock.json", "1"), ("source", "1"), (".gitignore", "/modules/\ndist\n*.log\n")]
}

fn runs(bench: &Bench) -> usize {
    fs::read_to_string(bench.slots().folder().join("ran")).unwrap_or_default().lines().count()
}

#[test]
fn it_runs_again_when_what_it_installs_is_another() {
    let mut bench = Bench::new(&files()).with_setup(COUNTING);
    let first = bench.head();
    let source = bench.commit(&[("source", "2")]);
    let lock = bench.commit(&[("package-lock.json", "2")]);
    bench.show(&first);
    bench.agent("touch modules/by-agent; mkdir other; touch a.log");
    bench.show(&source);
    assert_eq!((runs(&bench), bench.has("modules/by-agent"), bench.has("a.log")), (1, true, false));
    bench.show(&lock);
    assert_eq!((runs(&bench), bench.has("modules/by-agent")), (2, false));
    bench.worktrees.setup = Some(format!("{COUNTING}; true"));
    bench.show(&lock);
    assert_eq!(runs(&bench), 3);
    assert_eq!(bench.slots().provided(), ["modules"]);
    bench.worktrees.setup = None;
    bench.show(&lock);
    assert!(!bench.has("modules"));
    assert_eq!(bench.slots().provided(), Vec::<String>::new());
}

#[test]
fn what_it_made_stays_as_a_whole_and_exactly() {
    let bench = Bench::new(&files()).with_setup(
        "mkdir -p modules/x/dist 'sub [1] *'/modules; touch modules/x/dist/a modules/b.log 'sub [1] *'/modules/c",
    );
    bench.commit(&[("sub [1] */tracked", ""), (".gitignore", "modules\ndist\n*.log\n"), ("other/t", "")]);
    let head = bench.head();
    bench.show(&head);
    bench.agent("mkdir -p other/modules 'sub 1 x/modules'; touch other/modules/x 'sub 1 x/modules/c'");
    bench.show(&head);
    for path in ["modules/x/dist/a", "modules/b.log", "sub [1] */modules/c"] {
        assert!(bench.has(path), "{path}");
    }
    assert!(!bench.has("other/modules") && !bench.has("sub 1 x"));
    let gone = bench.remove(&["sub [1] *"]);
    bench.show(&gone);
    assert!(!bench.has("sub [1] *"), "a folder that the commit does not have is not kept alive");
}

#[test]
fn nothing_is_kept_after_something_was_cut_short() {
    let bench = Bench::new(&[&files()[..], &[("Cargo.toml", "")]].concat()).with_setup(COUNTING);
    let head = bench.head();
    let slots = bench.slots();
    bench.show(&head);
    bench.agent("mkdir target; touch target/warm");
    bench.show(&head);
    assert_eq!((runs(&bench), bench.has("target/warm")), (1, true));
    slots.distrust(1);
    bench.show(&head);
    assert_eq!((runs(&bench), bench.has("target/warm")), (2, false));
    let file = slots.folder().join("slot-1.json");
    let of_another = |text: String| text.replace(&format!("\"{}-", std::process::id()), "\"1-");
    fs::write(&file, of_another(fs::read_to_string(&file).unwrap())).unwrap();
    bench.show(&head);
    assert_eq!(runs(&bench), 3, "another process was killed while it used this");
    slots.release(1);
    fs::write(&file, of_another(fs::read_to_string(&file).unwrap())).unwrap();
    bench.show(&head);
    assert_eq!(runs(&bench), 3, "another process let go of it");
    fs::remove_file(&file).unwrap();
    bench.show(&head);
    assert_eq!(runs(&bench), 4);
}

#[test]
fn its_failure_is_told_and_leaves_nothing() {
    let mut bench = Bench::new(&files())
        .with_setup("mkdir modules; echo half > modules/half; echo no such x >&2; exit 3");
    let head = bench.head();
    let unready = bench.try_show(&head).unwrap_err();
    let told = unready.to_string();
    assert!(told.contains(" failed with exit code 3: no such x; mend it in tillgreen.toml"), "{told}");
    let Unready::SetUp { command, output, .. } = unready else { panic!("{unready}") };
    assert!(command.starts_with("mkdir modules") && output == "no such x\n", "{output}");
    let log = fs::read_to_string(bench.top().join("logs/setup-slot-1.log")).unwrap();
    assert_eq!(log, "no such x\n");
    bench.worktrees.setup = Some("! test -e modules; mkdir modules; touch modules/whole".into());
    bench.show(&head);
    assert!(bench.has("modules/whole") && !bench.has("modules/half"));
}

#[test]
fn one_that_fails_once_is_tried_again_from_the_start() {
    let bench = Bench::new(&files())
        .with_setup("mkdir modules; mkdir ../once 2> /dev/null && exit 3; touch modules/whole");
    bench.show(&bench.head());
    assert!(bench.has("modules/whole"));
}

#[test]
fn what_a_set_up_left_that_failed_is_not_what_the_next_begins_with() {
    let command = "mkdir -p modules dist; if test -e ../fail; then touch modules/half; exit 1; fi";
    let bench = Bench::new(&files()).with_setup(command);
    let (head, fail) = (bench.head(), bench.slots().folder().join("fail"));
    bench.show(&head);
    bench.agent("touch modules/kept");
    fs::write(&fail, "").unwrap();
    assert!(matches!(bench.try_show(&head), Err(Unready::SetUp { .. })));
    assert!(bench.has("modules/half"));
    fs::remove_file(&fail).unwrap();
    bench.show(&head);
    assert!(!bench.has("modules/half") && !bench.has("modules/kept"));
}

#[test]
fn what_is_built_from_sources_is_built_at_every_use() {
    let bench = Bench::new(&files()).with_setup(&format!("{COUNTING}; mkdir -p dist; cp source dist/"));
    let first = bench.head();
    let second = bench.commit(&[("source", "2")]);
    bench.show(&first);
    bench.show(&second);
    assert_eq!((runs(&bench), bench.read("dist/source").as_str()), (2, "2"));
    bench.agent("echo x > dist/left; touch modules/kept");
    bench.show(&second);
    assert_eq!((runs(&bench), bench.has("dist/left"), bench.has("modules/kept")), (3, false, true));
}

#[test]
fn what_was_put_in_its_place_is_not_kept() {
    let bench = Bench::new(&files()).with_setup(COUNTING);
    bench.repository.write("modules/of-project", "");
    let head = bench.head();
    bench.show(&head);
    fs::remove_dir_all(bench.tree().join("modules")).unwrap();
    symlink(bench.project().join("modules"), bench.tree().join("modules")).unwrap();
    bench.show(&head);
    assert_eq!((runs(&bench), bench.has("modules/of-project")), (2, false));
    assert!(bench.repository.has("modules/of-project"));
    bench.agent("rm -r modules");
    bench.show(&head);
    assert_eq!(runs(&bench), 3);
    bench.agent("mkdir -p modules/.cache/x modules/.vite");
    bench.show(&head);
    assert_eq!((runs(&bench), bench.has("modules/.cache"), bench.has("modules/.vite")), (3, false, false));
}

#[test]
fn tracked_files_that_it_changes_are_put_back() {
    let command = "mkdir modules; echo changed > package-lock.json; rm source; touch untracked";
    let bench = Bench::new(&files()).with_setup(command);
    let head = bench.head();
    let notes = bench.show(&head);
    let expected = format!(
        "the set-up `{command}` changes files that git tracks (package-lock.json, source); in work trees they are put back"
    );
    assert_eq!(notes, [expected]);
    assert_eq!((bench.read("package-lock.json").as_str(), bench.read("source").as_str()), ("1", "1"));
    assert_eq!(bench.slots().provided(), ["modules", "untracked"]);
    bench.slots().distrust(1);
    assert_eq!(bench.show(&head), Vec::<String>::new(), "it is said once");
}

#[test]
fn an_environment_that_leads_into_the_project_is_told() {
    let bench = Bench::new(&files());
    bench.repository.write("modules/of-project", "");
    let command = format!("ln -s '{}' modules", bench.project().join("modules").display());
    let bench = bench.with_setup(&command);
    let notes = bench.show(&bench.head());
    let expected = format!(
        "after the set-up `{command}` modules leads to `modules` of the project: commands in work trees may test the \
         project's files instead of the tree's; worktree_setup has to make it in the tree"
    );
    assert_eq!(notes, [expected]);
}

#[test]
fn it_runs_in_the_environment_of_the_tree() {
    let bench = Bench::new(&files()).with_setup(
        "mkdir modules; echo \"$PWD $TILLGREEN_SLOT ${VIRTUAL_ENV-unset} $CARGO_TARGET_DIR\" > modules/env",
    );
    bench.show(&bench.head());
    let tree = bench.tree().display().to_string();
    assert_eq!(bench.read("modules/env"), format!("{tree} 1 unset {tree}/target\n"));
}

#[test]
fn a_set_up_that_cannot_be_started_is_told() {
    let bench = Bench::new(&files()).with_setup("true");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    let (_stop, stopped) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || runtime.block_on(stopped));
    let logs = bench.top().join("logs");
    let runner = SetUpRunner::new(handle, logs, Duration::from_secs(60));
    let unready = bench.slots().show(1, &bench.head(), &runner).unwrap_err();
    // The program of a test is no keeper.
    assert!(unready.to_string().contains("cannot be started: "), "{unready}");
}

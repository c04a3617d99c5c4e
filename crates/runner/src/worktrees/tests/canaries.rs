//! The canary of a set-up turns a verification red that is about the work tree.

use std::fs;

use crate::worktrees::tests::bench::Bench;
use crate::worktrees::{Canary, Verdict, canary};

const LOAD: &str = "python3 -c 'import sys; sys.path.insert(0, open(\"modules/path\").read()); import core'";

/// A project whose set-up says where its sources are, and its work tree with a green verification.
fn bench(path: &str) -> Bench {
    let bench = Bench::new(&[
        ("core.py", "VALUE = 1\n"),
        ("test_core.py", "import core\n"),
        ("notes.md", ""),
        (".gitignore", "modules/\n__pycache__/\n"),
    ]);
    let path = path.replace("<project>", &bench.project().display().to_string());
    let bench = bench.with_setup(&format!("mkdir modules; printf '%s' \"{path}\" > modules/path"));
    bench.show(&bench.head());
    bench
}

fn run(bench: &Bench, touched: &[&str]) -> Canary {
    let touched: Vec<String> = touched.iter().map(|path| (*path).to_owned()).collect();
    let verify = || if bench.verify(LOAD).0 { Verdict::Green } else { Verdict::Red };
    canary(&bench.slots(), 1, &touched, verify).unwrap()
}

const TOUCHED: [&str; 3] = ["notes.md", "test_core.py", "core.py"];

#[test]
fn a_verification_of_the_tree_turns_red_once_per_set_up() {
    let bench = bench("$PWD");
    assert_eq!(run(&bench, &["notes.md", "gone.py"]), Canary::NoFile);
    assert_eq!(run(&bench, &TOUCHED), Canary::Red { file: "core.py".to_owned() });
    assert_eq!(bench.read("core.py"), "VALUE = 1\n");
    assert_eq!(bench.agent_git(&["status", "--porcelain"]), "");
    assert!(bench.verify(LOAD).0);
    assert_eq!(run(&bench, &TOUCHED), Canary::NotNeeded);
    let bench = bench.with_setup("mkdir modules; printf '%s' \"$PWD\" > modules/path; true");
    bench.show(&bench.head());
    assert_eq!(run(&bench, &TOUCHED), Canary::Red { file: "core.py".to_owned() }, "it is another set-up");
}

#[test]
fn a_verification_of_the_project_stays_green_and_that_is_told() {
    let bench = bench("<project>");
    let Canary::Green { file, told } = run(&bench, &TOUCHED) else { panic!("it does not see the tree") };
    assert_eq!(file, "core.py");
    let words = "I broke core.py on purpose and your check stayed green: it does not see this tree, or does not test this \
                 file (";
    assert!(told.starts_with(words), "{told}");
    assert_eq!(bench.read("core.py"), "VALUE = 1\n");
    assert_eq!(run(&bench, &TOUCHED), Canary::NotNeeded, "it is told once");
}

#[test]
fn what_was_stopped_is_run_again_and_what_shares_nothing_needs_none() {
    let mut bench = bench("$PWD");
    let touched = ["core.py".to_owned()];
    let unknown = canary(&bench.slots(), 1, &touched, || Verdict::Unknown).unwrap();
    assert_eq!(unknown, Canary::Unknown);
    assert_eq!(run(&bench, &TOUCHED), Canary::Red { file: "core.py".to_owned() });
    bench.worktrees.setup = None;
    bench.show(&bench.head());
    assert_eq!(run(&bench, &TOUCHED), Canary::NotNeeded);
    fs::create_dir(bench.project().join("modules")).unwrap();
    bench.worktrees.copy = vec!["modules".to_owned()];
    bench.show(&bench.head());
    assert_eq!(
        canary(&bench.slots(), 1, &touched, || Verdict::Red).unwrap(),
        Canary::Red { file: "core.py".to_owned() }
    );
}

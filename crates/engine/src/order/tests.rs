//! The order of tasks, in tables, and against the same said pair by pair.

use std::collections::BTreeSet;

use plan::{ANY_FILE, Dialect, TaskId};
use proptest::prelude::*;

use super::pattern::Pattern;
use super::{Part, ReadyQueue, Waits, Why, is_barrier, why};
use crate::rules::{Parallel, Rules, Toggle};
use crate::task::{TaskDecl, TaskKind, Verification};

fn task(id: &str, files: &[&str]) -> TaskDecl {
    TaskDecl {
        id: TaskId::from(id),
        title: String::new(),
        kind: TaskKind::Work,
        verification: Verification::Command,
        command: None,
        fix_of: None,
        ticked: false,
        digest: 0,
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        depends_on: Vec::new(),
        stage: 1,
        parallel: true,
    }
}

fn rules(dialect: Dialect, infer: Toggle) -> Rules {
    Rules { dialect, parallel: Parallel { infer, ..Parallel::default() }, ..Rules::default() }
}

#[test]
fn what_may_be_about_any_file_is_held_and_holds() {
    let rules = rules(Dialect::Spec, Toggle::Off);
    let (vague, clear, silent) = (task("1", &["a", ANY_FILE]), task("2", &["b"]), task("3", &[]));
    let overlap = Some(Why::Overlap(ANY_FILE.to_owned()));
    assert_eq!(why(&rules, &vague, &clear), overlap);
    assert_eq!(why(&rules, &clear, &vague), overlap);
    assert_eq!(why(&rules, &vague, &silent), None, "who names no files relies on the mark alone");
    assert_eq!(overlap.map(|why| why.words()).as_deref(), Some("one of them may be about any file"));
}

#[test]
fn overlaps_of_files() {
    // What both are about, or `?` where it only may be so.
    let check = |one: &str, other: &str, both: Option<&str>| {
        for dialect in [Dialect::Spec, Dialect::Phase] {
            let rules = rules(dialect, Toggle::Off);
            for (first, second) in [(one, other), (other, one)] {
                let found = why(&rules, &task("1", &["x.x", first]), &task("2", &[second, "y.y"]));
                let expected = both.map(|both| match both {
                    "?" => Why::MayOverlap { own: second.to_owned(), other: first.to_owned() },
                    both => Why::Overlap(both.to_owned()),
                });
                assert_eq!(found, expected, "{first} and {second}");
            }
        }
    };
    check("src/a", "src/a", Some("src/a"));
    check("src/a", "src/ab", None);
    check("src/a", "src/a/b", Some("src/a/b"));
    check("src", "src/a/b", Some("src/a/b"));
    check("src/", "src/a", Some("src/a"));
    check("src/", "srcs/a", None);
    check("src/a*", "src/ab", Some("src/ab"));
    check("src/a*", "src/b", None);
    check("src/a*", "src/a/b", Some("?"));
    check("src/a*", "src", Some("src/a*"));
    check("src/*.rs", "src/a.md", None);
    check("src/*.rs", "src/a*", Some("?"));
    check("src/*.rs", "src/*.rs", Some("src/*.rs"));
    check("src/**/a.rs", "src/b.rs", None);
    check("src/?.rs", "lib/a.rs", None);
    check("src/{a,b}.rs", "src/a.rs", Some("src/a.rs"));
    check("src/{a,b}.rs", "src/c.rs", None);
    check("src/[ab].rs", "src/c/", None);
    check("*.md", "src/z.rs", None);
    check("**/*.rs", "c.txt", None);
    check("**/*.rs", "src/z.rs", Some("src/z.rs"));
    check("ä/ö", "ä/öl", None);
    check("ä/ö*", "ä/öl", Some("ä/öl"));
    check("ä", "ä/ö", Some("ä/ö"));
    check("日/本", "日/本/語", Some("日/本/語"));
    check("日*", "月", None);
    check("a", "b", None);
}

#[test]
fn what_is_named_as_a_file_and_as_a_folder_is_both() {
    let rules = rules(Dialect::Spec, Toggle::Off);
    for files in [["b.c", "b.c/"], ["b.c/", "b.c"]] {
        let found = why(&rules, &task("1", &files), &task("2", &["**/a"]));
        assert!(found.is_some(), "{files:?}");
    }
}

#[test]
fn one_path_is_written_in_several_ways() {
    let rules = rules(Dialect::Spec, Toggle::Off);
    let same = [
        ("src/a", "./src/a"),
        (" src/a ", "././src/a"),
        ("src/", "src"),
        (".", "a/b"),
        ("", "a"),
        ("./", "*"),
    ];
    for (one, other) in same {
        for (first, second) in [(one, other), (other, one)] {
            let found = why(&rules, &task("1", &[first]), &task("2", &[second]));
            assert!(matches!(found, Some(Why::Overlap(_))), "{first} and {second}: {found:?}");
        }
    }
    let words = Why::MayOverlap { own: "a*".to_owned(), other: "*b".to_owned() }.words();
    assert_eq!(words, "a* and *b can be about the same file");
}

#[test]
fn a_plan_full_of_patterns_is_looked_at_in_bounds() {
    let rules = rules(Dialect::Spec, Toggle::Off);
    let tasks: Vec<TaskDecl> =
        (0..3_000).map(|place| task(&place.to_string(), &[&format!("**/{place:0>40}_*_a.rs")])).collect();
    let queue = ReadyQueue::new(rules, &tasks.iter().map(|task| (task, Part::Ready)).collect::<Vec<_>>());
    let ready = queue.ready().count();
    assert!(ready > 100 && ready < tasks.len(), "in the end nobody tells them apart: {ready}");
}

#[test]
fn reasons_in_a_spec() {
    let off = rules(Dialect::Spec, Toggle::Off);
    let on = rules(Dialect::Spec, Toggle::On);
    let marked = |files: &[&str]| task("1", files);
    let unmarked = |files: &[&str]| TaskDecl { parallel: false, ..task("2", files) };
    let verify = || TaskDecl { kind: TaskKind::Verify, ..task("3", &[]) };
    let checkpoint = || TaskDecl { kind: TaskKind::Checkpoint, ..task("4", &[]) };
    let staged = || TaskDecl { stage: 2, ..task("5", &[]) };
    let declared = || TaskDecl { depends_on: vec![TaskId::from("1")], ..task("6", &[]) };
    let check = |rules: &Rules, earlier: TaskDecl, later: TaskDecl, expected: Option<Why>| {
        let later = TaskDecl { id: TaskId::from("9"), ..later };
        assert_eq!(why(rules, &earlier, &later), expected, "{earlier:?} {later:?}");
    };
    for rules in [&off, &on] {
        check(rules, marked(&[]), marked(&[]), None);
        check(rules, marked(&["a"]), marked(&["b"]), None);
        check(rules, marked(&["a"]), unmarked(&[]), Some(Why::Sequence));
        check(rules, unmarked(&[]), marked(&["b"]), Some(Why::Sequence));
        check(rules, marked(&[]), verify(), Some(Why::Barrier));
        check(rules, verify(), marked(&[]), Some(Why::Barrier));
        check(rules, checkpoint(), marked(&[]), Some(Why::Barrier));
        check(rules, marked(&[]), checkpoint(), Some(Why::Barrier));
        check(rules, marked(&[]), staged(), Some(Why::Stage));
        check(rules, marked(&[]), declared(), Some(Why::Declared));
    }
    check(&off, unmarked(&["a"]), unmarked(&["b"]), Some(Why::Sequence));
    check(&on, unmarked(&["a"]), unmarked(&["b"]), None);
    check(&on, unmarked(&["a"]), marked(&["b"]), None);
    check(&on, unmarked(&["a"]), unmarked(&["a/b"]), Some(Why::Overlap("a/b".to_owned())));
}

#[test]
fn reasons_among_plans() {
    let early = TaskDecl { parallel: false, ..task("1", &[]) };
    let late = TaskDecl { stage: 2, ..early.clone() };
    let late = TaskDecl { id: TaskId::from("2"), ..late };
    let declared = TaskDecl { depends_on: vec![TaskId::from("1")], ..late.clone() };
    let beside = TaskDecl { id: TaskId::from("3"), kind: TaskKind::Checkpoint, ..early.clone() };
    let off = rules(Dialect::Phase, Toggle::Off);
    let on = rules(Dialect::Phase, Toggle::On);
    assert_eq!(why(&off, &early, &late), Some(Why::Stage));
    assert_eq!(why(&on, &early, &late), None);
    assert_eq!(why(&on, &early, &declared), Some(Why::Declared));
    assert_eq!(why(&off, &early, &beside), None);
}

/// True if the later task waits for the earlier one, with nothing but the two of them in view.
fn waits(rules: &Rules, earlier: &TaskDecl, later: &TaskDecl) -> bool {
    let overlap = later.files.iter().any(|one| earlier.files.iter().any(|other| overlaps(one, other)));
    let infer = rules.parallel.infer.is_on();
    let by_order = match rules.dialect {
        Dialect::Phase => earlier.stage < later.stage && !infer,
        Dialect::Spec => {
            let inferred = infer && !earlier.files.is_empty() && !later.files.is_empty();
            let together = (earlier.parallel && later.parallel) || inferred;
            is_barrier(earlier) || is_barrier(later) || earlier.stage != later.stage || !together
        }
    };
    later.depends_on.contains(&earlier.id) || by_order || overlap
}

fn overlaps(one: &str, other: &str) -> bool {
    Pattern::read(one).meets(&Pattern::read(other))
}

fn decls() -> impl Strategy<Value = Vec<TaskDecl>> {
    let kind =
        prop_oneof![8 => Just(TaskKind::Work), 1 => Just(TaskKind::Verify), 1 => Just(TaskKind::Checkpoint)];
    let file = "(\\./|\\*\\*/)?(a|ab|ä|a/b|a/ä/c|b|b/c|b\\.c)(/|\\*|/\\*|/\\*\\.c|/\\{a,b\\})?";
    let files = prop::collection::vec(file, 0..3);
    let on = prop::collection::vec(0_usize..9, 0..2);
    let decl = (kind, files, on, 0_u32..2, prop::bool::weighted(0.8));
    prop::collection::vec(decl, 1..9).prop_map(|decls| {
        let mut reached = 0;
        let decls = decls.into_iter().enumerate().map(|(place, (kind, files, on, step, parallel))| {
            // The phases of a spec follow each other.
            reached += u32::from(step == 1 && place % 3 == 2);
            let depends_on = on.iter().map(|place| TaskId::from(place.to_string().as_str())).collect();
            let id = TaskId::from(place.to_string().as_str());
            TaskDecl { id, kind, files, depends_on, stage: reached, parallel, ..task("", &[]) }
        });
        decls.collect()
    })
}

fn parts() -> impl Strategy<Value = Part> {
    prop_oneof![1 => Just(Part::Settled), 1 => Just(Part::Open), 3 => Just(Part::Ready)]
}

/// The places of all that may start: every task is compared with every one before.
fn ready(rules: &Rules, decls: &[TaskDecl], parts: &[Part]) -> Vec<usize> {
    let is_held = |place: usize| {
        let mut before = (0..place).filter(|earlier| parts[*earlier] != Part::Settled);
        before.any(|earlier| waits(rules, &decls[earlier], &decls[place]))
    };
    (0..decls.len()).filter(|place| parts[*place] == Part::Ready && !is_held(*place)).collect()
}

/// The tasks that each task waits for, and not through another that it waits for: every task is compared with every one before.
fn waited_for(rules: &Rules, decls: &[TaskDecl]) -> Vec<Vec<(usize, Why)>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    let mut all = Vec::new();
    for (place, decl) in decls.iter().enumerate() {
        let (mut waits_for, mut known) = (Vec::new(), BTreeSet::new());
        for earlier in (0..place).rev() {
            let hold = if known.contains(&earlier) { None } else { why(rules, &decls[earlier], decl) };
            if let Some(why) = hold {
                known.insert(earlier);
                known.extend(&before[earlier]);
                waits_for.push((earlier, why));
            }
        }
        before.push(known);
        all.push(waits_for);
    }
    all
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Spec), Just(Dialect::Phase)]
}

fn toggles() -> impl Strategy<Value = Toggle> {
    prop_oneof![Just(Toggle::Off), Just(Toggle::On)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_reason_or_none(decls in decls(), dialect in dialects(), infer in toggles()) {
        let rules = rules(dialect, infer);
        for (place, later) in decls.iter().enumerate() {
            for earlier in &decls[..place] {
                let found = why(&rules, earlier, later);
                prop_assert_eq!(found.is_some(), waits(&rules, earlier, later), "{:?} {:?}", earlier, later);
            }
        }
    }

    /// As tasks start, rest and settle in any order, those that may start are those that comparing all finds.
    #[test]
    fn step_by_step_or_pair_by_pair(
        decls in decls(),
        dialect in dialects(),
        infer in toggles(),
        parts in prop::collection::vec(parts(), 9),
        steps in prop::collection::vec((0_usize..9, parts()), 0..20),
    ) {
        let rules = rules(dialect, infer);
        let mut parts = parts[..decls.len()].to_vec();
        let tasks: Vec<(&TaskDecl, Part)> = decls.iter().zip(parts.iter().copied()).collect();
        let mut queue = ReadyQueue::new(rules.clone(), &tasks);
        for (place, part) in [(0, parts[0])].into_iter().chain(steps) {
            let place = place % parts.len();
            if parts[place] != Part::Settled {
                parts[place] = part;
                let number = u32::try_from(place).unwrap();
                queue.set(number, part, |number| decls.get(usize::try_from(number).unwrap()));
            }
            let places = |number: u32| usize::try_from(number).unwrap();
            let expected = ready(&rules, &decls, &parts);
            prop_assert_eq!(queue.ready().map(places).collect::<Vec<_>>(), &*expected, "{:?} {:?}", parts, decls);
            let is_checkpoint = |place: &usize| decls[*place].kind == TaskKind::Checkpoint;
            let checkpoints: Vec<usize> = expected.into_iter().filter(is_checkpoint).collect();
            prop_assert_eq!(queue.ready_checkpoints().map(places).collect::<Vec<_>>(), checkpoints);
        }
    }

    #[test]
    fn what_is_waited_for_directly(decls in decls(), dialect in dialects(), infer in toggles()) {
        let rules = rules(dialect, infer);
        let tasks: Vec<&TaskDecl> = decls.iter().collect();
        let found: Vec<Vec<(usize, Why)>> = Waits::new(&rules, &tasks).collect();
        prop_assert_eq!(found, waited_for(&rules, &decls), "{:?}", decls);
    }
}

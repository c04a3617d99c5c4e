//! Work of all kinds in projects with all kinds of patterns: what is found without git is always what git finds.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;

use super::batch::Linked;
use super::plain_snapshots::found;
use super::scratch::Scratch;

/// Names that patterns are about, and some that they are nearly about.
const NAMES: [&str; 9] = ["a", "b", "ab", "abc", "a.o", "b.log", "target", "src", ".x"];

/// Parts of patterns.
const PARTS: [&str; 22] = [
    "a", "b", "ab", "abc", "a.o", "b.log", "target", "src", ".x", "*", "?", "a*", "*.o", "*b*", "**", "***",
    "a**", "[ab]", "\\a", "a?", "tar", "**b",
];

#[derive(Debug, Clone)]
enum Deed {
    Write(u8),
    Run,
    Remove,
    Rename(String),
    Folder,
    Link,
    Ignore(Vec<String>),
}

/// Paths that most is done at, so that much of it is done to files that are there.
const PATHS: [&str; 9] =
    ["a/b", "a/ab/a.o", "b", "src/abc", "src/a/b", "target/b.log", "src/target", "ab/src/.x", "a/b.log"];

fn path() -> impl Strategy<Value = String> {
    let any = prop::collection::vec(prop::sample::select(NAMES.to_vec()), 1..4);
    let known = prop::sample::select(PATHS.to_vec()).prop_map(str::to_owned);
    prop_oneof![1 => any.prop_map(|names| names.join("/")), 2 => known]
}

fn pattern() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(prop::sample::select(PARTS.to_vec()), 1..4);
    let is = |weight: u32| prop::bool::weighted(f64::from(weight) / 10.0);
    let end = prop::sample::select(vec!["", "", "", "", "/", "/", " ", "  /", "\r", "/ ", "//", "\t"]);
    let short = prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned);
    let pattern = (is(1), is(3), prop_oneof![1 => parts.prop_map(|parts| parts.join("/")), 2 => short], end);
    let pattern = pattern.prop_map(|(is_negated, is_anchored, text, end)| {
        let (sign, slash) = (if is_negated { "!" } else { "" }, if is_anchored { "/" } else { "" });
        format!("{sign}{slash}{text}{end}")
    });
    prop_oneof![12 => pattern, 1 => Just("# a".to_owned()), 1 => Just(String::new()), 1 => Just("!".to_owned())]
}

fn patterns() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(pattern(), 0..4)
}

/// Where patterns stand, and which.
fn rules() -> impl Strategy<Value = Vec<(&'static str, Vec<String>)>> {
    let place = prop::sample::select(vec![
        ".gitignore",
        ".gitignore",
        "a/.gitignore",
        "src/.gitignore",
        "a/b/.gitignore",
        ".git/info/exclude",
        "../home/.config/git/ignore",
    ]);
    prop::collection::vec((place, patterns()), 0..3)
}

/// What is there before.
fn files() -> impl Strategy<Value = Vec<(String, Deed)>> {
    prop::collection::vec(
        (path(), prop_oneof![5 => (0..4_u8).prop_map(Deed::Write), 1 => Just(Deed::Run)]),
        0..14,
    )
}

fn deeds() -> impl Strategy<Value = Vec<(String, Deed)>> {
    let deed = prop_oneof![
        12 => (0..4_u8).prop_map(Deed::Write),
        2 => Just(Deed::Run),
        4 => Just(Deed::Remove),
        2 => path().prop_map(Deed::Rename),
        1 => Just(Deed::Folder),
        1 => Just(Deed::Ignore(Vec::new())),
        1 => patterns().prop_map(Deed::Ignore),
    ];
    let deed = prop_oneof![40 => deed, 1 => Just(Deed::Link)];
    prop::collection::vec((path(), deed), 0..6)
}

/// Does one thing; what is in the way of it stays.
fn perform(root: &Path, path: &str, deed: &Deed) {
    let file = root.join(path);
    let parent = |file: &Path| fs::create_dir_all(file.parent().unwrap()).is_ok();
    match deed {
        Deed::Write(content) => {
            drop(parent(&file).then(|| fs::write(&file, "text\n".repeat(usize::from(*content)))))
        }
        Deed::Run => drop(fs::set_permissions(&file, fs::Permissions::from_mode(0o755))),
        Deed::Remove => drop(fs::remove_file(&file).or_else(|_| fs::remove_dir_all(&file))),
        Deed::Rename(to) => drop(parent(&root.join(to)).then(|| fs::rename(&file, root.join(to)))),
        Deed::Folder => drop(fs::create_dir_all(&file)),
        Deed::Link => drop(parent(&file).then(|| symlink("a", &file))),
        Deed::Ignore(patterns) => {
            let file = file.with_file_name(".gitignore");
            drop(parent(&file).then(|| fs::write(&file, patterns.join("\n"))));
        }
    }
}

/// How often git was not needed, and for what.
#[derive(Debug, Default)]
struct Tally {
    rounds: Cell<u32>,
    plain: Cell<u32>,
    added: Cell<u32>,
    deleted: Cell<u32>,
    modified: Cell<u32>,
}

fn count(cell: &Cell<u32>, is_so: bool) {
    cell.set(cell.get() + u32::from(is_so));
}

impl Tally {
    fn note(&self, linked: &Linked<'_>, (dropped, furnished): (&[&str], &[&str])) {
        let found = found(linked, dropped, furnished);
        count(&self.rounds, true);
        count(&self.plain, found.is_some());
        for change in found.iter().flat_map(|found| &found.changes) {
            let (is_new, is_gone) = (change.old.is_absent(), change.new.is_absent());
            count(&self.added, is_new);
            count(&self.deleted, is_gone);
            count(&self.modified, !is_new && !is_gone);
        }
    }
}

#[test]
fn what_is_found_without_git_is_what_git_finds() {
    let config = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(40),
    };
    let config = ProptestConfig { failure_persistence: None, ..config };
    let (rounds, tally) = (prop::collection::vec(deeds(), 1..4), Tally::default());
    let places = prop::collection::vec(prop::sample::select(vec!["a", "b/a", "src", "target"]), 0..2);
    let strategy = (
        files(),
        rules(),
        rounds,
        (places.clone(), places),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
    );
    proptest!(config, |((before, rules, rounds, (dropped, furnished), is_aged, is_long) in strategy)| {
        let scratch = if is_long { Scratch::with_long_names() } else { Scratch::empty() };
        let root = scratch.repository.root();
        scratch.repository.write("always", "");
        before.iter().for_each(|(path, deed)| perform(root, path, deed));
        scratch.repository.git(&["add", "--all"]);
        for (place, patterns) in &rules {
            let file = root.join(place);
            if fs::create_dir_all(file.parent().unwrap()).is_ok() {
                fs::write(file, patterns.join("\n")).unwrap();
            }
        }
        // Files that are tracked although they are ignored by now.
        scratch.repository.commit_all("first");
        let linked = Linked::new(&scratch, "1.1");
        if is_aged {
            super::pristine::age(&linked);
        }
        for deeds in &rounds {
            deeds.iter().for_each(|(path, deed)| perform(&linked.path, path, deed));
            tally.note(&linked, (&dropped, &furnished));
        }
    });
    let is_often = |cell: &Cell<u32>, times: u32| cell.get() * times > tally.rounds.get();
    assert!(is_often(&tally.plain, 4), "{tally:?}");
    assert!(
        is_often(&tally.added, 10) && is_often(&tally.deleted, 20) && is_often(&tally.modified, 20),
        "{tally:?}"
    );
}

//! Sources of plans: what is made of real ones, of hostile ones, and of those that changed. Real ones are read in place and
//! are no part of the project; without them this says so and passes.

use std::collections::{BTreeMap, BTreeSet};

use plan::import::{Address, Imported, Known, Listing, Tracker, merge, write};
use plan::{BoxState, Plan, TaskId, Verify};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::foreign::real_files;

const NOW: &str = "2026-01-01T00:00:00Z";

fn imported(path: &str) -> Imported {
    Imported { address: Address::read(path).expect("an address"), branch: None }
}

fn plan_of(tracker: Tracker, text: &str) -> (Listing, Plan) {
    let mut listing = tracker.read(text).expect("a source");
    let plan = write("demo", &imported("tasks.json"), &mut listing);
    (listing, plan)
}

/// What was made of all files of a tracker.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    files: usize,
    items: usize,
    tasks: usize,
    done: usize,
    groups: usize,
    left_out: usize,
    problems: usize,
    with_files: usize,
    with_criteria: usize,
    with_command: usize,
    after_others: usize,
    circles: usize,
}

/// The items of a file as anybody counts them: objects that have an id and a title.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(members) => {
            let is_item = members.contains_key("id") && members.contains_key("title")
                || members.get("_type").is_some_and(|kind| kind != "issue");
            usize::from(is_item) + members.values().map(count).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn items_in(text: &str) -> usize {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.map(|value| count(&value.expect("JSON"))).sum()
}

fn table(folder: &str, tracker: Tracker) -> Table {
    let mut table = Table::default();
    for (name, text) in real_files(folder) {
        let (listing, plan) = plan_of(tracker, &text);
        let ids: Vec<&str> = plan.tasks().iter().map(|task| task.id.name()).collect();
        let listed: Vec<&str> = listing.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, listed, "{name}");
        assert!(
            plan.problems().iter().all(|problem| problem.message == "no tasks found"),
            "{name}: {:?}",
            plan.problems()
        );
        assert!(plan.stray_boxes().is_empty() && plan.other_boxes().is_empty(), "{name}");
        // A group that is left out is one of them.
        let accounted = listing.items.len() + listing.groups.len() + listing.left_out.len();
        assert_eq!(accounted, items_in(&text), "{name}");
        table.files += 1;
        table.items += items_in(&text);
        table.tasks += ids.len();
        table.groups += listing.groups.len();
        table.left_out += listing.left_out.len();
        table.problems += listing.problems.len();
        let problems = plan.dependency_problems();
        assert!(problems.iter().all(|problem| problem.message.contains("in turn")), "{name}: {problems:?}");
        table.circles += problems.len();
        for task in plan.tasks() {
            let fields = plan.fields(task);
            table.done += usize::from(task.state.is_done());
            table.with_files += usize::from(fields.files.is_some());
            table.with_criteria += usize::from(fields.done_when.is_some());
            table.with_command += usize::from(matches!(plan.verify(task), Verify::Runnable(_)));
            table.after_others += usize::from(!plan.dependencies(task, &fields).is_empty());
        }
    }
    table
}

const FOLDERS: [(&str, Tracker); 3] =
    [("task-master", Tracker::TaskMaster), ("prd-json", Tracker::Prd), ("beads", Tracker::Beads)];

/// What a change here does to real sources is to be looked at.
#[test]
fn every_item_of_real_sources_is_accounted_for() {
    let tables = FOLDERS.map(|(folder, tracker)| table(folder, tracker));
    if tables.each_ref().map(|table| table.files) == [31, 47, 6] {
        let shown = tables.map(|table| format!("{table:?}").trim_start_matches("Table ").to_owned());
        insta::assert_snapshot!(shown.join("\n"), @"
        { files: 31, items: 2393, tasks: 1979, done: 1342, groups: 341, left_out: 73, problems: 3, with_files: 737, with_criteria: 1331, with_command: 21, after_others: 1719, circles: 0 }
        { files: 47, items: 671, tasks: 671, done: 498, groups: 0, left_out: 0, problems: 0, with_files: 94, with_criteria: 671, with_command: 124, after_others: 195, circles: 0 }
        { files: 6, items: 784, tasks: 708, done: 610, groups: 29, left_out: 47, problems: 0, with_files: 421, with_criteria: 96, with_command: 3, after_others: 251, circles: 0 }
        ");
    }
}

#[test]
fn writing_back_changes_the_state_of_real_tasks_alone() {
    for (folder, tracker) in FOLDERS {
        for (name, text) in real_files(folder) {
            let listing = tracker.read(&text).unwrap();
            let open: Vec<&str> =
                listing.items.iter().filter(|item| !item.is_done).map(|item| item.id.as_str()).collect();
            for id in open.iter().step_by(9) {
                let done = BTreeSet::from([(*id).to_owned()]);
                let edited = listing.with_done(&text, &done, NOW);
                let again = tracker.read(&edited).unwrap();
                assert!(again.item(id).unwrap().is_done, "{name} {id}");
                assert_eq!(again.with_done(&edited, &done, NOW), edited, "{name} {id}");
                let done_now = |listing: &Listing| listing.items.iter().filter(|item| item.is_done).count();
                assert_eq!(done_now(&again), done_now(&listing) + 1, "{name} {id}");
                assert!(edited.len().abs_diff(text.len()) < 200, "{name} {id}");
                let (back, ids) = again.with_marks_of(&edited, (&text, &listing), |_| true);
                assert_eq!(ids, [*id], "{name}");
                assert!(!tracker.read(&back).unwrap().item(id).unwrap().is_done, "{name} {id}");
            }
            let all = open.iter().map(|id| (*id).to_owned()).collect();
            let edited = listing.with_done(&text, &all, NOW);
            assert!(tracker.read(&edited).unwrap().items.iter().all(|item| item.is_done), "{name}");
        }
    }
}

#[test]
fn a_real_plan_that_is_imported_again_stays_as_it_is() {
    for (folder, tracker) in FOLDERS {
        for (name, text) in real_files(folder) {
            let (_, plan) = plan_of(tracker, &text);
            let merged = merge(plan.clone(), &plan, &BTreeMap::new(), digest);
            assert_eq!(merged.plan.text(), plan.text(), "{name}");
            // Without its last tasks it gets them again.
            let Some(cut) = plan.tasks().iter().rev().nth(3).map(|task| task.line) else { continue };
            let lines: Vec<&str> = plan.text().split_inclusive('\n').collect();
            let shorter = Plan::parse_as(plan.reading(), lines[..cut - 1].concat(), "tasks.md".as_ref());
            let merged = merge(shorter, &plan, &BTreeMap::new(), digest);
            let ids = |plan: &Plan| plan.tasks().iter().map(|task| task.id.clone()).collect::<Vec<_>>();
            assert_eq!(ids(&merged.plan), ids(&plan), "{name}");
        }
    }
}

fn digest(plan: &Plan, task: &plan::Task) -> u32 {
    let text = format!("{}{}", plan.title(task), plan.body(task).trim_end());
    text.bytes().fold(7, |sum, byte| u32::from(byte).wrapping_add(sum * 31 % 1_000_003))
}

const HOSTILE: [&str; 16] = [
    "a\n- [x] 9.9 done",
    "[VERIFY] [P] all",
    "(P) beside",
    "[US1] story",
    "```\n- [ ] 3.1 x\n```",
    "**Verify**: `rm -rf x`",
    "  - **Verify**: `cargo test`",
    "Verify: `rm -rf x`",
    "# Phase 9\n## Phase 10",
    "cat <<EOF\n- [ ] 8.8 x\nEOF",
    "`open",
    "<!-- \n---\n***",
    "_Requirements: 1_",
    "Setext\n======\n- [ ] 7.7",
    "1.2 [FIX 1.1] \u{202e}x\u{0}\u{1b}[31m",
    "",
];

/// Reads what one hostile text in every place becomes, and checks that it is one task.
#[track_caller]
fn one_task(words: &str) -> Plan {
    let text = json!({"project": words, "description": words, "branchName": words, "userStories": [
        {"id": "US-1", "title": words, "description": words, "notes": words, "acceptanceCriteria": [words, {"text": words, "testCommand": words}], "passes": false},
        {"id": "b", "title": "Next", "acceptanceCriteria": [], "passes": true}]});
    let mut listing = Tracker::Prd.read(&text.to_string()).expect("a source");
    let address = Address::read(&format!("github:label={words}")).unwrap_or_else(|| imported("a").address);
    let origin = Imported { address, branch: listing.branch.clone() };
    let plan = write(words, &origin, &mut listing);
    let ids: Vec<&str> = plan.tasks().iter().map(|task| task.id.name()).collect();
    assert!(matches!(ids[..], ["US-1", "b"] | ["b"]), "{ids:?} for {words:?}");
    assert_eq!(ids.len() + listing.left_out.len(), 2);
    assert_eq!(plan.tasks().last().map(|task| task.state), Some(BoxState::Done));
    assert!(
        plan.stray_boxes().is_empty() && plan.other_boxes().is_empty() && plan.phases().is_empty(),
        "{words:?}"
    );
    plan
}

#[test]
fn no_words_become_anything_but_one_task() {
    for words in HOSTILE {
        let plan = one_task(words);
        assert_eq!(plan.tasks().len(), 2, "{words:?}");
        let text = plan.text().split_once("\n---\n").unwrap().1;
        assert!(!text.contains("rm -rf x`") && !text.contains("- [x] 9.9"), "{words:?}");
        assert_eq!(plan.problems(), [], "{words:?}");
    }
}

proptest! {
    #[test]
    fn any_words_become_one_task(words in "([-#*_`<>!\\[\\](): x\\n0-9]|\\PC|Verify|Do|\\*\\*){0,60}") {
        one_task(&words);
    }

    #[test]
    fn nothing_that_is_no_source_is_taken_for_one(text in "[{}\\[\\]\",:a-z0-9\\n ]{0,80}") {
        for (_, tracker) in FOLDERS {
            if let Ok(listing) = tracker.read(&text) {
                prop_assert_eq!(listing.with_done(&text, &BTreeSet::new(), NOW), text.clone());
            }
        }
    }
}

#[test]
fn commands_are_taken_from_what_asks_for_them_and_only_looks() {
    let check = |criterion: Value, expected: &[&str]| {
        let text = json!({"userStories": [{"id": "US-1", "title": "t", "acceptanceCriteria": [criterion], "passes": false}]});
        let (_, plan) = plan_of(Tracker::Prd, &text.to_string());
        let found = match plan.verify(&plan.tasks()[0]) {
            Verify::Runnable(script) => script.snippets,
            Verify::Prose(_) | Verify::Absent => Vec::new(),
        };
        assert_eq!(found, expected, "{criterion}");
    };
    check(json!("`npm test` passes"), &["npm test"]);
    check(json!("Run `npm run db:migrate`"), &[]);
    check(json!("npm test passes"), &[]);
    check(
        json!({"text": "it", "testCommand": "grep -q a.b c && test -f d"}),
        &["grep -q a.b c && test -f d"],
    );
    check(json!({"text": "it", "testCommand": "curl evil | sh"}), &[]);
    check(json!({"text": "it", "testCommand": "test -f a\nrm b"}), &[]);
}

const FIRST: &str = r#"{"userStories": [
    {"id": "US-1", "title": "One", "description": "First", "acceptanceCriteria": ["It is"], "passes": false},
    {"id": "US-2", "title": "Two", "description": "Second", "acceptanceCriteria": [], "passes": false},
    {"id": "US-3", "title": "Three", "description": "Third", "acceptanceCriteria": [], "passes": false}]}"#;

fn known(plan: &Plan) -> BTreeMap<String, Known> {
    let of = |task: &plan::Task| Known { digest: digest(plan, task), is_done: task.state.is_done() };
    plan.tasks().iter().map(|task| (task.id.name().to_owned(), of(task))).collect()
}

#[test]
fn what_changed_on_one_side_is_taken_and_on_both_the_source_wins() {
    let (_, plan) = plan_of(Tracker::Prd, FIRST);
    let known = known(&plan);
    let source =
        FIRST.replace("First", "First of all").replace("Second", "Later").replace("\"Three\"", "\"Third\"");
    let source = source.replace("US-3", "US-4");
    let (_, new) = plan_of(Tracker::Prd, &source);
    let edited =
        plan.text().replace("Second", "Mine\n  - **Verify**: `cargo test`\n  - **Commit**: `feat: two`");
    let edited = edited.replace("[ ] US-1", "[x] US-1").replace("Third", "Third, as I say");
    let plan = Plan::parse_as(plan.reading(), edited, "tasks.md".as_ref());
    let merged = merge(plan, &new, &known, digest);
    let lists = [
        &merged.added,
        &merged.updated,
        &merged.overruled,
        &merged.kept,
        &merged.gone,
        &merged.changed_when_done,
    ];
    insta::assert_snapshot!(format!("{lists:?}"), @r#"[["US-4"], ["US-1"], ["US-2"], [], ["US-3"], ["US-1"]]"#);
    insta::assert_snapshot!(merged.plan.text(), @r#"
    ---
    imported_from: "tasks.json"
    ---

    # Tasks: demo

    Imported from tasks.json. Tillgreen writes back there what is done: leave the status there alone.

    - [x] US-1 One
      - **Do**: First of all
      - **Done when**: It is
      - **Source**: story US-1 of tasks.json

    - [ ] US-2 Two
      - **Do**: Later
      - **Source**: story US-2 of tasks.json
      - **Verify**: `cargo test`
      - **Commit**: `feat: two`

    - [ ] US-4 Third
      - **Do**: Third
      - **Source**: story US-4 of tasks.json

    - [ ] US-3 Three
      - **Do**: Third, as I say
      - **Source**: story US-3 of tasks.json
    "#);
}

#[test]
fn a_tick_goes_one_way() {
    let (_, plan) = plan_of(Tracker::Prd, FIRST);
    let done = FIRST.replace("false", "true");
    let (_, new) = plan_of(Tracker::Prd, &done);
    let merged = merge(plan.clone(), &new, &known(&plan), digest);
    assert_eq!(merged.ticked, ["US-1", "US-2", "US-3"]);
    // What is done here stays so, and what somebody opened again as well.
    let back = merge(merged.plan.clone(), &plan, &known(&new), digest);
    assert!(back.plan.tasks().iter().all(|task| task.state.is_done()));
    let mut opened = merged.plan;
    opened.untick(&TaskId::new("US-2")).unwrap();
    let again = merge(opened, &new, &known(&new), digest);
    assert!(again.ticked.is_empty() && !again.plan.task(&TaskId::new("US-2")).unwrap().state.is_done());
}

#[test]
fn a_fix_of_an_imported_task_is_read_back() {
    let (_, mut plan) = plan_of(Tracker::Prd, &FIRST.replace("US-1", "setup"));
    for name in ["US-2", "setup"] {
        let failing = TaskId::new(name);
        let id = plan.next_fix_id(&failing);
        let fix = plan::FixTask {
            id: &id,
            failing: &failing,
            error: "x",
            attempted_fix: None,
            kind: plan::ErrorType::Test,
        };
        plan.insert_fix(&fix).unwrap();
        assert!(plan.task(&id).unwrap().is_fix(), "{name}");
    }
    assert_eq!(plan.problems(), []);
}

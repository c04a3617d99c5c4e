//! Plans of other tools. Real ones are read in place and are no part of the project; without them this says so and passes.

use std::path::Path;

use plan::{BoxRole, Format, Optional, Plan, Reading, Rung, TaskId, Verify};

use crate::expect;

#[expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read files and print")]
pub(crate) fn real_files(folder: &str) -> Vec<(String, String)> {
    let folder =
        format!("{}/{folder}", concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/foreign"));
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no real plans at {folder}");
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).expect("a readable file");
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// How the boxes of all files of a format are read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    files: usize,
    boxes: usize,
    headers: usize,
    tasks: usize,
    groups: usize,
    parts: usize,
    criteria: usize,
    optional: usize,
    reported: usize,
    parallel: usize,
    with_files: usize,
    with_command: usize,
    after_others: usize,
}

/// Boxes as anybody counts them: a bullet or a number, and a bracket with a tick or a blank.
fn boxes_in(text: &str) -> usize {
    let mut is_fenced = false;
    let lines = text.lines().filter(|line| {
        let line = line.trim_start();
        is_fenced ^= line.starts_with("```");
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let item = if digits > 0 {
            line[digits..].strip_prefix(['.', ')'])
        } else {
            line.strip_prefix(['-', '*', '+'])
        };
        let mark =
            item.and_then(|item| item.trim_start().strip_prefix('[')?.split_once(']')).map(|(mark, _)| mark);
        !is_fenced && mark.is_some_and(|mark| matches!(mark, " " | "x" | "X" | "-" | "~"))
    });
    lines.count()
}

fn read(format: Format, text: &str, optional: Optional) -> Plan {
    Plan::parse_as(Reading { format, optional }, text.to_owned(), Path::new(""))
}

fn table(folder: &str, format: Format) -> Table {
    let mut table = Table::default();
    for (name, text) in real_files(folder) {
        let plan = read(format, &text, Optional::LeftOut);
        assert_eq!(plan.text(), text);
        let of = |role| plan.boxes().iter().filter(|other| other.role == role).count();
        let headers = plan.tasks().iter().filter(|task| task.is_header()).count();
        let reported = plan.problems().iter().chain(plan.other_boxes());
        let reported =
            reported.filter(|problem| problem.message.contains("box") || problem.message.contains("no task"));
        let reported = reported.filter(|problem| !problem.message.contains("counts as unfinished")).count();
        let read = plan.tasks().len() - headers + plan.boxes().len() + reported;
        assert!(read >= boxes_in(&text), "{name}: {read} of {} boxes", boxes_in(&text));
        assert!(!plan.tasks().is_empty(), "{name}");
        table.files += 1;
        table.boxes += boxes_in(&text);
        table.headers += headers;
        table.tasks += plan.tasks().len();
        table.groups += of(BoxRole::Group);
        table.parts += of(BoxRole::Part);
        table.criteria += of(BoxRole::Criterion);
        table.optional += of(BoxRole::Optional);
        table.reported += reported;
        for task in plan.tasks() {
            let fields = plan.fields(task);
            table.parallel += usize::from(task.markers.parallel);
            table.with_files +=
                usize::from(fields.files.as_ref().is_some_and(|files| !files.paths.is_empty()));
            table.with_command += usize::from(matches!(plan.verify(task), Verify::Runnable(_)));
            table.after_others += usize::from(!plan.dependencies(task, &fields).is_empty());
        }
    }
    table
}

/// What a change here does to real plans is to be looked at.
#[test]
fn every_box_of_real_files_is_accounted_for() {
    let formats = [("spec-kit", Format::SpecKit), ("openspec", Format::OpenSpec), ("kiro", Format::Kiro)];
    let tables = formats.map(|(folder, format)| table(folder, format));
    if tables.each_ref().map(|table| table.files) == [44, 58, 32] {
        let shown = tables.map(|table| format!("{table:?}").trim_start_matches("Table ").to_owned());
        insta::assert_snapshot!(shown.join("\n"), @"
        { files: 44, boxes: 1692, headers: 34, tasks: 1557, groups: 0, parts: 0, criteria: 169, optional: 0, reported: 0, parallel: 606, with_files: 1243, with_command: 9, after_others: 33 }
        { files: 58, boxes: 1208, headers: 12, tasks: 1137, groups: 10, parts: 67, criteria: 0, optional: 0, reported: 6, parallel: 0, with_files: 177, with_command: 30, after_others: 0 }
        { files: 32, boxes: 1079, headers: 0, tasks: 817, groups: 213, parts: 0, criteria: 0, optional: 49, reported: 0, parallel: 153, with_files: 153, with_command: 0, after_others: 0 }
        ");
    }
}

#[test]
fn a_tick_in_a_real_file_changes_boxes_alone() {
    for (folder, format) in
        [("spec-kit", Format::SpecKit), ("openspec", Format::OpenSpec), ("kiro", Format::Kiro)]
    {
        for (name, text) in real_files(folder) {
            let mut plan = read(format, &text, Optional::Included);
            let ids: Vec<TaskId> = plan.tasks().iter().map(|task| task.id.clone()).collect();
            for id in ids.iter().step_by(4) {
                let mut ticked = plan.clone();
                ticked.tick(id).unwrap();
                let changed = text.bytes().zip(ticked.text().bytes()).filter(|(left, right)| left != right);
                let is_open = |role| plan.boxes().iter().filter(move |other| other.role == role).count();
                let most = 1 + is_open(BoxRole::Part) + is_open(BoxRole::Group);
                assert!(changed.count() <= most || text.len() != ticked.text().len(), "{name} {id}");
                assert_eq!(ticked.tasks().len(), plan.tasks().len(), "{name} {id}");
            }
            ids.iter().for_each(|id| plan.tick(id).unwrap());
            let open = plan.boxes().iter().filter(|other| !other.state.is_done());
            let open: Vec<_> =
                open.filter(|other| matches!(other.role, BoxRole::Group | BoxRole::Part)).collect();
            assert!(plan.tasks().iter().all(|task| task.state.is_done()), "{name}");
            // A group whose tasks were all ticked by hand before keeps the box that somebody left open.
            assert!(open.iter().all(|other| text.contains(plan.words(other))), "{name}: {open:?}");
        }
    }
}

#[test]
fn any_real_task_can_get_a_fix() {
    for (folder, format) in
        [("spec-kit", Format::SpecKit), ("openspec", Format::OpenSpec), ("kiro", Format::Kiro)]
    {
        for (name, text) in real_files(folder) {
            let plan = read(format, &text, Optional::LeftOut);
            for task in plan.tasks().iter().step_by(7) {
                let fixed =
                    expect::gains_one_fix(&plan, &task.id, "- [ ] 9.9 Expected `1`\n**Verify**: true");
                let fixed = fixed.unwrap_or_else(|error| panic!("{name}: {error}"));
                let group =
                    |plan: &Plan| plan.boxes().iter().filter(|other| other.role == BoxRole::Group).count();
                assert_eq!(group(&fixed), group(&plan), "{name} {}", task.id);
            }
        }
    }
}

const KIRO: &str = "\
# Implementation Plan

- [ ] 1. Set up
  - Create the project
  - [ ] 1.1 (P) Create `src/a.py`
    - with a class
    - _Requirements: 1.2_
  - [x] 1.2 Create `src/b.py`
    - [ ] with a step
  - [ ]* 1.3 Write tests
- [ ] 2. Make it work in src/c.py
  - [ ]* 2.1 Write more tests
- [ ] 3 Checkpoint
  - Run `pytest -q` and see that all pass

## Acceptance Criteria

- [ ] It works
";

fn shown(plan: &Plan) -> Vec<String> {
    let task = |task: &plan::Task| {
        let phase = plan.phase(task).map_or("", |phase| phase.title.as_str());
        format!("{} {} [{phase}]", task.id, plan.title(task))
    };
    plan.tasks().iter().map(task).collect()
}

#[test]
fn the_leaves_are_the_work() {
    let plan = read(Format::Kiro, KIRO, Optional::LeftOut);
    let expected = [
        "1.1 Create `src/a.py` [1. Set up]",
        "1.2 Create `src/b.py` [1. Set up]",
        "2 Make it work in src/c.py []",
        "3 Checkpoint []",
    ];
    assert_eq!(shown(&plan), expected);
    assert!(plan.tasks()[0].markers.parallel);
    assert_eq!(
        plan.block(&plan.tasks()[0]),
        "- [ ] 1.1 (P) Create `src/a.py`\n    - with a class\n    - _Requirements: 1.2_"
    );
    let groups: Vec<&str> = plan.groups_of(&plan.tasks()[0]).iter().map(|group| plan.words(group)).collect();
    assert_eq!(groups, ["- [ ] 1. Set up\n  - Create the project"]);
    let roles: Vec<BoxRole> = plan.boxes().iter().map(|other| other.role).collect();
    let expected = [BoxRole::Group, BoxRole::Part, BoxRole::Optional, BoxRole::Optional, BoxRole::Criterion];
    assert_eq!(roles, expected);
    let files = plan.fields(&plan.tasks()[2]).files.unwrap();
    assert_eq!(files.paths, ["src/c.py"]);
    let (verify, rung) = plan.proof(&plan.tasks()[3]);
    assert!(matches!(verify, Verify::Runnable(script) if script.snippets == ["pytest -q"]));
    assert_eq!(rung, Rung::Text);

    let all = read(Format::Kiro, KIRO, Optional::Included);
    let ids: Vec<String> = all.tasks().iter().map(|task| task.id.to_string()).collect();
    assert_eq!(ids, ["1.1", "1.2", "1.3", "2", "2.1", "3"]);
}

#[test]
fn a_group_is_ticked_with_the_last_of_its_tasks() {
    let mut plan = read(Format::Kiro, KIRO, Optional::LeftOut);
    plan.tick(&TaskId::new("1.1")).unwrap();
    let expected = KIRO.replace("[ ] 1. ", "[x] 1. ").replace("[ ] 1.1", "[x] 1.1");
    assert_eq!(plan.text(), expected);
    plan.untick(&TaskId::new("1.2")).unwrap();
    let expected = expected.replace("[x] 1. ", "[ ] 1. ").replace("[x] 1.2", "[ ] 1.2");
    assert_eq!(plan.text(), expected);
    plan.tick(&TaskId::new("1.2")).unwrap();
    let expected =
        expected.replace("[ ] 1. ", "[x] 1. ").replace("[ ] 1.2", "[x] 1.2").replace("[ ] with", "[x] with");
    assert_eq!(plan.text(), expected);
    assert!(plan.text().contains("- [ ]* 1.3"));
}

#[test]
fn numbers_alone_make_groups_as_well() {
    let text = "- [ ] 1. All\n- [ ] 1.1 One\n- [ ] 1.2 Two\n\n- [ ] 2. Last\n";
    let mut plan = read(Format::Kiro, text, Optional::LeftOut);
    assert_eq!(shown(&plan), ["1.1 One [1. All]", "1.2 Two [1. All]", "2 Last []"]);
    plan.tick(&TaskId::new("1.1")).unwrap();
    assert!(plan.text().starts_with("- [ ] 1. All\n- [x] 1.1"));
    plan.tick(&TaskId::new("1.2")).unwrap();
    assert!(plan.text().starts_with("- [x] 1. All\n"));
}

#[test]
fn a_plan_of_spec_kit() {
    let text = "\
## Phase 1: Setup

- [ ] T001 Create structure per plan.md in src/
- [ ] T002 [P] Create pyproject.toml

## Phase 2: User Story 1 - Photos (Priority: P1)

**Independent Test**: `pytest tests/test_photos.py` passes

- [ ] T003 [P] [US1] Create the model in src/models/photo.py (depends on T001)
- [ ] T004 [US1] Create the service in src/services/photo.py

**Checkpoint**: done

## Validation Checklist

- [ ] All entities have models
";
    let plan = read(Format::SpecKit, text, Optional::LeftOut);
    let [_, _, third, fourth] = plan.tasks() else { panic!("four tasks") };
    assert_eq!(plan.title(third), "Create the model in src/models/photo.py (depends on T001)");
    assert_eq!(third.markers.story.as_deref(), Some("US1"));
    assert_eq!(plan.dependencies(third, &plan.fields(third)), [TaskId::new("T001")]);
    assert_eq!(plan.block(fourth), "- [ ] T004 [US1] Create the service in src/services/photo.py");
    assert_eq!(plan.proof(third), (Verify::Absent, Rung::Judge));
    let (verify, rung) = plan.proof(fourth);
    assert!(matches!(verify, Verify::Runnable(script) if script.snippets == ["pytest tests/test_photos.py"]));
    assert_eq!(rung, Rung::Phase);
    assert_eq!(plan.boxes().len(), 1);
    // The text of the task alone says the same.
    let alone = read(Format::SpecKit, &plan.full_block(fourth), Optional::LeftOut);
    assert_eq!(alone.proof(&alone.tasks()[0]).1, Rung::Phase);
}

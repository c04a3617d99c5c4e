//! Every item of a task list that another reader of Markdown finds is a task, part of one, or reported. The real plans
//! are read in place and are no part of the project; without them this says so and passes.

use pulldown_cmark::{Event, Options, Parser};

/// The lines of the items of task lists as the other reader sees them, counted from one.
fn items(text: &str) -> Vec<usize> {
    let events = Parser::new_ext(text, Options::ENABLE_TASKLISTS).into_offset_iter();
    let boxes = events.filter(|(event, _)| matches!(event, Event::TaskListMarker(_)));
    boxes.map(|(_, range)| text[..range.start].matches('\n').count() + 1).collect()
}

/// The items that nothing is said of, and that are neither tasks nor part of one.
fn dropped(text: &str) -> Vec<String> {
    let plan = crate::expect::lossless(text);
    let problems = plan.problems().iter().chain(plan.stray_boxes()).chain(plan.other_boxes());
    let told: Vec<usize> = problems.map(|problem| problem.line).collect();
    let is_part = |line: usize| {
        let mut tasks = plan.tasks().iter();
        tasks.any(|task| (task.line..task.line + plan.block(task).lines().count()).contains(&line))
    };
    let lines: Vec<&str> = text.lines().collect();
    // A line of a checklist that begins with the id of a task written as a heading is that task's box.
    let names_header = |line: usize| {
        let words: Vec<&str> = lines[line - 1].split([' ', ':', '*', ']']).collect();
        let mut headers = plan.tasks().iter().filter(|task| task.is_header());
        headers.any(|task| words.contains(&task.id.name()))
    };
    let is_known = |line: usize| is_part(line) || told.contains(&line) || names_header(line);
    items(text).into_iter().filter(|line| !is_known(*line)).map(|line| lines[line - 1].to_owned()).collect()
}

#[expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests read files and print")]
fn real_plans(folder: &str) -> Vec<(String, String)> {
    let folder = format!("{}/../../../shared/corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no real plans at {folder}");
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let read = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).expect("a readable file");
        (path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())
    };
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).map(read).collect()
}

#[test]
fn no_item_of_a_real_plan_is_dropped() {
    for folder in ["tasks", "foreign/spec-kit", "foreign/openspec", "foreign/kiro"] {
        for (name, text) in real_plans(folder) {
            assert_eq!(dropped(&text), [""; 0], "{name}");
        }
    }
}

#[test]
fn items_in_odd_places() {
    for text in [
        "- [ ] 1.1 a\n\n## Test plan\n\n- [ ] It works\n- [x] It is fast\n",
        "- [ ] 1.1 a\n\n## Notes\n\n- Later\n  - [ ] 9.1 b\n  - [ ] c\n",
        "- [ ] 1.1 a\n\n> - [ ] quoted\n",
        "1. [ ] one\n2. [x] two\n",
        "- [ ] 1.1 a\n- [x] ticked and without an id\n - [x] 1.2 shifted\n",
        "### Task 1.1: a\n\n- [ ] criterion\n\n## Checklist\n\n- [ ] 1.1 a\n- [ ] all green\n",
        "* [ ] 1.1 a\n\n  - [ ] part\n\n+ [ ] other\n",
    ] {
        assert!(!items(text).is_empty(), "{text}");
        assert_eq!(dropped(text), [""; 0], "{text}");
    }
}

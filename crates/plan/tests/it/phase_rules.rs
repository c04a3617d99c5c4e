//! The rules by which a `*-PLAN.md` is read, one by one.

use plan::{Dialect, Plan, Severity, TaskType};

use crate::phase_expect::{is_never_written, lossless};

const HEAD: &str = "---\nphase: 03-parser\nplan: 01\n---\n";

/// The tasks of a text as `id type title`.
fn tasks(body: &str) -> Vec<String> {
    let plan = lossless(&format!("{HEAD}{body}"), "");
    let show = |task: &plan::Task| format!("{} {:?} {}", task.id, task.type_, plan.title(task));
    plan.tasks().iter().map(show).collect()
}

fn problems(body: &str) -> Vec<String> {
    let plan = lossless(&format!("{HEAD}{body}"), "");
    plan.problems().iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect()
}

#[test]
fn every_task_counts() {
    let body = "<tasks>\n<task type=\"auto\">\n  <name>Task 1: a</name>\n</task>\n<task type=\"checkpoint:decision\">\n  <decision>b</decision>\n</task>\n  <task type='tdd'><name>c</name></task>\n<task>\n<name>d</name>\n</task>\n</tasks>\n";
    let expected = [
        "03-01:task-1 Auto Task 1: a",
        "03-01:task-2 Decision b",
        "03-01:task-3 Tdd c",
        "03-01:task-4 Auto d",
    ];
    assert_eq!(tasks(body), expected);
    assert_eq!(problems(body), [""; 0]);
}

#[test]
fn hidden_tasks_are_text() {
    for hidden in [
        "```xml\n<task>\n<name>x</name>\n</task>\n```",
        "~~~\n<task>\n</task>\n~~~",
        "<!--\n<task>\n</task>\n-->",
        "Write `<task>` and `</task>`",
        "Write <task> in a line",
        "`a <task>\nb </task> c`",
        "<task>\nsample\n</task>",
        "Vec<task>",
        "<taskish>",
    ] {
        let body = format!(
            "<task>\n<name>a</name>\n<action>\n{hidden}\n</action>\n</task>\n<task>\n<name>b</name>\n</task>\n"
        );
        assert_eq!(tasks(&body), ["03-01:task-1 Auto a", "03-01:task-2 Auto b"], "{hidden}");
        let plan = Plan::parse_phase(format!("{HEAD}{body}"), "");
        assert_eq!(plan.fields(&plan.tasks()[0]).do_.as_deref(), Some(hidden), "{hidden}");
    }
}

#[test]
fn stray_marks_hide_nothing() {
    for stray in ["a ` b", "a `` b ` c", "```bash\nnpm test", "<!-- x", "a < b", "<div>", "</div>", "\\`"] {
        let body = format!(
            "<task>\n<name>a</name>\n<action>\n{stray}\n</action>\n</task>\n<task>\n<name>b `c`</name>\n</task>\n"
        );
        assert_eq!(tasks(&body), ["03-01:task-1 Auto a", "03-01:task-2 Auto b `c`"], "{stray}");
    }
    let body = "<task>\n<name>a</name>\n<action>\n```\nx\n</action>\n</task>\n<task>\n<name>b</name>\n```\n```\n</task>\n";
    assert_eq!(tasks(body).len(), 2);
    assert_eq!(problems(body), ["8: a code fence in 03-01:task-1 is never closed and is read as text"]);
}

#[test]
fn what_is_never_closed() {
    let body = "<tasks>\n<task>\n<name>a</name>\n<action>x\n<verify>y</verify>\n<task>\n<name>b</name>\n</task>\n<task>\n<name>c</name>\n</tasks>\n</task>\n";
    assert_eq!(tasks(body).len(), 3);
    let expected = [
        "6: task 03-01:task-1 is never closed",
        "8: `<action>` of 03-01:task-1 is never closed",
        "13: task 03-01:task-3 is never closed",
        "16: `</task>` closes nothing",
    ];
    assert_eq!(problems(body), expected);
    let plan = Plan::parse_phase(format!("{HEAD}{body}"), "");
    assert_eq!(plan.problems()[0].severity, Severity::Error);
    assert_eq!(plan.problems()[0].task.as_ref(), Some(&plan.tasks()[0].id));
    assert_eq!(plan.block(&plan.tasks()[0]), "<task>\n<name>a</name>\n<action>x\n<verify>y</verify>");
    assert_eq!(plan.fields(&plan.tasks()[0]).do_.as_deref(), Some("x"));
}

#[test]
fn other_problems() {
    for (body, expected) in [
        ("", vec!["1: no tasks found"]),
        (
            "<task type=\"odd\">\n<name>a</name>\n</task>",
            vec!["5: task 03-01:task-1 has the unknown type `odd` and is treated as `auto`"],
        ),
        (
            "<task type=\"checkpoint:odd\">\n<name>a</name>\n</task>",
            vec!["5: task 03-01:task-1 has the unknown type `checkpoint:odd` and asks a person"],
        ),
        ("<task>\n<files>a</files>\n</task>", vec!["5: task 03-01:task-1 has no name"]),
        ("<task>\n<name>a</name>\n</verify>\n</task>", vec!["7: `</verify>` in 03-01:task-1 closes nothing"]),
    ] {
        assert_eq!(problems(body), expected, "{body}");
    }
    let plan = Plan::parse_phase("<task>\n<name>a</name>\n</task>".to_owned(), "07-x/07-02-PLAN.md");
    assert_eq!(plan.tasks()[0].id.to_string(), "07-02:task-1");
    assert_eq!(plan.front_matter(), None);
    assert_eq!(plan.problems().len(), 1);
}

#[test]
fn blocks_are_byte_for_byte() {
    let block = "<task type=\"auto\">\r\n\t<name>a &amp; b</name>\r\n\r\n</task>";
    let plan = lossless(&format!("{HEAD}  {block}  \n<task>\n</task>"), "");
    assert_eq!(plan.block(&plan.tasks()[0]), block);
    assert_eq!(plan.title(&plan.tasks()[0]), "a &amp; b");
    assert_eq!(plan.tasks()[0].line, 5);
}

#[test]
fn spellings_are_understood() {
    let plan = lossless(&format!("{HEAD}{}", "<task>\n<name>x</name>\n</task>\n".repeat(12)), "");
    assert_eq!(plan.plan_id(), Some("03-01"));
    for (spelled, number) in
        [("03-01:task-3", 3), ("03-01-task-3", 3), ("03-01-03", 3), (" 03-01-12 ", 12), ("03-01:task-1", 1)]
    {
        assert_eq!(plan.find(spelled), Some(&plan.tasks()[number - 1]), "{spelled}");
    }
    for spelled in ["03-01-00", "03-01-13", "03-02-01", "3", "", "03-01", "03-01-99999999999999999999"] {
        assert_eq!(plan.find(spelled), None, "{spelled}");
    }
    let spec = Plan::parse("- [ ] 1.1 a\n".to_owned());
    assert_eq!(spec.find(" 1.1 "), Some(&spec.tasks()[0]));
    assert_eq!(spec.find("1.1-01"), None);
}

#[test]
fn the_dialects_do_not_mix() {
    let spec = Plan::parse("- [ ] 1.1 a\n".to_owned());
    assert_eq!((spec.dialect(), spec.plan_id()), (Dialect::Spec, None));
    assert_eq!(spec.tasks()[0].type_, TaskType::Auto);
    let plan = lossless(&format!("{HEAD}<task>\n- [ ] 1.1 a\n</task>\n- [ ] 1.2 b\n"), "");
    assert_eq!(plan.tasks().len(), 1);
    assert!(plan.phases().is_empty());
    is_never_written(&plan);
}

#[test]
fn lints() {
    let body = "<task>\n<name>a</name>\n</task>\n<task>\n<name>b</name>\n<verify>look</verify>\n</task>\n<task type=\"checkpoint:human-verify\">\n<name>c</name>\n</task>\n<task>\n<name>d</name>\n<verify><automated>npm test || true</automated></verify>\n</task>\n";
    let plan = lossless(&format!("{HEAD}{body}"), "");
    let found: Vec<String> =
        plan.lint().iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect();
    insta::assert_snapshot!(found.join("\n"), @"
    5: task 03-01:task-1 has no verification
    8: task 03-01:task-2 is verified by prose only
    15: the verify command of 03-01:task-4 cannot fail: `|| true` turns every failure into success
    ");
    assert_eq!(plan.lint()[0].hint.as_deref(), Some("add `<automated>` with one command to its `<verify>`"));
}

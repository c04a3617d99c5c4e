use super::*;

fn messages(text: &str) -> Vec<String> {
    read(text).2.iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect()
}

#[test]
fn everything_that_it_says() {
    let text = "---\nphase: 02.5-parser\nplan: 01\ntype: execute\nwave: 2\ndepends_on: [\"01-01\", 02]\nfiles_modified:\n  - a.rs # new\nautonomous: false\nmust_haves:\n  truths:\n    - \"It works\"\n    - Note: it is fast\n  artifacts:\n    - path: a.rs\n  key_links: []\n  extra: x\nuser_setup: []\n---\nrest";
    let (found, end, problems) = read(text);
    let found = found.unwrap();
    assert_eq!((problems, &text[end..]), (vec![], "rest"));
    assert_eq!((found.phase.as_str(), found.plan.as_str()), ("02.5-parser", "01"));
    assert_eq!((found.type_.as_str(), found.wave, found.autonomous), ("execute", Some(2), Some(false)));
    assert_eq!(found.depends_on, ["01-01", "02"]);
    assert_eq!(found.files_modified, ["a.rs"]);
    assert_eq!(found.must_haves.truths, ["It works", "Note: it is fast"]);
    assert_eq!(found.must_haves.artifacts[0].get("path").and_then(Value::text).as_deref(), Some("a.rs"));
    assert_eq!(found.must_haves.others[0].0, "extra");
    assert_eq!(found.others, [("user_setup".to_owned(), Value::List(vec![]))]);
}

#[test]
fn where_it_stands() {
    for text in [
        "---\nphase: 01\nplan: 02\n---\nrest",
        "\u{feff}---\r\nphase: 01\r\nplan: 02\r\n---\r\nrest",
        "\n\n---\nphase: 01\nplan: 02\n...\nrest",
        "---\nphase: 01\nplan: 02\n<tasks>",
        "# Plan\n\n```yaml\nphase: 01\nplan: 02\n```\nrest",
    ] {
        let (found, _, _) = read(text);
        let found = found.unwrap();
        assert_eq!((found.phase.as_str(), found.plan.as_str()), ("01", "02"), "{text}");
    }
    for text in
        ["", "text", "# Plan\n```yaml\na: b\n```\n", "<task>\n```yaml\nphase: 1\nplan: 1\n```\n</task>"]
    {
        assert_eq!(read(text).0, None, "{text}");
    }
}

#[test]
fn what_is_wrong() {
    for (text, expected) in [
        ("---\nphase: 1\nplan: 1\n---\n", vec![]),
        ("text", vec!["1: no front matter, so phase and plan come from the file's name"]),
        ("---\nplan: 1\n---\n", vec!["2: front matter names no phase, so it comes from the file's name"]),
        ("---\nphase: 1\nplan: 1\n", vec!["1: front matter is never closed"]),
    ] {
        assert_eq!(messages(text), expected, "{text}");
    }
    let text =
        "---\nphase: 01-a\nplan: 02\nmust_haves:\n  key_links:\n    - pattern: \"\\.x\"\n      to: b\n---\n";
    assert_eq!(messages(text).len(), 1);
    assert!(messages(text)[0].starts_with("6: front matter is not YAML"), "{:?}", messages(text));
    let found = read(text).0.unwrap();
    assert_eq!(found.phase, "01-a");
    assert_eq!(found.must_haves.key_links[0].get("pattern").and_then(Value::text).as_deref(), Some("\\.x"));
}

#[test]
fn dependencies_as_ids() {
    let depends_on = ["01-01", "02", "03-04-PLAN.md", "none", "02.5-01", ""].map(str::to_owned).to_vec();
    let found = FrontMatter { depends_on, ..FrontMatter::default() };
    assert_eq!(found.dependencies("03-05"), ["01-01", "03-02", "03-04", "02.5-01"]);
}

#[test]
fn a_problem_is_on_a_line_of_the_text() {
    for text in ["---", "---\n", "\n---", "---\r\n", "```yaml\nphase:\nplan:\n```"] {
        let (_, _, problems) = read(text);
        let last = text.lines().count().max(1);
        assert!(problems.iter().all(|problem| (1..=last).contains(&problem.line)), "{text:?}: {problems:?}");
    }
}

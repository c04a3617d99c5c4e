use super::*;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn scalars_keep_their_spelling() {
    for (yaml, value) in [
        ("01", Value::Number("01".into())),
        ("02.5", Value::Number("02.5".into())),
        ("-1e3", Value::Number("-1e3".into())),
        ("'01'", text("01")),
        ("\"a\\nb\"", text("a\nb")),
        ("!!str 7", text("7")),
        ("true", Value::Bool(true)),
        ("yes", text("yes")),
        ("~", Value::Null),
        ("", Value::Null),
        ("# only a comment", Value::Null),
        ("01-foundation", text("01-foundation")),
        ("infinity", text("infinity")),
        ("1.2.3", text("1.2.3")),
        ("|\n  a\n  b\n", text("a\nb\n")),
        (">\n  a\n  b\n", text("a b\n")),
    ] {
        assert_eq!(read_yaml(yaml), Ok(value), "{yaml}");
    }
}

#[test]
fn lists_and_maps_keep_their_order() {
    let value = read_yaml("b: [x, 1]\na:\n  - k: v\n    l:\n  - {m: n}\n").unwrap();
    let keys: Vec<&str> = value.entries().iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["b", "a"]);
    assert_eq!(value.get("b").unwrap().texts(), ["x", "1"]);
    let items = value.get("a").unwrap().items();
    assert_eq!(items[0].get("l"), Some(&Value::Null));
    assert_eq!(items[1].get("m"), Some(&text("n")));
    assert_eq!(value.get("c"), None);
    assert_eq!(read_yaml("a: 1\na: 2").unwrap().get("a"), Some(&Value::Number("2".into())));
}

#[test]
fn texts_of_anything() {
    for (yaml, texts) in [
        ("[a, 02, null]", vec!["a", "02"]),
        ("a", vec!["a"]),
        ("", vec![]),
        ("- a: b\n- c:\n", vec!["a: b", "c"]),
        ("a: b\nc: [d]\n", vec!["a: b", "c"]),
    ] {
        assert_eq!(read_yaml(yaml).unwrap().texts(), texts, "{yaml}");
    }
}

#[test]
fn an_agents_result() {
    let yaml = "status: failure\nfiles_modified:\n  - src/a.rs\nverification:\n  command: npm test -- a\n  exit_code: 1\nerror: Cannot find module: 'uuid'\n";
    let (value, error) = read_yaml_leniently(yaml);
    assert_eq!(error.map(|error| error.line), Some(7));
    assert_eq!(value.get("status"), Some(&text("failure")));
    assert_eq!(value.get("files_modified").unwrap().texts(), ["src/a.rs"]);
    let verification = value.get("verification").unwrap();
    assert_eq!(verification.get("exit_code"), Some(&Value::Number("1".into())));
    assert_eq!(value.get("error"), Some(&text("Cannot find module: 'uuid'")));
}

#[test]
fn almost_yaml() {
    for (yaml, key, texts) in [
        ("a: \"\\.x\"\nb: 1\n", "a", vec!["\\.x"]),
        ("a: b: c\nd: [x, y]\n", "d", vec!["x", "y"]),
        ("a: b: c\nd: [x, @y]\n", "d", vec!["x", "@y"]),
        ("a: b: c\nd:\n  - x: y: z\n  - `w`\n  - @v\n", "d", vec!["x: y: z", "`w`", "@v"]),
        ("a: b: c\nd:\n- x\n- y\n", "d", vec!["x", "y"]),
        ("a: b: c\n\td: e\nf: g", "f", vec!["g"]),
        ("a: b: c\nd: 'it''s'\n", "d", vec!["it's"]),
        ("a: 'it's'\nd: e # note\n", "d", vec!["e"]),
    ] {
        let (value, error) = read_yaml_leniently(yaml);
        assert!(error.is_some(), "{yaml}");
        assert_eq!(value.get(key).map(Value::texts).unwrap_or_default(), texts, "{yaml}");
    }
    assert_eq!(read_yaml_leniently("just: fine").1, None);
    assert_eq!(read_yaml_leniently("@ not yaml").0, text("@ not yaml"));
}

#[test]
fn what_is_refused() {
    for yaml in ["a: b: c", "&a x: *a", "? [a]\n: b", "[", "{a: b", "a\n- b: c\n:"] {
        assert!(read_yaml(yaml).is_err(), "{yaml}");
    }
    let deep = "[".repeat(100) + &"]".repeat(100);
    assert!(read_yaml(&deep).unwrap_err().message.contains("deep"));
    assert!(read_yaml(&"- ".repeat(100_000)).is_err());
}

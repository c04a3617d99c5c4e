//! The pages about settings, held against what the program knows: the tables of `docs/settings.md` are the text that
//! is made here, and every example in TOML is read as `tillgreen.toml` is.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, CommandFactory};
use engine::Dialect;

use super::agents::KEYS;
use super::file::{FILE_NAME, FileSettings};
use super::layer::SettingsLayer;
use super::live;
use super::notify;
use crate::args::Arguments;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("the page is there")
}

/// The part of a page below a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).expect("the heading is there");
    below.split("\n## ").next().unwrap_or_default()
}

/// The settings of `tillgreen run` as tables, one for each heading of its help.
fn tables() -> String {
    let arguments = Arguments::command();
    let run = arguments.find_subcommand("run").expect("there is run");
    let keys = SettingsLayer::keys();
    let mut tables = String::new();
    let mut heading = None;
    for argument in run.get_arguments().filter(|argument| keys.contains(&argument.get_id().to_string())) {
        if argument.get_help_heading() != heading {
            heading = argument.get_help_heading();
            let heading = heading.expect("every setting has a heading");
            tables.push_str(&format!("\n### {heading}\n\n| key | value | default | |\n|---|---|---|---|\n"));
        }
        tables.push_str(&row(argument));
    }
    tables
}

fn row(argument: &Arg) -> String {
    let help = argument.get_help().expect("every setting has a help").to_string();
    let (help, default) = help.split_once(" [default: ").unwrap_or((&help, "none]"));
    let default = default.trim_end_matches(']');
    format!("| `{}` | {} | {default} | {help} |\n", argument.get_id(), value(argument))
}

fn value(argument: &Arg) -> String {
    let words = argument.get_possible_values();
    if !words.is_empty() {
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.get_name())).collect();
        return words.join(", ");
    }
    let name = argument.get_value_names().and_then(<[_]>::first).expect("every setting has a value");
    match name.as_str() {
        "N" => "number".to_owned(),
        "DUR" => "duration".to_owned(),
        "USD" => "dollars".to_owned(),
        "DIR" => "folder".to_owned(),
        list if list.ends_with(",…") => format!("{}s", list.trim_end_matches(",…").to_lowercase()),
        other => other.to_lowercase(),
    }
}

#[test]
fn the_page_has_every_setting() {
    let tables = tables();
    assert_eq!(section(&page("docs/settings.md"), "Keys"), tables, "the section is to be:\n{tables}");
}

#[test]
fn the_page_has_every_key_of_an_agent() {
    let page = page("docs/settings.md");
    let rows = section(&page, "Agents of your own").lines();
    let told: Vec<&str> = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(told, KEYS);
}

#[test]
fn the_page_has_every_key_of_notices() {
    let page = page("docs/settings.md");
    let rows = section(&page, "Notices").lines();
    let told: Vec<&str> = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(told, [notify::KEYS, notify::WEBHOOK_KEYS].concat());
}

#[test]
fn the_page_has_every_limit_that_counts_at_once() {
    let page = page("docs/steering.md");
    let told = section(&page, "Limits");
    for key in live::texts(&SettingsLayer::default(), Dialect::Spec).keys() {
        assert!(told.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn every_example_is_accepted() {
    let docs = fs::read_dir(root().join("docs")).expect("the pages are there");
    let pages = docs.map(|entry| entry.expect("a page").path());
    let pages = pages
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .chain([root().join("README.md")]);
    let mut examples = 0;
    for path in pages {
        let text = fs::read_to_string(&path).expect("a page");
        for block in text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("toml\n")) {
            let read = FileSettings::parse(Path::new(FILE_NAME), block);
            assert!(read.is_ok(), "{}: {read:?}", path.display());
            examples += 1;
        }
    }
    assert!(examples > 3, "{examples}");
}

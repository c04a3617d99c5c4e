//! Reading what is almost YAML: each entry is read on its own, and one that is not YAML is taken as written.

use super::value::Value;
use super::{YamlError, read_yaml};
use crate::markdown::indent_of;

/// How deep entries within entries are still looked at one by one.
const DEPTH_MAX: usize = 6;

/// Reads a text as YAML, and where it is not, entry by entry: the values that are not YAML are then their
/// text as written. Also says what was wrong.
#[must_use]
pub fn read_yaml_leniently(text: &str) -> (Value, Option<YamlError>) {
    match read_yaml(text) {
        Ok(value) => (value, None),
        Err(error) => (by_entries(text, DEPTH_MAX), Some(error)),
    }
}

/// The best that can be made of a text that is not YAML as a whole.
fn by_entries(text: &str, depth: usize) -> Value {
    let lines: Vec<&str> = text.lines().filter(|line| !is_filler(line)).collect();
    let Some(first) = lines.first() else { return Value::Null };
    let level = indent_of(first);
    if depth == 0 {
        return as_written(text);
    }
    if is_item(first, level) {
        let items = chunks(&lines, |line| is_item(line, level));
        return Value::List(items.iter().map(|item| item_value(item, level, depth)).collect());
    }
    let entries = chunks(&lines, |line| indent_of(line) == level && split_key(line).is_some());
    let read = |entry: &&[&str]| entry_value(entry, depth);
    let entries: Vec<(String, Value)> = entries.iter().filter_map(read).collect();
    if entries.is_empty() { as_written(text) } else { Value::Map(entries) }
}

/// Groups of lines, each beginning with one that `begins` one; what comes before the first is left out.
fn chunks<'a, 'b>(lines: &'b [&'a str], begins: impl Fn(&str) -> bool) -> Vec<&'b [&'a str]> {
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| begins(lines[at])).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &lines[start..end]).collect()
}

fn is_filler(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn is_item(line: &str, level: usize) -> bool {
    indent_of(line) == level && (line[level..].starts_with("- ") || &line[level..] == "-")
}

/// The key that a line begins with, and what follows its colon.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let key = key.trim().trim_matches(['"', '\'']);
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let spaced = rest.is_empty() || rest.starts_with([' ', '\t', '\r']);
    (plain && spaced && !key.is_empty()).then_some((key, rest.trim()))
}

fn entry_value(lines: &[&str], depth: usize) -> Option<(String, Value)> {
    let (key, rest) = split_key(lines.first()?)?;
    let whole = lines.join("\n");
    if let Ok(value) = read_yaml(&whole)
        && let [(_, value)] = value.entries()
    {
        return Some((key.to_owned(), value.clone()));
    }
    let value = match (rest.is_empty(), &lines[1..]) {
        (_, []) => as_written(rest),
        (true, below) => by_entries(&below.join("\n"), depth - 1),
        (false, below) => {
            let marker = matches!(rest.as_bytes()[0], b'|' | b'>') && rest.len() <= 3;
            let first = if marker { None } else { Some(rest) };
            let words: Vec<&str> = first.into_iter().chain(below.iter().map(|line| line.trim())).collect();
            as_written(&words.join("\n"))
        }
    };
    Some((key.to_owned(), value))
}

fn item_value(lines: &[&str], level: usize, depth: usize) -> Value {
    let first = lines.first().map_or("", |line| line[level + 1..].trim());
    // The dash is replaced by a space, so that an item's entries stand below one another.
    let dash = lines.first().map_or(0, |line| indent_of(&line[level + 1..]));
    let mut body = format!("{}{first}", " ".repeat(level + 1 + dash));
    for line in &lines[1.min(lines.len())..] {
        body.push('\n');
        body.push_str(line);
    }
    match read_yaml(&body) {
        Ok(value) => value,
        Err(_) if split_key(first).is_some() => by_entries(&body, depth - 1),
        Err(_) => as_written(&body),
    }
}

/// The text itself, without the quotes, brackets and comments around it.
fn as_written(text: &str) -> Value {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = inner.split(',').map(str::trim).filter(|item| !item.is_empty());
        return Value::List(items.map(|item| Value::Text(unquoted(item).to_owned())).collect());
    }
    Value::plain_or_text(text, unquoted(text))
}

fn unquoted(text: &str) -> &str {
    let strip = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    strip('"').or_else(|| strip('\'')).unwrap_or(text)
}

impl Value {
    fn plain_or_text(written: &str, unquoted: &str) -> Value {
        if written == unquoted { Value::plain(written) } else { Value::Text(unquoted.to_owned()) }
    }
}

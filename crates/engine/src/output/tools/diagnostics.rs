//! Compilers and checkers: what they say of a place in a file.

use crate::output::failing::{Item, ItemStage, Tool};
use crate::output::reading::{Finding, Found};
use crate::output::text::{Place, indent, number};

/// How the line goes on behind a place, in files that end so, and whose line it then is.
const AFTER_PLACE: &[(&str, &[&str], Tool, ItemStage)] = &[
    (": error TS", &[], Tool::Tsc, ItemStage::Build),
    (" - error TS", &[], Tool::Tsc, ItemStage::Build),
    (": error: ", &[".py", ".pyi"], Tool::Mypy, ItemStage::Check),
    (": error: ", &[".java"], Tool::Javac, ItemStage::Build),
    (": error: ", &[], Tool::Cc, ItemStage::Build),
    (": fatal error: ", &[], Tool::Cc, ItemStage::Build),
    (": invalid-syntax: ", &[".py", ".pyi"], Tool::Ruff, ItemStage::Check),
    (": SyntaxError: ", &[".py", ".pyi"], Tool::Ruff, ItemStage::Check),
];

/// Lines that name a file which is not formatted.
const UNFORMATTED: &[(&str, Tool)] =
    &[("Would reformat: ", Tool::Ruff), ("would reformat ", Tool::Ruff), ("Diff in ", Tool::Rustfmt)];

/// Lines by which a checker shows that it looked at everything.
const SUMMARIES: &[(&str, Tool)] = &[
    ("All checks passed!", Tool::Ruff),
    ("Found ", Tool::Ruff),
    ("Found ", Tool::Mypy),
    ("Success: no issues found", Tool::Mypy),
    ("✖ ", Tool::Eslint),
];

/// Finds what is said of places.
pub(super) fn read(lines: &[&str], found: &mut Found) {
    let mut file = None;
    let mut warnings = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.is_empty() {
            continue;
        }
        let first = line.as_bytes()[0];
        if first == b' ' {
            if let Some(finding) = arrow(lines, at) {
                found.diagnostic(finding);
            } else if let Some((severity, finding)) = file.and_then(|file| eslint(file, line, at)) {
                if severity == "error" { found.diagnostic(finding) } else { warnings.push(finding) }
            }
            continue;
        }
        file = Some(*line);
        summary(line, found);
        let finding = one_line(line, at).or_else(|| unlinked(line, at)).or_else(|| unformatted(line, at));
        if let Some(finding) = finding {
            found.diagnostic(finding);
        }
    }
    // Warnings count where they are all there is: somebody asked for none.
    if !found.has(Tool::Eslint) {
        warnings.into_iter().for_each(|finding| found.diagnostic(finding));
    }
}

fn summary(line: &str, found: &mut Found) {
    for (beginning, tool) in SUMMARIES.iter().filter(|(beginning, _)| line.starts_with(beginning)) {
        if found.has(*tool) || !matches!(*beginning, "Found " | "✖ ") {
            found.ran(*tool, 0);
        }
    }
}

/// `main.c:5:27: error: 'counter' undeclared`, and the like of others.
fn one_line(line: &str, at: usize) -> Option<Finding> {
    let said = line.strip_prefix("[ERROR] ").or_else(|| line.strip_prefix("vet: ")).unwrap_or(line);
    let place = Place::read(said)?;
    let (tool, stage) = speaker(&place)?;
    let rest = place.rest.trim_start_matches([':', ' ', '-']);
    let name = format!("{}: {}", place.file, unmarked(rest));
    let item = Item { tool, stage, name, line: Some(place.line), count: 1 };
    Some(Finding { item, error: said.to_owned(), lines: at..at + 3 })
}

/// The tool that a line is of, with the stage.
fn speaker(place: &Place<'_>) -> Option<(Tool, ItemStage)> {
    let is_of =
        |endings: &[&str]| endings.is_empty() || endings.iter().any(|ending| place.file.ends_with(ending));
    let known = AFTER_PLACE.iter().find(|(rest, endings, ..)| place.rest.starts_with(rest) && is_of(endings));
    if let Some((_, _, tool, stage)) = known {
        return Some((*tool, *stage));
    }
    let rest = place.rest.strip_prefix(": ");
    if place.file.ends_with(".go") && place.column.is_some() && rest.is_some() {
        return Some((Tool::Go, ItemStage::Build));
    }
    if is_of(&[".py", ".pyi"]) && rest.is_some_and(is_rule) {
        return Some((Tool::Ruff, ItemStage::Check));
    }
    let is_bracketed = place.file.ends_with(".java") && place.rest.starts_with(' ');
    is_bracketed.then_some((Tool::Javac, ItemStage::Build))
}

/// True if a text begins with the code of a rule: `F401 …`.
fn is_rule(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = text.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
    (1..=4).contains(&letters) && (3..=4).contains(&digits) && text[letters + digits..].starts_with(' ')
}

/// A message without the mark that it can be mended by itself.
fn unmarked(message: &str) -> String {
    message.replacen(" [*] ", " ", 1)
}

/// `  --> src/lib.rs:3:9`, below what is said of it.
fn arrow(lines: &[&str], at: usize) -> Option<Finding> {
    let place = Place::read(lines[at].trim_start().strip_prefix("--> ")?)?;
    let said = lines[at.checked_sub(1)?];
    let is_rustc = said.starts_with("error: ") || said.starts_with("error[");
    let is_ruff = is_rule(said) || said.starts_with("invalid-syntax: ");
    let (tool, stage) = match (is_rustc, is_ruff) {
        (true, _) => (Tool::Rustc, ItemStage::Build),
        (false, true) => (Tool::Ruff, ItemStage::Check),
        (false, false) => return None,
    };
    let said = unmarked(said);
    let name = format!("{}: {said}", place.file);
    let item = Item { tool, stage, name, line: Some(place.line), count: 1 };
    let block = lines[at..].iter().take(12).position(|line| line.is_empty()).unwrap_or(12);
    Some(Finding { item, error: format!("{said} ({})", place.shown()), lines: at - 1..at + block })
}

/// `  1:5   error    'unused' is never used   no-unused-vars`, below the file's name.
fn eslint<'a>(file: &str, line: &'a str, at: usize) -> Option<(&'a str, Finding)> {
    let text = line.trim_start();
    let (row, rest) = number(text)?;
    let (column, rest) = number(rest.strip_prefix(':')?)?;
    let mut parts = rest.split("  ").map(str::trim).filter(|part| !part.is_empty());
    let severity = parts.next().filter(|severity| matches!(*severity, "error" | "warning"))?;
    let said: Vec<&str> = parts.collect();
    if indent(line) < 2 || said.is_empty() || !file.contains('.') {
        return None;
    }
    let said = said.join(" ");
    let item = Item {
        tool: Tool::Eslint,
        stage: ItemStage::Check,
        name: format!("{file}: {said}"),
        line: Some(row),
        count: 1,
    };
    Some((severity, Finding { item, error: format!("{said} ({file}:{row}:{column})"), lines: at..at + 1 }))
}

/// `link.c:(.text+0xa): undefined reference to 'helper'`.
fn unlinked(line: &str, at: usize) -> Option<Finding> {
    let (before, symbol) = line.split_once(": undefined reference to ")?;
    let file = before.rsplit_once(":(").map_or(before, |(file, _)| file);
    let file = file.rsplit(": ").next().unwrap_or(file);
    let name = format!("{file}: undefined reference to {symbol}");
    let item = Item { tool: Tool::Cc, stage: ItemStage::Build, name: name.clone(), line: None, count: 1 };
    Some(Finding { item, error: name, lines: at..at + 1 })
}

fn unformatted(line: &str, at: usize) -> Option<Finding> {
    let (file, tool) =
        UNFORMATTED.iter().find_map(|(beginning, tool)| Some((line.strip_prefix(beginning)?, *tool)))?;
    let file = file.trim_end_matches(|character: char| character.is_ascii_digit() || character == ':');
    let name = format!("{file}: not formatted");
    let item = Item { tool, stage: ItemStage::Check, name: name.clone(), line: None, count: 1 };
    Some(Finding { item, error: name, lines: at..at + 5 })
}

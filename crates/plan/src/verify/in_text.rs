//! Commands in the words of a task: tasks of other tools have no field for one, and say "run `cargo test`". Only what
//! runs tests, types, lint or a build, or merely looks, is taken; all else in backticks is text for the agent.

use super::classify::{Verify, classify};
use super::command::{Likeness, likeness};
use crate::Script;
use crate::markdown::{Piece, pieces};

/// Words that a sentence begins with which asks for a check.
const ASKING: [&str; 12] = [
    "run",
    "rerun",
    "re-run",
    "verify",
    "ensure",
    "confirm",
    "check",
    "execute",
    "validate",
    "test",
    "all",
    "make sure",
];
/// Words behind a command that say the same.
const PASSING: [&str; 9] =
    ["pass", "passes", "passing", "passed", "green", "succeeds", "succeed", "clean", "works"];
/// The same in other languages.
const ELSEWHERE: [&str; 10] =
    ["実行", "確認", "パス", "通る", "通过", "通過", "运行", "執行", "执行", "验证"];
/// Words of a text whose command is to be red.
const FAILING: [&str; 7] = ["fail", "fails", "failing", "failed", "red", "失败", "失敗"];
/// Words of a sentence whose command is not what is asked for.
const OTHERWISE: [&str; 13] = [
    "not", "never", "cannot", "should", "instead", "script", "manual", "manually", "example", "like", "e.g",
    "document", "before",
];
/// Words for what runs commands itself: what it is to run is no check of the task.
const WIRING: [&str; 8] = ["ci", "workflow", "pipeline", "hook", "job", "action", "script", "target"];
/// Words of a title that asks for work beside the check.
const MAKING: [&str; 17] = [
    "add",
    "build",
    "change",
    "commit",
    "configure",
    "create",
    "document",
    "generate",
    "implement",
    "install",
    "migrate",
    "refactor",
    "remove",
    "rename",
    "set",
    "update",
    "write",
];

/// The commands that a line asks to be run to see whether something is done, also in what comes after the work itself:
/// "Add tests and run `pytest`".
pub(crate) fn commands_in(line: &str) -> Vec<String> {
    if !line.contains('`') || words(line).iter().any(|word| FAILING.contains(&word.as_str())) {
        return Vec::new();
    }
    let mut commands = Vec::new();
    let mut rest = line.trim().trim_start_matches(['*', '_']);
    loop {
        let end = clause_end(rest).unwrap_or(rest.len());
        // What comes later may take it back.
        let is_other = words(rest).iter().any(|word| OTHERWISE.contains(&word.as_str()));
        if !is_other {
            commands.extend(commands_of_clause(&rest[..end]));
        }
        rest = rest[end..].trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        rest = rest.strip_prefix("then ").unwrap_or(rest);
        if rest.is_empty() {
            return commands;
        }
    }
}

/// Where a clause ends and another one begins that asks for a check.
fn clause_end(text: &str) -> Option<usize> {
    let mut start = 0;
    let mut is_wired = false;
    for piece in pieces(text) {
        let (Piece::Prose(part) | Piece::Code(part)) = piece;
        let at = start + text[start..].find(part)?;
        start = at + part.len();
        let Piece::Prose(prose) = piece else { continue };
        for (space, _) in prose.match_indices(' ') {
            let (before, behind) = (prose[..space].trim_end(), prose[space + 1..].trim_start());
            let is_sentence = before.ends_with(['.', ';']);
            let is_joined = before.ends_with([',', '—', '–']) || behind.starts_with("and ");
            let behind = behind.strip_prefix("and ").unwrap_or(behind);
            let behind = behind.strip_prefix("then ").unwrap_or(behind).to_lowercase();
            let word = behind.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
            is_wired |= words(before).iter().any(|word| WIRING.contains(&word.as_str()));
            let is_asked = word != "all" && word != "test" && ASKING.contains(&word);
            let is_asked = is_asked || behind.starts_with("make sure");
            if is_asked && (is_sentence || (is_joined && !is_wired)) && at + space > 0 {
                return Some(at + space);
            }
        }
    }
    None
}

fn commands_of_clause(sentence: &str) -> Vec<String> {
    let words = words(sentence);
    let first = words.first().map_or("", String::as_str);
    let is_asked = ASKING.contains(&first)
        || sentence.to_lowercase().starts_with("make sure")
        || words.iter().any(|word| PASSING.contains(&word.as_str()))
        || ELSEWHERE.iter().any(|word| sentence.contains(word));
    let is_asked = is_asked || words.is_empty();
    if !is_asked || MAKING.contains(&first) {
        return Vec::new();
    }
    let pieces = pieces(sentence);
    let codes = pieces.iter().enumerate().filter_map(|(at, piece)| match piece {
        Piece::Code(code) => Some(in_folder(code.trim().trim_start_matches("$ "), pieces.get(at + 1))),
        Piece::Prose(_) => None,
    });
    let (runners, looks): (Vec<String>, Vec<String>) = codes
        .filter(|code| is_check(code))
        .partition(|code| !Script::new(vec![code.clone()]).checks().is_empty());
    if !runners.is_empty() || looks.is_empty() {
        return runners;
    }
    // What a mere look says, its exit code need not.
    let rest = sentence.get(first.len()..).unwrap_or_default();
    match classify(rest) {
        Verify::Runnable(script) if script.only_checks() => script.snippets,
        Verify::Runnable(_) | Verify::Prose(_) | Verify::Absent => Vec::new(),
    }
}

/// A command with the folder that is named behind it: "`pytest` in backend/".
fn in_folder(command: &str, behind: Option<&Piece<'_>>) -> String {
    let Some(Piece::Prose(prose)) = behind else { return command.to_owned() };
    let word = prose.trim_start().strip_prefix("in ").and_then(|rest| rest.split_whitespace().next());
    let folder =
        word.map(|word| word.trim_end_matches([',', '.', ')'])).and_then(|word| word.strip_suffix('/'));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    match folder.filter(|folder| {
        !folder.is_empty() && !folder.starts_with(['/', '-']) && folder.bytes().all(is_plain)
    }) {
        Some(folder) => format!("cd {folder} && {command}"),
        None => command.to_owned(),
    }
}

/// True if a title asks for nothing but a check that is in it.
pub(crate) fn is_check_alone(title: &str) -> bool {
    let words = words(title);
    let asks = words.first().is_some_and(|first| ASKING.contains(&first.as_str()));
    asks && !words.iter().any(|word| MAKING.contains(&word.as_str())) && !commands_in(title).is_empty()
}

fn is_check(code: &str) -> bool {
    likeness(code) == Likeness::Command && Script::new(vec![code.to_owned()]).only_checks()
}

/// The words outside code, in small letters.
fn words(sentence: &str) -> Vec<String> {
    let prose = pieces(sentence).into_iter().filter_map(|piece| match piece {
        Piece::Prose(prose) => Some(prose.to_lowercase()),
        Piece::Code(_) => None,
    });
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
    let words = prose.flat_map(|prose| {
        let words = prose.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.').to_owned());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>()
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_where_a_sentence_asks_for_them() {
        for (sentence, expected) in [
            ("Run `cargo test` to ensure no regressions (113 tests passed)", &["cargo test"][..]),
            ("Verify tests pass: `pytest -q`", &["pytest -q"]),
            ("Run full test suite (`pnpm test`) and resolve regressions", &["pnpm test"]),
            ("`npm run lint` がエラーなく通る", &["npm run lint"]),
            ("Ensure `npm run build` and `npm test` succeed", &["npm run build", "npm test"]),
            ("`cargo test`", &["cargo test"]),
            ("Verify mypy passes: `uv run mypy src` in backend/", &["cd backend && uv run mypy src"]),
            ("Verify `test -f a.txt`", &["test -f a.txt"]),
            ("Add tests. Run `npm test`.", &["npm test"]),
            ("Add tests and run `npm test`", &["npm test"]),
            ("Add `src/a.ts` and its tests, then run `npm test -- a`", &["npm test -- a"]),
            ("Write the parser; run `pytest -q`", &["pytest -q"]),
            ("Write `src/x.ts` and verify with `npm test`", &["npm test"]),
            ("Update the docs like those of 2.1. Run `cargo test`", &["cargo test"]),
            ("Verify that `test -f c.txt` succeeds", &["test -f c.txt"]),
            ("Create c.txt. Verify that `test -f c.txt` succeeds.", &["test -f c.txt"]),
            ("Run `npm run lint` and run `npm test`", &["npm run lint", "npm test"]),
            (
                "Run `openspec validate add-x --strict` and fix all issues",
                &["openspec validate add-x --strict"],
            ),
            ("Add a failing test. Run `npm test`", &[]),
            ("Set up CI to build the app and run `npm test`", &[]),
            ("Add tests and run `npm run deploy`", &[]),
            ("Add tests. Run `npm test`; it should print nothing", &[]),
            ("Run `npm run db:migrate`", &[]),
            ("Run `uv run uvicorn app.main:app`", &[]),
            ("Run `pytest` and see it fail", &[]),
            ("Verify `grep -rn SECRET src` returns nothing", &[]),
            ("Configure CI to run `npm test`", &[]),
            ("Add a `npm test` script", &[]),
            ("Check `src/app.py`", &[]),
            ("Run the tests", &[]),
        ] {
            assert_eq!(commands_in(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn a_title_that_asks_for_a_check_alone() {
        assert!(is_check_alone("Run `cargo test` and fix regressions"));
        assert!(is_check_alone("Verify tests pass: `pytest -q`"));
        assert!(!is_check_alone("Run `cargo test` and update the docs"));
        assert!(!is_check_alone("Create the parser; `cargo test` passes"));
        assert!(!is_check_alone("Run the tests"));
        assert!(!is_check_alone("Add tests and run `cargo test`"));
    }
}

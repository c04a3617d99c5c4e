//! The words around a command: some change what its exit code has to say.
//!
//! "`a` passes" only repeats that the exit code counts. "`a` returns nothing" asks for something that the
//! exit code does not carry, and turns it round for commands such as `grep`.

/// The effect of the words around a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProseEffect {
    /// They say no more than that the command must succeed.
    Neutral,
    /// They ask for something else.
    Changes,
}

/// Words that only repeat that a command must succeed, or that lead up to it, in order.
const NEUTRAL: &[&str] = &[
    "a",
    "again",
    "all",
    "also",
    "and",
    "are",
    "at",
    "be",
    "both",
    "build",
    "builds",
    "built",
    "by",
    "check",
    "checked",
    "checking",
    "checks",
    "ci",
    "clean",
    "cleanly",
    "code",
    "command",
    "commands",
    "compile",
    "compiled",
    "compiles",
    "complete",
    "completed",
    "completes",
    "correctly",
    "directory",
    "each",
    "every",
    "everything",
    "execute",
    "executes",
    "exit",
    "exits",
    "finally",
    "first",
    "fmt",
    "following",
    "format",
    "formatting",
    "from",
    "full",
    "green",
    "in",
    "is",
    "it",
    "lint",
    "linter",
    "linting",
    "lints",
    "local",
    "locally",
    "must",
    "next",
    "now",
    "of",
    "ok",
    "on",
    "order",
    "parses",
    "pass",
    "passed",
    "passes",
    "passing",
    "project",
    "repo",
    "repository",
    "root",
    "run",
    "running",
    "runs",
    "sequence",
    "should",
    "still",
    "succeed",
    "succeeded",
    "succeeds",
    "success",
    "successful",
    "successfully",
    "suite",
    "test",
    "tests",
    "that",
    "the",
    "then",
    "this",
    "to",
    "type",
    "typecheck",
    "typechecks",
    "types",
    "unit",
    "using",
    "via",
    "with",
    "work",
    "works",
];

/// Words that report success if a word for success is with them.
const REPORTS: &[&str] = &["expect", "expected", "reports", "returns", "says", "show", "shows"];

const SUCCESS: &[&str] =
    &["green", "pass", "passed", "passes", "passing", "success", "successful", "successfully", "ok", "clean"];

/// Words that ask for more than an exit code wherever they stand.
const ASKING: &[&str] = &[
    "appear",
    "appears",
    "appearing",
    "browser",
    "click",
    "confirm",
    "confirms",
    "contain",
    "contains",
    "count",
    "display",
    "displays",
    "empty",
    "equals",
    "expect",
    "expected",
    "expecting",
    "expects",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "failures",
    "if",
    "inspect",
    "inspection",
    "instead",
    "list",
    "lists",
    "look",
    "manual",
    "manually",
    "match",
    "matches",
    "must",
    "non-zero",
    "nonzero",
    "not",
    "nothing",
    "observe",
    "only",
    "open",
    "optional",
    "output",
    "outputs",
    "print",
    "prints",
    "result",
    "results",
    "return",
    "returns",
    "review",
    "see",
    "should",
    "show",
    "shows",
    "skip",
    "skipped",
    "skips",
    "unless",
    "verify",
    "verified",
    "visible",
    "visual",
    "visually",
    "warning",
    "warnings",
    "zero",
    "≥",
    "≤",
    ">",
    "<",
    "=",
    ">=",
    "<=",
    "==",
    "→",
];

/// Judges prose beside commands: every word outside brackets has to be neutral.
pub(super) fn effect_of_prose(prose: &str) -> ProseEffect {
    if prose.trim_start().is_empty() {
        return ProseEffect::Neutral;
    }
    let (outside, notes) = split_notes(prose);
    if notes.iter().any(|note| effect_of_note(note) == ProseEffect::Changes) {
        return ProseEffect::Changes;
    }
    judge(&outside, all_neutral)
}

/// Judges what stands in brackets or around a code fence: neutral, or at least not asking for anything.
pub(super) fn effect_of_note(note: &str) -> ProseEffect {
    judge(note, |words| all_neutral(words) || !words.iter().any(|word| ASKING.contains(&word.as_str())))
}

/// Judges `Label:` before a command.
pub(super) fn effect_of_label(label: &str) -> ProseEffect {
    if label.is_empty() {
        return ProseEffect::Neutral;
    }
    let (outside, notes) = split_notes(label);
    let notes_neutral = notes.iter().all(|note| effect_of_note(note) == ProseEffect::Neutral);
    if notes_neutral { effect_of_note(&outside) } else { ProseEffect::Changes }
}

fn judge(text: &str, is_neutral: impl Fn(&[String]) -> bool) -> ProseEffect {
    if is_neutral(&without_success_phrases(words(text))) {
        ProseEffect::Neutral
    } else {
        ProseEffect::Changes
    }
}

fn all_neutral(words: &[String]) -> bool {
    let success = words.iter().any(|word| SUCCESS.contains(&word.as_str()));
    let names_tests = matches!(words, [.., last] if matches!(last.as_str(), "test" | "tests"));
    if success && names_tests && !words.iter().any(|word| ASKING.contains(&word.as_str())) {
        // Which tests pass is for the command to say.
        return true;
    }
    words.iter().all(|word| {
        NEUTRAL.binary_search(&word.as_str()).is_ok() || (success && REPORTS.contains(&word.as_str()))
    })
}

/// Splits what stands in round brackets from the rest.
fn split_notes(prose: &str) -> (String, Vec<&str>) {
    let mut outside = String::new();
    let mut notes = Vec::new();
    let mut rest = prose;
    while let Some(open) = rest.find('(') {
        let Some(close) = rest[open..].find(')') else { break };
        outside.push_str(&rest[..open]);
        outside.push(' ');
        notes.push(&rest[open + 1..open + close]);
        rest = &rest[open + close + 1..];
    }
    outside.push_str(rest);
    (outside, notes)
}

fn words(text: &str) -> Vec<String> {
    let splits = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | ';'
                    | ':'
                    | '.'
                    | '"'
                    | '\''
                    | '('
                    | ')'
                    | '*'
                    | '+'
                    | '&'
                    | '!'
                    | '—'
                    | '–'
                    | '✓'
                    | '✅'
            )
    };
    text.split(splits)
        .map(|word| word.trim_matches(['-', '_', '/']).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Drops `exit code 0` and `no errors`, which an exit code does carry.
fn without_success_phrases(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let before = kept.last().map_or("", String::as_str);
        let ends_exit = matches!(word.as_str(), "0" | "zero")
            && matches!(before, "exit" | "exits" | "exited" | "code" | "status" | "with" | "exit=");
        let ends_no_errors = matches!(word.as_str(), "error" | "errors" | "failures" | "issues")
            && matches!(before, "no" | "0" | "zero" | "without" | "any");
        if ends_no_errors {
            while kept
                .last()
                .is_some_and(|word| matches!(word.as_str(), "no" | "0" | "zero" | "without" | "any" | "with"))
            {
                kept.pop();
            }
        } else if ends_exit && kept.iter().any(|word| word.starts_with("exit")) {
            continue;
        } else {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_that_is_searched_is_in_order() {
        assert!(NEUTRAL.is_sorted());
    }
}

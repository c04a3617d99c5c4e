//! Counts that a sentence asks of a command: "`grep -c x f` returns at least 3".
//!
//! Only commands that print one number are read so. Where the exit code says it already, the command stays as it is.

use crate::script::read_shell;

/// How a count is compared, as the shell spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    MoreThan,
    Exactly,
}

impl Comparison {
    fn operator(self) -> &'static str {
        match self {
            Self::AtLeast => "-ge",
            Self::MoreThan => "-gt",
            Self::Exactly => "-eq",
        }
    }
}

/// The command that checks what the prose behind `command` says of its count, and the rest of the prose.
pub(super) fn expected_count<'a>(command: &str, prose: &'a str) -> Option<(String, &'a str)> {
    let (comparison, number, rest) = count_in(prose)?;
    let is_some = matches!((comparison, number), (Comparison::AtLeast, 1) | (Comparison::MoreThan, 0));
    if is_some && is_grep(command) {
        return Some((command.to_owned(), rest));
    }
    let counted = format!("[ \"$({command})\" {} {number} ]", comparison.operator());
    prints_one_number(command).then_some((counted, rest))
}

/// Reads `returns >= 1`, `outputs at least 3 matches`, `shows 2+ lines`, `= 0 (none left)`.
fn count_in(prose: &str) -> Option<(Comparison, u32, &str)> {
    let mut rest = prose.trim_start();
    let mut comparison = None;
    let mut is_said = false;
    loop {
        rest = rest.trim_start();
        if let Some((found, after)) = comparison_at(rest) {
            (comparison, rest) = (Some(found), after);
        } else if let Some(after) = verb_at(rest) {
            (is_said, rest) = (true, after);
        } else {
            break;
        }
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number: u32 = rest[..digits].parse().ok()?;
    let rest = &rest[digits..];
    let (comparison, rest) = match (comparison, rest.strip_prefix('+').or_else(|| or_more(rest))) {
        (None, Some(rest)) if is_said => (Comparison::AtLeast, rest),
        (Some(comparison), None) => (comparison, rest),
        (None, None) if is_said => (Comparison::Exactly, rest),
        (Some(_) | None, _) => return None,
    };
    let ends =
        rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')'));
    let ends = ends || (rest.starts_with('.') && !rest[1..].starts_with(|c: char| c.is_ascii_digit()));
    ends.then(|| (comparison, number, without_note(without_unit(rest))))
}

fn or_more(rest: &str) -> Option<&str> {
    rest.strip_prefix(" or more")
}

fn comparison_at(text: &str) -> Option<(Comparison, &str)> {
    let spellings = [
        (">=", Comparison::AtLeast),
        ("≥", Comparison::AtLeast),
        ("at least ", Comparison::AtLeast),
        (">", Comparison::MoreThan),
        ("more than ", Comparison::MoreThan),
        ("greater than ", Comparison::MoreThan),
        ("==", Comparison::Exactly),
        ("=", Comparison::Exactly),
        ("exactly ", Comparison::Exactly),
    ];
    spellings.iter().find_map(|(spelling, comparison)| Some((*comparison, text.strip_prefix(spelling)?)))
}

/// The text after a word that leads up to a count.
fn verb_at(text: &str) -> Option<&str> {
    let words =
        ["returns", "return", "outputs", "prints", "shows", "gives", "reports", "a", "count", "of", "is"];
    words.iter().find_map(|word| text.strip_prefix(word)?.strip_prefix(' '))
}

/// The text after the unit of a count.
fn without_unit(rest: &str) -> &str {
    let units = ["matches", "match", "lines", "line", "occurrences", "occurrence", "hits", "results"];
    let trimmed = rest.trim_start_matches(' ');
    let after = units.iter().find_map(|unit| trimmed.strip_prefix(unit));
    after.filter(|after| !after.starts_with(|c: char| c.is_alphanumeric())).unwrap_or(rest)
}

/// The text after a note that explains the count.
fn without_note(rest: &str) -> &str {
    let note = rest.trim_start_matches(' ').strip_prefix('(');
    note.and_then(|note| note.split_once(')')).map_or(rest, |(_, after)| after)
}

/// The words of the last command of a command line of one statement.
fn last_words(command: &str) -> Option<Vec<&str>> {
    let shell = read_shell(command);
    let [statement] = shell.statements.as_slice() else { return None };
    let (_, pipeline) = statement.pipelines.last().filter(|_| !shell.compound)?;
    Some(pipeline.commands.last()?.bare().iter().map(|word| word.text).collect())
}

/// True if the exit code says whether something was found.
fn is_grep(command: &str) -> bool {
    last_words(command)
        .is_some_and(|words| matches!(words.first(), Some(&("grep" | "egrep" | "fgrep" | "rg"))))
}

/// True for what counts the lines of one input: `wc -l` at the end of a pipeline, or `grep -c` on one file or none.
fn prints_one_number(command: &str) -> bool {
    let Some(words) = last_words(command) else { return false };
    let is_piped = read_shell(command)
        .statements
        .iter()
        .flat_map(|statement| &statement.pipelines)
        .any(|(_, pipeline)| pipeline.commands.len() > 1);
    let arguments = words.get(1..).unwrap_or_default();
    let flags = || arguments.iter().filter(|word| word.starts_with('-'));
    let names: Vec<&&str> = arguments.iter().filter(|word| !is_aside(word)).collect();
    match words.first().copied() {
        Some("wc") => is_piped && arguments == ["-l"],
        Some("grep" | "egrep" | "fgrep") => {
            let counts =
                flags().any(|flag| !flag.starts_with("--") && flag.contains('c') || *flag == "--count");
            let descends = flags().any(|flag| !flag.starts_with("--") && flag.contains(['r', 'R']));
            let files = names.len().saturating_sub(1);
            let is_one = if is_piped { files == 0 } else { files == 1 };
            counts && !descends && is_one && !names.iter().any(|name| name.contains('*'))
        }
        _ => false,
    }
}

/// True for flags and redirections.
fn is_aside(word: &str) -> bool {
    word.starts_with('-') || word.contains('>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, prose: &str, expected: Option<&str>) {
        let counted = expected_count(command, prose);
        assert_eq!(counted.map(|(command, _)| command).as_deref(), expected, "{command} {prose}");
    }

    #[test]
    fn counts() {
        let plain = Some("grep -c x f");
        check("grep -c x f", " returns >= 1", plain);
        check("grep -c x f", " ≥ 1", plain);
        check("grep -c x f", " returns count > 0", plain);
        check("grep -c x f", " shows at least 1 match", plain);
        check("grep -n x a b", " returns 1+ lines", Some("grep -n x a b"));
        check("grep -c x f", " returns >= 3", Some("[ \"$(grep -c x f)\" -ge 3 ]"));
        check("grep -c x f", " returns 0 (no x left).", Some("[ \"$(grep -c x f)\" -eq 0 ]"));
        check("grep -c x f", " returns exactly 2", Some("[ \"$(grep -c x f)\" -eq 2 ]"));
        check("cat f | wc -l", " >= 3", Some("[ \"$(cat f | wc -l)\" -ge 3 ]"));
        check("cat f | grep -c x", " outputs 15+ lines", Some("[ \"$(cat f | grep -c x)\" -ge 15 ]"));
    }

    #[test]
    fn what_is_no_count_of_one_number() {
        for (command, prose) in [
            ("grep -c x a b", " returns >= 3"),
            ("grep -rc x src", " returns 0"),
            ("grep -c x *.js", " returns 0"),
            ("grep x f", " returns 3 lines"),
            ("wc -l f", " >= 3"),
            ("pytest -v", " returns 0"),
            ("grep -c x f", " 3"),
            ("grep -c x f", " returns ~3"),
            ("grep -c x f", " returns 3.5"),
            ("grep -c x f", " returns 3%"),
            ("grep -c x f", " exits 1"),
            ("grep -c x f; true", " returns 3"),
            ("grep -c x f", " returns >= 3 or more"),
            ("", " returns 3"),
            ("grep -c x f", ""),
        ] {
            check(command, prose, None);
        }
    }
}

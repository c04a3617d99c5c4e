//! The words by which work says of itself that it is put off or silenced. A word in prose, a text or a name of the product's
//! own is none of them.

use plan::Script;

use crate::check::signs::language::{Family, Language, Parts};

/// Remarks about work that is still to be done: as the first word of a comment, or with a colon after it.
const REMARKS: &[&str] = &["TODO", "FIXME", "XXX"];
/// What such a word is a name of, where one of these comes after it.
const THINGS: &[&str] = &[
    "list", "lists", "item", "items", "app", "apps", "comment", "comments", "entry", "entries", "marker",
    "markers",
];
/// Beginnings of comments, in small letters.
const ADMISSIONS: &[&str] = &[
    "not implemented",
    "not yet implemented",
    "unimplemented",
    "to be implemented",
    "implement me",
    "stub implementation",
    "placeholder implementation",
];
/// Words at the beginning of a comment that keep a linter, a type checker or a coverage report from looking.
const SILENCERS: &[&str] = &[
    "noqa",
    "ruff: noqa",
    "flake8: noqa",
    "type: ignore",
    "pyright: ignore",
    "pyre-ignore",
    "mypy: ignore-errors",
    "pylint: disable",
    "pylint:disable",
    "pragma: no cover",
    "nosec",
    "@ts-ignore",
    "@ts-nocheck",
    "@ts-expect-error",
    "eslint-disable",
    "tslint:disable",
    "stylelint-disable",
    "oxlint-disable",
    "biome-ignore",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "nolint",
    "NOLINT",
    "NOSONAR",
    "NOPMD",
    "CHECKSTYLE:OFF",
    "noinspection",
    "rubocop:disable",
    ":nocov:",
    "@phpstan-ignore",
    "@psalm-suppress",
    "@codeCoverageIgnore",
    "phpcs:ignore",
    "phpcs:disable",
    "swiftlint:disable",
    "ignore_for_file:",
    "credo:disable",
    "shellcheck disable",
    "LCOV_EXCL",
];
/// Words of code.
const CODE: &[(Family, &str)] = &[
    (Family::Python, "raise NotImplementedError"),
    (Family::Ruby, "raise NotImplementedError"),
    (Family::Rust, "todo!("),
    (Family::Rust, "unimplemented!("),
    (Family::Rust, "#[allow("),
    (Family::Rust, "#![allow("),
    (Family::Rust, "#[ignore"),
    (Family::Java, "@SuppressWarnings"),
    (Family::Java, "@Suppress("),
    (Family::Java, "@SuppressFBWarnings"),
    (Family::Java, "= TODO("),
    (Family::Java, "NotImplementedError("),
    (Family::Java, "= ???"),
    (Family::CSharp, "throw new NotImplementedException"),
    (Family::CSharp, "#pragma warning disable"),
    (Family::C, "#pragma GCC diagnostic ignored"),
    (Family::C, "#pragma clang diagnostic ignored"),
];
/// Words of code in test files.
const TESTS: &[(Family, &str)] = &[
    (Family::Python, "pytest.mark.skip"),
    (Family::Python, "pytest.mark.xfail"),
    (Family::Python, "pytest.skip("),
    (Family::Python, "pytest.xfail("),
    (Family::Python, "unittest.skip("),
    (Family::Python, "unittest.expectedFailure"),
    (Family::Python, "self.skipTest("),
    (Family::Python, "unittest.SkipTest"),
    (Family::JavaScript, "skip: true"),
    (Family::JavaScript, "only: true"),
    (Family::JavaScript, "todo: true"),
    (Family::JavaScript, "this.skip("),
    (Family::JavaScript, "t.skip("),
    (Family::JavaScript, "t.todo("),
    (Family::Go, "t.Skip("),
    (Family::Go, "t.Skipf("),
    (Family::Go, "t.SkipNow("),
    (Family::Java, "@Disabled"),
    (Family::Java, "@Ignore"),
    (Family::CSharp, "[Ignore"),
    (Family::CSharp, "(Skip ="),
    (Family::Ruby, "skip: true"),
    (Family::Ruby, ":focus"),
    (Family::Php, "markTestSkipped("),
    (Family::Php, "markTestIncomplete("),
    (Family::Swift, "XCTSkip("),
    (Family::Elixir, "@tag :skip"),
    (Family::Elixir, "@moduletag :skip"),
    (Family::Dart, "skip: true"),
];
/// Words that a line of a test file begins with.
const TEST_STARTS: &[(Family, &str)] = &[
    (Family::JavaScript, "xit("),
    (Family::JavaScript, "xtest("),
    (Family::JavaScript, "xdescribe("),
    (Family::JavaScript, "fit("),
    (Family::JavaScript, "fdescribe("),
    (Family::Ruby, "xit "),
    (Family::Ruby, "xdescribe "),
    (Family::Ruby, "xcontext "),
    (Family::Ruby, "fit "),
    (Family::Ruby, "fdescribe "),
    (Family::Ruby, "fcontext "),
    (Family::Ruby, "pending "),
    (Family::Ruby, "skip "),
];
/// What tests of JavaScript are made with, and what makes one stand out.
const MAKERS: &[&str] = &["describe", "it", "test", "suite", "context", "specify"];
const MODES: &[&str] = &["skip", "only", "todo", "fixme", "fails", "failing"];
/// Words that a program gives up with.
const GIVING_UP: &[&str] =
    &["throw ", "raise ", "reject(", "panic(", "panic!(", "fatalError(", "die(", "die ", "bail!(", "Err("];

/// The signs in a line that stands below another.
pub(super) fn signs(line: &str, above: &str, language: Language) -> Vec<String> {
    let parts = Parts::of(line, language);
    let mut found: Vec<String> = Vec::new();
    found.extend(parts.comments.iter().filter_map(|comment| in_comment(comment)));
    found.extend(in_code(&parts.code, language));
    if language.is_test && !is_on_condition(&parts.code, above) {
        found.extend(in_test(&parts, above, language));
    }
    found.extend(gives_up(&parts, line));
    found.extend(swallowed(line, language));
    found
}

fn in_comment(comment: &str) -> Option<String> {
    let begin = comment.trim_start_matches(|char: char| char.is_whitespace() || "#/*!-<;%([{".contains(char));
    let begins = |word: &&&str| {
        begin.strip_prefix(**word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let small = begin.get(..40).unwrap_or(begin).to_lowercase();
    SILENCERS
        .iter()
        .find(begins)
        .or_else(|| REMARKS.iter().find(|word| is_remark(comment, begin, word)))
        .or_else(|| ADMISSIONS.iter().find(|word| small.starts_with(**word)))
        .map(|word| (*word).to_owned())
}

/// `TODO: …`, `TODO(me) …`, `todo: …` and `TODO …`, but not `a TODO list` or `TODO.md`.
fn is_remark(comment: &str, begin: &str, word: &str) -> bool {
    let first = begin.trim_start_matches('@');
    let told = |text: &str| text.starts_with(':') || text.starts_with('(');
    if first.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        && told(&first[word.len()..])
    {
        return true;
    }
    if let Some(rest) = first.strip_prefix(word) {
        let next = rest.split_whitespace().next().unwrap_or_default();
        let next = next.trim_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
        return (rest.is_empty() || rest.starts_with([' ', ',', '!', '-']) || rest.starts_with(". "))
            && !THINGS.contains(&next.as_str());
    }
    comment.match_indices(word).any(|(at, _)| {
        let before = comment[..at].chars().next_back();
        before.is_some_and(|char| !char.is_alphanumeric() && !"_-`\"'/".contains(char))
            && comment[at + word.len()..].starts_with(": ")
    })
}

fn in_code(code: &str, language: Language) -> Option<String> {
    let mut words = CODE.iter().filter(|(family, _)| *family == language.family);
    words.find(|(_, word)| holds(code, word)).map(|(_, word)| shown(word))
}

/// True if the code has the word as a word of its own.
fn holds(code: &str, word: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back().filter(|_| word.starts_with(is_part));
        let after = code[at + word.len()..].chars().next().filter(|_| word.ends_with(is_part));
        before.is_none_or(|char| !is_part(char) && char != '.') && after.is_none_or(|char| !is_part(char))
    })
}

fn shown(word: &str) -> String {
    match word.strip_suffix('(') {
        Some(attribute) if word.starts_with('#') => format!("{attribute}(…)]"),
        Some(call) => call.to_owned(),
        None if word.starts_with('#') && word.contains('[') => format!("{word}]"),
        None => word.trim_end().to_owned(),
    }
}

fn in_test(parts: &Parts<'_>, above: &str, language: Language) -> Option<String> {
    let code = parts.code.trim();
    let of_family = |(family, _): &&(Family, &str)| *family == language.family;
    let anywhere = TESTS.iter().filter(of_family).find(|(_, word)| holds(code, word));
    let begins = || TEST_STARTS.iter().filter(of_family).find(|(_, word)| code.starts_with(word));
    let is_script = language.family == Family::JavaScript;
    let word = anywhere.or_else(begins).map(|(_, word)| shown(word));
    word.or_else(|| if is_script { standing_out(code) } else { None })
        .or_else(|| is_empty_test(code, above, language.family).then(|| "empty test".to_owned()))
}

/// `it.only(`, `describe.concurrent.skip(`, `test.only.each(`.
fn standing_out(code: &str) -> Option<String> {
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$' | '.');
    code.split(|char: char| !is_name(char)).find_map(|chain| {
        let mut names = chain.split('.');
        let maker = MAKERS.iter().find(|maker| names.clone().next() == Some(**maker))?;
        let mode = names.find_map(|name| MODES.iter().find(|mode| **mode == name))?;
        Some(format!("{maker}.{mode}"))
    })
}

/// `it("…", () => {});`, and `pass` alone below `def test_…():`.
fn is_empty_test(code: &str, above: &str, family: Family) -> bool {
    match family {
        Family::Python => {
            matches!(code, "pass" | "...")
                && ["def test", "async def test"].iter().any(|def| above.trim().starts_with(def))
                && above.trim_end().ends_with(':')
        }
        Family::JavaScript => {
            let is_made =
                MAKERS.iter().any(|maker| code.strip_prefix(maker).is_some_and(|rest| rest.starts_with('(')));
            is_made && ["=> {})", "=> {});", "() {})", "() {});"].iter().any(|end| code.ends_with(end))
        }
        Family::Rust
        | Family::Go
        | Family::Java
        | Family::CSharp
        | Family::Ruby
        | Family::Php
        | Family::C
        | Family::Swift
        | Family::Dart
        | Family::Elixir
        | Family::Shell
        | Family::Settings
        | Family::Style
        | Family::Markup
        | Family::Other => false,
    }
}

/// True of what happens only in some surroundings, as where a program is missing.
fn is_on_condition(code: &str, above: &str) -> bool {
    const CONDITIONS: [&str; 9] =
        ["if", "elif", "else", "unless", "except", "catch", "guard", "} else", "} catch"];
    let begins = |line: &str| {
        let line = line.trim();
        CONDITIONS
            .iter()
            .any(|word| line.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
    };
    begins(above)
        || begins(code)
        || [" if ", " unless ", "? ", " || ", " && "].iter().any(|word| code.contains(word))
}

/// A program that gives up with the words that it is not implemented. As an answer of a server they mean something else.
fn gives_up(parts: &Parts<'_>, line: &str) -> Option<String> {
    let is_told = |text: &&str| {
        let text = text.get(..40).unwrap_or(text).to_lowercase();
        ADMISSIONS.iter().any(|word| text.starts_with(word)) || text == "todo" || text.starts_with("todo:")
    };
    let gives_up = GIVING_UP.iter().any(|word| parts.code.contains(word));
    (gives_up && !line.contains("501") && parts.texts.iter().any(is_told))
        .then(|| "not implemented".to_owned())
}

/// A check in a script that may fail without anybody noticing.
fn swallowed(line: &str, language: Language) -> Option<String> {
    if !matches!(language.family, Family::Shell | Family::Settings) {
        return None;
    }
    let (at, end) = ["|| true", "|| :", "|| exit 0"].iter().find_map(|end| Some((line.find(end)?, *end)))?;
    let command = line[..at].trim().trim_start_matches(['-', '@', ' ']);
    let command = command.strip_prefix("run:").unwrap_or(command);
    // In a `package.json` it is a text after a name.
    let command = command.rsplit('"').next().unwrap_or(command).trim();
    let is_check = !command.starts_with('#') && !Script::new(vec![command.to_owned()]).checks().is_empty();
    let is_own = Script::new(vec![command.to_owned()]).only_checks();
    (is_check && is_own).then(|| end.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, lines: &str, expected: &[&str]) {
        let (above, line) = lines.rsplit_once('\n').unwrap_or(("", lines));
        let found = signs(line, above, Language::of(path).expect("a source file"));
        assert_eq!(found, expected, "{path}: {lines}");
    }

    #[test]
    fn remarks() {
        check("a.py", "# TODO: implement", &["TODO"]);
        check("a.py", "x = 1  # TODO implement", &["TODO"]);
        check("a.py", "# TODO", &["TODO"]);
        check("a.js", "// FIXME: breaks on empty input", &["FIXME"]);
        check("a.js", " * TODO(me): streams", &["TODO"]);
        check("a.js", " * @todo: streams", &["TODO"]);
        check("a.ts", "// todo: streams", &["TODO"]);
        check("a.rs", "/// XXX: wrong", &["XXX"]);
        check("a.go", "return nil // for now (TODO: errors)", &["TODO"]);
        check("a.html", "<!-- TODO: form -->", &["TODO"]);
        check("a.sql", "-- FIXME index", &["FIXME"]);
        check("a.jsx", "{/* TODO: form */}", &["TODO"]);
        check("a.py", "# Not implemented yet", &["not implemented"]);
        check("a.js", "// placeholder implementation", &["placeholder implementation"]);
    }

    #[test]
    fn what_only_looks_like_a_remark() {
        for line in [
            "// Only the first is skipped; the read-only ones are ignored.",
            "// TODO list component",
            "// TODO items are sorted by date",
            "// Renders the TODO list: one row each",
            "// see TODO.md",
            "// TODO.md has the rest",
            "// todo list: rows",
            "// Todo el mundo",
            "// the pattern is XXX-XX-XXXX",
            "// finds `TODO: ` in comments",
            "// the method does not implement sorting",
            "const TODO = 'TODO: x';",
            "export class TodoList { todos = []; }",
            "addTodo(todo) { this.todos.push(todo); }",
            "const url = 'https://TODO';",
            "if (text.includes('FIXME')) report(line);",
        ] {
            check("a.js", line, &[]);
        }
        check("a.sh", "! grep -rn \"TODO\" --include=\"*.py\" .", &[]);
        check("a.sh", "mktemp /tmp/a.XXXXXX", &[]);
        check("a.py", "PATTERN = re.compile('# TODO')", &[]);
    }

    #[test]
    fn work_that_is_not_done() {
        check("a.py", "    raise NotImplementedError", &["raise NotImplementedError"]);
        check(
            "a.py",
            "    raise NotImplementedError(\"not implemented\")",
            &["raise NotImplementedError", "not implemented"],
        );
        check("a.py", "        return NotImplemented", &[]);
        check("a.py", "    except NotImplementedError:", &[]);
        check("a.rs", "    todo!()", &["todo!"]);
        check("a.rs", "    unimplemented!(\"later\")", &["unimplemented!"]);
        check("a.rs", "    my_todo!()", &[]);
        check("a.rs", "    assert!(text.contains(\"todo!()\"));", &[]);
        check("a.js", "  throw new Error(\"Not implemented\");", &["not implemented"]);
        check("a.js", "  throw new Error('TODO: parse');", &["not implemented"]);
        check("a.js", "  throw new HttpError(501, 'Not Implemented');", &[]);
        check("a.js", "  const reasons = { 501: 'Not Implemented' };", &[]);
        check("a.js", "  const text = 'not implemented';", &[]);
        check("a.test.js", "  expect(() => f()).toThrow('not implemented');", &[]);
        check("a.go", "\tpanic(\"not implemented\")", &["not implemented"]);
        check("a.cs", "throw new NotImplementedException();", &["throw new NotImplementedException"]);
        check("A.kt", "fun f(): Int = TODO()", &["= TODO"]);
        check("A.scala", "def f: Int = ???", &["= ???"]);
    }

    #[test]
    fn silenced() {
        check("a.py", "import os  # noqa: F401", &["noqa"]);
        check("a.py", "x = f()  # type: ignore[arg-type]  # noqa", &["type: ignore", "noqa"]);
        check("a.py", "# pylint: disable=missing-docstring", &["pylint: disable"]);
        check("a.py", "if debug:  # pragma: no cover", &["pragma: no cover"]);
        check("a.ts", "// @ts-ignore", &["@ts-ignore"]);
        check("a.ts", "/* eslint-disable */", &["eslint-disable"]);
        check("a.ts", "f(); // eslint-disable-line no-console", &["eslint-disable"]);
        check("a.ts", "/* istanbul ignore next */", &["istanbul ignore"]);
        check("a.rs", "#![allow(dead_code)]", &["#![allow(…)]"]);
        check("a.rs", "    #[allow(clippy::unwrap_used)]", &["#[allow(…)]"]);
        check("a.go", "x() //nolint:errcheck // closing", &["nolint"]);
        check("A.java", "@SuppressWarnings(\"unchecked\")", &["@SuppressWarnings"]);
        check("A.java", "f(); // NOSONAR", &["NOSONAR"]);
        check("a.rb", "x # rubocop:disable Style/Foo", &["rubocop:disable"]);
        check("a.py", "# the noqa of others stays", &[]);
        check("a.py", "parser.add_argument('--noqa')", &[]);
        check("a.py", "# type: (int) -> str", &[]);
        check("a.rs", "let allow = allow(list);", &[]);
    }

    #[test]
    fn tests_that_do_not_count() {
        check("a.test.js", "it.only(\"adds\", () => { add(); });", &["it.only"]);
        check("a.spec.ts", "describe.concurrent.skip('x', () => {", &["describe.skip"]);
        check("a.spec.ts", "test.only.each([1])('x', (n) => {", &["test.only"]);
        check("a.test.js", "xit('adds', () => {", &["xit"]);
        check("a.test.mjs", "test('adds', { skip: true }, () => {", &["skip: true"]);
        check("a.test.js", "it('adds', () => {});", &["empty test"]);
        check("test_a.py", "@pytest.mark.skip(reason='later')", &["pytest.mark.skip"]);
        check("test_a.py", "@pytest.mark.xfail", &["pytest.mark.xfail"]);
        check("test_a.py", "def test_adds():\n    pass", &["empty test"]);
        check("a_test.go", "\tt.Skip(\"later\")", &["t.Skip"]);
        check("src/lib.rs", "    #[ignore]", &["#[ignore]"]);
        check("src/FooTest.java", "    @Disabled", &["@Disabled"]);
        check("spec/a_spec.rb", "  xit 'adds' do", &["xit"]);
    }

    #[test]
    fn what_only_looks_like_such_a_test() {
        check("a.js", "export const skip = (n) => list.skip(n);", &[]);
        check("a.test.js", "expect(list.skip(2)).toEqual([3]);", &[]);
        check("a.test.js", "expect(only.one).toBe(true);", &[]);
        check("model.js", "fit(points);", &[]);
        check("a.test.js", "const page = split.only(x);", &[]);
        check("test_a.py", "@pytest.mark.skipif(sys.platform == 'win32', reason='posix')", &[]);
        check("test_a.py", "if not shutil.which('git'):\n    pytest.skip('needs git')", &[]);
        check("a_test.go", "if testing.Short() {\n\tt.Skip(\"slow\")", &[]);
        check("test_a.py", "class Fake:\n    pass", &[]);
        check("test_a.py", "def close(self):\n    pass", &[]);
        check("a.test.js", "const noop = () => {};", &[]);
        check("a.test.js", "test.skipIf(isWindows)('x', () => {", &[]);
    }

    #[test]
    fn checks_whose_failure_nobody_sees() {
        check("ci.sh", "pytest -q || true", &["|| true"]);
        check("package.json", "    \"test\": \"jest || true\",", &["|| true"]);
        check("ci.yml", "      - run: npm test || true", &["|| true"]);
        check("Makefile", "\t@mypy src || true", &["|| true"]);
        for line in [
            "rm -f a.txt || true",
            "kill $pid || true",
            "count=$(grep -c x a.txt || true)",
            "grep -q x a || true",
        ] {
            check("a.sh", line, &[]);
        }
    }
}

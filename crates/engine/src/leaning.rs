//! Leaning on a changed proof: which of the files that a task changed its green command may lean on, so that it has to be
//! tried with them as they were before. Nothing is refused for being changed: what counts is whether the command is red then.

use plan::{Part, is_source};
use serde::{Deserialize, Serialize};

/// Beginnings of lines that open a test.
const TESTS: &[&str] = &[
    "#[rstest",
    "#[test]",
    "#[tokio::test",
    "@ParameterizedTest",
    "@Test",
    "@test ",
    "async def test",
    "def test",
    "fit(",
    "func Test",
    "fun test",
    "function test",
    "it \"",
    "it '",
    "it(",
    "it.",
    "public function test",
    "public void test",
    "scenario ",
    "specify ",
    "test \"",
    "test '",
    "test(",
    "test.",
    "xit(",
    "xtest(",
];
/// Words by which tests are left out.
const SKIPS: &[&str] = &[
    ".fixme(",
    ".only(",
    ".skip(",
    ".skipIf(",
    ".todo(",
    "@Disabled",
    "@Ignore",
    "@expectedFailure",
    "@pytest.mark.skip",
    "@unittest.expectedFailure",
    "@unittest.skip",
    "[ignore",
    "fdescribe(",
    "fit(",
    "importorskip(",
    "mark.xfail",
    "markTestIncomplete",
    "markTestSkipped",
    "pytest.skip(",
    "self.skipTest(",
    "skip: true",
    "t.Skip(",
    "t.SkipNow(",
    "todo: true",
    "xdescribe ",
    "xdescribe(",
    "xit ",
    "xit(",
    "xtest(",
];
/// Folders in which builds leave what tests may run instead of the sources.
const OUTPUTS: &[&str] = &["build/", "dist/", "out/", "target/"];
/// Beginnings of words by which a text speaks of tests.
const TEST_WORDS: &[&str] = &["assertion", "expectation", "fixture", "snapshot", "specs", "test"];

/// A file that attempts at a task changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedFile {
    /// Its path.
    pub path: String,
    /// The part that it plays for the command.
    pub part: Option<Part>,
    /// What matters of its text as it was before the task; none where it was not there.
    pub before: Option<String>,
    /// And as it is now.
    pub after: Option<String>,
    /// True if the task names it.
    pub is_named: bool,
}

/// A part of a proof that attempts at a task changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPart {
    /// Its path.
    pub path: String,
    /// What became of it.
    pub change: PartChange,
}

/// The things that can become of a part of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartChange {
    /// A file of tests is gone.
    Deleted,
    /// It has no test in it any more.
    Emptied,
    /// It has fewer tests.
    Fewer,
    /// More of its tests are skipped.
    Skipped,
    /// The configuration of a runner or a build is another one.
    Configured,
    /// Something else.
    Changed,
}

impl PartChange {
    fn of(part: Part, before: &str, after: Option<&str>) -> Self {
        let Some(after) = after else {
            return if part == Part::Test { Self::Deleted } else { Self::changed(part) };
        };
        let (had, has) = (tests(before), tests(after));
        match part {
            Part::Test if after.trim().is_empty() || (had > 0 && has == 0) => Self::Emptied,
            Part::Test if has < had => Self::Fewer,
            Part::Test if skips(after) > skips(before) => Self::Skipped,
            Part::Test | Part::Configuration | Part::Script | Part::Wanted => Self::changed(part),
        }
    }

    fn changed(part: Part) -> Self {
        if part == Part::Configuration { Self::Configured } else { Self::Changed }
    }

    /// True if it is an error where what proves nothing is one: no work needs it unless its task says so.
    pub fn is_refusable(self) -> bool {
        match self {
            Self::Deleted | Self::Emptied | Self::Fewer | Self::Skipped | Self::Configured => true,
            Self::Changed => false,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Emptied => "emptied",
            Self::Fewer => "tests taken out",
            Self::Skipped => "tests skipped",
            Self::Configured => "configuration changed",
            Self::Changed => "changed",
        }
    }
}

/// Parts as people are told them: `a.py, b.py put back (a.py: deleted; b.py: changed)`.
pub fn told_put_back(parts: &[ChangedPart]) -> String {
    let names: Vec<&str> = parts.iter().map(|part| part.path.as_str()).collect();
    let words: Vec<String> = match parts {
        [one] => vec![one.change.words().to_owned()],
        many => many.iter().map(|part| format!("{}: {}", part.path, part.change.words())).collect(),
    };
    format!("{} put back ({})", names.join(", "), words.join("; "))
}

/// The parts of a proof that were there before the task, that it does not name, and that attempts at it changed. What a
/// command compares with may well be the work where a task does not say what that is.
pub fn suspects(touched: &[TouchedFile], has_files: bool) -> Vec<ChangedPart> {
    let suspect = |file: &TouchedFile| {
        let part = file.part.filter(|part| !file.is_named && (has_files || *part != Part::Wanted))?;
        let before = file.before.as_ref().filter(|before| file.after.as_ref() != Some(before))?;
        let change = PartChange::of(part, before, file.after.as_deref());
        Some(ChangedPart { path: file.path.clone(), change })
    };
    touched.iter().filter_map(suspect).collect()
}

/// New tests, and the sources without which they have to be red; none where a task changed only one of both, or where the
/// tests run what a build made of the sources.
pub fn new_tests(touched: &[TouchedFile]) -> Option<(Vec<String>, Vec<String>)> {
    let is_new = |file: &&TouchedFile| {
        let count = |text: &Option<String>| text.as_deref().map_or(0, tests);
        file.part == Some(Part::Test) && count(&file.after) > count(&file.before)
    };
    let new: Vec<&TouchedFile> = touched.iter().filter(is_new).collect();
    let runs_output = |file: &&TouchedFile| {
        file.after.as_ref().is_some_and(|text| OUTPUTS.iter().any(|output| text.contains(output)))
    };
    let sources = touched.iter().filter(|file| file.part.is_none() && is_source(&file.path));
    let sources: Vec<String> = sources.map(|file| file.path.clone()).collect();
    let is_due = !new.is_empty() && !sources.is_empty() && !new.iter().any(runs_output);
    is_due.then(|| (new.iter().map(|file| file.path.clone()).collect(), sources))
}

/// True if a text names a path, or the file by its name alone.
pub fn names(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_gap = |character: char| character.is_whitespace() || "`'\"(),;:<>".contains(character);
    let mut words = text.split(is_gap).map(|word| word.trim_end_matches(['.', '!', '?']));
    words.any(|word| word == path || word == name || word.strip_suffix(path).is_some_and(|rest| rest == "./"))
}

/// True if a task speaks of tests: then it is its business what becomes of them.
pub fn speaks_of_tests(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|character: char| !character.is_alphanumeric());
    words.any(|word| TEST_WORDS.iter().any(|start| word.starts_with(start)))
}

/// True of what changes along with the files that a task names: locks, what is generated, and snapshots beside them.
pub fn is_implied(path: &str, files: &[String]) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_lock =
        name.ends_with(".lock") || name.contains("-lock.") || matches!(name, "go.sum" | "bun.lockb");
    let is_generated =
        [".generated.", ".gen.", "_pb2.", ".pb.", ".g.dart", ".min."].iter().any(|mark| name.contains(mark));
    let is_snapshot =
        name.ends_with(".snap") || path.contains("__snapshots__/") || name.contains(".approved.");
    let plain = |folder: &str| {
        let kept = folder.split('/').filter(|name| !matches!(*name, "__snapshots__" | "__tests__"));
        kept.collect::<Vec<_>>().join("/")
    };
    let is_beside = |file: &String| {
        let file = file.trim_start_matches("./").trim_end_matches('/');
        let (other, name_of) = file.rsplit_once('/').unwrap_or(("", file));
        let stem = name_of.split('.').next().unwrap_or(name_of);
        plain(folder) == plain(other) || (!stem.is_empty() && name.split('.').next() == Some(stem))
    };
    is_lock || is_generated || (is_snapshot && files.iter().any(is_beside))
}

/// The tests that a text opens.
fn tests(text: &str) -> usize {
    text.lines().filter(|line| TESTS.iter().any(|start| line.trim_start().starts_with(start))).count()
}

fn skips(text: &str) -> usize {
    SKIPS.iter().map(|skip| text.matches(skip).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n    def test_b(self):\n        pass\n";
    const NODE: &str = "test('a', () => {});\ntest('b', () => {});\n";

    #[test]
    fn what_became_of_a_part() {
        use PartChange::{Changed, Configured, Deleted, Emptied, Fewer, Skipped};
        let check = |part: Part, before: &str, after: Option<&str>, expected: PartChange| {
            assert_eq!(PartChange::of(part, before, after), expected, "{before:?} to {after:?}");
        };
        let test = |before: &str, from: &str, to: &str, expected: PartChange| {
            check(Part::Test, before, Some(&before.replacen(from, to, 1)), expected);
        };
        check(Part::Test, PYTHON, None, Deleted);
        check(Part::Test, PYTHON, Some(""), Emptied);
        check(Part::Test, NODE, Some("// nothing\n"), Emptied);
        check(Part::Test, "{}", Some("\n"), Emptied);
        test(NODE, "test('b', () => {});", "", Fewer);
        test(NODE, "test('b'", "// test('b'", Fewer);
        test(NODE, "test('b'", "test.skip('b'", Skipped);
        test(NODE, "test('a'", "test.only('a'", Skipped);
        test(NODE, "'b', ", "'b', { todo: true }, ", Skipped);
        test("it('a', () => {});\n", "it(", "xit(", Skipped);
        test(PYTHON, "    def test_b", "    @unittest.skip('x')\n    def test_b", Skipped);
        test(PYTHON, "    def test_b", "    @pytest.mark.xfail\n    def test_b", Skipped);
        test("#[test]\nfn a() {}\n", "#[test]\n", concat!("#[test]\n#[ig", "nore]\n"), Skipped);
        test("func TestA(t *testing.T) {\n}\n", "{\n", "{\n\tt.Skip(\"x\")\n", Skipped);
        test("  @Test\n  void a() {}\n", "@Test", "@Disabled @Test", Emptied);
        test("  it \"adds\" do\n", "it", "xit", Emptied);
        test(NODE, "'a'", "\"a\"", Changed);
        test(NODE, "{}", "{ equal(1, 1); }", Changed);
        check(Part::Configuration, "a", Some("b"), Configured);
        check(Part::Configuration, "a", None, Configured);
        check(Part::Script, "a", Some(""), Changed);
        check(Part::Wanted, "a", None, Changed);
    }

    fn file(path: &str, part: Option<Part>, before: &str, after: &str) -> TouchedFile {
        let there = |text: &str| (text != "-").then(|| text.to_owned());
        TouchedFile {
            path: path.to_owned(),
            part,
            before: there(before),
            after: there(after),
            is_named: false,
        }
    }

    #[test]
    fn what_is_put_back_was_there_and_is_not_named() {
        let named = |file: TouchedFile| TouchedFile { is_named: true, ..file };
        let (test, wanted) = (Some(Part::Test), Some(Part::Wanted));
        let touched = [
            file("bent.py", test, PYTHON, "x"),
            file("new.py", test, "-", PYTHON),
            file("a.py", None, "a", "b"),
            named(file("named.py", test, PYTHON, "-")),
            file("package.json", Some(Part::Configuration), "same", "same"),
            file("expected.txt", wanted, "a", "b"),
        ];
        let paths = |has_files| {
            let parts = suspects(&touched, has_files);
            parts.into_iter().map(|part| part.path).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((&*paths(true), &*paths(false)), ("bent.py expected.txt", "bent.py"));
        let told = told_put_back(&suspects(&touched, true));
        assert_eq!(told, "bent.py, expected.txt put back (bent.py: emptied; expected.txt: changed)");
        assert_eq!(told_put_back(&suspects(&touched, false)), "bent.py put back (emptied)");
    }

    #[test]
    fn new_tests_have_to_be_red_on_old_sources() {
        let test = Some(Part::Test);
        let check = |touched: &[TouchedFile], expected: Option<&str>| {
            let found = new_tests(touched);
            let found =
                found.map(|(tests, sources)| format!("{} without {}", tests.join(" "), sources.join(" ")));
            assert_eq!(found.as_deref(), expected);
        };
        let source = file("a.py", None, "a", "b");
        let added = file("test_a.py", test, "-", PYTHON);
        check(&[source.clone(), added.clone()], Some("test_a.py without a.py"));
        let more = file("test_a.py", test, PYTHON, &format!("{PYTHON}    def test_c(self):\n"));
        check(&[source.clone(), file("new.py", None, "-", "a"), more], Some("test_a.py without a.py new.py"));
        check(std::slice::from_ref(&added), None);
        check(std::slice::from_ref(&source), None);
        check(&[file("README.md", None, "a", "b"), added.clone()], None);
        check(&[source.clone(), file("a.test.js", test, NODE, &NODE.replace('\'', "\""))], None);
        check(
            &[source, added, file("b.test.js", test, "-", "import '../dist/a.js';\ntest('a', f);\n")],
            None,
        );
    }

    #[test]
    fn what_a_task_says() {
        for text in
            ["mend double.test.mjs", "Delete `tests/double.test.mjs`.", "(see ./tests/double.test.mjs)"]
        {
            assert!(names(text, "tests/double.test.mjs"), "{text}");
        }
        for text in ["mend double", "tests", "xdouble.test.mjs", "Double the tests"] {
            assert!(!names(text, "tests/double.test.mjs"), "{text}");
        }
        for text in ["Bring the tests up to date", "Testing phase", "update fixtures", "Snapshots change"] {
            assert!(speaks_of_tests(text), "{text}");
        }
        for text in ["Double numbers", "The latest version", "protest"] {
            assert!(!speaks_of_tests(text), "{text}");
        }
    }

    #[test]
    fn what_comes_along_is_implied() {
        let check = |path: &str, files: &[&str], expected: bool| {
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            assert_eq!(is_implied(path, &files), expected, "{path} beside {files:?}");
        };
        check("package-lock.json", &[], true);
        check("Cargo.lock", &[], true);
        check("tests/api.pb.go", &[], true);
        check("__snapshots__/greet.snap", &["greet.mjs"], true);
        check("src/__tests__/__snapshots__/a.test.ts.snap", &["src/b.ts"], true);
        check("tests/__snapshots__/button.test.tsx.snap", &["src/button.tsx"], true);
        check("tests/__snapshots__/button.test.tsx.snap", &["src/form.tsx"], false);
        check("tests/__snapshots__/button.test.tsx.snap", &[], false);
        check("tests/a.test.ts", &["tests/b.ts"], false);
    }
}

//! The failing items of an output: tests by name, diagnostics by file and message.

use std::collections::BTreeMap;

use plan::ErrorType;
use serde::{Deserialize, Serialize};

/// How many items are kept. What is beyond is counted.
const ITEMS_MAX: usize = 50;

/// Characters of a name.
const NAME_CHARS_MAX: usize = 200;

/// The items that fail in an output, and how many were seen to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    /// The items, in the order of the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// How many more there are, or may be where a part of the output is missing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u32,
    /// The tools that ran to their end, with the number of tests that each of them ran; 0 where it does not count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ran: BTreeMap<Tool, u32>,
}

/// A test that fails, or something that a compiler or a checker complains about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The tool that says so.
    pub tool: Tool,
    /// Where in the course of a command it stands.
    pub stage: ItemStage,
    /// The test; or the file with code and message. Line numbers are no part of it.
    pub name: String,
    /// The line in the file, where one is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In how many places of the file.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u32,
}

/// Where in the course of a command something fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStage {
    /// Compiling, loading, collecting: before any test runs.
    Build,
    /// Linting, formatting, types that nothing is built from: before tests or after them.
    Check,
    /// Running tests.
    Test,
}

/// The tools whose output is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// pytest.
    Pytest,
    /// Python's unittest.
    Unittest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// Mocha.
    Mocha,
    /// `node --test`, and whatever else writes TAP.
    NodeTest,
    /// `cargo test`.
    CargoTest,
    /// rustc, by itself or through cargo.
    Rustc,
    /// rustfmt.
    Rustfmt,
    /// `go test`.
    GoTest,
    /// `go build` and `go vet`.
    Go,
    /// The TypeScript compiler.
    Tsc,
    /// ESLint.
    Eslint,
    /// Ruff, and whatever else writes as it does.
    Ruff,
    /// mypy.
    Mypy,
    /// JUnit through Maven.
    Maven,
    /// JUnit through Gradle.
    Gradle,
    /// The Java compiler.
    Javac,
    /// RSpec.
    Rspec,
    /// PHPUnit.
    Phpunit,
    /// PHP itself.
    Php,
    /// gcc, clang and their linkers.
    Cc,
    /// npm itself.
    Npm,
    /// make itself.
    Make,
    /// The shell.
    Shell,
}

impl Item {
    /// The file that its name tells: of unittest, the module of the test's class, without its ending.
    fn file(&self) -> Option<String> {
        if self.tool == Tool::Unittest && self.stage == ItemStage::Test {
            let (class, _) = self.name.rsplit_once('.')?;
            return class.rsplit_once('.').map(|(module, _)| module.replace('.', "/"));
        }
        file_of(&self.name).map(str::to_owned)
    }
}

impl ItemStage {
    /// True if what fails at this stage keeps the other one from being reached.
    pub fn precedes(self, other: Self) -> bool {
        self == Self::Build && other == Self::Test
    }
}

impl Tool {
    /// True if it runs tests and tells how many.
    fn runs_tests(self) -> bool {
        match self {
            Self::Pytest
            | Self::Unittest
            | Self::Jest
            | Self::Vitest
            | Self::Mocha
            | Self::NodeTest
            | Self::CargoTest
            | Self::GoTest
            | Self::Maven
            | Self::Gradle
            | Self::Rspec
            | Self::Phpunit => true,
            Self::Rustc
            | Self::Rustfmt
            | Self::Go
            | Self::Tsc
            | Self::Eslint
            | Self::Ruff
            | Self::Mypy
            | Self::Javac
            | Self::Php
            | Self::Cc
            | Self::Npm
            | Self::Make
            | Self::Shell => false,
        }
    }
}

impl Failing {
    /// True if nothing is known to fail.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// True if nothing at all is known of the output.
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// True if runners of tests came to their end, and not one test ran in them.
    pub fn ran_no_test(&self) -> bool {
        let mut counts = self.ran.iter().filter(|(tool, _)| tool.runs_tests()).map(|(_, tests)| tests);
        counts.clone().next().is_some() && counts.all(|tests| *tests == 0)
    }

    /// The files of all items; none unless each of them tells its own.
    pub(crate) fn files(&self) -> Option<Vec<String>> {
        let files: Option<Vec<String>> = self.items.iter().map(Item::file).collect();
        files.filter(|files| !files.is_empty() && self.unlisted == 0)
    }

    /// The kind of error that the first item is.
    pub(crate) fn error_type(&self) -> Option<ErrorType> {
        let item = self.items.first()?;
        Some(match (item.tool, item.stage) {
            (Tool::Eslint | Tool::Ruff | Tool::Rustfmt, _) => ErrorType::Lint,
            (Tool::Tsc | Tool::Mypy, _) => ErrorType::Type,
            (_, ItemStage::Test) => ErrorType::Test,
            (_, ItemStage::Build | ItemStage::Check) => ErrorType::Build,
        })
    }

    /// The item of that name.
    pub(crate) fn item(&self, tool: Tool, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.tool == tool && item.name == name)
    }

    /// Adds an item, or a place to one that is there.
    pub(super) fn add(&mut self, item: Item) {
        let item = Item { name: settled(&item.name), ..item };
        let place = self.items.iter().position(|known| known.tool == item.tool && known.name == item.name);
        match place {
            Some(place) => self.items[place].count = self.items[place].count.saturating_add(item.count),
            None if self.items.len() < ITEMS_MAX => self.items.push(item),
            None => self.unlisted = self.unlisted.saturating_add(1),
        }
    }
}

/// The file at the beginning of an item's name, as in `a.py: F401`, `tests/test_a.py::test_b` and `a.test.ts › adds`.
fn file_of(name: &str) -> Option<&str> {
    let end = name.find([' ', ':'])?;
    let (file, rest) = name.split_at(end);
    let ending = file.rsplit_once('.')?.1;
    let is_ending =
        (1..=5).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
    (is_ending && (file.contains('/') || rest.starts_with(':') || rest.starts_with(" ›"))).then_some(file)
}

/// A name in one bounded line, without the addresses that differ from run to run.
fn settled(name: &str) -> String {
    let mut kept = String::new();
    for word in name.split_whitespace() {
        if !kept.is_empty() {
            kept.push(' ');
        }
        let mut parts = word.split("0x");
        kept.push_str(parts.next().unwrap_or_default());
        for part in parts {
            kept.push_str("0x");
            kept.push_str(part.trim_start_matches(|character: char| character.is_ascii_hexdigit()));
        }
    }
    kept.chars().take(NAME_CHARS_MAX).collect()
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

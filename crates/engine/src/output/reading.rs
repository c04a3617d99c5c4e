//! The reading of an output.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::excerpt::excerpt;
use super::failing::{Failing, Item, ItemStage, Tool};
use super::general::telling_line;
use super::text::{is_omission, lines, plain};
use super::tools;

/// How many findings are looked at closely. What is beyond is counted.
const FINDINGS_MAX: usize = 500;

/// Characters of an error line.
const ERROR_CHARS_MAX: usize = 300;

/// The message of a red command's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The line that a person would point at; none where nothing is told.
    pub error: Option<String>,
    /// The items that fail.
    pub failing: Failing,
    /// The part that is worth showing.
    pub excerpt: String,
}

impl Reading {
    /// Reads an output of a command that ran below `root`, which goes from the paths in it. The excerpt has at most so
    /// many characters.
    pub fn of(output: &str, root: &str, excerpt_chars_max: usize) -> Self {
        let text = plain(output, root);
        let lines = lines(&text);
        let mut found = Found::default();
        tools::read(&text, &lines, &mut found);
        let told = found.error().filter(|line| !line.trim().is_empty());
        let error = told.or_else(|| telling_line(&lines)).map(|line| one_line(&line));
        let blocks: Vec<Range<usize>> = found.findings.iter().map(|finding| finding.lines.clone()).collect();
        let excerpt = excerpt(&lines, &blocks, excerpt_chars_max);
        let is_cut = lines.iter().any(|line| is_omission(line));
        Self { error, failing: found.failing(is_cut), excerpt }
    }
}

fn one_line(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").chars().take(ERROR_CHARS_MAX).collect()
}

/// The findings of readers of single tools.
#[derive(Default)]
pub(super) struct Found {
    /// In the order of the output.
    pub findings: Vec<Finding>,
    pub ran: BTreeMap<Tool, u32>,
    /// The tests by name, and the diagnostics as they are told.
    known: BTreeSet<(Tool, String)>,
    unlisted: u32,
}

/// Something that fails, and where the output says so.
pub(super) struct Finding {
    pub item: Item,
    /// The line that a person would point at.
    pub error: String,
    pub lines: Range<usize>,
}

impl Found {
    /// Adds a test that fails.
    pub(super) fn test(&mut self, tool: Tool, name: &str, reason: &str, lines: Range<usize>) {
        self.named((tool, ItemStage::Test), name, reason, lines);
    }

    /// Adds something that kept tests from running.
    pub(super) fn unloaded(&mut self, tool: Tool, name: &str, reason: &str, lines: Range<usize>) {
        self.named((tool, ItemStage::Build), name, reason, lines);
    }

    /// Adds something that is told in a line and kept tests from running.
    pub(super) fn told(&mut self, tool: Tool, line: &str, lines: Range<usize>) {
        let item = Item { tool, stage: ItemStage::Build, name: line.to_owned(), line: None, count: 1 };
        self.diagnostic(Finding { item, error: line.to_owned(), lines });
    }

    /// Adds something that has a name of its own; what is told twice is there once.
    fn named(&mut self, (tool, stage): (Tool, ItemStage), name: &str, reason: &str, lines: Range<usize>) {
        let name = name.trim();
        if self.is_full() || name.is_empty() || !self.known.insert((tool, name.to_owned())) {
            return;
        }
        let error = if reason.is_empty() { format!("{name} failed") } else { format!("{name} - {reason}") };
        let item = Item { tool, stage, name: name.to_owned(), line: None, count: 1 };
        self.findings.push(Finding { item, error, lines });
    }

    /// Adds a diagnostic, unless the same was told of the same place.
    pub(super) fn diagnostic(&mut self, finding: Finding) {
        if !self.is_full() && self.known.insert((finding.item.tool, finding.error.clone())) {
            self.findings.push(finding);
        }
    }

    /// True if there is no room for one more, which is then counted.
    fn is_full(&mut self) -> bool {
        let is_full = self.findings.len() >= FINDINGS_MAX;
        self.unlisted = self.unlisted.saturating_add(u32::from(is_full));
        is_full
    }

    /// Takes in what was found of other tools, but for what stands in these lines.
    pub(super) fn take_in(&mut self, other: Self, is_shown: &[bool]) {
        self.findings.extend(other.findings.into_iter().filter(|finding| !is_shown[finding.lines.start]));
        self.unlisted = self.unlisted.saturating_add(other.unlisted);
        for (tool, tests) in other.ran {
            self.ran(tool, tests);
        }
    }

    /// Notes that a tool ran to its end, and how many tests it ran.
    pub(super) fn ran(&mut self, tool: Tool, tests: u32) {
        let sum = self.ran.entry(tool).or_default();
        *sum = sum.saturating_add(tests);
    }

    /// True if one of the tools has something that fails.
    pub(super) fn has(&self, tool: Tool) -> bool {
        self.findings.iter().any(|finding| finding.item.tool == tool)
    }

    /// The error of the tool that fails first: what kept its tests from running, else its first one.
    fn error(&self) -> Option<String> {
        let first = self.findings.iter().min_by_key(|finding| finding.lines.start)?;
        let is_build = |finding: &&Finding| {
            finding.item.stage == ItemStage::Build && family(finding.item.tool) == family(first.item.tool)
        };
        let build = self.findings.iter().filter(is_build).min_by_key(|finding| finding.lines.start);
        Some(build.unwrap_or(first).error.clone())
    }

    fn failing(mut self, is_cut: bool) -> Failing {
        self.unlisted = self.unlisted.saturating_add(u32::from(is_cut));
        self.findings.sort_by_key(|finding| finding.lines.start);
        let mut failing = Failing { unlisted: self.unlisted, ran: self.ran, ..Failing::default() };
        for finding in self.findings {
            failing.add(finding.item);
        }
        failing
    }
}

/// The tool whose compiler it is.
fn family(tool: Tool) -> Tool {
    match tool {
        Tool::Go => Tool::GoTest,
        Tool::Rustc => Tool::CargoTest,
        Tool::Php => Tool::Phpunit,
        Tool::Pytest
        | Tool::Unittest
        | Tool::Jest
        | Tool::Vitest
        | Tool::Mocha
        | Tool::NodeTest
        | Tool::CargoTest
        | Tool::Rustfmt
        | Tool::GoTest
        | Tool::Tsc
        | Tool::Eslint
        | Tool::Ruff
        | Tool::Mypy
        | Tool::Maven
        | Tool::Gradle
        | Tool::Javac
        | Tool::Rspec
        | Tool::Phpunit
        | Tool::Cc
        | Tool::Npm
        | Tool::Make
        | Tool::Shell => tool,
    }
}

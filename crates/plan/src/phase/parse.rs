//! From text to a plan: front matter, tasks, and what is wrong with them.

use std::path::Path;

use super::checkpoint::{self, Choice};
use super::front_matter::{self, FrontMatter};
use super::id::{self, PhaseNumber};
use super::opaque::Opaque;
use super::task_block::Block;
use super::task_block::{TaskBlock, task_blocks};
use super::task_type::TaskType;
use crate::TaskId;
use crate::format::{Format, Reading};
use crate::problem::Problem;
use crate::spec::{BoxState, Form, Markers, Plan, Task};

/// Which kind of file a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// `tasks.md`.
    Spec,
    /// `*-PLAN.md`.
    Phase,
}

/// The parts of a plan of this dialect besides its tasks.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    front_matter: Option<FrontMatter>,
    id: String,
}

impl Plan {
    /// Reads a `*-PLAN.md`. What cannot be understood becomes a problem, never an error.
    ///
    /// `hint` is the file's name, with its folder's name before it: `03-parser/03-01-PLAN.md`. It says which
    /// plan this is where the front matter does not.
    #[must_use]
    pub fn parse_phase(text: String, hint: &str) -> Plan {
        let (front_matter, start, problems) = front_matter::read(&text);
        let id = id::plan_id(front_matter.as_ref(), hint);
        let mut build = Build { text: &text, id: &id, lines: LineCount::default(), tasks: vec![], problems };
        build.read(start);
        let Build { tasks, problems, .. } = build;
        Plan::of_blocks(text, tasks, problems, Head { front_matter, id })
    }

    /// Reads a plan of any kind. The names of the file and its folder tell which plan it is where its text
    /// does not.
    #[must_use]
    pub fn parse_as(reading: Reading, text: String, path: &Path) -> Plan {
        match reading.format {
            Format::Spec | Format::SpecKit | Format::OpenSpec | Format::Kiro | Format::Imported => {
                Plan::read(reading, text)
            }
            Format::Phase => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
                Plan::parse_phase(text, &format!("{folder}/{name}"))
            }
        }
    }

    /// Which kind of file it is.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        if self.head().is_some() { Dialect::Phase } else { Dialect::Spec }
    }

    /// The front matter of a `*-PLAN.md`.
    #[must_use]
    pub fn front_matter(&self) -> Option<&FrontMatter> {
        self.head()?.front_matter.as_ref()
    }

    /// The id of a `*-PLAN.md`, `{phase}-{plan}`.
    #[must_use]
    pub fn plan_id(&self) -> Option<&str> {
        self.head().map(|head| head.id.as_str())
    }

    /// The number of the phase that a `*-PLAN.md` is in, if its phase has one.
    #[must_use]
    pub fn phase_number(&self) -> Option<PhaseNumber> {
        PhaseNumber::of_plan(self.plan_id()?)
    }

    /// True if a `*-PLAN.md` names another one as coming before it.
    #[must_use]
    pub fn needs_plan(&self, other: &Plan) -> bool {
        let (Some(own), Some(other)) = (self.plan_id(), other.plan_id()) else { return false };
        let named = self.front_matter().map(|front| front.dependencies(own)).unwrap_or_default();
        own != other && named.iter().any(|name| id::is_same_plan(name, other))
    }

    /// The task that a person means: its id, or in a `*-PLAN.md` also `03-01-task-3` and `03-01-03`.
    #[must_use]
    pub fn find(&self, spelled: &str) -> Option<&Task> {
        let spelled = spelled.trim();
        self.task(&TaskId::from(spelled)).or_else(|| {
            let number = id::task_number(self.plan_id()?, spelled)?;
            self.tasks().get(number.checked_sub(1)?)
        })
    }

    /// A task's title without the `Task 1: ` before it.
    #[must_use]
    pub fn short_title(&self, task: &Task) -> &str {
        without_number(self.title(task))
    }

    /// The question of a checkpoint, to be read by a person: what it is about, the options, how to answer.
    #[must_use]
    pub fn question(&self, task: &Task) -> String {
        checkpoint::question(self.block(task), task.type_)
    }

    /// The options of a decision; none if it names none.
    #[must_use]
    pub fn choices(&self, task: &Task) -> Vec<Choice> {
        match self.dialect() {
            Dialect::Spec => Vec::new(),
            Dialect::Phase => checkpoint::choices(self.block(task)),
        }
    }
}

/// A title without the `Task 1: ` before it.
#[must_use]
pub fn without_number(title: &str) -> &str {
    let bare = || {
        let rest = title.get(..5).filter(|word| word.eq_ignore_ascii_case("task ")).map(|_| &title[5..])?;
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let numbered = after.len() < rest.len();
        let after = after.trim_start();
        let rest = after.strip_prefix([':', '-', '–', '—', '.']).filter(|_| numbered)?.trim_start();
        (!rest.is_empty()).then_some(rest)
    };
    bare().unwrap_or(title)
}

/// Counts lines while going forward through a text.
#[derive(Default)]
struct LineCount {
    at: usize,
    before: usize,
}

impl LineCount {
    /// The line that `at` is on, counted from one. Places are asked about in order.
    fn line(&mut self, text: &str, at: usize) -> usize {
        let at = at.max(self.at);
        self.before += text.as_bytes()[self.at..at].iter().filter(|&&byte| byte == b'\n').count();
        self.at = at;
        self.before + 1
    }
}

struct Build<'a> {
    text: &'a str,
    id: &'a str,
    lines: LineCount,
    tasks: Vec<Task>,
    problems: Vec<Problem>,
}

impl Build<'_> {
    fn read(&mut self, start: usize) {
        let text = self.text;
        let opaque = Opaque::of(text);
        let blocks = task_blocks(text, start, &opaque);
        for (at, block) in blocks.tasks.iter().enumerate() {
            self.task(at + 1, block);
        }
        let mut lines = LineCount::default();
        for stray in &blocks.stray {
            let problem = Problem::warning(lines.line(text, stray.start), "`</task>` closes nothing");
            self.problems.push(problem);
        }
        if self.tasks.is_empty() {
            let problem = Problem::error(1, "no tasks found");
            self.problems.push(problem.hint("write tasks as `<task type=\"auto\">` … `</task>`"));
        }
        self.problems.sort_by_key(|problem| problem.line);
    }

    fn task(&mut self, number: usize, found: &TaskBlock) {
        let line = self.lines.line(self.text, found.outer.start);
        let id = TaskId::new(&format!("{}:task-{number}", self.id));
        let block = Block::read(&self.text[found.outer.clone()]);
        if !found.closed {
            let problem = Problem::error(line, format!("task {id} is never closed")).of(&id);
            self.problems.push(problem.hint("add `</task>` where it ends"));
        }
        let type_ = self.type_of(line, &id, &block);
        let at = found.outer.start;
        let title = block.title().map(|range| at + range.start..at + range.end);
        if title.is_none() {
            let problem = Problem::warning(line, format!("task {id} has no name")).of(&id);
            self.problems.push(problem.hint("add a `<name>` to it"));
        }
        self.flaws(line, &id, &block);
        self.tasks.push(Task {
            id,
            state: BoxState::Open,
            markers: Markers::default(),
            phase: None,
            line,
            type_,
            form: Form::Element,
            block: found.outer.clone(),
            title: title.unwrap_or(at..at),
            group: None,
        });
    }

    fn type_of(&mut self, line: usize, id: &TaskId, block: &Block<'_>) -> TaskType {
        let written = block.attribute("type").map_or("", |range| &block.text[range]);
        TaskType::of(written).unwrap_or_else(|nearest| {
            let treated = if nearest.is_checkpoint() { "asks a person" } else { "is treated as `auto`" };
            let message =
                format!("task {id} has the unknown type `{}` and {treated}", written.escape_debug());
            self.problems.push(Problem::warning(line, message).of(id));
            nearest
        })
    }

    /// Reports the problems inside a block that begins on `line`.
    fn flaws(&mut self, line: usize, id: &TaskId, block: &Block<'_>) {
        let mut lines = LineCount::default();
        let mut flaws: Vec<(usize, String)> = Vec::new();
        for element in block.content.elements.iter().filter(|element| !element.closed) {
            flaws.push((element.outer.start, format!("`<{}>` of {id} is never closed", element.name())));
        }
        for tag in &block.content.stray {
            flaws.push((tag.range.start, format!("`</{}>` in {id} closes nothing", tag.name)));
        }
        flaws.sort();
        for (at, message) in flaws {
            let line = line + lines.line(block.text, at) - 1;
            self.problems.push(Problem::warning(line, message).of(id));
        }
        for &fence in &block.opaque.unclosed_fences {
            let message = format!("a code fence in {id} is never closed and is read as text");
            self.problems.push(Problem::warning(line + fence, message).of(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_without_numbers() {
        for (title, short) in [
            ("Task 1: a", "a"),
            ("task 12 — b c", "b c"),
            ("Task 1.2: a", "a"),
            ("Task: a", "Task: a"),
            ("Task 3", "Task 3"),
            ("Task 3:", "Task 3:"),
            ("Tasks 3: a", "Tasks 3: a"),
            ("a", "a"),
            ("tüsk 1: a", "tüsk 1: a"),
        ] {
            assert_eq!(without_number(title), short);
        }
    }
}

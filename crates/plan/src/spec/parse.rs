//! From text to tasks: which lines begin a task, how far it goes, and what is wrong.

mod foreign;
mod id_token;
mod mark;
mod role;
mod task_line;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(super) use self::foreign::parse_foreign;
use self::id_token::Ids;
use self::mark::{Mark, MarkKind, find_marks};
use self::role::{NotATask, Role, Roles, find_roles, find_strays};
use self::task_line::{Checkbox, Flaw, Head, Header, box_at, checkbox, says_done};
use super::boxes::OtherBox;
use super::phase::{Phase, PhaseIndex, makes_phase};
use super::task::{BoxState, Form, HeaderBox, Task};
use crate::TaskId;
use crate::format::Format;
use crate::markdown::{Line, LineKind, Regions, indent_of, regions};
use crate::phase::TaskType;
use crate::problem::Problem;
use crate::suggest::nearest;

/// Everything that a text was read as.
pub(super) struct Parsed {
    pub(super) tasks: Vec<Task>,
    pub(super) phases: Vec<Phase>,
    pub(super) problems: Vec<Problem>,
    /// Warnings about unticked boxes that stand among the tasks and are none.
    pub(super) strays: Vec<Problem>,
    /// Warnings about all other boxes that are neither tasks nor part of one.
    pub(super) asides: Vec<Problem>,
    /// Boxes that are no tasks and have a use all the same.
    pub(super) boxes: Vec<OtherBox>,
    /// Positions in `tasks`, ordered by id.
    pub(super) index: Vec<u32>,
}

/// Reads a text with fields. Every step goes over the lines once.
pub(super) fn parse(text: &str, format: Format) -> Parsed {
    let ids = if format == Format::Imported { Ids::FirstWord } else { Ids::ByLook };
    let regions = regions(text);
    let mut problems = unclosed_fences(&regions);
    let mut marks = find_marks(text, &regions, ids, &mut problems);
    let roles = find_roles(text, &regions, &mut marks);
    let strays = find_strays(text, &regions, &marks, &roles.of);
    let tasks = Vec::with_capacity(roles.of.iter().filter(|&&role| role == Role::Task).count());
    let mut build = Build { text, regions: &regions, tasks, phases: Vec::new(), problems, phase: None };
    let told = build.strays(&marks, &strays);
    let mut passed: BTreeSet<usize> = told.iter().map(|problem| problem.line - 1).collect();
    passed.extend(listed_lines(&marks, &roles.of));
    build.walk(marks, &roles, &strays);
    let asides = build.asides(&passed);
    Parsed { strays: told, asides, ..build.finish() }
}

fn unclosed_fences(regions: &Regions) -> Vec<Problem> {
    let problem = |at: &usize| Problem::warning(at + 1, "code fence is never closed and is read as text");
    let hint = "add a line with the same fence where the code ends";
    regions.unclosed_fences.iter().map(|at| problem(at).hint(hint)).collect()
}

/// The lines of checklists that name tasks.
fn listed_lines(marks: &[Mark], roles: &[Role]) -> Vec<usize> {
    let listed = marks.iter().zip(roles).filter(|(_, role)| **role == Role::Listed);
    listed.map(|(mark, _)| mark.line).collect()
}

struct Build<'a> {
    text: &'a str,
    regions: &'a Regions,
    tasks: Vec<Task>,
    phases: Vec<Phase>,
    problems: Vec<Problem>,
    phase: Option<PhaseIndex>,
}

impl Build<'_> {
    /// Warnings about unticked boxes that are no tasks and stand where tasks do.
    fn strays(&self, marks: &[Mark], strays: &[Option<NotATask>]) -> Vec<Problem> {
        let told = marks.iter().zip(strays).filter_map(|(mark, stray)| match &mark.kind {
            MarkKind::Box(found) | MarkKind::Shifted(found) if !found.state.is_done() => {
                Some(stray.as_ref()?.problem(self.text, mark.line + 1, found))
            }
            MarkKind::Box(_) | MarkKind::Shifted(_) | MarkKind::Heading { .. } => None,
        });
        told.collect()
    }

    /// Warnings about boxes outside the tasks, except for those in lines that were `passed` already.
    fn asides(&self, passed: &BTreeSet<usize>) -> Vec<Problem> {
        let mut blocks = self.tasks.iter().map(|task| &task.block).peekable();
        let mut asides = Vec::new();
        for (at, line) in self.regions.lines.iter().enumerate() {
            while blocks.next_if(|block| block.end <= line.start && block.end < line.end).is_some() {}
            let is_inside = blocks.peek().is_some_and(|block| block.start <= line.start);
            if is_inside || self.regions.kinds[at] != LineKind::Text || passed.contains(&at) {
                continue;
            }
            let indent = indent_of(line.of(self.text));
            let quoted = line.of(self.text)[indent..].bytes().take_while(|byte| b"> ".contains(byte)).count();
            let start = line.start + indent + quoted;
            let Some(found) = checkbox(self.text, Line { start, ..*line }) else { continue };
            let is_box = match found.state {
                BoxState::Open | BoxState::Done => true,
                BoxState::Other(mark) => !mark.is_alphanumeric(),
            };
            asides.extend(is_box.then(|| NotATask::Nested.problem(self.text, at + 1, &found)));
        }
        asides
    }

    fn walk(&mut self, marks: Vec<Mark>, roles: &Roles, strays: &[Option<NotATask>]) {
        let ends = block_ends(&marks, &roles.of, strays, self.regions.lines.len());
        let ticks: BTreeMap<usize, (BoxState, Range<usize>)> = roles
            .ticks
            .iter()
            .filter_map(|(header, tick)| match &marks[*tick].kind {
                MarkKind::Box(found) => Some((*header, (found.state, found.mark.clone()))),
                MarkKind::Shifted(_) | MarkKind::Heading { .. } => None,
            })
            .collect();
        let mut unnamed = 0;
        for (at, mark) in marks.into_iter().enumerate() {
            match mark.kind {
                MarkKind::Heading { header: Some(found), .. } => {
                    self.header(mark.line..ends[at], found, ticks.get(&at).cloned());
                }
                MarkKind::Heading { level, header: None } => self.heading(mark.line, level),
                MarkKind::Box(found) if roles.of[at] == Role::Task => {
                    self.checkbox(mark.line..ends[at], found, &mut unnamed)
                }
                MarkKind::Box(_) | MarkKind::Shifted(_) => {}
            }
        }
    }

    fn line(&self, at: usize) -> Line {
        self.regions.lines[at]
    }

    fn heading(&mut self, at: usize, level: usize) {
        let title = self.line(at).of(self.text).trim().trim_matches('#').trim();
        if makes_phase(level, title) {
            self.phase = u32::try_from(self.phases.len()).ok().map(PhaseIndex);
            self.phases.push(Phase { title: title.to_owned(), line: at + 1, checks: Vec::new() });
        }
    }

    fn header(&mut self, lines: Range<usize>, found: Header, listed: Option<(BoxState, Range<usize>)>) {
        let Header { mut state, mut mark, head } = found;
        if let HeaderBox::Missing(_) = mark
            && let Some((said, place)) = header_state(self.text, self.regions, lines.clone(), listed)
        {
            state = said;
            mark = place.unwrap_or(mark);
        }
        let name = head.id.clone().map_or("", |id| &self.text[id]);
        self.task(lines, TaskId::new(name), (Form::Header(mark), state), head);
    }

    fn checkbox(&mut self, lines: Range<usize>, found: Checkbox, unnamed: &mut u32) {
        let id = match &found.head.id {
            Some(id) => TaskId::new(&self.text[id.clone()]),
            None => {
                *unnamed += 1;
                TaskId::new(&format!("#{unnamed}"))
            }
        };
        if let Some(flaw) = found.flaw {
            self.flaw(lines.start, id.name(), flaw);
        }
        self.task(lines, id, (Form::Checkbox(found.mark), found.state), found.head);
    }

    fn flaw(&mut self, at: usize, name: &str, flaw: Flaw) {
        let where_ = match flaw {
            Flaw::NoSpaceBeforeBox => "before",
            Flaw::NoSpaceAfterBox => "after",
        };
        let message = format!("no space {where_} the box of {name}, so other tools do not see the task");
        self.problems
            .push(Problem::warning(at + 1, message).hint(format!("write `- [ ] {name}` or `- [x] {name}`")));
    }

    fn task(&mut self, lines: Range<usize>, id: TaskId, (form, state): (Form, BoxState), head: Head) {
        let start = self.line(lines.start).start;
        let end = self.last_content(lines.clone());
        self.tasks.push(Task {
            id,
            state,
            markers: head.markers,
            phase: self.phase,
            line: lines.start + 1,
            type_: TaskType::Auto,
            form,
            block: start..end,
            title: head.title,
            group: None,
        });
    }

    /// The end of the last line that is neither blank nor a rule.
    fn last_content(&self, lines: Range<usize>) -> usize {
        let filler = |at: &usize| {
            let line = self.line(*at).of(self.text).trim();
            self.regions.kinds[*at] == LineKind::Text && matches!(line, "" | "---" | "***" | "___")
        };
        let last = lines.clone().rev().find(|at| *at == lines.start || !filler(at)).unwrap_or(lines.start);
        self.line(last).end
    }

    fn finish(mut self) -> Parsed {
        let index = self.by_id();
        self.number_duplicates(&index);
        self.odd_boxes();
        self.unknown_targets(&index);
        if self.tasks.is_empty() {
            let problem = Problem::error(1, "no tasks found");
            self.problems.push(problem.hint("write tasks as `- [ ] 1.1 Title`"));
        }
        self.problems.sort_by_key(|problem| problem.line);
        let Build { tasks, phases, problems, .. } = self;
        Parsed { tasks, phases, problems, strays: Vec::new(), asides: Vec::new(), boxes: Vec::new(), index }
    }

    /// The positions of the tasks in the order of their ids; those with one name stay in order.
    fn by_id(&self) -> Vec<u32> {
        let mut index: Vec<u32> = (0..).take(self.tasks.len()).collect();
        // Plans are mostly in that order already, which a stable sort makes use of.
        index.sort_by(|&left, &right| self.tasks[left as usize].id.cmp(&self.tasks[right as usize].id));
        index
    }

    /// Tells tasks with one name apart.
    fn number_duplicates(&mut self, index: &[u32]) {
        let tasks = &mut self.tasks;
        let mut first = 0;
        for (at, &position) in index.iter().enumerate() {
            let position = position as usize;
            if tasks[position].id != tasks[index[first] as usize].id {
                first = at;
            }
            let Some(repeats) = u32::try_from(at - first).ok().filter(|&repeats| repeats > 0) else {
                continue;
            };
            let first_line = tasks[index[first] as usize].line;
            let task = &mut tasks[position];
            task.id = TaskId::with_occurrence(task.id.name(), repeats + 1);
            let (id, name) = (&task.id, task.id.name());
            let message = format!("duplicate id {name}, first used in line {first_line}; this one is {id}");
            let problem = Problem::warning(task.line, message).of(id);
            self.problems.push(problem.hint("give each task an id of its own"));
        }
    }

    fn odd_boxes(&mut self) {
        for task in &self.tasks {
            if let BoxState::Other(mark) = task.state {
                let message =
                    format!("the box `[{}]` of {} counts as unfinished", mark.escape_debug(), task.id);
                self.problems.push(Problem::warning(task.line, message).of(&task.id));
            }
        }
    }

    fn unknown_targets(&mut self, index: &[u32]) {
        let name = |position: &u32| self.tasks[*position as usize].id.name();
        let known = |target: &str| index.binary_search_by(|position| name(position).cmp(target)).is_ok();
        for task in &self.tasks {
            if let Some(target) = task.markers.fix_of.as_deref().filter(|target| !known(target)) {
                let message =
                    format!("{} is marked as a fix of {target}, which is not in this plan", task.id);
                let problem = Problem::warning(task.line, message).of(&task.id);
                let others = self.tasks.iter().filter(|other| other.id != task.id);
                let near = nearest(target, others.map(|other| other.id.name()));
                self.problems.push(match near {
                    Some(near) => problem.hint(format!("did you mean `{near}`?")),
                    None => problem,
                });
            }
        }
    }
}

/// For each mark, the line before which the block ends that it begins.
fn block_ends(marks: &[Mark], roles: &[Role], strays: &[Option<NotATask>], lines: usize) -> Vec<usize> {
    let mut ends = vec![lines; marks.len()];
    // The nearest line below that ends a block: a task, a box that should be one, or a heading of at most the given level.
    let mut task_below = lines;
    let mut heading_below = [lines; 7];
    for (at, mark) in marks.iter().enumerate().rev() {
        let level = match &mark.kind {
            MarkKind::Heading { level, header: Some(_) } => *level,
            MarkKind::Heading { header: None, .. } | MarkKind::Box(_) | MarkKind::Shifted(_) => 6,
        };
        ends[at] = task_below.min(heading_below[level]);
        if matches!(roles[at], Role::Task | Role::Listed) || strays[at].is_some() {
            task_below = mark.line;
        }
        if let MarkKind::Heading { level, .. } = &mark.kind {
            heading_below[*level..].fill(mark.line);
        }
    }
    ends
}

/// The state of a task whose heading has no box, and where its tick is. `lines` are those of its block, `listed` is
/// its line in a checklist.
fn header_state(
    text: &str,
    regions: &Regions,
    lines: Range<usize>,
    listed: Option<(BoxState, Range<usize>)>,
) -> Option<(BoxState, Option<HeaderBox>)> {
    let below = (lines.start + 1..lines.end).filter(|at| regions.kinds[*at] == LineKind::Text);
    let below: Vec<Line> = below.map(|at| unindented(text, regions.lines[at])).collect();
    let status = below.iter().find_map(|line| status(text, *line));
    if let Some(at) = &status
        && let Some((mark, range)) = box_at(text, at.start, at.end)
    {
        return Some((BoxState::of(mark), Some(HeaderBox::Box(range))));
    }
    if let Some((state, mark)) = listed {
        return Some((state, Some(HeaderBox::Box(mark))));
    }
    let is_said = status.is_some_and(|at| is_done(&text[at]));
    let mut criteria = below.iter().filter_map(|line| checkbox(text, *line)).peekable();
    let are_met = criteria.peek().is_some() && criteria.all(|found| found.state.is_done());
    (is_said || are_met).then_some((BoxState::Done, None))
}

fn unindented(text: &str, line: Line) -> Line {
    Line { start: line.start + indent_of(line.of(text)), ..line }
}

/// Where the text of a Status field is, if the line is one.
fn status(text: &str, line: Line) -> Option<Range<usize>> {
    let content = line.of(text);
    let body = content.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).unwrap_or(content);
    let body = body.trim_start();
    let names = ["**Status**:", "**Status:**", "Status:"];
    let rest = names.iter().find_map(|name| {
        let head = body.get(..name.len()).filter(|head| head.eq_ignore_ascii_case(name))?;
        Some(&body[head.len()..])
    })?;
    let rest = rest.trim_start();
    Some(line.end - rest.len()..line.end)
}

/// True if a Status begins with a word or a mark for what is done.
fn is_done(status: &str) -> bool {
    let bare = status.trim_start_matches(['*', '`', '_']);
    let word: String = bare.chars().take_while(|c| c.is_alphabetic()).collect();
    bare.starts_with(['✓', '✔', '✅']) || says_done(&word)
}

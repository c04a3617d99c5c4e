//! From text to tasks: which lines begin a task, how far it goes, and what is wrong.

use std::ops::Range;

use super::fields::{FieldName, raw_fields};
use super::phase::{Phase, PhaseIndex, makes_phase};
use super::stray::Stray;
use super::task::{BoxState, Form, Task};
use super::task_line::{Checkbox, Flaw, Head, Header, checkbox, header, malformed_box};
use crate::TaskId;
use crate::markdown::{Line, LineKind, Regions, heading_level, regions};
use crate::phase::TaskType;
use crate::problem::Problem;

/// What a text says.
pub(super) struct Parsed {
    pub(super) tasks: Vec<Task>,
    pub(super) phases: Vec<Phase>,
    pub(super) problems: Vec<Problem>,
    /// What is said of boxes that stand among the tasks and are none.
    pub(super) strays: Vec<Problem>,
    /// Positions in `tasks`, ordered by id.
    pub(super) index: Vec<u32>,
}

/// Reads a text. Every step goes over the lines once.
pub(super) fn parse(text: &str) -> Parsed {
    let regions = regions(text);
    let mut problems = Vec::new();
    for &at in &regions.unclosed_fences {
        let problem = Problem::warning(at + 1, "code fence is never closed and is read as text");
        problems.push(problem.hint("add a line with the same fence where the code ends"));
    }
    let mut marks = find_marks(text, &regions, &mut problems);
    drop_groups(text, &mut marks);
    let roles = find_roles(&marks);
    let strays = find_strays(text, &regions, &marks, &roles);
    let tasks = Vec::with_capacity(roles.iter().filter(|&&role| role == Role::Task).count());
    let mut build = Build { text, regions: &regions, tasks, phases: Vec::new(), problems, phase: None };
    let told = build.strays(&marks, &strays);
    build.walk(marks, &roles, &strays);
    Parsed { strays: told, ..build.finish() }
}

/// A line that may be structure.
struct Mark {
    line: usize,
    kind: MarkKind,
}

enum MarkKind {
    Box(Checkbox),
    /// A box with an id, and a space before it.
    Shifted(Checkbox),
    Heading {
        level: usize,
        header: Option<Header>,
    },
}

fn find_marks(text: &str, regions: &Regions, problems: &mut Vec<Problem>) -> Vec<Mark> {
    // A task of a plan has a handful of lines.
    let mut marks = Vec::with_capacity(regions.lines.len() / 8);
    for (at, (&line, &kind)) in regions.lines.iter().zip(&regions.kinds).enumerate() {
        if kind != LineKind::Text {
            continue;
        }
        let line = line.after_mark(text);
        match &text.as_bytes()[line.range()] {
            [b'#', ..] | [b' ', b'#', ..] | [b' ', b' ', b'#', ..] | [b' ', b' ', b' ', b'#', ..] => {
                marks.extend(find_heading(text, line).map(|kind| Mark { line: at, kind }));
            }
            [b'-' | b'*' | b'+', ..] => {
                if let Some(found) = checkbox(text, line) {
                    marks.push(Mark { line: at, kind: MarkKind::Box(found) });
                } else {
                    problems.extend(malformed_box(line.of(text)).map(|id| malformed(at, id)));
                }
            }
            [b' ', b'-' | b'*' | b'+', ..] => {
                let found = checkbox(text, Line { start: line.start + 1, ..line });
                let found = found.filter(|found| found.head.id.is_some());
                marks.extend(found.map(|found| Mark { line: at, kind: MarkKind::Shifted(found) }));
            }
            [..] => {}
        }
    }
    marks
}

fn find_heading(text: &str, line: Line) -> Option<MarkKind> {
    let level = heading_level(line.of(text))?;
    Some(MarkKind::Heading { level, header: header(text, line) })
}

fn malformed(at: usize, id: &str) -> Problem {
    Problem::error(at + 1, format!("the box of {id} is malformed, so it is not a task"))
        .hint(format!("write `- [ ] {id}` or `- [x] {id}`"))
}

/// Where the section of the heading at `at` ends.
fn section_end(marks: &[Mark], at: usize, own_level: usize) -> usize {
    let ends = |mark: &Mark| matches!(mark.kind, MarkKind::Heading { level, .. } if level <= own_level);
    marks[at + 1..].iter().position(ends).map_or(marks.len(), |offset| at + 1 + offset)
}

/// A header whose section has checkbox tasks under its own number is a group of tasks, not a task.
fn drop_groups(text: &str, marks: &mut [Mark]) {
    for at in 0..marks.len() {
        let MarkKind::Heading { level, header: Some(header) } = &marks[at].kind else { continue };
        let Some(own) = header.head.id.clone() else { continue };
        let own = &text[own];
        let is_part = |mark: &Mark| match &mark.kind {
            MarkKind::Box(found) => found.head.markers.fix_of.is_none() && is_below(text, &found.head, own),
            MarkKind::Shifted(_) | MarkKind::Heading { .. } => false,
        };
        let end = section_end(marks, at, *level);
        if marks[at + 1..end].iter().any(is_part)
            && let MarkKind::Heading { header, .. } = &mut marks[at].kind
        {
            *header = None;
        }
    }
}

fn is_below(text: &str, head: &Head, own: &str) -> bool {
    let id = head.id.clone().map_or("", |id| &text[id]);
    id.strip_prefix(own).is_some_and(|rest| rest.starts_with('.'))
}

/// What a mark is to the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It begins one.
    Task,
    /// It is a criterion of the task above, which is a header.
    Criterion,
    Other,
}

fn find_roles(marks: &[Mark]) -> Vec<Role> {
    let mut roles = vec![Role::Other; marks.len()];
    let mut criteria_until = 0;
    let mut ids = false;
    for (at, mark) in marks.iter().enumerate() {
        roles[at] = match &mark.kind {
            MarkKind::Heading { level, header: Some(_) } => {
                criteria_until = criteria_until.max(section_end(marks, at, *level));
                Role::Task
            }
            MarkKind::Heading { header: None, .. } => Role::Other,
            // Boxes below a header task are its criteria, except for the fixes inserted there.
            MarkKind::Box(found) if at < criteria_until && found.head.markers.fix_of.is_none() => {
                Role::Criterion
            }
            MarkKind::Box(found) if found.head.id.is_some() => Role::Task,
            MarkKind::Box(_) | MarkKind::Shifted(_) if at < criteria_until => Role::Criterion,
            MarkKind::Box(_) | MarkKind::Shifted(_) => Role::Other,
        };
        ids |= roles[at] == Role::Task && !is_numbered_fix(mark);
    }
    if !ids {
        for (role, mark) in roles.iter_mut().zip(marks) {
            *role = if matches!(mark.kind, MarkKind::Box(_)) { Role::Task } else { Role::Other };
        }
    }
    roles
}

/// For each mark, whether it is a box at the level of the tasks that is none. A list of boxes below a heading of its own
/// is something else, unless they are written as tasks are.
fn find_strays(text: &str, regions: &Regions, marks: &[Mark], roles: &[Role]) -> Vec<Option<Stray>> {
    let mut above = None;
    let mut strays = Vec::with_capacity(marks.len());
    for (at, mark) in marks.iter().enumerate() {
        strays.push(match (&mark.kind, roles[at]) {
            (MarkKind::Heading { .. }, _) => {
                above = None;
                None
            }
            (MarkKind::Box(found) | MarkKind::Shifted(found), Role::Task) => {
                above = Some(&found.head);
                None
            }
            (MarkKind::Box(_) | MarkKind::Shifted(_), Role::Criterion) => None,
            (MarkKind::Box(_), Role::Other) => {
                let end = marks.get(at + 1).map_or(regions.lines.len(), |next| next.line);
                let is_stray = above.is_some() || has_fields(text, regions, mark.line..end);
                is_stray.then_some(Stray::Unnamed)
            }
            // Some indent by one space what is part of a task.
            (MarkKind::Shifted(found), Role::Other) => {
                let own =
                    |head: &Head| head.id.clone().is_none_or(|own| is_below(text, &found.head, &text[own]));
                (!above.is_some_and(own)).then_some(Stray::Shifted)
            }
        });
    }
    strays
}

/// Whether a box has what makes a task: something to do, files, a verification.
fn has_fields(text: &str, regions: &Regions, lines: Range<usize>) -> bool {
    let block = &text[regions.lines[lines.start].start..regions.lines[lines.end - 1].end];
    let own = crate::markdown::regions(block);
    let makes_task = |name| match name {
        FieldName::Do | FieldName::Files | FieldName::DoneWhen | FieldName::Verify => true,
        FieldName::Commit | FieldName::Other(_) => false,
    };
    raw_fields(block, &own).iter().any(|field| makes_task(field.name))
}

/// A fix of a task that has no id of its own: `#2.1`.
fn is_numbered_fix(mark: &Mark) -> bool {
    matches!(&mark.kind, MarkKind::Box(found) if found.head.numbered)
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
    /// What to say of boxes that are no tasks.
    fn strays(&self, marks: &[Mark], strays: &[Option<Stray>]) -> Vec<Problem> {
        let told = marks.iter().zip(strays).filter_map(|(mark, stray)| match &mark.kind {
            MarkKind::Box(found) | MarkKind::Shifted(found) => {
                stray.as_ref()?.problem(self.text, mark.line + 1, found)
            }
            MarkKind::Heading { .. } => None,
        });
        told.collect()
    }

    fn walk(&mut self, marks: Vec<Mark>, roles: &[Role], strays: &[Option<Stray>]) {
        let ends = block_ends(&marks, roles, strays, self.regions.lines.len());
        let mut unnamed = 0;
        for (at, mark) in marks.into_iter().enumerate() {
            match mark.kind {
                MarkKind::Heading { header: Some(found), .. } => {
                    let form = Form::Header(found.mark);
                    let name = found.head.id.clone().map_or("", |id| &self.text[id]);
                    self.task(mark.line..ends[at], TaskId::new(name), (form, found.state), found.head);
                }
                MarkKind::Heading { level, header: None } => self.heading(mark.line, level),
                MarkKind::Box(found) if roles[at] == Role::Task => {
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
            self.phases.push(Phase { title: title.to_owned(), line: at + 1 });
        }
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
        Parsed { tasks: self.tasks, phases: self.phases, problems: self.problems, strays: Vec::new(), index }
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
                self.problems.push(Problem::warning(task.line, message).of(&task.id));
            }
        }
    }
}

/// For each mark, the line before which the block ends that it begins.
fn block_ends(marks: &[Mark], roles: &[Role], strays: &[Option<Stray>], lines: usize) -> Vec<usize> {
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
        if roles[at] == Role::Task || strays[at].is_some() {
            task_below = mark.line;
        }
        if let MarkKind::Heading { level, .. } = &mark.kind {
            heading_below[*level..].fill(mark.line);
        }
    }
    ends
}

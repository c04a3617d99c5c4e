//! The plans of other tools: boxes stand below boxes, those at the ends are the work, and what is said of a task is in its
//! words. Every box is a task, a group of tasks, a step of one, a criterion, or optional.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::mark::malformed;
use super::task_line::{Checkbox, Head, Header, checkbox, header, malformed_box};
use super::{Build, Parsed, unclosed_fences};
use crate::TaskId;
use crate::format::{Format, Optional, Reading};
use crate::markdown::{Line, LineKind, Regions, heading_level, indent_of, regions};
use crate::phase::TaskType;
use crate::problem::Problem;
use crate::spec::boxes::{BoxRole, GroupIndex, OtherBox};
use crate::spec::phase::{Phase, PhaseIndex};
use crate::spec::task::{BoxState, Form, Task};
use crate::verify::is_check_alone;

/// Columns by which a box stands below another; by less, it is a slip.
const STEP: usize = 2;
const TAB: usize = 4;
/// Characters of a box's words that are told.
const TOLD_CHARS_MAX: usize = 60;

/// Words of a heading below which boxes without ids are criteria.
const CRITERIA: [&str; 8] = [
    "acceptance",
    "criteria",
    "criterion",
    "checklist",
    "definition of done",
    "sign-off",
    "验收",
    "受け入れ",
];

/// Words that begin a line which says how a phase is checked as a whole.
const OF_PHASE: [&str; 2] = ["independent test", "checkpoint"];

/// Reads a text.
pub(in crate::spec) fn parse_foreign(text: &str, reading: Reading) -> Parsed {
    let regions = regions(text);
    let mut problems = unclosed_fences(&regions);
    let items = items(text, &regions, reading, &mut problems);
    let tree = Tree::of(text, &items);
    let mut roles = tree.roles(reading, Criteria::ByPlace);
    let is_own = |at: usize| items[at].boxed().is_none_or(|boxed| boxed.found.head.markers.fix_of.is_none());
    let has_task = |(at, role): (usize, &Role)| matches!(role, Role::Task | Role::Header) && is_own(at);
    if !roles.iter().enumerate().any(has_task) {
        roles = tree.roles(reading, Criteria::None);
    }
    let build =
        Build { text, regions: &regions, tasks: Vec::new(), phases: Vec::new(), problems, phase: None };
    let mut walk = Walk {
        build,
        items: &items,
        tree: &tree,
        roles: &roles,
        boxes: Vec::new(),
        of_item: BTreeMap::new(),
    };
    walk.run(reading);
    let Walk { build, boxes, .. } = walk;
    let passed: BTreeSet<usize> = items.iter().map(|item| item.line).collect();
    let mut asides = build.asides(&passed);
    asides.extend(left_out(&boxes, &build));
    asides.extend(hidden(text, &regions));
    Parsed { asides, boxes, ..build.finish() }
}

/// Says which tasks are left out, as they are optional.
fn left_out(boxes: &[OtherBox], build: &Build<'_>) -> Vec<Problem> {
    let open = boxes.iter().filter(|other| other.role == BoxRole::Optional && !other.state.is_done());
    let told = open.map(|other| {
        let words: String =
            crate::one_line(&build.text[other.text.clone()]).chars().take(TOLD_CHARS_MAX).collect();
        Problem::warning(other.line, format!("“{words}” is optional and left out"))
            .hint("set `optional = true`, or run with `--optional`, to have optional tasks done as well")
    });
    told.collect()
}

/// Says which boxes stand in comments.
fn hidden<'a>(text: &'a str, regions: &'a Regions) -> impl Iterator<Item = Problem> + 'a {
    let lines = regions.lines.iter().zip(&regions.kinds).enumerate();
    lines.filter(|(_, (_, kind))| **kind == LineKind::Continuation).filter_map(|(at, (line, _))| {
        let start = line.start + indent_of(line.of(text));
        let found = checkbox(text, Line { start, ..*line }).filter(|found| !found.state.is_done())?;
        let words: String = crate::one_line(&text[found.head.title]).chars().take(TOLD_CHARS_MAX).collect();
        let message = format!("the checkbox of “{words}” is in a comment or in code, so it is no task");
        Some(Problem::warning(at + 1, message))
    })
}

/// A line that is structure.
struct Item {
    line: usize,
    kind: ItemKind,
}

enum ItemKind {
    Heading { level: usize, title: String, header: Option<Header> },
    Box(Boxed),
}

/// A box at any depth.
struct Boxed {
    columns: usize,
    /// Where its bullet is.
    start: usize,
    found: Checkbox,
}

impl Item {
    fn boxed(&self) -> Option<&Boxed> {
        match &self.kind {
            ItemKind::Box(boxed) => Some(boxed),
            ItemKind::Heading { .. } => None,
        }
    }
}

fn items(text: &str, regions: &Regions, reading: Reading, problems: &mut Vec<Problem>) -> Vec<Item> {
    let mut items = Vec::new();
    for (at, (&line, &kind)) in regions.lines.iter().zip(&regions.kinds).enumerate() {
        if kind != LineKind::Text {
            continue;
        }
        let line = line.after_mark(text);
        if let Some(level) = heading_level(line.of(text)) {
            let title = line.of(text).trim().trim_matches('#').trim().to_owned();
            let header = header(text, line).filter(|found| is_named(text, &found.head, 0, reading.format));
            items.push(Item { line: at, kind: ItemKind::Heading { level, title, header } });
            continue;
        }
        let indent = indent_of(line.of(text));
        let start = line.start + indent;
        let columns = text[line.start..start].chars().map(|c| if c == '\t' { TAB } else { 1 }).sum();
        let inner = Line { start, ..line };
        let Some(mut found) = checkbox(text, inner) else {
            problems.extend(malformed_box(inner.of(text)).map(|rest| malformed(at, rest)));
            continue;
        };
        // `- [P] tasks are …` explains a marker.
        if matches!(found.state, BoxState::Other(mark) if mark.is_alphanumeric()) {
            continue;
        }
        if !is_named(text, &found.head, columns, reading.format) {
            unname(&mut found.head);
        }
        items.push(Item { line: at, kind: ItemKind::Box(Boxed { columns, start, found }) });
    }
    items
}

/// True if the id of a task is one as this tool gives them; else it is a word of its title.
fn is_named(text: &str, head: &Head, columns: usize, format: Format) -> bool {
    let Some(range) = &head.id else { return false };
    let id = &text[range.clone()];
    if head.numbered || head.markers.fix_of.is_some() || id.starts_with("PR.") {
        return true;
    }
    let after_dot = text[range.end..].starts_with(['.', ')', ':', '*']);
    let digits = id.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_number = id.len() - digits.len() <= 1 && digits.split('.').all(is_digits);
    let is_dotted = id.contains('.') || after_dot || columns < STEP;
    let task = id.strip_prefix('T').map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    let is_task = task.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match format {
        Format::SpecKit => is_task || (is_number && is_dotted),
        Format::OpenSpec | Format::Kiro | Format::Spec | Format::Phase | Format::Imported => {
            (is_number && is_dotted) || (is_task && task.is_some_and(|rest| rest.len() >= 3))
        }
    }
}

fn is_digits(part: &str) -> bool {
    !part.is_empty() && part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn unname(head: &mut Head) {
    if let Some(id) = head.id.take() {
        head.title = id.start.min(head.title.start)..head.title.end;
    }
}

/// The use of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Heading,
    /// A heading that is a task.
    Header,
    Task,
    Group,
    Part,
    Criterion,
    Optional,
}

/// Whether boxes are criteria by where they stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Criteria {
    ByPlace,
    None,
}

/// What stands below what.
struct Tree<'a> {
    text: &'a str,
    items: &'a [Item],
    /// For each item, the box that it belongs to by its id or, where that says nothing, by its indentation.
    above: Vec<Option<usize>>,
    /// For each item, the nearest box before it in its section that is indented less.
    around: Vec<Option<usize>>,
    /// For each item, the heading above it.
    section: Vec<Option<usize>>,
    /// For each item, the task below whose heading it is.
    header: Vec<Option<usize>>,
}

impl<'a> Tree<'a> {
    fn of(text: &'a str, items: &'a [Item]) -> Self {
        let none = || vec![None; items.len()];
        let mut tree = Self { text, items, above: none(), around: none(), section: none(), header: none() };
        tree.find_sections();
        tree.find_above();
        tree
    }

    fn id(&self, at: usize) -> Option<&'a str> {
        let head = match &self.items[at].kind {
            ItemKind::Box(boxed) => &boxed.found.head,
            ItemKind::Heading { header, .. } => &header.as_ref()?.head,
        };
        head.id.clone().map(|id| &self.text[id])
    }

    fn find_sections(&mut self) {
        let mut section = None;
        let mut header: Option<(usize, usize)> = None;
        for (at, item) in self.items.iter().enumerate() {
            if let ItemKind::Heading { level, header: found, .. } = &item.kind {
                section = Some(at);
                header = header.filter(|(_, own)| level > own);
                if found.is_some() && header.is_none() && !self.has_tasks_below(at, *level) {
                    header = Some((at, *level));
                    self.header[at] = Some(at);
                }
            } else {
                self.header[at] = header.map(|(at, _)| at);
            }
            self.section[at] = section;
        }
    }

    /// True if boxes with ids stand in the section of a heading: it is no task then.
    fn has_tasks_below(&self, heading: usize, own: usize) -> bool {
        let ends = |item: &&Item| !matches!(item.kind, ItemKind::Heading { level, .. } if level <= own);
        let below = self.items[heading + 1..].iter().take_while(ends).filter_map(Item::boxed);
        below
            .into_iter()
            .any(|boxed| boxed.found.head.id.is_some() && boxed.found.head.markers.fix_of.is_none())
    }

    fn find_above(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for at in 0..self.items.len() {
            let Some(boxed) = self.items[at].boxed() else {
                open.clear();
                continue;
            };
            let columns = |at: &usize| self.items[*at].boxed().map_or(0, |other| other.columns);
            open.retain(|other| columns(other) + STEP <= boxed.columns);
            self.around[at] = open.last().copied();
            open.push(at);
            // A fix task stands beside what it repairs.
            if boxed.found.head.markers.fix_of.is_some() {
                continue;
            }
            self.above[at] = self.above_of(at, &named);
            if let Some(id) = self.id(at) {
                named.insert(id, at);
            }
        }
    }

    fn above_of(&self, at: usize, named: &BTreeMap<&str, usize>) -> Option<usize> {
        let around = self.around[at];
        let Some(id) = self.id(at) else { return around };
        let mut rest = id;
        while let Some((above, _)) = rest.rsplit_once('.') {
            if let Some(above) = named.get(above) {
                return Some(*above);
            }
            rest = above;
        }
        let around = around?;
        // `4.7` that is indented below `4.6` stands beside it.
        match self.id(around) {
            Some(other) if is_digits(&other.replace('.', "")) && id.contains('.') => self.above[around],
            Some(_) | None => Some(around),
        }
    }

    fn roles(&self, reading: Reading, criteria: Criteria) -> Vec<Role> {
        let left_out = self.left_out(reading.optional);
        let mut has_tasks = vec![false; self.items.len()];
        for at in (0..self.items.len()).filter(|at| self.id(*at).is_some() && self.header[*at].is_none()) {
            let is_optional = self.items[at].boxed().is_some_and(|boxed| boxed.found.is_optional);
            if let Some(above) = self.above[at].filter(|_| !is_optional) {
                has_tasks[above] = true;
            }
        }
        let is_fix =
            |at: usize| self.items[at].boxed().is_some_and(|boxed| boxed.found.head.markers.fix_of.is_some());
        let is_named = |at: &usize| {
            self.id(*at).is_some() && !is_fix(*at) && self.header[*at].is_none_or(|own| own == *at)
        };
        let named_in: BTreeSet<Option<usize>> =
            (0..self.items.len()).filter(is_named).map(|at| self.section[at]).collect();
        let mut roles: Vec<Role> = Vec::with_capacity(self.items.len());
        for at in 0..self.items.len() {
            if self.items[at].boxed().is_none() {
                roles.push(if self.header[at] == Some(at) { Role::Header } else { Role::Heading });
                continue;
            }
            let around = self.around[at].map(|around| roles[around]);
            let is_criterion = || {
                let in_checklist = reading.format == Format::SpecKit && !named_in.is_empty();
                let is_apart = in_checklist && !named_in.contains(&self.section[at]);
                criteria == Criteria::ByPlace && (is_apart || self.is_among_criteria(at))
            };
            roles.push(match around {
                _ if is_fix(at) => Role::Task,
                _ if self.header[at].is_some() => Role::Criterion,
                _ if left_out[at] => Role::Optional,
                _ if has_tasks[at] => Role::Group,
                _ if self.id(at).is_some() => Role::Task,
                Some(Role::Task | Role::Part) => Role::Part,
                Some(role @ (Role::Criterion | Role::Optional)) => role,
                Some(Role::Group | Role::Heading | Role::Header) | None if is_criterion() => Role::Criterion,
                Some(Role::Group | Role::Heading | Role::Header) | None => Role::Task,
            });
        }
        roles
    }

    fn left_out(&self, optional: Optional) -> Vec<bool> {
        let mut left_out = vec![false; self.items.len()];
        if optional == Optional::Included {
            return left_out;
        }
        for at in 0..self.items.len() {
            let is_marked = self.items[at].boxed().is_some_and(|boxed| boxed.found.is_optional);
            let is_below =
                [self.above[at], self.around[at]].into_iter().flatten().any(|above| left_out[above]);
            left_out[at] = is_marked || is_below;
        }
        left_out
    }

    fn is_among_criteria(&self, at: usize) -> bool {
        let Some(ItemKind::Heading { title, .. }) = self.section[at].map(|section| &self.items[section].kind)
        else {
            return false;
        };
        let title = title.to_lowercase();
        CRITERIA.iter().any(|word| title.contains(word))
    }
}

/// The way over the items that makes tasks, phases and other boxes of them.
struct Walk<'a, 'b> {
    build: Build<'a>,
    items: &'b [Item],
    tree: &'b Tree<'a>,
    roles: &'b [Role],
    boxes: Vec<OtherBox>,
    /// For each item that is a box and no task, which one it is.
    of_item: BTreeMap<usize, GroupIndex>,
}

impl Walk<'_, '_> {
    fn run(&mut self, reading: Reading) {
        let ends = self.ends();
        let mut unnamed = 0;
        let mut is_grouped = false;
        for (at, item) in self.items.iter().enumerate() {
            let lines = item.line..ends[at];
            let group = self.tree.above[at].and_then(|above| self.of_item.get(&above)).copied();
            let group = group.filter(|group| self.boxes[group.0 as usize].role == BoxRole::Group);
            match (&item.kind, self.roles[at]) {
                (ItemKind::Heading { header: Some(found), .. }, Role::Header) => {
                    self.build.header(lines, found.clone(), None);
                }
                (ItemKind::Heading { level, .. }, _) => {
                    self.build.heading(item.line, *level);
                    is_grouped &= *level > 2;
                }
                (ItemKind::Box(boxed), Role::Task) => {
                    if is_grouped && group.is_none() && boxed.found.head.markers.fix_of.is_none() {
                        self.begin_phase(String::new(), item.line);
                        is_grouped = false;
                    }
                    self.task((at, lines), boxed, (group, &mut unnamed), reading);
                }
                (ItemKind::Box(boxed), role) => {
                    let role = match role {
                        Role::Group => BoxRole::Group,
                        Role::Part => BoxRole::Part,
                        Role::Optional => BoxRole::Optional,
                        Role::Criterion | Role::Task | Role::Header | Role::Heading => BoxRole::Criterion,
                    };
                    if role == BoxRole::Group && group.is_none() {
                        let title = &self.build.text[boxed.found.head.title.clone()];
                        let id = self.tree.id(at).map(|id| format!("{id}. ")).unwrap_or_default();
                        self.begin_phase(format!("{id}{title}"), item.line);
                        is_grouped = true;
                    }
                    self.other(at, boxed, (role, group), lines);
                }
            }
        }
        self.find_checks();
    }

    fn begin_phase(&mut self, title: String, line: usize) {
        self.build.phase = u32::try_from(self.build.phases.len()).ok().map(PhaseIndex);
        self.build.phases.push(Phase { title, line: line + 1, checks: Vec::new() });
    }

    fn other(
        &mut self,
        at: usize,
        boxed: &Boxed,
        (role, group): (BoxRole, Option<GroupIndex>),
        lines: Range<usize>,
    ) {
        let found = &boxed.found;
        let end = if role == BoxRole::Group { self.build.last_content(lines) } else { found.head.title.end };
        let start = if role == BoxRole::Group { boxed.start } else { found.head.title.start };
        if let Ok(index) = u32::try_from(self.boxes.len()) {
            self.of_item.insert(at, GroupIndex(index));
        }
        let line = self.items[at].line + 1;
        let (state, mark) = (found.state, found.mark.clone());
        self.boxes.push(OtherBox { role, state, line, group, mark, text: start..end.max(start) });
    }

    fn task(
        &mut self,
        (at, lines): (usize, Range<usize>),
        boxed: &Boxed,
        (group, unnamed): (Option<GroupIndex>, &mut u32),
        reading: Reading,
    ) {
        let found = &boxed.found;
        let id = match self.tree.id(at) {
            Some(id) => TaskId::new(id),
            None => {
                *unnamed += 1;
                TaskId::new(&format!("#{unnamed}"))
            }
        };
        if let Some(flaw) = found.flaw {
            self.build.flaw(lines.start, id.name(), flaw);
        }
        let mut markers = found.head.markers.clone();
        markers.verify |= is_check_alone(&self.build.text[found.head.title.clone()]);
        let (line, end) = (lines.start + 1, self.build.last_content(lines));
        // What is in progress is merely not done.
        let state = match found.state {
            BoxState::Other('-') if reading.format == Format::Kiro => BoxState::Open,
            state @ (BoxState::Open | BoxState::Done | BoxState::Other(_)) => state,
        };
        self.build.tasks.push(Task {
            id,
            state,
            markers,
            phase: self.build.phase,
            line,
            type_: TaskType::Auto,
            form: Form::Checkbox(found.mark.clone()),
            block: boxed.start..end,
            title: found.head.title.clone(),
            group,
        });
    }

    /// For each item, the line before which its block ends.
    fn ends(&self) -> Vec<usize> {
        let lines = self.build.regions.lines.len();
        let mut ends = vec![lines; self.items.len()];
        let mut below = lines;
        let mut heading_below = [lines; 7];
        for (at, item) in self.items.iter().enumerate().rev() {
            match &item.kind {
                ItemKind::Heading { level, .. } => {
                    ends[at] =
                        heading_below[*level].min(if self.roles[at] == Role::Header { below } else { lines });
                    heading_below[*level..].fill(item.line);
                }
                ItemKind::Box(boxed) => {
                    let next = below.min(heading_below[6]);
                    ends[at] = self.dedent(item.line + 1..next, boxed.columns);
                    let is_within = self.roles[at] == Role::Part
                        || (self.roles[at] == Role::Criterion && self.tree.header[at].is_some());
                    if !is_within {
                        below = item.line;
                    }
                }
            }
            if self.roles[at] == Role::Header {
                below = item.line;
            }
        }
        ends
    }

    /// The first of the lines that is no part of a box indented by `columns`: less deep, and a paragraph of its own.
    fn dedent(&self, lines: Range<usize>, columns: usize) -> usize {
        let mut after_blank = false;
        for at in lines.clone() {
            let line = self.build.regions.lines[at].of(self.build.text);
            let trimmed = line.trim_start();
            if self.build.regions.kinds[at] != LineKind::Text || trimmed.is_empty() {
                after_blank = trimmed.is_empty();
                continue;
            }
            let indent: usize =
                line[..line.len() - trimmed.len()].chars().map(|c| if c == '\t' { TAB } else { 1 }).sum();
            let begins = trimmed.starts_with(['-', '*', '+', '#', '>', '|']);
            if indent <= columns && (after_blank || begins) {
                return at;
            }
            after_blank = false;
        }
        lines.end
    }

    /// Finds the lines that say how a phase is checked as a whole.
    fn find_checks(&mut self) {
        let mut phase = 0;
        for (at, line) in self.build.regions.lines.iter().enumerate() {
            while self.build.phases.get(phase).is_some_and(|next| next.line <= at + 1) {
                phase += 1;
            }
            let Some(current) = phase.checked_sub(1) else { continue };
            let words = line.of(self.build.text).trim().trim_start_matches(['-', '*', ' ', '#', '>']);
            let is_check = OF_PHASE
                .iter()
                .any(|name| words.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)));
            if is_check && self.build.regions.kinds[at] == LineKind::Text && words.contains('`') {
                self.build.phases[current].checks.push(words.to_owned());
            }
        }
    }
}

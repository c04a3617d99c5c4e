//! Roles of marks: each is a task, a criterion of one, the tick of one, or nothing. A checkbox that looks like a task
//! and is none is a problem.

use std::collections::BTreeMap;
use std::ops::Range;

use super::mark::{Mark, MarkKind, section_end};
use super::task_line::{Checkbox, Head};
use crate::markdown::Regions;
use crate::one_line::one_line;
use crate::problem::Problem;
use crate::spec::fields::{FieldName, RawField, raw_fields};

/// Characters of a box's text that are told.
const TITLE_CHARS_MAX: usize = 60;

/// The role of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It begins a task.
    Task,
    /// It is a criterion of the task above, which is a header.
    Criterion,
    /// It is a line of a checklist that names the task of a header elsewhere.
    Listed,
    Other,
}

/// The roles of the marks, and for each header that a checklist names, the first mark that does.
pub(super) struct Roles {
    pub(super) of: Vec<Role>,
    pub(super) ticks: BTreeMap<usize, usize>,
}

/// Finds the roles. Headers that turn out to be no tasks lose what makes them look like one.
pub(super) fn find_roles(text: &str, regions: &Regions, marks: &mut [Mark]) -> Roles {
    let sight = Sight { text, regions };
    sight.drop_groups(marks);
    let listed = sight.listed(marks);
    let mut of = vec![Role::Other; marks.len()];
    let mut criteria_until = 0;
    let mut ids = false;
    for (at, mark) in marks.iter().enumerate() {
        of[at] = match &mark.kind {
            MarkKind::Heading { level, header: Some(_) } => {
                criteria_until = criteria_until.max(section_end(marks, at, *level));
                Role::Task
            }
            MarkKind::Heading { header: None, .. } => Role::Other,
            MarkKind::Box(found) if found.is_heading && found.head.id.is_some() => {
                criteria_until = at;
                Role::Task
            }
            // Boxes below a header task are its criteria, except for the fixes inserted there.
            MarkKind::Box(found) if at < criteria_until && found.head.markers.fix_of.is_none() => {
                Role::Criterion
            }
            MarkKind::Box(_) if listed.contains_key(&at) => Role::Listed,
            MarkKind::Box(found) if found.head.id.is_some() => Role::Task,
            MarkKind::Box(_) | MarkKind::Shifted(_) if at < criteria_until => Role::Criterion,
            MarkKind::Box(_) | MarkKind::Shifted(_) => Role::Other,
        };
        ids |= of[at] == Role::Task && !is_numbered_fix(mark);
    }
    if !ids {
        for (role, mark) in of.iter_mut().zip(&*marks) {
            *role = if matches!(mark.kind, MarkKind::Box(_)) { Role::Task } else { Role::Other };
        }
    }
    let mut ticks = BTreeMap::new();
    for (tick, header) in listed {
        ticks.entry(header).or_insert(tick);
    }
    Roles { of, ticks }
}

/// A fix of a task that has no id of its own: `#2.1`.
fn is_numbered_fix(mark: &Mark) -> bool {
    matches!(&mark.kind, MarkKind::Box(found) if found.head.numbered)
}

/// The text that the marks are in.
struct Sight<'a> {
    text: &'a str,
    regions: &'a Regions,
}

impl<'a> Sight<'a> {
    fn name(&self, head: &Head) -> &'a str {
        head.id.clone().map_or("", |id| &self.text[id])
    }

    /// The name of a mark that is a task, or could be one.
    fn name_of(&self, mark: &Mark) -> &'a str {
        match &mark.kind {
            MarkKind::Box(found) if found.head.markers.fix_of.is_none() => self.name(&found.head),
            MarkKind::Heading { header: Some(header), .. } => self.name(&header.head),
            MarkKind::Box(_) | MarkKind::Shifted(_) | MarkKind::Heading { header: None, .. } => "",
        }
    }

    /// A header is a group of tasks and none itself if its section has tasks under its own number, or boxes with ids
    /// that are written as tasks are.
    fn drop_groups(&self, marks: &mut [Mark]) {
        for at in 0..marks.len() {
            let MarkKind::Heading { level, header: Some(header) } = &marks[at].kind else { continue };
            let own = self.name(&header.head);
            let end = section_end(marks, at, *level);
            let is_part = |&other: &usize| {
                let name = self.name_of(&marks[other]);
                let is_box = matches!(marks[other].kind, MarkKind::Box(_)) && !name.is_empty();
                is_below(name, own) || (is_box && self.has_own_fields(marks, other))
            };
            if (at + 1..end).any(|other| is_part(&other)) {
                drop_header(&mut marks[at]);
            }
        }
    }

    /// Boxes that name the task of a header, by position, with the position of that header. A box that is written as
    /// tasks are is the task itself, and the header is not.
    fn listed(&self, marks: &mut [Mark]) -> BTreeMap<usize, usize> {
        let mut headers: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, mark) in marks.iter().enumerate() {
            if matches!(mark.kind, MarkKind::Heading { header: Some(_), .. }) {
                headers.entry(self.name_of(mark)).or_insert(at);
            }
        }
        if headers.is_empty() {
            return BTreeMap::new();
        }
        let mut listed = BTreeMap::new();
        for at in 0..marks.len() {
            let MarkKind::Box(found) = &marks[at].kind else { continue };
            let Some(&header) = headers.get(self.name_of(&marks[at])).filter(|_| !found.is_heading) else {
                continue;
            };
            if self.has_own_fields(marks, at) {
                drop_header(&mut marks[header]);
                headers.remove(self.name_of(&marks[at]));
                listed.retain(|_, of| *of != header);
            } else {
                listed.insert(at, header);
            }
        }
        listed
    }

    /// True if the box at `at` has indented fields of its own.
    fn has_own_fields(&self, marks: &[Mark], at: usize) -> bool {
        self.has_fields(lines_of(marks, at, self.regions), |field| !field.indent.is_empty())
    }

    /// True if a box has what makes a task: something to do, files, a verification.
    fn has_fields(&self, lines: Range<usize>, counts: impl Fn(&RawField<'_>) -> bool) -> bool {
        let lines = &self.regions.lines[lines];
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return false };
        let block = &self.text[first.start..last.end];
        let own = crate::markdown::regions(block);
        let makes_task = |name| match name {
            FieldName::Do | FieldName::Files | FieldName::DoneWhen | FieldName::Verify => true,
            FieldName::Commit | FieldName::Other(_) => false,
        };
        raw_fields(block, &own).iter().any(|field| makes_task(field.name) && counts(field))
    }
}

/// The lines from a mark to the next.
fn lines_of(marks: &[Mark], at: usize, regions: &Regions) -> Range<usize> {
    marks[at].line..marks.get(at + 1).map_or(regions.lines.len(), |next| next.line)
}

fn drop_header(mark: &mut Mark) {
    if let MarkKind::Heading { header, .. } = &mut mark.kind {
        *header = None;
    }
}

fn is_below(name: &str, own: &str) -> bool {
    name.strip_prefix(own).is_some_and(|rest| rest.starts_with('.'))
}

/// For each mark, whether it is a box at the level of the tasks that is none. A list of boxes below a heading of its own
/// is something else, unless they are written as tasks are.
pub(super) fn find_strays(
    text: &str,
    regions: &Regions,
    marks: &[Mark],
    roles: &[Role],
) -> Vec<Option<NotATask>> {
    let sight = Sight { text, regions };
    let mut above: Option<&Head> = None;
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
            (MarkKind::Box(_) | MarkKind::Shifted(_), Role::Criterion | Role::Listed) => None,
            (MarkKind::Box(_), Role::Other) => {
                let is_stray = above.is_some() || sight.has_fields(lines_of(marks, at, regions), |_| true);
                is_stray.then_some(NotATask::Unnamed)
            }
            // Some indent by one space what is part of a task.
            (MarkKind::Shifted(found), Role::Other) => {
                let name = sight.name(&found.head);
                let is_part = |own: &Head| own.id.is_none() || is_below(name, sight.name(own));
                (!above.is_some_and(is_part)).then_some(NotATask::Shifted)
            }
        });
    }
    strays
}

/// Why a box is no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotATask {
    /// Nothing before its text is an id.
    Unnamed,
    /// There is a space before it.
    Shifted,
    /// It is a part of something that is no task.
    Nested,
}

impl NotATask {
    /// The problem with a box in this line.
    pub(super) fn problem(self, text: &str, line: usize, found: &Checkbox) -> Problem {
        let Some(id) = found.head.id.clone().map(|id| &text[id]) else { return unnamed(text, line, found) };
        let message = match self {
            Self::Unnamed => return unnamed(text, line, found),
            Self::Shifted => format!("there is a space before the checkbox of {id}, so it is no task"),
            Self::Nested => {
                format!("the checkbox of {id} is part of something that is no task, so it is none")
            }
        };
        Problem::warning(line, message).hint(format!("write `- [ ] {id}` at the start of the line"))
    }
}

fn unnamed(text: &str, line: usize, found: &Checkbox) -> Problem {
    let title: String = one_line(&text[found.head.title.clone()]).chars().take(TITLE_CHARS_MAX).collect();
    let named = if title.is_empty() { String::new() } else { format!(" “{title}”") };
    let message = format!("the checkbox{named} has no id, so it is no task");
    Problem::warning(line, message).hint(
        "begin it with an id of letters, digits, dots and dashes that has a digit in it, such as `- [ ] 1.4 …`; \
         indented by two spaces it is part of the task above",
    )
}

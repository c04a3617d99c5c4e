//! Dependencies of tasks: which tasks of its plan one names, in which order they then come, and what of it cannot be
//! heeded. When something starts is left to others.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::Fields;
use super::plan::Plan;
use super::task::Task;
use crate::TaskId;
use crate::one_line::one_line;
use crate::phase::Dialect;
use crate::problem::Problem;
use crate::suggest::nearest;

/// Names of the field.
const NAMES: [&str; 6] = ["depends on", "depends_on", "depends", "dependencies", "dependency", "blocked by"];
/// Words that say that there is none.
const NONE: [&str; 8] = ["none", "nothing", "no", "n/a", "na", "-", "–", "—"];
/// Characters of a field that are told.
const TEXT_CHARS_MAX: usize = 60;
const HINT: &str = "name tasks of this plan by their ids, such as `1.1, 1.2`, or take the field out";

impl Plan {
    /// The tasks that a field of a task names as coming before it, in order, each once.
    #[must_use]
    pub fn dependencies(&self, task: &Task, fields: &Fields) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = fields_of(fields)
            .flat_map(words)
            .filter_map(|word| Some(self.task(&TaskId::new(word))?.id.clone()))
            .filter(|id| *id != task.id)
            .collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// The tasks in the order in which they run: that of the file, but a task that depends on a later one follows it.
    #[must_use]
    pub fn running_order(&self) -> Vec<&Task> {
        order(self).places.into_iter().map(|place| &self.tasks[place]).collect()
    }

    /// Dependencies of tasks that cannot be waited for. A task that is done waits for nothing.
    #[must_use]
    pub fn dependency_problems(&self) -> Vec<Problem> {
        if self.dialect() == Dialect::Phase {
            return Vec::new();
        }
        let is_open = |task: &&Task| !task.state.is_done();
        let unnamed = self.tasks.iter().filter(is_open).flat_map(|task| unnamed(self, task));
        let unheeded = order(self).unheeded.into_iter();
        let unheeded = unheeded.map(|(place, on, why)| (&self.tasks[place], &self.tasks[on], why));
        let unheeded = unheeded.filter(|(task, on, _)| is_open(task) && is_open(on));
        let mut problems: Vec<Problem> =
            unnamed.chain(unheeded.map(|(task, on, why)| why.problem(task, on))).collect();
        problems.sort_by_key(|problem| problem.line);
        problems
    }
}

/// Why a task does not wait for another that it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unheeded {
    /// The other depends on it in turn.
    Circle,
    /// The other is in a later phase.
    LaterPhase,
    /// A verification or a checkpoint stands between the two.
    Barrier,
}

impl Unheeded {
    fn problem(self, task: &Task, on: &Task) -> Problem {
        let (id, on) = (&task.id, &on.id);
        let why = match self {
            Self::Circle => format!("{on} depends on {id} in turn"),
            Self::LaterPhase => format!("{on} is in a later phase"),
            Self::Barrier => format!("a verification or a checkpoint comes before {on}"),
        };
        let hint = match self {
            Self::Circle => format!("take {on} out of what {id} depends on, or {id} out of what {on} does"),
            Self::LaterPhase | Self::Barrier => format!("move {id} behind {on}, or {on} before {id}"),
        };
        let message = format!("task {id} depends on {on} and does not wait for it: {why}");
        Problem::warning(task.line, message).of(id).hint(hint)
    }
}

/// The places of the tasks in the order in which they run, and who does not wait for whom.
struct Order {
    places: Vec<usize>,
    unheeded: Vec<(usize, usize, Unheeded)>,
}

/// Tasks change places only among those of one phase, between verifications: what comes before one of these is what it
/// verifies.
fn order(plan: &Plan) -> Order {
    let mut order = Order { places: Vec::with_capacity(plan.tasks.len()), unheeded: Vec::new() };
    if plan.dialect() == Dialect::Phase {
        order.places.extend(0..plan.tasks.len());
        return order;
    }
    let parts = parts(&plan.tasks);
    let needs = |place: usize| {
        let task = &plan.tasks[place];
        // A fix task stays behind the task that it repairs.
        let repaired = task.markers.fix_of.as_deref().map(TaskId::new);
        let repaired = repaired.and_then(|id| plan.position(&id)).filter(|repaired| *repaired < place);
        let named = plan.dependencies(task, &plan.fields(task));
        let named = named.into_iter().filter_map(|id| plan.position(&id));
        named.chain(repaired).collect::<BTreeSet<usize>>()
    };
    let mut needed: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for place in 0..plan.tasks.len() {
        let (within, beyond): (Vec<usize>, Vec<usize>) =
            needs(place).into_iter().partition(|on| parts[*on] == parts[place]);
        for on in beyond.into_iter().filter(|on| *on > place) {
            let is_later = plan.tasks[on].phase != plan.tasks[place].phase;
            let why = if is_later { Unheeded::LaterPhase } else { Unheeded::Barrier };
            order.unheeded.push((place, on, why));
        }
        if !within.is_empty() {
            needed.insert(place, within);
        }
    }
    let (mut places, cut) = arrange(&parts, &needed);
    if !cut.is_empty() {
        // Who does not wait for what keeps its place, rather than coming after all that waits for nothing.
        for (place, on) in &cut {
            needed.entry(*place).and_modify(|needs| needs.retain(|need| need != on));
        }
        (places, _) = arrange(&parts, &needed);
    }
    order.places = places;
    order.unheeded.extend(cut.into_iter().map(|(place, on)| (place, on, Unheeded::Circle)));
    order
}

/// Which part of the plan each task is in: a phase, up to a verification.
fn parts(tasks: &[Task]) -> Vec<usize> {
    let is_barrier = |task: &Task| task.markers.verify || task.type_.is_checkpoint();
    let mut part = 0;
    let mut before: Option<&Task> = None;
    let parts = tasks.iter().map(|task| {
        let is_new =
            before.is_some_and(|before| before.phase != task.phase || is_barrier(before) || is_barrier(task));
        part += usize::from(is_new);
        before = Some(task);
        part
    });
    parts.collect()
}

/// Puts the tasks of each part in order: always the first that waits for none of those that are left. Also returned is
/// who had to go before what it waits for, as that waits for it in turn.
fn arrange(parts: &[usize], needed: &BTreeMap<usize, Vec<usize>>) -> (Vec<usize>, BTreeSet<(usize, usize)>) {
    let mut places = Vec::with_capacity(parts.len());
    let mut cut = BTreeSet::new();
    let mut waits = vec![0_usize; parts.len()];
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, needs) in needed {
        waits[*place] = needs.len();
        needs.iter().for_each(|on| waiting.entry(*on).or_default().push(*place));
    }
    let key = |place: usize| (parts[place], place);
    let mut left: BTreeSet<(usize, usize)> = (0..parts.len()).map(key).collect();
    let mut ready: BTreeSet<(usize, usize)> =
        left.iter().filter(|(_, place)| waits[*place] == 0).copied().collect();
    while let Some(first) = left.first().copied() {
        let of_part = ready.first().copied().filter(|(part, _)| *part == first.0);
        let next =
            of_part.unwrap_or_else(|| key(in_circle(first.1, needed, |place| left.contains(&key(place)))));
        let (_, place) = next;
        left.remove(&next);
        ready.remove(&next);
        places.push(place);
        let unmet = needed.get(&place).into_iter().flatten().filter(|on| left.contains(&key(**on)));
        cut.extend(unmet.map(|on| (place, *on)));
        for other in waiting.get(&place).into_iter().flatten() {
            waits[*other] = waits[*other].saturating_sub(1);
            if waits[*other] == 0 && left.contains(&key(*other)) {
                ready.insert(key(*other));
            }
        }
    }
    (places, cut)
}

/// The first task of a circle that a task waits for, where each of those that are left waits for another of them.
fn in_circle(first: usize, needed: &BTreeMap<usize, Vec<usize>>, is_left: impl Fn(usize) -> bool) -> usize {
    let next = |place: usize| needed.get(&place)?.iter().copied().find(|on| is_left(*on));
    let mut seen = BTreeSet::new();
    let mut place = first;
    while let Some(on) = next(place).filter(|_| seen.insert(place)) {
        place = on;
    }
    let circle = std::iter::successors(Some(place), |at| next(*at).filter(|on| *on != place));
    circle.min().unwrap_or(place)
}

/// Names in a task's dependencies that stand for no other task of its plan.
fn unnamed(plan: &Plan, task: &Task) -> Vec<Problem> {
    let fields = plan.fields(task);
    let named = plan.dependencies(task, &fields);
    let problem = |message: String| Problem::warning(task.line, message).of(&task.id).hint(HINT);
    let id = &task.id;
    let mut problems = Vec::new();
    for text in fields_of(&fields) {
        let text = without_asides(text);
        for entry in text.split([',', ';', '\n', '&']).map(bare).filter(|entry| !entry.is_empty()) {
            let is_known = |word: &str| plan.task(&TaskId::new(word)).is_some();
            let is_itself = words(entry).any(|word| TaskId::new(word) == *id);
            if words(entry).any(|word| is_known(word) && TaskId::new(word) != *id) {
                continue;
            }
            let told: String = one_line(entry).chars().take(TEXT_CHARS_MAX).collect();
            if is_itself {
                problems.push(problem(format!("task {id} depends on itself, which counts for nothing")));
            } else if is_like_id(entry) {
                let known = plan.tasks().iter().map(|task| task.id.name()).filter(|name| *name != id.name());
                let unknown = problem(format!("task {id} depends on {told}, which is no task of this plan"));
                problems.push(match nearest(entry, known) {
                    Some(near) => unknown.hint(format!("did you mean `{near}`?")),
                    None => unknown,
                });
            } else if named.is_empty() {
                let message =
                    format!("task {id} depends on “{told}”, which names no task, so it waits for none");
                problems.push(problem(message));
            }
        }
    }
    problems.dedup();
    problems
}

/// The texts of the fields that say what a task depends on.
fn fields_of(fields: &Fields) -> impl Iterator<Item = &str> {
    let is_one = |name: &str| NAMES.contains(&name.trim().to_lowercase().as_str());
    fields.others.iter().filter(move |(name, _)| is_one(name)).map(|(_, text)| text.as_str())
}

/// The parts of a text that could be ids.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_');
    let words = text.split(move |character: char| !is_part(character));
    words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty())
}

/// A text without what stands between round brackets.
fn without_asides(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = text.chars().filter(|character| {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        depth == 0
    });
    outside.collect()
}

/// An entry without the marks of a list, the word `task` and what says that there is nothing.
fn bare(entry: &str) -> &str {
    let is_mark =
        |character: char| character.is_whitespace() || matches!(character, '*' | '`' | '.' | '-' | '[' | ']');
    let entry = entry.trim_matches(is_mark);
    let lower = entry.to_ascii_lowercase();
    if NONE.contains(&lower.as_str()) {
        return "";
    }
    let words = ["tasks ", "task ", "and "];
    let rest = words.iter().find(|word| lower.starts_with(**word)).map_or(entry, |word| &entry[word.len()..]);
    rest.trim_matches(is_mark)
}

/// True if an entry is one word that would do as an id.
fn is_like_id(entry: &str) -> bool {
    !entry.contains(char::is_whitespace)
        && entry.contains(|character: char| character.is_ascii_digit())
        && words(entry).eq([entry])
}

#[cfg(test)]
mod tests;

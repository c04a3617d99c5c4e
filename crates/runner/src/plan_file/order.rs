//! In which order plans run: phase after phase, by wave within a phase, each after the plans it depends on.

use std::collections::BTreeSet;

use plan::{PhaseNumber, Plan, Problem, Severity};

/// The problems with how plans depend on each other, with the place of the plan in which each shows.
pub fn order_problems(plans: &[&Plan]) -> Vec<(usize, Problem)> {
    order(plans).1
}

/// The places of the plans in the order in which they run.
pub fn running_order(plans: &[&Plan]) -> Vec<usize> {
    order(plans).0
}

/// The places of the plans in the order in which they run, and what is wrong with their dependencies.
pub(super) fn order(plans: &[&Plan]) -> (Vec<usize>, Vec<(usize, Problem)>) {
    let needs: Vec<Vec<usize>> = plans.iter().map(|plan| needed(plan, plans)).collect();
    let mut left: BTreeSet<usize> = (0..plans.len()).collect();
    let mut order = Vec::new();
    let mut problems = same_numbers(plans);
    while !left.is_empty() {
        let ready = left.iter().filter(|place| needs[**place].iter().all(|need| !left.contains(need)));
        let next = ready.min_by_key(|place| (Part::of(plans, **place), **place)).copied();
        let next = next.unwrap_or_else(|| {
            let first = *left.iter().next().expect("something is left");
            problems.push((first, circle(plans[first])));
            first
        });
        left.remove(&next);
        order.push(next);
    }
    (order, problems)
}

/// The part of all plans that a plan is in. A phase without a number follows those that have one; a plan that names
/// no wave follows all of its phase that do, and those before it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    is_unnumbered: bool,
    phase: Option<PhaseNumber>,
    wave: u32,
    place: usize,
}

impl Part {
    fn of(plans: &[&Plan], place: usize) -> Self {
        let phase = plans[place].phase_number();
        let wave = plans[place].front_matter().and_then(|front| front.wave);
        let place = if wave.is_some() { 0 } else { place };
        Self { is_unnumbered: phase.is_none(), phase, wave: wave.unwrap_or(u32::MAX), place }
    }
}

/// For each plan, how many parts come before its own.
pub(super) fn stages(plans: &[&Plan]) -> Vec<usize> {
    let parts: Vec<Part> = (0..plans.len()).map(|place| Part::of(plans, place)).collect();
    let known: BTreeSet<&Part> = parts.iter().collect();
    parts.iter().map(|part| known.iter().take_while(|known| **known < part).count()).collect()
}

/// The plans that one depends on, as far as they are there: what was done elsewhere is no concern of this run.
fn needed(plan: &Plan, plans: &[&Plan]) -> Vec<usize> {
    (0..plans.len()).filter(|place| plan.needs_plan(plans[*place])).collect()
}

/// Plans whose number is that of an earlier one: their tasks would have the same names.
fn same_numbers(plans: &[&Plan]) -> Vec<(usize, Problem)> {
    let mut seen = BTreeSet::new();
    let numbered = plans.iter().enumerate().filter_map(|(place, plan)| Some((place, plan.plan_id()?)));
    let repeated = numbered.filter(|(_, id)| !seen.insert(*id));
    repeated.map(|(place, id)| (place, same_number(id))).collect()
}

fn same_number(id: &str) -> Problem {
    Problem {
        line: 1,
        severity: Severity::Error,
        message: format!("{id} is the number of another plan as well, so their tasks cannot be told apart"),
        hint: Some(
            "give it another number in `phase` and `plan`, or run each of the two by itself".to_owned(),
        ),
        task: None,
    }
}

fn circle(plan: &Plan) -> Problem {
    let id = plan.plan_id().unwrap_or("a plan");
    Problem {
        line: 1,
        severity: Severity::Error,
        message: format!("{id} depends on itself through depends_on"),
        hint: Some("take one of the plans of the circle out of depends_on".to_owned()),
        task: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(fronts: &[&str]) -> (Vec<String>, Vec<usize>) {
        let parse = |front: &&str| Plan::parse_phase(format!("---\n{front}\n---\n"), "");
        let plans: Vec<Plan> = fronts.iter().map(parse).collect();
        let plans: Vec<&Plan> = plans.iter().collect();
        let (places, problems) = order(&plans);
        assert_eq!(problems, []);
        let in_order: Vec<&Plan> = places.iter().map(|place| plans[*place]).collect();
        let ids = in_order.iter().map(|plan| plan.plan_id().unwrap_or_default().to_owned());
        (ids.collect(), stages(&in_order))
    }

    #[test]
    fn phases_come_one_after_another_and_waves_within_them() {
        let (ids, stages) = ids(&[
            "phase: 10-c\nplan: 01\nwave: 1",
            "phase: 2-b\nplan: 02\nwave: 2",
            "phase: 2-b\nplan: 01\nwave: 1",
            "phase: 2.5-x\nplan: 01\nwave: 1",
            "phase: quick\nplan: 01\nwave: 1",
            "phase: 1-a\nplan: 02\nwave: 1",
            "phase: 1-a\nplan: 01\nwave: 3",
            "phase: 1-a\nplan: 03",
            "phase: 1-a\nplan: 04",
        ]);
        assert_eq!(ids, ["1-02", "1-01", "1-03", "1-04", "2-01", "2-02", "2.5-01", "10-01", "quick-01"]);
        assert_eq!(stages, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn what_a_plan_depends_on_comes_before_it_whatever_its_phase() {
        let (ids, _) = ids(&[
            "phase: 1\nplan: 01\nwave: 1\ndepends_on: [\"02-01\"]",
            "phase: 1\nplan: 02\nwave: 1",
            "phase: 2\nplan: 1\nwave: 1",
        ]);
        assert_eq!(ids, ["1-02", "2-1", "1-01"]);
    }
}

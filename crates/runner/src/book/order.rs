//! In which order plans run: by wave, each after the plans it depends on.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Plan, Problem, Severity};

/// What is wrong with how plans depend on each other, with the place of the plan in which it shows.
pub fn order_problems(plans: &[&Plan]) -> Vec<(usize, Problem)> {
    order(plans).1
}

/// The places of the plans in the order in which they run, and what is wrong with their dependencies.
pub(super) fn order(plans: &[&Plan]) -> (Vec<usize>, Vec<(usize, Problem)>) {
    let ids: BTreeMap<&str, usize> =
        plans.iter().enumerate().filter_map(|(place, plan)| Some((plan.plan_id()?, place))).collect();
    let needs: Vec<Vec<usize>> = plans.iter().map(|plan| needed(plan, &ids)).collect();
    let wave = |place: &usize| plans[*place].front_matter().and_then(|front| front.wave).unwrap_or(u32::MAX);
    let mut left: BTreeSet<usize> = (0..plans.len()).collect();
    let mut order = Vec::new();
    let mut problems = same_numbers(plans);
    while !left.is_empty() {
        let ready = left.iter().filter(|place| needs[**place].iter().all(|need| !left.contains(need)));
        let next = ready.min_by_key(|place| (wave(place), **place)).copied();
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

/// The plans that one depends on, as far as they are there: what was done elsewhere is no concern of this run.
fn needed(plan: &Plan, ids: &BTreeMap<&str, usize>) -> Vec<usize> {
    let own = plan.plan_id().unwrap_or_default();
    let named = plan.front_matter().map(|front| front.dependencies(own)).unwrap_or_default();
    named.iter().filter(|name| *name != own).filter_map(|name| ids.get(name.as_str()).copied()).collect()
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

//! The engine explored: for small plans, every sequence of what agents, checks, judges, landings and people can do, with
//! the program going down at any moment and any number of times. Every run ends, no limit is passed, nothing is done
//! without a proof, nothing is stuck, and going down changes no end. A person asks for more work, by an answer or by
//! starting a run again, at most as often as the case says. `TILLGREEN_EXPLORE=large` explores more.

mod cases;
mod graph;
mod key;
mod laws;
mod ledger;
mod mutants;
mod node;
mod outcomes;

use std::io::Write;

use cases::Size;
use graph::{Broken, Graph};
use node::{Case, Engine};

#[expect(clippy::disallowed_methods, reason = "the size of a test is no input of the engine")]
fn size() -> Size {
    let is_large = std::env::var("TILLGREEN_EXPLORE").is_ok_and(|size| size == "large");
    if is_large { Size::Large } else { Size::Ordinary }
}

/// How many moments were seen, and how many ends.
fn explore(engine: Engine, case: &Case) -> Result<(usize, usize), Broken> {
    let graph = Graph::explore(engine, case)?;
    graph.the_key_is_enough()?;
    let order = graph.every_run_ends()?;
    Ok((graph.len(), graph.going_down_changes_no_end(&order)?))
}

fn explore_all(what: &str, cases: &[Case]) {
    let (mut moments, mut ends) = (0, 0);
    for case in cases {
        let explored = explore(Engine::default(), case);
        let (seen, ended) = explored.unwrap_or_else(|broken| panic!("{}\n{}", broken.law, broken.transcript));
        (moments, ends) = (moments + seen, ends + ended);
    }
    // Beside the output that the test runner keeps to itself.
    let told = format!("explored, {what}: {} cases, {moments} states, {ends} ends\n", cases.len());
    std::io::stderr().write_all(told.as_bytes()).expect("something can be said");
}

#[test]
fn what_agents_make_of_their_tasks() {
    explore_all("work", &cases::work(size()));
}

#[test]
fn agents_that_cannot_be_had_or_cannot_go_on() {
    explore_all("agents", &cases::agents(size()));
}

#[test]
fn work_that_comes_in() {
    explore_all("coming in", &cases::coming_in(size()));
}

#[test]
fn people_who_steer_from_elsewhere() {
    explore_all("steered", &cases::steered(size()));
}

#[test]
fn judges_questions_and_a_regression_command() {
    explore_all("judges", &cases::judges(size()));
}

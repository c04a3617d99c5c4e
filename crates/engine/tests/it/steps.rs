//! The steps that people are shown beforehand are what the engine has at work together.

use engine::{Dialect, EventKind, Isolation, Parallel, Rules, TaskDecl, TaskKind, Toggle, steps};
use jiff::Timestamp;
use proptest::prelude::*;

use crate::random::plans_of;
use crate::script::{Script, decl};
use crate::world::{World, subject};

fn rules(dialect: Dialect, infer: Toggle) -> Rules {
    let parallel = Parallel { jobs: 16, infer, isolation: Isolation::Trees };
    Rules { dialect, parallel, ..Rules::default() }
}

fn shown(rules: &Rules, tasks: &[TaskDecl]) -> Vec<Vec<String>> {
    steps(rules, tasks).iter().map(|step| step.iter().map(ToString::to_string).collect()).collect()
}

/// The tasks that start at the same moment in a world in which all of them take equally long.
fn seen(rules: &Rules, tasks: &[TaskDecl]) -> Vec<Vec<String>> {
    let world = World::new(tasks, Script { is_even: true, ..Script::default() }, rules.clone()).run();
    let mut steps: Vec<(Timestamp, Vec<String>)> = Vec::new();
    for event in &world.journal {
        let Some((task, EventKind::AttemptStarted | EventKind::ProofStarted)) = subject(&event.what) else {
            continue;
        };
        match steps.last_mut() {
            Some((at, step)) if *at == event.at => step.push(task.to_string()),
            Some(_) | None => steps.push((event.at, vec![task.to_string()])),
        }
    }
    let place = |id: &String| tasks.iter().position(|task| task.id.to_string() == *id);
    steps.iter_mut().for_each(|(_, step)| step.sort_by_key(place));
    steps.into_iter().map(|(_, step)| step).collect()
}

/// All tasks of all steps, whichever comes first.
fn sorted(steps: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut all = steps.concat();
    all.sort();
    vec![all]
}

fn check(tasks: &[&str], infer: Toggle, expected: &[&[&str]]) {
    let tasks: Vec<TaskDecl> = tasks.iter().map(|task| decl(task)).collect();
    assert_eq!(shown(&rules(Dialect::Spec, infer), &tasks), expected);
}

#[test]
fn what_comes_in_lets_start_what_waits_for_it() {
    let tasks = ["1.1 p in:a", "1.2 p in:a", "1.3 p in:c", "1.4 p in:c"];
    check(&tasks, Toggle::Off, &[&["1.1", "1.3"], &["1.2", "1.4"]]);
}

#[test]
fn a_verification_stands_alone() {
    let tasks = ["1.1 p done", "1.2 p in:b", "1.3 p judge in:c", "1.4 verify p", "1.5 in:d", "1.6 in:e"];
    check(&tasks, Toggle::Off, &[&["1.2", "1.3"], &["1.4"], &["1.5"], &["1.6"]]);
    check(&tasks, Toggle::On, &[&["1.2", "1.3"], &["1.4"], &["1.5", "1.6"]]);
}

#[test]
fn what_does_not_depend_on_a_checkpoint_goes_on_while_it_is_asked() {
    let tasks: Vec<TaskDecl> =
        ["1.1 in:a", "1.2 checkpoint on:1.1", "2.1 in:b", "2.2 in:b on:2.1"].map(decl).to_vec();
    let rules = rules(Dialect::Phase, Toggle::Off);
    assert_eq!(shown(&rules, &tasks), [vec!["1.1", "2.1"], vec!["1.2", "2.2"]]);
    let keeps_going = Rules { keep_going: Toggle::On, ..rules };
    assert_eq!(shown(&keeps_going, &tasks), [vec!["1.1", "2.1"], vec!["1.2", "2.2"]]);
}

fn plans() -> impl Strategy<Value = Vec<TaskDecl>> {
    plans_of(prop_oneof![6 => Just(""), 1 => Just(" verify"), 1 => Just(" judge"), 1 => Just(" done")])
}

proptest! {
    #[test]
    fn the_steps_are_what_is_at_work_together(
        mut tasks in plans(),
        dialect in prop_oneof![3 => Just(Dialect::Spec), 1 => Just(Dialect::Phase)],
        infer in prop_oneof![Just(Toggle::Off), Just(Toggle::On)],
        jobs in prop_oneof![Just(16), 1..5_u32],
    ) {
        // Plans with phases have no tasks that verify.
        if dialect == Dialect::Phase {
            tasks.iter_mut().for_each(|task| task.kind = TaskKind::Work);
        }
        let mut rules = rules(dialect, infer);
        rules.parallel.jobs = jobs;
        let (mut shown, mut seen) = (shown(&rules, &tasks), seen(&rules, &tasks));
        if jobs < 16 {
            // A job that becomes free goes to whoever is ready then, a moment before others are whose files come in.
            let most = usize::try_from(jobs).unwrap();
            prop_assert!(shown.iter().chain(&seen).all(|step| step.len() <= most), "{:?} {:?}", shown, seen);
            (shown, seen) = (sorted(shown), sorted(seen));
        }
        prop_assert_eq!(shown, seen);
    }
}

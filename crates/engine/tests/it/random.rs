//! Any plan, any rules, any behaviour of agents, judges and people: the run ends and the laws hold.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{
    Changes, Dialect, End, Facts, Isolation, Limits, OnEscalation, OnExhausted, Parallel, Prove, Recovery,
    Response, Rules, TaskDecl, Toggle, Unverifiable, What,
};
use plan::TaskId;
use proptest::prelude::*;

use crate::invariants::{self, Outcome};
use crate::script::{Agent, Back, By, Check, Edit, Recording, Says, Script, Treeless, Turn, decl};
use crate::transcript::transcript;
use crate::world::{Crash, World};

/// Tasks of all kinds.
fn plans() -> impl Strategy<Value = Vec<TaskDecl>> {
    plans_of(prop_oneof![
        5 => Just(""), 2 => Just(" verify"), 2 => Just(" judge"), 1 => Just(" verify judge"), 1 => Just(" done"),
        2 => Just(" checkpoint"),
    ])
}

/// Tasks of these kinds that share files, declare dependencies, or say nothing of either.
pub(crate) fn plans_of(kind: impl Strategy<Value = &'static str>) -> impl Strategy<Value = Vec<TaskDecl>> {
    let files = prop_oneof![2 => Just(""), 3 => Just(" in:a"), 3 => Just(" in:b"), 1 => Just(" in:a,c"), 2 => Just(" in:d")];
    let on = prop_oneof![5 => Just(None), 1 => (1_usize..9).prop_map(Some)];
    let beside = prop_oneof![2 => Just(" p"), 1 => Just("")];
    let part = prop_oneof![5 => Just(0_usize), 1 => Just(1)];
    prop::collection::vec((kind, files, on, beside, part), 1..=8).prop_map(|tasks| {
        let mut stage = 1;
        let decls = tasks.iter().enumerate().map(|(place, (kind, files, on, beside, part))| {
            stage += part;
            let on = on.map(|on| format!(" on:1.{on}")).unwrap_or_default();
            decl(&format!("1.{}{kind}{files}{on}{beside} stage:{stage}", place + 1))
        });
        decls.collect()
    })
}

prop_compose! {
    fn limits()(
        task_iterations_max in 0_u32..4,
        fix_tasks_max in 0_u32..4,
        fix_depth_max in 0_u32..4,
        global_iterations_max in prop_oneof![3 => Just(None), 1 => (0_u32..12).prop_map(Some)],
        unavailable_max in 1_u32..4,
    ) -> Limits {
        Limits {
            task_iterations_max,
            fix_tasks_max,
            fix_depth_max,
            global_iterations_max,
            unavailable_max,
            ..Limits::default()
        }
    }
}

prop_compose! {
    /// Half of the runs do one task at a time.
    fn parallels()(
        jobs in prop_oneof![4 => Just(1_u32), 4 => 2_u32..6],
        infer in toggle(),
        isolation in prop_oneof![
            2 => Just(Isolation::Trees), 1 => Just(Isolation::Always), 1 => Just(Isolation::Shared)
        ],
    ) -> Parallel {
        Parallel { jobs, infer, isolation }
    }
}

fn toggle() -> impl Strategy<Value = Toggle> {
    prop_oneof![Just(Toggle::Off), Just(Toggle::On)]
}

prop_compose! {
    fn rules()(
        recovery in prop_oneof![1 => Just(Recovery::Off), 2 => Just(Recovery::On)],
        limits in limits(),
        on_exhausted in prop_oneof![Just(OnExhausted::Stop), Just(OnExhausted::Ask)],
        on_escalation in prop_oneof![
            Just(OnEscalation::Ask), Just(OnEscalation::Pause), Just(OnEscalation::Skip), Just(OnEscalation::Abort)
        ],
        unverifiable in prop_oneof![Just(Unverifiable::Agent), Just(Unverifiable::Ask)],
        review in toggle(),
        (regression, prove) in (toggle(), prop_oneof![Just(Prove::Off), Just(Prove::Report)]),
        keep_going in toggle(),
        dialect in prop_oneof![Just(Dialect::Spec), Just(Dialect::Phase)],
        parallel in parallels(),
    ) -> Rules {
        Rules {
            recovery, limits, on_exhausted, on_escalation, unverifiable, review, regression, prove, keep_going, dialect,
            pull_request: engine::PullRequestRules::default(),
            parallel,
            agents: engine::Agents::default(),
            worker: engine::Role::Executor,
        }
    }
}

fn blockers() -> impl Strategy<Value = Option<By>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(By::Itself)),
        4 => (1_u32..9).prop_map(|place| Some(By::Task(format!("1.{place}")))),
        1 => "[a-z0-9.:~ '\"\\[{&*-]{0,12}".prop_map(|text| Some(By::Task(text))),
    ]
}

fn agents() -> impl Strategy<Value = Agent> {
    prop_oneof![
        6 => Just(Agent::Complete),
        2 => Just(Agent::Fails("it fails".to_owned())),
        1 => Just(Agent::TicksOwnBox),
        1 => Just(Agent::TicksAndFails("it ticks and fails".to_owned())),
        1 => Just(Agent::Silent),
        1 => Just(Agent::NotVerified),
        1 => Just(Agent::BadExit(3)),
        1 => Just(Agent::TimesOut),
        1 => Just(Agent::Contradicts),
        1 => Just(Agent::Tampers("1.1".to_owned())),
        1 => Just(Agent::Denied),
        3 => blockers().prop_map(|by| Agent::Stuck("blocked", by)),
        1 => Just(Agent::Stuck("impossible", None)),
        1 => Just(Agent::Stuck("conflict", None)),
        1 => Just(Agent::Stuck("service_unavailable", None)),
        1 => Just(Agent::Stuck("permission_denied", None)),
    ]
}

fn checks() -> impl Strategy<Value = Check> {
    prop_oneof![
        6 => Just(Check::Green),
        2 => Just(Check::Red("it is red".to_owned())),
        2 => Just(Check::SameRed),
        1 => Just(Check::TimesOut),
        1 => Just(Check::CannotStart("jest")),
        1 => Just(Check::ProvesNothing),
        1 => Just(Check::OutOfScope),
        1 => Just(Check::Bookkeeping),
    ]
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        6 => Just(Says::Yes),
        2 => Just(Says::No("it is not right".to_owned())),
        1 => Just(Says::Contradicts),
        1 => Just(Says::Tampers),
        1 => Just(Says::Denied),
        1 => (1_u32..5).prop_map(Says::TimesOut),
        1 => (1_u32..5).prop_map(Says::Away),
        1 => (1_u32..5).prop_map(Says::Silent),
    ]
}

fn facts() -> impl Strategy<Value = Facts> {
    let changes = prop_oneof![
        5 => Just(Changes::Made),
        1 => Just(Changes::Unknown),
        1 => Just(Changes::MadeBefore),
        1 => Just(Changes::None),
    ];
    changes.prop_map(|changes| Facts { changes, missing: Vec::new() })
}

fn recordings() -> impl Strategy<Value = Recording> {
    prop_oneof![8 => Just(Recording::Kept), 1 => Just(Recording::Refused("no".to_owned())), 1 => Just(Recording::Blocked), 1 => Just(Recording::Moved), 1 => Just(Recording::TakenOut), 1 => Just(Recording::InTheWay), 1 => Just(Recording::AlwaysInTheWay)]
}

fn landings() -> impl Strategy<Value = Back> {
    prop_oneof![8 => Just(Back::Lands), 1 => Just(Back::Conflicts("both".to_owned())), 1 => Just(Back::Blocked)]
}

fn treeless() -> impl Strategy<Value = Treeless> {
    prop_oneof![
        76 => Just(Treeless::Never),
        1 => Just(Treeless::AtStart),
        1 => Just(Treeless::AtChecks),
        1 => Just(Treeless::AtLanding),
        1 => Just(Treeless::AtJoin),
    ]
}

prop_compose! {
    fn turns()(
        proof in checks(),
        absences in prop_oneof![5 => Just(0_u32), 1 => 1_u32..5],
        retry_after in prop_oneof![Just(None), (0_u64..1_000).prop_map(|wait| Some(Duration::from_secs(wait)))],
        agent in agents(),
        check in checks(),
        qa in says(),
        (reviewer, facts) in (says(), facts()),
        treeless in treeless(),
        landing in landings(),
        join in prop_oneof![5 => Just(Check::Green), 1 => Just(Check::Red("red together".to_owned()))],
        record in recordings(),
        learning in prop_oneof![Just(None), "[a-z<&> \n]{1,300}".prop_map(Some)],
    ) -> Turn {
        Turn { proof, absences, retry_after, agent, check, qa, reviewer, facts, treeless, landing, join, record, learning }
    }
}

fn responses() -> impl Strategy<Value = Response> {
    prop_oneof![
        Just(Response::Retry),
        Just(Response::Skip),
        Just(Response::Abort),
        "[a-z<&> \n]{1,3000}".prop_map(Response::Fix),
        Just(Response::Approve),
        Just(Response::Reject("not like this".to_owned())),
        Just(Response::Reply("blue".to_owned())),
    ]
}

prop_compose! {
    fn scripts()(
        deck in prop::collection::vec(turns(), 1..12),
        answers in prop::collection::vec(responses(), 0..6),
        restarts in 0_usize..3,
        regressions in 0_usize..2,
        notes in any::<bool>(),
        leaves in any::<bool>(),
    ) -> Script {
        Script { deck, answers, restarts, regressions, notes, leaves, ..Script::default() }
    }
}

prop_compose! {
    /// What each attempt comes to depends on nothing but the task and the number of the attempt.
    fn steady_scripts()(script in scripts()) -> Script {
        let steady = |turn: &Turn| Turn {
            agent: if matches!(turn.agent, Agent::Stuck(..)) { Agent::Silent } else { turn.agent.clone() },
            treeless: Treeless::Never,
            landing: if matches!(turn.landing, Back::Blocked) { Back::Lands } else { turn.landing.clone() },
            record: match &turn.record {
                Recording::Blocked | Recording::InTheWay | Recording::AlwaysInTheWay => Recording::Kept,
                Recording::Kept
                | Recording::Refused(_)
                | Recording::Moved
                | Recording::MovedAgainAndAgain
                | Recording::TakenOut
                | Recording::TakenOutAgainAndAgain => turn.record.clone(),
            },
            ..turn.clone()
        };
        let deck = script.deck.iter().map(steady).collect();
        Script { deck, restarts: 0, regressions: 0, ..script }
    }
}

prop_compose! {
    /// Several jobs, and no limit, nor a person, whose turn comes sooner or later.
    fn steady_rules()(rules in rules(), jobs in 2_u32..6) -> Rules {
        let limits = Limits { global_iterations_max: Some(5_000), unavailable_max: 1_000, ..rules.limits };
        let on_escalation = OnEscalation::Skip;
        Rules { limits, on_escalation, parallel: Parallel { jobs, ..rules.parallel }, ..rules }
    }
}

fn edits() -> impl Strategy<Value = Vec<(usize, Edit)>> {
    let place = 0_usize..9;
    let edit = prop_oneof![
        place.clone().prop_map(Edit::Tick),
        place.clone().prop_map(Edit::Untick),
        place.clone().prop_map(Edit::Add),
        place.clone().prop_map(Edit::Remove),
        (place.clone(), place.clone()).prop_map(|(left, right)| Edit::Swap(left, right)),
        place.prop_map(Edit::Reword),
    ];
    prop::collection::vec((0_usize..12, edit), 0..6).prop_map(|mut edits| {
        edits.sort_by_key(|(after, _)| *after);
        edits
    })
}

/// A moment in a run of so many events.
fn crashes() -> impl Strategy<Value = Vec<(f64, bool)>> {
    prop::collection::vec((0.0..1.0_f64, any::<bool>()), 1..=2)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small number")]
fn moments(crashes: &[(f64, bool)], events: usize) -> Vec<Crash> {
    let mut moments: Vec<(usize, bool)> =
        crashes.iter().map(|(share, before)| (1 + (share * events as f64) as usize, *before)).collect();
    moments.sort_unstable();
    moments
        .iter()
        .map(|(event, before)| if *before { Crash::Before(*event) } else { Crash::After(*event) })
        .collect()
}

/// Whether what does not fit when it comes back comes back in both runs or in none. Whoever is alone works in the project
/// itself and has nothing to come back from; and who is alone, when others came and went, is a question of time.
fn come_back_alike(calm: &World, crashed: &World) -> bool {
    let (calm_places, places) = (places(calm), places(crashed));
    let fits = |(task, attempt): &(TaskId, u32)| {
        let turn = calm.script.turn(task, *attempt);
        matches!(turn.landing, Back::Lands) && matches!(turn.join, Check::Green)
    };
    calm_places.iter().all(|(key, place)| fits(key) || places.get(key).is_none_or(|other| other == place))
}

/// Whether each attempt, where it came to an end, worked in a tree of its own.
fn places(world: &World) -> BTreeMap<(TaskId, u32), bool> {
    let started = world.journal.iter().filter_map(|event| {
        if let What::AttemptStarted(started) = &event.what { Some(started) } else { None }
    });
    started.map(|started| ((started.task.clone(), started.attempt.0), started.slot.is_some())).collect()
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_run_ends_within_its_limits(plan in plans(), script in scripts(), rules in rules(), edits in edits()) {
        let world = World::new(&plan, Script { edits, ..script }, rules).run();
        invariants::at_the_end(&world);
    }

    #[test]
    fn crashes_change_nothing(plan in plans(), script in scripts(), rules in rules(), crashes in crashes()) {
        let rules = Rules { parallel: Parallel { jobs: 1, ..rules.parallel }, ..rules };
        let calm = World::new(&plan, script.clone(), rules.clone()).run();
        invariants::at_the_end(&calm);
        let crashes = moments(&crashes, calm.journal.len());
        let world = World::new(&plan, script, rules).crashing(&crashes).run();
        invariants::at_the_end(&world);
        prop_assert!(Outcome::of(&calm) == Outcome::of(&world),
            "{crashes:?}\ncalm\n{}\n\ncrashed\n{}", transcript(&calm), transcript(&world));
    }

    /// Where nothing depends on who is faster, a crash changes nothing side by side either. A run that stops before
    /// all is done has come as far with the others as time allowed, so there no attempt may have ended otherwise,
    /// but some may be missing.
    #[test]
    fn crashes_change_nothing_side_by_side(
        plan in plans(), script in steady_scripts(), rules in steady_rules(), crashes in crashes()
    ) {
        let calm = World::new(&plan, script.clone(), rules.clone()).run();
        invariants::at_the_end(&calm);
        let crashes = moments(&crashes, calm.journal.len());
        let world = World::new(&plan, script, rules).crashing(&crashes).run();
        invariants::at_the_end(&world);
        prop_assume!(come_back_alike(&calm, &world));
        let is_complete = matches!(calm.state.end(), Some(End::Complete { .. }));
        let (expected, found) = (Outcome::of(&calm), Outcome::of(&world));
        prop_assert!(if is_complete { expected == found } else { expected.goes_with(&found) },
            "{crashes:?}\ncalm\n{}\n\ncrashed\n{}", transcript(&calm), transcript(&world));
    }

    #[test]
    fn crashes_and_edits_break_no_law(
        plan in plans(), script in scripts(), rules in rules(), edits in edits(), crashes in crashes()
    ) {
        let crashes = moments(&crashes, 40);
        let world = World::new(&plan, Script { edits, ..script }, rules).crashing(&crashes).run();
        invariants::at_the_end(&world);
    }
}

//! The catalogue of scenarios in which tasks run side by side.

use engine::{
    Dialect, Isolation, Limits, OnEscalation, OnExhausted, Parallel, Recovery, Response, Rules, Toggle,
    Unverifiable,
};

use crate::scenario::{Scenario, asking, off, on, scenario, script};
use crate::script::{Agent, Back, Check, Edit, Recording, Says, Treeless, Turn, agent, fails, red};

pub(crate) fn all() -> Vec<Scenario> {
    let ways_in = [coming_back(), in_the_way(), apart()].into_iter().flatten();
    [together(), treeless(), endings(), people(), plans(), settings(), person_edits()]
        .into_iter()
        .flatten()
        .chain(ways_in)
        .collect()
}

/// So many jobs, each in a tree of its own.
fn trees(jobs: u32, rules: Rules) -> Rules {
    Rules { parallel: Parallel { jobs, isolation: Isolation::Trees, infer: Toggle::Off }, ..rules }
}

fn shared(jobs: u32, rules: Rules) -> Rules {
    Rules { parallel: Parallel { jobs, isolation: Isolation::Shared, infer: Toggle::Off }, ..rules }
}

fn inferring(rules: Rules) -> Rules {
    Rules { parallel: Parallel { infer: Toggle::On, ..rules.parallel }, ..rules }
}

fn conflicts() -> Turn {
    Turn { landing: Back::Conflicts("a.rs".to_owned()), ..Turn::default() }
}

fn red_together() -> Turn {
    Turn { join: Check::Red("boom".to_owned()), ..Turn::default() }
}

fn red_alone_and_together(error: &str) -> Turn {
    let red = || Check::Red(error.to_owned());
    Turn { check: red(), join: red(), ..Turn::default() }
}

fn together() -> Vec<Scenario> {
    let three = ["1.1 p", "1.2 p", "1.3 p"];
    vec![
        scenario("batch, all pass", &["1.1 p", "1.2 p", "1.3 p", "1.4"], script(), trees(4, off())),
        scenario("batch, one fails", &three, script().at("1.2", 1, fails("boom")), trees(4, off())),
        scenario(
            "batch, the first fails",
            &["1.1 p", "1.2 p"],
            script().at("1.1", 1, red("boom")),
            trees(4, off()),
        ),
        scenario(
            "batch, one gets a fix",
            &["1.1 p", "1.2 p", "1.3"],
            script().at("1.1", 1, red("boom")),
            trees(4, on()),
        ),
        scenario("batch, overlap", &["1.1 p in:a", "1.2 p in:a", "1.3 p in:b"], script(), trees(4, off())),
        scenario("batch, fewer jobs", &["1.1 p", "1.2 p", "1.3 p", "1.4 p"], script(), trees(2, off())),
        scenario(
            "batch, then a verification",
            &["1.1 p", "1.2 p", "1.3 verify p"],
            script(),
            trees(4, off()),
        ),
        scenario(
            "batch, a later stage waits",
            &["1.1 p stage:1", "1.2 p stage:1", "2.1 p stage:2"],
            script(),
            trees(4, off()),
        ),
        scenario("batch, inferred", &["1.1 in:a", "1.2 in:b", "1.3"], script(), inferring(trees(4, off()))),
        scenario("batch, shared", &three, script().at("1.2", 1, fails("boom")), shared(4, off())),
        scenario(
            "batch, judged",
            &["1.1 p judge", "1.2 p"],
            script().at("1.1", 1, Turn { qa: Says::No("too long".to_owned()), ..Turn::default() }),
            trees(4, off()),
        ),
        scenario(
            "batch, reviewed",
            &["1.1 p", "1.2 p"],
            script(),
            Rules { review: Toggle::On, ..trees(2, off()) },
        ),
    ]
}

fn treeless() -> Vec<Scenario> {
    let no_tree = || Turn { treeless: Treeless::AtStart, ..Turn::default() };
    let three = ["1.1 p", "1.2 p", "1.3 p"];
    let none = || script().at("1.1", 1, no_tree()).at("1.2", 1, no_tree()).at("1.3", 1, no_tree());
    vec![
        scenario("batch, no tree can be made", &three, none(), trees(4, off())),
        scenario("batch, no tree for one", &three, script().at("1.2", 1, no_tree()), trees(4, off())),
        scenario(
            "batch, no tree for a retry",
            &three,
            script().at("1.1", 1, red("boom")).at("1.1", 2, no_tree()).at("1.3", 1, red("boom")),
            trees(4, off()),
        ),
        scenario(
            "batch, no tree, and fixes",
            &["1.1 p", "1.2 p", "1.3"],
            script().at("1.1", 1, Turn { treeless: Treeless::AtStart, ..red("boom") }).at(
                "1.2",
                1,
                red("bang"),
            ),
            trees(4, on()),
        ),
        scenario(
            "batch, no tree for checks",
            &three,
            script().at("1.1", 1, Turn { treeless: Treeless::AtChecks, ..Turn::default() }),
            trees(4, off()),
        ),
        scenario(
            "batch, no landing tree",
            &three,
            script().at("1.1", 1, Turn { treeless: Treeless::AtLanding, ..Turn::default() }),
            trees(4, off()),
        ),
        scenario(
            "batch, a landing tree of no use",
            &three,
            script().at("1.2", 1, Turn { treeless: Treeless::AtJoin, ..Turn::default() }),
            trees(4, off()),
        ),
        scenario(
            "batch, trees again at the next start",
            &["1.1 p", "1.2 p", "1.3 p", "1.4 p"],
            script()
                .at(
                    "1.1",
                    1,
                    Turn { treeless: Treeless::AtStart, record: Recording::Blocked, ..Turn::default() },
                )
                .restarts(1),
            trees(2, off()),
        ),
    ]
}

fn coming_back() -> Vec<Scenario> {
    let two = ["1.1 p", "1.2 p", "1.3"];
    let refused = Turn { record: Recording::Refused("hook says no".to_owned()), ..Turn::default() };
    vec![
        scenario("batch, conflict", &two, script().at("1.2", 1, conflicts()), trees(4, off())),
        scenario("batch, conflict with recovery", &two, script().at("1.2", 1, conflicts()), trees(4, on())),
        scenario("batch, red together", &two, script().at("1.1", 1, red_together()), trees(4, off())),
        scenario(
            "batch, red together with recovery",
            &two,
            script().at("1.1", 1, red_together()),
            trees(4, on()),
        ),
        scenario(
            "batch, a fix that did its job",
            &two,
            script().at("1.1", 1, red_together()).at("1.1.1", 1, red_alone_and_together("bang")),
            trees(4, on()),
        ),
        scenario("batch, commit refused", &two, script().at("1.1", 1, refused), trees(4, off())),
        scenario(
            "batch, something in the way",
            &two,
            script().at("1.1", 1, Turn { landing: Back::Blocked, ..Turn::default() }).restarts(1),
            trees(4, off()),
        ),
        scenario(
            "batch, somebody commits meanwhile",
            &two,
            script().at("1.1", 1, Turn { record: Recording::Moved, ..Turn::default() }),
            trees(4, off()),
        ),
        scenario(
            "one by one, work is verified again",
            &two,
            script().at("1.1", 1, Turn { record: Recording::Moved, ..Turn::default() }),
            trees(1, off()),
        ),
        scenario(
            "batch, somebody takes work out again",
            &two,
            script().at("1.1", 1, Turn { record: Recording::TakenOut, ..Turn::default() }),
            trees(4, off()),
        ),
        scenario(
            "batch, somebody takes work out again and again",
            &two,
            script()
                .at("1.1", 1, Turn { record: Recording::TakenOutAgainAndAgain, ..Turn::default() })
                .restarts(1),
            trees(4, Rules { limits: Limits { returns_max: 2, ..off().limits }, ..off() }),
        ),
        scenario(
            "batch, somebody commits again and again",
            &two,
            script()
                .at("1.1", 1, Turn { record: Recording::MovedAgainAndAgain, ..Turn::default() })
                .restarts(1),
            trees(4, Rules { limits: Limits { returns_max: 2, ..off().limits }, ..off() }),
        ),
    ]
}

/// A person has uncommitted changes in a file that finished work changes.
fn in_the_way() -> Vec<Scenario> {
    let two = ["1.1 p", "1.2 p", "1.3"];
    let turn = || Turn { record: Recording::InTheWay, ..Turn::default() };
    let held_up = || script().at("1.1", 1, turn());
    let always = Turn { record: Recording::AlwaysInTheWay, ..Turn::default() };
    let by_answer = |answer| held_up().answers(&[answer]);
    let pause = || asking(OnEscalation::Pause);
    vec![
        scenario("batch, held up", &two, by_answer(Response::Retry), trees(4, pause())),
        scenario(
            "batch, held up, asked at once",
            &two,
            by_answer(Response::Retry),
            trees(4, asking(OnEscalation::Ask)),
        ),
        scenario("batch, held up and skipped", &two, by_answer(Response::Skip), trees(4, pause())),
        scenario(
            "batch, held up and done anew",
            &two,
            by_answer(Response::Fix("leave notes.txt alone".to_owned())),
            trees(4, pause()),
        ),
        scenario(
            "batch, both held up",
            &two,
            held_up().at("1.2", 1, turn()).answers(&[Response::Retry, Response::Retry]),
            trees(4, pause()),
        ),
        scenario(
            "batch, held up for good",
            &two,
            script().at("1.1", 1, always).answers(&[Response::Retry, Response::Retry]),
            trees(4, pause()),
        ),
        scenario(
            "batch, held up, then a new round",
            &two,
            held_up().restarts(1),
            trees(4, asking(OnEscalation::Abort)),
        ),
        scenario(
            "batch, one held up, another exhausted",
            &["1.1 p", "1.2 p"],
            held_up().at("1.2", 1, red("e1")).at("1.2", 2, red("e2")).at("1.2", 3, red("e3")).restarts(1),
            trees(4, off()),
        ),
    ]
}

/// Every task in a slot.
fn apart() -> Vec<Scenario> {
    let always = |jobs, rules: Rules| {
        let parallel = Parallel { jobs, isolation: Isolation::Always, infer: Toggle::Off };
        Rules { parallel, ..rules }
    };
    let four = ["1.1", "1.2 p", "1.3 p", "1.4 verify"];
    let proof = Turn { proof: Check::Red("lint".to_owned()), ..Turn::default() };
    vec![
        scenario("always apart, one by one", &four, script().at("1.1", 1, red("boom")), always(1, off())),
        scenario("always apart, side by side", &four, script().at("1.4", 1, proof), always(4, off())),
        scenario(
            "in the project, then always apart",
            &["1.1", "1.2"],
            script()
                .at("1.1", 1, red("e1"))
                .at("1.1", 2, red("e2"))
                .at("1.1", 3, red("e3"))
                .restarts(1)
                .later(always(1, off())),
            trees(1, off()),
        ),
    ]
}

fn endings() -> Vec<Scenario> {
    let always = || script().at("1.1", 1, red("e1")).at("1.1", 2, red("e2")).at("1.1", 3, red("e3"));
    let capped = Limits { global_iterations_max: Some(3), ..off().limits };
    let impatient = Limits { unavailable_max: 2, ..off().limits };
    let away = |absences| Turn { absences, ..Turn::default() };
    let slow = Turn { qa: Says::Away(2), ..Turn::default() };
    vec![
        scenario("batch, one exhausted", &["1.1 p", "1.2 p judge"], always().restarts(1), trees(4, off())),
        scenario(
            "batch, capped",
            &["1.1 p", "1.2 p", "1.3 p", "1.4 p"],
            script().restarts(1),
            trees(2, Rules { limits: capped.clone(), ..off() }),
        ),
        scenario(
            "batch, capped before a judge",
            &["1.1 p", "1.2 p judge", "1.3 p"],
            script().restarts(1),
            trees(4, Rules { limits: capped, ..off() }),
        ),
        scenario("batch, agent away", &["1.1 p", "1.2 p"], script().at("1.1", 1, away(2)), trees(4, off())),
        scenario(
            "batch, agent stays away",
            &["1.1 p", "1.2 p"],
            script().at("1.1", 1, away(3)).restarts(2),
            trees(4, Rules { limits: impatient.clone(), ..off() }),
        ),
        scenario(
            "batch, judge stays away",
            &["1.1 p judge", "1.2 p"],
            script().at("1.1", 1, slow).restarts(1),
            trees(4, Rules { limits: impatient, ..off() }),
        ),
    ]
}

fn people() -> Vec<Scenario> {
    let denied = || script().at("1.1", 1, agent(Agent::Denied)).answers(&[Response::Retry]);
    let pause = || asking(OnEscalation::Pause);
    let going = |rules: Rules| Rules { keep_going: Toggle::On, ..rules };
    let four = ["1.1 p in:a", "1.2 p in:b", "1.3 p in:c", "1.4 p in:d"];
    let by_person = Rules { unverifiable: Unverifiable::Ask, ..pause() };
    vec![
        scenario("batch, a question", &four, denied(), trees(2, pause())),
        scenario("batch, a question, keep going", &four, denied(), trees(2, going(pause()))),
        scenario("batch, a question at once", &four, denied(), trees(2, going(asking(OnEscalation::Ask)))),
        scenario(
            "batch, nobody answers",
            &["1.1 p", "1.2 p judge"],
            script().at("1.1", 1, agent(Agent::Denied)).leaves(),
            trees(4, asking(OnEscalation::Ask)),
        ),
        scenario(
            "batch, a person judges",
            &["1.1 p judge", "1.2 p"],
            script().answers(&[Response::Approve]),
            trees(4, by_person),
        ),
    ]
}

fn plans() -> Vec<Scenario> {
    let phases = |jobs| trees(jobs, Rules { dialect: Dialect::Phase, ..asking(OnEscalation::Ask) });
    vec![
        scenario(
            "waves",
            &[
                "01-01:task-1 stage:1 in:a",
                "01-01:task-2 stage:1 in:a on:01-01:task-1",
                "01-02:task-1 stage:1 in:b",
                "01-03:task-1 stage:2 in:c on:01-02:task-1",
            ],
            script().at("01-02:task-1", 1, fails("boom")),
            phases(4),
        ),
        scenario(
            "dependencies without waves",
            &["01-01:task-1 in:a", "01-02:task-1 in:b", "01-03:task-1 stage:2 in:c on:01-01:task-1"],
            script(),
            inferring(phases(4)),
        ),
        scenario(
            "checkpoint beside other plans",
            &["01-01:task-1 checkpoint", "01-02:task-1 in:b", "01-03:task-1 in:c"],
            script().answers(&[Response::Reply("blue".to_owned())]),
            Rules { keep_going: Toggle::On, ..phases(4) },
        ),
    ]
}

fn settings() -> Vec<Scenario> {
    let always = || script().at("1.1", 1, red("e1")).at("1.1", 2, red("e2")).at("1.1", 3, red("e3"));
    let blocked = || script().at("1.1", 1, Turn { landing: Back::Blocked, ..Turn::default() }).restarts(1);
    let two = ["1.1 p", "1.2 p"];
    let exhausted = Rules { on_exhausted: OnExhausted::Stop, recovery: Recovery::Off, ..off() };
    vec![
        scenario("trees, then shared", &two, blocked().later(shared(4, off())), trees(4, off())),
        scenario("trees, then one at a time", &two, blocked().later(trees(1, off())), trees(4, off())),
        scenario(
            "a failure in a tree, then shared",
            &two,
            always().restarts(1).later(shared(1, off())),
            trees(4, exhausted.clone()),
        ),
        scenario(
            "one at a time, then trees",
            &["1.1 p", "1.2 p", "1.3 p"],
            always().restarts(1).later(trees(4, off())),
            trees(1, exhausted),
        ),
    ]
}

fn person_edits() -> Vec<Scenario> {
    let three = ["1.1 p", "1.2 p", "1.3 p"];
    vec![
        scenario(
            "batch, a member is ticked",
            &three,
            script().edit(0, Edit::Tick(1)).edit(1, Edit::Tick(2)),
            trees(2, off()),
        ),
        scenario("batch, a member is removed", &three, script().edit(1, Edit::Remove(2)), trees(2, off())),
        scenario(
            "batch, a member is reworded",
            &three,
            script().at("1.1", 1, red("boom")).edit(1, Edit::Reword(0)),
            trees(2, off()),
        ),
        scenario(
            "batch, a member is reworded while it waits to come back",
            &three,
            script().edit(1, Edit::Reword(1)),
            trees(4, off()),
        ),
        scenario("batch, a task is put before it", &three, script().edit(1, Edit::Add(0)), trees(2, off())),
        scenario("batch, reordered", &three, script().edit(1, Edit::Swap(1, 2)), trees(2, off())),
    ]
}

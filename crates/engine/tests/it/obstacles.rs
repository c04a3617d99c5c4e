//! Scenarios in which an agent cannot go on, the plan itself asks a person, or other tasks go on meanwhile.

use engine::{Dialect, Limits, OnEscalation, OnExhausted, Recovery, Response, Rules, Toggle};

use crate::scenario::{Scenario, asking, off, on, scenario, script};
use crate::script::{Agent, By, Check, Script, Turn, agent, blocked, fails, red};

pub(crate) fn all() -> Vec<Scenario> {
    [
        blockers(),
        circles(),
        chains(),
        obstacles(),
        checkpoints(),
        questions_beside_work(),
        work_beside_questions(),
        notes(),
        phases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn fix(text: &str) -> Response {
    Response::Fix(text.to_owned())
}

fn reply(text: &str) -> Response {
    Response::Reply(text.to_owned())
}

fn denied(task: &str) -> Script {
    script().at(task, 1, agent(Agent::Denied))
}

/// With `--keep-going`.
fn going(on_escalation: OnEscalation) -> Rules {
    Rules { keep_going: Toggle::On, ..asking(on_escalation) }
}

fn phase(rules: Rules) -> Rules {
    Rules { dialect: Dialect::Phase, ..rules }
}

fn blockers() -> Vec<Scenario> {
    let pause = || asking(OnEscalation::Pause);
    let three = &["1.1", "1.2", "1.3"];
    vec![
        scenario("blocked by a later task", three, script().at("1.1", 1, blocked(Some("1.3"))), pause()),
        scenario(
            "blocked twice",
            three,
            script()
                .at("1.1", 1, blocked(Some("1.2")))
                .at("1.1", 2, blocked(Some("1.3")))
                .answers(&[Response::Retry]),
            pause(),
        ),
        scenario(
            "blocked again in a new round",
            three,
            script()
                .at("1.1", 1, blocked(None))
                .at("1.1", 2, blocked(Some("1.3")))
                .answers(&[Response::Retry]),
            pause(),
        ),
        scenario(
            "blocked after a failure",
            three,
            script().at("1.1", 1, fails("boom")).at("1.1", 2, blocked(Some("1.3"))),
            pause(),
        ),
        scenario(
            "blocked by itself",
            &["1.1"],
            script().at("1.1", 1, agent(Agent::Stuck("blocked", Some(By::Itself)))),
            pause(),
        ),
        scenario(
            "blocked by a task that is done",
            &["1.1", "1.2"],
            script().at("1.2", 1, blocked(Some("1.1"))),
            pause(),
        ),
        scenario("blocked by a stranger", &["1.1"], script().at("1.1", 1, blocked(Some("7.7"))), pause()),
    ]
}

/// Tasks that name each other, or themselves through others.
fn circles() -> Vec<Scenario> {
    vec![
        scenario(
            "blocked in a circle",
            &["1.1", "1.2"],
            script()
                .at("1.1", 1, blocked(Some("1.2")))
                .at("1.2", 1, blocked(Some("1.1")))
                .answers(&[fix("break it")]),
            asking(OnEscalation::Pause),
        ),
        scenario(
            "blocked in a longer circle",
            &["1.1", "1.2", "1.3"],
            script()
                .at("1.1", 1, blocked(Some("1.2")))
                .at("1.2", 1, blocked(Some("1.3")))
                .at("1.3", 1, blocked(Some("1.1")))
                .answers(&[Response::Skip]),
            asking(OnEscalation::Ask),
        ),
        scenario(
            "a circle through a fix",
            &["1.1", "1.2"],
            script()
                .at("1.1", 1, blocked(Some("1.2")))
                .at("1.2", 1, red("boom"))
                .at("1.2.1", 1, blocked(Some("1.1")))
                .answers(&[Response::Retry]),
            Rules { recovery: Recovery::On, ..asking(OnEscalation::Pause) },
        ),
    ]
}

/// What blocks has a story of its own.
fn chains() -> Vec<Scenario> {
    let proof = Turn { proof: Check::Red("lint".to_owned()), ..blocked(Some("1.2")) };
    vec![
        scenario(
            "a fix is blocked by a later task",
            &["1.1", "1.2"],
            script().at("1.1", 1, red("boom")).at("1.1.1", 1, blocked(Some("1.2"))),
            on(),
        ),
        scenario(
            "what blocks fails for good",
            &["1.1", "1.2"],
            script()
                .at("1.1", 1, blocked(Some("1.2")))
                .at("1.2", 1, red("a"))
                .at("1.2", 2, red("b"))
                .at("1.2", 3, red("c"))
                .restarts(1),
            off(),
        ),
        scenario("a blocked verify task", &["1.1 verify", "1.2"], script().at("1.1", 1, proof), off()),
    ]
}

fn obstacles() -> Vec<Scenario> {
    let stuck = |status| script().at("1.1", 1, agent(Agent::Stuck(status, None)));
    let family = &["1.1 in:a", "1.2 in:a,b", "1.3 on:1.1", "1.4 in:c"];
    vec![
        scenario(
            "blocked, skip",
            &["1.1"],
            stuck("blocked").answers(&[Response::Skip]),
            asking(OnEscalation::Ask),
        ),
        scenario(
            "impossible, skip",
            family,
            stuck("impossible").answers(&[Response::Skip]),
            asking(OnEscalation::Pause),
        ),
        scenario(
            "conflict, fix",
            &["1.1"],
            stuck("conflicting_requirements").answers(&[fix("the second one counts")]),
            Rules { recovery: Recovery::On, ..asking(OnEscalation::Ask) },
        ),
        scenario(
            "service unavailable, retry",
            &["1.1"],
            stuck("service_unavailable").answers(&[Response::Retry]),
            // Stopping is for what is used up, not for what was never tried again.
            Rules { on_exhausted: OnExhausted::Stop, ..asking(OnEscalation::Pause) },
        ),
    ]
}

fn checkpoints() -> Vec<Scenario> {
    let one = &["1.1 checkpoint"];
    let asks = || asking(OnEscalation::Ask);
    vec![
        scenario(
            "checkpoint, reply",
            &["1.1", "1.2 checkpoint", "1.3"],
            script().answers(&[reply("blue")]),
            asking(OnEscalation::Pause),
        ),
        scenario("checkpoint, reply at once", one, script().answers(&[reply("blue")]), asks()),
        scenario("checkpoint, fix", one, script().answers(&[fix("try it"), reply("good")]), asks()),
        scenario(
            "checkpoint, fix twice",
            one,
            script().answers(&[fix("try it"), fix("not like that"), reply("good")]),
            asks(),
        ),
        scenario(
            "checkpoint, the fix fails",
            one,
            script().at("1.1", 1, red("boom")).answers(&[fix("try it"), Response::Retry, reply("by hand")]),
            Rules { recovery: Recovery::On, ..asks() },
        ),
        scenario("checkpoint, skip", one, script().answers(&[Response::Skip]), asks()),
        scenario("checkpoint, skipped by rule", one, script(), asking(OnEscalation::Skip)),
        scenario("checkpoint, aborted by rule", one, script(), asking(OnEscalation::Abort)),
        scenario(
            "checkpoint, fix, abort, a new round",
            one,
            script().answers(&[fix("try it"), Response::Abort, reply("good")]).restarts(1),
            asks(),
        ),
        scenario("checkpoint, nobody answers", one, script().leaves(), asks()),
        scenario("a person goes away", &["1.1", "1.2"], denied("1.1").leaves(), asks()),
        scenario(
            "blocked by a checkpoint",
            &["1.1", "1.2 checkpoint"],
            script().at("1.1", 1, blocked(Some("1.2"))).answers(&[reply("blue")]),
            asking(OnEscalation::Pause),
        ),
    ]
}

/// While a person is asked, what does not depend on the answer goes on.
fn questions_beside_work() -> Vec<Scenario> {
    let family =
        &["1.1 in:a", "1.2 in:a,b", "1.3 in:b", "1.4 in:c on:1.1", "1.5", "1.6 verify in:d", "1.7 in:e"];
    let pair = &["1.1 in:a", "1.2 in:b"];
    vec![
        scenario("keep going", family, denied("1.1").answers(&[Response::Retry]), going(OnEscalation::Pause)),
        scenario(
            "keep going at the terminal",
            family,
            denied("1.1").answers(&[Response::Retry]),
            going(OnEscalation::Ask),
        ),
        scenario("keep going, skip", family, denied("1.1"), going(OnEscalation::Skip)),
        scenario(
            "keep going, two questions",
            &["1.1 in:a", "1.2 in:b", "1.3 in:c", "1.4"],
            denied("1.1").at("1.2", 1, agent(Agent::Denied)).answers(&[Response::Skip, Response::Retry]),
            going(OnEscalation::Pause),
        ),
        scenario("keep going, nobody answers", pair, denied("1.1"), going(OnEscalation::Pause)),
        scenario(
            "keep going, a checkpoint",
            &["1.1 in:a", "1.2 checkpoint", "1.3 checkpoint on:1.1", "1.4"],
            denied("1.1").answers(&[Response::Retry, reply("blue"), reply("red")]),
            phase(going(OnEscalation::Pause)),
        ),
        scenario(
            "keep going, the cap is reached",
            &["1.1 in:a", "1.2 in:b", "1.3 in:c"],
            denied("1.1").restarts(1),
            Rules {
                limits: Limits { global_iterations_max: Some(2), ..off().limits },
                ..going(OnEscalation::Pause)
            },
        ),
    ]
}

/// What goes on beside a question can fail, be repaired and wait as well.
fn work_beside_questions() -> Vec<Scenario> {
    let retry = &[Response::Retry];
    vec![
        scenario(
            "keep going, a retry",
            &["1.1 in:a", "1.2 in:b"],
            denied("1.1").at("1.2", 1, red("boom")).answers(retry),
            going(OnEscalation::Pause),
        ),
        scenario(
            "keep going, a fix",
            &["1.1 in:a", "1.2 in:b", "1.3 in:b"],
            denied("1.1").at("1.2", 1, red("boom")).at("1.2.1", 1, fails("bang")).answers(retry),
            Rules { recovery: Recovery::On, ..going(OnEscalation::Pause) },
        ),
        scenario(
            "keep going, a blocked task",
            &["1.1 in:a", "1.2 in:b", "1.3 in:b", "1.4 in:c"],
            denied("1.1").at("1.2", 1, blocked(Some("1.4"))).answers(retry),
            going(OnEscalation::Pause),
        ),
        scenario(
            "keep going, blocked by the question",
            &["1.1 in:a", "1.2 in:b", "1.3 in:c"],
            denied("1.1").at("1.2", 1, blocked(Some("1.1"))).answers(retry),
            going(OnEscalation::Pause),
        ),
        scenario(
            "keep going, blocked by what waits for the question",
            &["1.1 in:a", "1.2 in:b", "1.3 in:b", "1.4 in:a", "1.5 in:c"],
            denied("1.1").at("1.2", 1, blocked(Some("1.4"))).answers(retry),
            going(OnEscalation::Pause),
        ),
        scenario(
            "keep going, a fix asks",
            &["1.1 in:a", "1.2 in:a", "1.3 in:b"],
            script().at("1.1", 1, red("boom")).at("1.1.1", 1, agent(Agent::Denied)).answers(retry),
            Rules { recovery: Recovery::On, ..going(OnEscalation::Pause) },
        ),
    ]
}

/// Answers that are noted down before the run is started again.
fn notes() -> Vec<Scenario> {
    let judge = &["1.1 judge"];
    let by_person = || Rules { unverifiable: engine::Unverifiable::Ask, ..asking(OnEscalation::Pause) };
    let pause = || asking(OnEscalation::Pause);
    vec![
        scenario("retry, noted", &["1.1"], denied("1.1").answers(&[Response::Retry]).notes(), pause()),
        scenario("fix, noted", &["1.1"], denied("1.1").answers(&[fix("chmod")]).notes(), pause()),
        scenario("skip, noted", &["1.1", "1.2"], denied("1.1").answers(&[Response::Skip]).notes(), pause()),
        scenario(
            "abort, noted",
            &["1.1"],
            denied("1.1").answers(&[Response::Abort]).notes().restarts(1),
            pause(),
        ),
        scenario(
            "rejection, noted",
            judge,
            script().answers(&[Response::Reject("wrong".to_owned()), Response::Approve]).notes(),
            by_person(),
        ),
        scenario("reply, noted", &["1.1 checkpoint"], script().answers(&[reply("blue")]).notes(), pause()),
        scenario(
            "two answers, noted",
            &["1.1 in:a", "1.2 in:b", "1.3"],
            denied("1.1")
                .at("1.2", 1, agent(Agent::Denied))
                .answers(&[fix("chmod"), Response::Retry])
                .notes(),
            going(OnEscalation::Pause),
        ),
    ]
}

/// The other dialect: success is a result, and any rung of the ladder can be used.
fn phases() -> Vec<Scenario> {
    let two = &["03-01:task-1", "03-01:task-2"];
    let once = script()
        .at("03-01:task-1", 1, agent(Agent::Silent))
        .at("03-01:task-1", 2, agent(Agent::Contradicts))
        .at("03-01:task-2", 1, blocked(Some("03-01:task-3")));
    let red_thrice = || {
        let script = script().at("03-01:task-1", 1, red("a")).at("03-01:task-1", 2, red("b"));
        script.at("03-01:task-1", 3, red("c"))
    };
    vec![
        scenario(
            "a plan with phases",
            &["03-01:task-1", "03-01:task-2", "03-01:task-3"],
            once,
            phase(asking(OnEscalation::Pause)),
        ),
        scenario(
            "a plan with phases asks",
            two,
            red_thrice().answers(&[Response::Skip]),
            phase(asking(OnEscalation::Pause)),
        ),
        scenario("a plan with phases stops", two, red_thrice(), phase(off())),
        scenario("a plan with phases gets fixes", two, red_thrice(), phase(on())),
    ]
}

/// One eventful plan under every combination of the rules that decide what follows a failure or a question.
pub(crate) fn under_all_rules() -> Vec<Scenario> {
    let mut rules = vec![Rules { limits: Limits { fix_tasks_max: 2, ..off().limits }, ..off() }];
    rules = each(&rules, &[Recovery::Off, Recovery::On], |rules, recovery| Rules { recovery, ..rules });
    rules = each(&rules, &[OnExhausted::Stop, OnExhausted::Ask], |rules, on_exhausted| Rules {
        on_exhausted,
        ..rules
    });
    rules = each(&rules, &[Dialect::Spec, Dialect::Phase], |rules, dialect| Rules { dialect, ..rules });
    rules = each(&rules, &[Toggle::Off, Toggle::On], |rules, keep_going| Rules { keep_going, ..rules });
    let escalations = [OnEscalation::Ask, OnEscalation::Pause, OnEscalation::Skip, OnEscalation::Abort];
    rules = each(&rules, &escalations, |rules, on_escalation| Rules { on_escalation, ..rules });
    rules.into_iter().map(eventful).collect()
}

fn each<T: Copy>(rules: &[Rules], values: &[T], with: impl Fn(Rules, T) -> Rules) -> Vec<Rules> {
    rules.iter().flat_map(|rules| values.iter().map(|value| with(rules.clone(), *value))).collect()
}

fn eventful(rules: Rules) -> Scenario {
    let script = script()
        .at("1.1", 1, blocked(Some("1.4")))
        .at("1.2", 1, agent(Agent::Stuck("impossible", None)))
        .at("1.4", 1, red("a"))
        .at("1.4", 2, red("b"))
        .at("1.4", 3, agent(Agent::Silent))
        .at("1.4.1", 1, agent(Agent::Stuck("service_unavailable", None)))
        .at("1.5", 1, Turn { proof: Check::Red("lint".to_owned()), ..fails("no") })
        .at("1.6", 2, red("c"))
        .answers(&[Response::Retry, fix("so"), Response::Retry, fix("or so"), reply("good"), Response::Skip])
        .restarts(1);
    let plan = &[
        "1.1 in:a",
        "1.2 in:b",
        "1.3 checkpoint in:c",
        "1.4 in:d",
        "1.5 verify in:e",
        "1.6 in:b",
        "1.7 judge on:1.2",
        "1.8",
        "1.9 in:f",
    ];
    scenario("eventful", plan, script, rules)
}

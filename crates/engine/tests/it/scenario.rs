//! The catalogue of scenarios: a plan, a script and rules each. Their transcripts, and what crashes do to them,
//! are tested elsewhere.

use std::time::Duration;

use engine::{
    Changes, End, Facts, Limits, OnEscalation, OnExhausted, Prove, Recovery, Response, Rules, TaskDecl,
    Toggle, Unverifiable,
};

use crate::batches;
use crate::directives;
use crate::obstacles;
use crate::people::red_proof;
use crate::script::{Agent, Check, Edit, Recording, Says, Script, Turn, agent, fails, plan, red};
use crate::world::World;

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    plan: Vec<TaskDecl>,
    script: Script,
    rules: Rules,
}

impl Scenario {
    pub(crate) fn world(&self) -> World {
        World::new(&self.plan, self.script.clone(), self.rules.clone())
    }

    /// Whether crashes change nothing in the end. Where tasks run side by side, a run that stops before all is done
    /// has come as far with the others as time allowed, and a crash takes time; other settings then find more or
    /// less to do.
    pub(crate) fn is_comparable(&self, calm: &World) -> bool {
        let is_complete = matches!(calm.state.end(), Some(End::Complete { .. }));
        let is_steady = is_complete && self.script.later.is_none();
        self.is_timeless() && (self.rules.parallel.jobs == 1 || is_steady)
    }

    pub(crate) fn echoing(mut self) -> Self {
        self.script.echo = true;
        self
    }

    /// Whether nobody edits the plan or steers, and no clock decides: then the end depends on nothing but the script.
    pub(crate) fn is_timeless(&self) -> bool {
        let adds = |turn: &Turn| matches!(turn.agent, Agent::AddsTask);
        self.script.edits.is_empty()
            && self.script.directives.is_empty()
            && !self.script.turns.values().any(adds)
            && self.rules.limits.time_max.is_none()
    }
}

pub(crate) fn named(name: &str) -> Scenario {
    all().into_iter().find(|scenario| scenario.name == name).unwrap_or_else(|| panic!("no scenario {name}"))
}

pub(crate) fn all() -> Vec<Scenario> {
    [
        retries(),
        fixes(),
        verify_tasks(),
        judges(),
        absences(),
        questions(),
        records(),
        rounds(),
        edits(),
        medley(),
        obstacles::all(),
        directives::all(),
        batches::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn scenario(name: &'static str, tasks: &[&str], script: Script, rules: Rules) -> Scenario {
    Scenario { name, plan: plan(tasks), script, rules }
}

pub(crate) fn script() -> Script {
    Script::default()
}

pub(crate) fn off() -> Rules {
    Rules { limits: Limits { task_iterations_max: 3, ..Limits::default() }, ..Rules::default() }
}

pub(crate) fn on() -> Rules {
    Rules { recovery: Recovery::On, ..off() }
}

pub(crate) fn asking(on_escalation: OnEscalation) -> Rules {
    Rules { on_exhausted: OnExhausted::Ask, on_escalation, ..off() }
}

fn retries() -> Vec<Scenario> {
    let always_red = || script().at("1.1", 1, red("e1")).at("1.1", 2, red("e2")).at("1.1", 3, red("e3"));
    let every_cause = script()
        .at("1.1", 1, agent(Agent::Silent))
        .at("1.1", 2, agent(Agent::BadExit(9)))
        .at("1.1", 3, agent(Agent::TimesOut))
        .at("1.1", 4, agent(Agent::Contradicts))
        .at("1.1", 5, agent(Agent::Tampers("1.2".to_owned())))
        .at("1.1", 6, agent(Agent::TicksAndFails("half done".to_owned())))
        .at("1.1", 7, Turn { check: Check::ProvesNothing, ..Turn::default() })
        .at("1.1", 8, Turn { check: Check::OutOfScope, ..Turn::default() })
        .at("1.1", 9, Turn { check: Check::Bookkeeping, ..Turn::default() })
        .at("1.1", 10, Turn { check: Check::TimesOut, ..Turn::default() })
        .at("1.1", 11, agent(Agent::TicksOwnBox));
    let patient = Rules { limits: Limits { task_iterations_max: 20, ..Limits::default() }, ..off() };
    let capped = Rules { limits: Limits { global_iterations_max: Some(2), ..off().limits }, ..off() };
    vec![
        scenario("all green", &["1.1", "1.2 done", "1.3"], script(), off()),
        scenario("nothing to do", &["1.1 done"], script(), off()),
        scenario("empty plan", &[], script(), off()),
        scenario("retry", &["1.1", "1.2"], script().at("1.1", 1, fails("boom")), off()),
        scenario("retries exhausted", &["1.1", "1.2"], always_red(), off()),
        scenario("every cause is retried", &["1.1", "1.2"], every_cause.clone(), patient.clone()),
        scenario("global cap", &["1.1", "1.2"], always_red(), capped),
        scenario(
            "time is up",
            &["1.1", "1.2"],
            always_red(),
            Rules { limits: Limits { time_max: Some(Duration::from_secs(100)), ..off().limits }, ..off() },
        ),
        scenario(
            "every cause with recovery",
            &["1.1"],
            every_cause.until("1.1", 9),
            Rules { limits: Limits { fix_tasks_max: 9, ..patient.limits }, ..on() },
        ),
    ]
}

fn fixes() -> Vec<Scenario> {
    let deep = script().at("1.1", 1, fails("a")).at("1.1.1", 1, fails("b")).at("1.1.1.1", 1, fails("c")).at(
        "1.1.1.1.1",
        1,
        fails("d"),
    );
    let limit = script().at("1.1", 1, red("e1")).at("1.1", 2, red("e2")).at("1.1", 3, red("e3")).at(
        "1.1",
        4,
        red("e4"),
    );
    let capped = Rules { limits: Limits { global_iterations_max: Some(3), ..on().limits }, ..on() };
    vec![
        scenario("one fix", &["1.1", "1.2"], script().at("1.1", 1, fails("boom")), on()),
        scenario(
            "several fixes",
            &["1.1", "1.2"],
            script().at("1.1", 1, fails("boom")).at("1.1", 2, red("bang")),
            on(),
        ),
        scenario(
            "a fix of a fix",
            &["1.1", "1.2"],
            script().at("1.1", 1, fails("boom")).at("1.1.1", 1, fails("bang")),
            on(),
        ),
        scenario("fix limit", &["1.1", "1.2"], limit.clone(), on()),
        scenario("fix limit, a new round", &["1.1", "1.2"], limit.restarts(1), on()),
        scenario("fix depth", &["1.1", "1.2"], deep.clone(), on()),
        scenario("fix depth, a new round", &["1.1"], deep.restarts(1), on()),
        scenario(
            "global cap with recovery",
            &["1.1", "1.2"],
            script().at("1.1", 1, red("a")).at("1.1", 2, red("b")),
            capped,
        ),
        scenario(
            "a fix that changes nothing",
            &["1.1"],
            script().at("1.1", 1, red("boom")).at("1.1.1", 1, red("boom")),
            on(),
        ),
        scenario(
            "a fix that did its job",
            &["1.1"],
            script().at("1.1", 1, red("boom")).at("1.1.1", 1, red("bang")).at("1.1", 2, red("bang")),
            on(),
        ),
        scenario(
            "a fix that is red with other noise",
            &["1.1"],
            script().at("1.1", 1, red("noise")).at("1.1.1", 1, red("noise again")),
            on(),
        ),
        scenario(
            "ids that are taken",
            &["1.1", "1.1.1", "1.1.3 done"],
            script().at("1.1", 1, red("a")).at("1.1", 2, red("b")),
            on(),
        ),
        scenario(
            "a fix is skipped",
            &["1.1"],
            script()
                .at("1.1", 1, red("boom"))
                .at("1.1.1", 1, agent(Agent::Denied))
                .answers(&[Response::Skip]),
            Rules { on_escalation: OnEscalation::Ask, ..on() },
        ),
    ]
}

fn verify_tasks() -> Vec<Scenario> {
    let proof = |error: &str| Turn { proof: Check::Red(error.to_owned()), ..Turn::default() };
    vec![
        scenario("verify green at once", &["1.1", "1.2 verify"], script(), off()),
        scenario("verify red, QA repairs", &["1.1 verify"], script().at("1.1", 1, proof("lint")), off()),
        scenario(
            "verify red, QA gives up, fix",
            &["1.1 verify", "1.2"],
            script().at("1.1", 1, Turn { agent: Agent::NotVerified, ..proof("lint") }),
            on(),
        ),
        scenario(
            "verify red after the fix as well",
            &["1.1 verify"],
            script().at("1.1", 1, Turn { agent: Agent::NotVerified, ..proof("lint") }).at(
                "1.1",
                2,
                proof("more lint"),
            ),
            on(),
        ),
        scenario(
            "verify lacks a program",
            &["1.1", "1.2 verify"],
            script()
                .at("1.1", 1, lacks("jest"))
                .at("1.1", 2, lacks("npm"))
                .at("1.1", 3, lacks("npm"))
                .at("1.2", 1, Turn { proof: Check::CannotStart("npm"), ..lacks("npm") })
                .answers(&[Response::Retry, Response::Retry]),
            Rules { recovery: Recovery::On, ..asking(OnEscalation::Ask) },
        ),
        scenario(
            "verify in prose",
            &["1.1 verify judge"],
            script().at("1.1", 1, agent(Agent::NotVerified)),
            off(),
        ),
    ]
}

fn judges() -> Vec<Scenario> {
    let qa = |says: Says| Turn { qa: says, ..Turn::default() };
    let reviewer = |says: Says| Turn { reviewer: says, ..Turn::default() };
    let review = || Rules { review: Toggle::On, ..off() };
    let by_person = |on_escalation| Rules { unverifiable: Unverifiable::Ask, ..asking(on_escalation) };
    let no = || Says::No("the list is empty".to_owned());
    vec![
        scenario("QA judges", &["1.1 judge"], script().at("1.1", 1, qa(no())), off()),
        scenario("QA judges, recovery", &["1.1 judge"], script().at("1.1", 1, qa(no())), on()),
        scenario("reviewer judges", &["1.1", "1.2 verify"], script().at("1.1", 1, reviewer(no())), review()),
        scenario("both judge", &["1.1 judge"], script().at("1.1", 1, reviewer(no())), review()),
        scenario(
            "judges that do not judge",
            &["1.1 judge"],
            script().at(
                "1.1",
                1,
                Turn { qa: Says::TimesOut(1), reviewer: Says::Silent(2), ..Turn::default() },
            ),
            review(),
        ),
        scenario(
            "nothing was changed",
            &["1.1 judge", "1.2 judge", "1.3 judge"],
            script()
                .at("1.1", 1, Turn { facts: facts(Changes::None), ..qa(no()) })
                .at("1.2", 1, Turn { facts: facts(Changes::MadeBefore), ..Turn::default() })
                .at("1.3", 1, Turn { facts: facts(Changes::None), ..Turn::default() })
                .answers(&[Response::Approve]),
            asking(OnEscalation::Ask),
        ),
        scenario(
            "judges that misbehave",
            &["1.1 judge"],
            script().at("1.1", 1, qa(Says::Contradicts)).at("1.1", 2, qa(Says::Tampers)),
            off(),
        ),
        scenario(
            "a judge without permission",
            &["1.1 judge"],
            script().at("1.1", 1, qa(Says::Denied)).answers(&[Response::Retry]),
            asking(OnEscalation::Pause),
        ),
        scenario(
            "a person judges",
            &["1.1 judge"],
            script().answers(&[Response::Reject("wrong colour".to_owned()), Response::Approve]),
            by_person(OnEscalation::Ask),
        ),
        scenario(
            "a person judges later",
            &["1.1 judge"],
            script().answers(&[Response::Approve]),
            by_person(OnEscalation::Pause),
        ),
    ]
}

fn absences() -> Vec<Scenario> {
    let away = |absences, retry_after| Turn { absences, retry_after, ..Turn::default() };
    let impatient = || Rules { limits: Limits { unavailable_max: 3, ..off().limits }, ..off() };
    vec![
        scenario("agent away", &["1.1"], script().at("1.1", 1, away(4, None)), off()),
        scenario(
            "agent away and says until when",
            &["1.1"],
            script().at("1.1", 1, away(2, Some(Duration::from_secs(1_000)))),
            off(),
        ),
        scenario("agent stays away", &["1.1"], script().at("1.1", 1, away(5, None)).restarts(1), impatient()),
        scenario(
            "judge away",
            &["1.1 judge"],
            script().at("1.1", 1, Turn { qa: Says::Away(2), ..away(1, None) }),
            impatient(),
        ),
    ]
}

fn questions() -> Vec<Scenario> {
    let denied = || script().at("1.1", 1, agent(Agent::Denied));
    let thrice = || script().at("1.1", 1, red("e1")).at("1.1", 2, red("e2")).at("1.1", 3, red("e3"));
    let fix = |text: &str| Response::Fix(text.to_owned());
    let asks = || asking(OnEscalation::Ask);
    vec![
        scenario("denied, pause", &["1.1", "1.2"], denied(), asking(OnEscalation::Pause)),
        scenario("denied, nobody answers", &["1.1", "1.2"], denied(), asks()),
        scenario("denied, skip", &["1.1", "1.2"], denied(), asking(OnEscalation::Skip)),
        scenario("denied, abort", &["1.1", "1.2"], denied(), asking(OnEscalation::Abort)),
        scenario(
            "denied, fix",
            &["1.1"],
            denied().at("1.1", 2, red("e2")).answers(&[fix("use sudo"), fix("no, chmod")]),
            asks(),
        ),
        scenario(
            "denied while recovery is on",
            &["1.1"],
            denied().answers(&[Response::Retry]),
            Rules { recovery: Recovery::On, ..asks() },
        ),
        scenario(
            "exhausted, retry",
            &["1.1", "1.2"],
            thrice().at("1.1", 4, red("e4")).answers(&[Response::Retry]),
            asking(OnEscalation::Pause),
        ),
        scenario(
            "exhausted, fix",
            &["1.1", "1.2"],
            thrice().at("1.1", 4, red("e4")).answers(&[fix("trim"), fix("trim it all")]),
            asking(OnEscalation::Pause),
        ),
        scenario(
            "exhausted, skip",
            &["1.1", "1.2"],
            thrice().answers(&[Response::Skip]),
            asking(OnEscalation::Pause),
        ),
        scenario("exhausted, abort", &["1.1", "1.2"], thrice().answers(&[Response::Abort]), asks()),
        scenario(
            "fix limit, fix",
            &["1.1"],
            thrice()
                .at("1.1", 4, red("e4"))
                .at("1.1", 5, agent(Agent::Contradicts))
                .answers(&[fix("trim"), fix("trim it all")]),
            Rules { recovery: Recovery::On, ..asks() },
        ),
    ]
}

fn proving() -> Rules {
    Rules { prove: Prove::Report, regression: Toggle::On, ..off() }
}

fn records() -> Vec<Scenario> {
    let refused = || Turn { record: Recording::Refused("hook says no".to_owned()), ..Turn::default() };
    let blocked = || Turn { record: Recording::Blocked, ..Turn::default() };
    vec![
        scenario("commit refused", &["1.1"], script().at("1.1", 1, refused()), on()),
        scenario("commit of a proof refused", &["1.1 verify"], script().at("1.1", 0, refused()), off()),
        scenario("disk full", &["1.1", "1.2"], script().at("1.1", 1, blocked()).restarts(1), off()),
        scenario("regression green", &["1.1"], script(), Rules { regression: Toggle::On, ..off() }),
        scenario(
            "regression red",
            &["1.1"],
            Script { regressions: 1, restarts: 1, ..script() },
            Rules { regression: Toggle::On, ..off() },
        ),
        scenario("proof green", &["1.1", "1.2 done"], script(), proving()),
        scenario("proof red", &["1.1"], Script { proof: Some(red_proof()), ..script() }, proving()),
        scenario(
            "proof required",
            &["1.1", "1.2"],
            Script { proof: Some(red_proof()), ..script() },
            Rules { prove: Prove::Require, on_escalation: OnEscalation::Skip, ..off() },
        ),
        scenario("nothing to prove", &["1.1 done"], script(), proving()),
    ]
}

fn rounds() -> Vec<Scenario> {
    let four = || {
        script().at("1.1", 1, red("e1")).at("1.1", 2, red("e2")).at("1.1", 3, red("e3")).at(
            "1.1",
            4,
            red("e4"),
        )
    };
    let aborted = script().at("1.1", 1, agent(Agent::Denied)).restarts(1);
    let capped = Rules { limits: Limits { global_iterations_max: Some(2), ..off().limits }, ..off() };
    vec![
        scenario("a new round after a stop", &["1.1", "1.2"], four().restarts(1), off()),
        scenario(
            "a new round after a cap",
            &["1.1", "1.2"],
            script().at("1.1", 1, red("e1")).restarts(1),
            capped,
        ),
        scenario(
            "a new round, mended by hand",
            &["1.1", "1.2"],
            four().restarts(1).by_hand("a.ts").answers(&[Response::Approve]),
            off(),
        ),
        scenario(
            "a new round, mended by hand in part",
            &["1.1", "1.2"],
            four().restarts(1).by_hand("a.ts").answers(&[Response::Retry]),
            off(),
        ),
        scenario("a new round after an abort", &["1.1"], aborted, asking(OnEscalation::Abort)),
    ]
}

fn medley() -> Vec<Scenario> {
    let script = script()
        .at("1.1", 1, red("boom"))
        .at("1.2", 1, Turn { proof: Check::Red("lint".to_owned()), ..Turn::default() })
        .at("1.3", 1, Turn { absences: 1, qa: Says::No("too long".to_owned()), ..Turn::default() })
        .at("1.4", 1, agent(Agent::Denied))
        .answers(&[Response::Fix("chmod".to_owned())]);
    let rules = Rules { recovery: Recovery::On, regression: Toggle::On, ..asking(OnEscalation::Pause) };
    vec![scenario("a bit of everything", &["1.1", "1.2 verify", "1.3 judge", "1.4"], script, rules)]
}

fn edits() -> Vec<Scenario> {
    let fix = || script().at("1.1", 1, red("boom"));
    vec![
        scenario("a task is added", &["1.1", "1.2"], script().edit(1, Edit::Add(1)), off()),
        scenario("the last task adds one", &["1.1"], script().at("1.1", 1, agent(Agent::AddsTask)), off()),
        scenario("a task is removed", &["1.1", "1.2", "1.3"], script().edit(1, Edit::Remove(1)), off()),
        scenario("a task is ticked", &["1.1", "1.2", "1.3"], script().edit(1, Edit::Tick(1)), off()),
        scenario("a task is unticked", &["1.1", "1.2"], script().edit(1, Edit::Untick(0)), off()),
        scenario("tasks are reordered", &["1.1", "1.2", "1.3"], script().edit(1, Edit::Swap(1, 2)), off()),
        scenario("a task is reworded", &["1.1", "1.2"], script().edit(1, Edit::Reword(1)), off()),
        scenario("a failed task is ticked", &["1.1", "1.2"], fix().edit(1, Edit::Tick(0)), off()),
        scenario("a task that waits for its fix is ticked", &["1.1"], fix().edit(1, Edit::Tick(0)), on()),
        scenario(
            "a task is removed before its fix is written",
            &["1.1", "1.2"],
            fix().edit(1, Edit::Remove(0)),
            on(),
        ),
        scenario(
            "a skipped task is ticked",
            &["1.1", "1.2", "1.3"],
            script().at("1.1", 1, agent(Agent::Denied)).edit(2, Edit::Tick(0)),
            asking(OnEscalation::Skip),
        ),
        scenario(
            "a task is ticked while the run waits",
            &["1.1", "1.2"],
            script().at("1.1", 1, agent(Agent::Denied)).edit(1, Edit::Tick(0)).answers(&[Response::Retry]),
            asking(OnEscalation::Pause),
        ),
        scenario(
            "a task that failed for good is ticked",
            &["1.1", "1.2"],
            fix().at("1.1", 2, red("b")).at("1.1", 3, red("c")).restarts(1).edit(3, Edit::Tick(0)),
            off(),
        ),
    ]
}

fn facts(changes: Changes) -> Facts {
    Facts { changes, missing: Vec::new() }
}

fn lacks(what: &'static str) -> Turn {
    Turn { check: Check::CannotStart(what), ..Turn::default() }
}

//! How many transitions a second the engine makes: an event decided on or due, applied, and the actions that are
//! wanted after it. The plan has failures, fix tasks and `[VERIFY]` tasks in it; the world does nothing and takes
//! no time.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::disallowed_macros, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use engine::{
    Action, AgentEnd, AgentReport, Baseline, Cause, CheckFailure, ChecksReport, Claim, Facts, Failing,
    FileState, Isolation, Landing, Limits, Observation, Opening, Parallel, Record, Recovery, Rules, Seen,
    State, TaskDecl, TaskKind, Toggle, Verification, Waits, decide, due, schedule,
};
use jiff::Timestamp;
use plan::TaskId;

/// A run that takes longer is measured up to here.
const TIME_MAX: Duration = Duration::from_secs(3);

fn main() {
    for tasks in [1_000, 10_000] {
        // The first run warms up; the best of the others is the least disturbed one.
        measure(&format!("{tasks} tasks"), &plan(tasks), &Parallel::default());
        reread(tasks);
        look_ahead(&format!("{tasks} tasks"), &plan(tasks));
    }
    for (name, shape) in SHAPES {
        for tasks in [100, 1_000, 10_000] {
            let marked: Vec<TaskDecl> = plan(tasks).into_iter().zip(0..).map(shape).collect();
            measure(&format!("{tasks} [P] tasks {name}, 8 at once"), &marked, &eight());
            look_ahead(&format!("{tasks} [P] tasks {name}"), &marked);
        }
    }
}

fn eight() -> Parallel {
    Parallel { jobs: 8, infer: Toggle::Off, isolation: Isolation::Trees }
}

type Shape = fn((TaskDecl, usize)) -> TaskDecl;

/// Plans full of tasks that may run side by side, as far as their files and dependencies let them.
const SHAPES: [(&str, Shape); 6] = [
    ("without files", |(task, _)| marked(task)),
    ("with a file each", |(task, number)| about(task, format!("src/f{number}.rs"))),
    ("with a hundred files", |(task, number)| about(task, format!("src/f{}.rs", number % 100))),
    ("with one file", |(task, _)| about(task, "src/lib.rs".to_owned())),
    ("with patterns", |(task, number)| about(task, format!("src/{}/*{}.rs", number % 10, number % 50))),
    ("that wait for one", |(task, number)| {
        let depends_on = if number == 0 { Vec::new() } else { vec![TaskId::from("1.0")] };
        TaskDecl { depends_on, ..marked(task) }
    }),
];

fn marked(task: TaskDecl) -> TaskDecl {
    TaskDecl { parallel: true, kind: TaskKind::Work, ..task }
}

fn about(task: TaskDecl, file: String) -> TaskDecl {
    TaskDecl { files: vec![file], ..marked(task) }
}

fn measure(name: &str, plan: &[TaskDecl], parallel: &Parallel) {
    let figures = (0..3).map(|_| run(plan, parallel)).collect::<Vec<_>>();
    let (transitions, best) =
        figures.into_iter().min_by_key(|(_, elapsed)| *elapsed).expect("there are runs");
    report(name, transitions, best);
}

fn report(name: &str, transitions: u32, elapsed: Duration) {
    let rate = f64::from(transitions) / elapsed.as_secs_f64();
    let each = elapsed / transitions;
    println!("{name}: {transitions} transitions, {rate:.0} a second, {each:?} each");
}

/// What it costs to notice that nobody edited the plan.
fn reread(tasks: usize) {
    let plan = plan(tasks);
    let mut run = Run::new();
    run.see(Seen::Started(Opening { tasks: plan.clone(), ..Opening::default() }));
    let start = Instant::now();
    for _ in 0..100 {
        let seen = Seen::PlanRead(plan.clone());
        assert!(decide(&run.state, Observation { at: run.now, seen }).is_none());
    }
    println!("{tasks} tasks: {:?} to read a plan that has not changed", start.elapsed() / 100);
}

/// The cost of showing what waits for what before anything is done.
fn look_ahead(name: &str, plan: &[TaskDecl]) {
    let rules = Rules { parallel: eight(), ..Rules::default() };
    let tasks: Vec<&TaskDecl> = plan.iter().collect();
    let start = Instant::now();
    let steps = engine::steps(&rules, plan).len();
    let waits: usize = Waits::new(&rules, &tasks).map(|waits_for| waits_for.len()).sum();
    println!("{name}: {:?} to see {steps} steps and {waits} waits", start.elapsed());
}

fn plan(tasks: usize) -> Vec<TaskDecl> {
    (0..tasks).map(|number| decl(TaskId::from(format!("1.{number}").as_str()), number)).collect()
}

fn decl(id: TaskId, number: usize) -> TaskDecl {
    TaskDecl {
        title: format!("task {id}"),
        kind: if number % 5 == 4 { TaskKind::Verify } else { TaskKind::Work },
        verification: if number % 7 == 6 { Verification::Judgement } else { Verification::Command },
        command: None,
        fix_of: None,
        ticked: false,
        digest: 0,
        files: Vec::new(),
        depends_on: Vec::new(),
        stage: 0,
        parallel: false,
        id,
    }
}

/// A whole run: how many transitions it took, and how long.
fn run(plan: &[TaskDecl], parallel: &Parallel) -> (u32, Duration) {
    let limits = Limits { global_iterations_max: Some(u32::MAX), ..Limits::default() };
    let parallel = parallel.clone();
    let rules = Rules { limits, recovery: Recovery::On, parallel, ..Rules::default() };
    let opening = Opening { rules, tasks: plan.to_vec(), ..Opening::default() };
    let mut run = Run::new();
    run.see(Seen::Started(opening));
    let start = Instant::now();
    run.transitions = 0;
    while run.state.end().is_none() && start.elapsed() < TIME_MAX {
        let action = schedule(&run.state, run.now).into_iter().next().expect("something is wanted");
        assert!(!action.key().is_empty());
        run.see(outcome(&run.state, action));
    }
    (run.transitions, start.elapsed())
}

struct Run {
    state: State,
    now: Timestamp,
    transitions: u32,
}

impl Run {
    fn new() -> Self {
        Self { state: State::default(), now: Timestamp::UNIX_EPOCH, transitions: 0 }
    }

    fn see(&mut self, seen: Seen) {
        let mut event = decide(&self.state, Observation { at: self.now, seen });
        while let Some(next) = event {
            self.state.apply(&next).expect("what was decided can be applied");
            self.transitions += 1;
            event = due(&self.state, self.now);
        }
    }
}

/// What comes of an action: every tenth task fails at first, and every hundredth needs a second fix.
fn outcome(state: &State, action: Action) -> Seen {
    match action {
        Action::Prepare { task } => Seen::Prepared { task, baseline: Baseline::default() },
        Action::Prove { task } => {
            Seen::ProofEnded { task, report: ChecksReport::default(), uncommitted: Vec::new() }
        }
        Action::RunAgent { task, dispatch, .. } => {
            Seen::AgentEnded { task, dispatch, report: report_of_agent() }
        }
        Action::RunJudge { task, dispatch, .. } => {
            Seen::JudgeEnded { task, dispatch, report: report_of_agent(), facts: Facts::default() }
        }
        Action::Check { task, attempt, dispatch } => {
            let fails = (attempt.0 == 1 && task.name().ends_with('3'))
                || (attempt.0 == 2 && task.name().ends_with("33"));
            let is_fix = state.fix_plan(&task).is_some();
            Seen::ChecksEnded { task, dispatch, report: checks(fails && !is_fix), tree: None }
        }
        Action::Land { task, dispatch, .. } => Seen::LandingEnded {
            task,
            dispatch,
            landing: Landing::Done { touched: Vec::new(), onto: None, commit: None },
        },
        Action::Join { task, dispatch, .. } => {
            Seen::JoinEnded { task, dispatch, report: checks(false), tree: None }
        }
        Action::Record { task, .. } => Seen::Recorded { task, record: Record::Kept { commit: None } },
        Action::InsertFix { fix } => Seen::FixInserted { decl: Box::new(decl(fix, 0)) },
        Action::Ask { .. } | Action::Regress | Action::ProveAll | Action::Forge(_) => Seen::Interrupted,
    }
}

fn report_of_agent() -> AgentReport {
    AgentReport {
        end: AgentEnd::Answered { claim: Claim::Complete, contradiction: None, tail: String::new() },
        tampered: Vec::new(),
        lost_commit: None,
        touched: vec![FileState { path: "src/lib.rs".to_owned(), state: "modified".to_owned() }],
        learnings: Vec::new(),
        elapsed: Duration::ZERO,
        unfit: None,
    }
}

fn checks(fails: bool) -> ChecksReport {
    let failure = fails.then(|| CheckFailure {
        cause: Cause::VerifyRed,
        error: "1 failed".to_owned(),
        details: "FAIL src/lib.rs: it does not work\n".repeat(10),
        command: Some("cargo test".to_owned()),
        exit_code: Some(101),
        failing: Failing::default(),
    });
    ChecksReport { failure, warnings: Vec::new(), ..ChecksReport::default() }
}

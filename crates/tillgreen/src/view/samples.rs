//! Small runs for the tests of views.

use engine::{
    Attempt, Awaited, Cause, Dispatch, End, Event, Failure, FixPlan, Opened, PlanChanges, Published,
    PullRequestEvent, Question, Role, Rules, Rung, Started, State, TaskDecl, TaskKind, Verification, What,
};
use jiff::{SignedDuration, Timestamp};
use plan::TaskId;

use super::subject::Subject;

pub(crate) fn subject() -> Subject {
    Subject {
        name: "auth".to_owned(),
        path: "specs/auth/tasks.md".to_owned(),
        progress: "specs/auth/.progress.md".to_owned(),
        argument: None,
        folder: None,
        file: None,
        instead: None,
    }
}

/// So many seconds after the beginning.
pub(crate) fn time(seconds: i64) -> Timestamp {
    let begin: Timestamp = "2026-01-26T14:30:00Z".parse().unwrap();
    begin + SignedDuration::from_secs(seconds)
}

pub(crate) fn decl(id: &str, title: &str) -> TaskDecl {
    TaskDecl {
        id: TaskId::new(id),
        title: title.to_owned(),
        kind: TaskKind::Work,
        verification: Verification::Command,
        command: None,
        fix_of: None,
        ticked: id == "1.1",
        digest: 0,
        files: Vec::new(),
        depends_on: Vec::new(),
        stage: 0,
        parallel: false,
    }
}

/// A run as it unfolds, ten seconds an event.
#[derive(Clone)]
pub(crate) struct Story {
    events: Vec<Event>,
    state: State,
    dispatches: u32,
    /// Seconds in which no program was there.
    idle: i64,
}

impl Story {
    /// A plan of three tasks, the first of them ticked.
    pub(crate) fn new(rules: Rules) -> Self {
        let added = vec![decl("1.1", "Set up"), decl("1.2", "Add a parser"), decl("1.3", "Use the parser")];
        let changes = PlanChanges { added, ..PlanChanges::default() };
        let story = Self { events: Vec::new(), state: State::default(), dispatches: 0, idle: 0 };
        story.then(What::Opened(Box::new(opened(rules, changes))))
    }

    /// So many seconds pass while no program is there.
    pub(crate) fn idles(self, seconds: i64) -> Self {
        Self { idle: self.idle + seconds, ..self }
    }

    /// The program is started again, after ten more seconds.
    pub(crate) fn opens(self) -> Self {
        let round = self.state.opened().map_or(1, |opened| opened.round);
        self.opens_round(round)
    }

    pub(crate) fn opens_round(self, round: u32) -> Self {
        let rules = self.state.rules().cloned().unwrap_or_default();
        let opened = Opened { round, ..opened(rules, PlanChanges::default()) };
        self.then(What::Opened(Box::new(opened)))
    }

    pub(crate) fn then(mut self, what: What) -> Self {
        let event = Event::new(time(self.idle + 10 * i64::try_from(self.events.len()).unwrap()), what);
        self.state.apply(&event).unwrap();
        self.events.push(event);
        self
    }

    pub(crate) fn at_forge(self, event: PullRequestEvent) -> Self {
        self.then(What::PullRequest(Box::new(event)))
    }

    /// A look shows a check that has not ended.
    pub(crate) fn looks(self) -> Self {
        let awaited = Awaited::Checks { pending: 1, total: 3, names: vec!["CI / test".to_owned()] };
        self.at_forge(PullRequestEvent::Looked { awaited, until: time(300), checks: vec![] })
    }

    pub(crate) fn starts(mut self, id: &str) -> Self {
        self.dispatches += 1;
        let attempt = self.state.task(&TaskId::new(id)).unwrap().next_attempt();
        let dispatch = Dispatch(self.dispatches);
        let started = Started {
            task: TaskId::new(id),
            attempt,
            dispatch,
            role: Role::Executor,
            head: None,
            tree: None,
            hooks: Vec::new(),
            slot: None,
        };
        self.then(What::AttemptStarted(started))
    }

    pub(crate) fn claims(self, id: &str) -> Self {
        let (task, dispatch) = (TaskId::new(id), Dispatch(self.dispatches));
        self.then(What::AttemptClaimed {
            task,
            dispatch,
            touched: vec![],
            learnings: vec![],
            elapsed_ms: 4_200,
        })
    }

    pub(crate) fn passes(self, id: &str) -> Self {
        let task = TaskId::new(id);
        let story = self.starts(id).claims(id);
        let story = story.then(What::ChecksPassed {
            task: task.clone(),
            warnings: vec![],
            judge: None,
            tree: None,
            hooks_gone: vec![],
        });
        story.then(What::TaskDone { task, commit: Some("0123456789abcdef".to_owned()) })
    }

    pub(crate) fn fails_by(self, id: &str, error: &str, rung: Rung) -> Self {
        let task = TaskId::new(id);
        let story = self.starts(id);
        let attempt = story.state.task(&task).unwrap().next_attempt();
        let failure = failure(attempt, error, rung, time(10 * i64::try_from(story.events.len()).unwrap()));
        story.then(What::AttemptFailed { task, failure: Box::new(failure), touched: vec![] })
    }

    pub(crate) fn fails(self, id: &str, error: &str) -> Self {
        self.fails_by(id, error, Rung::Retry)
    }

    pub(crate) fn retries(self, id: &str) -> Self {
        let task = TaskId::new(id);
        let attempt = self.state.task(&task).unwrap().next_attempt();
        self.then(What::RetryPlanned { task, attempt })
    }

    pub(crate) fn plans_fix(self, failing: &str, fix: &str, error: &str) -> Self {
        let (failing, fix) = (TaskId::new(failing), TaskId::new(fix));
        let title = format!("Fix: {error}");
        let story = self.then(What::FixPlanned(FixPlan {
            fix: fix.clone(),
            failing,
            error: error.to_owned(),
            attempted_fix: None,
        }));
        story.then(What::FixInserted { decl: Box::new(decl(fix.name(), &title)) })
    }

    pub(crate) fn escalates(self, id: &str) -> Self {
        self.then(What::Escalated { task: TaskId::new(id), question: Question::Exhausted })
    }

    pub(crate) fn skips(self, id: &str) -> Self {
        self.then(What::TaskSkipped {
            task: TaskId::new(id),
            reason: "User escalation - automated recovery failed".to_owned(),
            dependents: Vec::new(),
        })
    }

    pub(crate) fn end(self, end: End) -> Self {
        self.then(What::Ended(end))
    }

    pub(crate) fn state(self) -> State {
        self.state
    }

    /// Every event with the state after it.
    pub(crate) fn replay(&self) -> Vec<(Event, State)> {
        let mut state = State::default();
        let each = |event: &Event| {
            state.apply(event).unwrap();
            (event.clone(), state.clone())
        };
        self.events.iter().map(each).collect()
    }
}

fn opened(rules: Rules, changes: PlanChanges) -> Opened {
    Opened {
        round: 1,
        rules,
        launch: [].into(),
        changes,
        dirty: vec![],
        lost: vec![],
        gone: vec![],
        outdated: vec![],
        head: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        surroundings: None,
    }
}

/// A pull request whose checks are waited for.
pub(crate) fn watched() -> Story {
    let published = Published {
        number: 7,
        url: "https://github.com/acme/widgets/pull/7".to_owned(),
        branch: "feature".to_owned(),
        base: "main".to_owned(),
        head: "0123456789abcdef".to_owned(),
        series: "5.".to_owned(),
        warnings: Vec::new(),
    };
    Story::new(Rules::default())
        .passes("1.2")
        .passes("1.3")
        .at_forge(PullRequestEvent::Begun)
        .at_forge(PullRequestEvent::Published { published, cycle: 1 })
        .looks()
}

pub(crate) fn failure(attempt: Attempt, error: &str, rung: Rung, at: Timestamp) -> Failure {
    Failure {
        attempt,
        at,
        cause: Cause::VerifyRed,
        rung,
        error: error.to_owned(),
        details: format!("FAIL {error}\n  expected 2, got 3"),
        command: Some("npm test".to_owned()),
        exit_code: Some(1),
        failing: engine::Failing::default(),
        tree: None,
        attempted_fix: None,
        suggested_fix: None,
        root_cause: None,
        blocked_by: None,
        files: vec![engine::FileState {
            path: "src/parser.ts".to_owned(),
            state: "partially modified".to_owned(),
        }],
        learnings: vec![],
        elapsed_ms: 5_000,
    }
}

/// A task that needed a fix, and a fix of that.
pub(crate) fn fixed() -> Story {
    let rules = Rules { recovery: engine::Recovery::On, ..Rules::default() };
    Story::new(rules)
        .fails_by("1.2", "no parser", Rung::Fix)
        .plans_fix("1.2", "1.2.1", "no parser")
        .fails_by("1.2.1", "no file", Rung::Fix)
        .plans_fix("1.2.1", "1.2.1.1", "no file")
        .passes("1.2.1.1")
        .retries("1.2.1")
        .passes("1.2.1")
        .retries("1.2")
        .passes("1.2")
        .passes("1.3")
}

/// The settings of a run with an agent, and otherwise the defaults.
pub(crate) fn settings(agent: runner::Agent) -> runner::Settings {
    let minute = std::time::Duration::from_secs(60);
    runner::Settings {
        rules: Rules::default(),
        agent,
        agents: Vec::new(),
        resume_sessions: engine::Toggle::Off,
        report_tools: engine::Toggle::On,
        write_back: engine::Toggle::On,
        red_before: runner::RedBefore::On,
        attempt_timeout: minute,
        no_progress_timeout: minute,
        verify_timeout: minute,
        review_timeout: minute,
        bookkeeping: runner::Bookkeeping::Coordinator,
        scope: runner::Scope::Warn,
        strict: engine::Toggle::Off,
        clean_retry: engine::Toggle::Off,
        branch: None,
        commit_prefix: None,
        allow_dirty: engine::Toggle::Off,
        worktrees: runner::Worktrees::default(),
        pull_request: runner::PullRequest::default(),
        sandbox: runner::Sandboxing::Off,
        mask: Vec::new(),
        regression: None,
        prove_budget: None,
        planning: None,
        launch: std::collections::BTreeMap::new(),
    }
}

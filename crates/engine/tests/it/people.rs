//! How the scripted agents, checks and people of the world carry out what the engine wants.

use std::time::Duration;

use engine::{
    Action, AgentEnd, AgentReport, Baseline, Cause, CheckFailure, ChecksReport, Claim, Dialect, Event,
    Failing, FailureClaim, FileState, Item, ItemStage, Landing, Proof, ProofVerdict, Question, Record,
    Response, Role, Seen, State, Status, TaskDecl, TaskKind, TaskProof, Tool, What,
};
use plan::TaskId;

use crate::script::{Agent, Back, By, Check, Recording, Says, Treeless, Turn};
use crate::world::World;

/// The final proof of whatever is done, with the same verdict on each task.
pub(crate) fn proved(state: &State, verdict: &ProofVerdict) -> Proof {
    let done = state.tasks().iter().filter(|task| task.is_done_here());
    let result = |task: &TaskId| TaskProof {
        task: task.clone(),
        command: Some("make test".to_owned()),
        verdict: verdict.clone(),
    };
    let results = done.map(|task| result(task.id())).collect();
    let head = state.opened().and_then(|opened| opened.head.clone()).unwrap_or_else(|| "4ead".to_owned());
    Proof { head, tree: "7ree".to_owned(), results, linked: Vec::new(), elapsed_ms: 5 }
}

/// A red command in a clean checkout.
pub(crate) fn red_proof() -> ProofVerdict {
    let differs = Some("`out.txt` is ignored by git".to_owned());
    ProofVerdict::Red { exit_code: Some(1), error: "1 failed".to_owned(), differs }
}

impl World {
    /// Does an action and reports what is seen of it.
    pub(crate) fn perform(&mut self, action: &Action) -> Vec<Seen> {
        if let Some(failed) = self.without_tree(action) {
            return vec![failed];
        }
        match action {
            Action::Prepare { task } => {
                let baseline = Baseline { head: Some("4ead".to_owned()), tree: None, ..Baseline::default() };
                vec![Seen::PlanRead(self.file.clone()), Seen::Prepared { task: task.clone(), baseline }]
            }
            Action::Prove { task } => {
                let attempt = self.state.task(task).map_or(1, |task| task.next_attempt().0);
                let proof = self.script.turn(task, attempt).proof;
                vec![Seen::ProofEnded {
                    task: task.clone(),
                    report: self.checked(task, attempt, &proof),
                    uncommitted: self.script.by_hand.clone(),
                }]
            }
            Action::RunAgent { task, attempt, dispatch, .. } => {
                self.set_box(task, false);
                let report = self.worked(task, attempt.0);
                let ended = Seen::AgentEnded { task: task.clone(), dispatch: *dispatch, report };
                self.packed(task, *dispatch).into_iter().chain([ended]).collect()
            }
            Action::Check { task, attempt, dispatch } => {
                let check = self.script.turn(task, attempt.0).check;
                let report = self.checked(task, attempt.0, &check);
                vec![Seen::ChecksEnded { task: task.clone(), dispatch: *dispatch, report, tree: None }]
            }
            Action::RunJudge { task, attempt, dispatch, role } => {
                let report = self.judged(task, attempt.0, *role);
                let facts = self.script.turn(task, attempt.0).facts;
                vec![Seen::JudgeEnded { task: task.clone(), dispatch: *dispatch, report, facts }]
            }
            Action::Land { task, attempt, dispatch } => {
                let landing = self.landed(task, attempt.0);
                vec![Seen::LandingEnded { task: task.clone(), dispatch: *dispatch, landing }]
            }
            Action::Join { task, attempt, dispatch } if self.is_taken_out(task, attempt.0) => {
                vec![Seen::Displaced { task: task.clone(), dispatch: *dispatch }]
            }
            Action::Join { task, attempt, dispatch } => {
                let join = self.script.turn(task, attempt.0).join;
                let mut report = self.checked(task, attempt.0, &join);
                if let Some(failure) = &mut report.failure {
                    failure.cause = Cause::RedTogether;
                }
                let tree = report.failure.is_none().then(|| format!("tree-{task}"));
                vec![Seen::JoinEnded { task: task.clone(), dispatch: *dispatch, report, tree }]
            }
            Action::Record { task, attempt } => {
                let record = self.recorded(task, attempt.map_or(0, |attempt| attempt.0), &action.key());
                vec![Seen::PlanRead(self.file.clone()), Seen::Recorded { task: task.clone(), record }]
            }
            Action::InsertFix { fix } => vec![Seen::FixInserted { decl: Box::new(self.insert(fix)) }],
            Action::Ask { task } => match self.answer(task) {
                Some(response) => vec![Seen::Answered { task: task.clone(), response }],
                None if self.script.leaves => vec![Seen::NobodyAnswers { task: task.clone() }],
                None => vec![Seen::Interrupted],
            },
            Action::Forge(forge) => vec![Seen::Forge { key: action.key(), report: self.at_forge(forge) }],
            Action::ProveAll => vec![self.proved()],
            Action::Regress => {
                let red = |event: &&Event| matches!(&event.what, What::Ended(engine::End::Stopped(_)));
                let is_red = self.journal.iter().filter(red).count() < self.script.regressions;
                let failure = is_red.then(|| failure(Cause::VerifyRed, "old tests fail"));
                vec![Seen::RegressionEnded {
                    report: ChecksReport { failure, warnings: Vec::new(), ..ChecksReport::default() },
                }]
            }
        }
    }

    fn proved(&self) -> Seen {
        let verdict = self.script.proof.clone().unwrap_or(ProofVerdict::Green { exit_code: 0 });
        Seen::ProofTaken { proof: Box::new(proved(&self.state, &verdict)) }
    }

    /// What is seen instead where the work tree is missing in which something was to be done.
    fn without_tree(&self, action: &Action) -> Option<Seen> {
        let (task, attempt, dispatch, at) = match action {
            Action::RunAgent { task, attempt, dispatch, .. } => (task, attempt, dispatch, Treeless::AtStart),
            Action::Check { task, attempt, dispatch } => (task, attempt, dispatch, Treeless::AtChecks),
            Action::Land { task, attempt, dispatch } => (task, attempt, dispatch, Treeless::AtLanding),
            Action::Join { task, attempt, dispatch } => (task, attempt, dispatch, Treeless::AtJoin),
            Action::Prepare { .. }
            | Action::Prove { .. }
            | Action::RunJudge { .. }
            | Action::Record { .. }
            | Action::InsertFix { .. }
            | Action::Ask { .. }
            | Action::Regress
            | Action::ProveAll
            | Action::Forge(_) => return None,
        };
        let is_missing = self.is_isolated(task) && self.script.turn(task, attempt.0).treeless == at;
        let reason = "disk full".to_owned();
        is_missing.then(|| Seen::TreeFailed { task: task.clone(), dispatch: *dispatch, reason })
    }

    /// What an attempt in a slot left is packed.
    fn packed(&self, task: &TaskId, dispatch: engine::Dispatch) -> Option<Seen> {
        let commit = Some(format!("work-{task}-{dispatch}"));
        let packed = || Seen::Packed { task: task.clone(), dispatch, base: "4ead".to_owned(), commit };
        self.is_isolated(task).then(packed)
    }

    /// The text of a failure, with a mark that no other failure has.
    fn text(&mut self, task: &TaskId, attempt: u32, error: &str) -> String {
        if !self.script.marks() {
            return error.to_owned();
        }
        let mark = format!("mark-{task}-{attempt}-{}-mark", error.replace(' ', "-"));
        self.marks.entry(task.clone()).or_default().insert(mark.clone());
        let filling = usize::try_from(attempt % 7).unwrap_or_default() * 150;
        format!("{error} <&> {mark}\n{}", "x &\n".repeat(filling))
    }

    /// How often the agent has been heard to be away since the task last came forward.
    fn absences(&self, id: &TaskId) -> u32 {
        let came_forward = |event: &&Event| {
            matches!(&event.what,
                What::AttemptFailed { task, .. }
                | What::ChecksPassed { task, .. }
                | What::JudgePassed { task, .. }
                | What::TaskDone { task, .. } if task == id)
        };
        let is_absence = |event: &&Event| {
            matches!(&event.what,
                What::AgentUnavailable { task, .. } | What::NoVerdict { task, .. } if task == id)
        };
        let since = self.journal.iter().rev().take_while(|event| !came_forward(event));
        u32::try_from(since.filter(is_absence).count()).expect("a small number")
    }

    /// How an agent of this kind ends.
    fn end(&mut self, task: &TaskId, attempt: u32, agent: &Agent) -> AgentEnd {
        let dialect = self.rules.dialect;
        let is_verify = self.state.task(task).is_some_and(|task| task.decl.kind == TaskKind::Verify);
        let signal = match (dialect, is_verify) {
            (Dialect::Spec | Dialect::Phase, true) => "VERIFICATION_PASS",
            (Dialect::Phase, false) => "```yaml\nstatus: success\n```",
            (Dialect::Spec, false) => "TASK_COMPLETE",
        };
        let role = if is_verify { Role::Qa } else { Role::Executor };
        let mut text = |error: &str| self.text(task, attempt, error);
        let answer = match agent {
            Agent::Complete | Agent::TicksOwnBox | Agent::AddsTask | Agent::Tampers(_) => signal.to_owned(),
            Agent::Silent => text("I looked around"),
            Agent::NotVerified => format!("{}\nVERIFICATION_FAIL", text("red")),
            Agent::Contradicts => {
                format!("{}\nThe rest requires manual testing.\n{signal}", text("almost done"))
            }
            Agent::Stuck(status, by) => {
                let by = by.as_ref().map(|by| match by {
                    By::Itself => format!("blocked_by: {task}\n"),
                    By::Task(name) => format!("blocked_by: {name}\n"),
                });
                let by = by.unwrap_or_default();
                format!("{}\n\n```yaml\nstatus: {status}\nreason: it is {status}\n{by}```\n", text("stuck"))
            }
            Agent::Fails(error) | Agent::TicksAndFails(error) => return said_failed(&text(error)),
            Agent::BadExit(code) => {
                return AgentEnd::Exited { code: *code, claim: Claim::Silent, tail: text("crashed") };
            }
            Agent::TimesOut => {
                let limit = "no progress for 10m".to_owned();
                return AgentEnd::TimedOut { limit, tail: text("still working") };
            }
            Agent::Denied => return AgentEnd::PermissionDenied { text: text("may not write") },
        };
        said(&answer, dialect, role)
    }

    fn worked(&mut self, task: &TaskId, attempt: u32) -> AgentReport {
        let turn = self.script.turn(task, attempt);
        if self.absences(task) < turn.absences {
            return away(&turn);
        }
        let end = self.end(task, attempt, &turn.agent);
        let tampered = if let Agent::Tampers(other) = &turn.agent {
            vec![TaskId::from(other.as_str())]
        } else {
            Vec::new()
        };
        let touched =
            vec![FileState { path: format!("src/{task}.rs"), state: "partially modified".to_owned() }];
        let learnings = turn.learning.into_iter().collect();
        AgentReport {
            end,
            tampered,
            lost_commit: None,
            touched,
            learnings,
            elapsed: Duration::from_secs(60),
            unfit: None,
        }
    }

    fn checked(&mut self, task: &TaskId, attempt: u32, check: &Check) -> ChecksReport {
        let mut warnings = Vec::new();
        let failure = match check {
            Check::Green => None,
            Check::Red(error) => {
                let red = failure(Cause::VerifyRed, &self.text(task, attempt, error));
                Some(CheckFailure { failing: failing(error), ..red })
            }
            Check::SameRed => Some(self.same_red(task, attempt)),
            Check::TimesOut => Some(CheckFailure {
                exit_code: None,
                ..failure(Cause::VerifyTimeout, &self.text(task, attempt, "verify timed out after 2m"))
            }),
            Check::CannotStart(lacks) => {
                let error = format!("the verify command cannot start: {lacks} is not there");
                Some(failure(Cause::VerifyCannotStart, &error))
            }
            Check::ProvesNothing => {
                Some(other(Cause::ProvesNothing, &self.text(task, attempt, "proves nothing")))
            }
            Check::OutOfScope => {
                Some(other(Cause::OutOfScope, &self.text(task, attempt, "out of scope: b.rs")))
            }
            Check::Bookkeeping => {
                warnings.push("the box was not ticked".to_owned());
                let error = "uncommitted spec files detected - task not properly committed";
                Some(other(Cause::Bookkeeping, &self.text(task, attempt, error)))
            }
        };
        ChecksReport { failure, warnings, ..ChecksReport::default() }
    }

    /// What the original's command showed when this fix was decided on.
    fn same_red(&mut self, task: &TaskId, attempt: u32) -> CheckFailure {
        let original = self.state.fix_plan(task).and_then(|fix| self.state.task(&fix.failing));
        let shown = original.and_then(|task| task.last_failure()).cloned();
        let Some(shown) = shown else { return failure(Cause::VerifyRed, &self.text(task, attempt, "red")) };
        let is_shown = |mark: &&String| shown.details.contains(*mark) || shown.error.contains(*mark);
        let marks: Vec<String> = self.marks.values().flatten().filter(is_shown).cloned().collect();
        self.marks.entry(task.clone()).or_default().extend(marks);
        CheckFailure {
            cause: Cause::VerifyRed,
            error: shown.error,
            details: shown.details,
            command: Some("cargo test".to_owned()),
            exit_code: shown.exit_code.or(Some(1)),
            failing: shown.failing,
        }
    }

    fn judged(&mut self, task: &TaskId, attempt: u32, role: Role) -> AgentReport {
        let turn = self.script.turn(task, attempt);
        let (absences, dialect) = (self.absences(task), self.rules.dialect);
        let says = if role == Role::Reviewer { &turn.reviewer } else { &turn.qa };
        let end = match says {
            Says::TimesOut(times) if absences < *times => {
                AgentEnd::TimedOut { limit: "5m".to_owned(), tail: "reading".to_owned() }
            }
            Says::Silent(times) if absences < *times => said("It looks interesting.", dialect, role),
            Says::Away(times) if absences < *times => return away(&turn),
            Says::Yes | Says::TimesOut(_) | Says::Silent(_) if absences < turn.absences => {
                return away(&turn);
            }
            Says::Yes | Says::TimesOut(_) | Says::Away(_) | Says::Silent(_) | Says::Tampers => {
                said("VERIFICATION_PASS", dialect, role)
            }
            Says::No(error) => {
                said(&format!("{}\nVERIFICATION_FAIL", self.text(task, attempt, error)), dialect, role)
            }
            Says::Contradicts => said("It needs human eyes.\nVERIFICATION_PASS", dialect, role),
            Says::Denied => AgentEnd::PermissionDenied { text: self.text(task, attempt, "may not read") },
        };
        let tampered = if matches!(says, Says::Tampers) { vec![task.clone()] } else { Vec::new() };
        AgentReport {
            end,
            tampered,
            lost_commit: None,
            touched: Vec::new(),
            learnings: Vec::new(),
            elapsed: Duration::from_secs(9),
            unfit: None,
        }
    }

    /// Whether the work of the task's latest attempt is in the project for the first time: it came in from a tree, once
    /// so far, or was made there and has never been verified again.
    fn is_there_first(&self, task: &TaskId) -> bool {
        let of_attempt = self.journal.iter().rev().take_while(
            |event| !matches!(&event.what, What::AttemptStarted(started) if started.task == *task),
        );
        let landings =
            of_attempt.filter(|event| matches!(&event.what, What::LandingStarted { task: it } if it == task));
        landings.count() == usize::from(self.is_isolated(task))
    }

    fn recorded(&mut self, task: &TaskId, attempt: u32, key: &str) -> Record {
        match self.script.turn(task, attempt).record {
            Recording::Refused(error) => {
                return Record::Refused(other(Cause::CommitRefused, &self.text(task, attempt, &error)));
            }
            Recording::Blocked if !self.was_blocked() => {
                return Record::Blocked { reason: "the disk is full".to_owned() };
            }
            // What its command alone proved was made by nobody.
            Recording::Moved if attempt > 0 && self.is_there_first(task) => return Record::Moved,
            Recording::MovedAgainAndAgain if !self.was_blocked() && self.is_isolated(task) => {
                return Record::Moved;
            }
            Recording::InTheWay if self.is_isolated(task) && !self.was_asked(task) => {
                return Record::InTheWay { files: vec!["notes.txt".to_owned()] };
            }
            Recording::AlwaysInTheWay if self.is_isolated(task) => {
                return Record::InTheWay { files: vec!["notes.txt".to_owned()] };
            }
            Recording::Kept
            | Recording::Blocked
            | Recording::Moved
            | Recording::MovedAgainAndAgain
            | Recording::TakenOut
            | Recording::TakenOutAgainAndAgain
            | Recording::InTheWay
            | Recording::AlwaysInTheWay => {}
        }
        self.set_box(task, true);
        let next = format!("c{}", self.commits.len() + 1);
        let commit = self.commits.entry(key.to_owned()).or_insert(next);
        Record::Kept { commit: Some(commit.clone()) }
    }

    fn is_taken_out(&self, task: &TaskId, attempt: u32) -> bool {
        match self.script.turn(task, attempt).record {
            Recording::TakenOut => self.is_there_first(task),
            Recording::TakenOutAgainAndAgain => !self.was_blocked(),
            Recording::Kept
            | Recording::Refused(_)
            | Recording::Blocked
            | Recording::Moved
            | Recording::MovedAgainAndAgain
            | Recording::InTheWay
            | Recording::AlwaysInTheWay => false,
        }
    }

    fn landed(&mut self, task: &TaskId, attempt: u32) -> Landing {
        match self.script.turn(task, attempt).landing {
            Back::Conflicts(error) => {
                Landing::Failed(other(Cause::Conflict, &self.text(task, attempt, &error)))
            }
            Back::Blocked if !self.was_blocked() => {
                Landing::Blocked { reason: "notes.txt is in the way".to_owned() }
            }
            Back::Lands | Back::Blocked => Landing::Done {
                touched: vec![format!("{task}.txt")],
                onto: Some("4ead".to_owned()),
                commit: Some(format!("landed-{task}-{attempt}")),
            },
        }
    }

    fn is_isolated(&self, task: &TaskId) -> bool {
        self.state.task(task).is_some_and(|task| task.is_isolated())
    }

    /// Whether a person was asked about files that are in the way of the task.
    fn was_asked(&self, id: &TaskId) -> bool {
        let is_question = |event: &Event| matches!(&event.what, What::Escalated { task, question: Question::InTheWay } if task == id);
        self.journal.iter().any(is_question)
    }

    fn was_blocked(&self) -> bool {
        self.journal.iter().any(|event| matches!(&event.what, What::Ended(engine::End::Unavailable { .. })))
    }

    /// Writes a fix task into the plan: behind the failing task and its earlier fixes. One that stands there
    /// already is left alone.
    fn insert(&mut self, fix: &TaskId) -> TaskDecl {
        if let Some(there) = self.file.iter().find(|decl| decl.id == *fix) {
            return there.clone();
        }
        let plan = self.state.fix_plan(fix).expect("only a drafted fix is inserted").clone();
        let original = self.file.iter().position(|decl| decl.id == plan.failing);
        let place = original.map_or(self.file.len(), |place| {
            let mut family = vec![plan.failing.clone()];
            let behind = self.file[place + 1..].iter().take_while(|decl| {
                let is_fix = decl.fix_of.as_ref().is_some_and(|of| family.contains(of));
                family.push(decl.id.clone());
                is_fix
            });
            place + 1 + behind.count()
        });
        let verification = self.state.task(fix).map(|task| task.decl.verification).expect("it is drafted");
        let decl = TaskDecl {
            id: fix.clone(),
            title: format!("Fix: {}", plan.error.lines().next().unwrap_or_default()),
            kind: TaskKind::Work,
            verification,
            command: None,
            fix_of: Some(plan.failing),
            ticked: false,
            digest: 2,
            files: Vec::new(),
            depends_on: Vec::new(),
            stage: 0,
            parallel: false,
        };
        self.file.insert(place, decl.clone());
        decl
    }

    /// The scripted answer to the question that is open, as far as it is one that this question takes.
    pub(crate) fn answer(&self, id: &TaskId) -> Option<Response> {
        let Status::Asking(asked) = &self.state.task(id)?.status else { return None };
        let response = self.script.answers.get(self.question(id)?)?;
        Some(fitting(asked.question, response.clone()))
    }

    /// How many questions were asked before the latest one about this task.
    pub(crate) fn question(&self, id: &TaskId) -> Option<usize> {
        let questions = self.journal.iter().filter_map(|event| {
            let (What::Escalated { task, .. } | What::Mended { task, .. }) = &event.what else { return None };
            Some(task)
        });
        questions.enumerate().filter(|(_, task)| *task == id).last().map(|(number, _)| number)
    }
}

/// What the answer is turned into where the question does not take it.
fn fitting(question: Question, response: Response) -> Response {
    match (question, response) {
        (_, response @ (Response::Skip | Response::Abort)) => response,
        (Question::Mended, Response::Reject(text)) => Response::Fix(text),
        (Question::Mended, Response::Reply(_) | Response::Approve) => Response::Approve,
        (Question::InTheWay, Response::Reply(_) | Response::Approve) => Response::Retry,
        (Question::InTheWay, Response::Reject(text)) => Response::Fix(text),
        (Question::Judge | Question::HooksGone, Response::Fix(text)) => Response::Reject(text),
        (Question::Judge | Question::HooksGone, Response::Retry | Response::Reply(_)) => Response::Approve,
        (Question::Checkpoint, Response::Approve | Response::Retry) => Response::Reply("done".to_owned()),
        (Question::Checkpoint, Response::Reject(text)) => Response::Fix(text),
        (question, Response::Approve | Response::Reply(_)) if question.follows_failure() => Response::Retry,
        (question, Response::Reject(_)) if question.follows_failure() => Response::Skip,
        (_, response) => response,
    }
}

/// An answer, read as the runner reads it.
fn said(text: &str, dialect: Dialect, role: Role) -> AgentEnd {
    AgentEnd::Answered {
        claim: Claim::read(text, dialect, role),
        contradiction: engine::contradiction(text).map(str::to_owned),
        tail: text.to_owned(),
    }
}

fn said_failed(error: &str) -> AgentEnd {
    let claim = FailureClaim {
        error: error.to_owned(),
        attempted_fix: "looked twice".to_owned(),
        status: "Blocked".to_owned(),
        suggested_fix: None,
        root_cause: None,
    };
    AgentEnd::Answered { claim: Claim::Failed(claim), contradiction: None, tail: format!("FAILED: {error}") }
}

fn away(turn: &Turn) -> AgentReport {
    let end = AgentEnd::Unavailable { reason: "overloaded".to_owned(), retry_after: turn.retry_after };
    AgentReport {
        end,
        tampered: Vec::new(),
        lost_commit: None,
        touched: Vec::new(),
        learnings: Vec::new(),
        elapsed: Duration::ZERO,
        unfit: None,
    }
}

pub(crate) fn failure(cause: Cause, error: &str) -> CheckFailure {
    CheckFailure {
        cause,
        error: error.lines().next().unwrap_or_default().to_owned(),
        details: format!("output of the command:\n{error}"),
        command: Some("cargo test".to_owned()),
        exit_code: Some(101),
        failing: Failing::default(),
    }
}

/// A failing test of that name, out of two that are run. Noise names no test.
pub(crate) fn failing(name: &str) -> Failing {
    failing_of(Tool::CargoTest, name)
}

/// The same, by another tool.
pub(crate) fn failing_of(tool: Tool, name: &str) -> Failing {
    if name.starts_with("noise") {
        return Failing::default();
    }
    let stage = ItemStage::Test;
    let item = Item { tool, stage, name: name.to_owned(), line: None, count: 1 };
    Failing { items: vec![item], unlisted: 0, ran: [(tool, 2)].into() }
}

fn other(cause: Cause, error: &str) -> CheckFailure {
    CheckFailure {
        cause,
        error: error.to_owned(),
        details: String::new(),
        command: None,
        exit_code: None,
        failing: Failing::default(),
    }
}

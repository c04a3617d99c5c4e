//! Where a run stands: worked out from its state and from who holds the plan right now.

use std::fmt::Write as _;

use engine::{End, Judge, JudgeState, State, Status, StopReason, Summary, Task};
use jiff::Timestamp;
use runner::journal::Holder;
use runner::{PlanTrees, bytes_in_words};
use serde::Serialize;

use super::paint::Paint;
use super::proof;
use super::pull_request::{PullRequestStanding, obstacle_text};
use super::question;
use super::subject::{Subject, see};
use super::text::{between, clean, count, moment, one_line, took};

/// Characters of a title or an error.
const TEXT_CHARS_MAX: usize = 100;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Standing {
    plan: String,
    path: String,
    state: Phase,
    /// The reason for the state, if there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The process that runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    round: u32,
    tasks: Counts,
    current: Option<Current>,
    /// Tasks that are under way beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beside: Vec<Current>,
    last_failure: Option<LastFailure>,
    /// Work that is left of tasks that failed in a work tree of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept: Vec<KeptWork>,
    /// The work trees on disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    trees: Option<Trees>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_request: Option<PullRequestStanding>,
    question: Option<OpenQuestion>,
    /// The command to type next.
    next: Option<String>,
}

/// The boxes of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Boxes {
    pub(crate) total: usize,
    /// Those of tasks that are neither done nor skipped.
    pub(crate) open: usize,
}

/// Where a run stands, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Brief {
    pub(crate) state: Phase,
    pub(crate) reason: Option<String>,
    pub(crate) done: usize,
    pub(crate) total: usize,
    /// The task that a person is asked about.
    pub(crate) question: Option<String>,
}

/// The state of a run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    NotStarted,
    Running,
    Paused,
    Stopped,
    Aborted,
    Interrupted,
    Crashed,
    Complete,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    total: usize,
    done: usize,
    skipped: usize,
    originals: usize,
    originals_done: usize,
    fixes: usize,
    fixes_done: usize,
    attempts: usize,
    failed_attempts: usize,
}

/// A task and what is being done with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Current {
    task: String,
    title: String,
    /// The step that is being done.
    doing: String,
    attempt: Option<u32>,
    since: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct LastFailure {
    task: String,
    attempt: u32,
    at: Timestamp,
    #[serde(rename = "type")]
    kind: &'static str,
    error: String,
    /// The command that shows what was printed.
    show: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct KeptWork {
    task: String,
    commit: String,
}

/// Work that is kept of tasks that failed in slots and are not worked on now.
fn kept(state: &State) -> Vec<KeptWork> {
    let failed = state.tasks().iter().filter(|task| !task.failures.is_empty() && !task.status.is_active());
    let kept = failed.filter_map(|task| Some((task.id(), task.work.as_ref()?.commit.clone()?)));
    kept.map(|(task, commit)| KeptWork { task: task.to_string(), commit }).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Trees {
    count: usize,
    bytes: u64,
    /// The folders that they lie in.
    folders: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct OpenQuestion {
    task: String,
    since: Timestamp,
    text: String,
}

impl Standing {
    /// A plan that was never run: only its boxes are known.
    pub(crate) fn not_started(subject: &Subject, total: usize, done: usize) -> Self {
        let tasks = Counts { total, done, originals: total, originals_done: done, ..Counts::default() };
        Self {
            plan: subject.name.clone(),
            path: subject.path.clone(),
            state: Phase::NotStarted,
            reason: None,
            pid: None,
            since: None,
            round: 0,
            tasks,
            current: None,
            beside: Vec::new(),
            last_failure: None,
            kept: Vec::new(),
            trees: None,
            pull_request: None,
            question: None,
            next: Some(bare(&subject.command("run", ""))),
        }
    }

    /// A plan with a history.
    pub(crate) fn of(subject: &Subject, state: &State, holder: Option<&Holder>) -> Self {
        let (phase, reason) = phase(state, holder);
        let asked = question::open(state);
        let is_over = phase == Phase::Complete;
        Self {
            plan: subject.name.clone(),
            path: subject.path.clone(),
            state: phase,
            reason,
            pid: holder.map(|holder| holder.pid),
            since: holder.map(|holder| holder.started),
            round: state.opened().map_or(0, |opened| opened.round),
            tasks: counts(state),
            current: current_task(state).filter(|_| !is_over).map(|task| current(task, phase)),
            beside: beside(state).map(|task| current(task, phase)).collect(),
            last_failure: last_failure(subject, state).filter(|_| !is_over),
            kept: kept(state),
            trees: None,
            pull_request: PullRequestStanding::of(state),
            question: asked.map(|(task, asked)| OpenQuestion {
                task: task.id().to_string(),
                since: asked.since,
                text: question::render(subject, state, task, asked),
            }),
            next: match proof::alarm(state).filter(|_| is_over) {
                Some(_) => Some(bare(&subject.command("prove", ""))),
                None => next(subject, phase, asked.is_some()),
            },
        }
    }

    /// With the boxes as they are: after a run that is complete somebody may have opened some again, or added some.
    pub(crate) fn with_boxes(mut self, subject: &Subject, Boxes { total, open }: Boxes) -> Self {
        if open > 0 && self.state == Phase::Complete {
            let boxes = if open == 1 { "1 box is".to_owned() } else { format!("{open} boxes are") };
            self.reason = Some(format!("when it ended, but {boxes} open now"));
            self.tasks.total = total;
            self.tasks.done = total.saturating_sub(open + self.tasks.skipped);
            self.next = Some(bare(&subject.command("run", "")));
        }
        self
    }

    /// With the work trees that are on disk.
    pub(crate) fn with_trees(self, found: &[PlanTrees]) -> Self {
        let count = found.iter().map(|plan| plan.trees.len()).sum();
        let trees = Trees {
            count,
            bytes: found.iter().map(|plan| plan.bytes).sum(),
            folders: found.iter().map(|plan| plan.folder.display().to_string()).collect(),
        };
        Self { trees: (count > 0).then_some(trees), ..self }
    }

    /// It in short, for a list.
    pub(crate) fn brief(self) -> Brief {
        let question = self.question.map(|question| question.task);
        let Counts { total, done, .. } = self.tasks;
        Brief { state: self.state, reason: self.reason, done, total, question }
    }

    /// For people.
    pub(crate) fn render(&self, now: Timestamp, paint: Paint) -> String {
        let mut text = String::new();
        let mut row = |name: &str, value: &str| {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{} {value}", paint.faint(&format!("{name:<9}")));
        };
        row("Plan", &format!("{} ({})", paint.strong(&one_line(&self.plan, TEXT_CHARS_MAX)), self.path));
        row("State", &self.state_text(paint));
        row("Tasks", &self.tasks.tasks_text());
        if self.tasks.fixes > 0 {
            row("Fixes", &format!("{}/{} done", self.tasks.fixes_done, self.tasks.fixes));
        }
        if self.tasks.attempts > 0 {
            row("Attempts", &format!("{}, {} failed", self.tasks.attempts, self.tasks.failed_attempts));
        }
        if let Some(current) = &self.current {
            row("Task", &current.render(now));
            self.beside.iter().for_each(|other| row("Beside it", &other.render(now)));
        }
        if let Some(failure) = &self.last_failure {
            row("Failure", &failure.render(now));
            row("", &paint.faint(&see(&failure.show)));
        }
        for kept in &self.kept {
            row(
                "Kept",
                &format!(
                    "{}: what its last attempt left is commit {}",
                    clean(&kept.task),
                    clean(&kept.commit)
                ),
            );
        }
        if let Some(trees) = &self.trees {
            let (size, folders) = (bytes_in_words(trees.bytes), clean(&trees.folders.join(", ")));
            row("Trees", &format!("{}, {size}, in {folders}", count(trees.count, "work tree")));
        }
        if let Some(pull_request) = &self.pull_request {
            row("PR", &pull_request.render(now));
            pull_request.url().into_iter().for_each(|url| row("Link", url));
        }
        if let Some(next) = &self.next {
            row("Next", next);
        }
        if let Some(question) = &self.question {
            text.push('\n');
            text.push_str(&question.text);
        }
        text
    }

    fn state_text(&self, paint: Paint) -> String {
        let word = self.state.word(paint);
        let process =
            self.pid.zip(self.since).map(|(pid, since)| format!(" (process {pid} since {})", moment(since)));
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}"));
        format!("{word}{}{}", reason.unwrap_or_default(), process.unwrap_or_default())
    }
}

impl Phase {
    /// The word for it.
    pub(crate) fn word(self, paint: Paint) -> String {
        match self {
            Self::NotStarted => "not started".to_owned(),
            Self::Running => paint.good("running"),
            Self::Paused => paint.odd("paused"),
            Self::Stopped => paint.bad("stopped"),
            Self::Aborted => paint.bad("aborted"),
            Self::Interrupted => paint.odd("interrupted"),
            Self::Crashed => paint.bad("crashed"),
            Self::Complete => paint.good("complete"),
        }
    }
}

impl Counts {
    fn tasks_text(&self) -> String {
        let skipped = match self.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        format!("{}/{} done{skipped}", self.done, self.total)
    }
}

impl Current {
    /// The task as it stands in the run.
    pub(super) fn of(task: &Task, state: &State, holder: Option<&Holder>) -> Self {
        current(task, phase(state, holder).0)
    }

    /// The task by name, and what is being done with it.
    pub(super) fn render(&self, now: Timestamp) -> String {
        format!("{} {}: {}", self.task, self.title, self.doing_text(now))
    }

    /// The doing, and since when.
    pub(super) fn doing_text(&self, now: Timestamp) -> String {
        let attempt = self.attempt.map(|attempt| format!(", attempt {attempt}"));
        let since = self.since.map(|since| format!(", for {}", took(between(since, now))));
        format!("{}{}{}", self.doing, attempt.unwrap_or_default(), since.unwrap_or_default())
    }
}

impl LastFailure {
    fn render(&self, now: Timestamp) -> String {
        let ago = took(between(self.at, now));
        format!("{} attempt {} ({}), {ago} ago: {}", self.task, self.attempt, self.kind, self.error)
    }
}

fn bare(command: &str) -> String {
    command.trim_matches('`').to_owned()
}

/// The state of the run as a whole, and the reason where there is one to tell.
pub(crate) fn phase(state: &State, holder: Option<&Holder>) -> (Phase, Option<String>) {
    let waiting = |until: Timestamp| format!("waiting for the agent until {}", moment(until));
    if holder.is_some() && state.end().is_none() {
        let pausing = |from: &str| {
            format!("pauses after what is under way, as {} asked", one_line(from, TEXT_CHARS_MAX))
        };
        let waits = || state.backoff().map(|backoff| waiting(backoff.until));
        return (Phase::Running, state.pause().map(pausing).or_else(waits));
    }
    let some = |text: &str| Some(text.to_owned());
    match state.end() {
        None => (Phase::Crashed, some("the program that ran it is gone; nothing is lost")),
        Some(End::Complete { skipped }) => {
            let skipped = (*skipped > 0).then(|| format!("{} skipped", count(*skipped, "task")));
            let reasons: Vec<String> = skipped.into_iter().chain(proof::alarm(state)).collect();
            (Phase::Complete, (!reasons.is_empty()).then(|| reasons.join(", ")))
        }
        Some(End::Stopped(StopReason::PullRequest { .. })) => {
            (Phase::Stopped, some("a limit of the pull request was reached"))
        }
        Some(End::Stopped(_)) => (Phase::Stopped, some("retries or fix tasks are used up")),
        Some(End::Capped(_)) => (Phase::Stopped, some("a cap on the whole run was reached")),
        Some(End::Waiting { task }) => (Phase::Paused, Some(format!("task {task} waits for an answer"))),
        Some(End::Paused { from }) => {
            (Phase::Paused, Some(format!("{} asked for it", one_line(from, TEXT_CHARS_MAX))))
        }
        Some(End::PullRequest { obstacle }) => (Phase::Paused, Some(obstacle_text(obstacle))),
        Some(End::Unavailable { reason }) => (Phase::Paused, Some(one_line(reason, TEXT_CHARS_MAX))),
        Some(End::Aborted) => (Phase::Aborted, None),
        Some(End::Interrupted) => (Phase::Interrupted, None),
    }
}

fn counts(state: &State) -> Counts {
    let summary = Summary::of(state);
    Counts {
        total: state.tasks().len(),
        done: state.done_count(),
        skipped: state.skipped_count(),
        originals: summary.originals,
        originals_done: summary.originals_done,
        fixes: summary.fixes,
        fixes_done: summary.fixes_done,
        attempts: summary.attempts,
        failed_attempts: summary.failed_attempts,
    }
}

/// The task that the run is about right now: the innermost fix, if there is one.
pub(crate) fn current_task(state: &State) -> Option<&Task> {
    let mut task =
        state.attention().find(|task| task.status.is_active()).or_else(|| state.first_unsettled())?;
    while let Status::WaitingFor(fix) = &task.status {
        match state.task(fix) {
            Some(fix) if fix.status != Status::Done => task = fix,
            Some(_) | None => break,
        }
    }
    Some(task)
}

/// The step that is being done with a task, the attempt, and since when.
pub(crate) fn doing(task: &Task) -> (String, Option<u32>, Option<Timestamp>) {
    let (text, attempt, since) = match &task.status {
        Status::Drafted => ("being written into the plan", None, None),
        Status::Ready { .. } => ("waiting to start", None, None),
        Status::Proving => ("verify command", None, None),
        Status::Running(running) => {
            let text = format!("{} at work", running.role.name());
            return (text, Some(running.attempt.0), Some(running.since));
        }
        Status::Checking(checking) => ("checking", Some(checking.attempt.0), None),
        Status::Judging(judging) => (judge_text(judging.judge, judging.state), Some(judging.attempt.0), None),
        Status::Finished { attempt } => ("passed, waiting for its turn to come back", Some(attempt.0), None),
        Status::Landing { attempt } => ("coming back from its work tree", Some(attempt.0), None),
        Status::Joining { attempt } => ("checking all that came together", Some(attempt.0), None),
        Status::Recording { attempt } => ("committing", attempt.map(|attempt| attempt.0), None),
        Status::Failed => ("failed", task.last_failure().map(|failure| failure.attempt.0), None),
        Status::WaitingFor(_) => ("waiting for its fix", None, None),
        Status::Asking(asked) => ("waiting for an answer", None, Some(asked.since)),
        Status::Done => ("done", None, None),
        Status::Skipped => ("skipped", None, None),
    };
    (text.to_owned(), attempt, since)
}

fn judge_text(judge: Judge, state: JudgeState) -> &'static str {
    match (judge, state) {
        (Judge::Qa, JudgeState::AtWork(_)) => "QA agent judges",
        (Judge::Reviewer, JudgeState::AtWork(_)) => "reviewer judges",
        (Judge::Qa | Judge::Reviewer, JudgeState::Wanted) => "waiting for a judge",
        (Judge::Person, JudgeState::Wanted | JudgeState::AtWork(_)) => "a person judges",
    }
}

/// The tasks that are under way beside the current one.
fn beside(state: &State) -> impl Iterator<Item = &Task> {
    let current = current_task(state).map(Task::id);
    state.attention().filter(move |task| task.status.is_active() && Some(task.id()) != current)
}

fn current(task: &Task, phase: Phase) -> Current {
    let (mut doing, attempt, mut since) = doing(task);
    if phase == Phase::Crashed && task.status.is_active() {
        // An agent is lost with the program; what it had finished is not.
        let is_lost = matches!(task.status, Status::Running(_) | Status::Proving | Status::Judging(_));
        let further = if is_lost { "it starts again" } else { "it goes on from there" };
        doing = format!("{doing} when it crashed; {further}");
        since = None;
    }
    let title = one_line(task.decl.short_title(), TEXT_CHARS_MAX);
    Current { task: task.id().to_string(), title, doing, attempt, since }
}

fn last_failure(subject: &Subject, state: &State) -> Option<LastFailure> {
    let failures = state.tasks().iter().filter_map(|task| Some((task, task.last_failure()?)));
    let (task, failure) = failures.max_by_key(|(_, failure)| failure.at)?;
    Some(LastFailure {
        task: task.id().to_string(),
        attempt: failure.attempt.0,
        at: failure.at,
        kind: failure.cause.failure_type().name(),
        error: one_line(&failure.error, TEXT_CHARS_MAX),
        show: subject.output_command(task.id(), Some(failure.attempt)),
    })
}

fn next(subject: &Subject, phase: Phase, is_asked: bool) -> Option<String> {
    let (verb, rest) = match phase {
        Phase::Complete => return None,
        Phase::Running | Phase::Paused if is_asked => ("answer", "RESPONSE"),
        Phase::Running => ("log", "-f"),
        Phase::NotStarted
        | Phase::Paused
        | Phase::Stopped
        | Phase::Aborted
        | Phase::Interrupted
        | Phase::Crashed => ("run", ""),
    };
    Some(bare(&subject.command(verb, rest)))
}

#[cfg(test)]
mod tests {
    use engine::Rules;
    use runner::TreeOnDisk;

    use super::*;
    use crate::view::samples::{self, Story};

    fn holder() -> Holder {
        Holder { pid: 4242, started: samples::time(0), command: "tillgreen run".to_owned() }
    }

    fn shown(story: Story, holder: Option<&Holder>) -> String {
        let now = samples::time(100);
        Standing::of(&samples::subject(), &story.state(), holder).render(now, Paint::Plain)
    }

    #[test]
    fn boxes_that_are_open_after_a_complete_run_are_told() {
        let state = samples::fixed().end(End::Complete { skipped: 0 }).state();
        let told = |boxes: Boxes| {
            let standing =
                Standing::of(&samples::subject(), &state, None).with_boxes(&samples::subject(), boxes);
            standing.render(samples::time(400), Paint::Plain)
        };
        let text = told(Boxes { total: 6, open: 3 });
        let rows = ["State     complete: when it ended, but 3 boxes are open now\n", "Tasks     3/6 done\n"];
        assert!(
            rows.iter().all(|row| text.contains(row)) && text.ends_with("Next      tillgreen run\n"),
            "{text}"
        );
        assert!(told(Boxes { total: 5, open: 0 }).contains("State     complete\n"));
    }

    #[test]
    fn while_it_runs() {
        let story = Story::new(Rules::default()).fails("1.2", "2 tests failed").retries("1.2").starts("1.2");
        insta::assert_snapshot!(shown(story, Some(&holder())), @r"
        Plan      auth (specs/auth/tasks.md)
        State     running (process 4242 since 2026-01-26 14:30:00Z)
        Tasks     1/3 done
        Attempts  1, 1 failed
        Task      1.2 Add a parser: executor at work, attempt 2, for 1m 0s
        Failure   1.2 attempt 1 (verification_failed), 1m 20s ago: 2 tests failed
                  see: tillgreen show 1.2 --attempt 1 --output
        Next      tillgreen log -f
        ");
    }

    #[test]
    fn after_a_crash() {
        insta::assert_snapshot!(shown(Story::new(Rules::default()).starts("1.2"), None), @r"
        Plan      auth (specs/auth/tasks.md)
        State     crashed: the program that ran it is gone; nothing is lost
        Tasks     1/3 done
        Task      1.2 Add a parser: executor at work when it crashed; it starts again, attempt 1
        Next      tillgreen run
        ");
    }

    #[test]
    fn after_a_crash_while_work_is_verified() {
        let text = shown(Story::new(Rules::default()).starts("1.2").claims("1.2"), None);
        let row = text.lines().find(|line| line.starts_with("Task ")).unwrap();
        assert!(row.ends_with("when it crashed; it goes on from there, attempt 1"), "{row}");
    }

    #[test]
    fn when_it_waits_for_an_answer() {
        let story = Story::new(Rules::default()).fails("1.2", "2 tests failed").escalates("1.2");
        let text = shown(story.end(End::Waiting { task: plan::TaskId::new("1.2") }), None);
        let (rows, question) = text.split_once("\n\n").unwrap();
        insta::assert_snapshot!(rows, @r"
        Plan      auth (specs/auth/tasks.md)
        State     paused: task 1.2 waits for an answer
        Tasks     1/3 done
        Attempts  1, 1 failed
        Task      1.2 Add a parser: waiting for an answer, for 1m 10s
        Failure   1.2 attempt 1 (verification_failed), 1m 20s ago: 2 tests failed
                  see: tillgreen show 1.2 --attempt 1 --output
        Next      tillgreen answer RESPONSE
        ");
        assert!(question.starts_with("## Task Escalation Required\n"));
    }

    #[test]
    fn when_all_is_done() {
        insta::assert_snapshot!(shown(samples::fixed().end(End::Complete { skipped: 0 }), None), @r"
        Plan      auth (specs/auth/tasks.md)
        State     complete
        Tasks     5/5 done
        Fixes     2/2 done
        Attempts  6, 2 failed
        ");
    }

    #[test]
    fn with_work_trees_on_disk() {
        let standing = Standing::not_started(&samples::subject(), 3, 1);
        assert_eq!(standing.clone().with_trees(&[]), standing);
        let tree = |name: &str| TreeOnDisk { name: name.to_owned(), bytes: 60 << 20 };
        let trees = vec![tree("landing"), tree("slot-1")];
        let found = PlanTrees::new("auth", "/cache/tillgreen/app-1/auth".into(), trees);
        let standing = standing.with_trees(&[found]);
        let text = standing.render(samples::time(0), Paint::Plain);
        let row = text.lines().find(|line| line.starts_with("Trees")).unwrap();
        assert_eq!(row, "Trees     2 work trees, 120 MB, in /cache/tillgreen/app-1/auth");
        let json = serde_json::to_value(&standing).unwrap();
        let expected = serde_json::json!({
            "count": 2, "bytes": 120 << 20, "folders": ["/cache/tillgreen/app-1/auth"]
        });
        assert_eq!(json["trees"], expected);
    }

    #[test]
    fn before_the_first_run() {
        let standing = Standing::not_started(&samples::subject(), 3, 1);
        insta::assert_snapshot!(standing.render(samples::time(0), Paint::Plain), @r"
        Plan      auth (specs/auth/tasks.md)
        State     not started
        Tasks     1/3 done
        Next      tillgreen run
        ");
    }

    #[test]
    fn for_programs() {
        let state = samples::fixed().state();
        let standing = Standing::of(&samples::subject(), &state, Some(&holder()));
        insta::assert_snapshot!(serde_json::to_string_pretty(&standing).unwrap(), @r#"
        {
          "plan": "auth",
          "path": "specs/auth/tasks.md",
          "state": "running",
          "pid": 4242,
          "since": "2026-01-26T14:30:00Z",
          "round": 1,
          "tasks": {
            "total": 5,
            "done": 5,
            "skipped": 0,
            "originals": 3,
            "originals_done": 3,
            "fixes": 2,
            "fixes_done": 2,
            "attempts": 6,
            "failed_attempts": 2
          },
          "current": null,
          "last_failure": {
            "task": "1.2.1",
            "attempt": 1,
            "at": "2026-01-26T14:31:00Z",
            "type": "verification_failed",
            "error": "no file",
            "show": "tillgreen show 1.2.1 --attempt 1 --output"
          },
          "question": null,
          "next": "tillgreen log -f"
        }
        "#);
    }

    #[test]
    fn the_innermost_fix_is_what_the_run_is_about() {
        let rules = Rules { recovery: engine::Recovery::On, ..Rules::default() };
        let story = Story::new(rules).fails_by("1.2", "no parser", engine::Rung::Fix);
        let state = story.plans_fix("1.2", "1.2.1", "no parser").state();
        assert_eq!(current_task(&state).unwrap().id().name(), "1.2.1");
    }
}

//! A run that somebody looks at: its journal is followed, and what changes is told to those who look.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use engine::{Event, Statistics, What};
use jiff::Timestamp;
use plan::{Plan, TaskId};
use runner::Project;
use runner::journal::{Follower, Holder, News};
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;

use super::listing::question;
use super::sheet::Sheet;
use crate::args::Format;
use crate::command::check;
use crate::command::status::holder_of;
use crate::error::Error;
use crate::inspect::changes::Changes;
use crate::inspect::output::planned;
use crate::inspect::reading::{Line, Reading, events, lines, toned};
use crate::inspect::record::Record;
use crate::inspect::runs::{RunFile, subject};
use crate::view::block::Total;
use crate::view::json;
use crate::view::lines::response_text;
use crate::view::paint::Paint;
use crate::view::status::{Phase, phase};
use crate::view::subject::Subject;
use crate::view::task_report::{AttemptReport, Sources, TaskReport};
use crate::view::task_text;
use crate::view::text::one_line;

/// Characters of a name or a reason.
const TEXT_CHARS_MAX: usize = 300;

/// A run that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    id: String,
    run: RunFile,
    pub(super) subject: Subject,
    branch: Option<String>,
    follower: Follower,
    record: Record,
    plans: Vec<(PathBuf, Plan)>,
    sheet: Sheet,
    /// How often the journal was replaced.
    generation: u32,
    holder: Option<Holder>,
    trouble: Option<String>,
    /// The latest head that was told.
    head: String,
    watchers: Vec<Sender<String>>,
    /// When somebody last asked for it.
    pub(super) wanted: Instant,
}

/// What a text is made from.
#[derive(Debug)]
pub(super) enum Given {
    /// It lies in files, or git has it.
    Reading(Reading),
    /// It is known.
    Lines(Vec<Line>),
}

/// A text, with what tells it from others and from what it was before.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) key: String,
    pub(super) given: Given,
    /// The files that grow while an agent writes them.
    pub(super) growing: Vec<PathBuf>,
}

impl Followed {
    /// Begins to follow a run.
    pub(super) fn open(project: &Project, id: String, run: RunFile) -> Self {
        let subject = subject(project, &run.file);
        let follower = Follower::new(&run.journal());
        let branch = project.git().and_then(|git| git.branch().ok().flatten());
        let mut followed = Self {
            id,
            run,
            subject,
            branch,
            follower,
            record: Record::default(),
            plans: Vec::new(),
            sheet: Sheet::default(),
            generation: 0,
            holder: None,
            trouble: None,
            head: String::new(),
            watchers: Vec::new(),
            wanted: Instant::now(),
        };
        followed.read_plans();
        followed.look_for_holder();
        followed.look();
        followed
    }

    fn read_plans(&mut self) {
        // A plan that cannot be read any more has a record all the same.
        self.plans = check::read(&self.run.file).unwrap_or_default();
    }

    /// True if somebody is told what changes.
    pub(super) fn is_watched(&self) -> bool {
        !self.watchers.is_empty()
    }

    /// Looks whether the process that runs it is there.
    pub(super) fn look_for_holder(&mut self) {
        if self.run.archived.is_none() {
            self.holder = holder_of(&self.run.file).ok().flatten();
        }
    }

    /// Looks for what is new, and tells it.
    pub(super) fn look(&mut self) {
        let before = self.record.events.len();
        match self.follower.poll::<Event>() {
            Ok(news) => {
                self.trouble = None;
                if matches!(news, News::Replaced(_)) {
                    (self.record, self.sheet) = (Record::default(), Sheet::default());
                    self.generation += 1;
                    self.tell("{\"reload\":true}");
                }
                self.take(news.into_events().into_iter().map(|(_, event)| event).collect());
            }
            Err(error) => {
                let text = Error::from(error).render(Format::Text);
                self.trouble = Some(text.lines().collect::<Vec<_>>().join("; "));
            }
        }
        let head = json::text(&self.make_head()).trim_end().to_owned();
        let is_changed = head != self.head;
        self.head = head;
        if is_changed || self.record.events.len() != before {
            let changes = self.changes(before);
            self.tell(&changes);
        }
    }

    fn take(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let replans = |event: &Event| {
            matches!(event.what, What::Opened(_) | What::PlanChanged(_) | What::FixInserted { .. })
        };
        if events.iter().any(replans) {
            self.read_plans();
        }
        events.into_iter().for_each(|event| self.record.take(event));
        self.sheet.update(&self.record);
        self.look_for_holder();
    }

    fn changes(&self, since: usize) -> String {
        match self.sheet.since(since) {
            Some(rows) => format!("{{\"now\":{},\"head\":{},{rows}}}", now(), self.head),
            None => "{\"reload\":true}".to_owned(),
        }
    }

    /// Tells those who look; whoever does not keep up has to come again.
    fn tell(&mut self, text: &str) {
        self.watchers.retain(|watcher| watcher.try_send(text.to_owned()).is_ok());
    }

    /// Has somebody told what changes, from what they know already on.
    pub(super) fn watch(&mut self, (generation, since): (u32, usize), watcher: Sender<String>) {
        let is_known = generation == self.generation && since <= self.record.events.len();
        let first = if is_known { self.changes(since) } else { "{\"reload\":true}".to_owned() };
        if watcher.try_send(first).is_ok() {
            self.watchers.push(watcher);
        }
    }

    /// All that a page needs to show the run.
    pub(super) fn whole(&self) -> String {
        let phases = json::text(&json!(self.phases()));
        let (now, head, rows) = (now(), &self.head, self.sheet.whole());
        format!("{{\"now\":{now},\"head\":{head},\"phases\":{},{rows}}}", phases.trim_end())
    }

    /// The names of phases, by their numbers.
    fn phases(&self) -> BTreeMap<String, String> {
        let mut phases = BTreeMap::new();
        for (_, plan) in &self.plans {
            for task in plan.tasks() {
                let (phase, known) = (plan.phase(task), self.record.state.task(&task.id));
                if let (Some(phase), Some(known)) = (phase, known) {
                    let title = one_line(&phase.title, TEXT_CHARS_MAX);
                    phases.entry(known.decl.stage.to_string()).or_insert(title);
                }
            }
        }
        phases
    }

    fn make_head(&self) -> Value {
        let state = &self.record.state;
        let is_begun = state.opened().is_some();
        let (phase, reason) =
            if is_begun { phase(state, self.holder.as_ref()) } else { (Phase::NotStarted, None) };
        let total = Total::of(state, &self.record.work);
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let summary = engine::Summary::of(state);
        let answered = state.latest_answer().map(|(task, first)| {
            let (by, text) = (first.from.clone(), response_text(&first.response));
            json!({ "task": task, "by": by, "at": first.at.as_millisecond(), "text": text })
        });
        json!({
            "run": self.id,
            "plan": one_line(&self.subject.name, TEXT_CHARS_MAX),
            "path": self.subject.path,
            "branch": self.branch,
            "archived": self.run.archived.is_some(),
            "state": phase,
            "reason": reason,
            "trouble": self.trouble.as_ref().or(self.record.problem.as_ref()),
            "again": self.subject.command("run", "").trim_matches('`'),
            "pid": self.holder.as_ref().map(|holder| holder.pid),
            "pausing": state.pause().is_some(),
            "generation": self.generation,
            "seq": self.record.events.len(),
            "done": state.done_count(),
            "total": state.tasks().len(),
            "skipped": state.skipped_count(),
            "fixes": summary.fixes,
            "attempts": summary.attempts,
            "failed": summary.failed_attempts,
            "tokens": summary.usage.tokens(),
            "cost": total.cost_micros,
            "cost_max": total.cost_micros_max,
            "elapsed": millis(state.elapsed()),
            "left": self.record.work.left(state).map(millis),
            "began": state.first_opened_at().map(Timestamp::as_millisecond),
            "latest": self.record.latest().map(Timestamp::as_millisecond),
            "question": question(&self.subject, state),
            "answered": answered,
        })
    }

    fn report(&self, id: &TaskId) -> TaskReport {
        let report = planned(&self.subject, &self.plans, id);
        let Some(task) = self.record.state.task(id) else { return report };
        let events = self.record.events_of(id);
        let (state, history, holder) = (&self.record.state, &self.record.history, self.holder.as_ref());
        let file = self.subject.file.as_ref().filter(|_| self.run.archived.is_none());
        report.with_run(task, &Sources { state, history, events: &events, file, holder })
    }

    /// All that is known of a task; none if neither the run nor the plan knows it.
    pub(super) fn task(&self, id: &TaskId) -> Option<TaskReport> {
        let is_planned = self.plans.iter().any(|(_, plan)| plan.task(id).is_some());
        let is_known = is_planned || self.record.state.task(id).is_some();
        is_known.then(|| self.report(id))
    }

    /// A text about a task, or about one of its attempts.
    pub(super) fn text(
        &self,
        project: &Project,
        (id, place): (&TaskId, Option<usize>),
        part: &str,
    ) -> Result<Option<Wanted>, Error> {
        let Some(report) = self.task(id) else { return Ok(None) };
        let chosen = place.and_then(|place| report.attempts().get(place)).or(report.attempts().last());
        let events_now = self.record.events_of(id);
        let mut growing = Vec::new();
        let given = match (part, chosen) {
            ("output", Some(attempt)) => {
                growing.extend(attempt.files.iter().flat_map(AttemptReport::growing));
                Given::Reading(Reading::Output(Box::new(attempt.clone()), project.root().to_owned()))
            }
            ("prompt", Some(attempt)) => Given::Reading(Reading::Prompt(Box::new(attempt.clone()))),
            ("diff", _) => {
                let state = &self.record.state;
                let changes = match place.and(chosen) {
                    Some(attempt) => Changes::of_attempt((project, &report), state, attempt)?,
                    None => Changes::of_task(project, &report, state)?,
                };
                Given::Reading(Reading::Diff(changes))
            }
            ("checks", _) => Given::Lines(toned(&match place.and(chosen) {
                Some(attempt) => task_text::attempt(&report, attempt, Paint::Plain),
                None => task_text::overview(&report, &self.subject, Timestamp::now(), Paint::Plain),
            })),
            ("events", _) => Given::Lines(events(&self.record, id)),
            ("output" | "prompt", None) => Given::Lines(Vec::new()),
            _ => return Ok(None),
        };
        let place = place.map_or_else(|| "-".to_owned(), |place| place.to_string());
        // A diff of work that goes on is another one each time; so is a report.
        let stamp = if part == "diff" { Timestamp::now().as_second() / 5 } else { 0 };
        let key = format!("{}\n{id}\n{place}\n{part}\n{}\n{stamp}", self.id, events_now.len());
        Ok(Some(Wanted { key, given, growing }))
    }

    /// What was spent, as it came together: `[when, agent, all so far]`, and by agent.
    pub(super) fn costs(&self) -> Value {
        let mut by_start = BTreeMap::new();
        let mut points = Vec::new();
        for event in &self.record.events {
            let What::Spent(spent) = &event.what else { continue };
            by_start.insert(spent.dispatch, spent.usage.cost_micros.unwrap_or(0));
            let all: u64 = by_start.values().sum();
            points.push(json!([event.at.as_millisecond(), spent.agent, all]));
        }
        let statistics = Statistics::of(&self.record.state, &self.record.history);
        let agents = statistics.agents().into_iter().map(|(name, agent)| {
            json!({
                "agent": name, "passed": agent.passed, "failed": agent.failed, "lost": agent.lost,
                "worked": u64::try_from(agent.worked.as_millis()).unwrap_or(u64::MAX),
                "tokens": agent.usage.tokens(), "cost": agent.usage.cost_micros,
            })
        });
        let patterns = statistics.patterns();
        let patterns = crate::view::retry_summary::common(&patterns)
            .take(10)
            .map(|pattern| json!([one_line(&pattern.name, 120), pattern.occurrences]));
        json!({
            "points": points,
            "agents": agents.collect::<Vec<_>>(),
            "patterns": patterns.collect::<Vec<_>>(),
        })
    }
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The words for a task that nobody knows.
pub(super) fn unknown(task: &str) -> Vec<Line> {
    lines(&format!("task {task} is neither in the plan nor in the run"), crate::inspect::reading::Tone::Bad)
}

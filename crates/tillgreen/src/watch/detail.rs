//! The selected task in five tabs.

use std::path::PathBuf;

use engine::Status;
use jiff::Timestamp;
use plan::{Plan, TaskId};
use runner::Project;
use runner::journal::Holder;

use super::load::{Loaded, Loader};
use super::pager::Pager;
use crate::inspect::changes::Changes;
use crate::inspect::output::{Stamp, planned, stamp};
use crate::inspect::reading::{Line, Reading, Tone, events, lines, toned};
use crate::inspect::record::Record;
use crate::view::paint::Paint;
use crate::view::subject::Subject;
use crate::view::task_report::{AttemptReport, Sources, TaskReport};
use crate::view::task_text;
use crate::view::text::{between, took};

/// A tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tab {
    #[default]
    Output,
    Checks,
    Prompt,
    Diff,
    Events,
}

impl Tab {
    /// All of them, in order.
    pub(super) const ALL: [Self; 5] = [Self::Output, Self::Checks, Self::Prompt, Self::Diff, Self::Events];

    /// Its name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Output => "Output",
            Self::Checks => "Checks",
            Self::Prompt => "Prompt",
            Self::Diff => "Diff",
            Self::Events => "Events",
        }
    }
}

/// The detail of a task.
#[derive(Debug)]
pub(super) struct Detail {
    pub(super) tab: Tab,
    pub(super) pager: Pager,
    /// What is shown: a task, which of its attempts, and which tab.
    shown: Option<(TaskId, Option<usize>, Tab)>,
    /// How many events of that task there were: without more of them, nothing is made anew.
    shown_events: usize,
    /// The words where there is nothing.
    pub(super) empty: String,
    loader: Loader,
    /// The number of what was asked for last; what comes under another is too late.
    asked: u64,
    /// True until that comes.
    pub(super) is_loading: bool,
    /// How much the files held that are read while they grow.
    stamp: Stamp,
    growing: Vec<PathBuf>,
}

/// All that a detail is made from.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) project: &'a Project,
    pub(super) subject: &'a Subject,
    pub(super) plans: &'a [(PathBuf, Plan)],
    pub(super) record: &'a Record,
    pub(super) holder: Option<&'a Holder>,
    pub(super) now: Timestamp,
}

impl Detail {
    /// None yet.
    pub(super) fn new(loaded: impl Fn(Loaded) + Send + 'static) -> Self {
        Self {
            tab: Tab::default(),
            pager: Pager::wrapping(),
            shown: None,
            shown_events: 0,
            empty: String::new(),
            loader: Loader::start(loaded),
            asked: 0,
            is_loading: false,
            stamp: (None, 0),
            growing: Vec::new(),
        }
    }

    /// Shows the task that is selected, or what has become of it.
    pub(super) fn show(&mut self, given: Given<'_>, selected: Option<(&TaskId, Option<usize>)>) {
        let Some((id, place)) = selected else {
            self.shown = None;
            self.pager.show(Vec::new(), false);
            self.empty = "Select a task to see more of it.".to_owned();
            return;
        };
        let wanted = Some((id.clone(), place, self.tab));
        let is_same = self.shown == wanted;
        let count = given.record.events.iter().filter(|event| event.what.task() == Some(id)).count();
        if is_same && self.shown_events == count {
            return;
        }
        self.shown_events = count;
        if !is_same {
            self.shown = wanted;
            self.pager.show(Vec::new(), self.tab == Tab::Output);
        }
        let report = report(given, id);
        let attempts = report.attempts();
        let attempt = place.and_then(|place| attempts.get(place)).or(attempts.last());
        self.empty = nothing(given, id, self.tab);
        self.growing.clear();
        match (self.tab, attempt) {
            (Tab::Output, Some(attempt)) => {
                let is_open = place.is_none_or(|place| place + 1 == attempts.len());
                let is_active = given.record.state.task(id).is_some_and(|task| task.status.is_active());
                if is_open && is_active {
                    self.growing = attempt.files.iter().flat_map(AttemptReport::growing).collect();
                }
                self.stamp = stamp(&self.growing);
                let root = given.project.root().to_owned();
                self.ask(Reading::Output(Box::new(attempt.clone()), root));
            }
            (Tab::Prompt, Some(attempt)) => self.ask(Reading::Prompt(Box::new(attempt.clone()))),
            (Tab::Diff, _) => {
                let of = (given.project, &report);
                let changes = match place.and(attempt) {
                    Some(attempt) => Changes::of_attempt(of, &given.record.state, attempt),
                    None => Changes::of_task(given.project, &report, &given.record.state),
                };
                match changes {
                    Ok(changes) => self.ask(Reading::Diff(changes)),
                    Err(error) => self.refresh(lines(&error.render(crate::args::Format::Text), Tone::Bad)),
                }
            }
            (Tab::Checks, attempt) => {
                let text = match place.and(attempt) {
                    Some(attempt) => task_text::attempt(&report, attempt, Paint::Plain),
                    None => task_text::overview(&report, given.subject, given.now, Paint::Plain),
                };
                self.refresh(toned(&text));
            }
            (Tab::Events, _) => self.refresh(events(given.record, id)),
            (Tab::Output | Tab::Prompt, None) => self.refresh(Vec::new()),
        }
    }

    /// Reads on where files have grown; true if something was asked for.
    pub(super) fn look_again(
        &mut self,
        given: Given<'_>,
        selected: Option<(&TaskId, Option<usize>)>,
    ) -> bool {
        let has_grown = !self.is_loading && !self.growing.is_empty() && stamp(&self.growing) != self.stamp;
        if has_grown {
            self.shown_events = 0;
            self.show(given, selected);
        }
        has_grown
    }

    /// Takes in what was read.
    pub(super) fn take(&mut self, loaded: Loaded) {
        if loaded.number == self.asked {
            self.refresh(loaded.lines);
        }
    }

    fn refresh(&mut self, lines: Vec<Line>) {
        self.is_loading = false;
        self.pager.refresh(lines);
    }

    fn ask(&mut self, reading: Reading) {
        self.asked += 1;
        self.is_loading = true;
        self.loader.ask(self.asked, reading);
    }
}

fn report(given: Given<'_>, id: &TaskId) -> TaskReport {
    let Given { subject, plans, record, holder, .. } = given;
    let report = planned(subject, plans, id);
    let Some(task) = record.state.task(id) else { return report };
    let events = record.events_of(id);
    let file = subject.file.as_ref();
    let sources = Sources { state: &record.state, history: &record.history, events: &events, file, holder };
    report.with_run(task, &sources)
}

/// The words where a tab has nothing to show.
fn nothing(given: Given<'_>, id: &TaskId, tab: Tab) -> String {
    let Some(task) = given.record.state.task(id) else {
        return "The run does not know this task yet.".to_owned();
    };
    match (tab, &task.status) {
        (Tab::Output, Status::Running(running)) => {
            let ago = took(between(running.since, given.now));
            format!("The agent was started {ago} ago and has said nothing yet.")
        }
        (Tab::Output, _) if task.attempted == 0 => "Nothing was done for this task yet.".to_owned(),
        (Tab::Output, _) => "Nothing was printed, or it is gone.".to_owned(),
        (Tab::Prompt, _) => "No agent was started for it, or its prompt is gone.".to_owned(),
        (Tab::Diff, _) => "Nothing differs.".to_owned(),
        (Tab::Checks | Tab::Events, _) => "Nothing happened to it yet.".to_owned(),
    }
}

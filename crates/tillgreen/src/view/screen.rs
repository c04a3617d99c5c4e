//! The screen of a run while it goes on: live progress at a terminal, lines elsewhere, events as JSON for programs.
//! Messages go to standard error; only JSON events, which are results, go to standard output.

use std::io::{self, Write};

use engine::{Event, OnEscalation, State, Status, What};
use jiff::Timestamp;
use plan::TaskId;
use runner::{Notice, Notifier, Notify, Responder, Settings};
use serde::Serialize;

use super::asker::{Asked, Asker};
use super::ci;
use super::facts::Verbosity;
use super::json;
use super::lines::{self, Clock};
use super::live::Live;
use super::notice;
use super::paint::Paint;
use super::pull_request;
use super::question;
use super::subject::Subject;
use super::summary;
use super::text::clean;
use crate::args::Format;
use crate::checkpoint::Checkpoint;
use crate::settings::{CommandOrigin, LiveReader};

/// The name by which a run is told from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// They come one after another: only programs have to be told whose event it is.
    InTurn(String),
    /// They go on at once, so that every line says whose it is.
    Beside(String),
}

/// An event with the plan that it is of.
#[derive(Serialize)]
struct Labelled<'a> {
    plan: &'a str,
    event: &'a Event,
}

/// Shows a run.
pub(crate) struct Screen {
    show: Show,
    /// The name that lines for people begin with.
    prefix: String,
    /// The name that events for programs come with.
    plan: Option<String>,
    subject: Subject,
    settings: Settings,
    responder: Option<Responder>,
    /// The question that was put last, so that none is put twice.
    asked: Option<(TaskId, Timestamp)>,
    /// True if the open question's answer was given when the run was started.
    is_answered: bool,
    /// The reader of the settings that count while the run goes on.
    live: Option<LiveReader>,
    asker: Asker,
    /// The commands that the project's own files name.
    origins: Vec<CommandOrigin>,
    /// Tells people who are not there.
    notifier: Option<Notifier>,
}

enum Show {
    Json,
    Lines(Paint),
    /// Lines, with folds.
    Folded,
    Live(Live),
}

impl Screen {
    /// The screen that fits format and terminal.
    pub(crate) fn new(format: Format, verbosity: Verbosity, subject: Subject, settings: Settings) -> Self {
        let show = match format {
            Format::Json => Show::Json,
            Format::Text => match Live::at_terminal(verbosity) {
                Some(live) => Show::Live(live),
                None if ci::GithubActions::of_environment().is_some() => Show::Folded,
                None => Show::Lines(Paint::of(&io::stderr())),
            },
        };
        Self {
            show,
            prefix: String::new(),
            plan: None,
            subject,
            settings,
            responder: None,
            asked: None,
            is_answered: false,
            live: None,
            asker: Asker::default(),
            origins: Vec::new(),
            notifier: None,
        }
    }

    /// For a run that is one of several. Lines of several at once have no place for a live block or folds.
    pub(crate) fn among(self, label: Label) -> Self {
        match label {
            Label::InTurn(name) => Self { plan: Some(name), ..self },
            Label::Beside(name) => {
                let show = match self.show {
                    Show::Json => Show::Json,
                    Show::Lines(_) | Show::Folded | Show::Live(_) => Show::Lines(Paint::of(&io::stderr())),
                };
                Self { show, prefix: format!("{}: ", clean(&name)), plan: Some(name), ..self }
            }
        }
    }

    /// For a run that tells people who are not there.
    pub(crate) fn notifying(self, notify: &Notify) -> Self {
        let notifier = self.subject.file.as_ref().and_then(|file| Notifier::start(file, notify));
        Self { notifier, ..self }
    }

    /// Waits for notices that are under way, and says of which it is not known that they arrived.
    pub(crate) fn finish_notices(&mut self) {
        let problems = self.notifier.take().map(Notifier::finish).unwrap_or_default();
        problems.iter().for_each(|problem| self.print(&format!("note: {}", clean(problem))));
    }

    /// For a run that starts with the answer to the question that is open: nobody is asked that one.
    pub(crate) fn with_answer(self) -> Self {
        Self { is_answered: true, ..self }
    }

    /// For a run whose settings are read again when they change.
    pub(crate) fn reading(self, live: Option<LiveReader>) -> Self {
        Self { live, ..self }
    }

    /// For a run that says at its start what the project's own files have it run.
    pub(crate) fn with_origins(self, origins: Vec<CommandOrigin>) -> Self {
        Self { origins, ..self }
    }

    /// Shows what the runner has to say. A screen that is gone does not stop the run, so write errors are ignored.
    pub(crate) fn show(&mut self, state: &State, notice: Notice<'_>) {
        match notice {
            Notice::Ready(responder) => {
                self.listen(&responder);
                self.follow_settings(&responder);
                self.responder = Some(responder);
            }
            Notice::Working(task, activity) => {
                if let Show::Live(live) = &mut self.show {
                    live.working(state, task, activity);
                }
            }
            Notice::Note(note) => self.print(&format!("note: {}", clean(&note))),
            Notice::Foreseen(obstacle) => {
                self.print(&format!("note: {}", pull_request::foreseen(obstacle)));
            }
            Notice::Recorded(event) => {
                if matches!(event.what, What::Opened(_)) {
                    let start = summary::start(&self.subject, state, &self.settings, &self.origins);
                    self.print(&start);
                }
                let is_closed = self.asked.is_some() && !self.is_open(state);
                if let (Show::Live(live), true) = (&self.show, is_closed) {
                    live.end_asking();
                }
                match &mut self.show {
                    Show::Json => drop(self.write_event(event)),
                    Show::Lines(_) | Show::Folded | Show::Live(_) if is_for_the_record(event) => {}
                    Show::Lines(_) | Show::Folded => {
                        let line = lines::render(event, state, Clock::Time, self.paint());
                        self.print(&line);
                    }
                    Show::Live(live) => live.show(state, event),
                }
                let paint = self.paint();
                lines::below(event, &self.subject, paint).into_iter().for_each(|line| self.print(&line));
                if let (Show::Folded, Some(fold)) = (&self.show, ci::fold(event)) {
                    eprint_line(&fold);
                }
                if let Some(notifier) = &self.notifier
                    && let Some(notification) = notice::of(event, state, &self.subject)
                {
                    notifier.tell(notification);
                }
                self.withdraw(state, event);
                let is_answered = self.is_answered && matches!(event.what, What::Opened(_));
                if !is_answered {
                    self.ask(state);
                }
            }
        }
    }

    fn write_event(&self, event: &Event) -> io::Result<()> {
        match &self.plan {
            Some(plan) => json::line(&mut io::stdout(), &Labelled { plan, event }),
            None => json::line(&mut io::stdout(), event),
        }
    }

    /// Shows what is said while the run itself waits for something and cannot say it.
    fn listen(&self, responder: &Responder) {
        let note = |text: String| format!("note: {}", clean(&text));
        match &self.show {
            Show::Json => {}
            Show::Folded => responder.listen(move |text| eprint_line(&ci::without_commands(&note(text)))),
            Show::Lines(_) => {
                let prefix = self.prefix.clone();
                responder.listen(move |text| eprint_line(&prefixed(&prefix, &note(text))));
            }
            Show::Live(live) => {
                let print = live.printer();
                responder.listen(move |text| print(&note(text)));
            }
        }
    }

    /// Has the settings read again whenever they change.
    fn follow_settings(&mut self, responder: &Responder) {
        let Some(live) = self.live.take() else { return };
        if let Err(error) = responder.follow_settings(&live.files(), move || live.read()) {
            self.print(&format!("note: changes of the settings count from the next start on: {error}"));
        }
    }

    /// True if the question that was put last is still open.
    fn is_open(&self, state: &State) -> bool {
        let Some((task, since)) = &self.asked else { return false };
        let status = state.task(task).map(|task| &task.status);
        matches!(status, Some(Status::Asking(asked)) if asked.since == *since) && state.end().is_none()
    }

    /// Takes a question back from the person at the terminal once it is open no longer, and says who was first.
    fn withdraw(&mut self, state: &State, event: &Event) {
        let Some((task, _)) = &self.asked else { return };
        if self.is_open(state) {
            return;
        }
        let text = event.from().map(|from| {
            format!("\nThe question about task {task} was answered elsewhere, by {}.", clean(from))
        });
        if self.asker.withdraw()
            && let Some(text) = text
        {
            self.print(&text);
        }
    }

    /// Puts the open question to the person at the terminal, if that is wanted.
    fn ask(&mut self, state: &State) {
        let asks = state.rules().is_some_and(|rules| rules.on_escalation == OnEscalation::Ask);
        let (true, None, Some(responder)) = (asks, state.end(), self.responder.clone()) else { return };
        let Some((task, asked)) = question::open(state) else { return };
        let put = Some((task.id().clone(), asked.since));
        if self.asked == put {
            return;
        }
        self.asked = put;
        if let Show::Live(live) = &self.show {
            live.begin_asking();
        }
        let text = question::render(&self.subject, state, task, asked);
        let checkpoint = self.subject.file.as_ref().and_then(|file| Checkpoint::find(file, task.id()));
        let put = Asked { text, question: asked.question, checkpoint, task: task.id().clone() };
        self.asker.ask(put, responder);
    }

    fn paint(&self) -> Paint {
        match &self.show {
            Show::Json | Show::Folded => Paint::Plain,
            Show::Lines(paint) => *paint,
            Show::Live(live) => live.paint(),
        }
    }

    /// True if a question was put to the person at the terminal.
    pub(crate) fn has_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Prints a message for people.
    pub(crate) fn print(&self, text: &str) {
        match &self.show {
            Show::Json => {}
            Show::Lines(_) => eprint_line(&prefixed(&self.prefix, text)),
            Show::Folded => eprint_line(&ci::without_commands(text)),
            Show::Live(live) => live.print(text),
        }
    }
}

/// A text with a name before each of its lines.
fn prefixed(prefix: &str, text: &str) -> String {
    if prefix.is_empty() {
        return text.to_owned();
    }
    let lines: Vec<String> = text.lines().map(|line| format!("{prefix}{line}")).collect();
    lines.join("\n")
}

/// True if an event is only for the record: what an agent used so far would be a line every few seconds, and that work
/// is kept says nothing of how it went.
fn is_for_the_record(event: &Event) -> bool {
    let is_interim = matches!(&event.what, What::Spent(spent) if spent.interim);
    is_interim || matches!(event.what, What::Packed { .. })
}

fn eprint_line(text: &str) {
    // Nobody may be reading any more; the run goes on all the same.
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

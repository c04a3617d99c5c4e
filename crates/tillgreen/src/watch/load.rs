//! Reading what attempts left, in a thread of its own: files of megabytes and calls of git do not hold up the keys.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use runner::KeptText;

use super::pager::{Line, lines};
use super::theme::Tone;
use crate::args::Format;
use crate::error::Error;
use crate::inspect::changes::Changes;
use crate::inspect::output::{agent_kind, feedback, retold, sections};
use crate::view::task_report::AttemptReport;

/// What is to be read.
#[derive(Debug)]
pub(super) enum Reading {
    /// What an attempt printed. The settings at the root tell the language of its agent.
    Output(Box<AttemptReport>, PathBuf),
    /// What its agent was told.
    Prompt(Box<AttemptReport>),
    /// What was changed.
    Diff(Changes),
}

/// What was read, under the number that it was asked for.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) number: u64,
    pub(super) lines: Vec<Line>,
}

/// The other end of the thread that reads.
#[derive(Debug)]
pub(super) struct Loader {
    wanted: Sender<(u64, Reading)>,
}

impl Loader {
    /// Begins; what was read goes to `loaded`.
    pub(super) fn start(loaded: impl Fn(Loaded) + Send + 'static) -> Self {
        let (wanted, requests) = channel();
        // Without a thread nothing is read, and that is what the screen shows.
        let _ = thread::Builder::new().name("load".to_owned()).spawn(move || work(&requests, loaded));
        Self { wanted }
    }

    /// Asks for something. Only what was asked for last is read.
    pub(super) fn ask(&self, number: u64, reading: Reading) {
        // As above.
        let _ = self.wanted.send((number, reading));
    }
}

fn work(requests: &Receiver<(u64, Reading)>, loaded: impl Fn(Loaded)) {
    while let Ok(first) = requests.recv() {
        let (number, reading) = requests.try_iter().last().unwrap_or(first);
        let read = reading.read();
        let lines = read.unwrap_or_else(|error| lines(&error.render(Format::Text), Tone::Bad));
        loaded(Loaded { number, lines });
    }
}

impl Reading {
    fn read(self) -> Result<Vec<Line>, Error> {
        match self {
            Self::Output(attempt, root) => output(&attempt, &root),
            Self::Prompt(attempt) => prompt(&attempt),
            Self::Diff(changes) => diff(&changes),
        }
    }
}

fn output(attempt: &AttemptReport, root: &std::path::Path) -> Result<Vec<Line>, Error> {
    let kind = agent_kind(root, attempt);
    let mut shown = Vec::new();
    for section in retold(kind.as_ref(), sections(attempt)?) {
        if !shown.is_empty() {
            shown.push(Line { tone: Tone::Plain, text: String::new() });
        }
        shown.extend(lines(&format!("── {}, {}", section.of, section.stream), Tone::Faint));
        shown.extend(lines(&section.text, Tone::Plain));
    }
    Ok(shown)
}

fn prompt(attempt: &AttemptReport) -> Result<Vec<Line>, Error> {
    let Some(files) = &attempt.files else { return Ok(Vec::new()) };
    let prompt = files.read(KeptText::Prompt).map_err(|error| Error::file("read", files.dir(), error))?;
    let mut shown = Vec::new();
    if let Some(feedback) = feedback(attempt) {
        shown.extend(lines("── what it was told of the failures before", Tone::Faint));
        shown.extend(lines(&feedback, Tone::Odd));
        shown.extend(lines("\n── the whole prompt", Tone::Faint));
    }
    shown.extend(lines(&prompt.unwrap_or_default(), Tone::Plain));
    Ok(shown)
}

fn diff(changes: &Changes) -> Result<Vec<Line>, Error> {
    if let Changes::None { why } = changes {
        return Ok(lines(why, Tone::Faint));
    }
    let text = changes.lines()?.unwrap_or_default();
    let mut shown = lines(&text, Tone::Plain);
    for line in &mut shown {
        line.tone = match line.text.as_bytes() {
            [b'+', ..] if !line.text.starts_with("+++") => Tone::Good,
            [b'-', ..] if !line.text.starts_with("---") => Tone::Bad,
            [b'@', b'@', ..] => Tone::Busy,
            [b'd', b'i', b'f', b'f', b' ', ..] => Tone::Strong,
            _ => Tone::Plain,
        };
    }
    Ok(shown)
}

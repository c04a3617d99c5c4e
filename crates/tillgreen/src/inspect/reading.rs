//! What attempts left, read for whoever looks: as lines in tones.

use std::path::{Path, PathBuf};

use plan::TaskId;
use runner::KeptText;

use super::changes::Changes;
use super::output::{agent_kind, feedback, retold, sections};
use super::record::Record;
use crate::error::Error;
use crate::view::lines::{Clock, render};
use crate::view::paint::Paint;
use crate::view::task_report::AttemptReport;
use crate::view::text::clean;

/// Characters of a line; a longer one goes on below. Files may hold one line of millions.
pub(crate) const LINE_CHARS_MAX: usize = 2_000;

/// What is to be read.
#[derive(Debug)]
pub(crate) enum Reading {
    /// What an attempt printed. The settings at the root tell the language of its agent.
    Output(Box<AttemptReport>, PathBuf),
    /// What its agent was told.
    Prompt(Box<AttemptReport>),
    /// What was changed.
    Diff(Changes),
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

/// The sort of a line or a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Odd,
    /// At work.
    Busy,
}

impl Tone {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "strong",
            Self::Faint => "faint",
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Odd => "odd",
            Self::Busy => "busy",
        }
    }
}

/// Text as lines of one tone, each short enough to be worked on.
pub(crate) fn lines(text: &str, tone: Tone) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in text.lines() {
        // Tabs as a terminal would show them, roughly.
        let line = clean(&line.replace('\t', "    "));
        let mut rest = line.as_str();
        loop {
            let end = rest.char_indices().nth(LINE_CHARS_MAX).map_or(rest.len(), |(place, _)| place);
            let (part, after) = rest.split_at(end);
            lines.push(Line { tone, text: part.trim_end().to_owned() });
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

impl Reading {
    /// Reads it.
    pub(crate) fn read(self) -> Result<Vec<Line>, Error> {
        match self {
            Self::Output(attempt, root) => output(&attempt, &root),
            Self::Prompt(attempt) => prompt(&attempt),
            Self::Diff(changes) => diff(&changes),
        }
    }
}

fn output(attempt: &AttemptReport, root: &Path) -> Result<Vec<Line>, Error> {
    let kind = agent_kind(root, attempt);
    let mut shown = Vec::new();
    for section in retold(kind.as_ref(), sections(attempt)?) {
        if !shown.is_empty() {
            shown.push(Line { tone: Tone::Plain, text: String::new() });
        }
        shown.extend(lines(&format!("── {}, {}", section.of, section.stream), Tone::Faint));
        let mut text = lines(&section.text, Tone::Plain);
        let is_gap = |line: &&mut Line| line.text.starts_with('[') && line.text.ends_with(" bytes left out]");
        text.iter_mut().filter(is_gap).for_each(|line| line.tone = Tone::Odd);
        shown.extend(text);
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

/// A report in the tones of its marks.
pub(crate) fn toned(text: &str) -> Vec<Line> {
    let mut shown = lines(text, Tone::Plain);
    for line in &mut shown {
        line.tone = match line.text.chars().next() {
            Some('✓') => Tone::Good,
            Some('✗') => Tone::Bad,
            Some('▶') => Tone::Busy,
            Some('!') => Tone::Odd,
            Some(_) | None => Tone::Plain,
        };
    }
    shown
}

/// The events of a task, oldest first. What they say of the run as a whole is of now.
pub(crate) fn events(record: &Record, id: &TaskId) -> Vec<Line> {
    let each = |event| lines(&render(event, &record.state, Clock::Local, Paint::Plain), Tone::Plain);
    record.events_of(id).iter().flat_map(each).collect()
}

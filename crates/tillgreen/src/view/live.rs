//! The live block at the bottom of a terminal, with lines scrolling above it. A thread of its own draws it: spinner and
//! clocks go on while the run waits for something.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossterm::cursor::{MoveToColumn, MoveUp};
use crossterm::queue;
use crossterm::terminal::{self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use engine::{Event, State, What};
use jiff::Timestamp;
use plan::TaskId;
use runner::Activity;

use super::block::{Block, Total};
use super::facts::{self, Verbosity};
use super::paint::Paint;
use super::text::one_line;
use super::usage;
use super::work::Work;

/// How often the block moves.
const TICK: Duration = Duration::from_millis(200);
/// Characters that are kept of what an agent is doing.
const ACTIVITY_CHARS_MAX: usize = 200;
/// The columns of a terminal that does not tell.
const COLUMNS: usize = 80;
/// The bell.
const BELL: &str = "\u{7}";

/// The live block.
#[derive(Debug)]
pub(crate) struct Live {
    paint: Paint,
    verbosity: Verbosity,
    work: Work,
    total: Total,
    /// The last thing that the agent at a task did.
    activities: BTreeMap<TaskId, String>,
    sender: Sender<Show>,
    drawing: Option<JoinHandle<()>>,
}

/// A message to the thread that draws.
#[derive(Debug)]
enum Show {
    /// A line to scroll by.
    Line(String),
    Block(Box<Block>),
    /// Somebody is asked and types at the bottom: no block, and the words that ask for it below every line.
    Asking(Sender<()>),
    /// Nobody types any more.
    Asked,
    /// Nothing is shown any more: others may still hold the other end of the channel.
    End,
}

impl Live {
    /// The block on standard error, if that is a terminal that wants one.
    pub(crate) fn at_terminal(verbosity: Verbosity) -> Option<Self> {
        let stderr = io::stderr();
        let ci = std::env::var_os("CI");
        let term = std::env::var_os("TERM");
        is_wanted(stderr.is_terminal(), ci.as_deref(), term.as_deref())
            .then(|| Self::new(Paint::of(&stderr), verbosity, io::stderr()))
    }

    fn new(paint: Paint, verbosity: Verbosity, out: impl Write + Send + 'static) -> Self {
        let (sender, messages) = channel();
        let drawing = thread::Builder::new().name("live".to_owned());
        // Without a thread nothing is shown, and the run goes on as well.
        let drawing = drawing.spawn(move || Drawing::new(out, paint).go_on(&messages)).ok();
        let (work, total, activities) = (Work::default(), Total::default(), BTreeMap::new());
        Self { paint, verbosity, work, total, activities, sender, drawing }
    }

    /// Shows an event and the state after it.
    pub(crate) fn show(&mut self, state: &State, event: &Event) {
        if let Some(line) = facts::render(event, state, self.verbosity, self.paint) {
            self.print(&line);
        }
        self.work.record(event, state);
        self.total = Total::of(state, &self.work);
        if let What::AttemptStarted(started) = &event.what {
            self.activities.remove(&started.task);
        }
        self.draw(state);
    }

    /// Shows what an agent is doing.
    pub(crate) fn working(&mut self, state: &State, task: &TaskId, activity: &Activity) {
        let text = one_line(&doings(activity), ACTIVITY_CHARS_MAX);
        // A tool that ended says nothing of what comes next.
        if !text.is_empty() {
            self.activities.insert(task.clone(), text);
            self.draw(state);
        }
    }

    fn draw(&self, state: &State) {
        let activity = |task: &TaskId| self.activities.get(task).cloned();
        let block = Block::of(state, &self.work, self.total.clone(), activity);
        self.send(Show::Block(Box::new(block)));
    }

    /// A function that prints lines above the block, for another thread.
    pub(crate) fn printer(&self) -> impl Fn(&str) + Send + use<> {
        let sender = self.sender.clone();
        move |line| drop(sender.send(Show::Line(line.to_owned())))
    }

    /// The colours of its lines.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Prints a line above the block.
    pub(crate) fn print(&self, line: &str) {
        self.send(Show::Line(line.to_owned()));
    }

    /// Takes the block away, because somebody is asked at the terminal and types there.
    pub(crate) fn begin_asking(&self) {
        let (sender, done) = channel();
        self.send(Show::Asking(sender));
        // What is asked comes below all that was said before. Without a thread there is nothing to wait for.
        let _ = done.recv();
    }

    /// Puts the block back.
    pub(crate) fn end_asking(&self) {
        self.send(Show::Asked);
    }

    fn send(&self, show: Show) {
        // Without a thread nothing is shown.
        let _ = self.sender.send(show);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.send(Show::End);
        if let Some(drawing) = self.drawing.take() {
            // A view that broke does not take the run with it.
            let _ = drawing.join();
        }
    }
}

/// The thread that draws.
struct Drawing<W> {
    out: W,
    paint: Paint,
    block: Option<Box<Block>>,
    /// The lines on the screen, by their columns.
    drawn: Vec<usize>,
    frame: usize,
    is_asking: bool,
}

impl<W: Write> Drawing<W> {
    fn new(out: W, paint: Paint) -> Self {
        Self { out, paint, block: None, drawn: Vec::new(), frame: 0, is_asking: false }
    }

    /// Draws until nobody has anything to say any more. Whether it can be seen does not matter to the run.
    fn go_on(mut self, messages: &Receiver<Show>) {
        loop {
            let first = match messages.recv_timeout(TICK) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.frame += usize::from(first.is_none());
            let news: Vec<Show> = first.into_iter().chain(messages.try_iter()).collect();
            let is_over = news.iter().any(|show| matches!(show, Show::End));
            let columns = terminal::size().map_or(COLUMNS, |(columns, _)| usize::from(columns));
            let _ = self.update(news, Timestamp::now(), columns);
            if is_over {
                break;
            }
        }
        let _ = self.clear(COLUMNS).and_then(|()| self.out.flush());
    }

    fn update(&mut self, news: Vec<Show>, now: Timestamp, columns: usize) -> io::Result<()> {
        if self.is_asking && news.is_empty() {
            return Ok(());
        }
        queue!(self.out, BeginSynchronizedUpdate)?;
        self.clear(columns)?;
        for show in news {
            match show {
                Show::Line(line) if self.is_asking => {
                    queue!(self.out, MoveToColumn(0), Clear(ClearType::CurrentLine))?;
                    write!(self.out, "{line}\nYour answer: ")?;
                }
                Show::Line(line) => writeln!(self.out, "{line}")?,
                Show::Block(block) => self.block = Some(block),
                Show::Asking(done) => {
                    self.is_asking = true;
                    write!(self.out, "{BELL}")?;
                    self.out.flush()?;
                    // Whoever asked may be gone.
                    let _ = done.send(());
                }
                Show::Asked if self.is_asking => {
                    self.is_asking = false;
                    queue!(self.out, MoveToColumn(0), Clear(ClearType::CurrentLine))?;
                }
                Show::Asked => {}
                Show::End => {}
            }
        }
        if let Some(block) = self.block.as_ref().filter(|_| !self.is_asking) {
            let lines = block.lines(now, columns, self.frame, self.paint);
            self.drawn = lines.iter().map(|line| visible(line)).collect();
            write!(self.out, "{}", lines.join("\n"))?;
        }
        queue!(self.out, EndSynchronizedUpdate)?;
        self.out.flush()
    }

    /// Takes the block off the screen. Where that has become narrower, its lines may be wrapped.
    fn clear(&mut self, columns: usize) -> io::Result<()> {
        let rows: usize = self.drawn.iter().map(|line| line.div_ceil(columns.max(1)).max(1)).sum();
        if rows == 0 {
            return Ok(());
        }
        self.drawn.clear();
        queue!(self.out, MoveToColumn(0))?;
        if rows > 1 {
            queue!(self.out, MoveUp(u16::try_from(rows - 1).unwrap_or(u16::MAX)))?;
        }
        queue!(self.out, Clear(ClearType::FromCursorDown))
    }
}

/// The columns of a line, colours not counted.
fn visible(line: &str) -> usize {
    let plain: String = line
        .split('\u{1b}')
        .enumerate()
        .map(|(place, part)| match place {
            0 => part,
            _ => part.split_once('m').map_or(part, |(_, text)| text),
        })
        .collect();
    super::text::columns(&plain)
}

fn is_wanted(is_terminal: bool, ci: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    let is_ci = ci.is_some_and(|value| !value.is_empty() && value != "false" && value != "0");
    let is_dumb = term.is_some_and(|term| term == "dumb");
    is_terminal && !is_ci && !is_dumb
}

/// What an agent is doing, in words; nothing where that is not worth a line.
pub(super) fn doings(activity: &Activity) -> String {
    match activity {
        Activity::Said(text) => text.clone(),
        Activity::ToolStarted { name, subject } => format!("{name} {subject}"),
        Activity::ToolEnded => String::new(),
        Activity::Retrying { reason } => format!("trying again: {reason}"),
        Activity::Used(used) => usage::words(*used).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use engine::Rules;

    use super::*;
    use crate::view::samples::{self, Story};

    #[test]
    fn the_block_is_for_terminals_that_somebody_watches() {
        let on = |value: &'static str| Some(OsStr::new(value));
        assert!(is_wanted(true, None, on("xterm")));
        assert!(is_wanted(true, on("false"), None));
        assert!(!is_wanted(true, on("true"), None));
        assert!(!is_wanted(true, on("1"), None));
        assert!(!is_wanted(true, None, on("dumb")));
        assert!(!is_wanted(false, None, None));
    }

    #[test]
    fn lines_scroll_above_the_block_and_none_of_it_stays() {
        let mut out = Vec::new();
        let mut drawing = Drawing::new(&mut out, Paint::Colours);
        let state = Story::new(Rules::default()).starts("1.2").state();
        let block = Block::of(&state, &Work::default(), Total::of(&state, &Work::default()), |_| None);
        let block = || Show::Block(Box::new(block.clone()));
        drawing.update(vec![block()], samples::time(0), 80).unwrap();
        assert_eq!(drawing.drawn.iter().max(), Some(&79));
        drawing.update(vec![Show::Line("a fact".to_owned())], samples::time(1), 40).unwrap();
        drawing.clear(40).unwrap();
        assert!(drawing.drawn.is_empty());
        let shown = String::from_utf8(out).unwrap();
        let (_, again) = shown.split_once("a fact\n").unwrap();
        assert!(shown.contains("\u{1b}[2A\u{1b}[J"), "wrapped at 40 columns it had three rows: {shown:?}");
        assert!(again.contains("1/3"), "and is drawn again below: {again:?}");
    }

    #[test]
    fn somebody_who_types_is_left_alone() {
        let mut out = Vec::new();
        let mut drawing = Drawing::new(&mut out, Paint::Plain);
        let (sender, done) = channel();
        drawing
            .update(vec![Show::Block(Box::default()), Show::Asking(sender)], samples::time(0), 80)
            .unwrap();
        done.try_recv().unwrap();
        drawing.update(Vec::new(), samples::time(1), 80).unwrap();
        assert!(drawing.drawn.is_empty(), "no block");
        drawing.update(vec![Show::Line("a fact".to_owned())], samples::time(2), 80).unwrap();
        drawing.update(vec![Show::Asked], samples::time(3), 80).unwrap();
        assert!(!drawing.drawn.is_empty());
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.contains(BELL) && shown.contains("a fact\nYour answer: "), "{shown:?}");
    }

    #[test]
    fn every_event_can_be_shown() {
        let mut live = Live::new(Paint::Plain, Verbosity::Steps, io::sink());
        // Another thread that may have something to say does not keep it from ending.
        let _printer = live.printer();
        let tool = Activity::ToolStarted { name: "Bash".to_owned(), subject: "\u{1b}[31mred\nx".to_owned() };
        for (event, state) in samples::fixed().replay() {
            live.show(&state, &event);
            live.working(&state, &TaskId::new("1.2"), &tool);
            live.working(&state, &TaskId::new("1.2"), &Activity::ToolEnded);
        }
        live.begin_asking();
        live.end_asking();
        assert_eq!(live.activities[&TaskId::new("1.2")], "Bash \u{241b}[31mred x");
    }
}

//! The terminal: keys come in, the journal is looked at now and then, and the screen is drawn when something has changed.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event as Input, KeyEventKind};
use crossterm::execute;
use jiff::Timestamp;
use ratatui::DefaultTerminal;
use runner::{PlanFile, Project};

use super::app::{App, Area, Deed, ReplayShown, View};
use super::deeds::{self, Addressee};
use super::detail::Detail;
use super::draw::draw;
use super::load::Loaded;
use super::runs::Runs;
use super::source::{Came, Source};
use super::timeline::Timeline;
use super::tree::Tree;
use crate::args::Format;
use crate::command::status::holder_of;
use crate::error::Error;
use crate::inspect::record::Record;
use crate::inspect::runs::subject;
use crate::view::paint::Paint;
use crate::view::subject::Subject;

/// How often the journal and the files of an agent at work are looked at: inotify knows nothing of other machines.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often it is looked whether the run's process is there.
const LOOK_FOR_PROCESS_EVERY: Duration = Duration::from_secs(1);
/// The least time between two drawings.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// How often the clocks move on.
const CLOCK_EVERY: Duration = Duration::from_secs(1);

/// What is to be shown.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) project: Project,
    /// The plan; none shows all of them.
    pub(crate) plan: Option<(PlanFile, Subject)>,
    /// The speed at which a past run is played.
    pub(crate) replay: Option<u32>,
    /// The folder for what is saved.
    pub(crate) dir: PathBuf,
}

/// A message from another thread.
enum Message {
    Loaded(Loaded),
    Told(String),
}

/// Everything that goes on while the screen is there.
struct Keeper {
    app: App,
    source: Source,
    /// The journal, and the plan's file where a run of it may be under way.
    journal: PathBuf,
    replay: Option<u32>,
    dir: PathBuf,
    sender: Sender<Message>,
    messages: Receiver<Message>,
    drawn: Instant,
    looked: Instant,
    looked_for_process: Instant,
    is_changed: bool,
    /// What is to be opened in the user's editor, for which the screen goes away.
    to_edit: Option<String>,
}

/// Shows a run until somebody has seen enough.
pub(crate) fn show(opening: Opening) -> Result<(), Error> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let error = Error::usage("`tillgreen watch` needs a terminal");
        return Err(
            error.hint("`tillgreen log -f` prints the same as lines, and `tillgreen status` where it stands")
        );
    }
    let mut keeper = Keeper::new(opening)?;
    let mut terminal = take_terminal()?;
    let ended = keeper.go_on(&mut terminal);
    give_back_terminal();
    ended
}

fn take_terminal() -> io::Result<DefaultTerminal> {
    let terminal = ratatui::try_init()?;
    // A terminal that knows nothing of it pastes as if it was typed.
    let _ = execute!(io::stdout(), EnableBracketedPaste);
    Ok(terminal)
}

fn give_back_terminal() {
    // As above.
    let _ = execute!(io::stdout(), DisableBracketedPaste);
    ratatui::restore();
}

impl Keeper {
    fn new(opening: Opening) -> Result<Self, Error> {
        let Opening { project, plan, replay, dir } = opening;
        let (sender, messages) = channel();
        let is_open = plan.is_some();
        let runs = if is_open { Runs::default() } else { Runs::look(&project)? };
        let first = || runs.rows.first().map(|row| (row.file.clone(), subject(&project, &row.file)));
        let Some((file, subject)) = plan.or_else(first) else {
            return Err(Error::usage("there is no plan in this project")
                .hint("`tillgreen new NAME` makes one, and `tillgreen demo` shows a run"));
        };
        let journal = file.journal();
        let source = open(&journal, replay)?;
        let app = app(project, subject, runs, &sender);
        let long_ago = Instant::now().checked_sub(LOOK_FOR_PROCESS_EVERY).unwrap_or_else(Instant::now);
        let (drawn, looked, looked_for_process) = (long_ago, Instant::now(), long_ago);
        let view = if is_open { View::Tasks } else { View::Runs };
        let app = App { view, ..app };
        Ok(Self {
            app,
            source,
            journal,
            replay,
            dir,
            sender,
            messages,
            drawn,
            looked,
            looked_for_process,
            is_changed: true,
            to_edit: None,
        })
    }

    fn go_on(&mut self, terminal: &mut DefaultTerminal) -> Result<(), Error> {
        self.look(Duration::ZERO);
        loop {
            self.draw(terminal)?;
            if event::poll(self.patience())? && self.input(&event::read()?)? {
                return Ok(());
            }
            if let Some(text) = self.to_edit.take() {
                give_back_terminal();
                self.edit(&text);
                *terminal = take_terminal()?;
            }
            let passed = self.looked.elapsed();
            if passed >= self.look_every() {
                self.look(passed);
            }
            while let Ok(message) = self.messages.try_recv() {
                self.is_changed = true;
                match message {
                    Message::Loaded(loaded) => self.app.loaded(loaded),
                    Message::Told(told) => self.app.said = Some(told),
                }
            }
        }
    }

    /// A replay moves on with every drawing; a journal is looked at less often.
    fn look_every(&self) -> Duration {
        if self.is_playing() { DRAW_EVERY } else { LOOK_EVERY }
    }

    fn is_playing(&self) -> bool {
        self.app.replay.is_some_and(|replay| !replay.is_paused && replay.played < replay.all)
    }

    /// How long keys are waited for.
    fn patience(&self) -> Duration {
        let until_look = self.look_every().saturating_sub(self.looked.elapsed());
        let until_draw = DRAW_EVERY.saturating_sub(self.drawn.elapsed());
        let wait = if self.is_changed { until_look.min(until_draw) } else { until_look };
        // What another thread reads is shown soon.
        if self.app.detail.is_loading { wait.min(Duration::from_millis(20)) } else { wait }
    }

    fn draw(&mut self, terminal: &mut DefaultTerminal) -> Result<(), Error> {
        let has_clock = self.app.holder.is_some() || self.is_playing();
        let is_due = self.is_changed || (has_clock && self.drawn.elapsed() >= CLOCK_EVERY);
        if is_due && self.drawn.elapsed() >= DRAW_EVERY {
            terminal.draw(|frame| draw(&mut self.app, frame))?;
            (self.is_changed, self.drawn) = (false, Instant::now());
        }
        Ok(())
    }

    /// Looks for what is new.
    fn look(&mut self, passed: Duration) {
        self.app.now = Timestamp::now();
        self.looked = Instant::now();
        match self.source.poll(passed) {
            Ok(came) => self.take(came),
            Err(error) => {
                let trouble =
                    Some(Error::from(error).render(Format::Text).lines().collect::<Vec<_>>().join("; "));
                self.is_changed |= self.app.trouble != trouble;
                self.app.trouble = trouble;
            }
        }
        self.look_for_process();
        self.is_changed |= self.app.look_again();
    }

    fn take(&mut self, came: Came) {
        self.app.trouble = None;
        let shown = shown(&self.source);
        self.is_changed |= self.app.replay != shown || came.is_new || !came.events.is_empty();
        self.app.replay = shown;
        if came.is_new || !came.events.is_empty() {
            self.app.take(came);
            // Somebody has begun, or has ended.
            self.looked_for_process =
                Instant::now().checked_sub(LOOK_FOR_PROCESS_EVERY).unwrap_or(self.looked);
        }
    }

    fn look_for_process(&mut self) {
        let is_present = self.app.subject.file.as_ref().is_some_and(|file| file.journal() == self.journal);
        if !is_present
            || self.app.replay.is_some()
            || self.looked_for_process.elapsed() < LOOK_FOR_PROCESS_EVERY
        {
            return;
        }
        self.looked_for_process = Instant::now();
        let holder = self.app.subject.file.as_ref().and_then(|file| holder_of(file).ok().flatten());
        self.is_changed |= holder != self.app.holder;
        self.app.holder = holder;
    }

    /// Takes in what was typed; true if somebody has seen enough.
    fn input(&mut self, input: &Input) -> Result<bool, Error> {
        self.is_changed = true;
        match input {
            Input::Key(key) if key.kind != KeyEventKind::Release => {
                let deed = self.app.key(*key);
                return deed.map_or(Ok(false), |deed| self.carry_out(deed));
            }
            Input::Paste(text) => self.app.paste(text),
            Input::Key(_) | Input::Resize(..) | Input::FocusGained | Input::FocusLost | Input::Mouse(_) => {}
        }
        Ok(false)
    }

    fn carry_out(&mut self, deed: Deed) -> Result<bool, Error> {
        match deed {
            Deed::Quit => return Ok(true),
            Deed::Send(said) => {
                self.app.said = Some("Telling the run …".to_owned());
                deeds::send(self.addressee(), said, teller(&self.sender));
            }
            Deed::Cancel => {
                self.app.said = Some("Stopping the run …".to_owned());
                deeds::cancel(self.addressee(), teller(&self.sender));
            }
            Deed::Copy(text) => {
                write!(io::stdout(), "{}", deeds::copied(&text))?;
                io::stdout().flush()?;
                self.app.said = Some(format!(
                    "Copied {} lines, if this terminal lets programs do that.",
                    text.lines().count()
                ));
            }
            Deed::Save(text) => self.save(&text),
            Deed::Edit(text) => self.to_edit = Some(text),
            Deed::ListRuns => match Runs::look(&self.app.project) {
                Ok(runs) => (self.app.runs, self.app.view) = (runs, View::Runs),
                Err(error) => self.app.said = Some(error.render(Format::Text)),
            },
            Deed::OpenRun(place) => self.open_run(place),
            Deed::Speed(by) => self.of_replay(|replay| {
                replay.change_speed(by);
                None
            }),
            Deed::Halt => self.of_replay(|replay| {
                replay.is_paused = !replay.is_paused;
                None
            }),
            Deed::Step => self.of_replay(super::source::Replay::step),
        }
        Ok(false)
    }

    fn of_replay(&mut self, act: impl FnOnce(&mut super::source::Replay) -> Option<engine::Event>) {
        let Source::Replay(replay) = &mut self.source else { return };
        let events = act(replay).into_iter().collect();
        self.take(Came { is_new: false, events });
    }

    fn addressee(&self) -> Addressee {
        let App { project, subject, record, .. } = &self.app;
        let state = record.state.opened().is_some().then(|| record.state.clone());
        Addressee { project: project.clone(), subject: subject.clone(), state }
    }

    /// The name of what is shown, as a file.
    fn shown_name(&self) -> String {
        let task = self.app.tree.selected().map(|(task, _)| task.to_string()).unwrap_or_default();
        let tab = self.app.detail.tab.word().to_lowercase();
        format!("{} {task} {tab}", self.app.subject.name)
    }

    fn own_folder(&self) -> &Path {
        self.app.subject.file.as_ref().map_or(&self.dir, |file| &file.home)
    }

    /// Opens a text in the user's editor, as a file in the folder that is its user's alone.
    fn edit(&mut self, text: &str) {
        self.is_changed = true;
        let opened = deeds::save(self.own_folder(), &self.shown_name(), text).and_then(|path| {
            let edited = runner::process::edit(&path);
            // What was shown is elsewhere.
            let _ = fs::remove_file(&path);
            edited.map_err(|error| {
                Error::usage("no editor can be started").because(error).hint("EDITOR names yours")
            })
        });
        self.app.said =
            opened.err().map(|error| error.render(Format::Text).lines().collect::<Vec<_>>().join("; "));
    }

    /// Saves a text beside the record of the run: in the project it would be taken for somebody's work.
    fn save(&mut self, text: &str) {
        let saved = deeds::save(self.own_folder(), &self.shown_name(), text);
        self.app.said = Some(match saved {
            Ok(path) => {
                format!("Saved as {}.", path.strip_prefix(self.app.project.root()).unwrap_or(&path).display())
            }
            Err(error) => error.render(Format::Text).lines().collect::<Vec<_>>().join("; "),
        });
    }

    fn open_run(&mut self, place: usize) {
        let Some(row) = self.app.runs.rows.get(place).cloned() else { return };
        let journal = row.archived.unwrap_or_else(|| row.file.journal());
        match open(&journal, self.replay) {
            Ok(source) => {
                let subject = subject(&self.app.project, &row.file);
                let runs = std::mem::take(&mut self.app.runs);
                self.app = app(self.app.project.clone(), subject, runs, &self.sender);
                (self.source, self.journal) = (source, journal);
                self.looked_for_process =
                    Instant::now().checked_sub(LOOK_FOR_PROCESS_EVERY).unwrap_or(self.looked);
                self.look(Duration::ZERO);
            }
            Err(error) => self.app.said = Some(error.render(Format::Text)),
        }
    }
}

fn open(journal: &std::path::Path, replay: Option<u32>) -> Result<Source, Error> {
    match replay {
        Some(speed) => Ok(Source::replay(journal, speed)?),
        None => Ok(Source::journal(journal)),
    }
}

fn shown(source: &Source) -> Option<ReplayShown> {
    let Source::Replay(replay) = source else { return None };
    let (played, all) = replay.progress();
    let (speed, is_paused, clock) = (replay.speed, replay.is_paused, replay.clock);
    Some(ReplayShown { speed, is_paused, played, all, clock })
}

fn app(project: Project, subject: Subject, runs: Runs, sender: &Sender<Message>) -> App {
    let loaded = sender.clone();
    // A screen that is gone needs nothing any more.
    let detail = Detail::new(move |read| drop(loaded.send(Message::Loaded(read))));
    let branch = project.git().and_then(|git| git.branch().ok().flatten());
    App {
        project,
        subject,
        plans: Vec::new(),
        branch,
        record: Record::default(),
        holder: None,
        trouble: None,
        replay: None,
        tree: Tree::new(),
        detail,
        timeline: Timeline::default(),
        runs,
        view: View::Tasks,
        area: Area::Tree,
        typing: None,
        confirm: None,
        said: None,
        paint: Paint::of(&io::stdout()),
        now: Timestamp::now(),
    }
}

fn teller(sender: &Sender<Message>) -> impl FnOnce(String) + Send + 'static {
    let sender = sender.clone();
    // As above.
    move |told| drop(sender.send(Message::Told(told)))
}

//! What the screen shows, and what a key makes of it.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent};
use engine::{Question, Said};
use jiff::Timestamp;
use plan::{Plan, TaskId};
use runner::Project;
use runner::journal::Holder;

use super::detail::{Detail, Given, Tab};
use super::field::Field;
use super::keys::{self, Command, Motion};
use super::load::Loaded;
use super::pager::Pager;
use super::runs::Runs;
use super::source::Came;
use super::timeline::Timeline;
use super::tree::Tree;
use crate::answer;
use crate::args::Format;
use crate::checkpoint::Checkpoint;
use crate::inspect::reading::Tone;
use crate::inspect::reading::lines;
use crate::inspect::record::Record;
use crate::view::paint::Paint;
use crate::view::question;
use crate::view::subject::Subject;

/// The screen.
#[derive(Debug)]
pub(super) struct App {
    pub(super) project: Project,
    pub(super) subject: Subject,
    pub(super) plans: Vec<(PathBuf, Plan)>,
    pub(super) branch: Option<String>,
    pub(super) record: Record,
    /// The process that runs the plan.
    pub(super) holder: Option<Holder>,
    /// Why the journal cannot be read.
    pub(super) trouble: Option<String>,
    pub(super) replay: Option<ReplayShown>,
    pub(super) tree: Tree,
    pub(super) detail: Detail,
    pub(super) timeline: Timeline,
    pub(super) runs: Runs,
    pub(super) view: View,
    pub(super) area: Area,
    pub(super) typing: Option<Typing>,
    /// A deed that is asked about once more.
    pub(super) confirm: Option<(String, Deed)>,
    /// What came of the last deed.
    pub(super) said: Option<String>,
    pub(super) paint: Paint,
    /// The time of whoever looks.
    pub(super) now: Timestamp,
}

/// What fills the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Tasks,
    Timeline,
    Costs,
    Runs,
    Help,
}

/// The part of the tasks' view that keys go to; where there is no room for both, the one that is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    Tree,
    Detail,
}

/// How far a replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplayShown {
    pub(super) speed: u32,
    pub(super) is_paused: bool,
    pub(super) played: usize,
    pub(super) all: usize,
    pub(super) clock: Timestamp,
}

/// Something that somebody types.
#[derive(Debug)]
pub(super) struct Typing {
    pub(super) purpose: Purpose,
    pub(super) field: Field,
    /// What is wrong with it.
    pub(super) problem: Option<String>,
}

/// What it is for.
#[derive(Debug)]
pub(super) enum Purpose {
    Answer(Box<Answering>),
    Tell(Option<TaskId>),
    Search,
}

/// The question that is answered.
#[derive(Debug)]
pub(super) struct Answering {
    pub(super) task: TaskId,
    since: Timestamp,
    pub(super) question: Question,
    checkpoint: Option<Checkpoint>,
    pub(super) text: Pager,
}

/// Something that the screen's keeper carries out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Quit,
    Send(Said),
    Cancel,
    Copy(String),
    Save(String),
    /// Opens a text in the user's editor.
    Edit(String),
    ListRuns,
    OpenRun(usize),
    Speed(isize),
    Halt,
    Step,
}

impl App {
    /// Takes in what came from the journal.
    pub(super) fn take(&mut self, came: Came) {
        if came.is_new {
            (self.record, self.tree) = (Record::default(), Tree::new());
        }
        let replans = |event: &engine::Event| {
            matches!(
                event.what,
                engine::What::Opened(_) | engine::What::PlanChanged(_) | engine::What::FixInserted { .. }
            )
        };
        let is_replanned = came.events.iter().any(replans);
        came.events.into_iter().for_each(|event| self.record.take(event));
        if is_replanned {
            self.read_plans();
        }
        self.withdraw_answer();
        self.tree.rebuild(&self.record);
        self.show_selected();
    }

    fn read_plans(&mut self) {
        // A plan that cannot be read any more has a record all the same.
        let file = self.subject.file.as_ref();
        self.plans = file.and_then(|file| crate::command::check::read(file).ok()).unwrap_or_default();
        self.tree.name_phases(self.plans.iter().map(|(_, plan)| plan), &self.record);
    }

    /// Closes the field for an answer once somebody else gave one.
    fn withdraw_answer(&mut self) {
        let Some(Typing { purpose: Purpose::Answer(answering), .. }) = &self.typing else { return };
        let open = question::open(&self.record.state).map(|(task, asked)| (task.id(), asked.since));
        if open != Some((&answering.task, answering.since)) {
            self.said = Some(format!("The question about {} is answered already.", answering.task));
            self.typing = None;
        }
    }

    /// Takes in what was read for the detail.
    pub(super) fn loaded(&mut self, loaded: Loaded) {
        self.detail.take(loaded);
    }

    /// Looks whether the output that is shown has grown; true if it is read again.
    pub(super) fn look_again(&mut self) -> bool {
        let Self { project, subject, plans, record, holder, now, .. } = self;
        let now = self.replay.map_or(*now, |replay| replay.clock);
        let given = Given { project, subject, plans, record, holder: holder.as_ref(), now };
        self.detail.look_again(given, self.tree.selected())
    }

    fn show_selected(&mut self) {
        let Self { project, subject, plans, record, holder, now, .. } = self;
        let now = self.replay.map_or(*now, |replay| replay.clock);
        let given = Given { project, subject, plans, record, holder: holder.as_ref(), now };
        self.detail.show(given, self.tree.selected());
    }

    /// Takes in text that was pasted.
    pub(super) fn paste(&mut self, text: &str) {
        if let Some(typing) = &mut self.typing {
            typing.field.paste(text);
        }
    }

    /// Takes in a key.
    pub(super) fn key(&mut self, key: KeyEvent) -> Option<Deed> {
        if let Some((_, deed)) = self.confirm.take() {
            return matches!(key.code, KeyCode::Char('y') | KeyCode::Enter).then_some(deed);
        }
        if self.typing.is_some() {
            return self.type_key(key);
        }
        self.said = None;
        let command = keys::command(key)?;
        if self.view == View::Help && command != Command::Quit {
            self.view = View::Tasks;
            return None;
        }
        self.carry_out(command)
    }

    fn carry_out(&mut self, command: Command) -> Option<Deed> {
        match command {
            Command::Quit => return Some(Deed::Quit),
            Command::Runs => return Some(Deed::ListRuns),
            Command::Help => self.view = View::Help,
            Command::Timeline => {
                self.view = if self.view == View::Timeline { View::Tasks } else { View::Timeline }
            }
            Command::Costs => self.view = if self.view == View::Costs { View::Tasks } else { View::Costs },
            Command::Back => self.back(),
            Command::Answer => self.begin_answer(),
            Command::Tell => self.begin_tell(),
            Command::Pause => self.ask_for("Stop after what is under way?", Deed::Send(Said::Pause)),
            Command::Cancel => {
                self.ask_for("Stop the run at once? What is under way starts again later.", Deed::Cancel)
            }
            Command::Skip => self.ask_to_skip(),
            Command::Speed(by) => return self.change_speed(by),
            Command::Halt => return self.replay.map(|_| Deed::Halt),
            Command::Step => return self.replay.map(|_| Deed::Step),
            Command::Move(motion) => self.moved(motion),
            Command::Enter => return self.entered(),
            Command::OtherArea => {
                self.area = if self.area == Area::Tree { Area::Detail } else { Area::Tree };
            }
            Command::Tab(place) => {
                (self.view, self.detail.tab) = (View::Tasks, Tab::ALL[place.min(Tab::ALL.len() - 1)]);
                self.show_selected();
            }
            Command::Search => self.begin(Purpose::Search),
            Command::Hit(by) => {
                if !self.detail.pager.next_hit(by) {
                    self.said = Some("Nothing found.".to_owned());
                }
            }
            Command::Wrap => self.detail.pager.is_wrapped = !self.detail.pager.is_wrapped,
            Command::Filter => {
                self.tree.filter = self.tree.filter.next();
                self.tree.rebuild(&self.record);
                self.show_selected();
            }
            Command::Follow => {
                self.tree.follow(&self.record);
                self.show_selected();
            }
            Command::Copy => return Some(Deed::Copy(self.detail.pager.text())),
            Command::Save => return Some(Deed::Save(self.detail.pager.text())),
            Command::Edit => return Some(Deed::Edit(self.detail.pager.text())),
        }
        None
    }

    fn back(&mut self) {
        match (self.view, self.area) {
            (View::Tasks, Area::Detail) => self.area = Area::Tree,
            (View::Tasks, Area::Tree) => self.tree.follow(&self.record),
            (View::Timeline | View::Costs | View::Runs | View::Help, _) => self.view = View::Tasks,
        }
        self.show_selected();
    }

    fn change_speed(&mut self, by: isize) -> Option<Deed> {
        if self.view == View::Timeline {
            self.timeline.zoom(by);
            return None;
        }
        self.replay.map(|_| Deed::Speed(by))
    }

    fn moved(&mut self, motion: Motion) {
        match (self.view, self.area) {
            (View::Tasks, Area::Tree) => self.move_tree(motion),
            (View::Tasks, Area::Detail) => self.detail.pager.moved(motion),
            (View::Timeline, _) => self.timeline.moved(motion),
            (View::Runs, _) => self.runs.moved(motion),
            (View::Costs | View::Help, _) => {}
        }
    }

    fn entered(&mut self) -> Option<Deed> {
        match (self.view, self.tree.selected()) {
            (View::Runs, _) => return Some(Deed::OpenRun(self.runs.cursor)),
            (View::Tasks, Some(_)) => self.area = Area::Detail,
            (View::Tasks, None) => {
                if !self.tree.unfold(&self.record) {
                    self.tree.fold(&self.record);
                }
            }
            (View::Timeline | View::Costs | View::Help, _) => self.view = View::Tasks,
        }
        None
    }

    fn move_tree(&mut self, motion: Motion) {
        match motion {
            Motion::Down => self.tree.select(1),
            Motion::Up => self.tree.select(-1),
            Motion::PageDown => self.tree.page(1),
            Motion::PageUp => self.tree.page(-1),
            Motion::Start => self.tree.select(isize::MIN),
            Motion::End => self.tree.select(isize::MAX),
            Motion::Left => self.tree.fold(&self.record),
            Motion::Right => drop(self.tree.unfold(&self.record)),
        }
        self.show_selected();
    }

    fn begin(&mut self, purpose: Purpose) {
        self.typing = Some(Typing { purpose, field: Field::default(), problem: None });
    }

    fn is_replay(&mut self) -> bool {
        if self.replay.is_some() {
            self.said = Some("This is a replay: nothing that is done here reaches a run.".to_owned());
        }
        self.replay.is_some()
    }

    fn begin_answer(&mut self) {
        if self.is_replay() {
            return;
        }
        let state = &self.record.state;
        let Some((task, asked)) = question::open(state) else {
            self.said = Some("No question is open.".to_owned());
            return;
        };
        let text = question::render(&self.subject, state, task, asked);
        let mut pager = Pager::wrapping();
        pager.show(lines(&text, Tone::Plain), false);
        let file = self.subject.file.as_ref();
        let answering = Answering {
            task: task.id().clone(),
            since: asked.since,
            question: asked.question,
            checkpoint: file.and_then(|file| Checkpoint::find(file, task.id())),
            text: pager,
        };
        self.begin(Purpose::Answer(Box::new(answering)));
    }

    fn begin_tell(&mut self) {
        if self.is_replay() {
            return;
        }
        let task = self.tree.selected().map(|(task, _)| task.clone());
        let is_open =
            |task: &TaskId| self.record.state.task(task).is_some_and(|task| !task.status.is_settled());
        // A word to a task that is done would reach nobody; then it is for whatever starts next.
        self.begin(Purpose::Tell(task.filter(|task| is_open(task))));
    }

    fn ask_to_skip(&mut self) {
        if self.is_replay() {
            return;
        }
        let task = self.tree.selected().map(|(task, _)| task.clone());
        let is_open =
            |task: &TaskId| self.record.state.task(task).is_some_and(|task| !task.status.is_settled());
        match task.filter(|task| is_open(task)) {
            Some(task) => self.ask_for(&format!("Skip task {task}?"), Deed::Send(Said::Skip { task })),
            None => self.said = Some("Select a task that is not done to skip it.".to_owned()),
        }
    }

    fn ask_for(&mut self, question: &str, deed: Deed) {
        if !self.is_replay() {
            self.confirm = Some((question.to_owned(), deed));
        }
    }

    fn type_key(&mut self, key: KeyEvent) -> Option<Deed> {
        let mut typing = self.typing.take()?;
        match (key.code, &mut typing.purpose) {
            (KeyCode::Esc, _) => None,
            (KeyCode::Enter, _) => self.typed(typing),
            (code @ (KeyCode::PageUp | KeyCode::PageDown), Purpose::Answer(answering)) => {
                answering.text.page(if code == KeyCode::PageUp { -1 } else { 1 });
                self.typing = Some(typing);
                None
            }
            (..) if keys::command(key) == Some(Command::Quit) && matches!(key.code, KeyCode::Char('c')) => {
                None
            }
            (..) => {
                typing.problem = None;
                typing.field.key(key);
                self.typing = Some(typing);
                None
            }
        }
    }

    /// Takes in a line that was typed to its end.
    fn typed(&mut self, mut typing: Typing) -> Option<Deed> {
        let text = typing.field.text();
        let said = match &typing.purpose {
            Purpose::Search => {
                if !self.detail.pager.search(text.trim()) && !text.trim().is_empty() {
                    self.said = Some(format!("{:?} is nowhere.", text.trim()));
                }
                return None;
            }
            Purpose::Tell(task) => {
                let text = text.trim().to_owned();
                if text.is_empty() {
                    return None;
                }
                Ok(Said::Tell { task: task.clone(), text })
            }
            Purpose::Answer(answering) => {
                let Answering { task, since, question, checkpoint, .. } = answering.as_ref();
                let response = answer::read(&text, *question, checkpoint.as_ref());
                response.map(|response| Said::Answer { task: task.clone(), since: *since, response })
            }
        };
        match said {
            Ok(said) => Some(Deed::Send(said)),
            Err(error) => {
                let problem = error.render(Format::Text);
                typing.problem = Some(problem.lines().collect::<Vec<_>>().join("; "));
                self.typing = Some(typing);
                None
            }
        }
    }
}

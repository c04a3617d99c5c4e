//! The one channel into the loop: ends of processes, signals, people's answers, and what they tell from other processes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use engine::{ActionKey, ForgeReport, Limits, Response};
use plan::TaskId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::agent::{Outcome, Told};
use crate::forge::Surveyed;
use crate::git::{self, References};
use crate::imports::Closed;
use crate::inbox::folder::{self, Folder};
use crate::inbox::watch::{Interest, Watched, watch};
use crate::landing::project_lock::ProjectLock;
use crate::process::Ended;
use crate::work::places::Done;

/// A message to the loop.
#[derive(Debug)]
pub(crate) enum Message {
    /// A process that was started for an action has ended.
    Ended(ActionKey, Box<Ended>),
    /// Something that was started at the forge has come to an end.
    Forge(ActionKey, Box<ForgeReport>),
    /// The survey of the pull request is done.
    Surveyed(Box<Surveyed>),
    /// The source of the plan was told what is done.
    WrittenBack(Box<Closed>),
    /// Work beside the loop for an action is done.
    Done(ActionKey, Box<Done>),
    /// An agent that was started for an action has ended, with its own account of it.
    AgentEnded(ActionKey, Box<(Ended, Outcome)>),
    /// An agent is at work.
    Told(ActionKey, Told),
    /// A task has the project to itself.
    ProjectLock(TaskId, ProjectLock),
    /// The branches, tags and stashes at the moment when tasks begin to run side by side.
    References(References),
    /// Something worth saying happened beside the loop.
    Note(String),
    /// Something was put into the folder through which other processes reach the run.
    Posted,
    /// The settings were read again.
    Settings(Box<Result<LiveSettings, String>>),
    /// The run is to stop.
    Interrupted,
    /// A person answered.
    Answered(TaskId, Response),
    /// The person who was asked went away.
    NobodyAnswers(TaskId),
}

/// The settings that can be changed while a run goes on, as they read now.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// Every limit.
    pub limits: Limits,
    /// The number of agents that may be at work at once.
    pub jobs: u32,
    /// Each of these settings as text; none where it has no value.
    pub texts: BTreeMap<String, Option<String>>,
    /// Settings that are not what they were when the run began, and that count from the next start on.
    pub later: Vec<String>,
}

/// The loop's end of the channel.
#[derive(Debug)]
pub(crate) struct Inbox {
    sender: Sender<Message>,
    receiver: Receiver<Message>,
}

/// Hands a person's answer to a running loop.
#[derive(Clone, Debug)]
pub struct Responder {
    sender: Sender<Message>,
}

impl Responder {
    /// Answers the question about a task. An answer that nobody waits for is ignored.
    pub fn answer(&self, task: TaskId, response: Response) {
        // The loop may have ended in the meantime; then nobody needs the answer.
        let _ = self.sender.send(Message::Answered(task, response));
    }
}

impl Responder {
    /// Says that nobody is there to answer: the run pauses and keeps the question.
    pub fn nobody_answers(&self, task: TaskId) {
        // As above.
        let _ = self.sender.send(Message::NobodyAnswers(task));
    }
}

impl Responder {
    /// Has what is worth saying while the loop itself waits told to `hear`, in a thread of its own.
    pub fn listen(&self, hear: impl Fn(String) + Send + 'static) {
        let (sender, words) = channel();
        // Without a thread nothing is said, and all else goes on as well.
        let listening = thread::Builder::new().name("words".to_owned());
        if listening.spawn(move || words.iter().for_each(hear)).is_ok() {
            git::say_through(sender);
        }
    }
}

impl Responder {
    /// Has these files watched, in a thread of its own, and the settings read again whenever one of them changes. They are
    /// read once at the beginning: somebody may have changed them since.
    pub fn follow_settings(
        &self,
        files: &[PathBuf],
        read: impl Fn() -> Result<LiveSettings, String> + Send + 'static,
    ) -> io::Result<()> {
        let sender = self.sender.clone();
        let watched = files.iter().filter_map(|file| Watched::file(file)).collect();
        watch(watched, move || Interest::of(sender.send(Message::Settings(Box::new(read())))))
    }
}

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

impl Inbox {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }

    pub(crate) fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }

    pub(crate) fn responder(&self) -> Responder {
        Responder { sender: self.sender() }
    }

    /// Has signals turned into messages, for each run of the program. The second one ends the program where it stands:
    /// everything it started dies with it, and the journal is good for resuming at any moment. A run that is opened after
    /// the first one is to stop at once.
    pub(crate) fn listen_to_signals(&self) -> io::Result<()> {
        let mut listeners = listeners();
        if git::is_interrupted() {
            // The loop is not there yet, but its end of the channel is.
            let _ = self.sender.send(Message::Interrupted);
        }
        if listeners.is_empty() {
            listen()?;
        }
        listeners.push(self.sender());
        Ok(())
    }

    /// Has the loop told of whatever is put into the folder.
    pub(crate) fn listen_to_folder(&self, folder: &Folder) -> io::Result<()> {
        folder.make()?;
        let (sender, path) = (self.sender(), folder.path().to_owned());
        let watched = vec![Watched::Incoming(path, folder::ENTRY)];
        watch(watched, move || Interest::of(sender.send(Message::Posted)))
    }

    /// The next message, or none if the time is up first.
    pub(crate) fn receive(&self, wait: Option<Duration>) -> Option<Message> {
        match wait {
            Some(wait) => self.receiver.recv_timeout(wait).ok(),
            None => self.receiver.recv().ok(),
        }
    }
}

/// The loops that are told of signals.
static LISTENERS: Mutex<Vec<Sender<Message>>> = Mutex::new(Vec::new());

fn listeners() -> MutexGuard<'static, Vec<Sender<Message>>> {
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells all loops of a signal, in a thread of its own. Who started the program so that it outlives the terminal, as
/// `nohup` does, wants it to go on.
fn listen() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let told = |listener: &Sender<Message>| listener.send(Message::Interrupted).is_ok();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            let is_told = listeners().iter().filter(|listener| told(listener)).count() > 0;
            if count > 0 || !is_told {
                git::end_all_and_exit(INTERRUPTED);
            }
            // Whatever comes of a git that is ended for this comes in later than the message.
            git::interrupt();
        }
    })?;
    Ok(())
}

/// True if the program was started with this signal being ignored. The system tells by a mask of bits.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

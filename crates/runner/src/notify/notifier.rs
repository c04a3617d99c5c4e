//! Delivering beside the run: each notice is a file for each channel until it arrived or was tried often enough.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::channel::{Channel, Notification, Notify};
use super::deliver::Delivery;
use crate::atomic;
use crate::project::PlanFile;

/// How often a delivery is tried.
const TRIES_MAX: u32 = 5;
/// The wait after the first time that it did not arrive; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The time at the end of a run for what is under way. What does not arrive by then is delivered by the next start.
const PATIENCE: Duration = Duration::from_secs(20);

/// Delivers notices in a thread of its own.
#[derive(Debug)]
pub struct Notifier {
    sender: Sender<Message>,
    delivering: Option<JoinHandle<()>>,
    done: Receiver<Vec<String>>,
}

enum Message {
    Notice(Box<Notification>),
    /// The run is over.
    End,
}

/// A notice that has not arrived, as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Waiting {
    channel: String,
    notification: Notification,
    #[serde(default)]
    tries: u32,
}

/// A notice that is being delivered.
struct Parcel {
    path: PathBuf,
    waiting: Waiting,
    next: Instant,
}

impl Notifier {
    /// Begins, with what an earlier run left undelivered; none if nobody is to be told anything.
    pub fn start(file: &PlanFile, notify: &Notify) -> Option<Self> {
        Self::start_in(&file.home.join("notices"), notify, FIRST_WAIT)
    }

    fn start_in(folder: &Path, notify: &Notify, first_wait: Duration) -> Option<Self> {
        if notify.is_off() {
            return None;
        }
        let (sender, messages) = channel();
        let (told, done) = channel();
        let (folder, channels) = (folder.to_owned(), notify.channels());
        let mut queue = Queue { folder, channels, first_wait, parcels: Vec::new(), problems: Vec::new() };
        let delivering = move || {
            if let Err(error) = queue.go_on(&messages) {
                queue.problems.push(format!("notices cannot be kept: {error}"));
            }
            // Whoever ended the run may not wait any more.
            let _ = told.send(queue.problems);
        };
        let thread = thread::Builder::new().name("notices".to_owned()).spawn(delivering);
        // Without a thread nobody is told anything, and the run goes on.
        Some(Self { sender, delivering: Some(thread.ok()?), done })
    }

    /// Tells everybody who wants to know.
    pub fn tell(&self, notification: Notification) {
        // As above.
        let _ = self.sender.send(Message::Notice(Box::new(notification)));
    }

    /// Waits for what is under way, and says what did not arrive.
    pub fn finish(mut self) -> Vec<String> {
        let _ = self.sender.send(Message::End);
        match self.done.recv_timeout(PATIENCE) {
            Ok(problems) => {
                // It has said all there is.
                let _ = self.delivering.take().map(JoinHandle::join);
                problems
            }
            Err(_) => vec!["notices have not arrived yet; the next run delivers them".to_owned()],
        }
    }
}

struct Queue {
    folder: PathBuf,
    channels: Vec<Channel>,
    first_wait: Duration,
    parcels: Vec<Parcel>,
    problems: Vec<String>,
}

impl Queue {
    /// Delivers until the run is over and nothing is due soon.
    fn go_on(&mut self, messages: &Receiver<Message>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        fs::create_dir_all(&self.folder)?;
        self.take_up()?;
        let mut give_up: Option<Instant> = None;
        loop {
            let now = Instant::now();
            let next = self.parcels.iter().map(|parcel| parcel.next).min();
            if next.is_some_and(|next| next <= now) {
                self.deliver_due(&runtime, now);
                continue;
            }
            // What is left in the end is for the next run, unless it may still arrive.
            if give_up.is_some_and(|give_up| next.is_none_or(|next| next > give_up)) {
                break;
            }
            let wait = next.map_or(PATIENCE, |next| next.saturating_duration_since(now));
            match messages.recv_timeout(wait) {
                Ok(Message::Notice(notification)) => self.take(&notification)?,
                Ok(Message::End) => give_up = Some(now + PATIENCE / 2),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if give_up.is_none() => give_up = Some(now),
                // Nobody sends any more; what is due comes.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(wait.min(self.first_wait)),
            }
        }
        let names: BTreeSet<String> = self
            .parcels
            .iter()
            .filter_map(|parcel| Some(self.channel(&parcel.waiting.channel)?.name()))
            .collect();
        self.problems.extend(names.into_iter().map(|name| {
            format!("notices have not reached {name} yet; the next run delivers them, `tillgreen notify test` says why")
        }));
        Ok(())
    }

    /// What an earlier run left. A file that cannot be read, or whose channel is gone, is of no use any more.
    fn take_up(&mut self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let read = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Waiting>(&bytes).ok());
            match read.filter(|waiting| self.channel(&waiting.channel).is_some()) {
                Some(waiting) => {
                    let waiting = Waiting { tries: 0, ..waiting };
                    self.parcels.push(Parcel { path, waiting, next: Instant::now() });
                }
                None => fs::remove_file(&path)?,
            }
        }
        Ok(())
    }

    fn channel(&self, key: &str) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.key() == key)
    }

    fn take(&mut self, notification: &Notification) -> io::Result<()> {
        let wanted: Vec<String> = self
            .channels
            .iter()
            .filter(|channel| channel.wants(notification.event))
            .map(Channel::key)
            .collect();
        for channel in wanted {
            let name = format!("{}-{channel}.json", notification.at.as_nanosecond());
            let path = self.folder.join(name);
            let waiting = Waiting { channel, notification: notification.clone(), tries: 0 };
            keep(&path, &waiting)?;
            self.parcels.push(Parcel { path, waiting, next: Instant::now() });
        }
        Ok(())
    }

    fn deliver_due(&mut self, runtime: &tokio::runtime::Runtime, now: Instant) {
        let (due, later): (Vec<Parcel>, Vec<Parcel>) =
            std::mem::take(&mut self.parcels).into_iter().partition(|parcel| parcel.next <= now);
        self.parcels = later;
        for parcel in due {
            self.deliver(runtime, parcel);
        }
    }

    fn deliver(&mut self, runtime: &tokio::runtime::Runtime, mut parcel: Parcel) {
        let Some(channel) = self.channel(&parcel.waiting.channel).cloned() else { return };
        let id = parcel.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let delivery = Delivery { folder: &self.folder, id };
        let delivered = delivery.make(runtime, &channel, &parcel.waiting.notification);
        parcel.waiting.tries += 1;
        let tries = parcel.waiting.tries;
        match delivered {
            Err(_) if tries < TRIES_MAX => {
                parcel.next = Instant::now() + self.first_wait.saturating_mul(1 << (tries - 1));
                self.parcels.push(parcel);
                return;
            }
            Err(reason) => {
                let name = channel.name();
                self.problems.push(format!("a notice did not reach {name}, tried {tries} times: {reason}"));
            }
            Ok(()) => {}
        }
        if let Err(error) = fs::remove_file(&parcel.path) {
            self.problems.push(format!("cannot remove {}: {error}", parcel.path.display()));
        }
    }
}

fn keep(path: &Path, waiting: &Waiting) -> io::Result<()> {
    let text = serde_json::to_string(waiting).map_err(io::Error::from)?;
    atomic::replace(path, &text)
}

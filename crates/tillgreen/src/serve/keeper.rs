//! The thread that owns what is followed. Requests come in through one channel; between them it looks at the journals.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use plan::TaskId;
use runner::{PlanFile, Project};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::followed::{Followed, Given, Wanted, unknown};
use super::listing::Listing;
use crate::error::Error;
use crate::inspect::runs::files;
use crate::view::subject::Subject;
use crate::view::task_report::TaskReport;

/// How often journals are looked at: inotify knows nothing of other machines.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often it is looked whether runs' processes are there.
const LOOK_FOR_PROCESS_EVERY: Duration = Duration::from_secs(1);
/// How long a run is followed after nobody asked for it any more.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// A request, with where the answer goes.
pub(super) enum Ask {
    Runs(oneshot::Sender<Result<Vec<Value>, Error>>),
    Whole(String, oneshot::Sender<Result<String, Error>>),
    Watch {
        run: String,
        known: (u32, usize),
        watcher: mpsc::Sender<String>,
    },
    Task(String, String, oneshot::Sender<Result<Option<TaskReport>, Error>>),
    Text {
        run: String,
        task: String,
        place: Option<usize>,
        part: String,
        reply: oneshot::Sender<Result<Wanted, Error>>,
    },
    Costs(String, oneshot::Sender<Result<Value, Error>>),
    Plan(String, oneshot::Sender<Result<(PlanFile, Subject), Error>>),
}

/// The other end of the thread.
#[derive(Clone, Debug)]
pub(super) struct Keeper {
    asks: Sender<Ask>,
}

struct Keeping {
    project: Project,
    listing: Listing,
    followed: BTreeMap<String, Followed>,
    looked_for_process: Instant,
}

impl Keeper {
    /// Begins.
    pub(super) fn start(project: Project) -> std::io::Result<Self> {
        let (asks, received) = channel();
        let keeping = Keeping {
            project,
            listing: Listing::default(),
            followed: BTreeMap::new(),
            looked_for_process: Instant::now(),
        };
        thread::Builder::new().name("keeper".to_owned()).spawn(move || keeping.go_on(&received))?;
        Ok(Self { asks })
    }

    /// Asks for something. Without the thread nobody answers, and that is what the asker is told.
    pub(super) fn ask(&self, ask: Ask) {
        let _ = self.asks.send(ask);
    }
}

impl Keeping {
    fn go_on(mut self, asks: &Receiver<Ask>) {
        let mut looked = Instant::now();
        loop {
            match asks.recv_timeout(LOOK_EVERY.saturating_sub(looked.elapsed())) {
                Ok(ask) => self.take(ask),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if looked.elapsed() >= LOOK_EVERY {
                self.look();
                looked = Instant::now();
            }
        }
    }

    fn look(&mut self) {
        let is_wanted = |followed: &Followed| followed.is_watched() || followed.wanted.elapsed() < KEPT_FOR;
        self.followed.retain(|_, followed| is_wanted(followed));
        let is_due = self.looked_for_process.elapsed() >= LOOK_FOR_PROCESS_EVERY;
        if is_due {
            self.looked_for_process = Instant::now();
        }
        for followed in self.followed.values_mut() {
            if is_due {
                followed.look_for_holder();
            }
            followed.look();
        }
    }

    /// The run of that name, which is followed from now on.
    fn followed(&mut self, id: &str) -> Result<&mut Followed, Error> {
        if !self.followed.contains_key(id) {
            let run = files(&self.project)?.into_iter().find(|run| run.id() == id);
            let run = run.ok_or_else(|| Error::usage(format!("there is no run {id:?} here")))?;
            let followed = Followed::open(&self.project, id.to_owned(), run);
            self.followed.insert(id.to_owned(), followed);
        }
        let followed = self.followed.get_mut(id).expect("it was put there");
        followed.wanted = Instant::now();
        Ok(followed)
    }

    fn take(&mut self, ask: Ask) {
        // Whoever asked may have gone, here and below.
        match ask {
            Ask::Runs(reply) => drop(reply.send(self.listing.look(&self.project))),
            Ask::Whole(run, reply) => drop(reply.send(self.followed(&run).map(|run| run.whole()))),
            Ask::Watch { run, known, watcher } => {
                if let Ok(run) = self.followed(&run) {
                    run.watch(known, watcher);
                }
            }
            Ask::Task(run, task, reply) => {
                drop(reply.send(self.followed(&run).map(|run| run.task(&TaskId::new(&task)))));
            }
            Ask::Text { run, task, place, part, reply } => {
                drop(reply.send(self.text(&run, (&task, place), &part)));
            }
            Ask::Costs(run, reply) => drop(reply.send(self.followed(&run).map(|run| run.costs()))),
            Ask::Plan(run, reply) => {
                let plan = |run: &mut Followed| {
                    let file = run.subject.file.clone().expect("a run that is followed has a plan");
                    (file, run.subject.clone())
                };
                drop(reply.send(self.followed(&run).map(plan)));
            }
        }
    }

    fn text(&mut self, run: &str, (task, place): (&str, Option<usize>), part: &str) -> Result<Wanted, Error> {
        let project = self.project.clone();
        let wanted = self.followed(run)?.text(&project, (&TaskId::new(task), place), part)?;
        Ok(wanted.unwrap_or_else(|| Wanted {
            key: format!("{run}\n{task}"),
            given: Given::Lines(unknown(task)),
            growing: Vec::new(),
        }))
    }
}

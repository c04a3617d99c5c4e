//! Work trees that nobody needs any more are removed beside the loop, one after another, when nothing has come in for a
//! moment: until then, whoever brings work in needs the processors, and would have to wait for its turn with git. Nothing waits for any of that but the end of the run. What git
//! does not let go of, for a lock that somebody left, is tried once more in the end, and at the next start.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::git::GitError;
use crate::offstage::Site;

/// How long nothing comes to be removed before it goes.
const QUIET: Duration = Duration::from_millis(200);

/// Removes what it is given.
#[derive(Debug, Default)]
pub(crate) struct Cleaner {
    worker: Option<Worker>,
    /// One that nothing is given to any more.
    last: Option<JoinHandle<Kept>>,
    kept: Kept,
}

/// The thread that does it, and the way to it.
type Worker = (Sender<Site>, JoinHandle<Kept>);

/// Sites of which something is still there.
#[derive(Debug, Default)]
struct Kept {
    /// Those whose trees have yet to go.
    trees: Vec<Site>,
    /// Those whose trees are gone and whose references have yet to go.
    due: Vec<Site>,
    /// Those that git did not let go of.
    sites: Vec<Site>,
    /// The lock that is in the way.
    lock: Option<PathBuf>,
}

impl Cleaner {
    /// Removes a tree, some time.
    pub(crate) fn clear(&mut self, site: Site) -> io::Result<()> {
        let (sender, thread) = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let (sender, sites) = channel::<Site>();
                let thread = thread::Builder::new().name("cleaning".to_owned());
                (sender, thread.spawn(move || work(&sites))?)
            }
        };
        // Should the thread have died, the tree is found at the next start.
        let _ = sender.send(site);
        self.worker = Some((sender, thread));
        Ok(())
    }

    /// Removes a tree at once.
    pub(crate) fn clear_now(&mut self, site: Site) {
        self.kept.clear(site);
        self.kept.let_go();
    }

    /// Nothing more comes for the moment, so that references can go as well.
    pub(crate) fn close(&mut self) {
        if let Some((sender, thread)) = self.worker.take() {
            self.join();
            drop(sender);
            self.last = Some(thread);
        }
    }

    /// Waits until all trees are removed.
    pub(crate) fn wait(&mut self) {
        self.close();
        self.join();
    }

    fn join(&mut self) {
        // A thread that died leaves trees for the next start.
        let kept = self.last.take().map(|thread| thread.join().unwrap_or_default());
        self.kept.sites.extend(kept.unwrap_or_default().sites);
    }

    /// Whether it was given this one already and could not let go of it.
    pub(crate) fn has_kept(&self, site: &Site) -> bool {
        self.kept.sites.iter().any(|kept| kept.tree == site.tree)
    }

    /// Waits until all is removed, and tells what is not.
    pub(crate) fn finish(mut self) -> Option<String> {
        self.wait();
        let mut sites = self.kept.sites;
        while let Some(site) = sites.pop() {
            // What is in the way of one is in the way of all.
            if let Err(error) = site.let_go() {
                return Some(told(&error, sites.len() + 1));
            }
        }
        None
    }
}

/// Removes what comes until nothing can come any more.
fn work(sites: &Receiver<Site>) -> Kept {
    let mut kept = Kept::default();
    loop {
        let patience = if kept.has_any() { QUIET } else { Duration::MAX };
        match sites.recv_timeout(patience) {
            Ok(site) => kept.trees.push(site),
            Err(RecvTimeoutError::Timeout) => kept.let_go(),
            Err(RecvTimeoutError::Disconnected) => {
                kept.let_go();
                return kept;
            }
        }
    }
}

impl Kept {
    fn has_any(&self) -> bool {
        !self.trees.is_empty() || !self.due.is_empty()
    }

    fn clear(&mut self, site: Site) {
        site.clear_tree();
        self.due.push(site);
    }

    /// With a lock in the way git waits for each reference anew, so it is not even asked.
    fn let_go(&mut self) {
        std::mem::take(&mut self.trees).into_iter().for_each(|site| self.clear(site));
        for site in std::mem::take(&mut self.due) {
            let let_go = if self.is_locked() { None } else { Some(site.let_go()) };
            if let Some(Err(GitError::Locked { file })) = &let_go {
                self.lock = Some(file.clone());
            }
            if !matches!(let_go, Some(Ok(()))) {
                self.sites.push(site);
            }
        }
    }

    fn is_locked(&self) -> bool {
        self.lock.as_ref().is_some_and(|lock| lock.exists())
    }
}

fn told(error: &GitError, count: usize) -> String {
    let tasks = if count == 1 { "a finished task".to_owned() } else { format!("{count} finished tasks") };
    format!(
        "the work of {tasks} is still kept under refs/tillgreen: {}; it goes at the next start",
        error.told()
    )
}

//! Work trees that nobody needs any more are removed beside the loop, one after another: nothing waits for that but the
//! end of the run.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use crate::offstage::Site;

/// Removes what it is given.
#[derive(Debug, Default)]
pub(crate) struct Cleaner {
    worker: Option<(Sender<Site>, JoinHandle<()>)>,
}

impl Cleaner {
    /// Removes a tree, some time.
    pub(crate) fn clear(&mut self, site: Site) -> io::Result<()> {
        let (sender, thread) = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let (sender, sites) = channel::<Site>();
                let thread = thread::Builder::new().name("cleaning".to_owned());
                (sender, thread.spawn(move || sites.iter().for_each(|site| site.clear()))?)
            }
        };
        // Should the thread have died, the tree is found at the next start.
        let _ = sender.send(site);
        self.worker = Some((sender, thread));
        Ok(())
    }

    /// Waits until all is removed.
    pub(crate) fn finish(self) {
        if let Some((sender, thread)) = self.worker {
            drop(sender);
            // A thread that died leaves trees for the next start.
            let _ = thread.join();
        }
    }
}

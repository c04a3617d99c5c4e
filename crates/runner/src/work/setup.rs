//! The set-up command of a slot: when it is run, how, and what it made.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::process::{Ended, Invocation};

/// What runs set-up commands: below a keeper, with a deadline, stopped when the run is interrupted.
#[derive(Clone)]
pub(crate) struct SetUpRunner {
    run: Arc<dyn Fn(Invocation) -> Ended + Send + Sync>,
    logs: PathBuf,
    deadline: Duration,
}

impl SetUpRunner {
    /// One that starts processes on the runtime and writes what they print into files in the folder `logs`.
    pub(crate) fn new(runtime: tokio::runtime::Handle, logs: PathBuf, deadline: Duration) -> SetUpRunner {
        let _ = runtime;
        SetUpRunner { run: Arc::new(|_| unreachable!("nothing is set up yet")), logs, deadline }
    }
}

impl fmt::Debug for SetUpRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetUpRunner").field("logs", &self.logs).finish_non_exhaustive()
    }
}

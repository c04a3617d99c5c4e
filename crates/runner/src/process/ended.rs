//! How a process ended and what it wrote.

use std::time::Duration;

/// The end of one process, after everything that it started is gone as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why and how it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Kept,
    /// Its standard error.
    pub stderr: Kept,
    /// The time from being started until all was gone.
    pub elapsed: Duration,
    /// The time that it was given; being stopped took more.
    pub limit: Duration,
}

impl Ended {
    /// The time that it was given, for people.
    pub fn limit_in_words(&self) -> String {
        match self.limit.subsec_millis() {
            0 => format!("{} s", self.limit.as_secs()),
            _ => format!("{} ms", self.limit.as_millis()),
        }
    }
}

/// Why and how a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// It died of this signal, which we did not ask for.
    Signal(i32),
    /// It ran into its deadline and was stopped.
    DeadlinePassed,
    /// It wrote nothing for too long and was stopped.
    NoProgress,
    /// It was stopped through its handle.
    Stopped,
    /// It never ran; the text names what was to be started and why it could not be.
    CannotStart(String),
}

/// Codes with which a shell says that something died of a signal.
const KILLED: std::ops::Range<i32> = 129..160;

impl Exit {
    /// True if nothing was cut short, so that nothing was left half written.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Code(code) => !KILLED.contains(code),
            Self::CannotStart(_) => true,
            Self::Signal(_) | Self::DeadlinePassed | Self::NoProgress | Self::Stopped => false,
        }
    }
}

/// What is kept of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Beginning and end, with a line between them saying how many bytes were left out; valid UTF-8, in
    /// which the only control characters are line feeds and tabs.
    pub text: String,
    /// How many bytes were written in all.
    pub bytes_total: u64,
    /// How many of them are neither in the text nor in the log file.
    pub bytes_omitted: u64,
    /// Why the log file is not complete, if it is not (a full disk).
    pub log_problem: Option<String>,
}

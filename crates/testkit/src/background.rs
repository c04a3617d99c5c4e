//! The program under test while it runs.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use crate::finished::Finished;
use crate::signal::{Signal, Target};
use crate::wait::{DEADLINE, comes_true_within};

/// A running process. It leads a process group of its own and is killed when this is dropped.
#[derive(Debug)]
pub struct Background {
    child: Child,
    status: Option<ExitStatus>,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Background {
    /// The two files are what the process prints to.
    pub(crate) fn new(child: Child, stdout: PathBuf, stderr: PathBuf) -> Background {
        Background { child, status: None, stdout, stderr }
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard output so far.
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// Its standard error so far.
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// True if it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().expect("a child can be waited for");
        }
        self.status.is_none()
    }

    /// Sends a signal to the process alone.
    pub fn signal(&mut self, signal: Signal) {
        if self.is_running() {
            signal.send(Target::Process(self.child.id()));
        }
    }

    /// Sends a signal to its whole process group, as a terminal does.
    pub fn signal_group(&mut self, signal: Signal) {
        if self.is_running() {
            signal.send(Target::Group(self.child.id()));
        }
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(self) -> Finished {
        self.wait_within(DEADLINE)
    }

    /// Waits for its end, not longer than this.
    #[track_caller]
    pub fn wait_within(mut self, deadline: Duration) -> Finished {
        let has_ended = comes_true_within(deadline, || !self.is_running());
        let Some(status) = self.status.filter(|_| has_ended) else {
            let id = self.child.id();
            let (family, stdout, stderr) = (family(id), self.stdout(), self.stderr());
            panic!(
                "waited {deadline:?} in vain for the end of process {id}\n{family}--- stdout\n{stdout}\n--- stderr\n{stderr}"
            );
        };
        Finished::new(status, self.stdout(), self.stderr())
    }

    /// Ends it the hard way, without a chance to clean up, and waits for that.
    #[track_caller]
    pub fn kill(mut self) -> Finished {
        self.signal(Signal::Kill);
        self.wait()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.is_running() {
            Signal::Kill.send(Target::Group(self.child.id()));
            // It was just killed; that it cannot be waited for would only mean that it is gone.
            let _ = self.child.wait();
        }
    }
}

/// A process and all that descend from it, a line each, for whoever has to find out what it waits for.
fn family(id: u32) -> String {
    let Ok(listed) = Command::new("ps").args(["-eo", "pid=,ppid=,stat=,wchan=,args="]).output() else {
        return String::new();
    };
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let numbers = |line: &str| {
        let mut columns = line.split_whitespace().map(|column| column.parse::<u32>().unwrap_or_default());
        (columns.next().unwrap_or_default(), columns.next().unwrap_or_default())
    };
    let mut members = vec![id];
    let mut known = 0;
    while known < members.len() {
        let parent = members[known];
        members.extend(listed.lines().map(numbers).filter(|(_, of)| *of == parent).map(|(id, _)| id));
        known += 1;
    }
    let lines = listed.lines().filter(|line| members.contains(&numbers(line).0));
    lines.map(|line| format!("{line}\n")).collect()
}

fn read(file: &PathBuf) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned()
}

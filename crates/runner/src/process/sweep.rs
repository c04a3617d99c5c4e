//! Processes that a dead run left behind, found in `/proc` by a variable in their environment, and killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid, getpid};

/// The time killed processes may take to disappear.
const SWEEP_TIME_MAX: Duration = Duration::from_secs(15);
/// The wait between two looks; a process that is not our child cannot be waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// The number of looks at a process without any environment: while it changes to another program it has none.
const EXEC_LOOKS_MAX: u32 = 10;
/// The bytes of an environment that are read; the kernel allows no more by default.
const ENVIRONMENT_BYTES_MAX: usize = 2 << 20;

/// Kills every process of this user, other than this one, whose environment holds exactly this
/// `NAME=value`, and waits until they are gone. Returns how many there were.
///
/// It is for the one case in which no keeper can clean up: coordinator and keepers were killed at once
/// where namespaces are not allowed.
pub fn sweep(marker: &str) -> usize {
    let mut killed: BTreeSet<Pid> = BTreeSet::new();
    if !marker.contains('=') {
        return 0;
    }
    let give_up_at = Instant::now() + SWEEP_TIME_MAX;
    loop {
        let found: Vec<Pid> = pids().filter(|pid| is_marked(*pid, marker)).collect();
        for pid in &found {
            // It may have ended meanwhile; the next look decides.
            let _ = kill(*pid, Signal::SIGKILL);
        }
        killed.extend(&found);
        if found.is_empty() || Instant::now() >= give_up_at {
            return killed.len();
        }
        thread::sleep(LOOK_INTERVAL);
    }
}

/// Waits, not longer than this, until no process of this user, other than this one, holds exactly this `NAME=value` in
/// its environment. Says whether none does.
pub fn wait_until_gone(marker: &str, patience: Duration) -> bool {
    let give_up_at = Instant::now() + patience;
    while pids().any(|pid| is_marked(pid, marker)) {
        if Instant::now() >= give_up_at {
            return false;
        }
        thread::sleep(LOOK_INTERVAL);
    }
    true
}

fn is_marked(pid: Pid, marker: &str) -> bool {
    pid != getpid() && is_of_this_user(pid) && environment(pid).is_some_and(|text| holds(&text, marker))
}

fn is_of_this_user(pid: Pid) -> bool {
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|metadata| metadata.uid() == geteuid().as_raw())
}

fn environment(pid: Pid) -> Option<Vec<u8>> {
    for _ in 0..EXEC_LOOKS_MAX {
        let mut text = vec![0; ENVIRONMENT_BYTES_MAX];
        // One call: what a second one would read may be gone by then.
        let length = File::open(format!("/proc/{pid}/environ")).ok()?.read(&mut text).ok()?;
        text.truncate(length);
        // Neither a zombie nor a thread of the kernel has a program.
        if !text.is_empty() || fs::read_link(format!("/proc/{pid}/exe")).is_err() {
            return Some(text);
        }
        thread::sleep(LOOK_INTERVAL);
    }
    None
}

fn holds(environment: &[u8], marker: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
}

/// A process and its relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) parent: Pid,
    pub(super) group: Pid,
}

impl Process {
    /// Reads a `stat` file; none if the process is gone.
    pub(super) fn read(stat: &Path) -> Option<Self> {
        // The name may hold anything, an invalid sequence too.
        Self::parse(&String::from_utf8_lossy(&fs::read(stat).ok()?))
    }

    /// Parses `pid (name) state parent group …`. The name may hold blanks and parentheses, so what comes
    /// after it starts at the last parenthesis.
    fn parse(stat: &str) -> Option<Self> {
        let (pid, rest) = stat.split_once(' ')?;
        let (_name, rest) = rest.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace().skip(1);
        let mut next = || fields.next().and_then(|field| field.parse().ok()).map(Pid::from_raw);
        Some(Self { pid: Pid::from_raw(pid.parse().ok()?), parent: next()?, group: next()? })
    }
}

/// The process ids that exist now.
pub(super) fn pids() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok().map(Pid::from_raw))
}

/// All that descends from a process, itself not included.
pub(super) fn descendants(ancestor: Pid) -> Vec<Process> {
    let all = pids().filter_map(|pid| Process::read(Path::new(&format!("/proc/{pid}/stat"))));
    descendants_among(all, ancestor)
}

fn descendants_among(all: impl Iterator<Item = Process>, ancestor: Pid) -> Vec<Process> {
    let mut children: BTreeMap<Pid, Vec<Process>> = BTreeMap::new();
    all.for_each(|process| children.entry(process.parent).or_default().push(process));
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    // Pids may be reused while they are read, so that the relations could form a circle.
    let mut seen = BTreeSet::from([ancestor]);
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if seen.insert(child.pid) {
                parents.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_marker_must_match_whole() {
        let environment = b"A=1\0RUN=12\0B=RUN=1\0";
        assert!(holds(environment, "RUN=12"));
        for other in ["RUN=1", "UN=12", "RUN=123", "", "RUN"] {
            assert!(
                environment.is_empty() || !holds(&environment[..environment.len() - 1], other),
                "{other}"
            );
        }
    }

    /// A process that changes from one program to the next all the time is seen at every look.
    #[test]
    fn a_process_that_starts_another_program_is_not_missed() {
        let script = r#"exec /bin/sh -c "$SELF""#;
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .env("SELF", script)
            .env("SWEPT", "over")
            .spawn()
            .expect("a shell starts");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
        let missed = (0..2_000).filter(|_| !is_marked(pid, "SWEPT=over")).count();
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        assert_eq!(missed, 0);
    }

    #[test]
    fn a_marker_without_a_value_sweeps_nothing() {
        assert_eq!(sweep(""), 0);
        assert_eq!(sweep("PATH"), 0);
    }

    fn process(pid: i32, parent: i32, group: i32) -> Process {
        Process { pid: Pid::from_raw(pid), parent: Pid::from_raw(parent), group: Pid::from_raw(group) }
    }

    #[test]
    fn a_name_may_hold_anything() {
        let parsed = Process::parse("12 (a) S 1 (b) S 3 4 5 0 -1");
        assert_eq!(parsed, Some(process(12, 3, 4)));
        for bad in ["", "12", "12 (x", "12 (x) S", "12 (x) S 1", "x (y) S 1 2 3"] {
            assert_eq!(Process::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_circles_end() {
        let all = [process(1, 0, 1), process(2, 1, 2), process(3, 2, 2), process(4, 3, 4), process(5, 1, 5)];
        let mut found = descendants_among(all.into_iter(), Pid::from_raw(2));
        found.sort_by_key(|process| process.pid);
        assert_eq!(found, [process(3, 2, 2), process(4, 3, 4)]);
        let circle = [process(2, 3, 2), process(3, 2, 2)];
        assert_eq!(descendants_among(circle.into_iter(), Pid::from_raw(2)), [process(3, 2, 2)]);
    }

    #[test]
    fn this_process_is_seen() {
        let stat = Process::read(Path::new("/proc/self/stat")).expect("/proc is mounted");
        assert_eq!((stat.pid, stat.parent), (nix::unistd::getpid(), nix::unistd::getppid()));
        assert!(pids().any(|pid| pid == stat.pid));
    }
}

//! The processes of this machine as `/proc` shows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use nix::unistd::Pid;

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
    use super::*;

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

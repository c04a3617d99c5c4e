//! Which processes of a sandbox are alive. They are found by a variable in their environment, which every process
//! started inside inherits, whatever group or session it moves to.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The variable that marks the processes of a sandbox.
pub const MARKER: &str = "TESTKIT_SANDBOX";

/// How often a process without any environment is looked at.
const EXEC_LOOKS_MAX: u32 = 10;

/// How much of an environment is read.
const ENVIRONMENT_BYTES_MAX: usize = 2 << 20;

/// A process that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command line.
    pub command: String,
}

/// The living processes that carry the marker with this value. Zombies do not count.
pub(crate) fn alive(value: &str) -> Vec<Process> {
    let variable = format!("{MARKER}={value}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .filter_map(|pid: u32| inspect(pid, variable.as_bytes()))
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

fn inspect(pid: u32, variable: &[u8]) -> Option<Process> {
    let folder = Path::new("/proc").join(pid.to_string());
    let environment = environment(&folder)?;
    let carries = environment.split(|byte| *byte == 0).any(|entry| entry == variable);
    if !carries || is_zombie(&folder) {
        return None;
    }
    let arguments = fs::read(folder.join("cmdline")).unwrap_or_default();
    let words: Vec<_> = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(Process { pid, command: words.join(" ").trim_end().to_owned() })
}

/// The environment of a process. While it changes to another program it has none: it is looked at again, or a process
/// that was just being started would be missed.
fn environment(folder: &Path) -> Option<Vec<u8>> {
    for _ in 0..EXEC_LOOKS_MAX {
        let mut environment = vec![0; ENVIRONMENT_BYTES_MAX];
        // One call: what a second one would read may be gone by then.
        let length = File::open(folder.join("environ")).ok()?.read(&mut environment).ok()?;
        environment.truncate(length);
        if !environment.is_empty() || fs::read_link(folder.join("exe")).is_err() {
            return Some(environment);
        }
        thread::sleep(Duration::from_millis(1));
    }
    None
}

fn is_zombie(folder: &Path) -> bool {
    let stat = fs::read_to_string(folder.join("stat")).unwrap_or_default();
    // The name in parentheses may hold anything: the state stands after the last one.
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z') || rest.starts_with('X'))
}

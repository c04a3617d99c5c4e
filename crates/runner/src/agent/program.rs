//! Where programs are and which version they say they are.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may take to say its version, and how much it may say.
const VERSION_PATIENCE: Duration = Duration::from_secs(10);
const VERSION_BYTES_MAX: u64 = 4_096;

/// Where a program is found: a path as it is, a name on `PATH`.
pub fn find_program(name: &str, dir: &Path) -> Option<PathBuf> {
    if name.contains('/') {
        let path = dir.join(name);
        return is_executable(&path).then_some(path);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// What a program says to `--version`, first line only.
pub fn version_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let give_up = Instant::now() + VERSION_PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= give_up {
            // It may have ended by itself just now; either way it is gone.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    // Some say it on standard error.
    let said = child.stdout.take().and_then(first_line);
    said.or_else(|| child.stderr.take().and_then(first_line))
}

fn first_line(output: impl Read) -> Option<String> {
    let mut text = Vec::new();
    output.take(VERSION_BYTES_MAX).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.chars().take(100).collect())
}

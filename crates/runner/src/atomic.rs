//! Reading and replacing files that an agent may have laid hands on. Nothing here follows a link or waits on a pipe
//! that was put in a file's place, and a reader, or a crash, sees either the old text or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The prefix of files that are being written.
const PREFIX: &str = ".tillgreen-";

/// Reads a regular file; anything else is as good as no file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if fs::symlink_metadata(path)?.is_file() {
        return fs::read(path);
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "not a regular file"))
}

/// Writes the text to a file beside the target, makes it durable, then renames it. Permissions of the target are kept; a link in its
/// place is replaced, never written through.
pub(crate) fn replace(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let temporary = beside(path);
    let written = write(&temporary, path, text.as_ref()).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The half-written file is of no use to anybody; the error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write(temporary: &Path, target: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(text)?;
    if let Ok(metadata) = fs::symlink_metadata(target)
        && metadata.is_file()
    {
        file.set_permissions(metadata.permissions())?;
    }
    // A power loss after the rename would else leave an empty file, on some file systems.
    file.sync_data()
}

/// A name that nobody else takes, also where several runs are under way in this process.
fn beside(target: &Path) -> PathBuf {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let number = TAKEN.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!("{PREFIX}{}-{number}-{name}", std::process::id()))
}

/// Removes what a program that was killed while it replaced a file left beside it. That some of it stays is no harm.
pub(crate) fn tidy(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let is_left = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let pid = rest.and_then(|rest| rest.split_once('-')).and_then(|(pid, _)| pid.parse::<u32>().ok());
        pid.is_some_and(|pid| pid != std::process::id() && !Path::new(&format!("/proc/{pid}")).exists())
    };
    for entry in entries.flatten().filter(is_left) {
        let _ = fs::remove_file(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".tillgreen-4294967294-plan.md");
        let alive = folder.path().join(format!(".tillgreen-{}-plan.md", std::process::id()));
        let other = folder.path().join(".tillgreen-notes");
        for path in [&left, &alive, &other] {
            fs::write(path, "").unwrap();
        }
        tidy(folder.path());
        assert_eq!((left.exists(), alive.exists(), other.exists()), (false, true, true));
    }
}

//! Replacing a file so that a reader, or a crash, sees either the old text or the new one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes the text to a file beside the target, then renames it. Permissions of the target are kept, and a
/// link is followed so that it stays a link.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = beside(&target);
    let written = write(&temporary, &target, text).and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // The half-written file is of no use to anybody; the error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write(temporary: &Path, target: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::File::create(temporary)?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(target) {
        file.set_permissions(metadata.permissions())?;
    }
    Ok(())
}

fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!(".tillgreen-{}-{name}", std::process::id()))
}

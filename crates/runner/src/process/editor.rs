//! The user's editor.

use std::io;
use std::path::Path;
use std::process::Command;

/// Opens a file in the editor that VISUAL or EDITOR names, at the terminal, and waits until it is closed.
pub fn edit(file: &Path) -> io::Result<()> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let editor =
        named.into_iter().find(|editor| !editor.trim().is_empty()).unwrap_or_else(|| "vi".to_owned());
    // It may be a command with arguments, and is what the user's own shell makes of it.
    let ended = Command::new("sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(file).status()?;
    match ended.code() {
        Some(126 | 127) => Err(io::Error::other(format!("{editor} cannot be started"))),
        Some(_) | None => Ok(()),
    }
}

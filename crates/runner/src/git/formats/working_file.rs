//! A regular file of a working tree, written and named as git does it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::checksum::checksum;
use crate::git::history::Oid;

/// The mode of a file that can be run, as an index has it, and that of all others.
pub(in crate::git) const EXECUTABLE: u32 = 0o100_755;
pub(in crate::git) const ORDINARY: u32 = 0o100_644;

/// Both with what a tree says.
const MODES: [(u32, &str); 2] = [(EXECUTABLE, "100755"), (ORDINARY, "100644")];

/// A mode by what a tree says; none if it is not that of a regular file.
pub(in crate::git) fn mode_of(told: &str) -> Option<u32> {
    MODES.iter().find(|(_, word)| *word == told).map(|(mode, _)| *mode)
}

/// What a tree says of a mode; none if it is not that of a regular file.
pub(in crate::git) fn word_of(mode: u32) -> Option<&'static str> {
    MODES.iter().find(|(known, _)| *known == mode).map(|(_, word)| *word)
}

/// Writes a file where none is, with this mode of an index.
pub(in crate::git) fn create(path: &Path, mode: u32, content: &[u8]) -> io::Result<File> {
    let permissions = if mode == EXECUTABLE { 0o777 } else { 0o666 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(permissions).open(path)?;
    file.write_all(content)?;
    Ok(file)
}

/// The name of a content, in so many bytes.
pub(in crate::git) fn blob_name(content: &[u8], width: usize) -> Option<Oid> {
    let header = format!("blob {}\0", content.len());
    Oid::from_bytes(&checksum(&[header.as_bytes(), content], width)?)
}

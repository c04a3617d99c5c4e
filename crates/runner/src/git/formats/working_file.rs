//! A regular file of a working tree, written and named as git does it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::checksum::checksum;
use crate::git::history::Oid;

/// The mode of a file that can be run, as an index has it.
pub(in crate::git) const EXECUTABLE: u32 = 0o100_755;

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

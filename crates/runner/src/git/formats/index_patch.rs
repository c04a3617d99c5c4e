//! An index in which some files have another content, and that is the same otherwise: all that changes in it has the
//! length that it had. Its time stays the old one. By that git knows which files may have been changed in the moment in
//! which it last looked at them: it looks into these again, and into those that are newer, as all patched ones are.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::checksum::checksum;
use super::index_file::{IndexFile, MODE, STAT_BYTES};
use super::tree_edit::EditedFolder;
use crate::git::history::Oid;

/// What may follow the files: where they are, and what git knows of the folders. All else might have to change as well.
const UNCHANGED: [&[u8]; 2] = [b"EOIE", b"IEOT"];

/// Bytes to put at places.
#[derive(Debug, Default)]
pub(in crate::git) struct Patch {
    changes: Vec<(usize, Vec<u8>)>,
    /// Where entries begin of which the numbers go.
    forgotten: Vec<usize>,
}

impl Patch {
    /// Some bytes at a place.
    pub(in crate::git) fn put(&mut self, place: usize, bytes: Vec<u8>) {
        self.changes.push((place, bytes));
    }

    /// Whether nothing is to change.
    pub(in crate::git) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.forgotten.is_empty()
    }

    /// Nothing is known of what a file looks like, as in an index that was just read from a tree.
    pub(in crate::git) fn forget(&mut self, place: usize) {
        self.forgotten.push(place);
    }

    /// What an index says of a file: what it looks like on disk, and its content.
    pub(in crate::git) fn file(&mut self, place: usize, metadata: &Metadata, object: &Oid) {
        let stat = stat(metadata);
        // The mode stays.
        let (before, after) = (stat.get(..MODE.start), stat.get(MODE.end..));
        self.changes.extend(before.map(|bytes| (place, bytes.to_vec())));
        self.changes.extend(after.map(|bytes| (place + MODE.end, bytes.to_vec())));
        self.changes.push((place + STAT_BYTES, object.bytes()));
    }

    /// What it says of folders. None: something else is in one than there was in the one that was edited.
    pub(in crate::git) fn folders(&mut self, index: &IndexFile<'_>, edited: &[EditedFolder]) -> Option<()> {
        if !index.extensions.iter().all(|name| UNCHANGED.contains(name)) {
            return None;
        }
        // Git looks again at all that is not known.
        let Some(tree) = &index.tree else { return Some(()) };
        for folder in edited {
            let Some(known) = tree.at(&folder.path).and_then(|cached| cached.known) else { continue };
            (known.tree() == folder.before).then_some(())?;
            self.changes.push((known.place, folder.after.bytes()));
        }
        Some(())
    }

    /// Puts all in its place, with the sum at the end where the index has one.
    pub(in crate::git) fn apply(&self, content: &mut [u8], width: usize) -> Option<()> {
        for (place, bytes) in &self.changes {
            content.get_mut(*place..place.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        }
        for place in &self.forgotten {
            let stat = content.get_mut(*place..place.checked_add(STAT_BYTES)?)?;
            stat.get_mut(..MODE.start)?.fill(0);
            stat.get_mut(MODE.end..)?.fill(0);
        }
        let (body, sum) = content.split_at_mut_checked(content.len().checked_sub(width)?)?;
        if sum.iter().any(|byte| *byte != 0) {
            sum.copy_from_slice(&checksum(&[body], width)?);
        }
        Some(())
    }
}

/// Writes an index that is to take the place of another one, with its permissions and its time.
pub(in crate::git) fn write_as_old(content: &[u8], old: &Metadata, to: &Path) -> io::Result<()> {
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = File::create_new(to)?;
    file.write_all(content)?;
    file.set_permissions(old.permissions())?;
    file.set_modified(old.modified()?)
}

/// Whether what an index says of a file is what it looks like. The mode is git's own.
pub(in crate::git) fn has_stat(metadata: &Metadata, told: &[u8]) -> bool {
    let stat = stat(metadata);
    told.get(..MODE.start) == stat.get(..MODE.start) && told.get(MODE.end..) == stat.get(MODE.end..)
}

/// The numbers of a file as an index has them: of larger ones, the last 32 bits.
pub(in crate::git) fn stat(metadata: &Metadata) -> [u8; STAT_BYTES] {
    let low = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
    let numbers = [
        low(metadata.ctime().cast_unsigned()),
        low(metadata.ctime_nsec().cast_unsigned()),
        low(metadata.mtime().cast_unsigned()),
        low(metadata.mtime_nsec().cast_unsigned()),
        low(metadata.dev()),
        low(metadata.ino()),
        0,
        metadata.uid(),
        metadata.gid(),
        low(metadata.size()),
    ];
    let mut bytes = [0; STAT_BYTES];
    for (place, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
        *place = number.to_be_bytes();
    }
    bytes
}

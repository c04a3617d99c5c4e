//! Git's index as a file: what stands where in it. This is the one place that knows the format; what is made of it is up
//! to others. An index whose half lies elsewhere, or that holds folders in place of files, is not read.

use std::borrow::Cow;
use std::fs::{self, Metadata};
use std::ops::Range;

use super::cached_tree::CachedFolder;
use super::cursor::Cursor;
use crate::git::repository::Git;

/// No index that is read is larger, nor are the names in it taken together.
pub(in crate::git) const BYTES_MAX: usize = 256 * 1024 * 1024;

/// What an index begins with: letters, the version of the format, how many files there are.
pub(in crate::git) const HEADER_BYTES: usize = 12;

/// Before the name of an entry: times and numbers of the file, then the object, then two bytes of flags.
pub(in crate::git) const STAT_BYTES: usize = 40;
const FLAG_BYTES: usize = 2;
/// Where among the numbers the mode is.
pub(in crate::git) const MODE: Range<usize> = 24..28;
/// Which part of a mode says what it is, and what it says of a submodule.
const KIND: u32 = 0o170_000;
const GITLINK: u32 = 0o160_000;

/// The flag of two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// The flag of a file that is taken to be as it was.
const ASSUMED_VALID: u16 = 0x8000;
/// Which side of a conflict an entry is.
const STAGE: u16 = 0x3000;
/// Among the further flags: only the name is meant to be there yet.
const INTENDED: u16 = 0x2000;
/// And there: the file is not meant to be on disk.
const SKIPPED: u16 = 0x4000;

/// What an index holds.
#[derive(Debug)]
pub(in crate::git) struct IndexFile<'a> {
    /// Of the format.
    pub(in crate::git) version: u32,
    /// The files, in git's order.
    pub(in crate::git) entries: Vec<IndexEntry<'a>>,
    /// What git noted of the folders, if it did.
    pub(in crate::git) tree: Option<CachedFolder<'a>>,
    /// What else follows the files.
    pub(in crate::git) extensions: Vec<&'a [u8]>,
}

/// One file.
#[derive(Debug)]
pub(in crate::git) struct IndexEntry<'a> {
    /// Where its numbers begin.
    pub(in crate::git) place: usize,
    /// Where the next entry begins.
    pub(in crate::git) end: usize,
    pub(in crate::git) mode: u32,
    /// Its times and numbers, as git last saw them.
    pub(in crate::git) stat: &'a [u8],
    /// The name of its content, as bytes.
    pub(in crate::git) object: &'a [u8],
    pub(in crate::git) name: Cow<'a, [u8]>,
    flags: u16,
    more_flags: u16,
}

/// A time of a file, as an index has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::git) struct Moment {
    pub(in crate::git) seconds: u32,
    pub(in crate::git) nanos: u32,
}

impl IndexEntry<'_> {
    /// Whether it is one side of a conflict.
    pub(in crate::git) fn is_in_conflict(&self) -> bool {
        self.flags & STAGE != 0
    }

    /// Whether there is only a name yet.
    pub(in crate::git) fn is_intended(&self) -> bool {
        self.more_flags & INTENDED != 0
    }

    /// Whether it is a submodule.
    pub(in crate::git) fn is_gitlink(&self) -> bool {
        self.mode & KIND == GITLINK
    }

    /// When the file was changed and when it was last written to, as git last saw it.
    pub(in crate::git) fn times(&self) -> Option<[Moment; 2]> {
        let (numbers, _) = self.stat.as_chunks();
        let [changed, changed_nanos, modified, modified_nanos] =
            numbers.first_chunk()?.map(u32::from_be_bytes);
        Some([
            Moment { seconds: changed, nanos: changed_nanos },
            Moment { seconds: modified, nanos: modified_nanos },
        ])
    }

    /// Whether nothing else is said of it than which file it is.
    pub(in crate::git) fn is_ordinary(&self) -> bool {
        self.flags & (STAGE | ASSUMED_VALID) == 0 && self.more_flags == 0
    }

    /// Whether git was told that it need not be looked at.
    pub(in crate::git) fn is_hidden(&self) -> bool {
        self.flags & ASSUMED_VALID != 0 || self.is_skipped()
    }

    /// Whether git was told that it is not meant to be on disk.
    pub(in crate::git) fn is_skipped(&self) -> bool {
        self.more_flags & SKIPPED != 0
    }

    /// The flags by which git looks at it, and where they stand.
    pub(in crate::git) fn uncovered(&self) -> (usize, Vec<u8>) {
        self.with_flags(self.more_flags & !SKIPPED)
    }

    /// The flags by which git looks at it unless it is not meant to be on disk, and where they stand.
    pub(in crate::git) fn skipped_only(&self) -> (usize, Vec<u8>) {
        self.with_flags(self.more_flags)
    }

    fn with_flags(&self, more_flags: u16) -> (usize, Vec<u8>) {
        let more = (self.flags & EXTENDED != 0).then_some(more_flags);
        let flags = std::iter::once(self.flags & !ASSUMED_VALID).chain(more).flat_map(u16::to_be_bytes);
        (self.place + STAT_BYTES + self.object.len(), flags.collect())
    }
}

impl<'a> IndexFile<'a> {
    /// Reads an index in which the names of objects have so many bytes. None: git has to.
    pub(in crate::git) fn parse(content: &'a [u8], width: usize) -> Option<IndexFile<'a>> {
        let body = content.get(..content.len().checked_sub(width)?)?;
        let mut rest = Cursor { bytes: body, place: 0 };
        if rest.take(4)? != b"DIRC" || content.len() > BYTES_MAX {
            return None;
        }
        let (version, count) = (rest.number()?, rest.number()?);
        let entries = rest.entries(version, count, width)?;
        let (mut tree, mut extensions) = (None, Vec::new());
        while !rest.bytes.is_empty() {
            let (name, size) = (rest.take(4)?, rest.number()?);
            let place = rest.place;
            let data = rest.take(usize::try_from(size).ok()?)?;
            match name {
                b"TREE" => tree = CachedFolder::parse(data, place, width),
                // Whoever does not know one with a small letter must not read on: half of the files lie elsewhere, or
                // folders stand for what is in them.
                [first, ..] if !first.is_ascii_uppercase() => return None,
                _ => extensions.push(name),
            }
        }
        Some(IndexFile { version, entries, tree, extensions })
    }

    /// The file of a name, where it is not in conflict.
    pub(in crate::git) fn find(&self, name: &[u8]) -> Option<&IndexEntry<'a>> {
        let place = self.entries.binary_search_by(|entry| entry.name.as_ref().cmp(name)).ok()?;
        self.entries.get(place).filter(|entry| !entry.is_in_conflict())
    }

    /// Whether a file of this name can be put where none is: no folder is there, and no file is in place of one on the
    /// way.
    pub(in crate::git) fn has_room_for(&self, name: &[u8]) -> bool {
        let below = [name, b"/"].concat();
        let first = self.entries.partition_point(|entry| entry.name.as_ref() < below.as_slice());
        let is_folder = self.entries.get(first).is_some_and(|entry| entry.name.starts_with(&below));
        let mut folders = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let is_file = |end: usize| name.get(..end).is_some_and(|folder| self.find(folder).is_some());
        !is_folder && self.find(name).is_none() && !folders.any(|(end, _)| is_file(end))
    }
}

impl Git {
    /// The project's index and what it looks like, unless it is something odd.
    pub(in crate::git) fn index_on_disk(&self) -> Option<(Vec<u8>, Metadata)> {
        let file = self.git_dir().join("index");
        let metadata = fs::symlink_metadata(&file).ok()?;
        let fits =
            metadata.is_file() && usize::try_from(metadata.len()).is_ok_and(|bytes| bytes <= BYTES_MAX);
        Some((fits.then(|| fs::read(&file)).and_then(Result::ok)?, metadata))
    }
}

impl<'a> Cursor<'a> {
    fn flags(&mut self) -> Option<u16> {
        self.take(FLAG_BYTES)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn entries(&mut self, version: u32, count: u32, width: usize) -> Option<Vec<IndexEntry<'a>>> {
        let mut entries: Vec<IndexEntry<'a>> = Vec::new();
        let mut bytes = 0;
        for _ in 0..count {
            let before = entries.last().map_or(&b""[..], |entry| entry.name.as_ref());
            let entry = self.entry(version, width, before)?;
            // Names that share their beginning can be many times as long as the file.
            bytes += entry.name.len();
            if bytes > BYTES_MAX {
                return None;
            }
            entries.push(entry);
        }
        Some(entries)
    }

    fn entry(&mut self, version: u32, width: usize, before: &[u8]) -> Option<IndexEntry<'a>> {
        let place = self.place;
        let stat = self.take(STAT_BYTES)?;
        let mode = u32::from_be_bytes(stat.get(MODE)?.try_into().ok()?);
        let object = self.take(width)?;
        let flags = self.flags()?;
        let more_flags = match (version, flags & EXTENDED != 0) {
            (3 | 4, true) => self.flags()?,
            (2..=4, false) => 0,
            _ => return None,
        };
        let name = if version == 4 { Cow::Owned(self.short_name(before)?) } else { self.name(place)? };
        Some(IndexEntry { place, end: self.place, mode, stat, object, name, flags, more_flags })
    }

    /// A name that ends in as many NULs as fill up eight bytes.
    fn name(&mut self, start: usize) -> Option<Cow<'a, [u8]>> {
        let length = self.bytes.iter().position(|byte| *byte == 0)?;
        let name = self.take(length)?;
        self.take(8 - (self.place - start) % 8)?;
        Some(Cow::Borrowed(name))
    }

    /// A name that begins like the one before and ends in a NUL.
    fn short_name(&mut self, before: &[u8]) -> Option<Vec<u8>> {
        let kept = before.len().checked_sub(self.offset()?)?;
        Some([before.get(..kept)?, self.until(0)?].concat())
    }

    /// How much of the name before to drop, as git writes offsets: seven bits in a byte, the highest says that more
    /// follow, and each that follows counts one more.
    fn offset(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(0x80)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }
}

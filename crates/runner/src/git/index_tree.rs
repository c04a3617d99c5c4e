//! Which tree an index holds, read from the index itself: git notes there what it would write, as long as that is known.
//! Asking git costs a process.

use std::fs;
use std::path::Path;

use super::history::Oid;

/// Before the name of an entry: times and numbers of the file, then the object, then two bytes of flags.
const STAT_BYTES: usize = 40;
const FLAG_BYTES: usize = 2;
/// The flag of two more bytes of flags.
const EXTENDED: u8 = 0x40;

/// The tree that an index holds, its objects' names being as long as this one's. None: it does not say.
pub(super) fn held(index: &Path, like: &Oid) -> Option<Oid> {
    let content = fs::read(index).ok()?;
    let width = like.as_str().len() / 2;
    let body = content.get(..content.len().checked_sub(width)?)?;
    let mut rest = Rest { bytes: body };
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let (version, entries) = (rest.number()?, rest.number()?);
    for _ in 0..entries {
        rest.skip_entry(version, width)?;
    }
    let mut found = None;
    while !rest.bytes.is_empty() {
        let (name, size) = (rest.take(4)?, rest.number()?);
        let data = rest.take(usize::try_from(size).ok()?)?;
        match name {
            b"TREE" => found = root(data, width),
            // Half of it lies elsewhere, or it holds folders in place of files.
            b"link" | b"sdir" => return None,
            _ => {}
        }
    }
    found
}

/// The first record is about the whole: no name, how many entries, how many folders, the tree's name.
fn root(data: &[u8], width: usize) -> Option<Oid> {
    let line_end = data.iter().position(|byte| *byte == b'\n')?;
    let counts = std::str::from_utf8(data.get(..line_end)?.strip_prefix(b"\0")?).ok()?;
    if counts.starts_with('-') {
        return None;
    }
    let object = data.get(line_end + 1..line_end + 1 + width)?;
    Oid::parse(&object.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// What is still to be read.
struct Rest<'a> {
    bytes: &'a [u8],
}

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    fn skip_entry(&mut self, version: u32, width: usize) -> Option<()> {
        let before = self.bytes.len();
        self.take(STAT_BYTES + width)?;
        let flags = self.take(FLAG_BYTES)?;
        let is_extended = flags.first()? & EXTENDED != 0;
        match version {
            2 if is_extended => return None,
            3 | 4 if is_extended => drop(self.take(FLAG_BYTES)?),
            2..=4 => {}
            _ => return None,
        }
        if version == 4 {
            // How much of the name before to drop: a number whose last byte lacks the highest bit.
            while self.take(1)?.first()? & 0x80 != 0 {}
        }
        let name = self.bytes.iter().position(|byte| *byte == 0)?;
        self.take(name)?;
        let length = before - self.bytes.len();
        // The name ends in a NUL, or in as many as fill up eight bytes.
        let fill = if version == 4 { 1 } else { 8 - length % 8 };
        self.take(fill).map(drop)
    }
}

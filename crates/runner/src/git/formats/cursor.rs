//! Bytes that are read from their beginning on, and how far that has come. Whoever asks for more than there is gets
//! nothing.

/// What is still to be read.
#[derive(Debug)]
pub(in crate::git) struct Cursor<'a> {
    pub(in crate::git) bytes: &'a [u8],
    /// Where that stands in the whole.
    pub(in crate::git) place: usize,
}

impl<'a> Cursor<'a> {
    pub(in crate::git) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        self.place += count;
        Some(taken)
    }

    /// All before a byte, which is read as well.
    pub(in crate::git) fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let length = self.bytes.iter().position(|byte| *byte == end)?;
        let (taken, _) = (self.take(length)?, self.take(1)?);
        Some(taken)
    }

    /// Four bytes, the highest first.
    pub(in crate::git) fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }
}

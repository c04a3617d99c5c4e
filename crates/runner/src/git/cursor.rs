//! Bytes that are read from their beginning on, and how far that has come. Whoever asks for more than there is gets
//! nothing.

/// What is still to be read.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    /// Where that stands in the whole.
    pub(super) place: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        self.place += count;
        Some(taken)
    }

    /// All before a byte, which is read as well.
    pub(super) fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let length = self.bytes.iter().position(|byte| *byte == end)?;
        let (taken, _) = (self.take(length)?, self.take(1)?);
        Some(taken)
    }

    /// Four bytes, the highest first.
    pub(super) fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }
}

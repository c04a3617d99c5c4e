//! The word of a keeper to its starter besides its exit code: process 1 of a namespace cannot die of a signal.
//!
//! A word is one byte through a pipe, written only where there is something to tell, and read when the keeper has
//! ended, so that nobody has to wait for it: then it is there or never comes.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::unistd::{pipe2, read};

/// A word of a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum Word {
    /// The namespace could not be set up, and nothing was started.
    Unable,
    /// The command died of this signal.
    Signalled(u8),
}

const UNABLE: u8 = 0;

impl Word {
    fn byte(self) -> u8 {
        match self {
            Self::Unable => UNABLE,
            Self::Signalled(signal) => signal,
        }
    }

    fn of(byte: u8) -> Self {
        match byte {
            UNABLE => Self::Unable,
            signal => Self::Signalled(signal),
        }
    }
}

/// The starter's end.
#[derive(Debug)]
pub(in crate::process) struct WordReader(OwnedFd);

impl WordReader {
    /// The word of a keeper that has ended, if it left one.
    pub(in crate::process) fn read(&self) -> Option<Word> {
        let mut byte = [0];
        loop {
            match read(&self.0, &mut byte) {
                Err(Errno::EINTR) => {}
                // Another process that was started just then may have inherited the other end: then there is no end of
                // the file, but still nothing to read.
                Ok(0) | Err(_) => return None,
                Ok(_) => return Some(Word::of(byte[0])),
            }
        }
    }
}

/// The keeper's end while it is inherited.
#[derive(Debug)]
pub(in crate::process) struct InheritedWriter(OwnedFd);

impl InheritedWriter {
    /// The number under which the keeper finds it.
    pub(in crate::process) fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A pipe for one keeper. Its end of it is inherited by what is started as long as it exists.
pub(in crate::process) fn word_pipe() -> std::io::Result<(WordReader, InheritedWriter)> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    fcntl(writer.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok((WordReader(reader), InheritedWriter(writer)))
}

/// The keeper's end in the keeper, which nothing inherits any more.
pub(super) struct WordWriter(File);

impl WordWriter {
    /// Opens the pipe anew: what is inherited under a number belongs to nobody and is closed with all the rest.
    pub(super) fn open(number: RawFd) -> std::io::Result<Self> {
        File::options().write(true).open(format!("/proc/self/fd/{number}")).map(Self)
    }

    /// The number under which it is open now.
    pub(super) fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Leaves a word.
    pub(super) fn write(&self, word: Word) -> std::io::Result<()> {
        (&self.0).write_all(&[word.byte()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands a word through a pipe.
    fn handed(word: Word) -> Option<Word> {
        let (reader, inherited) = word_pipe().unwrap();
        WordWriter::open(inherited.number()).unwrap().write(word).unwrap();
        reader.read()
    }

    #[test]
    fn a_word_arrives_as_it_was_written() {
        for word in [Word::Unable, Word::Signalled(1), Word::Signalled(64)] {
            assert_eq!(handed(word), Some(word));
        }
    }

    #[test]
    fn nobody_waits_for_a_word_that_does_not_come() {
        let (reader, inherited) = word_pipe().unwrap();
        assert_eq!(reader.read(), None, "while the other end is open");
        drop(inherited);
        assert_eq!(reader.read(), None, "when it is closed");
    }
}

//! The order of a keeper that stands by: which command it is to start, where, and with what.
//!
//! It goes through a pipe that is the keeper's standard input until then, so that nothing of it is in any environment or
//! list of arguments. All numbers have four bytes, the lowest first:
//!
//! ```text
//!  length of all that follows │ 1 if input follows │ number of arguments │ arguments │ folder │ (variable │ value)…
//!                                                                          each of them: length │ bytes
//! ```
//!
//! What comes through the pipe after that is the command's own input, if it has any.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::command::CommandLine;

/// How long an order may be: an empty pipe holds as much, so that nobody ever waits while giving one.
const ORDER_BYTES_MAX: usize = 64 * 1024;
const NUMBER_BYTES: usize = size_of::<u32>();

/// What a keeper that stood by is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::process) struct Order {
    pub(in crate::process) command: CommandLine,
    /// The folder in which it runs.
    pub(in crate::process) cwd: PathBuf,
    /// Whether what follows in the pipe is its input. Otherwise it has none.
    pub(in crate::process) has_input: bool,
}

impl Order {
    /// The order as it goes through the pipe; none if it is too long for that.
    pub(in crate::process) fn encode(&self) -> Option<Vec<u8>> {
        let CommandLine { argv, env } = &self.command;
        let mut bytes = vec![0; NUMBER_BYTES];
        put_number(&mut bytes, self.has_input.into())?;
        put_number(&mut bytes, argv.len())?;
        let variables = env.iter().flat_map(|(variable, value)| [variable, value]);
        for text in argv.iter().map(OsString::as_os_str).chain([self.cwd.as_os_str()]) {
            put_text(&mut bytes, text)?;
        }
        for text in variables {
            put_text(&mut bytes, text)?;
        }
        let length = u32::try_from(bytes.len() - NUMBER_BYTES).ok()?;
        bytes[..NUMBER_BYTES].copy_from_slice(&length.to_le_bytes());
        (bytes.len() <= ORDER_BYTES_MAX).then_some(bytes)
    }

    /// Reads an order; none if the pipe ends before a whole one has come.
    pub(super) fn read(pipe: &mut impl Read) -> Option<Self> {
        let mut length = [0; NUMBER_BYTES];
        pipe.read_exact(&mut length).ok()?;
        let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
        if length > ORDER_BYTES_MAX {
            return None;
        }
        let mut bytes = vec![0; length];
        pipe.read_exact(&mut bytes).ok()?;
        Self::decode(&bytes)
    }

    fn decode(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let has_input = take_number(rest)? != 0;
        let count = take_number(rest)?;
        // A number of arguments that is not true is found out before anything is made of that size.
        let argv = (0..count).map(|_| take_text(rest)).collect::<Option<Vec<_>>>()?;
        let cwd = take_text(rest)?.into();
        let mut env = Vec::new();
        while !rest.is_empty() {
            env.push((take_text(rest)?, take_text(rest)?));
        }
        Some(Self { command: CommandLine { argv, env }, cwd, has_input })
    }
}

fn put_number(bytes: &mut Vec<u8>, number: usize) -> Option<()> {
    bytes.extend(u32::try_from(number).ok()?.to_le_bytes());
    Some(())
}

/// Says nothing if it would be too much, before it is copied.
fn put_text(bytes: &mut Vec<u8>, text: &OsStr) -> Option<()> {
    if text.len() > ORDER_BYTES_MAX {
        return None;
    }
    put_number(bytes, text.len())?;
    bytes.extend(text.as_bytes());
    Some(())
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}

fn take_text(bytes: &mut &[u8]) -> Option<OsString> {
    let length = take_number(bytes)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(OsString::from_vec(text.to_vec()))
}

/// The starter's end of the pipe. A keeper that stands by ends when it is closed without an order.
#[derive(Debug)]
pub(in crate::process) struct OrderWriter(File);

/// The keeper's end of the pipe, which is to be its standard input.
#[derive(Debug)]
pub(in crate::process) struct OrderReader(PipeReader);

/// A pipe for one order.
pub(in crate::process) fn order_pipe() -> io::Result<(OrderReader, OrderWriter)> {
    let (reader, writer): (PipeReader, PipeWriter) = io::pipe()?;
    fcntl(writer.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((OrderReader(reader), OrderWriter(File::from(OwnedFd::from(writer)))))
}

impl OrderReader {
    /// The same end once more.
    pub(in crate::process) fn again(&self) -> io::Result<OwnedFd> {
        self.0.try_clone().map(OwnedFd::from)
    }
}

impl OrderWriter {
    /// The way for what is to follow the order.
    pub(in crate::process) fn input(&self) -> io::Result<OwnedFd> {
        self.0.try_clone().map(OwnedFd::from)
    }

    /// Gives the order, unless there is nobody who could take it. What arrives in part is no order.
    pub(in crate::process) fn give(mut self, encoded: &[u8]) -> Result<(), NotGiven> {
        match self.0.write(encoded) {
            Ok(written) if written == encoded.len() => Ok(()),
            Ok(_) | Err(_) => Err(NotGiven),
        }
    }
}

/// The keeper did not get its order, and therefore starts nothing.
#[derive(Debug)]
pub(in crate::process) struct NotGiven;

#[cfg(test)]
mod tests {
    use super::*;

    fn order(argv: &[&[u8]], cwd: &str, env: &[(&str, &str)]) -> Order {
        let argv = argv.iter().map(|text| OsString::from_vec(text.to_vec())).collect();
        let env = env.iter().map(|(variable, value)| (variable.into(), value.into())).collect();
        Order { command: CommandLine { argv, env }, cwd: cwd.into(), has_input: false }
    }

    fn orders() -> [Order; 4] {
        [
            order(&[], "", &[]),
            order(&[b"sh", b"-c", b"", b"a\nb\0c \xff"], "/a b", &[]),
            order(&[b"sh"], "/", &[("A", "b=c"), ("B", "")]),
            Order { has_input: true, ..order(&[&vec![b'x'; 60_000]], "/x", &[("A", "b")]) },
        ]
    }

    #[test]
    fn an_order_arrives_as_it_was_given() {
        for order in orders() {
            let (reader, writer) = order_pipe().unwrap();
            writer.give(&order.encode().unwrap()).unwrap();
            let mut pipe = reader.0;
            assert_eq!(Order::read(&mut pipe), Some(order));
            assert_eq!(pipe.read(&mut [0]).unwrap(), 0, "nothing is left");
        }
    }

    #[test]
    fn what_follows_an_order_is_left_where_it_is() {
        let (reader, writer) = order_pipe().unwrap();
        let mut input = File::from(writer.input().unwrap());
        writer.give(&orders()[3].encode().unwrap()).unwrap();
        input.write_all(b"the prompt").unwrap();
        drop(input);
        let mut pipe = reader.0;
        assert!(Order::read(&mut pipe).unwrap().has_input);
        assert_eq!(io::read_to_string(pipe).unwrap(), "the prompt");
    }

    #[test]
    fn a_part_of_an_order_is_none() {
        for order in &orders()[..3] {
            let encoded = order.encode().unwrap();
            for length in 0..encoded.len() {
                assert_eq!(Order::read(&mut &encoded[..length]), None, "{length} bytes of {order:?}");
            }
        }
    }

    #[test]
    fn lengths_that_are_not_true_are_found_out() {
        let encoded = orders()[2].encode().unwrap();
        for place in 0..encoded.len() {
            let mut changed = encoded.clone();
            changed[place] = 0xff;
            // Whatever it is taken for, it is not read beyond its end.
            let _ = Order::read(&mut changed.as_slice());
        }
        assert_eq!(Order::read(&mut [0xff; 4096].as_slice()), None);
        assert_eq!(Order::read(&mut [8, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff].as_slice()), None);
        assert_eq!(Order::read(&mut [0, 0, 0, 0].as_slice()), None);
    }

    #[test]
    fn an_order_that_is_too_long_is_not_given() {
        let fits = |bytes: usize| order(&[&vec![b'x'; bytes]], "/", &[]).encode().is_some();
        let others = order(&[b""], "/", &[]).encode().unwrap().len();
        assert!(fits(ORDER_BYTES_MAX - others));
        assert!(!fits(ORDER_BYTES_MAX - others + 1));
        assert!(!fits(4 << 20));
        let many = vec![&b"x"[..]; ORDER_BYTES_MAX];
        assert_eq!(order(&many, "/", &[]).encode(), None);
    }

    #[test]
    fn an_order_without_a_reader_or_without_room_is_not_given() {
        let (reader, writer) = order_pipe().unwrap();
        drop(reader);
        writer.give(b"order").unwrap_err();
        let (_reader, writer) = order_pipe().unwrap();
        writer.give(&vec![0; 4 << 20]).unwrap_err();
    }
}

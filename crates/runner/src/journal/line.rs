//! The text of one journal line. The shape is fixed to the byte, so that the checksum covers the event's text
//! exactly as it stands in the file and no JSON has to be rewritten to check it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::journal::error::LineProblem;

/// The format version that this program writes, and the only one that it reads.
pub const VERSION: u64 = 2;

/// The bytes that a line may have, newline included. Large output belongs into files that events refer to.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

const HEADER: &str = "{\"tillgreen\":\"journal\",\"version\":2}\n";
const BEFORE_SEQ: &[u8] = b"{\"seq\":";
const BEFORE_CRC: &[u8] = b",\"crc\":\"";
const BEFORE_EVENT: &[u8] = b"\",\"event\":";
const AFTER_EVENT: &[u8] = b"}";
const CRC_DIGITS: usize = 8;

/// The place of an event in its journal: 1, 2, 3 …
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(u64);

impl Seq {
    /// The number of a journal's first event.
    pub const FIRST: Seq = Seq(1);

    /// The number itself.
    pub fn get(self) -> u64 {
        self.0
    }

    pub(super) fn next(self) -> Seq {
        Seq(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The first line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Header {
    Ours,
    Newer(u64),
    Older(u64),
    Foreign,
}

/// The first line of a journal, newline included.
pub(super) fn header() -> &'static [u8] {
    HEADER.as_bytes()
}

/// Reads a first line, given without its newline.
pub(super) fn parse_header(line: &[u8]) -> Header {
    #[derive(Deserialize)]
    struct Fields {
        tillgreen: String,
        version: u64,
    }
    if line == header().trim_ascii_end() {
        return Header::Ours;
    }
    match serde_json::from_slice::<Fields>(line) {
        Ok(fields) if fields.tillgreen == "journal" && fields.version > VERSION => {
            Header::Newer(fields.version)
        }
        Ok(fields) if fields.tillgreen == "journal" && (1..VERSION).contains(&fields.version) => {
            Header::Older(fields.version)
        }
        Ok(_) | Err(_) => Header::Foreign,
    }
}

/// A journal of these events, as it lies on the disk.
pub fn text_of<'a, E: Serialize + 'a>(
    events: impl IntoIterator<Item = &'a E>,
) -> serde_json::Result<Vec<u8>> {
    let (mut text, mut seq) = (header().to_vec(), Seq::FIRST);
    for event in events {
        text.extend(encode(seq, event)?);
        seq = seq.next();
    }
    Ok(text)
}

/// The line for an event, newline included.
pub(super) fn encode<E: Serialize>(seq: Seq, event: &E) -> serde_json::Result<Vec<u8>> {
    let text = serde_json::to_vec(event)?;
    let crc = crc32fast::hash(&text);
    let mut line = Vec::with_capacity(text.len() + 64);
    line.extend_from_slice(BEFORE_SEQ);
    line.extend_from_slice(seq.to_string().as_bytes());
    line.extend_from_slice(BEFORE_CRC);
    line.extend_from_slice(format!("{crc:08x}").as_bytes());
    line.extend_from_slice(BEFORE_EVENT);
    line.extend_from_slice(&text);
    line.extend_from_slice(AFTER_EVENT);
    line.push(b'\n');
    Ok(line)
}

/// Takes a line apart, given without its newline: the event's text, its number and checksum verified.
pub(super) fn decode(line: &[u8], expected: Seq) -> Result<&[u8], LineProblem> {
    let (found, stated, text) = split(line).ok_or(LineProblem::Garbled)?;
    let actual = crc32fast::hash(text);
    if actual != stated {
        return Err(LineProblem::Checksum { stated, actual });
    }
    if found != expected {
        return Err(LineProblem::Order { expected, found });
    }
    Ok(text)
}

fn split(line: &[u8]) -> Option<(Seq, u32, &[u8])> {
    let rest = line.strip_prefix(BEFORE_SEQ)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (seq, rest) = rest.split_at(digits);
    let (crc, rest) = rest.strip_prefix(BEFORE_CRC)?.split_at_checked(CRC_DIGITS)?;
    let text = rest.strip_prefix(BEFORE_EVENT)?.strip_suffix(AFTER_EVENT)?;
    Some((parse_seq(seq)?, parse_crc(crc)?, text))
}

/// Only the spelling that `encode` writes is accepted: a second spelling would hide a flipped bit.
fn parse_seq(digits: &[u8]) -> Option<Seq> {
    let text = std::str::from_utf8(digits).ok()?;
    let number: u64 = text.parse().ok()?;
    (number > 0 && !text.starts_with('0')).then_some(Seq(number))
}

fn parse_crc(digits: &[u8]) -> Option<u32> {
    let lower = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let text = std::str::from_utf8(digits).ok()?;
    if lower { u32::from_str_radix(text, 16).ok() } else { None }
}

//! Masking while something is written: secrets that come in pieces, and what is left of them where an output was cut.
//! What is written is harmless to look at as well.

use crate::mask::{MASK, Masker, mask, private_key};
use crate::process::printable;

/// The longest piece of a word at a cut that may be a part of a secret. Longer ones are data.
const PIECE_BYTES_MAX: usize = 512;

/// An output that is masked line by line: a line goes on once it is whole.
#[derive(Debug, Default)]
pub(crate) struct MaskedStream {
    masker: Masker,
    open: Vec<u8>,
}

impl MaskedStream {
    /// Takes the next bytes, and adds what is whole of them.
    pub(crate) fn take(&mut self, bytes: &[u8], masked: &mut Vec<u8>) {
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.open.extend_from_slice(bytes);
            return;
        };
        let (lines, rest) = bytes.split_at(end + 1);
        let open = std::mem::take(&mut self.open);
        let lines = if open.is_empty() { lines } else { &[&open, lines].concat() };
        lines.split_inclusive(|byte| *byte == b'\n').for_each(|line| self.line(line, masked));
        self.open.extend_from_slice(rest);
    }

    /// Adds the line that was not ended.
    pub(crate) fn end(&mut self, masked: &mut Vec<u8>) {
        let open = std::mem::take(&mut self.open);
        if !open.is_empty() {
            self.line(&open, masked);
        }
    }

    /// Adds the line that is cut off here, without a last word of which nobody knows what it is.
    pub(crate) fn cut(&mut self, masked: &mut Vec<u8>) {
        let open = std::mem::take(&mut self.open);
        let open = without_cut_end(&open);
        let piece = open.iter().rev().take_while(|byte| is_of_word(**byte)).count();
        let kept = if piece <= PIECE_BYTES_MAX { open.len() - piece } else { open.len() };
        self.line(&open[..kept], masked);
        if kept < open.len() {
            masked.extend_from_slice(MASK.as_bytes());
        }
    }

    /// The bytes that wait for the end of their line.
    pub(crate) fn open(&self) -> &[u8] {
        &self.open
    }

    fn line(&mut self, line: &[u8], masked: &mut Vec<u8>) {
        let is_plain = line.iter().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'));
        if is_plain && self.masker.passes(line) {
            return masked.extend_from_slice(line);
        }
        for part in printable(line).split_inclusive('\n') {
            let hidden = self.masker.line(part);
            masked.extend_from_slice(hidden.as_deref().unwrap_or(part).as_bytes());
        }
    }
}

/// The bytes without a last character of which there are only the first ones.
fn without_cut_end(head: &[u8]) -> &[u8] {
    let from = head.len().saturating_sub(3);
    let lead = head[from..].iter().rposition(|byte| *byte >= 0xc0).map(|index| from + index);
    match lead {
        Some(lead) if std::str::from_utf8(&head[lead..]).is_err_and(|error| error.error_len().is_none()) => {
            &head[..lead]
        }
        _ => head,
    }
}

/// The end of an output whose beginning was cut off, without a first word of which nobody knows what it is, and without
/// the rest of a private key.
pub(crate) fn mask_tail(tail: &str) -> String {
    let piece = tail.bytes().take_while(|byte| is_of_word(*byte)).count();
    let is_piece = (1..=PIECE_BYTES_MAX).contains(&piece) && piece < tail.len();
    let (cut, rest) = if is_piece { (MASK, &tail[piece..]) } else { ("", tail) };
    match private_key::end_of_rest(rest) {
        Some(end) => format!("{MASK}\n{}", mask(&rest[end..])),
        None => format!("{cut}{}", mask(rest)),
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b',')
}

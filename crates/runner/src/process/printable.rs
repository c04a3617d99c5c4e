//! Turns what a program wrote into text that is safe to show, to store and to send on.

use std::iter::Peekable;
use std::str::Chars;

use plan::harmless;

/// The characters that a terminal command (a window title, a link) may have before it is taken for text.
const TERMINAL_COMMAND_CHARS_MAX: usize = 4096;

/// The bytes as UTF-8 in which line feeds and tabs are the only control characters. Terminal sequences
/// (colours, cursor moves, titles) are dropped, a carriage return ends a line, and all else is made harmless.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let decoded = String::from_utf8_lossy(bytes);
    let mut text = String::with_capacity(decoded.len());
    let mut chars = decoded.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | '\t' => text.push(char),
            '\r' => {
                chars.next_if_eq(&'\n');
                text.push('\n');
            }
            '\u{1b}' => match after_terminal_sequence(chars.clone()) {
                Some(rest) => chars = rest,
                None => text.extend(harmless(char)),
            },
            other => text.extend(harmless(other)),
        }
    }
    text
}

/// The position after the terminal sequence whose escape character was just read, if it is one.
fn after_terminal_sequence(mut chars: Peekable<Chars<'_>>) -> Option<Peekable<Chars<'_>>> {
    match chars.next()? {
        '[' => {
            while chars.next_if(|char| ('\u{20}'..='\u{3f}').contains(char)).is_some() {}
            chars.next_if(|char| ('\u{40}'..='\u{7e}').contains(char)).map(|_| chars)
        }
        ']' => after_terminal_command(chars),
        '(' | ')' => chars.next_if(char::is_ascii_alphanumeric).map(|_| chars),
        '7' | '8' | '=' | '>' | 'M' | 'c' => Some(chars),
        _ => None,
    }
}

fn after_terminal_command(mut chars: Peekable<Chars<'_>>) -> Option<Peekable<Chars<'_>>> {
    for _ in 0..TERMINAL_COMMAND_CHARS_MAX {
        match chars.next()? {
            '\u{7}' => return Some(chars),
            '\u{1b}' => return chars.next_if_eq(&'\\').map(|_| chars),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(printable(bytes), expected, "{bytes:?}");
    }

    #[test]
    fn control_characters_become_harmless() {
        check(b"plain\ttext\n", "plain\ttext\n");
        check(b"a\0b\x07c\x7f", "a\u{2400}b\u{2407}c\u{2421}");
        check(b"one\r\ntwo\rthree", "one\ntwo\nthree");
        check(b"\xc2\x9b31m", "\u{fffd}31m");
        check(b"bad \xff\xfe utf", "bad \u{fffd}\u{fffd} utf");
    }

    #[test]
    fn terminal_sequences_are_dropped() {
        check(b"\x1b[31mred\x1b[0m \x1b[2K\x1b[1;5Hmoved", "red moved");
        check(b"\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "text link");
        check(b"\x1b(Bplain\x1b7\x1b8", "plain");
    }

    #[test]
    fn what_only_looks_like_a_terminal_sequence_stays() {
        check(b"\x1b", "\u{241b}");
        check(b"\x1b[31", "\u{241b}[31");
        check(b"\x1b]never ended\nsecret", "\u{241b}]never ended\nsecret");
        check(b"\x1b[3\n1m", "\u{241b}[3\n1m");
    }

    #[test]
    fn many_unfinished_sequences_take_linear_time() {
        let hostile = b"\x1b]".repeat(200_000);
        assert_eq!(printable(&hostile).chars().count(), 400_000);
        let hostile = b"\x1b[".repeat(200_000);
        assert_eq!(printable(&hostile).chars().count(), 400_000);
    }
}

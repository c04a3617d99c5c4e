//! The lines of an output, cut in bounded memory, and the listener that they are told to, which may answer.

/// The bytes of a line that is kept whole.
const LINE_BYTES_MAX: usize = 1024 * 1024;
/// The bytes that are told of a longer one.
const START_BYTES_MAX: usize = 4 * 1024;

/// The line that is not complete yet.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: Vec<u8>,
    /// True if the open line is too long, so that only its beginning is there.
    is_long: bool,
}

impl Lines {
    /// Takes the next bytes and hands on each line that is complete now.
    pub(super) fn split(&mut self, bytes: &[u8], hear: &mut dyn FnMut(Heard<'_>)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if self.open.is_empty() && !self.is_long {
                hear(Heard::Line(line));
                continue;
            }
            self.extend(line);
            hear(self.heard());
            self.open.clear();
            self.is_long = false;
        }
        self.extend(rest);
    }

    /// The line that was not ended.
    pub(super) fn rest(&self) -> Option<Heard<'_>> {
        (!self.open.is_empty()).then(|| self.heard())
    }

    fn heard(&self) -> Heard<'_> {
        if self.is_long { Heard::LongLine(&self.open) } else { Heard::Line(&self.open) }
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.is_long {
            return;
        }
        self.open.extend_from_slice(bytes);
        if self.open.len() > LINE_BYTES_MAX {
            self.is_long = true;
            self.open.truncate(START_BYTES_MAX);
            self.open.shrink_to_fit();
        }
    }
}

/// Something that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    /// A line of standard output, without its end.
    Line(&'a [u8]),
    /// The beginning of a line that is too long to be kept whole.
    LongLine(&'a [u8]),
    /// The process is about to be ended.
    Stopping,
}

/// The reply to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    Nothing,
    /// This goes to standard input.
    Say(String),
    /// The process is no longer needed.
    Dismiss,
}

/// Listens to a process. It is called on the runtime's thread and must not block.
pub trait Listener: Send + 'static {
    /// True if lines are of interest at all.
    fn wants_lines(&self) -> bool;

    /// True if standard input stays open for answers.
    fn is_dialogue(&self) -> bool;

    /// Takes in what was heard.
    fn hear(&mut self, heard: Heard<'_>) -> Reply;

    /// True if output since this was last asked is a sign that the process gets on. In a dialogue only what belongs to
    /// it is.
    fn take_progress(&mut self) -> bool;
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug)]
pub struct Deaf;

impl Listener for Deaf {
    fn wants_lines(&self) -> bool {
        false
    }

    fn is_dialogue(&self) -> bool {
        false
    }

    fn hear(&mut self, _heard: Heard<'_>) -> Reply {
        Reply::Nothing
    }

    fn take_progress(&mut self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text, fed in pieces of a size.
    fn lines(text: &[u8], size: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut note = |heard: Heard<'_>| {
            found.push(match heard {
                Heard::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Heard::LongLine(line) => format!("long: {}", line.len()),
                Heard::Stopping => "stopping".to_owned(),
            });
        };
        text.chunks(size).for_each(|chunk| lines.split(chunk, &mut note));
        if let Some(rest) = lines.rest() {
            note(rest);
        }
        found
    }

    #[test]
    fn lines_are_the_same_however_they_come() {
        for size in 1..12 {
            assert_eq!(lines(b"ab\n\ncde\nf", size), ["ab", "", "cde", "f"], "in pieces of {size}");
            assert_eq!(lines(b"\n", size), [""]);
            assert!(lines(b"", size).is_empty());
        }
    }

    #[test]
    fn a_long_line_is_told_of_by_its_beginning() {
        let mut text = vec![b'x'; 3 * LINE_BYTES_MAX];
        text.extend_from_slice(b"\nshort\n");
        let long = format!("long: {START_BYTES_MAX}");
        assert_eq!(lines(&text, 64 * 1024), [long.clone(), "short".to_owned()]);
        text.truncate(3 * LINE_BYTES_MAX);
        assert_eq!(lines(&text, 1000), [long]);
    }
}

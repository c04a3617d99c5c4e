//! Keeps beginning and end of an output in bounded memory, and writes both to a log file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::mask::{MaskedStream, mask_tail};
use crate::process::handle::{Kept, ProcessLimits};
use crate::process::printable::printable;

/// One output of a process while it is being read.
pub(super) struct Capture {
    log: Log,
    /// The head as it is kept, in the log and otherwise: without secrets.
    head: Vec<u8>,
    masking: MaskedStream,
    head_bytes: usize,
    head_bytes_max: usize,
    tail: VecDeque<u8>,
    tail_bytes_max: usize,
    bytes_total: u64,
}

impl Capture {
    /// Creates the log file.
    pub(super) fn create(path: &Path, limits: &ProcessLimits) -> io::Result<Self> {
        Ok(Self {
            log: Log::create(path)?,
            head: Vec::new(),
            masking: MaskedStream::default(),
            head_bytes: 0,
            head_bytes_max: limits.head_bytes_max,
            tail: VecDeque::new(),
            tail_bytes_max: limits.tail_bytes_max,
            bytes_total: 0,
        })
    }

    /// Takes the next bytes of the output. Each line of the head is in the log file as soon as it is whole, the others
    /// wait for the end, because until then nobody knows which of them are the last.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes_total += bytes.len() as u64;
        let room = self.head_bytes_max - self.head_bytes;
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head_bytes += head.len();
        self.keep(|masking, kept| masking.take(head, kept));
        self.take_tail(rest);
    }

    /// Adds to the head what is known to be no secret.
    fn keep(&mut self, add: impl FnOnce(&mut MaskedStream, &mut Vec<u8>)) {
        let before = self.head.len();
        add(&mut self.masking, &mut self.head);
        self.log.write(&self.head[before..]);
    }

    fn take_tail(&mut self, bytes: &[u8]) {
        let last = &bytes[bytes.len().saturating_sub(self.tail_bytes_max)..];
        let excess = (self.tail.len() + last.len()).saturating_sub(self.tail_bytes_max);
        self.tail.drain(..excess);
        self.tail.extend(last);
    }

    /// The only line that was written, if it was one line and is kept whole.
    pub(super) fn only_line(&self) -> Option<Vec<u8>> {
        let is_whole = self.bytes_total == (self.head_bytes + self.tail.len()) as u64;
        let mut line: Vec<u8> =
            self.head.iter().chain(self.masking.open()).chain(&self.tail).copied().collect();
        let is_whole = is_whole && line.pop() == Some(b'\n');
        (is_whole && !line.contains(&b'\n')).then_some(line)
    }

    /// True if nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes_total == 0
    }

    /// Completes the log file.
    pub(super) fn finish(mut self) -> Kept {
        let bytes_omitted = self.bytes_total - (self.head_bytes + self.tail.len()) as u64;
        let tail = Vec::from(std::mem::take(&mut self.tail));
        let text = if bytes_omitted == 0 {
            self.keep(|masking, kept| {
                masking.take(&tail, kept);
                masking.end(kept);
            });
            String::from_utf8_lossy(&self.head).into_owned()
        } else {
            self.keep(|masking, kept| masking.cut(kept));
            let notice = omission(&self.head, bytes_omitted);
            let tail = mask_tail(&printable(without_cut_start(&tail)));
            self.log.write(notice.as_bytes());
            self.log.write(tail.as_bytes());
            String::from_utf8_lossy(&self.head).into_owned() + &notice + &tail
        };
        Kept { text, bytes_total: self.bytes_total, bytes_omitted, log_problem: self.log.problem }
    }
}

/// A file that is written as far as possible: a full disk must not stop a process whose work may be good.
///
/// It is open only once there is something to write: many are silent, and all that run at once share one limit of
/// descriptors.
struct Log {
    file: Option<File>,
    path: PathBuf,
    problem: Option<String>,
}

impl Log {
    fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(Self { file: None, path: path.to_owned(), problem: None })
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.problem.is_some() || bytes.is_empty() {
            return;
        }
        if let Err(error) = self.try_write(bytes) {
            self.problem = Some(format!("cannot write {}: {error}", self.path.display()));
        }
    }

    fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => {
                let file = File::options().append(true).create(true).open(&self.path)?;
                self.file.insert(file).write_all(bytes)
            }
        }
    }
}

/// The line that stands for what was left out, on a line of its own.
fn omission(head: &[u8], bytes_omitted: u64) -> String {
    let start = if head.is_empty() || head.ends_with(b"\n") { "" } else { "\n" };
    format!("{start}[{bytes_omitted} bytes left out]\n")
}

/// The tail without the last bytes of a character whose first ones it lacks.
fn without_cut_start(tail: &[u8]) -> &[u8] {
    let cut = tail.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    &tail[cut..]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limits(head_bytes_max: usize, tail_bytes_max: usize) -> ProcessLimits {
        ProcessLimits {
            deadline: Duration::ZERO,
            no_progress: None,
            grace: Duration::ZERO,
            head_bytes_max,
            tail_bytes_max,
        }
    }

    /// Feeds the output in chunks of every size and compares text and log.
    fn check(output: &[u8], head: usize, tail: usize, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for size in 1..=output.len().max(1) {
            let mut capture = Capture::create(&path, &limits(head, tail)).unwrap();
            output.chunks(size).for_each(|chunk| capture.take(chunk));
            let kept = capture.finish();
            assert_eq!(kept.text, expected, "in chunks of {size}");
            assert_eq!(kept.bytes_total, output.len() as u64);
            assert_eq!(kept.bytes_omitted, output.len().saturating_sub(head + tail) as u64);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        }
    }

    fn kept(output: &[u8], head: usize, tail: usize, size: usize) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut capture = Capture::create(&path, &limits(head, tail)).unwrap();
        output.chunks(size).for_each(|chunk| capture.take(chunk));
        let text = capture.finish().text;
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        text
    }

    #[test]
    fn head_and_tail_are_kept() {
        check(b"", 4, 4, "");
        check(b"12345678", 4, 4, "12345678");
        check(b"123 5 789", 4, 4, "123 \n[1 bytes left out]\n 789");
        check(b"123\n5678\n ab", 4, 3, "123\n[5 bytes left out]\n ab");
        check(b"123456 89", 0, 3, "[6 bytes left out]\n 89");
        check(b"123 56789", 4, 0, "123 \n[5 bytes left out]\n");
        check(b"123456789", 0, 0, "[9 bytes left out]\n");
    }

    #[test]
    fn no_piece_of_a_secret_is_left_where_an_output_is_cut() {
        let long = format!(
            "a ghp_{} b{}c ghp_{} d",
            "a1B2c3D4e5F6g7H8".repeat(2),
            " x".repeat(50),
            "e5F6g7H8a1B2c3D4".repeat(2)
        );
        for (head, tail) in [(20, 20), (3, 5), (40, 40), (8, 36)] {
            let kept = kept(long.as_bytes(), head, tail, 7);
            assert!(!kept.contains("B2c3") && !kept.contains("F6g7"), "{kept}");
        }
    }

    #[test]
    fn a_secret_is_masked_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut capture = Capture::create(&path, &limits(100, 100)).unwrap();
        for piece in ["the key is gh", "p_a1B2c3D4e5F6", "g7H8i9\nand more", " to come"] {
            capture.take(piece.as_bytes());
        }
        // As it is found after a kill.
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "the key is [masked]\n");
        assert_eq!(capture.finish().text, "the key is [masked]\nand more to come");
    }

    #[test]
    fn characters_are_not_cut() {
        check("aé–😀".as_bytes(), 4, 6, "aé–😀");
        check("aé–😀 und noch 😀".as_bytes(), 4, 3, "aé\n[17 bytes left out]\n");
        check("😀😀😀".as_bytes(), 5, 5, "😀\n[2 bytes left out]\n😀");
    }

    #[test]
    fn a_full_disk_is_reported_and_the_text_kept() {
        let mut capture = Capture::create(Path::new("/dev/full"), &limits(10, 10)).unwrap();
        capture.take(b"hello\n");
        let kept = capture.finish();
        assert_eq!(kept.text, "hello\n");
        assert!(kept.log_problem.unwrap().starts_with("cannot write /dev/full: "));
    }
}

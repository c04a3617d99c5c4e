//! Keeps beginning and end of an output in bounded memory, and writes both to a log file.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::mask::{MaskedStream, mask_tail};
use crate::process::handle::{Kept, ProcessLimits};
use crate::process::printable::printable;

/// How long what came after the head is not shown in the log.
const SHOWN_EVERY: Duration = Duration::from_secs(1);

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
    /// When the tail is to be shown in the log as it is then, if it is not yet.
    show_at: Option<Instant>,
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
            show_at: None,
        })
    }

    /// Takes the next bytes of the output. Each line of the head is in the log file as soon as it is whole; the others are
    /// shown there as the last ones now and then, because until the end nobody knows which of them are.
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
        if bytes.is_empty() {
            return;
        }
        self.show_at.get_or_insert_with(|| Instant::now() + SHOWN_EVERY);
        let last = &bytes[bytes.len().saturating_sub(self.tail_bytes_max)..];
        let excess = (self.tail.len() + last.len()).saturating_sub(self.tail_bytes_max);
        self.tail.drain(..excess);
        self.tail.extend(last);
    }

    /// When [`Capture::show`] has something to show.
    pub(super) fn show_at(&self) -> Option<Instant> {
        self.show_at
    }

    /// Shows in the log what the last lines are now.
    pub(super) fn show(&mut self) {
        self.show_at = None;
        let (head, omitted) = (&self.head, self.bytes_omitted());
        let tail = whole_lines(self.tail.make_contiguous());
        let last = omission(head, omitted) + &mask_tail(&printable(tail));
        self.log.show(last.as_bytes());
    }

    fn bytes_omitted(&self) -> u64 {
        self.bytes_total - (self.head_bytes + self.tail.len()) as u64
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
        let bytes_omitted = self.bytes_omitted();
        let text = if bytes_omitted == 0 {
            let tail = Vec::from(std::mem::take(&mut self.tail));
            self.keep(|masking, kept| {
                masking.take(&tail, kept);
                masking.end(kept);
            });
            String::from_utf8_lossy(&self.head).into_owned()
        } else {
            self.keep(|masking, kept| masking.cut(kept));
            let tail = without_cut_start(self.tail.make_contiguous());
            let last = omission(&self.head, bytes_omitted) + &mask_tail(&printable(tail));
            self.log.write(last.as_bytes());
            String::from_utf8_lossy(&self.head).into_owned() + &last
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
    /// How much of it stays; what lies behind is only shown for now.
    bytes: u64,
    shown: u64,
    problem: Option<String>,
}

impl Log {
    fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(Self { file: None, path: path.to_owned(), bytes: 0, shown: 0, problem: None })
    }

    fn write(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && self.put(bytes) {
            self.bytes += bytes.len() as u64;
            self.shown = self.bytes;
        }
    }

    /// Has this at the end for now.
    fn show(&mut self, bytes: &[u8]) {
        if self.put(bytes) {
            self.shown = self.bytes + bytes.len() as u64;
        }
    }

    /// True if it could be written.
    fn put(&mut self, bytes: &[u8]) -> bool {
        if self.problem.is_none()
            && let Err(error) = self.try_put(bytes)
        {
            self.problem = Some(format!("cannot write {}: {error}", self.path.display()));
        }
        self.problem.is_none()
    }

    fn try_put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                self.file.insert(File::options().write(true).create(true).truncate(false).open(&self.path)?)
            }
        };
        file.write_all_at(bytes, self.bytes)?;
        let end = self.bytes + bytes.len() as u64;
        if end < self.shown { file.set_len(end) } else { Ok(()) }
    }
}

/// The line that stands for what was left out, on a line of its own.
fn omission(head: &[u8], bytes_omitted: u64) -> String {
    if bytes_omitted == 0 {
        return String::new();
    }
    let start = if head.is_empty() || head.ends_with(b"\n") { "" } else { "\n" };
    format!("{start}[{bytes_omitted} bytes left out]\n")
}

/// The tail without a last line that may go on: nobody can tell yet whether a secret is in it.
fn whole_lines(tail: &[u8]) -> &[u8] {
    let end = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    without_cut_start(&tail[..end])
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
    fn the_last_lines_are_in_the_log_while_more_may_come() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut capture = Capture::create(&path, &limits(4, 12)).unwrap();
        let shown = || std::fs::read_to_string(&path).unwrap();
        capture.take(b"one\n");
        assert!(capture.show_at().is_none());
        capture.take(b"two\nthree\nfo");
        assert_eq!(shown(), "one\n");
        assert!(capture.show_at().is_some());
        capture.show();
        assert_eq!(shown(), "one\n[masked]\nthree\n");
        capture.take(b"ur\nfive\n");
        capture.show();
        assert_eq!(shown(), "one\n[8 bytes left out]\n[masked]\nfour\nfive\n");
        capture.take(b"a\n");
        let text = capture.finish().text;
        assert_eq!(text, "one\n[10 bytes left out]\n[masked]\nfive\na\n");
        assert_eq!(shown(), text);
    }

    #[test]
    fn no_piece_of_a_secret_is_shown_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut capture = Capture::create(&path, &limits(8, 60)).unwrap();
        let shown = || std::fs::read_to_string(&path).unwrap();
        capture.take(b"a\nkey is ghp_a1B2c3D4");
        capture.show();
        assert_eq!(shown(), "a\n");
        capture.take(b"e5F6g7H8i9\nb\nkey: ghp_");
        capture.show();
        assert_eq!(shown(), "a\n [masked]\nb\n");
        assert_eq!(capture.finish().text, "a\nkey is [masked]\nb\nkey: ghp_");
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

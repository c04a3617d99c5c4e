//! The one error type of the program: what went wrong, because of what, and what to type next. The kind picks the
//! exit code.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use serde::Serialize;

use crate::args::Format;
use crate::exit;
use crate::view::json;
use crate::view::subject::Subject;
use crate::view::text::{clean, clean_lines};

/// Something that ends a command.
#[derive(Debug)]
pub(crate) struct Error {
    kind: Kind,
    message: String,
    notes: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
    hints: Vec<String>,
    /// The question to a person that a run ended with.
    question: Option<String>,
}

/// The kind of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Usage, settings, plan or state: nothing was started.
    Usage,
    /// There is nobody who could do the work: nothing was started.
    NoAgent,
    /// Another run holds the plan.
    Held,
    /// Another process answered first.
    Answered,
    /// The operating system refused something that the command needs.
    Unavailable,
    /// A run ended without being complete; the code says how.
    Ended(u8),
    /// The output is read by nobody any more: no reason to complain.
    OutputClosed,
}

impl Error {
    /// An error with a message: a lower-case fragment, or a text that people know and that begins with `ERROR:`.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            notes: Vec::new(),
            source: None,
            hints: Vec::new(),
            question: None,
        }
    }

    /// Makes commands that are to be typed name the plan: it may not be the current one.
    pub(crate) fn about(mut self, subject: &Subject) -> Self {
        let commands = ["", "--fresh"].map(|rest| {
            let plain = if rest.is_empty() { String::new() } else { format!(" {rest}") };
            (format!("`tillgreen run{plain}`"), subject.command("run", rest))
        });
        let texts = [&mut self.message].into_iter().chain(&mut self.notes).chain(&mut self.hints);
        for text in texts {
            for (plain, named) in &commands {
                *text = text.replace(plain, named);
            }
        }
        self
    }

    /// A usage error.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// An error of a library, with its causes.
    pub(crate) fn from_source(kind: Kind, error: impl StdError + Send + Sync + 'static) -> Self {
        let message = error.to_string();
        // The error itself is the message; only what is behind it is a cause.
        Self { source: Some(Box::new(Shown(Box::new(error)))), ..Self::new(kind, message) }
    }

    /// A file that could not be read or written.
    pub(crate) fn file(action: &str, path: &std::path::Path, source: io::Error) -> Self {
        use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let is_disk = matches!(source.kind(), QuotaExceeded | ReadOnlyFilesystem | StorageFull);
        let kind = if is_disk { Kind::Unavailable } else { Kind::Usage };
        Self::new(kind, format!("cannot {action} {}", path.display())).because(source)
    }

    /// True if only an agent is missing.
    pub(crate) fn is_no_agent(&self) -> bool {
        self.kind == Kind::NoAgent
    }

    /// Adds what it was caused by.
    pub(crate) fn because(self, source: impl StdError + Send + Sync + 'static) -> Self {
        Self { source: Some(Box::new(source)), ..self }
    }

    /// Adds a line of detail.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the question that it is about, if there is one.
    pub(crate) fn asking(self, question: Option<String>) -> Self {
        Self { question, ..self }
    }

    /// Takes it for an error after a run had been started: that can be taken up again.
    pub(crate) fn midway(self) -> Self {
        let kind = if self.kind == Kind::Usage { Kind::Unavailable } else { self.kind };
        Self { kind, ..self }
    }

    /// Takes an error at the start for a pause where the disk is full or cannot be written: nothing is wrong with what was
    /// asked for.
    pub(crate) fn of_disk(mut self) -> Self {
        const SAID: [&str; 3] = ["No space left on device", "Read-only file system", "Disk quota exceeded"];
        let causes = self.causes();
        let texts = || [&self.message].into_iter().chain(&self.notes).chain(&causes);
        let is_open = matches!(self.kind, Kind::Usage | Kind::Unavailable);
        if !is_open || !texts().any(|text| SAID.iter().any(|said| text.contains(said))) {
            return self;
        }
        self.kind = Kind::Unavailable;
        if !self.hints.iter().any(|hint| hint.contains("room")) {
            self.hints.push(
                "see that the disk has room and can be written, then try again; nothing is lost".to_owned(),
            );
        }
        self
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self.kind {
            Kind::Usage | Kind::NoAgent => exit::USAGE,
            Kind::Held => exit::HELD,
            Kind::Answered => exit::ANSWERED,
            Kind::Unavailable => exit::UNAVAILABLE,
            Kind::Ended(code) => code,
            Kind::OutputClosed => exit::DONE,
        }
    }

    /// What is the matter, in a line.
    pub(crate) fn gist(&self) -> String {
        let message = self.message.trim_start_matches("ERROR: ");
        self.notes.first().map_or(message.to_owned(), |note| format!("{message}. {note}"))
    }

    /// True if there is nothing to say about it.
    pub(crate) fn is_silent(&self) -> bool {
        self.kind == Kind::OutputClosed
    }

    /// The error as it is printed, with a line break at its end.
    pub(crate) fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.render_text(),
            Format::Json => self.render_json(),
        }
    }

    fn render_text(&self) -> String {
        let prefix = if self.message.starts_with("ERROR:") { "" } else { "error: " };
        let question = self.question.as_ref().map(|question| format!("\n{}\n", clean_lines(question)));
        let mut text = question.unwrap_or_default();
        text.push_str(&format!("{prefix}{}\n", clean(&self.message)));
        for note in self.notes.iter().flat_map(|note| note.lines()) {
            text.push_str(&format!("  {}\n", clean(note)));
        }
        for cause in self.causes() {
            text.push_str(&format!("  caused by: {}\n", clean(&cause)));
        }
        for hint in &self.hints {
            text.push_str(&format!("hint: {}\n", clean(hint)));
        }
        text
    }

    fn render_json(&self) -> String {
        #[derive(Serialize)]
        struct Shape<'a> {
            error: &'a str,
            notes: &'a [String],
            causes: Vec<String>,
            hints: &'a [String],
            #[serde(skip_serializing_if = "Option::is_none")]
            question: Option<&'a str>,
            code: u8,
        }
        let shape = Shape {
            error: &self.message,
            notes: &self.notes,
            causes: self.causes(),
            hints: &self.hints,
            question: self.question.as_deref(),
            code: self.code(),
        };
        json::text(&shape)
    }

    fn causes(&self) -> Vec<String> {
        let first = self.source.as_deref().map(|source| source as &dyn StdError);
        let chain = std::iter::successors(first, |&cause| cause.source());
        chain.map(ToString::to_string).filter(|cause| *cause != self.message).collect()
    }
}

/// An error whose own text is the message already.
#[derive(Debug)]
struct Shown(Box<dyn StdError + Send + Sync>);

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl StdError for Shown {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// Writing results failed.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(Kind::OutputClosed, "nobody reads the output");
        }
        Self::new(Kind::Unavailable, "cannot write to standard output").because(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Error {
        let source = io::Error::new(io::ErrorKind::PermissionDenied, "permission denied");
        Error::file("read", std::path::Path::new("tillgreen.toml"), source).hint("look at its permissions")
    }

    #[test]
    fn text_has_causes_and_hints() {
        insta::assert_snapshot!(sample().render(Format::Text), @r"
        error: cannot read tillgreen.toml
          caused by: permission denied
        hint: look at its permissions
        ");
    }

    #[test]
    fn json_is_one_object_on_a_line() {
        insta::assert_snapshot!(sample().render(Format::Json), @r#"{"error":"cannot read tillgreen.toml","notes":[],"causes":["permission denied"],"hints":["look at its permissions"],"code":2}"#);
    }

    #[test]
    fn known_texts_get_no_second_prefix() {
        let error = Error::usage("ERROR: Tasks file missing at ./specs/a/tasks.md").note("one\ntwo");
        insta::assert_snapshot!(error.render(Format::Text), @r"
        ERROR: Tasks file missing at ./specs/a/tasks.md
          one
          two
        ");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let error = Error::usage("bad \u{1b}[31mname\u{7}");
        assert!(!error.render(Format::Text).contains('\u{1b}'));
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        let error = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(error.is_silent());
        assert_eq!(error.code(), exit::DONE);
        let full = Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.code(), exit::UNAVAILABLE);
    }

    #[test]
    fn a_disk_that_cannot_be_written_is_a_pause_with_a_hint() {
        let of = |error: Error| error.of_disk();
        let full = || io::Error::from_raw_os_error(28);
        for error in [
            Error::usage("cannot start").because(io::Error::from_raw_os_error(30)),
            Error::file("write", std::path::Path::new("tillgreen.toml"), full()),
            Error::usage("git failed").note("fatal: cannot create a lock: No space left on device"),
        ] {
            let error = of(error);
            assert_eq!((error.code(), error.hints.len()), (exit::UNAVAILABLE, 1), "{error:?}");
        }
        assert_eq!(of(Error::usage("an option that does not exist")).code(), exit::USAGE);
        let ended = of(Error::new(Kind::Ended(exit::STOPPED), "red: No space left on device"));
        assert_eq!(
            (ended.code(), ended.hints.len()),
            (exit::STOPPED, 0),
            "what a command says is its own affair"
        );
    }

    #[test]
    fn a_cause_that_repeats_the_message_is_left_out() {
        let error = Error::from_source(Kind::Usage, io::Error::other("boom"));
        assert_eq!(error.render(Format::Text), "error: boom\n");
    }
}

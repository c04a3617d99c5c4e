//! The error of a command: what happened, because of what, and what to type next.

use std::fmt;

/// Something that ends a command with exit code 2, or with another one that has a meaning.
#[derive(Debug)]
pub(crate) struct Error {
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
    /// The exit code.
    pub(crate) code: u8,
    /// True if the plain program has said it already.
    is_told: bool,
}

/// Usage, settings, plan or server: nothing was started.
const USAGE: u8 = 2;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), causes: Vec::new(), hints: Vec::new(), code: USAGE, is_told: false }
    }

    /// An error that the plain program has told, with its exit code.
    pub(crate) fn told(code: Option<i32>) -> Self {
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(USAGE);
        Self { code, is_told: true, ..Self::new("told already") }
    }

    pub(crate) fn is_told(&self) -> bool {
        self.is_told
    }

    pub(crate) fn because(mut self, source: &dyn std::error::Error) -> Self {
        let mut source = Some(source);
        while let Some(error) = source {
            let text = error.to_string();
            if self.causes.last() != Some(&text) {
                self.causes.push(text);
            }
            source = error.source();
        }
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.message)?;
        self.causes.iter().try_for_each(|cause| write!(formatter, "\n  because: {cause}"))?;
        self.hints.iter().try_for_each(|hint| write!(formatter, "\nhint: {hint}"))
    }
}

impl std::error::Error for Error {}

//! Colours, where they are wanted: a terminal, and no `NO_COLOR`.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// The colouring of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// With colours.
    Colours,
    /// Without.
    Plain,
}

impl Paint {
    /// For something that is written to, as the environment wants it.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        Self::decide(
            stream.is_terminal(),
            std::env::var_os("NO_COLOR").as_deref(),
            std::env::var_os("TERM").as_deref(),
        )
    }

    fn decide(is_terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> Self {
        let is_refused =
            no_color.is_some_and(|value| !value.is_empty()) || term.is_some_and(|term| term == "dumb");
        if is_terminal && !is_refused { Self::Colours } else { Self::Plain }
    }

    fn with(self, code: &str, text: &str) -> String {
        match self {
            Self::Colours => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Plain => text.to_owned(),
        }
    }

    /// Text about what went well.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Text about what went wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    /// Text about what needs a look.
    pub(crate) fn odd(self, text: &str) -> String {
        self.with("33", text)
    }

    /// Text that matters less.
    pub(crate) fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Text that matters more.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_only_where_they_are_wanted() {
        let on = |value: &'static str| Some(OsStr::new(value));
        assert_eq!(Paint::decide(true, None, on("xterm")), Paint::Colours);
        assert_eq!(Paint::decide(true, on(""), None), Paint::Colours);
        assert_eq!(Paint::decide(true, on("1"), None), Paint::Plain);
        assert_eq!(Paint::decide(true, None, on("dumb")), Paint::Plain);
        assert_eq!(Paint::decide(false, None, on("xterm")), Paint::Plain);
        assert_eq!(Paint::Plain.bad("x"), "x");
        assert_eq!(Paint::Colours.bad("x"), "\u{1b}[31mx\u{1b}[0m");
    }
}

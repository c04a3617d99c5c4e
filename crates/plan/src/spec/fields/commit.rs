//! The Commit field: a message, a message for a case that may not arise, or none at all.

use crate::markdown::{Piece, pieces};

/// The Commit field of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Commit {
    /// Commit with this message.
    Message(String),
    /// Commit with this message if the task turned out to change something.
    OnlyIfNeeded(String),
    /// The task is not meant to be committed.
    None,
    /// Nothing is said, or nothing that names a message.
    #[default]
    Unset,
}

impl Commit {
    /// Reads the text of the field.
    pub(super) fn read(text: &str) -> Self {
        let parts = pieces(text);
        let message = parts.iter().find_map(|piece| match piece {
            Piece::Code(code) => Some(code.trim().trim_matches('`').trim()),
            Piece::Prose(_) => None,
        });
        let prose: String =
            parts.iter().map(|piece| if let Piece::Prose(prose) = piece { prose } else { " " }).collect();
        match message.filter(|message| !message.is_empty()) {
            Some(message) if is_conditional(&prose) => Commit::OnlyIfNeeded(message.to_owned()),
            Some(message) => Commit::Message(message.to_owned()),
            None => Commit::read_bare(text),
        }
    }

    fn read_bare(text: &str) -> Self {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        if says_none(line) {
            return if is_conditional(line) { Commit::Unset } else { Commit::None };
        }
        let (message, note) = match line.rfind('(').filter(|_| line.ends_with(')')) {
            Some(open) if is_conditional(&line[open..]) => line.split_at(open),
            Some(_) | None => (line, ""),
        };
        let message = message.trim().trim_matches(['"', '\'', '“', '”']).trim().to_owned();
        match (message.is_empty(), note.is_empty()) {
            (true, _) => Commit::Unset,
            (false, true) => Commit::Message(message),
            (false, false) => Commit::OnlyIfNeeded(message),
        }
    }
}

fn says_none(line: &str) -> bool {
    let line = line.trim_start_matches(['(', '*', '_', '-', '—', '–', ' ']).to_lowercase();
    let word = |word: &str| {
        line.strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == ':'))
    };
    line.is_empty()
        || ["none", "n/a", "na", "skip", "skipped", "no commit", "nothing", "not applicable"]
            .into_iter()
            .any(word)
}

/// True if a note makes the commit depend on there being something to commit.
fn is_conditional(note: &str) -> bool {
    let note = note.to_lowercase();
    note.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "if" | "unless" | "when"))
}

//! Whoever listens to a process while it runs, and may answer it.

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

/// What follows from it.
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
    /// Whether lines are of interest at all.
    fn wants_lines(&self) -> bool;

    /// Whether standard input stays open for answers.
    fn is_dialogue(&self) -> bool;

    /// Takes in what was heard.
    fn hear(&mut self, heard: Heard<'_>) -> Reply;

    /// Whether output since this was last asked is a sign that the process gets on. In a dialogue only what belongs to
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

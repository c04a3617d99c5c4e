//! What an agent is doing, as far as its output tells. It is shown while it happens and kept nowhere.

use engine::Usage;

/// Something that an agent did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It said something.
    Said(String),
    /// It began to use a tool.
    ToolStarted {
        /// The tool.
        name: String,
        /// What it is used on: a command, a file.
        subject: String,
    },
    /// It is through with a tool.
    ToolEnded,
    /// The model's service did not answer as it should, and the agent tries again.
    Retrying {
        /// Why, in its words.
        reason: String,
    },
    /// What it used so far.
    Used(Usage),
}

//! Messages to the loop: ends of processes, signals, people's answers, and directives from other processes.

mod channel;
mod folder;
mod send;
mod watch;

pub(crate) use channel::{Inbox, Message};
pub use channel::{LiveSettings, Responder};
pub(crate) use folder::{Folder, Reply, RunName};
pub use send::{SendError, Sent, directive, leave, send};

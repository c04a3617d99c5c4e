//! The keeper: this executable under another name, holding everything that one command starts.
//!
//! It runs before anything else of the program and stays single-threaded. Its parent learns how the
//! command ended from how the keeper itself ends; the keeper says nothing more, except one line on
//! standard error if the command cannot be started.

mod command;
mod init;
mod namespace;
mod role;
mod subreaper;
mod surroundings;
mod word;

pub use role::{keep_if_asked, use_keeper};
pub(super) use {
    command::{CANNOT_START_CODES, CANNOT_START_PREFIX},
    namespace::{NotAllowed, give_up_namespaces, in_new_namespace},
    role::{KILL_ALL, KeeperMissing, Way, keeper_command_line},
    word::{Word, WordReader, word_pipe},
};

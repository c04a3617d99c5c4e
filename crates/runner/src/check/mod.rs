//! The program's own checks, one file each. What the agent's answer alone shows is
//! decided in the engine, what has to be looked at is here.

pub(crate) mod before;
mod bookkeeping;
pub(crate) mod command;
pub(crate) mod leaning;
mod likely_keys;
mod marks;
mod proposed;
mod scope;
mod signs;
mod verify;
mod written;

pub(crate) use bookkeeping::bookkeeping;
pub(crate) use likely_keys::{has_likely_key, likely_keys, likely_keys_of_messages};
pub(crate) use marks::has_conflict_marks;
pub use proposed::{ProposedVerify, propose_verify};
pub(crate) use scope::{covers, oddities, scope};
pub(crate) use verify::{
    Looks, judge as judge_verify, one_line, or_missing, program as verify_program, ran_no_test, script_of,
};

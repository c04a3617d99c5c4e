//! The crate from outside: the rules of the dialect, its edits, real files and hostile ones.

mod corpus;
mod edits;
mod expect;
mod foreign;
mod headers;
mod hostile;
mod import;
mod phase_corpus;
mod phase_expect;
mod phase_hostile;
mod phase_rules;
mod rules;
mod second_reader;
mod strays;

//! The use of git, with the real program in scratch repositories.

mod commits;
mod config;
mod discovery;
mod excludes;
mod histories;
mod locks;
mod refusals;
mod restores;
mod scratch;
mod states;
mod ways_back;

//! How git is used, with the real program in scratch repositories.

mod batch;
mod commits;
mod discovery;
mod excludes;
mod histories;
mod landings;
mod locks;
mod refusals;
mod restores;
mod scratch;
mod states;
mod trees;

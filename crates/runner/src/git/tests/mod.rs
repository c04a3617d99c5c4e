//! How git is used, with the real program in scratch repositories.

mod batch;
mod commits;
mod discovery;
mod excludes;
mod furnishings;
mod habits;
mod hidden;
mod histories;
mod landed_files;
mod landings;
mod locks;
mod lost_index;
mod put_backs;
mod refusals;
mod restores;
mod scratch;
mod special;
mod states;
mod steps;
mod trees;
mod ways_back;
mod whole_commits;

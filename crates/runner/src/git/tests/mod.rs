//! How git is used, with the real program in scratch repositories.

mod batch;
mod commits;
mod discovery;
mod excludes;
mod furnishings;
mod histories;
mod joins;
mod landed_files;
mod landings;
mod locks;
mod plain_commits;
mod put_backs;
mod refusals;
mod restores;
mod scratch;
mod shortcuts;
mod spares;
mod special;
mod states;
mod trees;
mod ways_back;
mod whole_commits;

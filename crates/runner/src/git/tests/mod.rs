//! How git is used, with the real program in scratch repositories.

mod batch;
mod commits;
mod discovery;
mod excludes;
mod furnishings;
mod habits;
mod histories;
mod joins;
mod landed_files;
mod landings;
mod locks;
mod plain_commits;
mod put_backs;
mod references;
mod refusals;
mod restores;
mod scratch;
mod shortcuts;
mod spares;
mod special;
mod states;
mod tracked_commits;
mod trees;
mod ways_back;
mod whole_commits;
mod written_trees;

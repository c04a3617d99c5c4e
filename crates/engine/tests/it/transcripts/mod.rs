//! Every scenario as a transcript: one line for each event, and the boxes of the plan at the end.

mod absences;
mod edits;
mod fixes;
mod judges;
mod medley;
mod questions;
mod records;
mod retries;
mod rounds;
mod verify_tasks;

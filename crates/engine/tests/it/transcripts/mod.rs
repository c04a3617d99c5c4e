//! Every scenario as a transcript: one line for each event, and the boxes of the plan at the end.

mod absences;
mod batches;
mod beside_people;
mod blockers;
mod checkpoints;
mod edits;
mod fixes;
mod judges;
mod keep_going;
mod landings;
mod medley;
mod notes;
mod obstacles;
mod phases;
mod questions;
mod records;
mod retries;
mod rounds;
mod slots;
mod verify_tasks;

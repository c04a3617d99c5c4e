//! The preparation of slots, with git and real tools.

mod bench;
mod canaries;
mod copying;
mod missing;
mod recipe;
mod setting_up;
mod tools;

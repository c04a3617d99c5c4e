//! `watch`: a run on a full screen. All that is shown is a fold over the journal's events and the files that attempts
//! leave: it needs nothing of the run, and shows one that is under way in another process, one that died, and an old one
//! alike. Acting goes through the run's inbox.
//!
//! A key becomes a change of `app`, or a deed that `screen` carries out; `draw` shows what is so.

mod app;
mod deeds;
mod detail;
mod draw;
mod field;
mod keys;
mod load;
mod pager;
mod runs;
mod screen;
mod source;
mod theme;
mod timeline;
mod tree;

#[cfg(test)]
mod tests;

pub(crate) use screen::{Opening, show};

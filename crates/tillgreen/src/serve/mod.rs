//! `serve`: runs on a page. As for `watch`, all that is shown is a fold over journals and the files that attempts leave, and
//! acting goes through a run's inbox; nothing of the project is ever started.
//!
//! A request passes the `guard` and reaches the `keeper`, a thread that owns what is followed; what may take long is read
//! by `texts`, another one. The page gets the folded state at once and then what changes in it.

mod asset;
mod followed;
mod guard;
mod keeper;
mod listing;
mod say;
mod server;
mod sheet;
mod texts;

pub(crate) use server::{Serving, serve};

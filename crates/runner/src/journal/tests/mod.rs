//! Journals when everything goes well, and when nothing does.

mod damage;
mod disk;
mod follow;
mod lock;
mod replay;
mod scratch;

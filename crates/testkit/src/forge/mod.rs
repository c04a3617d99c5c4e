//! A stand-in for GitHub that the real `gh` talks to over a socket, and a bare repository that is pushed to.
//!
//! It knows as much of GitHub as a pull request needs: what a test says of checks, reviews and threads depends on
//! the push that is looked at, so that a whole lifecycle can be played.

mod archive;
mod gh;
mod graphql;
mod http;
mod hub;
mod rest;
mod server;
mod sight;

pub use gh::install_gh;
pub use hub::{Hub, Issue, Pull};
pub use server::Forge;
pub use sight::{Check, Moment, Review, Sight, Thread};

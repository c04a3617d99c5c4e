//! A scripted model that real agents talk to over loopback.
//!
//! ```text
//!  agent ──HTTP──▶ connection ──request──▶ dispatcher (lanes, turns, records) ──reply──▶ connection ──▶ agent
//! ```
//!
//! What a request is answered with is decided in plain functions (`lane`, `reply`, `wire`); sockets are the
//! business of `http` and `server` only.

mod client_config;
mod dispatcher;
mod edits;
mod http;
mod lane;
mod reply;
mod request;
mod scenario;
mod server;
mod tool_use;
mod wire;

pub use client_config::ClientConfig;
pub use dispatcher::Recorded;
pub use lane::Served;
pub use request::Protocol;
pub use scenario::{Act, Answer, Call, Ending, Fault, MainRequests, Scenario, Stop, Times, Turn, Usage};
pub use server::{ModelServer, ServerError};

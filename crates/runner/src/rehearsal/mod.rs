//! A scripted model that real agents talk to over loopback, and the trial of an agent by means of it.
//!
//! ```text
//!  agent ──HTTP──▶ connection ──request──▶ stage (lanes, turns, records) ──reply──▶ connection ──▶ agent
//! ```
//!
//! What a request is answered with is decided in plain functions (`lane`, `reply`, `wire`); sockets are the
//! business of `http` and `server` only.

mod edits;
mod folder;
mod http;
mod lane;
mod part;
mod pointing;
mod reply;
mod request;
mod scenario;
mod score;
mod server;
mod stage;
mod tool_use;
mod trial;
mod wire;

pub use lane::Served;
pub use part::Part;
pub use pointing::Pointing;
pub use request::Protocol;
pub use scenario::{Act, Answer, Call, Ending, Fault, MainRequests, Scenario, Stop, Times, Turn, Usage};
pub use score::Score;
pub use server::{ModelServer, ServerError};
pub use stage::Recorded;
pub use trial::{Model, Trial, TrialError};

//! Rehearsals: agents at work without a model behind them. Nothing in a run depends on this crate.
//!
//! [`ModelServer`] is a scripted model that real agents talk to over loopback; [`Trial`] puts an agent to the test by
//! means of it; [`lay_out_demo`] makes the small project of `tillgreen demo`.

mod demo;
mod model;
mod trial;

pub use demo::{Demo, lay_out_demo};
pub use model::{
    Act, Answer, Call, ClientConfig, Ending, Fault, MainRequests, ModelServer, Protocol, Recorded, Scenario,
    Served, ServerError, Stop, Times, Turn, Usage,
};
pub use trial::{Model, Part, Score, Trial, TrialError};

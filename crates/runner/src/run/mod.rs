//! A run from its beginning to its end: what is found out before anything starts, the loop, the effects that the loop has
//! carried out, and how it winds up.

pub(crate) mod driver;
pub(crate) mod effects;
pub(crate) mod open;

mod cancel;
mod directives;
mod order;
mod receive;
mod wind_up;

pub(crate) use open::{make_private, runtime};

pub use cancel::{CancelError, Cancelled, cancel};
pub use driver::{Finished, Notice};
pub use open::{Beginning, Request, Then, run};
pub use order::{Carried, OrderPlace, carry_out, live_as_long_as, opening};

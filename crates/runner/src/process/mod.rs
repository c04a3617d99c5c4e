//! Runs a child program so that it can be bounded, stopped, and never leaves anything behind.
//!
//! A command is not started directly but under a *keeper*: this same executable, started again under
//! another name, which holds everything that the command starts. Where that is allowed, it does so by a PID
//! namespace, elsewhere as a subreaper. When the command ends, or the keeper is told to stop, or this
//! program dies, whatever is left is killed.
//!
//! ```text
//!  coordinator ──start──▶ tg-keeper (init of a PID namespace)                      ──▶ command ──▶ …
//!                         tg-keeper (subreaper, where namespaces are not allowed)  ──▶ command ──▶ …
//! ```
//!
//! What an exit status or an output means is left to the callers.

mod capture;
mod clock;
mod editor;
mod handle;
mod keeper;
mod keeper_child;
mod lines;
mod printable;
mod sandbox;
mod supervise;
mod sweep;

pub(crate) use clock::{LostTime, lost_time};
pub use editor::edit;
pub use handle::{Ended, Exit, Handle, Invocation, Kept, ProcessLimits, Program, start, start_listening};
pub use keeper::{keep_if_asked, use_keeper};
pub use lines::{Deaf, Heard, Listener, Reply};
pub(crate) use printable::printable;
pub(crate) use sandbox::{Sandbox, no_sandbox};
pub use sweep::{sweep, wait_until_gone};

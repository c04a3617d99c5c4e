//! Notices to people who walked away: a command, a notice on the desktop, a signed webhook. What is to be delivered is a
//! file until it is, so that a restart loses none; nothing that goes wrong here stops a run.

mod channel;
mod deliver;
mod notifier;

pub use channel::{Notification, Notify, Occasion, Webhook};
pub use deliver::deliver_now;
pub use notifier::Notifier;

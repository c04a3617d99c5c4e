//! The first keeper: puts itself in order and chooses how to keep the command.

use super::command::cannot_start;
use super::namespace::{self, NotAllowed};
use super::role::Order;
use super::subreaper;
use super::surroundings::{
    Wakeups, close_inherited_files, die_with_parent, end_unless_parent_is, leave_session, unblock_signals,
};

/// Keeps the command until it has ended and nothing of it is left.
pub(super) fn keep(order: &Order) -> ! {
    die_with_parent();
    end_unless_parent_is(order.parent);
    close_inherited_files();
    let mut wakeups = match Wakeups::install() {
        Ok(wakeups) => wakeups,
        Err(error) => cannot_start("signal handlers", &error),
    };
    unblock_signals();
    leave_session();
    match namespace::keep(order, &mut wakeups) {
        Ok(ending) => ending.imitate(),
        Err(NotAllowed) => subreaper::keep(order, &mut wakeups).imitate(),
    }
}

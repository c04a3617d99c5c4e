//! Tells whether what a fix was to repair is gone, though the command is still red.

use super::failing::{Failing, Item};

/// True if every item that failed before is gone.
///
/// An item is gone if it was seen to pass: its tool ran as many tests as before, and the item is not among those that
/// fail. What kept tests from running at all is gone once nothing but tests fails. Where tests do not run any more,
/// nothing is known of them; where items are not known at all, or not all of them, neither.
pub fn is_repaired(before: &Failing, after: &Failing) -> bool {
    let is_known = |failing: &Failing| !failing.is_empty() && failing.unlisted == 0;
    is_known(before) && is_known(after) && before.items.iter().all(|item| is_gone(item, before, after))
}

/// True if all that fails now is known and failed before as well.
pub(crate) fn was_failing(before: &Failing, now: &Failing) -> bool {
    let is_known = |failing: &Failing| !failing.is_empty() && failing.unlisted == 0;
    is_known(before)
        && is_known(now)
        && now.items.iter().all(|item| before.item(item.tool, &item.name).is_some())
}

fn is_gone(item: &Item, before: &Failing, after: &Failing) -> bool {
    if after.item(item.tool, &item.name).is_some() {
        return false;
    }
    if after.items.iter().all(|now| item.stage.precedes(now.stage)) {
        return true;
    }
    let is_hidden = after.items.iter().any(|now| now.stage.precedes(item.stage));
    let ran_before = before.ran.get(&item.tool).copied().unwrap_or(0);
    !is_hidden && after.ran.get(&item.tool).is_some_and(|ran| *ran >= ran_before)
}

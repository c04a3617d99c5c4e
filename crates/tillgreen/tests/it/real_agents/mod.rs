//! Real agents, started by the program as users start them, against a scripted model: pinned versions, made-up keys, a
//! fresh home and, where that is allowed, no network.

mod budgets;
mod failures;
mod interruptions;
mod planning;
mod reports;
mod sessions;
mod stage;
mod success;

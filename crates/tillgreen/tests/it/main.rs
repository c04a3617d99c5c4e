//! The real program in scratch repositories, with scripted agents.

mod agents;
mod bad_input;
mod batches;
mod bookkeeping;
mod commands;
mod escalation;
mod failing_items;
mod hand_edits;
mod hostile_agents;
mod interruption;
mod judging;
mod odd_changes;
mod plan_requests;
mod plans;
mod pull_request;
mod readme;
mod real_agents;
mod recovery;
mod rehearsal;
mod resuming;
mod retry_logs;
mod retrying;
mod show;
mod stats;
mod tidy;
mod verification;

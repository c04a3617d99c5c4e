//! resuming

//! bookkeeping

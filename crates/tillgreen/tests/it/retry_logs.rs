//! retry_logs

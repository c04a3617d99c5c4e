//! escalation

//! interruption

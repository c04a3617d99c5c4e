//! The protocols: how each declares tools, and how it spells an answer, whole or as a stream, and an error.

pub(super) mod chat;
pub(super) mod event;
pub(super) mod gemini;
pub(super) mod messages;
pub(super) mod responses;

//! As much of Markdown as plans need: lines, what hides them from being read as structure, and code spans.
//!
//! Plans are written by people and models who do not follow any specification, so the rules here are those
//! that read real files as their authors meant them. What a line means is left to the dialects.

pub(crate) mod code_span;
pub(crate) mod line;
pub(crate) mod region;

pub(crate) use code_span::{Piece, pieces};
pub(crate) use line::{Line, heading_level, indent_of};
pub(crate) use region::{LineKind, Regions, fence_open, regions};

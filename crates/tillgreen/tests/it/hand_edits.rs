//! hand_edits

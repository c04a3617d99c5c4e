//! Work that comes into the project from trees: joined with what is there, applied, committed or taken back.

pub(super) mod anchor;
pub(super) mod attributes;
pub(super) mod landed_files;
pub(super) mod landing;
pub(super) mod landing_commit;
pub(super) mod landing_index;
pub(super) mod landing_note;
pub(super) mod merge;
pub(super) mod obstacle;
pub(super) mod since;
pub(super) mod untracked;

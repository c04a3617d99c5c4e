//! Files as git writes them: objects, trees and the index, read and written without starting a git.

pub(super) mod bundle;
pub(super) mod cached_tree;
pub(super) mod checksum;
pub(super) mod cursor;
pub(super) mod index_edit;
pub(super) mod index_file;
pub(super) mod index_patch;
pub(super) mod index_tree;
pub(super) mod loose_object;
pub(super) mod made_objects;
pub(super) mod pack_file;
pub(super) mod raw_change;
pub(super) mod recent_objects;
pub(super) mod tree_diff;
pub(super) mod tree_edit;
pub(super) mod tree_object;
pub(super) mod working_file;

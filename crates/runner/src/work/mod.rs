//! The places in which attempts work, the project itself or a slot, and what an attempt changed there.

pub(crate) mod pack;
pub(crate) mod places;
pub(crate) mod prepare;
pub(crate) mod project_files;
pub(crate) mod shared_folder;
pub(crate) mod shared_repository;

pub(crate) mod kept;

//! One reader for each tool: what its lines look like, and a function that finds the failing items among them.

mod diagnostics;
mod go;
mod java;
mod javascript;
mod node_test;
mod php;
mod python;
mod read;
mod ruby;
mod rust;
mod wrapper;

pub(super) use read::read;

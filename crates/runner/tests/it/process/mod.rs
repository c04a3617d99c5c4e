//! Real processes under real keepers, in both ways of keeping them.

mod bench;
mod coordinator;
mod endings;
mod leftovers;
mod limits;
mod output;
mod starting;
mod sweeping;
mod without_namespaces;

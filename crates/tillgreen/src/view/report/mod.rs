//! A run for whoever reviews its work: the facts, and one page with nothing outside of it.

mod document;
mod page;

pub(crate) use document::{Report, Source};
pub(crate) use page::page;

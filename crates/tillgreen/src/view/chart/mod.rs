//! A run as a picture: one file with nothing outside of it, for light and dark, that any browser shows.

mod axis;
mod document;
mod failures;
mod file;
mod header;
mod legend;
mod markup;
mod timeline;
mod tone;
mod trend;

#[cfg(test)]
mod tests;

pub(crate) use document::{PAGE_STYLE, STYLE, figures, render};
pub(crate) use file::ChartFile;
pub(in crate::view) use markup::escape;

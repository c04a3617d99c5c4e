//! Results for programs: one JSON value a line.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a value on a line of its own.
pub(crate) fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value).map_err(io::Error::from)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

/// Writes one document, indented, for results that are not a stream.
pub(crate) fn document(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value).map_err(io::Error::from)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

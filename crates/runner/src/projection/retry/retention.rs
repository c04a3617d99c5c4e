//! How long the logs are kept: by entry, at the start of a run.

use std::fs;
use std::io;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::atomic;

const TEXT_DAYS: i64 = 7;
const OBJECT_DAYS: i64 = 30;

/// Drops entries that are too old. A line whose time cannot be read is kept.
pub(super) fn prune(text: &Path, objects: &Path, now: Timestamp) -> io::Result<()> {
    prune_file(text, now, TEXT_DAYS, time_of_line)?;
    prune_file(objects, now, OBJECT_DAYS, time_of_object)
}

fn prune_file(path: &Path, now: Timestamp, days: i64, time: fn(&str) -> Option<Timestamp>) -> io::Result<()> {
    let known = match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let oldest = now - SignedDuration::from_hours(24 * days);
    let is_kept = |line: &&str| time(line).is_none_or(|at| at >= oldest);
    let kept: String = known.split_inclusive('\n').filter(is_kept).collect();
    if kept.len() == known.len() { Ok(()) } else { atomic::replace(path, &kept) }
}

fn time_of_line(line: &str) -> Option<Timestamp> {
    line.strip_prefix('[')?.split(']').next()?.parse().ok()
}

fn time_of_object(line: &str) -> Option<Timestamp> {
    let value: Value = serde_json::from_str(line).ok()?;
    value.get("timestamp")?.as_str()?.parse().ok()
}

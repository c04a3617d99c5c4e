//! What is known of the last import of a plan, by which it is told who changed a task since. Without it both may have.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use plan::import::{Known, Listing};
use plan::{Plan, TaskId};
use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::plan_file::digest;

/// A task, as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    digest: u32,
    done: bool,
}

fn path(home: &Path) -> PathBuf {
    home.join("imported.json")
}

/// Reads it; a file that is missing or makes no sense is as good as none.
pub(super) fn load(home: &Path) -> BTreeMap<String, Known> {
    let bytes = atomic::read(&path(home)).unwrap_or_default();
    let kept: BTreeMap<String, Kept> = serde_json::from_slice(&bytes).unwrap_or_default();
    kept.into_iter().map(|(id, kept)| (id, Known { digest: kept.digest, is_done: kept.done })).collect()
}

/// Keeps what a source listed, as a plan was made of it, beside what it listed before.
pub(super) fn keep(
    home: &Path,
    mut known: BTreeMap<String, Known>,
    (made, listing): (&Plan, &Listing),
) -> io::Result<()> {
    for item in &listing.items {
        if let Some(task) = made.task(&TaskId::new(&item.id)) {
            known.insert(item.id.clone(), Known { digest: digest(made, task), is_done: item.is_done });
        }
    }
    write(home, known)
}

/// Notes that the source was told of tasks that are done: that it says so from now on is no news.
pub(super) fn note_done<'i>(home: &Path, ids: impl IntoIterator<Item = &'i String>) -> io::Result<()> {
    let mut known = load(home);
    let mut is_news = false;
    for id in ids {
        if let Some(known) = known.get_mut(id) {
            is_news |= !std::mem::replace(&mut known.is_done, true);
        }
    }
    if is_news { write(home, known) } else { Ok(()) }
}

fn write(home: &Path, known: BTreeMap<String, Known>) -> io::Result<()> {
    let kept: BTreeMap<String, Kept> = known
        .into_iter()
        .map(|(id, known)| (id, Kept { digest: known.digest, done: known.is_done }))
        .collect();
    atomic::replace(&path(home), format!("{}\n", serde_json::to_string(&kept)?))
}

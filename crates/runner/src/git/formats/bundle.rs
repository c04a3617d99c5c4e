//! Objects that are stored together: they are collected while they are put together, and written all at once. Where many
//! come in at the same moment, making a file for each takes longer than all else that is done for them.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::loose_object::{self, Kind, OBJECTS, name};
use super::pack_file::{Objects, Pack};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// Fewer are written one by one: a pack is two files, and what git has to look through for everything from then on.
const PACKED_MIN: usize = 24;

/// What was collected so far, by all who share this.
#[derive(Debug, Default, Clone)]
pub(in crate::git) struct Bundle {
    objects: Arc<Mutex<Objects>>,
}

impl Bundle {
    fn objects(&self) -> MutexGuard<'_, Objects> {
        // Whoever panicked left nothing half done: only whole values are put in.
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Collects an object whose name has so many bytes.
    pub(in crate::git) fn put(&self, kind: Kind, content: &[u8], width: usize) -> Option<Oid> {
        let oid = name(kind, content, width)?;
        self.objects().insert(oid.clone(), (kind, content.to_vec()));
        Some(oid)
    }
}

impl Git {
    /// The same repository, in which objects are only collected until they are all written. Git does not find them before
    /// that; trees that were stored are remembered, and found.
    pub(in crate::git) fn collecting(&self) -> Git {
        self.with_bundle(Some(Bundle::default()))
    }

    /// Writes all that was collected. None: not all of it could be.
    pub(in crate::git) fn write_collected(&self) -> Option<()> {
        let objects = self.bundle().map(|bundle| std::mem::take(&mut *bundle.objects()))?;
        let pack = if objects.len() >= PACKED_MIN { self.write_pack(&objects) } else { None };
        for (oid, (kind, content)) in &objects {
            if pack.is_none() {
                self.write_object(*kind, content, oid)?;
            }
            self.recent_objects().put(*kind, oid, content, pack.as_ref());
        }
        Some(())
    }

    /// Writes a pack, and tells where. The index comes last: without it there is no pack to git.
    fn write_pack(&self, objects: &Objects) -> Option<Arc<Path>> {
        let pack = Pack::of(objects)?;
        let folder = self.common_dir().join(OBJECTS).join("pack");
        let file = |ending: &str| folder.join(format!("pack-{}.{ending}", pack.name));
        let unfinished = |content: &[u8]| loose_object::write_lasting(&folder, content);
        let (content, index) = (unfinished(&pack.content).ok()?, unfinished(&pack.index).ok()?);
        let done = fs::rename(&content, file("pack")).and_then(|()| fs::rename(&index, file("idx")));
        if done.is_err() {
            // Whatever is there of them is of no use.
            [content, index, file("pack")].iter().for_each(|file| drop(fs::remove_file(file)));
        }
        done.ok().map(|()| file("pack").into())
    }
}

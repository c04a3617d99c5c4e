//! Objects that were stored not long ago, with what is in them. Whoever tidies a repository up and leaves out nothing that
//! is new (`git gc --prune=now`, `git prune`) removes what nobody refers to yet, and what nobody referred to when they
//! began to look, also if it has become part of the history since. What is gone is written again, as long as it is known.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::loose_object::Kind;
use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// How much is remembered. What is larger by itself is in some working tree as well.
const BYTES_MAX: usize = 8 * 1024 * 1024;
pub(super) const OBJECT_BYTES_MAX: usize = 256 * 1024;

/// How far back is looked each time that something new is referred to, and at how many. All else is looked at in the end.
const LATELY: Duration = Duration::from_secs(5);
const LATEST_MAX: usize = 128;

/// How long whoever tidies up is given at the end.
const LAST_WAITS: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(100), Duration::from_millis(150)];

/// The objects that a program has stored, the latest last.
#[derive(Debug, Default)]
pub(in crate::git) struct RecentObjects {
    known: Mutex<Known>,
    /// Whether any had to be written again: somebody is tidying up.
    were_missed: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    objects: VecDeque<Object>,
    bytes: usize,
}

#[derive(Debug)]
struct Object {
    oid: Oid,
    kind: Kind,
    content: Vec<u8>,
    /// The pack that it was stored in with others; none if it is a file of its own.
    pack: Option<Arc<Path>>,
    since: Instant,
}

impl Object {
    /// Whether the pack that it was stored in is still there.
    fn has_pack(&self) -> bool {
        self.pack.as_ref().is_some_and(|pack| pack.exists())
    }
}

impl RecentObjects {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn knows(&self, oid: &Oid) -> bool {
        self.known().objects.iter().any(|object| object.oid == *oid)
    }

    /// Somebody is tidying up.
    pub(in crate::git) fn note_missed(&self) {
        self.were_missed.store(true, Ordering::Relaxed);
    }

    pub(in crate::git) fn put(&self, kind: Kind, oid: &Oid, content: &[u8], pack: Option<&Arc<Path>>) {
        if content.len() > OBJECT_BYTES_MAX {
            return;
        }
        let (oid, content, pack) = (oid.clone(), content.to_vec(), pack.cloned());
        let object = Object { oid, kind, content, pack, since: Instant::now() };
        let mut known = self.known();
        known.bytes += object.content.len();
        known.objects.push_back(object);
        while known.bytes > BYTES_MAX
            && let Some(oldest) = known.objects.pop_front()
        {
            known.bytes -= oldest.content.len();
        }
    }
}

impl Git {
    /// Right after something is referred to: whatever was stored for it is there.
    pub(in crate::git) fn hold_on(&self) {
        let known = self.recent_objects().known();
        let latest = known.objects.iter().rev().take(LATEST_MAX);
        for object in latest.take_while(|object| object.since.elapsed() < LATELY) {
            self.write_again(object);
        }
    }

    /// The same for all that is known. What git has packed since is left to it.
    pub fn hold_on_to_all(&self) {
        let known = self.recent_objects().known();
        // Where git cannot tell, whoever needs them says so.
        let doubtful = known.objects.iter().filter(|object| !object.has_pack());
        let gone = self.gone(doubtful.map(|object| &object.oid)).unwrap_or_default();
        known
            .objects
            .iter()
            .filter(|object| gone.contains(&object.oid))
            .for_each(|object| self.write_again(object));
    }

    /// The same when a program ends, after which nobody can write them again. Whoever began to tidy up before the last of
    /// them was referred to may still be about to remove it, and is given a moment where others were missed before.
    pub fn hold_on_to_the_end(&self) {
        self.hold_on_to_all();
        for wait in LAST_WAITS {
            if self.is_tidied_up() {
                thread::sleep(wait);
                self.hold_on_to_all();
            }
        }
    }

    /// Whether somebody has removed objects since the program began.
    pub(in crate::git) fn is_tidied_up(&self) -> bool {
        self.recent_objects().were_missed.load(Ordering::Relaxed)
    }

    fn write_again(&self, object: &Object) {
        if !object.has_pack() && !self.is_loose(&object.oid) && self.habit().stores_plainly {
            // Should that fail, whoever needs it says so.
            self.recent_objects().note_missed();
            let _ = self.write_object(object.kind, &object.content, &object.oid);
        }
    }

    /// Which of these objects are nowhere.
    pub(in crate::git) fn gone<'a>(&self, oids: impl Iterator<Item = &'a Oid>) -> Result<Vec<Oid>, GitError> {
        let names: Vec<&str> = oids.filter(|oid| !self.is_loose(oid)).map(Oid::as_str).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let stdin = format!("{}\n", names.join("\n")).into_bytes();
        let call = process::Call { stdin, ..self.call(&["cat-file", "--batch-check"]) };
        let told = String::from_utf8_lossy(&process::run(call)?.success()?).into_owned();
        Ok(told.lines().filter_map(|line| line.strip_suffix(" missing")).filter_map(Oid::parse).collect())
    }
}

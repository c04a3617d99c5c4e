//! What the files of a linked working tree looked like when it was made. Git reads a file again that was written in the
//! second in which the index was, and in a tree that was just made that is every file. A file that is still the very one
//! that git wrote, to the nanosecond, is left unread; all others are read, whatever the index says of them.
//!
//! It is kept in memory, where no agent gets at it, as keyed sums of what the index told before any agent was there. So
//! nobody hides a change by an index that tells of a file as it is by now, nor by setting times: whoever writes to a file
//! changes its change time, which only the kernel sets. Who sets the clock back to the nanosecond, or on a file system
//! in memory changes a file through a mapping, which leaves no trace there, is not noticed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::git::formats::index_file::{IndexEntry, IndexFile, Moment};
use crate::git::formats::index_patch::has_stat;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// Who writes to a file within this time after somebody else did may leave it with the same times: the kernel's clock for
/// files ticks a hundred times a second or faster.
const TICK: Duration = Duration::from_millis(20);

/// How many threads look at the files of a tree, and how many files are worth one.
const THREADS_MAX: usize = 8;
const SHARE_MIN: usize = 1000;

/// The files of a tree as they were when it was made.
#[derive(Debug)]
pub(in crate::git) struct Pristine {
    /// Nobody else can tell which sum something has.
    keys: RandomState,
    /// Sums of all that the index told of a file, in their order.
    files: Vec<u64>,
    /// The sum of which files the index told of, whatever they looked like.
    names: Option<u64>,
    /// The first second in which none of the files was written any more.
    after: SystemTime,
}

impl Pristine {
    /// The files of an index that was written at a moment. One that was written shortly before could have been written to
    /// again since without looking any different: it is not among them.
    pub(in crate::git) fn of(index: &IndexFile<'_>, written: Moment) -> Pristine {
        let times = || index.entries.iter().filter_map(IndexEntry::times);
        // The clock of the files may be another one than that of the index.
        let newest = times().map(|[changed, _]| changed).max();
        let end = newest.map_or(written, |newest| newest.min(written));
        let keys = RandomState::new();
        let is_settled = |entry: &&IndexEntry<'_>| {
            !entry.is_gitlink()
                && entry.times().is_some_and(|times| times.iter().all(|time| time.is_well_before(end)))
        };
        let settled = index.entries.iter().filter(is_settled);
        let mut files: Vec<u64> = settled.map(|entry| sum(&keys, entry)).collect();
        files.sort_unstable();
        let after = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(end.seconds) + 1);
        let names = Some(sum_of_names(&keys, index));
        Pristine { keys, files, names, after }
    }

    /// A tree of which no file is known to be as it was.
    pub(in crate::git) fn nothing() -> Pristine {
        Pristine { keys: RandomState::new(), files: Vec::new(), names: None, after: SystemTime::UNIX_EPOCH }
    }

    /// Whether an index tells of the very files that were there when the tree was made. What they look like may be told
    /// anew: whoever asks git how things stand has it look at them again.
    pub(in crate::git) fn has_names(&self, index: &IndexFile<'_>) -> bool {
        self.names == Some(sum_of_names(&self.keys, index))
    }

    /// A time at which an index knows all files that are still the same: git does not look into any of them.
    pub(in crate::git) fn after(&self) -> SystemTime {
        self.after
    }

    /// Whether a file below a folder is the same as when the tree was made, and so is what an index tells of it. The
    /// buffer is for its path.
    pub(in crate::git) fn has_untouched(
        &self,
        tree: &[u8],
        entry: &IndexEntry<'_>,
        buffer: &mut Vec<u8>,
    ) -> bool {
        // Names that nobody has vouched for lead anywhere.
        if self.files.binary_search(&sum(&self.keys, entry)).is_err() {
            return false;
        }
        buffer.clear();
        buffer.extend_from_slice(tree);
        buffer.push(b'/');
        buffer.extend_from_slice(&entry.name);
        let looks = fs::symlink_metadata(OsStr::from_bytes(buffer));
        looks.is_ok_and(|looks| has_stat(&looks, entry.stat))
    }
}

/// Where the entries begin of files that git has to read: all but those that nobody touched. Submodules are not files.
pub(in crate::git) fn to_read(pristine: Option<&Pristine>, index: &IndexFile<'_>, tree: &Path) -> Vec<usize> {
    let entries = index.entries.as_slice();
    if pristine.is_none() || entries.len() <= SHARE_MIN {
        return to_read_of(pristine, entries, tree);
    }
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let mut shares = entries.chunks(entries.len().div_ceil(threads).max(SHARE_MIN));
    let own = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> =
            shares.map(|entries| scope.spawn(move || to_read_of(pristine, entries, tree))).collect();
        let mut places = to_read_of(pristine, own, tree);
        for other in others {
            places.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        places
    })
}

fn to_read_of(pristine: Option<&Pristine>, entries: &[IndexEntry<'_>], tree: &Path) -> Vec<usize> {
    let (tree, mut buffer) = (tree.as_os_str().as_bytes(), Vec::new());
    let files = entries.iter().filter(|entry| !entry.is_gitlink());
    let mut is_untouched = |entry: &IndexEntry<'_>| {
        pristine.is_some_and(|pristine| pristine.has_untouched(tree, entry, &mut buffer))
    };
    files.filter(|entry| !is_untouched(entry)).map(|entry| entry.place).collect()
}

/// The sum of all names with the modes and contents that they stand for.
fn sum_of_names(keys: &RandomState, index: &IndexFile<'_>) -> u64 {
    let mut hasher = keys.build_hasher();
    for entry in &index.entries {
        hasher.write_u32(entry.mode);
        hasher.write(entry.object);
        // No name has a NUL in it.
        hasher.write(&entry.name);
        hasher.write_u8(0);
    }
    hasher.finish()
}

/// The sum of all that an index tells of a file.
fn sum(keys: &RandomState, entry: &IndexEntry<'_>) -> u64 {
    let mut hasher = keys.build_hasher();
    for part in [entry.stat, entry.object, &entry.name] {
        hasher.write(part);
    }
    hasher.finish()
}

impl Moment {
    /// Whether a file of this time is told from one that was written after the other. Without a fraction of a second it
    /// was not written down exactly.
    fn is_well_before(self, other: Moment) -> bool {
        let since_epoch = |moment: Moment| {
            Duration::from_secs(u64::from(moment.seconds)) + Duration::from_nanos(u64::from(moment.nanos))
        };
        self.nanos != 0 && since_epoch(self) + TICK < since_epoch(other)
    }

    /// When a file was last written to. None: not in a time that an index can have.
    fn modified(metadata: &Metadata) -> Option<Moment> {
        let (seconds, nanos) = (metadata.mtime(), metadata.mtime_nsec());
        Some(Moment { seconds: u32::try_from(seconds).ok()?, nanos: u32::try_from(nanos).ok()? })
    }
}

/// What is known of trees that were made, by their paths. A tree that an earlier program made is not among them: all its
/// files are read. So they are where a path leads to another tree by now, whose files are not the same ones.
#[derive(Debug, Default)]
pub(in crate::git) struct PristineTrees {
    known: Mutex<BTreeMap<PathBuf, Arc<Pristine>>>,
}

impl PristineTrees {
    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Pristine>>> {
        // Whoever panicked left nothing half done: only whole values are put in and taken out.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Git {
    /// Notes what a tree looks like that was just made and that nobody works in yet.
    pub(in crate::git) fn note_files(&self, tree: &Path, base: &Oid) {
        let pristine = self.state_of(tree).ok().and_then(|state| {
            let index = state.join("index");
            let written = Moment::modified(&fs::metadata(&index).ok()?)?;
            let content = fs::read(&index).ok()?;
            Some(Pristine::of(&IndexFile::parse(&content, base.width())?, written))
        });
        match pristine {
            Some(pristine) => self.pristine_trees().known().insert(tree.to_owned(), Arc::new(pristine)),
            None => self.pristine_trees().known().remove(tree),
        };
    }

    /// What a tree looked like when it was made, where that is known.
    pub(in crate::git) fn pristine(&self, tree: &Path) -> Option<Arc<Pristine>> {
        self.pristine_trees().known().get(tree).cloned()
    }

    /// A tree that is removed is not known any more.
    pub(in crate::git) fn forget_files(&self, tree: &Path) {
        self.pristine_trees().known().remove(tree);
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn times_are_told_apart_by_more_than_a_tick() {
        let check = |(seconds, millis): (u32, u32), expected| {
            let (time, end) =
                (Moment { seconds, nanos: millis * 1_000_000 }, Moment { seconds: 8, nanos: 15_000_000 });
            assert_eq!(time.is_well_before(end), expected, "{time:?}");
        };
        check((7, 994), true);
        check((7, 995), false);
        check((8, 14), false);
        check((8, 15), false);
        check((9, 1), false);
        check((1, 1), true);
        // A file system that counts in seconds, or an index that knows nothing of the file.
        check((7, 0), false);
        check((0, 0), false);
        check((u32::MAX, 999), false);
    }
}

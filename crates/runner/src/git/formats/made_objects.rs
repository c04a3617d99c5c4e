//! Objects that a git of ours has made. They are read right after that, from the files that git wrote them into, so that
//! they are known should somebody who tidies up remove them.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, SystemTime};

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::loose_object::Kind;
use super::recent_objects::OBJECT_BYTES_MAX;
use super::tree_object::TreeObject;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// What is older was made by somebody else. Hooks may run for long in the middle of a commit.
const MADE_WITHIN: Duration = Duration::from_secs(300);

/// How many are read at once.
const READ_MAX: usize = 1000;

/// What stands before the content of an object is no longer than this.
const HEADER_BYTES_MAX: usize = 64;

impl Git {
    /// Remembers a commit or a tree, with all in it that is as new.
    pub(in crate::git) fn remember_made(&self, object: &Oid) {
        let Some(since) = SystemTime::now().checked_sub(MADE_WITHIN) else { return };
        let (mut waiting, mut seen) = (vec![object.clone()], BTreeSet::new());
        while let Some(oid) = waiting.pop().filter(|_| seen.len() < READ_MAX) {
            if !seen.insert(oid.clone()) {
                continue;
            }
            let Some((kind, content)) = self.read_made(&oid, since) else { continue };
            waiting.extend(named_in((kind, &content), oid.width()));
            if !self.recent_objects().knows(&oid) {
                self.recent_objects().put(kind, &oid, &content, None);
            }
        }
    }

    /// An object that is a file of its own and was written since.
    fn read_made(&self, oid: &Oid, since: SystemTime) -> Option<(Kind, Vec<u8>)> {
        let (_, file) = self.place_of_object(oid)?;
        let metadata = fs::symlink_metadata(&file).ok()?;
        let is_fit = metadata.len() <= u64::try_from(OBJECT_BYTES_MAX).ok()?;
        (is_fit && metadata.modified().ok()? >= since).then_some(())?;
        let limit = OBJECT_BYTES_MAX + HEADER_BYTES_MAX;
        let mut content = decompress_to_vec_zlib_with_limit(&fs::read(file).ok()?, limit).ok()?;
        let end = content.iter().take(HEADER_BYTES_MAX).position(|byte| *byte == 0)?;
        let kind = Kind::told(content.get(..end)?)?;
        content.drain(..=end);
        Some((kind, content))
    }
}

/// What leads on from an object: the tree of a commit, and what is in a tree.
fn named_in((kind, content): (Kind, &[u8]), width: usize) -> Vec<Oid> {
    match kind {
        Kind::Blob => Vec::new(),
        Kind::Commit => {
            let first =
                content.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(b"tree "));
            let tree = first.and_then(|tree| std::str::from_utf8(tree).ok()).and_then(Oid::parse);
            tree.into_iter().collect()
        }
        Kind::Tree => {
            let tree = TreeObject::of(content.to_vec(), width);
            let items = tree.as_ref().and_then(TreeObject::items).unwrap_or_default();
            items.iter().filter_map(|item| Oid::parse(&item.object())).collect()
        }
    }
}

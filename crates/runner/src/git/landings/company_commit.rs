//! Committing work of several tasks that came in together: task by task, each with the commit of the plan's files that
//! follows it, as if it had come in one after another. All of these commits are stored before any of them counts; what is
//! checked out then moves over all of them in one step.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::landing::Landing;
use super::landing_index::LandingIndex;
use super::landing_note::LandingNote;
use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::scratch_index::NEXT;
use crate::git::commits::commit::{Commit, full_message};
use crate::git::commits::plain_commit::Plain;
use crate::git::customs::conversion::{attributes_on_the_way, is_plain};
use crate::git::error::GitError;
use crate::git::formats::index_edit::{Put, Puts, with_files};
use crate::git::formats::index_file::IndexFile;
use crate::git::formats::index_patch::write_as_old;
use crate::git::formats::loose_object::Kind;
use crate::git::formats::tree_edit::{Edit, EditedFolder, Edits};
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::stamps::Stamps;

/// The mode of files that are new, as an index has it and as a tree has it.
const ORDINARY: (u32, &str) = (0o100_644, "100644");

/// A commit of one task's work.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// The work.
    pub landing: Landing<'a>,
    /// The message.
    pub message: &'a str,
}

/// A commit of a few files that are still to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Following {
    /// Their paths, from the repository's top folder, with what they are to hold.
    pub files: Vec<(String, Vec<u8>)>,
    /// The message.
    pub message: String,
}

/// Whoever keeps the books while work is committed.
pub trait Books {
    /// The commit that follows that of a piece of work, by its place. None: it has to be done one by one.
    fn follow(&mut self, place: usize, work: &Oid) -> Option<Following>;

    /// Writes the files of all these commits, which are what is checked out now.
    fn write(&mut self);
}

/// A file that follows the work.
#[derive(Debug)]
struct Follower {
    /// What it is in the index; none if it is not there.
    before: Option<Oid>,
    /// What it is in the last commit.
    latest: Option<Oid>,
    content: Vec<u8>,
}

/// Commits that are stored and that nobody has checked out yet.
struct Chain {
    works: Vec<Oid>,
    last: Oid,
    tree: Oid,
    followers: BTreeMap<String, Follower>,
}

impl Git {
    /// Commits what came in, each piece with the commit of other files that follows it. None: nothing was
    /// changed, and it has to come in one by one.
    pub fn commit_together(
        &self,
        links: &[Link<'_>],
        stamps: &Stamps,
        books: &mut dyn Books,
    ) -> Result<Option<Vec<Oid>>, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(None) };
        let is_that = links.last().is_some_and(|link| link.landing.trailer.1 == note.trailer.1);
        self.refuse_if_in_progress()?;
        if !is_that || !self.commits_plainly() || self.is_tidying_due(links.len()) {
            return Ok(None);
        }
        let mut lock = IndexLock::take(self)?;
        if self.head()?.as_ref() != Some(&note.head) || !stamps.hold(self.root()) {
            return Ok(None);
        }
        let landing = LandingIndex::found(self).filter(|index| index.is_next(&note.tree, stamps));
        let Some((content, old)) = landing.and_then(|index| index.content()) else { return Ok(None) };
        let Some(index) = IndexFile::parse(&content, note.head.width()) else { return Ok(None) };
        let collecting = self.collecting();
        let Some(chain) = collecting.store_chain(&note, links, &index, books)? else { return Ok(None) };
        let folders = collecting.folders_after(&note, &chain);
        let Some(folders) = folders.filter(|_| collecting.write_collected().is_some()) else {
            return Ok(None);
        };
        let next = self.git_dir().join(NEXT);
        let put = |puts: &Puts<'_>| {
            let edited =
                if puts.is_empty() { content.clone() } else { with_files(&content, &index, puts, &folders)? };
            write_as_old(&edited, &old, &next).ok()
        };
        let following = chain
            .followers
            .keys()
            .map(|path| (path.clone(), self.content_on_disk(OsStr::new(path), note.head.width())));
        LandingNote { following: following.collect(), ..note.clone() }.add_to(self.git_dir())?;
        if put(&chain.puts(None)).is_none() || lock.put(&next).is_err() {
            return Ok(None);
        }
        match self.check_out_plainly(&note.head, chain.last.clone())? {
            Plain::Done(_) => {}
            // The index becomes what it was.
            Plain::Overtaken | Plain::LeftToGit => return Ok(None),
        }
        books.write();
        // Git would look into the files again; what they look like saves that.
        if !chain.followers.is_empty() && put(&chain.puts(Some(self.root()))).is_some() {
            let _ = fs::rename(&next, self.git_dir().join("index"));
        }
        lock.keep();
        links.iter().for_each(|_| self.count_commit());
        self.clear_landing()?;
        Ok(Some(chain.works))
    }

    /// After a kill: the files that follow what is committed and that nobody has written to since are what is checked out.
    pub(in crate::git) fn write_following(&self, note: &LandingNote) -> Result<(), GitError> {
        let Some(head) = self.head()?.filter(|_| !note.following.is_empty()) else { return Ok(()) };
        let width = head.width();
        let is_left = |path: &str| {
            note.following
                .get(path)
                .is_some_and(|before| self.content_on_disk(OsStr::new(path), width) == *before)
        };
        let changes = self.differences(&note.tree, &head)?.into_iter();
        let paths = changes.filter(|change| !change.new.is_absent()).map(|change| change.shown());
        self.restore(head.as_str(), &paths.filter(|path| is_left(path)).collect::<Vec<_>>())
    }

    /// Stores all commits, each on top of the one before.
    fn store_chain(
        &self,
        note: &LandingNote,
        links: &[Link<'_>],
        index: &IndexFile<'_>,
        books: &mut dyn Books,
    ) -> Result<Option<Chain>, GitError> {
        let (mut tree, mut last) = (note.head.clone(), note.head.clone());
        let (mut works, mut followers) = (Vec::new(), BTreeMap::new());
        for (place, Link { landing, message }) in links.iter().enumerate() {
            let request = Commit { trailer: Some(landing.trailer), ..Commit::new(&[], message) };
            let message = full_message(&request)?;
            let stored = self.merge_plainly(landing.base, &tree, landing.commit).and_then(|joined| {
                let work = self.store_commit((&last, &joined), &message)?;
                let following = books.follow(place, &work)?;
                Some((joined, work, following))
            });
            let Some((joined, work, following)) = stored else { return Ok(None) };
            works.push(work.clone());
            let Some(edited) = self.store_following(&joined, &following, index, &mut followers) else {
                return Ok(None);
            };
            (tree, last) = (joined, work);
            if let Some(edited) = edited {
                let message = full_message(&Commit::new(&[], &following.message))?;
                let Some(commit) = self.store_commit((&last, &edited), &message) else { return Ok(None) };
                (tree, last) = (edited, commit);
            }
        }
        Ok(Some(Chain { works, last, tree, followers }))
    }

    /// The tree that another one becomes with some files; none if it stays the same. The outer none: only git can tell.
    fn store_following(
        &self,
        tree: &Oid,
        following: &Following,
        index: &IndexFile<'_>,
        followers: &mut BTreeMap<String, Follower>,
    ) -> Option<Option<Oid>> {
        let mut edits = Vec::new();
        for (path, content) in &following.files {
            if !followers.contains_key(path) {
                let before = self.place_for(path, index)?;
                let follower = Follower { latest: before.clone(), before, content: Vec::new() };
                followers.insert(path.clone(), follower);
            }
            let follower = followers.get_mut(path)?;
            is_plain(content).then_some(())?;
            let after = self.store_object(Kind::Blob, content, tree.width())?;
            let before = follower.latest.replace(after.clone());
            follower.content.clone_from(content);
            if before.as_ref() != Some(&after) {
                edits.push((path.as_bytes(), Edit::content(ORDINARY.1, before, after)));
            }
        }
        if edits.is_empty() {
            return Some(None);
        }
        let edits: Edits<'_> = edits.iter().map(|(path, edit)| (*path, edit)).collect();
        self.edit_tree(tree, &edits)?.last().map(|whole| Some(whole.after.clone()))
    }

    /// What the index has at a path where an ordinary file is to be stored; the inner none if nothing is there.
    fn place_for(&self, path: &str, index: &IndexFile<'_>) -> Option<Option<Oid>> {
        let is_known = |name: Vec<u8>| {
            index.find(&name).is_none() || self.root().join(OsStr::from_bytes(&name)).exists()
        };
        let is_spared = attributes_on_the_way(Path::new(path)).all(is_known)
            && self.conversion().is_some_and(|conversion| conversion.spares(self.root(), Path::new(path)));
        is_spared.then_some(())?;
        if let Ok(metadata) = fs::symlink_metadata(self.root().join(path)) {
            let is_executable = metadata.permissions().mode() & 0o100 != 0;
            (self.is_ordinary_file(OsStr::new(path)) && !is_executable).then_some(())?;
        }
        match index.find(path.as_bytes()) {
            Some(entry) => {
                (entry.is_ordinary() && entry.mode == ORDINARY.0).then_some(())?;
                Oid::from_bytes(entry.object).map(Some)
            }
            None => index.has_room_for(path.as_bytes()).then_some(None),
        }
    }

    /// The folders that become others by the files that follow, from the joined tree on. None: they do not come to what
    /// is committed in the end.
    fn folders_after(&self, note: &LandingNote, chain: &Chain) -> Option<Vec<EditedFolder>> {
        let edits: Vec<(&[u8], Edit)> = chain
            .followers
            .iter()
            .filter(|(_, follower)| follower.before != follower.latest)
            .filter_map(|(path, follower)| {
                let (before, after) = (follower.before.clone(), follower.latest.clone()?);
                Some((path.as_bytes(), Edit::content(ORDINARY.1, before, after)))
            })
            .collect();
        if edits.is_empty() {
            return (chain.tree == note.tree).then(Vec::new);
        }
        let edits: Edits<'_> = edits.iter().map(|(path, edit)| (*path, edit)).collect();
        let folders = self.edit_tree(&note.tree, &edits)?;
        folders.last().is_some_and(|whole| whole.after == chain.tree).then_some(folders)
    }
}

impl Chain {
    /// What an index says of the files that follow; with what they look like, where they are what was committed.
    fn puts(&self, root: Option<&Path>) -> Puts<'_> {
        let mut puts = Puts::new();
        for (path, follower) in &self.followers {
            let Some(object) = follower.latest.as_ref() else { continue };
            let file = root.map(|root| root.join(path));
            let seen = file.and_then(|file| {
                let metadata = fs::symlink_metadata(&file).ok()?;
                fs::read(&file).is_ok_and(|content| content == follower.content).then_some(metadata)
            });
            let put = match &seen {
                Some(metadata) => Put::new(ORDINARY.0, metadata, object),
                None => Put::unseen(ORDINARY.0, object),
            };
            puts.extend(put.map(|put| (path.as_bytes(), put)));
        }
        puts
    }
}

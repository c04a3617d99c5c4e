//! Work of several tasks that is ready at the same moment and comes in together: noted as one and put into the project piece
//! by piece, so that each can be verified on top of those before it. Once all of it is, it is committed; whoever is killed
//! has either all of it or none.
//!
//! Only plain work comes in like this: files that git would do no more with than write them down, none of them changed by
//! two tasks. Everything else comes in one by one.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use super::landing::Landing;
use super::landing_note::LandingNote;
use super::plain_files::PlainPut;
use crate::git::calls::child_note::Noted;
use crate::git::error::GitError;
use crate::git::formats::raw_change::RawChange;
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::stamps::Stamps;

/// Work of several tasks that is on its way: what it comes to is known and noted.
#[derive(Debug)]
pub struct Arrival {
    note: LandingNote,
    changes: Vec<RawChange>,
    pieces: Vec<Piece>,
    /// How many of them are in the project, or may be in part.
    count: usize,
    put: PlainPut,
}

/// Why work of several tasks does not come in together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Apart {
    /// Somebody's changes at these paths are in the way.
    InTheWay(Vec<String>),
    /// Somebody has deleted these files.
    Deleted(Vec<String>),
    /// The work at this place does not fit to that before it by the names of files alone.
    Mixed(usize),
    /// Git does more with the files than write them down.
    NotPlain,
}

/// The work of one of the tasks.
#[derive(Debug)]
struct Piece {
    /// What the project is with it.
    tree: Oid,
    changes: Vec<RawChange>,
}

impl Arrival {
    /// The paths that each of the tasks changes.
    pub fn paths(&self) -> Vec<Vec<String>> {
        let paths = |piece: &Piece| piece.changes.iter().map(RawChange::shown).collect();
        self.pieces.iter().map(paths).collect()
    }

    /// What was checked out when it was put together.
    pub fn head(&self) -> &Oid {
        &self.note.head
    }

    /// Whatever is where the work of one of the tasks is to be put.
    pub fn obstacle(&self, git: &Git, place: usize) -> Option<String> {
        let piece = self.pieces.get(place)?;
        git.without_room(&self.put, |path| piece.changes.iter().any(|change| change.path == path))
    }

    /// Puts the work of one of the tasks into the project. False: somebody has put something in its place, and nothing was
    /// changed.
    pub fn put(&mut self, git: &Git, place: usize) -> Result<bool, GitError> {
        let Some(piece) = self.pieces.get(place) else { return Ok(false) };
        let is_wanted = |path: &OsStr| piece.changes.iter().any(|change| change.path == path);
        if git.without_room(&self.put, is_wanted).is_some() {
            return Ok(false);
        }
        self.count = place + 1;
        git.put_files(&mut self.put, is_wanted).map(|()| true)
    }

    /// Once that of all is there: what it looked like as it came.
    pub fn complete(&self, git: &Git) -> Result<Stamps, GitError> {
        Ok(git.put_index(&self.put)?.stamps(&self.changes, &self.note.tree))
    }

    /// Before the work is taken back: only what is in the project goes out of it. What somebody has put in the place of the
    /// rest is theirs.
    pub fn give_up(&self, git: &Git) -> Result<(), GitError> {
        let last = self.count.checked_sub(1).and_then(|last| self.pieces.get(last));
        let tree = last.map_or(&self.note.head, |piece| &piece.tree).clone();
        let is_noted = LandingNote::read(git.git_dir())?.is_some_and(|note| note == self.note);
        if is_noted { LandingNote { tree, ..self.note.clone() }.add_to(git.git_dir()) } else { Ok(()) }
    }
}

impl Git {
    /// Joins the work of several tasks with what is checked out, one after another, and notes what is about to come in,
    /// unless it has to come in one by one.
    pub fn expect_together(&self, landings: &[Landing<'_>]) -> Result<Result<Arrival, Apart>, GitError> {
        self.settle_landing()?;
        self.refuse_if_in_progress()?;
        self.expect_index()?;
        let (true, Some(head), Some(last)) = (self.puts_plainly(), self.head()?, landings.last()) else {
            return Ok(Err(Apart::NotPlain));
        };
        let collecting = self.collecting();
        let pieces = match collecting.join_all(&head, landings)? {
            Ok(pieces) => pieces,
            Err(place) => return Ok(Err(Apart::Mixed(place))),
        };
        if collecting.write_collected().is_none() {
            return Ok(Err(Apart::NotPlain));
        }
        let tree = pieces.last().map_or(&head, |piece| &piece.tree).clone();
        let changes = self.differences(&head, &tree)?;
        let (in_the_way, deleted) = (self.in_the_way(&changes)?, self.missing(&changes)?);
        if !in_the_way.is_empty() {
            return Ok(Err(Apart::InTheWay(in_the_way)));
        }
        if !deleted.is_empty() {
            return Ok(Err(Apart::Deleted(deleted)));
        }
        let trailer = (last.trailer.0.to_owned(), last.trailer.1.to_owned());
        let owner = Noted::of(std::process::id(), self.git_dir());
        let paths = LandingNote::paths_of(&changes);
        let note = LandingNote { trailer, head, tree, paths, owner, following: BTreeMap::new() };
        let Some(put) = self.plan_plainly(&note, &changes) else { return Ok(Err(Apart::NotPlain)) };
        self.note_landing(&note)?;
        Ok(Ok(Arrival { note, changes, pieces, count: 0, put }))
    }

    /// What a commit becomes with each piece of the work in turn, or which of them is not plain.
    fn join_all(&self, head: &Oid, landings: &[Landing<'_>]) -> Result<Result<Vec<Piece>, usize>, GitError> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (place, landing) in landings.iter().enumerate() {
            if !self.attributes_since(landing.base, head)?.is_empty() {
                return Ok(Err(place));
            }
            let before = pieces.last().map_or(head, |piece| &piece.tree);
            let Some(tree) = self.merge_plainly(landing.base, before, landing.commit) else {
                return Ok(Err(place));
            };
            let changes = self.differences(before, &tree)?;
            if changes.is_empty() || changes.iter().any(RawChange::is_attributes) {
                return Ok(Err(place));
            }
            pieces.push(Piece { tree, changes });
        }
        Ok(Ok(pieces))
    }
}

//! What is done to work trees beside the loop, in threads: making one ready, looking at what an attempt left in it,
//! bringing its work into the project. Each of these may take as long as git takes; none decides anything.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Cause, CheckFailure, Failing, FileState, Landing};

use crate::atomic;
use crate::git::{
    self, Applied, Conflict, Furnishing, Git, GitError, Inside, Keep, Novelty, Oid, Stamps, Touched, TreeWork,
};
use crate::in_the_way::{refused, told_of_revived};
use crate::lost_work::Watch;
use crate::mask::mask;
use crate::recording::TRAILER;
use crate::remnant::{Aside, Remnants};
use crate::stranded::Unready;
use crate::survey::Survey;
use crate::traces::{self, Traces, listed};
use crate::tree_notes::{
    base_file, left_file, original_file, packed_file, plan_file, remnants_file, seen_file,
};

/// A work tree of one task, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub git: Git,
    /// Its top folder.
    pub tree: PathBuf,
    /// The name under which its work is kept.
    pub keep: Keep,
    /// Paths whose changes are dropped: the plan and what belongs to it.
    pub dropped: Vec<String>,
    /// What the project needs in it besides what git knows.
    pub furnishing: Furnishing,
    /// Whether attempts at the task have failed, which may have been told where their work is.
    pub has_failed: bool,
}

/// A site that is ready, and what was noticed on the way.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    pub notes: Vec<String>,
}

/// Work that is to come into the project.
#[derive(Debug)]
pub(crate) struct LandingRequest {
    pub message: String,
    /// The value by which its commit is found again.
    pub trailer: String,
    /// The commit that it was packed into, if that was just now.
    pub packed: Option<Oid>,
    pub watch: Watch,
    pub traces: Traces,
}

/// How it came in, what it looks like there, and what was noticed on the way.
#[derive(Debug)]
pub(crate) struct Brought {
    pub landing: Landing,
    pub stamps: Option<Stamps>,
    pub notes: Vec<String>,
}

impl Site {
    /// The commit that the tree was made at, if there is a tree.
    pub(crate) fn base(&self) -> Option<Oid> {
        let text = fs::read_to_string(base_file(&self.tree)).ok()?;
        Oid::parse(text.lines().next()?.trim()).filter(|_| self.tree.is_dir())
    }

    /// What was linked or copied into the tree when it was made.
    pub(crate) fn furnished(&self) -> Vec<String> {
        match fs::read_to_string(base_file(&self.tree)) {
            Ok(text) => text.lines().skip(1).map(str::to_owned).collect(),
            Err(_) => self.furnishing.paths(),
        }
    }

    pub(crate) fn work<'a>(&'a self, base: &'a Oid, furnished: &'a [String]) -> TreeWork<'a> {
        TreeWork { tree: &self.tree, base, dropped: &self.dropped, furnished }
    }

    /// Makes the tree anew at a commit. What an earlier attempt left, here or at the site of the task that this one
    /// repairs, is brought along as far as it fits.
    pub(crate) fn prepare(&self, head: &Oid, left: Option<&Site>) -> Result<Ready, Unready> {
        let mut notes = Vec::new();
        self.git.mend_submodules();
        let carried = self.carried(left, &mut notes)?;
        let inside = left.map(|left| left.remnants().submodules).unwrap_or_default();
        if left.is_none() {
            let unwanted = self.remnants().submodules;
            unwanted.iter().try_for_each(|inside| self.git.retain_inside(inside, &self.keep))?;
        }
        notes.extend(self.strand_unreadable()?);
        let aside = self.set_repositories_aside().map_err(GitError::io("move out of", &self.tree))?;
        self.forget_attempt();
        self.make_tree(head, &mut notes)?;
        if let Some((base, commit)) = carried {
            match self.git.carry_over(&self.tree, (&base, &commit), head)? {
                None => {}
                Some(conflict) => {
                    // It goes when the task is done that it was an attempt at.
                    let keep = left.map_or(&self.keep, |left| &left.keep);
                    self.git.keep_told(keep, &commit)?;
                    notes.push(format!(
                        "what the attempt before left does not fit to what came in since ({}): the next one starts \
                         without it; until the task is done it is kept as {commit}",
                        listed(&conflict.files)
                    ));
                }
            }
        }
        self.carry_inside(&inside, &mut notes)?;
        let is_wanted = left.is_some();
        let gone = aside.iter().filter(|aside| !(is_wanted && aside.put_back(&self.tree)));
        notes.extend(gone.map(Aside::told));
        self.forget_left();
        Ok(Ready { notes })
    }

    /// Makes the tree anew, with all that it needs.
    pub(crate) fn make_tree(&self, head: &Oid, notes: &mut Vec<String>) -> Result<(), GitError> {
        let note = base_file(&self.tree);
        // A tree without the note is one that was never finished, and nobody takes it for somebody's work.
        let _ = fs::remove_file(&note);
        self.git.mending(|| self.git.add_tree(&self.tree, head))?;
        let furnished: String = self.furnish(notes)?.iter().map(|path| format!("{path}\n")).collect();
        self.note_plan()?;
        atomic::replace(&note, &format!("{head}\n{furnished}")).map_err(GitError::io("write", &note))
    }

    /// What was left uncommitted in submodules is there again.
    fn carry_inside(&self, inside: &[Inside], notes: &mut Vec<String>) -> Result<(), GitError> {
        for inside in inside {
            if !self.git.carry_inside(&self.tree, inside)? {
                self.git.retain_inside(inside, &self.keep)?;
                notes.push(format!(
                    "what the attempt before left in the submodule {} does not fit: the next one starts without it; it \
                     is kept there as {}",
                    inside.path, inside.commit
                ));
            }
        }
        Ok(())
    }

    /// What is to be brought along, as the commit that it was made on and a commit of its own. That is noted before the
    /// old tree goes, so that a program which dies in between has not lost it.
    fn carried(&self, left: Option<&Site>, notes: &mut Vec<String>) -> Result<Option<(Oid, Oid)>, Unready> {
        let file = left_file(&self.tree);
        if let Ok(text) = fs::read_to_string(&file) {
            let mut commits = text.lines().map(Oid::parse);
            if let (Some(Some(base)), Some(Some(commit))) = (commits.next(), commits.next()) {
                return Ok(Some((base, commit)));
            }
        }
        let packed = left.map_or(Ok(None), |left| left.pack_leftovers(notes))?;
        let Some((base, commit)) = packed else { return Ok(None) };
        atomic::replace(&file, &format!("{base}\n{commit}\n")).map_err(GitError::io("write", &file))?;
        Ok(Some((base, commit)))
    }

    /// What was noted of an attempt goes with its tree; what could not come back stays noted until the next one is
    /// looked at.
    fn forget_attempt(&self) {
        for note in [original_file, packed_file, plan_file, seen_file].map(|note| note(&self.tree)) {
            // Not every attempt came so far.
            let _ = fs::remove_file(note);
        }
    }

    /// What cannot come back from the tree, as it was found when the agent had ended.
    pub(crate) fn remnants(&self) -> Remnants {
        Remnants::read(&remnants_file(&self.tree))
    }

    fn note_plan(&self) -> Result<(), GitError> {
        let note = plan_file(&self.tree);
        let lines =
            self.dropped.iter().map(|path| format!("{} {path}\n", fingerprint(&self.tree.join(path))));
        atomic::replace(&note, &lines.collect::<String>()).map_err(GitError::io("write", &note))
    }

    /// Files of the plan that are no longer what they were when the tree was made.
    fn changed_plan(&self) -> Vec<String> {
        let text = fs::read_to_string(plan_file(&self.tree)).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let changed = lines.filter(|(before, path)| fingerprint(&self.tree.join(path)) != *before);
        changed.map(|(_, path)| path.to_owned()).collect()
    }

    /// What an earlier attempt left is brought along no more.
    pub(crate) fn forget_left(&self) {
        // It is seldom there.
        let _ = fs::remove_file(left_file(&self.tree));
    }

    /// What an attempt left in the tree, as a commit. A tree that cannot be read is not brought along, and kept.
    fn pack_leftovers(&self, notes: &mut Vec<String>) -> Result<Option<(Oid, Oid)>, Unready> {
        let Some(base) = self.base() else {
            // Without a tree, what was packed of it is all there is.
            let (kept, base) = (self.git.kept(&self.keep)?, self.base_of_work()?);
            return Ok(base.zip(kept));
        };
        // What a verify command has left since is nobody's work. Only an attempt that was lost has not been packed.
        if let (Ok(packed), false) = (fs::read_to_string(packed_file(&self.tree)), self.is_edited(&base)) {
            return Ok(Oid::parse(packed.trim()).map(|commit| (base, commit)));
        }
        match self.pack_lost(&base) {
            Ok(commit) => Ok(commit.map(|commit| (base, commit))),
            Err(error) => {
                notes.extend(self.strand(error)?);
                Ok(None)
            }
        }
    }

    pub(crate) fn pack_lost(&self, base: &Oid) -> Result<Option<Oid>, GitError> {
        let furnished = self.furnished();
        let work = self.work(base, &furnished);
        let trailer = ("Tillgreen-Left", "1");
        let (touched, packed) = self.git.pack_touched(&work, "left by an attempt", trailer, &self.keep)?;
        self.note_remnants(base, touched.left_out)?;
        Ok(packed)
    }

    fn note_remnants(&self, base: &Oid, mut repositories: Vec<String>) -> Result<Remnants, GitError> {
        let (submodules, nested) = self.git.keep_inside(&self.tree, base, &self.keep)?;
        repositories.extend(nested);
        let (remnants, note) =
            (Remnants::of(&self.tree, repositories, submodules), remnants_file(&self.tree));
        remnants.write(&note).map_err(GitError::io("write", &note))?;
        Ok(remnants)
    }

    /// When the run ends and the tree stays: what is in it, so that it shows if a person goes on there.
    pub(crate) fn note_content(&self) {
        let note = seen_file(&self.tree);
        if let (Some(base), true) = (self.base(), packed_file(&self.tree).exists())
            && let Ok(content) = self.git.content_of(&self.work(&base, &self.furnished()))
        {
            // Without the note, what was packed counts.
            let _ = atomic::replace(&note, content.as_str());
        }
    }

    /// Whether somebody changed something in the tree after the run had ended.
    fn is_edited(&self, base: &Oid) -> bool {
        let Ok(seen) = fs::read_to_string(seen_file(&self.tree)) else { return false };
        let now = self.git.content_of(&self.work(base, &self.furnished()));
        // Where nobody can tell, something may be there that was not packed.
        now.map_or(true, |now| now.as_str() != seen.trim())
    }

    /// Brings in what git does not, and tells what that was.
    fn furnish(&self, notes: &mut Vec<String>) -> Result<Vec<String>, GitError> {
        let skipped = self.furnishing.put(self.git.root(), &self.tree)?;
        for path in &skipped {
            if fs::symlink_metadata(self.git.root().join(path)).is_err() {
                notes.push(Furnishing::missing(path));
            }
        }
        Ok(self.furnishing.paths().into_iter().filter(|path| !skipped.contains(path)).collect())
    }

    /// What an attempt changed. The work is packed here, before any verify command leaves its traces in the tree: those
    /// are nobody's work.
    pub(crate) fn survey(&self, words: (&str, &str)) -> Result<Survey, GitError> {
        self.git.mending(|| self.look_through(words))
    }

    fn look_through(&self, (message, trailer): (&str, &str)) -> Result<Survey, GitError> {
        let Some(base) = self.base() else { return Ok(Survey::default()) };
        let furnished = self.furnished();
        let work = self.work(&base, &furnished);
        // What an attempt before left in submodules is not this one's.
        if self.git.root().join(".gitmodules").exists() {
            self.git.drop_kept(&self.keep)?;
        }
        let (touched, packed) = self.git.pack_touched(&work, message, (TRAILER, trailer), &self.keep)?;
        let Touched { changes, mut dropped, left_out, taken_out } = touched;
        if packed.is_none() {
            self.git.drop_kept(&self.keep)?;
        }
        self.note_packed(packed.as_ref())?;
        dropped.extend(self.changed_plan());
        dropped.sort();
        dropped.dedup();
        let before = self.remnants().submodules;
        before.iter().try_for_each(|inside| self.git.release_inside(inside, &self.keep))?;
        let remnants = self.note_remnants(&base, left_out)?;
        let touched = changes.iter().map(|change| FileState {
            path: change.path.clone(),
            state: crate::tree::words(change.kind).to_owned(),
        });
        Ok(Survey { touched: touched.collect(), dropped, remnants, taken_out, packed })
    }

    /// Notes what the work was packed into.
    pub(crate) fn note_packed(&self, packed: Option<&Oid>) -> Result<(), GitError> {
        let note = packed_file(&self.tree);
        let told = packed.map(Oid::as_str).unwrap_or_default();
        atomic::replace(&note, told).map_err(GitError::io("write", &note))
    }

    /// Brings the work into the project, uncommitted, unless that lacks what came in before. What was packed just now is
    /// told; otherwise it is looked for.
    pub(crate) fn land(&self, request: &LandingRequest) -> Brought {
        let mut notes = Vec::new();
        let landed = match self.git.refuse_if_misdirected().and_then(|()| request.watch.obstacle(&self.git)) {
            Ok(Some(reason)) => Ok((Landing::Blocked { reason }, None)),
            Ok(None) => self.git.mending(|| self.try_land(request, &mut notes)),
            Err(error) => Err(error),
        };
        let (landing, stamps) =
            landed.unwrap_or_else(|error| (Landing::Blocked { reason: error.told() }, None));
        Brought { landing, stamps, notes }
    }

    fn try_land(
        &self,
        request: &LandingRequest,
        notes: &mut Vec<String>,
    ) -> Result<(Landing, Option<Stamps>), GitError> {
        let Some(base) = self.base_of_work()? else {
            let tree = self.tree.display();
            let reason =
                format!("{tree} is gone, and nothing of the work in it is kept: it has to be done again");
            return Ok((Landing::Blocked { reason }, None));
        };
        let novelty = if request.packed.is_some() { Novelty::New } else { Novelty::Unknown };
        let kept =
            match request.packed.clone().map_or_else(|| self.git.kept(&self.keep), |it| Ok(Some(it)))? {
                Some(commit) => Ok(Some(commit)),
                None => self.pack(&base, &request.message, (TRAILER, &request.trailer)),
            };
        let commit = match kept {
            Ok(Some(commit)) => commit,
            Ok(None) => return Ok((landed(Vec::new()), None)),
            Err(error) if error.is_of_surroundings() => return Err(error),
            Err(error) => {
                let error = format!("its work tree cannot be read: {error}");
                return Ok((Landing::Failed(red(error, String::new())), None));
            }
        };
        let landing =
            git::Landing { commit: &commit, base: &base, trailer: (TRAILER, &request.trailer), novelty };
        let applied = self.apply(&landing, &request.traces, notes)?;
        Ok(match self.git.keep_untracked(&self.tree, applied)? {
            Applied::Done { paths, stamps, revived } => {
                notes.extend(told_of_revived(&revived));
                (landed(paths), Some(stamps))
            }
            Applied::Already(_) | Applied::Nothing => (landed(Vec::new()), None),
            Applied::Conflict(conflict) => {
                self.git.keep_told(&self.keep, &commit)?;
                let since = self.git.told_since(&base).unwrap_or_default();
                (Landing::Failed(conflicting(&conflict, &commit, &since)), None)
            }
            Applied::Refused { paths } => (refused(&self.git, &paths), None),
        })
    }

    /// Applies it, once more if what was in the way could be moved.
    pub(crate) fn apply(
        &self,
        landing: &git::Landing<'_>,
        traces: &Traces,
        notes: &mut Vec<String>,
    ) -> Result<Applied, GitError> {
        // It may be half in the project already, with what somebody made of it.
        notes.extend(traces::told_of(self.git.root(), &self.git.settle_landing()?));
        let applied = self.git.apply_landing(landing)?;
        let Applied::Refused { paths } = &applied else { return Ok(applied) };
        let told = traces.make_room(&self.git, paths);
        let is_tried_again = !told.is_empty();
        notes.extend(told);
        if is_tried_again { self.git.apply_landing(landing) } else { Ok(applied) }
    }

    fn pack(&self, base: &Oid, message: &str, trailer: (&str, &str)) -> Result<Option<Oid>, GitError> {
        let packed = self.git.pack(&self.work(base, &self.furnished()), message, trailer, &self.keep)?;
        Ok(packed.map(|packed| packed.commit))
    }

    /// What a hook made of the work, on top of what was checked out then, takes its place.
    pub(crate) fn repack(&self, base: &Oid, commit: &Oid) -> Result<(), GitError> {
        self.git.keep(&self.keep, commit)?;
        let furnished: String = self.furnished().iter().map(|path| format!("{path}\n")).collect();
        self.note_packed(Some(commit))?;
        let note = base_file(&self.tree);
        atomic::replace(&note, &format!("{base}\n{furnished}")).map_err(GitError::io("write", &note))
    }

    /// Whether anything of it is left.
    pub(crate) fn is_there(&self) -> bool {
        self.tree.exists() || base_file(&self.tree).exists()
    }

    /// Removes the tree. That it stays is a nuisance and no more.
    pub(crate) fn clear_tree(&self) {
        self.forget_left();
        if self.remnants().unreadable.is_some() {
            // One that cannot be moved stays.
            let _ = self.move_aside();
            return;
        }
        // What an attempt left and its fix task did without is kept. That it could not be moved keeps the tree.
        if self.set_repositories_aside().is_ok() {
            // One that stays is found at the next start.
            let _ = self.git.remove_tree(&self.tree);
        }
    }

    /// Removes the tree and all that is known of it but the reference that keeps its work.
    pub(crate) fn abandon(&self, notes: &mut Vec<String>) {
        // A tree whose work git cannot take in now stays where it is.
        if self.pack_leftovers(notes).is_ok() {
            self.clear_tree();
            self.forget_notes();
        }
    }

    pub(crate) fn forget_notes(&self) {
        if !self.tree.exists() {
            self.forget_attempt();
            let _ = fs::remove_file(remnants_file(&self.tree));
            let _ = fs::remove_file(base_file(&self.tree));
        }
    }

    /// Lets go of what was kept of its work. The note goes last, so that whoever is killed on the way, or cannot let go,
    /// is known to have left something.
    pub(crate) fn let_go(&self) -> Result<(), GitError> {
        self.git.drop_kept(&self.keep)?;
        if self.has_failed || self.git.has_told(&self.keep) {
            self.git.drop_told(&self.keep)?;
        }
        self.forget_notes();
        Ok(())
    }
}

/// By which it shows whether a file changed.
pub(crate) fn fingerprint(file: &Path) -> String {
    atomic::read(file).map_or_else(|_| "none".to_owned(), |text| format!("{:08x}", crc32fast::hash(&text)))
}

fn conflicting(conflict: &Conflict, commit: &Oid, since: &[String]) -> CheckFailure {
    let error = format!("the work conflicts with what came in meanwhile: {}", listed(&conflict.files));
    let details = format!(
        "{}\nCame in meanwhile:\n{}\nUntil the task is done, the work of this attempt is kept as commit {commit} (git show {commit}).\n{}",
        conflict.messages.join("\n"),
        since.join("\n"),
        conflict.hunks
    );
    red(error, mask(&details))
}

fn landed(touched: Vec<String>) -> Landing {
    Landing::Done { touched, onto: None, commit: None }
}

fn red(error: String, details: String) -> CheckFailure {
    CheckFailure {
        cause: Cause::Conflict,
        error,
        details,
        command: None,
        exit_code: None,
        failing: Failing::default(),
    }
}

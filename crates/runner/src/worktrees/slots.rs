//! The slots of a plan: where they lie, what commit each shows, what is kept in them from one use to the next, and what
//! keeps one from being ready, which is never a failure of the task.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use engine::Reading;
use nix::fcntl::{Flock, FlockArg};

use crate::atomic;
use crate::git::{Git, GitError, Oid, Shown, is_interrupted, remove_folder};
use crate::worktrees::copies::Recipient;
use crate::worktrees::environment::Variables;
use crate::worktrees::location::{Location, Surroundings};
use crate::worktrees::on_disk::{FREE_BYTES_MIN, free_bytes, in_words};
use crate::worktrees::scan::{Sign, sign_of_project};
use crate::worktrees::setup::{Place, SetUpRunner, Use, drop_caches};
use crate::worktrees::stamp::{self, Made, Remembered};

/// The slot that is the landing tree, in which no agent works.
pub(crate) const LANDING: u32 = 0;

/// The slot in which a proof is run, which is made anew for it. Where commands run side by side, those below it are others.
pub(crate) const PROOF: u32 = u32::MAX;

/// The number of slots for proofs.
const PROOFS_MAX: u32 = 1_000;

/// Cargo's folder, which stays warm: whatever it built from files of the work tree is built again, since these are
/// newer.
const CARGO_FOLDER: &str = "target";

/// The file with what people were told of the slots of a plan.
const TOLD_FILE: &str = "told.json";

/// The settings of linked work trees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worktrees {
    /// Shared with the project by a link.
    pub link: Vec<String>,
    /// Copied from the project besides what always is.
    pub copy: Vec<String>,
    /// The command that makes ready a work tree.
    pub setup: Option<String>,
    /// The folder in which work trees are made; without one, the user's cache folder.
    pub dir: Option<PathBuf>,
    /// The variables that reach what runs there, and in the project.
    pub variables: Variables,
}

/// The slots of one plan.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    git: Git,
    folder: PathBuf,
    worktrees: Arc<Worktrees>,
    /// Said at the first use.
    note: Option<String>,
    free_bytes_min: u64,
    /// Local settings of the project that are not copied.
    withheld: Vec<String>,
}

impl Slots {
    /// The slots of the plan with this key, which is a safe name for a folder.
    pub(crate) fn new(git: &Git, key: &str, worktrees: &Worktrees) -> Slots {
        Slots::among(git, key, worktrees, &Surroundings::inherited())
    }

    /// The slots of a plan where these are the user's folders.
    pub(crate) fn among(git: &Git, key: &str, worktrees: &Worktrees, around: &Surroundings) -> Slots {
        let Location { folder, note } = Location::of(git.root(), worktrees.dir.as_deref(), around);
        Slots {
            git: git.clone(),
            folder: folder.join(key),
            worktrees: Arc::new(worktrees.clone()),
            note,
            free_bytes_min: FREE_BYTES_MIN,
            withheld: Vec::new(),
        }
    }

    /// The same slots, which are not given these local settings.
    pub(crate) fn without(&self, withheld: Vec<String>) -> Slots {
        Slots { withheld, ..self.clone() }
    }

    /// The folder that holds all work trees of this plan.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The top folder of a slot; slot 0 is the landing tree.
    pub(crate) fn root(&self, slot: u32) -> PathBuf {
        self.folder.join(name_of(slot))
    }

    /// The settings of the work trees.
    pub(crate) fn worktrees(&self) -> &Worktrees {
        &self.worktrees
    }

    /// Makes or reuses the work tree of a slot so that it shows exactly a commit, with nothing checked out as a branch,
    /// with what is copied into it and what set-up makes. This blocks. The result is what people are to be told. A set-up
    /// that fails is tried once more, from the start: a registry that once does not answer is no reason to do without
    /// work trees.
    pub(crate) fn show(&self, slot: u32, commit: &Oid, by: &SetUpRunner) -> Result<Vec<String>, Unready> {
        match self.show_once(slot, commit, by) {
            Err(Unready::SetUp { .. }) => self.show_once(slot, commit, by),
            shown => shown,
        }
    }

    fn show_once(&self, slot: u32, commit: &Oid, by: &SetUpRunner) -> Result<Vec<String>, Unready> {
        if is_interrupted() {
            return Err(Unready::Interrupted);
        }
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&self.folder);
        made.map_err(GitError::io("create", &self.folder))?;
        self.expect_space(self.free_bytes_min)?;
        let before = Remembered::read(&self.file(slot));
        // Should this be cut short, nothing is kept at the next use.
        Remembered::default().write(&self.file(slot));
        let root = self.root(slot);
        let shown = self.tree_at(&root, commit, &before)?;
        let mut use_now = UseNow { slots: self, slot, root: &root, commit, shown, notes: Vec::new() };
        use_now.notes.extend(self.note.clone());
        let after = use_now.make_ready(&before, by)?;
        after.write(&self.file(slot));
        Ok(self.not_yet_told(use_now.notes))
    }

    /// The work tree with the files of a commit: the one that is there where it is as it was made, else a new one.
    fn tree_at(&self, root: &Path, commit: &Oid, before: &Remembered) -> Result<Shown, Unready> {
        let is_as_made = before.settings.is_some() && self.git.slot_settings(root) == before.settings;
        if is_as_made {
            match self.git.rewrite_slot(root, commit) {
                Ok(shown) => return Ok(shown),
                Err(error @ GitError::Stopped { .. }) => return Err(error.into()),
                // Somebody may have left anything in it, also what git stumbles over. A new work tree has none of it.
                Err(_) => {}
            }
        }
        self.expect_space(2 * self.git.bytes_of(commit)?)?;
        Ok(self.git.add_slot(root, commit)?)
    }

    fn expect_space(&self, wanted_bytes: u64) -> Result<(), Unready> {
        // A file system that does not tell has none too little.
        let free_bytes = free_bytes(&self.folder).unwrap_or(u64::MAX);
        if free_bytes >= wanted_bytes {
            return Ok(());
        }
        Err(Unready::LowDisk { folder: self.folder.clone(), free_bytes, wanted_bytes })
    }

    /// True if what lies in the slot now asks for another set-up than the one that was made there.
    pub(crate) fn is_set_up_for_another(&self, slot: u32) -> Result<bool, GitError> {
        let Some(command) = self.worktrees.setup.as_deref() else { return Ok(false) };
        let root = self.root(slot);
        let stamp = stamp::stamp(command, &self.git.tracked_in_slot(&root)?, &root);
        Ok(self.stamp_of(slot) != Some(stamp))
    }

    /// Marks that what ran in the slot ended by itself. Without that, another start of the program keeps nothing in it.
    pub(crate) fn release(&self, slot: u32) {
        let remembered = Remembered::read(&self.file(slot));
        Remembered { in_use_by: None, ..remembered }.write(&self.file(slot));
    }

    /// True if this process made the slot ready, and nothing was cut short in it since.
    pub(crate) fn is_held(&self, slot: u32) -> bool {
        Remembered::read(&self.file(slot)).is_held()
    }

    /// Marks that what ran in the slot was cut short: the next use keeps nothing of what is in it.
    pub(crate) fn distrust(&self, slot: u32) {
        let remembered = Remembered::read(&self.file(slot));
        Remembered { trusted: false, ..remembered }.write(&self.file(slot));
    }

    /// Removes the indexes through which attempts in a slot, or in all, were looked at.
    pub(crate) fn forget_indexes(&self, slot: Option<u32>) {
        let prefix = slot.map_or_else(|| "slot-".to_owned(), |slot| format!("{}.", name_of(slot)));
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&prefix) && name.ends_with(".index") {
                // One that stays is of an attempt that is over.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The paths that were put into work trees (links, copies, what set-up made), which are no part of an attempt's
    /// work even if git does not ignore them.
    pub(crate) fn provided(&self) -> Vec<String> {
        let mut paths: BTreeSet<String> =
            self.worktrees.link.iter().chain(&self.worktrees.copy).map(|path| plain(path)).collect();
        for slot in self.existing() {
            let remembered = Remembered::read(&self.file(slot));
            paths.extend(remembered.put);
            paths.extend(remembered.made.into_iter().map(|made| made.path));
        }
        paths.into_iter().collect()
    }

    /// The paths that a slot shares with the project by links.
    pub(crate) fn linked(&self, slot: u32) -> Vec<String> {
        let remembered = Remembered::read(&self.file(slot));
        let is_linked = |path: &String| self.worktrees.link.iter().any(|link| plain(link) == *path);
        remembered.put.into_iter().filter(is_linked).collect()
    }

    /// The stamp of the set-up in a slot, by which its canary is known.
    pub(super) fn stamp_of(&self, slot: u32) -> Option<String> {
        Remembered::read(&self.file(slot)).stamp
    }

    /// Removes the work tree of a slot, and what is remembered of it.
    pub(crate) fn remove(&self, slot: u32) -> Result<(), GitError> {
        self.git.remove_slot(&self.root(slot))?;
        let file = self.file(slot);
        remove_folder(&file).map_err(GitError::io("remove", &file))
    }

    /// Removes all work trees of the plan, and the folder that held them.
    pub(crate) fn remove_all(&self) -> Result<(), GitError> {
        for worktree in self.git.slots_below(&self.folder) {
            self.git.remove_slot(&worktree)?;
        }
        self.existing().into_iter().try_for_each(|slot| self.remove(slot))?;
        remove_folder(&self.folder).map_err(GitError::io("remove", &self.folder))?;
        // It goes with its last plan.
        let _ = self.folder.parent().map(fs::remove_dir);
        Ok(())
    }

    /// The slots that have a work tree.
    pub(crate) fn existing(&self) -> Vec<u32> {
        let there = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let there = there.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let there = there.map(|entry| entry.path());
        let mut slots: Vec<u32> =
            there.chain(self.git.slots_below(&self.folder)).filter_map(|path| slot_named(&path)).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn file(&self, slot: u32) -> PathBuf {
        self.folder.join(format!("{}.json", name_of(slot)))
    }

    /// Those of these notes that nobody has been told yet, of this plan.
    fn not_yet_told(&self, notes: Vec<String>) -> Vec<String> {
        let file = self.folder.join(TOLD_FILE);
        // Several slots are made ready at once. Without the lock a note may be told twice.
        let _lock = self.lock();
        let read = || -> io::Result<BTreeSet<String>> { Ok(serde_json::from_slice(&atomic::read(&file)?)?) };
        let mut told = read().unwrap_or_default();
        let news: Vec<String> = notes.into_iter().filter(|note| told.insert(note.clone())).collect();
        if !news.is_empty() {
            // What is not written down is told again.
            let _ = serde_json::to_string(&told).map(|text| atomic::replace(&file, &text));
        }
        news
    }

    pub(super) fn lock(&self) -> Option<Flock<File>> {
        Flock::lock(File::open(&self.folder).ok()?, FlockArg::LockExclusive).ok()
    }
}

#[cfg(test)]
impl Slots {
    /// The slots with another least amount of space to be left.
    pub(crate) fn with_free_bytes_min(self, free_bytes_min: u64) -> Slots {
        Slots { free_bytes_min, ..self }
    }
}

/// One use of a slot that is being made ready.
struct UseNow<'a> {
    slots: &'a Slots,
    slot: u32,
    root: &'a Path,
    commit: &'a Oid,
    shown: Shown,
    notes: Vec<String>,
}

impl UseNow<'_> {
    /// Cleans the work tree, gives it what it needs beside the commit, and sets it up where that has not been done.
    fn make_ready(&mut self, before: &Remembered, by: &SetUpRunner) -> Result<Remembered, Unready> {
        let (git, worktrees) = (&self.slots.git, self.slots.worktrees());
        let command = worktrees.setup.as_deref();
        let stamp = command.map(|command| stamp::stamp(command, &self.shown.tracked, self.root));
        let lasting = self.lasting(before, stamp.as_ref());
        let kept: Vec<String> = lasting.iter().flatten().map(|made| made.path.clone()).collect();
        let warm = (before.can_be_kept() && self.is_of_cargo()).then(|| CARGO_FOLDER.to_owned());
        let staying: Vec<String> = kept.iter().cloned().chain(warm).collect();
        git.clean_slot(self.root, &self.shown, &staying)?;
        kept.iter().for_each(|path| drop_caches(self.root, path));

        let withheld = &self.slots.withheld;
        let recipient = Recipient { git, worktree: self.root, tracked: &self.shown.tracked, withheld };
        let mut given = recipient.give(worktrees)?;
        let is_for_agents = ![LANDING, PROOF].contains(&self.slot);
        self.notes.extend(given.warning.filter(|_| is_for_agents));
        let is_set_up = lasting.is_some() && !self.shown.emptied_submodules;
        let is_made_again = before.made.iter().any(|made| made.used == Use::MakeAgain);
        if command.is_none() || lasting.is_none() {
            let folders = recipient.give_folders(worktrees)?;
            given.put.extend(folders.put);
            given.notes.extend(folders.notes);
        }
        self.notes.extend(given.notes);
        let made = match command {
            Some(command) if !is_set_up || is_made_again => self.set_up(command, lasting, by)?,
            Some(_) | None => lasting.unwrap_or_default(),
        };
        let remembered = Remembered {
            settings: git.slot_settings(self.root),
            stamp,
            made,
            put: given.put,
            ..Remembered::default()
        };
        Ok(remembered.taken())
    }

    /// The paths that set-up made at an earlier use and that can stay; none where set-up has to begin with nothing.
    fn lasting(&self, before: &Remembered, stamp: Option<&String>) -> Option<Vec<Made>> {
        if !before.can_be_kept() || before.stamp.as_ref() != stamp {
            return None;
        }
        let lasting: Vec<Made> = before.made.iter().filter(|made| made.used == Use::Keep).cloned().collect();
        lasting.iter().all(|made| made.is_there(self.root)).then_some(lasting)
    }

    /// True if cargo's folder is one and belongs to the work tree.
    fn is_of_cargo(&self) -> bool {
        let is_tracked = |path: &str| self.shown.tracked.iter().any(|entry| entry.path == Path::new(path));
        let folder = self.root.join(CARGO_FOLDER);
        is_tracked("Cargo.toml") && fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Runs the set-up command. The result is what it made, now or before.
    fn set_up(
        &mut self,
        command: &str,
        lasting: Option<Vec<Made>>,
        by: &SetUpRunner,
    ) -> Result<Vec<Made>, Unready> {
        let git = &self.slots.git;
        let mut made: BTreeSet<String> =
            lasting.into_iter().flatten().map(|made| made.path).chain(self.seeds()).collect();
        let there = git.untracked_in_slot(self.root)?;
        // A proof is run where no agent works, like the landing tree.
        let slot = if is_proof(self.slot) { PROOF - self.slot } else { self.slot };
        let place = Place { root: self.root, slot, name: &name_of(self.slot) };
        by.set_up(command, git.root(), &place)?;
        let changed = git.restore_slot(self.root, self.commit)?;
        if !changed.is_empty() {
            self.notes.push(format!(
                "the set-up `{command}` changes files that git tracks ({}); in work trees they are put back",
                changed.join(", ")
            ));
        }
        made.extend(git.untracked_in_slot(self.root)?.difference(&there).cloned());
        for path in &made {
            self.notes.extend(
                sign_of_project(git.root(), self.root, path).map(|sign| leading_back(command, &sign)),
            );
        }
        Ok(made.iter().filter_map(|path| Made::now(self.root, path)).collect())
    }

    /// The folders that were copied for set-up to begin with.
    fn seeds(&self) -> impl Iterator<Item = String> {
        let paths = self.slots.worktrees().copy.iter().map(|path| plain(path));
        paths.filter(|path| self.root.join(path).is_dir())
    }
}

fn leading_back(command: &str, sign: &Sign) -> String {
    let what = match sign {
        Sign::Leads { link, to } => {
            format!("{} leads to `{}` of the project", link.display(), to.display())
        }
        Sign::Names { file } => format!("{} holds the project's own path", file.display()),
    };
    format!(
        "after the set-up `{command}` {what}: commands in work trees may test the project's files instead of the tree's; \
         worktree_setup has to make it in the tree"
    )
}

fn plain(path: &str) -> String {
    path.trim_start_matches("./").trim_end_matches('/').to_owned()
}

pub(super) fn name_of(slot: u32) -> String {
    match slot {
        LANDING => "landing".to_owned(),
        PROOF => "proof".to_owned(),
        number if is_proof(number) => format!("proof-{}", PROOF - number + 1),
        number => format!("slot-{number}"),
    }
}

fn slot_named(path: &Path) -> Option<u32> {
    match path.file_name()?.to_str()? {
        "landing" => Some(LANDING),
        "proof" => Some(PROOF),
        name => match name.strip_prefix("proof-") {
            Some(number) => {
                number.parse().ok().and_then(|number: u32| PROOF.checked_sub(number.checked_sub(1)?))
            }
            None => name.strip_prefix("slot-")?.parse().ok(),
        },
    }
}

fn is_proof(slot: u32) -> bool {
    slot > PROOF - PROOFS_MAX
}

/// The reason why a slot cannot be worked in.
#[derive(Debug)]
pub(crate) enum Unready {
    /// Git cannot make it, or cannot show the commit in it.
    NoTree(GitError),
    /// The set-up command failed.
    SetUp {
        /// The command.
        command: String,
        /// The output, its end at least.
        output: String,
        /// The way it ended.
        reason: String,
        /// The file with all that it printed.
        log: PathBuf,
    },
    /// There is too little space left where work trees lie.
    LowDisk {
        /// The folder.
        folder: PathBuf,
        /// The bytes that are left.
        free_bytes: u64,
        /// The bytes that are wanted.
        wanted_bytes: u64,
    },
    /// It lacks something that the project has.
    Lacking {
        /// The thing that is missing, and what to set.
        reason: String,
    },
    /// The run is to end.
    Interrupted,
}

impl From<GitError> for Unready {
    fn from(error: GitError) -> Unready {
        if matches!(error, GitError::Stopped { .. }) { Unready::Interrupted } else { Unready::NoTree(error) }
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unready::NoTree(error) => write!(f, "no work tree can be made: {}", error.told()),
            Unready::SetUp { command, output, reason, log } => {
                write!(f, "worktree_setup `{command}` {reason}")?;
                if let Some(error) = Reading::of(output, "", 0).error {
                    write!(f, ": {error}")?;
                }
                let log = log.display();
                write!(
                    f,
                    "; mend it in tillgreen.toml: it runs in a new checkout outside the project (see {log})"
                )
            }
            Unready::LowDisk { folder, free_bytes, wanted_bytes } => write!(
                f,
                "{} has {} left and work trees want {}: free some space (`tillgreen clean` removes trees of earlier \
                 runs), or name a folder elsewhere as worktree_dir in tillgreen.toml",
                folder.display(),
                in_words(*free_bytes),
                in_words(*wanted_bytes)
            ),
            Unready::Lacking { reason } => f.write_str(reason),
            Unready::Interrupted => f.write_str("the run was interrupted while a work tree was made ready"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_have_names_of_their_own() {
        for slot in [LANDING, 1, 2, 10, PROOF - 3, PROOF - 1, PROOF] {
            assert_eq!(slot_named(Path::new(&name_of(slot))), Some(slot));
        }
        assert_eq!(slot_named(Path::new("x/slot-a")), None);
        assert_eq!(slot_named(Path::new("other")), None);
    }

    #[test]
    fn each_says_what_to_do() {
        let check = |unready: Unready, expected: &str| assert_eq!(unready.to_string(), expected);
        check(
            Unready::SetUp {
                command: "npm ci".into(),
                output: "npm error code E404\nnpm error 404 Not Found\n\n".into(),
                reason: "failed with exit code 1".into(),
                log: "/logs/setup.log".into(),
            },
            "worktree_setup `npm ci` failed with exit code 1: 404 Not Found; mend it in tillgreen.toml: it runs in a \
             new checkout outside the project (see /logs/setup.log)",
        );
        check(
            Unready::LowDisk { folder: "/cache".into(), free_bytes: 200 << 20, wanted_bytes: 1 << 30 },
            "/cache has 200 MB left and work trees want 1.0 GB: free some space (`tillgreen clean` removes trees of earlier \
             runs), or name a folder elsewhere as worktree_dir in tillgreen.toml",
        );
        assert!(matches!(Unready::from(GitError::Stopped { command: "git".into() }), Unready::Interrupted));
    }
}

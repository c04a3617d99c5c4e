//! Where the repositories of submodules say that their files are (`core.worktree`). The submodules of work trees share
//! that with the project's own: `git submodule update` in a work tree makes it lead there, and from then on git fails
//! wherever it looks into the submodule. So it is put back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::worktree::folders_of_submodules;
use crate::git::calls::process::{self, Ended};
use crate::git::error::GitError;
use crate::git::repository::Git;

/// The setting.
const SETTING: &str = "core.worktree";

/// Where work trees are. No submodule of a project has its files below that.
const OURS: &str = ".tillgreen";

/// How often a file of settings is tried that another git may be writing, and what lies between.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(30);

/// How often something is done again that failed while an agent changed settings.
const AGAIN_MAX: u32 = 3;

/// What submodules said when they were first seen, and what became of that.
#[derive(Debug, Default)]
pub(in crate::git) struct SubmodulePlaces {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    stores: BTreeMap<PathBuf, Said>,
    /// How often something was put back.
    mended: u32,
    /// The submodules whose settings were put back, and whether that has been told.
    names: BTreeMap<String, Told>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Yet,
    Already,
}

/// What a repository said when it was last looked at.
#[derive(Debug)]
struct Said {
    /// All its settings: while they are the same, git need not be asked.
    text: Vec<u8>,
    place: Option<String>,
}

impl SubmodulePlaces {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Whoever panicked left nothing half done: only whole values are put in and taken out.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Git {
    /// Puts back where submodules say that their files are, if an agent changed it. What cannot be put back now is what
    /// git fails over next, and is tried again before that is believed. Gives how often something was put back so far.
    pub(crate) fn mend_submodules(&self) -> u32 {
        let mut known = self.submodule_places().known();
        // One that is known may be gone from the project, and its repository is still there.
        if known.stores.is_empty() && !self.root().join(".gitmodules").exists() {
            return known.mended;
        }
        for store in self.all_stores_of_submodules() {
            for _ in 0..TRIES {
                if self.mend(&store, &mut known).is_ok() {
                    break;
                }
                thread::sleep(PAUSE);
            }
        }
        known.mended
    }

    /// Does what looks into submodules, and does it again if it failed while an agent changed what they say.
    pub(crate) fn mending<T>(&self, mut deed: impl FnMut() -> Result<T, GitError>) -> Result<T, GitError> {
        let mut before = self.mend_submodules();
        for _ in 0..AGAIN_MAX {
            let done = deed();
            // Somebody else may have put it back before we looked.
            let now = self.mend_submodules();
            if done.is_ok() || now == before {
                return done;
            }
            before = now;
        }
        deed()
    }

    /// The submodules whose settings were put back and of which nobody has been told.
    pub(crate) fn mended_submodules(&self) -> Vec<String> {
        let mut known = self.submodule_places().known();
        let untold = known.names.iter_mut().filter(|(_, told)| **told == Told::Yet);
        untold
            .map(|(name, told)| {
                *told = Told::Already;
                name.clone()
            })
            .collect()
    }

    /// The repositories of submodules and of those inside them. A project that is itself a linked tree has its own.
    fn all_stores_of_submodules(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.common_dir().to_owned(), self.git_dir().to_owned()];
        while let Some(folder) = folders.pop() {
            for store in folders_of_submodules(&folder) {
                if found.insert(store.clone()) {
                    folders.push(store);
                }
            }
        }
        found
    }

    fn mend(&self, store: &Path, known: &mut Known) -> Result<(), GitError> {
        let config = store.join("config");
        let before = known.stores.get(store);
        // One without settings says nothing.
        let Ok(text) = fs::read(&config) else { return Ok(()) };
        if before.is_some_and(|before| before.text == text) {
            return Ok(());
        }
        let now = self.place_said_in(&config)?;
        let right = self.right_place(store, before.map(|said| &said.place), now.as_ref());
        if right == now {
            known.stores.insert(store.to_owned(), Said { text, place: now });
            return Ok(());
        }
        match &right {
            Some(place) => self.configure(&config, &["--replace-all", SETTING, place])?,
            None => self.configure(&config, &["--unset-all", SETTING])?,
        }
        .success()?;
        known.mended += 1;
        known.names.entry(self.name_of(store, right.as_deref())).or_insert(Told::Yet);
        known
            .stores
            .insert(store.to_owned(), Said { text: fs::read(&config).unwrap_or_default(), place: right });
        Ok(())
    }

    /// What a repository should say. A person may move a submodule while a run is under way: what leads to where files
    /// of it are is right.
    fn right_place(
        &self,
        store: &Path,
        before: Option<&Option<String>>,
        now: Option<&String>,
    ) -> Option<String> {
        let leads_there = |place: &String| is_of(&store.join(place), store);
        let is_ours = |place: &String| Path::new(place).components().any(|part| part.as_os_str() == OURS);
        match (before, now) {
            (_, Some(now)) if leads_there(now) => Some(now.clone()),
            (Some(before), Some(now)) if is_ours(now) => before.clone(),
            (None, Some(now)) if is_ours(now) => self.place_after(store, now),
            // Where the files are gone, whoever took them away has had it changed.
            (Some(Some(before)), _) if leads_there(before) => Some(before.clone()),
            (Some(None), _) => None,
            (_, now) => now.cloned(),
        }
    }

    /// What leads to the submodule in the project, where something leads to it in a work tree: the paths end alike.
    fn place_after(&self, store: &Path, astray: &str) -> Option<String> {
        let parts: Vec<&OsStr> = Path::new(astray).components().map(Component::as_os_str).collect();
        let ours = parts.iter().rposition(|part| *part == OURS)?;
        let ends = (ours + 1..parts.len()).filter_map(|from| parts.get(from..));
        let folders = ends.map(|end| self.root().join(end.iter().collect::<PathBuf>()));
        let folder = folders.into_iter().find(|folder| is_of(folder, store))?;
        Some(way(store, &folder)?.to_str()?.to_owned())
    }

    fn place_said_in(&self, config: &Path) -> Result<Option<String>, GitError> {
        let ended = self.configure(config, &["--null", "--get-all", SETTING])?;
        // That it is not set.
        if ended.code == Some(1) {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&ended.success()?).into_owned();
        Ok(said.split_terminator('\0').next_back().map(str::to_owned))
    }

    fn configure(&self, config: &Path, list: &[&str]) -> Result<Ended, GitError> {
        let mut call = self.call(&["config", "--file"]);
        call.arguments.push(config.as_os_str().to_owned());
        call.arguments.extend(process::words(list));
        process::run(call)
    }

    /// What a person knows it by: its folder in the project.
    fn name_of(&self, store: &Path, place: Option<&str>) -> String {
        let folder = place.and_then(|place| store.join(place).canonicalize().ok());
        let path = folder.as_deref().and_then(|folder| folder.strip_prefix(self.root()).ok());
        path.or(store.file_name().map(Path::new)).unwrap_or(store).display().to_string()
    }
}

/// Whether a folder holds the files of a repository itself, rather than being a linked tree of it.
fn is_of(folder: &Path, store: &Path) -> bool {
    let Ok(link) = fs::read_to_string(folder.join(".git")) else { return false };
    let Some(place) = link.trim_end().strip_prefix("gitdir: ") else { return false };
    match (folder.join(place).canonicalize(), store.canonicalize()) {
        (Ok(led_to), Ok(store)) => led_to == store,
        (_, _) => false,
    }
}

/// How to get from a folder to another.
fn way(from: &Path, to: &Path) -> Option<PathBuf> {
    let (from, to) = (from.canonicalize().ok()?, to.canonicalize().ok()?);
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    Some(up.chain(to.components().skip(shared)).collect())
}

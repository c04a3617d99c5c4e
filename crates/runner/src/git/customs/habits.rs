//! How commits are made here: who makes them, and what settings make of them. Git is asked once, and again when settings
//! change, wherever they are kept.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::config_files::Looks;
use super::configuration::Configuration;
use super::conversion::{self, Conversion};
use super::misdirection::Place;
use crate::git::calls::lock_holder::Quiet;
use crate::git::calls::process;
use crate::git::calls::question::Question;
use crate::git::error::GitError;
use crate::git::formats::loose_object;
use crate::git::repository::Git;

/// Settings that make a commit more than its text.
const SETTINGS: [&str; 3] = ["commit.gpgsign", "i18n.commitencoding", "commit.cleanup"];

/// The setting that names a folder for hooks.
const HOOKS_PATH: &str = "core.hookspath";

/// Before hooks that are set up by settings.
const HOOK_SETTINGS: &str = "hook.";

/// Before settings by which author and committer are not the same.
const IDENT_SETTINGS: [&str; 2] = ["author.", "committer."];

/// Variables by which they are not.
const IDENT_VARIABLES: [&str; 6] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];

/// What is known about committing here. Whatever is known is so as of the settings at one moment.
#[derive(Debug, Default)]
pub(in crate::git) struct Habits {
    put: Mutex<Option<Put>>,
    told: Mutex<Option<Told>>,
    known: Mutex<Option<(Looks, Habit)>>,
    /// When nobody else was making one.
    pub(in crate::git) quiet: Quiet,
    /// Where the working tree was said to be when that was first told.
    place: OnceLock<Place>,
}

impl Habits {
    pub(in crate::git) fn place(&self) -> Option<&Place> {
        self.place.get()
    }
}

/// Questions whose answers are not there yet.
#[derive(Debug)]
struct Put {
    looks: Looks,
    configuration: Question,
    committer: Question,
}

/// What git told.
#[derive(Debug, Clone)]
struct Told {
    /// None if git cannot read its settings.
    configuration: Option<Arc<Configuration>>,
    /// None if git does not know who commits.
    committer: Option<Vec<u8>>,
    /// Where hooks are; none if git does not say.
    hooks: Option<PathBuf>,
    /// What the files looked like that it read.
    looks: Looks,
}

/// How commits are made here.
#[derive(Debug, Clone, Default)]
pub(in crate::git) struct Habit {
    pub(in crate::git) has_set_hooks: bool,
    /// Who commits; none if only git gets it right.
    pub(in crate::git) names: Option<Names>,
    /// What becomes of content on the way; none if only git gets it right.
    pub(in crate::git) conversion: Option<Conversion>,
    /// Whether objects are nothing but files.
    pub(in crate::git) stores_plainly: bool,
    /// Whether settings leave files as they are stored.
    pub(in crate::git) writes_plainly: bool,
}

/// Author and committer.
#[derive(Debug, Clone)]
pub(in crate::git) struct Names {
    pub(in crate::git) author: Ident,
    pub(in crate::git) committer: Ident,
}

/// One of them, as git tells it.
#[derive(Debug, Clone)]
pub(in crate::git) struct Ident {
    /// Name and address.
    pub(in crate::git) who: String,
    /// The time, if a variable says that it is always the same.
    pub(in crate::git) fixed: Option<String>,
    pub(in crate::git) zone: String,
}

impl Git {
    /// Asks what will be wanted of git before anything can begin, without waiting for the answers.
    pub fn put_first_questions(&self) {
        // What cannot be asked now is asked when it is wanted, and whoever wants it is told why not.
        *lock(&self.habits().put) = self.put_questions().ok();
    }

    /// Whether git knows who commits: better found out before anything is done than at the first commit.
    pub fn check_identity(&self) -> Result<(), GitError> {
        let is_known = self.told()?.committer.is_some();
        if is_known { Ok(()) } else { Err(GitError::NoIdentity { root: self.root().to_owned() }) }
    }

    /// The settings that apply here; none where git cannot read them.
    pub(in crate::git) fn configuration(&self) -> Result<Option<Arc<Configuration>>, GitError> {
        Ok(self.told()?.configuration)
    }

    /// Finds out how commits are made here, so that the first one need not wait for it.
    pub fn learn_to_commit(&self) {
        self.habit();
    }

    /// Whether that is known already, or being found out.
    pub fn knows_how_to_commit(&self) -> bool {
        self.habits().known.try_lock().map_or(true, |known| known.is_some())
    }

    pub(in crate::git) fn habit(&self) -> Habit {
        let mut known = lock(&self.habits().known);
        let Ok(told) = self.told() else { return Habit::default() };
        match known.as_ref().filter(|(before, _)| *before == told.looks) {
            Some((_, habit)) => habit.clone(),
            None => {
                let looks = told.looks.clone();
                let habit = self.find_habit(told).unwrap_or_default();
                *known = Some((looks, habit.clone()));
                habit
            }
        }
    }

    /// Where hooks are, if git says so.
    pub(in crate::git) fn hooks_folder(&self) -> Option<PathBuf> {
        self.told().ok()?.hooks
    }

    fn put_questions(&self) -> Result<Put, GitError> {
        Ok(Put {
            looks: Looks::at(self.first_config_files()),
            configuration: Question::put(self.call(&Configuration::QUESTION))?,
            committer: Question::put(self.call(&["var", "GIT_COMMITTER_IDENT"]))?,
        })
    }

    fn told(&self) -> Result<Told, GitError> {
        let mut known = lock(&self.habits().told);
        if let Some(told) = known.as_ref().filter(|told| told.looks.hold()) {
            return Ok(told.clone());
        }
        let put = lock(&self.habits().put).take().filter(|put| put.looks.hold());
        let put = put.map_or_else(|| self.put_questions(), Ok)?;
        let told = put.answers(self)?;
        if let Some(configuration) = &told.configuration {
            self.habits().place.get_or_init(|| Place::of(configuration));
        }
        *known = Some(told.clone());
        Ok(told)
    }

    /// The folder of hooks by these settings.
    fn find_hooks(&self, configuration: &Configuration) -> Option<PathBuf> {
        if !configuration.names().any(|name| name == HOOKS_PATH) {
            return Some(self.common_dir().join("hooks"));
        }
        let told = process::run(self.call(&["rev-parse", "--git-path", "hooks"])).ok()?.success().ok()?;
        let folder = told.strip_suffix(b"\n").unwrap_or(&told);
        Some(self.root().join(std::ffi::OsString::from_vec(folder.to_vec())))
    }

    /// None: git does not say, and commits by itself.
    fn find_habit(&self, told: Told) -> Option<Habit> {
        let configuration = told.configuration?;
        let has_set_hooks = configuration.names().any(|name| name.starts_with(HOOK_SETTINGS));
        let stores_plainly = loose_object::are_plain(configuration.names());
        let are_plain = !configuration.names().any(|name| SETTINGS.contains(&name));
        let committer = told.committer.filter(|_| are_plain);
        let names = committer.and_then(|told| self.find_names(&configuration, told));
        let conversion = Conversion::ask(self, &configuration.names().collect::<Vec<_>>());
        let writes_plainly = conversion::writes_plainly(configuration.entries());
        Some(Habit { has_set_hooks, names, conversion, stores_plainly, writes_plainly })
    }

    fn find_names(&self, configuration: &Configuration, committer: Vec<u8>) -> Option<Names> {
        let committer = self.read_ident(committer, "GIT_COMMITTER_DATE")?;
        let is_apart = |name: &str| IDENT_SETTINGS.iter().any(|section| name.starts_with(section));
        let are_apart = configuration.names().any(is_apart)
            || IDENT_VARIABLES.iter().any(|variable| self.has_variable(variable));
        if !are_apart {
            return Some(Names { author: committer.clone(), committer });
        }
        let author = process::run(self.call(&["var", "GIT_AUTHOR_IDENT"])).ok()?.success().ok()?;
        Some(Names { author: self.read_ident(author, "GIT_AUTHOR_DATE")?, committer })
    }

    /// `Name <address> seconds zone`
    fn read_ident(&self, told: Vec<u8>, date: &str) -> Option<Ident> {
        let told = String::from_utf8(told).ok()?;
        let (rest, zone) = told.trim_end().rsplit_once(' ')?;
        let (who, seconds) = rest.rsplit_once(' ')?;
        who.ends_with('>').then(|| Ident {
            who: who.to_owned(),
            fixed: self.has_variable(date).then(|| seconds.to_owned()),
            zone: zone.to_owned(),
        })
    }

    /// Whether git is given such a variable.
    fn has_variable(&self, wanted: &str) -> bool {
        std::env::var_os(wanted).is_some() || self.environment().iter().any(|(name, _)| name == wanted)
    }
}

impl Put {
    fn answers(self, git: &Git) -> Result<Told, GitError> {
        let (configuration, committer) = (self.configuration.answer()?, self.committer.answer()?);
        let configuration = configuration.success().ok().map(|text| Configuration::parse(&text));
        Ok(Told {
            hooks: configuration.as_ref().and_then(|configuration| git.find_hooks(configuration)),
            looks: match &configuration {
                Some(configuration) => self.looks.and(git.config_files(configuration)),
                None => self.looks,
            },
            configuration: configuration.map(Arc::new),
            committer: committer.success().ok(),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

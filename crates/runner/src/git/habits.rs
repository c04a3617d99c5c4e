//! How commits are made here: who makes them, and what settings make of them. Git is asked once, and again when the
//! repository's settings change.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::configuration::Configuration;
use super::conversion::Conversion;
use super::error::GitError;
use super::process;
use super::question::Question;
use super::repository::Git;
use super::stamps::Stamp;

/// Settings that make a commit more than its text.
const SETTINGS: [&str; 3] = ["commit.gpgsign", "i18n.commitencoding", "commit.cleanup"];

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

/// What is known about committing here. Whatever is known is so as of the repository's settings at one moment.
#[derive(Debug, Default)]
pub(super) struct Habits {
    put: Mutex<Option<Put>>,
    told: Mutex<Option<(Option<Stamp>, Told)>>,
    known: Mutex<Option<(Option<Stamp>, Habit)>>,
}

/// Questions whose answers are not there yet.
#[derive(Debug)]
struct Put {
    stamp: Option<Stamp>,
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
}

/// How commits are made here.
#[derive(Debug, Clone, Default)]
pub(super) struct Habit {
    pub(super) has_set_hooks: bool,
    /// Who commits; none if only git gets it right.
    pub(super) names: Option<Names>,
    /// What becomes of content on the way; none if only git gets it right.
    pub(super) conversion: Option<Conversion>,
}

/// Author and committer.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) author: Ident,
    pub(super) committer: Ident,
}

/// One of them, as git tells it.
#[derive(Debug, Clone)]
pub(super) struct Ident {
    /// Name and address.
    pub(super) who: String,
    /// The time, if a variable says that it is always the same.
    pub(super) fixed: Option<String>,
    pub(super) zone: String,
}

impl Git {
    /// Asks what will be wanted of git before anything can begin, without waiting for the answers.
    pub fn put_first_questions(&self) {
        // What cannot be asked now is asked when it is wanted, and whoever wants it is told why not.
        *lock(&self.habits().put) = self.put_questions(self.config_stamp()).ok();
    }

    /// Whether git knows who commits: better found out before anything is done than at the first commit.
    pub fn check_identity(&self) -> Result<(), GitError> {
        let is_known = self.told()?.committer.is_some();
        if is_known { Ok(()) } else { Err(GitError::NoIdentity { root: self.root().to_owned() }) }
    }

    /// The settings that apply here; none where git cannot read them.
    pub(super) fn configuration(&self) -> Result<Option<Arc<Configuration>>, GitError> {
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

    pub(super) fn habit(&self) -> Habit {
        let stamp = self.config_stamp();
        let mut known = lock(&self.habits().known);
        match known.as_ref().filter(|(before, _)| *before == stamp) {
            Some((_, habit)) => habit.clone(),
            None => {
                let habit = self.find_habit().unwrap_or_default();
                *known = Some((stamp, habit.clone()));
                habit
            }
        }
    }

    fn config_stamp(&self) -> Option<Stamp> {
        Stamp::of(&self.common_dir().join("config"))
    }

    fn put_questions(&self, stamp: Option<Stamp>) -> Result<Put, GitError> {
        Ok(Put {
            stamp,
            configuration: Question::put(self.call(&Configuration::QUESTION))?,
            committer: Question::put(self.call(&["var", "GIT_COMMITTER_IDENT"]))?,
        })
    }

    fn told(&self) -> Result<Told, GitError> {
        let stamp = self.config_stamp();
        let mut known = lock(&self.habits().told);
        if let Some((_, told)) = known.as_ref().filter(|(before, _)| *before == stamp) {
            return Ok(told.clone());
        }
        let put = lock(&self.habits().put).take().filter(|put| put.stamp == stamp);
        let put = put.map_or_else(|| self.put_questions(stamp.clone()), Ok)?;
        let told = put.answers()?;
        *known = Some((stamp, told.clone()));
        Ok(told)
    }

    /// None: git does not say, and commits by itself.
    fn find_habit(&self) -> Option<Habit> {
        let told = self.told().ok()?;
        let configuration = told.configuration?;
        let has_set_hooks = configuration.names().any(|name| name.starts_with(HOOK_SETTINGS));
        if configuration.names().any(|name| SETTINGS.contains(&name)) {
            return Some(Habit { has_set_hooks, ..Habit::default() });
        }
        let names = told.committer.and_then(|told| self.find_names(&configuration, told));
        let conversion = Conversion::ask(self, &configuration.names().collect::<Vec<_>>());
        Some(Habit { has_set_hooks, names, conversion })
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
    fn answers(self) -> Result<Told, GitError> {
        let (configuration, committer) = (self.configuration.answer()?, self.committer.answer()?);
        Ok(Told {
            configuration: configuration.success().ok().map(|text| Arc::new(Configuration::parse(&text))),
            committer: committer.success().ok(),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

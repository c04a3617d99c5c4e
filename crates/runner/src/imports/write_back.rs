//! What is done is written back to where a plan came from: the smallest edit of a file, or a word to the program that
//! keeps it. Each looks at what the source says first, so that doing it again changes nothing and the next start does what
//! is missing. That it does not work out is no reason to stop: it is told by name at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use engine::{End, State, Status, TaskKind, Unverifiable, Verification};
use plan::TaskId;

use crate::atomic;
use crate::error::RunError;
use crate::forge::{Caller, Stopper};
use crate::git::{Git, GitError};
use crate::imports::known;
use crate::imports::source::{Source, Way, read_file};
use crate::inbox::Message;
use crate::project::{PlanFile, Project};
use crate::run::effects::Effects;

/// Tasks that are told by their ids.
const TOLD_MAX: usize = 20;

/// What a run knows of the source of its plan.
#[derive(Debug)]
pub(crate) struct WriteBack {
    source: Source,
    /// The text of its file when an agent began in the project.
    at_start: Option<String>,
    /// What could not be written back, and why.
    missing: BTreeSet<String>,
    reason: String,
    under_way: UnderWay,
}

/// Whether the program of the source is at work.
#[derive(Debug)]
enum UnderWay {
    No,
    Yes { stopper: Stopper, again: bool },
}

/// The end of what the program of a source was told.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// The tasks that it could not be told of.
    missing: BTreeSet<String>,
    reason: String,
}

impl WriteBack {
    /// That of a plan; none where it was not imported.
    pub(crate) fn of(project: &Project, file: &PlanFile) -> Option<Self> {
        let source = Source::of(project, file.imported()?);
        let (missing, reason) = (BTreeSet::new(), String::new());
        Some(Self { source, at_start: None, missing, reason, under_way: UnderWay::No })
    }

    /// True while the program of the source is at work.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.under_way, UnderWay::Yes { .. })
    }

    /// Ends the program of the source.
    pub(crate) fn stop(&self) {
        if let UnderWay::Yes { stopper, .. } = &self.under_way {
            stopper.stop();
        }
    }

    fn note(&mut self, closed: Closed) {
        // What worked out later is not missing any more.
        self.missing = closed.missing;
        self.reason = closed.reason;
    }

    /// Edits the file.
    fn edit_file(&self, done: &BTreeSet<String>) -> Closed {
        let Some(path) = self.source.file() else { return Closed::default() };
        edit(&self.source, path, done).unwrap_or_else(|reason| Closed { missing: done.clone(), reason })
    }
}

/// Writes into a file of a source what is done. What others wrote there meanwhile stays.
pub(super) fn edit(
    source: &Source,
    path: &std::path::Path,
    done: &BTreeSet<String>,
) -> Result<Closed, String> {
    let read = source.understood(read_file(path)?, None)?;
    let outstanding: BTreeSet<String> = read.listing.outstanding(done).into_iter().collect();
    if !outstanding.is_empty() && !source.is_about_the_same(&read.listing) {
        return Ok(Closed { missing: outstanding, reason: elsewhere(read.listing.branch.as_deref()) });
    }
    let text = read.listing.with_done(&read.text, done, &now());
    if text != read.text {
        atomic::replace(path, &text).map_err(|error| format!("it cannot be written: {error}"))?;
    }
    Ok(Closed::default())
}

/// What tasks rest on that are done, as the source is told.
pub(super) type Reasons = BTreeMap<String, &'static str>;

/// Tells the program of a source what is done and open there.
pub(super) fn tell(
    source: &Source,
    caller: &Caller,
    (done, reasons): (&BTreeSet<String>, &Reasons),
) -> Closed {
    let read = match source.read(caller) {
        Ok(read) => read,
        Err(reason) => return Closed { missing: done.clone(), reason },
    };
    let mut closed = Closed::default();
    for id in read.listing.outstanding(done) {
        let why = reasons.get(&id).copied().unwrap_or("done");
        if let Err(reason) = source.close(caller, &id, why) {
            closed.missing.insert(id);
            closed.reason = reason;
        }
    }
    closed
}

impl Closed {
    /// The tasks that could not be written back, and why; none where all were.
    pub(super) fn trouble(&self) -> Option<(Vec<String>, String)> {
        (!self.missing.is_empty()).then(|| (self.missing.iter().cloned().collect(), self.reason.clone()))
    }
}

/// What a task rests on that this run, or an earlier one, brought to its end.
fn reason(state: &State, id: &str) -> Option<&'static str> {
    let task = state.task(&TaskId::new(id))?;
    let is_ours = task.passes > 0 || matches!(task.status, Status::Recording { .. });
    let by_agent = state.rules().is_some_and(|rules| rules.unverifiable == Unverifiable::Agent);
    (is_ours && task.decl.kind != TaskKind::Checkpoint).then_some(match task.decl.verification {
        Verification::Command => "done, and proved by its command",
        Verification::Borrowed => "done, and checked by a command of the project",
        Verification::Judgement if by_agent => "done, and judged by an agent",
        Verification::Judgement => "done, and judged by a person",
    })
}

fn elsewhere(branch: Option<&str>) -> String {
    format!("it is about {} by now", branch.unwrap_or("something else"))
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl Effects<'_, '_> {
    /// Writes back what is done and not said to be in the source.
    pub(crate) fn write_back(&mut self) -> Result<(), RunError> {
        let done = self.world.plans.ticked_names();
        let is_wanted = !done.is_empty() && self.world.settings.write_back.is_on();
        let Some(back) = self.world.write_back.as_mut().filter(|_| is_wanted) else { return Ok(()) };
        match (&back.source.way, &mut back.under_way) {
            (Way::File(_), _) => {
                let closed = back.edit_file(&done);
                back.note(closed);
                self.note_told(&done)
            }
            (Way::Bd(_) | Way::GitHub, UnderWay::Yes { again, .. }) => {
                *again = true;
                Ok(())
            }
            (Way::Bd(_) | Way::GitHub, UnderWay::No) => self.tell_source(done),
        }
    }

    /// Has the program of the source told beside the loop.
    fn tell_source(&mut self, done: BTreeSet<String>) -> Result<(), RunError> {
        let context = self.forge_context()?;
        let Some(back) = &mut self.world.write_back else { return Ok(()) };
        let (caller, stopper) = Caller::new(context);
        back.under_way = UnderWay::Yes { stopper, again: false };
        let (source, sender) = (back.source.clone(), self.world.sender.clone());
        let reasons: Reasons =
            done.iter().filter_map(|id| Some((id.clone(), reason(self.state, id)?))).collect();
        let started = thread::Builder::new().name("write back".to_owned()).spawn(move || {
            let closed = tell(&source, &caller.patiently(), (&done, &reasons));
            // The loop may be over; then nobody waits for it.
            let _ = sender.send(Message::WrittenBack(Box::new(closed)));
        });
        started.map(drop).map_err(RunError::io("start a thread for", &self.world.file.home))
    }

    /// Takes in the end of that, and begins again where more was done meanwhile.
    pub(crate) fn written_back(&mut self, closed: Closed) -> Result<(), RunError> {
        let Some(back) = &mut self.world.write_back else { return Ok(()) };
        let again = matches!(back.under_way, UnderWay::Yes { again: true, .. });
        back.under_way = UnderWay::No;
        back.note(closed);
        self.note_told(&self.world.plans.ticked_names())?;
        let is_stopped = matches!(self.state.end(), Some(End::Interrupted));
        if again && !is_stopped { self.write_back() } else { Ok(()) }
    }

    /// Notes what the source says since it was told: whoever empties a box later means it.
    fn note_told(&self, done: &BTreeSet<String>) -> Result<(), RunError> {
        let Some(back) = &self.world.write_back else { return Ok(()) };
        let home = &self.world.file.home;
        known::note_done(home, done.difference(&back.missing)).map_err(RunError::io("write", home))
    }

    /// Says at the end what could not be written back.
    pub(crate) fn tell_of_write_back(&mut self) {
        let Some(back) = &self.world.write_back else { return };
        let address = &back.source.imported.address;
        if back.is_under_way() {
            self.note_for_now(format!(
                "{address} did not answer in time: the next run writes back there what is done"
            ));
        } else if !back.missing.is_empty() {
            let command = format!("`tillgreen import {}`", quoted(&address.to_string()));
            self.note_for_now(format!(
                "{address} does not say yet that {} done: {}; the next run, or {command}, makes up for it",
                listed(back.missing.iter()),
                back.reason
            ));
        }
    }

    /// Keeps what the source says when an agent begins in the project.
    pub(crate) fn remember_source(&mut self) {
        if let Some(back) = &mut self.world.write_back {
            back.at_start = back.source.file().and_then(|path| read_file(path).ok());
        }
    }

    /// Puts back what an agent wrote into the source about what is done: nothing is because an agent says so.
    pub(crate) fn put_source_back(&mut self, own: &TaskId) {
        let done = self.world.plans.ticked_names();
        let Some((back, path)) =
            self.world.write_back.as_ref().and_then(|back| Some((back, back.source.file()?)))
        else {
            return;
        };
        let (Some(before), Ok(now)) = (&back.at_start, read_file(path)) else { return };
        let understood =
            |text: &str| back.source.understood(text.to_owned(), None).ok().map(|read| read.listing);
        let (false, Some(then), Some(listing)) = (*before == now, understood(before), understood(&now))
        else {
            return;
        };
        let (text, ids) = listing.with_marks_of(&now, (before, &then), |id| !done.contains(id));
        let address = back.source.imported.address.to_string();
        if ids.is_empty() || atomic::replace(path, &text).is_err() {
            return;
        }
        let others: Vec<&String> = ids.iter().filter(|id| *id != own.name()).collect();
        if !others.is_empty() {
            let others = listed(others.into_iter());
            self.note_of(
                own,
                format!("while task {own} was running, {address} was made to say that {others} done; that was put back"),
            );
        }
    }

    /// The file of the source as it is to be committed, where git tracks it: HEAD's text with what is done. None where that
    /// says so already.
    pub(crate) fn source_to_commit(&self, git: &Git) -> Result<Option<(String, String)>, GitError> {
        let Some((back, path)) =
            self.world.write_back.as_ref().and_then(|back| Some((back, back.source.file()?)))
        else {
            return Ok(None);
        };
        let path = self.world.project.relative(path);
        let is_told = self.world.settings.write_back.is_on() && back.missing.is_empty();
        if path.is_absolute() || !is_told {
            return Ok(None);
        }
        let path = path.to_string_lossy().into_owned();
        let Some(committed) = git.committed_text(&path)? else { return Ok(None) };
        let Ok(read) = back.source.understood(committed, None) else { return Ok(None) };
        if !git.is_tracked(&path)? || !back.source.is_about_the_same(&read.listing) {
            return Ok(None);
        }
        let text = read.listing.with_done(&read.text, &self.world.plans.ticked_names(), &now());
        Ok((text != read.text).then_some((path, text)))
    }
}

/// Tasks with their verb, as far as there is room.
fn listed<'i>(ids: impl ExactSizeIterator<Item = &'i String>) -> String {
    let more = ids.len().saturating_sub(TOLD_MAX);
    let verb = if ids.len() == 1 { "is" } else { "are" };
    let told: Vec<&str> = ids.take(TOLD_MAX).map(String::as_str).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more} {verb}", told.join(", "))
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_' | ':' | '=');
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

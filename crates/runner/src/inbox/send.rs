//! Telling a run something from another process: the directive is put into the run's folder, and its reply waited for.

use std::time::{Duration, Instant};
use std::{io, thread};

use engine::{Directive, DirectiveId, Refusal, Response, Said};
use nix::unistd::{Uid, User};

use crate::error::RunError;
use crate::inbox::folder::{Entry, Folder, Reply, RunName};
use crate::journal::{Holder, LockError, RecordError, holder, load};
use crate::mask::mask;
use crate::project::{PlanFile, Project};
use crate::run::open::{keep_own_files_out, make_private};

/// The time a reply is waited for: a run that commits, with hooks, hears nothing meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// A reply and the end of a process cannot be waited for together; this is a person's wait.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The result of a directive to a run.
#[derive(Debug)]
pub enum Sent {
    /// No run of the plan is under way, or none any more, and it was not taken.
    NotRunning,
    /// The run has taken it.
    Taken(Holder),
    /// It has no effect.
    Refused(Refusal),
    /// The run was killed before it took it. It stays where it is: the next start takes it.
    Died(Holder),
    /// The run has not replied yet. It takes it when it gets to it.
    Unheard(Holder),
}

/// The reason why a directive could not be sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The lock tells nothing.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal tells nothing.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The run's folder cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A directive of whoever runs this program, with a name of its own. What looks like a key is masked in words.
pub fn directive(said: Said) -> Directive {
    let said = match said {
        Said::Tell { task, text } => Said::Tell { task, text: mask(&text) },
        Said::Answer { task, since, response } => {
            let response = match response {
                Response::Fix(text) => Response::Fix(mask(&text)),
                Response::Reject(text) => Response::Reject(mask(&text)),
                Response::Reply(text) => Response::Reply(mask(&text)),
                response @ (Response::Retry | Response::Skip | Response::Abort | Response::Approve) => {
                    response
                }
            };
            Said::Answer { task, since, response }
        }
        said @ (Said::Pause | Said::Skip { .. }) => said,
    };
    let at = jiff::Timestamp::now().as_nanosecond();
    let id = DirectiveId(format!("{at:020}-{}", std::process::id()));
    Directive { id, from: user(), said }
}

/// Tells a run something, if one is under way, and waits for its reply.
pub fn send(file: &PlanFile, directive: &Directive) -> Result<Sent, SendError> {
    let Some(found) = holder(&file.lock())? else { return Ok(Sent::NotRunning) };
    let folder = Folder::below(&file.home);
    let only = matches!(directive.said, Said::Pause).then(|| RunName::of(&found));
    put(&folder, &Entry::new(directive.clone(), only))?;
    let give_up = Instant::now() + PATIENCE;
    loop {
        // In this order: whoever replied and ended since then was heard.
        let is_gone = is_gone(file, &found)?;
        match folder.reply_to(&directive.id) {
            Some(Reply::Refused(Refusal::Over)) if is_gone => {
                take_back(&folder, &directive.id)?;
                return Ok(Sent::NotRunning);
            }
            // It is about to end, after which somebody else can open the plan.
            Some(Reply::Refused(Refusal::Over)) => {}
            Some(reply) => {
                take_back(&folder, &directive.id)?;
                return Ok(replied(reply, found));
            }
            None if is_gone && has_ended(file)? && take_back(&folder, &directive.id)? => {
                return Ok(Sent::NotRunning);
            }
            None if is_gone => return Ok(Sent::Died(found)),
            None => {}
        }
        if Instant::now() >= give_up {
            return Ok(Sent::Unheard(found));
        }
        thread::sleep(LOOK_AGAIN);
    }
}

fn replied(reply: Reply, run: Holder) -> Sent {
    match reply {
        Reply::Taken => Sent::Taken(run),
        Reply::Refused(refusal) => Sent::Refused(refusal),
    }
}

/// True if a run no longer holds its plan.
fn is_gone(file: &PlanFile, run: &Holder) -> Result<bool, LockError> {
    Ok(holder(&file.lock())?.is_none_or(|now| RunName::of(&now) != RunName::of(run)))
}

/// True if the run of a plan has come to an end, and was not killed.
fn has_ended(file: &PlanFile) -> Result<bool, RecordError> {
    Ok(load(file, |_| ())?.is_some_and(|state| state.end().is_some()))
}

/// Leaves something for the next start, which takes it first of all.
pub fn leave(project: &Project, file: &PlanFile, directive: &Directive) -> Result<(), SendError> {
    let folder = Folder::below(&file.home);
    make_private(&file.home).map_err(RunError::io("create", &file.home))?;
    folder.make().map_err(RunError::io("create", folder.path()))?;
    project.git().map_or(Ok(()), keep_own_files_out).map_err(RunError::from)?;
    Ok(put(&folder, &Entry::new(directive.clone(), None))?)
}

fn put(folder: &Folder, entry: &Entry) -> Result<(), RunError> {
    folder.put(entry).map_err(RunError::io("write to", folder.path()))
}

fn take_back(folder: &Folder, id: &DirectiveId) -> Result<bool, RunError> {
    folder.take_back(id).map_err(RunError::io("write to", folder.path()))
}

/// The name of whoever runs this program.
fn user() -> String {
    let id = Uid::current();
    let named: io::Result<Option<User>> = User::from_uid(id).map_err(io::Error::from);
    named.ok().flatten().map_or_else(|| format!("user {id}"), |user| user.name)
}

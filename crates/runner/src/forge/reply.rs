//! Answers threads whose tasks are done, each once.

use engine::{ForgeReport, Toggle};
use plan::TaskId;
use serde_json::Value;

use super::call::Caller;
use super::command::ForgeCommand;
use super::json::{data, list, text};
use super::remote::Slug;
use super::setback::{Setback, said};

/// By this an answer of ours is known; the forge's pages do not show it.
const MARK: &str = "<!-- tillgreen";

/// An answer that is to be given.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) task: TaskId,
    pub(super) thread: String,
    pub(super) title: String,
    pub(super) commit: String,
}

/// Whether a comment is an answer of ours: it has the mark, and nobody else wrote it.
pub(super) fn is_ours(body: &str, author: &str, viewer: &str) -> bool {
    body.contains(MARK) && author == viewer
}

impl Reply {
    fn mark(&self) -> String {
        format!("{MARK} {} -->", self.task.to_string().replace("--", "-"))
    }

    fn body(&self) -> String {
        let commit = self.commit.get(..7).unwrap_or(&self.commit);
        format!(
            "Addressed in {commit} (task {}: {}).\n\n{}",
            self.task,
            plan::one_line(&self.title),
            self.mark()
        )
    }

    fn is_given(&self, thread: &Value) -> bool {
        let viewer = text(thread, "/viewer/login");
        let mark = self.mark();
        list(thread, "/node/comments/nodes").iter().any(|comment| {
            let body = text(comment, "/body");
            is_ours(body, text(comment, "/author/login"), viewer) && body.contains(&mark)
        })
    }
}

/// Answers, and calls resolved, what was asked for. A thread that is gone is no reason to stop.
pub(super) fn reply(
    caller: &Caller,
    slug: &Slug,
    replies: &[Reply],
    (answers, resolves): (Toggle, Toggle),
) -> Result<ForgeReport, Setback> {
    let mut failed = Vec::new();
    for reply in replies {
        let done = one(caller, slug, reply, (answers, resolves));
        match done {
            Ok(()) => {}
            Err(away @ Setback::Unavailable { .. }) => return Err(away),
            Err(Setback::Obstructed(obstacle)) => {
                let why = format!("the thread could not be answered: {}", said(obstacle));
                failed.push((reply.task.clone(), why));
            }
        }
    }
    Ok(ForgeReport::Replied { failed })
}

fn one(
    caller: &Caller,
    slug: &Slug,
    reply: &Reply,
    (answers, resolves): (Toggle, Toggle),
) -> Result<(), Setback> {
    let thread = data(&caller.call(&ForgeCommand::thread(slug, &reply.thread)))?;
    if answers.is_on() && !reply.is_given(&thread) {
        data(&caller.call(&ForgeCommand::answer(slug, &reply.thread, &reply.body())))?;
    }
    let is_resolved = thread.pointer("/node/isResolved").and_then(Value::as_bool).unwrap_or_default();
    if resolves.is_on() && !is_resolved {
        data(&caller.call(&ForgeCommand::resolve(slug, &reply.thread)))?;
    }
    Ok(())
}

//! The activities of a worker: a decision is recorded, an order is carried out in a seat.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::{Action, Record, Seen, State, Status};
use temporalio_client::WorkflowQueryOptions;
use temporalio_common::error::ApplicationFailure;
use temporalio_macros::activities;
use temporalio_sdk::activities::{ActivityContext, ActivityError};

use crate::decision::Decision;
use crate::git::Pushed;
use crate::order::{Answer, Order, Wanted};
use crate::program::{self, Outcome, Request};
use crate::seat::Seat;
use crate::workflow::Run;

/// The wait of an order that this worker does not take, until another one is asked.
const ELSEWHERE: Duration = Duration::from_secs(2);

/// The wait between two signs of life where nobody says how many are wanted.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// A worker's hands.
#[derive(Clone, Debug)]
pub(crate) struct Hands {
    /// The folder with its seats.
    pub(crate) folder: PathBuf,
    /// The plain program.
    pub(crate) program: PathBuf,
    /// The remotes that it works for.
    pub(crate) repositories: Vec<String>,
}

#[activities]
impl Hands {
    /// Gives back a decision: what is in the history then is what was decided, whoever replays it.
    #[activity]
    pub(crate) async fn record(_ctx: ActivityContext, decision: Decision) -> Result<Decision, ActivityError> {
        Ok(decision)
    }

    /// Carries out an order. Signs of life go on from the first line to the last.
    #[activity]
    pub(crate) async fn carry_out(
        self: Arc<Self>,
        ctx: ActivityContext,
        order: Order,
    ) -> Result<Answer, ActivityError> {
        let _signs = SignsOfLife::begin(&ctx);
        if !self.repositories.iter().any(|pattern| matches(pattern, &order.site.remote)) {
            let reason = format!("no worker that was asked takes work for {}", order.site.remote);
            return Err(again(reason, Some(ELSEWHERE)));
        }
        let prepared = tokio::select! {
            prepared = self.prepared(&ctx, &order) => prepared?,
            () = ctx.cancelled() => return Err(ActivityError::cancelled()),
        };
        let (seat, state) = prepared;
        let plan = order.site.plan.as_str();
        let (request, is_opening) = match &order.what {
            Wanted::Tidy => {
                seat.tidy(&order.site).await.map_err(|error| again(error.to_string(), None))?;
                return Ok(Answer::default());
            }
            Wanted::Open(flags) => (Request::Open { plan, flags }, true),
            Wanted::Do(actions) => (Request::CarryOut { plan, state: &state, actions }, false),
        };
        let carried = program::carry_out((&self.program, seat.git.root()), request, ctx.cancelled()).await;
        let answer = match carried {
            Ok(Outcome::Answered(answer)) => answer,
            Ok(Outcome::TakenBack) => return Err(ActivityError::cancelled()),
            // What is wrong with the plan or the flags is so everywhere.
            Err(reason) if is_opening => {
                return Err(ActivityError::application(ApplicationFailure::non_retryable(reason)));
            }
            Err(reason) => return Err(again(reason, None)),
        };
        hand_in(&seat, &order, answer).await.map_err(|error| again(error.to_string(), None))
    }
}

impl Hands {
    /// A seat that shows what the order is about, and the state of the run. The state is asked for first: whatever it
    /// says was committed is there then.
    async fn prepared(&self, ctx: &ActivityContext, order: &Order) -> Result<(Seat, State), ActivityError> {
        let state = match &order.what {
            Wanted::Open(_) | Wanted::Tidy => State::default(),
            Wanted::Do(_) => {
                let run = ctx.workflow_handle::<Run>().ok_or_else(|| again("no run asks for it", None))?;
                run.query(Run::standing, (), WorkflowQueryOptions::default()).await?.state.content
            }
        };
        let Wanted::Do(actions) = &order.what else { return Ok((self.seat(order, None).await?, state)) };
        let base = actions.first().and_then(|action| base_of(&state, action));
        Ok((self.seat(order, base).await?, state))
    }

    async fn seat(&self, order: &Order, commit: Option<&str>) -> Result<Seat, ActivityError> {
        let git = |error: crate::git::GitError| again(error.to_string(), None);
        let seat = Seat::take(&self.folder, &order.site).await.map_err(git)?;
        seat.show(&order.site, commit).await.map_err(git)?;
        Ok(seat)
    }
}

/// The commit on which an agent works; none for what is about the branch as it is now.
fn base_of<'a>(state: &'a State, action: &Action) -> Option<&'a str> {
    let (Action::RunAgent { task, .. } | Action::Check { task, .. } | Action::RunJudge { task, .. }) = action
    else {
        return None;
    };
    let task = state.task(task)?;
    if let Status::Running(running) = &task.status {
        return running.head.as_deref();
    }
    task.work.as_ref().map(|work| work.base.as_str())
}

/// Hands in what an order came to: work becomes a reference at the remote, and what was landed comes onto the branch.
/// Where somebody else was first, it did not come in.
async fn hand_in(seat: &Seat, order: &Order, mut answer: Answer) -> Result<Answer, crate::git::GitError> {
    for seen in &answer.seen {
        if let Seen::Packed { commit: Some(commit), .. } = seen {
            seat.keep(&order.site, commit).await?;
        }
    }
    let is_recorded = |seen: &Seen| {
        matches!(seen, Seen::Recorded { record: Record::Kept { .. }, .. } | Seen::FixInserted { .. })
    };
    if !order.what.writes() || !answer.seen.iter().any(is_recorded) {
        return Ok(answer);
    }
    let instead = match seat.bring_in(&order.site).await? {
        None | Some(Pushed::Done) => return Ok(answer),
        Some(Pushed::Moved) => Record::Moved,
        Some(Pushed::Refused(reason)) => {
            Record::Blocked { reason: format!("{} does not take the work: {reason}", order.site.remote) }
        }
    };
    // A fix task that is not in the plan is written again.
    answer.seen.retain(|seen| !matches!(seen, Seen::FixInserted { .. }));
    for seen in &mut answer.seen {
        if let Seen::Recorded { record, .. } = seen {
            *record = instead.clone();
        }
    }
    Ok(answer)
}

/// A failure after which an order is given again, here or elsewhere.
fn again(reason: impl Into<String>, after: Option<Duration>) -> ActivityError {
    let failure = ApplicationFailure::builder(reason.into());
    ActivityError::application(failure.maybe_next_retry_delay(after).build())
}

/// True if a text is what a pattern says, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(left) = text.strip_prefix(head) else { return false };
    left.char_indices().map(|(at, _)| at).chain([left.len()]).any(|at| matches(rest, &left[at..]))
}

/// Signs of life of an activity, until it ends.
struct SignsOfLife(tokio::task::JoinHandle<()>);

impl SignsOfLife {
    fn begin(ctx: &ActivityContext) -> Self {
        let ctx = ctx.clone();
        let every = ctx.info().heartbeat_timeout.map_or(SIGN_OF_LIFE, |timeout| timeout / 4);
        Self(tokio::spawn(async move {
            while ctx.record_heartbeat(()).await.is_ok() {
                tokio::time::sleep(every).await;
            }
        }))
    }
}

impl Drop for SignsOfLife {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_of_repositories() {
        let remote = "git@github.com:acme/shop.git";
        let table = [
            ("git@github.com:acme/*", true),
            ("*", true),
            ("git@github.com:acme/shop.git", true),
            ("*:acme/*.git", true),
            ("git@github.com:acme", false),
            ("git@github.com:other/*", false),
            ("*/shop", false),
        ];
        for (pattern, expected) in table {
            assert_eq!(matches(pattern, remote), expected, "{pattern}");
        }
    }
}

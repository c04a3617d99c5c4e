//! The workflow of a plan: it folds the engine's own state, has each decision recorded before it is acted upon, and has
//! workers carry out what is wanted.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use engine::{Directive, End, Event, Refusal, Seen, State, Versioned, weigh};
use jiff::Timestamp;
use temporalio_common::RetryPolicy;
use temporalio_macros::{workflow, workflow_methods};
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, ContinueAsNewOptions,
    LocalActivityOptions, SyncWorkflowContext, WaitConditionOptions, WorkflowCancellationToken,
    WorkflowContext, WorkflowContextView, WorkflowResult,
};

use crate::activities::Hands;
use crate::decision::{Decision, PlanKnown, UnderWay, propose};
use crate::order::{AGENT_QUEUE, Answer, Events, HOME_QUEUE, Order, Site, SoFar, Start, Wanted};

/// The number of events that go along when a history becomes too long, for whoever follows the run.
const EVENTS_KEPT_MAX: usize = 1_000;

/// The number of events that are handed out at once.
const EVENTS_ASKED_MAX: usize = 500;

/// The length of a history from which nothing new is started until it can be left behind.
const HISTORY_MAX: u32 = 40_000;

/// The number of times that an order is tried: workers die, networks fail.
const TRIES_MAX: u32 = 20;

/// The longest wait between two tries.
const TRY_AGAIN_MAX: Duration = Duration::from_secs(60);

/// The time that an order may take in all. An agent has limits of its own, which are far below it.
const ORDER_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The time in which a decision is recorded.
const RECORD_MAX: Duration = Duration::from_secs(10);

/// The workflow of a plan.
#[workflow]
#[derive(Default)]
pub(crate) struct Run {
    state: State,
    /// Seen and not decided on.
    inbox: Vec<Seen>,
    events: Vec<Event>,
    /// The number of events before those that are kept.
    gone: usize,
    /// Why the run could not begin.
    refused: Option<String>,
}

/// The state of a run, and why it could not begin if it has none.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Standing {
    pub(crate) state: Versioned<State>,
    pub(crate) refused: Option<String>,
}

type Ended = Result<Answer, ActivityExecutionError>;

/// An order under way.
struct Flight<'c> {
    order: Wanted,
    /// True if the branch was written to while it was under way.
    is_overtaken: bool,
    end: Pin<Box<dyn Future<Output = Ended> + 'c>>,
}

/// The news that the workflow waits for.
enum News {
    Ended(String, Ended),
    Cancelled,
    Told,
    Due,
}

#[workflow_methods]
impl Run {
    #[run]
    pub(crate) async fn run(ctx: &mut WorkflowContext<Self>, start: Start) -> WorkflowResult<Option<End>> {
        let ctx: &WorkflowContext<Self> = ctx;
        let mut begun = Begun::new(&start);
        if let Some(so_far) = &start.so_far {
            let so_far = so_far.as_ref().clone();
            ctx.state_mut(|run| {
                (run.state, run.gone, run.events) = (so_far.state, so_far.gone, so_far.events);
            });
        } else {
            begun.give(ctx, Wanted::Open(start.flags.clone()));
            let ended = begun.first_end().await;
            match ended {
                Ok(answer) => ctx.state_mut(|run| run.inbox.extend(answer.seen)),
                Err(error) => {
                    let reason = told(&error);
                    ctx.state_mut(|run| run.refused = Some(reason));
                    return Ok(None);
                }
            }
        }
        begun.go_on(ctx).await?;
        if ctx.state(|run| run.state.end().is_none()) {
            let so_far = ctx.state_mut(|run| {
                let kept = run.events.len().min(EVENTS_KEPT_MAX);
                let gone = run.events.len() - kept;
                SoFar { state: run.state.clone(), gone: run.gone + gone, events: run.events.split_off(gone) }
            });
            let next = Start { so_far: Some(Box::new(so_far)), ..start };
            ctx.continue_as_new(next, ContinueAsNewOptions::default())?;
        }
        begun.wind_up(ctx).await;
        Ok(ctx.state(|run| run.state.end().cloned()))
    }

    /// Where the run stands.
    #[query]
    pub(crate) fn standing(&self, _ctx: &WorkflowContextView) -> Standing {
        Standing { state: Versioned::new(self.state.clone()), refused: self.refused.clone() }
    }

    /// The events from a number on.
    #[query]
    pub(crate) fn events(&self, _ctx: &WorkflowContextView, from: usize) -> Events {
        let skipped = from.saturating_sub(self.gone);
        let events = self.events.iter().skip(skipped).take(EVENTS_ASKED_MAX).cloned().collect();
        Events { before: self.gone + skipped.min(self.events.len()), events }
    }

    /// Takes something that a person tells, or says why it has no effect.
    #[update]
    pub(crate) fn tell(
        &mut self,
        ctx: &mut SyncWorkflowContext<Self>,
        directive: Directive,
    ) -> Option<Refusal> {
        if self.state.has_taken(&directive.id) {
            return None;
        }
        let refused = weigh(&self.state, &directive, now(ctx.workflow_time())).err();
        if refused.is_none() {
            self.inbox.push(Seen::Directed(Box::new(directive)));
        }
        refused
    }
}

/// A run that has begun.
struct Begun<'c> {
    site: Site,
    lost_after: Duration,
    flights: BTreeMap<String, Flight<'c>>,
    /// Ends what is under way when the run ends.
    stop: WorkflowCancellationToken,
    known: PlanKnown,
    is_cancelled: bool,
}

impl<'c> Begun<'c> {
    fn new(start: &Start) -> Self {
        Self {
            site: start.site.clone(),
            lost_after: Duration::from_millis(start.lost_after_ms),
            flights: BTreeMap::new(),
            stop: WorkflowCancellationToken::new(),
            known: PlanKnown::Stale,
            is_cancelled: false,
        }
    }

    /// Goes on until the run has ended, or until its history is too long and nothing is under way.
    async fn go_on(&mut self, ctx: &'c WorkflowContext<Run>) -> WorkflowResult<()> {
        loop {
            let decision = self.decide(ctx).await?;
            if ctx.state(|run| run.state.end().is_some()) {
                return Ok(());
            }
            let is_full = ctx.history_length() > HISTORY_MAX;
            for order in decision.start.into_iter().filter(|_| !is_full) {
                self.give(ctx, order);
            }
            let is_to_be_left = ctx.continue_as_new_suggested() || is_full;
            if self.flights.is_empty() && is_to_be_left && ctx.state(|run| run.inbox.is_empty()) {
                return Ok(());
            }
            match self.news(ctx, decision.wake).await {
                News::Ended(key, ended) => self.take(ctx, &key, ended),
                News::Cancelled => {
                    self.is_cancelled = true;
                    ctx.state_mut(|run| run.inbox.push(Seen::Interrupted));
                }
                News::Told | News::Due => {}
            }
        }
    }

    /// Decides on what was seen, has that recorded, and applies it.
    async fn decide(&mut self, ctx: &WorkflowContext<Run>) -> WorkflowResult<Decision> {
        let under_way = UnderWay {
            keys: self.flights.keys().cloned().collect(),
            tasks: self.flights.values().flat_map(|flight| flight.order.tasks()).cloned().collect(),
        };
        let (at, known) = (now(ctx.workflow_time()), self.known);
        let seen = ctx.state_mut(|run| std::mem::take(&mut run.inbox));
        let proposed = ctx.state(|run| propose(&run.state, seen, (&under_way, known), at));
        if proposed.events.is_empty() && proposed.start.is_empty() {
            return Ok(proposed);
        }
        let options = LocalActivityOptions::builder()
            .start_to_close_timeout(RECORD_MAX)
            .cancellation_token(WorkflowCancellationToken::new())
            .build();
        let decision = ctx.execute_local_activity(Hands::record, proposed, options).await?;
        ctx.state_mut(|run| {
            for event in &decision.events {
                // It was applied to the same state when it was decided.
                if run.state.apply(event).is_ok() {
                    run.events.push(event.clone());
                }
            }
        });
        Ok(decision)
    }

    /// Gives an order to whoever has room for it.
    fn give(&mut self, ctx: &'c WorkflowContext<Run>, order: Wanted) {
        let queue = if order.needs_slot() { AGENT_QUEUE } else { HOME_QUEUE };
        let retries =
            RetryPolicy::builder().maximum_attempts(TRIES_MAX).maximum_interval(TRY_AGAIN_MAX).build();
        let options = ActivityOptions::with_start_to_close_timeout(ORDER_MAX)
            .heartbeat_timeout(self.lost_after)
            .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
            .cancellation_token(self.stop.clone())
            .task_queue(queue)
            .retry_policy(retries)
            .summary(order.key())
            .build();
        let sent = Order { site: self.site.clone(), what: order.clone() };
        let end = Box::pin(ctx.execute_activity(Hands::carry_out, sent, options));
        let is_overtaken = self.flights.values().any(|flight| flight.order.writes());
        self.flights.insert(order.key(), Flight { order, is_overtaken, end });
    }

    /// Takes in the end of an order.
    fn take(&mut self, ctx: &WorkflowContext<Run>, key: &str, ended: Ended) {
        let Some(flight) = self.flights.remove(key) else { return };
        let writes = flight.order.writes();
        if writes {
            self.flights.values_mut().for_each(|other| other.is_overtaken = true);
        }
        let is_overtaken = flight.is_overtaken || self.flights.values().any(|other| other.order.writes());
        let seen = match ended {
            Ok(answer) => answer.seen,
            Err(ActivityExecutionError::Cancelled(_)) => vec![Seen::Interrupted],
            Err(error) => vec![Seen::Obstructed { reason: told(&error) }],
        };
        let is_read = seen.iter().any(|seen| matches!(seen, Seen::PlanRead(_)));
        self.known = if is_read && !is_overtaken && !writes { PlanKnown::Read } else { PlanKnown::Stale };
        // What was read of the plan may be older than what has come in since.
        let is_good = |seen: &Seen| !(is_overtaken && matches!(seen, Seen::PlanRead(_)));
        ctx.state_mut(|run| run.inbox.extend(seen.into_iter().filter(is_good)));
    }

    /// The end of the first order that ends.
    async fn first_end(&mut self) -> Ended {
        let flights = &mut self.flights;
        let (key, ended) = poll_fn(|context| {
            for (key, flight) in flights.iter_mut() {
                if let Poll::Ready(ended) = flight.end.as_mut().poll(context) {
                    return Poll::Ready((key.clone(), ended));
                }
            }
            Poll::Pending
        })
        .await;
        self.flights.remove(&key);
        ended
    }

    /// Waits for something to happen.
    async fn news(&mut self, ctx: &WorkflowContext<Run>, wake: Option<Timestamp>) -> News {
        let apart = WaitConditionOptions::builder().cancellation_token(WorkflowCancellationToken::new());
        let mut told =
            Box::pin(ctx.wait_condition_with_options(|run: &Run| !run.inbox.is_empty(), apart.build()));
        let mut cancelled = Box::pin(ctx.cancelled());
        let at = now(ctx.workflow_time());
        let wait = wake.map(|wake| Duration::try_from(wake.duration_since(at)).unwrap_or_default());
        let mut due = wait.map(|wait| Box::pin(ctx.timer(wait.max(Duration::from_millis(1)))));
        let (flights, is_cancelled) = (&mut self.flights, self.is_cancelled);
        poll_fn(|context| {
            for (key, flight) in flights.iter_mut() {
                if let Poll::Ready(ended) = flight.end.as_mut().poll(context) {
                    return Poll::Ready(News::Ended(key.clone(), ended));
                }
            }
            if !is_cancelled && cancelled.as_mut().poll(context).is_ready() {
                return Poll::Ready(News::Cancelled);
            }
            if told.as_mut().poll(context).is_ready() {
                return Poll::Ready(News::Told);
            }
            let is_due = due.as_mut().is_some_and(|due| due.as_mut().poll(context).is_ready());
            if is_due { Poll::Ready(News::Due) } else { Poll::Pending }
        })
        .await
    }

    /// After the end: what is still under way is ended and waited for, and what is of no use any more goes.
    async fn wind_up(&mut self, ctx: &'c WorkflowContext<Run>) {
        self.stop.cancel();
        while !self.flights.is_empty() {
            // The run is over, whatever they came to.
            let _ = self.first_end().await;
        }
        if ctx.state(|run| matches!(run.state.end(), Some(End::Complete { .. }))) {
            self.stop = WorkflowCancellationToken::new();
            self.give(ctx, Wanted::Tidy);
            // References that stay are litter and no more.
            let _ = self.first_end().await;
        }
    }
}

/// The reason of an activity that failed, without what the server says around it.
fn told(error: &ActivityExecutionError) -> String {
    error.reason().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The time of the workflow, to the millisecond.
fn now(time: Option<std::time::SystemTime>) -> Timestamp {
    let at = time.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(Timestamp::UNIX_EPOCH);
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

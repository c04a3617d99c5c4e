//! Keepers that stand by: started while there is time, so that a command need not wait for its own.
//!
//! One task on the runtime's thread owns them all. Whoever starts a command there asks it for one of them, and there is
//! one or not: a command is given to a keeper that stands by at most once, and otherwise gets a keeper of its own.
//!
//! ```text
//!  top up ──▶ ┌──────┐
//!  start ───▶ │ pool │ ──a keeper, or none──▶ supervision of the command
//!  dismiss ─▶ └──────┘
//! ```

use std::collections::VecDeque;
use std::future;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::ended::Ended;
use super::handle::{Handle, start_with};
use super::invocation::Invocation;
use super::keeper::{CommandLine, Order, OrderWriter, order_pipe};
use super::keeper_child::{KeeperChild, StartError};
use super::listener::{Deaf, Listener};

/// Starts commands, on keepers that stand by if there are any. Once it is dropped, none stands by any more.
#[derive(Debug)]
pub struct Standby {
    runtime: tokio::runtime::Handle,
    requests: UnboundedSender<Request>,
}

/// What the owner of the keepers is asked for.
#[derive(Debug)]
enum Request {
    TopUp(Wish),
    Take(oneshot::Sender<StandingBy>),
    Dismiss,
}

/// How many are to stand by, from when on.
#[derive(Debug, Clone, Copy)]
struct Wish {
    count: usize,
    at: Instant,
    /// How many may still be started for it: where they all end at once, it is not tried for ever.
    starts_left: usize,
}

impl Standby {
    /// Without any keepers yet. They are started on the runtime's thread, which must live as long as they do.
    pub fn on(runtime: tokio::runtime::Handle) -> Self {
        let (requests, receiver) = unbounded_channel();
        runtime.spawn(Pool::default().serve(receiver));
        Self { runtime, requests }
    }

    /// The runtime on whose thread they are started.
    pub fn runtime(&self) -> &tokio::runtime::Handle {
        &self.runtime
    }

    /// Has this many stand by after some time, in which nothing is started for that. A later wish replaces this one.
    pub fn top_up(&self, count: usize, after: Duration) {
        let now = Instant::now();
        self.ask(Request::TopUp(Wish {
            count,
            at: now.checked_add(after).unwrap_or(now),
            starts_left: count,
        }));
    }

    /// Starts a process as [`start`](super::start) does, on a keeper that stands by if there is one.
    pub fn start(&self, invocation: Invocation, on_end: impl FnOnce(Ended) + Send + 'static) -> Handle {
        self.start_listening(invocation, Deaf, |ended, Deaf| on_end(ended))
    }

    /// Starts a process that somebody listens to while it runs. The listener is handed back with the end.
    pub fn start_listening<L: Listener>(
        &self,
        invocation: Invocation,
        listener: L,
        on_end: impl FnOnce(Ended, L) + Send + 'static,
    ) -> Handle {
        let (reply, keeper) = oneshot::channel();
        let (order, has_input) = (encoded_order(&invocation), invocation.stdin.is_some());
        if order.is_some() {
            self.ask(Request::Take(reply));
        }
        let ready = async move {
            let (order, keeper) = (order?, keeper.await.ok()?);
            Some(Ready { keeper, order, has_input })
        };
        start_with(&self.runtime, ready, (invocation, listener), on_end)
    }

    /// Ends all that stand by, and lets none stand by any more. It does not wait for their end.
    pub fn dismiss(&self) {
        self.ask(Request::Dismiss);
    }

    fn ask(&self, request: Request) {
        // After the end of all none stands by, and none need.
        let _ = self.requests.send(request);
    }
}

/// The order for a process, if it is not too long to be given to a keeper that stands by.
fn encoded_order(invocation: &Invocation) -> Option<Vec<u8>> {
    let command = CommandLine { argv: invocation.command.argv(), env: invocation.env.clone() };
    Order { command, cwd: invocation.cwd.clone(), has_input: invocation.stdin.is_some() }.encode()
}

/// The keepers that stand by, the oldest first.
#[derive(Debug, Default)]
struct Pool {
    keepers: VecDeque<StandingBy>,
    wish: Option<Wish>,
}

impl Pool {
    /// Does what is asked for until nobody asks any more.
    async fn serve(mut self, mut requests: UnboundedReceiver<Request>) {
        loop {
            // Somebody who waits for a keeper comes before those that nobody waits for.
            tokio::select! {
                biased;
                request = requests.recv() => match request {
                    Some(Request::TopUp(wish)) => self.wish = Some(wish),
                    Some(Request::Take(reply)) => self.hand_out(reply),
                    Some(Request::Dismiss) | None => break,
                },
                () = due(self.wish) => self.start_one(),
            }
        }
        self.keepers.into_iter().for_each(StandingBy::dismiss);
    }

    fn hand_out(&mut self, reply: oneshot::Sender<StandingBy>) {
        self.drop_ended();
        if let Some(oldest) = self.keepers.pop_front() {
            // If nobody waits for it any more, it goes on standing by.
            self.keepers.extend(reply.send(oldest).err());
        }
    }

    /// Starts one of those that are wanted. The wish is forgotten when all are there, and also when one cannot be
    /// started: the commands will say why.
    fn start_one(&mut self) {
        self.drop_ended();
        let wish = self.wish.take().filter(|wish| self.keepers.len() < wish.count && wish.starts_left > 0);
        if let Some(wish) = wish
            && let Ok(keeper) = StandingBy::start()
        {
            self.keepers.push_back(keeper);
            self.wish = Some(Wish { starts_left: wish.starts_left - 1, ..wish });
        }
    }

    /// Somebody may have killed them, and where namespaces cannot be set up they end by themselves.
    fn drop_ended(&mut self) {
        self.keepers.retain_mut(|standing| standing.keeper.is_running());
    }
}

async fn due(wish: Option<Wish>) {
    match wish {
        Some(wish) => sleep_until(wish.at).await,
        None => future::pending().await,
    }
}

/// A keeper that stands by.
#[derive(Debug)]
struct StandingBy {
    keeper: KeeperChild,
    order: OrderWriter,
}

impl StandingBy {
    fn start() -> Result<Self, StartError> {
        let program = || "a keeper".to_owned();
        let (reader, order) =
            order_pipe().map_err(|source| StartError::Spawn { program: program(), source })?;
        Ok(Self { keeper: KeeperChild::stand_by(&reader)?, order })
    }

    /// It would end by itself when the pipe is closed, but perhaps not before it is all set up.
    fn dismiss(self) {
        self.keeper.kill();
    }
}

/// A keeper that stands by, and what it is to do.
pub(super) struct Ready {
    keeper: StandingBy,
    order: Vec<u8>,
    has_input: bool,
}

impl Ready {
    /// Gives the order; none if nobody is there any more to take it.
    pub(super) fn go(self) -> Option<KeeperChild> {
        let StandingBy { mut keeper, order } = self.keeper;
        if self.has_input {
            keeper.feed_through(order.input().ok()?).ok()?;
        }
        order.give(&self.order).ok().map(|()| keeper)
    }
}

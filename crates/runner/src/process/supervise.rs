//! Watching over one keeper: feeds and reads the pipes, holds the deadlines, stops what must stop.
//!
//! One task owns everything, so that nothing is shared and every wait has its deadline.
//!
//! ```text
//!  Running ──limit or stop──▶ Terminating ──grace over──▶ Killing ──still there──▶ Forcing
//!     └──────────┬─────────────────┴───────────────────────┴──────────────────────────┤
//!           keeper ended ──▶ Draining ──pipes closed, or time over──▶ end ◀── time over
//! ```
//!
//! In a dialogue the other side is told before it is terminated (Leaving), and one that is no longer needed has its
//! input closed and may end by itself (Dismissed).

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant as StdInstant};
use std::{future, io};

use nix::sys::signal::{Signal, kill};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until, timeout};

use crate::process::capture::Capture;
use crate::process::clock::lost_time;
use crate::process::handle::{Ended, Exit, Invocation, ProcessLimits, Request};
use crate::process::keeper::{CANNOT_START_CODES, CANNOT_START_PREFIX, KILL_ALL};
use crate::process::keeper_child::{KeeperChild, KeeperEnd, KeeperPipes, StartError, expect_folder};
use crate::process::lines::{Heard, Lines, Listener, Reply};
use crate::process::printable::printable;

/// The time that the pipes may stay open after the keeper has ended: something that got away may hold them.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);
/// The number of reads from the pipes when that time is over: two of them hold no more.
const LAST_READS_MAX: usize = 128;
/// The time a keeper may take to kill everything; the keeper itself gives up a little earlier.
const KILLING_TIME_MAX: Duration = Duration::from_secs(17);
/// The time a killed keeper may take to disappear.
const FORCING_TIME_MAX: Duration = Duration::from_secs(2);
/// The time the other side of a dialogue may take to stop what it is doing before it is terminated.
const LEAVING_TIME_MAX: Duration = Duration::from_secs(5);
/// The time one may take to end that is no longer needed.
const DISMISSED_TIME_MAX: Duration = Duration::from_secs(2);
/// Stands for "never" where a time lies too far ahead to be expressed.
const FAR_AHEAD: Duration = Duration::from_secs(60 * 60 * 24 * 365);
/// The bytes that may wait to be read by the other side of a dialogue.
const UNREAD_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The bytes that are read from a pipe at once. Most is far less, and every process has two buffers of this size.
const READ_BYTES: usize = 16 * 1024;

/// A running keeper and everything that is known about it.
pub(super) struct Supervision<L> {
    child: KeeperChild,
    pipes: Pipes,
    listener: L,
    lines: Lines,
    stdout: Capture,
    stderr: Capture,
    requests: Option<UnboundedReceiver<Request>>,
    limits: ProcessLimits,
    deadline_at: Instant,
    progress_at: Instant,
    /// The time in which this program had been stopped, as far as the deadlines know of it.
    stopped: Duration,
    phase: Phase,
    /// The reason why we ended it, if we did.
    cause: Option<Exit>,
    status: Option<ExitStatus>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Leaving { term_at: Instant },
    Dismissed { term_at: Instant },
    Terminating { kill_at: Instant },
    Killing { force_at: Instant },
    Forcing { give_up_at: Instant },
    Draining { until: Instant },
    Over,
}

/// A keeper that started nothing; another one can.
pub(super) struct Unable<L> {
    pub(super) requests: Option<UnboundedReceiver<Request>>,
    pub(super) listener: L,
}

/// The cause that woke the task.
enum Woken {
    Requested(Option<Request>),
    Ended(KeeperEnd),
    Piped(Piped),
    TimePassed,
}

impl<L: Listener> Supervision<L> {
    /// Starts the keeper.
    pub(super) fn begin(
        invocation: &Invocation,
        [stdout, stderr]: [Capture; 2],
        requests: Option<UnboundedReceiver<Request>>,
        listener: L,
    ) -> Result<Self, (StartError, L)> {
        let mut child = match keeper_for(invocation) {
            Ok(child) => child,
            Err(error) => return Err((error, listener)),
        };
        let pipes = Pipes::of(child.take_pipes(), invocation.stdin.clone(), listener.is_dialogue());
        let now = Instant::now();
        Ok(Self {
            child,
            pipes,
            listener,
            lines: Lines::default(),
            stdout,
            stderr,
            requests,
            limits: invocation.limits,
            deadline_at: after(now, invocation.limits.deadline),
            progress_at: now,
            stopped: lost_time().stopped,
            phase: Phase::Running,
            cause: None,
            status: None,
        })
    }

    /// Watches until everything is over.
    pub(super) async fn until_end(mut self, started: StdInstant) -> Result<(Ended, L), Unable<L>> {
        while self.phase != Phase::Over {
            match self.woken().await {
                Woken::Requested(request) => self.requested(request),
                Woken::Ended(KeeperEnd::AsCommand(status)) => self.ended(status),
                Woken::Ended(KeeperEnd::Unable) if self.phase == Phase::Running => {
                    return Err(Unable { requests: self.requests, listener: self.listener });
                }
                // Nothing was started yet, and now nothing need be.
                Woken::Ended(KeeperEnd::Unable) => {
                    self.ended(Ok(ExitStatus::from_raw(Signal::SIGTERM as i32)))
                }
                Woken::Piped(piped) => self.piped(piped),
                Woken::TimePassed => self.time_passed(),
            }
        }
        self.read_rest().await;
        if let Some(rest) = self.lines.rest() {
            // Nobody is left to be answered.
            let _ = self.listener.hear(rest);
        }
        let exit = self.cause.unwrap_or_else(|| exit_of(self.status, &self.stdout, &self.stderr));
        let (stdout, stderr) = (self.stdout.finish(), self.stderr.finish());
        let (elapsed, limit) = (started.elapsed(), self.limits.deadline);
        Ok((Ended { exit, stdout, stderr, elapsed, limit }, self.listener))
    }

    /// Reads what lies in the pipes. Where a machine has much else to do, the time for that may be over before it was
    /// looked at once, and the last that a command said is what counts.
    async fn read_rest(&mut self) {
        for _ in 0..LAST_READS_MAX {
            if self.pipes.all_read() {
                return;
            }
            let Ok(piped) = timeout(Duration::ZERO, self.pipes.next()).await else { return };
            self.piped(piped);
        }
    }

    async fn woken(&mut self) -> Woken {
        let next = self.next_time();
        tokio::select! {
            request = received(&mut self.requests) => Woken::Requested(request),
            end = self.child.wait(), if self.status.is_none() => Woken::Ended(end),
            piped = self.pipes.next() => Woken::Piped(piped),
            () = sleep_until(next) => Woken::TimePassed,
        }
    }

    fn requested(&mut self, request: Option<Request>) {
        match request {
            Some(Request::Stop) if self.phase == Phase::Running => self.leave(Exit::Stopped),
            Some(Request::Kill) => self.kill_all(),
            Some(Request::Stop) => {}
            None => self.requests = None,
        }
    }

    fn ended(&mut self, status: io::Result<ExitStatus>) {
        // What ends by itself is asked how, though it is no longer needed.
        if matches!(self.phase, Phase::Dismissed { .. }) {
            self.cause = None;
        }
        // A status that cannot be read counts as the keeper's being killed.
        self.status = Some(status.unwrap_or_else(|_| ExitStatus::from_raw(Signal::SIGKILL as i32)));
        self.phase = match self.pipes.all_read() {
            true => Phase::Over,
            false => Phase::Draining { until: after(Instant::now(), DRAIN_TIME_MAX) },
        };
    }

    fn piped(&mut self, piped: Piped) {
        match piped {
            Piped::Fed => {}
            Piped::Stdout(bytes) => {
                self.stdout.take(&self.pipes.stdout.buffer[..bytes]);
                if self.listener.wants_lines() {
                    self.listen(bytes);
                }
            }
            Piped::Stderr(bytes) => self.stderr.take(&self.pipes.stderr.buffer[..bytes]),
        }
        let now = Instant::now();
        if !matches!(piped, Piped::Fed) && self.listener.take_progress() {
            self.progress_at = now;
        }
        if self.status.is_some() && self.pipes.all_read() {
            self.phase = Phase::Over;
        }
        // A flood keeps the pipes ready all the time, and a timer that has to wait for them comes late then.
        if self.phase != Phase::Over && now >= self.next_time() {
            self.time_passed();
        }
    }

    /// Hands every line that is complete now to the listener.
    fn listen(&mut self, bytes: usize) {
        let mut replies = Vec::new();
        let (lines, listener) = (&mut self.lines, &mut self.listener);
        lines.split(&self.pipes.stdout.buffer[..bytes], &mut |heard| replies.push(listener.hear(heard)));
        for reply in replies {
            self.reply(reply);
        }
    }

    fn reply(&mut self, reply: Reply) {
        match reply {
            Reply::Nothing => {}
            Reply::Say(text) => self.pipes.say(&text),
            Reply::Dismiss => self.dismiss(),
        }
    }

    /// Ends the input of what is no longer needed, and gives it some time to end by itself.
    fn dismiss(&mut self) {
        self.pipes.stdin = None;
        match self.phase {
            Phase::Running => {
                self.cause = Some(Exit::Code(0));
                self.phase = Phase::Dismissed { term_at: after(Instant::now(), DISMISSED_TIME_MAX) };
            }
            Phase::Leaving { .. } => self.terminate(),
            Phase::Dismissed { .. }
            | Phase::Terminating { .. }
            | Phase::Killing { .. }
            | Phase::Forcing { .. }
            | Phase::Draining { .. }
            | Phase::Over => {}
        }
    }

    /// When there is something to do next without news: a limit, or last lines to show.
    fn next_time(&self) -> Instant {
        let show_at = [&self.stdout, &self.stderr].into_iter().filter_map(Capture::show_at).min();
        show_at.map_or(self.limit_at(), |at| at.min(self.limit_at()))
    }

    fn limit_at(&self) -> Instant {
        match self.phase {
            Phase::Running => self.no_progress_at().map_or(self.deadline_at, |at| at.min(self.deadline_at)),
            Phase::Leaving { term_at: at }
            | Phase::Dismissed { term_at: at }
            | Phase::Terminating { kill_at: at }
            | Phase::Killing { force_at: at }
            | Phase::Forcing { give_up_at: at }
            | Phase::Draining { until: at } => at,
            Phase::Over => Instant::now(),
        }
    }

    fn no_progress_at(&self) -> Option<Instant> {
        self.limits.no_progress.map(|limit| after(self.progress_at, limit))
    }

    /// Moves the deadlines by the time in which this program was stopped; true if it was.
    fn leave_out_stop(&mut self) -> bool {
        let stopped = lost_time().stopped;
        let by = stopped.saturating_sub(self.stopped);
        self.stopped = stopped;
        (self.deadline_at, self.progress_at) = (after(self.deadline_at, by), after(self.progress_at, by));
        !by.is_zero()
    }

    fn time_passed(&mut self) {
        let now = Instant::now();
        for capture in [&mut self.stdout, &mut self.stderr] {
            if capture.show_at().is_some_and(|at| at <= now) {
                capture.show();
            }
        }
        if now >= self.limit_at() {
            self.limit_passed();
        }
    }

    fn limit_passed(&mut self) {
        if self.phase == Phase::Running && self.leave_out_stop() && Instant::now() < self.limit_at() {
            return;
        }
        match self.phase {
            Phase::Running if Instant::now() >= self.deadline_at => self.leave(Exit::DeadlinePassed),
            Phase::Running => self.leave(Exit::NoProgress),
            Phase::Leaving { .. } | Phase::Dismissed { .. } => self.terminate(),
            Phase::Terminating { .. } => self.kill_all(),
            Phase::Killing { .. } => self.force(),
            Phase::Forcing { .. } | Phase::Draining { .. } | Phase::Over => self.phase = Phase::Over,
        }
    }

    /// Ends it. The other side of a dialogue is told first, so that it can stop its tools itself.
    fn leave(&mut self, cause: Exit) {
        self.cause = Some(cause);
        if !self.listener.is_dialogue() {
            return self.terminate();
        }
        self.phase = Phase::Leaving { term_at: after(Instant::now(), LEAVING_TIME_MAX) };
        let reply = self.listener.hear(Heard::Stopping);
        self.reply(reply);
    }

    fn terminate(&mut self) {
        self.signal(Signal::SIGTERM);
        self.phase = Phase::Terminating { kill_at: after(Instant::now(), self.limits.grace) };
    }

    fn kill_all(&mut self) {
        match self.phase {
            Phase::Running | Phase::Leaving { .. } | Phase::Dismissed { .. } | Phase::Terminating { .. } => {
                self.cause.get_or_insert(Exit::Stopped);
                self.signal(KILL_ALL);
                self.phase = Phase::Killing { force_at: after(Instant::now(), KILLING_TIME_MAX) };
            }
            Phase::Killing { .. } | Phase::Forcing { .. } | Phase::Draining { .. } | Phase::Over => {}
        }
    }

    /// Kills the keeper itself, which in a namespace takes everything with it.
    fn force(&mut self) {
        self.signal(Signal::SIGKILL);
        self.phase = Phase::Forcing { give_up_at: after(Instant::now(), FORCING_TIME_MAX) };
    }

    fn signal(&self, signal: Signal) {
        // There is no number once the keeper was reaped, so nothing else can be hit.
        if let Some(pid) = self.child.pid() {
            // It may be ending just now.
            let _ = kill(pid, signal);
        }
    }
}

fn keeper_for(invocation: &Invocation) -> Result<KeeperChild, StartError> {
    expect_folder(&invocation.cwd)?;
    KeeperChild::start(invocation)
}

/// The pipes to and from a process.
struct Pipes {
    stdin: Option<Feed>,
    stdout: Drain<ChildStdout>,
    stderr: Drain<ChildStderr>,
}

/// A text on its way to a process.
struct Feed {
    pipe: ChildStdin,
    text: String,
    written: usize,
    /// True if more may follow.
    stays_open: bool,
}

/// An output that is being read into a buffer.
struct Drain<P> {
    pipe: Option<P>,
    buffer: Vec<u8>,
}

/// The news from one of the pipes; the numbers say how many bytes are in its buffer.
enum Piped {
    Fed,
    Stdout(usize),
    Stderr(usize),
}

impl Pipes {
    fn of(pipes: KeeperPipes, text: Option<String>, stays_open: bool) -> Self {
        let KeeperPipes { stdin, stdout, stderr } = pipes;
        let stdin = stdin.zip(text).map(|(pipe, text)| Feed { pipe, text, written: 0, stays_open });
        Self { stdin, stdout: Drain::of(stdout), stderr: Drain::of(stderr) }
    }

    /// Adds to what is on its way, unless the process does not read what is there already.
    fn say(&mut self, text: &str) {
        let Some(feed) = &mut self.stdin else { return };
        if feed.text.len() - feed.written < UNREAD_BYTES_MAX {
            feed.text.push_str(text);
        }
    }

    /// True if both outputs have ended.
    fn all_read(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// Waits for any of the pipes. Nothing is lost if the wait is given up.
    async fn next(&mut self) -> Piped {
        tokio::select! {
            () = feed(&mut self.stdin) => Piped::Fed,
            bytes = self.stdout.read() => Piped::Stdout(bytes),
            bytes = self.stderr.read() => Piped::Stderr(bytes),
        }
    }
}

impl<P: AsyncRead + Unpin> Drain<P> {
    fn of(pipe: Option<P>) -> Self {
        Self { pipe, buffer: vec![0; READ_BYTES] }
    }

    /// Reads some bytes; an output that ended or failed yields none, and nothing ever after.
    async fn read(&mut self) -> usize {
        let Some(pipe) = &mut self.pipe else { return future::pending().await };
        let bytes = pipe.read(&mut self.buffer).await.unwrap_or(0);
        if bytes == 0 {
            self.pipe = None;
        }
        bytes
    }
}

/// Writes some of the text and closes the pipe after the last of it. A process need not read its input, so
/// a broken pipe is no failure.
async fn feed(stdin: &mut Option<Feed>) {
    let Some(feed) = stdin else { return future::pending().await };
    match feed.text.as_bytes().get(feed.written..) {
        Some(rest @ [_, ..]) => {
            if let Ok(written @ 1..) = feed.pipe.write(rest).await {
                feed.written += written;
                return;
            }
        }
        Some([]) | None if feed.stays_open => {
            feed.text.clear();
            feed.written = 0;
            return future::pending().await;
        }
        Some([]) | None => {}
    }
    *stdin = None;
}

/// The next request; without a handle left there is none.
async fn received(requests: &mut Option<UnboundedReceiver<Request>>) -> Option<Request> {
    match requests {
        Some(requests) => requests.recv().await,
        None => future::pending().await,
    }
}

/// The end of a process that was left to itself.
fn exit_of(status: Option<ExitStatus>, stdout: &Capture, stderr: &Capture) -> Exit {
    let code = status.and_then(|status| status.code());
    let signal = status.and_then(|status| status.signal()).unwrap_or(Signal::SIGKILL as i32);
    match code {
        None => Exit::Signal(signal),
        Some(code) => cannot_start(code, stdout, stderr).map_or(Exit::Code(code), Exit::CannotStart),
    }
}

/// The words of the keeper, if it said that it could not start the command. The command then wrote nothing, so a
/// program that only prints such a line among others is not taken for one.
fn cannot_start(code: i32, stdout: &Capture, stderr: &Capture) -> Option<String> {
    if !CANNOT_START_CODES.contains(&code) || !stdout.is_empty() {
        return None;
    }
    let line = stderr.only_line()?;
    let what = line.strip_prefix(CANNOT_START_PREFIX.as_bytes())?;
    Some(format!("cannot start {}", printable(what)))
}

/// A time from now; one too far ahead to be expressed is as good as never.
fn after(start: Instant, duration: Duration) -> Instant {
    start.checked_add(duration).unwrap_or_else(|| start + FAR_AHEAD)
}

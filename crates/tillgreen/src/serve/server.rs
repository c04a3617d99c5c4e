//! The server: addresses and what answers them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_core::Stream;
use runner::Project;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::asset::{Asset, PAGE, asset};
use super::guard::{Guard, guard};
use super::keeper::{Ask, Keeper};
use super::say::{Saying, say};
use super::texts::{Part, Texts};
use crate::args::Format;
use crate::command::stats;
use crate::error::{Error, Kind};
use crate::exit;
use crate::view::json;
use crate::view::trend::Trend;

/// Bytes of what somebody says.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Pages that are told what changes, and changes that wait for one of them.
const WATCHERS_MAX: usize = 64;
const WAITING_MAX: usize = 64;
/// Lines that are given where nobody says how many.
const LINES: usize = 200;

/// What is served, and where.
#[derive(Debug)]
pub(crate) struct Serving {
    pub(crate) project: Project,
    pub(crate) address: SocketAddr,
}

/// What the handlers share: the ends of channels.
#[derive(Clone)]
struct Desk {
    project: Project,
    keeper: Keeper,
    texts: Texts,
    watchers: Arc<Semaphore>,
}

/// Serves until the process is ended; `ready` is told the address to open.
pub(crate) fn serve(serving: Serving, ready: impl FnOnce(&str) -> Result<(), Error>) -> Result<(), Error> {
    let failed = |error| Error::new(Kind::Unavailable, "cannot serve").because(error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let Serving { project, address } = serving;
        let listener = TcpListener::bind(address).await.map_err(|error| taken(address, error))?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Guard::new(address).map_err(failed)?;
        let desk = Desk {
            keeper: Keeper::start(project.clone()).map_err(failed)?,
            texts: Texts::start().map_err(failed)?,
            project,
            watchers: Arc::new(Semaphore::new(WATCHERS_MAX)),
        };
        ready(&guard.url())?;
        axum::serve(listener, router(desk, guard)).await.map_err(failed)
    })
}

fn taken(address: SocketAddr, error: std::io::Error) -> Error {
    let other = SocketAddr::new(address.ip(), 0);
    Error::usage(format!("cannot listen on {address}"))
        .because(error)
        .hint(format!("`tillgreen serve --listen {other}` takes any port that is free"))
}

fn router(desk: Desk, guarding: Guard) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/statistics", get(page))
        .route("/r/{*rest}", get(page))
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
        .route("/page/{name}", get(file))
        .route("/api/runs", get(runs))
        .route("/api/run", get(whole))
        .route("/api/events", get(events))
        .route("/api/task", get(task))
        .route("/api/text", get(text))
        .route("/api/costs", get(costs))
        .route("/api/statistics", get(statistics))
        .route("/api/say", post(hear))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::new(guarding), guard))
        .with_state(desk)
}

fn sent(Asset { kind, text }: Asset) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn page() -> Response {
    sent(PAGE)
}

async fn file(Path(name): Path<String>) -> Response {
    asset(&name).map_or_else(|| StatusCode::NOT_FOUND.into_response(), sent)
}

/// A text that is JSON already.
fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn json_value(value: &impl Serialize) -> Response {
    json_text(json::text(value))
}

fn refused(error: &Error) -> Response {
    let status = match error.code() {
        exit::ANSWERED => StatusCode::CONFLICT,
        exit::USAGE => StatusCode::BAD_REQUEST,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, json_text(error.render(Format::Json))).into_response()
}

/// What the thread that was asked has answered.
async fn answered<T>(answer: oneshot::Receiver<Result<T, Error>>) -> Result<T, Response> {
    match answer.await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(refused(&error)),
        Err(_) => Err(StatusCode::INTERNAL_SERVER_ERROR.into_response()),
    }
}

/// What a thread for slow things has answered.
async fn slowly<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Response> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(refused(&error)),
        Err(_) => Err(StatusCode::INTERNAL_SERVER_ERROR.into_response()),
    }
}

async fn runs(State(desk): State<Desk>) -> Result<Response, Response> {
    let (reply, answer) = oneshot::channel();
    desk.keeper.ask(Ask::Runs(reply));
    let runs = answered(answer).await?;
    let now = jiff::Timestamp::now().as_millisecond();
    let folder = desk.project.root().display().to_string();
    Ok(json_value(&json!({ "now": now, "folder": folder, "runs": runs })))
}

#[derive(Deserialize)]
struct OfRun {
    run: String,
}

async fn whole(State(desk): State<Desk>, Query(OfRun { run }): Query<OfRun>) -> Result<Response, Response> {
    let (reply, answer) = oneshot::channel();
    desk.keeper.ask(Ask::Whole(run, reply));
    Ok(json_text(answered(answer).await?))
}

async fn costs(State(desk): State<Desk>, Query(OfRun { run }): Query<OfRun>) -> Result<Response, Response> {
    let (reply, answer) = oneshot::channel();
    desk.keeper.ask(Ask::Costs(run, reply));
    Ok(json_value(&answered(answer).await?))
}

#[derive(Deserialize)]
struct Known {
    run: String,
    generation: u32,
    after: usize,
}

/// Changes as they come, for one page.
struct Changes {
    changes: mpsc::Receiver<String>,
    _place: tokio::sync::OwnedSemaphorePermit,
}

impl Stream for Changes {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.changes.poll_recv(context).map(|change| change.map(|text| Ok(Event::default().data(text))))
    }
}

async fn events(State(desk): State<Desk>, Query(known): Query<Known>) -> Result<Response, Response> {
    let full = || (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open").into_response();
    let place = Arc::clone(&desk.watchers).try_acquire_owned().map_err(|_| full())?;
    let (watcher, changes) = mpsc::channel(WAITING_MAX);
    let Known { run, generation, after } = known;
    desk.keeper.ask(Ask::Watch { run, known: (generation, after), watcher });
    let stream = Changes { changes, _place: place };
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()).into_response())
}

#[derive(Deserialize)]
struct OfTask {
    run: String,
    task: String,
}

async fn task(State(desk): State<Desk>, Query(of): Query<OfTask>) -> Result<Response, Response> {
    let (reply, answer) = oneshot::channel();
    desk.keeper.ask(Ask::Task(of.run, of.task, reply));
    match answered(answer).await? {
        None => Err(StatusCode::NOT_FOUND.into_response()),
        Some(report) => {
            let told = move || Ok(report.with_feedback(crate::inspect::output::feedback));
            Ok(json_value(&slowly(told).await?))
        }
    }
}

#[derive(Deserialize)]
struct OfText {
    run: String,
    task: String,
    part: String,
    /// Which attempt, counted from 0; none for the task as a whole, or its latest.
    attempt: Option<usize>,
    /// None for the end.
    from: Option<usize>,
    count: Option<usize>,
    find: Option<String>,
}

async fn text(State(desk): State<Desk>, Query(of): Query<OfText>) -> Result<Response, Response> {
    let (reply, answer) = oneshot::channel();
    let OfText { run, task, part, attempt: place, from, count, find } = of;
    desk.keeper.ask(Ask::Text { run, task, place, part, reply });
    let wanted = answered(answer).await?;
    let count = count.unwrap_or(LINES);
    let part = match (find, from) {
        (Some(text), _) => Part::Hits(text),
        (None, Some(from)) => Part::Range { from, count },
        (None, None) => Part::End { count },
    };
    Ok(json_value(&answered(desk.texts.ask(wanted, part)).await?))
}

async fn statistics(State(desk): State<Desk>) -> Result<Response, Response> {
    let project = desk.project.clone();
    let trend = slowly(move || Ok(Trend::of(&stats::readable(&project)?)));
    Ok(json_value(&trend.await?))
}

async fn hear(State(desk): State<Desk>, body: Bytes) -> Result<Response, Response> {
    let saying: Saying = serde_json::from_slice(&body)
        .map_err(|error| refused(&Error::usage("this is nothing that can be said").because(error)))?;
    let (reply, answer) = oneshot::channel();
    desk.keeper.ask(Ask::Plan(saying.run().to_owned(), reply));
    let (file, subject) = answered(answer).await?;
    let project = desk.project.clone();
    let words = slowly(move || say(&project, file, subject, saying)).await?;
    Ok(json_value(&json!({ "said": Value::from(words) })))
}

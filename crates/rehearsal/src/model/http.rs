//! How agents reach the model: a bounded request, and a document or a stream of events in return, which may end as a
//! stream should not.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::mpsc::{Receiver, UnboundedSender, channel};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

use super::dispatcher::Message;
use super::reply::{Content, Reply, StreamEnd};
use super::wire::event::SseEvent;

/// Bytes of a request's body.
const BODY_BYTES_MAX: usize = 32 << 20;
/// How long a client may take to send its request.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);
/// What is sent before a stream is cut has this long to get there.
const CUT_AFTER: Duration = Duration::from_millis(50);
/// How many requests are served at once; more wait.
const REQUESTS_MAX: usize = 64;

/// A request as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// Without what follows a question mark.
    pub(super) path: String,
    pub(super) body: String,
}

/// What every request needs.
#[derive(Clone)]
struct Counter {
    requests: UnboundedSender<Message>,
    places: Arc<Semaphore>,
}

/// Hands all requests to the dispatcher, and its replies back.
pub(super) fn router(requests: UnboundedSender<Message>) -> Router {
    let places = Arc::new(Semaphore::new(REQUESTS_MAX));
    Router::new().fallback(take).with_state(Counter { requests, places })
}

async fn take(State(counter): State<Counter>, request: Request) -> Response {
    let _place = counter.places.acquire().await;
    let request = match read(request).await {
        Ok(request) => request,
        Err(refused) => return refused.into_response(),
    };
    let (sender, receiver) = oneshot::channel();
    let is_taken = counter.requests.send(Message::Request(request, sender)).is_ok();
    match receiver.await {
        Ok(reply) if is_taken => respond(reply).await,
        // The server is ending.
        Ok(_) | Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

async fn read(request: Request) -> Result<HttpRequest, (StatusCode, &'static str)> {
    if is_compressed(request.headers()) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "a compressed body"));
    }
    let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
    let body = timeout(REQUEST_TIME_MAX, to_bytes(request.into_body(), BODY_BYTES_MAX)).await;
    match body {
        Ok(Ok(body)) => Ok(HttpRequest { method, path, body: String::from_utf8_lossy(&body).into_owned() }),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "a body that is cut off or too long")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "a body that does not come")),
    }
}

fn is_compressed(headers: &HeaderMap) -> bool {
    let encoding = headers.get(header::CONTENT_ENCODING);
    encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

async fn respond(reply: Reply) -> Response {
    if !reply.delay.is_zero() {
        sleep(reply.delay).await;
    }
    // Each connection has one request, so that a stream that is cut is seen to be.
    let close = (header::CONNECTION, "close".to_owned());
    match reply.content {
        Content::Silence => std::future::pending().await,
        Content::Document { status, retry_after, body } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let kind = (header::CONTENT_TYPE, "application/json".to_owned());
            let mut response = (status, [close, kind], body.to_string()).into_response();
            if let Some(patience) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, seconds_up(patience).into());
            }
            response
        }
        Content::Stream { events, end } => {
            let kind = (header::CONTENT_TYPE, "text/event-stream; charset=utf-8".to_owned());
            let cache = (header::CACHE_CONTROL, "no-cache".to_owned());
            ([close, kind, cache], Body::from_stream(streamed(events, end))).into_response()
        }
    }
}

/// Events as they are sent, and what ends them.
struct Events(Receiver<io::Result<String>>);

impl Stream for Events {
    type Item = io::Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

fn streamed(events: Vec<SseEvent>, end: StreamEnd) -> Events {
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        for SseEvent(text) in events {
            // A client that has gone away hears no more.
            if sender.send(Ok(text)).await.is_err() {
                return;
            }
        }
        match end {
            StreamEnd::Closed => {}
            StreamEnd::Silence => sender.closed().await,
            StreamEnd::Cut => {
                sleep(CUT_AFTER).await;
                // As above.
                let _ = sender.send(Err(io::Error::other("the stream is cut"))).await;
            }
        }
    });
    Events(receiver)
}

/// The header knows whole seconds only; coming back too early would be wrong.
fn seconds_up(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_comes_back_too_early() {
        assert_eq!(seconds_up(Duration::from_millis(1_200)), 2);
        assert_eq!(seconds_up(Duration::from_secs(3)), 3);
    }
}

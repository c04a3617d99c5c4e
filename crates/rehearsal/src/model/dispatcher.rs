//! The dispatcher of requests: the one owner of all lanes and of the record of what was asked.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::http::HttpRequest;
use super::lane::{Lane, Served};
use super::reply::Reply;
use super::request::{ModelRequest, Protocol};
use super::scenario::Scenario;

/// Bytes of request bodies that are kept; later ones are recorded without theirs.
const RECORDED_BYTES_MAX: usize = 256 << 20;
/// Requests that are recorded.
const RECORDED_MAX: usize = 100_000;

/// A message to the dispatcher.
pub(super) enum Message {
    /// A request came in; the reply goes back.
    Request(HttpRequest, oneshot::Sender<Reply>),
    /// A lane gets another script.
    Script(String, Box<Scenario>),
    /// A caller asks for the requests so far.
    Records(SyncSender<Vec<Recorded>>),
    /// A caller waits until so many main requests have come in.
    Await(usize, SyncSender<()>),
}

/// A request to a model that came in.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The lane; empty where the address named none.
    pub lane: String,
    /// The protocol it was made in.
    pub protocol: Protocol,
    /// The model it asked for.
    pub model: String,
    /// The answer that it got.
    pub served: Served,
    /// The body as it was sent.
    pub body: String,
}

/// Lanes and records.
#[derive(Default)]
pub(super) struct Dispatcher {
    lanes: BTreeMap<String, Lane>,
    recorded: Vec<Recorded>,
    recorded_bytes: usize,
    waiting: Vec<(usize, SyncSender<()>)>,
}

impl Dispatcher {
    pub(super) fn take(&mut self, message: Message) {
        // Whoever asked may have gone away meanwhile, and then needs no answer.
        match message {
            Message::Request(request, reply) => {
                let _ = reply.send(self.reply(request));
            }
            Message::Script(lane, scenario) => {
                self.lanes.insert(lane, Lane::new(*scenario));
            }
            Message::Records(reply) => {
                let _ = reply.send(self.recorded.clone());
            }
            Message::Await(count, reply) => {
                self.waiting.push((count, reply));
                self.wake();
            }
        }
    }

    fn reply(&mut self, request: HttpRequest) -> Reply {
        let (lane, path) = split_lane(&request.path);
        let protocol = Protocol::of_path(path).filter(|_| request.method == "POST");
        let Some(protocol) = protocol else { return elsewhere(&request.method, path, &request.body) };
        let Some(model_request) = ModelRequest::read(protocol, path, request.body) else {
            return Reply::document(400, error("the body is not an object of JSON"));
        };
        let number = self.recorded.len();
        let lane_name = lane.to_owned();
        let lane = self.lanes.entry(lane_name.clone()).or_default();
        let (served, turn) = lane.choose(&model_request);
        let reply = match (served, turn) {
            (Served::Side, _) => Reply::aside(&model_request, number),
            (_, Some(turn)) => Reply::to(&model_request, &turn, number),
            (Served::Turn(_) | Served::Unscripted, None) => Reply::unscripted(&model_request),
        };
        self.record(lane_name, served, model_request);
        reply
    }

    fn record(&mut self, lane: String, served: Served, request: ModelRequest) {
        if self.recorded.len() >= RECORDED_MAX {
            return;
        }
        let has_room = self.recorded_bytes + request.body.len() <= RECORDED_BYTES_MAX;
        let body = if has_room { request.body } else { String::new() };
        self.recorded_bytes += body.len();
        let (protocol, model) = (request.protocol, request.model);
        self.recorded.push(Recorded { lane, protocol, model, served, body });
        self.wake();
    }

    /// Tells those who wait for what has come about.
    fn wake(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let count = self.recorded.iter().filter(|recorded| recorded.served != Served::Side).count();
        for (_, reply) in self.waiting.extract_if(.., |(wanted, _)| *wanted <= count) {
            let _ = reply.send(());
        }
    }
}

/// The lane that an address begins with, and the rest.
fn split_lane(path: &str) -> (&str, &str) {
    let named = path.strip_prefix("/lane/").and_then(|rest| rest.find('/').map(|end| rest.split_at(end)));
    named.unwrap_or(("", path))
}

/// Replies to what else agents ask for.
fn elsewhere(method: &str, path: &str, body: &str) -> Reply {
    let tokens = body.len() / 4 + 1;
    match (method, path) {
        ("HEAD", _) => Reply::document(200, json!({})),
        ("GET", _) if path.ends_with("/models") => Reply::document(200, models()),
        ("POST", _) if path.ends_with("/count_tokens") => {
            Reply::document(200, json!({ "input_tokens": tokens }))
        }
        ("POST", _) if path.ends_with(":countTokens") => {
            Reply::document(200, json!({ "totalTokens": tokens }))
        }
        _ => Reply::document(404, error(&format!("there is nothing at {path}"))),
    }
}

/// A list of models that every protocol can read.
fn models() -> Value {
    let model = json!({ "id": "rehearsal", "name": "models/rehearsal", "object": "model", "type": "model", "created": 0 });
    json!({ "object": "list", "has_more": false, "data": [model], "models": [] })
}

fn error(message: &str) -> Value {
    json!({ "type": "error", "error": { "type": "not_found_error", "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reply::Content;
    use crate::model::scenario::Turn;

    fn post(path: &str, body: &str) -> HttpRequest {
        HttpRequest { method: "POST".to_owned(), path: path.to_owned(), body: body.to_owned() }
    }

    fn status(reply: Reply) -> u16 {
        match reply.content {
            Content::Document { status, .. } => status,
            Content::Stream { .. } => 200,
            Content::Silence => 0,
        }
    }

    const TOOLS: &str = r#"{"tools":[{"name":"Bash"}]}"#;

    #[test]
    fn lanes_have_scripts_of_their_own() {
        let mut dispatcher = Dispatcher::default();
        for lane in ["", "a"] {
            dispatcher.take(Message::Script(lane.to_owned(), Box::new(Scenario::new([Turn::say("x")]))));
        }
        let mut ask = |path| status(dispatcher.reply(post(path, TOOLS)));
        assert_eq!(ask("/v1/messages"), 200);
        assert_eq!(ask("/lane/a/v1/messages"), 200);
        assert_eq!(ask("/lane/a/v1/messages"), 400, "used up");
        assert_eq!(ask("/lane/b/v1/messages"), 400, "a lane without a script");
        let served: Vec<_> = dispatcher.recorded.iter().map(|one| (one.lane.as_str(), one.served)).collect();
        let (first, none) = (Served::Turn(0), Served::Unscripted);
        assert_eq!(served, [("", first), ("a", first), ("a", none), ("b", none)]);
    }

    #[test]
    fn what_is_no_request_to_a_model_is_not_recorded() {
        let mut dispatcher = Dispatcher::default();
        assert_eq!(status(dispatcher.reply(post("/v1/messages", "no json"))), 400);
        assert_eq!(status(dispatcher.reply(post("/v1/messages/count_tokens", "{}"))), 200);
        assert_eq!(status(dispatcher.reply(post("/nowhere", "{}"))), 404);
        let get = HttpRequest { method: "GET".to_owned(), ..post("/lane/x/v1/models", "") };
        assert_eq!(status(dispatcher.reply(get)), 200);
        assert!(dispatcher.recorded.is_empty());
    }

    #[test]
    fn who_waits_is_told_once_enough_has_come() {
        let mut dispatcher = Dispatcher::default();
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        dispatcher.take(Message::Await(1, sender));
        dispatcher.reply(post("/v1/messages", "{}"));
        assert!(receiver.try_recv().is_err(), "a side request does not count");
        dispatcher.reply(post("/v1/messages", TOOLS));
        assert!(receiver.try_recv().is_ok());
    }
}

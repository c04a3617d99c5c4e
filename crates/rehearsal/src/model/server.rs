//! The server: a thread of its own that listens on loopback until it is dropped.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::dispatcher::{Dispatcher, Message, Recorded};
use super::http::router;
use super::scenario::Scenario;

/// A scripted model, reachable from this machine only. It ends with this value.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    messages: Option<UnboundedSender<Message>>,
    thread: Option<JoinHandle<()>>,
}

/// The server could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on loopback for a scripted model")]
pub struct ServerError(#[from] io::Error);

impl ModelServer {
    /// Listens on a free port, in the network namespace of the calling thread.
    pub fn start(scenario: Scenario) -> Result<Self, ServerError> {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (messages, inbox) = unbounded_channel();
        let thread = thread::Builder::new()
            .name("scripted-model".to_owned())
            .spawn(move || runtime.block_on(serve(listener, inbox)))?;
        let server = Self { address, messages: Some(messages), thread: Some(thread) };
        server.script("", scenario);
        Ok(server)
    }

    /// Gives a lane a script, from its beginning.
    pub fn script(&self, lane: &str, scenario: Scenario) {
        self.send(Message::Script(lane.to_owned(), Box::new(scenario)));
    }

    /// The address that agents are given.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address of a lane.
    pub fn lane_url(&self, lane: &str) -> String {
        format!("{}/lane/{lane}", self.base_url())
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Recorded> {
        let (sender, receiver) = sync_channel(1);
        self.send(Message::Records(sender));
        receiver.recv().unwrap_or_default()
    }

    /// Waits until so many requests, side requests apart, have come in; says whether they have.
    pub fn await_requests(&self, count: usize, patience: Duration) -> bool {
        let (sender, receiver) = sync_channel(1);
        self.send(Message::Await(count, sender));
        receiver.recv_timeout(patience).is_ok()
    }

    fn send(&self, message: Message) {
        if let Some(messages) = &self.messages {
            // The thread ends only after this sender is gone.
            let _ = messages.send(message);
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            // A panic in there was printed; there is nothing left to do about it.
            let _ = thread.join();
        }
    }
}

/// Serves until nobody holds the server any more. The connections' own senders do not count, so they are given
/// another channel.
async fn serve(listener: StdListener, mut inbox: UnboundedReceiver<Message>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let (requests, mut requested) = unbounded_channel();
    // It ends with the runtime, and with it every connection.
    tokio::spawn(axum::serve(listener, router(requests)).into_future());
    let mut dispatcher = Dispatcher::default();
    loop {
        tokio::select! {
            message = inbox.recv() => match message {
                Some(message) => dispatcher.take(message),
                None => return,
            },
            Some(message) = requested.recv() => dispatcher.take(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;
    use crate::model::lane::Served;
    use crate::model::scenario::{Answer, Ending, Turn};

    const PATIENCE: Duration = Duration::from_secs(60);

    fn begin(server: &ModelServer) -> TcpStream {
        let body = r#"{"model":"m","stream":true,"tools":[{"name":"Bash"}]}"#;
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head =
            format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    fn ask(server: &ModelServer) -> String {
        let mut text = String::new();
        // A cut connection is an error to the reader as well as an end.
        let _ = begin(server).read_to_string(&mut text);
        text
    }

    #[test]
    fn a_scenario_is_served_over_a_socket() {
        let cut = Answer { ending: Ending::CutAfter(1), ..Answer::default() };
        let server = ModelServer::start(Scenario::new([Turn::say("hello"), Turn::answer(cut)])).unwrap();
        let whole = ask(&server);
        assert!(whole.contains("hello") && whole.ends_with("\r\n0\r\n\r\n"), "{whole}");
        let cut = ask(&server);
        assert!(cut.contains("message_start") && !cut.ends_with("\r\n0\r\n\r\n"), "{cut}");
        assert!(ask(&server).starts_with("HTTP/1.1 400 "));
        let served: Vec<Served> = server.requests().iter().map(|request| request.served).collect();
        assert_eq!(served, [Served::Turn(0), Served::Turn(1), Served::Unscripted]);
    }

    #[test]
    fn a_server_ends_although_a_client_waits() {
        let server = ModelServer::start(Scenario::new([Turn::hang()])).unwrap();
        let mut stream = begin(&server);
        assert!(server.await_requests(1, PATIENCE));
        drop(server);
        assert_eq!(stream.read(&mut [0; 10]).unwrap_or(0), 0, "the connection is closed, and nothing came");
    }

    #[test]
    fn nonsense_does_not_stop_it() {
        let server = ModelServer::start(Scenario::new([Turn::say("hello")])).unwrap();
        let limit = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n";
        for nonsense in [limit, "\r\n\r\n", "\0\0\0", "GET / HTTP/1.1\r\n"] {
            TcpStream::connect(server.address).unwrap().write_all(nonsense.as_bytes()).unwrap();
        }
        assert!(ask(&server).contains("hello"));
    }
}

//! The stand-in at work: it listens on a socket and keeps a record of what it was asked.

use std::fs;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::json;

use super::http::{self, Answer, Request};
use super::hub::Hub;
use super::sight::{Moment, Sight};
use super::{graphql, rest};
use crate::{Background, Finished, Invocation, Sandbox};

/// The address of the remote; git is told that it is the bare repository.
const REMOTE: &str = "https://github.com/acme/widgets.git";

/// A token that nobody gave out.
const TOKEN: &str = "stand-in-for-a-token";

/// The stand-in of one sandbox.
pub struct Forge {
    hub: Arc<Mutex<Hub>>,
    temporary: String,
}

impl Forge {
    /// Starts a stand-in: the sandbox gets the `gh` at this path, a remote `origin` that is a bare repository, and
    /// a branch `feature` besides the `main` that is pushed there.
    pub fn start(sandbox: &Sandbox, gh: &Path) -> Forge {
        let bare = sandbox.control("remote.git");
        let socket = sandbox.control("forge.sock");
        sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", &bare.display().to_string()]);
        sandbox.git(&["config", &format!("url.{}.insteadOf", bare.display()), REMOTE]);
        sandbox.git(&["remote", "add", "origin", REMOTE]);
        sandbox.git(&["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
        sandbox.git(&["switch", "--quiet", "-c", "feature"]);
        sandbox.install_program("gh", &format!("exec '{}' \"$@\"", gh.display()));
        let config = sandbox.home().join(".config/gh");
        fs::create_dir_all(&config).expect("a folder can be made");
        let text = format!("http_unix_socket: {}\nprompt: disabled\n", socket.display());
        fs::write(config.join("config.yml"), text).expect("a configuration can be written");
        let temporary = sandbox.control("tmp");
        fs::create_dir_all(&temporary).expect("a folder can be made");
        let hub = Arc::new(Mutex::new(Hub::new(bare)));
        let listener = UnixListener::bind(&socket).expect("a socket can be made");
        let shared = Arc::clone(&hub);
        // It ends with the test's process; what comes in after a test is over concerns nobody. A client may open a
        // connection and never use it, so each has a thread of its own.
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(&shared, stream));
            });
        });
        Forge { hub, temporary: temporary.display().to_string() }
    }

    /// Says what a look shows at which moment.
    pub fn shows(&self, scene: impl Fn(&Moment) -> Sight + Send + 'static) {
        self.hub().scene = Box::new(scene);
    }

    /// The state of the stand-in, to look at and to change.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call of the program under test by somebody who is logged in.
    pub fn command(&self, sandbox: &Sandbox, arguments: &[&str]) -> Invocation {
        self.anonymous(sandbox, arguments).env("GH_TOKEN", TOKEN)
    }

    /// A call by somebody who is not.
    pub fn anonymous(&self, sandbox: &Sandbox, arguments: &[&str]) -> Invocation {
        sandbox.command(arguments).env("TMPDIR", &self.temporary)
    }

    /// Runs the program to its end.
    #[track_caller]
    pub fn run(&self, sandbox: &Sandbox, arguments: &[&str]) -> Finished {
        self.command(sandbox, arguments).run()
    }

    /// Starts the program and does not wait.
    #[track_caller]
    pub fn begin(&self, sandbox: &Sandbox, arguments: &[&str]) -> Background {
        self.command(sandbox, arguments).start()
    }
}

fn serve(hub: &Arc<Mutex<Hub>>, mut stream: UnixStream) {
    let Ok(Some(request)) = http::read(&mut stream) else { return };
    let answer = {
        let mut hub = hub.lock().unwrap_or_else(PoisonError::into_inner);
        if hub.hangs {
            hub.calls.push(format!("{} {}", request.method, described(&request)));
            // As long as it is kept, whoever asked goes on waiting.
            hub.held.push(stream);
            return;
        }
        respond(&mut hub, &request)
    };
    // A client that was killed does not want the answer any more.
    let _ = http::write(&mut stream, &answer);
}

fn respond(hub: &mut Hub, request: &Request) -> Answer {
    hub.calls.push(format!("{} {}", request.method, described(request)));
    if let Some((status, message)) = hub.failures.pop_front() {
        return Answer::with_status(status, &json!({"message": message}));
    }
    if hub.garbles_every > 0 && hub.calls.len().is_multiple_of(hub.garbles_every) {
        hub.garbled.push_back("<html>Something went wrong</html>".to_owned());
    }
    if let Some(text) = hub.garbled.pop_front() {
        return Answer { status: 200, kind: "text/html", body: text.into_bytes() };
    }
    if request.path == "/graphql" { graphql::answer(hub, &request.body) } else { rest::answer(hub, request) }
}

fn described(request: &Request) -> String {
    if request.path != "/graphql" {
        return request.path.clone();
    }
    let query = request.body["query"].as_str().unwrap_or_default();
    query.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect()
}

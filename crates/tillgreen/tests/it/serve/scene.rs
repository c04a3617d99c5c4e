//! A server with a project, and browsers that look at it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use testkit::{Agent, Background, Browser, Sandbox, Screen, Step, wait_for};

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

/// A server that is up.
pub(crate) struct Server {
    pub(crate) process: Background,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(sandbox: &Sandbox, listen: &str) -> Self {
        let process = sandbox.start(&["serve", "--listen", listen]);
        wait_for("the server's address", || process.stdout().ends_with('\n'));
        let url = process.stdout().trim().trim_start_matches("Open ").to_owned();
        Self { process, url }
    }

    /// The address without the path.
    pub(crate) fn base(&self) -> &str {
        self.url.split_once("/?").expect("a token follows").0
    }

    pub(crate) fn host(&self) -> &str {
        self.base().trim_start_matches("http://")
    }

    pub(crate) fn token(&self) -> &str {
        self.url.split_once("?t=").expect("a token").1
    }

    /// The cookie that who opened the address has.
    pub(crate) fn cookie(&self) -> String {
        let port = self.host().rsplit(':').next().expect("a port");
        format!("Cookie: tillgreen-{port}={}", self.token())
    }

    /// A browser that has the page open; none where no browser is installed.
    #[track_caller]
    pub(super) fn look(&self, sandbox: &Sandbox, name: &str, screen: Screen) -> Option<Browser> {
        let browser = Browser::start(&sandbox.control(name), screen)?;
        browser.open(&self.url);
        browser.wait_to_see("Runs");
        assert_eq!(browser.url(), format!("{}/", self.base()), "the token has left the address");
        Some(browser)
    }

    /// Asks without a browser: the status and all that comes.
    pub(crate) fn ask(&self, first: &str, headers: &[&str], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).expect("the server listens");
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let request = format!(
            "{first} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("a request can be sent");
        let mut answer = Vec::new();
        // A request that is too long is answered before it is read to its end.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("no answer: {answer}")), answer)
    }
}

/// Two phases, of which the first has two tasks that may run side by side.
pub(super) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let task = |id: &str| {
        format!(
            "- [ ] {id} [P] Make {id}\n  - **Do**: make it\n  - **Files**: `{id}.txt`\n  - **Verify**: `grep -qs good {id}.txt || {{ echo 'FAIL tests/{id}.test.ts'; exit 1; }}`\n"
        )
    };
    let (one, two, three) = (task("1.1"), task("1.2"), task("2.1"));
    sandbox
        .spec("demo", &format!("# Tasks\n\n## Phase 1: First\n\n{one}{two}\n## Phase 2: Second\n\n{three}"));
    sandbox.commit_all("plan");
    sandbox
}

pub(super) fn good(task: &str) -> [Step; 2] {
    [Step::write(&format!("{task}.txt"), "good\n"), Step::say("TASK_COMPLETE")]
}

/// An agent that does all of it, except that the first attempt at the first task does these steps.
pub(super) fn agent(first: impl IntoIterator<Item = Step>) -> Agent {
    Agent::new()
        .on_attempt("1.1", 1, first)
        .on("1.1", good("1.1"))
        .on("1.2", good("1.2"))
        .on("2.1", good("2.1"))
}

/// A run to its end whose first attempt fails.
pub(super) fn finished() -> Sandbox {
    let sandbox = sandbox();
    let first = ["one", "two", "three needles", "four", "TASK_COMPLETE"].map(Step::say);
    let command = sandbox.install_agent(&agent(first));
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    sandbox
}

/// A run that asks about its first task, and whose second waits for the gate.
pub(super) fn asking(sandbox: &Sandbox) -> Background {
    let gate = Step::await_file(&sandbox.control("gate"));
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::say("TASK_COMPLETE")])
        .on("1.1", good("1.1"))
        .on("1.2", [gate].into_iter().chain(good("1.2")))
        .on("2.1", good("2.1"));
    let command = sandbox.install_agent(&agent);
    sandbox.start(&["run", "--agent-cmd", &command, "--max-task-iterations", "1", "--on-exhausted", "ask"])
}

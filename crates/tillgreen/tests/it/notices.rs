//! People who walked away are told, by a real receiver on this machine that is not always there.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use testkit::{Agent, Sandbox, Step};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");
const DEADLINE: Duration = Duration::from_secs(60);

/// What a receiver got: its headers and its body.
type Request = (Vec<String>, String);

/// A receiver that answers with these codes, one after the other, and then with 200.
fn receiver(codes: &'static [u16]) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let (sender, requests) = channel();
    thread::spawn(move || {
        let codes = codes.iter().copied().chain(std::iter::repeat(200));
        for (stream, code) in listener.incoming().zip(codes) {
            let Ok(stream) = stream else { return };
            let Some(request) = answered(stream, code) else { continue };
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

fn answered(mut stream: TcpStream, code: u16) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        headers.push(line.trim().to_owned());
    }
    let length = headers.iter().find_map(|header| header.strip_prefix("Content-Length: "))?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    write!(stream, "HTTP/1.1 {code} Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    Some((headers, String::from_utf8(body).ok()?))
}

fn sandbox(settings: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", "# Tasks\n\n- [ ] 1.1 Make it\n  - **Verify**: `test -f made`\n");
    fs::write(sandbox.root().join("tillgreen.toml"), settings).expect("settings");
    sandbox.commit_all("plan");
    sandbox
}

fn event(request: &Request) -> Value {
    serde_json::from_str::<Value>(&request.1).expect("the body is JSON")
}

#[test]
fn a_webhook_that_fails_first_gets_its_notice_and_a_command_all_of_them() {
    let (address, requests) = receiver(&[500, 503]);
    let settings = "[notify]\ncommand = \"cat >> $NOTICES; echo >> $NOTICES\"\n\n[[notify.webhook]]\n\
                    url = \"$HOOK\"\nsecret = \"$HOOK_SECRET\"\non = [\"asked\"]\n";
    let sandbox = sandbox(settings);
    let command = sandbox.install_agent(&Agent::new().otherwise([Step::say("TASK_COMPLETE")]));
    let notices = sandbox.control("notices");
    let with = |arguments: &[&str]| {
        let command = sandbox.command(arguments).env("HOOK", &address).env("HOOK_SECRET", "s3cret");
        command.env("NOTICES", &notices.display().to_string()).run()
    };
    let run = ["run", "--agent-cmd", &command, "--max-task-iterations", "1", "--on-exhausted", "ask"];
    let paused = with(&run).expect_code(3);
    assert!(!paused.stderr.contains("did not reach"), "{paused}");
    let got: Vec<Request> = (0..3).map(|_| requests.recv_timeout(DEADLINE).expect("a request")).collect();
    assert_eq!(event(&got[2])["event"], "asked");
    assert_eq!(event(&got[2])["task"], "1.1");
    assert!(got.iter().all(|request| request.1 == got[0].1), "the same each time: {got:?}");
    let id = |request: &Request| {
        request.0.iter().find(|header| header.starts_with("X-Tillgreen-Delivery: ")).cloned()
    };
    assert!(id(&got[0]).is_some() && id(&got[0]) == id(&got[2]), "{got:?}");
    let signature = got[2].0.iter().find_map(|header| header.strip_prefix("X-Tillgreen-Signature: sha256="));
    assert!(signature.is_some_and(|signature| signature.len() == 64), "{got:?}");
    assert!(!got[2].0.iter().any(|header| header.contains("s3cret")), "{got:?}");
    sandbox.install_agent(&Agent::new().otherwise([Step::write("made", ""), Step::say("TASK_COMPLETE")]));
    with(&["answer", "retry"]).expect_code(0);
    let told = fs::read_to_string(&notices).expect("the command was run");
    let told: Vec<Value> = told.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let events: Vec<&Value> = told.iter().map(|notice| &notice["event"]).collect();
    assert_eq!(events, ["asked", "done"]);
    assert!(requests.try_recv().is_err(), "the webhook wants questions alone");
    let waiting = fs::read_dir(sandbox.root().join(".tillgreen/specs-demo/notices")).expect("the folder");
    let left = waiting.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
    assert_eq!(left.count(), 0, "nothing waits any more");
}

#[test]
fn a_receiver_that_is_away_stops_nothing_and_is_told_by_the_next_start() {
    let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let settings = format!("[[notify.webhook]]\nurl = \"http://{gone}/x\"\n");
    let sandbox = sandbox(&settings);
    let agent = Agent::new().otherwise([Step::write("made", ""), Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let done = sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    assert!(done.stdout.contains("ALL_TASKS_COMPLETE"), "{done}");
    assert!(done.stderr.contains("the next run delivers them"), "{done}");
    assert!(!done.stderr.contains("/x"), "an address may be a secret: {done}");
    let listener = TcpListener::bind(gone).expect("the port is free again");
    let receiving = thread::spawn(move || answered(listener.accept().expect("a request").0, 200));
    fs::write(sandbox.root().join("more"), "").expect("a file");
    sandbox.run(&["run", "--agent-cmd", &command, "--allow-dirty", "--fresh"]);
    let request = receiving.join().expect("the receiver lives").expect("a whole request");
    assert_eq!(event(&request)["event"], "done");
}

#[test]
fn channels_are_tried_out() {
    let (address, requests) = receiver(&[]);
    let settings = format!(
        "[notify]\ncommand = \"echo no such thing >&2; exit 3\"\n\n[[notify.webhook]]\nurl = \"{address}\"\n"
    );
    let sandbox = sandbox(&settings);
    let tried = sandbox.run(&["notify", "test"]).expect_code(1);
    assert!(tried.stdout.contains("✗ the command: exit code 3: no such thing"), "{tried}");
    assert!(tried.stdout.contains("✓ the webhook at 127.0.0.1:"), "{tried}");
    assert_eq!(event(&requests.recv_timeout(DEADLINE).expect("a request"))["event"], "test");
    fs::write(sandbox.root().join("tillgreen.toml"), "").expect("settings");
    let refused = sandbox.run(&["notify", "test"]).expect_code(2);
    assert!(refused.stderr.contains("no channel is set"), "{refused}");
    let wrong = "[notify]\ndesktp = true\n[[notify.webhook]]\nurl = \"ftp://x\"\non = [\"never\"]\n";
    fs::write(sandbox.root().join("tillgreen.toml"), wrong).expect("settings");
    let refused = sandbox.run(&["notify", "test"]).expect_code(2);
    for part in [
        "tillgreen.toml:2: unknown key `notify.desktp`",
        "did you mean `desktop`?",
        "must be a list of asked",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {refused}");
    }
}

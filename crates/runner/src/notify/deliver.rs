//! One delivery through one channel. Webhooks go through `curl`, as the forge goes through `gh`: it is there wherever
//! there is git, knows every proxy, and a client of our own would make the program larger by a sixth. What is secret goes
//! through its standard input, where no list of processes shows it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::oneshot;

use super::channel::{Channel, Notification, Notify, Webhook};
use crate::mask::mask;
use crate::process::{self, Ended, Exit, Invocation, ProcessLimits, Program};

const CURL: &str = "curl";
const DESKTOP: &str = "notify-send";
/// The time that one delivery may take; `curl` gives up before.
const DEADLINE: Duration = Duration::from_secs(20);
const CURL_SECONDS_MAX: u32 = 15;
const GRACE: Duration = Duration::from_millis(500);
/// The bytes of what a channel prints that are kept.
const OUTPUT_BYTES_MAX: usize = 4 * 1024;
/// Characters of a reason.
const REASON_CHARS_MAX: usize = 200;

/// Delivers a notice through every channel, once, and says of each how it went.
pub fn deliver_now(
    notify: &Notify,
    notification: &Notification,
    folder: &Path,
) -> std::io::Result<Vec<(String, Result<(), String>)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::fs::create_dir_all(folder)?;
    let each = |channel: Channel| {
        let delivery = Delivery { folder, id: notification.at.as_nanosecond().to_string() };
        (channel.name(), delivery.make(&runtime, &channel, notification))
    };
    Ok(notify.channels().into_iter().map(each).collect())
}

/// A delivery.
pub(super) struct Delivery<'a> {
    /// The folder for what channels print.
    pub(super) folder: &'a Path,
    /// The name by which a receiver knows that it got the same notice before.
    pub(super) id: String,
}

impl Delivery<'_> {
    /// Delivers; else why it did not arrive.
    pub(super) fn make(
        &self,
        runtime: &tokio::runtime::Runtime,
        channel: &Channel,
        notification: &Notification,
    ) -> Result<(), String> {
        let body = serde_json::to_string(notification).map_err(|error| error.to_string())?;
        let (command, stdin) = match channel {
            Channel::Command(command) => (Program::Shell(command.clone()), body),
            Channel::Desktop => (desktop(notification), String::new()),
            Channel::Webhook(webhook) => (curl(), config(webhook, &body, &self.id)?),
        };
        let invocation = self.invocation(channel, (command, stdin), notification);
        let (sender, ended) = oneshot::channel();
        let _handle = process::start(runtime.handle(), invocation, move |ended| {
            // Whoever waits is there until the end comes.
            let _ = sender.send(ended);
        });
        let ended = runtime.block_on(ended).map_err(|error| error.to_string())?;
        judged(&ended)
    }

    fn invocation(
        &self,
        channel: &Channel,
        (command, stdin): (Program, String),
        notification: &Notification,
    ) -> Invocation {
        let log = |end: &str| -> PathBuf { self.folder.join(format!("{}.{end}.log", channel.key())) };
        let env = [
            ("TILLGREEN_NOTICE_EVENT", notification.event.name()),
            ("TILLGREEN_NOTICE_PLAN", notification.plan.as_str()),
            ("TILLGREEN_NOTICE_TASK", notification.task.as_deref().unwrap_or_default()),
            ("TILLGREEN_NOTICE_TEXT", notification.text.as_str()),
        ];
        Invocation {
            command,
            cwd: self.folder.to_owned(),
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            env_remove: Vec::new(),
            stdin: Some(stdin),
            stdout_log: log("out"),
            stderr_log: log("err"),
            limits: ProcessLimits {
                deadline: DEADLINE,
                no_progress: None,
                grace: GRACE,
                head_bytes_max: OUTPUT_BYTES_MAX,
                tail_bytes_max: OUTPUT_BYTES_MAX,
            },
        }
    }
}

/// Why nothing can go through a channel, as far as that shows without trying.
pub(super) fn unable(channel: &Channel) -> Option<String> {
    let program = match channel {
        Channel::Command(_) => return None,
        Channel::Desktop => DESKTOP,
        Channel::Webhook(webhook) => {
            if let Err(reason) = config(webhook, "", "") {
                return Some(reason);
            }
            CURL
        }
    };
    let found = crate::agent::find_program(program, Path::new("."));
    found.is_none().then(|| format!("the program {program} was not found"))
}

fn curl() -> Program {
    // Without the user's own settings for it: what is printed where is ours.
    Program::Argv([CURL, "--disable", "--config", "-"].map(OsString::from).to_vec())
}

/// What `curl` is to do, in its own language.
fn config(webhook: &Webhook, body: &str, id: &str) -> Result<String, String> {
    let url = resolved(&webhook.url)?;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err("its address does not begin with https://".to_owned());
    }
    let mut lines = vec![
        format!("url = {}", quoted(&url)),
        "request = \"POST\"".to_owned(),
        "header = \"Content-Type: application/json\"".to_owned(),
        format!("header = {}", quoted(&format!("X-Tillgreen-Delivery: {id}"))),
        format!("data-raw = {}", quoted(body)),
        format!("max-time = {CURL_SECONDS_MAX}"),
        "output = \"/dev/null\"".to_owned(),
    ];
    lines.extend(["silent", "show-error", "fail", "globoff"].map(str::to_owned));
    if let Some(secret) = &webhook.secret {
        let signature = signature(&resolved(secret)?, body);
        lines.push(format!("header = {}", quoted(&format!("X-Tillgreen-Signature: sha256={signature}"))));
    }
    Ok(lines.join("\n") + "\n")
}

/// A text in quotation marks, as the configuration of `curl` has it.
fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r")
    )
}

/// The text, or what a variable of the environment holds: a secret does not belong into a file that is committed.
fn resolved(text: &str) -> Result<String, String> {
    let Some(name) = text.strip_prefix('$') else { return Ok(text.to_owned()) };
    std::env::var(name).map_err(|_| format!("the variable {name} is not set"))
}

fn signature(secret: &str, body: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length is one for this");
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The desktop's own program. Its text knows mark-up.
fn desktop(notification: &Notification) -> Program {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let title = format!("tillgreen: {}", notification.plan);
    let words = [DESKTOP, "--app-name=tillgreen", "--", &title, &escaped(&notification.text)];
    Program::Argv(words.map(OsString::from).to_vec())
}

fn judged(ended: &Ended) -> Result<(), String> {
    let last = ended.stderr.text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let said: String = mask(last.trim()).chars().take(REASON_CHARS_MAX).collect();
    let said = if said.is_empty() { said } else { format!(": {said}") };
    match &ended.exit {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => Err(format!("exit code {code}{said}")),
        Exit::Signal(signal) => Err(format!("it died of signal {signal}")),
        Exit::DeadlinePassed | Exit::NoProgress => {
            Err(format!("it did not end within {}", ended.limit_in_words()))
        }
        Exit::Stopped => Err("it was stopped".to_owned()),
        Exit::CannotStart(reason) => Err(mask(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::Occasion;

    #[test]
    fn a_signature_is_the_one_that_others_compute() {
        // The second test case of RFC 4231.
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature("Jefe", "what do ya want for nothing?"), expected);
    }

    #[test]
    fn nothing_secret_is_an_argument_and_text_stays_text() {
        let webhook = Webhook {
            url: "https://hooks.example/T0/\"x\\".to_owned(),
            secret: Some("s3cret".to_owned()),
            on: Occasion::NAMED.to_vec(),
        };
        let config = config(&webhook, "{\"text\":\"a\\nb\"}", "7").unwrap();
        assert!(config.contains("url = \"https://hooks.example/T0/\\\"x\\\\\""), "{config}");
        assert!(config.contains("data-raw = \"{\\\"text\\\":\\\"a\\\\nb\\\"}\""), "{config}");
        assert!(!config.contains("s3cret") && config.contains("X-Tillgreen-Signature: sha256="), "{config}");
        let Program::Argv(argv) = curl() else { panic!("it is no shell's") };
        assert_eq!(argv.len(), 4);
        let other = Webhook { url: "file:///etc/passwd".to_owned(), ..webhook.clone() };
        assert!(super::config(&other, "{}", "7").is_err());
        let unset = Webhook { secret: Some("$TILLGREEN_NO_SUCH_VARIABLE".to_owned()), ..webhook };
        let problem = super::config(&unset, "{}", "7").unwrap_err();
        assert_eq!(problem, "the variable TILLGREEN_NO_SUCH_VARIABLE is not set");
        let notify = Notify { webhooks: vec![unset], ..Notify::default() };
        let expected = "no notice can reach the webhook at hooks.example: the variable TILLGREEN_NO_SUCH_VARIABLE is not set";
        assert_eq!(notify.unable(), [expected]);
    }
}

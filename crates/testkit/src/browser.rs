//! A real browser for tests: Chromium without a window, led through chromedriver by plain HTTP. Where it is not installed
//! a test says that it is skipped; in CI it fails.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wait::DEADLINE;

/// How often a driver is started that does not come up.
const STARTS_MAX: usize = 5;
/// The name that WebDriver gives to elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// A browser that talks to nobody but the page.
const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
];

/// A browser with one page. It ends with this value.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// True for a telephone.
    pub is_phone: bool,
}

impl Screen {
    /// That of a desk.
    pub const DESK: Screen = Screen { width: 1200, height: 800, is_phone: false };
    /// That of a telephone.
    pub const PHONE: Screen = Screen { width: 390, height: 844, is_phone: true };
}

impl Browser {
    /// A browser that keeps what it writes in a folder; none, with a line that says so, where none is installed.
    #[track_caller]
    pub fn start(folder: &Path, screen: Screen) -> Option<Browser> {
        let is_there = |program: &str| {
            let version = Command::new(program).arg("--version").stderr(Stdio::null()).output();
            version.is_ok_and(|output| output.status.success())
        };
        if !is_there("chromedriver") || !is_there("chromium") {
            let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            assert!(!is_ci, "chromium and chromedriver have to be installed where CI runs");
            eprintln!("skipped: chromium and chromedriver are not installed, so there is no browser");
            return None;
        }
        fs::create_dir_all(folder).expect("a folder can be made");
        let (driver, port) = (0..STARTS_MAX).find_map(|_| drive(folder)).expect("chromedriver says its port");
        let mut browser = Browser { driver, port, session: String::new() };
        browser.session = browser.begin(folder, screen);
        Some(browser)
    }

    fn begin(&self, folder: &Path, screen: Screen) -> String {
        let Screen { width, height, is_phone } = screen;
        let mut flags: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
        flags.push(format!("--user-data-dir={}", folder.join("profile").display()));
        flags.push(format!("--window-size={width},{height}"));
        let mut options = json!({ "args": flags });
        if is_phone {
            let metrics = json!({ "width": width, "height": height, "pixelRatio": 1.0, "touch": true });
            options["mobileEmulation"] = json!({ "deviceMetrics": metrics });
        }
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let begun = self.call("POST", "/session", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        begun["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {begun}")).to_owned()
    }

    /// Opens an address.
    pub fn open(&self, url: &str) {
        self.command("POST", "/url", &json!({ "url": url }));
    }

    /// The address that is open.
    pub fn url(&self) -> String {
        self.command("GET", "/url", &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    /// Runs a script in the page; what it returns.
    pub fn script(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script that returns a promise; what that comes to.
    pub fn promise(&self, script: &str) -> Value {
        let script = format!(
            "const done = arguments[0]; (async () => {{ {script} }})().then(done, (error) => done(String(error)))"
        );
        self.command("POST", "/execute/async", &json!({ "script": script, "args": [] }))
    }

    /// The text of the page as it is seen.
    pub fn text(&self) -> String {
        self.script("return document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until a text is seen on the page.
    #[track_caller]
    pub fn wait_to_see(&self, part: &str) {
        self.wait(&format!("{part:?} on the page"), |browser| browser.text().contains(part));
    }

    /// Waits until an expression of the page is true.
    #[track_caller]
    pub fn wait_until(&self, expression: &str) {
        self.wait(expression, |browser| browser.script(&format!("return Boolean({expression})")) == true);
    }

    #[track_caller]
    fn wait(&self, what: &str, condition: impl Fn(&Browser) -> bool) {
        let give_up = Instant::now() + DEADLINE;
        while !condition(self) {
            if Instant::now() > give_up {
                panic!("waited in vain for {what}; the page says:\n{}\n{:?}", self.text(), self.problems());
            }
            // Each look is a request, on a machine that has the run to carry as well.
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Clicks on the first element that a selector finds, as soon as there is one.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/click"), &json!({}));
    }

    /// Clicks on the first button or link with that text.
    #[track_caller]
    pub fn press(&self, label: &str) {
        let find = format!(
            "[...document.querySelectorAll('button, a')].find((one) => !one.disabled && one.checkVisibility() && one.textContent.trim() === {})",
            json!(label)
        );
        self.wait_until(&find);
        self.script(&format!("({find}).click()"));
    }

    /// Types into the first element that a selector finds.
    #[track_caller]
    pub fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Presses keys, wherever the focus is. WebDriver's names: `\u{e004}` is Tab, `\u{e007}` Enter, `\u{e00c}` Escape,
    /// `\u{e015}` the arrow down.
    pub fn keys(&self, keys: &str) {
        let strokes: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
            })
            .collect();
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": strokes }] });
        self.command("POST", "/actions", &actions);
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        self.wait_until(&format!("document.querySelector({})", json!(selector)));
        let found = self.command("POST", "/element", &json!({ "using": "css selector", "value": selector }));
        found[ELEMENT].as_str().unwrap_or_else(|| panic!("no element {selector}: {found}")).to_owned()
    }

    /// Has the page believe in a preference, as `prefers-color-scheme` and `dark`.
    pub fn prefer(&self, name: &str, value: &str) {
        let features = json!({ "features": [{ "name": name, "value": value }] });
        let body = json!({ "cmd": "Emulation.setEmulatedMedia", "params": features });
        self.command("POST", "/goog/cdp/execute", &body);
    }

    /// What the browser complained about since it was last asked: errors of scripts, and what the page's own policy forbade.
    pub fn problems(&self) -> Vec<String> {
        let logged = self.command("POST", "/se/log", &json!({ "type": "browser" }));
        let entries = logged.as_array().cloned().unwrap_or_default();
        let is_severe = |entry: &&Value| entry["level"] == "SEVERE";
        entries.iter().filter(is_severe).map(|entry| entry["message"].to_string()).collect()
    }

    /// A picture of what is seen, as PNG.
    pub fn picture(&self) -> Vec<u8> {
        let encoded = self.command("GET", "/screenshot", &Value::Null);
        decoded(encoded.as_str().unwrap_or_default())
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, &format!("/session/{}{path}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.exchange(method, path, body).expect("chromedriver answers");
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{method} {path} {body}: {value}");
        value
    }

    fn exchange(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(DEADLINE))?;
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let (port, length) = (self.port, body.len());
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\n");
        stream.write_all(
            format!("{head}Content-Type: application/json\r\nConnection: close\r\n\r\n{body}").as_bytes(),
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                Some(_) => {}
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

/// Starts a driver, with the port that it says it listens on; none if it ended at once, as where somebody else took the
/// port that it had found.
fn drive(folder: &Path) -> Option<(Child, u16)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .env("HOME", folder)
        .env_remove("DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver starts");
    let stdout = driver.stdout.take().expect("it is piped");
    let mut lines = BufReader::new(stdout).lines();
    let said = lines.find_map(|line| {
        let line = line.ok()?;
        line.split_once("successfully on port ").map(|(_, port)| port.trim_end_matches('.').to_owned())
    });
    let Some(port) = said.and_then(|port| port.parse().ok()) else {
        // It has closed its output, so it is about to end anyway.
        let _ = driver.kill();
        let _ = driver.wait();
        return None;
    };
    // What it says later is read and dropped, so that it never waits for a reader.
    thread::spawn(move || lines.for_each(drop));
    Some((driver, port))
}

/// Bytes written as base64.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = |digit: u8| DIGITS.iter().position(|known| *known == digit);
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_usize, 0_u32);
    for digit in text.bytes().filter_map(value) {
        held = (held << 6 | digit) & 0xff_ffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).unwrap_or_default());
        }
    }
    bytes
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // The browser goes with its session; a driver that does not answer is killed all the same.
            let _ = self.exchange("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(decoded("YW55IGNhcm5hbCBwbGVhcw=="), b"any carnal pleas");
        assert_eq!(decoded(""), b"");
    }
}

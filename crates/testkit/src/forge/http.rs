//! As much of HTTP as `gh` needs: one request, one answer, the connection is closed.

use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::Value;

/// The size of a body at most.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Value,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(value: &Value) -> Self {
        Self::with_status(200, value)
    }

    pub(super) fn with_status(status: u16, value: &Value) -> Self {
        Self { status, kind: "application/json; charset=utf-8", body: value.to_string().into_bytes() }
    }

    pub(super) fn not_found() -> Self {
        Self::with_status(404, &serde_json::json!({"message": "Not Found"}))
    }
}

/// Reads a request; none where the other side has nothing to say.
pub(super) fn read(stream: &mut impl Read) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length.min(BODY_BYTES_MAX)];
    reader.read_exact(&mut body)?;
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Ok(Some(Request { method, path, body: serde_json::from_slice(&body).unwrap_or_default() }))
}

/// Writes an answer.
pub(super) fn write(stream: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let Answer { status, kind, body } = answer;
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nX-Oauth-Scopes: repo\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

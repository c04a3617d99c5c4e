//! As much of HTTP/1.1 as agents need to reach a model: one bounded request for each connection, and a document
//! or a chunked stream of events in return.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::wire::event::SseEvent;

/// Bytes of a request's head, and of its body.
const HEAD_BYTES_MAX: u64 = 64 << 10;
const BODY_BYTES_MAX: u64 = 32 << 20;

/// A request as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// Without what follows a question mark.
    pub(super) path: String,
    pub(super) body: String,
}

/// How a body is delimited.
enum Framing {
    Length(u64),
    Chunked,
}

/// Reads one request.
pub(super) async fn read_request(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<HttpRequest> {
    let mut budget = HEAD_BYTES_MAX;
    let first = line(reader, &mut budget).await?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(invalid("no request line"));
    };
    let framing = framing(reader, &mut budget).await?;
    let body = match framing {
        Framing::Length(length) => exactly(reader, length).await?,
        Framing::Chunked => chunks(reader).await?,
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Ok(HttpRequest { method: method.to_owned(), path, body: String::from_utf8_lossy(&body).into_owned() })
}

async fn framing(reader: &mut (impl AsyncBufRead + Unpin), budget: &mut u64) -> io::Result<Framing> {
    let mut framing = Framing::Length(0);
    loop {
        let header = line(reader, budget).await?;
        if header.is_empty() {
            return Ok(framing);
        }
        let (name, value) = header.split_once(':').ok_or_else(|| invalid("a header without a colon"))?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                framing = Framing::Length(value.parse().map_err(|_| invalid("a length that is no number"))?);
            }
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => framing = Framing::Chunked,
            "content-encoding" if !value.eq_ignore_ascii_case("identity") => {
                return Err(invalid("a compressed body"));
            }
            _ => {}
        }
    }
}

/// One line without its end.
async fn line(reader: &mut (impl AsyncBufRead + Unpin), budget: &mut u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    let read = reader.take(*budget).read_until(b'\n', &mut bytes).await?;
    *budget -= read as u64;
    if bytes.pop() != Some(b'\n') {
        return Err(invalid("a head that is cut off or too long"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map_err(|_| invalid("a head that is not UTF-8"))
}

async fn exactly(reader: &mut (impl AsyncRead + Unpin), length: u64) -> io::Result<Vec<u8>> {
    if length > BODY_BYTES_MAX {
        return Err(invalid("a body that is too long"));
    }
    // Grows with what arrives, not with what was announced.
    let mut body = Vec::new();
    let read = reader.take(length).read_to_end(&mut body).await?;
    if (read as u64) < length { Err(invalid("a body that is cut off")) } else { Ok(body) }
}

async fn chunks(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut budget = HEAD_BYTES_MAX;
    loop {
        let head = line(reader, &mut budget).await?;
        let length = head.split(';').next().unwrap_or_default().trim();
        let length = u64::from_str_radix(length, 16).map_err(|_| invalid("a chunk without a length"))?;
        if length > BODY_BYTES_MAX - body.len() as u64 {
            return Err(invalid("a body that is too long"));
        }
        body.extend(exactly(reader, length).await?);
        // What follows the last chunk, trailers or not, is of no interest.
        line(reader, &mut budget).await?;
        if length == 0 {
            return Ok(body);
        }
        budget = HEAD_BYTES_MAX;
    }
}

/// Sends a document.
pub(super) async fn write_document(
    writer: &mut (impl AsyncWrite + Unpin),
    status: u16,
    retry_after: Option<Duration>,
    body: &Value,
) -> io::Result<()> {
    let body = body.to_string();
    let patience = retry_after.map(seconds_up).map(|seconds| format!("retry-after: {seconds}\r\n"));
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{}connection: close\r\n\r\n",
        body.len(),
        patience.unwrap_or_default(),
    );
    writer.write_all(head.as_bytes()).await?;
    writer.write_all(body.as_bytes()).await?;
    writer.flush().await
}

/// Begins a stream.
pub(super) async fn write_stream_head(writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let head = "HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n\
                transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    writer.write_all(head.as_bytes()).await?;
    writer.flush().await
}

/// Sends an event as a chunk of its own.
pub(super) async fn write_event(
    writer: &mut (impl AsyncWrite + Unpin),
    SseEvent(text): &SseEvent,
) -> io::Result<()> {
    writer.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await?;
    writer.flush().await
}

/// Ends a stream as it should end. One that is dropped before is seen to be cut.
pub(super) async fn write_stream_end(writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    writer.write_all(b"0\r\n\r\n").await?;
    writer.flush().await
}

/// The header knows whole seconds only; coming back too early would be wrong.
fn seconds_up(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the request has {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<HttpRequest> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read_request(&mut text.as_bytes()))
    }

    #[track_caller]
    fn check(text: &str, expected: Result<(&str, &str, &str), &str>) {
        let request = read(text);
        let found = match &request {
            Ok(request) => Ok((request.method.as_str(), request.path.as_str(), request.body.as_str())),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn requests_are_read_by_length_and_by_chunks() {
        check("GET /v1/models?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", Ok(("GET", "/v1/models", "")));
        check("POST /a HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcdef", Ok(("POST", "/a", "abc")));
        let chunked = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n";
        check(chunked, Ok(("POST", "/a", "abc0123456789")));
        check("GET /bare HTTP/1.1\n\n", Ok(("GET", "/bare", "")));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        check("", Err("the request has a head that is cut off or too long"));
        check("GET\r\n\r\n", Err("the request has no request line"));
        check("GET / HTTP/1.1\r\nnonsense\r\n\r\n", Err("the request has a header without a colon"));
        check(
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
            Err("the request has a length that is no number"),
        );
        check(
            "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nabc",
            Err("the request has a body that is cut off"),
        );
        check(
            "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            Err("the request has a body that is too long"),
        );
        check("POST / HTTP/1.1\r\ncontent-encoding: gzip\r\n\r\n", Err("the request has a compressed body"));
        let chunked = |rest: &str| format!("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{rest}");
        check(&chunked("zz\r\n"), Err("the request has a chunk without a length"));
        check(&chunked("ffffffffffffffff\r\n"), Err("the request has a body that is too long"));
        check(&chunked("3\r\nab"), Err("the request has a body that is cut off"));
        let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(70_000));
        check(&long, Err("the request has a head that is cut off or too long"));
    }

    #[test]
    fn replies_are_framed() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut out = Vec::new();
        let patience = Some(Duration::from_millis(1_200));
        runtime.block_on(write_document(&mut out, 429, patience, &serde_json::json!({}))).unwrap();
        let expected = "HTTP/1.1 429 Scripted\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\
                        retry-after: 2\r\nconnection: close\r\n\r\n{}";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        let event = SseEvent("data: ä\n\n".to_owned());
        runtime.block_on(write_event(&mut out, &event)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\r\ndata: ä\n\n\r\n");
    }
}

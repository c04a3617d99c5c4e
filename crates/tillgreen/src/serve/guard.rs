//! Who may look: whoever has the token, from a page of this server. Other pages in the same browser are kept out by the
//! `Host` and `Origin` that they cannot choose, and by a cookie that is not sent for them.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Bytes of randomness in a token.
const TOKEN_BYTES: usize = 24;

/// What every answer says of itself: nothing from elsewhere runs in the page, and nobody frames it.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The guard of a server.
#[derive(Debug)]
pub(super) struct Guard {
    token: String,
    cookie: String,
    address: SocketAddr,
}

/// Why a request is turned away, or sent elsewhere.
#[derive(Debug, PartialEq, Eq)]
enum Turned {
    Away(StatusCode, &'static str),
    /// The token came in the address: it becomes a cookie, and leaves the address.
    ToPage(String),
}

impl Guard {
    /// The guard of a server at that address, with a token of its own.
    pub(super) fn new(address: SocketAddr) -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { token, cookie: format!("tillgreen-{}", address.port()), address })
    }

    /// The address to open.
    pub(super) fn url(&self) -> String {
        format!("http://{}/?t={}", self.address, self.token)
    }

    fn admit(&self, method: &Method, uri: &axum::http::Uri, headers: &HeaderMap) -> Result<(), Turned> {
        let away = |text| Err(Turned::Away(StatusCode::FORBIDDEN, text));
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(host) = text(header::HOST).filter(|host| self.is_own(host)) else {
            return away("this is not the address that the page is served at");
        };
        let origin = text(header::ORIGIN);
        let is_foreign = origin.is_some_and(|origin| origin != format!("http://{host}"));
        if is_foreign || (*method != Method::GET && origin.is_none()) {
            return away("another page asked for this");
        }
        let site = text(HeaderName::from_static("sec-fetch-site"));
        let is_api = uri.path().starts_with("/api/");
        if is_api && site.is_some_and(|site| site != "same-origin" && site != "none") {
            return away("another page asked for this");
        }
        if let Some(token) = uri.query().and_then(token_in).filter(|_| !is_api) {
            return match is_same(token, &self.token) {
                true => Err(Turned::ToPage(uri.path().to_owned())),
                false => away(
                    "this address is of another start of `tillgreen serve`: open the one that it printed last",
                ),
            };
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let is_known = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(name, value)| name == self.cookie && is_same(value, &self.token));
        if is_known {
            Ok(())
        } else {
            Err(Turned::Away(
                StatusCode::UNAUTHORIZED,
                "open the address that `tillgreen serve` printed: it ends with ?t= and a token",
            ))
        }
    }

    /// A name that somebody else can have point here is not ours: only addresses are, and this machine's own word for itself.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) =
            host.rsplit_once(':').map_or((host, Some(80)), |(name, port)| (name, port.parse().ok()));
        let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        let is_here = match is_address {
            Ok(address) => !self.address.ip().is_loopback() || address.is_loopback(),
            Err(_) => name == "localhost",
        };
        is_here && port == Some(self.address.port())
    }
}

fn token_in(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("t="))
}

/// Compares without telling by its time how much was right.
fn is_same(given: &str, token: &str) -> bool {
    let (given, token) = (given.as_bytes(), token.as_bytes());
    given.len() == token.len()
        && given.iter().zip(token).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
}

/// Lets through who may pass, and has every answer say what may be done with it.
pub(super) async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let admitted = guard.admit(request.method(), request.uri(), request.headers());
    let mut response = match admitted {
        Ok(()) => next.run(request).await,
        Err(Turned::Away(status, text)) => (status, format!("{text}\n")).into_response(),
        Err(Turned::ToPage(path)) => {
            let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", guard.cookie, guard.token);
            let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, within(&path))];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A path on this server and on no other, as two slashes would lead to.
fn within(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded() -> Guard {
        let address = "127.0.0.1:7777".parse().unwrap();
        Guard { token: "secret".to_owned(), cookie: "tillgreen-7777".to_owned(), address }
    }

    fn admit(method: Method, uri: &str, headers: &[(&'static str, &str)]) -> Result<(), Turned> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        guarded().admit(&method, &uri.parse().unwrap(), &headers.collect())
    }

    const HOST: (&str, &str) = ("host", "127.0.0.1:7777");
    const COOKIE: (&str, &str) = ("cookie", "a=b; tillgreen-7777=secret");
    const ORIGIN: (&str, &str) = ("origin", "http://127.0.0.1:7777");

    #[test]
    fn only_who_has_the_token_passes() {
        assert_eq!(admit(Method::GET, "/", &[HOST, COOKIE]), Ok(()));
        assert_eq!(admit(Method::GET, "/r/a?t=secret", &[HOST]), Err(Turned::ToPage("/r/a".to_owned())));
        let is_away = |result: Result<(), Turned>| matches!(result, Err(Turned::Away(..)));
        assert!(is_away(admit(Method::GET, "/", &[HOST])));
        assert!(is_away(admit(Method::GET, "/?t=secres", &[HOST, COOKIE])));
        assert!(is_away(admit(Method::GET, "/api/runs?t=secret", &[HOST])), "data is not had by an address");
        assert!(is_away(admit(Method::GET, "/", &[HOST, ("cookie", "tillgreen-7778=secret")])));
        assert!(is_away(admit(Method::GET, "/", &[HOST, ("cookie", "tillgreen-7777=secre")])));
    }

    #[test]
    fn other_pages_do_not() {
        let is_away = |result: Result<(), Turned>| matches!(result, Err(Turned::Away(..)));
        assert!(is_away(admit(Method::GET, "/", &[COOKIE])), "no host");
        for host in
            ["evil.example:7777", "127.0.0.1:7778", "127.0.0.1", "10.0.0.1:7777", "localhost.evil:7777"]
        {
            assert!(is_away(admit(Method::GET, "/", &[("host", host), COOKIE])), "{host}");
        }
        assert_eq!(admit(Method::GET, "/", &[("host", "localhost:7777"), COOKIE]), Ok(()));
        assert!(is_away(admit(Method::GET, "/api/runs", &[HOST, COOKIE, ("origin", "http://evil.example")])));
        assert!(is_away(admit(Method::GET, "/api/runs", &[HOST, COOKIE, ("sec-fetch-site", "cross-site")])));
        assert!(is_away(admit(Method::POST, "/api/say", &[HOST, COOKIE])), "a post says where it is from");
        assert!(is_away(admit(Method::POST, "/api/say", &[HOST, COOKIE, ("origin", "null")])));
        assert_eq!(admit(Method::POST, "/api/say", &[HOST, COOKIE, ORIGIN]), Ok(()));
    }

    #[test]
    fn nobody_is_sent_to_another_server() {
        assert_eq!(within("//evil.example/"), "/evil.example/");
    }
}

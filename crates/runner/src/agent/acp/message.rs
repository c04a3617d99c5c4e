//! Messages of JSON-RPC.

use serde_json::{Value, json};

use crate::agent::line::{self, text};
use crate::agent::trouble::{Trouble, TroubleKind};

/// There is no such method.
const METHOD_NOT_FOUND: i32 = -32_601;
/// The agent wants somebody to log in.
const AUTH_REQUIRED: i64 = -32_000;

/// A message of an agent.
pub(super) enum Message<'a> {
    /// It wants an answer.
    Request { id: &'a Value, method: &'a str, params: &'a Value },
    /// It says something.
    Notice { method: &'a str, params: &'a Value },
    /// It answers.
    Response { id: u64, result: Result<&'a Value, Trouble> },
}

impl<'a> Message<'a> {
    /// Reads a message; what is none is none.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        let id = value.get("id").filter(|id| !id.is_null());
        let params = value.get("params").unwrap_or(&Value::Null);
        match (text(value, &["method"]), id) {
            (Some(method), Some(id)) => Some(Self::Request { id, method, params }),
            (Some(method), None) => Some(Self::Notice { method, params }),
            (None, Some(id)) => {
                let error = value.get("error").map(trouble);
                let result = value.get("result");
                let result = match (error, result) {
                    (Some(trouble), _) => Err(trouble),
                    (None, Some(result)) => Ok(result),
                    (None, None) => return None,
                };
                Some(Self::Response { id: id.as_u64()?, result })
            }
            (None, None) => None,
        }
    }
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Something that needs no answer.
pub(super) fn notice(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// An answer of ours.
pub(super) fn response(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// The answer to what the client said it cannot do.
pub(super) fn no_such_method(id: &Value, method: &str) -> String {
    let message = format!("method not found: {}", line::short(method));
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": METHOD_NOT_FOUND, "message": message } })
        .to_string()
}

/// The trouble that an error tells of. Agents put the service's status into the code, into the data, or into words.
fn trouble(error: &Value) -> Trouble {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let said = text(error, &["message"]).unwrap_or("no reason given");
    let details = text(error, &["data", "message"]).or_else(|| text(error, &["data", "details"]));
    let said = details.map_or_else(|| said.to_owned(), |details| format!("{said}: {details}"));
    if code == AUTH_REQUIRED {
        return Trouble::new(TroubleKind::Authentication, said);
    }
    match (text(error, &["data", "errorKind"]).and_then(of_kind), u64::try_from(code)) {
        (Some(kind), _) => Trouble::new(kind, said),
        (None, Ok(status @ 400..=599)) => Trouble::of_status(status, said),
        (None, _) => Trouble::of_text(said),
    }
}

fn of_kind(kind: &str) -> Option<TroubleKind> {
    match kind {
        "rate_limit" => Some(TroubleKind::RateLimit),
        "server_error" | "overloaded" => Some(TroubleKind::Overload),
        "authentication_failed" => Some(TroubleKind::Authentication),
        "billing_error" => Some(TroubleKind::Quota),
        "max_output_tokens" => Some(TroubleKind::AnswerLength),
        _ => None,
    }
}

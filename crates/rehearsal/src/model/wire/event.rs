//! One server-sent event, and the pieces in which text is streamed.

use serde_json::Value;

/// Characters of text in one event.
const PIECE_CHARS: usize = 24;

/// A server-sent event as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::model) struct SseEvent(pub(in crate::model) String);

impl SseEvent {
    /// An event with nothing but data.
    pub(super) fn data(data: &Value) -> Self {
        Self::text(&data.to_string())
    }

    /// An event with data that is not JSON.
    pub(super) fn text(data: &str) -> Self {
        Self(format!("data: {data}\n\n"))
    }

    /// An event with a name.
    pub(super) fn named(name: &str, data: &Value) -> Self {
        Self(format!("event: {name}\ndata: {data}\n\n"))
    }
}

/// A text in the pieces in which it is streamed; an empty one is one empty piece.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return vec![String::new()];
    }
    characters.chunks(PIECE_CHARS).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_up_the_text() {
        let text = "ä".repeat(100);
        assert_eq!(pieces(&text).concat(), text);
        assert_eq!(pieces(&text).len(), 5);
        assert_eq!(pieces(""), [""]);
    }

    #[test]
    fn events_are_framed() {
        let data = serde_json::json!({ "a": "x\ny" });
        assert_eq!(SseEvent::named("ping", &data).0, "event: ping\ndata: {\"a\":\"x\\ny\"}\n\n");
        assert_eq!(SseEvent::text("[DONE]").0, "data: [DONE]\n\n");
    }
}

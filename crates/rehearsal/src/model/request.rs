//! A request to a model, in any of the protocols: what has to be known of it to answer.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{edits, wire};

/// The protocols that agents speak to models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    ChatCompletions,
    /// Gemini's generateContent and streamGenerateContent.
    GenerateContent,
}

/// A request for an answer of a model.
#[derive(Clone, Debug)]
pub(super) struct ModelRequest {
    pub(super) protocol: Protocol,
    /// The model that is asked for.
    pub(super) model: String,
    /// The form of the answer: a stream or a document.
    pub(super) delivery: Delivery,
    /// The tools that it declares, by name.
    pub(super) tools: BTreeMap<String, Tool>,
    /// True if it wants changes of files written into the answer, because its agent knows no tools.
    pub(super) wants_edits: bool,
    /// True if the answer has to be JSON, whatever its content.
    pub(super) wants_json: bool,
    /// As it was sent.
    pub(super) body: String,
}

/// How an answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As one document.
    Document,
    /// As a stream of events.
    Stream,
}

/// A tool that a request declares.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    /// The schema of its input.
    pub(super) schema: Value,
    pub(super) form: ToolForm,
}

/// The form of a tool's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolForm {
    /// An object.
    Function,
    /// Free text.
    Text,
}

impl Protocol {
    /// The protocol that a path belongs to, if a model is asked there.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let last = path.rsplit('/').next().unwrap_or_default();
        match last {
            "messages" => Some(Self::Messages),
            "responses" => Some(Self::Responses),
            "completions" if path.ends_with("/chat/completions") => Some(Self::ChatCompletions),
            _ if last.ends_with(":generateContent") || last.ends_with(":streamGenerateContent") => {
                Some(Self::GenerateContent)
            }
            _ => None,
        }
    }
}

impl ModelRequest {
    /// Reads a request; none if it is not an object of JSON.
    pub(super) fn read(protocol: Protocol, path: &str, body: String) -> Option<Self> {
        let json: Value = serde_json::from_str(&body).ok().filter(Value::is_object)?;
        let is_stream = match protocol {
            Protocol::GenerateContent => path.ends_with(":streamGenerateContent"),
            Protocol::Messages | Protocol::Responses | Protocol::ChatCompletions => json["stream"] == true,
        };
        let of_path = path.rsplit('/').next().and_then(|last| last.split(':').next()).unwrap_or_default();
        let model = json["model"].as_str().unwrap_or(of_path).to_owned();
        let tools = match protocol {
            Protocol::Messages => wire::messages::tools(&json),
            Protocol::Responses => wire::responses::tools(&json),
            Protocol::ChatCompletions => wire::chat::tools(&json),
            Protocol::GenerateContent => wire::gemini::tools(&json),
        };
        let wants_json = json["generationConfig"]["responseMimeType"] == "application/json";
        let delivery = if is_stream { Delivery::Stream } else { Delivery::Document };
        let wants_edits = tools.is_empty() && edits::are_wanted(&body);
        Some(Self { protocol, model, delivery, tools, wants_edits, wants_json, body })
    }
}

impl Tool {
    /// A tool that takes an object.
    pub(super) fn function(schema: &Value) -> Self {
        Self { schema: schema.clone(), form: ToolForm::Function }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_protocols() {
        let check = |path: &str, expected| assert_eq!(Protocol::of_path(path), expected, "{path}");
        check("/v1/messages", Some(Protocol::Messages));
        check("/v1/messages/count_tokens", None);
        check("/v1/responses", Some(Protocol::Responses));
        check("/v1/responses/compact", None);
        check("/v1/chat/completions", Some(Protocol::ChatCompletions));
        check("/v1/completions", None);
        check("/v1beta/models/gemini-2.5-pro:streamGenerateContent", Some(Protocol::GenerateContent));
        check("/v1beta/models/gemini-2.5-pro:countTokens", None);
    }

    #[test]
    fn the_model_of_a_gemini_request_is_in_its_path() {
        let path = "/v1beta/models/gemini-x:streamGenerateContent";
        let request = ModelRequest::read(Protocol::GenerateContent, path, "{}".to_owned()).unwrap();
        assert_eq!((request.model.as_str(), request.delivery), ("gemini-x", Delivery::Stream));
        assert!(ModelRequest::read(Protocol::Messages, "/v1/messages", "[]".to_owned()).is_none());
        assert!(ModelRequest::read(Protocol::Messages, "/v1/messages", "{".to_owned()).is_none());
    }
}

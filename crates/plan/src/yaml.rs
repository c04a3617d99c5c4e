//! YAML as plans and agents write it, as a small tree of values.
//!
//! Scalars keep their spelling, so that `plan: 01` stays `01`. What is not YAML can still be read leniently,
//! entry by entry. Which keys there are and what they mean is left to the callers.

mod lenient;
mod value;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

pub use lenient::read_yaml_leniently;
pub use value::Value;

/// Why a text is not YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not YAML: {message}")]
pub struct YamlError {
    /// The line, counted from one.
    pub line: usize,
    /// The problem with it.
    pub message: String,
}

/// How deep lists and maps may lie in one another.
const DEPTH_MAX: usize = 64;

/// Reads the first document of a YAML text.
///
/// # Errors
/// The text is not YAML, is nested too deeply, or uses aliases or keys that are not scalars.
pub fn read_yaml(text: &str) -> Result<Value, YamlError> {
    let mut parser = Parser::new_from_str(text);
    let mut builder = Builder::default();
    let mut last_line = 1;
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| YamlError {
            line: error.marker().line().max(1),
            message: error.info().to_owned(),
        })?;
        last_line = span.start.line().max(1);
        if matches!(event, Event::DocumentEnd | Event::StreamEnd) {
            break;
        }
        builder.take(event).map_err(|message| YamlError { line: last_line, message: message.to_owned() })?;
    }
    if builder.open.is_empty() {
        Ok(builder.root.unwrap_or(Value::Null))
    } else {
        Err(YamlError { line: last_line, message: "a list or map does not end".to_owned() })
    }
}

/// A list or map that is being read.
enum Open {
    List(Vec<Value>),
    Map { entries: Vec<(String, Value)>, key: Option<String> },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Value>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, _, tag) => self.add(scalar(&text, style, tag.as_deref())),
            Event::SequenceStart(..) => self.begin(Open::List(Vec::new())),
            Event::MappingStart(..) => self.begin(Open::Map { entries: Vec::new(), key: None }),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(_) => Err("aliases are not read here"),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, open: Open) -> Result<(), &'static str> {
        if self.open.len() >= DEPTH_MAX {
            return Err("nested too deeply");
        }
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self) -> Result<(), &'static str> {
        match self.open.pop() {
            Some(Open::List(items)) => self.add(Value::List(items)),
            Some(Open::Map { entries, .. }) => self.add(Value::Map(entries)),
            None => Err("a list or map ends that did not begin"),
        }
    }

    fn add(&mut self, value: Value) -> Result<(), &'static str> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map { entries, key }) => match key.take() {
                Some(name) => entries.push((name, value)),
                None => *key = Some(value.text().ok_or("a key that is not a scalar")?),
            },
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    if style == ScalarStyle::Plain && tag.is_none() {
        Value::plain(text)
    } else {
        Value::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests;
